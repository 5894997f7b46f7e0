"""A user's own folder: hosts that logs call otherwise, volumes by mount and by device, folders of logs."""

import json
from pathlib import Path

import pytest

from dtnsim.evidence import fit_logs, fit_targets, fit_tests
from dtnsim.evidence.calibrate import calibrate
from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.logs import read_text
from tests.each import rows, tables
from tests.strategies import written

HOST = tables("evidence/tables")["one of a name"]
DD = "[me@{host} ~]$ dd if=/dev/zero of={of} bs=1M count=204800 oflag=direct\n"
DD += "214748364800 bytes (215 GB) copied, {s} s, {r} MB/s\n"
FIO = """
seq: (g=0): rw={rw}, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, ioengine=libaio, iodepth=8
fio-3.16
Starting {jobs} process
"""
JOB = """
seq: (groupid=0, jobs=1): err= 0: pid={pid}: Tue Mar  3 10:11:12 2020
  write: IOPS=400, BW=400MiB/s (419MB/s)(39.1GiB/100000msec); 0 zone resets
    slat (usec): min=8, max=99, avg=12.00, stdev=1.00
  cpu          : usr=1.00%, sys=2.00%, ctx=100, majf=0, minf=10
"""
GROUP = """
Run status group 0 (all jobs):
  WRITE: bw=800MiB/s (839MB/s), 400MiB/s-400MiB/s (419MB/s-419MB/s), io=78.1GiB (83.9GB), run=100000-100000msec
"""


def dd(of: str, seconds: float, host: str = "box") -> str:
    return DD.format(host=host, of=of, s=seconds, r=round(214748.3648 / seconds))


@pytest.fixture
def host(tmp_path: Path) -> Path:
    return written(tmp_path / "my.yaml", HOST.format(name="my"))


def ends(figures: list[fit_logs.Figure]) -> list[str]:
    return [str(f.spec.transfers[0].to) for f in figures]


def test_a_host_that_logs_call_otherwise(tmp_path: Path, host: Path) -> None:
    log = written(tmp_path / "dd.txt", dd("/data/x", 200.0, "disk-host"))
    with pytest.raises(InputError, match=r"ran on host 'disk-host', not on 'my'; .*--as disk-host=my"):
        fit_logs.read([log], str(host))
    found, *_ = fit_logs.read([log], str(host), names={"disk-host": "my"})
    assert ends(found) == ["my:/data"]


def test_volumes_by_path_and_by_device(tmp_path: Path, host: Path) -> None:
    log, tree = tmp_path / "dd.txt", tmp_path / "lsblk.json"
    log.write_text(dd("/scratch/a/x", 200.0, "my") + dd("/dev/nvme0n1", 200.0, "my") + dd("/dev/sda", 1500.0, "my"))
    said = {"/scratch": "/data", "/dev/nvme0n1": "/fast"}
    found, notes, _ = fit_logs.read([log], str(host), names=said)
    assert ends(found) == ["my:/data", "my:/fast"]
    assert "/dev/sda: no lsblk -J is among the logs" in notes[0]
    raid = {"name": "md0", "type": "raid0", "mountpoint": "/data"}
    nvme = {
        "name": "nvme0n1",
        "type": "disk",
        "children": [{"name": "nvme0n1p1", "type": "part", "mountpoint": "/fast"}],
    }
    tree.write_text(json.dumps({"blockdevices": [{"name": "sda", "type": "disk", "children": [raid]}, nvme]}))
    found, notes, _ = fit_logs.read([log, tree], str(host), names={"/scratch": "/data"})
    assert ends(found) == ["my:/data", "my:/fast"]
    assert any("/dev/sda: it is one drive of the array md0, not the volume" in n for n in notes)


def test_names_that_lead_nowhere(host: Path) -> None:
    with pytest.raises(InputError, match="there is no host and no volume '/nowhere'; write one of my, /data, /fast"):
        fit_targets.Targets([str(host)], names={"/scratch": "/nowhere"})
    with pytest.raises(InputError, match="--as disk-host: write what the log says, =, "):
        fit_targets.pairs(["disk-host"])


