"""One value of something that can be set for nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of something that can be set.

    Attributes:
        what: Of what it is a value; at most one of each is taken.
        overrides: ``key=value`` of the path.
        commands: What to type.
    """

    what: str
    overrides: tuple[str, ...]
    commands: tuple[str, ...]
