"""A host's TCP settings: what part of a buffer is window, and what Linux takes."""

import pytest

from dtnsim.components.stack import Stack
from dtnsim.components.tuning import MOST_B, TcpTuning
from dtnsim.ground.quantity import Quantity


def test_the_kernel_of_the_stack_says_the_share_unless_the_host_does():
    assert TcpTuning().share(Stack(kernel="2.6.32"), 1500) == 0.75
    assert TcpTuning().share(Stack(), 9000) == 0.5
    assert TcpTuning().share(Stack(kernel="6.18"), 1500) == 0.625
    own = TcpTuning(receive_share=Quantity(0.3, "1", 0.0, "measured"))
    assert own.share(Stack(kernel="2.6.32"), 1500) == 0.3


def test_the_largest_buffer():
    assert pytest.approx(2**31) == MOST_B
