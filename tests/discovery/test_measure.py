"""`measure`: its plan, its manners, and what it makes of recorded logs (fio 3.33, iperf3 3.12 on a virtual machine)."""

import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.cli import measure
from dtnsim.discovery import as_measured, measuring, outputs
from dtnsim.discovery.discover import Found
from dtnsim.discovery.measuring import MIB, Benchmark
from dtnsim.discovery.outputs import Stated
from dtnsim.ground.errors import InputError
from tests.conftest import Run
from tests.each import cases, rows, tables
from tests.strategies import written

#: one round on two cores of a virtual machine, its drive a thin image
RECORDED = Path(__file__).parent / "data" / "measure-logs.tar.xz"
PROOF = Path(__file__).parents[2] / "calibration" / "here" / "proof.py"
GIVEN = tables("discovery/tables")
DD = "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s # "


def said(tree: Any) -> Any:
    """What is found, without saying where."""
    return {key: said(value) for key, value in tree.items()} if isinstance(tree, dict) else Stated(tree, "")


FOUND = Found("box", said(GIVEN["found"]), (), "a test")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    with tarfile.open(RECORDED) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # before Python 3.11.4 there is none
        archive.extractall(folder)
    return folder


def printed(folder: Path, name: str, of: str) -> float:
    """Rate that fio itself printed for a test [B/s]."""
    return float(json.loads((folder / f"{name}.0.log").read_text())["jobs"][0][of]["bw_bytes"])


def predicted(found: Found, tmp_path: Path, transfer: str) -> float:
    file = tmp_path / "path.yaml"
    (tmp_path / "box.yaml").write_text(found.host())
    file.write_text(f"hosts: {{box: box.yaml}}\ntransfer: {transfer}\n")
    return dtnsim.predict(file, samples=0).throughput_Bps.p50


@cases("transfer, name, of, within", GIVEN["what_was_measured_is_predicted"])
def test_what_was_measured_is_predicted(
    logs: Path, tmp_path: Path, transfer: str, name: str, of: str, within: float
) -> None:
    """The same access, described: the figure that fio printed. Its own work beside the calls' is the tolerance."""
    host = as_measured.host(FOUND, as_measured.Logs(logs), "/")
    sized = transfer.replace("tool:", "dataset: {files: 1, size: 1 GB}, tool:")
    assert predicted(host, tmp_path, sized) == pytest.approx(printed(logs, name, of), rel=within)


def test_write_back_is_what_is_left_of_a_flushed_write(logs: Path) -> None:
    job = json.loads((logs / "first.0.log").read_text())["jobs"][0]["write"]
    calls = job["clat_ns"]["mean"] / 1e9 * job["total_ios"]
    (rate,) = as_measured.Logs(logs).flushed("first")
    assert job["io_bytes"] / rate == pytest.approx(job["runtime"] / 1e3 - calls, rel=0.01)


def test_small_files_take_as_long_as_they_took(logs: Path, tmp_path: Path) -> None:
    """fio creates, writes and closes; so does dd with a create and a close for each of a thousand files."""
    host = as_measured.host(FOUND, as_measured.Logs(logs), "/")
    one = "{from: 'box:/dev/zero', to: 'box:/', tool: {name: dd, bs: 16 KiB}, dataset: {files: 1000, size: 16384 kB}}"
    made = json.loads((logs / "make.0.log").read_text())["jobs"][0]["write"]["iops"]
    assert predicted(host, tmp_path, one) / 16384 == pytest.approx(made, rel=0.25)


