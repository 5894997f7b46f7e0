"""CPU of whole commands, as a user starts them, over that of ``import numpy`` in the same run; writes README's table.

python -m pytest tests/benchmarks/test_commands_speed.py -m long --benchmark-enable -s
"""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import dtnsim
from tests.each import tables

pytestmark = pytest.mark.long

README = Path(__file__).parent / "README.md"
BLOCK = re.compile(r"(?<=<!-- commands:begin -->\n).*(?=<!-- commands:end -->)", re.DOTALL)
#: words after ``dtnsim`` -> what they may take, as a multiple of ``import numpy``; None where nothing is asked for
COMMANDS: dict[str, float | None] = tables("benchmarks/tables")["commands"]
#: commands that take so long that they are started once, warm
LONG = ("100000", "disks", "plan", "report", "tools", "validate")


def _other(k: int, hosts: int) -> int:
    return (k + 1 + k // hosts % (hosts - 1)) % hosts


def disks(count: int, hosts: int = 40) -> dict[str, Any]:
    """Transfers between hosts with drives and page caches over a WAN, begun within an hour, as a path file."""
    host = {
        "cpu": {"kind": "cpu", "cores": 16, "clock": "3 GHz"},
        "memory": {"kind": "memory", "channels": 8, "rate": "2666 MT/s", "size": "64 GiB"},
        "nic": {"kind": "nic", "rate": "25 Gb/s", "mtu": "9000 B"},
        "volumes": {
            "/data": {"filesystem": {"kind": "xfs"}, "array": {"kind": "ssd", "read": "2 GB/s", "write": "1 GB/s"}}
        },
    }
    transfers = [
        {
            "name": f"t{k}", "from": f"h{k % hosts}:/data", "to": f"h{_other(k, hosts)}:/data",
            "tool": {"name": "gridftp", "p": 4}, "dataset": {"files": 10, "size": f"{10 + 37 * k % 190} GB"},
            "start": f"{3600 * k // count} s",
        }
        for k in range(count)
    ]  # fmt: skip
    hosted = {f"h{n}": host for n in range(hosts)}
    return {"name": "disks", "hosts": hosted, "wan": {"rtt": "20 ms", "bandwidth": "100 Gb/s"}, "transfers": transfers}


def cpu(folder: Path, *arguments: str) -> float:
    """CPU seconds, user and system, of a Python process whose bytecode is kept in a folder."""
    # as a user has it: the suite keeps numpy to one thread, which makes its import cheaper
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "OPENBLAS_NUM_THREADS")}
    env["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], capture_output=True, cwd=folder, env=env, check=False)
    assert done.returncode in (0, 3), done.stderr  # a plan that is not reached
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_the_table_has_every_command() -> None:
    found = BLOCK.search(README.read_text())
    assert re.findall(r"^\| `dtnsim (.*?)` \|", found[0], re.MULTILINE) == list(COMMANDS)


def test_whole_commands(benchmark: Any, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    if benchmark.disabled:
        assert 0 < benchmark.pedantic(cpu, (tmp_path, "-m", "dtnsim", "--help"), rounds=1) < 60
        return
    for count in (20, 80, 320):
        (tmp_path / f"disks-{count}.yaml").write_text(yaml.safe_dump(disks(count), sort_keys=False))
    cpu(tmp_path, "-m", "compileall", "-q", str(Path(dtnsim.__file__).parent))
    numpy = ("-c", "import numpy")
    rows, alone = [], list[float]()
    for words, asked in COMMANDS.items():
        whole = ("-m", "dtnsim", *words.split())
        long = any(word in words for word in LONG)
        cold = None if long else cpu(tmp_path_factory.mktemp("cold"), *whole)
        # in turn, so that other work on the machine falls on both
        turns = [(cpu(tmp_path, *numpy), cpu(tmp_path, *whole), cpu(tmp_path, *numpy)) for _ in range(1 if long else 5)]
        warm, one = min(t[1] for t in turns), min(min(t[0], t[2]) for t in turns)
        alone.append(one)
        rows.append(
            f"| `dtnsim {words}` | {'' if cold is None else f'{cold:.2f}'} | {warm:.2f} "
            f"| {warm / one:.1f} | {asked or ''} |"
        )
        print("\n" + rows[-1], end="")
    made = [
        "",
        "| command | cold, s | warm, s | warm over `import numpy` | asked for |",
        "| --- | ---: | ---: | ---: | ---: |",
        *rows,
        "",
        f"`import numpy` itself: {min(alone):.2f} to {max(alone):.2f} s warm; load average {os.getloadavg()[1]:.1f}.",
        "",
    ]
    README.write_text(BLOCK.sub(lambda _: "\n".join(made), README.read_text()))
    benchmark.pedantic(cpu, (tmp_path, *numpy), rounds=1)
