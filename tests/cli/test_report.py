"""``dtnsim report`` and ``dtnsim discover``."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from dtnsim.ground.uncertainty import often
from dtnsim.report import costs
from dtnsim.simulation.fleet import run as runs
from tests.conftest import Run
from tests.each import rows

QUICK = ("--scenarios", "0", "--samples", "16", "--no-tools", "--no-plan")


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs.Reliefs, "reliefs", lambda _, rungs: [("", "")] * len(rungs))  # tested by itself


def test_a_report_is_written(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    plan = "--target 14Gb/s --allow tuning --confidence 60%"
    asked = ("--plan", plan, "--start", "22:00", "--deadline", "8h", "--json")
    done = run("report", "venadi/gridftp-gpfs", "-o", str(file), *QUICK[:-1], *asked)
    assert done.code == 0, done.err
    assert json.loads(done.out)["size_B"] == file.stat().st_size
    text = file.read_text()
    assert re.search(rf"there by 22:00:[0-5]\d \({often('runs')}: 22:00:", text)
    assert "fits within 8 h (in every run)" in text
    assert "What to do" in text
    assert "Now, free, bought: against the goal" in text
    assert "--allow tuning" in text  # the command that makes it again


def test_the_report_of_a_workload_is_the_fleets(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.html"
    monkeypatch.setattr(runs, "fleet", partial(runs.fleet, replicas=1))
    keys = "span=1 d", "classes.users.volume=1 TB/day", "growth=0"
    day = [word for key in keys for word in ("--set", f"workload.{key}")]
    done = run("report", "examples/facility-year", "-o", str(file), *QUICK, *day)
    assert done.code == 0, done.err
    text = file.read_text()
    headline = re.search(r'<p class="headline">([^<]*)', text)
    assert re.match(r"[\d,]+ of [\d,]+ transfers done in (1 d|24 h), ", headline[1])
    assert text.index("The workload") < text.index("The path, with one transfer of each class at once")
    assert "What held the transfers of each class" in text
    assert "network.wan is used most" in headline[1]
    assert "Ladder of" not in text  # a ladder is one transfer's, and says nothing of queues


@pytest.mark.parametrize(("options", "words"), rows("cli/tables", "what_cannot_be_is_said_in_one_line"))
def test_what_cannot_be_is_said_in_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("report", "venadi/iperf3", *QUICK[: -1 if "--plan" in options else None], *options)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())


def test_discover_prints_its_script_and_writes_hosts(run: Run, tmp_path: Path) -> None:
    assert run("discover", "--script").out.startswith("#!/bin/sh")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "meminfo").write_text("MemTotal: 8388608 kB\n")
    done = run("discover", "--from", str(tmp_path / "in"), "-o", str(tmp_path / "host.yaml"))
    assert done.code == 0, done.err
    assert "host host, " in done.out
    assert "size: 8 GiB  # meminfo:1: MemTotal" in (tmp_path / "host.yaml").read_text()
    made = json.loads(run("discover", "--from", str(tmp_path / "in"), "--json").out)
    assert made["todos"] >= 4
