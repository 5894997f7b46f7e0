"""Which host and which volume a log is of: by what the log says, and by what the user says of it (``--as``)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dtnsim.description.host import Host, build_host
from dtnsim.description.hosts import named
from dtnsim.ground import yamlio
from dtnsim.ground.errors import InputError
from dtnsim.logs.measurement import Measurement

_LOCAL: Final = "localhost"
LOOPBACK: Final = (_LOCAL, "127.", "::1")  #: how addresses of a test within one host begin
_LARGEST_B: Final = 20_000_000  #: largest output of a command that is read


class Skip(Exception):  # noqa: N818 - not an error: a figure that says nothing about the host
    """Why a figure is not used, and what would be."""


@dataclass(frozen=True, slots=True)
class Target:
    """A host whose parameters are wanted, and where logs that do not say it ran."""

    name: str  #: Its name.
    host: Host  #: The host.
    volume: str | None  #: Volume of logs that name none.
    raw: yamlio.Mapping  #: Its description.
    places: Mapping[str, str] = field(default_factory=dict)  #: Path or device of a log -> volume, as the user says.
    #: Block device -> where it is mounted, or why it is no volume, as lsblk says.
    devices: Mapping[str, str] = field(default_factory=dict)

    def mount(self, path: str | None) -> str:
        """The volume that a path or a device of a log is.

        Raises:
            InputError: the host has no such volume, so the log is of another host; or the log does not say which.
            Skip: it is a device of no volume.
        """
        if path is None:
            return self._only()
        aliases = [p for p in self.places if path == p or path.startswith(p.rstrip("/") + "/")]
        if aliases:
            return self.places[max(aliases, key=len)]
        if path.startswith("/dev/"):
            return self._device(path)
        mount = self.host.mount_of(path)
        if mount is not None:
            return mount
        volumes = ", ".join(self.host.volumes) or "none"
        why = "the log is of another host, or the host file lacks that volume, or calls it otherwise"
        raise InputError(f"{path} is on no volume of host {self.name!r} ({volumes}): {why}: --as {path}=VOLUME")

    def _only(self) -> str:
        if self.volume is not None:
            return self.volume
        if len(self.host.volumes) == 1:
            return next(iter(self.host.volumes))
        remedy = f"write --volume with one of {', '.join(self.host.volumes) or 'none'}"
        raise InputError(f"the log does not say on which volume of {self.name!r} it ran; {remedy}")

    def _device(self, path: str) -> str:
        where = self.devices.get(path.rsplit("/", 1)[-1])
        if where is None or not where.startswith("/"):
            why = where or "no lsblk -J is among the logs that says where it is mounted"
            raise Skip(f"{path}: {why}; --as {path}=VOLUME says which volume it is")
        mount = self.host.mount_of(where)
        if mount is None:
            raise Skip(f"{path} is mounted on {where}, which is no volume of host {self.name!r}")
        return mount


class Targets:
    """The hosts of one calibration; ``devices`` is what lsblk says, see `devices_of`.

    In ``names`` that of a log file or of its folder stands for the host that it is of.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        volume: str | None = None,
        names: Mapping[str, str] | None = None,
        devices: Mapping[str, str] | None = None,
    ) -> None:
        raws = [(str(r.get("name", Path(h).stem)), r) for h in hosts for r in [named(h)]]
        built = {name: (build_host(name, raw), raw) for name, raw in raws}
        if len(built) < len(raws):
            remedy = "write another 'name:' into one of them"
            raise InputError(f"--host: two host files have the name {raws[0][0]!r}; {remedy}")
        called = {**{Path(h).stem: n for h, (n, _) in zip(hosts, raws, strict=True)}, **{n: n for n in built}}
        self._aliases = {a.lower(): called[n] for a, n in (names or {}).items() if n in called}
        self._aliases |= {stem.lower(): n for stem, n in called.items()}
        self._said = {a.lower() for a in names or {}}
        places = {a: n for a, n in (names or {}).items() if n not in called}
        mounts = {m for host, _ in built.values() for m in host.volumes}
        for alias, name in places.items():
            if name not in mounts:
                valid = ", ".join([*built, *sorted(mounts)])
                raise InputError(f"--as {alias}={name}: there is no host and no volume {name!r}; write one of {valid}")
        self.all = [Target(n, h, volume, r, places, devices or {}) for n, (h, r) in built.items()]
        for target in self.all if volume is not None else ():
            if target.host.mount_of(str(volume)) is None:
                valid = ", ".join(target.host.volumes) or "none"
                raise InputError(f"host {target.name!r} has no volume {volume!r}; write one of {valid}")

    def target_of(self, m: Measurement) -> Target:
        """The host that a figure is of."""
        file = Path(m.file or "log")
        ran_on = m.conditions.get("machine") or m.conditions.get("host")
        for place in (file.name, file.stem, file.parent.name):
            if place.lower() in self._aliases and (ran_on is None or place.lower() in self._said):
                return self._by_name(self._aliases[place.lower()])
        if isinstance(ran_on, str):
            return self._called(ran_on, m)
        if len(self.all) == 1:
            return self.all[0]
        remedy = f"write --as {file.name}=HOST with one of {', '.join(t.name for t in self.all)}"
        raise InputError(f"{m.file}:{m.line}: the log does not say on which host it ran; {remedy}")

    def knows(self, m: Measurement, *ends: str) -> bool:
        """Whether a figure is of one of the hosts, or one of its ends is."""
        with suppress(InputError):
            return self.target_of(m) in self.all
        return any(self.peer(end) for end in ends)

    def peer(self, name: str) -> Target | None:
        """The host that a log calls so, by its name or address; None where nobody describes it."""
        for alias in (name.lower(), name.partition(".")[0].lower()):
            if alias in self._aliases:
                return self._by_name(self._aliases[alias])
        return None

    def _by_name(self, name: str) -> Target:
        return next(t for t in self.all if t.name == name)

    def _called(self, ran_on: str, m: Measurement) -> Target:
        if (peer := self.peer(ran_on)) is not None:
            return peer
        short = ran_on.partition(".")[0].lower()
        for target in self.all:
            name = target.name.lower()
            if short in (name, *name.split("-")) or (short == _LOCAL and len(self.all) == 1):
                return target
        names = ", ".join(repr(t.name) for t in self.all)
        remedy = f"give --host {ran_on}, or say which it is: --as {ran_on}={self.all[0].name}"
        raise InputError(f"{m.file}:{m.line}: ran on host {ran_on!r}, not on {names}; {remedy}")


