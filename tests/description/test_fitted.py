"""A fit is put over the host that it was made for; what the user wrote wins, and a note says so."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dtnsim.composition.compose import compose
from dtnsim.description import spec
from dtnsim.description.fitted import _quantity_at
from dtnsim.description.host import build_host
from dtnsim.description.hosts import named
from dtnsim.description.override import split_key
from dtnsim.description.spec import PathSpec
from dtnsim.evidence.fit_report import before
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw, prior
from tests.each import rows
from tests.strategies import written

TRANSFER = {"from": "x:/bigdata", "to": "x:/dev/null", "tool": "dd", "dataset": {"files": 1, "size": "1 GB"}}
VENADI = Path(library.root("models")) / "hosts" / "venadi.yaml"


def made(tmp_path: Path, hosts: dict[str, Any], *overrides: str, calibration: str = "venadi") -> PathSpec:
    file = written(
        tmp_path / "path.yaml",
        yaml.safe_dump({"name": "t", "hosts": hosts, "transfer": TRANSFER, "calibration": calibration}),
    )
    return spec.load(file, overrides)


def fits() -> dict[str, Any]:
    return yamlio.plain(library.calibration("venadi"))["parameters"]["venadi"]


def test_a_copy_of_a_shipped_host_keeps_its_fit_and_an_edit_of_it_wins(tmp_path: Path) -> None:
    written(tmp_path / "mine.yaml", VENADI.read_text())
    same = made(tmp_path, {"x": "mine.yaml"})
    assert same.hosts["x"].cpu.clock.value == pytest.approx(3.867e9, rel=1e-3)
    assert same.notes == ()
    edited = made(tmp_path, {"x": {"like": "mine.yaml", "cpu": {"clock": "2.5 GHz"}}})
    assert edited.hosts["x"].cpu.clock.value == 2.5e9
    assert edited.hosts["x"].stack.file_write_byte == same.hosts["x"].stack.file_write_byte
    (note,) = edited.notes
    for said in ("hosts.x.cpu.clock is 2.5 GHz", "3.8 GHz +- 4 %", fits()["cpu.clock"]["value"], "fitted.yaml"):
        assert said in note
    assert note in compose(edited, Draw()).warnings
    assert edited.hosts["x"].cpu.clock.key == "x.cpu.clock", "drawn as the user's number, not with the fit's covariance"
    assert same.hosts["x"].cpu.clock.key == "venadi: cpu.clock"


def test_a_spread_of_the_users_own_wins_too(tmp_path: Path) -> None:
    clock = {"value": "3.8 GHz", "spread": "1 %"}
    edited = made(tmp_path, {"x": {"like": "venadi", "cpu": {"clock": clock}}})
    assert (edited.hosts["x"].cpu.clock.value, edited.hosts["x"].cpu.clock.spread) == (3.8e9, 0.01)
    assert len(edited.notes) == 1


def test_what_is_set_wins_even_where_it_is_what_was_fitted_to(tmp_path: Path) -> None:
    for value in ("{value: 3.8 GHz, spread: 4 %}", "3 GHz"):
        path = made(tmp_path, {"x": "venadi"}, f"hosts.x.cpu.clock={value}")
        assert path.hosts["x"].cpu.clock.value in (3.8e9, 3e9)
        assert path.notes == ()
        assert path.hosts["x"].cpu.clock.key.startswith("x.") or not path.hosts["x"].cpu.clock.spread
    replaced = made(tmp_path, {"x": "venadi"}, "hosts.x.cpu=intel-e5-2680-v4")
    assert "fit" not in replaced.hosts["x"].cpu.clock.source


def test_shipped_fits_are_of_the_shipped_hosts() -> None:
    """Each remembers what its host still says; otherwise it would be left out."""
    for file in library.root("calibration").glob("*/fitted.yaml"):
        for host, keys in yamlio.plain(file)["parameters"].items():
            built = build_host(host, named(host))
            for key, entry in keys.items():
                found = _quantity_at(built, split_key(key))
                assert found is not None, f"{file}: {host}: {key}"
                assert before(found) == entry["prior"], f"{file}: {host}: {key}: fit it again"


def test_what_is_remembered_is_exact() -> None:
    assert before(prior("3.8 GHz", 0.04, "x")) == {"value": "3.8 GHz", "spread": "4 %"}
    third = prior("1 ms", 1 / 3, "x")
    assert before(third)["spread"] == "33.3333333333 %"


@pytest.mark.parametrize(("parameters", "says"), rows("description/refused", "fitted parameters"))
def test_a_file_that_no_fit_wrote_is_refused(tmp_path: Path, parameters: str, says: str) -> None:
    (tmp_path / "f.yaml").write_text(f"parameters: {parameters}\n")
    with pytest.raises(SpecError) as raised:
        made(tmp_path, {"x": "venadi"}, calibration="f.yaml")
    assert says in str(raised.value)


@pytest.mark.parametrize("text", rows("description/tables", "a_correlation_that_is_none_is_refused"))
def test_a_correlation_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "f.yaml").write_text(f"parameters: {{}}\ncovariance: {text}\n")
    with pytest.raises(SpecError, match="covariance"):
        made(tmp_path, {"x": "venadi"}, calibration="f.yaml")


# -- --set of a host reaches those that are like it -------------------------------------------------------
def test_set_reaches_a_host_that_is_like_the_changed_one(tmp_path: Path) -> None:
    hosts = {"x": "venadi", "y": {"like": "x"}, "z": {"like": "y", "cpu": {"clock": "1 GHz"}}}
    path = made(tmp_path, hosts, "hosts.x.memory.channels=2", "hosts.y.cpu.clock=2 GHz")
    assert [path.hosts[h].memory.channels for h in "xyz"] == [2, 2, 2]
    assert [path.hosts[h].cpu.clock.value for h in "yz"] == [2e9, 1e9]
    assert path.hosts["x"].cpu.clock.value == pytest.approx(3.867e9, rel=1e-3)


def test_a_host_can_be_made_like_another(tmp_path: Path) -> None:
    path = made(tmp_path, {"x": "venadi", "y": {"name": "y"}}, "hosts.y.like=x", "hosts.x.memory.channels=2")
    assert path.hosts["y"].memory.channels == 2


@pytest.mark.parametrize("like", ["[x]", "{a: 1}"])
def test_like_needs_a_name(tmp_path: Path, like: str) -> None:
    with pytest.raises(SpecError, match=r"hosts\.y\.like"):
        made(tmp_path, {"x": "venadi", "y": {"like": yaml.safe_load(like)}})


@pytest.mark.parametrize(("host", "entry", "said"), rows("description/refused", "fitted values"))
def test_every_entry_is_checked_whether_or_not_a_host_needs_it(
    host: str, entry: object, said: str, tmp_path: Path
) -> None:
    (tmp_path / "fit.yaml").write_text(yaml.safe_dump({"parameters": {host: {"cpu.clock": entry}}}))
    with pytest.raises(SpecError, match=rf"fit\.yaml:\d+: {re.escape(said)}" if said[0] == "c" else re.escape(said)):
        made(tmp_path, {"x": "venadi"}, calibration=str(tmp_path / "fit.yaml"))


@pytest.mark.parametrize(
    ("line", "key"),
    [("calibration: nobody's", "calibration"), ("hosts: {a: [x], b: venadi}", "hosts.a"),
     ("transfer: {from: 'a:/bigdata', to: 'b:/bigdata', tool: scp, dataset: []}", r"transfer\.dataset")],
)  # fmt: skip
def test_what_has_no_place_of_its_own_is_in_the_path_file(tmp_path: Path, line: str, key: str) -> None:
    lines = {"hosts": "hosts: {a: venadi, b: venadi}", "wan": "wan: {rtt: 1 ms, bandwidth: 1 Gb/s}",
             "transfer": "transfer: {from: 'a:/bigdata', to: 'b:/bigdata', tool: scp}"}  # fmt: skip
    file = written(tmp_path / "mine.yaml", "\n".join((lines | {line.partition(":")[0]: line}).values()))
    with pytest.raises(SpecError, match=rf"mine\.yaml(:\d+)?: {key}: "):
        spec.load(file)
