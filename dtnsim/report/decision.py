"""An answer as a decision: does it fit, what holds it, what to do, what that gains and costs, what to measure first.

Terminal, report and notebook say the same record.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dtnsim.components.filesystem import label_of
from dtnsim.composition.relief import tcp_of
from dtnsim.ground import units
from dtnsim.ground.records import Prediction, TransferPrediction
from dtnsim.ground.uncertainty import Remedy
from dtnsim.physics._arrays import quantile
from dtnsim.report import holds
from dtnsim.report.advice import LATE, may_choose, measured, of_others, option, path_of, typed
from dtnsim.report.how_long import how_long, resync
from dtnsim.steady import ordering, relieved
from dtnsim.steady.known import Assumed
from dtnsim.steady.ladder import Ladder
from dtnsim.steady.prediction import predict, without
from dtnsim.steady.reasons import key_of
from dtnsim.steady.scenarios import took

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.steady.goals import Goal

#: remedies that are answered with all their scenarios, until one helps
_TRIED: Final = 2
#: draws that tell whether many transfers are faster elsewhere at all
_FEW: Final = 32
#: numbers that move the answer most at its best, of which the first by its median is said
_RANKED: Final = 4
#: probability of a goal from which on nothing has to be done
_SURE: Final = 0.8
#: what a port carries beyond the rate of now, before it is worth planning for
_FULL: Final = 1.05
#: that a share was mounted for a transfer (`dtnsim.description.spoken_paths`)
_MOUNTED: Final = re.compile(r"is mounted on .* over (\w+)")
#: how long a station of a transfer in turns is at work
_PART: Final = re.compile(r"; (\d+% of the time)")
#: kinds of stations whose parts one may have more of
_PARTS: Final = ("hdd", "ssd", "tape", "nic", "ib", "hba", "sas")
#: kinds of stations that another tool may relieve
_BY_TOOL: Final = (*holds.OTHER_TOOL, "core", "cpu", "nfs", "smb", "s3")
#: what of a remedy costs nothing, by the kind of station, where the remedy says it
_FREE_OF_IT: Final = {
    "core": ("runs of the tool", "running more copies at once costs nothing; "),
    "s3": ("", "settings of the tool cost nothing; "),
    "tape": ("asked for", "asking in order costs nothing; "),
}
#: deadlines that a card asks for
_DEADLINES: Final = (
    (60.0, "1min"),
    (600.0, "10min"),
    (3600.0, "1h"),
    (28800.0, "8h"),
    (86400.0, "24h"),
    (604800.0, "7d"),
)
#: what a change costs, by how its key ends
_COSTS: Final = (
    (".loss", "nothing to buy: a fault that the network's operator finds"),
    (".buffer", "a switch or a setting of the network's operator; no price is known"),
    (".hpn", "nothing to buy: a program at both ends"),
    ("strips_window_scaling", "nothing to buy: a setting of the firewall"),
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What one decides by."""

    verdict: str  #: Whether it fits, how long, how fast, how sure.
    held: str  #: What holds the slowest transfer, for people, with the station's name.
    enough: bool  #: Whether the goal is met as it is.
    does: tuple[str, ...]  #: What to do: first in words, then as it is typed.
    gains: str  #: What comes of it; before and after, with their intervals, where it was answered.
    costs: str  #: Its price.
    others: tuple[str, ...]  #: Other changes that help as well.
    measure: tuple[str, ...]  #: What to find out first.
    better: Prediction | None  #: The answer with the change; None where nothing for nothing helps.

    @property
    def rows(self) -> list[tuple[str, tuple[str, ...]]]:
        """(label, texts) below the verdict."""
        action = "to speed up" if self.enough else "do this"
        words = self.does if self.better is None else self.does[:1]
        lines = self.does[len(words) :]
        rows = [("held by", (self.held,)), (action, words), ("gain", (self.gains,)), ("price", (self.costs,)),
                 ("type" if len(lines) > 1 else "to try it", lines), ("instead", self.others),
                 ("check first", self.measure)]  # fmt: skip
        return [(label, texts) for label, texts in rows if texts]

    @property
    def html(self) -> str:
        """The same as HTML."""
        from html import escape  # and its table of entities, which text does not need

        rows = (f"<dt>{label}</dt><dd>{'<br>'.join(map(escape, texts))}</dd>" for label, texts in self.rows)
        return f'<dl class="decision">{"".join(rows)}</dl>'


