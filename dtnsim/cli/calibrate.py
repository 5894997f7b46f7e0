"""``dtnsim calibrate``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from dtnsim.cli import options
from dtnsim.cli._watch import Watch
from dtnsim.ground.errors import InputError, visible

if TYPE_CHECKING:
    from dtnsim.evidence.fit import Fit


def command(
    sources: Annotated[
        list[str] | None, Argument(metavar="CASES|LOGS...", help="Raw logs, files of cases (YAML), or folders of them.")
    ] = None,
    host: Annotated[
        list[str] | None, Option(metavar="HOST", help="Host to fit: a shipped name or a file. May be given many times.")
    ] = None,
    output: Annotated[
        str | None, options.Written("-o", "--output", help="Where to write the fitted parameters.")
    ] = None,
    volume: Annotated[
        str | None, Option(metavar="MOUNT", help="Volume of logs that do not say where they ran.")
    ] = None,
    names: Annotated[
        list[str] | None,
        Option(
            "--as",
            metavar="THEIRS=OURS",
            help="What logs call a host, volume or device, and what the host file does: disk-host=my, /dev/md0=/data.",
        ),
    ] = None,
    free: Annotated[
        str | None, Option(metavar="KEY,...", help="Parameters whose stated values do not count: --free write,link.")
    ] = None,
    wan: Annotated[
        str | None, options.Written(help="Write what ping, mtr, perfSONAR and iperf3 say as a network for a path.")
    ] = None,
    suggest: Annotated[
        bool, Option("--suggest", help="Print a script of the tests that would determine more, and fit nothing.")
    ] = False,
    watch: Annotated[
        str | None,
        Option(metavar="FOLDER", help="Say what changed since when in a folder of logs that grows, and why."),
    ] = None,
    history: Annotated[
        str | None, options.Written(help="What --watch knows already (JSON lines): only new logs are read.")
    ] = None,
    path: Annotated[
        str | None,
        Option(metavar="PATH", help="Path that transfers in the logs went over, or of which --watch judges --target."),
    ] = None,
    target: Annotated[str | None, Option(metavar="RATE", help="Goal of --path: 40Gb/s.")] = None,
    scheduler: options.Scheduler = None,
    plot: options.Plot = False,
    html: Annotated[str | None, options.Written(help="Also write it as a page, runs over days drawn.")] = None,
    json: options.Json = False,
) -> None:
    """Fit the uncertain parameters of a host to its component tests (cases with role fit, or raw logs).

    Outputs of mdstat, zpool status, lspci and ethtool among the logs correct what the host file says of its parts, and
    iperf3 a card that carried more. With --path, transfers in logs of GridFTP, Globus, rsync and others also fit, and
    no longer count as a test of the model.

    Least squares on log ratios over the same stations that predict uses, with every parameter's own value
    and spread as prior. The file says which log lines each value comes from, and what they cannot determine.
    Runs of several days give the spreads from run to run and from day to day; where the rate changed, the fit is to
    the runs since. Two agreeing measurements far from the data sheet, or several near it, override the data sheet, and
    the answer says so; a single one does where --free names the parameter. If no measurement changes anything, nothing
    is written: exit code 1.

    --watch FOLDER, run by cron, says when volumes, rates, round trips and losses changed, and names what explains it.
    Exit code 3: something got worse that the history does not have yet.

    \b
    Examples:
      dtnsim calibrate calibration/venadi --host venadi -o fitted.yaml
      dtnsim calibrate logs/ --host my.yaml --as disk-host=my -o my-fitted.yaml
      dtnsim calibrate dd.txt bonnie.html --host venadi --volume /bigdata -o fitted.yaml
      dtnsim calibrate gridftp.log --path nightly.yaml --host my.yaml --as dtn01=my -o my-fitted.yaml
      dtnsim calibrate ping.txt mtr.txt --wan my-wan.yaml
      dtnsim calibrate --suggest --host my.yaml > suggested.sh
      dtnsim calibrate --watch logs/ --history seen.jsonl --host my.yaml --path nightly.yaml --target 30Gb/s
      dtnsim predict venadi/gridftp-gpfs --calibration fitted.yaml
    """
    if watch is not None:
        if sources or wan or suggest or plot or scheduler:
            raise InputError(
                "--watch takes the logs of its folder: no logs, --wan, --suggest, --plot or --scheduler beside it"
            )
        if (path is None) != (target is None):
            raise InputError("--path and --target go together: --path nightly.yaml --target 30Gb/s")
    elif history or target:
        raise InputError("--history and --target are of --watch FOLDER")
    from dtnsim.evidence import fit_targets

    called, loose = fit_targets.pairs(names or []), options.listed(free)
    if watch is not None:
        _watch(watch, history, host or [], called, volume, loose, path, target, output, html, json=json)
        return
    if wan is not None:
        _write_wan(sources or [], host or [], wan, called)
    if not host and wan is None:
        raise InputError("calibrate: name the host that the logs come from: --host FILE")
    if not host:
        return
    if not sources and not suggest:
        raise InputError("calibrate: give logs or cases, or --suggest for a script of tests to run on the host")
    fit = _fit(sources, host, called, volume, loose, path, scheduler, wan) if sources else None
    if suggest or fit is None:
        _print_script(host, fit, json=json)
    else:
        _finish(fit, host, output, html, plot=plot, json=json)


def _finish(fit: Fit, host: list[str], output: str | None, html: str | None, *, plot: bool, json: bool) -> None:
    from dtnsim.evidence import fit_report, suggest
    from dtnsim.ground.output import write
    from dtnsim.report import calibration, text

    fit_report.check_followed(fit)
    suggested = [s for tests, _ in suggest.for_hosts(host, fit).values() for s in tests]
    if output is not None:
        fit_report.write(fit, Path(output), suggested)
    if html is not None:
        write(html, calibration.page(fit, suggested), "--html")
    if json:
        options.emit(fit_report.document(fit, suggested))
        return
    calibration.show(fit, suggested, text.console())
    if plot:
        calibration.plot(fit, text.console())
    for name in filter(None, (output, html)):
        sys.stdout.write(f"written to {visible(name)}\n")


def _watch(
    folder: str, seen_file: str | None, hosts: list[str], called: dict[str, str], volume: str | None, free: list[str],
    path: str | None, target: str | None, output: str | None, html: str | None, *, json: bool,
) -> None:  # fmt: skip
    from dtnsim.evidence import fit_report
    from dtnsim.evidence.history import History
    from dtnsim.evidence.watch import judge, watch
    from dtnsim.ground.output import write
    from dtnsim.report import calibration
    from dtnsim.steady import goals

    wanted = goals.target(target) if target else None
    with Watch("watching"):
        history = History(Path(folder), Path(seen_file) if seen_file else None)
        watched = watch(history, hosts, called, volume, free)
        if path is not None and wanted is not None:
            judge(watched, path, wanted, hosts, called, volume)
    if output is not None and watched.fit is not None:
        fit_report.write(watched.fit, Path(output))
    if html is not None:
        write(html, calibration.watch_page(watched, path), "--html")
    if json:
        options.emit(calibration.watch_document(watched, path))
    else:
        sys.stdout.write("".join(f"{visible(line)}\n" for line in calibration.watch_lines(watched, path)))
    sys.stdout.flush()
    history.write([(a.series.name, a.change.since.isoformat()) for a in watched.alarms if not a.told])
    if watched.alarming:
        raise typer.Exit(3)


def _write_wan(sources: list[str], hosts: list[str], file: str, called: dict[str, str]) -> None:
    from dtnsim.description.host import build_host
    from dtnsim.description.hosts import named
    from dtnsim.evidence import fit_wan
    from dtnsim.evidence.calibrate import files_of
    from dtnsim.ground.output import write

    cards = [n.rate for h in hosts for n in build_host(h, named(h)).nics.values()]
    way = fit_wan.read_way(files_of(sources), called)
    write(file, fit_wan.text(way, str(max(cards, key=lambda r: r.value)) if cards else ""), "--wan")
    sys.stderr.write(
        visible(f"{file}: the way to {way.target or 'the other host'}; in a path: wan: {{part: {file}}}") + "\n"
    )


def _fit(
    sources: list[str], host: list[str], called: dict[str, str], volume: str | None, free: list[str],
    path: str | None, scheduler: str | None, wan: str | None,
) -> Fit:  # fmt: skip
    from dtnsim.evidence.calibrate import calibrate

    notes: list[str] = []
    with Watch("fitting"):
        fit = calibrate(
            sources, host, volume=volume, free=free, names=called, notes=notes, scheduler=scheduler, path=path
        )
    for note in notes:
        if wan is None or "--wan FILE" not in note:
            options.note(note)
    return fit


def _print_script(hosts: list[str], fit: Fit | None, *, json: bool) -> None:
    from dtnsim.evidence import suggest

    suggested = suggest.for_hosts(hosts, fit)
    if len(suggested) != 1:
        raise InputError("--suggest: give one --host: a script runs on one machine")
    ((name, (tests, left)),) = suggested.items()
    if json:
        entries = [
            {"command": list(s.test.command), "volume": s.test.volume, "determines": list(s.determines)} for s in tests
        ]
        options.emit({"schema": "dtnsim.suggestions/1", "host": name, "tests": entries, "left": left})
    else:
        sys.stdout.write(suggest.script(tests, left, name, hosts[0]))
