"""A DPU: TCP, TLS and storage over the network on the card's own cores."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.components.dpu import Dpu
from dtnsim.components.offload import Duty
from dtnsim.ground.errors import SpecError
from tests.lab import FREE, Sheet, journey, load, machine, problem, sheet, volume

DPU = {"kind": "dpu", "cores": 8, "clock": "2.5 GHz", "per_cycle": 0.7, "crypto": "100 Gb/s"}
COSTS = {**FREE, "receive_byte": "0.6 cycles/B", "interrupt_byte": "0.2 cycles/B", "hot_byte": "0.36 cycles/B"}


def host(device: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return machine(stack=COSTS, **({"devices": {"bf": device}} if device is not None else {}), **more)


def received(device: dict[str, Any] | None, tool: Any = "iperf3") -> Sheet:
    return sheet(problem(journey(destination=host(device), tool=tool)))


def test_tcp_moves_to_the_cores_of_the_card() -> None:
    """The host copies (0.36 cycles/B) and asks (3000 cycles for 64 KiB); protocol and interrupts are the card's."""
    plain, taken = received(None), received(DPU)
    assert plain.demand("b.cpu.iperf3 receiver") == pytest.approx(0.6)
    assert taken.demand("b.cpu.iperf3 receiver") == pytest.approx(0.36 + 3000 / 65536)
    assert taken.demand("b.bf.cores") == pytest.approx(0.6 + 0.2 - 0.36)
    assert taken.capacity("b.bf.cores") == pytest.approx(8 * 2.5e9 * 0.7)
    assert plain.has("b.cpu.nic queues")
    assert not taken.has("b.cpu.nic queues")


def test_work_that_is_left_to_the_host() -> None:
    assert not received({**DPU, "takes_over": ["tls"]}).has("b.bf.cores")


def test_inline_tls_and_not_the_cipher_of_ssh() -> None:
    there = host(DPU, volumes={"/d": volume({"kind": "ssd", "read": "10 TB/s", "write": "10 TB/s", "link": "10 TB/s"})})
    tls = journey(destination=there, start="a:/dev/zero", to="b:/d", tool={"name": "globus", "encrypt": True})
    assert sheet(problem(tls)).rate("b.bf.crypto") == pytest.approx(12.5e9)
    ssh = journey(destination=there, start="a:/dev/zero", to="b:/d", tool={"name": "scp", "c": "aes-gcm"})
    assert not sheet(problem(ssh)).has("b.bf.crypto")
    slow = {k: v for k, v in DPU.items() if k != "crypto"}
    there["devices"]["bf"] = slow
    assert sheet(problem(tls)).has("b.bf.cores")  # without engines its cores compute it


def test_storage_over_ethernet_costs_tcp_wherever_it_runs() -> None:
    """NVMe over TCP: 0.6 + 0.2 cycles/B of the host's cores, or of the card's."""
    array = {"kind": "ssd", "read": "10 TB/s", "write": "10 TB/s", "link": "10 TB/s"}
    there = host(None, volumes={"/d": volume(array, via=["nic"])})
    path = journey(there, start="a:/d", to="a:/dev/null", tool="dd")
    plain = sheet(problem(path))
    there["devices"] = {"bf": DPU}
    taken = sheet(problem(journey(there, start="a:/d", to="a:/dev/null", tool="dd")))
    assert taken.demand("a.bf.cores") == pytest.approx(0.8)
    assert plain.demand("a.cpu") - taken.demand("a.cpu") == pytest.approx(0.8 - 3000 / 65536)


@pytest.mark.parametrize(
    ("duty", "taken"),
    [
        (Duty("tcp", nic="a"), True),
        (Duty("tcp", nic="b"), False),
        (Duty("cipher", "aes-gcm", "tls", "a"), True),
        (Duty("cipher", "aes-gcm", "ssh", "a"), False),
        (Duty("cipher", "aes-ctr", "tls", "a"), False),
        (Duty("nvme-of", nic="a"), True),
        (Duty("compression", "deflate", nic="a"), False),
    ],
)
def test_what_it_takes_over(duty: Duty, taken: bool) -> None:
    assert Dpu.build({**DPU, "nic": "a"}).takes(duty) is taken


def test_ports_that_are_not_there() -> None:
    with pytest.raises(SpecError, match=r"devices.bf.nic.*NICs: nic"):
        load(journey(destination=host({**DPU, "nic": "eth9"})))
