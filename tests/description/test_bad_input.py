"""Whatever a user gives: one clear line, exit code 2, no traceback, soon."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

import dtnsim
from dtnsim import cli
from dtnsim.ground import library, yamlio

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

BAD = {
    "unknown part": (GOOD.replace("nic: {kind: nic, rate: 10 Gb/s}", "nic: connectx-99"), "no part 'connectx-99'"),
    "missing unit": (GOOD.replace("rtt: 10 ms", "rtt: 10"), "has no unit where a time is due"),
    "size for rate": (GOOD.replace("bandwidth: 10 Gb/s", "bandwidth: 10 Gb"), "is a size where a rate is due"),
    "negative": (GOOD.replace("rtt: 10 ms", "rtt: -10 ms"), "out of range"),
    "not a number": (GOOD.replace("rtt: 10 ms", "rtt: .nan"), "is not a number with a unit"),
    "infinite": (GOOD.replace("rtt: 10 ms", "rtt: 1e999 ms"), "not a finite number"),
    "loss above one": (GOOD.replace("rtt: 10 ms", "rtt: 10 ms, loss: 2"), "out of range"),
    "unknown key": (GOOD.replace("rtt: 10 ms", "rrt: 10 ms"), "did you mean 'rtt'"),
    "unknown tool": (GOOD.replace("name: iperf3", "name: iperf4"), "did you mean iperf3"),
    "unknown option": (GOOD.replace("name: iperf3", "name: iperf3, zz: 1"), "zz"),
    "unknown host": (GOOD.replace("'b:memory'", "'c:memory'"), "there is no host 'c'"),
    "unknown volume": (
        GOOD.replace("'b:memory'", "'b:/nowhere'").replace(
            "rate: 10 Gb/s}\n", "rate: 10 Gb/s}\n    volumes: {/d: {filesystem: {kind: tmpfs}}}\n"
        ),
        "has no volume",
    ),
    "no hosts": ("name: t\ntransfer: {}\n", "needs at least one host"),
    "no transfer": (GOOD.split("transfer:")[0], "transfers"),
    "slots in a loop": (
        GOOD.replace(
            "nic: {kind: nic, rate: 10 Gb/s}",
            "slots: {x: {kind: slot, generation: 3, lanes: 8, behind: y}, "
            "y: {kind: slot, generation: 3, lanes: 8, behind: x}}\n"
            "    nic: {kind: nic, rate: 10 Gb/s, slot: x}",
        ),
        "loop",
    ),
    "card too long": (
        GOOD.replace(
            "nic: {kind: nic, rate: 10 Gb/s}",
            "slots: {x: {kind: slot, generation: 3, lanes: 4}}\n"
            "    nic: {kind: nic, rate: 10 Gb/s, slot: x, card_lanes: 8}",
        ),
        "x8 card",
    ),
    "hosts like each other": (GOOD.replace("  b:\n", "  b:\n    like: b\n"), "no host 'b'"),
    "alias bomb": (BOMB + GOOD, "expands to more than"),
    "alias without anchor": ("name: *x\n", "anchor"),
    "binary": ("\x00\x01\x02", "binary"),
    "not yaml": ("a: b: c", "not YAML"),
    "nested": ("[" * 5000, "nested deeper"),
    "a list": ("- 1\n- 2\n", "no mapping"),
    "twice": (GOOD + "name: u\n", "given twice"),
    "empty": ("", "no mapping"),
    "several documents": (GOOD + "---\nname: u\n", "several documents"),
    "dataset negative": (GOOD.replace("tool:", "dataset: {files: -1, size: 1 GB}, tool:"), "dataset"),
    "a tenth of a byte": (
        GOOD.replace("tool:", "dataset: {files: 10, size: 1 B}, tool:"),
        "dataset: 1 B is less than 1 B for each of 10 files",
    ),
    "a tenth of a byte each": (
        GOOD.replace("tool:", "dataset: {files: 10, each: 0.1 B}, tool:"),
        "dataset.each: 0.1 B is part of",
    ),
    "median of a tenth": (
        GOOD.replace("tool:", "dataset: {files: 10, median: 0.1 B}, tool:"),
        "dataset.median: 0.1 B is part of",
    ),
    "size in bits": (GOOD.replace("tool:", "dataset: {size: 50 Gb}, tool:"), "write 6.25 GB"),
    "key of a group": (
        GOOD.replace("tool:", "dataset: {groups: [{count: 3, each: 1 MB}]}, tool:"),
        "dataset.groups.0.each: is not a key here (got '1 MB'); known keys: count, size,",
    ),
    "number with a hole": (GOOD.replace("rtt: 10 ms", "rtt: 1_0 ms"), "is not a number with a unit"),
    "count with a hole": (GOOD.replace("tool:", "dataset: {files: 1_0, size: 1 GB}, tool:"), "needs a whole number"),
    "cores with a hole": (
        GOOD.replace("cores: 4", "cores: 1_0"),
        "p.yaml:4: hosts.a.cpu.cores: is not a number (got '1_0'); write 10; _ stands between thousands only",
    ),
    "cores with a hole in quotes": (GOOD.replace("cores: 4", "cores: '1_0'"), "hosts.a.cpu.cores: is not a number"),
    "an hour with a hole": (
        GOOD.replace("rtt: 10 ms", "rtt: 1 ms, background: {share: 1 %, peak_hour: 1_0}"),
        "wan.0.background.peak_hour: is not a number (got '1_0'); write 10",
    ),
    "a listed core with a hole": (
        GOOD.replace("    nic:", "    placement: {application: [2, 1_0]}\n    nic:", 1),
        "hosts.a.placement.application.1: is not a number (got '1_0')",
    ),
    "an option with a hole": (
        GOOD.replace("name: iperf3", "name: iperf3, P: 1_0"),
        "transfers.0.tool.P: is not a number (got '1_0')",
    ),
    "depths with a hole": (
        GOOD.replace(
            "rate: 10 Gb/s}",
            "rate: 10 Gb/s}\n    volumes: {/d: {filesystem: xfs, array: {kind: measured, read: 1 GB/s, write: "
            "1 GB/s, depths: {1_0: {read: 1 GB/s, write: 1 GB/s, reads: 1 /s, writes: 1 /s}}}}}",
            1,
        ),
        "depths.1_0: is not a number (got '1_0')",
    ),
    **{
        f"program {what}": (
            GOOD.split("transfer:")[0] + f"programs: [{{name: p, host: a, steps: {steps}}}]\n",
            f"p.yaml:13: programs.0.steps.{said}",
        )
        for what, steps, said in (
            ("without bytes", "[{read: /d/x}]", "0: how many bytes?; write size: 20 GB beside it"),
            ("of two minds", "[{read: /d/x, write: /d/y, size: 1 GB}]", "0: does one thing; write one of read, write,"),
            ("that computes bytes", "[{compute: 1 s, size: 1 GB}]", "0: size and block belong to read and write; take"),
            (
                "that ends computing",
                "[{read: /d/x, size: 1 GB}, {compute: 3 s}]",
                "1: nothing is read or written after",
            ),
        )
    },
    "sexagesimal": (GOOD.replace("cores: 4", "cores: 1:30"), "cores: needs a whole number (got '1:30')"),
    "hexadecimal": (GOOD.replace("cores: 4", "cores: 0x4"), "cores: needs a whole number (got '0x4')"),
    "full-width cores": (GOOD.replace("cores: 4", "cores: \uff14"), "cores: needs a whole number"),
    "without end": (
        GOOD.replace("rtt: 10 ms", "rtt: 1 ms, retransmits: {count: inf, moved: 1 GB}"),
        "retransmits.count: needs a finite number (got 'inf')",
    ),
    "full-width digits": (GOOD.replace("rtt: 10 ms", "rtt: \uff11\uff10 ms"), "is not a number with a unit"),
    "bits or bytes": (GOOD.replace("bandwidth: 10 Gb/s", "bandwidth: 10G"), "write 10 Gb/s or 10 GB/s"),
    "no queue": (GOOD.replace("rtt: 10 ms", "rtt: 10 ms, buffer: 0 B"), "write a value from 1.5 kB"),
    "nothing left": (GOOD.replace("rtt: 10 ms", "rtt: 10 ms, background: {share: 100 %}"), "from 0 to 0.999"),
    "nearly nothing left": (GOOD.replace("rtt: 10 ms", "rtt: 1 ms, background: {share: 99.99999 %}"), "to 0.999"),
    "no wan": (
        GOOD.replace("wan: {rtt: 10 ms, bandwidth: 10 Gb/s}", "wan: null"),
        "wan: is empty; give it a value, or leave the key out",
    ),
    "part of another kind": (
        GOOD.replace("nic: {kind: nic, rate: 10 Gb/s}", "\n    nic: amd-epyc-72f3", 1),
        "p.yaml:7: hosts.a.nics.nic: is a cpu (got 'amd-epyc-72f3')",
    ),
    "bucket of a host without a NIC": (
        GOOD.replace(
            "rate: 10 Gb/s}",
            "rate: 100 Gb/s, protocol: infiniband}\n    volumes: {/s: {filesystem: {kind: s3}, over: wan}}",
            1,
        )
        .replace("'a:memory'", "'a:/s'")
        .replace("'b:memory'", "'a:memory'"),
        "hosts.a.volumes./s.over: is reached through no NIC",
    ),
    "too many files": (GOOD.replace("tool:", "dataset: {files: 1e30, size: 1 GB}, tool:"), "files"),
}


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["dtnsim", *arguments])
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


@pytest.mark.parametrize("case", BAD)
def test_bad_path_files(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, expected = BAD[case]
    path = tmp_path / "p.yaml"
    path.write_text(text, encoding="utf-8")
    start = time.process_time()
    code, out, err = run(capsys, monkeypatch, "predict", str(path))
    assert code == 2, err
    assert not out
    said = err.strip().splitlines()
    assert all(line.startswith("dtnsim: ") for line in said), err
    assert len(set(said)) == len(said), err  # a line for each finding
    assert "Traceback" not in err
    assert expected in err
    assert time.process_time() - start < 2.0  # a promise to people, far above what it takes


def test_the_good_file_is_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(GOOD)
    code, out, _ = run(capsys, monkeypatch, "predict", str(path))
    assert code == 0
    assert "held by" in out


def test_a_huge_file_is_refused_unread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"a: 1\n" * 10_000_000)
    code, _, err = run(capsys, monkeypatch, "predict", str(path))
    assert code == 2
    assert "50000000 bytes" in err
    security = Path(__file__).parents[2] / "SECURITY.md"
    assert f"| a YAML file, or what a pipe gives | {yamlio.MAX_BYTES / 1e6:g} MB |" in security.read_text()


@pytest.mark.parametrize("name", ["nosuch", "../../etc/passwd", "venadi", "a" * 400, "venadi/nosuch", "."])
def test_unknown_paths(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = run(capsys, monkeypatch, "predict", name)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1


def test_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(b"\xff\xfe\x00name: t")
    code, _, err = run(capsys, monkeypatch, "predict", str(path))
    assert code == 2
    assert "UTF-8" in err


@pytest.mark.parametrize(
    "override",
    [
        "wan",
        "=3",
        "wan.rtt=5",
        "wan.nope=1",
        "transfer.tool.P=-1",
        "hosts.a.cpu.cores=0",
        "x=1",
    ],
)
def test_bad_overrides(
    override: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(GOOD)
    code, _, err = run(capsys, monkeypatch, "predict", str(path), "--set", override)
    assert code == 2, err
    assert len(err.strip().splitlines()) == 1


def test_errors_name_file_line_key_value_and_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(GOOD.replace("bandwidth: 10 Gb/s", "bandwidth: 10 Gb"))
    _, _, err = run(capsys, monkeypatch, "predict", str(path))
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "wan:" in text)
    for part in (f"{path}:{line}", "bandwidth", "10 Gb", "write it like 10 Gb/s"):
        assert part in err


@pytest.mark.parametrize(
    "arguments",
    [["nosuch"], ["predict"], ["predict", "x", "--samples", "-3"], ["predict", "x", "--nope"], ["explain", "a", "b"]],
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = run(capsys, monkeypatch, *arguments)
    assert code == 2
    assert "Traceback" not in err + out
    assert "Usage" in err + out


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("links=[3]", "--set links: links: needs keys with values; write it like {name: {key: value}}"),
        ("transfer.tool.p=many", "p: needs a whole number (got 'many'); write it like 4"),
        ("hosts.venadi.tcp.cc=vegas", "write one of 'cubic', 'htcp', 'illinois', 'reno', "),
        ("hosts.venadi.slots.eth.lanes=-1", "lanes: must not be below 1 (got '-1'); write 1 or more"),
        ("hosts.venadi.vm.dirty_ratio=40", "write 40 %"),
        ("hosts.venadi.tcp.pacing=0 b/s", "pacing: 0 b/s is out of range; write a value from "),
        ("hosts.nersc.volumes./project.filesystem.share=0", "share: 0 is out of range; write a value from 0.001 to 1"),
        ("hosts.venadi.hbas.hba.iops=0 IOPS", "iops: 0 IOPS is out of range"),
        ("hosts.venadi.volumes./bigdata.array.of.iops_write=0 IOPS", "iops_write: 0 IOPS is out of range"),
        ("hosts.venadi.nic=foo", "NIC: bluefield-3-2x200g, broadcom-57414-25g, "),
        ("hosts.venadi.nic=connectx5", "did you mean connectx-5-25g, connectx-5-100g, "),
    ],
)
def test_plain_words_and_what_to_write_instead(capsys, monkeypatch, override, told):
    code, _, err = run(capsys, monkeypatch, "predict", "venadi/gridftp-gpfs", "--samples", "0", "--set", override)
    assert code == 2
    assert told in err


def test_a_fault_of_our_own_is_one_line_too(capsys, monkeypatch):
    def broken(*_args, **_more):
        raise ZeroDivisionError("no such thing")

    monkeypatch.setattr("dtnsim.steady.prediction.answer", broken)
    monkeypatch.delenv("DTNSIM_DEBUG", raising=False)
    code, _, err = run(capsys, monkeypatch, "predict", "venadi/gridftp-gpfs")
    assert code == 1
    assert err == "dtnsim: internal error: ZeroDivisionError: no such thing; DTNSIM_DEBUG=1 shows where\n"
    monkeypatch.setenv("DTNSIM_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run(capsys, monkeypatch, "predict", "venadi/gridftp-gpfs")


def test_a_host_that_only_an_override_names_lacks_all_that_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(GOOD)
    code, _, err = run(capsys, monkeypatch, "predict", str(path), "--set", "hosts.zz.cpu.cores=2")
    assert code == 2
    start = "dtnsim: --set hosts.zz.cpu.cores: hosts.zz."
    first, second = err.splitlines()
    assert first.startswith(f"{start}cpu.clock: is missing; write it like 3.6 GHz")
    assert second.startswith(f"{start}memory: is missing")


LACKING = """\
hosts:
  a:
    cpu: {kind: cpu, cores: 4}
    nic: {kind: nic, mtu: 9000}
    volumes:
      /data: {filesystem: {kind: xfs}, array: {kind: ssd, read: 1 GB/s}}
  b:
    memory: {kind: memory, channels: 4}
