"""Transfers that a time ends: the same bytes in predict and in simulate."""

import pytest

from dtnsim.ground.errors import SpecError
from dtnsim.physics.tcp import outcome
from dtnsim.physics.tcp.rounds import Cases
from dtnsim.simulation import simulate
from dtnsim.steady.prediction import predict
from tests.lab import answer, journey, machine, rate, volume
from tests.strategies import load

WAN = {"bandwidth": "10 Gb/s", "rtt": "50 ms"}


def both(path):
    """(predicted transfer, simulated transfer) of the same path."""
    return answer(path).transfers[0], simulate(load(path)).runs[0].transfers[0]


def iperf3(seconds, **more):
    return journey(wan=WAN, tool={"name": "iperf3", "t": f"{seconds} s", **more})


def disk(**more):
    host = machine(volumes={"/d": volume({"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s"})})
    return journey(host, host, start="a:/d", to="a:/d", **more)


def fio(**more):
    return {"name": "fio", "rw": "write", "bs": "1 MiB", "runtime": "30 s", **more}


@pytest.mark.parametrize("seconds", [2, 10, 100])
def test_iperf3_lasts_its_time_in_both(seconds):
    predicted, simulated = both(iperf3(seconds))
    assert predicted.duration_s.p10 == predicted.duration_s.p50 == predicted.duration_s.p90 == seconds
    assert simulated.duration_s == pytest.approx(seconds)
    assert predicted.payload_B == pytest.approx(predicted.throughput_Bps.p50 * seconds)
    assert simulated.payload_B == pytest.approx(predicted.payload_B, rel=0.02)


def test_ten_seconds_are_the_default_of_iperf3_and_nuttcp():
    for tool in ("iperf3", "nuttcp"):
        assert answer(journey(wan=WAN, tool=tool)).duration_s.p50 == 10.0


def test_a_longer_test_is_nearer_to_the_steady_rate():
    rates = [rate(iperf3(t)) for t in (1, 10, 100, 1000)]
    assert rates == sorted(rates)
    assert rates[0] < 0.7 * rates[-1]


@pytest.mark.parametrize("omitted", [0, 1, 3])
def test_losses_after_what_is_omitted_count(omitted):
    """A buffer of a sixth of the BDP: the first loss comes within seconds, and windows grow again while it counts."""
    wan = {"bandwidth": "100 Gb/s", "rtt": "60 ms", "buffer": "100 MB"}
    predicted, simulated = both(journey(wan=wan, tool={"name": "iperf3", "P": 4, "t": "10 s", "O": f"{omitted} s"}))
    assert predicted.throughput_Bps.p50 < 0.98 * 100e9 / 8 * 8948 / 9038
    # steps of a course are two seconds long after ten
    assert simulated.throughput_Bps == pytest.approx(predicted.throughput_Bps.p50, rel=0.03)


@pytest.mark.parametrize("loss", [1e-4, 1e-5])
def test_a_timed_test_scatters_as_single_runs_of_the_rounds_do(loss):
    """What has come by the end scatters; the time for what usually has come by then scatters seven times as far."""
    wan = {"bandwidth": "10 Gb/s", "rtt": "100 ms", "buffer": "12 MB", "mtu": "1500 B", "background": {"share": 0}}
    wan["loss"] = {"value": loss, "spread": "1 %"}
    host = machine(tcp={"rmem_max": "256 MiB", "wmem_max": "256 MiB"})
    found = predict(
        load({**journey(host, host, wan=wan, tool={"name": "iperf3", "t": "30 s"}), "setting": "isolated"})
    ).throughput_Bps
    runs = outcome.simulate(Cases.of(rate_Bps=1.25e9, rtt_s=0.1, buffer_B=12e6, loss=loss))
    ratio = float(runs.goodput_p90_Bps[0] / runs.goodput_p10_Bps[0])
    assert 0.8 * ratio < found.p90 / found.p10 < 1.35 * ratio


def test_what_is_omitted_does_not_count():
    """Slow start over 50 ms is over within 2 s, so a test that omits them shows the steady rate alone."""
    (omitted, simulated), steady = both(iperf3(5, O="2 s")), answer(iperf3(10000)).transfers[0]
    assert omitted.throughput_Bps.p50 == pytest.approx(steady.throughput_Bps.p50, rel=1e-3)
    assert simulated.throughput_Bps == pytest.approx(omitted.throughput_Bps.p50, rel=1e-3)
    assert simulated.finished_s == pytest.approx(7.0)
    assert simulated.duration_s == pytest.approx(5.0)


def test_sender_reports_what_its_sockets_took():
    predicted, simulated = both(iperf3(10))
    assert predicted.sender_Bps is not None
    surplus = (predicted.sender_Bps - predicted.throughput_Bps.p50) * 10
    assert surplus == pytest.approx(2 * predicted.throughput_Bps.p50 * 0.05)
    assert simulated.sender_Bps == pytest.approx(predicted.sender_Bps, rel=0.02)


