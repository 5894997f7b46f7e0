"""One end of a transfer: queues and their cores, calls and packets, sockets, copies that are saved."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.each import cases, tables
from tests.lab import FREE, Sheet, answer, expect, journey, machine, problem, sheet

NIC = {"kind": "nic", "rate": "100 Tb/s", "mtu": "9000 B"}


def received(tool: Any = "iperf3", nic: dict[str, Any] | None = None, *, host: Any = None, **costs: str) -> Sheet:
    """Sheet of a transfer to a host with the given costs."""
    there = machine(stack={**FREE, **costs}, nic={**NIC, **(nic or {})}, **(host or {}))
    return sheet(problem(journey(destination=there, tool=tool)))


@cases("given, figures", tables("composition/paths")["ends"])
def test_what_an_end_charges(given: dict[str, Any], figures: dict[str, Any]) -> None:
    expect(received(**given).figure, figures)


@pytest.mark.parametrize(("mtu", "cycles"), [("65520 B", 0.2 + 0.25 + 94e-9 * 10e9 / 4096), ("4092 B", None)])
def test_connected_mode_has_one_queue_for_all_connections(mtu: str, cycles: float | None) -> None:
    """Softirq with sums and pages on one core of 10 GHz (`nic.connected_interrupt`), whoever the streams belong to."""
    there = machine(stack={**FREE, "interrupt_byte": "0.2 cycles/B"}, nic={**NIC, "mtu": mtu, "queues": 64})
    moves = [{"name": n, "from": "a:memory", "to": "b:memory", "tool": {"name": "iperf3", "P": 32}} for n in "xy"]
    found = answer(journey(destination=there, transfers=moves))
    if cycles is None:
        assert found.throughput_Bps.p50 > 20 * 10e9 / 0.2  # 64 queues
    else:
        assert found.throughput_Bps.p50 == pytest.approx(10e9 / cycles, rel=1e-6)
        assert "datagram mode" in found.bottleneck.remedy


@pytest.mark.parametrize(
    ("nic", "held"),
    [({"rate": "32 Gb/s"}, True), ({"rate": "32 Gb/s", "queues": 8}, False), ({"rate": "100 Gb/s"}, False)],
)
def test_datagrams_of_old_cards_come_by_one_queue(nic: dict[str, Any], held: bool) -> None:
    """1200 MB/s by netperf to a Core 2 of 3 GHz in packets of 2044 B (SCST, README): 0.7 of a later core a cycle."""
    cpu = {"kind": "cpu", "cores": 16, "clock": "3 GHz", "per_cycle": 0.7}
    stack = {**FREE, "interrupt_byte": "0.2 cycles/B"}
    there = machine(cpu=cpu, stack=stack, nic={"kind": "nic", "mtu": "2044 B", **nic})
    found = sheet(problem(journey(destination=there, tool={"name": "iperf3", "P": 8})))
    one = 2.1e9 / (0.2 + 2500 / 1992)
    assert (found.rate("b.cpu.nic queues") == pytest.approx(one, rel=1e-6)) == held
    assert one == pytest.approx(1.2e9, rel=0.25)


@pytest.mark.parametrize(
    ("mtu", "frame"),
    [("9000 B", 0.0), ("4000 B", 1 / 3948 - 1 / 8948), ("1500 B", 1 / 1448 - 1 / 8948), ("576 B", 1 / 524 - 1 / 8948)],
)
def test_small_frames_cost_the_receiver_their_driver_and_gro(mtu: str, frame: float) -> None:
    """What a stack says of a byte is of frames of 9000 B; a core drops 3.6 to 3.9 million of 1500 B (mlx5e)."""
    assert received(nic={"mtu": mtu}, interrupt_byte="0.2 cycles/B").rate("b.cpu.nic queues") == pytest.approx(
        10e9 / (0.2 + 500 * frame), rel=1e-6
    )


def test_small_frames_cost_the_sender_nothing_more() -> None:
    """The card cuts them (TSO)."""
    there = machine(stack={**FREE, "interrupt_byte": "0.2 cycles/B"}, nic={**NIC, "mtu": "1500 B"})
    found = sheet(problem(journey(there, tool="iperf3")))
    assert found.rate("a.cpu.nic queues") == pytest.approx(10e9 / 0.2, rel=1e-6)


@settings(max_examples=12)
@given(st.integers(1, 64), st.integers(1, 64))
def test_more_queues_and_more_streams_never_hurt(queues: int, streams: int) -> None:
    def cores(q: int, n: int) -> float:
        return received({"name": "iperf3", "P": n}, {"queues": q}, interrupt_byte="1 cycles/B").rate("b.cpu.nic queues")

    here = cores(queues, streams)
    assert cores(queues + 1, streams) >= here * (1 - 1e-12)
    assert cores(queues, streams + 1) >= here * (1 - 1e-12)


@pytest.mark.parametrize(("key", "end"), [("tso", "a.cpu.iperf3 sender"), ("gro", "b.cpu.iperf3 receiver")])
def test_each_offload_is_for_its_direction(key: str, end: str) -> None:
    costs = {**FREE, "send_packet": "3000 cycles", "receive_packet": "3000 cycles", "aggregate": "32 KiB"}

    def demands(**off: Any) -> Sheet:
        hosts = [machine(stack=costs, nic={**NIC, **off}) for _ in range(2)]
        return sheet(problem(journey(*hosts)))

    assert demands(**{key: False}).demand(end) == pytest.approx(3000 / 8948)
    other = {"a.cpu.iperf3 sender", "b.cpu.iperf3 receiver"} - {end}
    assert demands(**{key: False}).demand(other.pop()) == pytest.approx(3000 / 32768)


def two_sockets(socket: int | None, **placement: Any) -> dict[str, Any]:
    slot = {"kind": "slot", "generation": 6, "lanes": 32, **({} if socket is None else {"socket": socket})}
    cpu = {"kind": "cpu", "sockets": 2, "cores": 4, "clock": "3 GHz", "numa_penalty": "1.5", "per_cycle": 1}
    return machine(
        cpu=cpu,
        slots={"x": slot},
        nic={**NIC, "slot": "x"},
        stack={**FREE, "receive_byte": "0.5 cycles/B", "interrupt_byte": "0.2 cycles/B"},
        placement=placement,
    )


@pytest.mark.parametrize(
    ("socket", "cores", "cost"), [(0, [1], 0.5), (1, [1], 0.75), (1, [1, 5], 0.5), (0, [1, 5], 0.5), (None, [5], 0.5)]
)
def test_a_thread_on_the_other_socket_pays_the_penalty(socket: int | None, cores: list[int], cost: float) -> None:
    """Cores 0 to 3 are on socket 0. ESnet fasterdata: up to twice the throughput on the card's socket."""
    found = sheet(problem(journey(destination=two_sockets(socket, application=cores))))
    if len(cores) > 1:  # one thread, but either core may be its own: half of the work is away
        cost *= 1.25
    assert found.demand(f"b.cpu.core{cores[0]}") == pytest.approx(cost)