def decide(p: Prediction, wanted: Sequence[Goal] = (), start: dt.time | None = None) -> Decision:
    """The decision of an answer, by what holds the transfer that takes longest."""
    t = p.longest
    f, held = p.transfers.index(t), holds.bottleneck(p)
    enough = bool(wanted) and p.drawn is not None and all(goal.met(p, _SURE) for goal in wanted)
    says, tools = verdict(p, wanted, start), _by_another(p, f) if len(p.transfers) == 1 else []
    usual = holds.usual(p)
    ways = () if _until_last_start(p) else _distinct((*(usual.ways if usual is not None else ()), *_remedies(p, t)))
    # what can be typed comes first, unless another brings more than twice as much
    ranked = sorted(ways, key=lambda w: -w.ceiling_Bps * (2 if typed(p, w) else 1))[:_TRIED]
    helps = _helpful(p, ranked) or _helpful(p, _more_at_once(p, f, ways))
    helps.sort(key=lambda each: -_speedup(p, each[1]) * (2 if typed(p, each[0]) else 1))
    measure = _first(p, wanted, 1 if helps or len(p.transfers) > 1 else _TRIED)
    measure = tuple(text for text in measure if text.endswith(LATE)) or (() if enough else measure)  # a verdict's alone
    if helps:
        (way, better), *rest = helps
        others = [f"{_plain(p, w)} ({option(w)}): {_times(_speedup(p, then))}" for w, then in rest] + tools
        lines = typed(p, way)
        does = (_plain(p, way), *lines, f"(to try it: {option(way)})" if lines else f"with {option(way)}")
        costs = next((c for end, c in _COSTS if way.overrides[0].partition("=")[0].endswith(end)), _FREE)
        foreign = [name for name in of_others(p) if tcp_of(name, way.overrides)]
        costs += f"; on {foreign[0]} it is for those who run it" if foreign else ""
        return Decision(says, held, enough, does, _gain(p, better), costs, tuple(others), measure, better)
    does, gains, costs = _no_setting(p, f, () if enough else wanted)
    return Decision(says, held, enough, does, gains, costs, (), measure, None)


def _first(p: Prediction, wanted: Sequence[Goal], most: int) -> tuple[str, ...]:
    """What to find out first, with the median that each would give; of several values of one default the furthest.

    Of those that move the answer most at its best, those that move its median most.
    """
    furthest = {a.key: a for a in sorted(p.assumed, key=lambda a: a.moves)}
    far = sorted(furthest.values(), key=lambda a: a.moves)[::-1][:_RANKED]
    medians = p.assumed.medians(far).tolist() if isinstance(p.assumed, Assumed) else []
    median_Bps, least = p.throughput_Bps.p50, p.throughput_Bps.p50 * 1e-9
    moves = [max(abs(math.log(max(rate, least) / median_Bps)) for rate in rates) for rates in medians]
    first = sorted(range(len(moves)), key=lambda n: -moves[n])[:most]
    return tuple(measured(p, far[n], medians[n], wanted) for n in first)


def _remedies(p: Prediction, t: TransferPrediction) -> Sequence[Remedy]:
    """Changes against what holds a transfer; of many, where none is tried by itself, all that it takes at once."""
    if len(p.transfers) <= relieved.TRIED or not (sets := t.ladder[0].overrides):
        return t.ways
    return [Remedy(t.ladder[0].remedy, sets, t.ceiling)]


def _more_at_once(p: Prediction, f: int, ways: Sequence[Remedy]) -> list[Remedy]:
    """More at once of a single transfer, which may bring much in most runs and nothing at the ceiling."""
    if p.drawn is None or len(p.transfers) > 1 or _until_last_start(p):
        return []
    more = relieved.more_at_once(p.given, p.problem, f, holds.holder(p).kind)
    return [way for way in more if way.overrides not in {w.overrides for w in ways}]


