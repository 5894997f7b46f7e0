"""The network between: around a firewall or policer, loss repaired, jumbo frames end to end, more bandwidth.

None of it is bought from a list of parts; what it costs, those who run the network say.
"""

from collections.abc import Iterator
from typing import Final

from dtnsim.components.segment import Segment
from dtnsim.description.spec import PathSpec
from dtnsim.ground import units
from dtnsim.ground.quantity import Draw
from dtnsim.physics import bonding
from dtnsim.planning.actions import Scope, free
from dtnsim.planning.actions.tcp import small_frames
from dtnsim.planning.option import Setting
from dtnsim.steady import timed

#: rates that circuits and ports of a wide-area network have [Gb/s]
_CLASSES: Final = (1, 10, 25, 40, 100, 200, 400, 800)
_MOST_PATHS: Final = 4  #: paths beside each other that are worth their routers' ports
#: part of a circuit that one plans to fill (ESnet asks for more capacity where half is used at the busiest times)
_FILLED: Final = 0.8


def segments(path: PathSpec) -> list[tuple[str, Segment]]:
    """(key, segment) of all of a path's network."""
    plain = [("wan" if len(path.wan) == 1 else f"wan.{n}", s) for n, s in enumerate(path.wan)]
    return [*plain, *((f"links.{name}", s) for name, s in path.links.items())]


@free("network")
def around_boxes(scope: Scope) -> Iterator[Setting]:
    """Around a firewall (a Science DMZ), and a policer lifted."""
    for key, segment in segments(scope.given):
        if segment.firewall is not None:
            box = segment.firewall.part or "the firewall"
            line = f"# a Science DMZ: these hosts outside {box}, filtered by address in the router (fasterdata.es.net)"
            yield Setting(f"a bypass of the firewall ({key})", (f"{key}.firewall=null",), (line,))
        if segment.policer is not None:
            line = "# ask the provider for a contract, or an instance, without this policer"
            yield Setting(f"no policer ({key})", (f"{key}.policer=null",), (line,))


@free("network")
def repaired(scope: Scope) -> Iterator[Setting]:
    """Loss that somebody has measured, found and mended."""
    for key, segment in segments(scope.given):
        bursts = {"bursts": segment.bursts, "retransmits": segment.retransmits}
        lossy = [k for k, lost in bursts.items() if lost is not None]
        if segment.loss.value > 0 or lossy:
            sets = (f"{key}.loss=0", *(f"{key}.{k}=null" for k in lossy))
            line = "# find it: errors of optics and ports, overruns of small buffers (ethtool -S, switches, perfSONAR)"
            yield Setting(f"loss repaired ({key})", sets, (line,))


@free("network")
def jumbo_frames(scope: Scope) -> Iterator[Setting]:
    """Jumbo frames on all segments that state smaller ones, and on your cards."""
    small = [key for key, s in segments(scope.given) if s.could_jumbo and not s.jumbo]
    if small:
        sets = [f"{key}.mtu=9000 B" for key in small]
        sets += [f"hosts.{h}.nics.{n}.mtu=9000 B" for h, n in small_frames(scope)]
        line = f"# jumbo frames on {', '.join(small)}; then ip link set dev ... mtu 9000"
        yield Setting("jumbo frames", tuple(sets), (line,))


@free("network")
def wider(scope: Scope) -> Iterator[Setting]:
    """The next class of circuits that carries the goal, or as many equal paths as the streams need to."""
    rate = next((c * 1.25e8 for c in _CLASSES if c * 1.25e8 * _FILLED >= scope.target_Bps), None)
    narrow = [(key, s) for key, s in segments(scope.given) if rate is not None and s.bandwidth.value < rate]
    if rate is not None and narrow:
        sets = tuple(f"{key}.bandwidth={rate * 8e-9:g} Gb/s" for key, _ in narrow)
        least = min(s.bandwidth.value for _, s in narrow)
        line = f"# circuits and ports of {rate * 8e-9:g} Gb/s{_parallel_paths(scope.given, least, scope.target_Bps)}"
        yield Setting("bandwidth of the network", sets, (line,))


def _parallel_paths(path: PathSpec, each_Bps: float, target_Bps: float) -> str:
    """How many paths like that of now carry the goal, each stream on the one that its hash says; nothing where none do.

    Of so few streams the fullest path decides (`dtnsim.physics.bonding.static_rate`).
    """
    streams = sum(c.streams for c in timed.composer(path, Draw()).problem().connections.values())
    rates = ((k, float(bonding.static_rate(each_Bps, k, max(streams, 1)))) for k in range(2, _MOST_PATHS + 1))
    paths = next(((k, r) for k, r in rates if r * _FILLED >= target_Bps), None)
    if paths is None:
        return ""
    return f"; or {paths[0]} paths like now: {streams} streams hashed onto them have {units.show(paths[1], 'B/s')}"
