"""Writes the generated blocks of README.md: the real output and the accuracy table.

python .ci/readme.py            rewrite them
python .ci/readme.py --check    exit 1 where they are stale
"""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def output() -> str:
    """What the first command of the README prints."""
    from dtnsim.report import text
    from dtnsim.steady.prediction import predict

    captured = io.StringIO()
    with redirect_stdout(captured):
        text.prediction(predict("venadi/gridftp-gpfs"), text.console(), busiest=12)
    lines = [line.rstrip() for line in captured.getvalue().splitlines()]
    return "\n".join(["```text", *lines, "```"])


def plan() -> str:
    """What a plan says: the command and its answer."""
    command = "dtnsim plan examples/nas-24-disks-1-reader --target 35Gb/s"
    done = subprocess.run(
        [sys.executable, "-m", *command.split()], capture_output=True, text=True, check=True, cwd=README.parent
    )
    return "\n".join(["```text", f"$ {command}", *(line.rstrip() for line in done.stdout.splitlines()), "```"])


def accuracy() -> str:
    """The table of measured beside predicted."""
    from dtnsim.report.accuracy import markdown

    return markdown()


def tools() -> str:
    """The table of measured beside predicted runs of transfer tools."""
    from dtnsim.report.tool_accuracy import markdown

    return markdown()


def filled(readme: str) -> str:
    """The README with its generated blocks made new."""
    for name, make in (("output", output), ("plan", plan), ("accuracy", accuracy), ("tools", tools)):
        begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
        head, _, rest = readme.partition(begin)
        _, _, tail = rest.partition(end)
        readme = f"{head}{begin}{make()}\n{end}{tail}"
    return readme


def main() -> int:
    """Rewrites or checks."""
    old = README.read_text()
    new = filled(old)
    if "--check" in sys.argv:
        return int(old != new)
    README.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
