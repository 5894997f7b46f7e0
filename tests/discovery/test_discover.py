"""A host from what a machine says of itself: outputs made up for the purpose, collected ones, and this machine."""

import contextlib
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.discovery import cards, drives, hardware, outputs
from dtnsim.discovery.discover import discover
from dtnsim.discovery.outputs import Stated
from dtnsim.ground.errors import InputError
from tests.each import tables

LOGS = Path(__file__).parents[3] / "shared" / "logs"
DISK = {"rota": True, "model": "ST16000NM001G-2KK103 Exos X16", "type": "disk", "size": 16000900661248}
OUTPUTS = {
    **tables("discovery/outputs"),
    "lsblk": json.dumps(
        {
            "blockdevices": [
                {**DISK, "name": f"sd{c}", "children": [{"name": "md0", "type": "raid6", "size": 64000000000000}]}
                for c in "abcdef"
            ]
        }
    ),
}


def folder(place: Path, **changed: str | None) -> Path:
    place.mkdir(exist_ok=True)
    for name, text in {**OUTPUTS, **changed}.items():
        if text is not None:
            (place / name).write_text(text)
    return place


def value(tree: outputs.Tree, *keys: str) -> object:
    for key in keys:
        tree = tree[key]  # type: ignore[assignment]
    assert isinstance(tree, Stated)
    return tree.value


def test_a_server_is_described(tmp_path: Path) -> None:
    found = discover(folder(tmp_path / "o"))
    assert found.name == "nas01"
    said = tables("discovery/tables")["described"]
    assert {key: value(found.tree, *key.split(".")) for key in said} == said
    assert "mounts:3: /mnt/far is nfs4 of filer:/vol" in found.notes[0]


def test_every_line_says_where_it_is_from(tmp_path: Path) -> None:
    host = discover(folder(tmp_path / "o")).host()
    bare = [line for line in host.splitlines() if ": " in line and "#" not in line]
    assert {line.split(":")[0].strip() for line in bare} <= {"name", "source", "kind"}
    assert "dirty_expire: 5 s  # sysctl:8" in host


def test_it_can_be_predicted(tmp_path: Path) -> None:
    found = discover(folder(tmp_path / "o"))
    (tmp_path / "path.yaml").write_text(found.path())
    answer = dtnsim.predict(tmp_path / "path.yaml", samples=0)
    assert answer.throughput_Bps.p50 > 0
    (tmp_path / "nas01.yaml").write_text(found.host())
    (tmp_path / "two.yaml").write_text(
        "hosts: {a: nas01.yaml, b: nersc-dtn}\nwan: {rtt: 10 ms, bandwidth: 10 Gb/s}\n"
        "transfer: {from: 'a:/data', to: 'b:memory', tool: {name: gridftp}, dataset: {files: 1, size: 1 GB}}\n"
    )
    graph = dtnsim.load(tmp_path / "two.yaml").graph
    assert graph.has_edge("a.slot-ens1", "a.ens1")


@pytest.mark.parametrize("left_out", sorted(OUTPUTS))
def test_what_is_missing_is_a_todo_and_no_error(tmp_path: Path, left_out: str) -> None:
    found = discover(folder(tmp_path / "o", **{left_out: None}))
    (tmp_path / "path.yaml").write_text(found.path())
    assert dtnsim.load(tmp_path / "path.yaml").hosts
    if left_out == "meminfo":  # the modules say it
        assert value(found.tree, "memory", "size") == "32 GiB"
    if left_out in ("lscpu", "dmidecode", "lsblk", "mounts"):
        assert found.todos > discover(folder(tmp_path / "all")).todos or left_out == "mounts"
        assert "TODO: " in found.host()


def test_outputs_of_others_do_no_harm(tmp_path: Path) -> None:
    draw = random.Random(3)
    for n in range(75):
        changed = {}
        for name in draw.sample(sorted(OUTPUTS), 4):
            text = OUTPUTS[name]
            at = draw.randrange(len(text))
            changed[name] = (
                text[:at]
                + draw.choice(["\x00", "#", "'", '"\n: {', "\u202e", "]", "9" * 40])
                + text[at + draw.randrange(9) :]
            )
        found = discover(folder(tmp_path / str(n), **changed))
        (tmp_path / "path.yaml").write_text(found.path())
        with contextlib.suppress(InputError):  # a number out of range is named; nothing else may break
            dtnsim.load(tmp_path / "path.yaml")


def test_zfs_pools(tmp_path: Path) -> None:
    status = "  pool: tank\n state: ONLINE\nconfig:\n\n NAME STATE READ WRITE CKSUM\n tank ONLINE 0 0 0\n" + "".join(
        f" raidz2-{g} ONLINE 0 0 0\n" + "".join(f" /dev/sd{c} ONLINE 0 0 0\n" for c in names)
        for g, names in enumerate(("abc", "def"))
    )
    changed = {
        "zpool-status": status + "errors: No known data errors\n",
        "zfs-get": "tank/d\trecordsize\t1048576\tlocal\n",
        "zpool-list": "boot\t3\t-\ntank\t91\t30\n",
        "mounts": "tank/d /tank zfs rw 0 0\n",
        "lsblk": json.dumps({"blockdevices": [{**DISK, "name": f"sd{c}"} for c in "abcdef"]}),
    }
    found = discover(folder(tmp_path / "o", **changed))
    text = "{kind: raidz, parity: 2, disks: 3, groups: 2, of: seagate-exos-x16}"
    assert value(found.tree, "volumes", "/tank", "array") == text
    assert value(found.tree, "volumes", "/tank", "filesystem", "recordsize") == "1048576 B"
    assert value(found.tree, "volumes", "/tank", "filesystem", "filled") == "91 %"
    assert value(found.tree, "volumes", "/tank", "filesystem", "fragmentation") == "30 %"
    changed["zpool-list"] = "tank\t91%\t-\n"  # without -p, and of a pool without the histogram
    found = discover(folder(tmp_path / "p", **changed))
    assert value(found.tree, "volumes", "/tank", "filesystem", "filled") == "91 %"
    assert "fragmentation" not in found.tree["volumes"]["/tank"]["filesystem"]  # type: ignore[index,operator]


