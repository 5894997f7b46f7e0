import pytest

from dtnsim.tools.plan import FileCost


def test_untar_over_nfs_waits_five_round_trips_a_file(run):
    """RFC 1813 requests of an extracted file; five is also what 'tarxpathology' and two measured untars show."""
    data = "{files: 3065, each: 1 B}"
    far = run("{name: tar}", rtt="9.96 ms", data=data, start="a:/data", to="a:/nfs").duration_s.p50
    near = run("{name: tar}", rtt="9.96 ms", data=data, start="a:/data", to="a:/data").duration_s.p50
    assert far - near == pytest.approx(3065 * 5 * 0.00996, rel=0.02)


def test_untar_of_uci_agrees_with_the_measured_latency(run):
    """157.3 s over 9.96 ms (UCI report); 3065 entries of 49 MB, of which local work takes 1.5 s there."""
    data = "{files: 3065, size: 49 MB}"
    duration = run("{name: tar, z: true}", rtt="9.96 ms", data=data, start="a:/data", to="a:/nfs").duration_s.p50
    assert duration == pytest.approx(157.3, rel=0.1)  # a few of the round trips depend on the client's caches


def test_gzip_is_a_process_beside_tar(tool, job):
    (step,) = tool("tar", z="true").plan(job(rtt_s=0.0)).steps
    (gzip,) = step.cpu
    assert gzip.thread.name != step.write.thread.name
    packing = tool("tar", z="true", mode="c").plan(job(rtt_s=0.0)).steps[0].cpu[0]
    assert packing.cycles.value / gzip.cycles.value == pytest.approx(0.445 / 0.036)  # zlib-6, lz4 README


def test_a_directory_costs_three_round_trips(run):
    """RFC 1813: MKDIR, ACCESS before the first CREATE in it, SETATTR of its times."""
    files, trees = "{files: 100, each: 1 B}", "{files: 100, each: 1 B, directories: 50}"
    with_, without = (
        run("{name: tar}", rtt="10 ms", data=d, start="a:/data", to="a:/nfs").duration_s.p50 for d in (trees, files)
    )
    assert with_ - without == pytest.approx(50 * 3 * 0.010, rel=1e-6)


def test_a_stream_is_an_archive_a_device_or_a_snapshot(tool, job):
    """tar pays headers of 512 B, padding and operations a file; dd and zfs send none of them."""
    given = job(files=100_000, payload_B=1e9, largest_B=1e4, directories=10)
    for kind in ("tar-ssh", "tar-nc"):
        tar, dd, zfs = (tool(kind, packer=p).plan(given).steps[0] for p in ("tar", "dd", "zfs"))
        assert tar.net.overhead / dd.net.overhead == pytest.approx(1 + 100_000 * 768 / 1e9, rel=1e-4)
        assert dd.net.overhead == zfs.net.overhead
        assert tar.files.source
        assert dd.files == zfs.files == FileCost()
