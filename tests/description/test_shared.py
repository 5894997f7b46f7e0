"""Transfers that several runs of a tool, or several hosts, share."""

import pytest
from hypothesis import given, settings, strategies as st

import dtnsim
from dtnsim.description import spec
from dtnsim.ground.errors import SpecError
from dtnsim.planning.messages import tool_advice
from dtnsim.planning.tool_choice import choose
from dtnsim.steady.ordering import moved
from tests.each import rows
from tests.strategies import written

ONE = "nasa/nuttscp-1of7-put"
TWO = ["transfer.dataset={files: 2, each: 68719476736 B}", "transfer.runs=2"]
POOL = ["hosts.ours-2={like: ours}", "transfer.pool={ours: [ours-2]}"]


def test_two_runs_are_the_two_transfers_that_nasa_wrote_out() -> None:
    """Test 3 of 7 has two files of 64 GB, each on a core of its own."""
    runs, apart = (dtnsim.predict(p, overrides=o, samples=0) for p, o in ((ONE, TWO), ("nasa/nuttscp-3of7", [])))
    assert runs.throughput_Bps.p50 == pytest.approx(apart.throughput_Bps.p50, rel=1e-9)
    assert [t.core for t in spec.load(ONE, TWO).transfers] == [None, 1]
    assert [spec.load(ONE, TWO).transfer_key(n) for n in range(2)] == ["transfer"] * 2


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 9)), min_size=1, max_size=4, unique_by=lambda g: g[1]),
       st.integers(1, 6))  # fmt: skip
def test_the_parts_have_all_files_between_them_and_none_twice(groups: list[tuple[int, int]], runs: int) -> None:
    listed = ", ".join(f"{{count: {n}, size: {size} GB}}" for n, size in groups)
    overrides = [f"transfer.dataset={{files: [{listed}]}}", f"transfer.runs={runs}"]
    files = sum(n for n, _ in groups)
    if files < runs:
        with pytest.raises(SpecError, match="that share"):
            spec.load(ONE, overrides)
        return
    parts = [t.dataset for t in spec.load(ONE, overrides).transfers]
    assert len(parts) == runs
    assert sum(p.files for p in parts) == files
    assert sum(p.payload_B for p in parts) == pytest.approx(sum(n * size for n, size in groups) * 1e9)
    assert max(p.files for p in parts) - min(p.files for p in parts) <= 1


def test_a_pool_of_two_does_twice_until_what_they_share_binds() -> None:
    path = "examples/dtn-100g-to-buy"
    one, two = (dtnsim.predict(path, overrides=o, samples=0) for o in ([], POOL))
    assert two.throughput_Bps.p50 == pytest.approx(2 * one.throughput_Bps.p50, rel=1e-3)
    many = [f"hosts.ours-{n}={{like: ours}}" for n in range(2, 7)]
    many.append(f"transfer.pool={{ours: [{', '.join(f'ours-{n}' for n in range(2, 7))}]}}")
    six = dtnsim.predict(path, overrides=many, samples=0)
    assert len(six.transfers) == 6
    assert six.throughput_Bps.p50 < 0.75 * 6 * one.throughput_Bps.p50  # the wide-area network is full


@pytest.mark.parametrize(("there", "told"), [(2, False), (3, True), (4, False)])
def test_hosts_that_do_not_pair_evenly_are_told(there: int, *, told: bool) -> None:
    many = [f"hosts.far={{like: ours, count: {there}}}", "hosts.ours.count=2", "transfer.to=far:/data"]
    made = spec.load("examples/dtn-100g-to-buy", [*many, "transfer.from=ours:/data"])
    assert ("transfer: ours has 2 of 3 parts, ours-2 1" in "".join(made.notes)) == told


def test_stripes_share_one_file() -> None:
    path = "examples/dtn-100g-to-buy"
    large = "transfer.dataset={files: 1, each: 1 TB}"
    with pytest.raises(SpecError, match="has 1 file for 2 that share it"):
        spec.load(path, [*POOL, large])
    striped = spec.load(path, [*POOL, large, "transfer.tool.stripe=2"])
    assert [t.dataset.payload_B for t in striped.transfers] == [5e11, 5e11]
    assert [t.tool.stripe for t in striped.transfers] == [1, 1]
    assert [t.to for t in striped.transfers] == ["ours:/data", "ours-2:/data"]
    task = "transfer.tool={name: globus, concurrency: 6, max_concurrency: 8, servers: 2}"
    for part in (chunks := spec.load(path, [*POOL, large, task]).transfers):
        assert (part.tool.concurrency, part.tool.max_concurrency, part.tool.servers) == (3, 4, 1)
    assert [t.dataset.payload_B for t in chunks] == [5e11, 5e11]
    found, refused = choose(spec.load(path, [*POOL, large, "transfer.tool=globus"]), 0)  # others share out whole files
    assert {moved(row.prediction) for row in found} == {(1, 1e12)}
    assert tool_advice(found[:1]) == "yours: globus will do: no other tool can do this transfer"
    assert {r.test for r in refused} == {"cannot"}
    with pytest.raises(SpecError, match="globus, or gridftp with 'stripe', shares a file"):
        spec.load(path, [*POOL, large, task, "transfer.tool.chunked=false"])


