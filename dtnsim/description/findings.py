"""All that is wrong in a path file at once: what is refused is taken out, and what is left is read again.

So no finding hides another, however early reading ends, and who adds a check need not think of the others.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from dtnsim.components.base import kinds, place, spot_of
from dtnsim.description.override import split_key
from dtnsim.description.transfer import written_tool
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping, mapping

#: times that a file is read at most, and one of more hosts and transfers than `_MANY`, which is not composed either
_ROUNDS, _FEW, _MANY = 40, 4, 100
_EACH: Final = 200  #: findings of one reading that are taken out each by itself
_GONE: Final = object()  #: where nothing stands any more
#: what stands in the place of what a transfer or a segment cannot be without
_INSTEAD: Final = {"tool": "rsync", "bandwidth": "10 Gb/s", "from": "memory", "to": "memory", "dataset": ""}
_OF_MOUNTS: Final = ("over", "server", "peer")  #: keys of a volume that belong to file systems with servers
#: keys as messages have them -> as files may have them
_SHORT: Final = {"nics": "nic", "hbas": "hba", "like": "machine", "stack": "kernel", "transfers": "transfer"}
_TRANSFERS: Final = (("transfer",), ("transfers",))
_JOINED: Final = ("wan", "links", "transfer", "transfers")

#: what a path that was read still has to pass: composing it (`dtnsim.steady.prediction`)
CHECKS: Final[list[Callable[[Any], object]]] = []

Steps = tuple[str | int, ...]


def everything(
    first: SpecError, raw: Mapping, overrides: Sequence[str], read: Callable[[Mapping, Sequence[str]], Any]
) -> SpecError:
    """An error with all that is wrong beside it, as ``read`` finds it, in the order of the file."""
    mended = _Mended(_copy(raw), list(overrides))
    findings: dict[object, SpecError] = {}
    error: SpecError | None = first
    spec = None
    many = sum(len(raw[key]) for key in ("hosts", "transfers") if isinstance(raw.get(key), dict | list)) > _MANY
    for _ in range(_FEW if many else _ROUNDS):
        if error is None or not mended.take_out(error.findings, findings, composed=spec is not None):
            break
        error = spec = None
        try:
            spec = read(_copy(mended.raw), mended.overrides)
            for check in () if many else CHECKS:
                check(spec)
        except SpecError as other:
            error = other
        except Exception:  # noqa: BLE001 - what stands in for something may lead where no file does: what was found holds
            break
    head, *rest = sorted(findings.values(), key=lambda e: (e.file != raw.file, e.line or 0)) or [first]
    return head.followed_by(rest)


class _Mended:
    """A path file without what was refused in it; ``gone`` are the steps to what was taken out or replaced."""

    def __init__(self, raw: Mapping, overrides: list[str]) -> None:
        self.raw, self.overrides = raw, overrides
        self.gone: list[Steps] = []
        hosts = raw.get("hosts")
        #: name of a host -> the key that it is written under
        self._written = dict(_names(hosts)) if isinstance(hosts, Mapping) else {}

    def take_out(self, errors: Sequence[SpecError], wrong: dict[object, SpecError], *, composed: bool) -> bool:
        """Takes out what errors of a reading are about, those of their own into ``wrong``; False where nothing was.

        Those of composing are no witness while something stands in for a part of a transfer.
        """
        changed, before = False, list(self.gone)
        places = [(error, *self._locate(error)) for error in errors[:_EACH]]
        wrong.update((("further", error.place), error) for error in errors[_EACH:])  # thousands that lack the same key
        for error, steps, rest in sorted(places, key=lambda each: bool(each[2])):  # those that are there come first
            full_steps = (*steps, *rest)
            if error.file is None and (error.key or "") != "--set":
                spot, _ = spot_of(self.raw, steps)
                error.file, error.line = spot.get("file"), spot.get("line")
            again = any(_within(full_steps, other) or _within(other, full_steps) for other in before)
            again |= composed and any(other[:1] in _TRANSFERS and other[-1] in _INSTEAD for other in before)
            if not again and not self._follows(error):
                error.key = self._as_written(error.key)
                same = (error.file, error.line, error.message, str(error.value), (rest or steps)[-1:])
                if rest and same in wrong:  # of what it is like
                    continue
                wrong.setdefault(same, error)
            changed |= self._without(error, steps, rest)
        return changed

    def _follows(self, error: SpecError) -> bool:
        """Whether it only misses something that was taken out."""
        names = {str(steps[-1]) for steps in self.gone if len(steps) > 2}
        hosts = {str(steps[1]) for steps in self.gone if steps[0] == "hosts" and len(steps) == 2}
        path = split_key(error.key or "")
        if any("filesystem" in steps for steps in self.gone) and (
            ("volumes" in path[:-1] and path[-1] in _OF_MOUNTS) or (path[-1] in ("from", "to") and error.value is None)
        ):
            return True  # another file system stands there
        if path == ["transfers"] and any(steps[0] == "workload" for steps in self.gone):
            return True  # those of a workload went with its hosts
        value = str(error.value)
        host = value.partition(":")[0]
        return (
            value in names or self._written.get(host, host) in hosts or not hosts.isdisjoint(split_key(error.key or ""))
        )

    def _as_written(self, key: str | None) -> str | None:
        """A key as the file has it: pc{1..2} for pc1, no number of the only transfer or segment."""
        head, _, rest = (key or "").partition(".")
        number, _, inner = rest.partition(".")
        one = {"transfers": "transfer", "wan": "wan"}.get(head, "")
        if number.isdigit() and isinstance(self.raw.get(one), dict | str):
            return f"{one}.{inner}".rstrip(".")
        for name, written in self._written.items():
            if head == "hosts" and name != written and (rest == name or rest.startswith(f"{name}.")):
                return f"hosts.{written}{rest.removeprefix(name)}"
        return key

    # -- where it is ---------------------------------------------------------------------------------------

    def _locate(self, error: SpecError) -> tuple[Steps, Steps]:
        """(steps to what is furthest along, steps that are not there) of what an error is about."""
        key = self._as_written(error.key) or ""
        if key.startswith("transfer "):  # by its name
            key = f"transfer.{key.partition('.')[2]}".rstrip(".")
        steps, rest = self._walk(key)
        if not steps and key != "--set":
            last = split_key(key)[-1:] or [""]
            spots = [s for s, spot in _places(self.raw, ()) if spot == (error.file or self.raw.file, error.line)]
            head, _, inner = key.partition(".")
            for names in ([head], last):
                match = next((s for s in spots if s[-1] in names), None)
                if match is not None:
                    return match, tuple(split_key(inner)) if names == [head] else ()
        return steps, rest

    def _walk(self, key: str) -> tuple[Steps, Steps]:
        where: Any = self.raw
        steps: list[str | int] = []
        while key:
            if isinstance(where, Mapping):
                step = max((k for k in where if key == k or key.startswith(f"{k}.")), key=len, default=None)
                head, _, rest = key.partition(".")
                if step is None and _SHORT.get(head) in where:  # nics.nic is nic, transfers.0 is transfer
                    step, key = _SHORT[head], rest if head in ("nics", "hbas", "transfers") else key
                    rest = key.partition(".")[2] if head in ("nics", "hbas", "transfers") else rest
                    key = f"{step}.{rest}" if rest else step
                elif step is None and head == "transfer" and where.get("transfers"):
                    step, key = "transfers", f"transfers.0.{rest}"
                if step is None:
                    break
                key = key[len(step) + 1 :]
                if step in ("wan", "transfers") and not isinstance(where[step], list) and key[:1].isdigit():
                    number, _, key = key.partition(".")
                    if isinstance(where[step], Mapping) and step == "transfers" and int(number) < len(where[step]):
                        key = f"{list(where[step])[int(number)]}.{key}"
            elif isinstance(where, list) and key.partition(".")[0].isdigit():
                number, _, key = key.partition(".")
                step = int(number)  # type: ignore[assignment]
                if int(number) >= len(where):
                    break
            else:
                break
            steps.append(step)  # type: ignore[arg-type]
            where = where[step]
        return tuple(steps), tuple(split_key(key))

    # -- taking it out -------------------------------------------------------------------------------------

    def _without(self, error: SpecError, steps: Steps, rest: Steps) -> bool:
        """Takes out what is wrong; what was taken out before and is still refused goes with what it lies in."""
        if (error.file or "").startswith("--") or error.key == "--set":
            name = (error.file or "").removeprefix("--set ").strip()
            left = [t for t in self.overrides if t != error.value and t.partition("=")[0].strip() != name]
            changed, self.overrides = len(left) < len(self.overrides), left
            return changed
        if rest and rest[0] in _INSTEAD and steps and steps[0] in _JOINED:
            steps, rest = (*steps, rest[0]), rest[1:]
        if error.key == "wan" and "wan" not in self.raw:
            self.raw.put("wan", self._instead(("wan",)), self.raw.file, self.raw.line)
            self.gone.append(("wan",))
            return True
        if steps[-1:] == ("tool",) and self._word_out(steps, error):
            return True
        while steps and steps in self.gone and len(steps) > 1:
            steps = steps[:-1]
        if not steps or steps in self.gone or steps in (("hosts",), *_TRANSFERS):
            return False
        parent = self._value_at(steps[:-1])
        if parent is _GONE:
            return False
        self.gone.append((*steps, *rest) if rest and error.missing else steps)
        last = str(steps[-1])
        if parent is None:
            return False
        if not isinstance(parent, Mapping):  # a list, or a word where a mapping belongs: it goes as a whole
            return self._without(error, steps[:-1], ())
        new = self._instead(steps, old=parent.get(last))
        if new is None and not _named(steps):
            parent.pop(last, None)
        else:
            parent.put(last, new, *parent.at(last))
        self.gone.append(steps)
        # what --set changes in it would be all of it, to hosts that are like this one too
        self.overrides = [t for t in self.overrides if not _within(tuple(split_key(t.partition("=")[0])), steps)]
        return True

    def _value_at(self, steps: Steps) -> Any:
        """What stands there; `_GONE` where it went with another finding of the same reading."""
        node: Any = self.raw
        for step in steps:
            keys = range(len(node)) if isinstance(node, list) else node if isinstance(node, Mapping) else ()
            if step not in keys:
                return _GONE
            node = node[step]
        return node

    def _word_out(self, steps: Steps, error: SpecError) -> bool:
        """Takes an option out of a command line, whose other words may be wrong too; False where it is none of it."""
        parent = self._value_at(steps[:-1])
        if not isinstance(parent, Mapping) or not isinstance(parent.get("tool"), str):
            return False
        words = parent["tool"].split()
        if error.value not in words[1:] or not str(error.value).startswith(("-", "/")):
            return False
        left = " ".join(word for word in words if word != error.value)
        parent.put("tool", Scalar(left), *parent.at("tool"))
        return True

    def _instead(self, steps: Steps, old: Any = None) -> Any:
        """What stands in for something that cannot be left out; None where nothing need."""
        last = str(steps[-1])
        if steps == ("wan",):
            return mapping({"bandwidth": Scalar(_INSTEAD["bandwidth"])}, self.raw.file, self.raw.line)
        if steps[0] not in _JOINED or last not in _INSTEAD:
            return None
        hosts = list(self._written)
        prefix = {"from": f"{hosts[0]}:", "to": f"{hosts[-1]}:"}.get(last, "")
        stand_in = _kind_of(old) if last == "tool" else _INSTEAD[last]
        return Scalar(prefix + stand_in) if stand_in else None


def _kind_of(tool: object) -> str:
    """The tool itself, without the options that are wrong: it may need one end alone."""
    try:
        written = written_tool(tool.partition(" ")[0] if isinstance(tool, str) else tool)
    except SpecError:
        return _INSTEAD["tool"]
    kind = str(written.get("kind")) if isinstance(written, Mapping) else ""
    return kind if kinds().get(kind, "").startswith("dtnsim.tools.") else _INSTEAD["tool"]


def _named(steps: Steps) -> bool:
    """Whether others speak of it by its name, so that it stays, with nothing known of it."""
    return (steps[0] == "hosts" and len(steps) == 2) or (len(steps) == 4 and steps[2] in ("nics", "volumes"))


def _within(steps: Steps, outer: Steps) -> bool:
    return steps[: len(outer)] == outer


def _names(hosts: Mapping) -> Iterator[tuple[str, str]]:
    """(name of a host, the key that it is written under)."""
    from dtnsim.description.hosts import numbered

    for key, item in hosts.items():
        try:
            yield from ((name, key) for name in numbered(mapping({key: item}, *hosts.at(key))))
        except SpecError:
            yield key, key


def _places(where: Any, steps: Steps) -> Iterator[tuple[Steps, tuple[str, int]]]:
    """Steps to every key, and the file and line where it stands; outer ones first."""
    if isinstance(where, Mapping):
        for key, value in where.items():
            spot = place(where, key)
            yield (*steps, key), (spot["file"] or "", spot["line"] or 0)
            yield from _places(value, (*steps, key))
    elif isinstance(where, list):
        for number, value in enumerate(where):
            yield from _places(value, (*steps, number))


def _copy(node: Any) -> Any:
    """The same, which can be changed anywhere."""
    if isinstance(node, Mapping):
        copied = node.clone()
        for key, value in node.items():
            copied[key] = _copy(value)
        return copied
    return [_copy(item) for item in node] if isinstance(node, list) else node
