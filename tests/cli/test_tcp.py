"""``dtnsim tcp`` and `tcp_calculator`: one answer, tables, coefficients, bad input as one line with exit code 2."""

import csv
import io
import json
import math
import re

import pytest

import dtnsim
from dtnsim.cli import _table
from dtnsim.ground.errors import InputError, SpecError
from tests.conftest import Run
from tests.each import cases, rows
from tests.strategies import written

ONE = ["tcp", "--rate", "1Gb/s", "--rtt", "50ms"]
HEADER = "rate_bps,rtt_s,cc,buffer_bdp,loss_prob,streams,size_bytes,warmup_s,duration_s,flow2_cc,note\n"


def test_an_answer_for_people(run):
    code, out, err = run(*ONE, "--loss", "1e-5", "--streams", "4", "--buffer", "0.5bdp", "--window", "8MiB")
    assert code == 0
    assert not err
    for word in ("goodput", "limit", "buffers", "nothing to set", "loss:", "streams:", "pacing:", "change first"):
        assert word in out
    assert "RTT 50 ms (" in out
    assert "the path has 1e-05" in out


@cases("given, overflows", rows("cli/tables", "what_a_path_without_loss_resends_overflowed_its_buffer"))
def test_what_a_path_without_loss_resends_overflowed_its_buffer(run: Run, given: list[str], overflows: bool) -> None:
    said = next(x for x in run("tcp", "--rtt", "50ms", "--rate", *given)[1].splitlines() if x.startswith("resent"))
    assert (said.split()[1] != "0") == overflows
    assert ("segments that overflowed" in said) == overflows
    assert ("never overflows the bottleneck's buffer" in said) == (not overflows)


def test_how_long_a_test_is_stands_beside_what_it_gave(run: Run) -> None:
    for given, said in (([], "30 s"), (["--duration", "2min"], "2 min"), (["--size", "10GB"], "85.44 s, from")):
        assert said in next(x for x in run(*ONE, *given)[1].splitlines() if x.startswith("duration"))


def test_the_advice_is_what_engineers_look_up(run):
    d = json.loads(run("tcp", "--rate", "10Gb/s", "--rtt", "100ms", "--mtu", "9000", "--json")[1])
    # 10 Gb/s at 100 ms: 125 MB of BDP; Linux 6.6 and later make 0.535 of a buffer window at MTU 9000
    assert d["socket_buffer_needed_B"] == pytest.approx(125e6 * 8948 / 9038 / d["window_share"])
    assert d["window_share"] == pytest.approx(0.535, abs=1e-3)
    assert d["streams_useful"] == 1
    d = json.loads(
        run(
            "tcp", "--rate", "10Gb/s", "--rtt", "100ms", "--cc", "reno", "--loss", "1e-5", "--duration", "2h", "--json"
        )[1]
    )
    rates = {e["streams"]: e["goodput_Bps"] for e in d["goodput_by_streams"]}
    assert max(rates) == d["streams_useful"] > 4
    assert rates[4] == pytest.approx(4 * rates[1], rel=0.05)
    assert d["loss_allowed"] < 1e-7  # Mathis: 2e-10 for 10 Gb/s on one stream in the long run (RFC 9438, section 5.2)
    large, small = (next(e["goodput_Bps"] for e in d["goodput_by_mtu"] if e["mtu_B"] == m) for m in (9000, 1500))
    assert large == pytest.approx(8948 / 1448 * small, rel=0.1)
    # a burst at four times the rate: three quarters of it must wait
    d = json.loads(run(*ONE, "--line-rate", "4Gb/s", "--json")[1])
    assert d["burst_unpaced_B"] == pytest.approx(0.75 * d["window_needed_B"])
    assert d["burst_paced_B"] <= 65536


