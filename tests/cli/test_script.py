"""What scripts and shells rely on: formats, exit codes, versions, completion, the manual page, widths."""

import csv
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import dtnsim
from dtnsim import cli
from dtnsim.cli import man, options
from dtnsim.report.table import Table
from tests.conftest import Refused, Run
from tests.each import rows, tables

PATH = "venadi/gridftp-gpfs"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_numbers_of_options_are_those_of_files(refused: Refused, name: str) -> None:
    """Every option that the help shows with a number; ``1_0`` is ten to Python, and so are full-width digits."""
    numeric = options.number_options(cli._loaded(name)[0])
    shown = re.findall(r"(--[a-z-]+) (?:INTEGER|FLOAT)", " ".join(flags for flags, _ in man.described(name)["options"]))
    assert set(shown) <= set(numeric)
    for option in numeric:
        for text in ("1_0", "１０", "nan", "0x10", "1e", ""):
            for words in ([option, text], [f"{option}={text}"]):
                err = refused(name, *words)
                assert err == f"Error: Invalid value for {option}: {text!r} is not a number; write digits alone\n"


def test_numbers_of_tables_and_samples_are_those_of_files(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "cases.csv"
    for heading, row, command in (
        ("rate_bps,rtt_s,cc,streams", "1e8,0.02,cubic,1_0", "tcp"),
        ("tool_key,rate_bps,rtt_s,files,total_bytes", "scp,1e8,0.02,1_0,64000000", "tools"),
    ):
        table.write_text(f"{heading}\n{row}\n")
        code, _, err = run(command, "--table", str(table))
        assert (code, "'1_0'" in err) == (2, True), err


def test_every_command_about_a_path_takes_what_a_path_takes() -> None:
    """Keys, the files, the line of the tool and the calibration; a facility's year has no first transfer."""
    about = {name: {p.annotation for p in _parameters(name)} for name in cli.COMMANDS}
    known = {name: taken for name, taken in about.items() if options.Set in taken and name != "fleet"}
    assert set(known) >= {"predict", "explain", "simulate", "tools", "plan", "report", "compare", "sweep"}
    for name, taken in known.items():
        assert {options.Dataset, options.Line, options.Calibration} <= taken, name


def _parameters(name: str) -> Iterable[inspect.Parameter]:
    return inspect.signature(cli._loaded(name)[0], eval_str=True).parameters.values()


@pytest.mark.parametrize("command", [["predict", "--samples", "0"], ["explain"], ["sweep", "--vary", "wan.rtt=10ms"]])
def test_the_line_of_a_tool_and_the_files_are_those_of_the_answer(run: Run, command: list[str]) -> None:
    """The share that a tool mounts is mounted, as if the line stood in the file."""
    name, *others = command
    told = run(name, PATH, "--command", "rsync -a --filter='- x: y'", "--dataset", "{files: 3, each: 1 GB}", *others)
    said = run(
        name, PATH, "--set", "transfer.tool=rsync -a", "--set", "transfer.dataset={files: 3, each: 1 GB}", *others
    )
    assert told == said != run(name, PATH, *others)


def test_csv_has_a_line_for_each_transfer(run: Run) -> None:
    code, out, err = run("predict", PATH, "examples/dtn-100g-xfs", "--samples", "10", "--format", "csv")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 2
    answer = dtnsim.predict(PATH, samples=10)
    assert float(rows[0]["throughput_Bps.p50"]) == answer.throughput_Bps.p50
    assert rows[0]["bottleneck.station"] == answer.bottleneck.station
    assert rows[0]["path"] == answer.name


@pytest.mark.parametrize(("arguments", "lines"), rows("cli/tables", "every_command_with_json_has_csv"))
def test_every_command_with_json_has_csv(run: Run, arguments: tuple[str, ...], lines: int) -> None:
    code, out, err = run(*arguments, "--format", "csv")
    assert (code, err) == (0, "")
    rows = list(csv.reader(io.StringIO(out)))
    assert len(rows) > lines
    assert len({len(row) for row in rows}) == 1


def test_format_json_is_json(run: Run) -> None:
    assert run("list", "--format", "json").out == run("list", "--json").out
    assert run("list", "--format", "table").out == run("list").out


def test_short_help_and_help_are_one(run: Run) -> None:
    for command in ((), ("predict",), ("tcp",)):
        assert run(*command, "-h") == run(*command, "--help")


def test_version_names_what_answers_depend_on(run: Run) -> None:
    lines = run("--version").out.splitlines()
    assert lines[0] == f"dtnsim {dtnsim.__version__}"
    found = dict(line.split(" ", 1) for line in lines)
    assert {"Python", "numpy", "scipy", "numba", "models", "calibration"} <= set(found)
    assert re.fullmatch("[0-9a-f]{12}", found["calibration"])


def test_exit_codes_are_in_the_help_and_in_the_manual(run: Run) -> None:
    said = " ".join(run("--help").out.split())
    page = man.page()
    for code, what in cli.EXIT_CODES.items():
        assert f"{code} {what}" in said
        assert f".B {code}\n" in page
    assert run("predict", "no-such-path").code == 2


def test_the_manual_page_has_every_command_and_option(run: Run) -> None:
    page = run("man").out
    for name in cli.COMMANDS:
        assert f'.SS "dtnsim {name}"' in page
    assert r"\-\-why\-wide" in page
    if shutil.which("man"):
        done = subprocess.run(
            ["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True, check=False,
            env={**os.environ, "MANWIDTH": "80"},
        )  # fmt: skip
        assert "cannot" not in done.stderr


def test_shells_complete_commands_and_paths() -> None:
    def completed(words: str, number: int) -> list[str]:
        env = {**os.environ, "_DTNSIM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(number)}
        code = "import sys; sys.argv = ['dtnsim']\nfrom dtnsim.cli import main\nmain()"
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
        return done.stdout.split()

    assert completed("dtnsim pre", 1) == ["predict"]
    assert PATH in completed("dtnsim predict venadi/g", 2)


@pytest.mark.parametrize("width", [60, 80, 100, 130, 200])
def test_tables_keep_names_whole_in_any_width(width: int) -> None:
    headings = ("station", "used", ">", ">capacity", "because")
    names = ["nersc.cpu.gridftp sender[transfer]", "venadi.bigdata.ssds"]
    text = "the sender thread is saturated: file read 0.94 + TCP send 0.47 cycles/B at 2.7 GHz"
    rows = [(name, "█" * 12 + "·" * 12, "50.0%", "19.42 Gb/s", text) for name in names]
    lines = Table(*headings, rows=rows).fitted(width)
    assert max(map(len, lines)) <= width
    for name in names:
        assert any(line.startswith(name) for line in lines)
    words = " ".join(" ".join(lines).split())
    assert words.count("saturated:") == 2
    assert words.count("19.42 Gb/s") == 2
    assert all(line.count("█") == line.count("·") for line in lines)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
@pytest.mark.parametrize(("width", "env"), [(60, {}), (80, {"NO_COLOR": "1"})])
def test_a_terminal_of_any_width_is_not_overrun(width: int, env: dict[str, str], tmp_path: Path) -> None:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    shown = tmp_path / "shown"
    code = (
        f"import sys; sys.argv = ['dtnsim', 'predict', {PATH!r}, '--samples', '0']\nfrom dtnsim.cli import main\nmain()"
    )
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=theirs, stderr=theirs, env={**clean, "TERM": "xterm-256color", **env}
    ) as process:
        os.close(theirs)
        held = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            held += part
        assert process.wait() == 0
    os.close(ours)
    shown.write_bytes(held)
    text = held.decode()
    assert ("\x1b[3" not in text) if env else True
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r\n", "\n")
    assert max(map(len, plain.splitlines())) <= width
    assert "nersc.cpu.gridftp sender[transfer]" in plain


@pytest.mark.parametrize(("given", "said"), [("{size: 77 GB}", 1), ("{files: 3, size: 77 GB}", 3)])
def test_a_size_alone_is_one_file(run: Run, given: str, said: int) -> None:
    document = json.loads(run("predict", PATH, "--samples", "0", "--json", "--set", f"transfer.dataset={given}").out)
    assert document["transfers"][0]["files"] == said
    assert document["transfers"][0]["payload_B"] == 77e9


OWN = tables("cli/tables")["own"]


def test_one_thing_under_its_old_and_its_new_name(run: Run, tmp_path: Path) -> None:
    """Keys that had another name are still read: record, parity, stack."""
    answers = []
    for number, words in enumerate(
        (
            {"kernel": "stack: linux-3.10", "array": "parity: 2, record: 1 MiB", "rate": "10 Gb/s"},
            {"kernel": "kernel: linux-3.10", "array": "level: raidz2, recordsize: 1 MiB", "rate": "10 Gb/s"},
        )
    ):
        file = tmp_path / str(number) / "own.yaml"
        file.parent.mkdir()
        file.write_text(OWN.format(**words))
        answers.append(json.loads(run("predict", str(file), "--samples", "16", "--json").out))
    assert answers[0] == answers[1]
    assert dtnsim.predict(
        str(file), overrides=["wan.bandwidth=10 Gb/s"], samples=0
    ).throughput_Bps.p50 == pytest.approx(dtnsim.predict(str(file), samples=0).throughput_Bps.p50)
    clipped = "parallelism 16 is cut to 8, the end points' limit (max_parallelism)"
    assert any(clipped in warning for warning in answers[0]["warnings"])


def test_a_kernel_may_be_a_version() -> None:
    made = dtnsim.load(PATH, ["hosts.venadi.kernel=4.18"]).hosts["venadi"].stack
    plain = dtnsim.load(PATH).hosts["venadi"].stack
    assert made == plain.model_copy(update={"kernel": "4.18"})


@pytest.mark.parametrize(("words", "key"), rows("cli/tables", "every_command_is_a_call"))
def test_every_command_is_a_call(words: tuple[str, ...], key: str | None) -> None:
    made = dtnsim.command(*words)
    assert key in made if key else made
    with pytest.raises(dtnsim.InputError, match="is none; write one of"):
        dtnsim.command("nonsense")
    with pytest.raises(dtnsim.InputError, match="--nonsense"):
        dtnsim.command(words[0], "--nonsense")
