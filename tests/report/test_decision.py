"""The first screen of an answer: the verdict, what holds it, what to do, what that gains and costs."""

import re
import shlex
from collections.abc import Sequence

import numpy as np
import pytest

import dtnsim
from dtnsim.ground import units
from dtnsim.ground.records import Prediction
from dtnsim.ground.uncertainty import often
from dtnsim.planning import swept
from dtnsim.report import text
from dtnsim.report.decision import _predicted_again, decide, share as share_of
from dtnsim.report.document import prediction_document
from dtnsim.steady import goals
from tests.each import rows
from tests.lab import answer, journey, machine, volume
from tests.report.test_text import DRIVE, shown


def carded(p: Prediction, wanted: Sequence[goals.Goal] = ()) -> list[str]:
    return shown(p, text.card, wanted=wanted).splitlines()


SCREENS = ["venadi/gridftp-gpfs", "examples/small-files-40ms", "examples/s3-upload-nas", "examples/nas-24-nightly",
           "examples/campus-25g-firewall", "examples/lustre-cluster-globus", "examples/smb-workstation",
           "uci/crashplan-cass"]  # fmt: skip


@pytest.mark.parametrize("path", SCREENS)
def test_a_card_is_one_screen_with_the_verdict_first(path: str) -> None:
    found = dtnsim.predict(path, samples=64)
    lines = carded(found)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    whole = " ".join(" ".join(lines).split())
    assert whole.startswith(found.name)
    assert units.show(found.throughput_Bps.p50, "B/s", digits=3) in " ".join(lines[1:4])
    labels = [line.split("  ")[0] for line in lines if line[:1].isalpha()]
    for label in ("held by", "do this", "gain", "price"):
        assert labels.count(label) == 1
    slowest = max(found.transfers, key=lambda t: t.duration_s.p50)
    assert f"[{slowest.bottleneck.station}]" in whole


@pytest.mark.parametrize("path", ["examples/nas-24-nightly", "esnet/anl-bnl"])
def test_the_gain_of_a_card_is_what_predict_says_of_the_change(path: str) -> None:
    """Every remedy is tried by the answer's own way: the same draws, with what it sets."""
    found = dtnsim.predict(path, samples=64, seed=3)
    made = decide(found)
    (typed,) = (line for line in made.does if "--set" in line)
    sets = re.findall(r"--set (\S+?)\)?(?= |$)", typed)
    again = dtnsim.predict(path, overrides=sets, samples=64, seed=3)
    assert made.better.throughput_Bps == again.throughput_Bps
    factor = again.throughput_Bps.p50 / found.throughput_Bps.p50
    assert factor > 1.1
    assert made.gains.startswith(f"{factor:.2g} times as fast: about ")
    assert f"at {units.show(again.throughput_Bps.p50, 'B/s', digits=3)}. Next limit: " in made.gains
    assert made.costs.startswith("nothing to buy")


def test_what_waits_for_its_hour_is_no_faster_with_anything() -> None:
    """The second of two short transfers begins an hour after the first: drives ten times as fast end it no sooner."""

    def two(drive: str) -> Prediction:
        host = machine(volumes={"/d": volume({"kind": "ssd", "read": drive, "write": drive})})
        moves = {"from": "a:/d", "to": "b:/d", "tool": "rsync", "dataset": {"files": 10, "size": "20 GB"}}
        transfers = [{"name": f"at {start}", "start": start, **moves} for start in ("0 s", "1 h")]
        return answer(journey(host, host, wan={"bandwidth": "100 Gb/s"}, transfers=transfers), samples=16)

    found = two("200 MB/s")
    assert decide(found).gains == "less than a tenth faster: the last transfer begins 60 min after the first"
    assert 1 < two("2 GB/s").throughput_Bps.p50 / found.throughput_Bps.p50 < 1.1


def test_a_goal_is_the_verdict_before_and_with_the_change() -> None:
    found = dtnsim.predict("examples/nas-24-nightly", samples=64)
    goal = goals.deadline("8h")
    lines = carded(found, [goal])
    before = goal.probability(found)
    only = "only " if share_of(before) != "in no run" else ""
    verdict = f"10 TB in 1,000 files by gridftp does NOT fit within 8 h ({only}{share_of(before)}): about"
    assert " ".join(lines[1:3]).startswith(verdict)
    assert " ".join(lines).count("within 8 h") == 3  # the verdict, now, with it
    now, after = (line for line in lines if "█" in line)
    assert before < 0.15
    assert now.endswith(f"within 8 h {share_of(before)}")
    share = goal.probability(decide(found).better)
    assert share > 0.8
    assert after.endswith(f"within 8 h in {share:.0%} of runs")


