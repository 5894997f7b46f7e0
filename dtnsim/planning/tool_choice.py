"""Which tool, with which options: each tool that can serve a transfer's ends, at its best options; also after tar.

How people use each tool, and which options are worth trying, is a table (`dtnsim.tools.plan.usages`). Options are
chosen one after the other by the median: the usual value, unless another one gives more. A row is what `predict` says
of its setting, and how often one is the best is counted over the draws.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dtnsim.components.base import Model, find_kind, kinds
from dtnsim.composition.compose import run_together
from dtnsim.composition.resolved_transfer import End, end_of
from dtnsim.description.dataset import load as dataset
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import TransferSpec, elsewhere, split_end
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError, InputError
from dtnsim.ground.records import Prediction
from dtnsim.ground.term import without_words
from dtnsim.ground.uncertainty import Interval
from dtnsim.planning import swept, tuning
from dtnsim.planning.option import Refused, Setting
from dtnsim.steady import relieved
from dtnsim.steady.ordering import moved
from dtnsim.steady.prediction import predict
from dtnsim.tools.plan import Tool, Usage, usages

_DRAWS: Final = 256  #: draws behind a median by which an option is chosen; none where none are asked for
_SAME: Final = 1e-9  #: relative difference of durations that is none
_GAIN: Final = 0.03  #: least gain for which an option leaves its usual value, or goes to a larger one
AS_GOOD: Final = 1.05  #: times as long as the best below which a draw counts as good as the best
#: tools by whose draws one is chosen, and times by which such a one may be behind the first at the ceiling: laws of
#: their own error have medians from half of the ceiling to all of it
_RATED, _BEHIND = 4, 2.0
_SMALL_B, _MANY = 16e6, 200  #: mean size of files below which an archive of them is tried, and the least number of them
READY: Final = ("", "ssh", "SMB", "the bucket's keys")  #: what is there wherever files are moved already
#: options that say something of the data or the hosts: a usage of the path's own tool keeps them
_OF_DATA: Final = ("changed", "literal", "ratio", "version")
#: options whose value is typed otherwise than a path file has it
_TYPED: Final = {"aes-gcm": "aes128-gcm@openssh.com", "chacha20-poly1305": "chacha20-poly1305@openssh.com"}


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to move the files, and its prediction on a path."""

    name: str  #: What it is called.
    line: str  #: What to type; SRC, DST and HOST are the folders and the far host.
    needs: str  #: What has to be there.
    lacks: str  #: What it does not do that others do.
    options: dict[str, Any]  #: The tool as a path file has it; empty for the path's own.
    prediction: Prediction  #: What it would do.
    own: bool = False  #: Whether it is the path's own tool as stated.
    best: float = 0.0  #: Share of the draws in which nothing is more than 5 % faster; 0 without draws.
    archived: bool = False  #: Whether the files go as one archive.
    overrides: tuple[str, ...] = ()  #: ``key=value`` that set it on the path; empty for the path's own.

    @property
    def duration_s(self) -> Interval:
        """How long it takes, all its steps one after the other [s]."""
        return self.prediction.duration_s

    @property
    def throughput_Bps(self) -> Interval:
        """Bytes of the data set over that time [B/s]."""
        payload, took = moved(self.prediction)[1], self.duration_s
        return Interval(*(payload / seconds for seconds in (took.p90, took.p50, took.p10)))


