"""Logs of transfers held against a path: what went its way, overlapping files as one, what each case takes over."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from dtnsim.evidence import transfer_cases
from dtnsim.evidence.calibrate import calibrate
from dtnsim.evidence.validate import validate
from dtnsim.ground.errors import InputError
from dtnsim.steady import discrepancy
from tests.conftest import Run
from tests.each import rows

LINE = (
    "DATE={end:%Y%m%d%H%M%S}.000000 HOST={host} PROG=globus-gridftp-server NL.EVNT=FTP_INFO "
    "START={start:%Y%m%d%H%M%S}.000000 USER=u FILE=/data/f BUFFER=0 BLOCK=262144 NBYTES={size} VOLUME=/ "
    "STREAMS={streams} STRIPES=1 DEST=[{peer}] TYPE={type} CODE=226\n"
)
TASK = (Path(__file__).parent / "data" / "globus-task.txt").read_text()
PATH = """
hosts: {nas: example-nas, centre: nersc-dtn}
wan: {rtt: 40 ms, bandwidth: 10 Gb/s}
transfer: {from: "nas:/pool", to: "centre:/project", tool: {name: TOOL}, dataset: {files: 1, size: 10 GB}}
"""
START = datetime(2024, 3, 1, 9, tzinfo=UTC)


def line(after_s: int, seconds: int, size: int, *, host: str = "nas.example.org", kind: str = "RETR") -> str:
    begin = START + timedelta(seconds=after_s)
    return LINE.format(start=begin, end=begin + timedelta(seconds=seconds), host=host, size=size, streams=4,
                       peer="192.0.2.7", type=kind)  # fmt: skip


def files(tmp_path: Path, text: str, tool: str = "gridftp") -> tuple[Path, str]:
    path, log = tmp_path / "path.yaml", tmp_path / "transfers.log"
    path.write_text(PATH.replace("TOOL", tool))
    log.write_text(text)
    return log, str(path)


def test_a_file_is_a_case_with_its_bytes_and_streams(tmp_path: Path) -> None:
    log, path = files(tmp_path, line(0, 20, 10**10) + line(0, 20, 10**10, kind="STOR"))
    (case,), notes = transfer_cases.cases([log], path)
    assert case.measured == pytest.approx(5e8)
    assert case.role == "blind"
    assert case.log == (log, 1)
    dataset = json.loads(case.overrides[0].partition("=")[2])
    assert dataset == {"files": 1, "size": "10000000000 B"}
    assert case.overrides[1:] == ("transfer.tool.p=4", "transfer.tool.vb=true")
    assert notes == ["1 transfer 192.0.2.7 to nas.example.org: left out, not from nas to centre"]


def test_files_that_overlap_are_one_transfer(tmp_path: Path) -> None:
    # 0-20 s, 5-30 s and 25-45 s are one of 30 GB in 45 s, two at a time; 60-70 s is another
    text = line(0, 20, 10**10) + line(5, 25, 10**10) + line(25, 20, 10**10) + line(60, 10, 10**10)
    log, path = files(tmp_path, text)
    both, _ = transfer_cases.cases([log], path)
    assert [c.measured for c in both] == [pytest.approx(3e10 / 45), pytest.approx(1e9)]
    assert "transfer.tool.cc=2" in both[0].overrides
    assert "3 files, 30 GB" in both[0].what


def test_ends_that_the_path_calls_otherwise(tmp_path: Path) -> None:
    two = line(0, 20, 10**10, host="dtn01.example.org") + line(0, 20, 10**10, host="dtn01.example.org", kind="STOR")
    log, path = files(tmp_path, two)
    with pytest.raises(InputError, match=r"say which ends are the path's: --as NAME=nas"):
        transfer_cases.cases([log], path)
    assert len(transfer_cases.cases([log], path, {"dtn01": "nas"})[0]) == 1
    with pytest.raises(InputError, match="--as dtn01=disks: the path has no host 'disks'; write one of nas, centre"):
        transfer_cases.cases([log], path, {"dtn01": "disks"})
    log.write_text(line(0, 20, 10**10, kind="STOR"))
    with pytest.raises(InputError, match="no transfer that went the way"):
        transfer_cases.cases([log], path)


def test_a_globus_task(tmp_path: Path) -> None:
    log, path = files(tmp_path, TASK.format(source="Lab NAS", target="NERSC"), "globus")
    (case,), _ = transfer_cases.cases([log], path)
    assert case.measured == pytest.approx(4e8)
    assert json.loads(case.overrides[0].partition("=")[2]) == {"files": 200, "size": "240000000000 B"}
    with pytest.raises(InputError, match="no transfer that went the way"):
        transfer_cases.cases([log], path, {"NERSC": "nas", "Lab NAS": "centre"})


def test_a_run_of_rsync_is_one_transfer_of_the_files_that_it_lists(tmp_path: Path) -> None:
    """What passed the wire and the data's rate are two figures of one run; ten thousand names are no one file."""
    names = "".join(f"a/f{n:05d}\n" for n in range(10010))
    sums = "\nsent 50,621,223 bytes  received 190,259 bytes  14,517,566.29 bytes/sec\n"
    log, path = files(
        tmp_path, f"sending incremental file list\na/\n{names}{sums}total size is 50,000,000  speedup is 0.98\n"
    )
    (case,), _ = transfer_cases.cases([log], path)
    assert json.loads(case.overrides[0].partition("=")[2]) == {"files": 10010, "size": "50000000 B"}
    assert case.measured == pytest.approx(5e7 / 3.5, rel=1e-3)
    log.write_text(f"{sums}total size is 50,000,000  speedup is 0.98\n")  # of how many files it does not say
    (case,), _ = transfer_cases.cases([log], path)
    assert "as in the path" in case.what


