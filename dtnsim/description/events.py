"""What happens while a path is simulated, as a path file says it: scheduled events, other people's transfers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from dtnsim.components.base import Model
from dtnsim.ground.quantity import Quantity, Unit, prior


class Event(Model):
    """Something that happens while a path is simulated.

    Either stations (``station`` may have ``*``) get ``factor`` times their capacity, 0 for a link that is
    down; or keys of the path change (``set``), as with ``--set``: a drive is lost, loss appears. ``until``
    ends it. With ``retry_after`` the files under way are aborted and start again after that time.
    """

    at: Annotated[Quantity, Unit("s")]
    station: str | None = None
    factor: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    change: Annotated[dict[str, str] | None, Field(alias="set")] = None
    until: Annotated[Quantity, Unit("s")] | None = None
    retry_after: Annotated[Quantity, Unit("s")] | None = None
    what: str = ""

    @model_validator(mode="after")
    def _one_of(self) -> Event:
        if (self.station is None) == (self.change is None):
            raise ValueError("needs either 'station' with 'factor', or 'set' with the keys that change")
        if self.until is not None and self.until.value <= self.at.value:
            raise ValueError("'until' is not after 'at'")
        return self


class Others(Model):
    """Transfers of other people that arrive while a path is simulated.

    Arrivals are Poisson with ``rate`` (over the day by ``1 + diurnal cos``), sizes log-normal around
    ``size`` with ``sigma`` of the logarithm; or both come from ``trace``, a CSV with ``time_s,bytes``.
    """

    stations: Annotated[list[str], Field(min_length=1)]
    rate: Annotated[Quantity, Unit("1/s")] | None = None
    size: Annotated[Quantity, Unit("B", low=1.0)] = prior("1 GB", 0.0, "assumed: a data set of medium size")
    sigma: Annotated[float, Field(ge=0, le=5)] = 1.5
    cap: Annotated[Quantity, Unit("B/s", low=1.0)] | None = None
    weight: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    diurnal: Annotated[float, Field(ge=0, le=1)] = 0.0
    peak_hour: Annotated[float, Field(ge=0, lt=24)] = 15.0
    trace: str | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Others:
        if (self.rate is None) == (self.trace is None):
            raise ValueError("needs either 'rate' or 'trace'")
        return self
