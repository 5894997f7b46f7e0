"""Events and other people's transfers that a path cannot have: file, line, key, and the names that are nearest."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtnsim.description import spec
from dtnsim.ground.errors import SpecError
from dtnsim.simulation import simulate

PATH = "venadi/gridftp-gpfs"


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        (
            "events:\n  - {at: 1 s, set: {wan.rtt: 1 ms}}\n  - {at: 1 s, station: network.wan.1}\n",
            3,
            "events.1.station",
        ),
        ("events:\n  - {at: 1 s, set: {wan.rtx: 1 ms}}\n", 2, "events.0.set.wan.rtx"),
        ("others:\n  - {stations: [network.x], rate: 1 /s}\n", 2, "others.0.stations"),
    ],
)
def test_it_says_where_it_is_written(tmp_path: Path, text: str, line: int, key: str) -> None:
    file = tmp_path / "night.yaml"
    file.write_text(text)
    with pytest.raises(SpecError) as caught:
        simulate(spec.load(PATH, events=file))
    assert (caught.value.file, caught.value.line, caught.value.key) == (str(file), line, key)


def test_the_nearest_names_come_first() -> None:
    given = spec.load("examples/campus-25g-firewall")
    events = [{"at": "1 s", "station": "network.wan.7"}]
    with pytest.raises(SpecError, match=r"stations: network\.wan"):
        simulate(given.changed([f"events={events}".replace("'", '"')]))