def pairs(texts: Iterable[str]) -> dict[str, str]:
    """``NAME=NAME`` texts of ``--as``."""
    aliases = {}
    for text in texts:
        theirs, mark, ours = text.rpartition("=")
        if not mark or not theirs or not ours:
            raise InputError(f"--as {text}: write what the log says, =, and what the host file says: disk-host=my")
        aliases[theirs] = ours
    return aliases


def outputs(files: Iterable[Path], word: str) -> Iterator[tuple[Path, str]]:
    """Files that a command may have printed, and that have a word: with what is in them."""
    for file in files:
        with suppress(OSError):
            text = file.read_text(encoding="utf-8", errors="replace") if file.stat().st_size < _LARGEST_B else ""
            if word in text:
                yield file, text


def devices_of(files: Iterable[Path]) -> dict[str, str]:
    """Block devices of ``lsblk -J`` outputs: where each is mounted, or why it is no volume of its own."""
    devices: dict[str, str] = {}
    for _, text in outputs(files, '"blockdevices"'):
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for item in tree.get("blockdevices") or [] if isinstance(tree, dict) else []:
            _mounted(item, devices)
    return devices


def _mounted(item: Any, devices: dict[str, str]) -> None:
    """Notes where a device and what lies on it are mounted; members of an array are none of their own."""
    if not isinstance(item, dict):
        return
    below = [c for c in item.get("children") or [] if isinstance(c, dict)]
    for child in below:
        _mounted(child, devices)
    name = str(item.get("name"))
    mounts = [
        m for m in [item.get("mountpoint"), *(item.get("mountpoints") or [])] if isinstance(m, str) and m[:1] == "/"
    ]
    array = next((c for c in below if str(c.get("type")).startswith("raid")), None)
    if mounts:
        devices[name] = mounts[0]
    elif array is not None:
        devices[name] = f"it is one drive of the array {array.get('name')}, not the volume"
    elif len(below) == 1 and str(below[0].get("name")) in devices:
        devices[name] = devices[str(below[0].get("name"))]
