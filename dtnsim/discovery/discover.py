"""`discover`: a host file from what a machine says of itself, with the source of every line and what is still open."""

import re
from dataclasses import dataclass
from pathlib import Path

from dtnsim.discovery import cards, hardware, mounts
from dtnsim.discovery.outputs import Outputs, Stated, Tree, below, collect, quoted, read, text, todos

_TRIAL = "{files: 1, size: 10 GB}"  #: files of the trial transfer


@dataclass(frozen=True, slots=True)
class Found:
    """What was found."""

    name: str  #: Name of the host.
    tree: Tree  #: Its description.
    notes: tuple[str, ...]  #: What a person has to describe.
    where: str  #: Where the outputs are from.

    @property
    def todos(self) -> int:
        """How many values are guesses."""
        return todos(self.tree) + len(self.notes)

    def host(self) -> str:
        """The host file."""
        return f"{self._head()}name: {quoted(self.name)}\n{text(self.tree)}"

    def path(self) -> str:
        """A path file that ``dtnsim predict -`` takes: a file of the host's first volume is read and written there."""
        # a volume for data before the root
        mount = max(below(self.tree, "volumes"), key=lambda at: (at != "/", -len(at)), default="/")
        place = f"{self.name}:{mount}"
        transfer = (
            f"transfer:\n  from: {quoted(f'{self.name}:/dev/zero')}\n  to: {quoted(place)}\n"
            f"  tool: {{name: dd, conv: fdatasync}}\n  dataset: {_TRIAL}\n"
        )
        return (
            f"{self._head()}name: {quoted(f'{self.name}, a trial write')}\n"
            f"hosts:\n  {quoted(self.name)}:\n{text(self.tree, 2)}{transfer}"
        )

    def _head(self) -> str:
        notes = "".join(f"# TODO: {note}\n" for note in self.notes)
        return f"# Written by dtnsim discover from {self.where}: behind each line where it is from\n{notes}"


def discover(folder: str | Path | None = None) -> Found:
    """Describes this machine, or that of outputs which ``collect.sh`` left in a folder, or people pasted in a file."""
    outputs = read(folder) if folder is not None else collect()
    processor = hardware.cpu(outputs)
    sockets, cores = (_count(processor, key) for key in ("sockets", "cores"))
    nics, slots = cards.cards(outputs)
    for slot in (below(slots, name) for name in slots):
        if "socket" in slot and _count(slot, "socket") >= sockets:
            del slot["socket"]  # several nodes in a socket
    volumes, notes = mounts.volumes(outputs)
    memory = hardware.memory(outputs, sockets)
    drawn = [*_drawn("cpu", processor, "cores clock", "LC_ALL=C lscpu"),
             *_drawn("memory", memory, "channels rate size", "dmidecode -t memory (root), free -g")]  # fmt: skip
    tree: Tree = {
        "source": Stated(f"dtnsim discover, {outputs.where}", ""),
        "cpu": processor or Stated("unknown", "no output says it"),
        "memory": memory or Stated("unknown", "no output says it"),
        **hardware.system(outputs),
        "slots": slots,
        "nics": nics,
        "volumes": volumes,
        "placement": cards.pinned(outputs, list(nics), sockets * cores),
        "tcp": hardware.tcp(outputs),
        "vm": hardware.vm(outputs),
    }
    return Found(_name(outputs), tree, (*drawn, *notes), outputs.where)


def _count(tree: Tree, key: str) -> int:
    item = tree.get(key)
    return item.value if isinstance(item, Stated) and isinstance(item.value, int) else 1


def _drawn(key: str, tree: Tree, needed: str, how: str) -> list[str]:
    left = [name for name in needed.split() if name not in tree and "part" not in tree]
    return [f"{key}: {', '.join(left)} not said and drawn: {how}"] if left else []


def _name(outputs: Outputs) -> str:
    name = outputs.texts.get("hostname", "").strip() or outputs.keyed("system").get("host", ("", ""))[0]
    name = name.partition(".")[0]
    return re.sub(r"[^A-Za-z0-9-]", "-", name).strip("-").lower()[:40] or "host"
