"""bbcp. Fixtures: the Venadi document; forms of other versions after the source of bbcp."""

from __future__ import annotations

import pytest

MIB, GIB = 2.0**20, 2.0**30


def test_progress_is_a_running_mean_in_binary_units(log):
    found = log("bbcp/venadi_100g.txt")
    last = found.one("throughput", interval=None)
    assert last.status == "partial"
    assert last.value == pytest.approx(446.1 * MIB)
    assert len(found.all("throughput", average="running", interval=True)) == 25


def test_running_means_are_differentiated(log):
    """The differences must add up to the running mean again: sum(rate * dt) over the run = mean * T."""
    found = log("bbcp/venadi_100g.txt")
    parts = found.all("throughput", derived="differentiated")
    assert len(parts) == 24
    start = parts[0].conditions["start_s"]
    first = 425.7 * MIB * start
    moved = first + sum(r.value * (r.conditions["end_s"] - r.conditions["start_s"]) for r in parts)
    assert moved == pytest.approx(446.1 * MIB * parts[-1].conditions["end_s"], rel=1e-9)
    rates = [r.value for r in parts]
    running = [r.value for r in found.all("throughput", average="running", interval=True)]
    assert max(rates) / min(rates) > 1.2 > 1.1 > max(running) / min(running)  # the mean hid it


def test_constant_rate_differentiates_to_itself(log):
    rows = "".join(f"bbcp: 170307 15:40:{10 + 5 * i}  {10 * i}% done; 400.0 MB/s\n" for i in range(8))
    parts = log(rows).all("throughput", derived="differentiated")
    assert [r.value for r in parts] == pytest.approx([400 * MIB] * 7)


def test_coarse_digits_are_not_differentiated(log):
    rows = "".join(f"bbcp: 170307 15:40:{10 + 5 * i}  {10 * i}% done; 1.0 GB/s\n" for i in range(8))
    assert len(log(rows).all("throughput", derived="differentiated")) < 3


def test_oldest_form(log):
    rows = "bbcp: At 140506 17:33:18 copy 20% complete; 89998.2 KB/s\n"
    assert log(rows).value("throughput", interval=True) == 89998.2 * 1024


VERBOSE = """Command line: bbcp -v -f -P 8 -s 4 /data/100G.dat dtn2:/data
bbcp: Indexing files to be copied...
bbcp: Copying 0 files and 0 links in 0 directories.
bbcp: Creating /data/100G.dat
bbcp: 210127 13:41:56  8% done; 1006.2 MB/s, avg 1006.2 MB/s
bbcp: 210127 13:42:10  23% done; 1.0 MB/s, avg 1018.1 GB/s
File /data/100G.dat created; 100000000000 bytes at 1.0 GB/s
1 file copied at effectively 978.0 MB/s
"""


def test_closing_line_is_the_headline(log):
    found = log(VERBOSE)
    headline = found.one("throughput", interval=None)
    assert headline.value == 978 * MIB
    assert headline.conditions["streams"] == 4
    assert headline.conditions["direction"] == "send"
    assert found.value("throughput", operation="file", interval=True) == GIB


def test_swapped_unit_letters(log):
    """Versions before 2015 print each rate with the other's letter: 1.0 MB/s, avg 1018.1 GB/s."""
    found = log(VERBOSE)
    assert found.value("throughput", average="running", share=0.23) == pytest.approx(1018.1 * MIB)
    assert found.value("throughput", average="interval", share=0.23) == GIB


def test_file_line_where_nothing_else_closes(log):
    found = log("bbcp: Creating /x\nFile /x created; 1000000000 bytes at 1.2 GB/s\n")
    assert found.value("throughput", interval=None) == 1.2 * GIB


def test_failure(log):
    found = log("$ bbcp a b:/c\nbbcp: Unable to connect to b; connection refused\n")
    assert found.one("failure").status == "failed"
    assert not found.all("throughput")
