"""Figures in a terminal and in picture files."""

import io
import re
import shutil
import sys
from pathlib import Path

import pytest

import dtnsim
from dtnsim.ground.errors import InputError
from dtnsim.report import plots
from dtnsim.report.table import Out


def drawn(width: int, monkeypatch: pytest.MonkeyPatch, encoding: str = "utf-8") -> str:
    pytest.importorskip("plotext", reason="--plot draws curves with plotext")
    monkeypatch.setenv("COLUMNS", str(width))
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    lines = {"a": ([0.0, 1.0, 2.0], [1.0, 3.0, None]), "b &lt;<br>c": ([0.0, 2.0], [2.0, 2.0])}
    plots.curves("rates", lines, "time [s]", Out(stream))
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [60, 80, 300])
def test_curves_fit_the_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    text = drawn(width, monkeypatch)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= min(width, 120)
    for word in ("rates", "time [s]", " a", " b <c"):
        assert word in text


def test_time_begins_at_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("plotext", reason="--plot draws curves with plotext")
    monkeypatch.setenv("COLUMNS", "80")
    stream = io.StringIO()
    plots.curves("rates", {"a": ([100.0, 200.0], [50.0, 60.0])}, "time [s]", Out(stream), zero=True)
    ticks = re.findall(r"\d+\.?\d*", stream.getvalue())
    assert sum(float(t) == 0 for t in ticks) >= 2
    assert min(map(float, ticks)) == 0


def test_curves_do_without_block_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "+" in drawn(80, monkeypatch, "ascii")


def test_the_ladder_is_drawn_to_scale(capsys: pytest.CaptureFixture[str]) -> None:
    answer = dtnsim.predict("venadi/gridftp-gpfs", samples=0)
    plots.ladder(answer, Out(sys.stdout))
    bars = [line.count("█") for line in capsys.readouterr().out.splitlines() if "█" in line]
    assert bars == sorted(bars)
    assert bars[-1] == 24
    first, last = answer.ladder[0].throughput_Bps, answer.ladder[-1].throughput_Bps
    assert bars[0] == pytest.approx(24 * first / last, abs=1)


def test_a_sweep_is_drawn_over_numbers_only(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("plotext", reason="--plot draws curves with plotext")
    out = Out(sys.stdout)
    plots.swept(dtnsim.sweep("venadi/gridftp-gpfs", ["wan.rtt=1ms,9ms"]), out)
    assert "wan.rtt [SI]" in capsys.readouterr().out
    with pytest.raises(InputError, match="no number"):
        plots.swept(dtnsim.sweep("venadi/gridftp-gpfs", ["hosts.nersc.tcp.cc=cubic,htcp"]), out)


def test_a_picture_needs_an_ending_and_what_draws_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"ends in \.svg"):
        plots.check("figure.gif")
    monkeypatch.setitem(sys.modules, "kaleido", None)
    pytest.importorskip("plotly", reason="--picture needs plotly")
    with pytest.raises(InputError, match=r"--picture needs kaleido: pip install 'dtn-pathsim\[report\]'"):
        plots.check("figure.svg")


@pytest.mark.filterwarnings("ignore")  # kaleido's own
def test_a_picture_is_written(tmp_path: Path) -> None:
    pytest.importorskip("kaleido", reason="--picture needs kaleido")
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        pytest.skip("kaleido needs a Chrome or Chromium")
    plots.write(dtnsim.predict("venadi/gridftp-gpfs", samples=0), str(tmp_path / "ladder.svg"))
    assert "<svg" in (tmp_path / "ladder.svg").read_text()


def test_a_browser_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    objects = pytest.importorskip("plotly.graph_objects", reason="figure() needs plotly")

    def fail(*_: object, **__: object) -> bytes:
        raise RuntimeError("no Chrome\nat all")

    monkeypatch.setattr(objects.Figure, "to_image", fail)
    with pytest.raises(InputError, match=r"this machine's browser: no Chrome$"):
        plots.write(dtnsim.predict("venadi/gridftp-gpfs", samples=0), str(tmp_path / "ladder.svg"))