def choose(
    spec: PathSpec, samples: int, seed: int = 1, have: Collection[str] = (), answer: Prediction | None = None
) -> tuple[list[Choice], list[Refused]]:
    """The first transfer of a path by its own tool and every other, the fastest first, and the tools that cannot do it.

    Tools that there are can be told (``have``), and the path's own answer by these draws.
    """
    rows = {usage.name for _, usage in usages()}
    tools = {kind for kind in have if kind in kinds() and issubclass(find_kind(kind), Tool)}
    unknown = [kind for kind in have if kind not in rows | tools]
    if unknown:
        names = ", ".join(dict.fromkeys(kind for kind, _ in usages()))
        raise InputError(f"--have: {unknown[0]!r} is no tool; write some of {names}")
    choices, refused = [], []
    tool = spec.transfers[0].tool
    if getattr(tool, "packer", "") == "zfs":
        message = f"{spec.transfer_key(0)}.tool: zfs send moves a snapshot, and other tools move files"
        raise InputError(f"{message}; write tool: rsync, or another, to compare what copies the files")
    if not tool.tool_class.endswith("test"):
        name = f"yours: {tool.kind}" + (f" ({stated})" if (stated := _stated(tool)) else "")
        prediction = answer if is_only_transfer(spec) else None
        prediction = prediction or predict(_first(spec), samples=samples, seed=seed)
        choices.append(Choice(name, "", "", "", {}, prediction, own=True))
        choices += _tuned(spec, choices[0], samples, seed) if not have or tool.kind in have else []
    key = spec.transfer_key(0)
    for kind, usage, mounted in _leading(spec):
        if have and kind not in have and usage.name not in have:
            refused.append(Refused(usage.name, "", "--have does not name it", "absent"))
            continue
        if foreign := _foreign(spec, usage):
            refused.append(Refused(usage.name, "", foreign, "cannot"))
            continue
        try:
            path = _with_share(spec, kind, mounted)
            options = {"name": kind, **_best(path, kind, usage, samples, seed), **_of_data(tool, kind)}
            sets = (*mounted, setting(options, key))
            prediction = predict(_first(spec.changed(sets)), samples=samples, seed=seed)
        except DtnsimError as error:
            refused.append(Refused(usage.name, "", str(error), "cannot"))
            continue
        yours = [c.duration_s.p50 for c in choices if kind == tool.kind and "name" not in c.options]
        if any(abs(prediction.duration_s.p50 / seconds - 1) < _SAME for seconds in yours):
            continue
        line = _typed(usage, options)
        choices.append(Choice(usage.name, line, usage.needs, usage.lacks, options, prediction, overrides=sets))
    why = next((r.why for r in refused if r.test == "cannot"), "")
    if all(c.own for c in choices) and not (choices and why):
        raise InputError(f"none of the tools can do this transfer: {why}" if why else "no tool is left")
    choices.sort(key=lambda c: c.duration_s.p50)
    choices += _archived(spec, choices, samples, seed)
    return sorted(_rated(choices), key=lambda c: (not c.own, c.duration_s.p50)), refused


def quick(spec: PathSpec, *, ready: bool) -> list[Setting]:
    """Tools of other kinds, the fastest at the ceiling first: few enough to rate each by its draws.

    All are tried with the usual and the last value of each option, and those not far behind the best with all values.
    Empty if no other tool can serve the first transfer; ``ready``: with nothing but what is there at both ends.
    """
    transfer, tried = spec.transfers[0], list[tuple[PathSpec, tuple[str, Usage, tuple[str, ...]]]]()
    of_files = not transfer.tool.tool_class.endswith("test") and getattr(transfer.tool, "packer", "") != "zfs"
    if transfer.dataset is None or transfer.timing() is not None or not of_files:
        return []
    for kind, usage, mounted in _leading(spec):
        if kind == transfer.tool.kind or (ready and usage.needs not in READY) or _foreign(spec, usage):
            continue
        for end in (0, -1) if usage.tries else (0,):
            options = usage.with_options({name: values[end] for name, values in usage.tries.items()})
            with suppress(DtnsimError):
                tried.append((_with(_with_share(spec, kind, mounted), kind, options), (kind, usage, mounted)))
    run_together(path for path, _ in tried)
    rates: dict[str, float] = {}
    for path, (_, usage, _) in tried:
        with suppress(DtnsimError):
            rates[usage.name] = max(rates.get(usage.name, 0.0), float(swept.rates(path).rate_Bps[0]))
    least, ways = max(rates.values(), default=0.0) / _BEHIND, {way[1].name: way for _, way in tried}
    suggestions = []
    for name in sorted((name for name in rates if rates[name] > least), key=lambda name: -rates[name])[:_RATED]:
        kind, usage, mounted = ways[name]
        options = {"name": kind, **_best(_with_share(spec, kind, mounted), kind, usage)}
        needs = "" if usage.needs in READY else f"   # needs {usage.needs}"
        sets, line = (*mounted, setting(options, spec.transfer_key(0))), _typed(usage, options) + needs
        suggestions.append(Setting(f"{transfer.name}: another tool", sets, (line,)))
    return suggestions


def _leading(spec: PathSpec) -> Iterator[tuple[str, Usage, tuple[str, ...]]]:
    """Tools and usages that reach the first transfer's destination, and the share that each needs mounted."""
    wanted, (near, far), (name, path) = leads(spec), _ends(spec), split_end(spec.transfers[0].to)
    mount = f"hosts.{near.host.name}.volumes./{name}={{filesystem: smb, server: '{name}:{path}'}}"
    mounted = mount, f"{spec.transfer_key(0)}.to={near.host.name}:/{name}"
    alike = wanted == "host" and near.kind == far.kind == "volume" and near.host.system == far.host.system
    for kind, usage in usages():
        if len(usage.systems) == 1 and near.host.system not in usage.systems:
            continue
        if usage.leads == wanted:
            yield kind, usage, spec.mounted(0)
        elif usage.leads == "share" and alike and f"/{name}" not in near.host.volumes:
            yield kind, usage, mounted


