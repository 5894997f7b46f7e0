"""Does what was written for 0.1.0 still run? Its paths, hosts and commands, out of the history, with this checkout.

python .ci/upgrade.py    exit 1 where something that ran no longer does, and the changelog's notes do not say so;
                         77 where the history of 0.1.0 is not there, as in a shallow clone: nothing is tried

Paths of 0.1.0 are read as somebody's own files: with the library of today, and with the hosts of 0.1.0 beside them.
What is refused has to be refused in one line; `REFUSED` says which refusals are on purpose. The keys that 0.1.0
printed as JSON have to be there.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
#: the last commit of 0.1.0
COMMIT = "ba1d7ed^"
#: words of a refusal that the notes for those who come from 0.1.0 explain
REFUSED = ("a time or a number of bytes, not both",)
COMMANDS = """
predict venadi/gridftp-gpfs --json
explain venadi/gridftp-gpfs --json
simulate venadi/gridftp-gpfs --json
simulate venadi/gridftp-gpfs --set transfer.tool.p=4 --replicas 2
predict venadi/gridftp-gpfs --set wan.rtt=90ms --set hosts.venadi.nics.eth.rate=100Gb/s
predict venadi/gridftp-gpfs --samples 64 --seed 3
tcp --rate 10Gb/s --rtt 50ms --loss 1e-5
tcp --rate 10Gb/s --rtt 50ms --streams 4 --json
components
components nic
components connectx-5-100g
schema
logs calibration/venadi/logs/dd.txt
validate calibration/esnet
"""


def run(arguments: list[str]) -> tuple[int, str, str]:
    """A command in this process."""
    from dtnsim import cli

    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["dtnsim", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0, out.getvalue(), err.getvalue()
    finally:
        sys.argv = before
    return 0, out.getvalue(), err.getvalue()


def keys(document: Any, before: str = "") -> set[str]:
    """Every key of a document, of lists that of their first item."""
    if isinstance(document, list):
        return keys(document[0], f"{before}[]") if document else set()
    if not isinstance(document, dict):
        return set()
    return {f"{before}.{k}" for k in document}.union(*(keys(v, f"{before}.{k}") for k, v in document.items()))


def _file(folder: Path, host: object) -> object:
    """The file that a host of 0.1.0 is in, where it is one."""
    return f"old-{host}.yaml" if (folder / f"old-{host}.yaml").is_file() else host


def main() -> int:
    """Tries all; prints what no longer runs."""
    wrong: list[str] = []
    tried = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder)
        packed = subprocess.run(["git", "archive", COMMIT], cwd=ROOT, capture_output=True, check=False)
        if packed.returncode:
            print("SKIPPED: the history of 0.1.0 is not here, nothing is tried: git fetch --unshallow", file=sys.stderr)
            return 77  # as test harnesses say that a test did not run
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # before Python 3.11.4 there is none
            archive.extractall(old)
        os.chdir(ROOT)
        for line in COMMANDS.strip().splitlines():
            code, _, err = run(shlex.split(line))
            tried += 1
            if code:
                wrong.append(f"{line}: {err.strip()[-300:]}")
        mine = old / "mine"
        mine.mkdir()
        for host in (old / "models" / "hosts").glob("*.yaml"):
            (mine / f"old-{host.name}").write_bytes(host.read_bytes())
        for path in sorted((old / "models" / "paths").rglob("*.yaml")):
            text = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
            own = dict(text)
            own["hosts"] = {k: _file(mine, h) for k, h in text["hosts"].items()}
            for label, source in (("as it was", text), ("with its hosts", own)):
                (mine / "path.yaml").write_text(yaml.safe_dump(source, sort_keys=False))
                code, _, err = run(["predict", str(mine / "path.yaml"), "--samples", "16"])
                tried += 1
                if code == 2 and any(word in err for word in REFUSED):
                    refused += 1
                elif code:
                    wrong.append(f"{path.stem}, {label}: {err.strip()[-300:]}")
        probe = [sys.executable, "-m", "dtnsim", "predict", "venadi/gridftp-gpfs", "--json"]
        done = subprocess.run(
            probe, cwd=old, env={**os.environ, "PYTHONPATH": folder}, capture_output=True, check=False
        )
        if done.returncode == 0:
            gone = keys(json.loads(done.stdout)) - keys(json.loads(run(probe[3:])[1]))
            wrong += [f"--json has no {key}" for key in sorted(gone)]
        else:
            print("0.1.0 itself does not run with the packages that are here: its JSON is not compared")
    print(*wrong, sep="\n")
    print(f"{tried} of 0.1.0 tried: {len(wrong)} no longer run, {refused} are refused on purpose")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
