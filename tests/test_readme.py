"""The README's generated blocks are what the code says today."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import yaml

import dtnsim
from dtnsim.description import spec
from dtnsim.ground import yamlio

ROOT = Path(__file__).parents[1]


def test_the_output_is_what_the_command_prints() -> None:
    """The tables of measured beside predicted take longer: ``.ci/check`` compares them."""
    loaded = importlib.util.spec_from_file_location("readme", ROOT / ".ci" / "readme.py")
    assert loaded is not None
    assert loaded.loader is not None
    module = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(module)
    text = (ROOT / "README.md").read_text()
    assert module.instead() in module.INSTEAD.read_text(), "stale: run 'python .ci/readme.py'"
    assert module.output() in text, "stale: run 'python .ci/readme.py'"
    assert module.proof() in text, "stale: run 'python .ci/readme.py'"
    assert module.proof() in (ROOT / "docs" / "how-to" / "measure.md").read_text()


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
    (run,) = dtnsim.simulate(given).runs
    assert [what for _, what in run.happened] == ["the link is down", "end of: the link is down", "a drive fails"]
