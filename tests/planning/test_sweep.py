"""A sweep gives what predict gives, keeps its rows and goes on where it ended."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dtnsim
from dtnsim.description import spec
from dtnsim.ground.errors import InputError
from dtnsim.ground.several import MixedError, NeedsOneError, Several
from dtnsim.planning import groups, swept
from dtnsim.planning.design import axis, cartesian
from dtnsim.planning.rowfile import RowFile
from dtnsim.steady.prediction import SAMPLES
from tests.each import rows, tables

CASES = rows("planning/tables", "every_ceiling_is_that_of_predict")


@pytest.mark.parametrize(("path", "vary", "arrays"), CASES, ids=[c[0] for c in CASES])
def test_every_ceiling_is_that_of_predict(path: str, vary: list[str], arrays: list[str] | None) -> None:
    result = dtnsim.sweep(path, vary, samples=0)
    if arrays is not None:
        assert set(result.vector) == set(arrays)
    assert len({r for r in result.throughput_Bps if np.isfinite(r)}) > 1, "nothing moved"
    picks = np.unique(np.linspace(0, len(result) - 1, 12).astype(int))
    for n in picks:
        row = result.to_dicts()[n]
        same = dtnsim.predict(path, overrides=[f"{k}={row[k]}" for k in result.keys], samples=0)
        assert row["throughput_Bps"] == pytest.approx(same.throughput_Bps.p50, rel=1e-9)
        assert row["duration_s"] == pytest.approx(same.duration_s.p50, rel=1e-9)
        assert (row["bottleneck"], row["kind"]) == (same.bottleneck.station, same.bottleneck.kind)


def test_every_row_is_that_of_predict() -> None:
    result = dtnsim.sweep("venadi/gridftp-gpfs", ["wan.rtt=1ms,90ms"], overrides=["wan.loss=1e-6"], seed=4)
    assert result.samples == SAMPLES
    for row in result.to_dicts():
        same = dtnsim.predict("venadi/gridftp-gpfs", overrides=["wan.loss=1e-6", f"wan.rtt={row['wan.rtt']}"], seed=4)
        rate = same.throughput_Bps
        assert [row[f"{k}_Bps"] for k in ("throughput", "p10", "p90", "ceiling")] == [
            rate.p50, rate.p10, rate.p90, same.ceiling,
        ]  # fmt: skip
        assert row["duration_s"] == same.duration_s.p50


def test_more_than_a_thousand_are_ceilings() -> None:
    result = dtnsim.sweep("venadi/gridftp-gpfs", ["hosts.venadi.cpu.clock=2GHz..5GHz:1001"])
    assert result.samples == 0
    assert all(row["throughput_Bps"] == row["ceiling_Bps"] == row["p90_Bps"] for row in result.to_dicts())


def test_numbers_alone_are_one_composition(monkeypatch) -> None:
    composed = []
    whole = swept.compose
    monkeypatch.setattr(swept, "compose", lambda *a: composed.append(1) or whole(*a))
    result = dtnsim.sweep("venadi/gridftp-gpfs", ["hosts.venadi.cpu.clock=2GHz..5GHz:3000"])
    assert len(result) == 3000
    assert len(composed) < 60  # three groups of growing size, and those that each is compared with


def test_only_the_draw_reads_a_swept_number() -> None:
    given = spec.load("venadi/gridftp-gpfs")
    ends = given.changed(["wan.rtt=1ms"]), given.changed(["wan.rtt=9ms"])
    place = swept.numeric(*ends, (ends[0].wan[0].rtt.value, ends[1].wan[0].rtt.value))
    assert place == (("wan", 0, "rtt"),)
    many = swept.with_values(given, [place], [np.array([0.001, 0.009])])
    with pytest.raises(NeedsOneError):
        _ = many.wan[0].rtt.value
    with pytest.raises(NeedsOneError):  # rsync over ssh asks for the round trip where it chooses
        _ = Several() * 2.0


def test_values_that_do_not_give_what_each_gives_alone_are_composed_alone(monkeypatch) -> None:
    given = spec.load("venadi/gridftp-gpfs")
    wanted = cartesian([axis("hosts.venadi.cpu.clock=1GHz..6GHz:8")])
    assert groups.vector_keys(given, wanted)
    whole = swept.rates

    def wrong(path: spec.PathSpec) -> swept.Rates:  # as if a decision had been made for all of them at the median
        made = whole(path)
        return made if len(made.rate_Bps) == 1 else swept.Rates(made.rate_Bps * 1.01, *_rest(made))

    monkeypatch.setattr(swept, "rates", wrong)
    assert groups.vector_keys(given, wanted) == ()
    (group,) = groups.groups(wanted, ("hosts.venadi.cpu.clock",), np.arange(8), groups.Pace())
    found = [o.rate_Bps for o in groups.outcomes(given, group)]
    assert found == pytest.approx([groups.compose_alone(given, group.overrides(n)).rate_Bps for n in range(8)])


#: paths with keys of every sort on them, each with the range that is drawn from
POOLS = tables("planning/tables")["pools"]


@pytest.mark.parametrize("path", POOLS)
@settings(max_examples=1)  # of four scenarios
@given(seed=st.integers(0, 2**32 - 1))
def test_random_numbers_of_a_path_together_and_one_at_a_time(path: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    loaded, pool = spec.load(path), POOLS[path]
    keys = tuple(rng.choice(list(pool), size=2, replace=False).tolist())
    ends = [pool[k] for k in keys]
    texts = [
        tuple(f"{low * (high / low) ** u:.6g} {unit}" for low, high, unit in ends for u in [rng.random()])
        for _ in range(4)
    ]
    group = groups.Group(np.arange(4), (), keys, tuple(texts))
    found = groups.outcomes(loaded, group)
    for n, one in enumerate(found):
        same = groups.compose_alone(loaded, group.overrides(n))
        assert (one.station, one.kind, one.error) == (same.station, same.kind, same.error)
        assert one.rate_Bps == pytest.approx(same.rate_Bps, rel=1e-9)
        assert one.seconds == pytest.approx(same.seconds, rel=1e-9)


def test_a_row_that_is_refused_names_the_option_its_value_came_with(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("wan.rtt\n5ms\n7\n")
    for how in ({"vary": ["wan.rtt=5ms,7"]}, {"vary": [], "table": tmp_path / "t.csv"}):
        result = dtnsim.sweep("venadi/iperf3", **how)
        (error,) = [e for e in (dict(zip(result.columns, r, strict=True))["error"] for r in result.rows) if e]
        assert error.startswith("--table wan.rtt: " if "table" in how else "--vary wan.rtt: ")
    (tmp_path / "t.csv").write_text("wan.rtt,transfer.tool.p\n5 ms,4\nx,y\n")
    for samples in (0, 16):
        (error,) = dtnsim.sweep("esnet/lbl-anl", [], table=tmp_path / "t.csv", samples=samples).refused
        assert re.fullmatch("--table wan.rtt: .*; also --table transfer.tool.p: .*", error)


def test_round_trips_losses_and_rates_are_arrays(monkeypatch) -> None:
    alone = []
    whole = groups.compose_alone
    monkeypatch.setattr(groups, "compose_alone", lambda *a: alone.append(1) or whole(*a))
    vary = ["wan.rtt=1ms..90ms", "wan.bandwidth=2Gb/s..90Gb/s"]
    result = dtnsim.sweep("venadi/gridftp-gpfs", vary, sample="lhs:120", samples=0)
    assert set(result.vector) == {"wan.rtt", "wan.bandwidth"}
    assert len(alone) < 50  # 7 values of each key, then of two groups corners, two of each bottleneck, a few at random
    assert len(result.bottlenecks) > 1


def test_scenarios_that_decide_otherwise_are_taken_apart(monkeypatch) -> None:
    given = spec.load("examples/small-files-40ms")
    texts = tuple((f"{us} us",) for us in (20, 50, 90, 110, 300, 900, 4000, 9000))  # TCP is followed from 100 us on
    group = groups.Group(np.arange(8), (), ("wan.rtt",), texts)
    (where,) = groups.places_of(given, ("wan.rtt",), (tuple(t for (t,) in texts),))
    with pytest.raises(MixedError) as mixed:
        swept.rates(swept.with_values(given, [where], [np.array([2e-5, 5e-5, 9e-5, 1.1e-4, 3e-4, 9e-4, 4e-3, 9e-3])]))
    assert mixed.value.holds.tolist() == [False] * 3 + [True] * 5
    found = [o.rate_Bps for o in groups.outcomes(given, group)]
    alone = [groups.compose_alone(given, group.overrides(n)).rate_Bps for n in range(8)]
    assert found == pytest.approx(alone, rel=1e-9)


def test_what_a_value_decides_unseen_is_found_by_halves(monkeypatch) -> None:
    """As if a law chose by the median of all: right on one side of 3 GHz, wrong on the other."""
    given = spec.load("venadi/gridftp-gpfs")
    clocks = np.linspace(1e9, 6e9, 300)
    group = groups.Group(np.arange(300), (), ("hosts.venadi.cpu.clock",), tuple((f"{c:.9g} Hz",) for c in clocks))
    right = {n: groups.compose_alone(given, group.overrides(n)).rate_Bps for n in range(0, 300, 37)}
    whole = swept.rates

    def wrong(path: spec.PathSpec) -> swept.Rates:
        made, clock = whole(path), path.hosts["venadi"].cpu.clock
        if not clock.several:
            return made
        rate = np.broadcast_to(made.rate_Bps, clock.values.shape)
        mistaken = (clock.values < 3e9) & bool(np.median(clock.values) > 3e9)
        return swept.Rates(np.where(mistaken, 1.01 * rate, rate), *_rest(made))

    monkeypatch.setattr(swept, "rates", wrong)
    found = groups.outcomes(given, group)
    assert [found[n].rate_Bps for n in right] == pytest.approx(list(right.values()), rel=1e-9)


def _rest(made: swept.Rates) -> tuple:
    return made.seconds, made.station, made.kind


VARY = ["transfer.tool.p=1,2,4,8", "hosts.venadi.cpu.clock=2GHz..5GHz:6"]


def _rows(file: Path) -> list[list[str]]:
    with file.open(newline="") as stream:
        return list(csv.reader(stream))


def test_a_run_broken_off_keeps_its_rows_and_goes_on(tmp_path) -> None:
    out = tmp_path / "rows.csv"

    def stop(done: int, of: int) -> None:
        if done >= 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dtnsim.sweep("venadi/gridftp-gpfs", VARY, out=out, progress=stop)
    assert len(_rows(out)) == 1 + 12
    out.write_bytes(out.read_bytes() + b"8,40000000")  # a line that was never finished
    result = dtnsim.sweep("venadi/gridftp-gpfs", VARY, out=out)
    whole = dtnsim.sweep("venadi/gridftp-gpfs", VARY)
    assert (len(result), result.kept) == (24, 12)
    assert result.rows == whole.rows
    rows = _rows(out)
    assert len(rows) == 25
    assert len({tuple(r[:2]) for r in rows[1:]}) == 24
    assert dtnsim.sweep("venadi/gridftp-gpfs", VARY, out=out).kept == 24
    assert _rows(out) == rows


def test_a_key_that_does_not_exist_is_called_as_it_was_given(tmp_path) -> None:
    with pytest.raises(InputError, match="--vary: bad: is not a key"):
        dtnsim.sweep("venadi/gridftp-gpfs", ["bad.key=1,2"])
    table = tmp_path / "rows.csv"
    table.write_text("bad.key\n1\n")
    with pytest.raises(InputError, match="--table: bad: is not a key"):
        dtnsim.sweep("venadi/gridftp-gpfs", table=table)


def test_rows_of_another_path_are_not_mixed(tmp_path) -> None:
    out = tmp_path / "rows.csv"
    dtnsim.sweep("venadi/gridftp-gpfs", VARY[:1], out=out)
    with pytest.raises(InputError, match="write elsewhere"):
        dtnsim.sweep("venadi/gridftp-gpfs", VARY[:1], overrides=["wan.rtt=50ms"], out=out)
    with pytest.raises(InputError, match="other columns"):
        dtnsim.sweep("venadi/gridftp-gpfs", VARY, out=out)
    with pytest.raises(InputError, match=r"ends in \.csv or \.parquet"):
        dtnsim.sweep("venadi/gridftp-gpfs", VARY, out=tmp_path / "rows.xls")


@pytest.mark.long
def test_parquet_has_the_same_rows_and_goes_on(tmp_path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "rows.parquet"

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dtnsim.sweep("venadi/gridftp-gpfs", VARY, out=out, progress=stop)
    assert not out.exists()
    result = dtnsim.sweep("venadi/gridftp-gpfs", VARY, out=out)
    assert result.kept == 1
    assert sorted(map(tuple, (r.values() for r in parquet.read_table(out).to_pylist()))) == sorted(result.rows)
    assert dtnsim.sweep("venadi/gridftp-gpfs", VARY, out=out).kept == 24
    assert [p.name for p in tmp_path.iterdir()] == ["rows.parquet"]


@pytest.mark.long
def test_processes_give_the_same_rows(tmp_path) -> None:
    several = dtnsim.sweep("venadi/gridftp-gpfs", VARY, processes=2, out=tmp_path / "rows.csv")
    assert several.rows == dtnsim.sweep("venadi/gridftp-gpfs", VARY).rows


def test_a_scenario_that_is_refused_says_why_and_the_others_stay() -> None:
    result = dtnsim.sweep("venadi/gridftp-gpfs", ["transfer.tool.p=1,0,2"])
    assert [np.isfinite(v) for v in result.throughput_Bps] == [True, False, True]
    assert "tool" in result.refused[0]


def test_a_result_is_short_in_print_and_a_frame_where_pandas_is() -> None:
    result = dtnsim.sweep("venadi/gridftp-gpfs", VARY[:1])
    assert len(repr(result)) < 120
    try:
        import pandas as pd  # noqa: F401
    except ImportError:
        with pytest.raises(InputError, match=r"pip install 'dtn-pathsim\[pandas\]'"):
            result.to_frame()
    else:
        assert list(result.to_frame()["throughput_Bps"]) == list(result.throughput_Bps)


@pytest.mark.long
def test_the_command_line_has_rows_progress_and_exit_codes(tmp_path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "dtnsim", "sweep", "venadi/gridftp-gpfs", *words]
        return subprocess.run(line, capture_output=True, text=True, check=False)

    done = run("--vary", "transfer.tool.p=1,2", "--json")
    assert done.returncode == 0
    assert [r["transfer.tool.p"] for r in json.loads(done.stdout)["rows"]] == ["1", "2"]
    assert done.stderr == ""
    refused = run("--vary", "transfer.tool.p=1,0")
    assert refused.returncode == 2
    assert "1 of 2 scenarios refused" in refused.stderr
    lost = run("--vary", "transfer.tool.p=1,2", "-o", str(tmp_path / "none" / "rows.csv"))
    assert (lost.returncode, lost.stdout) == (2, "")
    assert "Traceback" not in lost.stderr


ROWS = [
    ("1 ms", 1.25e9 / 3, 4.0, "a.b, c", "core", "", 1e9 / 3, 2e9 / 3, 1e9 / 7, "p"),
    ("2 ms", None, None, "", "", 'no "x"', None, None, None, "p"),
]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_come_back_as_they_went(tmp_path, kind: str) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    file = RowFile(tmp_path / f"r.{kind}", ["wan.rtt"], "p")
    for row in ROWS:
        file.append([row])
    file.finish()
    assert list(RowFile(tmp_path / f"r.{kind}", ["wan.rtt"], "p").done.values()) == ROWS


def test_a_torn_end_is_cut_off_and_the_next_row_begins_a_line(tmp_path) -> None:
    name = tmp_path / "r.csv"
    RowFile(name, ["wan.rtt"], "p").append(ROWS[:1])
    whole = name.read_bytes()
    name.write_bytes(whole + b"2 ms,1")
    file = RowFile(name, ["wan.rtt"], "p")
    assert len(file.done) == 1
    file.append(ROWS[1:])
    assert name.read_bytes().startswith(whole)
    assert list(RowFile(name, ["wan.rtt"], "p").done.values()) == ROWS


def test_a_file_that_is_no_parquet_is_refused(tmp_path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "r.parquet").write_text("nothing")
    with pytest.raises(InputError, match="no Parquet file"):
        RowFile(tmp_path / "r.parquet", ["wan.rtt"], "p")


def test_two_runs_into_one_file_do_not_mix(tmp_path) -> None:
    one, other = (RowFile(tmp_path / "r.csv", ["wan.rtt"], "p") for _ in range(2))
    one.append(ROWS[:1])
    with pytest.raises(InputError, match=r"r\.csv is written by another run at the same time"):
        other.append(ROWS[:1])
    one.append(ROWS[1:])
    assert list(RowFile(tmp_path / "r.csv", ["wan.rtt"], "p").done.values()) == ROWS


@pytest.mark.parametrize("foreign", [b"a,b\n1,2", b"no line end", b"\x00\xff" * 100])
def test_a_file_of_somebody_else_is_refused_and_not_changed(tmp_path, foreign: bytes) -> None:
    name = tmp_path / "r.csv"
    name.write_bytes(foreign)
    with pytest.raises(InputError, match=r"r\.csv"):
        RowFile(name, ["wan.rtt"], "p")
    assert name.read_bytes() == foreign