def test_bonds_are_one_card(tmp_path: Path) -> None:
    net = "".join(
        f"/sys/class/net/{n}/speed:10000\n/sys/class/net/{n}/device:/sys/devices/pci0000:00/0000:0{n[-1]}:00.0\n"
        for n in ("eth1", "eth2")
    )
    bond = "".join(
        f"/proc/net/bonding/bond0:{t}\n"
        for t in ("Bonding Mode: IEEE 802.3ad", "Slave Interface: eth1", "Slave Interface: eth2")
    )
    nics, _ = cards.cards(outputs.read(folder(tmp_path / "o", net=net, bonding=bond, lspci=None)))
    assert list(nics) == ["bond0"]
    assert value(nics, "bond0", "ports") == 2


WORDS = [
    (make, *row)
    for make in (hardware.known_cpu, cards.known_nic, drives.known_drive, cards.rate_of, outputs.quoted)
    for row in tables("discovery/tables")["words"][make.__name__]
]


@pytest.mark.parametrize("row", WORDS, ids=lambda row: f"{row[0].__name__} {row[1]}")
def test_words_are_known(row: tuple[Any, ...]) -> None:
    make, *given, made = row
    assert make(*given) == made


def test_collected_outputs_are_read(tmp_path: Path) -> None:
    if not LOGS.is_dir():
        pytest.skip("the collected outputs are beside the project, where they are at all")
    place = tmp_path / "o"
    place.mkdir()
    for source, name in (
        ("lsblk/own_J_b_O.json", "lsblk.json"),
        ("mdstat/venadi_raid1.txt", "mdstat.txt"),
        ("zpool/jc_zpool-status-v.txt", "zpool-status.txt"),
        ("lspci/pciutils_cap-pcie-2.txt", "lspci"),
        ("numactl/own_1node.txt", "numactl"),
        ("ethtool/jc_ethtool--default2.txt", "ethtool.enp1s0"),
    ):
        shutil.copy(LOGS / source, place / name)
    (place / "net").write_text("/sys/class/net/enp1s0/device:/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0\n")
    (place / "mounts").write_text("/dev/vda / ext4 rw 0 0\nzint500/a /zint zfs rw 0 0\n")
    found = discover(place)
    assert value(found.tree, "nics", "enp1s0", "rate") == "40 Gb/s"
    assert value(found.tree, "slots", "enp1s0", "generation") == 1
    assert value(found.tree, "volumes", "/", "size") == "274877906944 B"
    (tmp_path / "path.yaml").write_text(found.path())
    assert dtnsim.predict(tmp_path / "path.yaml", samples=0).throughput_Bps.p50 > 0


@pytest.mark.skipif(shutil.which("sh") is None, reason="this machine has no POSIX shell")
def test_discover_into_predict_on_this_machine() -> None:
    found = subprocess.run([sys.executable, "-m", "dtnsim", "discover"], capture_output=True, text=True, check=True)
    done = subprocess.run([sys.executable, "-m", "dtnsim", "predict", "-", "--json"], input=found.stdout,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["throughput_Bps"]["p50"] > 0


def test_the_collector_is_short_and_plain() -> None:
    script = outputs.script()
    assert script.startswith("#!/bin/sh")
    assert len(script.splitlines()) <= 20
    assert "sudo" not in script


@pytest.mark.skipif(shutil.which("sh") is None, reason="this machine has no POSIX shell")
def test_what_the_last_command_refuses_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "script", lambda: 'echo "CPU(s): 4" > "$1/lscpu"; exit 1')
    assert "lscpu" in outputs.collect().texts
    monkeypatch.setattr(outputs, "script", lambda: "echo no; exit 2")
    with pytest.raises(InputError, match="cannot be asked"):
        outputs.collect()


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"):
        discover(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"holds no output of collect\.sh"):
        discover(tmp_path)


def test_queues_memory_and_targets_come_from_where_they_are_told(tmp_path: Path) -> None:
    changed = {
        "ethtool-S.ens1": "NIC statistics:\n  rx_packets: 9\n"
        + "".join(f"  rx{n}_packets: 1\n  tx{n}_packets: 1\n" for n in range(12)),
        "numactl": "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\nnode 0 size: 64000 MB\nnode 0 free: 1 MB\n"
        "node 1 cpus: 2 3\nnode 1 size: 64000 MB\nnode 1 free: 1 MB\n",
        "mounts": OUTPUTS["mounts"] + "10.0.0.1@tcp:/scratch /scratch lustre rw 0 0\n",
        "lfs-df": "scratch-MDT0000_UUID 1 1 1 1% /scratch[MDT:0]\nscratch-OST0000_UUID 1 1 1 1% /scratch[OST:0]\n",
    }  # fmt: skip
    found = discover(folder(tmp_path / "o", meminfo=None, **changed))
    assert value(found.tree, "nics", "ens1", "queues") == 12
    assert value(found.tree, "memory", "size") == "125 GiB"  # numactl prints MiB
    assert "1 OST " in found.notes[1]
