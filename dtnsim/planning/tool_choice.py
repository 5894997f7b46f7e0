"""Which tool, with which options: each tool that can serve a transfer's ends with its best options, and tar first.

A tool says how people use it and which options are worth trying (`Tool.usages`). Options are chosen one after the other
by the ceiling: the usual value, unless another one gives more. What comes out is predicted in full, by the same draws,
so that a row is what `predict` says of its setting, and how often a row is the best is counted over the draws.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.components.base import find_kind, kinds
from dtnsim.composition.compose import run_together
from dtnsim.composition.resolved_transfer import end_of
from dtnsim.description.dataset import load as dataset
from dtnsim.description.transfer import split_end
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError, InputError
from dtnsim.planning import swept
from dtnsim.steady.prediction import predict
from dtnsim.tools.plan import Tool, Usage

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.ground.records import Interval, Prediction

#: relative difference of durations that is none
_SAME: Final = 1e-9
#: gain below which an option stays as it usually is, and less of one is taken
_GAIN: Final = 0.03
#: times as long as the best below which a draw counts as good as the best
_AS_GOOD: Final = 1.05
#: part of a duration that has to go before a tool is worth a change
_WORTH: Final = 0.9
#: mean size of files below which an archive of them is tried, and the least number of them
_SMALL_B, _MANY = 16e6, 200
#: what is there wherever files are moved already
_READY: Final = ("", "ssh", "the bucket's keys")
#: options that say something of the data or the hosts: a usage of the path's own tool keeps them
_OF_DATA: Final = ("changed", "literal", "ratio", "version")
#: options whose value is typed otherwise than a path file has it
_TYPED: Final = {"aes-gcm": "aes128-gcm@openssh.com", "chacha20-poly1305": "chacha20-poly1305@openssh.com"}


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to move the files, and what it would do on a path.

    Attributes:
        name: What it is called.
        line: What to type; SRC, DST and HOST are the folders and the far host.
        needs: What has to be there.
        lacks: What it does not do that others do.
        options: The tool as a path file has it; empty of one that takes several transfers.
        prediction: What it would do.
        own: Whether the path has it so.
        best: Share of the draws in which nothing is more than 5 % faster; 0 without draws.
    """

    name: str
    line: str
    needs: str
    lacks: str
    options: dict[str, Any]
    prediction: Prediction
    own: bool = False
    best: float = 0.0

    @property
    def duration_s(self) -> Interval:
        """How long it takes, all its steps one after the other [s]."""
        return self.prediction.duration_s

    @property
    def held_by(self) -> str:
        """Why it is no faster."""
        return self.prediction.bottleneck.reason


@dataclass(frozen=True, slots=True)
class Refused:
    """A way that cannot serve the transfer, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Another tool: its name, what to type, what it needs that need not be there, and ``key=value`` of the path."""

    name: str
    line: str
    needs: str
    override: str


def choose(
    spec: PathSpec, samples: int, seed: int = 1, have: Collection[str] = ()
) -> tuple[list[Choice], list[Refused]]:
    """The first transfer of a path by its own tool, by every other, the fastest first, and those that cannot do it.

    Args:
        spec: The path.
        samples: Draws behind each.
        seed: Of the draws.
        have: Kinds of tools that are there; empty: all.

    Raises:
        InputError: a kind that is none, or none of the tools can do it.
    """
    unknown = [kind for kind in have if kind not in kinds() or not issubclass(find_kind(kind), Tool)]
    if unknown:
        known = ", ".join(kind for kind, _ in _usages())
        raise InputError(f"--have: {unknown[0]!r} is no tool; write some of {known}")
    found, refused = [], []
    own = spec.transfers[0].tool
    if own.tool_class != "test":
        found.append(Choice(_own(own), "", "", "", {}, predict(_first(spec), samples=samples, seed=seed), own=True))
    wanted = leads(spec)
    for kind, usage in _usages():
        if usage.leads != wanted or (have and kind not in have):
            continue
        try:
            options = {"name": kind, **_best(spec, kind, usage), **_of_data(own, kind)}
            made = predict(_first(spec.changed([setting(options, spec.transfer_key(0))])), samples=samples, seed=seed)
        except DtnsimError as error:
            refused.append(Refused(usage.name, str(error)))
            continue
        if kind == own.kind and abs(made.duration_s.p50 / found[0].duration_s.p50 - 1) < _SAME:
            continue
        found.append(Choice(usage.name, _typed(usage, options), usage.needs, usage.lacks, options, made))
    if not [c for c in found if not c.own]:
        raise InputError(f"none of the tools can do this transfer: {refused[0].why}" if refused else "no tool is left")
    found.sort(key=lambda c: c.duration_s.p50)
    found += _archived(spec, found, samples, seed)
    return sorted(_rated(found), key=lambda c: (not c.own, c.duration_s.p50)), refused


