"""Nothing that a file or an argument holds is obeyed by a terminal or read as markup; pages show it as text."""

import io
import json
import re
import signal
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dtnsim.cli import _watch
from dtnsim.evidence import cases, validate as judging
from dtnsim.report.table import Out, Table
from dtnsim.report.validation import page
from tests.conftest import Refused, Run, Terminal
from tests.each import rows
from tests.strategies import written

END = "cpu: {kind: cpu, cores: 4, clock: 3 GHz}, memory: {kind: memory, channels: 2, rate: 2400 MT/s, size: 16 GiB}, "
HOSTILE = (
    'name: "evil \\e[31m[bold]x[/bold] [red]y \\u202e <script>"\n'
    f'hosts: {{"a\\e]0;t\\a": {{{END}nic: {{kind: nic, rate: 10 Gb/s}}}}, "b\\x9b1m": {{{END}nic: {{kind: nic, '
    "rate: 10 Gb/s}}}\nwan: {rtt: 10 ms, bandwidth: 10 Gb/s}\n"
    'transfer: {from: "a\\e]0;t\\a:memory", to: "b\\x9b1m:memory", tool: {name: iperf3}, name: "t\\nx\\e[2J[bold]"}\n'
)


def obeyed(text: str) -> list[str]:
    return [c for c in text if not c.isprintable() and c != "\n"]


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    return str(written(tmp_path / "p.yaml", HOSTILE))


@pytest.mark.parametrize("command", [["predict"], ["predict", "--why-wide"], ["explain"], ["simulate"], ["tools"]])
def test_names_are_shown_escaped(command: list[str], hostile: str, run: Run) -> None:
    shown = run(command[0], hostile, *command[1:])
    assert shown.code == 0
    assert not obeyed(shown.out + shown.err)
    assert "\\x1b" in shown.out
    for literal in () if command[0] == "explain" else ("[bold]x[/bold] [red]y \\u202e",):
        assert literal in shown.out


@pytest.mark.parametrize("arguments", rows("cli/tables", "errors_are_escaped"))
def test_errors_are_escaped(arguments: tuple[str, ...], refused: Refused) -> None:
    said = refused(*arguments)
    assert not obeyed(said)
    assert "\\" in said


def test_keys_of_files_are_escaped(tmp_path: Path, refused: Refused) -> None:
    err = refused("predict", str(written(tmp_path / "p.yaml", HOSTILE.replace("rtt: 10 ms", '"\\e[31mrtt\\n": 10 ms'))))
    assert not obeyed(err)
    assert len(err.splitlines()) == 1
    assert "\\x1b[31mrtt\\x0a" in err


MARKUP = ["[bold]", "[/bold]", "\\", "\\[bold]", "a\\", "[red]x[/red]", "[link=http://x]", "\\\\[", "\x1b[1m[bold]"]


@pytest.mark.parametrize("name", MARKUP)
def test_markup_is_literal_everywhere(name: str) -> None:
    for stream in (Terminal(), io.StringIO()):
        out = Out(stream)
        out.print(title=name)
        out.print(Table("x", rows=[[name]]))
        styles = ("\x1b[1m", "\x1b[0m") if stream.isatty() else ()
        shown = stream.getvalue()
        for style in styles:
            shown = shown.replace(style, "")
        assert shown.count(name.replace("\x1b", "\\x1b")) == 2
        assert not obeyed(shown)


class Tags(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_pages_show_names_as_text(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>'\" &amp; </title>"
    (tmp_path / "path.yaml").write_text(HOSTILE.replace("t\\nx", "<script>t"))
    file = written(
        tmp_path / "cases.yaml",
        "schema: dtnsim.cases/1\nsite: '<script>site'\ncases:\n"
        "  - {id: '<b>one', path: path.yaml, measured: 1 GB/s, role: blind, tool: '<i>t', "
        f"what: {json.dumps(evil)}}}\n",
    )
    made = Tags()
    whole = page(judging.validate(cases.load(file), samples=16))
    assert "<img" not in whole.partition("<script>")[0]  # the figures' data too
    made.feed(re.sub(r"<script( type=\"application/json\" id=\"page-data\")?>.*?</script>", "", whole, flags=re.DOTALL))
    assert not made.seen & {"script", "img", "b", "i"}
    assert "<script>site" in made.text
    assert "<b>one" in made.text


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_watch, "_PATIENCE_S", 0.02)
    monkeypatch.setattr(_watch, "_FILE_S", 0.02)
    monkeypatch.setattr(_watch, "_TERMINAL_S", 0.02)


def until(capsys: pytest.CaptureFixture[str], words: str) -> str:
    said, end = "", time.monotonic() + 20
    while words not in said and time.monotonic() < end:
        time.sleep(0.02)
        said += capsys.readouterr().err
    return said


@pytest.mark.usefixtures("hurried")
def test_a_run_that_reports_nothing_is_spoken_for(capsys: pytest.CaptureFixture[str]) -> None:
    with _watch.Watch("searching"):
        said = until(capsys, "so far\n")
    assert said.startswith("dtnsim: searching, 0 s so far\n")


@pytest.mark.usefixtures("hurried")
def test_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with _watch.Watch("predicting scenarios") as watch:
        watch.count(3, 4)
        assert "dtnsim: predicting scenarios, 75%, 0 s left, 3 of 4" in until(capsys, "3 of 4")
        assert not watch.tell_simulated(7200.0, 0.5, "9 files")
        assert "50%" in until(capsys, "2 h, 9 files")


@pytest.mark.usefixtures("hurried")
def test_on_a_terminal_one_line_that_goes_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with _watch.Watch("searching"):
        said = until(capsys, "so far")
    said += capsys.readouterr().err
    assert said.endswith("\r\x1b[K")
    assert "\n" not in said


def test_ctrl_c_ends_a_run_in_order_once_it_reports_and_at_once_before() -> None:
    with pytest.raises(KeyboardInterrupt), _watch.Watch("simulating", orderly=True):
        signal.raise_signal(signal.SIGINT)
    with _watch.Watch("simulating", orderly=True) as watch:
        watch.tell(0.5)
        signal.raise_signal(signal.SIGINT)
    assert watch.stopped


def test_a_quick_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with _watch.Watch("searching"):
        pass
    assert capsys.readouterr().err == ""