@pytest.mark.parametrize(("wanted", "label", "said"), rows("report/tables", "what_is_to_be_done_depends_on_the_goals"))
def test_what_is_to_be_done_depends_on_the_goals(wanted: list[list[str]], label: str, said: int) -> None:
    asked = [getattr(goals, kind)(text) for kind, text in wanted]
    found = dtnsim.predict("examples/small-files-40ms", samples=64)
    lines = carded(found, asked)
    assert sum(line.startswith(label) for line in lines) == 1
    assert sum(", probability " in line for line in lines) == said
    for goal in asked:
        if goal.required is not None:
            assert any(line.startswith("met: " if goal.met(found) else "missed: ") for line in lines)


@pytest.mark.parametrize(("path", "other"), rows("report/tables", "another_tool_is_named_where_one_may_be_chosen"))
def test_another_tool_is_named_where_one_may_be_chosen(path: str, other: bool) -> None:
    """Tests of the network and months of work have no other tool: ``dtnsim tools`` refuses them."""
    made = decide(dtnsim.predict(path, samples=16))
    assert any("dtnsim tools" in line for line in (*made.does, *made.others)) is other


def test_where_nothing_for_nothing_helps_it_says_what_does_and_what_a_part_costs() -> None:
    made = decide(dtnsim.predict("examples/nvme-dtn-local", samples=16))
    assert made.better is None
    assert [line.startswith("more or faster drives (hosts.") for line in made.does] == [True]
    assert made.costs.startswith("one more samsung-pm9a3 was 450 USD in 2023; 'dtnsim plan examples/nvme-dtn-local")
    port = decide(dtnsim.predict("examples/dtn-100g-to-buy", samples=16), [goals.target("20Gb/s")])
    assert port.costs.startswith("one more intel-xxv710-25g was 350 USD in 2023; ")  # the port holds TCP's connections
    assert "dtnsim plan examples/dtn-100g-to-buy --target 20Gb/s'" in port.costs  # what was asked for
    more = decide(dtnsim.predict("examples/dtn-100g-to-buy", samples=16), [goals.target("40Gb/s")])
    assert "alone NOT enough for 40 Gb/s" in more.gains  # so the price of one card is none of the answer
    assert more.costs.startswith("not known here: ")


def test_a_limit_of_a_phase_says_how_much_of_the_time() -> None:
    """Else 25 Gb/s that are full at half of that would look like a mistake."""
    assert decide(dtnsim.predict("examples/smb-workstation", samples=16)).gains.endswith("% of the time")


def test_one_file_is_not_told_to_be_more_files() -> None:
    for path in ("venadi/gridftp-gpfs", "examples/one-large-file"):
        made = decide(dtnsim.predict(path, samples=16))
        assert made.does
        assert "more files" not in " ".join(made.does)


def test_what_is_typed_is_a_command_a_line_and_none_is_folded() -> None:
    """Each line is a whole command for a shell: its host is a comment."""
    lines = [
        line.removeprefix("type").strip() for line in carded(dtnsim.predict("examples/campus-25g-firewall", samples=16))
    ]
    typed = [line for line in lines if "  # on campus" in line]
    assert [shlex.split(line, comments=True)[0] for line in typed] == ["modprobe", "sysctl", "sysctl"]
    assert all(len(shlex.split(line, comments=True)) == 3 for line in typed[1:])


def test_what_is_found_out_first_moves_the_median_most_and_less_of_the_same_is_no_other_way() -> None:
    """Requests at once of a bucket: 64 and 16 help, and 16 are not said beside 64."""
    disk = {"kind": "ssd", "read": "20 GB/s", "write": "20 GB/s"}
    bucket = {"filesystem": {"kind": "s3", "concurrency": 5}}
    host = {"cpu": {"cores": 16, "clock": "3 GHz"}, "nic": "100 Gb/s", "volumes": {"/d": {"array": disk}, "/b": bucket}}
    move = {"from": "h:/b", "to": "h:/d", "tool": "cp", "dataset": {"files": 20, "size": "2 TB"}}
    wan = {"rtt": "20 ms", "bandwidth": "100 Gb/s", "medium": "lab"}
    found = answer({"hosts": {"h": host}, "wan": wan, "transfer": move}, samples=64)
    made = decide(found)
    assert made.does[0] == "64 requests of /b at once"
    assert not any("16 requests" in way for way in made.others)
    far = sorted(found.assumed, key=lambda each: -each.moves)[:4]
    moved = [abs(np.log(found.assumed.medians([a])[0] / found.throughput_Bps.p50)).max() for a in far]
    assert made.measure[0].startswith(f"{far[int(np.argmax(moved))].key}, ")


