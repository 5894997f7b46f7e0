"""``dtnsim predict``; for scripts: probabilities, requirements with an exit code, what makes an interval wide."""

import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dtnsim.ground import library
from dtnsim.steady.prediction import predict
from tests.conftest import Refused, Run
from tests.each import rows
from tests.strategies import written

PATH = "venadi/gridftp-gpfs"
QUICK = ("--samples", "0")


def test_plain_text_in_a_pipe(run: Run) -> None:
    code, out, err = run("predict", PATH, "-v")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("NERSC project (GPFS) to Venadi")
    assert [line.split()[0] for line in lines[1:6]] == ["throughput", "ceiling", "duration", "on", "bottleneck"]
    assert "ladder of transfer" in out
    assert "\x1b" not in out


def test_json_is_one_document_that_says_the_same_as_python(run: Run) -> None:
    code, out, err = run("predict", PATH, "--json", "--samples", "16", "--seed", "7")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["schema"] == "dtnsim.prediction/1"
    assert found["throughput_Bps"] == predict(PATH, samples=16, seed=7).throughput_Bps.as_dict()
    for key in ("duration_s", "bottleneck", "stations", "ladder", "warnings"):
        assert key in found


def test_the_same_seed_gives_the_same_bytes(run: Run) -> None:
    a, b = (run("predict", PATH, "--json", "--samples", "16", "--seed", "3").out for _ in range(2))
    assert a == b
    assert a != run("predict", PATH, "--json", "--samples", "16", "--seed", "4").out


def test_several_paths(run: Run) -> None:
    paths = (PATH, "venadi/iperf3")
    found = json.loads(run("predict", *paths, "--json", *QUICK).out)
    assert found["schema"] == "dtnsim.predictions/1"
    alone = [json.loads(run("predict", p, "--json", *QUICK).out) for p in paths]
    assert found["predictions"] == alone
    text = run("predict", *paths, *QUICK).out
    assert text.count(": at most ") == text.count("\nheld by ") == 2


def test_overrides_apply_to_every_path(run: Run) -> None:
    both = json.loads(run("predict", PATH, "venadi/iperf3", "--set", "wan.bandwidth=1 Gb/s", "--json", *QUICK).out)
    for found in both["predictions"]:
        assert found["throughput_Bps"]["p50"] < 1.25e8
        assert found["bottleneck"]["station"].startswith("network.")


def test_overrides_may_be_given_many_times(run: Run) -> None:
    sets = ("wan.bandwidth=1 Gb/s", "transfer.tool=scp", "wan.rtt=100 ms")
    found = json.loads(run("predict", PATH, *(x for one in sets for x in ("--set", one)), "--json", *QUICK).out)
    assert found["throughput_Bps"]["p50"] == pytest.approx(2 * 2**20 / 0.1, rel=0.01)  # SSH's channel window


def test_another_calibration_or_none(run: Run) -> None:
    fitted, plain, same = (
        json.loads(run("predict", "venadi/dd-zfs-fdatasync", "--json", *QUICK, *more).out)["throughput_Bps"]["p50"]
        for more in ((), ("--calibration", "none"), ("--calibration", "venadi"))
    )
    assert fitted == same
    assert fitted != plain


def test_as_many_stations_as_wanted(run: Run) -> None:
    few, many = (run("predict", PATH, *QUICK, "--stations", n).out for n in ("1", "9"))
    assert len(many.splitlines()) - len(few.splitlines()) == 8


def test_a_file_of_ones_own(run: Run, tmp_path: Path) -> None:
    file = written(
        tmp_path / "mine.yaml",
        "name: mine\nhosts: {a: venadi, b: venadi}\nwan: {bandwidth: 1 Gb/s, rtt: 1 ms}\n"
        "transfer: {from: 'a:memory', to: 'b:memory', tool: iperf3}\n",
    )
    assert run("predict", str(file), *QUICK).out.startswith("mine\n1.24 GB in 1 file by iperf3: at most 990 Mb/s")


@pytest.mark.parametrize(
    ("options", "code"),
    [("--json", 0), ("--json --require '>= 4Tb/s at 80 %'", 3), ("--require '>= 4Tb/s at 80 %'", 3)],
)
def test_a_reader_that_leaves_early_breaks_nothing(options: str, code: int) -> None:
    """``dtnsim predict ... | true``: no traceback, and a goal that is missed is missed."""
    done = subprocess.run(
        f"set -o pipefail; {sys.executable} -m dtnsim predict {MEMORY} --samples 16 {options} | true",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("", code)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_encodings_without_bars_have_signs_instead(encoding: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
    assert run("predict", PATH, *QUICK, "-v", "--set", "name=Ω é") == (0, "", "")
    assert "####" in out.getvalue().decode(encoding)


def test_an_output_that_is_closed_breaks_nothing() -> None:
    command = f"{shlex.quote(sys.executable)} -m dtnsim predict {PATH} --samples 0 >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 2)


#: where little can be changed: what would meet a goal is soon known
MEMORY = "esnet/anl-bnl-mem-mem-udt"
NAME = next(n for n in library.names("paths") if n.startswith("esnet/"))


def test_a_target_and_a_deadline_have_probabilities(run: Run) -> None:
    code, out, _ = run("predict", NAME, "--target", "1Mb/s", "--deadline", "1s")
    assert code == 0
    assert "at least 1 Mb/s, probability 100%" in out
    assert "within 1 s, probability" in out


def test_a_requirement_sets_the_exit_code(run: Run) -> None:
    few = (MEMORY, "--samples", "16")
    assert run("predict", NAME, "--samples", "16", "--require", ">= 1Mb/s at 90 %").code == 0
    code, out, _ = run("predict", *few, "--require", ">= 900Gb/s at 90 %", "--require", ">= 1Mb/s at 90 %")
    assert code == 3
    assert "missed: at least 900 Gb/s, probability 0% (90% required)" in out
    assert "met: at least 1 Mb/s, probability 100% (90% required)" in out
    assert "does NOT reach 900 Gb/s (in no run)" in " ".join(out.split())
    assert out.index("missed: ") < out.index("held by")
    code, out, _ = run("predict", *few, "--require", ">= 900Gb/s at 90 %", "--json")
    assert code == 3
    document = json.loads(out)
    assert document["why_not"]["checked"] >= 1
    (goal,) = document["goals"]
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


@pytest.mark.parametrize(("text", "words"), [("[" * 100_000, "is no JSON"), *rows("cli/tables", "no_earlier_answers")])
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
    assert "what would meet it: Buy nothing; use mscp " in missed.out
    (sets,) = (one for one in missed.out.splitlines() if one.startswith("  --set "))
    met = run(*line, *shlex.split(sets))
    assert met.code == 0
    assert "what would meet it" not in met.out
