"""Kinds of change, pinning among them: each is one that kernel, shop or network has, and is taken where it helps."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.planning import actions, catalog, fitting, tuning
from dtnsim.planning.money import exchange
from dtnsim.planning.option import Setting
from tests.each import tables
from tests.strategies import load, written

LAB = "examples/lab-nas-nconnect"
#: a connection as slow as one to an appliance, and no more than one
SLOW = ["hosts.ws.volumes./nas.filesystem.rpc_byte=1.5 cycles/B"]
ONE = [*SLOW, "hosts.ws.volumes./nas.filesystem.nconnect=1"]


def test_a_mount_with_one_connection_gets_more() -> None:
    made = dtnsim.plan(LAB, target="14Gb/s", allow=["tuning"], overrides=ONE, samples=16, hints=False)
    (win,) = (w for w in made.wins if w.together)
    assert win.setting.what == "ws: nconnect of /nas"
    assert "mount -o nconnect=4" in win.setting.commands[0]  # 16 bring no more
    assert made.tuned.rate == pytest.approx(
        dtnsim.predict(LAB, samples=16, overrides=SLOW).throughput_Bps.p50, rel=0.01
    )


def test_what_helps_alone_is_told_once_beside_what_is_taken() -> None:
    class Rates:
        """cc=bbr doubles it; streams make up for a part of that, and add nothing to it."""

        each = staticmethod(iter)

        def __call__(self, overrides: Sequence[str]) -> float:
            return max({"cc=bbr": 2.0, "streams=4": 1.5, "streams=8": 1.6}.get(o, 1.0) for o in ("", *overrides))

        def ahead(self, sets: Iterable[Sequence[str]]) -> None:
            assert list(sets)

    found = [Setting(o.partition("=")[0], (o,), ()) for o in ("streams=4", "cc=bbr", "streams=8")]
    told = [(w.setting.overrides[0], w.together) for w in tuning.wins(found, cast("Any", Rates()))]
    assert told == [("cc=bbr", True), ("streams=8", False)]


def test_settings_that_only_help_at_once_are_found() -> None:
    one, two = (Setting(n, (f"wan.rtt={n}ms",), ()) for n in "34")

    class Rate:
        each = staticmethod(iter)

        def __init__(self, both: float) -> None:
            self.both = both

        def __call__(self, overrides) -> float:
            return self.both if len(overrides) == 2 else 1.0

        def ahead(self, every) -> None:
            list(every)

    assert [w.together for w in tuning.wins([one, two], Rate(2.0))] == [True, True]
    assert [w.together for w in tuning.wins([one, two], Rate(2.0), most_Bps=2.0)] == [True, True]
    assert tuning.wins([one, two], Rate(2.0), most_Bps=1.0) == ()  # nothing is faster than the path is
    assert tuning.wins([one, two], Rate(1.0)) == ()

    class Slows(Rate):
        """The second is slower alone by 14 %, and beside the first faster by so little."""

        def __call__(self, overrides) -> float:
            return {(): 1.0, one.overrides: 2.0, two.overrides: 0.86}.get(tuple(overrides), self.both)

    assert [w.setting for w in tuning.wins([one, two], Slows(2.01)) if w.together] == [one]
    assert [w.together for w in tuning.wins([one, two], Slows(2.5))] == [True, True]


def test_what_is_off_is_switched_on_and_bound_interrupts_let_go() -> None:
    overrides = ["hosts.c1.nics.eth.gro=false", "hosts.c1.nics.eth.queues=1"]
    given = spec.load("nasa/nuttscp-3of7", overrides)
    found = {s.what: s for s in actions.settings(given, ["c1"], 1e9, ("tuning",))}
    assert found["c1: offloads of eth"].commands == ("ethtool -K eth gro on",)
    assert found["c1: receive queues of eth"].commands == ("ethtool -L eth combined 4",)
    free = ("hosts.c1.placement.nic_interrupts=[]", "hosts.c1.placement.storage_interrupts={}")
    assert found["c1: interrupts"].overrides == free
    for setting in found.values():
        given.changed(setting.overrides)
    assert not [s for s in actions.settings(given, [], 1e9, ("tuning",)) if s.overrides[0].startswith("hosts.")]


def test_a_mount_is_not_read_twice_to_be_read_faster() -> None:
    """Two copies share the connections of one mount, which the path describes once for each transfer."""
    found = actions.settings(spec.load(LAB), ["ws"], 1e9, ("tuning",))
    assert not [s for s in found if "runs at once" in s.what]
    two = spec.load("nasa/nuttscp-1of7-put", ["transfer.dataset={files: 2, each: 1 GB}"])
    both = actions.settings(two, ["c1"], 1e9, ("tuning",))
    assert [s.overrides for s in both if "runs at once" in s.what] == [("transfer.runs=2",)]


def test_a_software_array_gets_threads_for_its_parity() -> None:
    """One thread of md computes the parity of ten NVMe drives, which it does not keep up with."""
    new = ["hosts.ours=esnet-dtn-2023"]
    given = spec.load("examples/dtn-100g-to-buy", new)
    (found,) = (s for s in actions.settings(given, ["ours"], 1e9, ("tuning",)) if "parity" in s.what)
    assert "group_thread_cnt" in found.commands[0]
    before, after = (dtnsim.predict(given.changed(o), samples=0) for o in ((), found.overrides))
    assert before.bottleneck.station == "ours.data.raid5d"
    assert "group_thread_cnt" in before.bottleneck.remedy
    assert after.throughput_Bps.p50 > 1.5 * before.throughput_Bps.p50


def test_requests_at_once_of_a_bucket_far_away() -> None:
    """One request after the other over 130 ms: more of them, by the mount or by the tool's own configuration."""
    from tests.composition.test_remote_servers import far

    wan = {"bandwidth": "10 Gb/s", "rtt": "130 ms", "loss": 0, "background": {"share": 0}}
    mounted = dtnsim.plan(load(far({"kind": "s3", "concurrency": 1}, wan=wan)), target="1 Gb/s", samples=8)
    typed = [c for win in mounted.wins for c in win.setting.commands]
    assert any("parallel_count=64" in c for c in typed)
    tool = {"name": "aws-s3", "client": "destination", "max_concurrent_requests": 2, "overhead": "0.1 cycles/B"}
    asked = dtnsim.plan(load(far({"kind": "s3"}, wan=wan, tool=tool)), target="1 Gb/s", samples=8, allow=["tuning"])
    typed = [c for win in asked.wins for c in win.setting.commands]
    assert any(c.startswith("aws configure set default.s3.max_concurrent_requests") for c in typed)


