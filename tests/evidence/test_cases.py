"""Cases files: what they refuse, that every figure stands in its log, and that no case has a factor of its own."""

import re
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from dtnsim.composition.compose import compose, run_together
from dtnsim.description import spec
from dtnsim.evidence import cases
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.quantity import Draw, Quantity, Value
from dtnsim.ground.records import Bottleneck
from dtnsim.ground.term import without_words
from dtnsim.logs import read_logs
from tests.each import rows

HEAD = "schema: dtnsim.cases/1\nsite: here\nsource: a page\ncases:\n"
GOOD = "  - {id: a, path: venadi/iperf3, measured: 37333 Mb/s, role: fit, tool: iperf3}\n"


def load(tmp_path: Path, text: str) -> list[cases.Case]:
    file = tmp_path / "cases.yaml"
    file.write_text(text)
    return cases.load(file)


def test_a_case_in_si(tmp_path: Path) -> None:
    (case,) = load(tmp_path, HEAD + GOOD)
    assert case.measured == pytest.approx(37333e6 / 8)
    assert (case.name, case.unit, case.source, case.bound) == ("here/a", "B/s", "a page", None)
    assert case.path.name == "iperf3.yaml"


@pytest.mark.parametrize(("entry", "says"), rows("evidence/tables", "refuses_with_the_remedy"))
def test_refuses_with_the_remedy(tmp_path: Path, entry: str, says: str) -> None:
    with pytest.raises(SpecError, match=says) as raised:
        load(tmp_path, HEAD + f"  - {entry}\n")
    assert "cases.yaml" in str(raised.value)


def test_one_id_once_and_one_figure_one_role(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="given twice"):
        load(tmp_path, HEAD + GOOD + GOOD)
    (tmp_path / "l.txt").write_text("x")
    log = GOOD.replace("tool: iperf3}", "tool: iperf3, log: 'l.txt:1'}")
    with pytest.raises(SpecError, match="another role"):
        load(tmp_path, HEAD + log + log.replace("id: a", "id: b").replace("role: fit", "role: blind"))


def test_stated_bottleneck_short_and_long(tmp_path: Path) -> None:
    short = GOOD.replace("tool: iperf3}", "tool: iperf3, bottleneck_stated: wire}")
    (case,) = load(tmp_path, HEAD + short)
    assert case.stated.met_by(Bottleneck("venadi.eth.wire", "eth", "venadi", "nic", ""))
    assert not case.stated.met_by(Bottleneck("venadi.cpu", "cpu", "venadi", "core", "the wire is idle"))
    long = GOOD.replace("tool: iperf3}", "tool: iperf3, bottleneck_stated: {says: busy, station: 'core|cpu'}}")
    assert load(tmp_path, HEAD + long)[0].stated is not None


def test_folders_of_sites(tmp_path: Path) -> None:
    for site in ("one", "two"):
        (tmp_path / site).mkdir()
        (tmp_path / site / "cases.yaml").write_text(HEAD.replace("here", site) + GOOD)
    assert [c.site for c in cases.load_all(tmp_path)] == ["one", "two"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpecError, match=r"no cases\.yaml"):
        cases.load_all(tmp_path / "empty")


#: what a printed number is counted in, over SI: prefixes and bits, percent, minutes to days
SCALES = {p * per for p in (1, 1e-3, 1e-2, 60, 3600, 86400, 1e3, 1e6, 1e9, 2.0**20, 2.0**30) for per in (1, 1 / 8)}


def test_no_text_stands_in_two_sets() -> None:
    """Two figures that agree with two of another set's study to half a thousandth are of one text, taken twice."""
    studies = by_key(((c.site, c.study), (c.quantity, c.measured)) for c in cases.load_all() if c.measured > 0)
    for (one, mine), (other, theirs) in combinations(studies.items(), 2):
        within = 0.0 if {one[1], other[1]} == {"later/fs6706t", "sojourners/toms3500"} else 4e-4  # round by chance
        same = [(m, t) for q, m in mine for p, t in theirs if q == p and abs(m / t - 1) < within]
        assert one[0] == other[0] or min(len({m for m, _ in same}), len({t for _, t in same})) < 2, (one, other, same)


def test_every_figure_stands_in_its_log() -> None:
    """A parser reads it there, or its line prints it; rows of a table are single runs, and figures their means."""
    every = [c for c in cases.load_all() if c.log and not c.withheld and c.quantity != "throughput_sd"]
    logs = {log: read_logs(log)[0] for log in {c.log[0] for c in every} if log.suffix != ".csv"}
    assert {log.parts[-3] for log in logs} >= {"venadi", "nasa", "uci", "esnet"}
    for case in (c for c in every if c.log[0] in logs):
        log, number = case.log
        near = [m for m in logs[log] if m.line is not None and abs(m.line - number) <= 1]
        printed = re.findall(r"\d[\d,]*(?:\.\d+)?", log.read_text(encoding="utf-8").splitlines()[number - 1])
        here = [m.value for m in near if m.quantity == case.quantity]
        here += [float(n.replace(",", "")) * scale for n in printed for scale in SCALES]
        assert min(abs(value / case.measured - 1) for value in here) < 0.006, case.name  # three digits are printed


def venadi() -> list[cases.Case]:
    return cases.load(library.root("calibration") / "venadi" / "cases.yaml")


def test_component_tests_fit_and_transfers_judge() -> None:
    tools = {role: {c.tool for c in venadi() if c.role == role} for role in ("fit", "blind")}
    assert tools["fit"] == {"dd", "bonnie++", "iozone", "iperf3"}
    assert tools["blind"] == {"scp", "bbcp", "globus-url-copy", "Globus"}


def test_every_record_length_and_column_has_a_case() -> None:
    cells = {c.id for c in venadi() if c.id.startswith("iozone-8g")}
    assert len(cells) == 13 * 13


class Everything(Draw):
    """A nominal draw that notes every quantity it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Quantity] = set()

    def __call__(self, quantity: Quantity) -> Value:
        self.seen.add(quantity)
        return super().__call__(quantity)


@pytest.fixture(scope="module")
def users() -> dict[Quantity, set[str]]:
    """Each quantity, and the paths that draw on it."""
    found: dict[Quantity, set[str]] = defaultdict(set)
    paths = {case.path: case for case in reversed(cases.load_all())}
    loaded = [spec.load(case.path, case.overrides) for case in paths.values()]
    run_together(loaded)
    for case, path in zip(paths.values(), loaded, strict=True):
        draw = Everything()
        with without_words():
            compose(path, draw)
        for quantity in draw.seen:
            found[quantity].add(f"{case.site}/{case.path.stem}")
    return found


def test_every_number_has_a_source(users: dict[Quantity, set[str]]) -> None:
    bare = {str(q): sorted(names)[:3] for q, names in users.items() if not q.source.strip()}
    assert not bare


def test_a_number_of_one_path_alone_has_a_reason(users: dict[Quantity, set[str]]) -> None:
    # such a number could be a fudge: it is from a document or a datasheet, or assumed for a reason that is told
    alone = {q: next(iter(names)) for q, names in users.items() if len(names) == 1}
    assert alone, "paths have lengths and sizes of their own"
    untold = {
        f"{q} ({name})": q.source for q, name in alone.items() if q.source.removeprefix("assumed").strip(": .") == ""
    }
    assert not untold
