"""What is printed of a part for choosing it, which moves no answer: age, size, endurance, power, place, price."""

import re
from typing import Annotated, Any, Final

from pydantic import Field, field_validator, model_validator

from dtnsim.components.model import Model
from dtnsim.ground.errors import InputError
from dtnsim.ground.quantity import Quantity, Scalar, Unit, prior
from dtnsim.ground.units import Money, money
from dtnsim.ground.yamlio import sourced

_DATE: Final = re.compile(r"\d{4}(-\d{2}){0,2}")


# those of every part are built once, not again within each kind of component
class BenchmarkLoad(Model, defer_build=False):
    """A benchmark's load, in fio's terms.

    Attributes:
        bs: Block size.
        iodepth: Requests in flight of a job.
        numjobs: Jobs.
    """

    bs: Annotated[Quantity, Unit("B", low=512)]
    iodepth: Annotated[int, Field(ge=1, le=65536)]
    numjobs: Annotated[int, Field(ge=1, le=1024)] = 1


class Facts(Model, defer_build=False):
    """What is printed of a part, for choosing it.

    Attributes:
        year: Year in which it came out.
        capacity: Bytes that it holds.
        endurance: Bytes that may be written to it under warranty.
        power_idle: Power of an idle part that is ready.
        power_busy: Power of a busy part; for processors the design power of one.
        sequential: Load behind the rates of long reads and writes.
        random: Load behind the rates of random requests.
        fits: Socket, slot or bays that it goes into, its own first: 'SP3', or 'SATA 2.5, 3.5 inch'.
        source: Where these facts come from, unless a fact says it itself; left out, where the part's figures do.
    """

    year: Annotated[Quantity, Unit("1", low=1990, high=2030)] | None = None
    capacity: Annotated[Quantity, Unit("B", low=1e9)] | None = None
    endurance: Annotated[Quantity, Unit("B", low=1e9)] | None = None
    power_idle: Annotated[Quantity, Unit("W", spread=0.1)] | None = None
    power_busy: Annotated[Quantity, Unit("W", spread=0.1)] | None = None
    sequential: BenchmarkLoad | None = None
    random: BenchmarkLoad | None = None
    fits: str = ""
    source: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_their_source(cls, raw: Any) -> Any:
        return sourced(raw)

    @property
    def places(self) -> tuple[str, ...]:
        """Where it fits, its own place first."""
        return tuple(p.strip() for p in self.fits.split(",") if p.strip())


class Price(Model, defer_build=False):
    """What one costs: a class of prices, not an offer. A text will do where nothing is known but the amount.

    Attributes:
        value: Amount and currency, like 420 USD.
        spread: How far prices of its class lie apart.
        date: Day, month or year of the price.
        source: Who says so.
    """

    value: str
    spread: Annotated[Quantity, Unit("1")] = prior("40 %", 0.0, "assumed: between shops, quantities and months")
    date: str = ""
    source: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, raw: Any) -> Any:
        if not isinstance(raw, str | int | float):
            return raw
        place = f"{raw.file}:{raw.line}" if isinstance(raw, Scalar) and raw.file else ""
        return {"value": str(raw), "source": place}

    @field_validator("value")
    @classmethod
    def _is_money(cls, raw: str) -> str:
        try:
            money(raw, "price")
        except InputError as error:
            raise ValueError(str(error).removeprefix("price: ")) from None
        return raw

    @field_validator("date")
    @classmethod
    def _is_date(cls, raw: str) -> str:
        if raw and not _DATE.fullmatch(raw):
            raise ValueError("is no date; write 2023, 2023-07 or 2023-07-01")
        return raw

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """JSON Schema: a text, or its keys."""
        return {"anyOf": [{"type": "string"}, handler(schema)]}

    @property
    def money(self) -> Money:
        """The amount in its currency."""
        return money(self.value, "price")

    def __str__(self) -> str:
        """As it was written, with its spread and date."""
        return f"{self.value} +- {self.spread.value:.0%}" + (f" ({self.date})" if self.date else "")
