"""Servers of shared file systems: ports, arrays, pairs, metadata; what mounts of one system have in common."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.ground.errors import SpecError
from tests.each import cases, named
from tests.lab import Sheet, answer, expect, journey, machine, of_path, problem, rate, sheet, volume

GPFS = {"kind": "gpfs", "latency": "1 us", "nsds": 1, "nsd_rate": "10 TB/s", "share": "1", "metadata_time": "0 s"}
LUSTRE = {"kind": "lustre", "stream": "1 TB/s", "target_rate": "1 TB/s", "share": "1", "latency": "0.1 us",
          "client_rate": "10 TB/s", "metadata_time": "0 s", "client_byte": "0 cycles/B",
          "read_ahead": "1 TiB"}  # fmt: skip
NFS = {"kind": "nfs", "slots": "65536", "service": "1 us", "read_ahead": "1 TiB", "rpc_byte": "0 cycles/B"}
KINDS = {"gpfs": GPFS, "lustre": LUSTRE, "nfs": NFS}
HUGE = {"files": 1, "size": "100 TB"}


@cases("filesystem, load, figures", named("components/mounts"))
def test_what_a_mount_charges(filesystem: dict[str, Any], load: dict[str, Any], figures: dict[str, Any]) -> None:
    streams, ends = load.get("streams", 1), ("b:memory", "a:/m") if load.get("write") else ("a:/m", "b:memory")
    made = journey(
        machine(volumes={"/m": volume(filesystem=filesystem)}),
        start=load.get("start", ends[0]),
        to=load.get("to", ends[1]),
        tool=load.get("tool", {"name": "gridftp", "cc": streams}),
        dataset={"files": load.get("files", streams), "size": load.get("size", "100 TB")},
    )
    expect(of_path(made), figures)


def mount(kind: str, servers: dict[str, Any], **given: Any) -> dict[str, Any]:
    small = {"pagepool": "4 MiB"} if kind == "gpfs" else {}  # drives have to keep up at once
    return machine(volumes={"/s": volume(filesystem={**KINDS[kind], **small, "servers": servers, **given})})


def path(host: dict[str, Any], *, write: bool = False, streams: int = 1, **data: Any) -> dict[str, Any]:
    start, to = ("b:memory", "a:/s") if write else ("a:/s", "b:memory")
    tool = {"name": "gridftp", "cc": streams}
    return journey(host, start=start, to=to, tool=tool, dataset=data or {**HUGE, "files": streams})


def charges(kind: str, servers: dict[str, Any], *, write: bool = False, streams: int = 1, **given: Any) -> Sheet:
    return sheet(problem(path(mount(kind, servers, **given), write=write, streams=streams)))


def test_more_servers_fail_than_have_a_partner() -> None:
    with pytest.raises(SpecError, match="partner"):
        charges("gpfs", {"count": 4, "rate": "10 GB/s", "failed": 3})


META = {"create": "20000 ops/s", "stat": "400000 ops/s", "remove": "100000 ops/s"}


def removals(count: int, metadata: dict[str, Any], clients: int = 128, **data: Any) -> float:
    """Files a second that ``clients`` hosts remove together."""
    one = mount("lustre", {"metadata": {"count": count, **META, **metadata}}, metadata_time="1 ms", system="l")
    hosts = {f"h{n}": one for n in range(clients)}
    transfers = [{"name": f"t{n}", "from": f"h{n}:memory", "to": f"h{n}:/s", "tool": "rm",
                  "dataset": {"files": 1000, "size": "1 GB", **data}} for n in range(clients)]  # fmt: skip
    made = journey(transfers=transfers)
    made["hosts"] = hosts
    return rate(made) / 1e6


def test_a_metadata_server_bounds_all_clients_together() -> None:
    """128 processes would remove 128000 files a second; the server does 100000, less the names it lists."""
    assert removals(1, {}) == pytest.approx(1 / (1 / 100e3 + 1 / 1024 / 400e3), rel=1e-3)
    assert removals(1, {}, clients=16) == pytest.approx(16e3, rel=0.01)
    four = 128e3 / (1 + 1 / 1024 + 8 / 1000 * 4)  # the clients' own round trips
    assert removals(4, {}, directories=8) == pytest.approx(four, rel=0.05)


def test_one_directory_lies_on_one_metadata_server() -> None:
    """DNE: a directory is served by one MDT unless it is striped."""

    def bound(metadata: dict[str, Any], **data: Any) -> float:
        host = mount("lustre", {"metadata": {"count": 4, **META, **metadata}})
        made = sheet(problem(journey(host, start="a:memory", to="a:/s", tool="rm",
                                     dataset={"files": 1000, "size": "1 GB", **data})))  # fmt: skip
        return min(made.rate("s.metadata"), made.rate("s.directories") if made.has("s.directories") else 1e99)

    assert 4 * bound({}) == pytest.approx(bound({"striped": True}))
    assert bound({}, directories=3) == pytest.approx(3 * bound({}, directories=1), rel=0.02)


def test_creates_looks_and_removals_have_rates_of_their_own() -> None:
    """Dell HPC Lustre storage papers: 15K creates, 100K removals, 400K stats of one server; GPFS and NFS alike."""
    for kind in ("lustre", "gpfs", "nfs"):
        host = mount(kind, {"metadata": {"create": "15000 ops/s", "stat": "400000 ops/s", "remove": "100000 ops/s"}})
        made = journey(host, start="a:memory", to="a:/s", tool="tar", dataset={"files": 1000, "size": "1 GB"})
        # lookup and close are look-ups; create and setattr change, and on NFS the SETATTR after an exclusive create
        changes = 3 if kind == "nfs" else 2
        assert sheet(problem(made)).demand("s.metadata") * 1e6 == pytest.approx(changes / 15e3 + 2 / 400e3)


def test_mounts_of_a_system_agree() -> None:
    first, second = (mount("gpfs", {"count": n, "rate": "1 GB/s"}, system="g") for n in (2, 3))
    transfers = [{"name": h, "from": f"{h}:/s", "to": f"{h}:memory", "tool": {"name": "dd", "bs": "1 MiB"},
                  "dataset": HUGE} for h in "ab"]  # fmt: skip
    with pytest.raises(SpecError, match="disagree on its servers") as caught:
        problem(journey(first, second, transfers=transfers))
    assert "one file system" in str(caught.value.remedy)


def test_fields_that_mean_nothing_are_refused() -> None:
    with pytest.raises(SpecError, match="has no meaning"):
        charges("lustre", {}, op_time="1 ms")


@settings(max_examples=10)
@given(st.integers(1, 16), st.integers(1, 8), st.floats(0.1, 1.0))
def test_more_servers_never_hurt(count: int, ports: int, share: float) -> None:
    def bound(n: int, p: int) -> float:
        return charges("gpfs", {"count": n, "ports": p, "port_rate": "10 Gb/s"}, share=repr(share)).bound

    assert bound(count + 1, ports) >= bound(count, ports)
    assert bound(count, ports + 1) >= bound(count, ports)


def test_a_filer_is_reached_over_its_storage_network() -> None:
    """An NFS mount without a host for its server: the volume's own NICs carry the bytes."""
    nics = {"eth": machine()["nic"], "data": {"kind": "nic", "rate": "10 Gb/s", "mtu": "9000 B"}}
    host = machine(nics=nics, volumes={"/s": volume(filesystem={**NFS, "servers": {"rate": "5 GB/s"}}, via=["data"])})
    del host["nic"]
    found = answer(path(host))
    assert found.bottleneck.station == "a.data.port0.rx"
    assert found.throughput_Bps.p50 == pytest.approx(1.25e9, rel=0.03)


