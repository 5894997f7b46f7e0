"""Cards that take work over: crypto accelerators and DPUs, to where they bind."""

from typing import Any

import pytest

from dtnsim.components.offload import CryptoAccelerator, Dpu, Duty
from dtnsim.ground.errors import SpecError
from tests.each import cases, rows
from tests.lab import FREE, Sheet, journey, load, machine, problem, rate, sheet, volume

FAST = {"kind": "ssd", "read": "10 TB/s", "write": "10 TB/s", "link": "10 TB/s"}
QAT = {"kind": "crypto-accelerator", "cipher": "50 Gb/s", "compression": "24 Gb/s", "in_flight": 64}
DPU = {"kind": "dpu", "cores": 8, "clock": "2.5 GHz", "per_cycle": 0.7, "crypto": "100 Gb/s"}
SLOT = {"kind": "slot", "generation": 3, "lanes": 8}


def host(**device: Any) -> dict[str, Any]:
    """A machine of one core's speed with a card."""
    given = {"devices": {"qat": {**QAT, "slot": "x", **device}}, "slots": {"x": SLOT}} if device is not None else {}
    return machine(
        cpu={"kind": "cpu", "cores": 16, "clock": "3 GHz", "per_cycle": {"value": 1, "spread": 0}},
        volumes={"/d": volume(FAST)},
        stack=FREE,
        **given,
    )


def bare() -> dict[str, Any]:
    made = host()
    del made["devices"]
    return made


def copied(there: dict[str, Any], **tool: Any) -> Sheet:
    path = journey(bare(), there, start="a:/d", to="b:/d", tool={"name": "scp", "hpn": True, **tool})
    return sheet(problem(path))


def test_the_cipher_of_ssh_moves_to_the_card() -> None:
    """AES-GCM of OpenSSH costs 4.7 cycles/B, 3.5 without a cipher: those stay, and a request of 16 KiB each."""
    plain, taken = copied(bare(), c="aes-gcm"), copied(host(), c="aes-gcm")
    receiver = "b.cpu.ssh receiver"
    assert plain.demand(receiver) == pytest.approx(4.65, abs=0.01)
    assert taken.demand(receiver) == pytest.approx(3.5 + 3000 / 16384, rel=2e-3)
    assert taken.rate("b.qat.cipher") == pytest.approx(6.25e9)
    # the other end has no card
    assert taken.demand("a.cpu.ssh sender") == pytest.approx(plain.demand("a.cpu.ssh sender"))
    # bytes go there and back
    assert taken.demand("b.slot-x.in") > 1 < taken.demand("b.slot-x.out")
    assert taken.demand("b.memory") == pytest.approx(plain.demand("b.memory") + 2)


@pytest.mark.parametrize(("cipher", "more"), [("aes-gcm", 15.0), ("aes-ctr", 8.0), ("chacha20-poly1305", 0.0)])
def test_a_processor_without_instructions_for_aes_works_longer_on_it(cipher: str, more: float) -> None:
    """OpenSSL's tables: AES-128 takes a Core 2 and an Atom 7 of today's cycles a byte, their GHASH as many again."""
    old = {**bare(), "cpu": {**bare()["cpu"], "aes": False}}
    plain, slow = copied(bare(), c=cipher, hpn=False), copied(old, c=cipher, hpn=False)
    assert slow.demand("b.cpu.ssh receiver") == pytest.approx(plain.demand("b.cpu.ssh receiver") + more)
    assert slow.demand("a.cpu.ssh sender") == pytest.approx(plain.demand("a.cpu.ssh sender"))


@cases("tool, core, more", rows("components/tables", "what_programs_cipher_takes_longer_without_aes"))
def test_what_programs_cipher_takes_longer_without_aes(tool: Any, core: str, more: float) -> None:
    def work(*, aes: bool) -> float:
        both = {**bare(), "cpu": {**bare()["cpu"], "aes": aes}}
        path = journey(both, both, start="a:/d", to="b:/d", tool=tool, dataset={"files": 1, "size": "1 TB"})
        return sum(cost for name, cost in sheet(problem(path)).demands.items() if name.startswith(core))

    assert work(aes=False) - work(aes=True) == pytest.approx(more, abs=1e-6)


def test_no_card_takes_over_what_a_program_computes_itself() -> None:
    assert not CryptoAccelerator.build(QAT).takes(Duty("own", "aes-gcm"))


