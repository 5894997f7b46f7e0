"""Scripts that are no part of the package, as modules."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from dtnsim.ground import library

ROOT = Path(__file__).parents[1]
CI = ROOT / ".ci"
LAB = library.root("calibration") / "tools"


def script(file: Path) -> Any:
    """Runs a script and gives its names; those beside it can be imported by it."""
    spec = importlib.util.spec_from_file_location(f"{file.parent.name.strip('.')}_{file.stem}", file)
    sys.path.append(str(file.parent))
    made = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made
