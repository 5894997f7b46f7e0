"""Hosts that were built before are taken again where nothing in them changed."""

import pickle
from typing import Any

import pytest

from dtnsim.components import base
from dtnsim.description import hosts, spec
from dtnsim.description.hosts import Built
from dtnsim.ground import yamlio

PATH = "venadi/gridftp-gpfs"


def test_only_the_changed_host_is_built_again() -> None:
    given = spec.load(PATH)
    changed = given.changed({"hosts.venadi.cpu.cores": "4"})
    assert changed.hosts["venadi"].cpu.cores == 4
    assert given.hosts["venadi"].cpu.cores != 4
    assert changed.hosts["nersc"] is given.hosts["nersc"]  # with the keys of its numbers, and what they were wired to
    assert changed.hosts == spec.load(PATH, {"hosts.venadi.cpu.cores": "4"}).hosts


def test_hosts_are_read_once_for_all_that_changes_other_things(monkeypatch: pytest.MonkeyPatch) -> None:
    given, read = spec.load(PATH), []
    whole = hosts.Hosts.read
    monkeypatch.setattr(hosts.Hosts, "read", lambda self: read.append(self) or whole(self))
    for rtt in (5, 6, 7):
        given.changed([f"wan.rtt={rtt} ms"])
    assert len(read) == 0  # they are those of the path itself
    for rtt in (5, 6):
        given.changed(["hosts.venadi.cpu.cores=4", f"wan.rtt={rtt} ms"])
    assert len(read) == 1


def test_what_a_number_rests_on_is_part_of_it() -> None:
    """The same value written with --set is no longer the file's."""
    given = spec.load(PATH)
    clock = given.hosts["venadi"].cpu.clock
    again = given.changed([f"hosts.venadi.cpu.clock={clock.text}"]).hosts["venadi"].cpu.clock
    assert "--set" in again.source
    assert "--set" not in given.changed(["wan.rtt=5 ms"]).hosts["venadi"].cpu.clock.source


def test_hosts_stay_in_their_process() -> None:
    built = Built()
    given = spec.load(PATH)
    assert isinstance(pickle.loads(pickle.dumps(built)), Built)
    assert pickle.loads(pickle.dumps(given)).hosts == given.hosts


def test_of_the_changed_host_only_what_changed_is_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    given = spec.load(PATH)
    made: list[str] = []
    real = base.validate

    def counted(model: Any, *given: Any, **more: Any) -> Any:
        made.append(model.__name__)
        return real(model, *given, **more)

    monkeypatch.setattr(base, "validate", counted)
    after = given.changed(["hosts.nersc.cpu.clock=3.3 GHz"])
    assert made == ["Cpu"]
    assert after.hosts["nersc"].cpu.clock.value == 3.3e9
    assert after.hosts["nersc"].stack == given.hosts["nersc"].stack


def test_components_written_alike_are_components_of_their_own() -> None:
    text = "{cpu: amd-epyc-72f3, memory: ddr4-3200-8ch-256g, nics: {a: &card {rate: 10 Gb/s}, b: *card}}"
    host = Built().host("h", yamlio.loads(text, "h.yaml"))
    assert host.nics["a"] == host.nics["b"]
    assert host.nics["a"] is not host.nics["b"]