def _helpful(p: Prediction, ways: Sequence[Remedy]) -> list[tuple[Remedy, Prediction]]:
    """Those of some changes by which the median rises, with the answers."""
    answers = ((way, _predicted_again(p, p.given.changed(way.overrides))) for way in ways)
    return [each for each in answers if _speedup(p, each[1]) > relieved.WORTH]


def _distinct(ways: Iterable[Remedy]) -> list[Remedy]:
    """Of ways that set the same keys the first, which is the best: less of the same is no other way."""
    first: dict[tuple[str, ...], Remedy] = {}
    for way in ways:
        first.setdefault(tuple(override.partition("=")[0] for override in way.overrides), way)
    return list(first.values())


_FREE: Final = "nothing to buy: a setting"
_NEVER: Final = "in no run"


def _plain(p: Prediction, way: Remedy) -> str:
    """What a change is, without the command that makes it."""
    return way.words.removesuffix(f": {lines[0]}") if (lines := typed(p, way)) else way.words


def _predicted_again(p: Prediction, changed: PathSpec, gone: frozenset[str] = frozenset()) -> Prediction:
    """Another path without the stations ``gone``, drawn as the answer was.

    Of many transfers as a few draws or the medians have it, if hardly faster.
    """
    drawn = p.drawn
    if drawn is None or len(p.transfers) > relieved.TRIED:
        medians = changed is not p.given  # whose draws would all have to be composed
        few = without(predict(changed, samples=0), gone) if medians else without(p, gone, first=_FEW)
        if drawn is None or _speedup(p, few) < (1 + relieved.WORTH) / 2:
            return few
    if gone:
        return without(p, gone, changed)
    return predict(changed, samples=len(drawn.rates_Bps), seed=drawn.seed, mean=drawn.mean)


def _speedup(p: Prediction, better: Prediction) -> float:
    """How many times as fast another answer is, in the median; where it is not drawn, of the ceilings."""
    if better.drawn is None or p.drawn is None:
        return better.ceiling / p.ceiling
    return better.throughput_Bps.p50 / float(quantile(p.drawn.total_Bps[: len(better.drawn.rates_Bps)], 0.5))


def _gain(p: Prediction, better: Prediction) -> str:
    """How much faster, and what then holds it."""
    then = holds.following(p, better)
    limit = f"Still held by {then}" if holds.is_same_limit(p, then) else f"Next limit: {then}"
    return f"{_times(_speedup(p, better))} as fast: {how_long(better, was=p)}. {limit}"


def _no_setting(p: Prediction, f: int, wanted: Sequence[Goal]) -> tuple[tuple[str, ...], str, str]:
    """What to do where no setting helps: words, what that would gain at most, where its price is."""
    t, path, late = p.transfers[f], path_of(p), _until_last_start(p)
    freed = t.ladder.freed() if isinstance(t.ladder, Ladder) and not late else None
    remedy, usual = relieved.remedy_of_tool(p, f), holds.usual_holder(p)
    if usual is not None and usual.remedy and not late:  # what holds most runs, whatever does at the medians
        t, freed, remedy = replace(t, bottleneck=usual), (p.given, frozenset({usual.station})), usual.remedy
    better = None if freed is None else _predicted_again(p, *freed)
    if t.files == 1:
        remedy = remedy.removesuffix(", or more files at once")
    does = tuple(filter(None, (remedy, *_by_another(p, f)))) or ("nothing that is known",)
    more = 1.0 if better is None else _speedup(p, better)
    options = _goal_options(p, t, more, wanted)
    phrase, costs = _FREE_OF_IT.get(t.bottleneck.kind, ("", ""))
    free = costs if phrase in remedy else ""
    short = _short_of(p, wanted, more)
    prefix = f"{free}{'' if short or relieved.NO_MORE in remedy else _one_more(p, t)}" or "not known here: "
    see = _FREE if "/sys/" in remedy else f"{prefix}'dtnsim plan {path} {options}' says what to buy"
    if late:
        shown = units.show(late, "s", digits=2)
        return does, f"less than a tenth faster: the last transfer begins {shown} after the first", see
    if better is None:
        return does, "not known: nothing else of the path has a limit", see
    next_limit, part = holds.following(p, better), _PART.search(better.longest.bottleneck.reason)
    next_limit += f", {part[1]}" if part else ""  # phases take turns: it is full in some alone
    if more < relieved.WORTH:
        return does, f"less than a tenth faster, hardly worth it alone: next, {next_limit}{_default_gain(p, t)}", see
    if t.bottleneck.kind in holds.OTHER_TOOL:
        see = "nothing to buy: another tool, or other options"
    return does, f"up to {_times(more)} as fast{_time_taken(p, better)}{short}. Next limit: {next_limit}", see


