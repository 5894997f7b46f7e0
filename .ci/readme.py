"""Writes what README.md and pages of the documentation show of answers: outputs, tables of measured beside predicted.

python .ci/readme.py            rewrite them, and what pages of docs/how-to print (docs/check.py --write)
python .ci/readme.py tools      rewrite one block: output, plan, accuracy, proof, tools or instead
python .ci/readme.py --check    exit 1 where those of README.md or of the physics are stale
"""

from __future__ import annotations

import csv
import functools
import importlib.util
import io
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

README = Path(__file__).parents[1] / "README.md"
#: the page that has the proof of ``dtnsim measure``
MEASURE = README.parent / "docs" / "how-to" / "measure.md"
#: the page that says what to write for what has no model
INSTEAD = MEASURE.parent / "instead.md"
#: pages of the physics, which say how figures that their stations held came out
PHYSICS = sorted((README.parent / "docs" / "physics").glob("*.md"))
MEASURED = re.compile(r"<!-- measured:(.*?):begin -->\n(?:.*\n)*?<!-- measured:end -->\n")


def output() -> str:
    """What the first command of the README prints."""
    from dtnsim.report import text
    from dtnsim.steady.prediction import predict

    captured = io.StringIO()
    with redirect_stdout(captured):
        text.card(predict("venadi/gridftp-gpfs"), text.console())
    lines = [line.rstrip() for line in captured.getvalue().splitlines()]
    return "\n".join(["```text", *lines, "```"])


def plan() -> str:
    """What a plan says: the command and its answer."""
    command = "dtnsim plan examples/nas-24-disks-1-reader --target 18Gb/s"
    done = subprocess.run(
        [sys.executable, "-m", *command.split()], capture_output=True, text=True, check=True, cwd=README.parent
    )
    return "\n".join(["```text", f"$ {command}", *(line.rstrip() for line in done.stdout.splitlines()), "```"])


@functools.cache
def judged() -> Any:
    """Every shipped figure that fitted nothing beside its prediction."""
    from dtnsim.evidence.cases import load_all
    from dtnsim.evidence.validate import validate

    return validate([case for case in load_all() if case.role == "blind"])


def markdown(judged_cases: Any) -> str:
    """The table of figures that fitted nothing: errors, intervals, bottlenecks, and errors of earlier versions."""
    from dtnsim.evidence.trust import CENTRAL, first, summarise, trust
    from dtnsim.ground import yamlio
    from dtnsim.report.validation import percent

    earlier = yamlio.load(README.parent / "calibration" / "history.yaml")["versions"]
    inside = [f"in the {100 * level:g} %" for level in CENTRAL]
    head = [
        "system",
        "figures",
        "median error",
        "worst error",
        f"{inside[0]} interval",
        *inside[1:],
        "bottleneck as stated",
        "median error of min(disk, network, disk)",
        *(f"median error of version {version}" for version in earlier),
    ]
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for site in [*judged_cases.sites, None]:
        s, rule = judged_cases.summary("blind", site), judged_cases.baseline_summary("blind", site)
        of_site = trust(judged_cases.with_role("blind", site))
        if not s.n or of_site is None:
            continue
        right, stated = judged_cases.bottlenecks("blind", site)
        was = [(v["median"].get(site or "all") or {}) for v in earlier.values()]
        cells = (
            site or "**all**",
            str(s.n),
            percent(s.mdape),
            percent(s.max_ape),
            *(percent(share) for share in of_site.coverage.values()),
            f"{right} of {stated}" if stated else "",
            percent(rule.mdape),
            *(f"{w['error']} ({w['n']})" if w else "" for w in was),
        )
        lines.append(f"| {' | '.join(cells)} |")
    then = first(judged_cases.with_role("blind"))
    if (inside_then := trust(then)) is not None:
        s = summarise([abs(j.error or 0.0) for j in then], [])
        shares = (s.mdape, s.max_ape, *inside_then.coverage.values())
        cells = ("as first predicted", str(s.n), *map(percent, shares), "", "", *("" for _ in earlier))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def accuracy() -> str:
    """How many published results there are, and the table of measured beside predicted."""
    # a system, or a table of our own runs, is one study
    rows = [j.case for j in judged().with_role("blind") if j.error is not None and j.case.study != j.case.site]
    sources = len({case.study for case in rows})
    return f"Of published results there are {len(rows):,}, of {sources} sources.\n\n{markdown(judged())}"


