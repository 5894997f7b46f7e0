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

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dtnsim.cli import command
    from dtnsim.description.spec import PathSpec, load
    from dtnsim.evidence.calibrate import calibrate
    from dtnsim.evidence.validate import validate
    from dtnsim.ground.errors import DtnsimError, InputError
    from dtnsim.ground.quantity import Quantity
    from dtnsim.ground.records import Prediction
    from dtnsim.logs import read_logs
    from dtnsim.logs.measurement import Measurement
    from dtnsim.planning.compare import compare
    from dtnsim.planning.plan import plan
    from dtnsim.planning.sweep import sweep
    from dtnsim.simulation import simulate
    from dtnsim.simulation.fleet.run import fleet
    from dtnsim.steady.prediction import predict
    from dtnsim.steady.tcp_calculator import tcp

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

__all__ = [
    "DtnsimError",
    "InputError",
    "Measurement",
    "PathSpec",
    "Prediction",
    "Quantity",
    "calibrate",
    "command",
    "compare",
    "fleet",
    "load",
    "plan",
    "predict",
    "read_logs",
    "simulate",
    "sweep",
    "tcp",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dtnsim' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"dtnsim.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
