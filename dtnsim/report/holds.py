"""What holds a transfer, in a sentence for people, in most of its draws and with a change: stations, connections."""

import re
from dataclasses import replace
from typing import Final, cast

from dtnsim.components.segment import segment_names
from dtnsim.ground.quantity import middle
from dtnsim.ground.records import Bottleneck, Prediction, Station
from dtnsim.steady.known import Assumed
from dtnsim.steady.reasons import BOTH_WAYS, WORDS
from dtnsim.steady.usual import Usual

#: what a connection's reason says of it
_LIMIT: Final = re.compile(r"(\w+)-limited: (?:the narrowest place is )?(.*?)(?:: [\d.]+ \S*b/s.*| \(in the phase.*)?")
#: for how much of the time a station of a transfer in turns is at work, and what takes the rest
_TURNS: Final = re.compile(r"; (\d+)(% of the time, .*)")
_MOSTLY: Final = 67  #: percentage of the time from which on that explains an answer without more words
OTHER_TOOL: Final = ("latency", "workers", "window", "transport", "target")  #: kinds that nothing one buys relieves
#: what holds, for people, by the kind of a station; by what limits a connection, and that in two words
_HOLDS, _TCP, _LIMITS = (cast("dict[str, str]", WORDS[what]) for what in ("stations", "connections", "brief"))
_OWN: Final = (".nfsd", ".smbd", ".stripes", ".mirror", ".robots", ".folder", ".client")  #: not named by their kind


def holds(p: Prediction, b: Bottleneck) -> str:
    """What a bottleneck is, for people."""
    place = b.component.removeprefix("tcp.")
    if b.kind == "tcp":
        match = _LIMIT.fullmatch(b.reason)
        ends = _ends(p, place.removeprefix("pacing."))
        if place.startswith("pacing."):
            return f"the pacing of packets from {ends}"
        if match is None or match[1] not in _TCP:
            return f"the TCP connections from {ends}"
        detail = _place(match[2]) if match[1] == "link" else match[2].removeprefix("1 x ")
        return _TCP[match[1]].format(ends=ends, what=detail)
    words = _several(p, _station(p, b.station), _words(b.kind, place))
    if b.kind == "network" and not _shared(p, place.removesuffix(".back")):
        words = words.partition(", with the traffic")[0]
    words += f", {BOTH_WAYS}" if BOTH_WAYS in b.reason else ""
    work = ", ".join(b.work[: 1 if b.kind in OTHER_TOOL else 3])
    return (words if work else words.removesuffix(" ({work})")).format(host=b.host, place=place, work=work)


def called(p: Prediction, name: str, reason: str = "") -> str:
    """A station in a few words, by the ``reason`` for which it holds; its name where it is none of the answer's."""
    if (s := _station(p, name)) is None:
        return name
    place = s.component.removeprefix("tcp.")
    if s.kind == "tcp":
        match = _LIMIT.fullmatch(reason)
        if match is not None and match[1] == "link":
            return re.split(" is (?:full|reached)", _place(match[2]))[0].removeprefix("the ")
        limit = _LIMITS.get(match[1], "TCP") if match is not None else "TCP"
        return f"{limit} from {_ends(p, place.removeprefix('pacing.'))}"
    words = re.split(r" \(|[,:] ", _several(p, s, _words(s.kind, place)))[0]
    return words.format(host=s.host, place=place).removeprefix("the ")


def _words(kind: str, place: str) -> str:
    """Words for a kind of station; those of `_OWN` have words of their own."""
    return _HOLDS.get(place.rpartition(".")[2] if place.endswith(_OWN) else kind, "{place} of {host}")


def _shared(p: Prediction, name: str) -> bool:
    """Whether others may use a segment."""
    names = [*segment_names(p.given.wan), *p.given.links]
    return name not in names or p.given.segments[names.index(name)].shared


def _station(p: Prediction, name: str) -> Station | None:
    return next((s for s in p.problem.stations if s.name == name), None)


def _several(p: Prediction, s: Station | None, words: str) -> str:
    """The cores of a station whose threads have more than one: ``4 cores of dtn's processor``."""
    if s is None or s.kind != "core" or s.host not in p.given.hosts:
        return words
    cpu = p.given.hosts[s.host].cpu
    cores = round(middle(s.capacity) / (cpu.clock.value * middle(cpu.per_cycle.value)))
    return words.replace("one core", f"{cores} cores") if cores > 1 else words


def brief(text: str) -> str:
    """What holds without whose buffer it is, and over which round trip."""
    return re.sub(r"( over a round trip of [^(),]*)?(, by the [^()]*(\([^()]*\))?)?\)$", ")", text)


def _place(text: str) -> str:
    """The narrowest place of a connection, for people."""
    if text.startswith("the allowance of "):
        return f"the provider's limit on the network of {text.removeprefix('the allowance of ')}"
    if text.startswith("the "):
        return f"the network {text.removeprefix('the ')}"
    where, _, more = text.partition(", ")
    return f"the network link {where}" + (f" ({more})" if more else "")


def _ends(p: Prediction, place: str) -> str:
    """``nas to centre`` of ``nas-centre``."""
    for host in p.given.hosts:
        if place.startswith(f"{host}-"):
            return f"{host} to {place.removeprefix(f'{host}-')}"
    return place


def bottleneck(p: Prediction) -> str:
    """What holds the transfer that takes longest, for people: in most of its draws, and at its best too."""
    t, mostly = p.longest, usual(p)
    best = f"{holds(p, t.bottleneck)} [{t.bottleneck.station}]"
    turns = _TURNS.search(t.bottleneck.reason)
    best += f" for {turns[1]}{turns[2]}" if turns and int(turns[1]) < _MOSTLY else ""
    text = (
        best if mostly is None else f"{holds(p, mostly.holder)} [{mostly.holder.station}] in {mostly.share:.0%} of runs"
    )
    if usual_holder(p) is not None:
        text += f"; at its best, {brief(holds(p, replace(t.bottleneck, work=())))}"
    return f"{text} ({t.name}, which takes longest)" if len(p.transfers) > 1 else text


def usual_holder(p: Prediction) -> Bottleneck | None:
    """What holds the transfer that takes longest in most of its draws, if it goes by another name at the medians."""
    mostly = usual(p)
    names = [
        brief(holds(p, replace(bottleneck, work=()))) for bottleneck in (p.longest.bottleneck, *(mostly or ())[:1])
    ]
    return mostly.holder if mostly is not None and names[0] != names[1] else None


def usual(p: Prediction) -> Usual | None:
    """What holds the transfer that takes longest in most of its draws, if not at the medians."""
    return p.assumed.usual[p.transfers.index(p.longest)] if isinstance(p.assumed, Assumed) else None


def following(p: Prediction, better: Prediction) -> str:
    """What holds another answer; by name where that sounds like what holds this one, as drives of two volumes do."""
    then, now = holder(better), holder(p)
    words, same = (brief(holds(each, replace(b, work=()))) for each, b in ((better, then), (p, now)))
    return f"{words} ({then.station})" if words == same and then.station != now.station else words


def is_same_limit(p: Prediction, then: str) -> bool:
    """Whether a limit is the one of now, whatever their sizes."""
    return then.partition(": ")[0] == brief(holds(p, replace(holder(p), work=()))).partition(": ")[0]


def holder(p: Prediction) -> Bottleneck:
    """What holds the transfer that takes longest in most of its draws."""
    mostly = usual(p)
    return mostly.holder if mostly is not None else p.longest.bottleneck
