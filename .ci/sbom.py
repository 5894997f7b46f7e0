"""What the wheel has within and what it needs, as CycloneDX 1.5: packaging/sbom.cdx.json, which the wheel carries.

python .ci/sbom.py            writes it
python .ci/sbom.py --check    exit 1 where it is stale: another version, other dependencies, other bundled bytes
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = ROOT / "packaging" / "sbom.cdx.json"
ASSETS = ROOT / "dtnsim" / "report" / "assets"


def _hashes(data: bytes) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}]


def _bundled() -> dict[str, Any]:
    """plotly.js, as it lies in the package and unpacked."""
    packed = (ASSETS / "plotly-cartesian.min.js.gz").read_bytes()
    text = gzip.decompress(packed)
    match = re.search(rb"plotly\.js \(cartesian - minified\) v([\d.]+)", text[:200])
    assert match is not None, "no version in plotly.js"
    version = match[1].decode()
    return {
        "type": "library",
        "bom-ref": "plotly.js",
        "name": "plotly.js-cartesian-dist-min",
        "version": version,
        "purl": f"pkg:npm/plotly.js-cartesian-dist-min@{version}",
        "licenses": [{"license": {"id": "MIT"}}],
        "hashes": _hashes(text),
        "properties": [
            {"name": "dtnsim:file", "value": "dtnsim/report/assets/plotly-cartesian.min.js.gz"},
            {"name": "dtnsim:file-sha256", "value": hashlib.sha256(packed).hexdigest()},
            {"name": "dtnsim:licence-file", "value": "dtnsim/report/assets/plotly-LICENSE"},
        ],
    }


def _needed(wanted: str) -> dict[str, Any]:
    """A package that pip installs beside it: a range of versions, and nothing of it in the wheel."""
    name = re.split(r"[^A-Za-z0-9_-]", wanted)[0]
    return {
        "type": "library",
        "bom-ref": name,
        "name": name,
        "purl": f"pkg:pypi/{name.lower()}",
        "scope": "required",
        "properties": [{"name": "dtnsim:requires", "value": wanted}],
    }


def text() -> str:
    """The document; the same source gives the same bytes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = re.search(r'__version__ = "(.*)"', (ROOT / "dtnsim" / "__init__.py").read_text())
    assert version is not None, "no version"
    own = {
        "type": "application",
        "bom-ref": project["name"],
        "name": project["name"],
        "version": version[1],
        "purl": f"pkg:pypi/{project['name']}@{version[1]}",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    parts = [_bundled(), *map(_needed, project["dependencies"])]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": parts,
        "dependencies": [{"ref": project["name"], "dependsOn": [p["bom-ref"] for p in parts]}],
    }
    return json.dumps(document, indent=1) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(int(not FILE.is_file() or FILE.read_text() != text()))
    FILE.write_text(text())
