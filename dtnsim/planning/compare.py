"""`compare`: variants of a path side by side, and the difference explained station by station."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtnsim.description import override, spec
from dtnsim.description.override import Overrides
from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.lazy import Pictured
from dtnsim.ground.output import fields, rates
from dtnsim.ground.records import Prediction
from dtnsim.ground.units import Money
from dtnsim.planning.money import exchange, items, total
from dtnsim.steady.prediction import predict

_WORTH = 0.005  #: relative change of a station's allowance that is worth a line
_TOOLS, _BEST = "tools", 3  #: a variant that stands for the best tools, and how many of them are compared


@dataclass(frozen=True, slots=True, repr=False)
class Variant:
    """One of the paths compared."""

    name: str  #: What it is called here.
    prediction: Prediction  #: Its answer.
    price: Money | None  #: Sum of the prices that its parts' files give; None where they give none.
    unpriced: tuple[str, ...]  #: Parts of which no price is known.

    def __repr__(self) -> str:
        return f"<Variant {self.name}: {units.show(self.prediction.throughput_Bps.p50, 'B/s')}>"

    def allowances(self) -> dict[str, float]:
        """Rate that each station would allow by itself, with all transfers in proportion [B/s]."""
        return {
            u.station.name: float(u.station.capacity) / u.demand_per_byte
            for u in self.prediction.stations
            if u.demand_per_byte > 0 and u.utilization > 0
        }


@dataclass(frozen=True, slots=True)
class StationChange:
    """Rate that a station allows in the first variant and in another; None if it is not on the way."""

    station: str
    before_Bps: float | None
    after_Bps: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Pictured):
    """Variants side by side; the first is what the others are compared with; ``notes`` are rates taken for granted."""

    variants: tuple[Variant, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.variants)} variants: {', '.join(v.name for v in self.variants)}>"

    def changes(self, number: int) -> tuple[StationChange, ...]:
        """Stations whose allowance differs between variant ``number`` and the first, the tightest first."""
        a, b = self.variants[0].allowances(), self.variants[number].allowances()
        changes = []
        for name in {**a, **b}:
            before, after = a.get(name), b.get(name)
            if before is None or after is None or abs(after - before) > _WORTH * before:
                changes.append(StationChange(name, before, after))
        return tuple(sorted(changes, key=lambda c: min(v for v in (c.before_Bps, c.after_Bps) if v is not None)))

    def sentence(self, number: int) -> str:
        """Why variant ``number`` is faster or slower than the first."""
        first, other = self.variants[0], self.variants[number]
        before, after = first.prediction, other.prediction
        a, b = before.throughput_Bps.p50, after.throughput_Bps.p50
        was, now = before.bottleneck.station, after.bottleneck.station
        if abs(b - a) <= _WORTH * a:
            return f"{other.name}: as fast as {first.name}; {now} binds: {after.bottleneck.reason}"
        text = f"{other.name}: {b / a:.3g} times {first.name}" if a > 0 else f"{other.name}: {first.name} moves nothing"
        old, new = first.allowances().get(was), other.allowances().get(was)
        if old is not None and new is None:
            text += f"; {was}, which bound, is no longer on the way"
        elif old is not None and new is not None and abs(new - old) > _WORTH * old:
            now_Bps, was_Bps = units.show(new, "B/s"), units.show(old, "B/s")
            text += f"; {was}, which bound, would allow {now_Bps} by itself, not {was_Bps}"
        text += (f"; now {now} binds" if now != was else f"; {now} still binds") + f": {after.bottleneck.reason}"
        if now == was and abs(after.ceiling - before.ceiling) <= _WORTH * before.ceiling:
            text += (
                "; at their best both are alike: what the file leaves open (loss, other traffic) makes the difference"
            )
        return text

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row a variant."""
        costs = [
            (float(v.price.amount), v.price.currency) if v.price is not None else (None, None) for v in self.variants
        ]
        return [
            fields(v, variant="name", **rates("prediction"))
            | fields(v, duration_s="prediction.duration_s.p50", bottleneck="prediction.bottleneck.station")
            | {"price": price, "currency": currency, "unpriced": ", ".join(v.unpriced)}
            for v, (price, currency) in zip(self.variants, costs, strict=True)
        ]


def compare(
    *paths: str | Path | spec.PathSpec,
    variants: Sequence[str | Sequence[str]] = (),
    overrides: Overrides = (),
    calibration: str | Path | None = None,
    rates: Sequence[str] = (),
    samples: int = 256,
    seed: int = 1,
) -> Comparison:
    """Predicts variants side by side.

    Args:
        paths: Path files, or names of shipped ones.
        variants: For one path: ``key=value``, or several of them, that make each variant; ``tools`` stands for the
            best tools, as ``dtnsim tools`` finds them.
        overrides: What all share: ``{"wan.rtt": "50 ms"}``, or ``key=value`` texts.
        calibration: File of fitted parameters to use.
        rates: ``EUR/USD=1.08`` where prices are in several currencies.
        samples: Draws behind the interval.
        seed: Seed of the draws.

    Returns:
        The `Comparison`.

    Raises:
        InputError: nothing to compare, a path that cannot be used, or currencies without a rate.
    """
    loaded = []
    for path in paths:
        path_spec = spec.load(path, overrides, calibration)
        loaded.append((path_spec.name if isinstance(path, spec.PathSpec) else str(path), path_spec))
    if variants and len(loaded) != 1:
        raise InputError("--with makes variants of one path; give one path, or several without --with")
    for variant in _expanded(variants, loaded[0][1], samples, seed) if variants else ():
        changes = [variant] if isinstance(variant, str) else list(variant)
        if not changes:
            raise InputError("--with: changes nothing; write key=value, or 'tools'")
        with override.given_with("--with"):
            loaded.append((" ".join(changes), loaded[0][1].changed(changes)))
    if len(loaded) < 2:
        raise InputError("compare needs two variants; give a second path, or --with key=value")
    currencies, compared, currency = exchange(rates), [], None
    mixed: set[str] = set()
    for name, path_spec in loaded:
        parts = items(path_spec)
        mixed |= {i.price.currency for i in parts if i.price is not None}
        price, unpriced = total(parts, currencies, currency)
        currency = price.currency if price is not None else currency
        compared.append(Variant(name, predict(path_spec, samples=samples, seed=seed), price, unpriced))
    return Comparison(tuple(compared), tuple(currencies.notes(mixed)))


def _expanded(
    variants: Sequence[str | Sequence[str]], path: spec.PathSpec, samples: int, seed: int
) -> Iterator[str | Sequence[str]]:
    """The variants, with the settings of the best tools in the place of ``tools``."""
    for variant in variants:
        if variant not in (_TOOLS, [_TOOLS]):
            yield variant
            continue
        from dtnsim.planning import tool_choice

        rows = [row for row in tool_choice.choose(path, samples, seed)[0] if row.overrides]
        yield from (row.overrides for row in rows[:_BEST])
