"""What a facility has to move, and by which rules: classes of transfers, endpoints, users, retries, what fails.

workload:
span: 1 year
growth: 40 %
endpoints: {facility: {hosts: [dtn*], choose: least loaded, active: 60}}
classes:
replication: {from: "facility:/data", to: "archive:/tape", every: 1 day, at: "02:00", size: 20 TB, each: 10 GB,
tool: globus, deadline: 8 h, priority: 1}
users: {from: "facility:/data", to: ["a:/in", "b:/in"], rate: 400 /day, diurnal: {wave: 60 %, peak_hour: 15},
size: {median: 20 GB, sigma: 1.5}, each: 1 GB, tool: globus, user: [ann, bob]}
failures: [{hosts: "dtn*", mtbf: 180 d, mttr: 4 h}]
"""

import math
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from dtnsim.components import model
from dtnsim.components.base import Model, empty
from dtnsim.description import calendar
from dtnsim.description.events import CronTime, Failure, Maintenance
from dtnsim.ground.quantity import Quantity, Unit, prior

YEAR_S: Final = 31557600.0  #: a year, in which growth is counted [s]
_MOST_GROWTH: Final = 100.0  #: growth that is beyond any plan
#: the first Monday of 2024: what hours and weekdays are counted from where no date is given
MONDAY: Final = "2024-01-01"

Seconds = Annotated[Quantity, Unit("s", low=1e-3)]
Size = Annotated[Quantity, Unit("B", low=1.0, high=1e21)]
ClockTime = Annotated[str, AfterValidator(lambda t: (calendar.clock(t), t)[1])]  #: a time of day
AtOnce = Annotated[int, Field(ge=1, le=10**9)]  #: how many transfers may run at once

#: one name, or several
_NAMES: Final = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
Names = Annotated[model.Names, Field(min_length=1), WithJsonSchema(_NAMES)]


class Sizes(Model):
    """Bytes of a transfer, log-normal around ``median``; no more than ``most``."""

    median: Size
    sigma: Annotated[float, Field(ge=0, le=5)] = 1.0
    most: Size | None = None

    @property
    def mean_B(self) -> float:
        """Mean, with what exceeds ``most`` cut to it [B]."""
        uncut = self.median.value * math.exp(self.sigma**2 / 2)
        if self.most is None:
            return uncut
        if self.sigma == 0:
            return min(self.median.value, self.most.value)
        z = math.log(self.most.value / self.median.value) / self.sigma
        below = 0.5 * math.erfc(-(z - self.sigma) / math.sqrt(2))
        return uncut * below + self.most.value * 0.5 * math.erfc(z / math.sqrt(2))


class Files(Model):
    """Number of files of a transfer, log-normal around ``median``."""

    median: Annotated[float, Field(ge=1, le=1e9)]
    sigma: Annotated[float, Field(ge=0, le=5)] = 1.0


class Diurnal(Model):
    """How arrivals follow the day: ``1 + wave cos`` around the mean, and less at the weekend."""

    wave: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "no daily wave asked for")
    peak_hour: Annotated[float, Field(ge=0, lt=24)] = 15.0
    weekend: Annotated[Quantity, Unit("1", high=10.0)] = prior("1", 0.0, "weekends are like other days")


class Window(Model):
    """Hours in which transfers of a class may begin; past midnight where ``to`` is before ``from``."""

    begin: Annotated[ClockTime, Field(alias="from")]
    to: ClockTime
    days: Annotated[str, AfterValidator(lambda t: (calendar.weekdays(t), t)[1])] = "daily"

    @model_validator(mode="after")
    def _open(self) -> Self:
        if calendar.clock(self.begin) == calendar.clock(self.to):
            raise ValueError("a window that begins and ends at one time is never open; leave it out for always")
        return self


class Pairs(Model):
    """How often which ends meet: by the masses of both (``gravity``), or as written (``matrix``)."""

    gravity: dict[str, Annotated[float, Field(ge=0, le=1e12)]] | None = None
    matrix: dict[str, dict[str, Annotated[float, Field(ge=0, le=1e12)]]] | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.gravity is None) == (self.matrix is None):
            raise ValueError("needs either 'gravity' (a mass for each end) or 'matrix' (from, to, share)")
        return self


class Retry(Model):
    """What becomes of a transfer that is broken off.

    It gives its place back, waits ``after`` (each time ``factor`` times longer, ``most`` at the most), queues again and
    goes on where ``restart`` lets it: at the byte, at the last whole file, or from the start.
    """

    times: Annotated[int, Field(ge=0, le=10_000)] = 10
    after: Seconds = prior("1 min", 0.0, "a choice of the service, stated here")
    factor: Annotated[float, Field(ge=1, le=100)] = 2.0
    most: Seconds = prior("1 h", 0.0, "a choice of the service, stated here")
    restart: Literal["byte", "file", "none"] = "file"


class Endpoint(Model):
    """One or several hosts that transfers name together, and how many transfers they take at once."""

    hosts: Names
    choose: Literal["round robin", "least loaded"] = "round robin"
    active: AtOnce | None = None


class User(Model):
    """Whose transfers are limited together; ``share`` counts in fair queues."""

    active: AtOnce | None = None
    share: Annotated[float, Field(gt=0, le=1e6)] = 1.0


_WAYS: Final = ("start", "every", "cron", "rate", "volume", "trace")


