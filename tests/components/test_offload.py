"""Cards that take work over: what of it; tests/composition/cards.yaml has what paths with them give."""

from typing import Any

import pytest

from dtnsim.components.offload import CryptoAccelerator, Dpu, Duty
from tests.each import cases, rows
from tests.lab import journey, load, machine, problem, sheet, volume

FAST = {"kind": "ssd", "read": "10 TB/s", "write": "10 TB/s", "link": "10 TB/s"}
QAT = {"kind": "crypto-accelerator", "cipher": "50 Gb/s", "compression": "24 Gb/s", "in_flight": 64}
DPU = {"kind": "dpu", "cores": 8, "clock": "2.5 GHz", "per_cycle": 0.7, "crypto": "100 Gb/s"}
SLOT = {"kind": "slot", "generation": 3, "lanes": 8}


def bare() -> dict[str, Any]:
    """A machine of one core's speed."""
    cpu = {"kind": "cpu", "cores": 16, "clock": "3 GHz", "per_cycle": {"value": 1, "spread": 0}}
    return machine(cpu=cpu, volumes={"/d": volume(FAST)})


@cases("tool, core, cpu, more", rows("components/tables", "work_that_takes_more_cycles_on_another_processor"))
def test_work_that_takes_more_cycles_on_another_processor(tool: Any, core: str, cpu: Any, more: float) -> None:
    def work(**cpu: Any) -> float:
        both = {**bare(), "cpu": {**bare()["cpu"], **cpu}}
        path = journey(both, both, start="a:/d", to="b:/d", tool=tool, dataset={"files": 1, "size": "1 TB"})
        return sum(cost for name, cost in sheet(problem(path)).demands.items() if name.startswith(core))

    assert work(**cpu) - work() == pytest.approx(more, abs=1e-6)


@pytest.mark.parametrize(("card", "duty", "taken"), rows("components/tables", "what_a_card_takes_over"))
def test_what_a_card_takes_over(card: str, duty: dict[str, Any], taken: bool) -> None:
    made = Dpu.build({**DPU, "nic": "a"}) if card == "dpu" else CryptoAccelerator.build(QAT)
    assert made.takes(Duty(**duty)) is taken


def test_another_part_keeps_the_place() -> None:
    there = {**bare(), "devices": {"qat": {**QAT, "slot": "x"}}, "slots": {"x": SLOT}}
    made = load(journey(bare(), there), "hosts.b.devices.qat=intel-qat-8920").hosts["b"].devices["qat"]
    assert (made.kind, made.slot, made.in_flight) == ("crypto-accelerator", "x", 64)
    assert made.cipher.value == pytest.approx(2.5e9)