def test_an_answer_for_programs(run):
    code, out, _ = run(*ONE, "--mtu", "9000", "--size", "10GB", "--json")
    d = json.loads(out)
    assert code == 0
    assert d["schema"] == "dtnsim.tcp/1"
    g = d["goodput_Bps"]
    assert g["p10"] <= g["p50"] <= g["p90"] <= 1.25e8
    assert d["completion_s"]["mean"] == pytest.approx(1e10 / g["mean"], rel=0.01)
    assert d["completion_s"]["mean"] > 1e10 / d["link_Bps"]
    assert d["limit"] == "link"
    assert d["input"]["window_B"] == 2**30  # RFC 7323
    assert d["input"]["mss_B"] == 8948
    # the bandwidth-delay product less framing, over the share of a buffer that is window
    assert d["socket_buffer_needed_B"] == pytest.approx(6.25e6 * 8948 / 9038 / d["window_share"])
    again = run(*ONE, "--mtu", "9000", "--size", "10GB", "--json")[1]
    assert again == out


def test_buffers_that_cannot_take_bursts_are_told(run):
    shallow = ["tcp", "--rate", "100Mb/s", "--rtt", "10ms", "--buffer", "0.1bdp"]
    out = run(*shallow)[1]
    assert "limit     buffer" in out
    assert "- bursts:" in out
    assert "- bursts:" not in run(*shallow, "--line-rate", "100Mb/s")[1]
    assert "- bursts:" not in run(*ONE)[1]
    assert json.loads(run(*shallow, "--json")[1])["bursts_fit"] is False


@pytest.mark.parametrize(("paced", "why"), [("--no-pacing", "buffer, in slow start;"), ("--pacing", "over and over")])
def test_what_overflowed_the_buffer_is_told(run, paced, why):
    """Into 5 MB unpaced bursts end slow start, after which the window climbs for longer than 30 s."""
    asked = ["tcp", "--rate", "10Gb/s", "--rtt", "50ms", "--buffer", "5MB", paced]
    assert why in next(line for line in run(*asked).out.splitlines() if line.startswith("resent"))
    assert json.loads(run(*asked, "--json").out)["input"]["paced"] is (paced == "--pacing")


def test_a_rate_is_that_of_the_wire_unless_it_counts_packets(run):
    """941.5 Mb/s of payload on gigabit Ethernet with timestamps, as predict has it; 990 with jumbo frames."""
    d, text = json.loads(run(*ONE, "--json").out), run(*ONE).out
    assert d["link_Bps"] * 8e-6 == pytest.approx(941.5, abs=0.1)
    assert d["goodput_by_mtu"][1]["goodput_Bps"] * 8e-6 == pytest.approx(1000 * 8948 / 9038, rel=0.02)
    assert d["goodput_Bps"]["p90"] <= d["link_Bps"]
    assert "link 941.5 Mb/s of payload (1 Gb/s on the wire, with Ethernet's framing;" in text
    assert json.loads(run(*ONE, "--ip", "--json").out)["link_Bps"] * 8e-6 == pytest.approx(965.3, abs=0.1)
    assert "965.3 Mb/s of payload (1 Gb/s of IP packets)" in run(*ONE, "--ip").out


def test_arithmetic_that_is_shown_is_what_was_done_and_a_small_buffer_is_blamed(run):
    out = run("tcp", "--rate", "100Gb/s", "--rtt", "60ms", "--socket-buffer", "16MiB").out
    shown = re.search(r"BDP ([\d.]+) MB of payload.*receive ([\d.]+) GB = BDP / ([\d.]+),", out, re.DOTALL)
    assert shown
    bdp, need, share = shown.groups()
    assert float(need) * 1e3 == pytest.approx(float(bdp) / float(share), rel=1e-3)
    assert "out of reach of a window of 10.48 MB in flight, 1.398 Gb/s with 1 stream, even without loss" in out


def test_coefficients(run):
    _, out, _ = run("tcp", "--coefficients", "--json")
    listed = json.loads(out)["coefficients"]
    assert {"name", "value", "unit", "fitted_rows", "reason"} <= set(listed[0])
    idle = next(c for c in listed if c["name"] == "host_delay")  # read off idle pings, chosen on no row
    assert idle["fitted_rows"] == 0
    _, text, _ = run("tcp", "--coefficients")
    assert all(c["name"] in text for c in listed)