@pytest.mark.parametrize(("core", "cost"), [(0, 0.2), (4, 0.3)])
def test_interrupts_moved_to_the_other_socket_pay_it_too(core: int, cost: float) -> None:
    found = sheet(problem(journey(destination=two_sockets(0, nic_interrupts=[core]))))
    assert found.demand(f"b.cpu.core{core}") == pytest.approx(cost)


def test_bytes_between_sockets_cross_their_link() -> None:
    """One QPI link of 8 GT/s carries 16 GB/s in one direction (Intel, 2009)."""
    there = two_sockets(0, application=[5])
    there["cpu"] |= {"socket_link": "8000 MT/s"}
    found = sheet(problem(journey(destination=there)))
    assert found.rate("b.cpu.socket-link.from-0") == pytest.approx(16e9)
    there["cpu"] |= {"socket_links": 2}
    assert sheet(problem(journey(destination=there))).rate("b.cpu.socket-link.from-0") == pytest.approx(32e9)


def test_sockets_that_take_turns_in_the_numbering() -> None:
    there = two_sockets(0, application=[5])
    there["cpu"] |= {"numbering": "alternate"}
    assert sheet(problem(journey(destination=there))).demand("b.cpu.core5") == pytest.approx(0.75)
    there["placement"] = {"application": [4]}
    assert sheet(problem(journey(destination=there))).demand("b.cpu.core4") == pytest.approx(0.5)
