"""``dtnsim measure``."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from typer import Option

from dtnsim.cli import options
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError, InputError, UnitError, visible

if TYPE_CHECKING:
    from dtnsim.discovery.as_measured import Logs
    from dtnsim.discovery.discover import Found
    from dtnsim.discovery.measuring import Benchmark
    from dtnsim.ground.uncertainty import Interval

#: what is predicted before and after: (name, from, to, tool, data set); VOL is the volume
_TRIALS: Final = (
    ("read 10 GB", "VOL", "/dev/null", "{name: dd, bs: 1 MiB}", "{files: 1, size: 10 GB}"),
    ("write 10 GB and flush", "/dev/zero", "VOL", "{name: dd, bs: 1 MiB, conv: fdatasync}", "{files: 1, size: 10 GB}"),
    ("copy 10 000 files of 100 kB", "VOL", "VOL", "cp", "{files: 10000, size: 1 GB}"),
)


def command(
    out: Annotated[str, options.Written("-o", "--out", help="Write the host file here.")] = "here.yaml",
    volume: Annotated[str, Option(metavar="DIR", help="A folder of yours on the volume to measure.")] = ".",
    peer: Annotated[
        str | None, Option(metavar="HOST", help="Also measure the way to a host on which 'iperf3 -s' runs.")
    ] = None,
    path: Annotated[
        str | None, Option(metavar="FILE", help="A path of yours: only tests that narrow its answer are run.")
    ] = None,
    as_: Annotated[
        str | None, Option("--as", metavar="NAME", help="This machine's name in that path; its host name if left out.")
    ] = None,
    time: Annotated[str, Option(metavar="TIME", help="Time for all tests.")] = "5m",
    logs: Annotated[
        str | None, Option(metavar="DIR", help="Where raw logs are kept; beside the host file if left out.")
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would run, and write nothing.")] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask before anything is written.")] = False,
    json: options.Json = False,
) -> None:
    """Measure this machine politely and describe it as what was measured.

    Runs fio, openssl speed, iperf3 over loopback and, with --peer, iperf3 and ping to another host: whatever is there.
    Files are written into one folder on the volume, a twentieth of its free space at most, and removed at the end. Raw
    logs are kept; the same command goes on where it was stopped.

    \b
    Examples:
      dtnsim measure --dry-run --volume /data
      dtnsim measure -o here.yaml --volume /data --yes
      dtnsim measure -o here.yaml --volume /data --time 2m --peer dtn2.example.org
      dtnsim measure -o nas.yaml --volume /data --path night.yaml --as nas
    """
    from dtnsim.cli._watch import Watch
    from dtnsim.discovery import as_measured, finding_out, measuring
    from dtnsim.discovery.discover import discover

    place = Path(volume).resolve()
    size = measuring.size_of(place)
    hers = None if path is None else _Hers(path, as_)
    sorts = finding_out.SORTS if hers is None else hers.worth()
    if hers is not None and peer is None and "peer" in sorts:
        options.note("the way to the other end is not measured: --peer HOST, on which 'iperf3 -s' runs, does it")
    tests, times = measuring.plan(size, _seconds(time), peer, sorts)
    if not tests:
        raise InputError(f"measure: no test of this machine narrows the answer of {path}; leave --path out to run all")
    lacking = measuring.missing(tests)
    runnable = [t for t in tests if t.program not in lacking]
    for program, package in lacking.items():
        options.note(f"{program} is not here, so its tests are left out: install {package}")
    options.note(_cost(runnable, times, place))
    if peer is not None:
        options.note(f"on {peer}: iperf3 -s &  dtnsim measure -o {peer}.yaml --volume DIR; bring {peer}.yaml here")
    if dry_run:
        _show_plan(runnable, times, size, json=json)
        return
    if not runnable:
        raise InputError(f"measure: none of the programs is here: install {', '.join(lacking.values())}")
    discovered, mount = discover(), str(next(p for p in (place, *place.parents) if os.path.ismount(p)))
    as_measured.volume_of(discovered, mount)  # says so before anything runs
    if not yes:
        _ask()
    folder = Path(logs) if logs is not None else Path(out).with_suffix("").with_name(f"{Path(out).stem}-logs")
    with (
        Watch("measuring") as watch,
        measuring.workplace(place) as work,
        measuring.log_folder(folder, f"{discovered.name}:{mount}") as raw_logs,
    ):
        failed = measuring.run(runnable, times, work, raw_logs, watch.tell)
    for failure in failed:
        options.note(f"left out: {failure}")
    _finish(discovered, as_measured.Logs(folder), mount, out, peer, hers, json=json)


class _Hers:
    """A path of the user's, in which this machine is one of the hosts."""

    def __init__(self, path: str, name: str | None) -> None:
        from dtnsim.description import spec

        self.given = spec.load(path)
        self.host = name or socket.gethostname().partition(".")[0]
        if self.host not in self.given.hosts:
            hosts = ", ".join(self.given.hosts)
            raise InputError(f"--as: {path} has no host {self.host!r}; it has {hosts}: name this machine's")

    def worth(self) -> list[str]:
        """Sorts of tests that narrow the path's answer; says what they are, and what no test of a machine tells."""
        from dtnsim.discovery import finding_out
        from dtnsim.steady import why_wide

        shares = why_wide.of_path(self.given)
        by_sort = finding_out.told_by((s.name for s in shares), self.host)
        part = {s.name: s.share for s in shares}
        for sort, names in by_sort.items():
            words = f"{sort} tells {', '.join(names)}: {sum(part[n] for n in names):.0%}" if names else f"{sort}: none"
            options.note(f"of the variance of {self.given.name}: {words}")
        covered = {n for names in by_sort.values() for n in names}
        if (left := next((s for s in shares if s.name not in covered), None)) is not None:
            options.note(f"no test of this machine tells {left.cause} ({left.share:.0%}): {left.measure}")
        return [sort for sort, names in by_sort.items() if names]

    def after(self, out: str) -> tuple[Interval, Interval | None]:
        """The path's throughput before, and with this machine as it was measured; None where that does not fit it."""
        from dtnsim.steady.prediction import predict

        before = predict(self.given).throughput_Bps
        try:
            return before, predict(self.given.changed([f"hosts.{self.host}={Path(out).resolve()}"])).throughput_Bps
        except DtnsimError as error:
            options.note(f"{self.given.name} with {out}: {error}")
            return before, None


