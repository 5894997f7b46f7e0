"""scp, sftp and hpnscp: windows, requests in flight, releases."""

from pathlib import Path

import pytest

from dtnsim.steady.prediction import predict
from dtnsim.tools._ssh import COSTS
from tests.each import rows


def test_hpn_ssh_follows_tcp_and_has_cipher_threads(tool, job):
    (step,) = tool("scp", hpn="true").plan(job()).steps
    assert step.net.channel is None
    single = tool("scp").plan(job()).steps[0]
    busiest = max(w.cycles.value / w.thread.copies for w in step.cpu)
    assert busiest < max(w.cycles.value for w in single.cpu) / 1.5  # HPN-README: threaded ChaCha20 is about 90 % faster


@pytest.mark.parametrize(("version", "cipher", "agreed"), rows("tools/tables", "ciphers by version"))
def test_versions_agree_on_a_cipher(version, cipher, agreed, tool):
    assert tool("scp", version=version, cipher=cipher).agreed() == agreed


def test_costs_are_end_to_end_and_no_better_than_published():
    """AES-GCM over loopback takes 5.0 cycles/B at wreck.net and 6.8 in the lot of `LOT`, kernel TCP included."""
    assert 5.0 < COSTS["aes-gcm"].value + 0.62 < 6.8
    assert COSTS["none"].value < COSTS["aes-gcm"].value < COSTS["chacha20-poly1305"].value < COSTS["aes-ctr old"].value
    assert all(c.spread >= 0.4 for c in COSTS.values())


def test_network_and_cipher_share_the_ssh_process_and_the_file_has_its_own(tool, job):
    (step,) = tool("scp").plan(job()).steps
    ciphers = {w.thread for w in step.cpu if w.what.startswith("SSH")}
    assert ciphers == {step.net.sender, step.net.receiver}
    assert {w.thread for w in step.cpu} - ciphers == {step.read.thread, step.write.thread}  # what goes through pipes
    assert step.read.thread not in {step.net.sender, step.net.receiver}
    assert step.net.streams == 1


@pytest.mark.parametrize(("openssh", "here"), rows("tools/tables", "ciphers_by_the_names_of_openssh"))
def test_ciphers_by_the_names_of_openssh(tool, openssh, here):
    """ssh_config(5), Ciphers."""
    assert tool("scp", cipher=openssh).cipher == here


def test_requests_are_as_large_as_the_server_allows_since_release_8_5(tool):
    """sftp-client.c: 256 KiB less 1024 B where the server knows limits@openssh.com, so that 8 requests fill 2 MiB."""
    assert tool("sftp", version="8.4").requests[1].value == 32768
    assert tool("sftp", version="8.6").requests[1].value == 2**18 - 1024
    assert tool("sftp", version="9.2", B="64 KiB").requests[1].value == 65536


def test_each_request_is_work_of_both_ssh_processes(tool, job):
    """A packet more the other way: eight times as many requests of an eighth of the bytes, eight times the work."""

    def work(**options):
        (step,) = tool("sftp", version="7.9", **options).plan(job()).steps
        uses = [w for w in step.cpu if w.what == "SFTP requests"]
        assert {w.thread for w in uses} == {step.net.sender, step.net.receiver}
        return {w.cycles.value for w in uses}

    (small,), (large,) = work(B="32 KiB"), work(B="256 KiB")
    assert small == pytest.approx(8 * large)
    assert work() == {small}  # 7.9 asks for 32 KiB
    (old,) = tool("scp", version="7.9").plan(job()).steps
    assert not [w for w in old.cpu if w.what == "SFTP requests"]  # its own protocol has none


def test_small_reads_before_8_9_cost_a_fifth_more(tool):
    """Release notes of 8.9; what old releases cost as a whole was measured, or assumed, of them."""
    for cipher in ("aes-gcm", "aes-ctr"):
        old, new = (tool("scp", version=v, cipher=cipher).crypto()[0].cycles.value for v in ("7.9", "9.2"))
        assert old == pytest.approx(1.22 * new)
    assert tool("scp", version="6.0").crypto()[0].cycles == COSTS["aes-ctr old"]


def test_messages_of_a_file_are_drawn_where_the_release_may_speak_sftp(tool, job):
    """Two of the old protocol; OPEN, WRITE, FSETSTAT and CLOSE of SFTP, which scp speaks since 9.0 (release notes)."""
    small = job(files=100, payload_B=1e6)
    unstated, stated, old = (tool("scp", **told).each_file(small) for told in ({}, {"version": "8.9"}, {"O": "true"}))
    assert {kind.value for kind in unstated.drawn.kinds} == {2.0, 4.0}
    assert unstated.round_trips == stated.round_trips == 2.0
    assert stated.drawn is None
    assert old.drawn is None


@pytest.mark.parametrize(("tool", "end", "B", "trips"), rows("tools/tables", "round trips of a short command"))
def test_short_commands_wait_for_whole_round_trips(tool, end, B, trips):
    """As measured: seconds over 240 ms less those over 60 ms, a flight of slow start with each answer or behind it."""
    path = Path(__file__).parents[2] / f"calibration/lot-truth/paths/{tool}.yaml"
    sets = {"transfer.dataset.size": f"{B} B", "wan.bandwidth": "205 Mb/s", "wan.buffer": "8 MB", **end}
    near, far = (predict(path, overrides={**sets, "wan.rtt": r}, samples=0).duration_s for r in ("60 ms", "240 ms"))
    assert (far.p50 - near.p50) / 0.18 == pytest.approx(trips, abs=0.4)
