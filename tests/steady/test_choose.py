"""Which tool: the finding in a sentence."""

from __future__ import annotations

from typing import Any

from dtnsim.description.spec import PathSpec
from dtnsim.ground.records import Interval
from dtnsim.steady.choose import CANDIDATES, Choice, advice, candidates, choose
from dtnsim.steady.prediction import predict
from tests.lab import machine, volume
from tests.strategies import load


def found(**seconds: float) -> list[Choice]:
    """Candidates by the first word of their line, with what they take, the fastest first."""
    by_kind = {c.kind: c for c in reversed(CANDIDATES)}
    made = [Choice(by_kind[k], Interval(s, s, s), Interval(1.0, 1.0, 1.0), 1.0, "") for k, s in seconds.items()]
    return sorted(made, key=lambda c: c.duration_s.p50)


def test_the_path_s_own_tool_is_what_others_are_compared_with() -> None:
    choices = found(scp=24_000.0, rsync=40.0, gridftp=39.0)
    assert advice(choices, "rsync") == "rsync over ssh will do: no tool here is more than a tenth faster than its 40 s"
    assert advice(choices, "scp").startswith("with rsync over ssh the 6.7 h of scp become 40 s")
    assert advice(choices, "iperf3") == advice(choices, "scp") == advice(choices)


def test_a_hundred_seconds_have_no_exponent() -> None:
    assert advice(found(scp=300.0, rsync=104.0)) == "with rsync over ssh the 5 min of scp become 100 s"


def test_a_bucket_is_reached_by_tools_that_speak_s3() -> None:
    host = machine(volumes={"/bucket": volume(filesystem={"kind": "s3"}, over="wan"), "/d": volume()})
    made = {"name": "b", "hosts": {"n": host}, "wan": {"bandwidth": "10 Gb/s", "rtt": "70 ms", "loss": 0}}
    ends = {"from": "n:/bucket/a", "to": "n:/d"}
    given = load({**made, "transfer": {**ends, "tool": "cp", "dataset": {"files": 20, "each": "1 GB"}}})
    assert {c.kind for c in candidates(given)} == {"aws-s3", "s5cmd", "mc", "rclone"}
    able, refused = choose(given, samples=0)
    assert (len(able), refused) == (5, [])
    assert advice(able, "cp").startswith("with ")
    other = load(
        {**made, "transfer": {"from": "n:/d", "to": "n:/d/b", "tool": "cp", "dataset": {"files": 1, "size": "1 GB"}}}
    )
    assert candidates(other) is CANDIDATES


def test_predict_with_the_setting_of_a_row_gives_the_row() -> None:
    """Whatever a row says, and rclone without a backend: the protocol that the ends speak."""
    between = {
        "hosts": {n: machine(volumes={"/d": volume()}) for n in "ab"},
        "wan": {"bandwidth": "10 Gb/s", "rtt": "35 ms"},
    }
    store = machine(volumes={"/d": volume(), "/bucket": volume(filesystem={"kind": "s3"}, over="wan")})
    bucket = {"hosts": {"a": store}, "wan": {"bandwidth": "10 Gb/s", "rtt": "70 ms"}}
    ends = ((between, "a:/d", "b:/d"), (bucket, "a:/d", "a:/bucket"), (bucket, "a:/bucket", "a:/d"))
    for number, (around, start, to) in enumerate(ends):

        def path(tool: Any, around: Any = around, start: str = start, to: str = to) -> PathSpec:
            moved = {"from": start, "to": to, "tool": tool, "dataset": {"files": 40, "each": "300 MB"}}
            return load({"name": "p", **around, "transfer": moved})

        rows, _ = choose(path("bbftp"), samples=0)
        assert len(rows) >= 5
        for row in rows:
            again = predict(path(row.candidate.options or row.candidate.line), samples=0)
            assert again.duration_s.p50 == row.duration_s.p50, row.candidate.name
        plain = next(r for r in rows if r.candidate.name == ("rclone" if number else "rclone over sftp"))
        assert predict(path("rclone"), samples=0).duration_s.p50 == plain.duration_s.p50
