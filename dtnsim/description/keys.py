"""What every number of a path belongs to: the key that its draw goes by.

A host's number belongs to that host; a segment's to the segment; a tool's constants to the tool, whichever transfer
uses it. Two hosts of one kind are two machines and drawn apart, but hosts that mount one shared file system share
the draw of its servers. Fitted parameters belong to the host file that they were fitted for, since the estimate is one
and the same wherever that host is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from dtnsim.components.segment import Segment
from dtnsim.description.fitted import Fits
from dtnsim.description.host import Host
from dtnsim.description.hosts import Built, written_once
from dtnsim.description.systems import release_of
from dtnsim.description.transfer import TransferSpec, split_end
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.uncertainty import Since

M = TypeVar("M", bound=BaseModel)

#: classes of values that have no quantities in them
_NO_QUANTITIES: Final = frozenset({int, float, bool, str, type(None)})

#: round trip within a region (AWS: its zones lie within 100 km of each other, 1 ms of fibre; as much again for devices)
_REGION_S: Final = 2e-3
#: draws that all segments share that say nothing -> what those would say
_UNSTATED: Final = {"other traffic": "background.share", "buffers": "buffer"}

Name = Callable[[str], str]


def keyed(
    hosts: Mapping[str, Host],
    files: Mapping[str, str],
    wan: Sequence[Segment],
    links: Mapping[str, Segment],
    transfers: Sequence[TransferSpec],
    fits: Fits,
    built: Built,
) -> dict[str, Any]:
    """The parts of a path with every quantity knowing its key.

    Fitted parameters, ``fits``, go by names of host ``files``; those that the path says itself keep the path's keys.
    """
    if sum(s.rtt.value for s in (*wan, *links.values())) <= _REGION_S and all(host.rented for host in hosts.values()):
        hosts = {alias: host.within_a_region() for alias, host in hosts.items()}
    all_fitted, keyed_hosts = frozenset(fits.correlation.keys), {}
    for alias, stated in hosts.items():
        host = stated if stated.year is None else _dated(stated, stated.year)
        file = files.get(alias, alias)
        fitted = all_fitted - {f"{file}: {key}" for name, key in fits.unused if name == alias}
        first = written_once(alias, host.count if host.count > 1 else None, hosts)
        keyed_hosts[alias] = built.keyed(host, _host, first, file, fitted)
    if all(host.sends_jumbo for host in hosts.values()):
        wan = [segment.model_copy().between_jumbo_ends() for segment in wan]
        links = {name: segment.model_copy().between_jumbo_ends() for name, segment in links.items()}
    if any(s.background is not None and s.background.diurnal.value for s in (*wan, *links.values())):
        timed = [(t, t.timing()) for t in transfers]
        moved_B = sum(t.dataset.payload_B for t, time in timed if time is None and t.dataset is not None)
        tested_s = max((time.seconds for _, time in timed if time is not None), default=0.0)
        wan = [segment.crossed(moved_B, tested_s) for segment in wan]
        links = {name: segment.crossed(moved_B, tested_s) for name, segment in links.items()}
    return {
        "hosts": keyed_hosts,
        "wan": [_named(s, _below(f"wan.{number}")) for number, s in enumerate(wan)],
        "links": {name: _named(s, _below(f"links.{name}")) for name, s in links.items()},
        "transfers": [_with_tool(t, hosts) for t in transfers],
    }


def _with_tool(transfer: TransferSpec, hosts: Mapping[str, Host]) -> TransferSpec:
    """A transfer whose tool knows its keys, and is of its hosts' year and systems where nobody says its version."""
    ends = [hosts[split_end(end)[0]] for end in (transfer.source_end, transfer.to)]
    years = [host.year for host in ends if host.year is not None]  # the older of the two ends counts
    old = _dated(transfer.tool, min(years)) if years else transfer.tool
    for version in {v for host in ends if (v := release_of(host.os, old.kind)) is not None}:
        old = old if "version" in old.model_fields_set else old.model_copy(update={"version": version})
    tool = _named(old, _below(f"tool {old.kind}"))
    return transfer if tool is transfer.tool else transfer.model_copy(update={"tool": tool})


