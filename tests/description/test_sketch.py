"""A path file from a line of text: what is understood, what is guessed and says so, what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

import dtnsim
from dtnsim.description.sketch import Sketch
from dtnsim.ground.errors import SpecError

#: a text, and lines that the file has
TEXTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "R740, ConnectX-5, 8 NVMe md RAID0 -> NAS of 12 disks raidz2 10G, 25 ms",
        (
            "machine: dell-r740",
            "nic: connectx-5-100g   # guess: one of connectx-5-100g, ",
            "array: {kind: raid, level: 0, disks: 8, of: any-nvme}\n",
            "nic: {rate: 10 Gb/s}",
            "array: {kind: raidz, level: 2, disks: 12, of: any-disk}\n",
            "bandwidth: 10 Gb/s   # guess",
            "rtt: 25 ms",
            "tool: rsync   # guess",
        ),
    ),
    (
        "c5n.18xlarge memory -> n2-standard-8 memory, wan 10G, 65 ms, internet, iperf3",
        (
            "machine: aws-c5n.18xlarge",
            "bandwidth: 10 Gb/s\n",
            "medium: internet",
            "from: source:memory",
            "tool: iperf3\n",
        ),
    ),
    (
        "dtn 2019 100G 10 nvme raid10 xfs => nersc-dtn, research 60 ms loss 1e-6, globus 6 TB 2000 files",
        (
            "year: 2019",
            "role: dtn",
            "level: 10, disks: 10",
            "filesystem: xfs\n",
            "machine: nersc-dtn\n",
            "to: destination:/cori-scratch",
            "loss: 1e-6",
            "dataset: {files: 2000, size: 6 TB}\n",
        ),
    ),
    (
        "Raspberry Pi 4, samsung-860-evo-4tb -> Synology DS920+, 1 ms, rsync, 300 GB",
        ("array: samsung-860-evo-4tb\n", "to: destination:/volume1", "bandwidth: 1 Gb/s   # guess", "size: 300 GB"),
    ),
    ("unknown -> unknown, satellite", ("source: unknown", "medium: satellite", "bandwidth: 10 Gb/s   # guess")),
)


@pytest.mark.parametrize(("text", "lines"), TEXTS)
def test_what_a_line_says_is_in_the_file_and_the_file_is_answered(
    text: str, lines: tuple[str, ...], tmp_path: Path
) -> None:
    made = Sketch(text)
    written = made.written()
    assert [line for line in lines if line not in written] == []
    assert made.unread == []
    file = tmp_path / "path.yaml"
    file.write_text(written)
    answer = dtnsim.predict(file, samples=60).throughput_Bps
    assert 0 < answer.p10 < answer.p90


def test_what_is_not_understood_is_said_and_left_out() -> None:
    made = Sketch("R740 with frobnicator -> nas, 3 ms")
    assert made.unread == ["frobnicator"]
    assert "# not understood, and not in the file: frobnicator" in made.written()


@pytest.mark.parametrize("text", ["", "R740, 25 ms", "a ->", "a -> b -> c"])
def test_two_ends_are_needed(text: str) -> None:
    with pytest.raises(SpecError, match=r"needs two ends.*R740"):
        Sketch(text)
