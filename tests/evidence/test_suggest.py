"""Suggested tests: they determine what they say, the script is plain sh, and its logs fit the host."""

import math
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dtnsim.evidence import fit_logs, suggest
from dtnsim.evidence.fit import fit
from dtnsim.evidence.fit_targets import Target, Targets
from dtnsim.evidence.suggest import Suggestion
from tests.each import tables
from tests.evidence.test_fit_targets import HOST
from tests.strategies import written

FIO = tables("evidence/tables")["fio stands in"]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    """A host whose two volumes are folders here, with room for 1 GB."""
    folder = tmp_path_factory.mktemp("host")
    text = HOST.format(name="my").replace("/data:", f"{folder}/data:\n    size: 640 MiB")
    (folder / "my.yaml").write_text(text.replace("/fast:", f"{folder}/fast:\n    size: 640 MiB"))
    for name in ("data", "fast"):
        (folder / name).mkdir()
    return Targets([str(folder / "my.yaml")]).all[0]


@pytest.fixture(scope="module")
def chosen(target: Target) -> tuple[list[Suggestion], list[str]]:
    return suggest.suggest(suggest.candidates(target), target.name)


def test_random_reads_one_at_a_time_say_what_an_access_takes(chosen: tuple[list[Suggestion], list[str]]) -> None:
    by_key = {key.rsplit("/", 1)[-1]: s.test for s in chosen[0] for key in s.determines}
    assert "--rw=randread --bs=4k --iodepth=1 on" in by_key["fast.array.latency_read"].words
    assert by_key["data.array.of.rate"].words.startswith(
        ("fio --rw=write --bs=1M", "dd bs=1M", "fio --rw=read --bs=1M")
    )
    assert "stack.receive_byte" in chosen[1]  # no test of a volume says anything of the network


def test_every_test_determines_something_new_and_fewer_do_not_do(chosen: tuple[list[Suggestion], list[str]]) -> None:
    keys = [key for s in chosen[0] for key in s.determines]
    assert len(keys) == len(set(keys)) >= 6
    assert all(s.determines for s in chosen[0])
    assert len(chosen[0]) < 24  # of twelve tests on each of two volumes


@pytest.mark.long
def test_what_is_known_is_not_asked_again(target: Target, chosen: tuple[list[Suggestion], list[str]]) -> None:
    figures = [s.test.figure for s in chosen[0]]
    model = suggest.Model(figures, [target.name])
    stated = model.ratios([[0.0] * len(model.parameters)])[0]
    run = [
        replace(f, case=replace(f.case, id=str(n), measured=math.exp(r)))
        for n, (f, r) in enumerate(zip(figures, stated, strict=True))
    ]
    again, _ = suggest.suggest(suggest.candidates(target), target.name, fit(run, [target.name]))
    asked = {key for s in again for key in s.determines}
    assert len(asked) <= 2 < len({key for s in chosen[0] for key in s.determines})


def test_the_script_runs_and_its_logs_fit_the_host(
    tmp_path: Path, target: Target, chosen: tuple[list[Suggestion], list[str]]
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "fio").write_text(FIO)
    (tmp_path / "bin" / "fio").chmod(0o755)
    script = written(tmp_path / "suggested.sh", suggest.script(*chosen, target.name, "my.yaml"))
    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0
    done = subprocess.run(
        ["sh", str(script), str(tmp_path / "logs"), "1"],
        env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin:/usr/sbin:/sbin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not [f for v in target.host.volumes for f in Path(v).iterdir()]  # test files are gone
    logs = sorted((tmp_path / "logs").glob("*.log"))
    assert len(logs) == len(chosen[0])
    found, notes = [], []
    for log in logs:
        figures, more, _ = fit_logs.read([log], str(Path(next(iter(target.host.volumes))).parent / "my.yaml"))
        found += figures
        notes += more
    assert len(found) == len(chosen[0]), notes


def test_no_room_is_said_and_skipped(
    tmp_path: Path, target: Target, chosen: tuple[list[Suggestion], list[str]]
) -> None:
    text = suggest.script(chosen[0][:1], [], target.name, "my.yaml")
    script = written(tmp_path / "suggested.sh", text.replace("begin ", "begin /nowhere"))
    done = subprocess.run(["sh", str(script), str(tmp_path / "logs"), "1"], capture_output=True, text=True, check=False)
    assert "has no" in done.stderr
    assert not list((tmp_path / "logs").glob("*.log"))


def test_the_slots_of_a_board_are_asked_for_once(tmp_path: Path) -> None:
    (tmp_path / "made.yaml").write_text(
        "board: asrock-romed8-2t\ncpu: amd-epyc-7313p\nmemory: ddr4-3200-8ch-256g\n"
        "volumes: {/data: {filesystem: {kind: xfs}, array: samsung-970-evo}}\n"
    )
    ((_, names),) = suggest.for_hosts([str(tmp_path / "made.yaml")]).values()
    left = " ".join(names)
    assert "slots.s1.latency" in left
    assert "board." not in left
