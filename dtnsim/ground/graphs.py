"""networkx with as much of it as paths need: its graphs and its shortest ways; the rest as soon as it is asked for.

``import networkx`` loads 290 modules of which a path's graph and its ways take 35, a fifth of a command's CPU and of
its memory. `prepare` puts the package itself there without having run it; what it lacks (`networkx.pagerank`, or
another of its packages) runs it whole, so that whoever imports it afterwards finds all of networkx, as ever.
"""

import importlib
import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, Final

from dtnsim.ground import runtime

_ROOT: Final = "networkx"
#: packages that are entered for one or two of their files
_ENTERED: Final = (
    _ROOT, f"{_ROOT}.algorithms", f"{_ROOT}.algorithms.shortest_paths", f"{_ROOT}.algorithms.traversal"
)  # fmt: skip
#: what is in the package itself from the start
_PARTS: Final = (
    "exception",
    "utils",
    "classes",
    "algorithms.shortest_paths.generic",
    "algorithms.shortest_paths.weighted",
    "algorithms.shortest_paths.unweighted",
    "algorithms.traversal.depth_first_search",
    "algorithms.traversal.breadth_first_search",
)
_ASKED: Final = ("__all__", "__version__")  #: what people and star imports ask a package for


class _Entered(ModuleType):
    """A package that has not run: it knows where its files are."""

    def __getattr__(self, name: str) -> object:
        """What it lacks: its file of that name, or what it has once networkx has run."""
        if name.startswith("__") and name not in _ASKED:
            raise AttributeError(name)
        if find_spec(f"{self.__name__}.{name}") is not None:
            return importlib.import_module(f"{self.__name__}.{name}")
        return getattr(_loaded(self.__name__), name)


def prepare() -> None:
    """Loads networkx as far as a path's graph needs it, unless it is there already."""
    if _ROOT in sys.modules:
        return
    for name in _ENTERED:
        spec = find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(name)
        package = module_from_spec(spec)
        package.__class__ = _Entered
        sys.modules[name] = package
        above, _, below = name.rpartition(".")
        if above:
            setattr(sys.modules[above], below, package)
    root = sys.modules[_ROOT]
    for part in _PARTS:
        with runtime.no_plugins_found():
            module: Any = importlib.import_module(f"{_ROOT}.{part}")
        if part == "utils":  # decorates the functions of all others
            module.config = module.configs.config = module.backends._set_configs_from_environment()  # noqa: SLF001 - as networkx does
            exported = ["config", "_dispatchable", "_clear_cache"]
        else:
            exported = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        vars(root).update({n: getattr(module, n) for n in exported})


def _loaded(name: str) -> ModuleType:
    """A package of networkx after all of networkx has run; the modules that are there are the same ones."""
    root: Any = sys.modules[_ROOT]
    if isinstance(root, _Entered):
        root.__class__ = ModuleType  # type: ignore[assignment]
        before = {entered: sys.modules.pop(entered) for entered in _ENTERED[1:]}
        del root.algorithms
        importlib.reload(root)
        for entered, had in before.items():
            for key, value in vars(had).items():
                for package in (sys.modules[entered], root) if isinstance(value, ModuleType) else ():
                    vars(package).setdefault(key, value)  # as star imports leave them there
    return sys.modules[name]
