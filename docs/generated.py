"""Pages of the documentation that nobody writes: reference from the models, physics from docstrings, accuracy from validate."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any, NamedTuple

import split
import yaml

import dtnsim
from dtnsim import physics
from dtnsim.cli import COMMANDS, EXIT_CODES, man
from dtnsim.components.base import find_kind, kinds
from dtnsim.description import listing, schema
from dtnsim.ground import units
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.base import Evidence
from dtnsim.physics.tcp import controls
from dtnsim.report import schemas as documents

ROOT = Path(__file__).parents[1]
FAMILIES = {"tool": "Transfer tools and benchmarks"}


@functools.cache
def pages() -> dict[str, str]:
    """Name of a page -> its text; long ones in parts."""
    whole = {
        "reference/path.md": _model_page(
            "path", "Path files", ("TransferSpec", "Program", "ProgramStep", "Event", "Others")
        ),
        "reference/host.md": _model_page("host", "Hosts", ("Volume", "Placement", "TcpTuning", "Vm")),
        "reference/dataset.md": _model_page("dataset", "Data sets", ("Group",)),
        "reference/components.md": _components(tools=False),
        "reference/tools.md": _components(tools=True),
        "reference/library.md": _library(),
        "reference/glossary.md": _glossary(),
        "reference/units.md": _units(),
        "reference/commands.md": _commands(),
        "reference/logs.md": _logs(),
        "reference/exit-codes.md": _exit_codes(),
        "reference/python.md": _python(),
        "reference/json.md": _json(),
        "accuracy.md": _accuracy(),
        "changes.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "physics/index.md": _physics(),
        "limits.md": _limits(),
        **_notes(),
    }
    return {name: part for page, text in whole.items() for name, part in split.split(page, text).items()}


def _limits() -> str:
    text = (ROOT / "docs" / "limits.md.in").read_text(encoding="utf-8")
    return text.replace("{controls}", controls.described()) + _neglects()


def schemas() -> dict[str, Any]:
    """The JSON Schemas that shipped files name."""
    by_kind = {what: schema.json_schema(what) for what in ("path", "host", "dataset")}
    return by_kind | {f"output/{name}": documents.json_schema(name) for name in documents.names()}


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;").replace("{{", "{ {")


def _table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(map(_cell, row)) + " |" for row in rows)]) + "\n"


def _kind_of(node: dict[str, Any]) -> str:
    if "x-unit" in node:
        return "number" if node["x-unit"] == "1" else f"number with unit ({node['x-unit']})"
    if "x-family" in node:
        return f"{node['x-family']}: a part, or {{kind: ...}}"
    if "enum" in node:
        return ", ".join(f"`{v}`" for v in node["enum"] if isinstance(v, str | int) and not isinstance(v, bool))
    return str(node.get("type", "") or ("number" if "anyOf" in node else "")).replace(
        "['string', 'number', 'boolean']", "text"
    )


def _properties(part: dict[str, Any]) -> str:
    needed = set(part.get("required", ()))
    for way in part.get("anyOf", ()):
        needed |= {k for k in way.get("required", ()) if len(way["required"]) > 1}
    rows: list[tuple[object, ...]] = []
    for key, node in part["properties"].items():
        if key in ("kind", "part", "source", "price") and "const" not in node and "family" not in str(node):
            continue
        default = node.get("default", "required" if key in needed else "")
        example = node.get("examples", [""])[0]
        rows.append((f"`{key}`", node.get("description", ""), _kind_of(node), default, f"`{example}`"))
    return _table(("key", "what it is", "type", "default", "example"), rows)


def _model_page(what: str, title: str, parts: tuple[str, ...]) -> str:
    schema_of = schema.json_schema(what)
    text = [f"# {title}\n", f"{schema_of.get('description', '')}\n", _properties(schema_of)]
    for name in parts:
        part = schema_of["$defs"][name]
        text += [f"\n## {name.removesuffix('Spec')}\n", f"{part.get('description', '')}\n", _properties(part)]
    return "\n".join(text)


def _components(*, tools: bool) -> str:
    by_family: dict[str, list[str]] = {}
    for kind in sorted(kinds()):
        by_family.setdefault(find_kind(kind).family, []).append(kind)
    title = "Transfer tools" if tools else "Components"
    text = [f"# {title}\n", "Made from the models; a default is shown with its source by `dtnsim show KIND`.\n"]
    for family, own in sorted(by_family.items()):
        if (family == "tool") != tools:
            continue
        if not tools:
            text.append(f"\n## {family}\n")
        for kind in own:
            model = find_kind(kind)
            text += [f"\n### {kind}\n", _docstring(model), _properties(schema.json_schema(kind))]
    return "\n".join(text)


def _docstring(thing: object) -> str:
    text = inspect.getdoc(thing) or ""
    text = re.sub(r"\n*Attributes:\n.*", "", text, flags=re.DOTALL).replace("``", "`")
    text = re.sub(r"^(Neglects|Source|Valid):", r"\n**\1:**", text, flags=re.MULTILINE)
    return text.replace("<", "&lt;") + "\n"


def _library() -> str:
    text = [
        "# What is shipped\n",
        "The same as `dtnsim list ROOM`; `dtnsim show NAME` has every number with its source.\n",
    ]
    for room, what in listing.ROOMS.items():
        items = listing.listing(room)["items"] if listing.names(room) else []
        if items:
            text += [f"\n## {room}\n", f"{what[0].upper()}{what[1:]}.\n"]
            by_kind: dict[str, list[Any]] = {}
            for item in items:
                by_kind.setdefault(item["name"].partition("/")[0] if room == "parts" else "", []).append(item)
            for kind, own in by_kind.items():
                rows: list[tuple[object, ...]] = [(f"`{item['name']}`", item["what"]) for item in own]
                text += [f"\n### {kind}\n"] * bool(kind) + [_table(("name", "what"), rows)]
    return "\n".join(text)


class Sense(NamedTuple):
    """What a term means, where it lives (module, object and field, if any) and what else has its name."""

    means: str
    module: str
    name: str
    elsewhere: dict[str, str]


@functools.cache
def glossary() -> dict[str, Sense]:
    """Term -> its one sense, of docs/glossary.yaml and of the docstrings that it points to.

    Raises:
        AttributeError: there is no such object.
    """
    senses = {}
    for term, row in yaml.safe_load((ROOT / "docs" / "glossary.yaml").read_text(encoding="utf-8")).items():
        module, _, name = row["in"].partition(":")
        thing: Any = importlib.import_module(f"dtnsim.{module}")
        whole, _, field = name.partition(".")
        thing = getattr(thing, whole) if whole else thing
        if field and field not in {*getattr(thing, "model_fields", ()), *thing.__annotations__, *dir(thing)}:
            raise AttributeError(f"{term}: {module}:{whole} has no {field}")
        senses[term] = Sense(row.get("means") or _said_of(thing, field), module, name, row.get("elsewhere", {}))
    return senses


def _said_of(thing: Any, field: str) -> str:
    """First sentence of a docstring, or what its attributes, or a comment beside it, say of a field."""
    text = inspect.getdoc(thing) or ""
    if field:
        match = re.search(rf"^    (?:\w+, )*{field}(?:, \w+)*: (.*(?:\n {{5,}}.*)*)", text, re.MULTILINE)
        match = match or re.search(rf"^    {field}: .*  #: (.*)", inspect.getsource(thing), re.MULTILINE)
        text = match[1] if match else ""
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`")


def _glossary() -> str:
    """Terms in the order of the alphabet."""
    rows: list[tuple[object, ...]] = []
    for term, sense in sorted(glossary().items(), key=lambda item: item[0].lower()):
        others = [f"Not that of `{where.partition(':')[0]}`: {what}" for where, what in sense.elsewhere.items()]
        file = Path(str(importlib.import_module(f"dtnsim.{sense.module}").__file__)).relative_to(ROOT)
        place = f"`{file.as_posix()}`" + (f", `{sense.name}`" if sense.name else "")
        rows.append((f"**{term}**", ". ".join([sense.means.rstrip("."), *others]), place))
    text = [
        "# Glossary\n",
        "Each term in one sense, and where in the code it lives. How the terms hang together: [how it works](../explanation.md).\n",
    ]
    return "\n".join([*text, _table(("term", "means", "where"), rows)])


def _units() -> str:
    rows: list[tuple[object, ...]] = []
    for dim, example in units.EXAMPLES.items():
        names = sorted((u for u, (d, _) in units.UNITS.items() if d == dim and u and "/d" not in u), key=len)
        rows.append((dim, example, ", ".join(f"`{u}`" for u in names[:24]) + (" ..." if len(names) > 24 else "")))
    text = [
        "# Units\n",
        (inspect.getdoc(units) or "").replace("``", "`") + "\n",
        _table(("unit", "written like", "texts"), rows),
    ]
    bits = "Sizes are bytes, and `50 Gb` is refused for one. `10G` is refused for a rate: it does not say whether bits or bytes.\n"
    return "\n".join([*text, bits])


def _commands() -> str:
    text = ["# Commands\n", "Made from the commands' own help. `dtnsim man` prints the same as a manual page.\n"]
    for name, line in COMMANDS.items():
        commands = man.described(name)
        text += [f"\n## dtnsim {name}\n", f"{line}\n", f"`{commands['usage']}`\n"]
        for block in commands["text"]:
            if "  dtnsim " in block or block.lstrip().startswith("An events"):
                head, _, body = block.partition("\n")
                text.append(f"{head}\n\n" + "\n".join(f"    {row.strip()}" for row in body.splitlines()) + "\n")
            else:
                text.append(_cell(block) + "\n")
        text.append(_table(("option", "what it does"), [(f"`{flags}`", words) for flags, words in commands["options"]]))
    return "\n".join(text)


def _logs() -> str:
    """What is read, from the docstrings of the parsers, by what `dtnsim calibrate` does with it."""
    every = catalogue()
    parsers = (*every.lines, *every.documents)
    #: tools of which a parser says it, in files of several tools
    described = {(parser.__module__, parser.tool) for parser in parsers if "Units:" in (parser.__doc__ or "")}
    texts: dict[str, dict[str, dict[str, None]]] = {use: {} for use in _USES.values()}
    for parser in parsers:
        own = inspect.cleandoc(parser.__doc__ or "")
        if "Units:" not in own and (parser.__module__, parser.tool) in described:
            continue
        module = importlib.import_module(parser.__module__).__doc__ or ""
        first = (own if "Units:" in own else module).partition("\n\n")[0]
        words = re.sub(r"; see `dtnsim.*?`", "", first.replace("``", "`"))
        words += " (by its documentation: fewer than three outputs of real runs)" * parser.by_document
        texts.setdefault(_use(parser.evidence), {}).setdefault(parser.tool, {})[words] = None
    text = [
        "# Logs that are read\n",
        "`dtnsim logs FILE` shows every figure of them in SI; parsers (`dtnsim/logs`) say what tools mean by their units.",
        "They are listed by what `dtnsim calibrate` does with them.\n",
    ]
    for use, tools in texts.items():
        rows: list[tuple[object, ...]] = [(f"`{tool}`", " ".join(words)) for tool, words in sorted(tools.items())]
        text += [f"\n{use}\n", _table(("tool", "what is read"), rows)]
    return "\n".join(text)


_USES = {
    Evidence.FITS: "## Fits parameters of volumes and hosts\n",
    Evidence.CORRECTS: "## Corrects the host file where the two differ\n",
    Evidence.WAY: "## Becomes a network that a path can name (`--wan FILE`)\n",
}


def _use(evidence: Evidence) -> str:
    if evidence in _USES:
        return _USES[evidence]
    why = re.sub(r"'(dtnsim [^']*)'", r"`\1`", evidence.value)
    title, _, rest = why.partition(": ") if ": " in why.partition(";")[0] else why.partition("; ")
    rest = re.sub(r"^(fio|ping)\b", r"`\1`", rest)
    return f"## Fits nothing: {title}\n\n{rest[:1].upper()}{rest[1:]}.\n"


def _exit_codes() -> str:
    rows: list[tuple[object, ...]] = list(EXIT_CODES.items())
    return (
        "# Exit codes\n\n"
        + _table(("code", "means"), rows)
        + (
            "\nErrors are one line on standard error; answers, and nothing else, are on standard output. "
            "`DTNSIM_DEBUG=1` shows a fault of dtnsim itself with its traceback. `NO_COLOR` takes colours and bold text away.\n"
        )
    )


def _json() -> str:
    text = [
        "# What --json prints\n",
        "One document on standard output, SI units in the names of keys. `dtnsim schema NAME` prints the JSON\n",
    ]
    text.append("Schema; keys may be added within a version, none goes or changes its unit.\n")
    for name in documents.names():
        document = documents.json_schema(name)
        rows: list[tuple[object, ...]] = [
            (f"`{k}`", n["description"]) for k, n in document["properties"].items() if k != "schema"
        ]
        const = document["properties"]["schema"]["const"]
        text += [f"\n## {const.partition('/')[0]}\n", f"`{const}`\n", _table(("key", "what it is"), rows)]
    return "\n".join(text)


def _python() -> str:
    text = [
        "# Python\n",
        'Everything that the command line does is one call: a function, or `dtnsim.command("tools", path)`. The public names, and no others:\n',
    ]
    for name in sorted(dtnsim.__all__, key=str.lower):
        thing = getattr(dtnsim, name)
        signature = f"{name}{inspect.signature(thing)}" if inspect.isfunction(thing) else f"class {name}"
        body = _sections(inspect.getdoc(thing) or "")
        text += [f"\n## {name}\n", f"```text\n{signature}\n```\n", body]
    return "\n".join(text)


def _sections(text: str) -> str:
    """A docstring in Google's style as Markdown."""
    out: list[str] = []
    for line in text.replace("``", "`").replace("<", "&lt;").splitlines():
        if re.fullmatch(r"(Args|Attributes|Returns|Raises|Examples):", line):
            out += ["", f"**{line[:-1]}**", ""]
        elif match := re.fullmatch(r"    (\w+): (.*)", line):
            out.append(f"- `{match[1]}`: {match[2]}")
        elif match := re.fullmatch(r"(Valid|Neglects|Source): (.*)", line):
            out += ["", f"**{match[1]}:** {match[2]}"]
        elif line.startswith(("    >>> ", "    ... ")):
            out += ["", f"        {line.strip()}"]
        else:
            out.append(line.strip())
    return "\n".join(out) + "\n"


