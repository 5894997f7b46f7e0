"""How long sweeps and plans take: the whole commands, their CPU time and memory.

python -m pytest tests/benchmarks/test_planning_speed.py -m long --benchmark-enable -s
"""

import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

SWEPT = ["wan.rtt=1ms..200ms:log{}", "transfer.tool.p=1,2,4,8", "hosts.venadi.cpu.clock=2GHz..4GHz:lin{}",
         "hosts.nersc.memory.rate=1000MT/s..4000MT/s:lin{}"]  # fmt: skip
PLANS = [
    ("nasa/nuttscp-3of7", "--target", "40Gb/s", "--mine", "c1", "--mine", "c2"),
    ("examples/dtn-100g-to-buy", "--target", "85Gb/s", "--mine", "ours"),
    ("examples/nas-24-nightly", "--move", "10TB", "--within", "8h"),
]


def spent(*command: str, codes: tuple[int, ...] = (0,)) -> float:
    """CPU seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "dtnsim", *command], check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in codes, done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("scenarios", [1_000, 10_000, 100_000, 200_000])
def test_scenarios_of_a_shipped_path(benchmark: Any, tmp_path: Path, scenarios: int) -> None:
    """Twenty round trips, four numbers of streams, and arrays of the two other numbers."""
    small = benchmark.disabled
    if small and scenarios > 1_000:
        pytest.skip("one is enough to see that it works")
    steps = (2, 5, 5) if small else (20, 25, max(scenarios // 2000, 2))
    vary = [x for text, n in zip(SWEPT, (steps[0], None, *steps[1:]), strict=True) for x in ("--vary", text.format(n))]
    out = tmp_path / "rows.csv"
    seconds = benchmark.pedantic(
        lambda: spent("sweep", "venadi/gridftp-gpfs", *vary, "-o", str(out), "--processes", "2"), rounds=1
    )
    rows = out.read_text().count("\n") - 1
    assert rows == 4 * steps[0] * steps[1] * steps[2]
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\n{rows:,} scenarios: {seconds:.1f} s of CPU, at most {memory:.0f} MB a process")


@pytest.mark.parametrize("plan", PLANS, ids=[p[0] for p in PLANS])
def test_plans_over_the_shipped_list(benchmark: Any, plan: tuple[str, ...]) -> None:
    allowed = ("--allow", "tuning") if benchmark.disabled else ()
    seconds = benchmark.pedantic(lambda: spent("plan", *plan, *allowed, codes=(0, 3)), rounds=1)
    print(f"\n{plan[0]}: {seconds:.1f} s of CPU")
