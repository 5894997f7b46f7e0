"""Which transfers are plain flows: one file from memory to memory, in one step that is all network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dtnsim.composition.leg import end_of, leg
from dtnsim.ground.quantity import Quantity
from dtnsim.tools.plan import FileCost

if TYPE_CHECKING:
    from dtnsim.composition.leg import End
    from dtnsim.description.spec import PathSpec
    from dtnsim.description.transfer import TransferSpec
    from dtnsim.tools.plan import NetUse, Opening

#: what does not tell two uses of the network by plain flows apart
_OWN = ("rate", "total_B", "workers")


@dataclass(frozen=True, slots=True)
class Use:
    """How a tool moves plain flows.

    Attributes:
        net: Its use of the network.
        weight: Weight in sharing.
        opening: What it does once.
        per_pace: Target rate over the option of the tool that sets it.
        key: What tells this use from others.
    """

    net: NetUse
    weight: float
    opening: Opening
    per_pace: float
    key: Any


def may_be_plain(spec: PathSpec) -> bool:
    """Whether nothing but plain flows can be on a path: no events, no others, no load that varies, no programs."""
    if spec.events or spec.others or spec.workload is not None or spec.programs:
        return False
    every = [*spec.wan, *spec.links.values()]
    return all(s.background is None or not s.background.diurnal.value > 0 for s in every)


def kind_of(spec: TransferSpec) -> tuple[Any, Any, float | None] | None:
    """(key of how the tool is used, key of flows alike, value of the option that sets their target rate).

    None where the transfer is no plain flow.
    """
    tool, data = spec.tool, spec.dataset
    if tool.pace is None or data is None or spec.after or spec.pause is not None or spec.duration is not None:
        return None
    if len(data.counts) != 1 or data.counts[0] != 1 or data.directories or not data.sizes_B[0] > 0:
        return None
    pace: float | None = None
    said: list[Any] = []
    for name, value in tool.__dict__.items():
        if name == tool.pace and value is not None:
            pace = value.value
            said.append(True)
        else:
            said.append((value.value, value.dim) if isinstance(value, Quantity) else value)
    how = type(tool), tuple(said), frozenset(tool.model_fields_set)
    whole = (
        how, spec.source_end, spec.to, spec.core, tuple(spec.via), tuple(spec.nics.items()), tuple(spec.ports.items())
    )  # fmt: skip
    try:
        hash(how)
    except TypeError:
        return None
    return how, whole, pace


def use_of(spec: PathSpec, transfer: TransferSpec) -> Use | None:
    """How the tool of a transfer moves plain flows; None where it does more than send."""
    ends = ends_of(spec, transfer)
    if ends is None:
        return None
    made = leg(transfer, *ends, None)
    plan, step = made.plan, made.plan.steps[0]
    if made.timing is not None or plan.warnings or plan.holds_B or plan.workers != 1 or len(plan.steps) > 1:
        return None
    net = step.net
    others = step.read, step.write, step.reread
    files = replace(step.files, source=(), destination=(), directory=())  # operations of ends that are no volumes
    if net is None or any(others) or step.cpu or files != FileCost() or step.share != 1.0:
        return None
    plainly = net.transport in ("tcp", "udp") and net.channel is None and not net.reopened and not net.stopped
    key = net.key(*_OWN)
    if not plainly or key is None:
        return None
    paced = getattr(transfer.tool, transfer.tool.pace) if transfer.tool.pace else None
    per = 1.0 if paced is None or net.rate is None else net.rate.value / paced.value
    return Use(net, float(plan.weight), plan.opening, per, (key, plan.opening))


def ends_of(spec: PathSpec, transfer: TransferSpec) -> tuple[End, End] | None:
    """Both ends where they are memory or devices of two hosts; None where they are not."""
    source, destination = end_of(spec, transfer.source_end), end_of(spec, transfer.to)
    if source.volume is not None or destination.volume is not None or source.host is destination.host:
        return None
    return source, destination
