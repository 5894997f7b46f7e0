"""Rows of tool runs as paths: tar_ssh, tar_nc, nfs_cp and the others against the runs that were published with them."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import pytest

from dtnsim.evidence import tool_runs
from dtnsim.ground.errors import SpecError

TRUTH = Path(__file__).parents[3] / "shared" / "tools-truth" / "public.csv"
ROW = {
    "tool_key": "scp", "version": "OpenSSH 9.2p1", "direction": "put", "options": "", "rate_bps": "100000000",
    "rtt_s": "0.05", "buffer_bytes": "1250000", "dataset": "C50", "files": "50", "total_bytes": "500000",
}  # fmt: skip


def seconds(**changes: str) -> float:
    return tool_runs.answer(tool_runs.run_of({**ROW, **changes}), samples=0).p50_s


REFUSED = [
    *((t, "within one host") for t in ("robocopy", "dd", "msrsync", "tar")),
    *((t, "volume") for t in ("fio", "iozone", "bonnie")),
]


@pytest.mark.parametrize(("key", "why"), REFUSED)
def test_a_tool_that_copies_within_one_host_is_refused(key, why):
    with pytest.raises(SpecError, match=why):
        seconds(tool_key=key)


@pytest.mark.parametrize("key", sorted(tool_runs.KEYS.keys() - {t for t, _ in REFUSED}))
def test_every_key_is_a_path_that_can_be_predicted(key):
    # 500 kB at 100 Mb/s; RDMA opens with no messages, NTttcp with one round trip
    least = 0.04 if key in ("perftest", "ntttcp") else 0.1
    assert least < seconds(tool_key=key, direction="get") < 60


def test_messages_wait_a_round_trip_each():
    near, far = seconds(rtt_s="0.02"), seconds(rtt_s="0.2")
    # 50 files of OPEN, WRITE, FSETSTAT and CLOSE, and some twenty messages before them
    assert (far - near) / 0.18 == pytest.approx(4 * 50 + 20, rel=0.02)


def test_an_empty_folder_takes_the_log_in_alone():
    assert 1.0 < seconds(files="0", total_bytes="0", dataset="Z0") < 1.6


def test_the_old_protocol_waits_half_as_often():
    assert seconds(options="-O") < 0.6 * seconds()


@pytest.mark.parametrize(("column", "value"), [("tool_key", "warp-drive"), ("rtt_s", "soon"), ("rate_bps", "-1")])
def test_what_cannot_be_used_is_an_error_that_names_the_column(column, value):
    with pytest.raises(SpecError):
        tool_runs.run_of({**ROW, column: value})


def test_an_option_that_is_not_known_is_left_out_and_named():
    run = tool_runs.run_of({**ROW, "options": "-C --warp 9"})
    assert run.left_out == ("--warp",)
    assert seconds(options="--warp 9") == seconds()


@pytest.mark.parametrize(
    ("tool", "transport", "key"),
    [("rsync", "rsync daemon", "rsyncd"), ("rclone", "webdav http/1.1", "rclone-webdav"), ("lftp", "ftp", "lftp-ftp"),
     ("rclone", "ssh (go)", "rclone-sftp"), ("globus-url-copy", "gridftp third-party (ftp://)", "guc3"),
     ("tar", "tcp", "tar-nc"), ("curl", "http/1.1", "curl")],
)  # fmt: skip
def test_a_tool_and_its_transport_are_a_key(tool, transport, key):
    assert tool_runs.key_of({"tool": tool, "transport": transport}) == key


@pytest.mark.skipif(not TRUTH.exists(), reason="the measured runs are not here")
def test_most_of_the_measured_runs_are_met():
    with TRUTH.open() as file:
        rows = list(csv.DictReader(file))
    points: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        points.setdefault(row["point"], []).append(row)
    errors = []
    for same in list(points.values())[::3]:
        measured = statistics.median(float(r["wall_s"]) for r in same)
        predicted = tool_runs.answer(tool_runs.run_of(same[0]), samples=0).p50_s
        errors.append(abs(predicted / measured - 1))
    assert statistics.median(errors) < 0.05
    assert statistics.quantiles(errors, n=10)[-1] < 0.20
