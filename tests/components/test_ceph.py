"""CephFS: objects in flight, copies and shards on OSDs, the nodes' ports."""

from hypothesis import given, settings, strategies as st

from tests.each import cases, rows
from tests.lab import journey, machine, problem, rate, sheet, volume

FREE = {"kind": "cephfs", "latency": "1 us", "share": "1", "metadata_time": "0 s"}


@settings(max_examples=10)
@given(st.integers(1, 5))
def test_more_copies_never_help_writers(replicas: int) -> None:
    def osds(copies: int) -> float:
        host = machine(volumes={"/c": volume(filesystem={**FREE, "replicas": copies})})
        tool, data = {"name": "iozone", "test": "write", "r": "1 MiB", "t": 1}, {"files": 1, "size": "100 TB"}
        return sheet(problem(journey(host, start="a:memory", to="a:/c", tool=tool, dataset=data))).rate("c.osds")

    assert osds(replicas + 1) < osds(replicas)


@cases("test, least, mean, most", rows("components/tables", "one_task_of_mdtest_as_printed"))
def test_one_task_of_mdtest_as_printed(test: str, least: float, mean: float, most: float) -> None:
    """Compare FileSystem with RBD, a text kept in a GitHub repository: mdtest -n 5000 -u -z 2 -i 3, CephFS on flash.

    Least, mean and most of three rounds; changes as its clients wait for them. What needs no message is
    within a factor of three: how fast the client is that answers it is not printed.
    """
    host = machine(volumes={"/c": volume(filesystem={"kind": "cephfs", "share": "1"})})
    tool = {"name": "mdtest", "test": test}
    made = journey(host, start="a:/c", to="a:/c", tool=tool, dataset={"files": 5000, "each": "1 B"})
    found = rate(made)
    if test in ("create", "remove"):
        assert least < found < most
    assert 1 / 3 < found / mean < 3
