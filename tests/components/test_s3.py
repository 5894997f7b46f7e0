"""S3: connections that wait for their answers, prefixes with request limits."""

from typing import Any

import pytest

from dtnsim.components.s3 import S3
from dtnsim.simulation import simulate
from tests.conftest import Run
from tests.each import cases, rows
from tests.lab import Sheet, answer, journey, machine, problem, sheet, volume
from tests.strategies import load


def charges(*, write: bool = False, files: int = 1, size: str = "100 TB", **given: Any) -> Sheet:
    host = machine(volumes={"/s3": volume(filesystem={"kind": "s3", **given})})
    start, to = ("b:memory", "a:/s3") if write else ("a:/s3", "b:memory")
    path = journey(
        host, start=start, to=to, tool={"name": "gridftp", "cc": files}, dataset={"files": files, "size": size}
    )
    return sheet(problem(path))


@cases("given, what, expected, rel", rows("components/s3", "prefixes_limit_small_objects"))
def test_prefixes_limit_small_objects(given: dict[str, Any], what: str, expected: float, rel: float) -> None:
    assert charges(**given).figure(what) == pytest.approx(expected, rel=rel)


def test_requests_for_names_take_less_than_those_for_data_unless_one_time_is_stated() -> None:
    """AWS Labs: a file of a byte in 225 to 248 ms, some four requests; AWS' guidelines: 100 ms to a first byte."""
    assert S3.build({"kind": "s3"}).timed("remove").value == pytest.approx(0.236 / 4, rel=0.05)
    assert S3.build({"kind": "s3", "latency": "5 ms"}).timed("remove").value == 5e-3


@cases("tool, connections, part", rows("components/s3", "tools_that_speak_s3_cut_files_themselves"))
def test_tools_that_speak_s3_cut_files_themselves(tool: dict[str, Any], connections: int, part: float) -> None:
    """What the volume says of parts and connections counts for programs that see a folder."""
    host = machine(volumes={"/s3": volume(filesystem={"kind": "s3", "latency": "0.1 s", "stream": "80 MB/s"})})
    path = journey(host, start="a:memory", to="a:/s3", tool=tool, dataset={"files": 100, "each": "2 GB"})
    assert sheet(problem(path)).rate("s3.connections") == pytest.approx(connections * part / (0.1 + part / 80e6))


def test_tls_is_the_clients_alone() -> None:
    """The store is elsewhere: its end of TLS costs this host nothing."""
    host = machine(volumes={"/s3": volume(filesystem={"kind": "s3"})})
    for tool in ("s5cmd", "rclone"):
        path = journey(host, start="a:memory", to="a:/s3", tool=tool, dataset={"files": 100, "each": "2 GB"})
        threads = [n for n in sheet(problem(path)).stations if ".cpu." in n]
        assert not [n for n in threads if "object store" in n or "receivers" in n]
        assert threads


def test_a_tool_that_speaks_s3_waits_for_each_answer_in_time_as_well() -> None:
    """A request to look, a request to put: nothing of a small file gathers in a page cache meanwhile."""
    host = machine(volumes={"/s3": volume(filesystem={"kind": "s3", "latency": "50 ms", "stream": "1 GB/s"})})
    few = {"files": 100, "size": "1 MB"}
    path = journey(start="a:memory", to="b:/s3", destination=host, tool={"name": "rclone", "transfers": 1}, dataset=few)
    said = answer(path)
    assert said.duration_s.p50 > 100 * 2 * 50e-3
    assert simulate(load(path)).runs[0].transfers[0].duration_s == pytest.approx(said.duration_s.p50, rel=0.01)


@pytest.mark.parametrize(("tool", "at_once", "answers"), [("aws-s3", 10, 1), ("s5cmd", 256, 1), ("rclone", 4, 2)])
def test_a_small_object_is_one_answer_or_two(tool: str, at_once: int, answers: int) -> None:
    """PutObject and GetObject are one request each, 100 ms (Amazon S3 API reference); rclone asks by HEAD, too."""
    host = machine(volumes={"/s3": volume(filesystem={"kind": "s3", "latency": "100 ms", "put_rate": "1M ops/s"})})
    for start, to in (("a:memory", "a:/s3"), ("a:/s3", "a:memory")):
        data = {"files": 51200, "size": "51.2 MB"}
        path = journey(
            host, start=start, to=to, tool={"name": tool, **({} if tool == "rclone" else {"tls": False})}, dataset=data
        )
        took = answer(path).transfers[0].duration_s.p50
        assert took == pytest.approx(51200 / at_once * 0.1 * answers, rel=0.02, abs=3.0)


@pytest.mark.parametrize(("tool", "heads", "cached"), [("curl", 0, False), ("cp", 1, False), ("curl", 0, True)])
def test_an_object_is_got_once_and_not_asked_for_to_be_opened(tool: str, heads: int, cached: bool) -> None:
    """Mountpoint for S3: a look-up is a HEAD, an open none; one GET of 1 MB, which no client keeps in its memory."""
    host = machine(
        volumes={"/s3": volume(filesystem={"kind": "s3", "latency": "100 ms", "stream": "1 GB/s"}), "/d": volume()}
    )
    path = journey(host, start="a:/s3", to="a:/d", tool={"name": tool}, dataset={"files": 1000, "size": "1 GB"})
    path["transfer"]["cached"] = cached
    assert answer(path).transfers[0].duration_s.p50 == pytest.approx(1000 * ((1 + heads) * 0.1 + 1e-3), rel=0.01)


def test_requests_for_objects_go_by_their_names_and_take_what_the_store_says(run: Run) -> None:
    """They were 'create + close', by a figure of ext3."""
    said = run("explain", "examples/s3-upload-nas", "--set", "transfer.tool=rclone").out
    assert "(HEAD) on nas:/bucket" in said
    assert "ext3" not in said
    parts = run("explain", "examples/s3-upload-nas", "--set", "transfer.tool=s5cmd").out
    assert "(2 x POST) on nas:/bucket" in parts  # CreateMultipartUpload, CompleteMultipartUpload
    without = run("explain", "examples/s3-upload-nas", "--set", "transfer.tool={name: rclone, s3_no_head: true}")
    assert "(HEAD)" not in without.out
    deletes = ("--set", "transfer.tool=rm", "--set", "transfer.from=nas:/bucket")
    removed = run("explain", "examples/s3-upload-nas", *deletes)
    assert "(DELETE + LIST) on nas:/bucket" in removed.out
