"""ping, mtr and traceroute as a network that a path names."""

import json
import math
from pathlib import Path

import pytest

from dtnsim.description import spec
from dtnsim.evidence import fit_wan
from dtnsim.ground.errors import InputError
from tests.conftest import Run
from tests.each import tables
from tests.strategies import written

PING = """PING dtn.example.org (192.0.2.7) {size}({whole}) bytes of data.

--- dtn.example.org ping statistics ---
{sent} packets transmitted, {got} received, {loss}% packet loss, time 99123ms
rtt min/avg/max/mdev = {least}/{mean}/{most}/0.100 ms
"""
MTR = tables("evidence/tables")["mtr"]


def ping(mean: float, sent: int = 100, lost: int = 0, size: int = 56) -> str:
    return PING.format(size=size, whole=size + 28, sent=sent, got=sent - lost, loss=100 * lost // sent,
                       least=mean * 0.98, mean=mean, most=mean * 1.3)  # fmt: skip


def made(tmp_path: Path, *texts: str) -> fit_wan.Way:
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"log{number}-2020-03-0{number + 1}.txt")
        files[-1].write_text(text)
    return fit_wan.read_way(files)


def test_one_run_says_how_far_its_mean_lies_above_its_fastest(tmp_path: Path) -> None:
    found = made(tmp_path, ping(20.0))
    assert found.target == "dtn.example.org"
    assert found.rtt_s == pytest.approx(0.020)
    assert found.spread == pytest.approx(1 / 0.98 - 1)


def test_runs_say_how_far_they_lie_apart(tmp_path: Path) -> None:
    found = made(tmp_path, ping(20.0), ping(22.0), ping(24.2))
    assert found.rtt_s == pytest.approx(0.022)
    # ln(1.1) between neighbours: the sample deviation of (-d, 0, d) is d
    assert found.spread == pytest.approx(math.sqrt(math.expm1(math.log(1.1) ** 2)))
    assert found.days == {"2020-03-01", "2020-03-02", "2020-03-03"}


def test_loss_of_the_far_end_counts_and_that_of_routers_does_not(tmp_path: Path) -> None:
    found = made(tmp_path, MTR, ping(20.0, lost=2).replace("dtn.example.org", "192.0.2.7"))
    assert (found.sent, found.lost) == (200, pytest.approx(4.0))
    text = fit_wan.text(found)
    assert 'loss: {value: 0.02, spread: 50 %, source: "4 of 200 packets lost"}' in text  # 1 / sqrt(4)
    quiet = fit_wan.text(made(tmp_path, ping(20.0)))
    assert "# loss: none of 100 packets was lost: below 0.03 (95 %)" in quiet


def test_a_packet_that_may_not_be_broken_says_the_mtu(tmp_path: Path) -> None:
    found = made(tmp_path, "$ ping -M do -s 8972 dtn.example.org\n" + ping(20.0, size=8972))
    assert found.mtu_B == 9000
    assert "mtu: 9000 B" in fit_wan.text(found)


def test_a_path_names_it_and_predicts_with_it(tmp_path: Path) -> None:
    (tmp_path / "my-wan.yaml").write_text(fit_wan.text(made(tmp_path, ping(20.0), ping(21.0, lost=1)), "25 Gb/s"))
    path = written(
        tmp_path / "path.yaml",
        "hosts: {a: example-dtn-100g, b: example-dtn-100g}\nwan: {part: my-wan.yaml, bandwidth: 5 Gb/s}\n"
        "transfer: {from: 'a:memory', to: 'b:memory', tool: {name: iperf3, t: 10 s}}\n",
    )
    (segment,) = spec.load(path).wan
    assert segment.rtt.value == pytest.approx(math.sqrt(0.020 * 0.021), rel=1e-3)
    assert segment.rtt.spread == pytest.approx(math.log(1.05) / math.sqrt(2), rel=0.05)
    assert (segment.loss.value, segment.loss.spread) == (pytest.approx(0.005), pytest.approx(1.0))
    assert "log0-2020-03-01.txt" in segment.rtt.source
    assert segment.bandwidth.value == pytest.approx(5e9 / 8)


def test_the_far_end_of_traceroute_and_an_archive_of_perfsonar(tmp_path: Path) -> None:
    shared = Path(__file__).parents[1] / "logs" / "data"
    trace = fit_wan.read_way([shared / "traceroute" / "uci.txt"])
    assert len(trace.means) == 1  # of all hops the last, of several traces the one that arrived
    assert trace.target == "mango.cass.idre.ucla.edu"
    hits = []
    for day, rtt in ((1, 0.060), (2, 0.061), (3, 0.062)):
        times = {"min": rtt - 1e-4, "mean": rtt, "max": rtt + 1e-3}
        result = {"succeeded": True, "rtt": times, "packets": {"sent": 10, "lost": 0}}
        test = {"type": "rtt", "spec": {"dest": "10.0.0.2"}}
        hits.append({"pscheduler": {"start_time": f"2024-03-0{day}T15:06:46Z"}, "test": test, "result": result})
    (tmp_path / "hits.json").write_text(json.dumps(hits))
    found = fit_wan.read_way([tmp_path / "hits.json"])
    assert (len(found.means), found.sent, len(found.days)) == (3, 30, 3)
    assert found.rtt_s == pytest.approx(0.061, rel=1e-3)