def _seconds(text: str) -> float:
    try:
        seconds = units.parse(f"{text}in" if text.endswith("m") else text, "s")  # sleep(1) and timeout(1) take 5m too
    except UnitError as error:
        raise InputError(f"--time: {error}; write it like 5m") from None
    if seconds <= 0:
        raise InputError(f"--time: {text} is no time; write it like 5m")
    return seconds


def _cost(tests: Sequence[Benchmark], times: int, place: Path) -> str:
    from dtnsim.discovery.measuring import FOLDER

    seconds = sum(t.seconds * t.runs(times) for t in tests)
    written = sum(t.writes_B * t.runs(times) for t in tests)
    return (
        f"{len(tests)} tests, up to {times} runs each: about {units.show(seconds, 's', digits=2)}; "
        f"writes up to {written / 1e9:.3g} GB into {place / FOLDER}, which is removed at the end"
    )


def _show_plan(tests: Sequence[Benchmark], times: int, size: int, *, json: bool) -> None:
    if json:
        rows = [
            {"name": t.name, "command": list(t.command), "runs": t.runs(times), "seconds": t.seconds,
             "writes_B": t.writes_B} for t in tests
        ]  # fmt: skip
        options.emit({"schema": "dtnsim.measurement-plan/1", "file_B": size, "tests": rows})
        return
    for t in tests:
        sys.stdout.write(f"{t.runs(times)} x {' '.join(t.command)}\n")


def _ask() -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError("measure: nobody is here to be asked; add --yes to agree to what is written")
    sys.stderr.write("dtnsim: go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("measure: nothing was run")


def _finish(
    before: Found, logs: Logs, mount: str, out: str, peer: str | None, hers: _Hers | None, *, json: bool
) -> None:
    from dtnsim.discovery import as_measured
    from dtnsim.ground import output

    after = as_measured.host(before, logs, mount)
    output.write(out, after.host(), "--out")
    written = [out]
    if peer is not None:
        peer_file = Path(out).with_name(f"{peer}.yaml")
        way = as_measured.path_to(after, out, logs, peer, peer_file, mount)
        if way:
            written.append(str(Path(out).with_name(f"{Path(out).stem}-to-{peer}.yaml")))
            output.write(written[-1], way, "--out")
    outlook: dict[str, tuple[Interval | None, Interval | None]] = {
        name: (_predicted(before, mount, n), _predicted(after, mount, n)) for n, (name, *_) in enumerate(_TRIALS)
    }
    if hers is not None:
        outlook = {hers.given.name: hers.after(out)}
    if json:
        rows = {
            name: {key: i.as_dict() for key, i in (("before_Bps", b), ("after_Bps", a)) if i is not None}
            for name, (b, a) in outlook.items()
        }
        options.emit({"schema": "dtnsim.measurement/1", "name": after.name, "host": after.host(), "files": written,
                      "logs": str(logs.folder), "outlook": rows})  # fmt: skip
        return
    for name, (b, a) in outlook.items():
        sys.stdout.write(f"{name}: {_interval(b)} -> {_interval(a)}\n")
    sys.stdout.write(visible(f"written to {', '.join(written)}; raw logs in {logs.folder}") + "\n")


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "unknown"
    p10, p50, p90 = (f"{v * 8 / 1e9:.3g}" for v in (interval.p10, interval.p50, interval.p90))
    return f"{p50} ({p10} to {p90}) Gb/s"


def _predicted(discovered: Found, mount: str, number: int) -> Interval | None:
    """What a transfer of `_TRIALS` reaches on a host; None where the volume is not described."""
    from dtnsim.description import spec
    from dtnsim.discovery.outputs import below, text
    from dtnsim.ground import yamlio
    from dtnsim.steady.prediction import predict

    if mount not in below(discovered.tree, "volumes"):
        return None
    _, start, end, tool, data = _TRIALS[number]
    ends = [f"{discovered.name}:{mount if e == 'VOL' else e}" for e in (start, end)]
    transfer = f'transfer: {{from: "{ends[0]}", to: "{ends[1]}", tool: {tool}, dataset: {data}}}\n'
    path = f'name: trial\nhosts:\n  "{discovered.name}":\n{text(discovered.tree, 2)}{transfer}'
    return predict(spec.resolve(yamlio.loads(path, "trial"))).throughput_Bps
