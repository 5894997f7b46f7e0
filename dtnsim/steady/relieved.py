"""Remedies that can be typed as commands or settings, each tried on the path, with the rate that it gives."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from dtnsim.composition import relief
from dtnsim.description.host import Host
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import at_once, split_end, typed
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Bottleneck, Prediction, Problem, Rung, Station, TransferPrediction
from dtnsim.ground.term import without_words
from dtnsim.ground.uncertainty import Change, Raised, Remedy
from dtnsim.steady import solve, timed
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.reasons import opened_by
from dtnsim.tools.gridftp import Globus

TRIED: Final = 4  #: transfers up to which changes are tried
WORTH: Final = 1.1  #: factor from which on a change is worth a word
_HELPS: Final = 1.002  #: factor from which on a change is kept if none is worth a word
#: steps in which smaller ones are tried, down to this part, and what a window has beyond what its rate needs
_STEP: Final = 4.0
_SMALLEST: Final = 1e-3
_SPARE: Final = (1.02, 1.1, 1.3)
#: what `composition.transport` says of the place that holds a TCP connection: a host's port, or a segment
_PLACE: Final = re.compile(r"the narrowest place is (the port of )?([^,:(\s]+)")
#: what `dtnsim.steady.reasons` asks of an array of the path, and what is said where more drives were tried
_ARRAY: Final = re.compile(r"more or faster drives \((hosts\.([^.]+)\.volumes\.(.+)\.array)\)")
NO_MORE: Final = "; twice as many bring less than a tenth"
_REACHED: Final = 1 - 1e-6  #: share of a rate that counts as reaching it
_SAME: Final = 1.02  #: how much more than a connection its narrowest place may allow
#: kinds of stations that more streams, files or processes at once can relieve
_BY_MORE: Final = frozenset({
    "core", "tcp", "window", "workers", "latency", "transport", "nfs", "s3", "smb",
    "cephfs", "lustre", "gpfs", "beegfs", "daos", "weka", "vast", "metadata",
})  # fmt: skip
_MORE: Final = 4
#: kinds of stations that seek from one file to another, which fewer at once can relieve
_BY_FEWER: Final = frozenset({"hdd", "unknown"})
#: what relieves a core by more work at once (`dtnsim.steady.reasons`), and what stands for that of one file
_MORE_CORES: Final = " or the work on more cores: more files, or more runs of the tool, at once"
_ONE_FILE: Final = ("more files, or more runs of the tool, at once", "the file in parts, by several runs of the tool")
#: multiples of the present number at once that are tried, up to a most
_MULTIPLES: Final = (2, 4, 8)
_MOST_AT_ONCE: Final = 64
#: files at once that an endpoint of Globus may be given in the place of what the service chooses, and streams of each
_GLOBUS: Final = (1, 4, 8, 16)
_GLOBUS_STREAMS: Final = 4

#: by kind, what a mount has at once, numbers that are tried, how they are typed (the number, and the mount, beside its
#: other options): nfs(5) and mount_nfs(8) take 16 connections at most; SMB clients take 4 channels without being asked
#: twice (Microsoft, Set-SmbClientConfiguration: 4 connections a card with RSS); programs that show a bucket as a folder
#: have 5 to 20 requests for a file
_MOUNTED: Final = "umount {1}; {2} ... {1}"
_NCONNECT: Final = _MOUNTED.replace("{2}", "mount -o nconnect={0}")
_AT_ONCE: Final[dict[str, tuple[str, tuple[int, ...], dict[str, str]]]] = {
    "nfs": ("nconnect", (4, 16), {"linux": f"{_NCONNECT}  # Linux 5.3 or later", "freebsd": _NCONNECT}),
    "smb": ("channels", (4,), {
        "linux": _MOUNTED.replace("{2}", "mount -o multichannel,max_channels={0}"),
        "windows": "Set-SmbClientConfiguration -EnableMultiChannel $true -ConnectionCountPerRssNetworkInterface {0}",
    }),
    "s3": ("concurrency", (16, 64), {"linux": _MOUNTED.replace("{2}", "s3fs -o parallel_count={0}")}),
}  # fmt: skip

RateOf = Callable[[Sequence[str]], float]


def remedies(path: PathSpec, problem: Problem, f: int, t: TransferPrediction, rate_of: RateOf) -> tuple[Remedy, ...]:
    """Remedies for the bottleneck of transfer ``f``, the best first; only those that bring something.

    Args:
        problem: The composed transfers that run together, with only those changes that help.
        t: The transfer's answer.
    """
    here = [other.name for other in problem.transfers].index(t.name)
    station = next((s for s in problem.stations if s.name == t.bottleneck.station), None) or opened_by(problem, here)
    tried = [(words, o, rate_of(o)) for words, o in _tried(path, problem, f, t.bottleneck.kind, station)]
    remedies = (Remedy(*each) for each in tried if each[2] > WORTH * t.ceiling)
    return tuple(sorted(remedies, key=lambda way: -way.ceiling_Bps))


def more_at_once(path: PathSpec, problem: Problem, f: int, kind: str) -> list[Remedy]:
    """Ways to do more at once that may relieve transfer ``f`` of a kind of station; their gain is not known."""
    return [Remedy(words, overrides, math.nan) for words, overrides in _tried(path, problem, f, kind, None)]


def remedy_words(prediction: Prediction, f: int) -> str:
    """The remedy of transfer ``f`` in words, or that not even removing its limit would bring a tenth."""
    t = prediction.transfers[f]
    then, remedy = next_limit(prediction, t), remedy_of_tool(prediction, f)
    station = next((u.station for u in prediction.stations if u.station.name == t.bottleneck.station), None)
    typed = station is not None and station.changes and all(change.overrides for change in station.changes)
    if then is not None and not t.ways and (typed or then.throughput_Bps < WORTH * t.ceiling):
        without = units.show(then.throughput_Bps, "B/s")
        return f"no single change by a tenth: without this limit the ceiling is {without}, where {then.station} holds"
    if not remedy or then is None:
        return remedy
    return f"{remedy}; ceiling without this limit: {units.show(then.throughput_Bps, 'B/s')}"


def remedy_of_tool(prediction: Prediction, f: int) -> str:
    """The remedy of transfer ``f`` in the terms of its tool.

    More at once is left out if it was tried and brings nothing, or if runs lock each other out; a single file is sent
    in parts.
    """
    t, path = prediction.transfers[f], prediction.given
    remedy, more = _drives(prediction, f), _MORE_CORES if path is not None else ""
    if not more or more not in remedy:
        return remedy
    tool, key = path.transfers[f].tool, path.transfer_key(f)
    if t.files == 1 and not tool.locks:
        return remedy.replace(*_ONE_FILE)
    tried = len(prediction.transfers) <= TRIED and any(one.number > one.now for one in counts(path, f, [key]))
    return remedy.replace(more, "") if tool.locks or (tried and not t.ways) else remedy


def _drives(prediction: Prediction, f: int) -> str:
    """The remedy, without more drives if twice as many would be no faster (one reader waits for each seek)."""
    t, path = prediction.transfers[f], prediction.given
    remedy, match = t.bottleneck.remedy, _ARRAY.search(t.bottleneck.remedy)
    if path is None or match is None or len(prediction.transfers) > TRIED:
        return remedy
    key, host, mount = match.groups()

    def rate_of(changes: Sequence[str]) -> float:
        return rate_with(path, changes, f, solve.matrices)

    array = path.hosts[host].volumes[mount].array if host in path.hosts else None
    disks, groups = getattr(array, "disks", None), getattr(array, "groups", 0)
    if not isinstance(disks, int) or not 0 < rate_of([f"{key}.disks={2 * disks}"]) < t.ceiling * WORTH:
        return remedy
    helps = rate_of([f"{key}.groups={2 * groups}", f"{key}.disks={disks // 2}"]) > t.ceiling * WORTH
    better = "more groups of fewer drives, or faster ones, as flash" if helps else "faster drives, as flash"
    return remedy.replace(match[0], f"{better} ({key}){NO_MORE}")


def next_limit(prediction: Prediction, t: TransferPrediction) -> Rung | None:
    """The next bottleneck of a transfer once its present one is gone.

    The bottleneck link of a TCP connection is also a station; the two count as one.
    """
    place = _PLACE.search(t.bottleneck.reason)
    same = place[2] if place else ""
    ports = ("nic", "ib")
    cards = {u.station.name for u in prediction.stations if u.station.kind in ports} if place and place[1] else set()
    for rung in islice(t.ladder, 1, None):
        port = _PLACE.search(rung.reason) if t.bottleneck.kind in ports else None
        if port and port[1] and port[2] == t.bottleneck.host:  # the same port, as a connection's narrowest place
            continue
        mine = rung.station in cards and rung.station.startswith(f"{same}.")
        if not place or not (mine or (not place[1] and rung.station == f"network.{same}")):
            return rung
    return None


def port_of(bottleneck: Bottleneck) -> str:
    """The host whose port is the bottleneck link of a TCP connection; empty if it is none."""
    place = _PLACE.search(bottleneck.reason) if bottleneck.kind == "tcp" else None
    return place[2] if place and place[1] else ""


def tried(problem: Problem, station: Station, now_Bps: float, rate_of: RateOf, streams: str = "streams") -> Station:
    """A station with the changes that are worth a word, the best first, with buffers no larger than needed.

    Args:
        station: The station.
        now_Bps: Rate of the transfer that it holds.
        streams: What its tool calls more streams.
    """
    candidates: list[tuple[float, Change]] = []
    for change in station.changes:
        overrides = tuple(path_key(problem, o) for o in change.overrides)
        rate = rate_of(overrides) if overrides else math.inf
        if rate <= now_Bps * _HELPS:
            continue
        if overrides and change.buffers:
            change = _least_buffers(change.buffers, rate, lambda buffers: rate_of(relief.raised(buffers).overrides))
        elif not overrides:  # what nobody could try comes last
            rate, change = 0.0, change._replace(words=re.sub(r"\bstreams\b", streams, change.words))
        candidates.append((rate, change))
    candidates.sort(key=lambda each: -each[0])
    worth = [each for each in candidates if not each[1].overrides or each[0] > now_Bps * WORTH]
    changes = tuple(change for _, change in worth or candidates)
    return replace(station, changes=changes, remedy="; or ".join(change.words for change in changes))


def streams_of(path: PathSpec | None, f: int) -> str:
    """What a transfer's tool calls more streams: files at once, or another tool, if it has none."""
    if path is None or f >= len(path.transfers) or (tool := path.transfers[f].tool).streams_option:
        return "streams"
    return "files at once" if tool.files_option else "streams (of another tool: this one has none)"


