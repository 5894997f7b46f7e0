"""Numbers of which scenarios have different values, and who may not ask for one: sweeps are composed once for all."""

import math
from typing import Any, NoReturn, Self

import numpy as np

from dtnsim.physics._arrays import BoolArray


class NeedsOneError(Exception):
    """Something reads a parameter's one value where there are many."""


class MixedError(NeedsOneError):
    """Something that decides how a path is composed holds in some scenarios only."""

    def __init__(self, holds: BoolArray) -> None:
        super().__init__("scenarios differ in more than numbers")
        self.holds = holds  #: In which, (S,).


class Several(float):
    """A number of which scenarios have different values, for those who may not ask: any use of it is refused."""

    def __new__(cls) -> Self:
        """Not a number, also to those who ask no operator."""
        return super().__new__(cls, math.nan)

    def _refused(self, *_: object) -> NoReturn:
        raise NeedsOneError("a number of which scenarios have different values")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refused
    __pow__ = __rpow__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __int__ = __float__ = _refused


def agreed(holds: Any) -> bool:
    """Whether something holds in all scenarios, or in none; `MixedError` where it holds in some."""
    every = np.asarray(holds, bool)
    if every.all() or not every.any():
        return bool(every.flat[0])
    raise MixedError(every)
