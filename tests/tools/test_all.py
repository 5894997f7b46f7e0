"""What holds for every tool: options are checked, plans are sound, numbers have a source."""

import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim import tools
from dtnsim.components.base import find_kind, kinds
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity
from dtnsim.tools.plan import EndKind, Job, Tool, usages

TOOLS = sorted(k for k, module in kinds().items() if module.startswith("dtnsim.tools."))
#: those that speak S3, which one end has to
BUCKETS = {kind for kind, usage in usages() if usage.leads == "bucket"} | {"warp"}
_FAR = Job("j", 1, 1e9, 1e9, 0, 0.05, "volume", "volume", 8, file_memory_B=(64e9, 64e9), buckets=(False, True))


def _stays(kind: str) -> bool:
    """Whether a tool copies or removes within one host, and refuses another."""
    try:
        Tool.build({"kind": kind}).plan(_FAR)
    except SpecError as error:
        return "within one host" in str(error)
    return False


LOCAL = {kind for kind in TOOLS if _stays(kind)}
#: what plan may name as an operation on a file system
OPERATIONS = {
    "create", "exclusive", "open", "close", "stat", "remove", "mkdir", "setattr", "lookup", "rename", "readdir",
    "access", "list",
}  # fmt: skip


def test_every_kind_of_a_tool_is_known_and_no_helper_is():
    texts = [p.read_text() for p in Path(tools.__file__).parent.glob("*.py")]
    assert {kind for text in texts for kind in re.findall(r'\n    kind: ClassVar\[str\] = "(.+)"', text)} == set(TOOLS)
    assert all(issubclass(find_kind(k), Tool) and find_kind(k).kind == k for k in TOOLS)


@pytest.mark.parametrize("kind", TOOLS)
def test_unknown_option_is_an_error_that_names_the_key(kind, tool):
    with pytest.raises(SpecError, match=r"warp_speed: is not a key here.*known keys"):
        tool(kind, warp_speed="9")


@pytest.mark.parametrize("kind", TOOLS)
def test_every_number_has_unit_and_source(kind, tool):
    made = tool(kind)
    for name in type(made).model_fields:
        value = getattr(made, name)
        if isinstance(value, Quantity):
            assert value.source, f"{kind}.{name}"
            assert value.source.startswith("assumed:") <= (value.spread > 0), f"{kind}.{name}: assumed without spread"


@pytest.mark.parametrize("kind", TOOLS)
def test_negative_numbers_are_errors_that_name_the_key(kind, tool):
    made, tried = tool(kind), 0
    without = {"rm", "mdtest", "curl", "pelican", "rsync-parallel"}
    for name in type(made).model_fields:
        value = getattr(made, name)
        if isinstance(value, Quantity):
            tried += 1
            unit = {"B": "B", "B/s": "B/s", "s": "s", "cycles/B": "cycles/B", "1": ""}[value.dim]
            with pytest.raises(SpecError, match=rf"^{name}: .*out of range"):
                tool(kind, **{name: f"-3 {unit}"})
    assert tried or kind in without, f"{kind}: no option has a quantity as its default; if so, add it to `without`"


@pytest.mark.parametrize("kind", TOOLS)
def test_json_schema_lists_every_option(kind):
    model = find_kind(kind)
    shown = model.model_json_schema(by_alias=False)["properties"]
    assert set(shown) == set(model.model_fields)


@settings(max_examples=12)
@given(
    kind=st.sampled_from(TOOLS),
    files=st.integers(1, 10**6),
    size=st.floats(1.0, 1e12),
    ends=st.tuples(st.sampled_from(get_args(EndKind)), st.sampled_from(get_args(EndKind))),
    rtt=st.sampled_from([0.0, 1e-4, 0.2]),
)
def test_plans_are_sound_whatever_the_job(kind, files, size, ends, rtt):
    job = Job(
        "j",
        files,
        files * size,
        size,
        3,
        0.0 if kind in LOCAL else rtt,
        *ends,
        8,
        file_memory_B=(64e9, 64e9),
        buckets=(False, kind in BUCKETS),
    )
    made = Tool.build({"kind": kind})
    # iozone and bonnie write by default and need a volume at 'to'; fio reads, and rm removes, at either end
    needed = {
        "iozone": ends[1:],
        "ior": ends[1:],
        "bonnie": ends[1:],
        "fio": ends,
        "rm": ends,
        "rados-bench": ends[1:],
        "mdtest": ends[1:],
    }.get(kind)
    if needed is not None and "volume" not in needed:
        with pytest.raises(SpecError, match="needs a volume"):
            made.plan(job)
        return
    plan = made.plan(job)
    assert plan.steps
    assert plan.workers >= 1
    assert plan.weight >= 1
    for step in plan.steps:
        assert step.share > 0
        for access, end in ((step.read, ends[0]), (step.write, ends[1]), (step.reread, ends[1])):
            if access is not None:
                assert end == "volume"
                assert access.again or access.total_B == pytest.approx(job.payload_B)
                assert 1 <= access.own_streams <= access.streams
        if step.net is not None:
            assert step.net.streams >= 1
            assert min(step.net.sender.copies, step.net.receiver.copies) >= 1
        assert {*step.files.source, *step.files.destination, *step.files.directory} <= OPERATIONS
        assert all(work.cycles.value > 0 and work.cycles.source and work.what for work in step.cpu)


@pytest.mark.parametrize("kind", TOOLS)
def test_a_device_at_the_source_costs_what_it_costs_to_make_the_bytes(kind, tool, job):
    if kind in {"iozone", "ior", "bonnie", "fio", "rm", "iperf2", "iperf3", "netperf", "ntttcp", "perftest",
                "crashplan", "rados-bench", "warp", "mdtest"}:  # fmt: skip
        pytest.skip("makes its own data, or has no source")
    rtt = 0.0 if kind in LOCAL else 0.01
    made = tool(kind)
    ends = {"rtt_s": rtt, "buckets": (False, kind in BUCKETS)}
    plans = (made.plan(job(source=s, **ends)) for s in ("zero", "random", "volume"))
    # the step that moves the bytes; what comes after it in some of them verifies
    zero, random, stored = (next((s for s in p.steps if s.net), p.steps[-1]) for p in plans)
    assert zero.read is None
    assert stored.read is not None
    extra = {w.what: w.cycles.value for w in random.cpu if "random" in w.what}
    assert list(extra.values()) == [9.0]
    assert [w.cycles.value for w in zero.cpu if "zero" in w.what] == [0.2]
    assert zero.write.stored == 0.0  # zeros vanish on a compressing medium
    assert stored.write.stored == 1.0