def _modules() -> list[str]:
    modules = pkgutil.walk_packages(physics.__path__, "dtnsim.physics.")
    return sorted(m.name for m in modules if not any(part.startswith("_") for part in m.name.split(".")))


def _laws(module: Any) -> list[tuple[str, Any]]:
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    return [(name, getattr(module, name)) for name in names if inspect.getdoc(getattr(module, name))]


TOPICS = re.compile(r"<!-- laws: (.*?) -->")


def topics() -> dict[str, tuple[str, str, list[str]]]:
    """Page of the physics -> its title, its question, and the modules whose laws it has, in the order of the site."""
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {}
    for name in re.findall(r"physics/([\w-]+)\.md", site):
        text = ROOT / "docs" / "physics" / f"{name}.md"
        if text.is_file():
            title, _, question = text.read_text(encoding="utf-8").split("\n", 3)[:3]
            modules = TOPICS.search(text.read_text(encoding="utf-8"))
            placed = [m for m in modules[1].split() for m in _every(m)] if modules else []
            pages[name] = (title.removeprefix("# "), question.strip("*"), placed)
    return pages


def _every(name: str) -> list[str]:
    """A module of the physics; of ``package.*`` all of the package's."""
    package, star, _ = name.partition(".*")
    if not star:
        return [name]
    path = importlib.import_module(f"dtnsim.physics.{package}").__path__
    return [f"{package}.{module.name}" for module in pkgutil.iter_modules(path)]


