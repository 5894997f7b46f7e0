"""The house as its code has it: which room imports which; ``python -m tests.house`` draws that in CONTRIBUTING.md."""

import ast
import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from dtnsim.ground import runtime

ROOT: Final = Path(__file__).parents[1]
CODE: Final = sorted((ROOT / "dtnsim").rglob("*.py"))
MAP: Final = ROOT / "CONTRIBUTING.md"
_PICTURE: Final = re.compile(r"(<!-- house:begin -->\n```text\n)(.*?)(```\n<!-- house:end -->)", re.DOTALL)


def module_of(path: Path) -> str:
    """Name of a file as others import it."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES: Final = frozenset(map(module_of, CODE))


class File(NamedTuple):
    """What the rules ask of a file, which is parsed once for all of them."""

    imports: frozenset[str]  # modules of the house that it imports when it is read, or for its types
    late: frozenset[str]  # those that its functions import besides
    functions: dict[str, int]  # lines of code of each, its docstring apart


@runtime.gc_paused()
@functools.cache
def read(path: Path) -> File:
    """What there is in a file of the house."""
    found: tuple[set[str], set[str]] = set(), set()
    functions, ahead = {}, [(node, False) for node in ast.parse(path.read_text()).body]
    while ahead:
        node, late = ahead.pop()
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found[late].update(name if name in MODULES else node.module for name in names)
        elif isinstance(node, ast.Import):
            found[late].update(alias.name for alias in node.names)
        else:
            late = late or not isinstance(node, ast.If | ast.Try)
            inner = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.excepthandler))
            ahead += [(child, late) for child in inner]
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            functions[f"{node.lineno} {node.name}"] = body[-1].end_lineno - body[0].lineno + 1 if body else 0
    return File(frozenset(found[0] & MODULES), frozenset(found[1] & MODULES), functions)


def rooms() -> list[str]:
    """Rooms from the top down, as import-linter holds them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return [room.strip() for layer in contracts[0]["layers"] for room in layer.split(":")]


def counted() -> Counter[tuple[str, str]]:
    """(room that imports, room that is imported) -> how many pairs of their files do."""
    found: Counter[tuple[str, str]] = Counter()
    for path in CODE:
        for other in read(path).imports | read(path).late:
            pair = module_of(path).split(".")[1:2], other.split(".")[1:2]
            if all(pair) and pair[0] != pair[1]:
                found[pair[0][0], pair[1][0]] += 1
    return found


def picture() -> str:
    """A row for each room: what it imports of the rooms below it."""
    order, found = rooms(), counted()
    head = " " * 17 + "".join(f"{number:4}" for number in range(1, len(order) + 1))
    rows = [
        f"{number:2} {room:14}" + "".join(f"{found[room, other] or '.':>4}" for other in order)
        for number, room in enumerate(order, 1)
    ]
    return "\n".join([head, *rows]) + "\n"


def drawn() -> str:
    """The picture that CONTRIBUTING.md has."""
    match = _PICTURE.search(MAP.read_text())
    assert match is not None, "CONTRIBUTING.md has no picture of the house"
    return match[2]


def numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """(room, column, number) of a picture."""
    for row in text.splitlines()[1:]:
        _, room, *cells = row.split()
        for column, cell in enumerate(cells):
            yield room, column, 0 if cell == "." else int(cell)


@runtime.gc_paused()
def without_args() -> dict[str, list[str]]:
    """Room -> its public functions of three parameters or more, overriding none, whose docstrings lack ``Args``.

    What has one name in a room is said once, in its docstring, of flat numbers in `dtnsim.engine.layout`, fields by
    their class, options by their help. Of components and tools also those without a docstring: others override one.
    """
    trees = {path: ast.parse(path.read_text()) for path in CODE}
    flat = set(re.findall(r"``(\w+)``", ast.get_docstring(trees[ROOT / "dtnsim/engine/layout.py"]) or ""))
    shared = _with_help(trees[ROOT / "dtnsim/cli/options.py"])
    classes = {node.name: node for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)}
    found: dict[str, list[str]] = {}
    for path, tree in trees.items():
        room = module_of(path).split(".")[1] if path.parent != ROOT / "dtnsim" else ""
        words = ast.get_docstring(trees[ROOT / "dtnsim" / room / "__init__.py"]) or ""
        said = set(re.findall(r"``(\w+)``", words.partition("one name everywhere")[2]))
        said |= flat if any(name.endswith("layout") for name in read(path).imports) else set()
        for node, owner in _public(tree):
            every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            given = [a.arg for a in every if not _says(a.annotation, shared)]
            fields = {ast.unparse(n.target) for n in (owner.body if owner else ()) if isinstance(n, ast.AnnAssign)}
            own = [name for name in given if name not in {"self", "cls", *said, *fields} and name[0] != "_"]
            if owner is not None and _overrides(node.name, owner, classes):
                continue
            text, _, told = (ast.get_docstring(node) or "").partition("Args:\n")
            lacks = not all(re.search(rf"^ +{name}: ", told, re.MULTILINE) for name in own)
            if ((told or len(own) > 2) and lacks) or (not text and room in ("components", "tools")):
                found.setdefault(room, []).append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    return found


def unused() -> set[str]:
    """Arguments that no kind's function of a name uses: components take what their whole family is asked with."""
    asked: dict[str, set[str]] = {}
    for path in (ROOT / "dtnsim/components").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                names = {a.arg for a in (*node.args.args, *node.args.kwonlyargs)} - {"self", "cls"}
                asked.setdefault(node.name, names).update(names)
    for path in (ROOT / "dtnsim/components").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name in asked:
                asked[node.name] -= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return {f"{name}({argument})" for name, arguments in asked.items() for argument in arguments}


def _with_help(tree: ast.Module) -> set[str]:
    """Names of options that are declared with their help, as a module that shares them calls them."""
    found = [n for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
    return {f"options.{ast.unparse(n.targets[0])}" for n in found if _says(n.value, set())}


def _says(annotation: ast.expr | None, shared: set[str]) -> bool:
    """Whether an option's help is in its annotation, or in that of a shared option."""
    text = ast.unparse(annotation) if annotation is not None else ""
    return text in shared or (text.startswith("Annotated[") and "help=" in text)


def _public(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, ast.ClassDef | None]]:
    """Public functions of a module, and those of its public classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_":
            yield node, None
        elif isinstance(node, ast.ClassDef) and node.name[0] != "_":
            yield from ((n, node) for n in node.body if isinstance(n, ast.FunctionDef) and n.name[0] != "_")


def _overrides(name: str, owner: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a class above has a function of that name."""
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in owner.bases]
    for base in [classes[b.id] for b in bases if isinstance(b, ast.Name) and b.id in classes and b.id != owner.name]:
        if any(isinstance(n, ast.FunctionDef) and n.name == name for n in base.body) or _overrides(name, base, classes):
            return True
    return False


if __name__ == "__main__":
    MAP.write_text(_PICTURE.sub(lambda m: m[1] + picture() + m[3], MAP.read_text()))