def _until_last_start(p: Prediction) -> float:
    """Seconds from the first start to the last one, where that alone keeps the whole from being faster; 0 elsewhere."""
    transfers = p.problem.transfers
    late = max(t.start_s for t in transfers) - min((t.start_s for t in transfers if not t.after), default=0.0)
    return late if p.duration_s.p50 < relieved.WORTH * late and not any(t.timed for t in transfers) else 0.0


def _by_another(p: Prediction, f: int) -> list[str]:
    """Where to look for another tool, where one may relieve a transfer."""
    by_tool = p.transfers[f].bottleneck.kind in _BY_TOOL and may_choose(p.given, f)
    return [f"another tool: 'dtnsim tools {path_of(p)}'"] if by_tool else []


def _next(p: Prediction, t: TransferPrediction, more: float) -> float:
    """A rate to plan for: of a full port the most that it carries, or twice the rate where it carries that already."""
    rate_Bps = p.throughput_Bps.p50
    if t.bottleneck.kind not in ("nic", "ib") and not relieved.port_of(t.bottleneck):
        return rate_Bps * min(max(more, 1.2), 2.0)
    if p.ceiling < rate_Bps * _FULL:
        return rate_Bps * 2
    last = 10.0 ** (math.floor(math.log10(p.ceiling * 8)) - 1)  # two digits, and no more than there is
    return math.floor(p.ceiling * 8 / last) * last / 8


def _default_gain(p: Prediction, t: TransferPrediction) -> str:
    """What a default of the part that holds a transfer gives where all that have it have another value."""
    key = key_of(p.problem, next(s for s in p.problem.stations if s.name == t.bottleneck.station))
    defaults = (a for a in p.assumed if key and f"{key}.filesystem." in f"{a.key} " and not a.ranges)
    best = max(defaults, key=lambda a: a.at_low, default=None)
    if best is None or best.at_low < relieved.WORTH:
        return ""
    option = best.key.partition(" ")[0].rstrip(",").rpartition(".")[2]
    return f"; with {option} {best.low} at all of them {_times(best.at_low)} as fast"


def _time_taken(p: Prediction, better: Prediction) -> str:
    """The time that another answer takes."""
    if p.drawn is None or all(t.timed for t in p.problem.transfers):
        return ""
    return f": about {units.in_one_unit([took(each.drawn.seconds).p50 for each in (p, better) if each.drawn])[1]}"


def _short_of(p: Prediction, wanted: Sequence[Goal], factor: float) -> str:
    """That even so many times the rate meets no goal that is asked for."""
    rate, took = p.throughput_Bps.p50 * factor, p.duration_s.p50 / factor
    missed = next((g for g in wanted if (rate < g.value if g.kind == "target" else took > g.value)), None)
    return "" if missed is None else f", and alone NOT enough for {missed.words.removeprefix('at least ')}"


def _goal_options(p: Prediction, t: TransferPrediction, more: float, wanted: Sequence[Goal]) -> str:
    """The first goal as options of `plan`; without one a rate, or of a re-sync, whose rate no wire has, a time."""
    size_B = sum(each.payload_B for each in p.transfers)
    move = f"--move {_short(size_B, 'B')} --within "
    for goal in wanted[:1]:
        return f"--target {_short(goal.value, 'B/s')}" if goal.kind == "target" else move + _short(goal.value, "s")
    rate = _next(p, t, more)
    return move + _short(size_B / rate, "s", 2) if resync(p) else f"--target {_short(rate, 'B/s', 2)}"


