"""Options of tools that are a number of streams, files or processes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec


def at_once(given: PathSpec) -> list[tuple[int, str, int]]:
    """(number of the transfer, option, its value) of the tools' options that are a number of things at once.

    A tool that finds the number itself where it is left out (Globus) is not asked for another.
    """
    return [
        (number, name, getattr(transfer.tool, name))
        for number, transfer in enumerate(given.transfers)
        for name, field in type(transfer.tool).model_fields.items()
        if name in (transfer.tool.files_option, transfer.tool.streams_option) and field.default is not None
    ]
