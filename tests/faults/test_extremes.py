"""Extremes: refused in one sentence, or right."""

import math
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dtnsim.composition.compose import compose
from dtnsim.description import dataset, file_list, spec
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw
from dtnsim.planning.sweep import sweep
from dtnsim.simulation import simulate
from dtnsim.steady import solve, timed
from dtnsim.steady.prediction import predict
from tests.each import cases, rows
from tests.lab import journey
from tests.strategies import load, written

XFS = "examples/dtn-100g-xfs"
SLOW = {"bandwidth": "10 Gb/s", "rtt": "200 ms"}


@pytest.mark.parametrize("factor", ["1e-12", "1e-13", "1e-100", "1e-300", "5e-324"])
def test_a_factor_next_to_nothing_is_next_to_nothing(factor: str, tmp_path: Path) -> None:
    """What is left moves at the factor times the wire; once it is over, all goes on as after a halt."""

    def run(factor: str, until: str) -> float:
        events = written(
            tmp_path / "events.yaml", f"events: [{{at: 1 s, station: network.wan, factor: {factor}{until}}}]\n"
        )
        found = spec.load(XFS, ["transfer.dataset={files: 1, each: 50 GB}"], events=str(events))
        return simulate(found).runs[0].end_s

    assert run(factor, ", until: 100 s") == pytest.approx(run("0", ", until: 100 s"), rel=1e-9)
    if float(factor) > 1e-100:  # to the end, at the factor times what the wire carries, and a tenth is not ours
        left, wire = 50e9, 100e9 / 8 * 0.9
        assert run(factor, "") == pytest.approx(left / (wire * float(factor)), rel=0.4)


def test_hundreds_of_events_on_top_of_each_other_leave_nothing(tmp_path: Path) -> None:
    """(2e-9)^200 is no number any more: the station is down while they last."""
    events = tmp_path / "events.yaml"
    many = ", ".join(["{at: 1 s, station: '*', factor: 2e-9, until: 100 s}"] * 200)
    ends = []
    for text in (many, "{at: 1 s, station: '*', factor: 0, until: 100 s}"):
        events.write_text(f"events: [{text}]\n")
        found = spec.load(XFS, ["transfer.dataset={files: 1, each: 50 GB}"], events=str(events))
        ends.append(simulate(found).runs[0].end_s)
    assert ends[0] == pytest.approx(ends[1])


@pytest.mark.parametrize("command", [predict, simulate])
@pytest.mark.parametrize(
    "what", [{"tool": {"name": "iperf3", "t": "199 ms"}}, {"tool": {"name": "nuttcp", "T": "1 s"}}]
)
def test_a_time_below_a_round_trip_is_refused(command: Callable[..., Any], what: dict[str, Any]) -> None:
    path = journey(wan={**SLOW, "rtt": "1.1 s"}, **what)
    with pytest.raises(SpecError, match=r"before the first byte can be acknowledged: a round trip takes 1.1 s"):
        command(load(path))
    longer = {"tool": {"name": "iperf3", "t": "1 s", "O": "1 s"}}  # what is left out lasts as well
    assert command(load({**path, "transfer": {**path["transfer"], **longer}}))


@pytest.mark.parametrize("seconds", [0.21, 0.3, 0.6, 1.0, 1.7])  # in just a round trip any rate moves as much
def test_a_time_of_a_few_round_trips_is_used_up(seconds: float) -> None:
    """What is found to move takes just the time, however little it is: slow start has hardly begun."""
    given = load(journey(wan=SLOW, tool={"name": "iperf3", "t": f"{seconds} s"}))
    moved = timed.amounts(timed.composer(given, Draw()).problem())
    (name,) = moved
    rate = solve.solve(solve.matrices(compose(given, Draw(), moved))).rate[0][0]
    assert moved[name] / rate == pytest.approx(seconds, rel=0.1)
    # ten segments, and no more than twice as many each round trip
    assert moved[name] < 10 * 9000 * 2 ** (seconds / 0.2 + 1)