def quickest(spec: PathSpec, *, ready: bool) -> Suggestion | None:
    """The tool of another kind that is fastest at the ceiling; None where no other can serve the first transfer.

    All are tried with the usual value of each option and with the last one, and the best of them by all that is worth
    trying.

    Args:
        spec: The path.
        ready: Whether it may need nothing but what is there wherever files are moved.
    """
    transfer, wanted, tried = spec.transfers[0], leads(spec), []
    if transfer.dataset is None or transfer.timing() is not None or transfer.tool.tool_class == "test":
        return None
    for kind, usage in _usages():
        if kind == transfer.tool.kind or usage.leads != wanted or (ready and usage.needs not in _READY):
            continue
        for end in (0, -1) if usage.tries else (0,):
            options = usage.with_options({name: values[end] for name, values in usage.tries.items()})
            with suppress(DtnsimError):
                tried.append((_with(spec, kind, options), kind, usage))
    run_together(path for path, _, _ in tried)
    rates: list[tuple[float, str, Usage]] = []
    for path, kind, usage in tried:
        with suppress(DtnsimError):
            rates.append((float(swept.rates(path).rate_Bps[0]), kind, usage))
    if not rates:
        return None
    _, kind, usage = max(rates, key=lambda r: r[0])
    options = {"name": kind, **_best(spec, kind, usage)}
    needs = "" if usage.needs in _READY else usage.needs
    return Suggestion(usage.name, _typed(usage, options), needs, setting(options, spec.transfer_key(0)))


def leads(spec: PathSpec) -> str:
    """Where the first transfer leads to: a bucket is reached by tools that speak S3, and by no others."""
    ends = (spec.transfers[0].source_end, spec.transfers[0].to)
    if any(end_of(spec, end).is_bucket for end in ends):
        return "bucket"
    return "mount" if len({split_end(end)[0] for end in ends}) == 1 else "host"


def advice(found: Sequence[Choice]) -> str:
    """The finding in a sentence: what the fastest way saves, and the fastest that needs nothing that is not there."""
    others = [c for c in found if not c.own]
    best = _plainest(others)
    was = next((c for c in found if c.own), None) or next((c for c in found if c.name == "scp"), found[-1])
    old, least = (units.show(c.duration_s.p50, "s", digits=2) for c in (was, best))
    if best.duration_s.p50 > _WORTH * was.duration_s.p50:
        return f"{was.name} will do: no tool here is more than a tenth faster than its {old}"
    simple = _plainest([c for c in others if c.needs in _READY] or others)
    if simple.duration_s.p50 > _WORTH * was.duration_s.p50:  # nothing over ssh is a gain
        simple = best
    text = f"use {simple.name} ({simple.line}): {units.show(simple.duration_s.p50, 's', digits=2)} instead of {old}"
    if simple.needs not in _READY:
        text += f"; it needs {simple.needs}"
    if best.duration_s.p50 < _WORTH * simple.duration_s.p50:
        text += f"; {best.name} takes {least}, and needs {best.needs}"
    return text


def _plainest(found: Sequence[Choice]) -> Choice:
    """Of those that are within 5 % of the fastest, the one with the fewest options."""
    least = min(c.duration_s.p50 for c in found)
    return min((c for c in found if c.duration_s.p50 <= least * _AS_GOOD), key=lambda c: len(c.options) or math.inf)


def _typed(usage: Usage, options: dict[str, Any]) -> str:
    """What to type."""
    return usage.line.format(**{k: _TYPED.get(str(v), v) for k, v in options.items()})


def _usages() -> list[tuple[str, Usage]]:
    """Every usage of every tool, with its kind."""
    tools = [k for k, module in kinds().items() if module.startswith("dtnsim.tools.")]
    return [(k, usage) for k in tools for usage in getattr(find_kind(k), "usages", ())]


def _own(tool: Tool) -> str:
    """What a path's tool is called, with the options that the path states."""
    given = {k: getattr(tool, k) for k in sorted(tool.model_fields_set) if k != "kind"}
    stated = ", ".join(f"{k} {v}" for k, v in given.items() if str(v) != str(type(tool).model_fields[k].default))
    return f"yours: {tool.kind}" + (f" ({stated})" if stated else "")


def _of_data(own: Tool, kind: str) -> dict[str, Any]:
    """What a path's own tool says of the data, where another usage of it is tried."""
    return {k: str(getattr(own, k)) for k in _OF_DATA if own.kind == kind and k in own.model_fields_set}