def _with_share(spec: PathSpec, kind: str, mounted: Sequence[str]) -> PathSpec:
    """The path with a share mounted, and the transfer to it by a tool."""
    return spec.changed([*mounted, setting({"name": kind}, spec.transfer_key(0))]) if mounted else spec


def _ends(spec: PathSpec) -> tuple[End, End]:
    return end_of(spec, spec.transfers[0].source_end), end_of(spec, spec.transfers[0].to)


def _foreign(spec: PathSpec, usage: Usage) -> str:
    """Why a usage does not run on an end's system; empty if it does."""
    hosts = {end.host.name: end.host for end in _ends(spec) if not end.is_bucket}
    return elsewhere(hosts.values(), usage.systems)


def as_archive(spec: PathSpec) -> list[Setting]:
    """The first transfer's files, many and small, as one archive, by its own tool and the quickest others for one."""
    single = _single(spec)
    if single is None or leads(spec) != "host" or "changed" in spec.transfers[0].tool.model_fields_set:
        return []  # an archive has what has not changed as well
    key, transfer = spec.transfer_key(0), spec.transfers[0]
    tool = [] if transfer.tool.kind.startswith("tar") else [(f"send SRC.tar by {transfer.tool.kind} as SRC was", ())]
    # what goes to a share is not unpacked by its own tar
    others = [s for s in quick(single, ready=True) if len(s.overrides) == 1]
    ways = [*tool, *((s.commands[0].replace("SRC", "SRC.tar"), s.overrides) for s in others)]
    lines = ((f"tar -cf SRC.tar SRC; {line}; tar -xf SRC.tar   # needs {_with_room(spec, '')}", o) for line, o in ways)
    return [Setting(f"{transfer.name}: archive first", (*o, f"{key}.archive=true"), (line,)) for line, o in lines]


def leads(spec: PathSpec) -> str:
    """Kind of the first transfer's destination: a bucket needs tools that speak S3."""
    ends = _ends(spec)
    if any(end.is_bucket for end in ends):
        return "bucket"
    return "mount" if ends[0].host is ends[1].host else "host"


def _typed(usage: Usage, options: dict[str, Any]) -> str:
    """What to type."""
    return usage.line.format(**{k: _TYPED.get(str(v), v) for k, v in options.items()})


def _stated(tool: Model) -> str:
    """Options that are not at their defaults, those of a tool within the tool in brackets."""
    stated = {k: getattr(tool, k) for k in sorted(tool.model_fields_set - {"kind"})}
    texts = {k: _stated(v) if isinstance(v, Model) else " ".join(v) if isinstance(v, tuple) else str(v)
            for k, v in stated.items() if str(v) != str(type(tool).model_fields[k].default)}  # fmt: skip
    return ", ".join(f"{k} ({v})" if isinstance(stated[k], Model) else f"{k} {v}" for k, v in texts.items() if v)


def _of_data(tool: Tool, kind: str) -> dict[str, Any]:
    """What a path's own tool says of the data, where another usage of it is tried."""
    return {k: str(getattr(tool, k)) for k in _OF_DATA if tool.kind == kind and k in tool.model_fields_set}


def _job(spec: PathSpec) -> list[TransferSpec]:
    """All that is written where the first transfer is: its like on other hosts, its runs, its archive's steps."""
    key = spec.transfer_key(0)
    return [transfer for number, transfer in enumerate(spec.transfers) if spec.transfer_key(number) == key]


def is_only_transfer(spec: PathSpec) -> bool:
    """Whether nothing but the first transfer is on the path."""
    return len(_job(spec)) == len(spec.transfers)


def _first(spec: PathSpec) -> PathSpec:
    """The path with its first transfer alone."""
    return spec if is_only_transfer(spec) else spec.model_copy(update={"transfers": _job(spec)})


def _with(spec: PathSpec, kind: str, options: dict[str, Any]) -> PathSpec:
    """The path with its first transfer alone, by another tool, whose options are drawn as they come."""
    original = spec.transfers[0].tool
    tool = Tool.build({"kind": kind, **options, **_of_data(original, kind)})
    job = (t.model_copy(update={"tool": tool}) if t.tool == original else t for t in _job(spec))
    return spec.model_copy(update={"transfers": list(job)})


def _tuned(spec: PathSpec, choice: Choice, samples: int, seed: int) -> list[Choice]:
    """The path's own tool with as many files, streams and runs at once as are best; nothing where that is no gain."""
    every = relieved.counts(spec, 0, [spec.transfer_key(0)])
    tried = [Setting(c.what, c.overrides, (c.line,), _GAIN) for c in every]
    rate = tuning.Throughputs(_first(spec), {}, lambda path: 1 / _took(_first(path), samples, seed))
    won = [w.setting for w in tuning.wins(tried, rate) if w.together]
    sets = tuple(o for s in won for o in s.overrides)
    prediction = predict(_first(spec.changed(sets)), samples=samples, seed=seed) if won else choice.prediction
    if prediction.duration_s.p50 > choice.duration_s.p50 * (1 - _GAIN):
        return []
    line = "; ".join(re.sub(r"^\S+ (?=-)", "as yours, with ", s.commands[0]) for s in won)
    return [Choice(f"{spec.transfers[0].tool.kind}, tuned", line, "", "", {}, prediction, overrides=sets)]


