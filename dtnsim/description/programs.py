"""Programs that read, compute and write: their steps become transfers that wait for each other."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator

from dtnsim.components.base import Model, empty, place, validate
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, Unit
from dtnsim.ground.yamlio import Mapping, mapping

_Bytes = Annotated[Quantity, Unit("B", low=1)]
_NUMBER: Final = "{instance}"


class ProgramStep(Model):
    """One step of a program: one of ``read``, ``write``, ``compute`` and ``release``.

    Attributes:
        read: File that is read into memory of the program, which keeps it until it is released.
        write: File that is written from that memory.
        compute: Time in which nothing is read or written.
        release: Gives all of that memory back, as the end of a process does.
        size: Bytes that are read or written.
        block: Bytes of one call.
    """

    read: str | None = None
    write: str | None = None
    compute: Annotated[Quantity, Unit("s")] | None = None
    release: bool = False
    size: _Bytes | None = None
    block: _Bytes | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        kinds = (self.read is not None, self.write is not None, self.compute is not None, self.release)
        if sum(kinds) != 1:
            raise ValueError("does one thing; write one of read, write, compute, release")
        if self.moves and self.size is None:
            raise ValueError("how many bytes?; write size: 20 GB beside it")
        if not self.moves and (self.size is not None or self.block is not None):
            raise ValueError("size and block belong to read and write; take them out")
        return self

    @property
    def moves(self) -> bool:
        """Whether it reads or writes."""
        return self.read is not None or self.write is not None


class Program(Model):
    """A program on one host, or several instances of it at once.

    Attributes:
        name: What its transfers are called after: ``name.1.read1``.
        host: Where it runs.
        instances: How many run at once; ``{instance}`` in a path is the number of each.
        steps: What it does, in order.
        start: When it begins.
        after: Transfers that must have finished before.
    """

    name: str
    host: str
    instances: Annotated[int, Field(ge=1, le=4096)] = 1
    steps: Annotated[list[ProgramStep], Field(min_length=1)]
    start: Annotated[Quantity, Unit("s")] | None = None
    after: list[str] = Field(default_factory=empty)

    @property
    def last_move(self) -> int:
        """Number of the last step that reads or writes; -1 where none does."""
        return max((n for n, step in enumerate(self.steps) if step.moves), default=-1)


def expanded(programs: object, at: tuple[str, int]) -> list[Mapping]:
    """The transfers of a path file's ``programs``."""
    if not isinstance(programs, list):
        raise SpecError("needs a list of programs", file=at[0], line=at[1], key="programs")
    transfers: list[Mapping] = []
    names: set[str] = set()
    for number, item in enumerate(programs):
        if not isinstance(item, Mapping):
            raise SpecError("needs name, host and steps", file=at[0], line=at[1], key=f"programs.{number}", value=item)
        program = validate(Program, item, key=f"programs.{number}")
        if program.name in names:
            where = {**place(item, "name"), "key": f"programs.{number}.name"}
            raise SpecError("is the name of two programs", **where, value=program.name, remedy="give each its own")
        names.add(program.name)
        if any(step.compute is not None for step in program.steps[program.last_move + 1 :]):
            where = {**place(item["steps"][-1]), "key": f"programs.{number}.steps.{len(program.steps) - 1}"}
            raise SpecError("nothing is read or written after it", **where, remedy="end with a read or a write")
        for instance in range(1, program.instances + 1):
            transfers += _transfers(program, instance, (item.file, item.line))
    return transfers


def _transfers(program: Program, instance: int, at: tuple[str, int]) -> Iterator[Mapping]:
    base = program.name if program.instances == 1 else f"{program.name}.{instance}"
    after, begins = list(program.after), program.start.value if program.start is not None else 0.0
    pause_s, held_B, done = 0.0, 0.0, Counter[str]()  # computing since then, memory that it holds, files by kind
    for step in program.steps:
        pause_s += step.compute.value if step.compute is not None else 0.0
        held_B = 0.0 if step.release else held_B
        if not step.moves:
            continue
        assert step.size is not None
        kind, path = ("read", step.read) if step.read is not None else ("write", step.write)
        done[kind] += 1
        held_B += step.size.value if kind == "read" else 0.0
        name, file = f"{base}.{kind}{done[kind]}", f"{program.host}:{str(path).replace(_NUMBER, str(instance))}"
        ends = (file, f"{program.host}:memory") if kind == "read" else (f"{program.host}:memory", file)
        tool: dict[str, Any] = {"name": "program"}
        if held_B:
            tool["holds"] = f"{held_B:.17g} B"
        if step.block is not None:
            tool["block"] = f"{step.block.value:.17g} B"
        transfer: dict[str, Any] = {"name": name, "from": ends[0], "to": ends[1], "tool": tool}
        transfer["dataset"] = {"files": 1, "size": f"{step.size.value:.17g} B"}
        if after:
            transfer["after"] = after
        if pause_s and after:
            transfer["pause"] = f"{pause_s:.17g} s"
        elif pause_s:
            begins += pause_s
        if begins:
            transfer["start"] = f"{begins:.17g} s"
        yield mapping(transfer, *at)
        after, pause_s, begins = [name], 0.0, 0.0
