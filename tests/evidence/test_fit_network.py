"""Processor time of iperf3 as figures of the hosts at its two ends."""

import json
from pathlib import Path

import pytest

from dtnsim.evidence.calibrate import calibrate
from dtnsim.steady.prediction import predict
from tests.evidence.test_watch import HOST
from tests.strategies import written


def iperf3(local: float, remote: float, target: str = "192.0.2.7", **test: object) -> str:
    start = {"version": "iperf 3.9", "timestamp": {"time": "Tue, 03 Mar 2026 10:00:00 GMT"}}
    start |= {"connecting_to": {"host": target}, "test_start": {"protocol": "TCP", "num_streams": 1, **test}}
    whole = {"start": 0, "end": 10, "seconds": 10, "bytes": 1.25e10, "bits_per_second": 1e10}
    cpu = {"host_total": local, "remote_total": remote}
    end = {"sum_sent": whole, "sum_received": whole, "cpu_utilization_percent": cpu}
    return json.dumps({"start": start, "intervals": [], "end": end})


@pytest.fixture
def hosts(tmp_path: Path) -> list[str]:
    for name in ("my", "other"):
        (tmp_path / f"{name}.yaml").write_text(HOST.replace("name: my", f"name: {name}"))
    return [str(tmp_path / f"{name}.yaml") for name in ("my", "other")]


def path_of(hosts: list[str], file: Path, **tool: object) -> Path:
    tool = {"name": "iperf3", "version": "3.9", "b": "10 Gb/s", **tool}
    file.write_text(
        f"hosts: {{my: {hosts[0]}, other: {hosts[1]}}}\nwan: {{bandwidth: 100 Gb/s, rtt: 1 ms}}\n"
        f"transfer: {{from: 'my:memory', to: 'other:memory', tool: {json.dumps(tool)}}}\n"
    )
    return file


def share(path: Path, station: str, calibration: Path | None = None) -> float:
    made = predict(path, samples=0, calibration=calibration)
    return next(s.utilization for s in made.stations if s.station.name.startswith(station))


def test_shares_of_both_ends_fit_the_stack_that_they_were_measured_on(tmp_path: Path, hosts: list[str]) -> None:
    """The sender takes 15 % more than described (its error is 7 %), the receiver as much."""
    path = path_of(hosts, tmp_path / "path.yaml")
    sent, received = share(path, "my.cpu.iperf3 sender"), share(path, "other.cpu.iperf3 receiver")
    log = written(tmp_path / "run.json", iperf3(115 * sent, 100 * received))
    notes: list[str] = []
    found = calibrate([log], hosts, names={"192.0.2.7": "other", "run.json": "my"}, notes=notes)
    assert [(f.case.site, f.case.quantity) for f in found.figures] == [("my", "cpu_share"), ("other", "cpu_share")]
    assert found.ratio_before == pytest.approx([-0.140, 0.0], abs=0.01)  # ln(1 / 1.15)
    assert abs(found.ratio_after[0]) < 0.05
    moved = {p.name: float(u) for p, u in zip(found.parameters, found.u, strict=True)}
    assert moved["my: stack.send_byte"] > 0.2
    assert moved["other: stack.receive_byte"] == pytest.approx(0.0, abs=0.05)
    assert not [n for n in notes if "left out" in n]


def test_a_reversed_test_loads_the_other_side(tmp_path: Path, hosts: list[str]) -> None:
    found = calibrate([written(tmp_path / "run.json", iperf3(60, 40, reverse=1))], hosts[:1])
    (figure,) = found.figures  # nobody describes the other end
    assert figure.case.pattern == r"^my\.cpu\.iperf3 receiver"


def test_loopback_is_left_out_with_a_line(tmp_path: Path, hosts: list[str]) -> None:
    log, dd = tmp_path / "run.json", tmp_path / "dd.txt"
    log.write_text(iperf3(60, 40, target="127.0.0.1"))
    line = "52428800000 bytes (52 GB) copied, 65.5 s, 800 MB/s\n"
    dd.write_text(f"$ dd if=/dev/zero of=/data/x bs=1M count=50000 oflag=direct\n{line}")
    notes: list[str] = []
    found = calibrate([log, dd], hosts[:1], notes=notes)
    assert len(found.figures) == 1
    assert any("both ends are on one host" in n for n in notes)


def test_of_many_runs_the_last_count_and_none_is_said_to_be_left_out(tmp_path: Path, hosts: list[str]) -> None:
    for number in range(10):
        (tmp_path / f"run{number}.json").write_text(iperf3(22, 20))
    notes: list[str] = []
    found = calibrate(sorted(tmp_path.glob("run*.json")), hosts[:1], notes=notes)
    assert [f.case.log[0].name for f in found.figures if f.case.log] == [f"run{n}.json" for n in range(4, 10)]
    together = sum(f.case.spread**-2 for f in found.figures) ** -0.5
    assert together == pytest.approx(0.07)  # six runs of one host say no more than one
    assert notes == []


def test_nuttcp_says_the_shares_of_both_ends(tmp_path: Path, hosts: list[str]) -> None:
    log = tmp_path / "run.txt"
    line = " 11920.0000 MB /  10.00 sec =  9999.2 Mbps 34 %TX 59 %RX 0 retrans 0.20 msRTT\n"
    log.write_text(f"$ nuttcp -T10 192.0.2.7\n{line}")
    notes: list[str] = []
    found = calibrate([log], hosts, names={"192.0.2.7": "other", "run.txt": "my"}, notes=notes)
    said = [(f.case.site, f.case.pattern, f.case.measured) for f in found.figures]
    assert said == [("my", r"^my\.cpu\.iperf3 sender", 0.34), ("other", r"^other\.cpu\.iperf3 receiver", 0.59)]
    assert notes == []


def test_a_card_that_carried_more_than_its_file_says_is_corrected(tmp_path: Path, hosts: list[str]) -> None:
    Path(hosts[0]).write_text(Path(hosts[0]).read_text() + "nics: {eth: {kind: nic, rate: 1 Gb/s}}\n")
    log = written(tmp_path / "run.json", iperf3(22, 20))
    found = calibrate([log], hosts[:1])
    assert [(f.key, f.value, f.was) for f in found.facts] == [("nics.eth.rate", "10 Gb/s", "1 Gb/s")]
    Path(hosts[0]).write_text(Path(hosts[0]).read_text().replace("rate: 1 Gb/s", "rate: 100 Gb/s"))
    assert calibrate([log], hosts[:1]).facts == ()
