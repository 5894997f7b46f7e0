"""dtnsim: simulation and capacity planning of end-to-end data transfer paths.

Every component is a set of stations with capacities; every transfer is a row of service demands
on those stations; the answer is how fast the rows can grow (operational analysis, Denning and
Buzen 1978).

    >>> import dtnsim
    >>> answer = dtnsim.predict("venadi/gridftp-gpfs")
    >>> answer.bottleneck.kind
    'core'
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes half of the time that `import dtnsim` takes
if TYPE_CHECKING:
    from typing import Any

    from dtnsim.cli import command as command
    from dtnsim.description.spec import PathSpec as PathSpec, load as load
    from dtnsim.evidence.calibrate import calibrate as calibrate
    from dtnsim.evidence.validate import validate as validate
    from dtnsim.ground.errors import DtnsimError as DtnsimError, InputError as InputError
    from dtnsim.ground.quantity import Quantity as Quantity
    from dtnsim.ground.records import Prediction as Prediction
    from dtnsim.logs import read_logs as read_logs
    from dtnsim.logs.measurement import Measurement as Measurement
    from dtnsim.planning.compare import compare as compare
    from dtnsim.planning.plan import plan as plan
    from dtnsim.planning.sweep import sweep as sweep
    from dtnsim.simulation import simulate as simulate
    from dtnsim.simulation.fleet.run import fleet as fleet
    from dtnsim.steady.prediction import predict as predict
    from dtnsim.steady.tcp_calculator import tcp as tcp

__version__ = "0.2.0"

#: public name -> module it lives in; loaded when first used, so that ``import dtnsim`` stays quick
_HOME = {
    "DtnsimError": "ground.errors",
    "InputError": "ground.errors",
    "Measurement": "logs.measurement",
    "PathSpec": "description.spec",
    "Prediction": "ground.records",
    "Quantity": "ground.quantity",
    "calibrate": "evidence.calibrate",
    "command": "cli",
    "compare": "planning.compare",
    "fleet": "simulation.fleet.run",
    "load": "description.spec",
    "plan": "planning.plan",
    "predict": "steady.prediction",
    "read_logs": "logs",
    "simulate": "simulation",
    "sweep": "planning.sweep",
    "tcp": "steady.tcp_calculator",
    "validate": "evidence.validate",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dtnsim' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"dtnsim.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
