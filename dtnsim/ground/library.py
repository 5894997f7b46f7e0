"""Finds parts, hosts, paths, data: beside the file that names them, in the user's library, among those shipped."""

from __future__ import annotations

import difflib
import glob
import hashlib
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dtnsim.ground.errors import SpecError

if TYPE_CHECKING:
    from dtnsim.ground import yamlio

_PACKAGE: Final = Path(__file__).resolve().parents[1]
#: words of machines' and parts' names that people leave out or put in front
_VENDORS: Final = (
    "a the server aws amazon ec2 azure microsoft standard gcp google cloud dell emc poweredge hp hpe proliant apple "
    "intel amd xeon mellanox nvidia broadcom lsi synology diskstation qnap supermicro sys model vm"
)


@lru_cache(maxsize=4)
def root(room: str) -> Path:
    """Folder of shipped data: ``models`` or ``calibration`` (in the wheel, or beside a checkout)."""
    shipped = _PACKAGE / "_data" / room
    return shipped if shipped.is_dir() else _PACKAGE.parent / room


@lru_cache(maxsize=1)
def spoken() -> yamlio.Mapping:
    """What people write where a file wants a part, a kind or keys (``models/spoken.yaml``)."""
    from dtnsim.ground import yamlio

    return yamlio.load(root("models") / "spoken.yaml", name="models/spoken.yaml")


#: families of parts that have no model of everything -> where of ``instead`` in models/spoken.yaml they are looked up
INSTEAD: Final = {"tool": ("programs", "stores"), "filesystem": ("stores", "programs"), "segment": ("networks",),
                  "device": ("stores",), "os": ("systems",), "cipher": ("ciphers",)}  # fmt: skip


def instead(name: str, family: str) -> str | None:
    """What to write for a name that has no model; None where nothing is known of it."""
    tables = spoken()["instead"]
    spellings = (name.lower(), name.lower().replace(" ", "-"), name.lower().partition(" ")[0])
    advice = next((tables[t][each] for t in INSTEAD.get(family, ()) for each in spellings if each in tables[t]), None)
    return None if advice is None else f"instead: {advice} (others: docs/how-to/instead.md)"


def did_you_mean(near: Iterable[str]) -> str:
    """What is near by its spelling, which is a guess, and nothing that does the same."""
    return f"did you mean {', '.join(near)}?"


def if_unknown(remedy: str, tip: str | None) -> str:
    """What to write, and what to write where nobody knows it."""
    if not tip:
        return remedy
    return f"{remedy} If unknown: {tip}" if remedy.endswith("?") else f"{remedy}; if unknown: {tip}"


def names(folder: str) -> list[str]:
    """Names of all files shipped in ``models/<folder>``, like ``venadi/gridftp-gpfs``."""
    return sorted(_shipped(folder)[0])


def user_folder() -> Path:
    """Folder of the user's own library: ``$XDG_CONFIG_HOME/dtnsim``, which is ``~/.config/dtnsim`` unless set."""
    return _user_folder(os.environ.get("XDG_CONFIG_HOME") or "~/.config", os.environ.get("HOME"))


@lru_cache(maxsize=4)
def _user_folder(config: str, home: str | None) -> Path:
    del home  # what ~ means
    return Path(config).expanduser() / "dtnsim"


def own_names(folder: str, beside: Path | None = None) -> list[str]:
    """Names of all files in the user's own library, like `names`; with those of the same folder ``beside`` first."""
    bases = [base / folder for base in (beside, user_folder()) if base is not None]
    stems = (p.relative_to(base).with_suffix("").as_posix() for base in bases for p in sorted(base.rglob("*.yaml")))
    return list(dict.fromkeys(stems))


