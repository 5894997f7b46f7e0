"""What people paste of their machines, against what it says; the outputs are shortened ones of public machines."""

import contextlib
import random
import re
from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.discovery import pasted
from dtnsim.discovery.discover import discover
from dtnsim.discovery.outputs import Stated
from dtnsim.ground import yamlio
from dtnsim.ground.errors import InputError
from tests.each import rows

PASTED = Path(__file__).parent / "pasted"
TRUTHS: dict[str, dict[str, Any]] = yamlio.plain(PASTED / "truths.yaml")
WHERE = dict.fromkeys(("cores", "sockets", "smt", "clock"), "cpu") | dict.fromkeys(
    ("channels", "rate", "memory"), "memory"
)


def number(text: object) -> float:
    found = re.search(r"(?:value: |^)([\d.]+)", str(text))
    assert found is not None, text
    return float(found[1])


def at(tree: Any, *keys: str) -> Stated | None:
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, Stated) else None


def judge(said: Stated | None, truth: object) -> None:
    if truth == "none":
        assert said is None
    else:
        assert number(said.value) == pytest.approx(truth, rel=0.005)


@pytest.mark.parametrize("machine", sorted(TRUTHS))
def test_what_lines_say_is_in_the_host_and_nothing_else(machine: str, tmp_path: Path) -> None:
    found = discover(PASTED / f"{machine}.txt")
    tree, truth = found.tree, TRUTHS[machine]
    for fact in WHERE.keys() & truth.keys():
        judge(at(tree, WHERE[fact], "size" if fact == "memory" else fact), truth[fact])
    if "stack" in truth:
        system = at(tree, "os") or at(tree, "stack")
        assert str(system.value).split()[0].lower() == truth["stack"]
    if truth.get("nics") == "none":
        assert at(tree, "nics", "eth") == Stated("unknown", "no output says it", "ip link, and ethtool of the card")
    elif "nics" in truth:
        assert set(tree["nics"]) == set(truth["nics"])  # type: ignore[arg-type]
    for name, rate in truth.get("nics", {}).items() if isinstance(truth.get("nics"), dict) else ():
        said = at(tree, "nics", name, "rate")
        assert "350 Mb/s" in str(said.value) if rate == "wireless" else said.value == f"{rate:g} Gb/s"
    for mount, (filesystem, array, size, words) in truth["volumes"].items():
        volume: Any = tree["volumes"][mount]  # type: ignore[index]
        kind = at(volume, "filesystem") or at(volume, "filesystem", "kind")
        assert (kind.value, volume["array"].value) == (filesystem, array)
        assert words in volume["array"].source
        assert size == "none" or int(volume["size"].value.removesuffix(" B")) / 2**30 == pytest.approx(size, rel=0.005)
    (tmp_path / "path.yaml").write_text(found.path(), encoding="utf-8")
    assert dtnsim.predict(tmp_path / "path.yaml", samples=0).throughput_Bps.p50 > 0


def test_pasted_files_stand_beside_collected_ones(tmp_path: Path) -> None:
    (tmp_path / "lscpu").write_text("Model name: AMD EPYC 9999X\nCPU max MHz: 3000,0000\nSocket(s): 1\n")
    (tmp_path / "from-the-console.txt").write_text((PASTED / "raid0s.txt").read_text())
    tree = discover(tmp_path).tree
    assert (clock := at(tree, "cpu", "clock")) is not None
    assert "3 GHz" in str(clock.value)
    assert "/dg4" in tree["volumes"]  # type: ignore[operator]


def test_numbers_are_read_as_they_are_printed() -> None:
    assert pasted.Record("drive", "", {"GiB": "465,8G"}).size() == pytest.approx(465.8 * 2**30)
    assert pasted.Record("volume", "", {"B": "994.662.584.320 "}).size() == 994662584320
    assert pasted.Record("memory", "", {"Mi": "8,039"}).size() == 8039 * 2**20
    assert pasted.Record("drive", "", {"GiB": "1.308 T"}).size() == pytest.approx(1.438e12, rel=1e-3)


def test_columns_of_lsblk_are_told_by_their_heads() -> None:
    text = (
        "NAME    MODEL                     SIZE TYPE  MOUNTPOINT LABEL\nsda     Samsung SSD 860 EVO     931.5G disk\n"
    )
    text += (
        "└─sda1                          931.5G part  /data      big one\nsdb     HGST HUS726040ALE610      3.6T disk\n"
    )
    first, second = pasted.tree(text)
    assert (first["model"], second["model"]) == ("Samsung SSD 860 EVO", "HGST HUS726040ALE610")
    assert first["children"][0]["mountpoints"] == ["/data"]
    assert second["size"] == pytest.approx(3.6 * 2**40, rel=1e-6)
    assert pasted.tree("NAME   SIZE MODEL\nsda   1.8T ST2000DM008-2FR1\n")[0]["model"] == "ST2000DM008-2FR1"


def test_what_others_pasted_does_no_harm(tmp_path: Path) -> None:
    draw, texts = random.Random(5), [file.read_text(encoding="utf-8") for file in sorted(PASTED.glob("*.txt"))]
    odd = ["\x00", "#", "'", '"\n: {', "\u202e", "9" * 40, "\n", "  ", " GiB", ": ", "0", "\u0661", "a  " * 3000]
    for _ in range(60):
        text = draw.choice(texts)
        for _ in range(4):
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice(odd) + text[at + draw.randrange(12) :]
        (tmp_path / "pasted.txt").write_text(text, encoding="utf-8")
        with contextlib.suppress(InputError):  # nothing of it is known, or a number out of range is named
            (tmp_path / "path.yaml").write_text(discover(tmp_path / "pasted.txt").path(), encoding="utf-8")
            dtnsim.load(tmp_path / "path.yaml")


@pytest.mark.parametrize(("model", "channels"), rows("discovery/tables", "channels of processors"))
def test_channels_are_in_the_names_of_processors(model: str, channels: int) -> None:
    assert pasted.of_model("channels", model) == channels