def test_memory_that_a_hypervisor_has_to_find(logs: Path, tmp_path: Path) -> None:
    """A write onto idle memory at a quarter of the rate: so it is where none of the memory was in use before."""
    text = (logs / "fill.0.log").read_text()
    rate = printed(logs, "fill", "write")
    (logs / "idle.0.log").write_text(text.replace(f'"bw_bytes" : {rate:.0f}', f'"bw_bytes" : {rate / 4:.0f}'))
    host = as_measured.host(FOUND, as_measured.Logs(logs), "/")
    for share, times in ((0, 1), (1, 4)):
        (tmp_path / "box.yaml").write_text(host.host())
        (tmp_path / "path.yaml").write_text(
            f"hosts: {{box: {{like: box.yaml, stack: {{unbacked: '{share}'}}}}}}\ntransfer: {{from: 'box:memory', "
            f"to: 'box:/', tool: {{name: fio, rw: write, bs: 1 MiB}}, dataset: {{files: 1, size: 1 GB}}}}\n"
        )
        made = dtnsim.predict(tmp_path / "path.yaml", samples=0).throughput_Bps.p50
        assert made == pytest.approx(rate / times, rel=0.03)


def test_what_did_not_run_is_left_out(logs: Path) -> None:
    for file in (*logs.glob("rand*-16.*"), *logs.glob("loopback*"), *logs.glob("openssl*"), *logs.glob("take*")):
        file.unlink()
    host = as_measured.host(FOUND, as_measured.Logs(logs), "/").host()
    assert "  4:" in host
    assert "  16:" not in host
    assert "receive_byte" not in host
    assert "op_time" not in host
    for file in logs.glob("read-*"):
        file.unlink()
    with pytest.raises(InputError, match="libaio"):
        as_measured.host(FOUND, as_measured.Logs(logs), "/")
    with pytest.raises(InputError, match="it describes /"):
        as_measured.volume_of(FOUND, "/mnt/far")


def test_spread_follows_the_runs() -> None:
    """Three runs 10 % apart: sd 0.1, a new run's sqrt(4/3) of it, and t with two degrees of freedom at 90 % (1.886)."""
    found = as_measured.figure([1.0, math.exp(0.1), math.exp(-0.1)], "x")
    assert found.value == pytest.approx(1.0)
    assert found.spread == pytest.approx(0.1 * math.sqrt(4 / 3) * 1.886 / 1.2816, rel=0.01)
    assert as_measured.figure([1.0, 1.0, 1.0], "x").spread == pytest.approx(0.03)
    with pytest.raises(InputError, match="no run gave"):
        as_measured.figure([0.0, math.nan], "x")


@pytest.mark.parametrize(("rates", "burst"), [([2.0] * 12 + [0.5] * 20, 6e9 * 0.75), ([2.0, 1.9, 2.1] * 10, None)])
def test_a_bucket_is_found_where_the_rate_falls_for_good(
    tmp_path: Path, rates: list[float], burst: float | None
) -> None:
    """3 s at 2 GB/s, then 0.5: the bucket had 6 GB less what comes in meanwhile."""
    lines = [f"{250 * (n + 1)}, {rate * 1e9 / 1024:.0f}, 1, 0, 0" for n, rate in enumerate(rates)]
    file = written(tmp_path / "burst-rates.csv", "\n".join(lines))
    found = as_measured._burst(file, as_measured.Figure(0.5e9, 0.1, ""))
    if burst is None:
        assert not found
        return
    said = found["burst"]
    assert isinstance(said, Stated)
    assert float(re.findall(r"value: ([\d.e+]+) B", str(said.value))[0]) == pytest.approx(burst, rel=0.01)


def test_a_way_to_a_peer(logs: Path, tmp_path: Path) -> None:
    (logs / "peer-ping-p.0.log").write_text("$ ping -c 20 p\n" + GIVEN["ping"])
    (logs / "peer-to-p.0.log").write_text((logs / "loopback-4.0.log").read_text())
    host = as_measured.host(FOUND, as_measured.Logs(logs), "/")
    (tmp_path / "box.yaml").write_text(host.host())
    (tmp_path / "p.yaml").write_text(host.host().replace("name: box", "name: far"))
    text = as_measured.path_to(host, str(tmp_path / "box.yaml"), as_measured.Logs(logs), "p", tmp_path / "p.yaml", "/")
    (tmp_path / "way.yaml").write_text(text)
    given = dtnsim.load(tmp_path / "way.yaml")
    assert given.wan[0].rtt.value == pytest.approx(10.1e-3)
    rate = as_measured.Logs(logs).figures("loopback-4", role="receiver")[0]
    assert given.wan[0].bandwidth.value == pytest.approx(rate, rel=1e-4)
    assert not as_measured.path_to(host, "x", as_measured.Logs(logs), "p", tmp_path / "none.yaml", "/")