@pytest.mark.parametrize(("tool", "said"), [("gridftp", False), ("globus", False), ("rsync", True), ("scp", True)])
def test_a_log_of_another_tool_than_the_path_has(tmp_path: Path, tool: str, said: bool) -> None:
    """A GridFTP server's log says nothing of rsync: the reader is told what was compared with what."""
    log, path = files(tmp_path, line(0, 100, 50_000_000_000) + line(200, 100, 50_000_000_000), tool)
    _, notes = transfer_cases.cases([log], path)
    expected = f"2 transfers of gridftp: predicted with {tool}, the tool of {path}; write gridftp there"
    assert [n.startswith(expected) for n in notes] == [True] * said


def test_long_logs_are_thinned_evenly(tmp_path: Path) -> None:
    log, path = files(tmp_path, "".join(line(100 * n, 20, 10**10 + n) for n in range(50)))
    some, notes = transfer_cases.cases([log], path, most=5)
    assert [c.log[1] for c in some if c.log] == [1, 11, 21, 31, 41]
    assert "50 transfers: 5 of them are judged" in notes[-1]


def test_predicted_beside_measured_and_the_command(tmp_path: Path, run: Run) -> None:
    log, path = files(tmp_path, line(0, 20, 10**10) + line(100, 15, 10**10))
    found = validate(transfer_cases.cases([log], path)[0], samples=16)
    assert [j.case.measured for j in found.judgements] == [pytest.approx(5e8), pytest.approx(10**10 / 15)]
    # the same bytes on the same path: one prediction
    assert len({j.p50 for j in found.judgements}) == 1
    made = json.loads(run("validate", str(log), "--path", path, "--samples", "10", "--json").out)
    assert [c["measured"] for c in made["cases"]] == [pytest.approx(5e8), pytest.approx(10**10 / 15)]
    left = run("validate", str(log))
    assert left.code == 2
    assert "write --path PATH for a log of transfers" in left.err


