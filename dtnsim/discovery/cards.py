"""Network cards, the slots that they are in, and which cores serve them."""

import re
from collections.abc import Mapping
from typing import Final

from dtnsim.description import spoken
from dtnsim.discovery import pasted
from dtnsim.discovery.outputs import Outputs, Stated, Tree, digits

_PCI: Final = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_SLAVE: Final = re.compile(r"^/proc/net/bonding/([^:]+):Slave Interface: (\S+)")
_MODE: Final = re.compile(r"^/proc/net/bonding/([^:]+):Bonding Mode: (.*)")
#: transfers a second and lane [1e9] -> generation
_GENERATION: Final = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
#: counters of a receive queue as drivers name them, and most queues of a card
_QUEUE: Final = re.compile(r"^\s*(?:rx_queue_|rx-|rx)(\d{1,4})[_.]?(?:rx_)?packets:", re.MULTILINE)
_MOST_QUEUES: Final = 1024
_SPEED: Final = re.compile(r"\d{1,7}(?:\.\d)?")
_MTU: Final = (256, 65535)  #: largest and smallest MTU that a NIC of the model takes


def cards(outputs: Outputs) -> tuple[Tree, Tree]:
    """(network cards, the slots that they are in)."""
    facts, devices = outputs.keyed("net"), _devices(outputs)
    names = [match[1] for key in facts if (match := re.fullmatch(r"/sys/class/net/([^/]+)/device", key))]
    models = {n: f"{n} {facts.get(f'/sys/class/net/{n}/model', ('',))[0]}" for n in names}
    names = [n for n, model in models.items() if not pasted.name_pattern("wireless").search(model)] or names
    bonds = _bonds(outputs)
    bonded = {slave for slaves, _ in bonds.values() for slave in slaves}
    nics, slots = Tree(), Tree()
    for name in [n for n in names if n not in bonded]:
        nics[name] = _card(outputs, facts, devices, name, slots)
    for bond, (slaves, mode) in bonds.items():
        present = [s for s in slaves if s in names]
        if present:
            card = _card(outputs, facts, devices, present[0], slots)
            card["ports"] = Stated(len(slaves), f"bonding: {bond} of {', '.join(slaves)}")
            card["bonding"] = Stated("hash", f"bonding: {mode}")
            nics[bond] = card
    if not nics:
        nics["eth"] = Stated("unknown", "no output says it", "ip link, and ethtool of the card")
    return nics, slots


def _devices(outputs: Outputs) -> dict[str, tuple[str, float, int, int]]:
    """PCI address to (name, transfers a second and lane, lanes, line) as lspci has them now."""
    devices: dict[str, tuple[str, float, int, int]] = {}
    for m in outputs.measured("lspci"):
        if m.quantity == "transfer_rate" and m.conditions.get("view") == "status":
            address = str(m.conditions.get("slot"))
            address = address if address.count(":") == 2 else f"0000:{address}"
            lanes = int(m.conditions.get("lanes") or 0)
            devices[address] = (str(m.conditions.get("device")), m.value, lanes, m.line or 0)
    return devices


def _bonds(outputs: Outputs) -> dict[str, tuple[list[str], str]]:
    bonds: dict[str, tuple[list[str], str]] = {}
    for _, line in outputs.lines("bonding"):
        if mode := _MODE.match(line):
            bonds.setdefault(mode[1], ([], mode[2]))
        elif slave := _SLAVE.match(line):
            bonds.setdefault(slave[1], ([], "mode not printed"))[0].append(slave[2])
    return {bond: found_ for bond, found_ in bonds.items() if found_[0]}


def _card(
    outputs: Outputs,
    facts: Mapping[str, tuple[str, str]],
    devices: Mapping[str, tuple[str, float, int, int]],
    name: str,
    slots: Tree,
) -> Tree:
    path, where = facts[f"/sys/class/net/{name}/device"]
    address = (_PCI.findall(path) or [""])[-1]
    device, transfers, lanes, line = devices.get(address, ("", 0.0, 0, 0))
    model, beside = facts.get(f"/sys/class/net/{name}/model", ("", ""))
    rate, source = _rate(outputs, facts, name)
    part = known_nic(device or model, rate)
    source_of_card = f"lspci:{line}: {device}" if device else f"{beside}: {model}" if model else f"{where}: {path}"
    tree: Tree = {"part": Stated(part, source_of_card)} if part else {"kind": Stated("nic", source_of_card)}
    if rate:
        tree["rate"] = Stated(f"{rate:g} Gb/s", source)
    elif not part and (named := rate_of(device or model or name)):
        tree["rate"] = Stated(named, f"{beside or where}: in its name; the link may have less")
    elif not part:
        tree = {"part": Stated("unknown", source_of_card, "rate of the link, or what you rent: ethtool of the card")}
    mtu, where = facts.get(f"/sys/class/net/{name}/mtu", ("", ""))
    if digits(mtu) and _MTU[0] <= int(mtu) <= _MTU[1]:
        tree["mtu"] = Stated(f"{mtu} B", where)
    queues = {n for q in _QUEUE.findall(outputs.texts.get(f"ethtool-S.{name}", "")) if (n := int(q)) < _MOST_QUEUES}
    if queues:
        tree["queues"] = Stated(len(queues), f"ethtool-S.{name}: receive queues with counters")
    slot = _slot(facts, name, transfers, lanes, f"lspci:{line}: LnkSta")
    if slot:
        slots[name] = slot
        tree["slot"] = Stated(name, f"{address}, its own")
        tree["card_lanes"], tree["card_generation"] = slot["lanes"], slot["generation"]
    return tree


