import numpy as np
import pytest

from dtnsim.ground.quantity import Draw


def test_sum_by_version(tool, job):
    """rsync 3.2 replaced MD5 by XXH128, some fifty times cheaper (xxHash README: 31.5 against 0.6 GB/s)."""
    cost = {
        v: next(w.cycles.value for w in tool("rsync", version=v).plan(job()).steps[1].cpu if "sum" in w.what)
        for v in ("3.1.3", "3.2.7")
    }
    assert cost["3.1.3"] / cost["3.2.7"] == pytest.approx(31.5 / 0.6)


def test_a_release_that_nobody_states_is_drawn_among_those_of_its_years(tool, job):
    """The newest in three of four scenarios, the one before (MD5) in one; what is written stays, and the ceiling."""

    def cost(draw, **version):
        work = tool("rsync", **version).plan(job()).steps[1].cpu
        return draw(next(w.cycles for w in work if "sum" in w.what))

    new, old = (cost(Draw(), version=v) for v in ("3.2.7", "3.1.2"))
    assert cost(Draw()) == new
    drawn = cost(Draw(400))
    assert np.mean(drawn > np.sqrt(new * old)) == pytest.approx(0.25)
    assert np.max(cost(Draw(400), version="3.2.7")) < np.sqrt(new * old)


def test_sums_and_cipher_of_unstated_releases_are_of_one_draw(tool, job):
    """Who has an old rsync has old sums at both ends, and compresses by zlib."""
    work = tool("rsync", compress=True, ratio="2").plan(job()).steps[1].cpu
    draw = Draw(400)
    sums, packed = (draw(next(w.cycles for w in work if word in w.what)) for word in ("sum", "compression"))
    assert np.corrcoef(np.log(sums), np.log(packed))[0, 1] > 0.8


def test_delta_sends_less_but_reads_the_old_version(tool, job):
    transfer = tool("rsync", literal="10 %").plan(job()).steps[1]
    assert transfer.net.overhead == pytest.approx(0.1, rel=0.01)
    assert transfer.reread is not None
    whole = tool("rsync", literal="10 %", W="true").plan(job()).steps[1]
    assert whole.net.overhead == pytest.approx(1.0, rel=0.01)
    assert whole.reread is None
    assert tool("rsync", literal="10 %").plan(job(rtt_s=0.0)).steps[1].reread is None  # whole files on one host


def test_cipher_works_on_what_is_sent(tool, job):
    def cipher(**options):
        return next(w.cycles.value for w in tool("rsync", **options).plan(job()).steps[1].cpu if "SSH" in w.what)

    assert cipher(z="true", ratio="4") == pytest.approx(cipher() / 4)


def test_touched_files_send_next_to_nothing_but_are_read_at_both_ends(tool, job):
    """TR-CS-96-05: what is known is named by its block, 4 bytes of 3160 for a file of 10 MB."""
    step = tool("rsync", literal="0").plan(job(files=100, payload_B=1e9, largest_B=1e7)).steps[1]
    assert step.net.overhead == pytest.approx(4 / 3160, rel=0.01)
    assert step.read is not None
    assert step.reread.thread.name == "rsync generator"
    assert {w.thread.name for w in step.cpu if "old blocks" in w.what} == {"rsync generator"}
