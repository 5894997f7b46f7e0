"""An answer as a decision: does it fit, what holds it, what to do, what that gains and costs, what to measure first.

Terminal, report and notebook say the same record.
"""

from __future__ import annotations

import datetime as dt
import html
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.composition.relief import sysctl_lines, tcp_of
from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.records import Bottleneck
from dtnsim.ground.term import without_words
from dtnsim.steady import relieved
from dtnsim.steady.prediction import predict
from dtnsim.steady.why_wide import how

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.ground.records import Prediction, TransferPrediction
    from dtnsim.ground.uncertainty import Assumption, Remedy
    from dtnsim.steady.goals import Goal

#: remedies that are answered with all their scenarios, until one helps; goals are met from this probability on, and
#: nothing has to be done from that on
_TRIED: Final = 2
_LIKELY: Final = 0.5
_SURE: Final = 0.8
#: a factor so near to 1 is none
_SAME: Final = 0.005
_DAY_S: Final = 86400.0
#: below that an end is told to the second
_SOON_S: Final = 3600.0
_CLOCK: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
#: what a connection's reason says of it
_LIMIT: Final = re.compile(r"(\w+)-limited: (?:the narrowest place is )?(.*?)(?:: [\d.]+ \S*b/s.*| \(in the phase.*)?")
#: kinds of stations whose parts one may have more of
_PARTS: Final = ("hdd", "ssd", "nic", "ib", "hba", "sas")
#: kinds that nothing one buys relieves
_OTHER_TOOL: Final = ("latency", "workers", "window", "transport", "target")
#: kind of station -> what holds, for people
_HOLDS: Final = {
    "core": "one processor core of {host} ({work})",
    "cpu": "all processor cores of {host} ({work})",
    "memory": "the memory of {host}",
    "hdd": "the disks of {host}",
    "ssd": "the flash drives of {host}",
    "tape": "the tape drives of {host}",
    "sata": "the cables to the drives of {host}",
    "sas": "the cables between {host} and its drives",
    "hba": "the disk adapter of {host}",
    "pcie": "the slot of a card in {host}",
    "nic": "the network port of {host}",
    "ib": "the InfiniBand port of {host}",
    "offload": "the card of {host} that takes work over",
    "network": "the network link {place}, with the traffic of others on it",
    "firewall": "the firewall at {place}",
    "policer": "the rate limit that the provider enforces at {place}",
    "lustre": "the Lustre file system of {host} ({place})",
    "gpfs": "the GPFS file system of {host} ({place})",
    "beegfs": "the BeeGFS file system of {host} ({place})",
    "cephfs": "the Ceph storage of {host} ({place})",
    "vast": "the VAST storage of {host} ({place})",
    "weka": "the WEKA storage of {host} ({place})",
    "daos": "the DAOS storage of {host} ({place})",
    "metadata": "the metadata servers of {place}",
    "cloud-disk": "the cloud disk of {host}",
    "nfs": "the NFS mount of {host}: too few requests under way",
    "smb": "the SMB share of {host}: too few requests under way",
    "s3": "the bucket's connections, each waiting for its requests",
    "transport": "the tool's own protocol on top of the network",
    "target": "the rate that the tool is told to keep",
    "window": "the tool's own window ({work})",
    "latency": "waiting for answers while nothing moves ({work})",
    "workers": "waiting for answers while nothing moves ({work})",
}
_TCP: Final = {
    "window": "the TCP window from {ends} is too small for the distance: {what}",
    "loss": "lost packets from {ends} slow TCP down: {what}",
    "buffer": "a queue in the network is too short for TCP from {ends}: {what}",
    "link": "{what}",
}
#: what a change costs, by how its key ends
_COSTS: Final = (
    (".loss", "nothing to buy: a fault that the network's operator finds"),
    (".buffer", "a switch or a setting of the network's operator; no price is known"),
    ("strips_window_scaling", "nothing to buy: a setting of the firewall"),
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What one decides by.

    Attributes:
        verdict: Whether it fits, how long, how fast, how sure.
        held: What holds the slowest transfer, for people, with the station's name.
        enough: Whether the goal is met as it is.
        does: What to do: first in words, then as it is typed.
        gains: What comes of it; before and after, with their intervals, where it was answered.
        costs: Its price.
        others: Other changes that help as well.
        measure: What to find out first.
        better: The answer with the change; None where nothing for nothing helps.
    """

    verdict: str
    held: str
    enough: bool
    does: tuple[str, ...]
    gains: str
    costs: str
    others: tuple[str, ...]
    measure: tuple[str, ...]
    better: Prediction | None

    @property
    def rows(self) -> list[tuple[str, tuple[str, ...]]]:
        """(label, texts) below the verdict."""
        action = "to speed up" if self.enough else "do this"
        found = [("held by", (self.held,)), (action, self.does), ("gain", (self.gains,)), ("price", (self.costs,)),
                 ("or", self.others), ("measure first", self.measure)]  # fmt: skip
        return [(label, texts) for label, texts in found if texts]

    @property
    def html(self) -> str:
        """The same as HTML."""
        rows = (f"<dt>{label}</dt><dd>{'<br>'.join(map(html.escape, texts))}</dd>" for label, texts in self.rows)
        return f'<dl class="decision">{"".join(rows)}</dl>'


def decide(p: Prediction, wanted: Sequence[Goal] = (), start: dt.time | None = None) -> Decision:
    """The decision of an answer, by what holds the transfer that takes longest.

    Args:
        p: The answer.
        wanted: Goals that are asked about.
        start: Time of day at which the transfers begin.
    """
    f = max(range(len(p.transfers)), key=lambda n: p.transfers[n].duration_s.p50)
    t = p.transfers[f]
    named = f" ({t.name}, which takes longest)" if len(p.transfers) > 1 else ""
    held = f"{_holds(p, t.bottleneck)} [{t.bottleneck.station}]{named}"
    far = sorted(p.assumed, key=lambda a: -a.moves)
    measure = tuple(map(_measure, far[: _TRIED if len(p.transfers) == 1 else 1]))
    enough = bool(wanted) and p.drawn is not None and all(_fits(p, goal, _SURE) for goal in wanted)
    says = verdict(p, wanted, start)
    for way in sorted(t.ways, key=lambda w: not _typed(p, w))[:_TRIED]:
        better = _with(p, way)
        if better.throughput_Bps.p50 > relieved.WORTH * p.throughput_Bps.p50:
            others = tuple(
                f"{w.words} ({_set(w)}): up to {_times(w.ceiling_Bps / t.ceiling)}" for w in t.ways if w is not way
            )
            does = (way.words, *(line for line in _typed(p, way) if line not in way.words), f"(tried with {_set(way)})")
            costs = next((c for end, c in _COSTS if way.overrides[0].partition("=")[0].endswith(end)), _FREE)
            return Decision(says, held, enough, does, _gain(p, better), costs, others[:1], measure[:1], better)
    does, gains, costs = _no_setting(p, f)
    return Decision(says, held, enough, does, gains, costs, (), measure, None)


_FREE: Final = "nothing to buy: a setting"


def _with(p: Prediction, way: Remedy) -> Prediction:
    """The answer with a change, drawn as it was: what ``predict --set`` says."""
    drawn, changed = p.drawn, p.given.changed(list(way.overrides))
    with without_words():
        if drawn is None:
            return predict(changed, samples=0)
        return predict(changed, samples=len(drawn.rates_Bps), seed=drawn.seed, mean=drawn.mean)


def _gain(p: Prediction, better: Prediction) -> str:
    """How much faster, and what then holds it."""
    factor = _times(better.throughput_Bps.p50 / p.throughput_Bps.p50)
    t = max(better.transfers, key=lambda t: t.duration_s.p50)
    return f"{factor} as fast: {_how_long(better, was=p)}. Next limit: {_holds(better, t.bottleneck)}"


def _no_setting(p: Prediction, f: int) -> tuple[tuple[str, ...], str, str]:
    """What to do where no setting helps: words, what that would gain at most, where its price is."""
    t, path = p.transfers[f], _name(p)
    then, remedy = relieved.once_gone(p, t), t.bottleneck.remedy
    none = "no setting helps" + (f"; 'dtnsim tools {path}' tries other tools" if may_choose(p.given, f) else "")
    more = 1.0 if then is None else then.throughput_Bps / t.ceiling
    target = units.show(p.throughput_Bps.p50 * min(max(more, 1.2), 2.0), "B/s", digits=2).replace(" ", "")
    see = f"'dtnsim plan {path} --target {target}' says what to buy and its price"
    if then is None:
        return (remedy, none), "not known: nothing else of the path has a limit", see
    station = next((s for s in p.problem.stations if s.name == then.station), None)
    what = then.station
    if station is not None:
        what = _holds(p, Bottleneck(station.name, station.component, station.host, station.kind, then.reason))
    if more < relieved.WORTH:
        return (none,), f"less than a tenth by one change alone: the next limit is near ({what})", see
    if t.bottleneck.kind in _OTHER_TOOL:
        see = "nothing to buy: another tool, or other options of its ends"
    return (remedy, none), f"up to {_times(more)} as fast. Next limit: {what}", f"{_one_more(p, t)}{see}"


def may_choose(given: PathSpec | None, f: int) -> bool:
    """Whether another tool can move the files of transfer ``f``: no test, nothing timed, no months of work."""
    if given is None or given.workload is not None or f >= len(given.transfers):
        return False
    transfer = given.transfers[f]
    timed = transfer.dataset is None or transfer.timing() is not None
    return not (timed or given.programs or transfer.tool.tool_class == "test")


def _one_more(p: Prediction, t: TransferPrediction) -> str:
    """What one more of the parts that hold a transfer costs, where the library has a price for the very part."""
    host = None if p.given is None else p.given.hosts.get(t.bottleneck.host)
    at = t.bottleneck.component.partition(".")[0]
    if host is None or t.bottleneck.kind not in _PARTS:
        return ""
    volumes = [v.array for mount, v in host.volumes.items() if mount.strip("/").replace("/", "-") == at]
    part: Any = {**host.nics, **host.hbas}.get(at) or next(iter(volumes), None)
    while hasattr(part, "of"):
        part = part.of
    price = getattr(part, "price", None)
    return "" if price is None else f"one more {part.part} was {price.value} in {price.date}; "


def _times(factor: float) -> str:
    """A factor as people say it."""
    return f"{factor:.2g} times" if factor < 100 else f"{factor:.0f} times"


def _set(way: Remedy) -> str:
    """A change as an option."""
    return " ".join(f"--set {shlex.quote(o)}" for o in way.overrides)


def _typed(p: Prediction, way: Remedy) -> tuple[str, ...]:
    """A change as it is typed on its hosts, or as an option of the tool; empty where nobody can type it."""
    lines = [f"on {name}: {line}" for name in p.given.hosts for line in sysctl_lines(tcp_of(name, way.overrides))]
    return tuple(lines) or ((way.words.partition(": ")[2],) if way.words.startswith("more at once: ") else ())


def _name(p: Prediction) -> str:
    """What the commands call the path."""
    file = PurePath(p.given.file or "PATH") if p.given is not None else PurePath("PATH")
    shipped = file.parts[:2] == ("models", "paths")
    return shlex.quote(str(file.relative_to("models/paths").with_suffix("") if shipped else file))


def _measure(a: Assumption) -> str:
    """What to find out, what it moves, and how."""
    ends = f"{_faster(a.at_low)} with {a.low}" + (f", {_faster(a.at_high)} with {a.high}" if a.ranges else "")
    return f"{a.key}, by {how(a.key)}: taken as {a.value}; {ends}"


def _faster(factor: float) -> str:
    """A factor on the rate in words."""
    if abs(factor - 1) < _SAME:
        return "as fast"
    if factor >= 2:
        return f"{_times(factor)} as fast"
    return f"{abs(factor - 1):.0%} {'faster' if factor > 1 else 'slower'}"


def _holds(p: Prediction, b: Bottleneck) -> str:
    """What a bottleneck is, for people."""
    place = b.component.removeprefix("tcp.")
    if b.kind == "tcp":
        found = _LIMIT.fullmatch(b.reason)
        ends = _ends(p, place)
        if found is None or found[1] not in _TCP:
            return f"the TCP connections from {ends}"
        what = _place(found[2]) if found[1] == "link" else found[2].removeprefix("1 x ")
        return _TCP[found[1]].format(ends=ends, what=what)
    words = _HOLDS.get(b.kind, "{place} of {host}")
    work = ", ".join(b.work[: 1 if b.kind in _OTHER_TOOL else 3])
    return (words if work else words.removesuffix(" ({work})")).format(host=b.host, place=place, work=work)


def _place(text: str) -> str:
    """The narrowest place of a connection, for people."""
    if text.startswith("the "):
        return f"the network {text.removeprefix('the ')} is full"
    where, _, more = text.partition(", ")
    return f"the network link {where} is full" + (f" ({more})" if more else "")


def _ends(p: Prediction, place: str) -> str:
    """``nas to centre`` of ``nas-centre``."""
    for host in p.given.hosts if p.given is not None else ():
        if place.startswith(f"{host}-"):
            return f"{host} to {place.removeprefix(f'{host}-')}"
    return place


def clock(text: str) -> dt.time:
    """A time of day like 22:00.

    Raises:
        InputError: it is none.
    """
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        raise InputError(f"--start: {text!r} is no time of day; write it like 22:00")
    return dt.time(int(found[1]), int(found[2]))


def verdict(p: Prediction, wanted: Sequence[Goal] = (), start: dt.time | None = None) -> str:
    """The answer in a sentence, rounded as people read it: whether the first goal fits, how long, how fast, how sure.

    ``10 TB in 8 files does NOT fit within 8 h (0% of runs do): about 27 h (8 runs in 10: 23 to 34 h), at 830 Mb/s.``
    """
    files, size = sum(t.files for t in p.transfers), sum(t.payload_B for t in p.transfers)
    what = f"{units.show(size, 'B', digits=3)} in {files:,} file{'s' if files != 1 else ''}"
    if p.drawn is None:
        return f"{what}: at most {units.show(p.ceiling, 'B/s', digits=3)}, if everything unstated is perfect."
    goal = wanted[0] if wanted else None
    if goal is None:
        return f"{what}: {_how_long(p, start)}."
    does, verb = ("fits", "fit") if goal.kind == "deadline" else ("reaches", "reach")
    fits, asked = does if _fits(p, goal) else f"does NOT {verb}", goal.words.removeprefix("at least ")
    return f"{what} {fits} {asked} ({goal.probability(p):.0%} of runs do): {_how_long(p, start)}."


def _fits(p: Prediction, goal: Goal, least: float = _LIKELY) -> bool:
    """Whether a goal is met as likely as it has to be, or ``least`` where nobody says."""
    return goal.probability(p) >= (goal.required or least)


def _how_long(p: Prediction, start: dt.time | None = None, was: Prediction | None = None) -> str:
    """Time and rate with the interval, and the time that it was."""
    rate = p.throughput_Bps
    low, middle, high = (units.show(v, "B/s", digits=3) for v in (rate.p10, rate.p50, rate.p90))
    if p.drawn is None:
        return f"at most {middle}"
    if all(t.timed for t in p.problem.transfers):
        return f"about {middle} (8 runs in 10: {low} to {high})"
    took = np.quantile(p.drawn.seconds, (0.1, 0.5, 0.9), method="inverted_cdf")
    if start is None or took[2] == float("inf"):
        spread = [took[1], took[0], took[2]]
        whole = units.alike([*spread, *([] if was is None else [was.duration_s.p50])])
        half, quick, slow = units.alike(spread) if len({_unit(each) for each in whole}) > 1 else whole[:3]
        quick = quick.removesuffix(_unit(slow)).rstrip()
        now = f" instead of {whole[3]}" if was is not None else ""
        return f"about {half}{now} (8 runs in 10: {quick} to {slow}), at {middle}"
    quick, half, slow = (_end(float(v), start) for v in took)
    return f"there by {half} (8 runs in 10: {quick} to {slow}), at {middle}"


def _unit(shown: str) -> str:
    """The unit of a time as it is shown."""
    return shown.rpartition(" ")[2]


def _end(seconds: float, start: dt.time) -> str:
    """The time of day that a duration ends at."""
    whole = start.hour * 3600 + start.minute * 60 + seconds
    days, rest = divmod(whole, _DAY_S)
    later = f" on day {int(days) + 1}" if days else ""
    exact = f":{int(rest % 60):02d}" if seconds < _SOON_S else ""
    return f"{int(rest // 3600):02d}:{int(rest % 3600 // 60):02d}{exact}{later}"