def _rate(outputs: Outputs, facts: Mapping[str, tuple[str, str]], name: str) -> tuple[float, str]:
    """(Gb/s, where it stands); 0 where nobody says."""
    speed, where = facts.get(f"/sys/class/net/{name}/speed", ("", ""))
    if _SPEED.fullmatch(speed) and float(speed) > 0:
        return float(speed) / 1e3, f"{where}: speed"
    rates = [m for m in outputs.measured(f"ethtool.{name}") if m.quantity == "link_rate"]
    if rates:
        return rates[0].value * 8e-9, f"ethtool.{name}:{rates[0].line}"
    most, where = facts.get(f"/sys/class/net/{name}/most", ("0", ""))
    return float(most) / 1e3, f"{where}: capacity; the link may have less"


def rate_of(model: str) -> str:
    """What a port of a card carries at most, where its name tells it; of wireless ones what they reach."""
    words = re.sub(r"(?i)wireless-(?=a[cx])", "802.11", model)
    words = f"wireless {words}" if pasted.name_pattern("wireless").search(model) else words
    rate = spoken.in_name("nic", words)[0].get("rate", "")
    return rate if isinstance(rate, str) else f"{{value: {rate['value']}, spread: {rate['spread']}}}"


def known_nic(device: str, rate: float) -> str:
    """The shipped part of a card: its words stand in the device's name, and its rate is not another."""
    parts = pasted.shipped("nic", re.sub(r"(?i)\bbcm", "", device), r"intel|broadcom|mellanox|myricom|\d+g")
    speeds = ((part, re.search(r"-(\d+)g$", part)) for part in parts)
    return next((part for part, speed in speeds if speed and (not rate or float(speed[1]) == rate)), "")


def _slot(facts: Mapping[str, tuple[str, str]], name: str, transfers: float, lanes: int, line: str) -> Tree:
    speed, where = facts.get(f"/sys/class/net/{name}/device/current_link_speed", ("", ""))
    width, beside = facts.get(f"/sys/class/net/{name}/device/current_link_width", ("", ""))
    number = re.match(r"(\d+(?:\.\d+)?)", speed)
    gts = float(number[1]) if number else transfers / 1e9
    count = int(width) if digits(width) else lanes
    if gts not in _GENERATION or not 1 <= count <= 32:
        return {}
    tree: Tree = {
        "kind": Stated("slot", ""),
        "generation": Stated(_GENERATION[gts], f"{where or line}: {gts:g} GT/s a lane now"),
        "lanes": Stated(count, beside or line),
    }
    node, origin = facts.get(f"/sys/class/net/{name}/device/numa_node", ("", ""))
    if digits(node):
        tree["socket"] = Stated(int(node), f"{origin}: numa_node")
    return tree


def pinned(outputs: Outputs, names: list[str], cores: int) -> Tree:
    """Cores that serve the interrupts of cards of these ``names``, where they are pinned to some of all ``cores``."""
    affinity = {}
    for key, (value, _) in outputs.keyed("irq").items():
        named = re.fullmatch(r"/proc/irq/(\d+)/smp_affinity_list", key)
        if named:
            affinity[named[1]] = _cores(value)
    core_numbers: set[int] = set()
    for _, line in outputs.lines("interrupts"):
        number, _, rest = line.strip().partition(":")
        if number in affinity and any(re.search(rf"\b{re.escape(n)}\b", rest) for n in names):
            core_numbers |= affinity[number]
    if not core_numbers or len(core_numbers) >= cores or max(core_numbers) >= cores:
        return {}
    listed = ", ".join(map(str, sorted(core_numbers)))
    return {"nic_interrupts": Stated(f"[{listed}]", f"irq: smp_affinity_list of {', '.join(names)}")}


def _cores(text: str) -> set[int]:
    cores: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if digits(first) and (not last or digits(last)):
            cores |= set(range(int(first), min(int(last or first), 4096) + 1))
    return cores
