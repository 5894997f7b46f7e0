"""Words for what makes an interval wide."""

from pathlib import Path
from typing import get_args

import pytest

from dtnsim.description import spec
from dtnsim.steady import regime, why_wide
from dtnsim.steady.why_wide import Share
from dtnsim.tools.plan import ToolClass


@pytest.mark.parametrize("kind", regime.KINDS)
def test_every_kind_of_evidence_has_words(kind: str) -> None:
    assert Share(f"repeat {kind}", 0.1, 0.9, "").what.startswith("chance from run to run where ")
    assert kind in why_wide._HOLDS
    for tool in get_args(ToolClass):
        said = Share(f"discrepancy production/{kind}/{tool}", 0.1, 0.9, "").what
        assert "/" not in said
        assert tool in why_wide._TOOLS


def test_a_parameter_is_called_by_its_key() -> None:
    assert Share("nersc.cpu.clock", 0.1, 0.9, "").what == "nersc.cpu.clock"


def test_a_number_of_the_model_is_called_by_the_work_that_it_is_the_cost_of(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "hosts: {a: {nic: 100 Gb/s}, b: {nic: 100 Gb/s}}\nwan: {bandwidth: 100 Gb/s, rtt: 1 ms}\n"
        "transfer: {from: a:memory, to: b:memory, tool: scp, dataset: {size: 1 TB}}\n"
    )
    found = {s.what: s for s in why_wide.of_path(spec.load(path), samples=512)}
    cipher = found["cost of SSH chacha20-poly1305 (6.95 cycles/B)"]
    assert cipher.share > 0.1
    assert "openssl speed" in cipher.measure
    assert not [what for what in found if "loopback" in what]  # a source is no name