def find(folder: str, name: str, *, beside: Path | None = None, noun: str = "") -> Path:
    """The YAML file that ``name`` means; the `SpecError` of one that is not there names the nearest.

    Args:
        folder: ``paths``, ``hosts``, ``parts`` or ``datasets``.
        name: A file, or the name of one in the folder of that room beside the file that mentions it, in the user's own
            library or among those shipped (for parts, with or without its kind in front).
        beside: Folder of the file that mentions it.
        noun: What it might have been, for the message; one of the folder if left out.
    """
    if folder == "paths" and name == "-":
        from dtnsim.ground import yamlio

        return yamlio.STDIN
    if len(name) > 300 or "\x00" in name:
        raise SpecError(f"is not a name of a {folder.rstrip('s')}", value=f"{name[:40]}...")
    # names of parts are looked up by the hundred thousand: os.path takes a fifth of what pathlib takes
    for direct in (name,) if beside is None else (os.path.join(beside, name), name):
        if os.path.isfile(direct):
            return Path(direct)
        if folder == "paths" and os.path.exists(direct) and (Path(direct).suffix or not os.path.isdir(direct)):
            return Path(direct)
        if os.path.isfile(f"{direct}.yaml"):
            return Path(f"{direct}.yaml")
    if ".." not in name.split("/"):
        collections = [f"{base}/{folder}" for base in (beside, user_folder()) if base is not None]
        file: Path | str | None = next((f for c in collections if (f := _among(c, name)) is not None), None)
        by_name, by_last = _shipped(folder)
        file = file or by_name.get(name) or by_last.get(name)
        if file is not None:
            return Path(file)
    for is_one, problem in ((os.path.isdir, "is a folder, not a YAML file"), (os.path.islink, "is a link to nothing")):
        if folder == "paths" and is_one(name):
            raise SpecError(problem, file=name)
    raise SpecError(f"there is no {noun or folder.rstrip('s')} {name!r}", remedy=_nearest(folder, name))


def _among(collection: str, name: str) -> Path | None:
    """The file of a collection that has a name, with or without its kind in front."""
    if not os.path.isdir(collection):
        return None
    exact = Path(collection) / f"{name}.yaml"
    if exact.is_file():
        return exact
    by_kind = sorted(Path(collection).glob(f"*/{glob.escape(name)}.yaml")) if "/" not in name else []
    return by_kind[0] if len(by_kind) == 1 else None


@lru_cache(maxsize=16)
def _shipped(folder: str) -> tuple[dict[str, str], dict[str, str]]:
    """Shipped files by their whole names, and by their last part where one folder alone has it."""
    base = str(root("models") / folder)
    by_name: dict[str, str] = {}
    last: dict[str, list[str]] = {}
    for within, _, files in os.walk(base):
        kind = within[len(base) + 1 :].replace(os.sep, "/")
        for stem, _ in (f.rsplit(".", 1) for f in files if f.endswith(".yaml")):
            path = by_name[f"{kind}/{stem}" if kind else stem] = os.path.join(within, f"{stem}.yaml")
            if kind and "/" not in kind:
                last.setdefault(stem, []).append(path)
    return by_name, {name: paths[0] for name, paths in last.items() if len(paths) == 1}


def has(folder: str, name: str) -> bool:
    """Whether a shipped file has just this name, with or without its kind in front."""
    return any(name in table for table in _shipped(folder))


def shipped_meant(folder: str, name: str) -> list[str]:
    """What is shipped that a name as people say it may mean: its words are all in the name, or the name's in its."""
    query = words(name)
    return spelled(folder, name) or [each for each, tokens in _worded(folder).items() if query and query <= tokens]


def spelled(folder: str, name: str) -> list[str]:
    """What is shipped of which a name as people say it has every word."""
    query = words(name)
    return [each for each, tokens in _worded(folder).items() if tokens <= query]


def _worded(folder: str) -> dict[str, frozenset[str]]:
    return {each: words(each.rpartition("/")[2]) for each in names(folder)}


def numbered(name: str) -> str:
    """The shipped drive whose maker's model number is in a name (``SAMSUNG MZQL23T8HCLS-00A07``); else nothing."""
    tokens = re.findall(r"[a-z0-9]+", name.lower())
    return next((part for begin, part in spoken()["numbers"].items() if any(re.match(begin, w) for w in tokens)), "")


def written_wrongly(name: str, candidates: list[str]) -> bool:
    """Whether a name is nearly one of these, in their spelling or with the same numbers; others are other models."""
    near = _close(name.lower(), tuple(candidates), 1, 0.8)
    hyphenated = re.fullmatch(r"[a-z0-9.]+(-[a-z0-9.]+)+", name) is not None
    return bool(near) and (hyphenated or re.findall(r"\d+", near[0]) == re.findall(r"\d+", name))


