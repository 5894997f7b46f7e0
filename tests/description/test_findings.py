"""One refusal names all that is wrong in a file: faults of many kinds, planted together in paths that are answered."""

import gc
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import dtnsim
from dtnsim.components.base import example_of, find_kind, kinds
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.yamlio import loads
from tests.description.test_personal import PATHS as PUBLISHED
from tests.each import cases, rows, texts
from tests.strategies import written

Tree = dict[str, Any]
#: (last step of the key, value as the refusal shows it): what the one refusal must name
Fault = tuple[str, str | None]
#: a fault is planted in a path, or None where there is no place for it
Kind = Callable[[Tree, random.Random], Fault | None]

REMEDIES = rows("description/tables", "findings")["REMEDIES"]


def _paths() -> Iterator[tuple[str, str]]:
    for folder in ("paths", "starters"):
        for name in library.names(folder):
            yield name, library.find(folder, name).read_text(encoding="utf-8")
    yield from PUBLISHED.items()


def _in(own: Callable[[Tree], list[Tree]], key: str, value: Any, said: str | None = None, step: str = "") -> Kind:
    """A value in one of those that have a place for it; nothing is said where the message itself has the name."""

    def plant(tree: Tree, rng: random.Random) -> Fault | None:
        found = own(tree)
        if not found:
            return None
        rng.choice(found)[key] = value
        return step or key, said

    return plant


def _hosts(tree: Tree) -> list[Tree]:
    return [h for h in tree["hosts"].values() if isinstance(h, dict)]


def _in_host(key: str, value: str, *, named: bool = False) -> Kind:
    """In a host written out, in which nothing is said of the key."""
    said = {key, "machine"} if key == "like" else {key}  # both at once are another fault
    return _in(lambda tree: [h for h in _hosts(tree) if not said & set(h)], key, value, None if named else value)


def _in_part(key: str) -> Kind:
    """A part in place of that which is there."""
    return _in(lambda tree: [h for h in _hosts(tree) if isinstance(h.get(key), str)], key, f"no-such-{key}")


def _in_volume(key: str, value: Any, said: str | None, lies: Callable[[Tree], bool], *, array: bool = False) -> Kind:
    """A key of a volume, or of its array, of those that fit."""

    def own(tree: Tree) -> list[Tree]:
        found = [v for h in _hosts(tree) for v in (h.get("volumes") or {}).values() if isinstance(v, dict)]
        found = [v["array"] for v in found if isinstance(v.get("array"), dict)] if array else found
        return [v for v in found if lies(v)]

    return _in(own, key, value, said)


def _segments(tree: Tree) -> list[Tree]:
    wan = tree.get("wan")
    wan = wan[0] if isinstance(wan, list) else wan
    return [wan] if isinstance(wan, dict) and "part" not in wan else []


def no_bandwidth(tree: Tree, _rng: random.Random) -> Fault | None:
    """Where nothing else is said of a segment, or others are beside it, it is no limit."""
    for segment in _segments(tree):
        far = segment.get("medium", "lab") not in ("lab", "campus")
        if far and not isinstance(tree["wan"], list) and segment.pop("bandwidth", None):
            return "bandwidth", None
    return None


def _transfers(tree: Tree) -> list[Tree]:
    items = tree.get("transfers", [tree.get("transfer")])
    return [i for i in (items.values() if isinstance(items, dict) else items) if isinstance(i, dict)]


def _tools(tree: Tree) -> list[Tree]:
    return [t["tool"] for t in _transfers(tree) if isinstance(t.get("tool"), dict)]


def _in_transfer(key: str, value: Any, said: str | None = None, *, step: str = "", there: bool = False) -> Kind:
    return _in(lambda tree: [t for t in _transfers(tree) if (key in t) is there], key, value, said, step)


def _in_line(word: str) -> Kind:
    def plant(tree: Tree, rng: random.Random) -> Fault | None:
        lines = ("rsync -", "rclone ", "scp -", "globus-url-copy ")
        own = [t for t in _transfers(tree) if str(t.get("tool", "")).startswith(lines)]
        if not own:
            return None
        rng.choice(own)["tool"] += f" {word}"
        return "tool", word

    return plant