def _dated(model: M, year: int) -> M:
    """A copy of a tool or host, or of a part of it, with the versions of a year where none is written."""
    changed: dict[str, Any] = {}
    for name, field in type(model).model_fields.items():
        value: Any = getattr(model, name)
        new: Any = value
        if isinstance(value, BaseModel):
            new = _dated(value, year)
        elif isinstance(value, dict) and all(isinstance(v, BaseModel) for v in value.values()):
            parts = {key: _dated(part, year) for key, part in value.items()}
            new = parts if any(parts[key] is not value[key] for key in parts) else value
        elif name not in model.model_fields_set:
            since = next((m for m in field.metadata if isinstance(m, Since)), None)
            dated = since.version_in(year) if since is not None else None
            new = value if dated is None else dated
        if new is not value:
            changed[name] = new
    if not changed:
        return model
    updated = model.model_copy(update=changed)
    updated.__pydantic_fields_set__ &= model.model_fields_set  # it stays a default
    return updated


def _named(model: M, name: Name) -> M:
    """A copy of a model whose quantities are its own and know their keys."""
    named: M = mapped(model, lambda key, q: q.with_key(name(key)) if q.spread or q.typical else q)
    return named


def mapped(value: Any, change: Callable[[str, Quantity], Quantity], key: str = "") -> Any:
    """A model, table or list with every quantity changed, told its dotted key; the same one where none has changed.

    Args:
        value: A model, a table, a list or a quantity.
        change: Gives a quantity of a dotted key in the place of the old one.
        key: Dotted key of ``value``.
    """
    if isinstance(value, Quantity):
        return change(key, value)
    if isinstance(value, BaseModel):
        changed, before = dict[str, Any](), f"{key}." if key else ""
        for field in type(value).model_fields:
            old = getattr(value, field)
            if old.__class__ not in _NO_QUANTITIES and (new := mapped(old, change, f"{before}{field}")) is not old:
                changed[field] = new
        return value.model_copy(update=changed) if changed else value
    if isinstance(value, dict):
        table = {k: mapped(v, change, f"{key}.{k}") for k, v in value.items()}
        return table if any(table[k] is not v for k, v in value.items()) else value
    if isinstance(value, list) and any(isinstance(v, BaseModel | Quantity) for v in value):
        return [mapped(v, change, f"{key}.{n}") for n, v in enumerate(value)]
    return value


def written_as(
    hosts: Mapping[str, Host], wan: Sequence[Segment], links: Mapping[str, Segment], tools: Mapping[str, BaseModel]
) -> dict[str, list[str]]:
    """Keys under which ``--set`` reaches the numbers of a path, by the key that their draws go by.

    Several places may share a draw: mounts of one file system, transfers of one tool, segments that say nothing. Of
    hosts that are written once the first stands for all; tools are by the keys of their transfers.
    """
    places_by_key: dict[str, list[str]] = {}

    def note(place: str, quantity: Quantity) -> Quantity:
        places_by_key.setdefault(quantity.key, []).append(place)
        return quantity

    series = {"wan" if len(wan) == 1 else f"wan.{number}": segment for number, segment in enumerate(wan)}
    segments = {**series, **{f"links.{name}": link for name, link in links.items()}}
    models = {f"hosts.{name}": host for name, host in hosts.items()} | segments
    for place, model in (models | {f"{key}.tool": tool for key, tool in tools.items()}).items():
        mapped(model, note, place)
    for place, segment in segments.items():
        for shared, field in _UNSTATED.items():
            if getattr(segment, field.partition(".")[0]) is None:
                places_by_key.setdefault(shared, []).append(f"{place}.{field}")
    return {key: [f"hosts.{key}"] if f"hosts.{key}" in places else places for key, places in places_by_key.items()}


def _below(prefix: str) -> Name:
    return lambda key: f"{prefix}.{key}"


def _host(host: Host, alias: str, file: str, fitted: frozenset[str]) -> Host:
    """A host; the servers of a file system that it shares with others belong to that file system."""
    systems = {
        f"volumes.{mount}.filesystem.": str(system)
        for mount, volume in host.volumes.items()
        if (system := getattr(volume.filesystem, "system", None)) is not None
    }

    def name(key: str) -> str:
        if f"{file}: {key}" in fitted:
            return f"{file}: {key}"
        for prefix, system in systems.items():
            rest = key.removeprefix(prefix)
            # what a client can take is its own
            if rest != key and not rest.startswith("client"):
                return f"system {system}.{rest}"
        return f"{alias}.{key}"

    return _named(host, name)
