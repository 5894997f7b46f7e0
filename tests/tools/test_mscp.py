"""mscp: SFTP requests over several connections."""

import pytest


@pytest.mark.parametrize(("cores", "connections"), [(1, 1), (2, 2), (8, 5), (64, 9)])
def test_connections_by_cores(tool, job, cores, connections):
    """mscp(1): floor(log(nr_cores)*2)+1."""
    assert tool("mscp").plan(job(cores=cores)).workers == connections


def test_window_of_a_connection(run):
    """32 requests of 16 KiB over 53 ms are 9.9 MB/s a connection."""
    for n in (1, 8):
        rate = run(f"{{name: mscp, n: {n}}}").throughput_Bps.p50
        assert rate == pytest.approx(n * 32 * 16384 / 0.053, rel=0.02)


def test_files_are_cut_only_above_64_mib(tool, job):
    """mscp.c: DEFAULT_MIN_CHUNK_SZ."""
    made = tool("mscp", n=8)
    assert made.chunk_B(2**26, 8) == 2**26
    assert made.chunk_B(2**33, 8) == 2**30
    assert made.plan(job(files=1, payload_B=2.0**26, largest_B=2.0**26)).workers == 1


def test_the_list_of_a_fetch_holds_many_connections(tool, job):
    """path.c: walk_path_recursive asks for every file's attributes, one after the other."""
    given = job(files=10_000, payload_B=1e8, largest_B=1e4)
    assert tool("mscp", n=16, client="destination").plan(given).steps[0].files.round_trips == 16
    assert tool("mscp", n=2, client="destination").plan(given).steps[0].files.round_trips == 3
