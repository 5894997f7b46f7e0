"""What is typed for a change: on hosts, as options of a tool, and as options of this program."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath
from typing import Final

from dtnsim.composition.relief import sysctl_lines, tcp_of
from dtnsim.ground.quantity import Mixture
from dtnsim.ground.records import Prediction
from dtnsim.ground.uncertainty import Remedy

#: a setting of sysctl(8)
_SETTING: Final = re.compile(r"\S+=(?:'[^']*'|\S+)")


def option(way: Remedy) -> str:
    """A change as an option."""
    return " ".join(f"--set {shlex.quote(o)}" for o in way.overrides)


def typed(p: Prediction, way: Remedy) -> tuple[str, ...]:
    """A change as it is typed on its hosts, or as an option of the tool; empty where nobody can type it."""
    hosts = ((name, sysctl_lines(tcp_of(name, way.overrides), host.system)) for name, host in p.given.hosts.items())
    lines = [
        f"{one}  # {'ask those of' if name in of_others(p) else 'on'} {name}"
        for name, typed in hosts
        for line in typed
        for one in _each(line)
    ]
    return tuple(lines) or ((way.words.partition(": ")[2],) if way.words.startswith("more at once: ") else ())


def of_others(p: Prediction) -> set[str]:
    """Hosts that are other people's: servers that a tool fetches from, of whose ports nobody knows a thing."""
    served = {t.source_end.partition(":")[0] for t in p.given.transfers if t.tool.fetches}
    return {name for name in served if all(isinstance(c.rate, Mixture) for c in p.given.hosts[name].nics.values())}


def _each(line: str) -> list[str]:
    """A command for each setting of a line: short enough for a screen, and to be pasted."""
    head, given = line.split(" ", 2)[:2], _SETTING.findall(line)
    return [f"{' '.join(head)} {one}" for one in given] if head == ["sysctl", "-w"] else [line]


def path_of(p: Prediction) -> str:
    """What the commands call the path."""
    file = PurePath(p.given.file or "PATH") if p.given is not None else PurePath("PATH")
    shipped = file.parts[:2] == ("models", "paths")
    return shlex.quote(str(file.relative_to("models/paths").with_suffix("") if shipped else file))
