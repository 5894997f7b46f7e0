"""Kinds of network: what segments of each kind have where nobody states it.

Loss is what a window-based sender takes for congestion, one event a packet. Long networks lose by their length: what
is said of them holds for 100 ms of round trip. The typical loss of a route is one thing, what one run meets beside the
next another: the first is not known (and narrows when it is stated), the second is chance (and leaves the long-run
mean, ``predict --mean``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Final, Literal, get_args

from pydantic import BeforeValidator

from dtnsim.ground import library
from dtnsim.ground.quantity import Mixture, Quantity, factor_spread, prior

_Medium = Literal["backbone", "internet", "research", "campus", "satellite", "mobile", "lab"]
MEDIA: Final = get_args(_Medium)

_NRENS: Final = (
    "internet2", "geant", "géant", "esnet", "surfnet", "janet", "dfn", "aarnet", "nren", "science", "academic",
    "lhcopn", "lhcone", "cenic", "nordunet", "sinet", "cernet", "teragrid", "starlight",
)  # fmt: skip
_DIRECT: Final = (
    "isolated", "direct", "crossover", "loopback", "testbed", "dedicated", "switch", "dark fiber", "dark fibre",
    "infiniband",
)  # fmt: skip
#: what people call them -> the kind; None where none of them is what it is, and nothing is said then
_CALLED: Final[dict[str, str | None]] = {
    **dict.fromkeys(("4g", "5g", "3g", "lte", "cellular", "umts"), "mobile"),
    **dict.fromkeys(("starlink", "leo", "oneweb", "geo", "vsat", "geostationary"), "satellite"),
    **dict.fromkeys(("inmarsat", "viasat", "hughesnet", "hughes", "bgan"), "satellite"),
    **dict.fromkeys(_NRENS, "research"),
    **dict.fromkeys(_DIRECT, "lab"),
    **dict.fromkeys(
        ("lan", "ethernet", "home", "office", "site", "building", "hospital", "datacenter", "data center"), "campus"
    ),
    **dict.fromkeys(
        ("dsl", "adsl", "vdsl", "docsis", "cable", "broadband", "ftth", "fibre", "fiber", "public", "isp", "wan"),
        "internet",
    ),
    **dict.fromkeys(
        ("cloud", "aws", "azure", "google", "private", "mpls", "provider", "leased line", "metro", "man"), "backbone"
    ),
    **dict.fromkeys(("wifi", "wi-fi", "wlan", "wireless", "802.11", "microwave", "radio", "laser", "other"), None),
}


#: all names of kinds
WORDS: Final = frozenset({*MEDIA, *_CALLED})


def called(given: object) -> object:
    """A kind of network by what people call it."""
    text = word_of(given)
    if not text and (said := library.instead(str(given), "segment")) is not None:
        raise ValueError(f"is no kind of network here; {said}")
    return _CALLED.get(text, text or given)


def word_of(given: object) -> str:
    """The name of a kind in what people write, like ``lan`` in ``hospital LAN``; nothing where none is in it."""
    text = given.lower() if isinstance(given, str) else ""
    if text in WORDS or library.instead(text, "segment") is not None:
        return text if text in WORDS else ""
    return max((w for w in WORDS if re.search(rf"\b{re.escape(w)}\b", text)), key=lambda w: (len(w), w), default="")


def taken(given: object) -> str | None:
    """What a word that is not quite a kind is taken for, or what to write instead; None where it is a kind."""
    text = word_of(given)
    if text not in _CALLED:
        return None if not text or text == str(given).lower() else f"is taken as {text}"
    kind = _CALLED[text]
    return f"is taken as {kind}" if kind is not None else f"tells no loss; {library.instead(text, 'segment')}"


Medium = Annotated[_Medium | None, BeforeValidator(called)]

_CLOUDS: Final = (
    "fit: single CUBIC streams between cloud regions, calibration/wan-truth: the loss that holds each run, with those "
    "that a window held as upper bounds; random effects of routes"
)
_STARLINK: Final = (
    "single streams over Starlink, 30 s of iperf3 (Sauter, Starlink parts 3 to 6, blog.wirelessmoves.com, 2023): "
    "CUBIC 20 Mb/s down and 5.5 Mb/s up beside 120 and 25 Mb/s of BBR, about one loss a second on the way up"
)
_UPGRADES: Final = "assumed: from idle links to those due for an upgrade, which begins at a third to a half of the rate"


@dataclass(frozen=True, slots=True)
class Priors:
    """What segments of one kind have.

    Attributes:
        loss: Typical loss of a route; of kinds in `LONG` for a round trip of `LENGTH_S`.
        runs: Factor on it in one run.
        share: Other people's share of the rate.
        buffer: Queue in front of it.
    """

    loss: Quantity
    runs: Quantity
    share: Quantity
    buffer: Quantity


def _priors(
    loss: tuple[str, float, str], runs: tuple[float, str], share: tuple[str, float, str], buffer: tuple[str, float, str]
) -> Priors:
    """Medians, and factors within which two thirds lie."""
    return Priors(
        prior(loss[0], factor_spread(loss[1]), loss[2]),
        Quantity(1.0, "1", factor_spread(runs[0]), runs[1], key="repeat loss"),
        prior(share[0], factor_spread(share[1]), share[2]),
        prior(buffer[0], factor_spread(buffer[1]), buffer[2]),
    )


_ROUTER: Final = (
    "assumed: from a port's part of a shared-buffer switch (some MB) to a router with a quarter of a second "
    "(Appenzeller et al., Sizing router buffers, SIGCOMM 2004: 2.5 Gb at 10 Gb/s)"
)
_OPTICS: Final = (
    "assumed: from the bit errors that optics are specified for (IEEE 802.3: 1e-12, or 1e-8 a packet) to a fault that "
    "only throughput tests notice (Dart et al., The Science DMZ, SC13: one packet in 22 000)"
)
_SWITCH: Final = "assumed: a port's part of a shared-buffer switch, 1 to 32 MB"
_ALIKE: Final = "assumed: as between routes of the Internet, where it was measured"
PRIORS: Final[dict[str, Priors]] = {
    "internet": _priors(
        ("3.0e-6", 2.4, f"{_CLOUDS}, 29 routes between providers above 20 ms; for 100 ms of round trip"),
        (2.2, f"{_CLOUDS}: runs of one route over hours and days"),
        ("15 %", 2.0, _UPGRADES),
        ("16 MB", 5.0, _ROUTER),
    ),
    "backbone": _priors(
        ("2.3e-6", 1.6, f"{_CLOUDS}, 12 routes of two providers; for 100 ms of round trip"),
        (2.0, f"{_CLOUDS}: runs of one route over hours and days"),
        ("8 %", 2.5, _UPGRADES),
        ("16 MB", 5.0, _ROUTER),
    ),
    "campus": _priors(
        ("2e-7", 10.0, _OPTICS),
        (2.0, _ALIKE),
        ("5 %", 2.5, "assumed: idle most of the day, busy at some hours"),
        ("8 MB", 3.0, _SWITCH),
    ),
    "research": _priors(
        ("1e-7", 8.0, f"{_OPTICS}, which research networks look for; for 100 ms of round trip"),
        (2.0, _ALIKE),
        ("10 %", 2.5, _UPGRADES),
        ("32 MB", 4.0, _ROUTER),
    ),
    "satellite": _priors(
        ("5e-4", 4.0, f"{_STARLINK}: 1.4e-4 and 2e-3 by the response of CUBIC at 50 ms"),
        (2.0, _ALIKE),
        ("25 %", 1.8, f"{_STARLINK}: 75 to 175 Mb/s within one run"),
        ("4 MB", 3.0, "assumed: a tenth to half a second of 100 Mb/s"),
    ),
    "mobile": _priors(
        ("3e-5", 6.0, "assumed: radio layers repeat what they lose; handovers and policers do not (no measured rate)"),
        (2.0, _ALIKE),
        (
            "40 %",
            1.6,
            "Huang et al., An in-depth study of LTE, SIGCOMM 2013: flows use less than half of what is there",
        ),
        ("4 MB", 3.0, "assumed: deep queues of base stations, a tenth of a second to seconds"),
    ),
    "lab": _priors(
        ("1e-9", 8.0, "assumed: a tenth of the bit errors that optics are specified for (IEEE 802.3: 1e-8 a packet)"),
        (1.0, "nobody else is on it"),
        ("0.1 %", 3.0, "assumed: control traffic"),
        ("8 MB", 3.0, _SWITCH),
    ),
}
#: a satellite whose round trip is no shorter is geostationary: 35 786 km up and down, there and back (Huston, Using
#: LEOs and GEOs, labs.apnic.net, April 2022: at least 477 ms)
_GEO_S: Final = 0.477
_QUASI_ERROR_FREE: Final = (
    "ETSI EN 302 307 (DVB-S2): quasi-error-free is less than 1e-7 of the packets of 188 B, so 8e-7 of those of 1500 B; "
    "assumed: rain and busy beams within a factor of 8"
)
_GEO: Final = _priors(
    ("8e-7", 8.0, _QUASI_ERROR_FREE),
    (2.0, _ALIKE),
    ("25 %", 1.8, "assumed: as of Starlink's cells, where it was measured"),
    ("16 MB", 3.0, "assumed: a fifth of a second to seconds of 100 Mb/s, as accelerators before the link have"),
)
#: kinds whose loss grows with their length, and the round trip that is said for; a segment is one of them where nobody
#: says it (by falling loss: the draw that chooses goes with the rate), the others have to be said
LONG: Final = ("internet", "backbone", "research")
#: kinds whose ends are far apart
FAR: Final = (*LONG, "satellite", "mobile")
LENGTH_S: Final = 0.1
#: key of the draw that chooses among them
CHOOSER: Final = "medium"

_SITES: Final = prior("30 ms", factor_spread(2.5), "assumed: from the next city (5 ms) to another continent (200 ms)")
#: round trips of segments that state none; where the kind is not stated either, they are within a building or a site
RTTS: Final[dict[str | None, Quantity]] = {
    None: prior(
        "0.3 ms", factor_spread(3.0), "assumed: from one switch (0.1 ms with the interrupts of both hosts) to a site"
    ),
    "lab": prior("0.15 ms", factor_spread(2.0), "assumed: one or two switches and the interrupts of both hosts"),
    "campus": prior("0.5 ms", factor_spread(2.5), "assumed: some switches and kilometres, a firewall at times"),
    "satellite": prior(
        "45 ms", factor_spread(1.5), "Starlink's specifications: land latency 25 to 60 ms, more in remote places"
    ),
    "mobile": prior("50 ms", factor_spread(1.6), "assumed: 20 ms of 5G to 100 ms of a loaded LTE cell"),
    **dict.fromkeys(LONG, _SITES),
}


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
    """What a segment of a kind has; of one that nobody knows, what one of the kinds of its length and frames has.

    Args:
        medium: The kind.
        rtt_s: Its round-trip time [s].
        jumbo: Whether it is known to pass jumbo frames.
    """
    if medium is not None:
        return _GEO if medium == "satellite" and _GEO_S <= rtt_s < math.inf else PRIORS[medium]
    far = _JUMBO if jumbo else UNKNOWN
    return replace(far, share=_NEAR_SHARE) if rtt_s <= SITE_S else far


def lost(usual: Quantity, medium: str | None, rtt_s: float) -> Quantity:
    """The usual loss of a segment of some length.

    Args:
        usual: Loss of such a network at its usual length.
        medium: What kind of network it is.
        rtt_s: Its round-trip time [s].
    """
    if medium is not None and medium not in LONG:
        return usual
    return usual.times(max(rtt_s, 1e-9) / LENGTH_S)