# -- manners -------------------------------------------------------------------------------------
def test_the_plan_keeps_to_time_and_bytes() -> None:
    tests, times = measuring.plan(256 * MIB, 300)
    assert times == 3
    assert measuring.plan(256 * MIB, 1)[1] == 1
    assert sum(t.seconds * (1 if t.once else times) for t in tests) < 300
    for test in tests:
        if test.program == "fio":
            bounds = [w for w in test.command if w.startswith(("--io_size=", "--size=", "--nrfiles="))]
            assert bounds
            assert not any("/dev/" in w for w in test.command)
            assert "--directory=." in test.command
    assert [t.name for t in measuring.plan(256 * MIB, 300, "far")[0]][-3:] == [
        "peer-ping-far",
        "peer-to-far",
        "peer-from-far",
    ]


def test_the_folder_is_gone_whatever_happens(tmp_path: Path) -> None:
    def work() -> None:
        with measuring.workplace(tmp_path) as folder:
            (folder / "large.0").write_text("x")
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not list(tmp_path.iterdir())


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    (tmp_path / measuring.FOLDER).mkdir()
    with pytest.raises(InputError, match="was not made by"), measuring.workplace(tmp_path):
        pass
    assert (tmp_path / measuring.FOLDER).is_dir()
    (tmp_path / measuring.FOLDER).rmdir()
    with measuring.workplace(tmp_path) as work, measuring.log_folder(tmp_path / "logs", "a:/"):
        with pytest.raises(InputError, match="another dtnsim measure"), measuring.workplace(tmp_path):
            pass
        assert work.is_dir()
        with pytest.raises(InputError, match="has logs of a:/"), measuring.log_folder(tmp_path / "logs", "a:/b"):
            pass


@pytest.mark.parametrize("text", ["exec head -c 99 /dev/urandom", "true", "echo hello", "sleep 60 & sleep 61"])
def test_what_gives_no_figure_leaves_no_log_and_no_process(tmp_path: Path, text: str) -> None:
    with measuring.workplace(tmp_path) as folder, measuring.log_folder(tmp_path / "logs", "a:/") as logs:
        test = Benchmark("x", ("sh", "-c", text), -5.9)  # which is stopped after a second
        (failed,) = measuring.run([test], 1, folder, logs, lambda _share, _what: None)
    assert re.search("no figure|was stopped after 1 s", failed)
    assert {f.name for f in logs.iterdir()} == {"measured"}


def test_runs_are_kept_and_not_repeated(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    ok = Benchmark("ok", ("sh", "-c", f"echo hello >> ../count; echo '{DD}RUN'; touch mess"), 0.1, after="mess")
    bad = Benchmark("bad", ("sh", "-c", "echo no room >&2; exit 1"), 0.1)
    (logs / "ok.1.log").write_text("kept")
    with measuring.workplace(tmp_path) as folder:
        failed = measuring.run([ok, bad], 2, folder, logs, lambda share, _what: 0 <= share <= 1)
        assert not list(folder.glob("mess"))
    assert failed == ["bad: no room"] * 2
    assert (tmp_path / "count").read_text() == "hello\n"
    assert (logs / "ok.0.log").read_text().endswith(f"{DD}0\n")
    assert (logs / "ok.1.log").read_text() == "kept"
    assert not list(logs.glob("bad*"))


def test_only_what_narrows_a_path_is_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The drive of a host of 2019 that nobody knows decides a copy within it, and no way to a peer does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measuring, "size_of", lambda _: 64 * MIB)
    monkeypatch.setattr(measuring, "missing", lambda _: {})
    Path("night.yaml").write_text(GIVEN["night"] % "me:/")
    code, out, err = run("measure", "--dry-run", "--json", "--path", "night.yaml", "--as", "me", "--peer", "far")
    tests = [t["name"] for t in json.loads(out)["tests"]]
    assert code == 0
    assert "cold" in tests
    assert not [name for name in tests if name.startswith("peer")]
    assert re.search(r"fio tells .*me\.volumes\./\.array.*: \d+%", err)
    Path("night.yaml").write_text(GIVEN["night"] % "far:/d")
    _, out, err = run("measure", "--dry-run", "--json", "--path", "night.yaml", "--as", "me")
    assert "--peer HOST" in err
    code, _, err = run("measure", "--dry-run", "--path", "night.yaml", "--as", "you")
    assert code == 2
    assert "it has me, far" in err


