"""Lustre: stripes and RPCs of one file are its own, targets are everybody's."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.steady.scenarios import composed_and_drawn
from tests.lab import answer, journey, machine, problem, sheet, volume
from tests.strategies import load

#: nothing limits but what a test sets
FREE = {"kind": "lustre", "stream": "1 TB/s", "target_rate": "1 TB/s", "share": "1", "latency": "0.1 us",
        "client_rate": "10 TB/s", "metadata_time": "0 s", "client_byte": "0 cycles/B", "checksum_byte": "0 cycles/B",
        "read_ahead": "1 TiB"}  # fmt: skip


def mount(**given: Any) -> dict[str, Any]:
    return machine(volumes={"/l": volume(filesystem={**FREE, **given})})


def path(**given: Any) -> dict[str, Any]:
    data = {"files": 1, "size": "100 TB"}
    return journey(mount(**given), start="a:/l", tool={"name": "gridftp", "cc": 1}, dataset=data)


@pytest.mark.parametrize(("year", "requests"), [(None, 7), (2016, 7), (2015, 1)])
def test_one_client_s_removals_are_bounded_by_its_requests(year: int | None, requests: int) -> None:
    """128 rm on one client: seven modifying requests in flight of 1 ms each, not 128 (Lustre manual, max_mod_rpcs).

    Before 2.8 there was one: mdtest of one client stood still from four tasks on, and several mounts of it did not
    (LU-5319).
    """
    transfers = [{"name": f"t{n}", "from": "a:memory", "to": "a:/l", "tool": "rm",
                  "dataset": {"files": 100_000, "size": "100 GB"}} for n in range(128)]  # fmt: skip
    host = mount(metadata_time="1 ms") | ({} if year is None else {"year": year})
    made = answer(journey(host, transfers=transfers))
    assert made.throughput_Bps.p50 / 1e6 == pytest.approx(1000 * requests, rel=0.01)


def test_the_share_that_others_leave_makes_the_interval_wide() -> None:
    def ratio(spread: float) -> float:
        rate, share = {"value": "1 GB/s", "spread": 0}, {"value": "0.4", "spread": spread}
        loaded = load(path(targets=1, target_rate=rate, share=share))
        drawn = composed_and_drawn(loaded, 64, 1, mean=False)[1].parameters
        low, high = np.quantile(drawn, (0.1, 0.9))
        return float(high / low)

    ratios = [ratio(s) for s in (0.05, 0.7)]
    assert ratios[0] < 1.2 < 2 < ratios[1]


@settings(max_examples=10)
@given(st.integers(1, 32), st.integers(1, 64))
def test_more_stripes_or_rpcs_never_hurt(stripes: int, rpcs: int) -> None:
    def bound(**more: int) -> float:
        given = {"latency": "2 ms", "stream": "300 MB/s", "target_rate": "1 GB/s"}
        return sheet(problem(path(**given, **more))).bound

    base = bound(stripe_count=stripes, rpcs=rpcs)
    assert bound(stripe_count=stripes + 1, rpcs=rpcs) >= base * (1 - 1e-12)
    assert bound(stripe_count=stripes, rpcs=rpcs + 1) >= base * (1 - 1e-12)
