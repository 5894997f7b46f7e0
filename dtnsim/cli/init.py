"""``dtnsim init``."""

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from typer import Argument, Option

from dtnsim.cli import options
from dtnsim.ground.errors import InputError

#: the schema that the modeline of a starter file names once it has been written beside it
SCHEMA: Final = "path.schema.json"


def command(
    file: Annotated[str, Argument(metavar="[FILE]", help="File to write; - for standard output.")] = "path.yaml",
    output_file: Annotated[
        str | None, Option("-o", "--output", metavar="FILE", help="The same, as other commands name it.")
    ] = None,
    kind: Annotated[
        str, Option("--from", metavar="STARTER", help="nas-to-hpc, lan, cloud, fleet or memory-to-memory.")
    ] = "nas-to-hpc",
    cases: Annotated[
        bool, Option("--cases", help="Write a cases.yaml of measured figures, and a path.yaml where there is none.")
    ] = False,
    from_text: Annotated[
        str | None,
        Option(
            "--from-text",
            metavar="TEXT",
            help="Write it from a line: 'R740, 8 NVMe RAID0 -> NAS 10G, 25 ms', or 'from A to B ...'.",
        ),
    ] = None,
    ask: Annotated[bool, Option("--ask", help="Ask ten questions, and write the file from the answers.")] = False,
    schema: Annotated[
        bool, Option("--schema", help="Also write path.schema.json beside it, for editors without network.")
    ] = False,
    force: Annotated[bool, Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a commented path file to begin with.

    \b
    Examples:
      dtnsim init
      dtnsim init --from lan home.yaml
      dtnsim init --cases
      dtnsim init --from cloud - | dtnsim predict -
      dtnsim init --from-text 'R740, ConnectX-5, 8 NVMe RAID0 -> NAS of 12 disks raidz2 10G, 25 ms'
      dtnsim init --ask
    """
    from dtnsim.description import listing, schema as schemas
    from dtnsim.ground import output

    if output_file is not None and file not in ("path.yaml", output_file):
        raise InputError(f"init: {file} and {output_file} are two files; write one of them")
    file = file if output_file is None else output_file
    if schema and file == "-":
        raise InputError("--schema: it is written beside a file; write the name of one")
    text = _from_answers() if ask else listing.starter(kind) if from_text is None else _from_text(from_text)
    if cases:
        _cases("cases.yaml" if file == "path.yaml" else file, text, force=force)
        return
    if file == "-":
        sys.stdout.write(text)
        return
    target = _free(file, force=force)
    if schema:
        beside = target.with_name(SCHEMA)
        output.write(beside, json_module.dumps(schemas.json_schema("path"), indent=1) + "\n", "init")
        text = text.replace(f"$schema={schemas.schema_id('path')}", f"$schema={SCHEMA}", 1)
    output.write(target, text, "init")
    if ask or from_text is not None:
        from dtnsim.steady.prediction import predict

        predict(file, samples=0)  # what of it cannot be is told with the file's line
    then = "fleet" if "\nworkload:" in text else "predict"
    sys.stdout.write(f"wrote {file}\nchange what is not yours, then:  dtnsim {then} {file}\n")


def _free(file: str, *, force: bool) -> Path:
    """A file that may be written."""
    options.writable(file, "init")
    target = Path(file)
    if target.exists() and not force:
        raise InputError(f"init: {file} exists; write another name, or --force to write over it")
    return target


#: what --ask asks: (question, what a number alone is)
_QUESTIONS: Final = (
    ("Source: which machine? (model, VM size, year)", "{}"),
    ("  its drives? (8 NVMe RAID0, 12 disks raidz2)", "{}"),
    ("  its network card? (10G, ConnectX-5)", "{} G"),
    ("Destination: which machine?", "{}"),
    ("  its drives?", "{}"),
    ("  its network card?", "{} G"),
    ("Round-trip time? (ping: 25 ms)", "{} ms"),
    ("Narrowest link between the two? (10G)", "{} G"),
    ("What is between? (internet, backbone, research, campus, satellite, mobile, lab)", "{}"),
    ("Tool and data? (rsync, 2000 files, 6 TB)", "{}"),
)


def _from_text(text: str) -> str:
    """A path file from a line; what was not understood is said on stderr."""
    from dtnsim.description.sketch import Sketch

    sketch = Sketch(text)
    if sketch.unread:
        options.note(f"not understood, and not in the file: {', '.join(sketch.unread)}")
    return sketch.written()


def _from_answers() -> str:
    """A path file from answers at a terminal."""
    if not sys.stdin.isatty():
        raise InputError("init: --ask needs a terminal; write --from-text 'A -> B, 25 ms' instead")
    sys.stderr.write("Enter where you do not know: it is drawn from what such paths have.\n")
    answers = [_answer(question, alone) for question, alone in _QUESTIONS]
    answers[7] = answers[7] and f"wan {answers[7]}"
    source, destination, between = (", ".join(filter(None, part)) for part in (answers[:3], answers[3:6], answers[6:]))
    return _from_text(f"{source or 'unknown'} -> {destination or 'unknown'}, {between}")


def _answer(question: str, alone: str) -> str:
    """One answer; a number alone has the unit of the question, 'do not know' is nothing."""
    answer = str(typer.prompt(question, default="do not know", err=True)).strip()
    if answer.lower() in ("do not know", "unknown", "?", "-"):
        return ""
    return alone.format(answer) if answer.replace(".", "", 1).isdigit() else answer


def _cases(file: str, path: str, *, force: bool) -> None:
    """Writes a cases file, and beside it the path that it names, where there is none."""
    from importlib import resources

    from dtnsim.ground import output

    starter = resources.files("dtnsim.evidence").joinpath("starter_cases.yaml").read_text(encoding="utf-8")
    text = starter.format(file=file if file != "-" else "cases.yaml", path="path.yaml")
    if file == "-":
        sys.stdout.write(text)
        return
    target = _free(file, force=force)
    beside = target.with_name("path.yaml")
    if not beside.exists():
        output.write(beside, path, "init")
        sys.stdout.write(f"wrote {beside}\n")
    output.write(target, text, "init")
    sys.stdout.write(f"wrote {file}\nwrite your figures into it, then:  dtnsim validate {file}\n")
