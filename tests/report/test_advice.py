"""What a card advises: of each case what it says, and what it does not."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dtnsim.composition.relief import sysctl_lines
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.term import without_words
from dtnsim.ground.uncertainty import Remedy, written
from dtnsim.report.advice import compared_times, option
from dtnsim.report.decision import decide
from dtnsim.report.holds import brief, holds
from dtnsim.steady.prediction import predict
from tests.each import cases, rows, tables

#: (path, what its card says, what it does not)
CASES = tables("report/advice")


@pytest.mark.parametrize("case", CASES)
def test_a_card_advises_what_can_be_done(case: str, tmp_path: Path) -> None:
    text, said, unsaid = CASES[case].values()
    (tmp_path / "path.yaml").write_text(text)
    made = decide(predict(tmp_path / "path.yaml", samples=16))
    card = made.verdict + "\n".join(f"{label}: {line}" for label, lines in made.rows for line in lines)
    assert not [words for words in said if words not in card], card
    assert not [words for words in unsaid if words in card], card


def test_the_least_window_that_is_typed_is_that_of_the_system() -> None:
    sets = ("hosts.a.tcp.rmem_max=64MiB", "hosts.a.tcp.cc=htcp")
    asked = ("hosts.a.tcp.core_rmem_max=12MiB",)
    assert sysctl_lines(asked) == ("sysctl -w net.core.rmem_max=12582912",)
    both = "sysctl -w net.core.rmem_max=12582912 net.ipv4.tcp_rmem='4096 131072 67108864'"
    assert sysctl_lines((*asked, sets[0])) == (both,)
    assert sysctl_lines(sets, "freebsd") == (
        "sysctl kern.ipc.maxsockbuf=67108864", "sysctl net.inet.tcp.recvbuf_max=67108864",
        "kldload cc_htcp", "sysctl net.inet.tcp.cc.algorithm=htcp",
    )  # fmt: skip
    assert sysctl_lines(sets, "macos")[-1] == "sysctl -w net.inet.tcp.autorcvbufmax=67108864"
    assert sysctl_lines(sets, "windows") == ("netsh int tcp set global autotuninglevel=experimental",)


@cases("text, dim, value, words", rows("report/tables", "another_value_has_the_unit_that_is_there"))
def test_another_value_has_the_unit_that_is_there(text: str, dim: str, value: float, words: str) -> None:
    assert written(Quantity(1.0, dim, text=text), value) == words


@pytest.mark.parametrize(("now", "took", "words"), rows("report/tables", "times_beside_that_of_now_have_its_unit"))
def test_times_beside_that_of_now_have_its_unit(now: tuple[float, ...], took: list[float], words: list[str]) -> None:
    assert compared_times(now, took) == words


@pytest.mark.parametrize("keys", [["c"], ["c", "m"], ["c", "m", "x"]])
def test_so_many_are_changed_alike_as_there_are(keys: list[str]) -> None:
    """However many settings each of five needs; of one each it was said that there are two."""
    sets = tuple(f"transfers.{n}.tool.{key}=8" for n in range(5) for key in keys)
    first = " ".join(f"--set transfers.0.tool.{key}=8" for key in keys)
    assert option(Remedy("", sets, 1.0)) == f"{first}, and so for 4 like it"


@pytest.mark.parametrize("path", rows("report/tables", "what_a_card_says_to_gain_is_gained_where_it_is_typed"))
def test_what_a_card_says_to_gain_is_gained_where_it_is_typed(path: str) -> None:
    """By the plain way: each `--set` of the card is given to `predict`. Of ceilings it was 3.6 times for 2.9."""
    p = predict(path, samples=32)
    card = decide(p)
    said = [(" ".join(card.does), float(re.match(r"([\d.]+) times as fast", card.gains)[1]))]
    said += [(line, float(line.rpartition(": ")[2].removesuffix(" times"))) for line in card.others if "--set" in line]
    for line, times in said:
        sets = [option.strip(")") for option in re.findall(r"--set ([^\s:,]+)", line)]
        with without_words():
            then = predict(p.given.changed(sets), samples=32).throughput_Bps.p50
        assert times == pytest.approx(then / p.throughput_Bps.p50, rel=0.06), line  # two digits


@pytest.mark.parametrize("path", ["uci/ascp-ucinet", "uci/dd-lightpath", "uci/perfsonar", "examples/rdma-100g"])
def test_what_a_wider_place_gains_is_what_predict_says_of_it(path: str) -> None:
    """Of ceilings that were 12 and 1.4 times, where `--set` of the same gave 2.6 and 1.12."""
    p = predict(path, samples=32)
    freed, gone = p.transfers[0].ladder.freed()
    assert not gone
    sets = freed.overrides[len(p.given.overrides) :]
    assert sets
    then = predict(path, overrides=list(sets), samples=32)
    more, gains = then.throughput_Bps.p50 / p.throughput_Bps.p50, decide(p).gains
    limit = brief(holds(then, replace(then.bottleneck, work=())))
    assert limit in gains
    assert gains.startswith(f"up to {more:.2g} times as fast" if more > 1.1 else "less than a tenth faster")


@pytest.mark.parametrize("path", ["examples/ceph-to-ceph", "examples/cloud-to-campus"])
def test_a_place_of_which_each_stream_has_a_part_can_be_gone(path: str) -> None:
    """A part of a place without a limit was no number, and nothing else of the path had a limit."""
    assert re.search("Next limit|a tenth", decide(predict(path, overrides={"transfer.tool.cc": 64}, samples=8)).gains)


def test_threads_without_end_are_as_good_as_no_limit(tmp_path: Path) -> None:
    file = tmp_path / "path.yaml"
    file.write_text(CASES["one thread of the kernel, and the next one"]["path"])
    p, many = (
        predict(file, overrides=sets, samples=32) for sets in ([], ["hosts.store.volumes./f.array.parity_threads=1024"])
    )
    said = re.match(r"up to ([\d.]+) times as fast.*Next limit: (.*)", decide(p).gains)
    assert float(said[1]) == pytest.approx(many.throughput_Bps.p50 / p.throughput_Bps.p50, rel=0.1)
    assert f"({many.bottleneck.station})" in said[2]


@pytest.mark.parametrize("path", rows("report/tables", "a_faster_clock_gains_no_more_than_is_said"))
def test_a_faster_clock_gains_no_more_than_is_said(path: str) -> None:
    """It relieves all cores of its host: 2.4 times on luks-lvm, where 1.6 was said of the one that was full."""
    p = predict(path, samples=0)
    card, held = decide(p), p.bottleneck
    key, most = f"hosts.{held.host}.cpu.clock", float(re.match(r"up to ([\d.]+)", card.gains)[1])
    clock = min(2.0 * p.given.hosts[held.host].cpu.clock.value, 9.9e9)
    assert predict(p.given.changed([f"{key}={clock / 1e9} GHz"]), samples=0).ceiling < 1.06 * most * p.ceiling


NFS = CASES["connections of a mount that waits for its window"]["path"]


@pytest.mark.parametrize(
    ("path", "sets"),
    [(NFS, ["hosts.filer.tcp.wmem_max=32MiB", "hosts.ws.tcp.rmem_max=62MiB"]), ("examples/nas-24-nightly", []),
     ("examples/dtn-100g-zfs", []), ("venadi/gridftp-gpfs", [])],
)  # fmt: skip
def test_what_is_to_be_found_out_gives_what_predict_says_of_it(path: str, sets: list[str], tmp_path: Path) -> None:
    """A ratio of ceilings on the median said 5.8 days with another kernel, where `--set` gave one."""
    if path is NFS:
        (tmp_path / "path.yaml").write_text(path)
        path = str(tmp_path / "path.yaml")
    p = predict(path, overrides=sets, samples=64)
    for a, medians in zip(p.assumed[:3], p.assumed.medians(p.assumed[:3]), strict=True):
        for text, median in {a.low: medians[0], a.high: medians[1]}.items():
            if " and " in a.key or a.key.startswith("cost of"):
                continue
            with without_words():
                then = predict(path, overrides=[*sets, f"{a.key.split(', ')[0]}={text}"], samples=64).throughput_Bps.p50
            assert median == pytest.approx(then, rel=0.15 if a.ranges else 1e-9), (a.key, text)


def test_what_a_number_would_bring_is_told_by_a_thousand_scenarios_however_many_the_answer_has() -> None:
    """100,000 were solved once for each number: 57 of the 60 s that the command took."""
    many, few = (predict("venadi/gridftp-gpfs", samples=count) for count in (5000, 1024))
    assert many.assumed.medians(many.assumed[:2]) == pytest.approx(few.assumed.medians(few.assumed[:2]), rel=1e-9)
