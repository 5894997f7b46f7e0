"""Options that several commands share, and how an answer is written: one document, or its records as CSV."""

from __future__ import annotations

import functools
import inspect
import json
import os
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

import typer
from typer import Argument, Option
from typer.models import OptionInfo

from dtnsim.cli import ReaderLeftError, StoppedError
from dtnsim.ground import runtime, units
from dtnsim.ground.errors import InputError, visible

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec


def paths(incomplete: str) -> list[str]:
    """Names of shipped paths that begin so, for shells that complete."""
    from dtnsim.ground import library

    return [name for name in library.names("paths") if name.startswith(incomplete)]


Path = Annotated[
    str,
    Argument(
        metavar="PATH",
        help="A path file, or the name of a shipped path like venadi/gridftp-gpfs.",
        autocompletion=paths,
    ),
]
Set = Annotated[
    list[str] | None,
    Option("--set", metavar="KEY=VALUE", help="Override any key: --set wan.rtt=20ms. Repeat it for more keys."),
]
Dataset = Annotated[
    str | None,
    Option(
        metavar="LIST",
        help="What the first transfer moves: a listing by find, du -ab, ls -lR, aws s3 ls or rclone, the name of a "
        "data set, or {files: 3000000, sizes_file: LIST}.",
    ),
]
Line = Annotated[str | None, Option("--command", metavar="LINE", help="Command line of the first transfer's tool.")]
Json = Annotated[bool, Option("--json", help="One JSON document on stdout.")]
Replicas = Annotated[int, Option(help="Runs; the first at median values, the others drawn.", min=1, max=100_000)]
Seed = Annotated[int, Option(help="Random seed; the same seed reproduces the result exactly.", min=0)]
Calibration = Annotated[
    str | None, Option(metavar="FILE", help="Fitted parameters to use ('dtnsim calibrate' makes them).")
]
Scheduler = Annotated[
    str | None, Option(metavar="ADDRESS", help="Dask scheduler whose workers do the work: tcp://login1:8786.")
]


