"""What many systems have in the place of a default that has no spread: jumbo frames instead of 1500 bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Otherwise:
    """Annotation of a field: ``mtu: Annotated[Quantity, Unit("B"), Otherwise("9000 B", "jumbo frames")]``.

    Where nobody wrote the field, `dtnsim.steady.defaults` tries this value and says by how much the answer moves.

    Attributes:
        text: The value, as it would be written.
        why: Where systems have it.
        now: What the default is in words, where the field alone does not say it.
    """

    text: str
    why: str
    now: str = ""
