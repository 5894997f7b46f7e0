"""The library as records: kinds with their parameters, parts with their numbers."""

from collections import Counter
from pathlib import Path
from typing import Any, Final

from dtnsim.components.base import BenchmarkLoad, Component, Facts, find_kind, kinds
from dtnsim.description.schema_nodes import words
from dtnsim.ground import library
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.quantity import Quantity, unit_of

SCHEMA: Final = "dtnsim.components/1"
_HERE: Final = Path()  #: the folder in which the command runs: parts of one's own lie in its parts/KIND/
#: numbers among the facts that a table of parts has, and what their unit is
FACTS: Final = {"year": "", "capacity": "B", "endurance": "B", "power_idle": "W", "power_busy": "W"}


def names(kind: str = "") -> list[str]:
    """Names of parts, of one kind where it is given: one's own here and in one's library, then those shipped."""
    all_names = dict.fromkeys([*library.own_names("parts", _HERE), *library.names("parts")])
    return [n for n in all_names if not kind or n.partition("/")[0] == kind]


def overview() -> dict[str, Any]:
    """All kinds by family, with the parts that are shipped for each."""
    parts = by_key((kind, part) for kind, _, part in (name.partition("/") for name in names()))
    entries = []
    for kind in sorted(kinds()):
        component = find_kind(kind)
        summary = (component.__doc__ or "").strip().splitlines()[0]
        entries.append({"kind": kind, "family": component.family, "summary": summary, "parts": parts.get(kind, [])})
    return {"schema": SCHEMA, "kinds": entries}


def parameters(kind: str) -> list[dict[str, Any]]:
    """The parameters of a kind: name, unit, default with spread and source."""
    rows, docs = [], words(find_kind(kind))
    for name, field in find_kind(kind).model_fields.items():
        if name in Component.model_fields:
            continue
        unit = unit_of(field)
        default: Any = None if field.is_required() else field.get_default(call_default_factory=True, validated_data={})
        if isinstance(default, dict | list) and not default:
            default = None
        is_quantity = isinstance(default, Quantity)
        rows.append(
            {
                "parameter": field.alias or name,
                "unit": unit.dim if unit is not None else "",
                "default": None if field.is_required() or default is None else str(default),
                "optional": not field.is_required(),
                "spread": default.spread if is_quantity else None,
                "source": default.source if is_quantity else (field.description or docs.get(field.alias or name, "")),
            }
        )
    return rows


def part(name: str, noun: str = "") -> dict[str, Any]:
    """A part with every number, its spread and its source; ``noun``: what the name might have been, for a refusal."""
    built = _built(name, noun)
    rows = []
    for key in type(built).model_fields:
        value = getattr(built, key)
        if isinstance(value, Quantity) or (key not in Component.model_fields and value is not None):
            rows.append(_row(key, value, str(value), ""))
    rows += _facts(built)
    if built.price is not None:
        spread, source = built.price.spread.value, built.price.source
        row = {"parameter": "price", "text": built.price.value, "value": float(built.price.money.amount)}
        rows.append({**row, "unit": built.price.money.currency, "spread": spread, "source": source})
    return {"schema": SCHEMA, "part": name, "kind": built.kind, "source": built.source, "parameters": rows}


def _built(name: str, noun: str = "") -> Component:
    """A part, also one that lies in the folder of parts here."""
    file = library.find("parts", name, beside=_HERE, noun=noun)
    return Component.build(name if file.is_relative_to(library.root("models")) else str(file))


def columns(kind: str) -> list[str]:
    """Parameters of a kind that tables of its parts show."""
    component = find_kind(kind)
    return list(component.columns) or [n for n, f in component.model_fields.items() if f.is_required()]


def units_of(kind: str) -> dict[str, str]:
    """Every number and word of a kind's parts, with its unit: what tables can show, sort by and compare."""
    model = find_kind(kind).model_fields
    units: dict[str, str] = {}
    for name, field in model.items():
        shown = name not in find_kind(kind).placement_keys or name in columns(kind)
        if name not in Component.model_fields and shown:
            units[name] = unit.dim if (unit := unit_of(field)) is not None else ""
    return {"part": "", **FACTS, **units, "fits": "", "price": "USD"}


def lines(kind: str) -> frozenset[str]:
    """Rates of lines among the numbers of a kind, which count bits."""
    model = find_kind(kind).model_fields
    return frozenset(n for n, f in model.items() if (unit := unit_of(f)) is not None and unit.line)


def parts(kind: str) -> tuple[list[dict[str, Any]], list[str]]:
    """(a record of each part of a kind, every number in SI and None where nobody says it; what cannot be read)."""
    records, unread = [], []
    for name in names(kind):
        try:
            built = _built(name)
            records.append(_record(name.partition("/")[2], kind, built))
        except DtnsimError as error:
            unread.append(f"{name}: {error}")
    return records, unread


def _record(name: str, kind: str, built: Component) -> dict[str, Any]:
    facts, price = built.facts or Facts(), built.price
    record: dict[str, Any] = {"part": name}
    for key in units_of(kind):
        if key in ("part", "price"):
            continue
        value = getattr(facts, key, None)
        value = getattr(built, key, None) if value is None else value
        if isinstance(value, Quantity):
            value = int(value.value) if key == "year" else value.value
        if isinstance(value, dict):
            value = _counted(value)
        record[key] = value if isinstance(value, str | int | float | bool) and value != "" else None
    record |= dict.fromkeys(("price", "currency", "price_spread", "price_date"))
    if price is not None:
        record |= {"price": float(price.money.amount), "currency": price.money.currency}
        record |= {"price_spread": price.spread.value, "price_date": price.date or None}
    return {**record, "source": built.source}


def _counted(slots: dict[str, Any]) -> str:
    """Bays by form, or slots by generation and width, as people write them."""
    if all(isinstance(n, int) for n in slots.values()):
        return ", ".join(f"{n} x {form}" for form, n in slots.items())
    widths = Counter(f"gen{slot.generation} x{slot.lanes}" for slot in slots.values())
    return ", ".join(f"{n} x {width}" for width, n in widths.items())


def _facts(built: Component) -> list[dict[str, Any]]:
    """What is printed of a part beside its parameters."""
    rows = []
    for key, value in built.facts or ():
        if key == "source" or value == "":
            continue
        if isinstance(value, BenchmarkLoad):
            text = f"bs {value.bs}, iodepth {value.iodepth}, numjobs {value.numjobs}"
        elif value is None:
            continue
        else:
            text = str(value)
        rows.append(_row(f"facts.{key}", value, text, (built.facts.source if built.facts else "") or built.source))
    return rows


def _row(key: str, value: object, text: str, source: str) -> dict[str, Any]:
    """A parameter; ``source`` is that of what is no number."""
    row: dict[str, Any] = {"parameter": key, "text": text, "value": None, "unit": "", "spread": None, "source": source}
    if isinstance(value, Quantity):
        row |= {"value": value.value, "unit": value.dim, "spread": value.spread, "source": value.source}
    return row