def writable(name: object, option: str) -> None:
    """Checks before any work that a file can be written."""
    path = pathlib.Path(str(name))
    if str(name) == "-":
        raise InputError(f"{option}: - is no file; write the name of one")
    if path.is_dir():
        raise InputError(f"{option}: {path} cannot be written: it is a folder; write the name of a file")
    if not path.parent.is_dir():
        raise InputError(
            f"{option}: {path} cannot be written: there is no folder {path.parent}; make it first, or write elsewhere"
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{option}: {path} cannot be written; write elsewhere")


def table(file: pathlib.Path, option: str) -> None:
    """The same of a table: also its ending, and what writes it."""
    from dtnsim.ground import output

    writable(file, option)
    output.check_table(file, option)


def picture(file: str, option: str) -> None:
    """The same of a picture: also its kind, and what draws it."""
    from dtnsim.report import plots

    writable(file, option)
    plots.check(file)


class Written(OptionInfo):
    """An option that names a file which the command writes: checked before any work.

    Args:
        names: How it is typed, where not as its parameter is named.
        help: What it holds.
        check: What is asked of the file, given with the option's name.
    """

    def __init__(self, *names: str, help: str, check: Callable[[Any, str], None] = writable) -> None:  # noqa: A002 - as typer
        super().__init__(default=..., param_decls=names, metavar="FILE", help=help)
        self.check = check


Plot = Annotated[bool, Option("--plot", help="Also draw it in the terminal.")]
Picture = Annotated[
    str | None, Written("--picture", help="Also write its figure: .svg, .png or .pdf (kaleido).", check=picture)
]


def flags(signature: inspect.Signature) -> dict[str, list[str]]:
    """How each option of a command is typed, by the name of its parameter: ``{"out": ["-o", "--out"]}``."""
    metadata = {name: get_args(each.annotation)[1:] for name, each in signature.parameters.items()}
    taken = {name: info[0] for name, info in metadata.items() if info and isinstance(info[0], OptionInfo)}
    # in Annotated, typer takes what stands in the place of a default for a name
    named = {
        name: [str(o) for o in (i.default, *(i.param_decls or ())) if str(o)[:1] == "-"] for name, i in taken.items()
    }
    return {name: typed or [f"--{name.replace('_', '-')}"] for name, typed in named.items()}


def number_options(command: Callable[..., None]) -> list[str]:
    """Options of a command that take a number: ``--samples``, ``--seed``."""
    signature = inspect.signature(command, eval_str=True)
    numeric: list[str] = []
    for name, typed in flags(signature).items():
        kind = getattr(signature.parameters[name].annotation, "__origin__", None)
        if {int, float} & {kind, *get_args(kind)}:
            numeric += typed
    return numeric


FEWEST: Final = 10  #: draws of which the ends of an interval tell anything
#: options without effect where another is left out
_NEEDS: Final = {
    ("measure", "--as"): "--path",
    ("plan", "--kwh"): "--years",
    ("report", "--events"): "--simulate",
    ("report", "--until"): "--simulate",
    ("tcp", "--moved"): "--retransmits",
    ("tcp", "--out"): "--table",
    ("tools", "--out"): "--table",
    ("validate", "--as"): "--path",
    ("validate", "--most"): "--path",
}
#: those without effect beside some
_IDLE: Final = {
    ("init", "--ask"): ("--from-text",),
    ("init", "--from"): ("--from-text", "--ask"),
    ("init", "--schema"): ("--cases",),
    ("report", "--plan"): ("--no-plan",),
    ("validate", "--discrepancy"): ("--json", "--html"),
    **dict.fromkeys(((c, "--plot") for c in ("predict", "simulate", "sweep", "calibrate")), ("--json",)),
}
#: those beside which all but some have none
_ALONE: Final = {
    ("tcp", "--coefficients"): ("--json",),
    ("tcp", "--table"): ("--json", "--out", "--seed"),
    ("tools", "--table"): ("--json", "--out", "--seed", "--samples"),
}
#: those that are of one path, and why
_OF_ONE_PATH: Final = {
    ("predict", "--against"): "the file has the answer of one",
    ("predict", "--picture"): "it shows one answer",
}


def check_effects(name: str, signature: inspect.Signature, options: dict[str, Any]) -> None:
    """Refuses an option that would do nothing beside the others, a file that cannot be written, and too few draws.

    Args:
        name: The command.
        signature: Its parameters.
        options: What was given, or is taken, for each of them.
    """
    typed = {option[-1]: key for key, option in flags(signature).items()}
    used = [o for o, k in typed.items() if options.get(k) not in (None, [], signature.parameters[k].default)]
    for option in used:
        if options[typed[option]] == "":
            raise InputError(f"{option} is empty; give it a value, or leave it out")
        here, partners = (name, option), [o for o in used if o != option]
        if here in _NEEDS and _NEEDS[here] not in used:
            raise InputError(f"{option} has no effect without {_NEEDS[here]}; give both, or leave it out")
        if here in _OF_ONE_PATH and len(options["paths"]) > 1:
            raise InputError(f"{option}: give one path: {_OF_ONE_PATH[here]}")
        idle = [(option, o) for o in partners if o in _IDLE.get(here, ())]
        idle += [(o, option) for o in partners if here in _ALONE and o not in _ALONE[here]]
        if idle:
            raise InputError(f"{idle[0][0]} has no effect beside {idle[0][1]}; leave one of them out")
    for option, key in typed.items():
        info, file = get_args(signature.parameters[key].annotation)[1], options[key]
        if not isinstance(info, Written) or file is None or options.get("dry_run"):
            continue
        named = (w for k, v in options.items() if k != key for w in (v if isinstance(v, list) else [v]))
        if os.path.abspath(file) in [os.path.abspath(w) for w in named if isinstance(w, str | os.PathLike)]:
            raise InputError(f"{option}: {file} is named twice here, and would be lost; write to a file of its own")
        info.check(file, option)
    if 0 < (draws := options.get("samples") or 0) < FEWEST:
        from dtnsim.ground.uncertainty import NAMES

        raise InputError(f"--samples: {draws} are too few for {NAMES[0]} and {NAMES[2]}; write {FEWEST} or more")


def check_numbers(command: Callable[..., None], arguments: list[str]) -> None:
    """Holds numbers to what files may say: to Python ``1_0`` is ten, as are full-width digits, and ``nan`` is one."""
    numeric = number_options(command)
    for word, after in zip(arguments, [*arguments[1:], "0"], strict=True):
        option, joined, value = word.partition("=")
        value = value if joined else after
        if option in numeric and not re.fullmatch(units.NUMBER, value):
            raise typer.BadParameter(f"{value!r} is not a number; write digits alone", param_hint=option)


def listed(text: str | None) -> list[str]:
    """The words of an option that takes several, with commas between."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def changed(path: PathSpec, data: str | None, line: str | None) -> PathSpec:
    """A path whose first transfer moves the files of ``--dataset``, by the tool that ``--command`` types."""
    from dtnsim.description.override import given_with

    key = path.transfer_key(0)
    for option, name, value in (("--dataset", "dataset", data), ("--command", "tool", line)):
        if value is None:
            continue
        listed = name == "dataset" and pathlib.Path(value).is_file() and not value.endswith((".yaml", ".yml"))
        quoted = "'" + value.replace("'", "''") + "'"
        text = f"{{sizes_file: {quoted}}}" if listed else value if name == "dataset" else quoted
        with given_with(option):
            path = path.changed([f"{key}.{name}={text}"])
    return path


def path_with_options(path: str, calibration: str | None, data: str | None, line: str | None) -> str | PathSpec:
    """A path, by its name or file, with those two options; its name where neither is given."""
    if data is None and line is None:
        return path
    from dtnsim.description import spec

    return changed(spec.load(path, (), calibration), data, line)


def note(text: str) -> None:
    """Says something beside the answer, on standard error."""
    print(visible(f"dtnsim: {text}"), file=sys.stderr)  # noqa: T201 - no part of the answer


_LARGE: Final = 200  #: transfers in a document up to which it is indented for people to read


@contextmanager
def leaves(code: int) -> Iterator[None]:
    """What is printed within, then this exit code: also where whoever reads it has had enough, as of ``| head -1``."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        runtime.output_nowhere()
    if code:
        raise typer.Exit(code)


def emit(document: Any) -> None:
    """Writes one JSON document, or its records as CSV where ``--format csv`` asked for it."""
    if csv_wanted():
        write_csv(document)
        return
    large = isinstance(document, dict) and len(document.get("transfers", ())) > _LARGE
    sys.stdout.write(json.dumps(document, indent=None if large else 1, allow_nan=False) + "\n")


Format = Literal["table", "json", "csv"]

#: document -> key of its records, the first that it has; the document itself is the record of others
RECORDS: Final = (
    "predictions", "transfers", "stages", "tests", "rows", "variants", "tools", "candidates", "cases", "figures",
    "items", "lines", "kinds", "parts", "parameters", "coefficients", "classes", "stations",
)  # fmt: skip
HELP: Final = "How the answer is written; csv has one line for each record."

_chosen: list[Format] = ["table"]  #: the format of the command that runs


def with_format(command: Callable[..., None]) -> Callable[..., None]:
    """The command without options that do nothing, with ``--format`` where it has ``--json``."""
    signature = inspect.signature(command, eval_str=True)
    name = command.__module__.rpartition(".")[2]

    @functools.wraps(command)
    def wrapper(*arguments: Any, written_as: Format = "table", **options: Any) -> None:
        if options.get("json") and written_as == "csv":
            raise InputError("--json and --format csv are two answers; leave one of them out")
        if "json" in signature.parameters:
            options["json"] = options.get("json") or written_as != "table"
        _chosen[:] = [written_as]
        try:
            check_effects(name, signature, options)
            command(*arguments, **options)
            sys.stdout.flush()  # a full disk or a closed pipe shows here, not when Python ends
        except BrokenPipeError:
            raise ReaderLeftError from None
        except KeyboardInterrupt:
            raise StoppedError from None
        finally:
            _chosen[:] = ["table"]

    if "json" not in signature.parameters:
        return wrapper
    parameter = inspect.Parameter(
        "written_as",
        inspect.Parameter.KEYWORD_ONLY,
        default="table",
        annotation=Annotated[Format, Option("--format", help=HELP, hidden=signature.parameters["json"].default)],
    )
    ordered = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in signature.parameters.values()]
    wrapper.__signature__ = signature.replace(parameters=[*ordered, parameter])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in (*ordered, parameter)}
    return wrapper


def csv_wanted() -> bool:
    """Whether the command that runs was asked for CSV."""
    return _chosen[0] == "csv"


def write_csv(document: Any) -> None:
    """Writes the records of a document to standard output, nested keys with dots between."""
    from dtnsim.cli import _table

    rows = [dict(_flat(record, "")) for record in records(document)]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    _table.write(columns, rows, None)


def records(document: Any) -> list[Any]:
    """The records of a document."""
    if not isinstance(document, dict):
        return list(document)
    explained = str(document.get("schema", "")).startswith("dtnsim.explanation")
    for key in ("stations",) if explained else RECORDS:
        entries = document.get(key)
        if isinstance(entries, list) and entries and isinstance(entries[0], dict):
            if key == "predictions":
                return [{"path": p.get("name"), **r} for p in entries for r in records(p)]
            return entries
    return [document]


def _flat(item: Any, key: str) -> Iterable[tuple[str, Any]]:
    if isinstance(item, dict):
        for name, value in item.items():
            yield from _flat(value, f"{key}.{name}" if key else str(name))
    elif isinstance(item, list):
        if not any(isinstance(v, dict | list) for v in item):
            yield key, " ".join(map(str, item))
    else:
        yield key, "" if item is None else item
