"""What a card advises: of each case what it says, and what it does not."""

from pathlib import Path

import pytest

from dtnsim.composition.relief import sysctl_lines
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.uncertainty import written
from dtnsim.report.advice import beside
from dtnsim.report.decision import decide
from dtnsim.steady.prediction import predict
from tests.each import rows, tables

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


@pytest.mark.parametrize(
    ("text", "dim", "value", "words"), rows("report/tables", "another_value_has_the_unit_that_is_there")
)
def test_another_value_has_the_unit_that_is_there(text: str, dim: str, value: float, words: str) -> None:
    assert written(Quantity(1.0, dim, text=text), value) == words


@pytest.mark.parametrize(("now", "took", "words"), rows("report/tables", "times_beside_that_of_now_have_its_unit"))
def test_times_beside_that_of_now_have_its_unit(now: tuple[float, ...], took: list[float], words: list[str]) -> None:
    assert beside(now, took) == words
