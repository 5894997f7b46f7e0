"""A workload as a path file says it: what is understood, and what is refused with a line and a remedy.

`dtnsim.description.templates` and `dtnsim.description.outages` are tried here too.
"""

import textwrap
from pathlib import Path

import numpy as np
import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.description.workload import Sizes
from dtnsim.ground import units, yamlio
from dtnsim.ground.errors import SpecError
from tests.each import rows

HEAD = """
name: a yard
hosts: {a1: example-dtn-100g, a2: {like: a1}, b: example-dtn-100g}
wan: {bandwidth: 100 Gb/s, rtt: 20 ms}
"""
GOOD = "{from: 'a*:/xfs', to: 'b:/xfs', tool: globus, size: 1 TB, each: 10 GB, every: 1 day, at: '02:00'}"


def path(classes=f"c: {GOOD}", more=""):
    body = f"workload:\n  classes:\n    {classes}\n{textwrap.indent(textwrap.dedent(more), '  ')}"
    return spec.resolve(yamlio.loads(HEAD + body, "yard.yaml"))


def test_classes_stand_as_transfers_one_after_the_other():
    made = path(f"one: {GOOD}\n    two: {GOOD}")
    assert [(t.name, t.source_end, t.to, t.after) for t in made.transfers] == [
        ("one", "a1:/xfs", "b:/xfs", []), ("two", "a1:/xfs", "b:/xfs", ["one"]),
    ]  # fmt: skip
    assert made.transfers[0].dataset.files == 100
    both = dtnsim.predict(made, samples=0)
    alone = dtnsim.predict(path(), samples=0)
    assert both.transfers[1].throughput_Bps.p50 == pytest.approx(alone.throughput_Bps.p50, rel=0.02)


def test_numbered_hosts():
    given = HEAD.replace("b: example-dtn-100g", "'s{08..11}': example-dtn-100g")
    raw = yamlio.loads(given + "transfer: {from: 'a1:/xfs', to: 's10:/xfs', tool: scp}", "yard.yaml")
    assert list(spec.resolve(raw).hosts) == ["a1", "a2", "s08", "s09", "s10", "s11"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("s{3..1}", "is not a range of hosts"), ("s{1..2", "is not a name of a host"), ("a{1..2}", "comes twice")],
)
def test_numbers_that_are_none(name, message):
    given = HEAD.replace("b: example-dtn-100g", f"'{name}': example-dtn-100g")
    raw = yamlio.loads(given + "transfer: {from: 'a1:/xfs', to: 'a2:/xfs', tool: scp}", "yard.yaml")
    with pytest.raises(SpecError, match=message):
        spec.resolve(raw)


@pytest.mark.parametrize(("change", "message"), rows("description/refused", "classes of a workload"))
def test_classes_that_are_none(change, message):
    text = GOOD
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(SpecError, match=message):
        path(f"c: {text}")


@pytest.mark.parametrize(("more", "message"), rows("description/refused", "rules of a workload"))
def test_rules_that_are_none(more, message):
    with pytest.raises(SpecError, match=message):
        path(more=more)


def test_a_workload_beside_transfers():
    both = f"workload: {{classes: {{c: {GOOD}}}}}\ntransfer: {{from: 'a1:/xfs', to: 'b:/xfs', tool: scp}}"
    raw = yamlio.loads(HEAD + both, "yard.yaml")
    with pytest.raises(SpecError, match="beside a workload"):
        spec.resolve(raw)


def test_a_workload_of_its_own_takes_the_place_of_transfers(tmp_path: Path):
    text = GOOD.replace("a*:/xfs", "east:/xfs").replace("'b:", "'west:")
    (tmp_path / "year.yaml").write_text(f"workload: {{classes: {{c: {text}}}}}")
    made = spec.load("examples/dtn-100g-xfs", workload=tmp_path / "year.yaml")
    assert made.workload is not None
    assert [t.name for t in made.transfers] == ["c"]
    again = made.changed(["workload.classes.c.size=2 TB"])
    assert again.transfers[0].dataset.files == 200
    named = spec.load("examples/facility-year", ["workload=facility-300TB"])
    assert named.workload == spec.load("examples/facility-year").workload
    with pytest.raises(SpecError, match="there is no workload 'yeer'"):
        spec.load("examples/dtn-100g-xfs", workload="yeer")


def test_a_mean_of_sizes_that_are_cut():
    sizes = Sizes(median="10 GB", sigma=1.5, most="100 GB")
    drawn = np.minimum(10e9 * np.exp(1.5 * np.random.default_rng(1).standard_normal(200_000)), 100e9)
    assert sizes.mean_B == pytest.approx(drawn.mean(), rel=0.01)
    assert Sizes(median="10 GB", sigma=0).mean_B == 10e9


def test_rates_a_day():
    assert units.parse("86400 /day", "1/s") == 1
    assert units.parse("300 TB/day", "B/s") == pytest.approx(300e12 / 86400)
    assert units.parse("20 /h", "1/s") == pytest.approx(20 / 3600)
