"""``dtnsim predict``."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dtnsim.steady.prediction import predict
from tests.cli.conftest import Run

PATH = "venadi/gridftp-gpfs"
QUICK = ("--samples", "0")


def test_plain_text_in_a_pipe(run: Run) -> None:
    code, out, err = run("predict", PATH, "--samples", "16", "-v")
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
    found = json.loads(
        run(
            "predict",
            PATH,
            "--set",
            "wan.bandwidth=1 Gb/s",
            "--set",
            "transfer.tool=scp",
            "--set",
            "wan.rtt=100 ms",
            "--json",
            *QUICK,
        ).out
    )
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
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nhosts: {a: venadi, b: venadi}\nwan: {bandwidth: 1 Gb/s, rtt: 1 ms}\n"
        "transfer: {from: 'a:memory', to: 'b:memory', tool: iperf3}\n"
    )
    assert run("predict", str(file), *QUICK).out.startswith("mine\n1.24 GB in 1 file by iperf3: at most 990 Mb/s")


def test_the_list_of_commands_and_the_version(run: Run) -> None:
    from dtnsim import __version__

    out = run("--help").out
    for name in ("predict", "explain", "components", "schema", "logs"):
        assert f"  {name} " in out
    assert run("--version").out.splitlines()[0] == f"dtnsim {__version__}"


def test_a_reader_that_leaves_early_breaks_nothing() -> None:
    """``dtnsim predict ... | head -1``: no traceback."""
    done = subprocess.run(
        f"{sys.executable} -m dtnsim predict {PATH} --samples 0 --json | head -c 10",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == '{\n "schema'[:10]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_encodings_without_bars_have_signs_instead(encoding: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    assert run("predict", PATH, *QUICK, "-v", "--set", "name=Ω é") == (0, "", "")
    assert "####" in written.getvalue().decode(encoding)


def test_an_output_that_is_closed_breaks_nothing() -> None:
    command = f"{shlex.quote(sys.executable)} -m dtnsim predict {PATH} --samples 0 >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 2)
