"""`calibrate` and `validate` as commands: files written whole or not at all, codes, one document."""

import json
import re
from pathlib import Path

import pytest

from dtnsim.cli import app
from dtnsim.ground import library, output, yamlio
from dtnsim.ground.errors import InputError, ModelError
from dtnsim.ground.units import parse
from dtnsim.steady.prediction import predict
from tests.each import rows
from tests.strategies import written

pytestmark = pytest.mark.long

CALIBRATION = library.root("calibration")
LOGS = CALIBRATION / "venadi" / "logs"


def run(*arguments: str) -> object:
    command = app(list(arguments))
    return command(args=list(arguments), standalone_mode=False)  # type: ignore[operator]


def test_logs_to_prediction_and_the_same_bytes_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for file in made:
        run("calibrate", str(LOGS / "dd.txt"), "--host", "venadi", "-o", str(file))
    shown = capsys.readouterr().out
    assert "6 figures" in shown
    assert "dd.txt:21" in shown
    assert made[0].read_bytes() == made[1].read_bytes()
    fitted = yamlio.plain(made[0])
    assert fitted["schema"] == "dtnsim.calibration/1"
    rate = fitted["parameters"]["venadi"]["volumes./.array.of.write_compressed"]
    # 10 GiB in 92.9 s, 3.5 of them into memory: 120 MB/s; the log line stands in the source
    assert float(rate["value"].split()[0]) == pytest.approx(120, rel=0.05)
    assert "dd.txt:16" in rate["source"]
    answer = predict("venadi/dd-boot-fdatasync", calibration=made[0])
    assert answer.ceiling == pytest.approx(115.57e6, rel=0.03)
    told = [s.station.source for s in answer.stations if s.station.name == "venadi.root.ssds"]
    assert "fit: " in told[0]


def test_a_drive_that_is_none_of_the_host_file_is_refused(tmp_path: Path) -> None:
    """634 MB/s of drives that are said to write 3.8 GB/s: the prior is no answer, whatever its spread."""
    log, out = tmp_path / "dd.txt", tmp_path / "fitted.yaml"
    log.write_text(
        "$ dd if=/dev/zero of=/xfs/test bs=1M count=50000 oflag=direct\n50000+0 records in\n50000+0 records out\n"
        "52428800000 bytes (52 GB, 49 GiB) copied, 82.7 s, 634 MB/s\n"
    )
    says = r"measured 633\.96 MB/s; the host's parts give 6175\.. MB/s\. .*your drive is no samsung-pm9a3.*--free write"
    with pytest.raises(ModelError, match=says) as found:
        run("calibrate", str(log), "--host", "example-dtn-100g", "-o", str(out))
    assert found.value.exit_code == 1
    assert not out.exists()
    run("calibrate", str(log), "--host", "example-dtn-100g", "--free", "write", "-o", str(out))
    fitted = yamlio.plain(out)["parameters"]["example-dtn-100g"]["volumes./xfs.array.of.write"]
    assert parse(fitted["value"], "B/s") == pytest.approx(321e6, rel=0.01)


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    run("calibrate", str(LOGS / "dd.txt"), "--host", "venadi", "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "dtnsim.calibration/1"
    assert document["error"]["before"]["median"] > document["error"]["after"]["median"]


def test_a_site_with_several_transfers_at_once_is_fitted(capsys: pytest.CaptureFixture[str]) -> None:
    run("calibrate", str(CALIBRATION / "nasa"), "--host", "nasa-c-system", "--json")
    document = json.loads(capsys.readouterr().out)
    assert parse(document["error"]["after"]["median"], "1") < 0.02


@pytest.mark.parametrize("line", rows("evidence/tables", "bad_input_of_a_fit"))
def test_bad_input_leaves_the_old_file(tmp_path: Path, line: str) -> None:
    arguments = line.replace("LOGS", str(LOGS)).replace("CALIBRATION", str(CALIBRATION)).split()
    old = written(tmp_path / "fitted.yaml", "old")
    more = ("-o", str(old)) if arguments[0] == "calibrate" else ()
    with pytest.raises(InputError) as raised:
        run(*arguments, *more)
    assert raised.value.exit_code == 2
    assert old.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["fitted.yaml"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = written(tmp_path / "fitted.yaml", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output.os, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        run("calibrate", str(LOGS / "dd.txt"), "--host", "venadi", "-o", str(old))
    assert old.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["fitted.yaml"]


def test_a_host_is_asked_for() -> None:
    with pytest.raises(InputError, match="name the host that the logs come from: --host FILE"):
        run("calibrate", str(LOGS / "dd.txt"))


def few(tmp_path: Path) -> Path:
    return written(
        tmp_path / "cases.yaml",
        "schema: dtnsim.cases/1\nsite: few\ncases:\n"
        "  - {id: one, path: venadi/dd-boot-nosync, measured: 3.097 GB/s, role: fit, tool: dd}\n"
        "  - {id: two, path: venadi/gridftp-gpfs, measured: 1.559 GB/s, role: blind, tool: gridftp}\n",
    )


def test_validate_prints_writes_and_emits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = few(tmp_path)
    run("validate", str(file), "--samples", "16")
    assert re.search(r"^all +blind +1 ", capsys.readouterr().out, re.MULTILINE)
    run("validate", str(file), "--samples", "16", "--json")
    assert json.loads(capsys.readouterr().out)["summary"]["blind"]["n"] == 1
    page = tmp_path / "page.html"
    run("validate", str(file), "--samples", "16", "--html", str(page))
    assert "<svg" in page.read_text()


def test_validate_without_calibration_uses_the_priors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = few(tmp_path)
    run("validate", str(file), "--samples", "0", "--json", "--calibration", "none")
    bare = json.loads(capsys.readouterr().out)["cases"][0]
    assert abs(bare["error"]) > 0.05


def test_the_host_file_given_is_what_is_fitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not the shipped host of its name: from logs, and from cases whose paths name the shipped one."""
    mine = written(tmp_path / "mine.yaml", "like: venadi\nstack: {zero_byte: {value: 0.3 cycles/B, spread: 30 %}}\n")
    cases = written(
        tmp_path / "cases.yaml",
        "schema: dtnsim.cases/1\nsite: few\ncases:\n"
        "  - {id: one, path: venadi/dd-boot-nosync, measured: 3.097 GB/s, role: fit, tool: dd}\n",
    )
    for source in (LOGS / "dd.txt", cases):
        run("calibrate", str(source), "--host", str(mine), "--json")
        keys = json.loads(capsys.readouterr().out)["parameters"]["venadi"]
        assert keys["stack.zero_byte"]["prior"] == {"value": "0.3 cycles/B", "spread": "30 %"}, source
        run("calibrate", str(source), "--host", "venadi", "--json")
        keys = json.loads(capsys.readouterr().out)["parameters"]["venadi"]
        assert keys.get("stack.zero_byte", {}).get("prior") != {"value": "0.3 cycles/B", "spread": "30 %"}, source