CAMPUS = "examples/campus-25g-firewall"


def _found(path: spec.PathSpec, hosts: list[str], kind: str, target_Bps: float = 1e9) -> dict[str, tuple[str, ...]]:
    found = actions.settings(path, hosts, target_Bps, (kind,))
    for setting in found:
        path.changed(setting.overrides)
        assert setting.commands
    return {s.what: s.overrides for s in found}


def test_the_network_between_is_changed_where_something_in_it_is_stated() -> None:
    found = _found(spec.load(CAMPUS), ["campus"], "network", 15e9 / 8)
    assert found["a bypass of the firewall (wan.0)"] == ("wan.0.firewall=null",)
    assert found["loss repaired (wan.0)"] == ("wan.0.loss=0",)
    assert found["jumbo frames"] == ("wan.0.mtu=9000 B", "hosts.campus.nics.eth.mtu=9000 B")
    assert "bandwidth of the network" not in found  # 15 Gb/s fill less than 80 % of 25
    wider = _found(spec.load(CAMPUS), ["campus"], "network", 21e9 / 8)
    assert wider["bandwidth of the network"] == ("wan.0.bandwidth=40 Gb/s",)
    assert _found(spec.load("examples/dtn-100g-zfs", ["wan.loss=0"]), ["east"], "network") == {}


def test_a_second_path_carries_what_the_hash_of_the_streams_leaves_it() -> None:
    """16 streams on two paths: the fuller has 9.571 in the mean (binomial), 100 Gb/s x 16 / 9.571; one has one path."""
    for tool, paths in (([], "; or 2 paths like now: 16 streams hashed onto them have 167.2 Gb/s"), (["p", "cc"], "")):
        path = spec.load("examples/dtn-100g-to-buy", [f"transfer.tool.{name}=1" for name in tool])
        found = actions.settings(path, [], 85e9 / 8, ("network",))
        assert found[-1].commands == (f"# circuits and ports of 200 Gb/s{paths}",)


