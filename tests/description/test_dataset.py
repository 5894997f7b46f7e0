"""Data sets against the figures their sources print, distributions against closed forms; lists of files as they are."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.description import dataset, file_sizes
from dtnsim.description.dataset import Dataset, load
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import SpecError
from tests.each import cases, rows


@cases("name, files, payload_B, rel", rows("description/tables", "shipped_sets_hold_what_their_sources_print"))
def test_shipped_sets_hold_what_their_sources_print(name, files, payload_B, rel):
    data = load(name)
    assert data.files == files
    assert data.payload_B == pytest.approx(payload_B, rel=rel)
    assert data.name == name


def test_every_shipped_set_loads_and_says_where_it_comes_from():
    names = library.names("datasets")
    assert len(names) >= 20
    for name in names:
        data = load(name)
        assert len(data.source) > 20, name
        assert data.largest_B >= data.mean_B > 0
        assert data.counts.min() >= 1


def test_the_trees_differ_in_size_only():
    sizes = ("5MB-in-tiny-files", "5GB-in-small-files", "50GB-in-medium-files", "500GB-in-large-files")
    trees = [load(f"esnet/{name}") for name in sizes]
    assert {t.directories for t in trees} == {25 * 25 + 25 + 1}
    for tree, scale in zip(trees, (1e3, 1e6, 1e7, 1e8), strict=True):
        np.testing.assert_allclose(tree.sizes_B, scale * np.array([1, 2, 5]))


def test_ranges_keep_their_ends():
    # Climate-Medium: 117 files from 1.2 GB to 6 GB; its groups are single files
    data = load("esnet/Climate-Medium")
    assert data.sizes_B[0] == pytest.approx(1.2e9, rel=0.01)
    assert data.largest_B == pytest.approx(6e9, rel=0.03)


@pytest.mark.parametrize(("spec", "files", "payload_B", "largest_B"), rows("description/spoken", "inline forms"))
def test_inline_forms(spec, files, payload_B, largest_B):
    data = load(spec)
    assert data.files == files
    assert data.payload_B == pytest.approx(payload_B, rel=1e-12)
    assert data.largest_B == pytest.approx(largest_B, rel=1e-12)
    assert data.mean_B == pytest.approx(payload_B / files)


@given(files=st.integers(2, 10**7), low=st.floats(1.0, 1e9), ratio=st.floats(1.001, 1e4), share=st.floats(0.001, 0.999))
def test_between_keeps_number_sum_and_ends(files, low, ratio, share):
    high = low * ratio
    total = files * (low + share * (high - low))
    sizes, counts = file_sizes.between(files, low, high, total)
    assert counts.sum() == files
    assert counts.size <= file_sizes.MAX_GROUPS
    assert sizes @ counts == pytest.approx(total, rel=1e-6)
    assert sizes.min() >= low * (1 - 1e-6)
    assert sizes.max() <= high * (1 + 1e-6)
    assert np.all(np.diff(sizes) >= -1e-6 * high)


@given(files=st.integers(1, 10**10), sigma=st.floats(0.0, 3.0), median=st.floats(1.0, 1e9))
def test_log_normal_keeps_number_and_mean(files, sigma, median):
    # mean of the log-normal distribution: median x exp(sigma^2 / 2)
    sizes, counts = file_sizes.log_normal(files, median, sigma)
    assert counts.sum() == files
    assert counts.size <= file_sizes.MAX_GROUPS
    assert sizes @ counts == pytest.approx(files * median * math.exp(sigma**2 / 2), rel=1e-6)
    assert np.all(np.diff(sizes) >= -1e-9 * sizes.max())


def test_log_normal_groups_lie_between_their_quantiles():
    from scipy.stats import lognorm

    sizes, counts = file_sizes.log_normal(200_000, 2.0**20, 1.5)
    edges = lognorm(1.5, scale=2.0**20).ppf(np.concatenate([[0], np.cumsum(counts)]) / 200_000)
    assert np.all(sizes >= edges[:-1] * (1 - 1e-6))
    assert np.all(sizes <= edges[1:] * (1 + 1e-6))


def test_a_seed_draws_the_same_files_again():
    spec = {"files": 50_000, "median": "1 MiB", "sigma": 1, "seed": 1}
    one, two, other = load(spec), load(spec), load({**spec, "seed": 2})
    np.testing.assert_array_equal(one.sizes_B, two.sizes_B)
    assert one.payload_B != other.payload_B
    drawn = np.random.default_rng(1).lognormal(math.log(2.0**20), 1.0, 50_000)
    assert one.files == 50_000
    assert one.payload_B == pytest.approx(drawn.sum())
    assert one.largest_B == pytest.approx(drawn.max())
    # standard error of the mean: sqrt(e - 1) / sqrt(50000) = 0.6 %; four of them
    assert one.payload_B == pytest.approx(50_000 * 2**20 * math.exp(0.5), rel=0.024)


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=3000))
def test_sizes_known_one_by_one(sizes):
    data = dataset.of_sizes(sizes)
    assert data.files == len(sizes)
    assert data.payload_B == pytest.approx(sum(sizes), rel=1e-9)
    assert data.counts.size <= file_sizes.MAX_GROUPS
    assert data.largest_B == max(sizes)


def test_a_list_written_by_find(tmp_path):
    (tmp_path / "sizes.txt").write_text("4096\n0\n1048576\n")
    (tmp_path / "mine.yaml").write_text("source: find on our home\nsizes_file: sizes.txt\ndirectories: 2\n")
    data = load(str(tmp_path / "mine.yaml"))
    assert (data.files, data.payload_B, data.directories) == (3, 4096 + 2**20, 2)
    (tmp_path / "sizes.txt").write_text("4096\n12 MB\n")
    with pytest.raises(SpecError, match=r"sizes\.txt:2: is not a number of bytes; write"):
        load(str(tmp_path / "mine.yaml"))
    (tmp_path / "sizes.txt").unlink()
    with pytest.raises(SpecError, match=r"mine\.yaml:2: dataset\.sizes_file: cannot be read"):
        load(str(tmp_path / "mine.yaml"))


def test_records_do_not_change():
    data = load("esnet/5GB-in-small-files")
    assert load(data) is data
    with pytest.raises(ValueError, match="read-only"):
        data.counts[0] = 7
    with pytest.raises(AttributeError):
        data.name = "other"  # type: ignore[misc]
    assert isinstance(data, Dataset)


@pytest.mark.parametrize(("spec", "says"), rows("description/refused", "data sets"))
def test_what_cannot_be_used_is_said_with_key_and_remedy(spec, says):
    with pytest.raises(SpecError, match=says):
        load(spec)


def test_errors_name_file_and_line():
    text = "transfer:\n  dataset:\n    files: 3\n    size: 10 Gb/s\n"
    given = yamlio.loads(text, "mine.yaml")["transfer"]["dataset"]
    with pytest.raises(SpecError, match=r"^mine\.yaml:4: dataset\.size: ") as caught:
        load(given)
    assert (caught.value.file, caught.value.line) == ("mine.yaml", 4)
    given = yamlio.loads("a: 1\ndataset: esnet/nothing\n", "mine.yaml")["dataset"]
    with pytest.raises(SpecError, match=r"^mine\.yaml:2: dataset: there is no dataset"):
        load(given)


TEXT = st.text(alphabet="0123456789.eEkMGTiBb/s -_nax\x00[]", max_size=8)


@pytest.mark.parametrize("more", [{"directories": 100}, {"files_per_folder": 10}])
def test_folders_without_a_number_of_files_are_refused(more: dict[str, int]) -> None:
    with pytest.raises(SpecError, match="folders need 'files': how many"):
        dataset.load({"size": "1 GB", **more})
    assert dataset.load({"size": "1 GB", "files": 100, **more}).files == 100


KEYS = ["files", "size", "each", "sizes", "median", "sigma", "seed", "groups", "directories", "other"]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    TEXT,
    st.sampled_from(["1 MB", "10", "1e400 B", "nan", "5 GiB"]),
    st.lists(st.one_of(TEXT, st.just("1 MB"), st.just({"count": 2, "size": "1 B"})), max_size=3),
)


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
def test_any_mapping_is_a_data_set_or_one_clear_error(given_mapping):
    try:
        data = load(given_mapping)
    except SpecError:
        return
    assert data.files >= 1
    assert 0 < data.payload_B < math.inf


def _file(folder: Path, text: str) -> str:
    file = folder / "list"
    file.write_bytes(text.encode())
    return str(file)


@cases("text, sizes, folders", rows("description/tables", "lists"))
def test_every_file_of_a_list(tmp_path: Path, text: str, sizes: list[int], folders: int) -> None:
    data = load({"sizes_file": _file(tmp_path, text)})
    assert np.repeat(data.sizes_B, data.counts).tolist() == sizes
    assert data.directories == folders


@cases("text, files, total", rows("description/tables", "sums"))
def test_sums_alone_are_files_of_one_size(tmp_path: Path, text: str, files: int, total: float) -> None:
    data = load({"sizes_file": _file(tmp_path, text)})
    assert (data.files, data.payload_B, data.sizes_B.size) == (files, pytest.approx(total), 1)


def test_du_of_folders_needs_the_number_of_files(tmp_path: Path) -> None:
    list_ = _file(tmp_path, "1.5T\tone\n512G\ttwo\n")
    data = load({"sizes_file": list_, "files": 1000})
    assert (data.files, data.payload_B) == (1000, 2 * 2**40)
    with pytest.raises(SpecError, match=r"does not say how many files.*add 'files'"):
        load({"sizes_file": list_})


def test_a_sample_scales_to_so_many_files(tmp_path: Path) -> None:
    """Mean, quantiles and files per folder stay."""
    lines = "".join(f"{100 + n} ./{n % 10}/{n}\n" for n in range(1000))
    data = load({"sizes_file": _file(tmp_path, lines), "files": "3_000_000"})
    assert (data.files, data.directories) == (3_000_000, 30_000)
    assert data.mean_B == pytest.approx(599.5)
    few = load({"sizes_file": _file(tmp_path, lines), "files": 10})
    assert few.files == 10
    assert few.mean_B == pytest.approx(599.5, rel=0.1)


@cases("text, says", rows("description/tables", "secret"))
def test_errors_name_the_line_and_never_what_stands_there(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says) as error:
        load({"sizes_file": _file(tmp_path, text)})
    assert "secret" not in str(error.value)


def test_a_histogram_and_its_sum() -> None:
    """Half-way on a scale of logarithms: 64 B of 1 B to 4 KiB, 64 KiB of 4 KiB to 1 MiB."""
    bins = {"4 KiB": 200, "1 MiB": 40}
    data = load({"histogram": bins})
    assert (data.sizes_B.tolist(), data.counts.tolist()) == ([64.0, 65536.0], [200, 40])
    assert load({"histogram": bins, "size": "20 MB"}).payload_B == pytest.approx(20e6)
    assert load({"histogram": bins, "files": 2400}).counts.tolist() == [2000, 400]
    with pytest.raises(SpecError, match=r"dataset\.size: is not what these files can add up to .*between .* 42\.7"):
        load({"histogram": bins, "size": "20 GB"})
    with pytest.raises(SpecError, match=r"dataset\.histogram: needs sizes that rise"):
        load({"histogram": {"1 MiB": 40, "4 KiB": 200}})
    with pytest.raises(SpecError, match=r"dataset\.histogram: '4' has no unit"):
        load({"histogram": {"4": 40}})


def test_folders_by_files_in_each_and_depth() -> None:
    """1000 files, 10 in a folder: 100 folders, in 10 others where there are two levels."""
    each = {"files": 1000, "each": "1 MB", "files_per_folder": 10}
    assert load(each).directories == 100
    assert load({**each, "depth": 2}).directories == 110
    with pytest.raises(SpecError, match="'depth' needs 'files_per_folder'"):
        load({"files": 1000, "each": "1 MB", "depth": 2})
    with pytest.raises(SpecError, match="both 'directories' and 'files_per_folder'"):
        load({**each, "directories": 3})
