"""Words for what makes an interval wide."""

from __future__ import annotations

from typing import get_args

import pytest

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
