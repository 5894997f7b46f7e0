"""aws s3: ten threads under one interpreter."""

import pytest

#: uploads
TO = (False, True)


def test_ten_requests_at_once_and_parts_of_8_mib(tool, job):
    """transferconfig.py: max_concurrent_requests 10, multipart_chunksize 8 MiB."""
    plan = tool("aws-s3").plan(job(buckets=TO, files=1, payload_B=8 * 2**20 * 40, largest_B=8 * 2**20 * 40))
    assert plan.workers == 10
    assert plan.steps[0].files.round_trips == 40 / 10 + 2
    assert tool("aws-s3").plan(job(buckets=TO, files=3, payload_B=3e3, largest_B=1e3)).workers == 3


def test_threads_share_one_interpreter(tool, job):
    work = tool("aws-s3").plan(job(buckets=TO, files=100, payload_B=1e9, largest_B=1e7)).steps[0].cpu
    lock = next(use for use in work if use.thread.name == "Python interpreter")
    assert lock.thread.copies == 1
    # 276 MB/s at 3.8 GHz (github scylladb/scylladb, pull 22634)
    assert 3.8e9 / lock.cycles.value == pytest.approx(276e6, rel=0.03)


def test_sync_of_what_is_there_lists_keys_alone(tool, job):
    given = job(buckets=TO, files=5000, payload_B=5e9, largest_B=1e6)
    plan = tool("aws-s3", command="sync", changed="0").plan(given)
    assert [s.name for s in plan.steps] == ["scan"]
    assert plan.opening.round_trips == 2 + 5  # TCP and TLS, a thousand keys an answer
    assert tool("aws-s3", changed="0").plan(given).steps[0].net is not None  # cp looks at nothing


@pytest.mark.parametrize(("target", "at_once"), [("10 Gb/s", 25), ("100 Gb/s", 250), ("1 Gb/s", 10)])
def test_the_native_client_has_a_connection_for_each_part_of_its_target(tool, job, target, at_once):
    """aws-c-s3 s3_client.c: s_throughput_per_connection_gbps = 100 / 250, at least 10; no interpreter in the way."""
    native = tool("aws-s3", preferred_transfer_client="crt", target_bandwidth=target)
    plan = native.plan(job(buckets=TO, files=1000, payload_B=1e9, largest_B=1e6))
    assert plan.workers == at_once
    assert all(use.thread.name != "Python interpreter" for use in plan.steps[0].cpu)