class TransferClass(Model):
    """Transfers of one kind: between which ends, when, how much, how urgent.

    Attributes:
        begin, to: Ends, as ``endpoint:/path``; several are chosen from by ``pairs``, or evenly.
        tool: Name of the tool, or {name: ..., options}, as in a transfer.
        start: When the only one begins.
        every, at: A transfer so often, the first at that time of day.
        cron: Or when cron's five fields say so.
        count: How many each time.
        rate: Or so many a time, at random (Poisson).
        volume: Or as many as bring so many bytes a time.
        trace: Or those of a CSV file: start, source, destination, bytes, files.
        names: What the trace calls the ends: its name, our end.
        size, each, files: Bytes; size of a file, or number of files (one where neither is given).
        cap: Rate that no transfer of it passes.
        verified: Whether files that arrive damaged are noticed; as the tool does it where left out.
    """

    begin: Annotated[Names, Field(alias="from", description="endpoint:/path, one or several")]
    to: Names
    tool: Annotated[Any, WithJsonSchema({"x-family": "tool"})]
    via: list[str] = Field(default_factory=empty)
    start: Annotated[Quantity, Unit("s")] | None = None
    every: Seconds | None = None
    at: ClockTime | None = None
    cron: CronTime | None = None
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    rate: Annotated[Quantity, Unit("1/s")] | None = None
    volume: Annotated[Quantity, Unit("B/s", low=1e-9)] | None = None
    trace: str | None = None
    names: dict[str, str] = Field(default_factory=dict, description="name in the trace: our end")
    diurnal: Diurnal | None = None
    window: Window | None = None
    size: Sizes | Size | None = None
    each: Size | None = None
    files: Files | AtOnce | None = None
    pairs: Pairs | None = None
    user: Names = Field(default_factory=lambda: ["anyone"])
    priority: Annotated[int, Field(ge=-1000, le=1000)] = 0
    deadline: Seconds | None = None
    growth: Annotated[Quantity, Unit("1", low=-1.0, high=_MOST_GROWTH)] | None = None
    active: AtOnce | None = None
    cap: Annotated[Quantity, Unit("B/s", low=1.0)] | None = None
    retry: Retry | None = None
    verified: bool | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [way for way in _WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            conflict = f"both {ways[0]!r} and {ways[1]!r}" if ways else "no times"
            raise ValueError(f"gives {conflict}; write one of {', '.join(_WAYS)}")
        if self.size is None and self.trace is None:
            raise ValueError("needs 'size', the bytes of a transfer")
        if self.each is not None and self.files is not None:
            raise ValueError("gives both 'each' and 'files'; write the size of a file or their number")
        if self.diurnal is not None and self.rate is None and self.volume is None:
            raise ValueError("'diurnal' goes with 'rate' or 'volume'")
        if self.at is not None and self.every is None:
            raise ValueError("'at' goes with 'every'")
        if self.names and self.trace is None:
            raise ValueError("'names' goes with 'trace'")
        return self

    @property
    def mean_B(self) -> float:
        """Mean bytes of a transfer [B]."""
        assert self.size is not None
        return self.size.mean_B if isinstance(self.size, Sizes) else self.size.value

    @property
    def typical_B(self) -> float:
        """Bytes of a transfer in the middle [B]."""
        if self.size is None:
            return 1e11
        return self.size.median.value if isinstance(self.size, Sizes) else self.size.value

    def files_of(self, size_B: float) -> int:
        """Number of files of a transfer in the middle of its distribution."""
        if self.each is not None:
            return max(1, round(size_B / self.each.value))
        if isinstance(self.files, Files):
            return max(1, round(self.files.median))
        return self.files or 1


class Workload(Model):
    """Everything that a facility moves in a time.

    Attributes:
        span: How long it is simulated; unless stated, as long as it takes where all comes once (``start``, ``trace``).
        date: Day on which it starts: hours and weekdays count from it.
        growth: Of every class that does not say its own, a year.
        ahead: Growth that has gone by when it starts: the same demand so much later.
        service: Limits of a service by name: ``globus`` lets each user have three transfers at once.
        queue: Who comes first among equal priorities: the oldest, the user with the least under way for his share,
            or the nearest deadline.
        full: Utilisation from which a station is due for an upgrade.
        full_over: Whether that is asked of the day, or of the hour, that one in twenty exceeds. Bulk transfers fill a
            link for hours whatever its rate is, and do no harm; what people wait for should not.
        corruption: Bytes between two errors that no checksum of the network finds, in the mean; none where left out.
            Stone and Partridge (SIGCOMM 2000) found one in 16 million to 10 billion packets: 23 GB to 15 TB.
    """

    name: str = ""
    source: str = ""
    span: Annotated[Quantity, Unit("s", low=1.0, high=100 * YEAR_S)] = prior("1 year", 0.0, "a year")
    date: Annotated[str, AfterValidator(lambda t: (calendar.date(t), t)[1])] = MONDAY
    growth: Annotated[Quantity, Unit("1", low=-1.0, high=_MOST_GROWTH)] = prior("0", 0.0, "no growth asked for")
    ahead: Annotated[Quantity, Unit("s", high=100 * YEAR_S)] = prior("0 s", 0.0, "the demand of now")
    service: Literal["none", "globus"] = "none"
    queue: Literal["fifo", "fair", "deadline"] = "fifo"
    full: Annotated[Quantity, Unit("1", low=0.01, high=1.0)] = prior("80 %", 0.0, "the usual mark for upgrades")
    full_over: Literal["day", "hour"] = "day"
    endpoints: dict[str, Endpoint] = Field(default_factory=dict)
    users: dict[str, User] = Field(default_factory=dict)
    retry: Retry = Field(default_factory=Retry)
    corruption: Size | None = None
    classes: Annotated[dict[str, TransferClass], Field(min_length=1)]
    failures: list[Failure] = Field(default_factory=empty)
    maintenance: list[Maintenance] = Field(default_factory=empty)

    @property
    def whole_span(self) -> bool:
        """Whether hours after the last transfer count."""
        once = (kind.trace is not None or kind.start is not None for kind in self.classes.values())
        return "span" in self.model_fields_set or not all(once)