def table(tmp_path, *lines, header=HEADER):
    return str(written(tmp_path / "cases.csv", header + "".join(f"{line}\n" for line in lines)))


def test_a_table_comes_back_with_its_columns_and_the_answers(run, tmp_path):
    path = table(
        tmp_path,
        "1e8,0.03,cubic,1,0,1,,5,20,,a link",
        "1e8,0.03,reno,1,1e-3,1,,5,20,,loss",
        "1e8,0.2,reno,1,0,1,1e6,,,,short",
        "5e7,0.03,cubic,1,0,1,,5,10,bbr,shared",
        "1e8,0.03,bbr,1,0,2,,5,20,,bbr",
    )
    code, out, _ = run("tcp", "--table", path)
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [r["note"] for r in rows] == ["a link", "loss", "short", "shared", "bbr"]
    assert [r["limit"] for r in rows] == ["link", "loss", "start", "sharing", "link"]
    assert float(rows[0]["predicted_goodput_bps"]) == pytest.approx(96.53e6, rel=0.01)
    # handshake and 6.5 round trips of 0.2 s
    assert float(rows[2]["predicted_completion_s"]) == pytest.approx(1.509, rel=0.01)
    assert rows[0]["predicted_completion_s"] == rows[0]["predicted_flow2_goodput_bps"] == ""
    assert float(rows[3]["predicted_flow2_goodput_bps"]) > float(rows[3]["predicted_goodput_bps"])
    for r in rows:
        assert float(r["predicted_p10_bps"]) <= float(r["predicted_goodput_bps"]) * 1.01
    out_file = tmp_path / "out.csv"
    assert run("tcp", "--table", path, "-o", str(out_file))[1] == ""
    assert out_file.read_text() == out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cases.csv", "out.csv"]  # nothing half-written stays


def test_a_table_as_json(run, tmp_path):
    code, out, _ = run("tcp", "--table", table(tmp_path, "1e8,0.03,cubic,1,0,1,,5,20,,x"), "--json")
    d = json.loads(out)
    assert code == 0
    assert d["schema"] == "dtnsim.tcp-table/1"
    assert d["rows"][0]["note"] == "x"


def test_output_that_cannot_be_written(run, refused, tmp_path):
    path = table(tmp_path, "1e8,0.03,cubic,1,0,1,,5,20,,x")
    kept = written(tmp_path / "there.csv", "old")
    for target in (tmp_path / "no" / "such.csv", tmp_path):
        assert "cannot be written" in refused("tcp", "--table", path, "-o", str(target))
    assert run("tcp", "--table", table(tmp_path, "1e8,-1,cubic,1,0,1,,5,20,,x"), "-o", str(kept))[0] == 2
    assert kept.read_text() == "old"


@pytest.mark.parametrize(("line", "says"), rows("cli/tables", "bad_rows"))
def test_bad_rows(refused, tmp_path, line, says):
    err = refused("tcp", "--table", table(tmp_path, "1e8,0.03,cubic,1,0,1,,5,20,,good", line))
    assert says in err
    assert "cases.csv:3" in err


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00junk\x80", b"a,b\n1,2\n", b"rate_bps,rtt_s,cc\n", b'rate_bps,"\n']
)
def test_junk_files(refused, tmp_path, content):
    path = tmp_path / "junk.csv"
    path.write_bytes(content)
    assert "junk.csv" in refused("tcp", "--table", str(path))


@pytest.mark.long
def test_long_answers_are_finite(run):
    for more in (["--duration", "30d"], ["--size", "10PB", "--loss", "1e-3"], ["--streams", "500"], ["--cc", "bbr3"]):
        code, out, _ = run(*ONE, *more, "--json")
        assert code == 0
        assert math.isfinite(json.loads(out)["goodput_Bps"]["mean"])


