"""What can be had for nothing: settings of the hosts that are yours and options of the tools, each with its command."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dtnsim.components.segment import HEADERS_B, PACKET_B
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw
from dtnsim.physics.tcp import controls
from dtnsim.physics.tcp.linux import send_share
from dtnsim.physics.tcp.window import MOST_SYSCTL_B, needed_buffer
from dtnsim.planning import host_settings, tool_settings
from dtnsim.planning.host_settings import Setting

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec

_JUMBO_B: Final = 9000.0
_RECORDS: Final = ("1 MiB",)
#: gain that is worth a line
WORTH: Final = 0.002

Rate = Callable[[Sequence[str]], float]


@dataclass(frozen=True, slots=True)
class Win:
    """A setting with what it gives by itself.

    Attributes:
        setting: It.
        alone_Bps: The ceiling with nothing else changed.
        together: Whether it is among those that are taken together.
    """

    setting: Setting
    alone_Bps: float
    together: bool


def settings(given: PathSpec, hosts: Sequence[str], target_Bps: float) -> list[Setting]:
    """What could be set on some hosts, and on the tools that are used."""
    found = [*_buffers(given, hosts, target_Bps), *_cc(given, hosts), *_mtu(given, hosts), *_records(given, hosts)]
    return [*found, *host_settings.settings(given, hosts), *tool_settings.settings(given)]


def _buffers(given: PathSpec, hosts: Sequence[str], target_Bps: float) -> Iterator[Setting]:
    rtt = sum(s.rtt.value for s in [*given.wan, *given.links.values()])
    draw = Draw()
    for name in hosts:
        host = given.hosts[name]
        shares = {"rmem": host.receive_share(PACKET_B), "wmem": float(send_share(PACKET_B - HEADERS_B))}
        sizes = {end: _power_of_two(float(needed_buffer(target_Bps, rtt, 1, share))) for end, share in shares.items()}
        if all(draw(getattr(host.tcp, f"{end}_max")) >= size for end, size in sizes.items()):
            continue
        rmem, wmem = sizes["rmem"], sizes["wmem"]
        yield Setting(
            f"{name}: TCP buffers",
            (f"hosts.{name}.tcp.rmem_max={rmem} B", f"hosts.{name}.tcp.wmem_max={wmem} B"),
            (
                f"sysctl -w net.core.rmem_max={rmem} net.core.wmem_max={wmem}",
                f"sysctl -w net.ipv4.tcp_rmem='4096 131072 {rmem}' net.ipv4.tcp_wmem='4096 65536 {wmem}'",
            ),
        )


def _power_of_two(need_B: float) -> int:
    """The next power of two, as far as a sysctl goes."""
    return min(int(2 ** math.ceil(math.log2(max(need_B, 4096.0)))), int(MOST_SYSCTL_B))


def _cc(given: PathSpec, hosts: Sequence[str]) -> Iterator[Setting]:
    senders = {t.source_end.partition(":")[0].strip() for t in given.transfers}
    for name in hosts:
        if name not in senders:
            continue
        for cc in controls.offered():
            if cc != given.hosts[name].tcp.cc:
                queue = "net.core.default_qdisc=fq " if not controls.find(cc).by_loss else ""
                yield Setting(
                    f"{name}: congestion control",
                    (f"hosts.{name}.tcp.cc={cc}",),
                    (f"modprobe tcp_{cc}", f"sysctl -w {queue}net.ipv4.tcp_congestion_control={cc}"),
                )


def _mtu(given: PathSpec, hosts: Sequence[str]) -> Iterator[Setting]:
    if any(s.mtu is not None and s.mtu.value < _JUMBO_B for s in [*given.wan, *given.links.values()]):
        return
    small = [
        (host, nic)
        for host in hosts
        for nic, card in given.hosts[host].nics.items()
        if card.protocol == "ethernet" and card.mtu.value < _JUMBO_B
    ]
    if small:
        yield Setting(
            "MTU",
            tuple(f"hosts.{h}.nics.{n}.mtu=9000 B" for h, n in small),
            tuple(f"ip link set dev {n} mtu 9000   # on {h}" for h, n in small),
        )


def _records(given: PathSpec, hosts: Sequence[str]) -> Iterator[Setting]:
    for name in hosts:
        for mount, volume in given.hosts[name].volumes.items():
            if volume.filesystem.kind != "zfs":
                continue
            for size in _RECORDS:
                overrides = [f"hosts.{name}.volumes.{mount}.filesystem.recordsize={size}"]
                if getattr(volume.array, "record", None) is not None:
                    overrides.append(f"hosts.{name}.volumes.{mount}.array.recordsize={size}")
                yield Setting(
                    f"{name}: recordsize of {mount}",
                    tuple(overrides),
                    (f"zfs set recordsize={size.replace(' MiB', 'M')} {mount.strip('/')}   # holds for new files",),
                )


def wins(given: PathSpec, found: Sequence[Setting], rate: Rate) -> tuple[Win, ...]:
    """What helps, alone or together with others, the greatest gain first.

    Together: from all of them at once, each is set to what is best beside the others, and left out where that costs
    nothing, so that two that only help both at once are found.

    Args:
        given: The path.
        found: What could be set.
        rate: Throughput with overrides; 0 where they cannot be.
    """
    usable = [s for s in found if _works(given, s)]
    base = rate(())
    alone = {s: rate(s.overrides) for s in usable}
    groups: dict[str, list[Setting]] = {}
    for setting in usable:
        groups.setdefault(setting.what, []).append(setting)
    chosen: dict[str, Setting | None] = {what: max(group, key=lambda s: alone[s]) for what, group in groups.items()}

    def together() -> float:
        return rate([o for s in chosen.values() if s is not None for o in s.overrides])

    for _ in range(2):
        for what, group in reversed(groups.items()):  # more streams last: what they make up for comes first
            rates: list[tuple[float, Setting | None]] = []
            tried: tuple[Setting | None, ...] = (None, *group)
            for one in tried:
                chosen[what] = one
                rates.append((together(), one))
            most = max(r for r, _ in rates)
            chosen[what] = next(s for r, s in rates if r >= most * (1 - WORTH / 2))
    made = [Win(s, alone[s], chosen[s.what] == s) for s in usable]
    kept = [w for w in made if w.together or _best_alone(w, made, base)]
    return tuple(sorted(kept, key=lambda w: (not w.together, -w.alone_Bps)))


def _best_alone(win: Win, all_of_them: Sequence[Win], base: float) -> bool:
    same = [w for w in all_of_them if w.setting.what == win.setting.what]
    better = win.alone_Bps > base * (1 + WORTH) and not any(w.together for w in same)
    return better and win.alone_Bps >= max(w.alone_Bps for w in same)


def _works(given: PathSpec, setting: Setting) -> bool:
    try:
        given.changed(setting.overrides)
    except DtnsimError:
        return False
    return True
