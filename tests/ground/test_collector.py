"""The collector runs again afterwards, whatever happens meanwhile."""

from __future__ import annotations

import gc

import pytest

from dtnsim.ground import collector


def test_it_is_paused_and_runs_again() -> None:
    with collector.paused():
        assert not gc.isenabled()
        with collector.paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="meanwhile"), collector.paused():
        raise ValueError("meanwhile")
    assert gc.isenabled()
