"""Kinds of network: what segments of each kind have where nobody states it.

Loss is what a window-based sender takes for congestion, one event a packet. Long networks lose by their length: what
is said of them holds for 100 ms of round trip. The typical loss of a route is one thing, what one run meets beside the
next another: the first is not known (and narrows when it is stated), the second is chance (and leaves the long-run
mean, ``predict --mean``).
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BeforeValidator

from dtnsim.ground import library, yamlio
from dtnsim.ground.quantity import Mixture, Quantity, factor_spread, prior

_Medium = Literal["backbone", "internet", "research", "campus", "satellite", "mobile", "lab"]
MEDIA: Final = get_args(_Medium)

_TABLE: Final[dict[str, Any]] = yamlio.plain(Path(__file__).with_name("network_kinds.yaml"))
#: what people call them -> the kind; None where none of them is what it is, and nothing is said then
_CALLED: Final[dict[str, str | None]] = {
    name: None if kind == "nothing" else kind for kind, names in _TABLE["names"].items() for name in names
}

WORDS: Final = frozenset({*MEDIA, *_CALLED})  #: all names of kinds


def called(raw: object) -> object:
    """A kind of network by what people call it."""
    text = word_of(raw)
    if not text and (advice := library.instead(str(raw), "segment")) is not None:
        raise ValueError(f"is no kind of network here; {advice}")
    return _CALLED.get(text, text or raw)


def word_of(raw: object) -> str:
    """The name of a kind in what people write, like ``lan`` in ``hospital LAN``; nothing where none is in it."""
    text = raw.lower() if isinstance(raw, str) else ""
    if text in WORDS or library.instead(text, "segment") is not None:
        return text if text in WORDS else ""
    words = (w for w in WORDS if w in text and re.search(rf"\b{re.escape(w)}\b", text))
    return max(words, key=lambda w: (len(w), w), default="")


def kind_hint(raw: object) -> str | None:
    """What a word that is not quite a kind is taken for, or what to write instead; None where it is a kind."""
    text = word_of(raw)
    if text not in _CALLED:
        return None if not text or text == str(raw).lower() else f"is taken as {text}"
    kind = _CALLED[text]
    return f"is taken as {kind}" if kind is not None else f"tells no loss; {library.instead(text, 'segment')}"


Medium = Annotated[_Medium | None, BeforeValidator(called)]


@dataclass(frozen=True, slots=True)
class Priors:
    """What segments of one kind have."""

    loss: Quantity  #: Typical loss of a route; of kinds in `LONG` for a round trip of `LENGTH_S`.
    runs: Quantity  #: Factor on it in one run.
    share: Quantity  #: Other people's share of the rate.
    buffer: Quantity  #: Queue in front of it.


def _prior(entry: tuple[str, float, str]) -> Quantity:
    """A median, the factor within which two thirds lie, and the source."""
    text, factor, source = entry
    return prior(text, factor_spread(factor), source.format(**_TABLE["sources"]))


def _priors(table: Mapping[str, tuple[str, float, str]]) -> Priors:
    quantities = {name: _prior(row) for name, row in table.items()}
    return Priors(**{**quantities, "runs": replace(quantities["runs"], text="", key="repeat loss")})


PRIORS: Final = {kind: _priors(_TABLE["kinds"][kind]) for kind in MEDIA}
#: a satellite whose round trip is no shorter is geostationary: 35 786 km up and down, there and back (Huston, Using
#: LEOs and GEOs, labs.apnic.net, April 2022: at least 477 ms)
_GEO_S: Final = 0.477
_GEO: Final = _priors(_TABLE["kinds"]["geostationary"])
#: kinds whose loss grows with their length, and the round trip that is said for; a segment is one of them where nobody
#: says it (by falling loss: the draw that chooses goes with the rate), the others have to be said
LONG: Final = ("internet", "backbone", "research")
#: kinds whose ends are far apart
FAR: Final = (*LONG, "satellite", "mobile")
LENGTH_S: Final = 0.1
CHOOSER: Final = "medium"  #: key of the draw that chooses among them

#: round trips of segments that state none
RTTS: Final[dict[str | None, Quantity]] = {
    None if kind == "unknown" else kind: _prior(row) for kind, row in _TABLE["rtts"].items() if kind != "far"
} | dict.fromkeys(LONG, _prior(_TABLE["rtts"]["far"]))


def _one_of(parts: list[Quantity]) -> Mixture:
    return Mixture.of_kinds(CHOOSER, parts)


def _any(kinds: Sequence[str]) -> Priors:
    return Priors(*(_one_of([getattr(PRIORS[m], field.name) for m in kinds]) for field in fields(Priors)))


#: kinds that pass no frames above 1500 B
PLAIN: Final = ("internet", "satellite", "mobile")
UNKNOWN: Final = _any(LONG)
#: what passes jumbo frames over a long way is one provider's or a research network
_JUMBO: Final = _any([m for m in LONG if m not in PLAIN])

#: one no longer than a site (1 ms there and back is 100 km of fibre) is a switch of one's own, or a site's network
SITE_S: Final = 1e-3
_NEAR_SHARE: Final = _one_of([PRIORS[m].share for m in ("campus", "lab")])


def priors(medium: str | None, rtt_s: float = math.inf, *, jumbo: bool = False) -> Priors:
    """What a segment of a kind has; of one that nobody knows, what one of the kinds of its length and frames has."""
    if medium is not None:
        return _GEO if medium == "satellite" and _GEO_S <= rtt_s < math.inf else PRIORS[medium]
    far = _JUMBO if jumbo else UNKNOWN
    return replace(far, share=_NEAR_SHARE) if rtt_s <= SITE_S else far


def lost(usual: Quantity, medium: str | None, rtt_s: float) -> Quantity:
    """The usual loss of a segment, from that of such a network at its usual length."""
    if medium is not None and medium not in LONG:
        return usual
    return usual.times(max(rtt_s, 1e-9) / LENGTH_S)
