"""``predict`` for scripts: probabilities, requirements with an exit code, what makes an interval wide."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from dtnsim.ground import library
from tests.cli.conftest import Refused, Run

#: where little can be changed: what would meet a goal is soon known
MEMORY = "esnet/anl-bnl-mem-mem-udt"
NAME = next(n for n in library.names("paths") if n.startswith("esnet/"))


def test_a_target_and_a_deadline_have_probabilities(run: Run) -> None:
    code, out, _ = run("predict", NAME, "--target", "1Mb/s", "--deadline", "1s")
    assert code == 0
    assert "at least 1 Mb/s, probability 100%" in out
    assert "within 1 s, probability" in out


def test_a_requirement_sets_the_exit_code(run: Run) -> None:
    assert run("predict", NAME, "--require", ">= 1Mb/s at 90 %").code == 0
    code, out, _ = run("predict", MEMORY, "--require", ">= 900Gb/s at 90 %", "--require", ">= 1Mb/s at 90 %")
    assert code == 3
    assert "missed: at least 900 Gb/s, probability 0% (90% required)" in out
    assert "met: at least 1 Mb/s, probability 100% (90% required)" in out
    assert "does NOT reach 900 Gb/s (in no run)" in " ".join(out.split())
    assert out.index("missed: ") < out.index("held by")
    code, out, _ = run("predict", MEMORY, "--require", ">= 900Gb/s at 90 %", "--json")
    assert code == 3
    (goal,) = json.loads(out)["goals"]
    assert goal == {"goal": "target", "throughput_Bps": 112.5e9, "probability": 0.0, "required": 0.9, "met": False}


@pytest.mark.long
def test_why_wide_and_mean(run: Run) -> None:
    shares = json.loads(run("predict", NAME, "--why-wide", "--json").out)["why_wide"]
    assert shares == sorted(shares, key=lambda s: -s["share"])
    assert {"name", "share", "width_left", "measure"} == set(shares[0])
    assert "why the interval is wide" in run("predict", NAME, "--why-wide").out
    one, mean = (json.loads(run("predict", NAME, "--json", *m).out)["throughput_Bps"] for m in ((), ("--mean",)))
    assert mean["p90"] / mean["p10"] <= one["p90"] / one["p10"]  # one run's luck is left out
    assert mean["p50"] == pytest.approx(one["p50"], rel=0.05)


def test_what_changed_since_a_document_and_why(run: Run, tmp_path: Path) -> None:
    path, kept = "examples/nas-24-nightly", tmp_path / "old.json"
    kept.write_text(run("predict", path, "--json", "--samples", "16").out)
    _, out, _ = run("predict", path, "--samples", "16", "--against", str(kept))
    assert out.rstrip().endswith("since then: the answer is what it was")
    wider = ("--set", "hosts.nas.tcp.wmem_max=64 MiB", "--samples", "16", "--against", str(kept))
    _, out, _ = run("predict", path, *wider)
    assert "it was held by network.tcp.nas-centre" in out
    assert "network.tcp.nas-centre[transfer]: capacity" in out
    made = json.loads(run("predict", path, *wider, "--json").out)
    assert any(line.startswith("throughput was 1.") for line in made["changes"])
    old = {**json.loads(kept.read_text()), "versions": {"dtnsim": "0.0.1"}}
    kept.write_text(json.dumps(old))
    _, out, _ = run("predict", path, "--samples", "16", "--against", str(kept))
    assert "dtnsim was 0.0.1, is" in out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "is no document"),
        ('{"schema": "dtnsim.plan/1"}', "is dtnsim.plan/1"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_earlier_answer_is_refused(refused: Refused, tmp_path: Path, text: str | None, words: str) -> None:
    kept = tmp_path / "old.json"
    if text is not None:
        kept.write_text(text)
    assert words in refused("predict", NAME, "--against", str(kept))


def test_a_requirement_that_is_missed_says_what_would_meet_it(run: Run) -> None:
    """One large file by scp over 100 ms: 2 MiB of ssh's window, 168 Mb/s; 1 Gb/s is a tool with many connections'."""
    line = ["predict", "examples/one-large-file", "--samples", "32", "--require", ">= 1Gb/s at 80 %"]
    missed = run(*line)
    assert missed.code == 3
    assert "what would meet it: Buy nothing; set " in missed.out
    (sets,) = (one for one in missed.out.splitlines() if one.startswith("  --set "))
    met = run(*line, *shlex.split(sets))
    assert met.code == 0
    assert "what would meet it" not in met.out
    assert json.loads(run(*line, "--json").out)["why_not"]["checked"] >= 1