def _least_buffers(buffers: tuple[Raised, ...], rate: float, rate_of: Callable[[Sequence[Raised]], float]) -> Change:
    """The smallest buffers with which the transfer still reaches a rate, found by proportion.

    The first part that no longer gives the rate is held by its window, so that it says what the rate needs.
    """
    part = 1.0

    def cut(part: float) -> tuple[Raised, ...]:
        return tuple(b._replace(size_B=b.size_B * part) for b in buffers)

    while part > _SMALLEST:
        less = rate_of(cut(part / _STEP))
        if less < rate * _REACHED:
            needed = (min(part / _STEP * rate / max(less, 1e-300) * spare, part) for spare in _SPARE)
            part = next((p for p in needed if p == part or rate_of(cut(p)) >= rate * _REACHED), part)
            break
        part /= _STEP
    smaller = cut(part)
    return relief.raised(
        [b for b in smaller if relief.mib(b.size_B) != relief.mib(b.now_B) and b.size_B > b.now_B] or smaller
    )


def narrowest(
    problem: Problem, m: Matrices, f: int, connection: Station, kinds: Collection[str], *, times: float = _SAME
) -> Station | None:
    """The station of some kinds that a link-limited connection fills by itself; None if something else binds it.

    Args:
        connection: Station of the connection.
        kinds: Kinds of stations that are asked about.
        times: How much more than the connection's rate it may allow.
    """
    visited, demand = m.total.row_entries(f)
    cost = dict(zip(visited.tolist(), demand[0].tolist(), strict=True))
    allow = {k: float(m.capacity[0, k]) / c for k, c in cost.items() if c > 0 and k < len(problem.stations)}
    limit = next((x for k, x in allow.items() if problem.stations[k].name == connection.name), np.inf)
    places = [(x, k) for k, x in allow.items() if problem.stations[k].kind in kinds and np.isfinite(x)]
    least, k = min(places, default=(np.inf, -1))
    return problem.stations[k] if least <= limit * times else None