def test_the_network_between_is_changed_where_that_meets_the_goal() -> None:
    """That a kind which is not allowed would meet it is said in `test_tool_choice`: of a mount's small files."""
    made = dtnsim.plan(
        CAMPUS, target="12Gb/s", mine=["campus"], allow=["tuning", "network"], samples=16, confidence=0.5, hints=False
    )
    assert made.chosen is made.tuned
    assert "wan.0.firewall=null" in made.chosen.overrides
    same = dtnsim.predict(CAMPUS, overrides=made.chosen.overrides, samples=16)
    assert same.throughput_Bps == made.chosen.prediction.throughput_Bps


def test_layouts_keep_the_drives_and_survive_a_lost_one() -> None:
    nas = spec.load("examples/nas-24-nightly")
    assert not _found(nas, ["nas"], "layout")
    (short,) = actions.refused(nas, ["nas"], 1e9, ("layout",))
    assert short.part == "12 mirrors of two"  # hold 12 x 16 TB, where 20 of 24 drives hold data now
    assert short.why.startswith("the drives would hold 192 TB, and the volume holds 320 TB")
    nas = nas.changed(["hosts.nas.volumes./pool.size=190TB"])
    (mirrors,) = _found(nas, ["nas"], "layout").values()
    before, after = nas.hosts["nas"].volumes["/pool"].array, nas.changed(mirrors).hosts["nas"].volumes["/pool"].array
    assert (before.drives, after.drives) == (24, 24)  # type: ignore[union-attr]
    assert [growth.value for growth in actions.drive.anew(before, 12)] == [12, 6]  # type: ignore[arg-type]
    assert after.kind == "mirror"  # type: ignore[union-attr]
    levels = _found(spec.load("examples/dtn-100g-xfs"), ["east"], "layout")
    assert levels["east: layout of /xfs"] == ("hosts.east.volumes./xfs.array.level=5",)  # the last of 6 and 5
    stripes = actions.settings(spec.load("examples/lustre-cluster-globus"), ["b1"], 1e9, ("layout",))
    assert [s.overrides[0].rpartition("=")[2] for s in stripes] == ["8", "16"]  # of 64 targets, 4 now


def test_kinds_come_in_one_order_whichever_file_was_imported_first() -> None:
    found = actions.settings(spec.load(CAMPUS), ["campus"], 1e9, actions.ALLOWED)
    modules = [f.__module__ for _, _, f in actions._FREE]
    assert modules == sorted(modules)
    assert found
    assert {kind for kind, _, _ in actions._FREE} | {kind for kind, _ in actions._BOUGHT} == set(actions.ALLOWED)


def test_a_tape_library_gets_drives_and_no_machine_takes_its_place() -> None:
    """Eight drives of 400 MB/s stream; where they bind, sixteen do nearly twice as much."""
    archive = spec.load("examples/tape-recall")
    sold = fitting.options(fitting.Shop(archive, catalog.read(), exchange([]), "USD"), ["archive"], ("parts", "hosts"))
    drives = sold.choices["hosts.archive.volumes./tape.filesystem"]
    assert [(o.buys[0][1], o.price) for o in drives] == [(2, 10_000), (4, 20_000), (8, 40_000)]  # 5,000 USD each
    assert drives[0].overrides == ("hosts.archive.volumes./tape.filesystem.drives=10",)
    before, after = (dtnsim.predict(archive.changed(o), samples=0) for o in ((), drives[-1].overrides))
    assert before.bottleneck.station == "archive.tape.tape-drives"
    assert 1.5 * before.ceiling < after.ceiling <= 2 * before.ceiling
    assert not any("in its place" in o.what for o in sold.choices.get("hosts.archive", ()))
    assert any("is a tape library" in note for note in sold.notes)
    cloud = spec.load("examples/cloud-to-campus")
    sold = fitting.options(fitting.Shop(cloud, catalog.read(), exchange([]), "USD"), ["cloud"], ("hosts",))
    assert any("is an instance of a cloud" in note for note in sold.notes)
    assert not sold.choices


def test_transfers_of_one_tool_are_set_together() -> None:
    four = spec.load("examples/lustre-cluster-globus")
    found = actions.settings(four, ["b1"], 1e9, ("tuning",))
    (knobs, *_) = (s for s in found if "network use" in s.what)
    assert knobs.what == "pair1 and 3 like it: network use of the endpoints"
    changed = four.changed(knobs.overrides)
    assert len({t.tool for t in changed.transfers}) == 1


