"""What outputs of a host say of its parts goes into its description: mdstat, zpool status, lspci, ethtool, iperf3.

Where an output and the host file differ the output holds, for the fit and in the file that the fit writes; what cannot
be matched to anything of the host file is said, with how to say what it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from dtnsim.description.host import build_host
from dtnsim.description.override import put
from dtnsim.discovery.mounts import vdevs
from dtnsim.discovery.outputs import Outputs
from dtnsim.evidence.fit_targets import LOOPBACK, Skip, Target, outputs
from dtnsim.evidence.fit_wan import RATES, ends, is_end_to_end
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError, InputError
from dtnsim.ground.quantity import Mixture, Quantity
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.base import Evidence
from dtnsim.logs.measurement import Measurement

_GENERATION: Final = {2.5e9: 1, 5e9: 2, 8e9: 3, 16e9: 4, 32e9: 5, 64e9: 6}
_NETWORK: Final = re.compile(r"(?:Ethernet|Network|Infiniband) controller", re.IGNORECASE)
_LEVELS: Final = ("raid0", "raid1", "raid10", "raid5", "raid6")


@dataclass(frozen=True, slots=True)
class Fact:
    """A value of a host that an output shows to be another than its file says."""

    host: str  #: Name of the host.
    steps: tuple[str, ...]  #: The key, in steps.
    value: str  #: What the output says, as a host file writes it.
    was: str  #: What the host file says.
    source: str  #: File and line.

    @property
    def key(self) -> str:
        """The key with dots."""
        return ".".join(self.steps)

    @property
    def words(self) -> str:
        """For people."""
        return f"{self.source}: {self.key} is {self.value}, not {self.was} as the host file says; {self.value} is used"


def of_host(
    target: Target, measured: Sequence[Measurement], files: Iterable[Path]
) -> tuple[Target, list[Fact], list[str]]:
    """(the host with what outputs say, what that changed, what could not be matched).

    Args:
        target: The host.
        measured: What the parsers read from all logs.
        files: The logs, for ``zpool status``.
    """
    facts: list[Fact] = []
    notes: list[str] = []
    reports = (_arrays(target, measured), _pools(target, files), _links(target, measured), _ports(target, measured),
            _carried(target, measured))  # fmt: skip
    for entry in chain.from_iterable(reports):
        if isinstance(entry, Fact):
            facts.append(entry)
        else:
            notes.append(entry)
    facts = [f for f in facts if f.value != f.was]
    if not facts:
        return target, [], notes
    raw = target.raw.clone()
    for fact in facts:
        put(raw, list(fact.steps), fact.value, fact.key)
    try:
        return replace(target, raw=raw, host=build_host(target.name, raw)), facts, notes
    except DtnsimError as error:
        return target, [], [*notes, f"outputs of {target.name} and its file go not together: {error}"]


def _volume(target: Target, device: str, kinds: Sequence[str], alone: bool) -> str | None:  # noqa: FBT001
    """The volume that a device is: as the user or lsblk says, or the only one of these kinds."""
    try:
        return target.mount(f"/dev/{device}")
    except (Skip, InputError):
        fitting = [m for m, v in target.host.volumes.items() if v.array is not None and v.array.kind in kinds]
        return fitting[0] if alone and len(fitting) == 1 else None


def _written(rate: Quantity) -> str:
    """A rate as the host file says it, which may be that nobody knows it."""
    return "unknown" if isinstance(rate, Mixture) else str(rate)


def _place(m: Measurement) -> str:
    return f"{Path(m.file or m.tool).name}:{m.line}"


def _unmatched(target: Target, label: str, name: str, mount: str | None) -> str:
    """Why an array is none of the host's, and how to say which it is."""
    why = f"{mount} is none in the host file" if mount is not None else f"--as {name}=VOLUME says which it is"
    return f"{label}: matched to no array of {target.name!r}; {why}"


def _arrays(target: Target, measured: Sequence[Measurement]) -> Iterator[Fact | str]:
    mds = [m for m in measured if m.tool == "mdstat" and m.quantity == "capacity"]
    mds = [m for m in mds if m.conditions.get("level") in _LEVELS]
    striped = [m for m in mds if m.conditions.get("level") != "raid1"]
    for m in mds:
        cond, where = m.conditions, _place(m)
        name, level = str(cond["array"]), str(cond["level"])
        disks = int(cond.get("raid_devices") or int(cond.get("member_count") or 0) - int(cond.get("spares") or 0))
        mount = _volume(target, name, ("raid",), alone=m in striped and len(striped) == 1)
        array: Any = target.host.volumes[mount].array if mount is not None else None
        if mount is None or array is None or array.kind != "raid":
            if m in striped or mount is not None:  # two disks of the system are seldom described
                yield _unmatched(target, f"{where}: {name} is {level} of {disks}", f"/dev/{name}", mount)
            continue
        steps = ("volumes", mount, "array")
        working = cond.get("working")
        lost = disks - int(working) if isinstance(working, int | float) and level != "raid0" else 0
        yield Fact(target.name, (*steps, "level"), level.removeprefix("raid"), str(array.level), where)
        yield Fact(target.name, (*steps, "disks"), str(disks), str(array.disks), where)
        yield Fact(target.name, (*steps, "lost"), str(lost), str(array.lost), where)