def test_the_command_says_how_a_path_names_it(tmp_path: Path, run: Run) -> None:
    (tmp_path / "ping.txt").write_text(ping(20.0))
    code, _, err = run("calibrate", str(tmp_path / "ping.txt"), "--wan", str(tmp_path / "way.yaml"))
    assert code == 0
    assert err.endswith(f"in a path: wan: {{part: {tmp_path / 'way.yaml'}}}\n")


def test_several_ways_and_none(tmp_path: Path) -> None:
    far = ping(80.0).replace("dtn.example.org", "far.example.org")
    with pytest.raises(InputError, match=r"several ways: dtn\.example\.org \(20 ms\), far\.example\.org \(80 ms\)"):
        made(tmp_path, ping(20.0), far)
    with pytest.raises(InputError, match="no round trip in these logs"):
        made(tmp_path, "$ dd if=/dev/zero of=/x bs=1M count=1\n1048576 bytes (1 MB) copied, 1 s, 1 MB/s\n")


def iperf3(stamp: int, rate_bps: float, again: int = 0, reverse: int = 0) -> str:
    test = {"protocol": "TCP", "num_streams": 4, "duration": 10, "reverse": reverse}
    time = f"Tue, {stamp // 24 + 3:02} Mar 2026 {stamp % 24:02}:00:00 GMT"
    start = {"version": "iperf 3.9", "timestamp": {"time": time},
             "connecting_to": {"host": "192.0.2.7", "port": 5201}, "test_start": test}  # fmt: skip
    whole = {"start": 0, "end": 10, "seconds": 10, "bytes": rate_bps * 10 / 8, "bits_per_second": rate_bps}
    end = {"sum_sent": {**whole, "retransmits": again}, "sum_received": whole}
    return json.dumps({"start": start, "intervals": [], "end": end}, indent=1)


def test_rates_of_both_directions_and_what_was_sent_again(tmp_path: Path) -> None:
    """3 + 2 segments again in two runs of 10 s at 9.4 and 9.0 Gb/s; a way of 9.4 Gb/s is one of 10 Gb/s."""
    for number, text in enumerate((ping(20.0), iperf3(0, 9.4e9, 3), iperf3(1, 9.0e9, 2, reverse=1))):
        (tmp_path / f"{number}.log").write_text(text)
    files = sorted(tmp_path.glob("*.log"))
    text = fit_wan.text(fit_wan.read_way(files, {"192.0.2.7": "dtn.example.org"}))
    assert "# 1 run here to dtn.example.org: median 9.4 Gb/s" in text
    assert "# 1 run dtn.example.org to here: median 9 Gb/s" in text
    assert "bandwidth: 10 Gb/s  # TODO: what the provider says (now the smallest rate of Ethernet" in text
    assert "retransmits: {count: 5, moved: 2.3e+10 B, starts: 2}" in text
    assert "background" not in text
    (tmp_path / "3.log").write_text(iperf3(2, 1e9).replace("192.0.2.7", "192.0.2.9"))
    with pytest.raises(InputError, match=r"rates are of several ways: 192\.0\.2\.7, 192\.0\.2\.9"):
        fit_wan.read_way([*files, tmp_path / "3.log"])


def test_runs_over_days_and_hours_say_what_others_take(tmp_path: Path) -> None:
    """Others take 20 % with a wave of 0.5 that peaks at 15 h, so 30 % at the most and 10 % at the least: of the fastest
    run (0.9) the hours lack 1 - (0.8 - 0.1 cos) / 0.9, 1/9 in the mean with a wave of 1/9."""
    files = [tmp_path / "ping.txt"]
    files[0].write_text(ping(20.0))
    for hour in range(72):
        taken = 0.2 * (1 + 0.5 * math.cos(2 * math.pi * (hour - 15) / 24))
        files.append(tmp_path / f"{hour}.json")
        files[-1].write_text(iperf3(hour, 10e9 * (1 - taken)))
    (tmp_path / "way.yaml").write_text(fit_wan.text(fit_wan.read_way(files)))
    path = written(
        tmp_path / "path.yaml",
        "hosts: {a: example-dtn-100g, b: example-dtn-100g}\nwan: {part: way.yaml}\n"
        "transfer: {from: 'a:memory', to: 'b:memory', tool: {name: iperf3, t: 10 s}}\n",
    )
    (segment,) = spec.load(path).wan
    other = segment.background
    assert other.share.value == pytest.approx(1 / 9, rel=0.01)
    assert other.diurnal.value == pytest.approx(1.0, rel=0.01)
    assert other.peak_hour == pytest.approx(15, abs=0.1)
