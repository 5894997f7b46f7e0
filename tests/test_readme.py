"""The README's generated blocks are what the code says today; every public run of a tool is in its table."""

import re
from pathlib import Path

import yaml

import dtnsim
from dtnsim.components.base import kinds
from dtnsim.description import spec
from dtnsim.ground import library, yamlio
from dtnsim.tools._command import programs
from tests.scripts import CI, ROOT, script


def test_the_output_is_what_the_command_prints() -> None:
    """The tables of measured beside predicted take longer: ``.ci/check`` compares them."""
    module = script(CI / "readme.py")
    quick = ("instead", "output", "proof")
    stale = [name for name in quick if any(page.read_text() != new for page, new in module.filled([name]).items())]
    assert not stale, f"stale: run 'python .ci/readme.py {' '.join(stale)}'"


def test_the_path_in_the_readme_is_valid() -> None:
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        assert yaml.safe_load(block)
        assert spec.resolve(yamlio.loads(block, "README.md")).transfers


def test_the_events_in_the_readme_happen(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    (path,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (events,) = re.findall(r"```yml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "ours.yaml").write_text(path)
    (tmp_path / "night.yaml").write_text(events)
    given = spec.load(tmp_path / "ours.yaml", events=tmp_path / "night.yaml")
    for run in dtnsim.simulate(given, replicas=2).runs:
        assert [what for _, what in run.happened] == ["the link is down", "end of: the link is down", "a drive fails"]


def test_some_points_of_every_tool_make_a_table(monkeypatch):
    module = script(CI / "readme.py")
    every = module.tool_points()
    assert sum(len(p) for p in every) == 637
    monkeypatch.setattr(module, "tool_points", lambda: every[::6])
    lines = module.tools().splitlines()
    names = {p[0]["tool_key"] for p in every[::6]}
    assert {line.split("|")[1].strip() for line in lines[2:]} == {*names, "**all**"}
    assert float(lines[-1].split("|")[3].strip(" %")) < 6.0


def test_what_has_a_model_needs_nothing_in_its_place() -> None:
    """A program that became a tool has its line under ``instead`` removed."""
    tools = {kind for kind, module in kinds().items() if module.startswith("dtnsim.tools.")} | set(programs())
    both = tools & set(library.spoken()["instead"]["programs"])
    assert not both, f"models/spoken.yaml, instead: remove {', '.join(sorted(both))}, which has a model now"
