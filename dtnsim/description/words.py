"""What every key of a file means, in words: said by its field, by the docstring of its class, or in ``words.yaml``."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml

from dtnsim.components.base import Model


@lru_cache(maxsize=1)
def _written() -> dict[str, dict[str, str]]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def described(model: type[Model]) -> dict[str, str]:
    """Key -> what the ``Attributes`` of the docstring say of it."""
    _, found, text = (model.__doc__ or "").partition("Attributes:\n")
    words: dict[str, str] = {}
    for line in text.split("\n\n")[0].splitlines() if found else ():
        names, colon, rest = line.strip().partition(": ")
        keys = [n.strip() for n in names.split(",")]
        if colon and all(k.isidentifier() for k in keys):
            for name in keys:
                field = model.model_fields.get(name)
                words[(field.alias if field is not None else None) or name] = rest
        elif words and line.strip():
            words[list(words)[-1]] += f" {line.strip()}"
    return words


@lru_cache(maxsize=256)
def words(model: type[Model]) -> dict[str, str]:
    """Key as files write it -> what it means, for every key that has words."""
    known: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if isinstance(base, type) and issubclass(base, Model):
            known |= _written().get(base.__name__, {}) | described(base)
    found = {}
    for name, field in model.model_fields.items():
        said = field.description or known.get(field.alias or name) or known.get(name)
        if said:
            found[field.alias or name] = said[0].upper() + said[1:]
    return found


def summary(model: type) -> str:
    """First sentence of a class, without what editors would show as it is."""
    text = (model.__doc__ or "").partition("\n\n")[0]
    return " ".join(text.split()).replace("``", "")
