"""mc: a worker a core, four parts of a large upload each."""

from dataclasses import replace

#: uploads
TO = (False, True)


def test_workers_begin_with_the_cores(tool, job):
    """parallel-manager.go: runtime.NumCPU() at the start, 128 at most."""
    small = job(buckets=TO, files=1000, payload_B=1e7, largest_B=1e4, cores=8)
    assert tool("mc").plan(small).workers == 8
    assert tool("mc", workers=32).plan(small).workers == 32


def test_uploads_go_in_parts_and_downloads_do_not(tool, job):
    """minio-go constants.go: minPartSize 16 MiB, totalWorkers 4."""
    large = job(buckets=TO, files=1, payload_B=2.0**30, largest_B=2.0**30)
    assert tool("mc").plan(large).workers == 4
    assert tool("mc", disable_multipart=True).plan(large).workers == 1
    assert tool("mc").plan(replace(large, buckets=(True, False))).workers == 1


def test_payload_is_hashed_only_without_tls(tool, job):
    def hashed(**options):
        return any("SHA-256" in use.what for use in tool("mc", **options).plan(job(buckets=TO)).steps[0].cpu)

    assert hashed(tls=False)
    assert not hashed()