def _short(value: float, unit: str, digits: int = 3) -> str:
    """A number as an option takes it."""
    return units.show(value, unit, digits=digits).replace(" ", "")


def _one_more(p: Prediction, t: TransferPrediction) -> str:
    """What one more of the parts that hold a transfer costs, where the library has a price for the very part."""
    named, kind, label = t.bottleneck.host, t.bottleneck.kind, t.bottleneck.component.partition(".")[0]
    if port := relieved.port_of(t.bottleneck):
        named, kind, label = port, "nic", ""
    host = p.given.hosts.get(named)
    if host is None or kind not in _PARTS:
        return ""
    mounts = [v for mount, v in host.volumes.items() if label_of(mount) == label]
    cards = {**host.nics, **host.hbas}
    part: Any = next(iter(cards.values()), None) if kind == "nic" and not label else cards.get(label)
    part = part or next((v.filesystem if kind == "tape" else v.array for v in mounts), None)
    while getattr(part, "of", None) is not None:
        part = part.of
    price = getattr(part, "price", None)
    return "" if price is None else f"one more {part.part} was {price.value} in {price.date}; "


def _times(factor: float) -> str:
    """A factor as people say it."""
    return f"{factor:.2g} times" if factor < 100 else f"{factor:.0f} times"


def verdict(p: Prediction, wanted: Sequence[Goal] = (), start: dt.time | None = None) -> str:
    """The answer in a sentence, rounded as people read it: whether the first goal fits, how long, how fast, how sure.

    ``10 TB in 8 files does NOT fit within 8 h (0% of runs do): about 27 h (8 runs in 10: 23 to 34 h), at 830 Mb/s.``
    """
    files, size = ordering.moved(p)
    used = [t.tool for t in p.given.transfers]
    tools = {"zfs send" if getattr(tool, "packer", "") == "zfs" else tool.kind for tool in used} - {"program"}
    by = f" by {(tools == {'cp'} and _called(p)) or next(iter(tools))}" if len(tools) == 1 else ""
    new = parts.pop() if len(parts := {ordering.sends(tool) for tool in used}) == 1 else ""
    amount = f"{units.show(size, 'B', digits=3)} in {files:,} file{'s' if files != 1 else ''}{by}{new}"
    if p.drawn is None:
        return f"{amount}: at most {units.show(p.ceiling, 'B/s', digits=3)}, if everything unstated is perfect."
    goal = wanted[0] if wanted else None
    if goal is None:
        return f"{amount}: {how_long(p, start)}."
    does, verb = ("fits", "fit") if goal.kind == "deadline" else ("reaches", "reach")
    met, likely, goal_words = goal.fits(p), goal.probability(p), goal.words.removeprefix("at least ")
    says = does if met else f"does NOT {verb}"
    unsure = "probably " if goal.required is None and met and likely < _SURE else ""
    only = "" if met or share(likely) == _NEVER else "only "
    return f"{amount} {unsure}{says} {goal_words} ({only}{share(likely)}): {how_long(p, start)}."


def _called(p: Prediction) -> str:
    """What people call a copy from or to a share that was mounted for it (``tool: smb``); nothing for others."""
    protocols = {match[1] for warning in p.warnings if (match := _MOUNTED.search(warning))}
    return f"a copy over {protocols.pop().upper()}" if len(protocols) == 1 else ""


def share(probability: float) -> str:
    """A share of the runs that were drawn, as people say it."""
    rounded = f"{probability:.0%}"
    return {"0%": _NEVER, "100%": "in every run"}.get(rounded, f"in {rounded} of runs")


def deadline(p: Prediction) -> str:
    """A deadline that one may ask about."""
    return next((text for seconds, text in _DEADLINES if p.duration_s.p50 <= seconds), "30d")
