"""Packages that a prediction does not need: each belongs to an extra, and its absence is one line that names it."""

import importlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from dtnsim.ground.errors import InputError

#: package -> extra of dtn-pathsim that installs it
EXTRAS: Final = {
    "dask": "cluster",
    "distributed": "cluster",
    "kaleido": "report",
    "llvmlite": "fast",
    "numba": "fast",
    "pandas": "report",
    "plotext": "report",
    "plotly": "report",
    "pyarrow": "report",
    "zstandard": "zstd",
}
#: libraries that answers depend on, and those of extras that may change how fast they come
LIBRARIES: Final = ("numpy", "scipy", "networkx", "simpy", "pydantic", "PyYAML", "numba")


def versions() -> dict[str, str | None]:
    """The version of each of `LIBRARIES`; None where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    installed: dict[str, str | None] = dict.fromkeys(LIBRARIES)
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed


def hint(package: str) -> str:
    """How to install what ``package`` comes with."""
    return f"pip install 'dtn-pathsim[{EXTRAS[package.partition('.')[0]]}]'"


def need(module: str, feature: str, *, instead: str = "") -> Any:
    """Imports a module of an extra.

    Args:
        module: The module, like ``pyarrow.parquet``.
        feature: What needs it, as the message begins: ``--out FILE.parquet``.
        instead: What goes without it, as the message ends.

    Raises:
        InputError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        also = f", or {instead}" if instead else ""
        raise InputError(f"{feature} needs {package}: {hint(package)}{also}") from None


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A ``pandas.DataFrame`` of rows; what they nest is in columns of its own, with dots in their names.

    Raises:
        InputError: pandas is not installed.
    """
    return need("pandas", "to_frame()").json_normalize(list(rows))