def test_what_two_steps_give_together_is_said_where_it_is_no_sum() -> None:
    sets = ["hosts.nas.volumes./pool.size=15TB"]
    asked: dict[str, Any] = {"mine": ["nas"], "samples": 16, "overrides": sets}
    made = dtnsim.plan("examples/nas-24-nightly", target="35Gb/s", confidence=0.6, **asked)
    assert len(made.chosen.options) == 2  # SSDs, and a second adapter that only helps beside them
    (said,) = (s for s in made.sentences if s.startswith("Together "))
    assert "which is not the sum of each alone" in said
    assert said.count("; ") == 1


def test_a_processor_of_another_socket_brings_its_board_and_memory() -> None:
    """From four cores of LGA2011-3 to SP3: a board that has the card's slot and channels for the memory."""
    old = "supermicro-x10srl-f"
    host = {
        "cpu": "intel-e5-1650-v4", "memory": "ddr4-2400-4ch-128g", "board": old,
        "nics": {"eth": {"part": "connectx-5-100g", "slot": "s3"}},
    }  # fmt: skip
    tool = {"name": "iperf3", "parallel": 1}
    given = load({
        "name": "t", "hosts": {"a": host, "b": {**host}}, "wan": {"rtt": "1 ms", "bandwidth": "100 Gb/s"},
        "transfer": {"from": "a:/dev/zero", "to": "b:/dev/null", "tool": tool},
    })  # fmt: skip
    sold = fitting.options(fitting.Shop(given, catalog.read(), exchange([]), "USD"), ["a"])
    found = [o for o in sold.choices["hosts.a.cpu"] if len(o.buys) == 3]
    assert found
    for option in found:
        made = given.changed(option.overrides).hosts["a"]
        assert made.board.part != old
        assert made.cpu.facts.fits.startswith(made.board.socket)
        assert made.memory.channels <= made.board.channels
        assert set(made.slots) == set(made.board.slots), "slots are those of the new board"
        assert option.price == sum(offer.price.amount * n for offer, n in option.buys)
    assert sold.stock["hosts.a.memory"] == 1, "memory of its own does not go with the memory of a new board"
    assert all(("hosts.a.memory", 1) in option.uses for option in found)


def test_what_runs_on_the_other_socket_comes_to_the_card() -> None:
    hosts = {"a": "esnet-dtn-2020", "b": "esnet-dtn-2020"}  # whose card is on the first socket
    end = {"from": "a:/dev/zero", "to": "b:/dev/null", "tool": {"name": "iperf3", "parallel": 1}}
    given = load({"name": "t", "hosts": hosts, "wan": {"rtt": "1 ms", "bandwidth": "100 Gb/s"}, "transfer": end})
    name, near = "a", 0
    far = given.changed([f"hosts.{name}.placement.remote_socket=1"])
    found = {s.what.partition(": ")[2].split(" of ")[0]: s for s in actions.settings(far, [name], 1e9, ("tuning",))}
    pinned = found["threads on the socket"]
    assert f"--cpunodebind={near}" in pinned.commands[0]
    assert not far.changed(pinned.overrides).hosts[name].remote(near)
    before, after = (dtnsim.predict(far.changed(o), samples=0).ceiling for o in ((), pinned.overrides))
    assert after >= before
    plain = {s.what for s in actions.settings(given, [name], 1e9, ("tuning",))}
    assert not any("threads on the socket" in what for what in plain), "nothing is known to run elsewhere"


def test_others_are_asked_for_what_their_side_lacks_and_for_no_more() -> None:
    """25 Gb/s and two drives there: a card and drives reach 40 Gb/s, a processor would give nothing."""
    asked = {"target": "40Gb/s", "mine": ["theirs"], "confidence": 0.5, "samples": 32, "hints": False}
    made = dtnsim.plan("examples/dtn-100g-to-buy", allow=["far"], **asked)
    assert not made.chosen.options
    requests = {w.setting.what for w in made.wins if w.together and w.setting.worth}
    assert requests == {"ours: nics.eth", "ours: volumes./data.array"}
    assert "; ask those of ours for " in made.verdict
    assert dtnsim.plan("examples/dtn-100g-to-buy", allow=["tuning"], **asked).chosen is None


