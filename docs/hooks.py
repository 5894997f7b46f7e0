"""mkdocs: what is made when the site is built, from the models, the docstrings, the README and the laws themselves."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import generated
import pictures
import split


def on_config(config: Any) -> Any:
    """Puts the parts of long pages into the navigation."""
    config.nav = split.listed(config.nav, generated.pages())
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Adds the generated pages, the schemas where editors look for them, and the pictures."""
    for name, text in generated.pages().items():
        files.append(File.generated(config, name, content=text))
    for what, schema in generated.schemas().items():
        files.append(File.generated(config, f"schema/{what}.schema.json", content=json.dumps(schema, indent=1)))
    for name in pictures.topics():
        files.append(File.generated(config, f"physics/{name}.svg", content=pictures.physics(name)))
    for path, drawn in generated.gallery().items():
        files.append(File.generated(config, f"gallery/{path.replace('/', '--')}.svg", content=drawn.picture))
    return files


#: what a search finds before and after the rest: pages that begin so
_SOUGHT = {"faq": 5.0, "tutorial": 3.0, "how-to/": 2.0, "reference/": 0.5, "accuracy-of": 0.1, "changes": 0.1}


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Puts laws and answers where a page asks for them, and equations as MathML; says how much it is sought."""
    weights = (boost for name, boost in _SOUGHT.items() if page.file.src_uri.startswith(name))
    page.meta["search"] = {"boost": next(weights, 1.0)}
    return equations(generated.filled(markdown))


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Asks nobody else for the worker that searches pages opened from disk: it lies beside them."""
    return _reached(_from_here(output, "../" * page.url.count("/")))


def on_post_template(output_content: str, *, template_name: str, **_: Any) -> str:
    """The same of the page for what is not found."""
    return _reached(_from_here(output_content, "")) if template_name.endswith(".html") else output_content


def _from_here(output: str, up: str) -> str:
    return output.replace("https://unpkg.com/iframe-worker/shim", f"{up}assets/iframe-worker/shim.js")


def _reached(output: str) -> str:
    """The search has a name, and code and tables that are wider than the page are reached by the keyboard."""
    for search in ('data-md-component="search" role="dialog"', 'id="__search"'):
        output = output.replace(search, f'{search} aria-label="Search"')
    return re.sub(r"<(pre|table)>", r'<\1 tabindex="0">', output)


def equations(markdown: str) -> str:
    """``$$...$$`` and ``$...$`` as MathML, which browsers set without any script."""

    def block(match: re.Match[str]) -> str:
        return f'\n<div class="equation">{convert(match[1].strip(), display="block")}</div>\n'

    parts = re.split(r"(^```.*?^```$|`[^`\n]*`)", markdown, flags=re.MULTILINE | re.DOTALL)
    for n in range(0, len(parts), 2):
        text = re.sub(r"\$\$(.+?)\$\$", block, parts[n], flags=re.DOTALL)
        parts[n] = re.sub(r"(?<![\\\w$])\$([^$\n]+)\$(?![\w$])", lambda found: convert(found[1]), text)
    return "".join(parts)