def test_keys_of_thousands_of_steps_are_refused_at_once() -> None:
    key = "hosts.venadi" + ".cpu" * 20_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(SpecError, match="has 20002 steps; a key has at most 40"):
        predict("venadi/gridftp-gpfs", overrides=[f"{key}=1"])
    with pytest.raises(SpecError, match="has 20002 steps"):
        sweep("venadi/gridftp-gpfs", [f"{key}=1,2"])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # it was 1.7 GB


@pytest.mark.parametrize("command", [predict, simulate])
def test_a_destination_that_is_too_small_is_refused(command: Callable[..., Any]) -> None:
    says = r"transfer\.dataset: 5 TB will not fit on west:/xfs \(1 GB\); give a smaller data set"
    with pytest.raises(SpecError, match=says):
        command(XFS, overrides=["hosts.west.volumes./xfs.size=1 GB"])
    # what a time ends is written over and over, as by fio
    changes = ["hosts.west.volumes./xfs.size=1 GB", "transfer.dataset=null", "transfer.duration=10 min"]
    assert command(XFS, overrides=changes) is not None


@cases("array, size, files, said", rows("faults/tables", "more_data_than_the_drives_hold_are_warned_of"))
def test_more_data_than_the_drives_hold_are_warned_of(
    array: str, size: str | None, files: int, said: str | None
) -> None:
    """At either end, through a mount, and of several transfers together what they write."""
    large = {"array": array} | ({"size": size} if size else {})
    hosts = {"a": {"nic": "10GbE", "volumes": {"/d": large}}, "b": {"nic": "10GbE", "volumes": {"/d": "any-nvme"}}}
    data = {"files": files, "each": "1 TB"}
    half = {"files": files, "each": "500 GB"}
    there, back = {"from": "a:/d", "to": "b:/d"}, {"from": "b:/d", "to": "a:/d"}
    transfers = (
        [{**there, "dataset": data}],
        [{**back, "dataset": half}] * 2,
        [{**back, "dataset": data, "tool": "nfs"}],
    )
    for moved in transfers:
        given = [{"tool": "rclone"} | one for one in moved]
        path = load({"hosts": hosts, "wan": {"bandwidth": "10 Gb/s", "rtt": "1 ms"}, "transfers": given})
        found = [w for w in predict(path, samples=0).warnings if "fit" in w]
        assert [w.partition(": ")[0] for w in found] == ([] if said is None else [said.format("a:/d")])
        assert not found or "hosts.a.volumes./d.size" in found[0]


def test_long_lists_of_sizes_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sizes.txt"
    monkeypatch.setattr(file_list, "BLOCK", 64)
    sizes = [n * n for n in range(1, 3000)]
    file.write_text("".join(f"{n}\n" for n in sizes))
    found = dataset.load({"sizes_file": str(file)})
    assert (found.files, found.payload_B) == (2999, float(sum(sizes)))
    monkeypatch.setattr(file_list, "MAX_LISTED", 2000)
    with pytest.raises(SpecError, match="has more than 2,000 sizes"):
        dataset.load({"sizes_file": str(file)})
    file.write_text("1\n" * 500 + "x\n")
    with pytest.raises(SpecError, match=r"sizes\.txt:501: is not a number of bytes; write"):
        dataset.load({"sizes_file": str(file)})
    file.write_text("1 " * 500)
    with pytest.raises(SpecError, match="has a line of more than 64 bytes"):
        dataset.load({"sizes_file": str(file)})


@pytest.mark.parametrize("file", ["/dev/zero", "/dev/stdin", "/", "/no-such-file"])
def test_a_list_of_sizes_is_a_file(file: str) -> None:
    with pytest.raises(SpecError, match=r"sizes_file: cannot be read: (it|there) is no file"):
        dataset.load({"sizes_file": file})


def test_a_million_sizes_take_memory_of_their_number(tmp_path: Path) -> None:
    file = tmp_path / "sizes.txt"
    file.write_bytes(b"".join(b"%d\n" % (n % 65_537) for n in range(1_000_000)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = dataset.load({"sizes_file": str(file)})
    assert found.files == 1_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000
    assert math.isclose(found.payload_B, sum(n % 65_537 for n in range(1_000_000)))
