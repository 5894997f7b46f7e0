"""The command line: one file a command; only the file of the command asked for is loaded.

Begin with `predict`: a command reads its options (those of several are in `options`), makes one call that Python
users have as well, and prints through `dtnsim.report`. Here are the list of commands, and what becomes of errors.

What functions take has one name everywhere: ``data``, what ``--dataset`` says, and ``line``, what ``--command`` says;
``calibration``, a file of fitted parameters; ``seed``, that of the draws; ``path``, a file, or None for standard
output.
"""

import contextlib
import importlib
import io
import os
import platform
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final

from dtnsim import __version__
from dtnsim.cli._memory import VARIABLE, cap
from dtnsim.ground import runtime
from dtnsim.ground.errors import DtnsimError, InputError, short, visible

#: command -> one line for the list of commands
COMMANDS: Final = {
    "init": "A commented path file to start from.",
    "list": "What is shipped: hosts, paths, data sets, parts, tools, workloads, starter files.",
    "show": "A host, path, data set, part, kind or tool, every line with its source.",
    "predict": "Throughput with an interval, the bottleneck and why, what binds next.",
    "explain": "Every demand and capacity with its formula, value and source: the arithmetic of the answer.",
    "simulate": "A path simulated over time: rates, queues, events, completion of every file.",
    "fleet": "A facility's workload over a year: completion, deadlines, failures, what needs upgrading, and when.",
    "sweep": "One path in many scenarios: ranges, lists, samples, tables.",
    "compare": "Variants of a path side by side, and why they differ, station by station.",
    "plan": "What to tune at no cost and what to buy to reach a rate, and with what probability.",
    "report": "One HTML file to attach to a proposal: answer, path, ladder, plan, what-if.",
    "tools": "Which tool, with which options: tools compared on a path, or a table of runs predicted.",
    "tcp": "The TCP calculator: goodput, window, what limits it.",
    "logs": "What the parsers read from benchmark logs.",
    "calibrate": "Fit the numbers of hosts and parts to measured logs.",
    "validate": "Predictions beside measurements, over all cases.",
    "discover": "A host file from what this machine, or another one, reports about itself.",
    "measure": "Measure this machine under light load, and write what was measured as a host file.",
    "components": "The library of kinds and parts.",
    "schema": "JSON Schema of path and part files, for editors.",
    "man": "The manual page.",
}

#: what each exit code means, as the help, the man page and the documentation say it
EXIT_CODES: Final = {
    0: "the answer is good",
    1: "anything else went wrong",
    2: "the input cannot be used (one line names file, key, value and what to write instead)",
    3: "a goal of --require is not met",
    130: "stopped (Ctrl-C)",
}
EPILOG: Final = "Exit codes: " + "; ".join(f"{code} {what}" for code, what in EXIT_CODES.items()) + "."

_OF_PYTHON: Final = "Value error, "  #: what stands before some messages and tells its reader nothing


def app(arguments: list[str]) -> object:
    """The typer application: the command that ``arguments`` name, and of all others names and summaries alone."""
    import typer

    root = typer.Typer(
        name="dtnsim",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Simulation and capacity planning of end-to-end data transfer paths.",
        epilog=EPILOG,
    )

    def version(value: bool) -> None:  # noqa: FBT001 - typer's callback
        if value:
            typer.echo(_versions())
            raise typer.Exit

    @root.callback()
    def main(
        *,
        show: Annotated[
            bool,
            typer.Option(
                "--version", callback=version, is_eager=True, help="Version, and versions of what answers depend on."
            ),
        ] = False,
    ) -> None:
        del show

    chosen = next((a for a in arguments if not a.startswith("-")), None)
    completing = "_DTNSIM_COMPLETE" in os.environ  # the shell says in its own way which command it is about
    for name, line in COMMANDS.items():
        loaded = _loaded(name) if completing or name == chosen else (lambda: None, None)
        if name == chosen:
            from dtnsim.cli import options

            options.check_numbers(loaded[0], arguments)
        root.command(name, short_help=line, help=loaded[1])(loaded[0])
    return root


