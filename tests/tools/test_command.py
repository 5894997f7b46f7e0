"""Command lines as people type them."""

from __future__ import annotations

import pytest

from dtnsim.ground.errors import SpecError
from dtnsim.tools._command import parse
from dtnsim.tools._programs import PROGRAMS
from dtnsim.tools.plan import Tool


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("globus-url-copy -p 8 -fast -pp", {"name": "gridftp", "p": "8", "fast": True, "pp": True}),
        ("globus-url-copy -tcp-bs 16M a b", {"name": "gridftp", "tcp_bs": "16 MiB"}),
        ("rsync -aW -e ssh data/ host:/data", {"name": "rsync", "archive": True, "whole_file": True, "e": "ssh"}),
        ("rsync -az --bwlimit=2000 a rsync://h/m", {"name": "rsync", "archive": True, "compress": True,
                                                    "bwlimit": "2000 KiB/s", "e": "none"}),
        ("scp -c aes128-gcm@openssh.com -l 8000 f h:", {"name": "scp", "cipher": "aes-gcm", "limit": "8000 kb/s"}),
        ("sftp -R 16 -B 32768 h", {"name": "sftp", "R": "16", "B": "32768 B"}),
        ("nuttcp -w256k -N4 -R500m h", {"name": "nuttcp", "w": "256 KiB", "N": "4", "R": "500 Mb/s"}),
        ("/usr/bin/lftp pget -n 4 f", {"name": "lftp", "pget": "4"}),
        ("rclone copy --transfers 32 --checkers=16 a :sftp:b", {"name": "rclone", "transfers": "32",
                                                                "checkers": "16", "backend": "sftp"}),
        ("aria2c -x16 -s 16 -k 1M https://h/f", {"name": "aria2", "x": "16", "s": "16", "k": "1 MiB", "tls": True}),
    ],
)  # fmt: skip
def test_lines_are_read_by_the_tools_own_options(line, options):
    assert parse(line) == options


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_every_program_makes_a_tool_and_refuses_what_it_does_not_know(program):
    told = parse(program)
    Tool.build({"kind": told.pop("name"), **told})
    with pytest.raises(SpecError, match="has no such option"):
        parse(f"{program} --warp-speed")


@pytest.mark.parametrize("line", ["", "warp -9", "scp 'open", "scp -l"])
def test_what_is_no_command_line_is_an_error(line):
    with pytest.raises(SpecError):
        parse(line)