def test_the_starter_runs(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "cases.yaml"
    run("init", "--cases", str(file))
    assert (tmp_path / "path.yaml").is_file()
    made = json.loads(run("validate", str(tmp_path), "--samples", "10", "--json").out)
    assert [c["id"] for c in made["cases"]] == ["nightly-copy"]
    assert "exists; write another name, or --force" in run("init", "--cases", str(file)).err


EVENT = rows("evidence/tables", "transfer_cases")["EVENT"]


def test_files_of_rucio_that_overlap_are_one_transfer_between_its_storage_elements(tmp_path: Path) -> None:
    """Two files of 10 GB in 10:00:00 to 10:00:20 and to 10:00:25: 20 GB in 25 s; one the other way is left out."""
    events = []
    for begun, ended, ends in ((0, 20, ()), (5, 25, ()), (0, 9, ("CENTRE_DISK", "NAS_DISK"))):
        times = {"started_at": f"2024-03-01 10:00:{begun:02d}", "transferred_at": f"2024-03-01 10:00:{ended:02d}"}
        way = dict(zip(("src-rse", "dst-rse"), ends, strict=False))
        events.append({**EVENT, "payload": {**EVENT["payload"], **times, **way}})
    log, path = files(tmp_path, "\n".join(map(json.dumps, events)) + "\n")
    names = {"NAS_DISK": "nas", "CENTRE_DISK": "centre"}
    (case,), notes = transfer_cases.cases([log], path, names)
    assert case.measured == pytest.approx(20e9 / 25)
    assert case.overrides[0] == 'transfer.dataset={"files": 2, "size": "20000000000 B"}'
    assert "transfer.tool.cc=2" in case.overrides
    assert any("CENTRE_DISK to NAS_DISK: left out" in note for note in notes)


def test_transfers_fit_the_hosts_of_the_path_that_they_went_over(tmp_path: Path) -> None:
    """Files of a drive that is 40 % slower than its file says; the model's own error is theirs in common."""
    (tmp_path / "my.yaml").write_text(
        "name: my\ncpu: {kind: cpu, cores: 8, clock: {value: 3 GHz, spread: 3 %}}\nstack: {kind: stack}\n"
        "memory: {kind: memory, channels: 4, rate: 2400 MT/s, size: 64 GiB}\n"
        "nics: {eth: {kind: nic, rate: 100 Gb/s}}\nvolumes: {/pool: {filesystem: {kind: xfs}, "
        "array: {kind: ssd, read: {value: 500 MB/s, spread: 60 %}, write: 1 GB/s}}}\n"
    )
    rates = (300, 250, 400, 310)  # unlike ones of one test are no contradiction
    text = "".join(line(100 * n, 33, round(33e6 * rate), host="dtn01") for n, rate in enumerate(rates))
    log, path = files(tmp_path, text)
    near = (
        Path(path).read_text().replace("example-nas", "my.yaml").replace("40 ms", "1 ms").replace("10 Gb/s", "100 Gb/s")
    )
    Path(path).write_text(near)
    notes: list[str] = []
    found = calibrate([log], [str(tmp_path / "my.yaml")], path=path, names={"dtn01": "nas"}, notes=notes)
    assert [f.case.role for f in found.figures] == ["fit"] * 4
    moved = {p.name: v / 500e6 for p, v in zip(found.parameters, found.values, strict=True)}
    assert 0.55 < moved["my: volumes./pool.array.read"] < 0.82
    together = sum(f.case.spread**-2 for f in found.figures) ** -0.5
    off = discrepancy.load().laws["production"].ppf(np.array([1, 5]) / 6)  # two thirds lie between
    assert together > np.ptp(off) / 2  # four say no more than the model is good for
    assert notes == []


def test_transfers_of_a_path_stand_beside_tests_of_its_host(tmp_path: Path, run: Run) -> None:
    log, path = files(tmp_path, line(0, 20, 10**10))
    (tmp_path / "dd.txt").write_text(
        "$ dd if=/dev/zero of=/pool/x bs=1M count=50000 oflag=direct\n"
        "52428800000 bytes (52 GB) copied, 65.5 s, 800 MB/s\n"
    )
    logs = [str(log), str(tmp_path / "dd.txt")]
    status, out, err = run("calibrate", *logs, "--host", "example-nas", "--path", path, "--json")
    assert status == 0, err
    assert json.loads(out)["figures"] == 2
    status, _, err = run("calibrate", logs[0], "--host", "example-nas")
    assert "fits where --path names the path that it went over" in err