def _pools(target: Target, files: Iterable[Path]) -> Iterator[Fact | str]:
    for file, text in outputs(files, "config:"):
        status = Outputs({"zpool-status": text}, str(file))
        names = re.findall(r"^\s*pool: (\S+)$", text, re.MULTILINE)
        for pool in names:
            yield from _pool(target, status, pool, file.name, alone=len(names) == 1)


def _pool(target: Target, status: Outputs, pool: str, file: str, *, alone: bool) -> Iterator[Fact | str]:
    kind, groups, members, line = vdevs(status, pool)
    zfs = [m for m, v in target.host.volumes.items() if v.filesystem.kind == "zfs"]
    candidates = [m for m in zfs if m.strip("/").split("/")[0] == pool] or [target.places.get(pool, "")]
    mount = candidates[0] if candidates[0] in zfs else zfs[0] if alone and len(zfs) == 1 else None
    array: Any = target.host.volumes[mount].array if mount is not None else None
    where, disks = f"{file}:{line}", len(members) // max(groups, 1)
    wanted = "raidz" if kind.startswith("raidz") else "mirror" if kind == "mirror" else ""
    if mount is None or array is None or array.kind != wanted:
        label = f"{where}: {pool} is {groups} x {kind or 'single drives'} of {disks}"
        yield _unmatched(target, label, pool, mount)
        return
    keys = {"disks": (disks, array.disks), "groups": (groups, array.groups)}
    if wanted == "raidz":
        keys["level"] = (int(kind.removeprefix("raidz") or 1), array.level)
    for key, (value, was) in keys.items():
        yield Fact(target.name, ("volumes", mount, "array", key), str(value), str(was), where)


def _links(target: Target, measured: Sequence[Measurement]) -> Iterator[Fact | str]:
    """Slots of cards as they are trained now."""
    links = [m for m in measured if m.tool == "lspci" and m.quantity == "transfer_rate"]
    links = [m for m in links if m.conditions.get("view") == "status"]
    network = [m for m in links if _NETWORK.search(str(m.conditions.get("device")))]
    cards = {str(m.conditions.get("slot")).rpartition(".")[0]: m for m in network}
    slots = {n.slot for n in target.host.nics.values() if getattr(n, "slot", None)}
    for m in links:
        if "downgraded" in (m.conditions.get("speed_is"), m.conditions.get("width_is")):
            width = f"x{int(m.conditions.get('lanes') or 0)}, {m.value / 1e9:g} GT/s"
            yield f"{_place(m)}: {m.conditions.get('device')} runs at {width}: less than it can"
    if len(cards) != 1 or len(slots) != 1:
        if cards and slots:
            yield f"lspci: which of {len(cards)} network cards is in which slot of {target.name!r} is not known"
        return
    ((_, m),), (slot,) = cards.items(), slots
    described = target.host.slots.get(str(slot))
    generation, lanes = _GENERATION.get(m.value), int(m.conditions.get("lanes") or 0)
    if described is not None and generation and lanes:
        where = _place(m)
        yield Fact(target.name, ("slots", str(slot), "lanes"), str(lanes), str(described.lanes), where)
        yield Fact(target.name, ("slots", str(slot), "generation"), str(generation), str(described.generation), where)


def _ports(target: Target, measured: Sequence[Measurement]) -> Iterator[Fact | str]:
    """Rates of cards as they are negotiated now."""
    rates = [m for m in measured if m.tool == "ethtool" and m.quantity == "link_rate"]
    nics = target.host.nics
    for m in rates:
        name = str(m.conditions.get("interface") or "")
        key = name if name in nics else next(iter(nics)) if len(nics) == 1 and len(rates) == 1 else None
        where = _place(m)
        if key is None:
            rate = units.show(m.value, "B/s")
            yield f"{where}: {name} runs at {rate}: matched to no card of {target.name!r} ({', '.join(nics)})"
            continue
        was = nics[key].rate
        if abs(m.value / was.value - 1) > 1e-6:
            yield Fact(target.name, ("nics", key, "rate"), f"{m.value * 8 / 1e9:g} Gb/s", _written(was), where)


def _carried(target: Target, measured: Sequence[Measurement]) -> Iterator[Fact]:
    """A card that carried more than its file says: the least rate of Ethernet that carries it."""
    runs = [m for m in measured if m.quantity == "throughput" and m.status == "complete" and is_end_to_end(m)]
    runs = [
        m for m in runs if catalogue().evidence[m.tool] is Evidence.NETWORK and m.conditions.get("protocol") != "udp"
    ]
    runs = [m for m in runs if (far := "".join(ends(m))) and not any(n in far for n in LOOPBACK)]
    if len(target.host.nics) != 1 or not runs:
        return
    ((key, card),), fastest = target.host.nics.items(), max(runs, key=lambda m: m.value)
    least = next((r for r in RATES if r * 1e9 / 8 >= fastest.value), None)
    if least is not None and card.ports == 1 and fastest.value > card.rate.value:
        yield Fact(target.name, ("nics", key, "rate"), f"{least:g} Gb/s", _written(card.rate), _place(fastest))
