"""Runs the notebooks and stores what their cells show: text, tables, figures as SVG beside plotly's own.

python .ci/notebooks.py [NOTEBOOK...]     run them, and write their outputs into the files
python .ci/notebooks.py --check [...]     exit 1 where texts or tables are others than those stored

Nothing that differs from run to run is stored: no counts, no times. Pictures need kaleido and a Chromium.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import os
import re
import sys
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1] / "notebooks"


def shown(cell: str, names: dict[str, Any]) -> tuple[str, object]:
    """What a cell prints, and what its last expression is."""
    tree = ast.parse(cell)
    last = tree.body[-1] if tree.body else None
    expression = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
    if expression is not None:
        tree.body.pop()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        value = None if expression is None else eval(compile(expression, "cell", "eval"), names)
    return printed.getvalue(), value


def bundle(value: Any, *, drawn: bool) -> dict[str, Any]:
    """An output as notebooks store it; a figure without its picture where it is not to be drawn."""
    if hasattr(value, "to_plotly_json"):
        figure = json.loads(value.to_json())
        figure["layout"].pop("template", None)
        data: dict[str, Any] = {"text/plain": [f"{value.layout.title.text}"]}
        if drawn:
            picture = value.to_image(format="svg", width=800, height=min(value.layout.height or 420, 520)).decode()
            data["image/svg+xml"] = stable(picture).splitlines(keepends=True)
        return {**data, "application/vnd.plotly.v1+json": figure}
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def stable(picture: str) -> str:
    """An SVG whose names, which plotly draws at random, are of what it shows: no two of a page are the same."""
    ids = set(re.findall(r"(?:defs-|clip|legend)([0-9a-f]{6})", picture))
    bare = re.sub("|".join(ids) or "$^", "", picture)
    name = hashlib.blake2b(bare.encode(), digest_size=3).hexdigest()
    for number, each in enumerate(sorted(ids, key=picture.index)):
        picture = picture.replace(each, f"{name}{number or ''}")
    return picture


def outputs(source: str, names: dict[str, Any], *, drawn: bool = True) -> list[dict[str, Any]]:
    """The outputs of a cell, as a notebook stores them."""
    printed, value = shown(source, names)
    results: list[dict[str, Any]] = []
    if printed:
        results.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)})
    if value is not None:
        data = bundle(value, drawn=drawn)
        results.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return results


def texts(results: list[dict[str, Any]]) -> list[Any]:
    """What is compared of outputs: all but pictures."""
    return [o.get("text") or {k: v for k, v in o["data"].items() if k.startswith("text/")} for o in results]


def main(arguments: list[str]) -> int:
    """Runs them."""
    check, good = "--check" in arguments, True
    chosen = [Path(a).resolve() for a in arguments if a != "--check"] or sorted(ROOT.glob("*.ipynb"))
    warnings.simplefilter("ignore")
    os.chdir(ROOT)
    for path in chosen:
        book, names = json.loads(path.read_text(encoding="utf-8")), dict[str, Any]()
        for cell in (c for c in book["cells"] if c["cell_type"] == "code"):
            results = outputs("".join(cell["source"]), names, drawn=not check)
            if check and texts(results) != texts(cell["outputs"]):
                sys.stderr.write(f"{path.name}: run python .ci/notebooks.py {path.name}\n")
                good = False
            cell["outputs"], cell["execution_count"] = results, None
        if not check:
            path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
