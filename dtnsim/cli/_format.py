"""``--format table|json|csv`` on every command that has ``--json``: CSV has one line for each record."""

from __future__ import annotations

import functools
import inspect
import io
import sys
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, Literal

import typer

Format = Literal["table", "json", "csv"]

#: document -> key of its records, the first that it has; the document itself is the record of others
RECORDS: Final = (
    "predictions", "transfers", "rows", "variants", "tools", "candidates", "cases", "figures", "items", "lines",
    "kinds", "parts", "parameters", "coefficients", "classes", "stations",
)  # fmt: skip
HELP: Final = "How the answer is written; csv has one line for each record."

#: the format of the command that runs
_chosen: list[Format] = ["table"]


def with_format(command: Callable[..., None]) -> Callable[..., None]:
    """The command with ``--format``, where it has ``--json``."""
    signature = inspect.signature(command, eval_str=True)
    if "json" not in signature.parameters:
        return command

    @functools.wraps(command)
    def whole(*arguments: Any, written_as: Format = "table", **options: Any) -> None:
        _chosen[:] = [written_as]
        try:
            command(*arguments, **{**options, "json": options.get("json") or written_as != "table"})
        finally:
            _chosen[:] = ["table"]

    asked = inspect.Parameter(
        "written_as",
        inspect.Parameter.KEYWORD_ONLY,
        default="table",
        annotation=Annotated[Format, typer.Option("--format", help=HELP)],
    )
    ordered = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in signature.parameters.values()]
    whole.__signature__ = signature.replace(parameters=[*ordered, asked])  # type: ignore[attr-defined]
    whole.__annotations__ = {p.name: p.annotation for p in (*ordered, asked)}
    return whole


def csv_wanted() -> bool:
    """Whether the command that runs was asked for CSV."""
    return _chosen[0] == "csv"


def write_csv(document: Any) -> None:
    """Writes the records of a document to standard output, nested keys with dots between."""
    import csv

    rows = [dict(_flat(record, "")) for record in records(document)]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    made = io.StringIO()
    writer = csv.DictWriter(made, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    sys.stdout.write(made.getvalue())


def records(document: Any) -> list[Any]:
    """The records of a document."""
    if not isinstance(document, dict):
        return list(document)
    explained = str(document.get("schema", "")).startswith("dtnsim.explanation")
    for key in ("stations",) if explained else RECORDS:
        held = document.get(key)
        if isinstance(held, list) and held and isinstance(held[0], dict):
            if key == "predictions":
                return [{"path": p.get("name"), **r} for p in held for r in records(p)]
            return held
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
