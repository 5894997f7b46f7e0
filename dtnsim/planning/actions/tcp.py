"""TCP on your hosts: buffers, congestion control, and the size of its packets."""

from collections.abc import Iterator, Sequence
from typing import Final

from dtnsim.components.segment import HEADERS_B, PACKET_B
from dtnsim.composition.relief import sized, sysctl_lines, tcp_of
from dtnsim.description.spec import PathSpec
from dtnsim.ground.quantity import Draw
from dtnsim.ground.term import without_words
from dtnsim.physics.nic import JUMBO_B
from dtnsim.physics.tcp import controls
from dtnsim.physics.tcp.linux import send_share
from dtnsim.physics.tcp.window import needed_buffer
from dtnsim.planning.actions import Scope, free
from dtnsim.planning.option import Setting
from dtnsim.steady.prediction import predict

#: how a card is told to take jumbo frames: ip-link(8), ifconfig(8), networksetup(8), Microsoft's module NetAdapter
_JUMBO: Final = {
    "linux": "ip link set dev {} mtu 9000",
    "freebsd": "ifconfig {} mtu 9000",
    "macos": "networksetup -setMTU {} 9000",
    "windows": "Set-NetAdapterAdvancedProperty {} -RegistryKeyword *JumboPacket -RegistryValue 9014",
}


@free("tuning")
def buffers(scope: Scope) -> Iterator[Setting]:
    """Buffers as the ladder has them where they reach the goal, else for its rate over the round trip in one stream."""
    ladder = predict(scope.given, samples=0).transfers[0].ladder
    from_ladder = [
        s for name, _ in scope.changeable_hosts() if (s := sysctls(scope.given, name, ladder[0].overrides)) is not None
    ]
    with without_words():  # of the next rung its rate alone
        rest = ladder[1:2] if from_ladder else []
    if rest and rest[0].throughput_Bps >= scope.target_Bps:
        yield from from_ladder
        return
    rtt = sum(s.rtt.value for s in scope.given.segments)
    draw = Draw()
    for name, host in scope.changeable_hosts():
        shares = {"rmem": host.receive_share(PACKET_B), "wmem": float(send_share(PACKET_B - HEADERS_B, modelled=True))}
        needs = {end: float(needed_buffer(scope.target_Bps, rtt, 1, share)) for end, share in shares.items()}
        short = {f"{end}_max": need for end, need in needs.items() if draw(getattr(host.tcp, f"{end}_max")) < need}
        setting = sysctls(scope.given, name, [sized(f"hosts.{name}.tcp.{key}", need) for key, need in short.items()])
        if setting is not None:
            yield setting


def sysctls(path: PathSpec, host: str, overrides: Sequence[str]) -> Setting | None:
    """TCP buffers (``key=size``) of a host; None where none of the values is its own."""
    sizes = tcp_of(host, overrides)
    return Setting(f"{host}: TCP buffers", sizes, sysctl_lines(sizes, path.hosts[host].system)) if sizes else None


@free("tuning")
def congestion_control(scope: Scope) -> Iterator[Setting]:
    """Other algorithms of senders."""
    senders = {t.source_end.partition(":")[0].strip() for t in scope.given.transfers}
    for name, host in scope.changeable_hosts():
        for cc in controls.offered() if name in senders else ():
            if cc != host.tcp.cc and host.has_control(cc):
                sets = (f"hosts.{name}.tcp.cc={cc}",)
                yield Setting(f"{name}: congestion control", sets, sysctl_lines(sets, host.system))


@free("tuning")
def pacing(scope: Scope) -> Iterator[Setting]:
    """Senders whose packets `fq` spaces, so that a window comes as no burst."""
    for name in {t.source_end.partition(":")[0].strip(): None for t in scope.given.transfers}:
        host = dict(scope.changeable_hosts()).get(name)
        if host is not None and host.may_pace(host.tcp.cc):
            sets = (f"hosts.{name}.tcp.fq=true",)
            yield Setting(f"{name}: fq spaces packets", sets, sysctl_lines(sets))


@free("tuning")
def mtu(scope: Scope) -> Iterator[Setting]:
    """Jumbo frames on your cards, where no segment forbids them."""
    if not all(s.jumbo for s in scope.given.segments):
        return
    small = small_frames(scope)
    if small:
        typed = tuple(f"{_JUMBO[scope.given.hosts[h].system].format(n)}   # on {h}" for h, n in small)
        yield Setting("jumbo frames", tuple(f"hosts.{h}.nics.{n}.mtu=9000 B" for h, n in small), typed)


def small_frames(scope: Scope) -> list[tuple[str, str]]:
    """(host, card) of those that could have jumbo frames, and have none."""
    cards = ((name, nic, card) for name, host in scope.changeable_hosts() for nic, card in host.nics.items())
    return [(name, nic) for name, nic, card in cards if card.could_jumbo and card.mtu.value < JUMBO_B]