@lru_cache(maxsize=1024)
def _close(name: str, candidates: tuple[str, ...], most: int, cutoff: float) -> list[str]:
    """Kept, since what people call a part is asked again with each change of a path."""
    return difflib.get_close_matches(name, candidates, n=most, cutoff=cutoff)


@lru_cache(maxsize=4096)
def words(name: str) -> frozenset[str]:
    """Words that tell a machine or a part from others: of ``Dell PowerEdge R740xd`` that is r740."""
    tokens = re.findall(r"[a-z0-9.]+", name.lower().replace("+", "plus"))
    same = r"^(r\d{3,4})xd2?$|^(\d+g)be?$|^(\d)b(?:plus)?$"
    return frozenset(re.sub(same, r"\1\2\3", word) for word in tokens) - set(_VENDORS.split())


def calibration(name: str, *, beside: Path | None = None) -> Path:
    """The file of fitted parameters that ``name`` means: a file, or a shipped calibration."""
    if len(name) > 300 or "\x00" in name:
        raise SpecError("is not a name of a calibration", key="calibration", value=name)
    for base in (beside, Path()):
        if base is not None and (base / name).is_file():
            return base / name
    shipped = root("calibration") / name / "fitted.yaml"
    if ".." not in Path(name).parts and shipped.is_file():
        return shipped
    calibrations = sorted(p.parent.name for p in root("calibration").glob("*/fitted.yaml"))
    remedy = f"write a file or one of: {', '.join(calibrations) or 'none'}"
    raise SpecError(f"there is no calibration {name!r}", key="calibration", remedy=remedy)


def _nearest(folder: str, name: str) -> str:
    candidates = [*own_names(folder), *names(folder)]
    near = _close(name, (*candidates, *dict.fromkeys(k.rsplit("/", 1)[-1] for k in candidates)), 3, 0.5)
    if near:
        return did_you_mean(dict.fromkeys(n.rsplit("/", 1)[-1] if folder == "parts" else n for n in near))
    if folder == "parts":
        kinds = sorted({k.partition("/")[0] for k in candidates})
        return f"'dtnsim components KIND' lists the parts of a kind: {', '.join(kinds)}"
    return "write the path of a YAML file" + (f" or one of: {', '.join(candidates[:8])} ..." if candidates else "")


@lru_cache(maxsize=1024)
def _load(path: Path, stamp: tuple[int, int], *, inherit: bool) -> yamlio.Mapping:
    from dtnsim.ground import yamlio

    del stamp  # a file that was written anew is another one
    return yamlio.load(path, inherit=inherit, name=shown(path))


def shown(path: Path) -> str:
    """A file as messages and sources name it: shipped ones without the place they are installed in."""
    for room in ("models", "calibration"):
        if path.is_relative_to(root(room)):
            return (room / path.relative_to(root(room))).as_posix()
    return str(path)


def read(folder: str, name: str, *, beside: Path | None = None) -> yamlio.Mapping:
    """The mapping in the file that ``name`` means; its numbers inherit the file's ``source``.

    Args:
        folder: Room of the library, as in `find`.
        name: Name or file.
        beside: Folder of the file that mentions it.
    """
    return load(find(folder, name, beside=beside), inherit=True)


def load(path: Path, *, inherit: bool = False) -> yamlio.Mapping:
    """The mapping in a file, parsed once as long as it is not written anew."""
    return _load(path, stamp(path), inherit=inherit).clone()


def stamp(path: Path) -> tuple[int, int]:
    """What differs where a file was written anew."""
    try:
        seen = path.stat()
    except OSError:
        return 0, 0  # reading it says what is wrong
    return seen.st_mtime_ns, seen.st_size


def digest(room: str) -> str:
    """Twelve digits that change with any shipped YAML file of a room."""
    base = root(room)
    hasher = hashlib.blake2b(digest_size=6)
    for file in sorted(base.rglob("*.yaml")):
        hasher.update(file.relative_to(base).as_posix().encode() + b"\0" + file.read_bytes())
    return hasher.hexdigest()
