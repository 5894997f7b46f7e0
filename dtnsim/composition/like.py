"""Transfers that differ only in name and start: composed once, and copied for each.

A transfer's demands follow from its ends, tool, options, data and route, and from what it finds there; its own name
occurs only in the names of its private stations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from dtnsim.components.base import Model
from dtnsim.composition.resolved_transfer import Leg
from dtnsim.description.dataset import Dataset
from dtnsim.description.transfer import TransferSpec
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.records import Demand, Phase, Station, Transfer

_OWN: Final = frozenset({"name", "start", "after", "pause"})  #: keys in which like transfers may differ


def roughly(spec: TransferSpec) -> tuple[Any, ...]:
    """A quick key that like transfers have in common: ends, kind of tool, file sizes."""
    data = spec.dataset
    return spec.source_end, spec.to, type(spec.tool), None if data is None else data.sizes_B.tobytes()


def figures(spec: TransferSpec) -> tuple[Any, ...]:
    """Everything in a transfer's description that its demands depend on; equal for like transfers.

    Equal numbers with different sources, texts or keys count as different, because words and draws depend on those.
    """
    return tuple(_figures(value) for name, value in spec.__dict__.items() if name not in _OWN)


def _figures(value: Any) -> Any:
    if isinstance(value, Quantity):
        return value, value.text, value.key
    if isinstance(value, Dataset):
        return value.name, value.sizes_B.tobytes(), value.counts.tobytes(), value.directories, value.source
    if isinstance(value, Model):
        return type(value), frozenset(value.model_fields_set), _figures(value.__dict__)
    if isinstance(value, Mapping):
        return tuple((key, _figures(each)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_figures, value))
    return value if value.__class__.__hash__ is not None else object()  # like nothing else


@dataclass(frozen=True, slots=True)
class Pattern:
    """A composed transfer from which like ones are copied."""

    transfer: Transfer  #: What was composed.
    private: Mapping[str, Station]  #: Its private stations, by name.

    @classmethod
    def of(cls, transfer: Transfer, phases: list[Phase], ledger: Ledger) -> Pattern:
        """The pattern of a transfer that was composed of these phases."""
        visited = (ledger.stations[d.station] for phase in phases for d in phase.demands)
        return cls(transfer, {s.name: s for s in visited if s.private})

    def written(self, leg: Leg, ledger: Ledger) -> Transfer:
        """A copy for another transfer, with its stations on the ledger."""
        spec, transfer = leg.spec, self.transfer
        old, new = f"[{transfer.name}]", f"[{spec.name}]"
        names = {f"{transfer.name}.workers": f"{spec.name}.workers"}
        for name, station in self.private.items():
            new_name = names[name] = name.removesuffix(old) + new
            if new_name not in ledger.stations:
                ledger.stations[new_name] = replace(station, name=new_name, label=station.label.replace(old, new))
                if name in ledger.connections:
                    ledger.connections[new_name] = ledger.connections[name]
        return replace(
            transfer,
            name=spec.name,
            phases=tuple(_renamed(phase, names) for phase in transfer.phases),
            buffered=None if transfer.buffered is None else _renamed(transfer.buffered, names),
            start_s=spec.start.value if spec.start is not None else 0.0,
            after=tuple(spec.after),
            pause_s=spec.pause.value if spec.pause is not None else 0.0,
        )


def _renamed(phase: Phase, names: Mapping[str, str]) -> Phase:
    """A phase with its private stations renamed."""
    demands, delays = ([_on_hosts(d, names) for d in charges] for charges in (phase.demands, phase.delays))
    return Phase(phase.name, tuple(demands), tuple(delays), phase.step)


def _on_hosts(d: Demand, names: Mapping[str, str]) -> Demand:
    return replace(d, station=names[d.station]) if d.station in names else d
