"""JSON that is too long to hold is read in parts, with the same figures as a document that is held."""

import json
import tracemalloc

import pytest

from dtnsim.logs import _documents, _json_stream, _reader, read_text
from dtnsim.logs._documents import whole_part
from dtnsim.logs._json_stream import JsonStream
from dtnsim.logs._reader import LogReader

DD = "10240+0 records in\n10240+0 records out\n10737418240 bytes (11 GB) copied, 92.9101 s, 116 MB/s\n"


def iperf(seconds: int, streams: int, indent: str | None = "\t") -> str:
    """A document with the keys of ``iperf3 -J``."""
    one = {"seconds": 1.0, "bytes": 584580096, "bits_per_second": 4676492123.5, "note": 'a } in { a ] string [ \\"'}
    document = {
        "start": {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "num_streams": streams, "omit": 0}},
        "intervals": [
            {"streams": [{"start": t, **one}] * streams, "sum": {"start": t, "end": t + 1, **one}}
            for t in range(seconds)
        ],
        "end": {"sum_sent": {"seconds": seconds, "bytes": 1e9, "bits_per_second": 8e9, "retransmits": 3}},
    }
    return json.dumps(document, indent=indent)


def fio(jobs: int, bins: int) -> str:
    """A document with the keys of fio's JSON+."""
    read = {"io_bytes": 1000000, "bw": 976, "bw_bytes": 1000000, "iops": 244.0, "runtime": 1000}
    read["clat_ns"] = {"mean": 1.5, "bins": {str(n): n for n in range(bins)}}
    each = [{"jobname": f"job {n}", "error": 0, "read": read} for n in range(jobs)]
    return json.dumps({"fio version": "fio-3.36", "global options": {"bs": "1M"}, "jobs": each}, indent=2)


def prometheus(series: int, samples: int) -> str:
    """An answer of ``query_range``: the series are in an array two objects deep."""
    each = [
        {"metric": {"__name__": "node_network_receive_bytes_total", "device": f"eth{n}"},
         "values": [[1700000000 + 15 * t, str(t * 10**9)] for t in range(samples)]}
        for n in range(series)
    ]  # fmt: skip
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": each, "stats": {"a": 1}}})


def search(count: int) -> str:
    """An export of perfSONAR's archive as OpenSearch answers it."""
    result = {"throughput": 4e9, "succeeded": True}
    test = {"type": "throughput", "spec": {"source": "a", "dest": "b"}}
    hit = {"_index": "pscheduler_throughput", "_source": {"pscheduler": {}, "meta": {}, "test": test, "result": result}}
    return json.dumps({"took": 3, "hits": {"total": {"value": count}, "hits": [hit] * count}}, indent=1)


def short(monkeypatch, size: int = 3000) -> None:
    """Makes documents long that are not."""
    monkeypatch.setattr(_documents, "LARGEST", size)
    monkeypatch.setattr(_reader, "LONGEST_DOCUMENT", size)
    monkeypatch.setattr(_reader, "LONGEST_LINE", size)


def read(raw: bytes, piece: int) -> list:
    reader = LogReader("log")
    found = [r for at in range(0, len(raw), piece) for r in reader.feed(raw[at : at + piece])]
    return found + list(reader.finish())


@pytest.mark.parametrize("piece", [700, 4096, 1 << 20])
@pytest.mark.parametrize(
    "text",
    [iperf(40, 2), iperf(40, 2, None), fio(30, 30), json.dumps([{"device": "x"}] * 900, indent=1),
     prometheus(12, 40), search(30)],
    ids=["iperf3", "iperf3-line", "fio", "list", "prometheus", "opensearch"],
)  # fmt: skip
def test_parts_give_what_the_whole_gives(monkeypatch, text, piece):
    raw = (DD + text + "\n" + DD + text + "[root@dtn01 ~]$ dd if=/dev/zero of=x\n" + DD).encode()
    whole = read(raw, piece)
    short(monkeypatch)
    assert read(raw, piece) == whole
    assert next(r.line for r in whole if r.tool == "dd") == 3


def test_the_end_of_a_log_inside_a_long_document(monkeypatch):
    short(monkeypatch)
    records = read(iperf(40, 2)[:-900].encode(), 512)
    assert "ends inside it" in records[-1].why
    assert [r.status for r in records[:-1] if r.conditions.get("interval") is None] in ([], ["partial"])
    assert sum(1 for r in records[:-1] if r.conditions.get("interval")) >= 38


