"""What happens meanwhile: to a path its events and other people's transfers, to a workload failures and maintenance."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from dtnsim.components.base import Model
from dtnsim.description import calendar
from dtnsim.ground.quantity import Quantity, Unit, prior

_TARGETS: Final = ("hosts", "links", "stations", "drives")
CronTime = Annotated[str, AfterValidator(lambda t: (calendar.Cron(t), t)[1])]  #: cron's five fields
#: what transfers do that cross what goes down: they are broken off and tried again, or wait where they are
OnFault = Literal["fail", "wait"]


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
    def _one_of(self) -> Self:
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
    def _one_of(self) -> Self:
        if (self.rate is None) == (self.trace is None):
            raise ValueError("needs either 'rate' or 'trace'")
        return self


class _Target(Model):
    """What an event changes: one of ``hosts``, ``links``, ``stations`` (names, with ``*``)."""

    hosts: str | None = None
    links: str | None = None
    stations: str | None = None
    drives: Annotated[str | None, Field(description="host:/volume, both with *; every drive fails by itself")] = None
    what: str = ""
    transfers: OnFault = "fail"

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        targets = [name for name in _TARGETS if getattr(self, name) is not None]
        if len(targets) != 1:
            conflict = f"both {targets[0]!r} and {targets[1]!r}" if targets else "nothing"
            raise ValueError(f"names {conflict}; write one of {', '.join(_TARGETS)}")
        return self

    @property
    def target(self) -> tuple[str, str]:
        """(kind of target, pattern)."""
        return next((name, str(getattr(self, name))) for name in _TARGETS if getattr(self, name) is not None)


class Failure(_Target):
    """Something that fails by itself, again and again.

    Times between failures are exponential, or Weibull with ``shape`` (below 1: early failures; above: wear); repairs
    are exponential with mean ``mttr``, or always as long where ``repair`` is ``fixed``. Meanwhile its stations have
    ``factor`` of their capacity. A drive that fails leaves its array degraded until it is rebuilt, which takes its size
    over ``rebuild``.
    """

    mtbf: Annotated[Quantity, Unit("s", low=1.0)]
    mttr: Annotated[Quantity, Unit("s", low=1e-3)] | None = None
    shape: Annotated[float, Field(ge=0.2, le=20)] = 1.0
    repair: Literal["exponential", "fixed"] = "exponential"
    factor: Annotated[float, Field(ge=0, lt=1)] = 0.0
    size: Annotated[Quantity | None, Unit("B", low=1.0), Field(description="of a drive")] = None
    rebuild: Annotated[Quantity | None, Unit("B/s", low=1.0), Field(description="rate at which a drive is rebuilt")] = (
        None
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.drives is None:
            if self.mttr is None:
                raise ValueError("needs 'mttr', the mean time to repair")
            if self.size is not None or self.rebuild is not None:
                raise ValueError("'size' and 'rebuild' go with 'drives'")
        elif self.size is None or self.rebuild is None or self.mttr is not None:
            raise ValueError("drives need 'size' and 'rebuild' (how fast they are rebuilt) instead of 'mttr'")
        elif self.factor:
            raise ValueError("what a lost drive leaves of its array follows from the array; leave 'factor' out")
        return self


class Maintenance(_Target):
    """Planned downtime: once (``start``), every so often, or by cron; each lasts ``lasts``."""

    lasts: Annotated[Quantity, Unit("s", low=1.0)]
    start: Annotated[Quantity, Unit("s")] | None = None
    every: Annotated[Quantity, Unit("s", low=1.0)] | None = None
    cron: CronTime | None = None
    factor: Annotated[float, Field(ge=0, lt=1)] = 0.0
    transfers: OnFault = "wait"

    @model_validator(mode="after")
    def _when(self) -> Self:
        if (self.start is None and self.every is None) == (self.cron is None):
            raise ValueError("needs 'start', 'every' (with 'start' for the first), or 'cron'")
        if self.drives is not None:
            raise ValueError("drives are not taken down one by one; name hosts, links or stations")
        if self.every is not None and self.every.value <= self.lasts.value:
            raise ValueError("lasts longer than the time until the next one")
        return self
