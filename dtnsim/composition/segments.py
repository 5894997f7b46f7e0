"""What a byte costs on a network segment: bandwidth that others leave, firewall, policer."""

from __future__ import annotations

from dtnsim.components.segment import Segment
from dtnsim.composition.route import Framing, wall_rate
from dtnsim.ground.ledger import Row
from dtnsim.ground.term import law, term
from dtnsim.physics import network as physics


def charge(row: Row, name: str, segment: Segment, frame: Framing, flows: tuple[int, int], *, forward: bool) -> None:
    """Bandwidth left by others, firewall and policer of one segment in one direction.

    Args:
        row: The row to charge.
        name: Name of the segment.
        segment: The segment.
        frame: Packet sizes.
        flows: Streams, and the workers that they are of.
        forward: Whether bytes cross it from its near end.
    """
    streams, workers = flows
    way = "" if forward else ".back"
    draw = row.ledger.draw
    taken = segment.taken(draw)
    capacity = row.term(segment.bandwidth)
    if taken is not None:
        capacity = law(physics.left_by_others, capacity_Bps=capacity, share=taken)
    row.charge(f"{name}{way}", "network", capacity=capacity, per_byte=frame.per_payload, what="network segment")
    wall = segment.firewall
    if wall is not None:
        row.charge(
            f"{name}{way}.firewall-engine",
            "firewall",
            capacity=wall_rate(draw, wall, streams),
            private=True,
            alone=wall_rate(draw, wall, streams / workers).value if workers > 1 and wall.total is not None else None,
            per_byte=frame.per_payload,
            what="inspection engines of the firewall: each flow stays on one",
        )
        if wall.total is not None:
            total = row.term(wall.total)
            row.charge(f"{name}{way}.firewall", "firewall", capacity=total, per_byte=frame.per_payload, what="firewall")
    for box, made in segment.boxes.items():
        made.charge(row, f"{name}{way}.{box}", frame.per_payload, term(frame.mss, "B"), streams)
    if segment.policer is not None:
        row.charge(
            f"{name}{way}.policer",
            "policer",
            capacity=row.term(segment.policer.rate),
            per_byte=term(frame.mtu, "B") / term(frame.mss, "B"),
            what=f"token bucket ({segment.policer.action})",
        )
