"""No pattern of any parser takes more than linear time, whatever the line."""

import re

import pytest

from dtnsim.logs import read_text
from tests.logs import adversary


@pytest.fixture(scope="module")
def every():
    return adversary.patterns() + adversary.literals()


def test_every_pattern_is_found(every):
    assert len(every) > 300
    assert {"_reader._BREAK", "dd._RESULT", "_commands._BARE", "shape.fio"} <= {used.name for used in every}


@pytest.mark.parametrize("part", range(8))
def test_every_pattern_is_linear(every, part):
    slow = {}
    for used in every[part::8]:
        taken, attack = adversary.slowest(used, adversary.LENGTH, most=6)
        if taken > adversary.LIMIT_S:
            slow[used.name] = f"{taken:.2f} s: {attack}"
    assert not slow, f"say where a match may begin, (?<!\\d) before <n:int> or ^, and repeat with ++: {slow}"


@pytest.mark.parametrize("bad", [r"(\d+) files?", r"^(.*?)\s*$", r"a.*b.*c", r"^(?:\d*-)?\d*\d*;"])
def test_the_adversary_finds_what_is_not_linear(bad):
    used = adversary.Used("bad", re.compile(bad), ("search",))
    taken = 0.0
    for length in (200, 2000, 10_000, 20_000):
        taken = max(taken, adversary.slowest(used, length, most=20)[0])
        if taken > adversary.LIMIT_S:
            break
    assert taken > adversary.LIMIT_S


@pytest.mark.parametrize(
    "hostile",
    [
        "eth0\n KB/s in  KB/s out\n" + "1" * 20_000 + "a\n",
        "eth0\n KB/s in  KB/s out\n" + "1 " * 150_000 + "\n",
        "/a" * 800 + "/ \n",
        "; " * 50_000 + "%=\n",
        " , " * 50_000 + "%\n",
        "PING " + "1" * 100_000 + "\n",
        '{"a": "' + '\\"' * 100_000 + "\n",
        "Nov 30 12:00:00 " + "a" * 100_000 + " b[1]: \n",
        ("x" * 1023 + "\n") * 20_000,
    ],
)
def test_hostile_lines_are_read_quickly(hostile):
    assert adversary._time(read_text, hostile) < 0.5
