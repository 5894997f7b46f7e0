"""``dtnsim validate``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dtnsim.cli import options


def command(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CASES...]", help="Cases files, or folders of them; all shipped cases where left out."),
    ] = None,
    calibration: options.Calibration = None,
    leave_one_out: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--leave-one-out", help="Predict each fit case also by a fit that never saw it.")
    ] = False,
    samples: Annotated[int, typer.Option(help="Draws behind p10 and p90.", min=0, max=100_000)] = 256,
    seed: options.Seed = 1,
    json: options.Json = False,  # noqa: FBT002 - a flag
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write a page with figures and tables.")] = None,
    discrepancy: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Learn the model's own error from all judging figures, and write it."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Only the summary, as in the README.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Hold predictions against every measured figure: error, 80 % interval, bottleneck; fit and blind apart.

    Intervals of judging figures come from laws of the model's own error that were learned without their study.

    \b
    Examples:
      dtnsim validate
      dtnsim validate calibration/venadi --leave-one-out
      dtnsim validate --json
      dtnsim validate --html accuracy.html
      dtnsim validate --discrepancy calibration/discrepancy.yaml
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    options.writable(html, "--html")
    options.writable(discrepancy, "--discrepancy")
    from dtnsim.evidence import cases, validate

    chosen = cases.load_all([Path(s) for s in sources] if sources else None)
    found = validate.validate(
        chosen,
        calibration=calibration,
        samples=samples,
        seed=seed,
        leave_one_out=leave_one_out,
        progress=_progress if sys.stderr.isatty() else None,
    )
    if discrepancy is not None:
        from dtnsim.evidence import discrepancy_file

        discrepancy_file.write(found.judgements, Path(discrepancy))
        return
    if html is not None:
        from dtnsim.ground import output
        from dtnsim.report.validation_html import page

        output.write(html, page(found, seed=seed, samples=samples), "--html")
    if json:
        options.emit(found.as_dict())
    elif markdown:
        from dtnsim.report.accuracy import markdown as summary

        sys.stdout.write(summary(found) + "\n")
    elif html is None:
        from dtnsim.report import text, validation

        validation.show(found, text.console())


def _progress(done: int, of: int) -> None:
    sys.stderr.write(f"\r{done} of {of} cases" + ("\r\033[K" if done == of else ""))
    sys.stderr.flush()
