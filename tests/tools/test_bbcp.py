import pytest

from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping
from dtnsim.tools.plan import Tool


def test_a_fixed_window_stays_traceable_to_its_line():
    given = Mapping("path.yaml", 3)
    given.put("kind", "bbcp", "path.yaml", 3)
    given.put("w", Scalar("=8", "path.yaml", 4), "path.yaml", 4)
    with pytest.raises(SpecError, match=r"path\.yaml:4: w: .*no unit"):
        Tool.build(given)


def test_threads_of_their_own_for_reading_streams_and_writing(tool, job):
    step = tool("bbcp", e="true").plan(job()).steps[0]
    names = {step.read.thread.name, step.write.thread.name, step.net.sender.name, step.net.receiver.name}
    assert len(names) == 4
    assert (step.net.sender.copies, step.read.thread.copies) == (4, 1)
    sums = [w for w in step.cpu if w.what == "MD5"]
    assert {w.thread for w in sums} == {step.net.sender, step.net.receiver}  # -e sums each block as it is sent
    assert 4.9e9 / sums[0].cycles.value == pytest.approx(0.6e9)  # MD5 on an i7-9700K (xxHash README)


def test_options_that_change_no_rate(tool, job):
    plain, dressed = tool("bbcp"), tool("bbcp", z="true", P="10", r="true")
    assert plain.plan(job()) == dressed.plan(job())
