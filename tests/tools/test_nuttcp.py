import pytest

from dtnsim.ground.errors import SpecError


def test_one_thread_a_side_does_network_and_file(tool, job):
    (step,) = tool("nuttcp", N="2", w="6 MiB").plan(job()).steps
    assert step.read.thread == step.net.sender
    assert step.write.thread == step.net.receiver
    assert (step.net.sender.copies, step.net.streams, step.net.window.value) == (1, 2, 6 * 2**20)
    assert step.read.block_B == 65536  # nuttcp(8): 64 KiB for TCP


def test_memory_to_memory_touches_no_file(tool, job):
    (step,) = tool("nuttcp").plan(job(source="memory", destination="memory")).steps
    assert step.read is step.write is None
    assert step.cpu == ()
    assert step.files.round_trips == 0


def test_the_receiving_core_pays_for_network_and_file(run):
    """Times of one core add: 1/X = 1/X_receive + 1/X_write (the effect that NASA's C-systems show)."""
    both = run("{name: nuttcp}", rtt="0.11 ms", start="a:memory", to="b:/data")
    receive = run("{name: nuttcp}", rtt="0.11 ms", start="a:memory", to="b:memory")

    def receiver(prediction):
        demands = prediction.problem.transfers[0].phases[0].demands
        return [d.per_byte for d in demands if "nuttcp receiver" in d.station]

    terms, alone = receiver(both), receiver(receive)
    assert len(terms) == 2
    assert alone == pytest.approx([t for t in terms if t == pytest.approx(alone[0])])
    assert both.throughput_Bps.p50 == pytest.approx(9e9 / sum(terms), rel=0.01)
    assert "nuttcp receiver" in both.bottleneck.station


def test_buffers_are_not_streams(tool):
    with pytest.raises(SpecError, match="n: is not a key here"):
        tool("nuttcp", n="2")
