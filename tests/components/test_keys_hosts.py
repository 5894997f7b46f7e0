"""Every key of processors, memory, kernels, cards, devices, segments and placement moves an answer where it should."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from dtnsim.components.base import Model, find_kind
from dtnsim.components.cores import Placement
from dtnsim.components.segment import Background
from dtnsim.description.host import Host
from tests.each import tables
from tests.lab import FREE, all_tried, journey, machine, problem, volume

TABLES = tables("components/keys_hosts")
CASES = TABLES["cases"]
SSD, NIC = (TABLES["parts"][name] for name in ("ssd", "nic"))
CPU = {"kind": "cpu", "sockets": 2, "cores": 4, "clock": "3 GHz", "cache": "16 MiB", "core_cache": "1 MiB"}
MEMORY = {"kind": "memory", "channels": 4, "rate": "2400 MT/s", "size": "64 GiB"}
SLOTS = {n: {"kind": "slot", "generation": 3, "lanes": 16, "socket": s} for n, s in (("near", 0), ("far", 1))}
WAN = {"bandwidth": "40 Gb/s", "rtt": "20 ms"}


def path(changes: Mapping[str, Any], tool: Any = "gridftp", start: str = "a:/d", to: str = "b:/d") -> dict[str, Any]:
    """Two machines with drives, sockets and a WAN, and changes at dotted keys (None takes the key away)."""
    hosts = {
        name: machine(cpu=dict(CPU), memory=dict(MEMORY), stack={"kind": "stack"}, nic={**NIC, "slot": "near"},
                      slots={k: dict(v) for k, v in SLOTS.items()}, volumes={"/d": volume(SSD)})
        for name in "ab"
    }  # fmt: skip
    made = journey(hosts["a"], hosts["b"], wan=dict(WAN), start=start, to=to, tool=tool,
                   dataset={"files": 4, "size": "400 GB"})  # fmt: skip
    for key, value in changes.items():
        where, steps = made, key.split(".")
        for step in steps[:-1]:
            where = where.setdefault(step, {})
        if value is None:
            where.pop(steps[-1], None)
        else:
            where[steps[-1]] = deepcopy(value)
    return made


def answer(given: dict[str, Any]) -> list[Any]:
    """All that the solver is given: stations, demands, delays, workers' caches and connections."""
    made = problem(given)
    seen: list[Any] = [(s.name, float(np.ravel(s.capacity)[0])) for s in made.stations]
    for transfer in made.transfers:
        for phase in transfer.phases:
            seen += [(d.station, float(np.ravel(d.per_byte)[0])) for d in (*phase.demands, *phase.delays)]
        if transfer.cache is not None:
            seen.append(tuple(float(np.ravel(v)[0]) for v in (transfer.cache.size_B, transfer.cache.write_back_B)))
    seen += [(s.driver, float(np.ravel(s.slope)[0]), float(np.ravel(s.reference)[0])) for s in made.slowdowns]
    return sorted(seen, key=str)


#: keys whose kind's file is another's, or that are fields of all kinds and are read elsewhere
ELSEWHERE = {
    # tests/composition/test_compose.py: links make a graph; tests/components/test_segment.py: what is drawn goes by it
    "segment": {"between", "medium"},
    "dpu": {"slot", "card_lanes", "card_generation"},  # its bytes pass the slot of its ports: a NIC's keys
    "crypto-accelerator": {"compression"},  # no tool compresses with deflate in a thread of its own yet
}


def model(kind: str) -> type[Model]:
    return {"placement": Placement, "background": Background}.get(kind) or find_kind(kind)


def documentation(kind: str) -> set[str]:
    """Keys that the schema marks as documentation only."""
    fields = model(kind).model_fields.items()
    return {
        n
        for n, f in fields
        if isinstance(f.json_schema_extra, dict) and f.json_schema_extra.get("x-documentation-only")
    }


@pytest.mark.parametrize("kind", CASES)
def test_every_key_is_tried(kind: str) -> None:
    all_tried(model(kind), CASES[kind]["keys"], "keys_hosts", documentation(kind) | ELSEWHERE.get(kind, set()))


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind in CASES for key in CASES[kind]["keys"]])
def test_a_key_moves_an_answer(kind: str, key: str) -> None:
    value, changes, use = CASES[kind]["keys"][key]
    use = dict(use)
    where = use.pop("where", CASES[kind]["at"])
    assert answer(path(changes, **use)) != answer(path({**changes, f"{where}.{key}": value}, **use))


def test_the_same_path_gives_the_same_answer() -> None:
    assert answer(path({})) == answer(path({}))


def test_what_moves_nothing_is_marked() -> None:
    assert documentation("cpu") == {"part", "source", "price", "facts"}
    extra = Host.model_fields["source"].json_schema_extra
    assert isinstance(extra, dict)
    assert extra["x-documentation-only"]
    assert FREE["kind"] == "stack"
