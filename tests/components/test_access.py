"""Accesses are values: a changed one leaves the first alone."""

from __future__ import annotations

import dataclasses
import math

import pytest

from dtnsim.components.access import Access, Thread


def test_a_plain_access_is_one_sequential_stream_of_incompressible_bytes() -> None:
    """What a tool does not say must be what plain read() and write() do: nothing cached, one request at a time."""
    use = Access("read", Thread("reader"), 4096, 1e6, 1e9)
    assert (use.streams, use.own_streams, use.queue_depth) == (1, 1, 1)
    assert (use.random, use.cached, use.rewrite) == (False, False, False)
    assert use.stored == 1.0
    assert use.finish == "steady"
    assert math.isinf(use.llc_B)


def test_but_changes_a_copy() -> None:
    use = Access("write", Thread("writer"), 4096, 1e6, 1e9)
    other = use.but(block_B=512, finish="dsync")
    assert (use.block_B, use.finish) == (4096, "steady")
    assert (other.block_B, other.finish, other.thread) == (512, "dsync", use.thread)
    with pytest.raises(TypeError):
        use.but(blokc_B=1)


def test_accesses_do_not_change() -> None:
    use = Access("write", Thread("writer"), 4096, 1e6, 1e9)
    with pytest.raises(dataclasses.FrozenInstanceError):
        use.block_B = 1  # type: ignore[misc]  # that is the test
