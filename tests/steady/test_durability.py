"""Written and on the medium: what a tool prints, and when the drives have every byte; predict beside simulate."""

from typing import Any

import pytest

import dtnsim
from dtnsim.steady import durability
from tests.each import cases, rows
from tests.lab import FREE, journey, machine, volume
from tests.strategies import load


def local(tool: Any = "dd", size: str = "12 GB", **host: Any) -> dict[str, Any]:
    """12 GB into a host of 64 GiB with a disk of 200 MB/s, at 1 GB/s into memory."""
    given: dict[str, Any] = {
        "cpu": {"kind": "cpu", "cores": 8, "clock": "1 GHz"},
        "stack": {**FREE, "file_write_byte": "1 cycles/B"},
        "memory": {"kind": "memory", "channels": 8, "rate": "3200 MT/s", "size": "64 GiB"},
        "volumes": {"/data": volume({"kind": "ssd", "read": "200 MB/s", "write": "200 MB/s", "link": "1 GB/s"})},
        "vm": {},
        **host,
    }
    return journey(machine(**given), start="a:/dev/zero", to="a:/data/x", tool=tool, dataset={"files": 1, "size": size})


def test_a_tool_that_does_not_wait_ends_before_the_disk() -> None:
    """10 % of 64 GiB is written at memory speed before the disk begins: 6.87 s + 60 s, while dd ends after 14 s."""
    found = dtnsim.predict(load(local()), samples=0).transfers[0]
    assert found.duration_s.p50 < 20
    assert found.on_medium_s is not None
    assert found.on_medium_s.p50 == pytest.approx(0.1 * 64 * 2**30 / 1e9 + 12e9 / 200e6, rel=0.03)
    run = dtnsim.simulate(load(local())).runs[0].transfers[0]
    assert run.duration_s == pytest.approx(found.duration_s.p50, rel=0.01)
    assert run.on_medium_s == pytest.approx(found.on_medium_s.p50, rel=0.03)


@pytest.mark.parametrize("sizes", rows("steady/tables", "the_medium_has_it_when_simulate_says"))
def test_the_medium_has_it_when_simulate_says(sizes: list[str]) -> None:
    each = [local(size=size)["transfer"] | {"name": f"t{n}", "to": f"a:/data/x{n}"} for n, size in enumerate(sizes)]
    spec = load({"name": "several", "hosts": local()["hosts"], "transfers": each})
    said = [t.on_medium_s.p50 for t in dtnsim.predict(spec, samples=0).transfers if t.on_medium_s is not None]
    run = dtnsim.simulate(spec).runs[0].transfers
    assert max(said) == pytest.approx(max(t.on_medium_s for t in run), rel=0.01)


def test_who_waits_for_the_medium_has_one_end() -> None:
    path = load(local({"name": "dd", "conv": "fdatasync"}))
    assert dtnsim.predict(path, samples=0).transfers[0].on_medium_s is None
    run = dtnsim.simulate(path).runs[0].transfers[0]
    assert run.on_medium_s == run.finished_s


def test_two_writers_at_once_share_memory() -> None:
    """And both wait for the disk."""
    alone = dtnsim.simulate(load(local())).runs[0].transfers[0].duration_s
    given = local()
    first = {**given.pop("transfer"), "name": "one"}
    later = {**first, "name": "two", "to": "a:/data/y"}
    together = load({**given, "transfers": [first, later]})
    both = dtnsim.simulate(together).runs[0].transfers
    assert both[0].duration_s > 2 * alone
    predicted = dtnsim.predict(together, samples=0).transfers
    assert predicted[0].duration_s.p50 == pytest.approx(both[0].duration_s, rel=0.1)


@cases("start, size, expected", rows("steady/tables", "what_one_leaves_is_still_dirty_for_the_next"))
def test_what_one_leaves_behind_is_still_dirty_for_the_next(start: str, size: str, expected: list[float]) -> None:
    given = local()
    first = {**given.pop("transfer"), "name": "one"}
    later = {**first, "name": "two", "to": "a:/data/y", "start": start, "dataset": {"files": 1, "size": size}}
    spec = load({**given, "transfers": [first, later]})
    said, (one, two) = dtnsim.predict(spec, samples=0).transfers, dtnsim.simulate(spec).runs[0].transfers
    medium_s = [t.on_medium_s.p50 for t in said if t.on_medium_s]
    assert [said[1].duration_s.p50, *medium_s] == pytest.approx(expected, 0.01)
    assert [two.duration_s, one.on_medium_s, two.on_medium_s - two.started_s] == pytest.approx(expected, 0.025)


@pytest.mark.parametrize(("vm", "seconds"), rows("steady/tables", "the_kernel_s_settings_are_keys_of_the_host"))
def test_the_kernel_s_settings_are_keys_of_the_host(vm: dict[str, str], seconds: float) -> None:
    path = load(local(vm=vm))
    assert dtnsim.predict(path, samples=0).duration_s.p50 == pytest.approx(seconds, rel=0.03)
    assert dtnsim.simulate(path).runs[0].transfers[0].duration_s == pytest.approx(seconds, rel=0.03)


def test_the_interval_of_the_medium_is_that_of_the_disk() -> None:
    found = dtnsim.predict(load(local()), samples=256).transfers[0]
    assert found.on_medium_s is not None
    assert found.on_medium_s.p10 < found.on_medium_s.p50 < found.on_medium_s.p90


def test_memory_to_memory_has_no_medium() -> None:
    assert durability.seconds(dtnsim.predict(load(journey()), samples=0).problem, None) == {}  # type: ignore[arg-type]
