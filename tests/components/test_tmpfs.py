"""tmpfs: copies in memory, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.components.base import Component, find_kind
from dtnsim.ground.errors import SpecError
from tests.lab import answer, journey, machine, problem, rate, sheet, volume

STACK = {"kind": "stack", "memory_stall": "0"}
CPU = {"kind": "cpu", "cores": 16, "clock": "3 GHz"}


def path(tool: Any, *, to: str = "a:/t", data: Any = None, array: Any = None, **given: Any) -> dict[str, Any]:
    slow = {"kind": "memory", "channels": 64, "rate": "20000 MT/s", "size": "4 GiB"}
    host = machine(cpu=CPU, stack=STACK, memory=slow, volumes={"/t": volume(array, {"kind": "tmpfs", **given})})
    start = "a:/dev/zero" if to == "a:/t" else "a:/t"
    return journey(host, start=start, to=to, tool=tool, dataset=data or {"files": 1, "size": "100 GB"})


@pytest.mark.parametrize("options", [{}, {"conv": "fdatasync"}, {"oflag": "direct"}, {"oflag": "dsync"}])
def test_no_write_waits_whatever_is_asked(options: dict[str, str]) -> None:
    """A copy and zeros from /dev/zero: 3 GHz over 0.9 + 3000 / 2^20 + 0.2 cycles a byte, beyond the dirty limits."""
    one = rate(path({"name": "dd", "bs": "1 MiB", **options}))
    assert one == pytest.approx(3e9 / (0.9 + 3000 / 2**20 + 0.2), rel=0.01)
    assert len(problem(path({"name": "dd", "bs": "1 MiB", **options})).stations) == 3


def test_huge_pages_are_cleared_and_not_allocated_one_by_one() -> None:
    small, huge = (sheet(problem(path({"name": "dd", "bs": "1 MiB"}, huge=h))) for h in (False, True))
    saved = small.demand("cpu.dd") - huge.demand("cpu.dd")
    assert saved == pytest.approx(0.9 - 0.45 - 0.2)


def test_random_reads_are_calls() -> None:
    made = path({"name": "fio", "rw": "randread", "bs": "4 KiB"}, to="a:/t2")
    made["transfer"].update({"from": "a:/t", "to": "a:/t"})
    assert rate(made) == pytest.approx(3e9 / (0.45 + 3000 / 4096), rel=0.05)


def test_it_has_no_drives_and_nothing_to_flush() -> None:
    with pytest.raises(SpecError, match="no drives"):
        answer(path("dd", array={"kind": "ssd", "read": "1 GB/s", "write": "1 GB/s"}))
    with pytest.raises(SpecError, match="nothing to flush"):
        answer(path("dd", sync_latency="1 ms"))


RM = {"name": "rm"}
SMALL = {"files": 10_000, "each": "10 KB"}


@pytest.mark.parametrize(("key", "value"), [("op_time", "5 ms"), ("change_time", "5 ms")])
def test_a_time_moves_the_answer(key: str, value: str) -> None:
    assert rate(path(RM, data=SMALL, **{key: value})) < 0.5 * rate(path(RM, data=SMALL))


def test_every_key_is_tried() -> None:
    own = set(find_kind("tmpfs").model_fields) - set(Component.model_fields)
    assert own == {"op_time", "change_time", "sync_latency", "huge"}
