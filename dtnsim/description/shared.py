"""A transfer that several runs of its tool, or several hosts behind one name, share: one part for each of them.

Each part has its share of the files and is a transfer like any other. ``runs`` are on the same hosts, one after the
other on the next of the placed application cores; the hosts of a ``pool`` take the place of the one that an end names,
in turn. A striped transfer (GridFTP's ``stripe``) cuts every file, so that its hosts share one file too; so does a
task of Globus, which is one whatever servers it has, with files that are too few for them (its chunks). One whose
files go as an ``archive`` is three, one after the other: packed, sent and unpacked.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping as MappingABC
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dtnsim.components.base import place
from dtnsim.description import dataset
from dtnsim.description.dataset import Dataset
from dtnsim.description.host import Host
from dtnsim.description.hosts import MOST_HOSTS, twin
from dtnsim.description.transfer import TransferSpec, split_end
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping, mapping

MOST: Final = 64  #: runs that may share a transfer
_YES: Final = frozenset({"true", "True", "yes", "on"})  #: how a file says that something is so
_NO: Final = frozenset({"false", "False", "no", "off"})  #: and that it is not
_STRIPED: Final = frozenset({"gridftp"})  #: tools whose data movers may be on several hosts
_OF_TASK: Final = ("concurrency", "cc", "max_concurrency", "servers")  #: of a task of Globus, whatever servers it has


def shared_out(items: list[Any], hosts: MappingABC[str, Host]) -> tuple[list[Any], list[int]]:
    """(transfers, those that are shared once for each part; the number of each one's description)."""
    done: list[Any] = []
    origins: list[int] = []
    names: dict[str, list[str]] = {}
    for item, number in _archived(items, hosts):
        item = _counted(item, hosts)
        parts = _parts(item, hosts) if isinstance(item, Mapping) and ("runs" in item or "pool" in item) else [item]
        if len(parts) > 1:
            names[str(item["name"])] = [str(p["name"]) for p in parts]
        done += parts
        origins += [number] * len(parts)
    for part in done:
        if names and isinstance(part, Mapping) and isinstance(part.get("after"), list):
            part["after"] = [other for name in part["after"] for other in names.get(str(name), [name])]
    return done, origins


def uneven(parts: Iterable[tuple[str, TransferSpec]]) -> Iterator[str]:
    """That some hosts of a pool have more of a transfer than others, since those of its other end pair unevenly."""
    used: dict[tuple[str, str], Counter[str]] = {}
    for key, part in parts:
        for end, where in (("from", part.source_end), ("to", part.to)):
            used.setdefault((key, end), Counter())[split_end(where)[0]] += 1
    for (key, _), hosts in used.items():
        if max(hosts.values()) > min(hosts.values()):
            first = next(iter(hosts))
            more = f"{first} has {hosts[first]} of {hosts.total()} parts, {list(hosts)[-1]} {min(hosts.values())}"
            yield f"{key}: {more}: hosts of one end do not pair evenly with those of the other"


def _archived(items: list[Any], hosts: MappingABC[str, Host]) -> list[tuple[Any, int]]:
    """Transfers, those of an archive as three of them, each with the number of its description."""
    parts = [_steps(i, hosts) if isinstance(i, Mapping) and str(i.get("archive")) in _YES else [i] for i in items]
    last = {str(p[0]["name"]): str(p[-1]["name"]) for p in parts if len(p) > 1}
    step_ids = {id(step) for steps in parts if len(steps) > 1 for step in steps if step is not steps[1]}
    for item in (i for steps in parts for i in steps if id(i) not in step_ids) if last else ():
        if isinstance(item, Mapping) and isinstance(item.get("after"), list):
            item["after"] = [last.get(str(name), name) for name in item["after"]]
    return [(step, number) for number, steps in enumerate(parts) for step in steps]


def _steps(item: Mapping, hosts: MappingABC[str, Host]) -> list[Mapping]:
    """The archive sent, packed before and, but in a bucket, unpacked after; the files' bytes count once, as packed."""
    from dtnsim.physics.tools import tar_archive

    spot: dict[str, Any] = {**place(item, "archive"), "key": "transfer.archive"}
    if item.get("dataset") is None or "duration" in item:
        raise SpecError("needs files that are sent once", **spot, remedy="write a dataset and no duration")
    if {"runs", "pool"} & set(item):
        raise SpecError("makes one file, which runs and hosts do not share", **spot, remedy="leave runs and pool out")
    files = dataset.load(item["dataset"])
    made_B = float(tar_archive(files.files, files.directories, files.payload_B))
    sent = item.clone()
    sent["dataset"] = dataset.load({"files": 1, "size": f"{made_B:.0f} B"})
    pack, unpack = (item.without("via", "nics", "ports", "archive") for _ in range(2))
    for name, step, end, mode in (("pack", pack, "from", "c"), ("unpack", unpack, "to", "x")):
        step["name"], step["from"], step["to"] = f"{item['name']}-{name}", item[end], item[end]
        step["tool"] = mapping({"kind": Scalar("tar"), "mode": Scalar(mode)}, item.file, item.line)
    for step, before in ((sent, pack), (unpack, sent)):
        for key in ("start", "pause", "cached"):
            step.pop(key, None)
        step["after"], step["counted"] = [before["name"]], Scalar("false")
    alias, where = split_end(str(item["to"]))
    mount = hosts[alias].mount_of(where) if alias in hosts else None
    bucket = mount is not None and hosts[alias].volumes[mount].filesystem.kind == "s3"
    return [sent, pack, *([] if bucket else [unpack])]


def _counted(item: Any, hosts: MappingABC[str, Host]) -> Any:
    """A transfer that like hosts written once (``count``) share, unless it says itself who does."""
    if not isinstance(item, Mapping) or "pool" in item:
        return item
    ends = [split_end(str(item.get(key, "")))[0] for key in ("from", "to")]
    pool = Mapping(item.file, item.line)
    for alias in ends:
        if alias in hosts and hosts[alias].count > 1 and twin(alias, 2) in hosts:
            pool[alias] = [twin(alias, n) for n in range(2, hosts[alias].count + 1)]
    if not pool:
        return item
    return item.but("pool", pool, (item.file, item.line))


def _parts(item: Mapping, hosts: MappingABC[str, Host]) -> list[Mapping]:
    runs, pool = _runs(item), _pool(item, hosts)
    ends = {key: split_end(str(item.get(key, "")))[0] for key in ("from", "to")}
    choices = {key: [alias, *pool.get(alias, ())] for key, alias in ends.items()}
    for alias in pool:
        if alias not in ends.values():
            raise SpecError("is no end of this transfer", **place(item, "pool"), key="transfer.pool", value=alias)
    movers = max(len(c) for c in choices.values())
    whole = item.without("runs", "pool")
    count = runs * movers
    data = _shares(whole, count, movers)
    parts = []
    for n in range(count):
        part = whole.clone()
        for key, aliases in choices.items():
            alias, location = aliases[n % movers % len(aliases)], item.at(key)
            rest = str(item.get(key, "")).partition(":")[2]
            part.put(key, Scalar(f"{alias}:{rest}", *location), *location)
        if n:
            part["name"] = f"{item['name']}-{n + 1}"
        part.update(data[n])
        placed = [hosts[c[n % movers % len(c)]] for c in choices.values() if c[0] in hosts]
        cores = min((len(h.placement.application) for h in placed if h.placement.application), default=0)
        if n >= movers and cores:  # a further run is on the next application core
            part["core"] = Scalar(str((_whole_number(part.get("core")) + n // movers) % cores))
        parts.append(part)
    return parts


def _runs(item: Mapping) -> int:
    runs = item.get("runs", "1")
    if not 1 <= (count := _whole_number(runs)) <= MOST:
        remedy = f"write a number from 1 to {MOST}"
        raise SpecError("is no number of runs", **place(item, "runs"), key="transfer.runs", value=runs, remedy=remedy)
    return count


def _pool(item: Mapping, hosts: MappingABC[str, Host]) -> dict[str, list[str]]:
    pool = item.get("pool", {})
    where: dict[str, Any] = {**place(item, "pool"), "key": "transfer.pool"}
    if not isinstance(pool, MappingABC) or not all(isinstance(partners, list) for partners in pool.values()):
        raise SpecError("needs a host and those that share with it", **where, remedy="write pool: {dtn1: [dtn2, dtn3]}")
    pools = {str(alias): [str(o) for o in partners] for alias, partners in pool.items()}
    for alias, partners in pools.items():
        for name in (alias, *partners):
            if name not in hosts:
                raise SpecError("names an unknown host", **where, value=name, remedy=f"hosts: {', '.join(hosts)}")
        if len({alias, *partners}) <= len(partners) or len(partners) >= MOST_HOSTS:
            raise SpecError("names a host twice, or too many", **where, value=", ".join(partners))
    return pools


def _shares(item: Mapping, count: int, movers: int) -> list[dict[str, Any]]:
    """What each part has of the data, and of the tool's data movers where these are striped."""
    if item.get("dataset") is None or count == 1:
        return [{}] * count
    whole, tool = dataset.load(item["dataset"]), item.get("tool")
    kind = str(tool.get("kind")) if isinstance(tool, Mapping) else str(tool)
    stripes = _whole_number(tool.get("stripe")) or 1 if isinstance(tool, Mapping) and kind in _STRIPED else 1
    if kind == "globus" and movers > 1:
        options = tool if isinstance(tool, Mapping) else mapping({"kind": Scalar(kind)}, item.file, item.line)
        part = {key: Scalar(str(max(_whole_number(options[key]) // movers, 1))) for key in _OF_TASK if key in options}
        part_tool = mapping({**options, **part}, item.file, item.line)
        cut = whole if whole.files >= count or str(options.get("chunked")) in _NO else replace(
            whole, sizes_B=whole.sizes_B / movers, counts=whole.counts * movers, pieces=movers)  # fmt: skip
        return [{"dataset": d, "tool": part_tool} for d in _dealt(cut, count, item)]
    if stripes >= movers > 1 and isinstance(tool, Mapping):
        part_tool = tool.but("stripe", Scalar(str(max(stripes // movers, 1))))
        cut = replace(whole, sizes_B=whole.sizes_B / movers, pieces=movers)
        return [{"dataset": d, "tool": part_tool} for d in _dealt(cut, count // movers, item) for _ in range(movers)]
    return [{"dataset": d} for d in _dealt(whole, count, item)]


def _dealt(whole: Dataset, count: int, item: Mapping) -> list[Dataset]:
    """The files dealt out one after the other, the largest first."""
    if whole.files < count:
        where: dict[str, Any] = {**place(item, "dataset"), "key": "transfer.dataset"}
        remedy = "give more files, or fewer runs and hosts; globus, or gridftp with 'stripe', shares a file among hosts"
        has = "1 file for {} that share it" if whole.files == 1 else f"{whole.files} files for {{}} that share them"
        raise SpecError(f"has {has.format(count)}", **where, remedy=remedy)
    counts = np.zeros((count, len(whole.counts)), np.int64)
    turn = 0
    for group in reversed(range(len(whole.counts))):
        files = int(whole.counts[group])
        counts[:, group] = files // count
        counts[(turn + np.arange(files % count)) % count, group] += 1
        turn = (turn + files) % count
    if count == 1:
        return [whole]
    folders = [-(-whole.directories * int(mine.sum()) // whole.files) for mine in counts]  # rounded up
    return [
        replace(whole, sizes_B=whole.sizes_B[mine > 0], counts=mine[mine > 0], directories=directories)
        for mine, directories in zip(counts, folders, strict=True)
    ]


def _whole_number(raw: object) -> int:
    """A whole number as it was written; 0 for anything else, which those who read it afterwards refuse."""
    text = str(raw)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