@pytest.mark.parametrize("indent", ["\t", None])
def test_what_stops_being_json_does_not_swallow_the_log(monkeypatch, indent):
    short(monkeypatch)
    text = iperf(20, 2, indent)
    broken = text[: len(text) // 2] + " # no JSON\n" + DD
    records = read(broken.encode(), 700)
    assert [r.line for r in records if getattr(r, "tool", "") == "dd"] == [broken.count("\n")] * 2
    assert sum("it is not valid" in getattr(r, "why", "") for r in records) == 1


def test_a_value_too_long_to_hold(monkeypatch):
    short(monkeypatch)
    monkeypatch.setattr(_json_stream, "LARGEST_VALUE", 20_000)
    records = read(fio(2, 5000).encode() + b"\n" + DD.encode(), 4096)
    assert any("is longer than" in getattr(r, "why", "") for r in records)
    assert [r.tool for r in records if getattr(r, "tool", "") == "dd"] == ["dd", "dd"]


@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_a_stream_in_pieces_of_any_size(step):
    text = json.dumps(
        {"a": [1, 2.5e3, "x\u20ac", None], "long": [{"b": [1]}, 12, -3.5, "]", [], {}], "z": 12}, indent=1
    )
    raw = text.encode() + b" tail"
    stream = JsonStream(1, {"long"})
    parts = [doc for at in range(0, len(raw), step) for doc in stream.feed(raw[at : at + step])]
    assert stream.ended
    assert not stream.why
    assert [e for doc in parts for e in doc.data.get("long", [])] == [{"b": [1]}, 12, -3.5, "]", [], {}]
    assert parts[-1].data == {"a": [1, 2.5e3, "x\u20ac", None], "z": 12}


@pytest.mark.parametrize("step", [1, 2, 5, 1000])
def test_an_array_that_objects_wrap(step):
    text = '{"took": 1, "hits": {"total": {"value": 3}, "hits": [{"a": 1}, 2], "max": 0}, "data": {"x": {}}, "z": []}'
    stream = JsonStream(1, {"hits.hits", "data.result"})
    raw = text.encode() + b" tail"
    parts = [doc for at in range(0, len(raw), step) for doc in stream.feed(raw[at : at + step])]
    assert stream.ended
    assert not stream.why
    assert [e for doc in parts for e in doc.data["hits"].get("hits", [])] == [{"a": 1}, 2]
    assert parts[0].data["hits"]["total"] == {"value": 3}
    assert parts[-1].data == {"took": 1, "hits": {"total": {"value": 3}, "max": 0}, "data": {"x": {}}, "z": []}


def test_a_long_last_value_without_final_newline(monkeypatch):
    """What the stream had put off until more would come is read at the end."""
    short(monkeypatch)
    text = prometheus(1, 400)
    records = read(text.encode(), 1000)
    assert {r.tool for r in records} == {"prometheus"}
    assert len(records) == 400


@pytest.mark.long
def test_a_long_document_needs_little_memory():
    text = iperf(500, 8).encode()
    start, end = text.index(b"[", text.index(b'"intervals"')) + 1, text.rindex(b"]", 0, text.rindex(b'"end"'))
    reader = LogReader("log")
    tracemalloc.start()
    count = 0
    for piece in (text[:start], *[text[start:end] + b","] * 24, text[start:]):
        for at in range(0, len(piece), 1 << 18):
            count += sum(1 for _ in reader.feed(piece[at : at + (1 << 18)]))
    count += sum(1 for _ in reader.finish())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 25 * 500 + 2
    assert peak < 60e6


def test_lines_of_many_intervals_are_found_in_one_pass():
    found, _ = read_text(iperf(300, 1))
    lines = [r.line for r in found if r.conditions.get("interval")]
    step = (lines[-1] - lines[0]) // 299
    assert lines == [lines[0] + step * n for n in range(300)]


def test_deep_nesting_is_refused_quickly():
    assert whole_part("[1," * 100_000) is None
    found, _ = read_text("[1,\n" * 100_000 + DD)
    assert [m.tool for m in found] == ["dd", "dd"]


@pytest.mark.parametrize("end", ["", "\n", " ", "[root@dtn01 ~]# ls\n", "$ \n", ",\n"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_result_without_final_newline_loses_nothing(end, indent):
    document = {"fio version": "fio-3.1", "jobs": [{"jobname": "a } b", "error": 0, "read": {
        "io_bytes": 1000000, "bw": 976, "bw_bytes": 1000000, "iops": 244.0, "runtime": 1000}}]}  # fmt: skip
    text = json.dumps(document, indent=indent)
    found, unread = read_text(text + end + DD + text + end)
    rates = [(m.tool, m.status) for m in found if m.quantity == "throughput"]
    assert sorted(rates) == [("dd", "complete"), ("fio", "complete"), ("fio", "complete")]
    assert not unread
