"""What can be set, what can be bought, what of it has no place, and how much room there is."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from dtnsim.planning.catalog import Offer

Buys = tuple[tuple[Offer, int], ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of something that costs nothing that is known.

    Attributes:
        what: Of what it is a value; at most one of each is taken.
        overrides: ``key=value`` of the path.
        commands: What to type, or what to ask for.
        worth: Relative gain below which nobody asks for it.
    """

    what: str
    overrides: tuple[str, ...]
    commands: tuple[str, ...]
    worth: float = 0.0

    @property
    def another_tool(self) -> bool:
        """Whether it is another tool, which is used and not set."""
        return self.what.endswith(": another tool")


@dataclass(frozen=True, slots=True)
class Option:
    """One change that can be bought.

    Attributes:
        place: What it decides; a set has at most one option of a place.
        what: In words.
        overrides: ``key=value`` that put it in.
        buys: What has to be paid for it.
        price: Of all that, in the plan's currency.
        watts: Of all that; 0 where nobody says.
        uses: Slots, bays and the like that it takes, and how many.
        each: Price of one of each of what it buys, in the plan's currency.
    """

    place: str
    what: str
    overrides: tuple[str, ...]
    buys: Buys
    price: Decimal
    watts: float
    uses: tuple[tuple[str, int], ...] = ()
    each: tuple[Decimal, ...] = ()

    @property
    def part(self) -> str:
        """What is bought in the first place."""
        return self.buys[0][0].part if self.buys else self.what

    @property
    def count(self) -> int:
        """How many of it."""
        return self.buys[0][1] if self.buys else 0


@dataclass(frozen=True, slots=True)
class Refused:
    """A part that has no place, and why: ``fit``, or ``dark`` where nobody states its power."""

    part: str
    place: str
    why: str
    test: str = "fit"


@dataclass(frozen=True, slots=True)
class Offered:
    """What can be bought.

    Attributes:
        choices: For each place what can go there.
        stock: Slots, bays and the like, and how many of each are free.
        notes: What cannot be told.
        refused: What has no place, and why.
    """

    choices: dict[str, tuple[Option, ...]] = field(default_factory=dict)
    stock: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()