def _took(path: PathSpec, samples: int, seed: int) -> float:
    """How long a path takes in the median [s]."""
    with without_words():  # nobody reads why
        return predict(path, samples=_DRAWS if samples else 0, seed=seed).duration_s.p50


def _best(spec: PathSpec, kind: str, usage: Usage, samples: int = _DRAWS, seed: int = 1) -> dict[str, Any]:
    """Options of a usage: one after the other, the usual value unless another one gives more by 3 %."""
    cache: dict[tuple[Any, ...], float] = {}

    def seconds(tried: list[dict[str, Any]]) -> list[float]:
        new = {key: _with(spec, kind, usage.with_options(t)) for t in tried if (key := tuple(t.values())) not in cache}
        run_together(new.values())
        cache.update((key, _took(path, samples, seed)) for key, path in new.items())
        return [cache[tuple(t.values())] for t in tried]

    chosen = {name: values[0] for name, values in usage.tries.items()}
    for _ in range(min(len(chosen), 2)):
        for name, values in usage.tries.items():
            took = seconds([{**chosen, name: value} for value in values])
            chosen[name] = next(v for v, s in zip(values, took, strict=True) if s <= min(took) * (1 + _GAIN))
    seconds([chosen])
    return usage.with_options(chosen)


def _single(spec: PathSpec) -> PathSpec | None:
    """The path with the many small files of its first transfer as one; None where they are few, or nothing holds it."""
    transfer, data = spec.transfers[0], spec.transfers[0].dataset
    few = data is None or data.files < _MANY or data.payload_B / data.files > _SMALL_B
    if data is None or few or transfer.archive or len(_job(spec)) > 1:
        return None
    if any(end_of(spec, end).volume is None for end in (transfer.source_end, transfer.to)) or transfer.timing():
        return None
    one = dataset({"files": 1, "size": f"{data.payload_B:.0f} B"})
    return spec.model_copy(update={"transfers": [transfer.model_copy(update={"dataset": one})]})


def _archived(spec: PathSpec, choices: Sequence[Choice], samples: int, seed: int) -> list[Choice]:
    """Many small files as one archive: made at the source, moved by what is best for one file, and unpacked."""
    single, wanted, key = _single(spec), leads(spec), spec.transfer_key(0)
    unpacked = (c for c in choices if c.options and len(c.overrides) == 1)  # what goes to a share is not
    mover = next((c for c in unpacked if not c.name.startswith("tar ")), None)
    if single is None or mover is None or wanted == "mount":
        return []
    usage = next(u for k, u in usages() if u.name == mover.name)
    try:
        options = {"name": mover.options["name"], **_best(single, mover.options["name"], usage, samples, seed)}
        sets = (setting(options, key), f"{key}.archive=true")
        row = replace(mover, name=f"tar first, then {mover.name}", options=options, archived=True, overrides=sets)
        prediction = predict(_first(spec.changed(sets)), samples=samples, seed=seed)
    except DtnsimError:
        return []
    line = f"tar -cf SRC.tar SRC; {_typed(usage, options).replace('SRC', 'SRC.tar')}"
    line += "; tar -xf SRC.tar" if wanted == "host" else ""
    return [replace(row, line=line, needs=_with_room(spec, mover.needs), prediction=prediction)]


def _with_room(spec: PathSpec, needs: str) -> str:
    """What a way needs whose archive lies at each end for a while."""
    data = spec.transfers[0].dataset
    room = f"{units.show(data.payload_B if data is not None else 0.0, 'B', digits=2)} more room at each end"
    return ", ".join(filter(None, (needs, room)))


def _rated(choices: Sequence[Choice]) -> list[Choice]:
    """Choices with the share of draws in which each is as good as the best."""
    drawn = [c.prediction.drawn for c in choices]
    seconds = [d.seconds for d in drawn if d is not None]
    if len(seconds) < len(choices):
        return list(choices)
    table = np.stack(seconds)
    good = (table <= table.min(axis=0) * AS_GOOD).mean(axis=1)
    return [replace(c, best=float(g)) for c, g in zip(choices, good, strict=True)]


def setting(options: dict[str, Any], key: str) -> str:
    """A tool as ``--set`` of `predict` has it."""
    texts = (f"{k}: {str(v).lower() if isinstance(v, bool) else v}" for k, v in options.items())
    return f"{key}.tool={{{', '.join(texts)}}}"