def _versions() -> str:
    """Lines that a report of a fault needs."""
    from dtnsim.ground import errors, library

    lines = [f"dtnsim {__version__}", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"]
    lines += [f"{name} {version or 'is not installed'}" for name, version in errors.versions().items()]
    return "\n".join([*lines, *(f"{room} {library.digest(room)}" for room in ("models", "calibration"))])


def _loaded(name: str) -> tuple[Callable[..., None], str | None]:
    """A command, and its help where that is made of what there is."""
    from dtnsim.cli import options

    module = importlib.import_module(f"dtnsim.cli.{name}")
    text = module.help_text() if hasattr(module, "help_text") else None
    return options.with_format(module.command), text


class StoppedError(Exception):
    """Ctrl-C; typer would leave without a word."""


class ReaderLeftError(Exception):
    """Whoever read the output has had enough; typer would take a broken pipe for a failure."""


def main() -> None:
    """The command line of ``sys.argv``: errors are one line, exit codes 0, 1 and 2."""
    runtime.gc_seldom()
    runtime.one_thread()
    import typer

    # typer may bring click within itself: its errors are known by the family of one that typer exports
    click_error: type[typer.BadParameter] = next(
        c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException"
    )
    runtime.without_plugins()
    _safe_streams()
    # bytes that the locale could not decode are none of YAML's characters
    arguments = [a.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for a in sys.argv[1:]]
    try:
        cap()
        code = app(arguments)(args=arguments, standalone_mode=False)  # type: ignore[operator]  # typer.Typer
    except DtnsimError as error:
        fail(error.lines, error.exit_code)
    except typer.Abort:
        fail("stopped", 130)
    except click_error as error:
        buffer = io.StringIO()
        error.show(file=buffer)
        text = buffer.getvalue().replace(_OF_PYTHON, "")
        sys.stderr.write("".join(visible(line) + "\n" for line in text.splitlines()))
        sys.exit(2)
    except (BrokenPipeError, ReaderLeftError):  # whoever read it has had enough
        runtime.output_nowhere()
        sys.exit(0)
    except (KeyboardInterrupt, StoppedError):
        fail("stopped", 130)
    except RecursionError:
        fail("the input is nested too deeply", 2)
    except MemoryError:
        fail(f"not enough memory for this input; {VARIABLE}=8GB allows more, say", 1)
    except OSError as error:
        runtime.output_nowhere()
        fail(f"{short(str(error.filename or 'output'))}: {error.strerror or error}", 2 if error.filename else 1)
    except Exception as error:  # the last resort: a fault of ours, which DTNSIM_DEBUG=1 shows whole
        if os.environ.get("DTNSIM_DEBUG"):
            raise
        fail(f"internal error: {type(error).__name__}: {error}; DTNSIM_DEBUG=1 shows where", 1)
    sys.exit(code if isinstance(code, int) else 0)


def command(*words: object) -> Any:
    """A command of the command line, as a call: its JSON document, or its text where it has none.

    ``dtnsim.command("tools", "examples/small-files-40ms", "--have", "rsync,rclone")["advice"]``

    Raises:
        DtnsimError: the command cannot do it, or its words are not those of ``dtnsim COMMAND --help``.
    """
    import inspect
    import json

    arguments = [str(word) for word in words]
    name = arguments[0] if arguments else ""
    if name not in COMMANDS:
        raise InputError(f"command: {short(name)!r} is none; write one of {', '.join(COMMANDS)}")
    has = inspect.signature(importlib.import_module(f"dtnsim.cli.{name}").command).parameters
    document = "json" in has and not {"--json", "--format"} & set(arguments)
    with contextlib.redirect_stdout(io.StringIO()) as printed, refusing(lambda wrong: f"{name}: {wrong}"):
        app(arguments)(args=[*arguments, *["--json"] * document], standalone_mode=False)  # type: ignore[operator]
    return json.loads(printed.getvalue()) if document or "--json" in arguments else printed.getvalue()


@contextlib.contextmanager
def refusing(wording: Callable[[str], str]) -> Iterator[None]:
    """Makes an `InputError` of what click finds wrong with the words of a command line, said like that."""
    try:
        yield
    except Exception as error:
        if not hasattr(error, "format_message"):  # which click's own have
            raise
        raise InputError(wording(error.format_message().replace(_OF_PYTHON, ""))) from None


def _safe_streams() -> None:
    """Streams that the caller has closed are empty, or go nowhere; what an encoding lacks becomes a question mark."""
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for the life of the process
        elif name != "stdin" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def fail(message: str | tuple[str, ...], code: int) -> None:
    """Prints one line on stderr, or one for each finding, and leaves with ``code``."""
    for line in (message,) if isinstance(message, str) else message:
        print(visible(f"dtnsim: {line}"), file=sys.stderr)  # noqa: T201 - the one place that prints an error
    sys.exit(code)
