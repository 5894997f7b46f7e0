"""``dtnsim simulate``."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dtnsim
from tests.conftest import Refused, Run
from tests.each import rows, tables
from tests.strategies import written

PATH = "venadi/gridftp-gpfs"
DISKS = tables("cli/tables")["two file servers"]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(written(tmp_path / "servers.yaml", DISKS))


def test_plain_text_in_a_pipe(run: Run) -> None:
    code, out, err = run("simulate", PATH)
    assert (code, err) == (0, "")
    assert out.startswith("NERSC project (GPFS) to Venadi")
    assert "what held transfer" in out
    assert "thread on nersc is saturated" in out
    assert "\x1b" not in out


def test_json_is_one_document_that_says_the_same_as_python(run: Run) -> None:
    code, out, _ = run("simulate", PATH, "--json", "--replicas", "3", "--seed", "5")
    found = json.loads(out)
    assert (code, found["schema"], found["replicas"]) == (0, "dtnsim.simulation/1", 3)
    rates = sorted(r.transfers[0].throughput_Bps for r in dtnsim.simulate(PATH, replicas=3, seed=5).runs)
    assert found["transfers"][0]["throughput_Bps"]["p50"] == pytest.approx(rates[1])


def test_the_same_seed_gives_the_same_bytes(run: Run) -> None:
    a, b = (run("simulate", PATH, "--json", "--replicas", "4", "--seed", "3").out for _ in range(2))
    assert a == b


def test_a_trace_holds_every_byte(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    assert run("simulate", PATH, "--trace", str(file)).code == 0
    with file.open() as lines:
        assert sum(1 for _ in csv.reader(lines)) > 10


def test_until_ends_it_before_all_is_done(run: Run, path: str) -> None:
    code, out, _ = run("simulate", path, "--until", "1min", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["complete"], found["end_s"]) == (False, 60.0)
    assert 0 < found["transfers"][0]["files"] < 1_000_000


def test_a_run_of_too_many_events_is_given_up(run: Run) -> None:
    code, out, err = run("simulate", PATH, "--max-events", "3")
    assert (code, out) == (1, "")
    assert "events" in err


@pytest.mark.long
def test_ctrl_c_shows_what_was_done(path: str) -> None:
    command = [sys.executable, "-m", "dtnsim", "simulate", path, "--replicas", "100000", "--json"]
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    time.sleep(5)  # the first run alone takes less
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does it: to the workers as well
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "Traceback" not in err
    found = json.loads(out)
    assert found["interrupted"]
    assert 1 <= found["replicas"] < 100_000
    assert found["transfers"][0]["files"] > 0


@pytest.mark.parametrize(("command", "option"), rows("cli/tables", "outputs_are_looked_at_before_any_work"))
def test_outputs_are_looked_at_before_any_work(
    refused: Refused, tmp_path: Path, command: tuple[str, ...], option: str
) -> None:
    for place, told in ((tmp_path, "it is a folder"), (tmp_path / "no" / "x.csv", "there is no folder")):
        err = refused(*command, str(place))
        assert option in err
        assert told in err


def test_what_an_event_did_is_said_in_its_own_words(run: Run, tmp_path: Path) -> None:
    night = written(tmp_path / "night.yaml", tables("cli/tables")["a night"])
    code, out, _ = run("simulate", "examples/dtn-100g-xfs", "--events", str(night))
    assert code == 0
    assert "network.wan is down: a cut fibre" in out
    assert "network.wan has 0.1 of its capacity" in out
    assert "network.wan is full" not in out
    held = json.loads(run("simulate", "examples/dtn-100g-xfs", "--events", str(night), "--json").out)
    down = [h for h in held["transfers"][0]["held"] if h["event"] == "network.wan is down: a cut fibre"]
    assert [(round(h["start_s"]), round(h["end_s"])) for h in down] == [(5, 65)]