def test_two_hosts_and_a_folder_of_logs_each(tmp_path: Path, host: Path) -> None:
    other = written(tmp_path / "their.yaml", HOST.format(name="their"))
    for name in ("my", "their"):
        (tmp_path / "logs" / name).mkdir(parents=True)
    plain = dd("/fast/x", 230.0).partition("$ ")[2]
    (tmp_path / "logs" / "my" / "dd.txt").write_text("$ " + plain)
    (tmp_path / "logs" / "their" / "dd.txt").write_text("$ " + plain)
    files = sorted((tmp_path / "logs").rglob("*.txt"))
    assert ends(fit_logs.read(files, [str(host), str(other)])[0]) == ["my:/fast", "their:/fast"]
    loose = written(tmp_path / "dd.txt", "$ " + plain)
    with pytest.raises(InputError, match=r"on which host it ran; write --as dd\.txt=HOST with one of my, their"):
        fit_logs.read([loose], [str(host), str(other)])
    with pytest.raises(InputError, match="two host files have the name 'my'"):
        fit_targets.Targets([str(host), str(host)])


def test_a_folder_is_fitted_and_nothing_shipped_is_touched(tmp_path: Path, host: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "dd.txt").write_text(dd("/fast/x", 230.0, "my"))
    (logs / "ping.txt").write_text("64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.1 ms\n")
    notes: list[str] = []
    found = calibrate([logs], [str(host)], notes=notes)
    (write,) = [v for p, v in zip(found.parameters, found.values, strict=True) if p.key.endswith("array.write")]
    assert units.show(float(write), "B/s").startswith("7.")  # 215 GB in 230 s are 7.5 Gb/s
    assert found.hosts == {"my"}


def test_fio_text_says_how_much_and_its_jobs_are_one_test(tmp_path: Path, host: Path) -> None:
    log = tmp_path / "fio.txt"
    text = "$ fio --name=seq --rw=write --bs=1M --size=40G --numjobs=2 --direct=1 --directory=/fast\n"
    log.write_text(text + FIO.format(rw="write", jobs=2) + JOB.format(pid=1) + JOB.format(pid=2) + GROUP)
    (figure,), *_ = fit_logs.read([log], str(host))
    tool = figure.spec.transfers[0].tool
    assert (tool.numjobs, tool.depth, tool.direct) == (2, 8, True)  # type: ignore[attr-defined]
    assert figure.case.measured == pytest.approx(800 * 2**20)
    moved = json.loads(figure.case.overrides[0])["dataset"]["size"]
    assert units.parse(moved, "B") == pytest.approx(2 * 39.1 * 2**30, rel=1e-3)


def test_fio_json_of_jobs_without_group_reporting_is_one_test(tmp_path: Path, host: Path) -> None:
    options = {"rw": "read", "bs": "1M", "iodepth": "4", "ioengine": "libaio", "numjobs": "3", "directory": "/fast"}
    result = {"io_bytes": 10**11, "bw_bytes": 10**9, "bw": 976562, "runtime": 100000, "iops": 953.0}
    jobs = [
        {"jobname": "r", "error": 0, "job options": options, "read": {**result, "runtime": 100000 + n}}
        for n in range(3)
    ]
    log = written(tmp_path / "fio.json", json.dumps({"fio version": "fio-3.28", "jobs": jobs}))
    (figure,), *_ = fit_logs.read([log], str(host))
    assert figure.case.measured == pytest.approx(3e9)
    # a run of a given time reads its files again: 300 GB were moved on a volume of 200 GB
    host.write_text(host.read_text() + "    size: 200 GB\n")
    (figure,), *_ = fit_logs.read([log], str(host))
    assert json.loads(figure.case.overrides[0])["dataset"]["size"] == "100000000000 B"


@pytest.mark.parametrize(("text", "says"), rows("evidence/tables", "what_cannot_calibrate_says_why_and_what_would"))
def test_what_cannot_calibrate_says_why_and_what_would(host: Path, text: str, says: str) -> None:
    target = fit_targets.Targets([str(host)]).all[0]
    (m,) = [m for m in read_text(text)[0] if m.quantity == "throughput"]
    with pytest.raises(fit_targets.Skip, match=says):
        fit_tests.described(m, target)
