"""A fleet against queueing theory, against SimGrid, and against what must hold of any fleet."""

import csv
import heapq
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.description.workload import Retry
from dtnsim.simulation.fleet import transfer_layout as at
from dtnsim.simulation.fleet.faults import Fault
from dtnsim.simulation.fleet.transfer_layout import DONE, FAILED, GOING
from tests.engine import workloads
from tests.simulation.fleet.yard import course, ended

SIMGRID = Path(__file__).parents[2] / "engine" / "data" / "simgrid_332_1000.csv"


def poisson(n, rate, seed):
    return np.cumsum(np.random.default_rng(seed).exponential(1 / rate, n))


def within(values, expected, batches=40):
    """Whether a mean is what it should be, by the spread of the means of batches (3.5 sigma)."""
    values = values[len(values) // 10 :]
    means = np.array([b.mean() for b in np.array_split(values, batches)])
    error = means.std(ddof=1) / math.sqrt(batches)
    assert abs(values.mean() - expected) < 3.5 * error, (values.mean(), expected, error)
    assert error < 0.1 * expected


SIZES = {
    "exponential": lambda rng, n: rng.exponential(1.0, n),
    "equal": lambda rng, n: np.ones(n),
    "hyperexponential": lambda rng, n: rng.exponential(np.where(rng.random(n) < 0.1, 5.5, 0.5)),
}


@pytest.mark.parametrize("sizes", SIZES)
def test_sharing_is_insensitive_to_sizes(sizes):
    """M/G/1-PS: mean time in the system is E[S] / (1 - rho), whatever the distribution of sizes."""
    n, load = 12_000, 0.6
    ready = poisson(n, load, 1)
    size = SIZES[sizes](np.random.default_rng(2), n)
    within(ended(course([1.0], ready, size)) - ready, 1 / (1 - load))


def test_one_slot_is_a_queue():
    """M/M/1, first come first served: 1 / (mu - lambda)."""
    n, load = 20_000, 0.6
    ready = poisson(n, load, 3)
    size = np.random.default_rng(4).exponential(1.0, n)
    within(ended(course([math.inf], ready, size, slots=1)) - ready, 1 / (1 - load))


def test_waiting_for_slots_is_erlangs():
    """M/M/k: the share that waits is Erlang's C, the mean wait C / (k mu - lambda)."""
    n, k, a = 20_000, 4, 2.8
    ready = poisson(n, a, 5)
    size = np.random.default_rng(6).exponential(1.0, n)
    made = course([math.inf], ready, size, slots=k)
    ended(made)
    top = a**k / math.factorial(k) * k / (k - a)
    erlang = top / (sum(a**j / math.factorial(j) for j in range(k)) + top)
    wait = made.begun - ready
    within((wait > 0).astype(float), erlang)
    within(wait, erlang / (k - a))


def test_what_is_sent_again_is_a_queue_with_feedback():
    """Jackson's network of one node with feedback: sent again with probability p, the load is lambda / (mu (1 - p))."""
    n, load, again = 20_000, 0.4, 0.4
    ready, rng = poisson(n, load, 7), np.random.default_rng(8)
    size = rng.exponential(1.0, n)
    hurt = size * (rng.geometric(1 - again, n) - 1)
    rho = load / (1 - again)
    made = course([1.0], ready, size, hurt=hurt)
    within(ended(made) - ready, 1 / (1 - again) / (1 - rho))
    assert made.resent == pytest.approx(hurt)


def test_classes_at_one_station_have_the_product_form():
    """BCMP: classes of unlike sizes at one shared station; each has the mean number rho_c / (1 - rho) (Little)."""
    n, rates, sizes = 12_000, (0.5, 0.05), (0.6, 6.0)
    rng = np.random.default_rng(9)
    ready, lane = poisson(n, sum(rates), 10), (rng.random(n) < rates[1] / sum(rates)).astype(int)
    size = np.where(lane == 0, np.full(n, sizes[0]), rng.exponential(sizes[1], n))
    spent = ended(course([1.0], ready, size, rows=[{0: 1.0}, {0: 1.0}], lane=lane)) - ready
    for c in (0, 1):
        within(spent[lane == c], sizes[c] / (1 - rates[0] * sizes[0] - rates[1] * sizes[1]))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_slots_follow_the_recursion_of_kiefer_and_wolfowitz(seed, k):
    """G/G/k, first come first served, transfer by transfer."""
    rng = np.random.default_rng(seed)
    ready, size = np.cumsum(rng.exponential(0.3, 60)), rng.lognormal(0, 1, 60)
    free = [0.0] * k
    expected = []
    for time, service in zip(ready, size, strict=True):
        done = max(heapq.heappop(free), time) + service
        heapq.heappush(free, done)
        expected.append(done)
    assert ended(course([math.inf], ready, size, slots=k)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["w1", "w2"])
def test_finish_times_are_those_of_simgrid(name):
    starts, sizes, which, caps = getattr(workloads, name)(1000)
    order = np.argsort(starts, kind="stable")
    found = np.empty(1000)
    found[order] = ended(
        course(
            workloads.capacities(), np.array(starts)[order], np.array(sizes)[order], rows=workloads.rows(), own=1e300,
            lane=np.array(which)[order], cap=np.array(caps)[order],
        )
    )  # fmt: skip
    with SIMGRID.open() as file:
        table = list(csv.reader(line for line in file if not line.startswith("#")))
    column = table[0].index(name) if name in table[0] else ("w1", "w2").index(name) + 1
    rows = table[1:] if not table[0][0].isdigit() else table
    assert found == pytest.approx([float(r[column]) for r in rows], rel=1e-6, abs=1e-5)


# -- what must hold of any fleet ------------------------------------------------------------------
def scene(seed, transfers=30):
    """A small fleet with faults: (arguments of `course`, the faults)."""
    rng = np.random.default_rng(seed)
    ready = np.sort(rng.uniform(0, 40, transfers))
    size = rng.lognormal(1, 1, transfers)
    faults, now = [], 0.0
    while (now := now + rng.exponential(6.0)) < 60:
        k, lasts, factor = int(rng.integers(0, 3)), rng.exponential(2.0), float(rng.choice([0.0, 0.0, 0.5]))
        breaks = factor == 0 and bool(rng.random() < 0.7)
        faults += [Fault(now, ((k, factor),), breaks, True), Fault(now + lasts, ((k, 1.0),), False, False)]
        now += lasts
    faults.sort(key=lambda f: f.time)
    rows = [{0: 1.0, 1: 1.0}, {1: 1.0, 2: 0.5}, {0: 2.0}]
    return {
        "capacity": [2.0, 1.5, 1.0],
        "ready": ready,
        "size": size,
        "rows": rows,
        "lane": rng.integers(0, 3, transfers),
        "files": rng.integers(1, 6, transfers),
        "slots": int(rng.integers(1, 6)),
        "retry": Retry(
            times=int(rng.integers(0, 5)), after="1 s", most="8 s", restart=str(rng.choice(["byte", "file", "none"]))
        ),
        "faults": faults,
        "hurt": size * (rng.random(transfers) < 0.2),
    }


@given(st.integers(0, 10**6))
def test_bytes_are_conserved_through_every_fault(seed):
    """Moved = asked for + moved in vain, and the ways have carried what transfers have moved."""
    given_ = scene(seed)
    made = course(**given_)
    ended(made)
    carried = sum(sum(moved) for _, moved in made.hours)
    assert carried == pytest.approx(float(made.moved.sum()), rel=1e-9)
    work = made.work
    payload = np.minimum(work.size + work.damage.again_B - made.left(), work.size)
    assert made.moved == pytest.approx(payload + made.resent, rel=1e-9)
    assert payload[made.status == DONE] == pytest.approx(work.size[made.status == DONE])
    assert np.all(made.resent >= -1e-9)
    assert set(made.status.tolist()) <= {DONE, FAILED}
    assert np.all(made.tries[made.status == FAILED] == given_["retry"].times + 1)
    done = made.status == DONE
    assert np.all(made.ended[done] - made.begun[done] >= made.work.size[done] * (1 - 1e-9))  # never faster than alone
    for n in range(len(made.lanes)):  # nobody waits, and every place is free again
        lane = int(made.q[at.LANES]) + n * at.LANE
        assert made._kernel.size(made.h, int(made.q[lane + at.LANE_HEAP])) == 0
        assert [made.q[made.q[lane + k] + at.ACTIVE] for k in range(at.FOUR)] == [0] * at.FOUR


@given(st.integers(0, 10**6), st.integers(1, 29))
def test_a_later_transfer_changes_nothing_before_it(seed, cut):
    whole = scene(seed)
    part = {**whole, "ready": whole["ready"][:cut], "size": whole["size"][:cut], "lane": whole["lane"][:cut],
            "files": whole["files"][:cut], "hurt": whole["hurt"][:cut]}  # fmt: skip
    one, other = course(**whole), course(**part)
    ended(one), ended(other)
    before = other.ended < whole["ready"][cut]
    assert np.array_equal(one.ended[:cut][before], other.ended[before])
    assert np.array_equal(
        one.begun[:cut][other.begun < whole["ready"][cut]], other.begun[other.begun < whole["ready"][cut]]
    )


@given(st.integers(0, 10**6))
def test_nobody_is_overtaken_in_a_lane(seed):
    made = course(**{**scene(seed), "faults": ()})
    ended(made)
    for lane in range(3):
        begun = made.begun[made.work.lane == lane]
        assert np.all(np.diff(begun) >= 0)


@given(st.integers(0, 10**6))
def test_all_time_is_accounted_for(seed):
    """What held transfers adds up to the time from asking to the end."""
    made = course(**scene(seed))
    ended(made)
    assert sum(made.held_seconds.values()) == pytest.approx(float((made.ended - made.work.asked).sum()), rel=1e-6)


def test_what_is_let_go_was_held_by_what_held_it():
    """Two share station 2 until one ends; the other ends at its own cap, with 1 of its 2 bytes at 1/2 B/s."""
    made = course(
        [10.0, 10.0, 1.0], [0, 0], [1.0, 2.0], rows=[{0: 1.0, 2: 1.0}, {1: 1.0, 2: 1.0}], lane=[0, 1], own=0.8
    )
    assert ended(made) == pytest.approx([2.0, 3.25])
    assert made.held_seconds == pytest.approx({(0, 0): 1.25, (0, 2): 0.75, (1, 0): 2.5, (1, 2): 0.75})


def test_what_is_down_is_down():
    """A transfer in mid-way is broken off, backs off, finds the way still down, and goes on when it is back."""
    faults = [Fault(4.0, ((0, 0.0),), True, True), Fault(20.0, ((0, 1.0),), False, False)]
    made = course([1.0], [0.0], [10.0], files=[5], faults=faults, retry=Retry(after="2 s", factor=2))
    assert ended(made)[0] == pytest.approx(20 + 6)
    assert made.tries[0] == 1
    assert made.resent[0] == 0  # two files of five were whole
    assert made.held_seconds == pytest.approx({(0, 0): 10.0, (0, "back-off"): 2.0, (0, "down"): 14.0})


def test_a_short_outage_is_waited_out():
    faults = [Fault(4.0, ((0, 0.0),), False, True), Fault(6.0, ((0, 1.0),), False, False)]
    made = course([1.0], [0.0], [10.0], faults=faults)
    assert ended(made)[0] == pytest.approx(12.0)
    assert made.held_seconds == pytest.approx({(0, 0): 10.0, (0, "down"): 2.0})


def test_given_up_after_its_retries():
    faults = [f for n in range(3) for f in (Fault(5.0 * n + 1, ((0, 0.0),), True, True),
                                            Fault(5.0 * n + 2, ((0, 1.0),), False, False))]  # fmt: skip
    made = course([1.0], [0.0], [100.0], faults=faults, retry=Retry(times=2, after="1 s", factor=1, restart="none"))
    assert ended(made)[0] == 11.0
    assert made.status[0] == FAILED
    assert made.resent[0] == pytest.approx(1 + 4 + 4)


def test_fair_queues_serve_users_by_their_shares():
    """Two users with everything at once: the one with three shares has three of four slots."""
    ready, lane = np.zeros(80), np.repeat([0, 1], 40)
    made = course([math.inf], ready, np.ones(80), lane=lane, users=2, shares=[1.0, 3.0], slots=4, order="fair")
    made.run(6)
    active = [int(((made.status == GOING) & (lane == u)).sum()) for u in (0, 1)]
    assert active == [1, 3]
    first = course([math.inf], ready, np.ones(80), lane=lane, users=2, slots=4)
    first.run(1)
    assert [int(((first.status == GOING) & (lane == u)).sum()) for u in (0, 1)] == [4, 0]


def test_priorities_and_deadlines_go_first():
    ready = [0.0, 0.1, 0.2, 0.3]
    rows = [{0: 1.0}] * 2
    made = course([math.inf], ready, [1.0] * 4, rows=rows, lane=[0, 0, 1, 1], slots=1, priorities=[0, 1])
    ended(made)
    assert np.argsort(made.begun).tolist() == [0, 2, 3, 1]
    made = course([math.inf], ready, [1.0] * 4, due=[9, 30, 20, 10], slots=1, order="deadline")
    ended(made)
    assert np.argsort(made.begun).tolist() == [0, 3, 2, 1]


def test_users_have_limits():
    made = course([math.inf], np.zeros(9), np.ones(9), user_limit=3)
    assert ended(made) == pytest.approx(np.repeat([1.0, 2.0, 3.0], 3))


@pytest.mark.parametrize(("by_load", "expected"), [(False, [0, 1, 0, 1]), (True, [0, 1, 1, 1])])
def test_hosts_behind_an_endpoint(by_load, expected):
    """Round robin takes turns; else the one with the fewest transfers, the next in turn of equals."""
    made = course([math.inf], [0, 0.1, 2, 3], [9, 1, 0.5, 1], hosts=2, by_load=by_load)
    ended(made)
    assert [made.ways[w].source for w in made.way] == expected


def test_nothing_begins_over_what_is_down():
    rows = [{0: 1.0}]
    made = course(
        [1.0, 1.0],
        [0.0, 1.0, 5.0],
        [1.0] * 3,
        rows=rows,
        hosts=1,
        faults=[Fault(0.5, ((0, 0.0),), False, True)],
        until=50,
    )
    ended(made)
    assert math.isnan(made.begun[1])
    assert made.held_seconds[0, "down"] == pytest.approx(49.5 + 49 + 45)
