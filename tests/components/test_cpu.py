"""Processors: a thread has a core, threads share the package, siblings share a core."""

import pytest

from dtnsim.components.access import Thread
from dtnsim.components.cores import Cpu
from dtnsim.description.host import Host, build_host
from dtnsim.ground.errors import SpecError
from dtnsim.ground.term import term
from tests.lab import Sheet, charged, machine


def host(cpu: dict[str, object], **more: object) -> Host:
    return build_host("h", machine(cpu={"kind": "cpu", "cores": 8, "clock": "3 GHz", **cpu}, **more))


def work(made: Host, copies: int = 1, cycles: float = 2.0, slot: int = 0) -> Sheet:
    return charged(lambda row: made.core(row, Thread("app", copies, slot), term(cycles), "work"))


@pytest.mark.parametrize(("copies", "cores"), [(1, 1), (3, 3), (8, 8), (100, 8)])
@pytest.mark.parametrize("cycles", [0.1, 2.0, 50.0])
def test_threads_have_a_core_each_until_there_are_none_left(copies: int, cores: int, cycles: float) -> None:
    """X = f / c (utilisation law, Denning and Buzen 1978)."""
    assert work(host({}), copies, cycles).bound == pytest.approx(cores * 3e9 / cycles)
    assert Cpu.build({"kind": "cpu", "sockets": 2, "cores": 12, "clock": "2 GHz"}).total == 24


def test_siblings_add_a_quarter_to_the_package_not_to_a_thread() -> None:
    """Marr et al., Intel Technology Journal 6(1), 2002: 16 to 28 % more from two busy siblings."""
    plain, doubled = work(host({}), 8), work(host({"smt": 2}), 8)
    assert doubled.capacity("cpu") / plain.capacity("cpu") == pytest.approx(1.25)
    assert 1.16 <= doubled.capacity("cpu") / plain.capacity("cpu") <= 1.28
    assert doubled.capacity("cpu.app") == plain.capacity("cpu.app")


@pytest.mark.parametrize(("interrupts", "most"), [(2, 1.5 + 0.5), (3, 1.5)])
def test_work_on_named_cores_meets_there(interrupts: int, most: float) -> None:
    """Application on core 2, interrupts there or beside: c adds up, f / (c1 + c2)."""
    made = host({}, placement={"application": [2], "nic_interrupts": [interrupts]})

    def both(row: object) -> None:
        made.core(row, Thread("app"), term(1.5), "copy")  # type: ignore[arg-type]  # the bench's row
        made.interrupts(row, made.placement.nic_interrupts, term(0.5), "irq")  # type: ignore[arg-type]

    assert charged(both).bound == pytest.approx(3e9 / most)


def test_interrupts_spread_over_their_cores() -> None:
    made = host({}, placement={"nic_interrupts": [0, 1, 2, 3]})
    found = charged(lambda row: made.interrupts(row, [0, 1, 2, 3], term(2.0), "irq"))
    assert [found.demand(f"cpu.core{n}") for n in range(4)] == [0.5] * 4
    assert found.demand("cpu") == pytest.approx(2.0)


def test_the_wrong_socket_costs_the_penalty_on_its_share() -> None:
    """Half of the work remote at 1.4: 1 + 0.5 x 0.4."""
    made = host({"numa_penalty": "1.4"}, placement={"remote_socket": 0.5})
    assert work(made).demand("cpu.app") == pytest.approx(2.0 * 1.2)


def test_second_application_core() -> None:
    made = host({}, placement={"application": [1, 5]})
    assert work(made, slot=1).has("cpu.core5")
    assert work(made, slot=2).has("cpu.core1")  # there are two: the third thread takes the first again


def test_cores_that_are_not_there() -> None:
    made = host({}, placement={"application": [8]})
    with pytest.raises(SpecError, match="cores are 0 to 7"):
        work(made)
    assert work(host({"smt": 2}, placement={"application": [8]})).has("cpu.core8")