def test_what_to_find_out_says_the_time_that_it_makes_of_it_and_whether_that_is_too_late() -> None:
    found = dtnsim.predict("examples/small-files-40ms", samples=64)
    (said, *_) = decide(found, [goals.deadline("8h")]).measure
    a = next(each for each in found.assumed if said.startswith(f"{each.key}, "))
    more = found.assumed.medians([a])[0, 0] / found.throughput_Bps.p50
    took = units.show(found.duration_s.p50 / more, "s", digits=2)
    assert said.endswith(f"taken as {a.value}; {took} with {a.low} (too late)")
    assert "too late" not in " ".join(decide(found, [goals.deadline("2d")]).measure)


def test_what_draws_have_otherwise_is_not_said_to_be_taken_at_its_best() -> None:
    """``taken as 0; 2.6 h with 0.0333`` beside an answer of 3.1 h: more of other traffic was faster than none."""
    move = {"from": "a:memory", "to": "b:memory", "tool": {"name": "gridftp", "p": 8}, "dataset": {"size": "1 TB"}}
    path = journey(wan={"bandwidth": "1 Gb/s", "rtt": "20 ms"}, transfer=move)
    said = [line for line in decide(answer(path, samples=128)).measure if line.startswith("wan.")]
    assert said
    assert all(re.search(r": drawn, 0 at best; ", line) for line in said), said
    wide = journey(machine(tcp={}), wan={"bandwidth": "10 Gb/s", "rtt": "80 ms", "loss": 0}, transfer=move)
    found = decide(answer(wide, samples=128)).measure  # who has larger buffers than Linux' is faster
    assert any("wmem_max, by" in line and ": drawn, 4 MiB in the ceiling; " in line for line in found), found


def test_a_card_of_several_transfers_says_what_holds_the_longest() -> None:
    transfers = [{"name": n, "from": "a:memory", "to": "b:memory", "tool": "iperf3"} for n in ("one", "two")]
    found = answer(journey(wan={"bandwidth": "10 Gb/s"}, transfers=transfers), samples=64)
    lines = carded(found)
    middle = units.show(found.throughput_Bps.p50, "B/s", digits=3)
    assert f"about {middle} ({often('runs')}: " in lines[1]
    assert [line.split()[0] for line in lines if line.startswith(("one", "two"))] == ["one", "two"]
    assert sum(line.startswith("held by ") for line in lines) == 1


@pytest.mark.parametrize(("nic", "draws"), [("10.2 Gb/s", 32), ("100 Gb/s", 64)])
def test_whether_many_transfers_are_faster_elsewhere_is_told_by_few_draws(nic: str, draws: int) -> None:
    host = machine(nic={"kind": "nic", "rate": nic, "mtu": "9000 B"})
    transfers = [{"name": f"t{n}", "from": "a:memory", "to": "b:memory", "tool": "iperf3"} for n in range(5)]
    wan = {"bandwidth": "10 Gb/s", "background": {"share": 0}}
    found = answer(journey(host, host, wan=wan, transfers=transfers), samples=64)
    better = _predicted_again(found, found.given, frozenset({"network.wan"}))
    assert len(better.drawn.rates_Bps) == draws


def test_text_document_and_sweep_say_that_the_longest_transfer_is_what_holds_the_path() -> None:
    """The first of two was the answer of --json, tools, compare and sweep; and small files alone at last were none."""
    scp = {"from": "b:memory", "to": "a:memory", "tool": "scp", "dataset": "1 GB in 9 files"}
    short, long = scp | {"name": "short"}, scp | {"name": "long", "after": ["short"], "dataset": "1 GB in 50000 files"}
    path = journey(wan={"bandwidth": "10 Gb/s", "rtt": "20 ms"}, transfers=[short, long])
    found = answer(path, samples=16)
    station = found.transfers[1].bottleneck.station
    assert station != found.transfers[0].bottleneck.station
    assert prediction_document(found)["bottleneck"]["station"] == station
    assert f"[{station}] (long, which takes longest)" in " ".join(" ".join(carded(found)).split())
    assert swept.rates(found.given).station == [station]


