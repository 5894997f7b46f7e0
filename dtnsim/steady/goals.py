"""Probability as an answer: how likely a rate or a deadline is met, and what a script may require of it."""

import re
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.records import Prediction

_REQUIREMENT: Final = re.compile(r"\s*(>=|<=)\s*(.+?)\s+at\s+(\d+(?:\.\d+)?)\s*%\s*", re.IGNORECASE)
NO_DRAWS: Final = "--samples 0 turns probabilities off; remove it"
#: probability from which on a goal is called met where nobody says how likely it has to be
_EVEN: Final = 0.5
_HOW: Final = "write '>= 10Gb/s at 80 %' for a rate, or '<= 8h at 90 %' for a duration"


@dataclass(frozen=True, slots=True)
class Goal:
    """A rate to reach, or a time to be done in."""

    kind: Literal["target", "deadline"]  #: ``target`` [B/s] or ``deadline`` [s].
    value: float  #: In SI.
    required: float | None = None  #: Probability that is asked for; None where the goal is only asked about.

    @property
    def words(self) -> str:
        """``at least 10 Gb/s``, ``within 8 h``."""
        shown = units.show(self.value, "B/s" if self.kind == "target" else "s")
        return f"at least {shown}" if self.kind == "target" else f"within {shown}"

    def probability(self, prediction: Prediction) -> float:
        """Share of the scenarios that meet it, all transfers together.

        Raises:
            InputError: the prediction was made without scenarios.
        """
        if prediction.drawn is None:
            raise InputError(NO_DRAWS)
        if self.kind == "target":
            return float(np.mean(prediction.drawn.total_Bps >= self.value))
        return float(np.mean(prediction.drawn.seconds <= self.value))

    def met(self, prediction: Prediction, least: float = 0.0) -> bool:
        """Whether it is as likely as required, or ``least`` where nobody says how likely it has to be."""
        needed = least if self.required is None else self.required
        return not needed or self.probability(prediction) >= needed

    def fits(self, prediction: Prediction) -> bool:
        """Whether it is as likely as required, or as not to be met."""
        return self.met(prediction, _EVEN)


def target(text: str) -> Goal:
    """A rate like ``40Gb/s``.

    Raises:
        InputError: it is none.
    """
    return Goal("target", _value("--target", text, "B/s"))


def deadline(text: str) -> Goal:
    """A time like ``8h``.

    Raises:
        InputError: it is none.
    """
    return Goal("deadline", _value("--deadline", text, "s"))


def requirement(text: str) -> Goal:
    """``>= 10Gb/s at 80 %`` or ``<= 8h at 90 %``.

    Raises:
        InputError: it is neither.
    """
    match = _REQUIREMENT.fullmatch(text)
    if match is None or not 0 < float(match[3]) <= 100:
        raise InputError(f"--require: {text!r} is no requirement; {_HOW}")
    kind: Literal["target", "deadline"] = "target" if match[1] == ">=" else "deadline"
    value = _value("--require", match[2], "B/s" if kind == "target" else "s")
    return Goal(kind, value, float(match[3]) / 100)


def _value(option: str, text: str, dim: str) -> float:
    value = units.of_option(option, text, dim)
    if value <= 0:
        raise InputError(f"{option}: {text} is none; write it like {'10Gb/s' if dim == 'B/s' else '8h'}")
    return value
