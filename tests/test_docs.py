"""The documentation: its commands exist, with these options; generated pages are whole (`.ci/docs` runs it)."""

import functools
import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

import dtnsim
from dtnsim import cli
from dtnsim.cli import man
from dtnsim.components.base import kinds
from tests.scripts import ROOT, script

TEXTS = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])


@functools.cache
def module(name: str) -> Any:
    return script(ROOT / "docs" / f"{name}.py")


@functools.cache
def generated() -> dict[str, str]:
    return dict(module("generated").pages())


@functools.cache
def options(command: str) -> set[str]:
    """Options that a command has."""
    flags = " ".join(flags for flags, _ in man.described(command)["options"])
    return set(re.findall(r"(?<!\w)--?[a-z][\w-]*", flags))


def commands(text: str) -> list[str]:
    """Command lines of dtnsim in the shell blocks of a page."""
    shell = "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    lines = [line.split(" || ")[0].split(" | ")[-1].split(" > ")[0] for line in shell.replace("\\\n", "").splitlines()]
    return [line for line in lines if re.match(r"\s*dtnsim ", line)]


@pytest.mark.parametrize("page", TEXTS, ids=lambda p: p.stem)
def test_commands_of_the_documentation_exist(page: Path) -> None:
    for line in commands(page.read_text()):
        words = shlex.split(line, comments=True)
        if words[1].startswith("--"):
            continue
        assert words[1] in cli.COMMANDS, line
        given = {w.partition("=")[0] for w in words[2:] if re.match(r"--?[a-z]", w)}
        assert given <= options(words[1]), line


def test_python_of_the_documentation_is_python() -> None:
    for page in TEXTS:
        for text in re.findall(r"^```py\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            compile(text, str(page), "exec")


@pytest.mark.long
def test_generated_pages_hold_every_kind_and_every_public_name() -> None:
    made = generated()
    whole = {stem: "".join(t for n, t in made.items() if n.startswith(stem)) for stem in ("reference/", "accuracy")}
    assert all(f"\n### {kind}\n" in whole["reference/"] for kind in kinds())
    assert all(f"\n## {name}\n" in whole["reference/"] for name in dtnsim.__all__)
    assert all(f"\n## dtnsim {name}\n" in whole["reference/"] for name in cli.COMMANDS)
    assert all(len(text.split()) < 3000 for text in made.values())
    assert not any(" at 0x" in text for text in made.values())  # the same at each run
    book = {name: module("generated").laws(modules) for name, (_, _, modules) in module("generated").topics().items()}
    without = [name for name, text in book.items() if "**Source:**" not in text]
    assert without == ["errors"]  # numbers that were learned, not laws: its page names its sources
    assert "**Source:**" in (ROOT / "docs" / "physics" / "errors.md").read_text()
    assert sum(text.count("\n#### ") for text in book.values()) > 150
    assert all(len(text.split()) < 3000 for text in book.values())
    assert "| **all** |" in whole["accuracy"]
    assert {"path", "host", "dataset", "output/prediction"} <= set(module("generated").schemas())


def test_a_term_of_the_glossary_lives_where_it_says_and_has_one_sense() -> None:
    """Other classes of its name are listed with what they are; texts and docstrings use it."""
    terms = module("generated").glossary()
    assert all(len(sense.means) > 20 for sense in terms.values())
    named: dict[str, set[str]] = {}
    code = sorted((ROOT / "dtnsim").rglob("*.py"))
    for path in code:
        where = ".".join(path.relative_to(ROOT / "dtnsim").with_suffix("").parts).removesuffix(".__init__")
        for found in re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE):
            named.setdefault(found, set()).add(where)
    for term, sense in terms.items():
        name = "".join(word.capitalize() for word in term.split())
        others = {where.partition(":")[0] for where in sense.elsewhere}
        assert others <= named.get(name, set()) <= {sense.module, *others}, term
    texts = " ".join(" ".join(page.read_text() for page in [*TEXTS, *code]).lower().split())
    assert [term for term in terms if term.lower() not in texts] == []


def test_every_law_stands_on_one_page_of_the_book() -> None:
    pages = module("generated")
    placed = [name for _, _, modules in pages.topics().values() for name in modules]
    with_laws = {name for name in pages._modules() if pages._laws(importlib.import_module(name))}
    assert len(placed) == len(set(placed))
    assert {f"dtnsim.physics.{name}" for name in placed} >= with_laws


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda p: p.stem)
def test_a_page_is_read_in_one_sitting(page: Path) -> None:
    assert len(page.read_text().split()) < 3000


def test_the_site_lists_every_page() -> None:
    nav = str(module("split").listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"], generated()))
    written = {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
    assert {p for p in written | set(generated()) if p not in nav} == set()


def test_a_long_page_is_cut_at_headings_and_loses_nothing() -> None:
    """Sections of 40 words, one of 5,000 in ten parts, one without finer headings: it stays whole."""
    parts = "".join(f"### p{n}\n\n{'word ' * 498}\n" for n in range(10))
    text = f"# Title\n\nIntro.\n\n## a\n\n{'word ' * 38}\n## long\n\n{parts}## whole\n\n{'word ' * 3000}\n"
    made = module("split").split("x/y.md", text)
    assert list(made) == [f"x/y{n}.md" for n in ("", "-1", "-2", "-3")]
    assert "\n- [a](y-1.md#a), [long](y-1.md#long)" in made["x/y.md"]
    assert sum(page.count("word ") for page in made.values()) == text.count("word ")
    assert all(len(page.split()) < 2800 for name, page in made.items() if name != "x/y-3.md")
    assert made["x/y-3.md"].startswith("# Title: whole\n")
    listed = module("split").split("z.md", "# T\n\n## u\n\n" + "- word\n" * 3000)
    assert [len(page.split()) < 2800 for page in listed.values()] == [True] * 4
    nav = module("split").listed([{"Y": "x/y.md"}, {"Z": "z.md"}], made)
    assert nav[0]["Y"][0] == {"Contents": "x/y.md"}
    assert [next(iter(each.values())) for each in nav[0]["Y"]] == list(made)
    assert nav[1] == {"Z": "z.md"}
    assert module("split").split("short.md", "# S\n\n## a\n") == {"short.md": "# S\n\n## a\n"}


def test_the_check_compares_all_that_pages_say_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = module("check")
    for page in check.pages():
        shown = check.printed(page)
        assert len(shown) == page.read_text().count("<!-- output:begin -->"), page
        assert set(shown) <= {text for _, text in check.blocks(page)}
    assert sum(len(check.printed(ROOT / "docs" / "how-to" / f"{page}.md")) for page in ("plan", "plan-cases")) == 6
    monkeypatch.setattr(check, "ROOT", tmp_path)
    block = "```sh\necho {}\n```\n\n<!-- output:begin -->\n```text\nyes\n```\n<!-- output:end -->\n"
    for said in ("yes", "no"):
        (tmp_path / "page.md").write_text(block.format(said))
        assert check.run(tmp_path / "page.md") == (said == "yes")


def test_the_check_finds_the_blocks() -> None:
    found = module("check").blocks(ROOT / "docs" / "tutorial.md")
    assert len(found) >= 6
    assert {language for language, _ in found} == {"sh"}