def host_by_name(tree: Tree, rng: random.Random) -> Fault | None:
    named = [name for name, host in tree["hosts"].items() if isinstance(host, str)]
    if not named:
        return None
    name = rng.choice(named)
    tree["hosts"][name] = "no-such-host"
    return name, None


KINDS: Final[dict[str, Kind]] = {
    "key of a host": _in_host("raid", "Adaptec"),
    "kind of host": _in_host("colour", "blue"),
    "year": _in_host("year", "last"),
    "role": _in_host("role", "vip"),
    "system": _in_host("os", "Plan 9"),
    "board": _in_host("board", "asrock-romed8-2tt", named=True),
    "like": _in_host("like", "no-such-machine", named=True),
    "cpu": _in_part("cpu"),
    "memory": _in_part("memory"),
    "nic": _in_part("nic"),
    "key_of_a_volume": _in_volume("shade", "green", "green", lambda v: "colour" not in v),
    "array": _in_volume("array", "no-such-drive", None, lambda v: isinstance(v.get("array"), str)),
    "member": _in_volume("of", "no-such-drive", None, lambda a: "of" in a and "part" not in a, array=True),
    "number_of_drives": _in_volume("disks", "several", "several", lambda a: "disks" in a, array=True),
    "filesystem": _in_volume(
        "filesystem", {"kind": "no-such-fs"}, "no-such-fs", lambda v: isinstance(v.get("filesystem"), str | dict)
    ),
    "seat": _in_volume("via", ["no-such-card"], "no-such-card", lambda v: not {"via", "server", "over"} & set(v)),
    "unit of a segment": _in(_segments, "rtt", "10 Gb"),
    "no unit": _in(_segments, "mtu", "9000 s"),
    "no bandwidth": no_bandwidth,
    "key of a segment": _in(_segments, "latency_ms", "3", "3"),
    "box": _in(_segments, "boxes", {"gate": "no-such-box"}, step="gate"),
    "medium": _in(_segments, "medium", "carrier pigeon", "carrier pigeon"),
    "key of a transfer": _in_transfer("speed", "fast", "fast"),
    "host of an end": _in_transfer("from", "nowhere:/data", "nowhere:/data", there=True),
    "start": _in_transfer("start", "3 GB"),
    "data set": _in_transfer("dataset", "no-such-data", there=True),
    "unit of a data set": _in_transfer("dataset", {"files": 3, "size": "5 Gb/s"}, step="size", there=True),
    "tool": _in_transfer("tool", "no-such-tool", "no-such-tool", there=True),
    "card_of_a_transfer": _in_transfer("nics", {"nobody": "eth0"}, "nobody"),
    "option": _in(_tools, "zz", "7", "7"),
    "option_of_a_line": _in_line("--zzz"),
    "further_option_of_a_line": _in_line("-Y"),
    "root_key": _in(lambda tree: [tree], "colour-of-cables", "red", "red"),
    "event": _in(lambda tree: [] if "events" in tree else [tree], "events", [{"at": "3 GB", "set": {}}], step="at"),
    "host_by_name": host_by_name,
}


SOURCES: Final = dict(_paths())


def _planted(name: str, rng: random.Random) -> tuple[Tree, list[tuple[str, Fault]]]:
    """A path with two to six faults of different kinds."""
    tree = texts(SOURCES[name])
    made: list[tuple[str, Fault]] = []
    wanted = rng.randint(2, 6)
    touched: set[str] = set()
    for each in rng.sample(sorted(KINDS), len(KINDS)):
        if len(made) == wanted:
            break
        place = {"data set": "dataset", "unit of a data set": "dataset", "tool": "tool"}.get(each, each)
        place = "tool" if each in ("option", "option_of_a_line") else place
        place = "volume" if each in ("array", "member", "number_of_drives", "filesystem") else place
        if place in touched:
            continue
        fault = KINDS[each](tree, rng)
        if fault is not None:
            made.append((each, fault))
            touched.add(place)
    return tree, made


