"""The AWS command line, s5cmd and mc: parts and requests."""

import pytest
from hypothesis import given, strategies as st

from dtnsim.tools._s3 import Client
from dtnsim.tools.plan import Tool

TO = (False, True)  #: uploads


def locked(tool, job, size_B):
    work = tool("aws-s3").plan(job(buckets=TO, files=100, payload_B=100 * size_B, largest_B=size_B)).steps[0].cpu
    return [use for use in work if use.thread.name == "Python interpreter"]


def test_threads_share_one_interpreter(tool, job):
    """276 MB/s at 3.8 GHz in parts of 8 MiB (github scylladb/scylladb, pull 22634)."""
    lock = locked(tool, job, 8 * 2.0**20)
    assert {use.thread.copies for use in lock} == {1}
    assert 3.8e9 / sum(use.cycles.value for use in lock) == pytest.approx(276e6, rel=0.03)


def test_an_interpreter_asks_for_some_hundred_objects_a_second(tool, job):
    """Its rate of objects without bytes is clock over cycles of a request: 3 GHz / 13e6 = 231 a second."""
    for size_B in (1.0, 1024.0):
        _, asked = locked(tool, job, size_B)
        assert 3e9 / (asked.cycles.value * size_B) == pytest.approx(3e9 / 13e6)
    # an upload in parts begins and ends with a request of its own (CreateMultipartUpload, CompleteMultipartUpload)
    _, asked = locked(tool, job, 32 * 2.0**20)
    assert asked.cycles.value * 32 * 2.0**20 == pytest.approx((4 + 2) * 13e6)


@pytest.mark.parametrize(("target", "at_once"), [("10 Gb/s", 25), ("100 Gb/s", 250), ("1 Gb/s", 10)])
def test_the_native_client_has_a_connection_for_each_part_of_its_target(tool, job, target, at_once):
    """aws-c-s3 s3_client.c: s_throughput_per_connection_gbps = 100 / 250, at least 10; no interpreter in the way."""
    native = tool("aws-s3", preferred_transfer_client="crt", target_bandwidth=target)
    plan = native.plan(job(buckets=TO, files=1000, payload_B=1e9, largest_B=1e6))
    assert plan.workers == at_once
    assert all(use.thread.name != "Python interpreter" for use in plan.steps[0].cpu)


@given(st.floats(1, 1e12), st.floats(5e6, 1e9))
def test_parts_cover_an_object(size, part):
    client = Client("x", True, 1, part, part, Tool.build({"kind": "s5cmd"}).p, Tool.build({"kind": "s5cmd"}).p)
    assert (client.parts(size) - 1) * part < size <= client.parts(size) * part * (1 + 1e-9) or size < part


def test_payload_is_hashed_only_without_tls(tool, job):
    def hashed(**options):
        return any("SHA-256" in use.what for use in tool("mc", **options).plan(job(buckets=TO)).steps[0].cpu)

    assert hashed(tls=False)
    assert not hashed()


def test_s5cmd_sums_what_it_puts(tool, job):
    """aws-sdk-go service/s3/body_hash.go: MD5 and SHA-256 of every body; of what is read nothing."""
    put, got = (tool("s5cmd").plan(job(buckets=way)).steps[0].cpu for way in (TO, (True, False)))
    sums = [use.cycles.value for use in put if "of the body" in use.what]
    assert sum(sums) == pytest.approx(4.99 + 2.8e9 / 1.3e9, rel=0.01)  # openssl speed, SHA-256 at 2.8 GHz
    assert not any("of the body" in use.what for use in got)
