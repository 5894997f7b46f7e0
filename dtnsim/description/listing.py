"""Hosts, paths, data sets, parts, tools, workloads, one's own first; each by name, with the source of every line."""

import difflib
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dtnsim.components.base import ALSO, Component, Facts, Price, expand, find_kind, kinds, kinds_of
from dtnsim.description import catalogue, dataset
from dtnsim.description.hosts import Hosts, named
from dtnsim.description.override import family_at
from dtnsim.ground import library, units, yamlio
from dtnsim.ground.errors import DtnsimError, SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping

#: what can be listed, and what a name of it is good for
ROOMS: Final = {
    "hosts": "machines to name under 'hosts' of a path file",
    "paths": "whole paths, for 'dtnsim predict NAME'",
    "datasets": "file sizes, for 'dataset' of a transfer",
    "parts": "processors, cards, drives, segments, with their numbers",
    "tools": "transfer tools and benchmarks, for 'tool' of a transfer",
    "workloads": "transfers over days, for 'dtnsim fleet'",
    "starters": "files to begin with, for 'dtnsim init --from NAME'",
}
LIST: Final = "dtnsim.list/1"
SHOW: Final = "dtnsim.show/1"
#: rooms of which users can have folders of their own
_OWN: Final = ("paths", "hosts", "datasets", "parts", "workloads")
_HERE: Final = Path()  #: the folder in which the command runs: files of one's own lie in its parts/, hosts/ ...
#: where keys of a path file stand -> their model in its schema
_PLACES: Final = {
    "": "", "hosts.NAME.": "Host", "hosts.NAME.volumes.MOUNT.": "Volume", "wan.": "kind.segment",
    "transfer.": "TransferSpec", "transfer.dataset.": "Dataset",
}  # fmt: skip
#: keys whose plain values do not come from what a file names as its source
_NO_FIGURES: Final = (("price",), ("kind",), ("part",))
_HEADING: Final = re.compile(r"\A(?:#\s*yaml-language-server.*\n)?#\s*(.+)")


def names(room: str) -> list[str]:
    """Names of one room; `SpecError` where there is no such room."""
    if room not in ROOMS:
        near = difflib.get_close_matches(room, ROOMS, n=1, cutoff=0.5)
        remedy = f"did you mean {near[0]!r}?" if near else f"write one of {', '.join(ROOMS)}"
        if (kind := room.removesuffix("s")) in kinds():
            remedy = f"'dtnsim {'show' if kind in kinds_of('tool') else 'components'} {kind}' tells of that kind"
        raise SpecError("is nothing that can be listed", key="list", value=room, remedy=remedy)
    if room == "tools":
        return kinds_of("tool")
    return [*own_names(room), *library.names(room)]


def own_names(room: str) -> list[str]:
    """Names of a room in the folder of that name here, and in the user's library."""
    names, shipped = library.own_names(room, _HERE) if room in _OWN else [], library.root("models")
    return [n for n in names if not library.find(room, n, beside=_HERE).is_relative_to(shipped)]


def listing(room: str) -> dict[str, Any]:
    """The names of a room, each with a line that says what it is."""
    own = set(own_names(room))
    items = [{"name": n, "what": _summary(room, n), "own": n in own} for n in dict.fromkeys(names(room))]
    if room == "hosts":
        items = [{**item, **_bought(str(item["name"]))} for item in items]
    return {"schema": LIST, "room": room, "items": items}


def _summary(room: str, name: str) -> str:
    """What a name is, also where a file of the user's cannot be read."""
    try:
        return _described(room, name)
    except DtnsimError as error:
        return str(error)


def _bought(name: str) -> dict[str, Any]:
    """Year and price of a host, where its file says them."""
    try:
        raw = named(str(library.find("hosts", name, beside=_HERE)))
        facts, price = Facts.model_validate(raw.get("facts") or {}), raw.get("price")
        return {
            "year": int(facts.year.value) if facts.year is not None else None,
            "price": str(Price.model_validate(price)) if price is not None else None,
        }
    except (DtnsimError, ValueError):
        return {"year": None, "price": None}


def rooms() -> dict[str, Any]:
    """The rooms, with how many things each holds."""
    items = [{"name": room, "count": len(set(names(room))), "what": purpose} for room, purpose in ROOMS.items()]
    return {"schema": LIST, "room": None, "items": [item for item in items if item["count"]]}


def _described(room: str, name: str) -> str:
    if room == "tools":
        return (find_kind(name).__doc__ or "").strip().splitlines()[0].replace("``", "")
    if room == "datasets":
        data = dataset.load(str(library.find(room, name, beside=_HERE)))
        return f"{data.files} {'file' if data.files == 1 else 'files'}, {units.show(data.payload_B, 'B')}"
    raw = library.read(room, name, beside=_HERE)
    if room == "starters":
        text = library.find(room, name).read_text(encoding="utf-8")
        return heading[1] if (heading := _HEADING.match(text)) else ""
    if room == "paths":
        return str(raw.get("name", ""))
    return " ".join(str(raw.get("description") or raw.get("source") or "").split())


def starter(name: str) -> str:
    """The text of a starter file; `SpecError` where there is none."""
    starters = names("starters")
    if name not in starters:
        near = difflib.get_close_matches(name, starters, n=1, cutoff=0.3)
        remedy = f"did you mean {near[0]!r}?" if near else f"write one of {', '.join(starters)}"
        raise SpecError("is no starter file", key="--from", value=name, remedy=remedy)
    return library.find("starters", name).read_text(encoding="utf-8")


