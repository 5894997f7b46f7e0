"""``dtnsim validate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dtnsim.cli import options
from dtnsim.cli._watch import Watch
from dtnsim.ground.errors import InputError

if TYPE_CHECKING:
    from dtnsim.evidence.cases import Case


def command(
    sources: Annotated[
        list[str] | None,
        Argument(
            metavar="[CASES|LOGS...]",
            help="Cases files, or folders of them; logs of transfers with --path; all shipped cases where left out.",
        ),
    ] = None,
    path: Annotated[
        str | None,
        Option(metavar="PATH", help="The path that the transfers of the logs went over: each is predicted on it."),
    ] = None,
    names: Annotated[
        list[str] | None,
        Option("--as", metavar="THEIRS=OURS", help="What logs call an end of the path, and what the path does."),
    ] = None,
    most: Annotated[int, Option(help="Transfers of logs that are judged, evenly chosen.", min=1)] = 100,
    calibration: options.Calibration = None,
    leave_one_out: Annotated[
        bool, Option("--leave-one-out", help="Predict each fit case also by a fit that never saw it.")
    ] = False,
    samples: Annotated[int, Option(help="Draws behind the interval.", min=0, max=100_000)] = 256,
    seed: options.Seed = 1,
    scheduler: options.Scheduler = None,
    json: options.Json = False,
    html: Annotated[str | None, options.Written(help="Write a page with figures and tables.")] = None,
    discrepancy: Annotated[
        str | None, options.Written(help="Learn the model's own error from all judging figures, and write it.")
    ] = None,
) -> None:
    """Hold predictions against every measured figure: error, interval, bottleneck; fitted and blind cases apart.

    A cases.yaml of your own is written by 'dtnsim init --cases'. Logs of transfers (a GridFTP server's transfer log, a
    Globus history, scp, rsync ...) need none: with --path each transfer is predicted on that path, with the files,
    bytes and streams that the log says. Each interval uses laws of the model's own error learned without the study it
    judges.

    \b
    Examples:
      dtnsim validate
      dtnsim validate mydir
      dtnsim validate gridftp.log --path my-path.yaml --as dtn01=nas
      dtnsim validate calibration/venadi --leave-one-out
      dtnsim validate --json
      dtnsim validate --html accuracy.html
      dtnsim validate --discrepancy calibration/discrepancy.yaml
    """
    from dtnsim.evidence import cases, validate

    if path is not None:
        chosen = _of_logs(sources or [], path, names or [], most)
    else:
        logs = [s for s in sources or [] if not cases.is_cases_file(Path(s))]
        if logs and Path(logs[0]).is_file():
            tests = f"one of tests on a host (fio, iperf3): dtnsim calibrate {logs[0]} --host HOST"
            raise InputError(f"{logs[0]} is no cases file; write --path PATH for a log of transfers; {tests}")
        chosen = cases.load_all([Path(s) for s in sources] if sources else None)
    with Watch("predicting cases") as watch:
        validated = validate.validate(
            chosen,
            calibration=calibration,
            samples=samples,
            seed=seed,
            leave_one_out=leave_one_out,
            reasons=json or html is not None,
            residuals=discrepancy is not None,
            progress=watch.count,
            scheduler=scheduler,
        )
    if discrepancy is not None:
        from dtnsim.evidence import learn

        learn.write(validated.judgements, Path(discrepancy))
        return
    if html is not None:
        from dtnsim.ground import output
        from dtnsim.report.validation import page

        output.write(html, page(validated, seed=seed, samples=samples), "--html")
    if json:
        options.emit(validated.as_dict())
    elif html is None:
        from dtnsim.report import text, validation

        validation.show(validated, text.console())


def _of_logs(sources: list[str], path: str, names: list[str], most: int) -> list[Case]:
    from dtnsim.evidence import transfer_cases
    from dtnsim.evidence.calibrate import files_of
    from dtnsim.evidence.fit_targets import pairs

    if not sources:
        raise InputError("--path: give the logs of the transfers that went over it")
    cases, notes = transfer_cases.cases(files_of(sources), path, pairs(names), most)
    for note in notes:
        options.note(note)
    return cases
