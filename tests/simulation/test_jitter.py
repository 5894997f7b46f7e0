"""Equals that share a link do not march in step (`dtnsim.simulation.jitter`); predict has the same mean."""

from itertools import islice
from typing import Any

import numpy as np
import pytest

from dtnsim.simulation import jitter, simulate
from dtnsim.steady.prediction import predict
from tests.lab import journey, machine, volume
from tests.strategies import load


def pairs(count: int, *, files: int = 40, cc: int = 2, read: str = "3 GB/s", **tool: Any) -> Any:
    """Pairs of hosts with a Globus task each, over one link."""
    drive = {"/d": volume({"kind": "ssd", "read": read, "write": "3 GB/s"})}
    host = machine(volumes=drive, nic={"kind": "nic", "rate": "100 Gb/s", "mtu": "9000 B"})
    transfers = [
        {
            "name": f"t{n}", "from": f"a{n}:/d", "to": f"b{n}:/d", "tool": {"name": "globus", "cc": cc, **tool},
            "dataset": {"files": files, "size": f"{files * 10} GB"},
        }
        for n in range(count)
    ]  # fmt: skip
    hosts = {f"{side}{n}": host for side in "ab" for n in range(count)}
    return load({"name": "pairs", "hosts": hosts, "wan": {"bandwidth": "100 Gb/s", "rtt": "20 ms", "mtu": "9000 B"},
                 "transfers": transfers})  # fmt: skip


def rate(path: Any, seed: int = 1) -> float:
    return float(np.mean([t.throughput_Bps for t in simulate(path, seed=seed).runs[0].transfers]))


def test_twenty_pairs_on_one_link_share_it_as_predicted() -> None:
    path = pairs(20, files=20)
    predicted = np.mean([t.throughput_Bps.p50 for t in predict(path, samples=0).transfers])
    run = simulate(path, seed=1).runs[0].transfers
    assert np.mean([t.throughput_Bps for t in run]) == pytest.approx(predicted, rel=0.05)
    ends = [t.finished_s for t in run]
    assert len(set(ends)) == len(ends)


@pytest.mark.parametrize(("cc", "read"), [(2, "1 GB/s"), (4, "1 GB/s"), (4, "3 GB/s")])
def test_workers_of_one_task_meet_at_the_drive_as_predicted(cc: int, read: str) -> None:
    path = pairs(1, files=60, cc=cc, read=read)
    predicted = predict(path, samples=0).throughput_Bps.p50
    assert np.mean([rate(path, seed) for seed in (1, 2, 3)]) == pytest.approx(predicted, rel=0.02)


def test_two_who_verify_for_longer_than_they_copy_do_not_copy_in_turns_for_ever() -> None:
    """A checksum on a core of its own is never equally long: else no copy would meet another once two have not met."""
    drive = volume({"kind": "ssd", "read": "9 GB/s", "write": "9 GB/s", "link": "16 GB/s"})
    host = machine(nic={"kind": "nic", "rate": "40 Gb/s", "mtu": "9000 B"}, volumes={"/d": drive})
    path = load(
        journey(
            host, host, start="a:/d", to="b:/d", tool={"name": "globus", "cc": 2},
            dataset={"files": 1, "size": "20 GB"}, wan={"bandwidth": "20 Gb/s", "rtt": "1 ms", "mtu": "9000 B"},
        )
    )  # fmt: skip
    predicted = predict(path, samples=0).throughput_Bps.p50
    assert np.mean([rate(path, seed) for seed in (1, 2, 3)]) == pytest.approx(predicted, rel=0.05)


def test_same_seed_same_answer_another_another() -> None:
    path = pairs(2, files=8)
    assert rate(path, 1) == rate(path, 1) != rate(path, 2)


def test_one_worker_alone_is_as_fast_whatever_its_luck() -> None:
    path = pairs(1, files=8, cc=1)
    assert rate(path, 2) == pytest.approx(rate(path, 1), rel=0.01)
    assert rate(pairs(1, files=8, cc=1, verify=False), 1) == rate(pairs(1, files=8, cc=1, verify=False), 2)


@pytest.mark.parametrize(("workers", "files", "rtt"), [(2, 1, "3 ms"), (4, 64, "1 ms"), (16, 16, "3 ms")])
def test_workers_of_small_files_meet_at_the_drive_as_predicted(workers: int, files: int, rtt: str) -> None:
    """In neither command do all wait and then all move: both have the queue of a closed network in between."""
    host = machine(volumes={"/d": volume({"kind": "ssd", "read": "200 MB/s", "write": "9 GB/s", "link": "16 GB/s"})})
    count = workers * files
    path = journey(
        host, host, start="a:/d", to="b:/d", tool={"name": "rclone", "backend": "sftp", "transfers": workers},
        dataset={"files": count, "size": f"{count} MB"}, wan={"bandwidth": "100 Gb/s", "rtt": rtt},
    )  # fmt: skip
    said = predict(load(path), samples=0).duration_s.p50
    runs = [simulate(load(path), seed=seed).runs[0].transfers[0].duration_s for seed in (1, 2)]
    assert np.mean(runs) == pytest.approx(said, rel=0.03)


def test_waits_have_a_mean_of_one_however_few() -> None:
    for few in (4, 16, 256):
        drawn = list(islice(jitter.pauses("any", 0.5), few))
        assert np.mean(drawn) == pytest.approx(1.0, abs=1 / few**0.75)
        assert min(drawn) > 0
    assert np.std(list(islice(jitter.pauses("any", 0.5), 4096))) == pytest.approx(0.5, rel=0.05)


def test_drawn_runs_draw_how_unfair_shares_are() -> None:
    assert 0 < jitter.UNFAIRNESS.value < 0.2
    assert jitter.UNFAIRNESS.spread >= 0.5
    assert "checksums" in jitter.UNFAIRNESS.source  # whose pace has the same spread, from no source of its own


def test_parts_of_one_file_fall_out_of_step_as_well() -> None:
    """Four workers of a task on one file, beside another task: how many of them verify is a matter of luck."""
    path = pairs(2, files=1, cc=4)
    assert rate(path, 1) != rate(path, 2)
    assert rate(path, 1) == pytest.approx(rate(path, 2), rel=0.05)