def test_headline_and_table_say_the_same_time_and_how_many_transfers_are_left_out() -> None:
    """Of an even number of scenarios, the middle time was another scenario's than the middle rate: 9.5 for 9.8 h."""
    transfers = [{"name": f"t{n}", "from": "a:memory", "to": "b:memory", "tool": "rsync"} for n in range(8)]
    path = journey(wan={"bandwidth": "10 Gb/s"}, transfers=[t | {"dataset": {"size": "9 TB"}} for t in transfers])
    found = answer(path, samples=4)
    lines = carded(found)
    (took,) = {re.split("  +", line)[2] for line in lines if re.match(r"t\d ", line)}
    assert f": about {took} (" in " ".join(lines)
    assert "3 more take no longer; -v shows them" in lines
    rate, time = found.throughput_Bps, found.duration_s
    assert [rate.p10 * time.p90, rate.p50 * time.p50, rate.p90 * time.p10] == pytest.approx([72e12] * 3)


@pytest.mark.parametrize(("processes", "cores"), [(1, "one core"), (4, "4 cores")])
def test_as_many_cores_hold_as_the_tool_has_processes(processes: int, cores: str) -> None:
    host = machine(cpu={"kind": "cpu", "cores": 16, "clock": "3 GHz"}, stack={"kind": "stack"})
    tool = {"name": "gridftp", "cc": processes}
    found = answer(journey(host, host, wan={"bandwidth": "1 Tb/s"}, tool=tool, dataset={"files": 8, "size": "1 TB"}))
    assert f"held by       {cores} of b's processor" in "\n".join(carded(found))


def test_threads_of_a_server_are_called_so() -> None:
    small = ["transfer.dataset=100000 files of 100 kB", "transfer.tool={name: rclone, transfers: 64}"]
    found = carded(dtnsim.predict("examples/lab-nas-nconnect", overrides=small, samples=16))
    assert any(line.startswith("held by       the threads of the NFS server on nas [nas.pool.nfsd]") for line in found)


@pytest.mark.parametrize(("path", "said"), [("esnet/lbl-anl-globus", True), ("venadi/gridftp-gpfs", False)])
def test_what_holds_for_a_part_of_the_time_says_so(path: str, *, said: bool) -> None:
    """Verification takes turns with the transfer: each is half of the time, so that more files at once help."""
    found = " ".join(" ".join(carded(dtnsim.predict(path, samples=16))).split())
    assert bool(re.search(r"\] for \d+% of the time, the phase 'transfer' \d+%", found)) is said


def test_times_of_a_sentence_are_in_one_unit() -> None:
    """0.16 to 1.1 s, and not 160 ms."""
    made = {"kind": "ssd", "read": "3 GB/s", "write": {"value": "3 GB/s", "spread": "200 %"}}
    moved = {"from": "n:memory", "to": "n:/d", "tool": "cp", "dataset": {"files": 1, "size": "1 GB"}}
    path = {"name": "t", "hosts": {"n": machine(volumes={"/d": volume(made)})}, "transfer": moved}
    assert re.search(rf"{often('runs')}: [\d.]+ to [\d.]+ s\)", " ".join(carded(answer(path, samples=64))))


def test_the_rate_of_files_without_bytes_is_in_files() -> None:
    host, tests = machine(volumes={"/d": volume(DRIVE, {"kind": "xfs"})}), {"files": 10_000, "each": "1 B"}
    p = answer(journey(host, start="a:/dev/zero", to="a:/d", tool="mdtest", dataset=tests), samples=16)
    rate = p.throughput_Bps.p50  # of one byte a file
    assert f"at {rate:,.0f} files a second" in " ".join(carded(p))


def test_a_rescan_has_a_time_and_files_a_second_but_no_rate_of_any_wire() -> None:
    host = machine(volumes={"/d": volume({"kind": "hdd", "rate": "200 MB/s"}, {"kind": "zfs"})})
    tool, data = {"name": "rsync", "changed": 0}, {"files": 1_000_000, "size": "1 TB"}
    path = journey(host, host, start="a:/d", to="b:/d", tool=tool, dataset=data, wan={"bandwidth": "1 Gb/s"})
    p = answer(path, samples=16)
    said = " ".join(carded(p))
    assert f"at {p.throughput_Bps.p50 / 1e6:,.0f} files a second" in said
    assert "b/s" not in said
    assert "--target" not in said
    assert "rates         those of all files, of which rsync sends 0%" in shown(p)