def laws(modules: list[str]) -> str:
    """What the docstrings of some modules of the physics say, law by law."""
    text: list[str] = []
    for name in modules:
        module = importlib.import_module(f"dtnsim.physics.{name}")
        text += [f"\n### {name.replace('_', ' ')}\n", _sections(inspect.getdoc(module) or "")]
        for law, function in _laws(module):
            text += [f"\n#### {law}\n", _sections(inspect.getdoc(function) or "")]
    return "\n".join(text)


def _physics() -> str:
    """The contents of the book."""
    text = [
        "# Physics\n",
        "Every law that answers: the question, the equation, a picture computed by it, and the docstrings with arguments,",
        "units, where a law holds, what it neglects and where it comes from. Components call these functions and hold no",
        "formula of their own. How they become one answer: [stations and demands](../explanation.md).\n",
    ]
    rows: list[tuple[object, ...]] = [(f"[{title}]({name}.md)", asks) for name, (title, asks, _) in topics().items()]
    return "\n".join([*text, _table(("page", "question"), rows)])


class Shown(NamedTuple):
    """An answer of the gallery: its picture, the verdict, and what holds it."""

    picture: str
    verdict: str
    held: str


@functools.cache
def gallery() -> dict[str, Shown]:
    """Path -> its answer, of all paths that the gallery shows."""
    import pictures

    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    return {path: Shown(*pictures.answer(path)) for path in re.findall(r"<!-- answer: (\S+) -->", page)}


