"""YAML with places: text stays text, keys know their lines, hostile files are refused early."""

import contextlib
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, strategies as st

from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import MAX_NODES, Mapping, load, loads
from tests.each import rows


def test_scalars_stay_text_and_know_their_line() -> None:
    read = loads("a: off\nb:\n  c: 0x10\n", "f.yaml")
    assert read == {"a": "off", "b": {"c": "0x10"}}
    assert isinstance(read["b"]["c"], Scalar)
    assert (read["b"]["c"].file, read["b"]["c"].line) == ("f.yaml", 3)
    assert read.lines == {"a": ("f.yaml", 1), "b": ("f.yaml", 2)}


def test_nothing_is_none_anchors_work_and_a_source_is_inherited() -> None:
    assert loads("a:\nb: ~\nc: ''\n", "f") == {"a": None, "b": None, "c": ""}
    assert loads("a: &x {p: 1}\nb: *x\n", "f") == {"a": {"p": "1"}, "b": {"p": "1"}}
    assert loads("a: 3 ms\nsource: page 4", "f.yaml", inherit=True)["a"].origin == "page 4 (f.yaml:1)"


def test_a_clone_leaves_the_original_alone() -> None:
    first = loads("a: 1", "f")
    second = first.clone()
    second.put("a", "2", "g", 9)
    assert (first["a"], first.lines["a"]) == ("1", ("f", 1))


@pytest.mark.parametrize(("text", "says"), rows("ground/tables", "no_yaml_of_ours"))
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        loads(text, "f.yaml")


def test_what_expands_to_too_much_is_refused() -> None:
    with pytest.raises(SpecError, match="expands to more"):
        loads("a: &a [" + "1, " * 999 + "1]\nb: [" + "*a, " * (MAX_NODES // 1000 + 1) + "]", "f.yaml")


def test_what_is_written_out_may_be_long() -> None:
    """Ten thousand transfers are no bomb: only what aliases repeat is limited."""
    with patch("dtnsim.ground.yamlio.MAX_NODES", 50):
        read = loads("a: &a [1, 2]\nb: [" + "1, " * 99 + "*a, *a]", "f.yaml")
    assert len(read["b"]) == 101


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="No such file"):
        load(tmp_path / "absent.yaml")
    with pytest.raises(SpecError, match="folder"):
        load(tmp_path)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_clearly(text: str) -> None:
    with contextlib.suppress(SpecError):  # any other exception fails the test
        assert isinstance(loads(text, "f.yaml"), Mapping)
