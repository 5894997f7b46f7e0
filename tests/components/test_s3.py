"""S3: connections that wait for their answers, prefixes with request limits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formulas import evaluate
from tests.lab import MiB, Sheet, journey, machine, problem, sheet, volume


def charges(*, write: bool = False, files: int = 1, size: str = "100 TB", **given: Any) -> Sheet:
    host = machine(volumes={"/s3": volume(filesystem={"kind": "s3", **given})})
    start, to = ("b:memory", "a:/s3") if write else ("a:/s3", "b:memory")
    path = journey(
        host, start=start, to=to, tool={"name": "gridftp", "cc": files}, dataset={"files": files, "size": size}
    )
    return sheet(problem(path))


@pytest.mark.parametrize(("files", "concurrency"), [(1, 1), (1, 10), (4, 10)])
def test_connections_of_files(files: int, concurrency: int) -> None:
    """files x concurrency x s / (t + s / R)."""
    found = charges(files=files, concurrency=concurrency, latency="0.1 s", stream="80 MB/s", part_size="8 MiB")
    one = 8 * MiB / (0.1 + 8 * MiB / 80e6)
    assert found.rate("s3.connections") == pytest.approx(files * concurrency * one)


def test_prefixes_limit_small_objects() -> None:
    """5,500 GET and 3,500 PUT a second of a prefix (AWS): 1-MB objects at 5.5 GB/s and 3.5 GB/s."""
    small = {"files": 1000, "size": "1 GB"}
    assert charges(**small).rate("s3.prefixes") == pytest.approx(5500 * 1e6)
    assert charges(write=True, **small).rate("s3.prefixes") == pytest.approx(3500 * 1e6, rel=0.01)
    assert charges(prefixes=4, **small).rate("s3.prefixes") == pytest.approx(4 * 5500 * 1e6)


def test_formulas_give_their_numbers() -> None:
    host = machine(
        volumes={"/s3": volume(filesystem={"kind": "s3", "servers": {"count": 12, "port_rate": "100 Gb/s"}})}
    )
    made = problem(journey(host, start="a:/s3", tool="gridftp", dataset={"files": 1, "size": "100 TB"}))
    own = [s for s in made.stations if s.kind == "s3"]
    assert len(own) == 3
    for station in own:
        assert evaluate(station.formula) == pytest.approx(float(station.capacity), rel=1e-5), station