def filled(markdown: str) -> str:
    """A page with its laws, and with the answers that it shows."""

    def answer(match: re.Match[str]) -> str:
        path, shown = match[1], gallery()[match[1]]
        return (
            f"{_cell(shown.verdict)} What holds it: {_cell(shown.held)}.\n\n"
            f"![What binds first on {path}, and what then](gallery/{path.replace('/', '--')}.svg)\n\n"
            f"```sh\ndtnsim predict {path}\n```\n"
        )

    markdown = TOPICS.sub(lambda found: laws([m for name in found[1].split() for m in _every(name)]), markdown)
    return re.sub(r"<!-- answer: (\S+) -->", answer, markdown)


def _neglects() -> str:
    """What every tool and component says that it leaves out."""
    rows: list[tuple[object, ...]] = []
    for kind in sorted(kinds()):
        match = re.search(r"Neglects: (.*?)(?:\n[A-Z]\w+:|\Z)", inspect.getdoc(find_kind(kind)) or "", re.DOTALL)
        if match:
            rows.append((f"`{kind}`", match[1].replace("``", "`")))
    return "\n## What each component leaves out\n\n" + _table(("kind", "neglects"), rows)


def _accuracy() -> str:
    """The tables that ``dtnsim validate`` makes and a test keeps fresh in the README, and the notes on each study."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = [
        "# Accuracy\n",
        "Made by `dtnsim validate` and kept fresh by a check. Figures fit parameters or judge them, never both.\n",
    ]
    for block, title in (("accuracy", "Figures that judge"), ("tools", "Real tools over an emulated path")):
        match = re.search(rf"<!-- {block}:begin -->\n(.*?)<!-- {block}:end -->", readme, re.DOTALL)
        text += [f"\n## {title}\n", match[1] if match else ""]
    text.append("\n## What was chosen after looking, and why misses miss\n")
    text += [f"- [{page.partition(chr(10))[0].removeprefix('# ')}]({name})" for name, page in _notes().items()]
    return "\n".join(text) + "\n"


def _notes() -> dict[str, str]:
    """The notes on each study, a page each."""
    return {
        f"accuracy-of-{notes.parent.name}.md": notes.read_text(encoding="utf-8")
        for notes in sorted((ROOT / "calibration").glob("*/NOTES.md"))
    }