def test_a_shelf_brings_as_many_drives_again_behind_an_adapter_of_its_own() -> None:
    """All 24 bays are taken: 24 disks of 300 USD, the shelf 1,800, the adapter 250 and two cables of 60."""
    nas = spec.load("examples/nas-24-nightly", ["hosts.nas.tcp.wmem_max=256MiB", "transfer.tool.cc=8"])
    offered = fitting.options(fitting.Shop(nas, catalog.read(), exchange([]), "USD"), ["nas"])
    (shelf,) = (o for v in offered.choices.values() for o in v if "jbod" in o.what)
    assert shelf.price == 24 * 300 + 1800 + 250 + 2 * 60
    assert shelf.uses == (("hosts.nas.slots.spare", 1),)
    assert shelf.what.endswith("4 vdevs of 12")
    after = dtnsim.predict(nas.changed(shelf.overrides), samples=0)
    disks, lanes = ({s.station.name: s for s in after.stations}[f"nas.{n}"] for n in ("pool.disks", "sas-shelf.lanes"))
    before = {s.station.name: s for s in dtnsim.predict(nas, samples=0).stations}
    # twice the disks, and half of what the old adapter carried goes through the new one
    assert float(disks.station.capacity) == pytest.approx(
        2 * float(before["nas.pool.disks"].station.capacity), rel=0.05
    )
    assert lanes.demand_per_byte == pytest.approx(before["nas.sas.lanes"].demand_per_byte / 2, rel=1e-6)
    assert not [o for v in offered.choices.values() for o in v if o.what.startswith("lsi-9300-8e")]  # inside, no use


def test_many_small_files_go_as_one_archive_where_that_is_quickest(tmp_path: Path) -> None:
    """One stream of ssh has 2 MiB over 150 ms, 112 Mb/s; mscp has 32, of one file; tar makes it at 1.3 GB/s."""
    file = written(tmp_path / "far.yaml", tables("planning/tables")["a far path"])
    made = dtnsim.plan(str(file), target="500Mb/s", allow=["tools"], samples=16)
    assert made.chosen is made.tuned
    assert "transfer.archive=true" in made.chosen.overrides
    (win,) = (w for w in made.wins if "transfer.archive=true" in w.setting.overrides)
    assert "50 GB more room at each end" in win.setting.commands[0]
    same = dtnsim.predict(str(file), overrides=made.chosen.overrides, samples=16)
    assert same.throughput_Bps == made.chosen.prediction.throughput_Bps
    large = spec.load(file, ["transfer.dataset={files: 50, each: 1 GB}"])
    assert not [s for s in actions.settings(large, ["a"], 1e9, ("tools",), anew=True) if "archive" in s.what]


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """Two machines."""
    return str(written(tmp_path / "shop.yaml", tables("planning/tables")["two machines"]))


def test_a_machine_takes_the_place_of_another_with_the_data_on_its_volume(shop: str) -> None:
    made = dtnsim.plan("examples/dtn-100g-to-buy", target="80Gb/s", mine=["ours"], allow=["hosts"], catalog=shop,
                       confidence=0.5, samples=32, hints=False)  # fmt: skip
    assert made.chosen.name == "example-dtn-400g in its place, the data on its /buffer"
    assert made.chosen.price.amount == 30000
    assert "transfer.to=ours:/buffer" in made.chosen.overrides
    same = dtnsim.predict("examples/dtn-100g-to-buy", overrides=made.chosen.overrides, samples=32)
    assert same.throughput_Bps == made.chosen.prediction.throughput_Bps
    for bound in ({"budget": "20kEUR"}, {"max_watts": 500.0}):
        less = dtnsim.plan("examples/dtn-100g-to-buy", target="80Gb/s", mine=["ours"], allow=["hosts"], catalog=shop,
                           confidence=0.5, samples=32, hints=False, **bound)  # fmt: skip
        assert less.chosen is None
        assert not any("400g" in s.name for s in less.purchases)


