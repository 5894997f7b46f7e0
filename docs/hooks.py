"""mkdocs: pages that are made from the models, the docstrings and the README when the site is built."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import generated


def on_files(files: Files, *, config: object) -> Files:
    """Adds the generated pages, and the schemas where editors look for them."""
    for name, text in generated.pages().items():
        files.append(File.generated(config, name, content=text))  # type: ignore[arg-type]  # MkDocsConfig
    for what, schema in generated.schemas().items():
        files.append(File.generated(config, f"schema/{what}.schema.json", content=json.dumps(schema, indent=1)))  # type: ignore[arg-type]
    return files
