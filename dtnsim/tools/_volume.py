"""What benchmarks of one volume share: which end is the volume, and whether its data lie in memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, get_args

from pydantic import BeforeValidator

from dtnsim.components.access import Access, Finish, Thread
from dtnsim.ground.quantity import Quantity
from dtnsim.tools._common import needs_volume, reading, writing
from dtnsim.tools.plan import Job, Step

#: what an option is for that names the volume, or a file on it
ON_VOLUME: Final = "[HOST:]/data, in the place of the transfer's from and to"


def one_of(known: object, several: Mapping[str, Sequence[str]] = MappingProxyType({})) -> BeforeValidator:
    """Reads a word as other tools write it, ``randread`` for ``random-read``.

    Args:
        known: The option's ``Literal``.
        several: What the tool itself says for more than one of them, which is refused as any part of several words is.
    """
    words: tuple[str, ...] = get_args(known)

    def plain(text: str) -> str:
        text = re.sub(r"[-_ ]", "", text.lower()).replace("random", "rand").replace("readwrite", "rw")
        return text.removeprefix("sequential").removeprefix("seq")

    def read(given: object) -> object:
        if not isinstance(given, str) or given in words:
            return given
        asked = plain(given)
        same = [w for w in words if plain(w) == asked]
        near = same or several.get(given) or [w for w in words if asked and asked in plain(w)]
        if len(near) > 1:
            raise ValueError(f"means several things; write one of {', '.join(near)}")
        return same[0] if same else given

    return BeforeValidator(read)


def in_memory(job: Job) -> bool:
    """True where what was just written is still cached: the files take less than half of the memory."""
    return job.payload_B < 0.5 * job.memory_B


def read_access(
    job: Job,
    tool: str,
    thread: Thread,
    block: Quantity,
    *,
    workers: int = 1,
    direct: bool = False,
    random: bool = False,
    depth: int = 1,
    kept: bool = True,
) -> Access:
    """Reading the volume: the transfer's ``to`` where that is one, else its ``from``.

    ``kept`` says whether the tool leaves in the page cache what lies there.

    Raises:
        SpecError: neither end is a volume.
    """
    if job.destination != "volume":
        needs_volume(job, "source", tool)
    here = replace(job, source="volume")
    access = reading(here, thread, block, workers=workers, queue_depth=depth, finish="direct" if direct else "steady")
    assert access is not None
    return access.but(cached=kept and not direct and in_memory(job), random=random)


def write_access(
    job: Job,
    tool: str,
    thread: Thread,
    block: Quantity,
    *,
    finish: Finish,
    workers: int = 1,
    random: bool = False,
    rewrite: bool = False,
    depth: int = 1,
) -> Access:
    """Writing the transfer's ``to``.

    Raises:
        SpecError: it is no volume.
    """
    needs_volume(job, "destination", tool)
    access = writing(job, thread, block, workers=workers, finish=finish, queue_depth=depth)
    assert access is not None
    return access.but(random=random, rewrite=rewrite)


def with_read(job: Job, step: Step, access: Access) -> Step:
    """The step with its read at the end that `read_access` chose."""
    return replace(step, reread=access) if job.destination == "volume" else replace(step, read=access)
