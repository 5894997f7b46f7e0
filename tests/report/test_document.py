"""The JSON documents: versioned, complete, SI units in the key names, and terms that recompute the answer."""

import json
import math
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pytest

from dtnsim.ground.uncertainty import Interval
from dtnsim.report import document, schemas
from tests.lab import answer, journey, machine, volume


def check(made: dict[str, Any]) -> None:
    """Holds a prediction to what ``dtnsim schema prediction`` publishes, and its numbers to what they are."""
    jsonschema.Draft202012Validator(schemas.json_schema("prediction")).validate(made)
    assert set(made["bottleneck"]) == {"station", "component", "host", "kind", "reason", "remedy", "work"}
    assert all(made["bottleneck"][key] for key in ("station", "component", "host", "kind", "reason", "work"))
    for key in ("throughput_Bps", "duration_s"):
        assert all(value is None or value >= 0 for value in made[key].values())
    for station in made["stations"]:
        assert station["component"] is not None
        assert station["host"] is not None
        assert 0 <= station["utilization"] <= 1.000001
        assert station["demand_per_byte"] >= 0
        assert station["capacity"] is None or station["capacity"] >= 0
    assert made["ladder"]


DRIVE = {"kind": "ssd", "read": "600 MB/s", "write": "500 MB/s", "link": "1 GB/s"}


def strict(made: Any) -> Any:
    """Through JSON, with nothing in it that JSON does not have."""
    return json.loads(json.dumps(made, allow_nan=False))


def test_what_is_in_it_is_the_answer() -> None:
    found = answer(journey(wan={"bandwidth": "10 Gb/s"}))
    made = document.prediction_document(found)
    assert made["throughput_Bps"]["p50"] == found.throughput_Bps.p50
    assert made["bottleneck"]["station"] == "network.wan"
    assert made["ladder"] == made["transfers"][0]["ladder"]
    wan = next(s for s in made["stations"] if s["station"] == "network.wan")
    assert (wan["capacity"], wan["unit"], wan["utilization"]) == (1.25e9, "B/s", pytest.approx(1.0))
    assert wan["demand_per_byte"] * found.throughput_Bps.p50 == pytest.approx(1.25e9)


def test_what_has_no_end_is_null() -> None:
    """Nothing moves: no rate, no duration, and no infinity in JSON."""
    found = answer(journey(wan={"bandwidth": "1 Gb/s", "rtt": "1 ms"}), samples=4)
    none, never = Interval(0.0, 0.0, 0.0), Interval(math.inf, math.inf, math.inf)
    still = tuple(replace(t, throughput_Bps=none, duration_s=never) for t in found.transfers)
    made = strict(document.prediction_document(replace(found, throughput_Bps=none, duration_s=never, transfers=still)))
    check(made)
    assert made["throughput_Bps"]["p50"] == 0
    assert made["duration_s"]["p50"] is None


def test_several_transfers_are_told_apart() -> None:
    transfers = [{"name": n, "from": "a:memory", "to": "b:memory", "tool": "iperf3"} for n in ("x", "y")]
    made = document.prediction_document(answer(journey(wan={"bandwidth": "10 Gb/s"}, transfers=transfers)))
    assert [t["name"] for t in made["transfers"]] == ["x", "y"]
    assert sum(t["throughput_Bps"]["p50"] for t in made["transfers"]) == pytest.approx(made["throughput_Bps"]["p50"])
    # with several, a station's demand is that of a mean byte
    for station in made["stations"]:
        if station["capacity"]:
            used = station["demand_per_byte"] * made["throughput_Bps"]["p50"] / station["capacity"]
            assert used == pytest.approx(station["utilization"], abs=1e-9)


def test_the_terms_of_an_explanation_recompute_the_answer() -> None:
    """min over stations of capacity over the sum of its demands, waiting and phases in turn included."""
    host = machine(volumes={"/d": volume(DRIVE)})
    for tool in ({"name": "gridftp", "cc": 4}, "globus", {"name": "scp"}):
        path = journey(host, host, start="a:/d", to="b:/d", tool=tool, wan={"bandwidth": "10 Gb/s", "rtt": "20 ms"},
                       dataset={"files": 2000, "size": "20 GB"})  # fmt: skip
        made = strict(document.explanation_document(answer(path)))
        assert made["schema"] == "dtnsim.explanation/1"
        total: dict[str, float] = {}
        for phase in made["transfers"][0]["phases"]:
            for d in phase["demands"]:
                total[d["station"]] = total.get(d["station"], 0.0) + d["per_byte"]
        capacity = {s["station"]: s["capacity"] for s in made["stations"]}
        assert min(capacity[s] / d for s, d in total.items() if d > 0) == pytest.approx(
            made["throughput_Bps"], rel=1e-9
        )


def test_every_term_says_what_it_is_and_where_it_comes_from() -> None:
    made = document.explanation_document(answer(journey(wan={"bandwidth": "10 Gb/s", "rtt": "1 ms"})))
    for phase in made["transfers"][0]["phases"]:
        for d in phase["demands"]:
            assert d["what"]
            assert d["unit"].endswith("/B")
    for station in made["stations"]:
        assert station["formula"], station
        assert station["unit"].endswith("/s")


@pytest.mark.parametrize(
    ("value", "shown"), [(1, 1.0), (math.inf, None), (math.nan, None), (np.array([2.0, 3.0]), 2.0)]
)
def test_numbers_of_json(value: object, shown: float | None) -> None:
    assert document.number(value) == shown