@pytest.mark.parametrize("kind", ["lustre", "gpfs", "cephfs", "beegfs"])
def test_there_is_always_a_metadata_server(kind: str) -> None:
    """One that nobody has described bounds what very many clients remove, however the file system is written down."""

    def capacity(**given: Any) -> float:
        host = machine(volumes={"/s": volume(filesystem={"kind": kind, "system": "s", **given})})
        made = journey(host, start="a:/s", to="a:/s", tool="rm", dataset={"files": 1000, "size": "1 MB"})
        found = sheet(problem(made))
        return found.rate("s.metadata") * 1000 / 1e6  # removals a second, a look-up each

    usual = capacity()
    assert 4e3 < usual < 2e5
    assert capacity(servers={"count": 4}) == pytest.approx(usual)
    assert capacity(servers={"metadata": {"remove": "100 ops/s"}}) == pytest.approx(100, rel=0.05)


def test_one_mds_as_dell_printed() -> None:
    """Dell HPC Lustre storage papers, mdtest: 100K to 160K removals a second of one MDS with 128 and more threads."""
    host = machine(volumes={"/s": volume(filesystem={"kind": "lustre", "system": "s"})})
    made = journey(host, start="a:/s", to="a:/s", tool="rm", dataset={"files": 1000, "size": "1 MB"})
    assert 0.7e5 < sheet(problem(made)).rate("s.metadata") * 1000 / 1e6 < 1.6e5
