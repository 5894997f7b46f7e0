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
        ("scp -oCompression=yes -o Ciphers=aes128-ctr,aes256-ctr f h:",
         {"name": "scp", "compress": True, "cipher": "aes-ctr"}),
        ("iperf3 -c h -t 30 -P4", {"name": "iperf3", "t": "30 s", "P": "4"}),
        ("iperf -c h -t 30 -P 4", {"name": "iperf2", "t": "30 s", "P": "4"}),
        ("ntttcp -s h -P 8 -n 2", {"name": "ntttcp", "P": "8", "n": "2"}),
        ("msrsync -p 8 src/ dst/", {"name": "msrsync", "p": "8"}),
        ("restic -r s3:host/bucket backup data", {"name": "restic", "repository": "s3"}),
        ("warp put --concurrent 8 --obj.size 4MiB", {"name": "warp", "concurrent": "8", "obj_size": "4 MiB"}),
        ("rsync -e 'ssh -c aes256-gcm@openssh.com' a h:", {"name": "rsync", "ssh": {"cipher": "aes-gcm"}, "e": "ssh"}),
        ("sftp -R 16 -B 32768 h", {"name": "sftp", "R": "16", "B": "32768 B"}),
        ("nuttcp -w256k -N4 -R500m h", {"name": "nuttcp", "w": "256 KiB", "N": "4", "R": "500 Mb/s"}),
        ("/usr/bin/lftp pget -n 4 f", {"name": "lftp", "pget": "4"}),
        ("rclone copy --transfers 32 --checkers=16 a :sftp:b", {"name": "rclone", "transfers": "32",
                                                                "checkers": "16", "backend": "sftp"}),
        ("aria2c -x16 -s 16 -k 1M https://h/f", {"name": "aria2", "x": "16", "s": "16", "k": "1 MiB", "tls": True}),
        ("s5cmd --numworkers 64 cp -c 8 -p 64 dir/ s3://b/",
         {"name": "s5cmd", "numworkers": "64", "c": "8", "p": "64 MiB"}),
        ("aws s3 sync dir s3://b --delete", {"name": "aws-s3", "command": "sync"}),
        ("mc cp -r --limit-upload 100M dir/ store/b", {"name": "mc", "limit_upload": "100 MiB/s"}),
        ("bbftp -p 8 -s -V -e 'put f' h", {"name": "bbftp", "p": "8", "s": True}),
        ("ftp -A h", {"name": "ftp", "mode": "active"}),
        ("mscp -n 16 -a 64 -c aes128-gcm@openssh.com src h:",
         {"name": "mscp", "n": "16", "a": "64", "cipher": "aes-gcm"}),
        ("hpnscp -r -oNoneEnabled=yes -oNoneSwitch=yes d h:", {"name": "hpnscp", "r": True, "cipher": "none"}),
        ("fpsync -n 8 -f 5000 /src/ h:/dst/", {"name": "fpsync", "n": "8", "f": "5000"}),
        ("parsyncfp --NP=4 --chunksize=500M --startdir=/d x h:/y",
         {"name": "parsyncfp", "NP": "4", "chunksize": "500 MiB"}),
        ("robocopy D:/a //nas/share /E /MT:32 /j /R:3", {"name": "robocopy", "MT": "32", "J": True}),
        ("robocopy a b /MT", {"name": "robocopy", "MT": 8}),
        ("netperf -H h -t TCP_SENDFILE -l 30 -- -m 128K -S 4M",
         {"name": "netperf", "t": "TCP_SENDFILE", "seconds": "30 s",
                                                                 "m": "128 KiB", "S": "4 MiB"}),
        ("fts-rest-transfer-submit -K --nostreams 4 -s https://f davs://a davs://b",
         {"name": "fts", "checksum": "both", "nostreams": "4", "protocol": "davs"}),
        ("xrdcp --tpc first root://a//f root://b//f", {"name": "xrdcp", "tpc": "first"}),
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


def test_tools_without_a_manner_of_their_own_are_read_by_their_options() -> None:
    assert parse("iozone -r 1m -t 4 -e") == {"name": "iozone", "r": "1 MiB", "t": "4", "e": True}
    with pytest.raises(SpecError, match=r"bonnie has no such option here .*--rw=write"):
        parse("bonnie --rw=write")
