"""The outputs of a machine's own commands: collected here, or in a folder that came from elsewhere."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from dtnsim.ground.errors import InputError, LogError
from dtnsim.logs import read_text
from dtnsim.logs.measurement import Measurement

#: longest that all commands together may take, and the largest output that is read
_PATIENCE_S: Final = 60.0
_LARGEST_B: Final = 20_000_000
_WHOLE: Final = re.compile(r"[0-9]{1,18}")


def digits(text: str) -> bool:
    """Whether a text is a whole number of a size that a computer prints."""
    return _WHOLE.fullmatch(text) is not None


def script() -> str:
    """The shell script that collects them, for machines without Python."""
    return (resources.files("dtnsim.discovery") / "collect.sh").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Outputs:
    """Outputs by name, as `collect.sh` calls them.

    Attributes:
        texts: Name to text.
        where: What messages call the place.
    """

    texts: dict[str, str]
    where: str

    def lines(self, name: str) -> Iterator[tuple[int, str]]:
        """Lines of one output with their numbers from 1; nothing where it was not collected."""
        return enumerate(self.texts.get(name, "").splitlines(), 1)

    def keyed(self, name: str) -> dict[str, tuple[str, str]]:
        """Of ``path:value`` or ``key = value`` lines: key to (value, where it stands)."""
        found: dict[str, tuple[str, str]] = {}
        for number, line in self.lines(name):
            key, mark, value = line.partition(" = ") if " = " in line else line.partition(":")
            if mark:
                found.setdefault(key.strip(), (value.strip(), f"{name}:{number}"))
        return found

    def measured(self, name: str) -> list[Measurement]:
        """What the parser of that command reads from an output; nothing where it was not collected."""
        try:
            return read_text(self.texts[name])[0] if name in self.texts else []
        except LogError:  # empty, or no text
            return []


def read(folder: str | Path) -> Outputs:
    """Outputs that `collect.sh` has left in a folder.

    Raises:
        InputError: there is no such folder, or nothing of it is an output.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"--from: there is no folder {place}; make one with: sh collect.sh {place}")
    texts = {}
    for file in sorted(place.iterdir()):
        name = file.name.removesuffix(".txt").removesuffix(".json")
        if file.is_file() and file.stat().st_size <= _LARGEST_B:
            texts[name] = file.read_text(encoding="utf-8", errors="replace")
    if not {"lscpu", "meminfo", "lsblk", "net", "lspci", "mounts"} & texts.keys():
        raise InputError(f"--from: {place} holds no output of collect.sh; 'dtnsim discover --script' prints it")
    return Outputs(texts, str(place))


def collect() -> Outputs:
    """Runs the script on this machine; what a command lacks or refuses is left out.

    Raises:
        InputError: there is no shell, or nothing could be collected.
    """
    with tempfile.TemporaryDirectory(prefix="dtnsim-") as folder:
        try:
            done = subprocess.run(  # noqa: S603 - this package's own script
                ["sh", "-s", folder],  # noqa: S607 - the shell that there is
                input=script(), text=True, capture_output=True, timeout=_PATIENCE_S, check=False
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"discover: this machine cannot be asked: {error}; use --from DIR") from None
        if done.returncode not in (0, 1):
            raise InputError(f"discover: this machine cannot be asked: {done.stderr.strip()[:200]}; use --from DIR")
        return Outputs(read(folder).texts, "this machine")