def describe_all(name: str) -> list[dict[str, Any]]:
    """Everything that is known of all that a name means, each line with its source.

    ``hosts/venadi`` where several share a name; ``keys`` for every key of a path file.
    """
    room, slash, short = name.partition("/")
    if name == "keys":
        return [_keys()]
    if Path(name).is_file():
        raw, room_by_key = yamlio.load(Path(name)), {"kind": "parts", "cpu": "hosts", "like": "hosts", "hosts": "paths"}
        return [_shown(next((room for key, room in room_by_key.items() if key in raw), "datasets"), name)]
    if slash and room in ROOMS:
        return [_shown(room, short)]
    matches = [r for r in _OWN if _has(r, name)]
    if name in kinds():
        matches.append("tools" if find_kind(name).family == "tool" else "kinds")
    if matches:
        return [_shown(room, name) for room in matches]
    if like := (library.spoken()["filesystems"] | ALSO).get(name.lower()):
        return describe_all(like)
    raise SpecError(f"{name!r} is neither shipped nor one of your files", value=name, remedy=_nearest(name))


def _has(room: str, name: str) -> bool:
    room_names = set(names(room))
    return name in room_names or (room == "parts" and sum(k.rpartition("/")[2] == name for k in room_names) == 1)


def _nearest(name: str) -> str:
    if any(name in row["key"].split(".") for row in _keys()["lines"]):
        return "it is a key of a path file: 'dtnsim show keys' lists these"
    if hint := next(filter(None, (library.instead(name, family) for family in library.INSTEAD)), None):
        return hint
    candidates = {n: room for room in ("paths", "hosts", "datasets", "parts") for n in names(room)}
    candidates |= {k: "tools" if find_kind(k).family == "tool" else "kinds" for k in kinds()}
    candidates |= {n.rpartition("/")[2]: room for n, room in candidates.items() if room == "parts"}
    near = difflib.get_close_matches(name, candidates, n=3, cutoff=0.6)
    if not near:
        return "'dtnsim list' says what there is"
    return library.did_you_mean(f"{candidates[n].removesuffix('s')} {n}" for n in near)


def _shown(room: str, name: str) -> dict[str, Any]:
    if room in ("tools", "kinds"):
        rows = []
        for r in catalogue.parameters(name):
            unstated = f"{'optional' if r['optional'] else 'required'} ({r['unit']})".removesuffix(" ()")
            rows.append({"key": r["parameter"], "value": r["default"] or unstated, "source": r["source"]})
        return {"schema": SHOW, "room": room, "name": name, "file": None, "lines": rows}
    file = library.find(room, name, beside=_HERE)
    raw: Any = named(str(file)) if room == "hosts" else library.read(room, name, beside=_HERE)
    if room == "parts":
        Component.build(raw.clone())  # what it lacks is an error
    if room == "paths":
        raw = raw.clone()
        raw.put("hosts", Hosts(raw, file.parent, ()).read(), raw.file, raw.line)
    return {"schema": SHOW, "room": room, "name": name, "file": library.shown(file), "lines": lines(raw)}


def _keys() -> dict[str, Any]:
    """Every key of a path file, with an example and what it means, as the schema has them."""
    from dtnsim.description import schema, schema_nodes

    path_schema, examples = schema.json_schema("path"), schema_nodes.listed()
    rows = []
    for place, name in _PLACES.items():
        for key, node in (path_schema["$defs"][name] if name else path_schema)["properties"].items():
            value = examples.get(place + key) or node.get("examples", [""])[0]
            shown = value if isinstance(value, str) else json.dumps(value).replace('"', "")
            shown = "text" if shown == key else f"e.g. {shown}"
            rows.append({"key": place + key, "value": shown, "source": node.get("description", "")})
    return {"schema": SHOW, "room": "keys", "name": "of a path file", "file": None, "lines": rows}


def lines(raw: Mapping) -> list[dict[str, Any]]:
    """Every value below ``raw``, parts that it names written out: dotted key, value, where it comes from."""
    rows: list[dict[str, Any]] = []
    _gather(raw, (), rows)
    return rows


def _gather(item: Any, keys: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    if isinstance(item, Mapping) and item.get("part") is not None:
        with suppress(SpecError):  # what only a host drawn by its year can have stays as it is written
            item = expand(item, family=family_at(*("", "", *keys)[-2:]))
    if isinstance(item, Mapping) and keys:
        item = yamlio.sourced(item)
    if isinstance(item, Mapping) and "value" in item and set(item) <= {"value", "spread", "source", "date"}:
        spread = f" +- {item['spread']}" if "spread" in item else ""
        spread += f" ({item['date']})" if "date" in item else ""
        place = _place(item["value"])
        source = " ".join(str(item.get("source", "")).split())
        inherited = (
            item["value"].origin if isinstance(item["value"], Scalar) and keys[-1:] not in _NO_FIGURES else place
        )
        rows.append(_line(keys, f"{item['value']}{spread}", f"{source} ({place})" if source else inherited))
    elif isinstance(item, Mapping):
        for key, value in item.items():
            _gather(value, (*keys, key), rows)
    elif isinstance(item, list):
        for number, value in enumerate(item):
            _gather(value, (*keys, str(number)), rows)
    elif isinstance(item, Scalar) and keys and keys[-1] in ("source", "description", "name"):
        rows.append(_line(keys, " ".join(item.split()), _place(item)))
    elif isinstance(item, Scalar):
        # what a file's source says of its figures, it does not say of a price, nor which kind of part it is
        rows.append(_line(keys, str(item), _place(item) if keys[-1:] in _NO_FIGURES else item.origin))
    else:
        rows.append(_line(keys, str(item), ""))


def _line(keys: tuple[str, ...], value: str, source: str) -> dict[str, Any]:
    return {"key": ".".join(keys), "value": value, "source": source}


def _place(item: object) -> str:
    return f"{item.file}:{item.line}" if isinstance(item, Scalar) and item.file else ""
