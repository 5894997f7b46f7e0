"""A newcomer with the README and --help alone: what they print runs, and what is refused is said in one line."""

import io
import json
import re
import shlex
from pathlib import Path

import pytest

from dtnsim import cli
from dtnsim.cli import man
from dtnsim.ground import library
from tests.conftest import Refused, Run
from tests.each import cases, rows, tables

ROOT = Path(__file__).parents[2]


def examples(command: str) -> list[str]:
    """Lines that a command's help gives as examples."""
    return [
        line.strip() for line in "\n".join(man.described(command)["text"]).splitlines() if "  dtnsim " in f"  {line}"
    ]


#: examples that need nothing of one's own and are quick: the first that --help prints of each
REPLAYED = ("init", "list", "show", "predict", "explain", "compare", "tcp", "components", "schema", "tools")


@pytest.mark.parametrize("command", REPLAYED)
def test_the_first_example_of_help_runs_as_printed(
    command: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = examples(command)[0].partition(" > ")[0]
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*shlex.split(line)[1:])
    assert (code, err) == (0, "")
    assert out


def test_shipped_names_in_help_exist() -> None:
    """Every name of a shipped path in an example is one."""
    known = library.names("paths")
    folders = {name.partition("/")[0] for name in known}
    missing = []
    for command in cli.COMMANDS:
        for line in examples(command):
            for word in shlex.split(line, comments=True)[2:]:
                own = Path(word).suffix or "=" in word or (ROOT / word).exists()
                if "/" in word and not own and word.partition("/")[0] in folders and word not in known:
                    missing.append((command, word))
    assert missing == []


def test_the_readme_leads_to_a_machine_of_ones_own(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block of the README under 'A path of your own', line by line, then an edit of the file it wrote."""
    text = (ROOT / "README.md").read_text()
    block = re.search(r"## A path of your own.*?```sh\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for line in block[1].splitlines():
        code, out, err = run(*shlex.split(line, comments=True)[1:])
        assert (code, err, bool(out)) == (0, "", True), line
    file = Path("ours.yaml")
    file.write_text(file.read_text().replace("rtt: 40 ms", "rtt: 12 ms").replace("disks: 12", "disks: 6"))
    answer = json.loads(run("predict", "ours.yaml", "--json").out)
    assert answer["name"] == "ours"
    assert answer["throughput_Bps"]["p50"] > 0


LINES = Path(__file__).with_name("refused.txt").read_text(encoding="utf-8").splitlines()
ROWS = [line.partition("=> ")[::2] for line in LINES if line and not line.startswith("#")]


@pytest.mark.parametrize(("typed", "says"), [pytest.param(*row, id=row[0].strip()) for row in ROWS])
def test_row(refused: Refused, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, says: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.chdir(tmp_path)
    err = refused(*shlex.split(typed))
    message = err.strip().rpartition("\n\n")[2]  # below how the command is used
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize(("command", "shown"), rows("cli/tables", "help_shows_options_and_examples"))
def test_help_shows_options_and_examples(run: Run, command: str, shown: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert all(part in out for part in (shown.split() if shown.startswith("--") else [shown]))
    assert out.count(f"dtnsim {command} ") >= (4 if command == "tcp" else 1)


@cases("words, says", rows("cli/tables", "a_file_of_another_kind_says_what_it_is_and_what_to_write"))
def test_a_file_of_another_kind_says_what_it_is_and_what_to_write(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str
) -> None:
    """It was 'hosts.nas.hosts: did you mean slots', 'found character', and a hint that led into the next refusal."""
    monkeypatch.chdir(tmp_path)
    for name, text in tables("cli/tables")["files of another kind"].items():
        Path(name).write_text(text)
    code, _, err = run(*words)
    assert code == 2
    assert re.search(says, " ".join(err.split())), err