def rate_with(
    path: PathSpec, overrides: Sequence[str], f: int, arrays: Callable[[Problem], Matrices], number: int | None = None
) -> float:
    """Rate of transfer ``f`` while all run, with a change [B/s]; None if the change cannot be made.

    Args:
        overrides: The change.
        f: Number of the transfer among those that are laid out.
        arrays: How the changed path is laid out.
        number: Its number in the path, by which its parts are found where the change makes several runs of it.
    """
    try:
        with without_words():
            changed = path.changed(list(overrides))
            problem = timed.composer(changed, Draw()).problem()
    except DtnsimError:
        return 0.0
    if number is not None and len(changed.transfers) > len(path.transfers):
        rates, key = solve.solve(solve.matrices(problem)).rate[0].tolist(), path.transfer_key(number)
        return math.fsum(rate for n, rate in enumerate(rates) if changed.transfer_key(n) == key)
    return float(solve.solve(arrays(problem)).rate[0, f])


def _tried(
    path: PathSpec, problem: Problem, f: int, kind: str, station: Station | None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for change in station.changes if station is not None else ():
        if change.overrides:
            yield change.words, tuple(path_key(problem, o) for o in change.overrides)
    tool = path.transfers[f].tool
    alike = list(dict.fromkeys(path.transfer_key(n) for n, t in enumerate(path.transfers) if t.tool == tool))
    every = list(counts(path, f, alike)) if kind in _BY_MORE | _BY_FEWER else []
    more = {one.what: one for one in every if one.now < one.number <= one.now * _MORE and kind in _BY_MORE}
    fewer = [one for one in every if one.number == 1 < one.now and kind in _BY_FEWER]
    for one in (*more.values(), *fewer):
        words = f"{'more' if one.number > 1 else 'fewer'} at once: {one.line}"
        if one.line.startswith("#"):
            words = one.line.removeprefix("# ")
        elif "#" in one.line:  # told to both ends, in a line as wide as two screens
            words = f"{one.number} file{'s'[: one.number - 1]} at once, set at the endpoints"
        yield words, one.overrides
    link, option = (tool.ssh, "ssh.hpn") if hasattr(tool, "ssh") else (tool, "hpn")
    if kind == "window" and getattr(link, "hpn", True) is False:
        yield "HPN-SSH at both ends, whose window follows TCP's", tuple(f"{key}.tool.{option}=true" for key in alike)
    if kind in ("workers", "latency") and getattr(tool, "pp", True) is False:  # commands ahead (globus-url-copy -pp)
        yield f"commands ahead at once: {typed(tool, 'pp')}", tuple(f"{key}.tool.pp=true" for key in alike)
    for end in (path.transfers[f].source_end, path.transfers[f].to) if kind in _BY_MORE else ():
        host, mount = path.hosts[split_end(end)[0]], path.hosts[split_end(end)[0]].mount_of(split_end(end)[1])
        for one in mounted(host, [mount] if mount is not None else []):
            noun = one.what.replace("nconnect", "connections").replace("concurrency", "requests")
            yield f"{one.number} {noun} at once: {one.line}", one.overrides


class Count(NamedTuple):
    """A number of files, streams or runs at once that can be tried."""

    what: str  #: Of what.
    #: How many, and how many there are now.
    number: int
    now: int
    line: str  #: What to type.
    overrides: tuple[str, ...]  #: ``key=value`` of it.


def counts(path: PathSpec, f: int, keys: Sequence[str]) -> Iterator[Count]:
    """Other numbers of files, streams and runs at once for transfer ``f`` (at ``keys``) and for those like it."""
    transfer, tool = path.transfers[f], path.transfers[f].tool
    for _, name, current in at_once([transfer]):
        more = {current * n for n in _MULTIPLES if current * n <= _MOST_AT_ONCE}
        for value in sorted(more | ({1, current // 2} if current > 1 else set())):
            line = typed(tool, name, value)
            label = line.removesuffix(str(value)).split()[-1].removeprefix("default.s3.").rstrip(":")
            yield Count(label, value, current, line, tuple(f"{key}.tool.{name}={value}" for key in keys))
    desk = any(path.hosts[split_end(end)[0]].desk for end in (transfer.source_end, transfer.to))
    if isinstance(tool, Globus) and not tool.is_personal(desk=desk):
        streams, most = tool.parallelism or _GLOBUS_STREAMS, tool.max_parallelism
        movers = sum(path.transfer_key(n) == keys[0] for n in range(len(path.transfers)))
        for files in (each * movers for each in _GLOBUS):
            line = (
                f"globus-connect-server endpoint update --network-use custom --preferred-concurrency {files} "
                f"--max-concurrency {files} --preferred-parallelism {streams} --max-parallelism {most}   # both ends"
            )
            names = ("concurrency", "max_concurrency")
            overrides = tuple(f"{key}.tool.{name}={files}" for key in keys for name in names)
            current = movers * (tool.concurrency or tool.limits(desk=desk)[0] // 2)
            yield Count("network use of the endpoints", files, current, line, overrides)
    # what a mount moves goes over its own connections, however many read and write it
    if tool.locks or tool.files_option or transfer.timing() is not None or path.workload is not None or path.programs:
        return
    written = [path.transfer_key(n) for n in range(len(path.transfers))]
    if split_end(transfer.source_end)[0] == split_end(transfer.to)[0] or any(written.count(key) > 1 for key in keys):
        return
    files = min(t.dataset.files if t.dataset is not None else 0 for t, key in zip(path.transfers, written, strict=True)
                if key in keys)  # fmt: skip
    for count in (2, 4):
        if count <= files:
            line = f"# start {tool.kind} {count} times, each with its share of the files"
            yield Count("runs at once", count, 1, line, tuple(f"{key}.runs={count}" for key in keys))


def mounted(host: Host, mounts: Iterable[str]) -> Iterator[Count]:
    """More connections, channels or requests at once for a host's mounts, as far as its system offers them."""
    for mount in mounts:
        option, counts, typed = _AT_ONCE.get((system := host.volumes[mount].filesystem).kind, ("", (), {}))
        for count in counts if host.system in typed else ():
            if count > (current := getattr(system, option)):
                key, line = f"hosts.{host.name}.volumes.{mount}.filesystem", typed[host.system].format(count, mount)
                yield Count(f"{option} of {mount}", count, current, line, (f"{key}.{option}={count}",))


def path_key(problem: Problem, override: str) -> str:
    """An override such as ``network.wan.loss=0`` with the segment's key instead of its station's name."""
    name = max((n for n in problem.keys if override.startswith(f"{n}.")), key=len, default="")
    return problem.keys[name] + override.removeprefix(name) if override.startswith("network.") and name else override
