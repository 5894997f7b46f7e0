"""NTttcp: ports, threads of each, connections of each thread."""


def test_connections_are_ports_times_threads_times_connections(tool, job):
    """The header's defaults: 16 ports, 4 threads, 1 connection, 60 s."""
    plan = tool("ntttcp").plan(job())
    assert (plan.steps[0].net.streams, plan.steps[0].net.sender.copies, plan.weight) == (64, 64, 64)
    assert tool("ntttcp", P="2", n="3", l="5").plan(job()).steps[0].net.streams == 30
    assert tool("ntttcp").timing(sized=False).seconds == 60