@pytest.mark.parametrize(("key", "more"), [("encrypt", 15.0), ("sign", 7.0)])
def test_smb_ciphers_and_signs_longer_without_aes(key: str, more: float) -> None:
    def session(*, aes: bool) -> float:
        client = {**bare(), "cpu": {**bare()["cpu"], "aes": aes}}
        client["volumes"] = {"/m": volume(filesystem={"kind": "smb", key: True}, server="b:/d")}
        path = journey(client, bare(), start="a:memory", to="a:/m", tool="cp", dataset={"files": 1, "size": "1 TB"})
        return sheet(problem(path)).demand("a.cpu.kernel SMB[a-b smb]")

    assert session(aes=False) - session(aes=True) == pytest.approx(more)


def test_a_cipher_that_the_card_has_not_stays_with_the_core() -> None:
    """DPDK's guide: DH895xCC has no ChaCha20-Poly1305."""
    taken = copied(host(), c="chacha20-poly1305", hpn=False)
    assert not taken.has("b.qat.cipher")
    assert taken.demand("b.cpu.ssh receiver") == pytest.approx(2.8e9 / 0.37e9 - 0.62, abs=0.01)


def test_a_program_that_waits_for_each_request_gets_little_of_the_card() -> None:
    """16 KiB in 20 us and what one of 8 engines takes: 16384 / (20e-6 + 16384 / 0.78e9)."""
    taken = copied(host(in_flight=1), c="aes-gcm")
    assert taken.rate("b.qat.requests.ssh receiver") == pytest.approx(16384 / (20e-6 + 16384 / (6.25e9 / 8)), rel=1e-3)


def test_tls_of_globus_runs_on_the_card() -> None:
    tool = {"name": "globus", "encrypt": True, "verify": False}
    path = journey(bare(), host(), start="a:/d", to="b:/d", tool=tool)
    assert sheet(problem(path)).has("b.qat.cipher")


@pytest.mark.parametrize(("card", "duty", "taken"), rows("components/tables", "what_a_card_takes_over"))
def test_what_a_card_takes_over(card: str, duty: dict[str, Any], taken: bool) -> None:
    made = Dpu.build({**DPU, "nic": "a"}) if card == "dpu" else CryptoAccelerator.build(QAT)
    assert made.takes(Duty(**duty)) is taken


def test_a_core_that_was_full_of_cipher_goes_faster() -> None:
    paths = [journey(bare(), there, start="a:/dev/zero", to="b:/d", tool={"name": "scp", "c": "aes-gcm", "hpn": True})
             for there in (bare(), host())]  # fmt: skip
    slow, fast = (rate(p, "hosts.a.cpu.clock=10 GHz") for p in paths)
    assert slow < fast < 1.4 * slow


def test_a_card_is_placed_like_any_other() -> None:
    with pytest.raises(SpecError, match="is not a slot"):
        load(journey(bare(), host(slot="y")))
    crowded = host()
    crowded["nics"] = {"nic": {**crowded.pop("nic"), "slot": "x"}}
    with pytest.raises(SpecError, match=r"sits in slot 'x'.*a slot takes one card"):
        load(journey(bare(), crowded))


def test_another_part_keeps_the_place() -> None:
    made = load(journey(bare(), host()), "hosts.b.devices.qat=intel-qat-8920").hosts["b"].devices["qat"]
    assert (made.kind, made.slot, made.in_flight) == ("crypto-accelerator", "x", 64)
    assert made.cipher.value == pytest.approx(2.5e9)


COSTS = {**FREE, "receive_byte": "0.6 cycles/B", "interrupt_byte": "0.2 cycles/B", "hot_byte": "0.36 cycles/B"}


def host_of_dpu(device: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return machine(stack=COSTS, **({"devices": {"bf": device}} if device is not None else {}), **more)


def received(device: dict[str, Any] | None, tool: Any = "iperf3") -> Sheet:
    return sheet(problem(journey(destination=host_of_dpu(device), tool=tool)))


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
    there = host_of_dpu(
        DPU, volumes={"/d": volume({"kind": "ssd", "read": "10 TB/s", "write": "10 TB/s", "link": "10 TB/s"})}
    )
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
    there = host_of_dpu(None, volumes={"/d": volume(array, via=["nic"])})
    path = journey(there, start="a:/d", to="a:/dev/null", tool="dd")
    plain = sheet(problem(path))
    there["devices"] = {"bf": DPU}
    taken = sheet(problem(journey(there, start="a:/d", to="a:/dev/null", tool="dd")))
    assert taken.demand("a.bf.cores") == pytest.approx(0.8)
    assert plain.demand("a.cpu") - taken.demand("a.cpu") == pytest.approx(0.8 - 3000 / 65536)


def test_ports_that_are_not_there() -> None:
    with pytest.raises(SpecError, match=r"devices.bf.nic.*NICs: nic"):
        load(journey(destination=host_of_dpu({**DPU, "nic": "eth9"})))
