import pytest


def test_requests_in_flight_are_the_window_where_they_are_fewer(tool):
    assert tool("sftp").in_flight().value == 2**21  # 64 x 32 KiB, and the channel's 2 MiB
    assert tool("sftp", R="16").in_flight().value == 16 * 32768
    assert tool("sftp", R="256").in_flight().value == 2**21
    assert tool("sftp", R="256", hpn="true").in_flight().value == 256 * 32768


def test_a_quarter_of_the_requests_gives_a_quarter_of_the_rate(run):
    full, quarter = (run(f"{{name: sftp, R: {n}}}").throughput_Bps.p50 for n in (64, 16))
    assert full / quarter == pytest.approx(4.0, rel=1e-3)
    assert quarter == pytest.approx(16 * 32768 / 0.053, rel=0.002)
