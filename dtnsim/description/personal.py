"""Kinds and makers of hosts in the words of people; what a personal computer has where nobody says, by its year."""

import re
from typing import Any, Final

import numpy as np

from dtnsim.ground import library
from dtnsim.ground.quantity import Quantity, Scalar, factor_spread
from dtnsim.ground.yamlio import Mapping

PERSONAL: Final = "personal"  #: key of a host that is a laptop or desktop, whatever it says of its parts
PORTABLE: Final = "portable"  #: key of one that has no slots for cards
#: memory of new personal computers [GiB] by year, and that of machines of which no year is known
_PC_GiB: Final = ((1995, 0.016), (2006, 0.8), (2007, 1.0), (2016, 6.0), (2025, 16.0))
_PC_NO_YEAR_GiB: Final = 8.0
_PC_MEMORY: Final = (
    "DRAMeXchange: 826 MB a notebook at the end of 2006, 1,058 MB in 2007; pcmatic.com: just under 6 GB in the mean of "
    "2016; assumed: 16 MB in 1995, 16 GB in 2025, and two thirds within a factor of two (2.5 where no year is said)"
)
#: cores of new ones by year, and what they are of
_PC_CORES: Final = ((2004, 1.0), (2007, 2.0), (2014, 3.0), (2018, 4.0), (2021, 7.0), (2025, 10.0))
_PC_PROCESSOR: Final = (
    "assumed: one core until 2004, two in most of 2007 to 2012, four in Core i5 and i7 of notebooks since 2017 (their "
    "eighth generation) and of desktops since 2009, eight to ten by 2025; two thirds within a factor of 1.6"
)
_SPREAD: Final = 1.6
_CHANNELS: Final = 2  #: channels of memory: two, as of all desktops and notebooks with two modules


def usual(family: str, drawn: dict[str, Any], year: int | None) -> dict[str, Any]:
    """What is drawn of a part for a machine of a year, with what personal computers have in its place."""
    if family == "memory":
        drawn |= {"size": memory(year), "channels": _CHANNELS}
        drawn.pop("uncounted", None)
    elif family == "cpu":
        years, cores = zip(*_PC_CORES, strict=True)
        middle = float(np.interp(year or 2018, years, cores))
        drawn["cores"] = round(middle)
        drawn["uncounted"] = Quantity(middle / round(middle), "1", factor_spread(_SPREAD), _PC_PROCESSOR)
    return drawn


def memory(year: int | None) -> Quantity:
    """Memory of a laptop or desktop of a year [B], between years of which it is known on a line of logarithms."""
    if year is None:
        return Quantity(_PC_NO_YEAR_GiB * 2.0**30, "B", factor_spread(2.5), _PC_MEMORY)
    years, sizes = zip(*_PC_GiB, strict=True)
    return Quantity(float(np.exp(np.interp(year, years, np.log(sizes)))) * 2.0**30, "B", factor_spread(2.0), _PC_MEMORY)


def kind(host: Mapping, name: str) -> Mapping:
    """A host whose ``kind`` (laptop, vm) is its role or the name of a machine; others are refused later."""
    if not (word := str(host.get("kind", "")).lower()):
        return host
    kinds, location = library.spoken()["hosts"], host.at("kind")
    named = "like" not in host and (machine_like(word) is not None or len(library.shipped_meant("hosts", word)) == 1)
    if word not in kinds and not named:
        return host
    host = host.clone()
    text = host.pop("kind")
    if word not in kinds:
        host.put("like", text, *location)
    elif kinds[word] == "centre":
        host.put("name", Scalar(f"{name} supercomputer", *location), *location)
    elif kinds[word] is not None and "role" not in host:
        host.put("role", kinds[word], *location)
    for key in (PERSONAL, PORTABLE):
        if word in library.spoken()[key]:
            host.put(key, True, *location)  # noqa: FBT003
    return host


def is_personal(name: str) -> bool:
    """Whether a machine is a personal computer, by its maker's series."""
    return PERSONAL in (machine_like(name) or ())


def machine_like(name: str) -> Mapping | None:
    """What a machine has whose maker or series alone is known; None where the name tells nothing."""
    return next((keys for row, keys in library.spoken()["machines"] if re.search(row, name, re.IGNORECASE)), None)


def is_desk(host: object) -> bool:
    """Whether a host as it is written is one that people sit at: by its system, its kind, or the machine it is like."""
    spec = host if isinstance(host, Mapping) else {"like": host}
    kind, like = (str(spec.get(key) or "") for key in ("kind", "like"))
    like = like or str(spec.get("machine") or spec.get("model") or "")
    matches = [like] if library.has("hosts", like) else library.shipped_meant("hosts", like) if like else []
    shipped = library.read("hosts", matches[0]).get("os") if len(matches) == 1 and "os" not in spec else None
    system = str(spec.get("os", shipped)).lower()
    kinds = library.spoken()["personal"]
    sat_at = system.startswith(("windows", "mac")) and "server" not in system
    return sat_at or {kind.lower(), like.lower()} & {*kinds} != set() or is_personal(like)


def is_file_server(host: object, name: str) -> bool:
    """Whether a host as it is written is one that others mount: by its kind, system or maker, or by its name."""
    spec = host if isinstance(host, Mapping) else {"like": host}
    words = [name, *(str(spec.get(key) or "") for key in ("kind", "os", "like"))]
    maker = machine_like(words[-1])
    return (maker is not None and maker.get("cpu") == "NAS processor") or any(
        re.search(library.spoken()["file_server"], word.lower()) for word in words
    )