def test_a_path_with_the_machine_as_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("night.yaml").write_text(GIVEN["night"] % "me:/")
    Path("me.yaml").write_text(outputs.text(FOUND.tree, 0))
    hers = measure._Hers("night.yaml", "me")
    before, after = hers.after("me.yaml")
    assert before.p50 > 0 < after.p50
    Path("broken.yaml").write_text("cpu: [")
    assert hers.after("broken.yaml")[1] is None


def test_a_dry_run_writes_nothing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measuring, "missing", lambda _tests: {"iperf3": "iperf3"})
    code, out, err = run("measure", "--dry-run", "--json", "--peer", "far")
    assert code == 0
    assert "install iperf3" in err
    assert "on far: iperf3 -s" in err
    rows = json.loads(out)["tests"]
    assert {"fio", "openssl"} <= {row["command"][0] for row in rows}
    assert "iperf3" not in {row["command"][0] for row in rows}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("arguments", "words"), rows("discovery/tables", "what_it_refuses"))
def test_what_it_refuses(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measuring, "missing", lambda _tests: {})
    monkeypatch.setattr(as_measured, "volume_of", lambda _found, _mount: {})
    code, _, err = run("measure", *arguments)
    assert code == 2
    assert words in err
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_this_machine(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One short round for real: figures are finite, the file loads and predicts, nothing stays on the volume."""
    monkeypatch.chdir(tmp_path)
    if {"fio", "openssl", "iperf3"} & measuring.missing(measuring.plan(64 * MIB, 1)[0]).keys():
        pytest.skip("needs fio, openssl and iperf3")
    monkeypatch.setattr(measuring, "MOST_B", 64 * MIB)
    code, out, err = run("measure", "-o", "here.yaml", "--time", "1s", "--yes", "--json")
    if "is of a kind that discover leaves" in err:
        pytest.skip("the folder is on no drive of this machine")
    assert code == 0, err
    answer = json.loads(out)
    rates = [v for row in answer["outlook"].values() for v in row["after_Bps"].values()]
    assert len(rates) == 9
    assert all(math.isfinite(v) and v > 0 for v in rates)
    assert statistics.median(rates) > 0
    assert {p.name for p in tmp_path.iterdir()} == {"here.yaml", "here-logs"}
    (tmp_path / "work").mkdir()
    steps = ["make", "predict", "run", "table", "clean", "--set", "tiny", "--part", "near", "--repeats", "1"]
    done = subprocess.run(
        [sys.executable, str(PROOF), *steps, "--volume", "work", "--out", str(tmp_path)],
        capture_output=True, text=True, check=False, env={**os.environ, "DTNSIM_SEASON_B": "1000000"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"[2-9]\d transfers: median error \d+ %", done.stdout)
    told = json.loads((tmp_path / "predicted-tiny.json").read_text())
    assert all(0 < row["p10_s"] <= row["p50_s"] <= row["p90_s"] < math.inf for row in told.values())
    assert not list((tmp_path / "work").iterdir())
