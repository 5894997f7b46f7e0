"""Types of the options that several tools have, and their names."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, Field

from dtnsim.ground.quantity import Quantity, Unit
from dtnsim.ground.uncertainty import Otherwise, Releases, Since

Size = Annotated[Quantity, Unit("B", low=1)]
Rate = Annotated[Quantity, Unit("B/s", low=1)]
#: payload bytes for each byte that is left of them when they are compressed
Ratio = Annotated[Quantity, Unit("1", low=1.0, high=1000.0)]
Cycles = Annotated[Quantity, Unit("cycles/B", spread=0.3)]
Share = Annotated[Quantity, Unit("1", high=1.0)]  #: part of something: of bytes that changed, of those that are sent
Seconds = Annotated[Quantity, Unit("s", low=0.1)]  #: how long a test runs

#: at which end of a transfer the command is typed: at the source it puts, at the destination it gets
Client = Annotated[Literal["source", "destination"], Field(description="end at which the command is typed")]

#: streams of one transfer, where its ends are there for long ways
STREAMS: Final = Otherwise("4", "transfer hosts: 4 to 8 streams (ESnet fasterdata, GridFTP and iperf3)", role="dtn")

Count = Annotated[int, Field(ge=1, le=4096)]  #: a number of files, streams, threads or ports that an option asks for
#: what an option is for that names the volume, or a file on it
ON_VOLUME: Final = "[HOST:]/data, in the place of the transfer's from and to"


def named(*names: str, **rules: Any) -> Any:
    """An option that goes by several names, the first of which documents show; rules as `pydantic.Field` takes them."""
    return Field(validation_alias=AliasChoices(*names) if names else None, **rules)


def documented(*names: str, **rules: Any) -> Any:
    """The same, accepted because people type it; it moves no answer: the data set or the path says it."""
    return named(*names, json_schema_extra={"x-documentation-only": True}, **rules)


def version_tuple(text: str) -> tuple[int, ...]:
    """``7.4p1`` as (7, 4): what orders releases."""
    return tuple(int(n) for n in re.findall(r"\d+", text.partition("p")[0]))


def releases(model: BaseModel) -> tuple[str, ...]:
    """Releases that a tool may be of, each as likely: what is written as ``version``, or those of about its years.

    Two of four are what hosts of its year have, one is what came before, one what came after (assumed: hosts that were
    never upgraded, and those that were).
    """
    field, release = type(model).model_fields["version"], str(dict(model)["version"])
    since = next((m for m in field.metadata if isinstance(m, Since)), None)
    if "version" in model.model_fields_set or since is None:
        return (release,)
    listed = [str(version or field.default) for _, version in since.versions]
    index = listed.index(release)
    return listed[max(index - 1, 0)], release, release, listed[min(index + 1, len(listed) - 1)]


def by_release(model: BaseModel, tool: str, cost: Callable[[str], Quantity]) -> Quantity:
    """What a release costs; drawn among the releases that a tool may be of, where they differ."""
    return Releases(str(dict(model)["version"]), releases(model), f"tool {tool}.version").number(cost)


def _check_version(text: str) -> str:
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,3}(p\d{1,2})?", text):
        raise ValueError("is not a version; write it like 7.4 or 3.16")
    return text


Version = Annotated[str, AfterValidator(_check_version)]  #: version of a tool, as the tool prints it


def one_of(literal: object, several: Mapping[str, Sequence[str]] = MappingProxyType({})) -> BeforeValidator:
    """Reads a word of a ``Literal`` as other tools write it, ``randread`` for ``random-read``.

    What the tool itself says for several of them, like any part of several words, is refused.
    """
    words: tuple[str, ...] = get_args(literal)

    def plain(text: str) -> str:
        text = re.sub(r"[-_ ]", "", text.lower()).replace("random", "rand").replace("readwrite", "rw")
        return text.removeprefix("sequential").removeprefix("seq")

    def read(word: object) -> object:
        if not isinstance(word, str) or word in words:
            return word
        wanted = plain(word)
        same = [w for w in words if plain(w) == wanted]
        near = same or several.get(word) or [w for w in words if wanted and wanted in plain(w)]
        if len(near) > 1:
            raise ValueError(f"means several things; write one of {', '.join(near)} in its place")
        return same[0] if same else word

    return BeforeValidator(read)
