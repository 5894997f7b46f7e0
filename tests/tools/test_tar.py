import pytest

from dtnsim.tools.plan import FileCost


def test_gzip_is_a_process_beside_tar(tool, job):
    (step,) = tool("tar", z="true").plan(job(rtt_s=0.0)).steps
    (gzip,) = step.cpu
    assert gzip.thread.name != step.write.thread.name
    packing = tool("tar", z="true", mode="c").plan(job(rtt_s=0.0)).steps[0].cpu[0]
    assert packing.cycles.value / gzip.cycles.value == pytest.approx(0.445 / 0.036)  # zlib-6, lz4 README


@pytest.mark.parametrize("mode", ["x", "c"])
def test_an_archive_is_one_file(tool, job, mode):
    """What is extracted is read from one file, and what is packed goes into one: no seek a file at that end."""
    given = job(rtt_s=0.0, files=1_000_000, payload_B=1e11, largest_B=1e5)
    (step,) = tool("tar", mode=mode).plan(given).steps
    assert [step.read.file_B, step.write.file_B] == ([1e11, 1e5] if mode == "x" else [1e5, 1e11])


def test_a_stream_is_an_archive_a_device_or_a_snapshot(tool, job):
    """tar pays headers of 512 B, padding and operations a file; dd and zfs send none of them."""
    given = job(files=100_000, payload_B=1e9, largest_B=1e4, directories=10)
    for kind in ("tar-ssh", "tar-nc"):
        tar, dd, zfs = (tool(kind, packer=p).plan(given).steps[0] for p in ("tar", "dd", "zfs"))
        assert tar.net.overhead / dd.net.overhead == pytest.approx(1 + 100_000 * 768 / 1e9, rel=1e-4)
        assert dd.net.overhead == zfs.net.overhead
        assert tar.files.source
        assert dd.files == zfs.files == FileCost()