def measured(page: str) -> str:
    """A page of the physics with how figures came out that its kinds of stations held."""

    def shown(match: re.Match[str]) -> str:
        from dtnsim.evidence.trust import trust
        from dtnsim.ground.uncertainty import COVERED, WITHIN

        lines = []
        for kind in match[1].split(", "):
            chosen = [j for j in judged().with_role("blind") if j.regime.kind == kind and j.error is not None]
            inside = trust(chosen)
            assert inside is not None
            off = sorted(abs(j.error or 0.0) for j in chosen)[(len(chosen) - 1) // 2]
            lines.append(
                f"**Measured beside predicted** ({kind}): of {len(chosen)} figures that fitted nothing the median is "
                f"off by {off:.0%}, and the {WITHIN} intervals hold {inside.coverage[COVERED]:.0%}; medians are too "
                f"high in {inside.high:.0%}."
            )
        text = "\n\n".join(lines)
        return f"<!-- measured:{match[1]}:begin -->\n{text}\n<!-- measured:end -->\n"

    return MEASURED.sub(shown, page)


#: draws behind the intervals
_SAMPLES = 64


def tool_points() -> list[list[dict[str, str]]]:
    """The measured runs, those of one point together."""
    with (README.parent / "calibration" / "tools-truth" / "public.csv").open() as file:
        rows = list(csv.DictReader(file))
    points: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        points.setdefault(row["point"], []).append(row)
    return list(points.values())


def tool_errors(groups: Iterable[list[dict[str, str]]]) -> dict[str, list[tuple[float, list[bool]]]]:
    """For each tool (error of a point's median, which of its runs lie in the interval)."""
    from dtnsim.evidence import tool_runs

    errors: dict[str, list[tuple[float, list[bool]]]] = {}
    points = [(same, tool_runs.run_of(same[0])) for same in groups]
    tool_runs.ahead(run for _, run in points)
    for same, run in points:
        measured = [float(r["wall_s"]) for r in same]
        shown = tool_runs.answer(run, _SAMPLES)
        inside = [shown.p10_s <= m <= shown.p90_s for m in measured]
        off = abs(shown.p50_s / statistics.median(measured) - 1)
        errors.setdefault(same[0]["tool_key"], []).append((off, inside))
    return errors


def tools() -> str:
    """The table of measured beside predicted runs of transfer tools."""
    from dtnsim.ground.uncertainty import WITHIN

    errors = tool_errors(tool_points())
    lines = [
        f"| tool | points | median error | 90th percentile | runs in the {WITHIN} interval |",
        "|---|---:|---:|---:|---:|",
    ]
    whole = [point for of_tool in errors.values() for point in of_tool]
    for name, several in [*sorted(errors.items()), ("**all**", whole)]:
        off = sorted(e for e, _ in several)
        inside = [i for _, runs in several for i in runs]
        last = off[min(int(0.9 * len(off)), len(off) - 1)]
        cells = (
            name,
            str(len(off)),
            f"{statistics.median(off):.1%}",
            f"{last:.1%}",
            f"{sum(inside) / len(inside):.0%}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


@functools.cache
def here() -> Any:
    """The proof of ``dtnsim measure``, which is a script beside its figures."""
    script = README.parent / "calibration" / "here" / "proof.py"
    file_spec = importlib.util.spec_from_file_location("proof", script)
    assert file_spec is not None
    assert file_spec.loader is not None
    module = importlib.util.module_from_spec(file_spec)
    sys.modules["proof"] = module  # its dataclasses look themselves up
    file_spec.loader.exec_module(module)
    return module


def proof() -> str:
    """What `dtnsim measure` promised and what came, by what a transfer has to do."""
    folder = README.parent / "calibration" / "here"
    return str(here().families(folder / "predicted-d.json", folder / "measured-d.csv")).rstrip()


def instead() -> str:
    """What to write for what has no model, as the messages say it."""
    from dtnsim.ground.library import spoken

    text = []
    for table, rows in spoken()["instead"].items():
        names: dict[str, list[str]] = {}
        for name, row_text in rows.items():
            names.setdefault(str(row_text), []).append(f"`{name}`")
        text += [f"## {table.capitalize()}", "", "| for | write |", "|---|---|"]
        text += [f"| {', '.join(own)} | {row_text} |" for row_text, own in names.items()]
        text.append("")
    return "\n".join(text)


#: name of a generated block -> what makes it, and the pages that have it
BLOCKS: dict[str, tuple[Callable[[], str], tuple[Path, ...]]] = {
    "output": (output, (README,)),
    "plan": (plan, (README,)),
    "accuracy": (accuracy, (README,)),
    "proof": (proof, (README, MEASURE)),
    "tools": (tools, (README,)),
    "instead": (instead, (INSTEAD,)),
}


def filled(names: Iterable[str]) -> dict[Path, str]:
    """Pages with generated blocks made new."""
    pages: dict[Path, str] = {}
    for name in names:
        make, of = BLOCKS[name]
        block_text = make()
        pages |= {page: block(pages.get(page) or page.read_text(), name, block_text) for page in of}
    return pages


def block(page: str, name: str, text: str) -> str:
    """A page with one generated block made new."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(end)
    return f"{head}{begin}{text}\n{end}{tail}"


def main() -> int:
    """Rewrites or checks; nothing is written before all of it is made."""
    if {"-h", "--help"} & set(sys.argv):
        sys.stdout.write(__doc__ or "")
        return 0
    names = [word for word in sys.argv[1:] if word != "--check"]
    if unknown := set(names) - set(BLOCKS):
        sys.stderr.write(f"no block {', '.join(sorted(unknown))}; blocks: {', '.join(BLOCKS)}\n")
        return 2
    pages = filled(names or BLOCKS)
    if not names:
        pages |= {page: measured(page.read_text()) for page in PHYSICS}
    if "--check" in sys.argv:
        return int(any(page.read_text() != text for page, text in pages.items()))
    for page, text in pages.items():
        page.write_text(text)
    if names:
        return 0
    return subprocess.run([sys.executable, README.parent / "docs" / "check.py", "--write"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