wan: {rtt: 20 ms}
transfer: {from: "a:/data"}
"""


def test_all_that_is_missing_is_said_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for each key, with its place and what to write; who writes that where nobody knows is answered."""
    path = tmp_path / "p.yaml"
    path.write_text(LACKING)
    code, out, err = run(capsys, monkeypatch, "predict", str(path))
    assert (code, out) == (2, "")
    said = [line.removeprefix(f"dtnsim: {path}:").split(": is missing; write it") for line in err.splitlines()]
    assert [where for where, _ in said] == [
        "3: hosts.a.cpu.clock",
        "4: hosts.a.nics.nic.rate",
        "6: hosts.a.volumes./data.array.write",
        "8: hosts.b.memory.rate",
        "8: hosts.b.memory.size",
        "9: wan.0.bandwidth",
        "10: transfers.0.to",
        "10: transfers.0.tool",
    ]
    unknown = [words.partition("where nobody knows: ")[2] for _, words in said]
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
    assert run(capsys, monkeypatch, "predict", str(path))[0] == 0


@pytest.mark.parametrize(("newline", "mark"), [("\r\n", ""), ("\r\n", "\ufeff"), ("\n", "\ufeff")])
def test_files_written_on_windows_are_the_same_files(tmp_path, newline: str, mark: str) -> None:
    text = (library.root("models") / "paths" / "venadi" / "iperf3.yaml").read_text(encoding="utf-8")
    file = tmp_path / "path.yaml"
    file.write_bytes((mark + text.replace("\n", newline)).encode())
    there, here = (dtnsim.predict(p, samples=0) for p in ("venadi/iperf3", file))
    assert here.throughput_Bps == there.throughput_Bps
