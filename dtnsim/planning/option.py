"""What can be set, what can be bought, what of it has no place, and how much room there is."""

from dataclasses import dataclass, field
from decimal import Decimal

from dtnsim.planning.catalog import Offer

Buys = tuple[tuple[Offer, int], ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of something that costs nothing that is known."""

    what: str  #: Of what it is a value; at most one of each is taken.
    overrides: tuple[str, ...]  #: ``key=value`` of the path.
    commands: tuple[str, ...]  #: What to type, or what to ask for.
    worth: float = 0.0  #: Relative gain below which nobody asks for it.

    @property
    def another_tool(self) -> bool:
        """Whether it is another tool, which is used and not set."""
        return self.what.endswith(": another tool")


@dataclass(frozen=True, slots=True)
class Option:
    """One change that can be bought."""

    place: str  #: What it decides; a set has at most one option of a place.
    what: str  #: In words.
    overrides: tuple[str, ...]  #: ``key=value`` that put it in.
    buys: Buys  #: What has to be paid for it.
    price: Decimal  #: Of all that, in the plan's currency.
    watts: float  #: Of all that; 0 where nobody says.
    uses: tuple[tuple[str, int], ...] = ()  #: Slots, bays and the like that it takes, and how many.
    each: tuple[Decimal, ...] = ()  #: Price of one of each of what it buys, in the plan's currency.

    @property
    def part(self) -> str:
        """What is bought in the first place."""
        return self.buys[0][0].part if self.buys else self.what


@dataclass(frozen=True, slots=True)
class Refused:
    """A part that has no place, and why: ``fit``, or ``dark`` where nobody states its power."""

    part: str
    place: str
    why: str
    test: str = "fit"


@dataclass(frozen=True, slots=True)
class Offered:
    """What can be bought."""

    choices: dict[str, tuple[Option, ...]] = field(default_factory=dict)  #: For each place what can go there.
    stock: dict[str, int] = field(default_factory=dict)  #: Slots, bays and the like, and how many of each are free.
    notes: tuple[str, ...] = ()  #: What cannot be told.
    refused: tuple[Refused, ...] = ()  #: What has no place, and why.
