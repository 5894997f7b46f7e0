"""Packages of extras: their absence is one line that names the extra."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from dtnsim.ground import extras
from dtnsim.ground.errors import InputError

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_what_is_installed_comes_as_it_is() -> None:
    import json

    assert extras.need("json", "a test") is json
    assert extras.installed("json")


@pytest.mark.parametrize("package", sorted(extras.EXTRAS))
def test_what_is_absent_names_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert not extras.installed(package)
    with pytest.raises(InputError) as caught:
        extras.need(package, "--out: X", instead="write a .csv")
    line = f"--out: X needs {package}: pip install 'dtn-pathsim[{extras.EXTRAS[package]}]', or write a .csv"
    assert str(caught.value) == line


@pytest.mark.parametrize("package", sorted(extras.EXTRAS))
def test_each_extra_installs_what_it_is_named_for(package: str) -> None:
    def closure(extra: str) -> list[str]:
        listed = PROJECT["optional-dependencies"][extra]
        inner = [e for w in listed if w.startswith("dtn-pathsim[") for e in w[12:-1].split(",")]
        return [*listed, *(w for e in inner for w in closure(e))]

    own = closure(extras.EXTRAS[package])
    assert any(package in wanted for wanted in own)
    assert not any(wanted.startswith(package) for wanted in PROJECT["dependencies"])
    assert any(package in wanted for wanted in closure("all"))