def test_the_call_and_the_command_agree(run: Run) -> None:
    asked = ["tcp", "--rate", "10Gb/s", "--rtt", "50ms", "--loss", "1e-5", "--streams", "8", "--buffer", "6MB"]
    said = json.loads(run(*asked, "--pacing", "--json").out)
    answer = dtnsim.tcp("10 Gb/s", "50 ms", loss=1e-5, streams=8, buffer="6 MB", pacing=True)
    wanted = {k: said["goodput_Bps"][k] for k in ("p10", "p50", "p90")}
    assert answer.goodput_Bps.as_dict() == pytest.approx(wanted, rel=1e-9)
    assert (answer.limit, answer.link_Bps) == (said["limit"], said["link_Bps"])
    assert answer.completion_s is None


def test_numbers_are_si_and_a_size_has_a_time() -> None:
    assert dtnsim.tcp(1.25e9, 0.05) == dtnsim.tcp("10 Gb/s", "50 ms", buffer="1 BDP")
    sized = dtnsim.tcp("1 Gb/s", "10 ms", size="1 GB")
    assert sized.completion_s.p50 > 8.0


@pytest.mark.parametrize(("given", "said"), rows("cli/tables", "what_tcp_cannot_use"))
def test_what_cannot_be_used(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        dtnsim.tcp(**{"rate": "1 Gb/s", "rtt": "10 ms", **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "said"), rows("cli/tables", "what_is_no_table_is_an_error_that_names_the_file"))
def test_what_is_no_table_is_an_error_that_names_the_file(tmp_path, text, said):
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(SpecError, match=rf"t\.csv.*{said}"):
        _table.read(str(path), ("a|c", "b"), "help")


def test_what_is_written_is_read_again(tmp_path):
    path = str(tmp_path / "t.csv")
    _table.write(["a", "b"], [{"a": "1", "b": "x,y", "c": "left out"}], path)
    assert _table.read(path, ("a",), "") == (["a", "b"], [{"a": "1", "b": "x,y"}])


def test_a_row_that_cannot_be_used_is_a_line_and_the_others_are_answered(run, tmp_path):
    path = tmp_path / "runs.csv"
    row = "scp,put,{options},100000000,0.05,1250000,{data},{files},{total},{cc}\n"
    good = {"options": "", "data": "C50", "files": "50", "total": "500000", "cc": "cubic"}
    wrong = [{"files": "3e-05"}, {"files": "3e-05", "data": "D"}, {"total": "3"}, {"cc": "foo"}, {"options": "-l x"}]
    header = "tool_key,direction,options,rate_bps,rtt_s,buffer_bytes,dataset,files,total_bytes,cc\n"
    path.write_text(header + "".join(row.format(**{**good, **change}) for change in [*wrong, {}, {"files": "1"}]))
    code, out, err = run("tools", "--table", str(path), "--samples", "0")
    told = [line["predicted_wall_s"] for line in csv.DictReader(io.StringIO(out))]
    assert code == 2
    assert told[:5] == [""] * 5
    assert float(told[5]) > float(told[6]) > 0.5, "50 files wait longer than one, which is no empty folder"
    for number, (line, said) in enumerate(zip(err.splitlines(), ("files", "files", "B", "cc", "x"), strict=True), 2):
        assert f"runs.csv:{number}: " in line
        assert said in line
    code, out, _ = run("tools", "--table", str(path), "--samples", "0", "--json")
    assert code == 2
    assert [("error" in line, line["predicted_wall_s"] == "") for line in json.loads(out)["rows"]] == [
        *[(True, True)] * 5,
        *[(False, False)] * 2,
    ]


@pytest.mark.parametrize(("rtt", "typed"), [("0.1ms", []), ("4ms", ["tcp_rmem", "tcp_wmem"])])
def test_no_buffers_are_typed_that_are_smaller_than_those_of_linux(run: Run, rtt: str, typed: list[str]) -> None:
    """232 kB hold 10 Gb/s over 0.1 ms, where Linux has 6 MiB by itself."""
    said = run("tcp", "--rate", "10Gb/s", "--rtt", rtt).out
    assert re.findall(r"net\.ipv4\.(tcp_[rw]mem)=", said) == typed
    assert ("nothing to set" in said, "limit     link" in said) == (not typed, True)
