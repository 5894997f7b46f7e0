"""Runs every code block of the documentation and of the README's pages, page by page, in a folder of its own.

python docs/check.py [--write] [PAGE...]

Blocks ``sh`` run in bash and ``py`` in Python, those of one page in their order and in one folder; a block fails where a
command leaves with another code than 0, or with 3 (a goal that is not met) where it names --require. Blocks ``text``,
``yaml`` and indented ones are not run. Where a page has what a command prints (``output:begin``), it has to print that;
``--write`` writes it there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = re.compile(
    r"```sh\n((?:(?!```).)*)```\n\n<!-- output:begin -->\n```text\n(.*?)\n```\n<!-- output:end -->", re.DOTALL
)
BLOCK = re.compile(r"^```(sh|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of the blocks that run."""
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def printed(page: Path) -> dict[str, list[str]]:
    """What a page says that its blocks print, by block."""
    return {match[1]: match[2].splitlines() for match in SHOWN.finditer(page.read_text(encoding="utf-8"))}


def pages() -> list[Path]:
    """Pages that are written by hand."""
    return sorted((ROOT / "docs").rglob("*.md"))


def run(page: Path, *, write: bool = False) -> bool:
    """Runs the blocks of a page; says what fails, or writes what is printed."""
    good = True
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "calibration").symlink_to(ROOT / "calibration")
        here = Path(folder) / "here"
        here.mkdir()
        shown = printed(page)
        python = "".join(text for language, text in blocks(page) if language == "py")
        shell = [text for language, text in blocks(page) if language == "sh"]
        for program, text in [*(("bash", t) for t in shell), *([("python", python)] if python else [])]:
            command = ["bash", "-euo", "pipefail", "-c", text] if program == "bash" else [sys.executable, "-c", text]
            begun = time.monotonic()
            done = subprocess.run(command, cwd=here, env=env, capture_output=True, text=True, check=False)
            took = time.monotonic() - begun
            output = [line.rstrip() for line in done.stdout.splitlines()]
            stale = text in shown and shown[text] != output
            if stale and write:
                fresh = (
                    f"```sh\n{text}```\n\n<!-- output:begin -->\n```text\n"
                    + "\n".join(output)
                    + "\n```\n<!-- output:end -->"
                )
                before = page.read_text(encoding="utf-8")
                earlier = next(match[0] for match in SHOWN.finditer(before) if match[1] == text)
                page.write_text(before.replace(earlier, fresh), encoding="utf-8")
                stale = False
            failed = stale or done.returncode not in ((0, 3) if "--require" in text else (0,))
            print(f"{'FAILED' if failed else 'ok'} {took:5.1f} s  {page.relative_to(ROOT)}: {text.splitlines()[0]}")
            if stale:
                print("the page prints something else: run python docs/check.py --write")
            if failed:
                print(text, done.stdout[-2000:], done.stderr[-2000:], sep="\n")
                good = False
    return good


if __name__ == "__main__":
    write = "--write" in sys.argv
    chosen = [Path(p).resolve() for p in sys.argv[1:] if p != "--write"]
    chosen = chosen or [page for page in pages() if printed(page) or not write]
    # the pages that take longest begin first: a plan tries thousands of sets
    chosen.sort(key=lambda page: -sum(text.count("dtnsim plan ") for _, text in blocks(page)))
    with ThreadPoolExecutor(os.cpu_count()) as pages_at_once:
        results = list(pages_at_once.map(partial(run, write=write), (page for page in chosen if blocks(page))))
    sys.exit(0 if all(results) else 1)
