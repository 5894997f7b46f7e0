"""Raw logs to figures of a host: what belongs, what contradicts, what is of another host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dtnsim.evidence import fit_logs
from dtnsim.ground import library
from dtnsim.ground.errors import InputError

LOGS = library.root("calibration") / "venadi" / "logs"
DD = "$ dd if=/dev/zero of={path} bs=1M count=10240 {more}\n10737418240 bytes (11 GB) copied, {seconds} s, 1 GB/s\n"


def log(tmp_path: Path, name: str, *runs: tuple[str, str, float]) -> Path:
    file = tmp_path / name
    file.write_text("".join(DD.format(path=p, more=m, seconds=s) for p, m, s in runs))
    return file


def test_dd_says_volume_and_flags() -> None:
    found, notes = fit_logs.figures([LOGS / "dd.txt"], "venadi")
    assert notes == []
    ends = [(f.spec.transfers[0].to, f.spec.transfers[0].tool.finish) for f in found]  # type: ignore[attr-defined]
    assert ends == [("venadi:/", "none"), ("venadi:/bigdata", "none"), ("venadi:/", "fdatasync"),
                    ("venadi:/bigdata", "fdatasync"), ("venadi:/", "dsync"), ("venadi:/bigdata", "dsync")]  # fmt: skip
    assert found[0].case.measured == pytest.approx(10737418240 / 3.46705)


def test_dd_past_the_page_cache_is_that(tmp_path: Path) -> None:
    direct = log(
        tmp_path, "direct.txt", ("/bigdata/x", "oflag=direct", 2.5), ("/bigdata/x", "conv=fsync oflag=direct", 2.6)
    )
    found, _ = fit_logs.figures([direct], "venadi")
    tools = [f.spec.transfers[0].tool for f in found]
    assert [(t.oflag, t.conv) for t in tools] == [("direct", ""), ("direct", "fsync")]  # type: ignore[attr-defined]


def test_bonnie_and_iozone_need_the_volume() -> None:
    with pytest.raises(InputError, match=r"--volume with one of /, /bigdata"):
        fit_logs.figures([LOGS / "iozone-8g.txt"], "venadi")
    found, _ = fit_logs.figures([LOGS / "iozone-8g.txt", LOGS / "bonnie.html"], "venadi", "/bigdata")
    assert len(found) == 10 * 13 + 5
    with pytest.raises(InputError, match="no volume '/scratch'"):
        fit_logs.figures([LOGS / "bonnie.html"], "nasa-c-system", "/scratch")


@pytest.mark.parametrize(
    ("name", "host", "says"),
    [
        ("bonnie.html", "nasa-c-system", "ran on host 'venadi', not on 'nasa-c-system'"),
        ("dd-urandom-cori.txt", "venadi", "ran on host 'cori12'"),
        ("dd.txt", "nersc-dtn", "on no volume of host 'nersc-dtn'"),
        ("scp.txt", "venadi", "no component test"),
        ("mdstat.txt", "venadi", "no component test"),
    ],
)
def test_logs_of_other_hosts_and_other_things(name: str, host: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        fit_logs.figures([LOGS / name], host, "/raid" if host.startswith("nasa") else None)


def test_contradiction_names_both_places(tmp_path: Path) -> None:
    one = log(tmp_path, "monday.txt", ("/bigdata/x", "conv=fdatasync", 2.5))
    two = log(tmp_path, "tuesday.txt", ("/bigdata/x", "conv=fdatasync", 5.0))
    with pytest.raises(InputError, match=r"monday\.txt:2 and .*tuesday\.txt:2 are the same test"):
        fit_logs.check_conflicts(fit_logs.figures([one, two], "venadi")[0])
    close = log(tmp_path, "close.txt", ("/bigdata/x", "conv=fdatasync", 2.7))
    assert len(fit_logs.figures([one, close], "venadi")[0]) == 2


def test_unusable_runs_are_left_out_with_the_reason(tmp_path: Path) -> None:
    good = log(tmp_path, "good.txt", ("/bigdata/x", "", 2.5))
    found, notes = fit_logs.figures([good, LOGS / "scp.txt", LOGS / "iperf3.txt"], "venadi")
    assert len(found) == 1
    assert any("end-to-end transfer judges" in n for n in notes)


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"\xff\xfe\x00\x01" * 100, b"hello\n"])
def test_empty_zeros_and_no_log(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "log"
    file.write_bytes(content)
    with pytest.raises(InputError) as raised:
        fit_logs.figures([file], "venadi")
    assert "log" in str(raised.value)
    assert raised.value.exit_code == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied(tmp_path: Path) -> None:
    file = log(tmp_path, "secret.txt", ("/bigdata/x", "", 2.5))
    file.chmod(0)
    with pytest.raises(InputError, match=r"secret\.txt"):
        fit_logs.figures([file], "venadi")


def test_a_path_with_quotes_stays_a_path(tmp_path: Path) -> None:
    odd = log(tmp_path, "odd.txt", ("/bigdata/it's',tool:x", "", 2.5))
    found, _ = fit_logs.figures([odd], "venadi")
    assert found[0].spec.transfers[0].to == "venadi:/bigdata"


def test_every_tool_fits_or_says_why_not():
    from dtnsim.evidence import fit_facts, fit_tests, fit_wan, transfer_cases
    from dtnsim.logs._catalogue import catalogue

    every = catalogue()
    tools = {parser.tool for parser in (*every.lines, *every.documents)}
    assert tools >= transfer_cases.TOOLS - {"sftp", "wuftpd"}  # which scp's and GridFTP's parsers say
    used = fit_facts.CORRECTING | set(fit_wan.TOOLS)
    left = {tool for tool in tools - used if not fit_tests.fits(tool)}
    assert {tool for tool in left if "tests more than this host" in fit_tests.why_not(tool)} == set()
