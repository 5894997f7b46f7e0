"""Words for what makes an interval wide."""

import re
from pathlib import Path
from typing import get_args

import pytest

from dtnsim.description import spec
from dtnsim.discovery import finding_out
from dtnsim.steady import reasons, regime, why_wide
from dtnsim.steady.why_wide import Share
from dtnsim.tools.plan import ToolClass


def test_every_kind_of_evidence_has_words() -> None:
    assert {*regime._TCP.values(), *regime._WAITS.values(), *regime._STORAGE} <= set(regime.KINDS)
    said = {Share(f"repeat {kind}", 0.1, 0.9, "").cause for kind in regime.KINDS}
    assert len(said) == len(regime.KINDS)
    assert not [s for s in said if not s.startswith("chance from run to run where ")]


def test_what_one_trial_run_tells_is_one_thing() -> None:
    """A plan said three times that the tool is to be tried: for the wire, for the drives, and for all of it."""
    for tool in get_args(ToolClass):
        said = Share(f"discrepancy {tool}", 0.1, 0.9, "").cause
        assert said == f"the model's own error for {reasons.WORDS['tools'][tool]}"
    found = why_wide.of_path(spec.load("examples/dtn-100g-zfs"), samples=512)
    assert len([s for s in found if s.name.startswith("discrepancy ")]) == 1


LINUX = r"ip link|-M do|ethtool|lscpu|free -h|lspci|mpstat|turbostat|net\.ipv4"


@pytest.mark.parametrize(
    ("system", "alone"), [("windows", "dmidecode|sysctl"), ("macos", "dmidecode"), ("freebsd", "powermetrics")]
)
def test_what_to_type_is_there_on_the_host_s_system(system: str, alone: str) -> None:
    asked = finding_out.table()["numbers"].keys() - {"core_rmem_max", "core_wmem_max", ".tcp.cc"}
    assert any(re.search(LINUX, finding_out.how(part)) for part in asked)
    assert not [s for part in asked if re.search(f"{LINUX}|{alone}", s := finding_out.how(part, system))]


def test_a_key_of_two_hosts_says_how_on_each() -> None:
    given = spec.load("examples/lab-nas-nconnect", ["hosts.ws.os=Windows 10"])
    keys = "hosts.ws.nics.nic.mtu and hosts.nas.nics.nic.mtu"
    assert finding_out.how_on(keys, given.hosts_of(keys)) == (
        "netsh interface ipv4 show subinterfaces, and ping -f -l 8972 to the other end (on ws); "
        "ip link, and ping -M do -s 8972 to the other end (on nas)"
    )


def test_a_parameter_is_called_by_its_key() -> None:
    assert Share("nersc.cpu.clock", 0.1, 0.9, "").cause == "nersc.cpu.clock"


def test_a_number_of_the_model_is_called_by_the_work_that_it_is_the_cost_of(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "hosts: {a: {nic: 100 Gb/s}, b: {nic: 100 Gb/s}}\nwan: {bandwidth: 100 Gb/s, rtt: 1 ms}\n"
        "transfer: {from: a:memory, to: b:memory, tool: scp, dataset: {size: 1 TB}}\n"
    )
    found = {s.cause: s for s in why_wide.of_path(spec.load(path), samples=512)}
    cipher = found["cost of SSH chacha20-poly1305 (6.95 cycles/B)"]
    assert cipher.share > 0.1
    assert "openssl speed" in cipher.measure
    assert not [what for what in found if "loopback" in what]  # a source is no name
