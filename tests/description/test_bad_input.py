"""Whatever a user gives: one clear line, exit code 2, no traceback, soon."""

import time
from pathlib import Path

import pytest

import dtnsim
from dtnsim.ground import library, yamlio
from tests.conftest import Run
from tests.each import rows, tables
from tests.strategies import written

HOST = """
  {name}:
    cpu: {{kind: cpu, cores: 4, clock: 3 GHz}}
    memory: {{kind: memory, channels: 2, rate: 2400 MT/s, size: 16 GiB}}
    nic: {{kind: nic, rate: 10 Gb/s}}
"""
GOOD = (
    "name: t\nhosts:" + HOST.format(name="a") + HOST.format(name="b") + "wan: {rtt: 10 ms, bandwidth: 10 Gb/s}\n"
    "transfer: {from: 'a:memory', to: 'b:memory', tool: {name: iperf3}}\n"
)
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def _with(changes: dict[str, str]) -> str:
    """The good file with something in the place of what it has first."""
    text = GOOD
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new, 1)
    return text


BAD = {
    "no hosts": ("name: t\ntransfer: {}\n", "needs at least one host"),
    "no transfer": (GOOD.split("transfer:")[0], "transfers"),
    "alias bomb": (BOMB + GOOD, "expands to more than"),
    "alias without anchor": ("name: *x\n", "alias *x repeats nothing that is whole before it"),
    "alias within its own anchor": ("hosts: &h\n  a: unknown\n  b: *h\n", "repeats nothing that is whole before it"),
    "binary": ("\x00\x01\x02", "binary"),
    "not yaml": ("a: b: c", "not YAML"),
    "nested": ("[" * 5000, "nested deeper"),
    "a list": ("- 1\n- 2\n", "no mapping"),
    "twice": (GOOD + "name: u\n", "given twice"),
    "empty": ("", "no mapping"),
    "several documents": (GOOD + "---\nname: u\n", "several documents; give each a file"),
    **{
        f"program {what}": (
            GOOD.split("transfer:")[0] + f"programs: [{{name: p, host: a, steps: {steps}}}]\n",
            f"p.yaml:13: programs.0.steps.{said}",
        )
        for what, steps, said in rows("description/refused", "programs")
    },
    **{name: (_with(changes), said) for name, changes, said in rows("description/refused", "path files")},
}


@pytest.mark.parametrize("case", BAD)
def test_bad_path_files(case: str, tmp_path: Path, run: Run) -> None:
    text, expected = BAD[case]
    path = written(tmp_path / "p.yaml", text)
    start = time.process_time()
    code, out, err = run("predict", str(path))
    assert code == 2, err
    assert not out
    said = err.strip().splitlines()
    assert all(line.startswith("dtnsim: ") for line in said), err
    assert len(set(said)) == len(said), err  # a line for each finding
    assert "Traceback" not in err
    assert expected in err
    assert time.process_time() - start < 2.0  # a promise to people, far above what it takes


def test_the_good_file_is_good(tmp_path: Path, run: Run) -> None:
    code, out, _ = run("predict", str(written(tmp_path / "p.yaml", GOOD)))
    assert code == 0
    assert "held by" in out


def test_a_huge_file_is_refused_unread(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"a: 1\n" * 10_000_000)
    code, _, err = run("predict", str(path))
    assert code == 2
    assert "50000000 bytes" in err
    security = Path(__file__).parents[2] / "SECURITY.md"
    assert f"| a YAML file, or what a pipe gives | {yamlio.MAX_BYTES / 1e6:g} MB |" in security.read_text()


@pytest.mark.parametrize("name", ["nosuch", "../../etc/passwd", "venadi", "a" * 400, "venadi/nosuch", "."])
def test_unknown_paths(name: str, run: Run) -> None:
    code, out, err = run("predict", name)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1


def test_not_utf8(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(b"\xffname: t")
    code, _, err = run("predict", str(path))
    assert (code, "UTF-8" in err) == (2, True)
    path.write_bytes(GOOD.replace("\n", "\r\n").encode("utf-16"))  # as PowerShell redirects it
    assert run("predict", str(path), "--samples", "0").code == 0


@pytest.mark.parametrize(
    "override", ["wan", "=3", "wan.rtt=5", "wan.nope=1", "transfer.tool.P=-1", "hosts.a.cpu.cores=0", "x=1"]
)
def test_bad_overrides(override: str, tmp_path: Path, run: Run) -> None:
    code, _, err = run("predict", str(written(tmp_path / "p.yaml", GOOD)), "--set", override)
    assert code == 2, err
    assert len(err.strip().splitlines()) == 1


def test_errors_name_file_line_key_value_and_remedy(tmp_path: Path, run: Run) -> None:
    path = written(tmp_path / "p.yaml", GOOD.replace("bandwidth: 10 Gb/s", "bandwidth: 10 Gb"))
    _, _, err = run("predict", str(path))
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "wan:" in text)
    for part in (f"{path}:{line}", "bandwidth", "10 Gb", "write it like 10 Gb/s"):
        assert part in err


