"""Kinds register themselves; parts merge under what is written; errors say where and what instead."""

import importlib
import re
from pathlib import Path
from typing import get_args

import pytest

from dtnsim import components, tools
from dtnsim.components.base import SUPPORT, Component, expand, find_kind, kinds, validate
from dtnsim.components.device import Device
from dtnsim.components.filesystem import Filesystem
from dtnsim.components.ssd import Ssd
from dtnsim.ground import yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Unit
from dtnsim.tools.plan import Tool
from tests.each import cases, of_each, rows

COMPONENTS = Path(__file__).parents[2] / "dtnsim" / "components"
#: kinds that hold others, have no keys of their own, or whose tests are in the file of their name
ELSEWHERE = {"board", "chassis", "expander", "measured", "none", "tmpfs", "unknown", "unlike", "vast"}


def test_a_kind_is_found_without_its_file() -> None:
    """By the name of its file, or where its family's file says it; and every kind says what it is."""
    found = kinds()
    assert all(find_kind(k).kind == k for k in ("ssd", "raid", "raidz", "nfs", "gridftp", "segment", "iperf3"))
    files = {p.stem.replace("_", "-") for p in COMPONENTS.glob("*.py") if p.stem[0] != "_" and p.stem not in SUPPORT}
    assert files - {name.replace("_", "-") for name in components.TOGETHER} <= set(found)
    assert not [k for k in found if not (find_kind(k).family and (find_kind(k).__doc__ or "").strip())]
    tried = {word for p in Path(__file__).parent.glob("keys*.yaml") for word in re.findall(r"[\w-]+", p.read_text())}
    untried = {k for k in found if not issubclass(find_kind(k), Tool)} - tried
    assert untried <= ELSEWHERE, f"write a row for each key of {untried - ELSEWHERE} into tests/components/keys*.yaml"
    for room in (components, tools):
        for family, named in room.TOGETHER.items():
            module = importlib.import_module(f"{room.__name__}.{family}")
            classes = [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]
            assert {c.kind for c in classes if issubclass(c, Component)} - {""} == set(named.split()), family


@of_each(kinds())
def test_what_is_stated_without_a_spread_is_known_to_a_factor_of_two(kind: str) -> None:
    for name, field in find_kind(kind).model_fields.items():
        known = [field.metadata, *(getattr(t, "__metadata__", ()) for t in get_args(field.annotation))]
        assert all(u.spread <= 1.0 for some in known for u in some if isinstance(u, Unit)), name


def test_what_is_written_goes_over_the_part() -> None:
    plain = Component.build("intel-s4500")
    changed = Component.build({"part": "intel-s4500", "read": "123 MB/s"})
    assert isinstance(plain, Ssd)
    assert isinstance(changed, Ssd)
    assert (changed.read.value, changed.write, changed.part) == (123e6, plain.write, "intel-s4500")


def test_expanding_leaves_the_library_alone() -> None:
    expand("intel-s4500")["read"] = "1 MB/s"
    assert expand("intel-s4500")["read"] != "1 MB/s"


def test_a_component_that_is_built_passes_through() -> None:
    drive = Device.build({"kind": "hdd", "rate": "100 MB/s"})
    assert Device.build(drive) is drive


@pytest.mark.parametrize(("given", "says"), rows("components/tables", "errors_say_what_to_write"))
def test_errors_say_what_to_write(given: object, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        Device.build(given, key="drive")


@pytest.mark.parametrize("told", [{"raid": 6, "disks": 8}, {"raid": 6, "drives": 8}, {"raidz": 2, "disks": 8}])
def test_a_kind_is_told_by_keys_that_no_other_has(told: dict[str, int]) -> None:
    (kind, level), *_ = told.items()
    same = {"kind": kind, "level": level, "disks": 8, "of": "intel-s4500"}
    assert Device.build({**told, "of": "intel-s4500"}) == Device.build(same)
    with pytest.raises(SpecError, match="has no kind"):  # of raid, raidz and draid
        Device.build({"level": 2, "disks": 8, "of": "intel-s4500"})


def test_a_path_file_named_after_a_filesystem_is_no_part(tmp_path: Path) -> None:
    """``filesystem: smb`` in a folder that has an ``smb.yaml``."""
    (tmp_path / "smb.yaml").write_text("name: a path\n")
    said = yamlio.loads("filesystem: smb\n", str(tmp_path / "smb.yaml"))["filesystem"]
    assert expand(said, family="filesystem") == {"kind": "smb"}


@cases("model, part", rows("components/tables", "a_processor_is_known_by_what_linux_prints_of_it"))
def test_a_processor_is_known_by_what_linux_prints_of_it(model: str, part: str | None) -> None:
    if part is None:
        with pytest.raises(SpecError, match="there is no part"):
            expand(model, family="cpu")
    else:
        assert expand(model, family="cpu")["part"] == part


def test_errors_carry_file_line_and_key() -> None:
    text = "kind: raid\nlevel: 5\ndisks: 4\nof:\n  kind: hdd\n  rate: 100 MB\n"
    with pytest.raises(SpecError) as caught:
        Device.build(yamlio.loads(text, "array.yaml"))
    assert (caught.value.file, caught.value.line) == ("array.yaml", 6)
    assert "rate" in str(caught.value.key)


def test_values_remember_their_line() -> None:
    drive = Device.build(yamlio.loads("kind: hdd\nrate: 100 MB/s\n", "disk.yaml"))
    assert "disk.yaml:2" in drive.rate.source  # type: ignore[attr-defined]  # an hdd


def test_instances_do_not_change() -> None:
    drive = Ssd.build({"kind": "ssd", "read": "1 GB/s", "write": "1 GB/s"})
    with pytest.raises(ValueError, match="frozen"):
        drive.compresses = True  # type: ignore[misc]  # that is the test


def test_validate_builds_what_is_in_the_mapping() -> None:
    mapping = yamlio.loads("rate: 100 MB/s\n", "x.yaml")
    assert validate(find_kind("hdd"), mapping).rate.value == 1e8  # type: ignore[attr-defined]


def test_what_is_no_part_is_said_with_its_key() -> None:
    with pytest.raises(SpecError, match="needs a part name") as caught:
        expand(5, key="hosts.a.nic")
    assert caught.value.key == "hosts.a.nic"


def test_what_is_wrong_with_a_part_and_keys_of_ones_own_is_at_ones_own_line() -> None:
    given = yamlio.loads("\npart: pcie-gen4-x16\nlanes: 4\nbifurcation: 6\n", "mine.yaml")
    with pytest.raises(SpecError, match="cannot be split") as caught:
        find_kind("slot").build(given)
    assert caught.value.file == "mine.yaml"


def test_families_hold_together() -> None:
    assert issubclass(find_kind("zfs"), Filesystem)
    assert find_kind("raidz").family == find_kind("hdd").family == "device"
