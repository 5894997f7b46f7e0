"""Hosts that were built before are taken again where nothing in them changed."""

from __future__ import annotations

import pickle

from dtnsim.description import spec
from dtnsim.description.hosts import Built

PATH = "venadi/gridftp-gpfs"


def test_only_the_changed_host_is_built_again() -> None:
    given = spec.load(PATH)
    changed = given.changed({"hosts.venadi.cpu.cores": "4"})
    assert changed.hosts["venadi"].cpu.cores == 4
    assert given.hosts["venadi"].cpu.cores != 4
    assert changed.hosts["nersc"] is given.hosts["nersc"]  # with the keys of its numbers, and what they were wired to
    assert changed.hosts == spec.load(PATH, {"hosts.venadi.cpu.cores": "4"}).hosts


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
