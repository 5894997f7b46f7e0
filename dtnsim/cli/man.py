"""``dtnsim man``."""

import re
import sys
from typing import Any

from dtnsim import __version__


def command() -> None:
    """Print the manual page, made from the help of every command.

    \b
    Examples:
      dtnsim man | man -l -
      dtnsim man > ~/.local/share/man/man1/dtnsim.1
    """
    sys.stdout.write(page())


def page() -> str:
    """The manual page in roff."""
    from dtnsim.cli import COMMANDS, EXIT_CODES

    lines = [f'.TH DTNSIM 1 "" "dtnsim {__version__}" "User Commands"', ".SH NAME"]
    lines += [r"dtnsim \- simulation and capacity planning of end-to-end data transfer paths", ".SH SYNOPSIS"]
    lines += [".B dtnsim", r".I COMMAND", "[OPTIONS] [ARGUMENTS]", ".SH COMMANDS"]
    for name in COMMANDS:
        lines += _command(name)
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES.items():
        lines += [".TP", f".B {code}", _text(meaning)]
    lines += [".SH ENVIRONMENT", ".TP", ".B NO_COLOR", "no colours and no bold text, on terminals too", ".TP"]
    lines += [".B COLUMNS", "width of tables on a terminal", ".TP", ".B DTNSIM_DEBUG"]
    return "\n".join([*lines, "shows a fault of dtnsim with its traceback"]) + "\n"


def _command(name: str) -> list[str]:
    entry = described(name)
    lines = [f'.SS "dtnsim {name}"']
    for block in entry["text"]:
        typed = block.lstrip().startswith("Examples:")
        lines += [".PP", *([".nf"] if typed else []), *map(_text, block.splitlines()), *([".fi"] if typed else [])]
    for flags, words in entry["options"]:
        lines += [".TP", f".B {_text(flags)}", _text(words)]
    return lines


def described(name: str) -> dict[str, Any]:
    """A command's usage, text and options, as click knows them: for the manual page and the documentation."""
    import typer

    from dtnsim.cli import app

    group: Any = typer.main.get_command(app([name]))  # type: ignore[arg-type]  # a Typer
    command = group.commands[name]
    context = group.context_class(command, info_name=f"dtnsim {name}")
    text = re.sub(r"\s*\x08\n", "\n\n", command.help or "").strip()
    blocks = [b.rstrip() for b in re.split(r"\n\s*\n", text)]
    records = [p.get_help_record(context) for p in command.get_params(context)]
    return {
        "usage": command.get_usage(context).removeprefix("Usage: "),
        "text": [b if b.lstrip().startswith("Examples:") else " ".join(b.split()) for b in blocks],
        "options": [record for record in records if record],
    }


def _text(line: str) -> str:
    """A line that roff takes literally."""
    escaped = line.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + escaped if escaped.startswith((".", "'")) else escaped