@pytest.mark.parametrize(
    "arguments",
    [["nosuch"], ["predict"], ["predict", "x", "--samples", "-3"], ["predict", "x", "--nope"], ["explain", "a", "b"]],
)
def test_wrong_usage(arguments: list[str], run: Run) -> None:
    code, out, err = run(*arguments)
    assert code == 2
    assert ("Traceback" in err + out, "Usage" in err + out) == (False, True)


@pytest.mark.parametrize(("override", "told"), rows("description/refused", "overrides of venadi/gridftp-gpfs"))
def test_plain_words_and_what_to_write_instead(run, override, told):
    code, _, err = run("predict", "venadi/gridftp-gpfs", "--samples", "0", "--set", override)
    assert code == 2
    assert told in err


def test_a_fault_of_our_own_is_one_line_too(run, monkeypatch):
    def broken(*_args, **_more):
        raise ZeroDivisionError("no such thing")

    monkeypatch.setattr("dtnsim.steady.prediction._answer", broken)
    monkeypatch.delenv("DTNSIM_DEBUG", raising=False)
    code, _, err = run("predict", "venadi/gridftp-gpfs")
    assert code == 1
    assert err == "dtnsim: internal error: ZeroDivisionError: no such thing; DTNSIM_DEBUG=1 shows where\n"
    monkeypatch.setenv("DTNSIM_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("predict", "venadi/gridftp-gpfs")


def test_a_host_that_only_an_override_names_is_told_those_that_there_are(tmp_path: Path, run: Run) -> None:
    path = written(tmp_path / "p.yaml", GOOD)
    code, _, err = run("predict", str(path), "--set", "hosts.zz.cpu.cores=2")
    assert code == 2
    assert err.startswith(f"dtnsim: {path}: --set: there is no host 'zz' (got 'hosts.zz.cpu.cores=2'); hosts: ")
    assert len(err.splitlines()) == 1


LACKING = tables("description/tables")["lacking"]


def test_all_that_is_missing_is_said_at_once(tmp_path: Path, run: Run) -> None:
    """A line for each key, with its place and what to write; who writes that where nobody knows is answered."""
    path = written(tmp_path / "p.yaml", LACKING)
    code, out, err = run("predict", str(path))
    assert (code, out) == (2, "")
    said = [line.removeprefix(f"dtnsim: {path}:").split(": is missing; write it") for line in err.splitlines()]
    assert [where for where, _ in said] == [
        "3: hosts.a.cpu.clock",
        "4: hosts.a.nics.nic.rate",
        "6: hosts.a.volumes./data.array.write",
        "8: hosts.b.memory.rate",
        "8: hosts.b.memory.size",
        "9: wan.bandwidth",
        "10: transfer.to",
        "10: transfer.tool",
    ]
    unknown = [words.partition("if unknown: ")[2] for _, words in said]
    first = ["cpu: unknown", "nic: unknown", "any-disk", "memory: unknown", "memory: unknown"]
    assert [words.partition(",")[0] for words in unknown[:5]] == first
    assert all(unknown)
    path.write_text(
        LACKING.replace("{kind: cpu, cores: 4}", "unknown")
        .replace("{kind: nic, mtu: 9000}", "unknown")
        .replace("{kind: ssd, read: 1 GB/s}", "unknown")
        .replace("{kind: memory, channels: 4}", "unknown")
        .replace("20 ms}", "20 ms, bandwidth: 10 Gb/s}")
        .replace('"a:/data"}', '"a:/data", to: "b:/data", tool: rsync -a -e ssh, dataset: {size: 1 TB}}')
    )
    assert run("predict", str(path))[0] == 0


@pytest.mark.parametrize(("newline", "mark"), [("\r\n", ""), ("\r\n", "\ufeff"), ("\n", "\ufeff")])
def test_files_written_on_windows_are_the_same_files(tmp_path, newline: str, mark: str) -> None:
    text = (library.root("models") / "paths" / "venadi" / "iperf3.yaml").read_text(encoding="utf-8")
    file = tmp_path / "path.yaml"
    file.write_bytes((mark + text.replace("\n", newline)).encode())
    there, here = (dtnsim.predict(p, samples=0) for p in ("venadi/iperf3", file))
    assert here.throughput_Bps == there.throughput_Bps
