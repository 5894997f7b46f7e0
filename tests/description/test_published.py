"""Thirty published descriptions: each is answered in at most fifteen lines, however little it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

import dtnsim

FILE: Final = Path(__file__).with_name("published.yaml")
#: name -> path file, its comments left out
PATHS: Final = {
    match[1]: "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()
    for text in FILE.read_text(encoding="utf-8").split("---\n")[1:]
    if (match := re.match(r"# name: (\S+)\n# source: \S+.*\n# stumbled: \S", text))
}


def test_there_are_thirty_of_as_many_places() -> None:
    sources = re.findall(r"^# source: (\S+)", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(PATHS) == len(set(PATHS)) == len(sources) == 30
    assert len({source.split("/")[0] for source in sources}) >= 20


@pytest.mark.parametrize("name", PATHS)
def test_a_published_description_is_answered(name: str, tmp_path: Path) -> None:
    """In at most fifteen lines, with an interval: nobody who writes so little is told one number."""
    assert len(PATHS[name].splitlines()) <= 15
    file = tmp_path / f"{name}.yaml"
    file.write_text(PATHS[name] + "\n", encoding="utf-8")
    rate = dtnsim.predict(file, samples=100).throughput_Bps
    assert 0 < rate.p10 < rate.p50 < rate.p90
    assert rate.p90 / rate.p10 > 1.05
