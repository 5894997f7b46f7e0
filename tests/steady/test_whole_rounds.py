"""Few files and many workers: predict counts whole rounds of files as simulate runs them."""

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dtnsim.simulation import simulate
from dtnsim.steady.prediction import predict
from tests.lab import journey
from tests.strategies import load

PATH = "examples/dtn-100g-xfs"


def both(tool: str, dataset: str, samples: int = 0) -> tuple[float, float, float, float]:
    """Seconds of predict (at the ceiling, p10, p90) and of simulate."""
    changes = [f"transfer.tool={tool}", f"transfer.dataset={dataset}", "wan.loss=1e-6"]
    (predicted,) = predict(PATH, overrides=changes, samples=samples).transfers
    simulated = simulate(PATH, overrides=changes).runs[0].transfers[0].duration_s
    return predicted.payload_B / predicted.ceiling, predicted.duration_s.p10, predicted.duration_s.p90, simulated


@pytest.mark.parametrize("files", [3, 5, 9])
@pytest.mark.parametrize(
    "tool", ["{name: gridftp, cc: 4, p: 1}", "{name: rclone, transfers: 4}", "{name: wdt, num_ports: 4}"]
)
def test_predict_takes_as_long_as_simulate(tool: str, files: int) -> None:
    predicted, _, _, simulated = both(tool, f"{{files: {files}, each: 20 GB}}")
    assert predicted == pytest.approx(simulated, rel=0.02)


def test_five_files_on_four_workers_take_two_rounds() -> None:
    """Not 1.25: each of the workers is held by its own connection, so that a file takes as long alone."""
    four, five = (both("{name: rclone, transfers: 4}", f"{{files: {n}, each: 20 GB}}")[0] for n in (4, 5))
    assert five == pytest.approx(2 * four, rel=0.03)


def test_a_block_that_holds_every_file_cuts_none() -> None:
    """WDT moves files in blocks: with larger ones than any file it does what it does without."""
    larger, none = (
        both(f"{{name: wdt, num_ports: 4, block_size_mbytes: {size}}}", "{files: 5, each: 20 GB}")
        for size in (20_000, -1)
    )
    assert larger == pytest.approx(none)


def test_unlike_files_in_turn() -> None:
    """Seven small ones fill the places that a large one leaves: Graham's order, by the largest file last."""
    dataset = "{sizes: [4 GB, 4 GB, 4 GB, 4 GB, 4 GB, 4 GB, 4 GB, 40 GB]}"
    predicted, low, high, simulated = both("{name: rclone, transfers: 4}", dataset, samples=64)
    assert low <= simulated <= high
    assert predicted == pytest.approx(simulated, rel=0.05)


#: a gigabit of Ethernet in frames of 9038 B with 8948 B of payload each
LINK_BPS = 1.25e8 * 8948 / 9038


def seconds(sizes_GB: list[int], workers: int, **wan: str) -> tuple[float, float]:
    """What predict and simulate say of files over one link, by GridFTP."""
    path = journey(
        wan={"bandwidth": "1 Gb/s", "rtt": "10 ms", **wan}, tool={"name": "gridftp", "cc": workers},
        dataset={"sizes": [f"{size} GB" for size in sizes_GB]},
    )  # fmt: skip
    spec = load(path)
    said = predict(spec, samples=0).transfers[0].duration_s.p50
    return said, simulate(spec).runs[0].transfers[0].duration_s


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(5, 60), min_size=1, max_size=9), st.integers(1, 8))
def test_what_a_shared_link_holds_takes_its_bytes_over_the_rate(sizes_GB: list[int], workers: int) -> None:
    """Whatever the rounds: who is left alone has the whole link. Log-in, round trips and slow start take a second."""
    least = sum(sizes_GB) * 1e9 / LINK_BPS
    for took in seconds(sizes_GB, workers):
        assert least * (1 - 1e-6) <= took <= least * 1.005 + 1.0


def test_more_workers_never_take_longer() -> None:
    """But for the round trips of their log-ins (six of 10 ms each)."""
    for command in zip(*(seconds([25] * 5, workers) for workers in (1, 2, 3, 4, 5, 8)), strict=True):
        assert all(took <= command[0] + 0.5 for took in command)


def test_a_lone_worker_keeps_to_what_its_own_streams_may_have() -> None:
    """What loss lets a stream have it has beside others as well as alone: two rounds, not 1.25."""
    four, five = (seconds([25] * n, 4, rtt="100 ms", loss="1e-4") for n in (4, 5))
    assert four[0] > 1.2 * 100e9 / LINK_BPS  # no link holds these, but loss holds each
    assert five[0] == pytest.approx(2 * four[0], rel=0.01)
    assert five[1] == pytest.approx(2 * four[1], rel=0.01)
