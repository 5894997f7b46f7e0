"""Each shipped path without one of its keys: an answer, or one line that says what to write; never a fault of ours."""

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dtnsim.description import spec
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import InputError, ModelError
from dtnsim.simulation import simulate
from dtnsim.steady.prediction import predict
from tests.each import texts

MODELS = library.root("models")
#: what a message in Python's words has
PYTHON = ("NoneType", "object has no", "Traceback", "index out of", "empty sequence", "not subscriptable", "KeyError")

Way = tuple[str | int, ...]


def ways(node: Any, before: Way = ()) -> Iterator[Way]:
    """Every key of a document and every item of its lists but an only one."""
    steps = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) and len(node) > 1 else ()
    for step in steps:
        yield (*before, step)
        yield from ways(node[step], (*before, step))


def starters() -> list[Path]:
    """Files to begin with that are paths."""
    return [f for f in sorted((MODELS / "starters").glob("*.yaml")) if {"hosts", "wan"} <= texts(f.read_text()).keys()]


@cache
def cases() -> tuple[tuple[Path, Way], ...]:
    """(path file, way of the key to take out): those of a shipped host once, in the first path that has it."""
    found, seen = [], set()
    for file in [*sorted((MODELS / "paths").rglob("*.yaml")), *starters()]:
        hosts = texts(file.read_text())["hosts"]
        for way in ways(whole(file)):
            host = hosts.get(way[1]) if way[0] == "hosts" and len(way) > 1 else None
            mark = (host, *way[2:]) if isinstance(host, str) else (file, *way)
            if mark not in seen:
                seen.add(mark)
                found.append((file, way))
    return tuple(found)


@cache
def _whole(file: Path) -> str:
    made = texts(file.read_text())
    for name, host in made["hosts"].items():
        known = MODELS / "hosts" / f"{host}.yaml"
        if isinstance(host, str) and known.is_file():
            made["hosts"][name] = {"name": host, **texts(known.read_text())}
    return json.dumps(made)


def whole(file: Path) -> Any:
    """A path with its shipped hosts written out."""
    return json.loads(_whole(file))


def wrong(file: Path, way: Way, *, in_time: bool) -> str | None:
    """What is wrong with how a path without one key is taken; None where it is answered or refused."""
    made = where = whole(file)
    for step in way[:-1]:
        where = where[step]
    del where[way[-1]]
    try:
        path = spec.resolve(yamlio.loads(json.dumps(made), "path.yaml"), beside=file.parent)
        rate = predict(path, samples=0).throughput_Bps.p50
        if in_time:
            simulate(path, max_events=4_000)
    except InputError as error:
        return next((f"{way}: {error}" for word in PYTHON if word in str(error)), None)
    except Exception as error:  # noqa: BLE001 - that is the point
        if isinstance(error, ModelError) and "allow more (max_events)" in str(error):  # a run too long for a test
            return None
        return f"{file.stem} without {way}: {type(error).__name__}: {error}"
    return None if rate > 0 else f"{file.stem} without {way}: {rate}"


def test_paths_without_one_key() -> None:
    drawn = random.Random(1).sample(cases(), 20)
    assert not [problem for file, way in drawn if (problem := wrong(file, way, in_time=False))]


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_every_path_without_each_of_its_keys(part: int) -> None:
    assert not [problem for file, way in cases()[part::20] if (problem := wrong(file, way, in_time=True))]