def test_bytes_or_a_time():
    sized = journey(wan=WAN, dataset={"files": 1, "size": "10 GB"})
    predicted, simulated = both(sized)
    assert predicted.payload_B == simulated.payload_B == 10e9
    assert predicted.sender_Bps is None
    for key in ("t", "O"):
        path = {**sized, "transfer": {**sized["transfer"], "tool": {"name": "iperf3", key: "5 s"}}}
        with pytest.raises(SpecError, match="time or a number of bytes"):
            answer(path)
    with pytest.raises(SpecError, match=r"tool\.T"):
        answer({**sized, "transfer": {**sized["transfer"], "tool": {"name": "nuttcp", "T": "5 s"}}})


def test_fio_goes_over_its_files_again_only_when_time_based():
    data = {"files": 1, "size": "4 GB"}
    direct = {"direct": True, "iodepth": 8, "ioengine": "libaio"}
    once = both(disk(tool=fio(**direct), dataset=data))
    again = both(disk(tool=fio(**direct, time_based=True), dataset=data))
    assert once[0].duration_s.p50 == pytest.approx(10.0, rel=1e-3)  # 4 GB at 400 MB/s
    assert once[1].duration_s == pytest.approx(10.0, rel=1e-3)
    assert again[0].payload_B == pytest.approx(12e9, rel=1e-3)
    assert again[1].payload_B == pytest.approx(12e9, rel=1e-3)
    short = both(disk(tool={**fio(**direct), "runtime": "5 s"}, dataset=data))
    assert short[0].payload_B == pytest.approx(2e9, rel=1e-3)
    assert short[1].payload_B == pytest.approx(2e9, rel=1e-3)


def test_fio_needs_a_runtime_to_be_time_based():
    for key, value in (("time_based", True), ("ramp_time", "5 s")):
        with pytest.raises(SpecError, match="needs a runtime"):
            answer(disk(tool={"name": "fio", key: value}, dataset={"files": 1, "size": "4 GB"}))


def test_a_write_that_fills_the_page_cache_in_its_time():
    """The amount decides how much of it the cache takes, and the other way round: one answer in both commands."""
    predicted, simulated = both(disk(tool=fio(time_based=True), dataset={"files": 1, "size": "10 GB"}))
    assert 400e6 < predicted.throughput_Bps.p50 < 10e9
    assert simulated.payload_B == pytest.approx(predicted.payload_B, rel=0.02)


def test_any_tool_for_a_duration():
    host = machine(volumes={"/d": volume({"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s"})})
    path = journey(host, host, start="a:/d", to="b:/d", tool="gridftp", dataset={"files": 100, "size": "1 GB"})
    path["transfer"]["duration"] = "20 s"
    predicted, simulated = both(path)
    assert predicted.payload_B == pytest.approx(8e9, rel=0.02)  # opening 800 files takes its time
    assert simulated.payload_B == pytest.approx(predicted.payload_B, rel=0.02)
    assert 780 < simulated.files <= 1100  # those that its page cache holds count as done
    path["transfer"]["tool"] = "iperf3"
    del path["transfer"]["dataset"]
    stated = answer(path)  # a test's time is its option
    path["transfer"]["tool"] = {"name": "iperf3", "time": "20 s"}
    del path["transfer"]["duration"]
    made = answer(path).transfers[0]
    assert stated.transfers[0].payload_B == pytest.approx(made.payload_B)
    assert made.duration_s.p50 == 20.0


def test_a_data_set_that_is_not_written_is_said():
    path = journey(start="a:/dev/zero", to="a:/dev/null", tool="dd")
    assert any("assumed: one file of 100 GB" in w for w in answer(path).warnings)
    assert not any("assumed" in w for w in answer(iperf3(10)).warnings)


def test_a_transfer_of_bytes_shares_with_a_timed_one():
    """The timed one leaves after its time: the other goes on alone."""
    path = journey(wan={"bandwidth": "10 Gb/s", "rtt": "0.1 ms"})
    common = {"from": "a:memory", "to": "b:memory"}
    path["transfers"] = [
        {**common, "name": "timed", "tool": {"name": "iperf3", "t": "10 s"}},
        {**common, "name": "sized", "tool": "iperf3", "dataset": {"files": 1, "size": "100 GB"}},
    ]
    del path["transfer"]
    first, second = simulate(load(path)).runs[0].transfers
    alone = rate(journey(wan={"bandwidth": "10 Gb/s", "rtt": "0.1 ms"}))
    assert first.payload_B == pytest.approx(10 * alone / 2, rel=0.01)
    assert second.duration_s == pytest.approx(10 + (100e9 - 10 * alone / 2) / alone, rel=0.01)
