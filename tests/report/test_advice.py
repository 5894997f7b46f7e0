"""What a card advises: of each case what it says, and what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtnsim.composition.relief import sysctl_lines
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.uncertainty import written
from dtnsim.report.advice import beside
from dtnsim.report.decision import decide
from dtnsim.steady.prediction import predict
from tests.each import rows

PC = "{year: 2018, os: Windows 10, nic: gigabit, volumes: {/c: NVMe SSD}}"
NAS = "{kind: nas, year: 2018, nic: gigabit, volumes: {/v: {filesystem: btrfs, array: {kind: raid5, disks: 4, of: any-disk}}}}"  # noqa: E501
LONG = "{rtt: 110 ms, bandwidth: 200 Gb/s, medium: research, mtu: 9000}"
FAST = "{year: 2018, cpu: 2 x Xeon Gold 6146, nics: {a: connectx-5-100g, b: connectx-5-100g}, volumes: {/m: tmpfs}}"
FETCH = "from: there:/v, to: here:/v, tool: curl, dataset: {files: 40, each: 3 GB}"
HERE = "{year: 2015, os: CentOS 7, nic: gigabit, volumes: {/v: any-ssd}}"
TAPE = "{year: 2014, memory: 16 GB, volumes: {/d: any-ssd, /t: {filesystem: lto-5, array: any-nvme}}}"
LUSTRE = "{role: dtn, nic: 100 Gb/s, volumes: {/l: {filesystem: lustre, array: {kind: raid, level: 6, disks: 10, of: any-disk}}}}"  # noqa: E501


def path(hosts: dict[str, str], transfer: str, wan: str = "") -> str:
    network = f"wan: {wan}\n" if wan else ""
    return "hosts:\n" + "".join(f"  {n}: {h}\n" for n, h in hosts.items()) + f"{network}transfer: {{{transfer}}}\n"


MANY_STREAMS = path({"a": FAST, "b": FAST}, "from: 'a:memory', to: 'b:memory', {tool}dataset: {size: 10 TB}", LONG)
MOST = ", tcp: {rmem_max: 2 GiB, wmem_max: 2 GiB}}"
#: (path, what its card says, what it does not)
CASES = {
    "windows are raised before streams are asked for": (
        MANY_STREAMS.replace("{tool}", "tool: ftp, "),
        ["raise hosts.a.tcp.wmem_max", "Next limit: one core"],
        ["streams"],
    ),
    "no streams for a tool that has none": (
        MANY_STREAMS.replace("{tool}", "tool: ftp, ").replace("tmpfs}}", "tmpfs}" + MOST).replace("110 ms", "2 s"),
        ["streams (of another tool: this one has none)"],
        [],
    ),
    "streams for one that has": (
        MANY_STREAMS.replace("{tool}", "tool: {name: gridftp, p: 1}, ")
        .replace("tmpfs}}", "tmpfs}" + MOST)
        .replace("110 ms", "2 s"),
        [],
        ["another tool: this one"],
    ),
    "a server of others is asked": (
        path({"there": "{kind: server}", "here": HERE}, FETCH, "{rtt: 95 ms, bandwidth: 1 Gb/s}"),
        ["# ask those of there", "for those who run it", "# on here"],
        ["# on there"],
    ),
    "a server that is described is not": (
        path({"there": HERE, "here": HERE}, FETCH, "{rtt: 95 ms, bandwidth: 1 Gb/s}"),
        ["# on there"],
        ["those of"],
    ),
    "what an option is typed as": (
        path(
            {"vm": "{role: cloud, nic: 32 Gb/s, volumes: {/d: any-nvme, /s: {filesystem: s3}}}"},
            "from: vm:/d, to: vm:/s, tool: rclone, dataset: {files: 200, each: 1 GB}",
        ),
        ["type: rclone --transfers 16", "Still held by the bucket's connections"],
        ["Next limit"],
    ),
    "tape that is written": (
        path({"ws": TAPE}, "from: ws:/d, to: ws:/t, tool: tar, dataset: {files: 200, size: 400 GB}"),
        ["more drives that write at once"],
        ["asked for in bulk", "asking in order"],
    ),
    "tape that is read": (
        path({"ws": TAPE}, "from: ws:/t, to: ws:/d, tool: cp, dataset: {files: 200, size: 400 GB}"),
        ["asked for in bulk", "asking in order costs nothing"],
        [],
    ),
    "a link is named, and no sentence made of it": (
        path(
            {"a": HERE, "b": HERE},
            "from: a:/v, to: b:/v, tool: rsync, dataset: {size: 5 GB}",
            "{rtt: 60 ms, bandwidth: 10 Mb/s}",
        ),
        ["held by: the network link wan ["],
        ["is full"],
    ),
    "what two ends have alike": (
        path(
            {"a": LUSTRE, "b": LUSTRE},
            "from: a:/l, to: b:/l, tool: bbcp, dataset: {files: 80, size: 1.2 TB}",
            "{rtt: 30 ms, bandwidth: 100 Gb/s}",
        ),
        ["with stripe_count 4 at all of them"],
        [],
    ),
    "a share that is mounted for it, and the other end's port": (
        path(
            {"nas": NAS, "pc": PC},
            "from: nas:/v, to: pc:/c, tool: smb, dataset: {files: 1, size: 10 GB}",
            "{bandwidth: 1 Gb/s}",
        ),
        ["by a copy over SMB", "--target 9"],  # what the port of a gigabit still carries
        ["by cp", "--target 1"],
    ),
    "drives of two volumes": (
        path(
            {"mac": "{kind: laptop, volumes: {/a: any-ssd, /b: {filesystem: apfs, array: any-disk}}}"},
            "from: mac:/a, to: mac:/b, tool: cp, dataset: {files: 1000, size: 300 GB}",
        ),
        ["Next limit: the drives of mac (mac.a.drives)"],
        [],
    ),
    "loss holds another control as well": (
        path(
            {"a": HERE.replace("CentOS 7", "RHEL 5"), "b": HERE},
            "from: a:/v, to: b:/v, tool: curl, dataset: {files: 300, size: 200 GB}",
            "{rtt: 170 ms, bandwidth: 100 Mb/s, loss: 0.01 %, medium: research}",
        ),
        ["congestion control htcp", "Still held by lost packets"],
        ["bbr", "Next limit", "mtu"],
    ),
    "the same port is no next limit": (
        path(
            {"mac": "{kind: laptop, year: 2015, nic: 802.11ac, volumes: {/u: any-ssd}}", "nas": NAS},
            "from: mac:/u, to: nas:/v, tool: smb, dataset: {files: 1, size: 5 GB}",
            "{bandwidth: 1 Gb/s}",
        ),
        ["held by: the network port of mac ["],
        ["the network port of mac,", "next, the network port of mac", "Next limit: the network port of mac", "mtu"],
    ),
    "a part of the time": (
        path(
            {"a": HERE, "b": HERE},
            "from: a:/v, to: b:/v, tool: ftp, dataset: {files: 3000, size: 3 GB}",
            "{rtt: 4 ms, bandwidth: 100 Mb/s}",
        ),
        ["% of the time"],
        ["moves 8", "link wan is"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_card_advises_what_can_be_done(case: str, tmp_path: Path) -> None:
    text, said, unsaid = CASES[case]
    (tmp_path / "path.yaml").write_text(text)
    made = decide(predict(tmp_path / "path.yaml", samples=16))
    card = made.verdict + "\n".join(f"{label}: {line}" for label, lines in made.rows for line in lines)
    assert not [words for words in said if words not in card], card
    assert not [words for words in unsaid if words in card], card


def test_the_least_window_that_is_typed_is_that_of_the_system() -> None:
    sets = ("hosts.a.tcp.rmem_max=64MiB", "hosts.a.tcp.cc=htcp")
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