def test_both_ends_get_machines_and_one_that_is_like_the_other_does_not_follow_it(shop: str) -> None:
    """Each end alone holds the path, so that no machine in one place helped; what is `like` another followed it."""
    raid = {"kind": "raid", "level": 6, "disks": 12, "of": "Seagate Exos X16"}
    volumes = {"/data": {"filesystem": "xfs", "array": raid, "size": "10 TB"}}
    server = {"like": "PowerEdge R740", "nic": "ConnectX-5 100G", "role": "dtn", "volumes": volumes}
    ends = {"from": "a:/data", "to": "b:/data", "tool": "gridftp -p 8 -cc 8 -fast"}
    plans = []
    for other in ({"like": "a"}, server):
        path = load({
            "hosts": {"a": server, "b": other},
            "wan": {"rtt": "60 ms", "bandwidth": "100 Gb/s", "loss": 0},
            "transfer": {**ends, "dataset": {"files": 500, "size": "9 TB"}},
        })  # fmt: skip
        made = dtnsim.plan(path, target="80Gb/s", allow=["tuning", "hosts"], catalog=shop, samples=16, hints=False)
        assert all(setting.what in made.verdict for setting in made.best.settings)
        for stage in made.purchases:  # what is printed makes the path that is rated, of the file as it is
            same = dtnsim.predict(path.changed(stage.overrides), samples=16)
            assert same.throughput_Bps.p50 == stage.rate
            named = [o for change in (*stage.settings, *stage.options) for o in change.overrides]
            assert [o for o in stage.overrides if not o.startswith("hosts.b={")] == named
        writes_out = any(o.startswith("hosts.b={") for s in made.purchases for o in s.overrides)
        assert writes_out is any(s.startswith("b is like another host") for s in made.sentences)
        assert any(s.settings for s in made.purchases if s.options)
        plans.append([(s.name, s.price, s.rate) for s in made.purchases])
    assert plans[0] == plans[1]
    both = "; ".join(f"{host}: example-dtn-400g in its place, the data on its /buffer" for host in "ab")
    assert (both, 60000) in [(name, price.amount) for name, price, _ in plans[0]]
    assert plans[0][-1][2] > 5 * plans[0][0][2]


def test_a_host_that_mounts_from_elsewhere_keeps_its_place(shop: str) -> None:
    made = dtnsim.plan(
        "venadi/gridftp-gpfs", target="20Gb/s", mine=["nersc"], allow=["hosts"], catalog=shop, samples=16, hints=False
    )
    assert any("nersc: mounts /project from elsewhere" in s for s in made.sentences)
    assert len(made.purchases) == 1


@pytest.mark.parametrize("tool", ["robocopy", "nfs"])
def test_a_machine_in_the_place_of_a_file_server_serves_from_its_own_volume(tool: str, shop: str) -> None:
    """A machine whose volumes have other names than the share was tried with the share's, which ended the plan."""
    share = {"filesystem": "xfs", "array": "any-nvme", "size": "1 TB"}
    hosts = {"pc": {"nic": "10GbE", "volumes": {"/in": "any-nvme"}}, "filer": {"nic": "1GbE", "volumes": {"/x": share}}}
    move = {"from": "filer:/x", "to": "pc:/in", "tool": tool, "dataset": {"files": 20, "size": "40 GB"}}
    path = load({"hosts": hosts, "wan": {"rtt": "0.2 ms", "bandwidth": "10 Gb/s"}, "transfer": move})
    made = dtnsim.plan(path, target="3Gb/s", allow=["hosts"], catalog=shop, samples=16, confidence=0.5, hints=False)
    assert made.chosen is not None
    assert made.chosen.overrides == ("hosts.filer=example-campus-25g", "hosts.pc.volumes./filer.server=filer:/data")
    assert dtnsim.predict(path.changed(made.chosen.overrides), samples=0).ceiling > 3e9 / 8


@pytest.mark.long
def test_a_second_machine_like_yours_shares_the_work(tmp_path: Path) -> None:
    shop = written(tmp_path / "shop.yaml", "items: {example-dtn-starter: {price: 5000 EUR, date: 2026-05-01}}\n")
    made = dtnsim.plan("examples/dtn-100g-to-buy", target="35Gb/s", mine=["ours"], allow=["hosts"], catalog=str(shop),
                       confidence=0.5, samples=32)  # fmt: skip
    assert made.chosen.price.amount == 5000
    assert "hosts.ours-2={like: ours}" in made.chosen.overrides
    assert made.chosen.rate == pytest.approx(2 * made.now.rate, rel=0.01)