def _first(spec: PathSpec) -> PathSpec:
    """The path with its first transfer alone."""
    return spec if len(spec.transfers) == 1 else spec.model_copy(update={"transfers": spec.transfers[:1]})


def _with(spec: PathSpec, kind: str, options: dict[str, Any]) -> PathSpec:
    """The path with its first transfer alone, by another tool, whose options are drawn as they come."""
    tool = Tool.build({"kind": kind, **options, **_of_data(spec.transfers[0].tool, kind)})
    return spec.model_copy(update={"transfers": [spec.transfers[0].model_copy(update={"tool": tool})]})


def _best(spec: PathSpec, kind: str, usage: Usage) -> dict[str, Any]:
    """Options of a usage: one after the other, the usual value unless another one gives more by 3 %.

    Raises:
        DtnsimError: it cannot serve the path.
    """
    known: dict[tuple[Any, ...], float] = {}

    def seconds(chosen: dict[str, Any]) -> float:
        key = tuple(chosen.values())
        if key not in known:
            made = swept.rates(_with(spec, kind, usage.with_options(chosen)))
            known[key] = float(made.seconds[0])
        return known[key]

    chosen = {name: values[0] for name, values in usage.tries.items()}
    for _ in range(min(len(chosen), 2)):
        for name, values in usage.tries.items():
            run_together(_with(spec, kind, usage.with_options({**chosen, name: value})) for value in values)
            took = {value: seconds({**chosen, name: value}) for value in values}
            least = min(took.values())
            near = [v for v in values if took[v] <= least * (1 + _GAIN)]
            chosen[name] = values[0] if values[0] in near else min(near, key=values.index)
    seconds(chosen)
    return usage.with_options(chosen)


def _archived(spec: PathSpec, found: Sequence[Choice], samples: int, seed: int) -> list[Choice]:
    """Many small files as one archive: made at the source, moved by what is best for one file, and unpacked."""
    transfer = spec.transfers[0]
    data, wanted = transfer.dataset, leads(spec)
    if data is None or data.files < _MANY or data.payload_B / data.files > _SMALL_B or wanted == "mount":
        return []
    ends = [end_of(spec, end) for end in (transfer.source_end, transfer.to)]
    if any(end.volume is None for end in ends) or transfer.timing() is not None:
        return []
    one = dataset({"files": 1, "size": f"{data.payload_B:.0f} B"})
    mover = next((c for c in found if c.options and not c.name.startswith("tar ")), None)
    if mover is None:
        return []
    whole = transfer.model_copy(update={"dataset": one})
    single = spec.model_copy(update={"transfers": [whole]})
    usage = next(u for k, u in _usages() if u.name == mover.name)
    try:
        options = _best(single, mover.options["name"], usage)
        tool = Tool.build({"kind": mover.options["name"], **options})
        pack = {"name": "tar", "to": transfer.source_end, "tool": Tool.build({"kind": "tar", "mode": "c"})}
        unpack = {"name": "untar", "source_end": transfer.to, "tool": Tool.build({"kind": "tar"}), "after": ["move"]}
        steps = [
            transfer.model_copy(update=pack),
            whole.model_copy(update={"name": "move", "tool": tool, "after": ["tar"]}),
            *([transfer.model_copy(update=unpack)] if wanted == "host" else []),
        ]
        made = predict(spec.model_copy(update={"transfers": steps}), samples=samples, seed=seed)
    except DtnsimError:
        return []
    line = f"tar -cf SRC.tar SRC; {_typed(usage, options).replace('SRC', 'SRC.tar')}"
    line += "; tar -xf SRC.tar" if wanted == "host" else ""
    room = units.show(data.payload_B, "B", digits=2)
    needs = ", ".join(filter(None, (mover.needs, f"{room} more room at each end")))
    return [Choice(f"tar first, then {mover.name}", line, needs, mover.lacks, {}, made)]


def _rated(found: Sequence[Choice]) -> list[Choice]:
    """Choices with the share of draws in which each is as good as the best."""
    drawn = [c.prediction.drawn for c in found]
    seconds = [d.seconds for d in drawn if d is not None]
    if len(seconds) < len(found):
        return list(found)
    table = np.stack(seconds)
    good = (table <= table.min(axis=0) * _AS_GOOD).mean(axis=1)
    return [replace(c, best=float(g)) for c, g in zip(found, good, strict=True)]


def setting(options: dict[str, Any], key: str) -> str:
    """What makes a path of a row: ``--set`` of `predict`; empty of what takes several transfers."""
    texts = (f"{k}: {str(v).lower() if isinstance(v, bool) else v}" for k, v in options.items())
    return f"{key}.tool={{{', '.join(texts)}}}" if options else ""
