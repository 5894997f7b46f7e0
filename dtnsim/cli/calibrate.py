"""``dtnsim calibrate``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dtnsim.cli import options
from dtnsim.ground.errors import InputError
from dtnsim.ground.visible import visible

if TYPE_CHECKING:
    from dtnsim.evidence.fit import Fit
    from dtnsim.evidence.suggest import Suggestion

#: suggested tests that are named below a fit
_TESTS: Final = 4


def command(
    host: Annotated[
        list[str], typer.Option(metavar="HOST", help="Host to fit: a shipped name or a file. May be given many times.")
    ],
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="CASES|LOGS...", help="Raw logs, files of cases (YAML), or folders of them."),
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write the fitted parameters.")
    ] = None,
    volume: Annotated[
        str | None, typer.Option(metavar="MOUNT", help="Volume of logs that do not say where they ran.")
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="THEIRS=OURS",
            help="What logs call a host, volume or device, and what the host file does: disk-host=my, /dev/md0=/data.",
        ),
    ] = None,
    free: Annotated[
        str | None,
        typer.Option(metavar="KEY,...", help="Parameters whose stated values do not count: --free write,link."),
    ] = None,
    suggest: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--suggest", help="Print a script of the tests that would determine more, and fit nothing.")
    ] = False,
    json: options.Json = False,  # noqa: FBT002 - a flag
) -> None:
    """Fit the uncertain parameters of a host to its component tests (cases with role fit, or raw logs).

    Least squares on log ratios over the same stations that predict uses, with every parameter's own value
    and spread as prior. The file says which log lines each value comes from, and what they cannot determine.
    Two figures that agree win over what a part is said to do, and the answer says so; a single one does where
    --free names the parameter. Where no figure is followed nothing is written: exit code 1.

    \b
    Examples:
      dtnsim calibrate calibration/venadi --host venadi -o fitted.yaml
      dtnsim calibrate logs/ --host my.yaml --as disk-host=my -o my-fitted.yaml
      dtnsim calibrate dd.txt bonnie.html --host venadi --volume /bigdata -o fitted.yaml
      dtnsim calibrate --suggest --host my.yaml > suggested.sh
      dtnsim predict venadi/gridftp-gpfs --calibration fitted.yaml
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    options.writable(output, "--output")
    from dtnsim.evidence import fit_report, fit_words
    from dtnsim.evidence import suggest as suggestions

    if not sources:
        if not suggest:
            raise InputError("calibrate: give logs or cases, or --suggest for a script of tests to run on the host")
        _print_script(suggestions.for_hosts(host), host, json=json)
        return
    found = _found(sources, host, volume, free, names)
    if suggest:
        _print_script(suggestions.for_hosts(host, found), host, json=json)
        return
    fit_words.check_followed(found)
    suggested = [s for tests, _ in suggestions.for_hosts(host, found).values() for s in tests]
    if output is not None:
        fit_report.write(found, Path(output), suggested)
    if json:
        options.emit(fit_report.document(found, suggested))
    else:
        _show(found, suggested, output)


def _found(sources: list[str], host: list[str], volume: str | None, free: str | None, names: list[str] | None) -> Fit:
    from dtnsim.evidence import fit_targets
    from dtnsim.evidence.calibrate import calibrate

    notes: list[str] = []
    called = fit_targets.pairs(names or [])
    found = calibrate(sources, host, volume=volume, free=_listed(free), names=called, notes=notes)
    for note in notes:
        print(visible(f"dtnsim: {note}"), file=sys.stderr)  # noqa: T201 - warnings go to stderr
    return found


def _print_script(suggested: dict[str, tuple[list[Suggestion], list[str]]], hosts: list[str], *, json: bool) -> None:
    from dtnsim.evidence import suggest_script

    if len(suggested) != 1:
        raise InputError("--suggest: give one --host: a script runs on one machine")
    ((name, (tests, left)),) = suggested.items()
    if json:
        made = [
            {"command": list(s.test.command), "volume": s.test.volume, "determines": list(s.determines)} for s in tests
        ]
        options.emit({"schema": "dtnsim.suggestions/1", "host": name, "tests": made, "left": left})
    else:
        sys.stdout.write(suggest_script.script(tests, left, name, hosts[0]))


def _listed(given: str | None) -> list[str]:
    return [word.strip() for word in (given or "").split(",") if word.strip()]


def _show(found: Fit, suggested: list[Suggestion], output: str | None) -> None:
    from dtnsim.evidence import fit_report, fit_words
    from dtnsim.report import text

    out = text.console()
    made = fit_report.document(found)
    table = text.table(
        ("parameter", "left"), ("prior", "right"), ("fitted", "right"), ("spread", "right"), ("from", "left")
    )
    for j in fit_report.kept(found):
        p = found.parameters[j]
        entry = made["parameters"][p.host][p.key]
        table.add_row(
            text.plain(p.name),
            f"{fit_words.written(p.prior.value, p.prior.dim)} ± {p.prior.spread:.0%}",
            entry["value"],
            entry["spread"],
            text.plain(", ".join(fit_report.identified_by(found, j))) or "moves with others",
        )
    out.print(table)
    before, after = made["error"]["before"], made["error"]["after"]
    out.print(
        f"\n{made['figures']} figures: median error {before['median']} before, {after['median']} after; "
        f"worst {before['worst']} before, {after['worst']} after"
    )
    for line in made["contradictions"]:
        out.print(text.plain(line))
    for line in fit_report.separable(found):
        out.print(text.plain(line))
    for line in made["outliers"]:
        out.print(text.plain(f"not followed: {line}"))
    for s in suggested[:_TESTS]:
        out.print(text.plain(f"run {s.test.words}: it would determine {', '.join(s.determines)}"))
    if len(suggested) > _TESTS:
        out.print(f"{len(suggested) - _TESTS} tests more would determine others: --suggest prints all as a script")
    if output is not None:
        out.print(text.plain(f"written to {output}"))
