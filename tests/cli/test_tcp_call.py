"""`dtnsim.tcp`: the calculator as a call says what the command says."""

from __future__ import annotations

import json

import pytest

import dtnsim
from dtnsim.ground.errors import InputError
from tests.cli.conftest import Run


def test_the_call_and_the_command_agree(run: Run) -> None:
    asked = ["tcp", "--rate", "10Gb/s", "--rtt", "50ms", "--loss", "1e-5", "--streams", "8", "--buffer", "16MB"]
    said = json.loads(run(*asked, "--json").out)
    answer = dtnsim.tcp("10 Gb/s", "50 ms", loss=1e-5, streams=8, buffer="16 MB")
    wanted = {k: said["goodput_Bps"][k] for k in ("p10", "p50", "p90")}
    assert answer.goodput_Bps.as_dict() == pytest.approx(wanted, rel=1e-9)
    assert (answer.limit, answer.link_Bps) == (said["limit"], said["link_Bps"])
    assert answer.completion_s is None


def test_numbers_are_si_and_a_size_has_a_time() -> None:
    assert dtnsim.tcp(1.25e9, 0.05) == dtnsim.tcp("10 Gb/s", "50 ms")
    sized = dtnsim.tcp("1 Gb/s", "10 ms", size="1 GB")
    assert sized.completion_s is not None
    assert sized.completion_s.p50 > 8.0


@pytest.mark.parametrize(
    ("given", "said"), [({"rate": "10 GB"}, "rate"), ({"cc": "renoo"}, "cubic"), ({"loss": -1}, "positive")]
)
def test_what_cannot_be_used(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        dtnsim.tcp(**{"rate": "1 Gb/s", "rtt": "10 ms", **given})  # type: ignore[arg-type]
