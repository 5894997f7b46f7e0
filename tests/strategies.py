"""Random valid paths: two hosts, any storage, any network, any tool, as YAML text."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from dtnsim.description import spec
from dtnsim.ground import yamlio
from tests.each import rows

GIVEN = rows("tables", "strategies")

DRIVES = GIVEN["DRIVES"]


@st.composite
def arrays(draw: st.DrawFn) -> dict[str, Any]:
    drive = draw(st.sampled_from(DRIVES))
    shape = draw(st.sampled_from(["one", "raid0", "raid5", "raid6", "raid10", "raidz", "nested"]))
    disks = draw(st.integers(4, 12))
    if shape == "one":
        return drive
    if shape == "raidz":
        return {"kind": "raidz", "parity": draw(st.integers(1, 3)), "disks": disks, "groups": 2, "of": drive}
    if shape == "nested":
        inner = {"kind": "raid", "level": 5, "disks": disks, "of": drive, "software": False}
        return {"kind": "raid", "level": 0, "disks": draw(st.integers(2, 4)), "of": inner}
    level = int(shape.removeprefix("raid"))
    return {"kind": "raid", "level": level, "disks": disks - disks % 2, "of": drive}


@st.composite
def hosts(draw: st.DrawFn) -> dict[str, Any]:
    lanes = draw(st.sampled_from([8, 16]))
    host: dict[str, Any] = {
        "cpu": {
            "kind": "cpu", "cores": draw(st.integers(2, 32)), "clock": draw(st.sampled_from(["2.4 GHz", "3.6 GHz"])),
        },
        "memory": {"kind": "memory", "channels": draw(st.integers(2, 8)), "rate": "2400 MT/s", "size": "64 GiB"},
        "slots": {
            "a": {"kind": "slot", "generation": 3, "lanes": lanes},
            "b": {"kind": "slot", "generation": 3, "lanes": 8},
        },
        "hbas": {"h": {"kind": "hba", "slot": "a"}},
        "nics": {
            "eth": {"kind": "nic", "rate": draw(st.sampled_from(["10 Gb/s", "40 Gb/s", "100 Gb/s"])), "slot": "b",
                    "mtu": draw(st.sampled_from(["1500 B", "9000 B"]))},
        },
        "volumes": {"/data": {"filesystem": {"kind": draw(st.sampled_from(["xfs", "ext4", "zfs"]))},
                              "array": draw(arrays()), "via": ["h"]}},
    }  # fmt: skip
    if draw(st.booleans()):
        host["placement"] = {"application": [1], "nic_interrupts": [0], "storage_interrupts": {"all": [0]}}
    return host


TOOLS = GIVEN["TOOLS"]


@st.composite
def paths(draw: st.DrawFn) -> dict[str, Any]:
    """A path as plain data."""
    tool = draw(st.sampled_from(TOOLS))
    memory = tool["name"] == "iperf3"
    return {
        "name": "random",
        "hosts": {"alpha": draw(hosts()), "beta": draw(hosts())},
        "wan": {
            "bandwidth": f"{draw(st.integers(1, 100))} Gb/s",
            "rtt": f"{draw(st.integers(1, 3000)) / 10} ms",
            "loss": draw(st.sampled_from(["0", "1e-6", "1e-4", "0.01"])),
            "buffer": f"{draw(st.integers(64, 65536))} KiB",
            "background": {"share": f"{draw(st.integers(0, 80))} %"},
        },
        "transfer": {
            "from": "alpha:memory" if memory else "alpha:/data",
            "to": "beta:memory" if memory else "beta:/data",
            "tool": tool,
            "dataset": draw(st.sampled_from([{"files": 1, "size": "100 GB"}, {"files": 1000, "size": "10 GB"}])),
        },
    }


def load(path: dict[str, Any], *overrides: str) -> spec.PathSpec:
    """Reads plain data as if it were a file."""
    return spec.resolve(yamlio.loads(json.dumps(path), "random.yaml"), overrides)  # JSON is YAML


def written(file: Path, text: str) -> Path:
    """A file with a text, of a path or of what people put beside one."""
    file.write_text(text, encoding="utf-8")
    return file
