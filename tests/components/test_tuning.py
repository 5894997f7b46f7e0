"""A host's TCP settings: what part of a buffer is window, and what Linux takes."""

import numpy as np
import pytest

from dtnsim.components.stack import Stack
from dtnsim.components.tuning import MOST_B, TcpTuning
from dtnsim.ground.quantity import Draw, Quantity


def test_the_kernel_of_the_stack_says_the_share_unless_the_host_does():
    assert TcpTuning().share(Stack(kernel="2.6.32"), 1500) == 0.75
    assert TcpTuning().share(Stack(), 9000) == 0.5
    assert TcpTuning().share(Stack(kernel="6.18"), 1500) == 0.625
    own = TcpTuning(receive_share=Quantity(0.3, "1", 0.0, "measured"))
    assert own.share(Stack(kernel="2.6.32"), 1500) == 0.3
    assert pytest.approx(2**31) == MOST_B


def test_a_role_says_what_is_usual_where_nothing_is_stated():
    """tcp(7): 6 MiB to receive and 4 MiB to send; ESnet fasterdata: 64 MiB and more on a data transfer node."""
    untuned, dtn = (TcpTuning().of_role(role) for role in ("untuned", "dtn"))
    assert (untuned.rmem_max.value, untuned.wmem_max.value) == (6 * 2**20, 4 * 2**20)
    assert dtn.rmem_max.value >= 64 * 2**20
    said = TcpTuning(rmem_max=Quantity(2.0**24, "B", 0.0, "sysctl")).of_role("dtn")
    assert said.rmem_max.value == 2**24
    assert said.wmem_max.value == dtn.wmem_max.value
    assert "wmem_max" not in said.model_fields_set
    # net/core/sock.c grants 212,992 bytes; who raises one limit raises the other (fasterdata.es.net)
    assert (untuned.core_rmem_max.value, said.core_rmem_max.value) == (212992, 2**24)
    assert dtn.core_wmem_max.value == dtn.wmem_max.value
    # 124,928 bytes on RHEL 6 (sysctl, pastebin.com/PsCz2nN0), 4 MiB since 6.18 (admin-guide/sysctl/net.rst)
    granted = [untuned.granted("rmem_max", Stack(kernel=kernel)).value for kernel in ("2.6.32", "5.15", "6.18")]
    assert granted == [124928, 212992, 2**22]
    assert said.granted("rmem_max", Stack(kernel="2.6.32")).value == 2**24
    # 32 MiB to receive since 6.16 (net/ipv4/tcp.c, tcp_init), where a version is stated and no buffer
    since = [untuned.of_kernel(s).rmem_max.value for s in (Stack(kernel="6.15"), Stack(kernel="6.16"), Stack())]
    assert since == [6 * 2**20, 32 * 2**20, 6 * 2**20]
    assert said.of_kernel(Stack(kernel="6.18")) is said
    assert dtn.of_kernel(Stack(kernel="6.18")) is dtn
    of_it = Draw(3000, 1)(TcpTuning().of_kernel(Stack(kernel="6.18")).rmem_max)
    assert np.mean(np.abs(np.log(of_it / 2**25)) < 0.25) == pytest.approx(2 / 3, abs=0.1)  # untuned and cloud
    drawn = Draw(3000, 1)(TcpTuning().granted("wmem_max", Stack(kernel="6.18")))
    assert np.mean(drawn == 2**22) == pytest.approx(2 / 3, abs=0.03)
    assert np.mean(Draw(3000, 1)(TcpTuning().core_rmem_max) > 2**20) == pytest.approx(1 / 3, abs=0.03)


def test_hosts_of_no_role_are_of_one_of_them():
    receive = Draw(3000, 1)(TcpTuning().rmem_max)
    near = [np.mean(np.abs(np.log(receive / size)) < 0.25) for size in (6.3 * 2**20, 128 * 2**20)]
    assert near[0] == pytest.approx(2 / 3, abs=0.05)  # untuned and cloud
    assert near[1] < 0.1
    assert np.mean(receive > 20 * 2**20) == pytest.approx(1 / 3, abs=0.03)