@pytest.mark.parametrize(("override", "words"), rows("description/refused", "shared transfers"))
def test_what_cannot_be_shared_is_refused(override: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        spec.load("examples/dtn-100g-to-buy", [override])


def test_what_only_the_tool_can_refuse_is_left_to_it() -> None:
    with pytest.raises(SpecError, match="stripe: needs a whole number"):
        spec.load("examples/dtn-100g-xfs", ["transfer.runs=2", "transfer.tool.stripe=x"])


def test_who_waits_for_a_shared_transfer_waits_for_all_of_it(tmp_path) -> None:
    file = written(
        tmp_path / "path.yaml",
        "hosts: {a: example-dtn-100g, b: example-dtn-100g}\nwan: {rtt: 1 ms, bandwidth: 100 Gb/s, mtu: 9000 B}\n"
        "transfers:\n  first: {from: 'a:/xfs', to: 'b:/xfs', tool: gridftp, dataset: {files: 9, each: 1 GB}, runs: 3}\n"
        "  then: {from: 'a:/xfs', to: 'b:/xfs', tool: gridftp, dataset: {files: 1, each: 1 GB}, after: [first]}\n",
    )
    path = spec.load(file)
    assert path.transfers[-1].after == ["first", "first-2", "first-3"]
    assert path.transfer_key(3) == "transfers.then"


FILES = "hosts: {a: example-dtn-100g, b: example-dtn-100g}\nwan: {rtt: 40 ms, bandwidth: 10 Gb/s, mtu: 1500 B}\n"
SMALL = "dataset: {files: 20000, each: 10 kB}"


def test_an_archive_is_packed_sent_and_unpacked_one_after_the_other(tmp_path) -> None:
    """Beside the three written by hand: 512 B before each file, half of that to pad it, whole records (GNU tar)."""
    at = f"from: 'a:/xfs', to: 'b:/xfs', tool: scp, {SMALL}"
    short, long = tmp_path / "short.yaml", tmp_path / "long.yaml"
    short.write_text(f"{FILES}transfers:\n  t: {{{at}, archive: true}}\n  then: {{{at}, after: [t]}}\n")
    packed = 21_032 * 10_240  # of 20,000 times 10,000 + 512 + 256 B, and two empty blocks
    long.write_text(
        f"{FILES}transfers:\n"
        "  t: {from: 'a:/xfs', to: 'b:/xfs', tool: scp, after: [t-pack], counted: false, "
        f"dataset: {{files: 1, size: {packed} B}}}}\n"
        f"  t-pack: {{from: 'a:/xfs', to: 'a:/xfs', tool: {{name: tar, mode: c}}, {SMALL}}}\n"
        f"  t-unpack: {{from: 'b:/xfs', to: 'b:/xfs', tool: tar, {SMALL}, after: [t], counted: false}}\n"
        f"  then: {{{at}, after: [t-unpack]}}\n"
    )
    one, other = (dtnsim.predict(str(file), samples=32) for file in (short, long))
    assert [t.name for t in one.transfers] == [t.name for t in other.transfers]
    assert one.throughput_Bps == other.throughput_Bps
    assert moved(one) == (40_000, 4e8)
    assert one.drawn.total_Bps * one.drawn.seconds == pytest.approx(4e8)


@pytest.mark.parametrize(("override", "words"), rows("description/tables", "what_cannot_be_one_archive_is_refused"))
def test_what_cannot_be_one_archive_is_refused(tmp_path, override: str, words: str) -> None:
    file = written(tmp_path / "path.yaml", f"{FILES}transfer: {{from: 'a:/xfs', to: 'b:/xfs', tool: scp, {SMALL}}}\n")
    with pytest.raises(SpecError, match=words):
        spec.load(file, ["transfer.archive=true", override])