def _refused(tree: Tree, file: Path) -> SpecError:
    file.write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
    with pytest.raises(SpecError) as refusal:
        dtnsim.predict(file, samples=0)
    return refusal.value


def _names(error: SpecError, fault: Fault) -> bool:
    step, value = fault
    key = error.key or ""
    return (key == step or key.endswith(f".{step}")) and (value is None or value == str(error.value))


def check(seed: int, file: Path) -> None:
    """One refusal, a finding for each fault, with its place and what to write; nothing twice, nothing that follows."""
    rng = random.Random(seed)
    name = rng.choice(sorted(SOURCES))
    tree, faults = _planted(name, rng)
    findings = list(_refused(tree, file).findings)
    for what, fault in faults:
        own = [e for e in findings if _names(e, fault)]
        assert len(own) == 1, (name, what, fault, own, [str(e) for e in findings], faults)
        assert any(word in own[0].own_line for word in REMEDIES), (name, what, own[0].own_line)
        assert own[0].file == str(file), (name, what, own[0].file)
        findings.remove(own[0])
    assert not findings, (name, faults, [e.own_line for e in findings])


@pytest.mark.parametrize("seed", range(40))
def test_one_refusal_names_every_fault(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path / "p.yaml")


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_hundreds_of_combinations(block: int, tmp_path: Path) -> None:
    for seed in range(1000 + 40 * block, 1040 + 40 * block):
        check(seed, tmp_path / "p.yaml")


def test_what_a_host_is_like_is_refused_once_where_set_is_what_is_wrong_in_it(tmp_path: Path) -> None:
    """The other was said to have no kind of array: nothing but the number of disks was left of it."""
    array = {"kind": "raidz", "level": 3, "disks": 8, "of": "any-disk"}
    hosts = {"a": {"nic": "10GbE", "volumes": {"/d": {"filesystem": "zfs", "array": array}}}, "b": {"like": "a"}}
    move = {"from": "a:/d", "to": "b:/d", "tool": "scp", "dataset": {"size": "1 TB"}}
    path = {"hosts": hosts, "wan": {"bandwidth": "1 Gb/s"}, "transfer": move}
    file = written(tmp_path / "p.yaml", yaml.safe_dump(path))
    with pytest.raises(SpecError) as refused:
        dtnsim.load(file, ["hosts.a.volumes./d.array.disks=3"])
    assert [f.message for f in refused.value.findings] == ["raidz3 needs more than 3 disks a group, not 3"]


def test_a_refusal_leaves_nothing_behind(tmp_path: Path) -> None:
    """Who reads a thousand files in one process keeps none of those that were refused."""
    file = tmp_path / "p.yaml"
    for number in range(3):
        _refused({"hosts": {"a": "unknown", "b": "unknown"}, "wan": {"rtt": f"{number} lightyears"}}, file)
    gc.collect()
    assert not [thing for thing in gc.get_objects() if isinstance(thing, SpecError) and "lightyears" in str(thing)]


@pytest.mark.parametrize("kind_of", [k for k in kinds() if find_kind(k).family != "tool"])
def test_an_example_that_a_refusal_gives_is_accepted(kind_of: str) -> None:
    """``write {kind: encryptor, total: 10 Gb/s}`` has all that the kind cannot be without."""
    if (example := example_of(kind_of)) is not None:
        assert find_kind(kind_of).build(loads(example, "example")).kind == kind_of


@cases("line, wrong", rows("description/tables", "all_that_is_wrong_in_a_command_line_is_said_at_once"))
def test_all_that_is_wrong_in_a_command_line_is_said_at_once(line: str, wrong: list[str], tmp_path: Path) -> None:
    tree = {"hosts": {"a": "unknown", "b": "unknown"}, "wan": {"bandwidth": "10 Gb/s"}}
    alone = {"to": "b:/x"} if line.startswith(("iozone", "fio")) else {"from": "a:/x", "to": "b:/x"}
    error = _refused({**tree, "transfer": {**alone, "tool": line}}, tmp_path / "p.yaml")
    assert {str(e.value) for e in error.findings} == set(wrong)
