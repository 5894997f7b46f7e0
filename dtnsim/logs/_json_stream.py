"""Reads JSON too long to hold, element by element: every value is decoded in C, none is kept.

A long document is an object with a long array (iperf3's ``intervals``, fio's ``jobs``), which objects may wrap
(``hits.hits`` of OpenSearch, ``data.result`` of Prometheus), or an array. The elements of the array come out in
batches, each as a `Document` that has the keys before the array beside the batch; what follows the array comes out
last. One value (an element, or the value of another key) must fit `LARGEST_VALUE`.
"""

import codecs
import json
import re
from collections.abc import Collection, Iterator
from functools import reduce
from operator import getitem
from typing import Any, Final, Literal

from dtnsim.logs.base import Document

ENDS_INSIDE: Final = "JSON document: the file ends inside it (its whole elements are read)"
#: text of one value that is held [characters]
LARGEST_VALUE: Final = 64 << 20
_BATCH: Final = 512
_BLANK: Final = re.compile(r"[ \t\n\r]*+")
#: an error so near to the end of what is there (but for blanks) may be due to what is not there [characters]
_NEAR: Final = 16
_FAR: Final = 4096

_State = Literal["start", "key", "colon", "value", "after", "element", "after element", "end", "broken"]
_NEXT: Final[dict[tuple[_State, str], _State]] = {
    ("start", "{"): "key",
    ("start", "["): "element",
    ("colon", ":"): "value",
    ("after", ","): "key",
    ("after element", ","): "element",
}


class JsonStream:
    """One JSON text that comes in pieces."""

    def __init__(self, line: int, long: Collection[str]) -> None:
        self.why = ""  #: Why reading ended before the text did; empty while it goes on and where all is well.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._scan = json.JSONDecoder().raw_decode
        self._text, self._at = "", 0
        self.first = line  #: The line where it starts.
        self._line = line
        self._counted = 0  # newlines are counted up to here
        self._state: _State = "start"
        self._long = frozenset(tuple(key.split(".")) for key in long)
        self._wrappers = frozenset(key[:depth] for key in self._long for depth in range(1, len(key)))
        self._head: dict[str, Any] = {}
        self._within: tuple[str, ...] = ()  # keys of the objects that are open, from the top
        self._array: tuple[str, ...] = ()  # keys to the array whose elements come out; none in an array at the top
        self._name = ""
        self._retry = 0  # do not try again before so much text is there
        self._parts = 0

    @property
    def ended(self) -> bool:
        """Whether the text is over, well or not."""
        return self._state in ("end", "broken")

    @property
    def line(self) -> int:
        """The line up to which the text is read."""
        self._count_lines(self._at)
        return self._line

    def _count_lines(self, end: int) -> None:
        self._line += self._text.count("\n", self._counted, end)
        self._counted = end

    def feed(self, block: bytes) -> Iterator[Document]:
        """Takes the next bytes; yields what they complete. Ask `remainder` for what follows the end."""
        self._text += self._decoder.decode(block)
        if len(self._text) >= self._retry:
            yield from self._read()
        if not self.ended and len(self._text) > LARGEST_VALUE:
            self._break(f"a value in it is longer than {LARGEST_VALUE >> 20} MiB")

    def remainder(self) -> bytes:
        """What follows the end of the text, or where it broke."""
        return self._text[self._at :].encode()

    def cut(self) -> Iterator[Document]:
        """The log ends: what is put off, and if it ends inside the text, the keys that are whole."""
        if self.ended:
            return
        yield from self._read()
        if not self.ended:
            yield self._document(self._head, self._at, part=True, cut=True)

    def _read(self) -> Iterator[Document]:
        batch: list[Any] = []
        start = self._at
        while not self.ended:
            self._at = _BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._state == "element" and self._text[self._at : self._at + 1] != "]":
                complete, value = self._value()
                if not complete:
                    break
                batch.append(value)
                self._state = "after element"
                if len(batch) >= _BATCH:
                    yield self._batch(batch, start)
                    batch, start = [], self._at
            else:
                if batch and self._state != "after element":
                    yield self._batch(batch, start)  # before the keys that follow the array
                    batch, start = [], self._at
                if not self._step():
                    break
        if batch:
            yield self._batch(batch, start)
        if self._state == "end" and (self._array or self._head or not self._parts):
            yield self._document(self._head, start, part=self._parts > 0, cut=False)
        self._count_lines(self._at)
        self._text, self._at, self._counted = self._text[self._at :], 0, 0
        if not self.ended:
            self._retry = 2 * len(self._text)

    def _step(self) -> bool:
        """Reads a mark, a key or a value; whether that was possible."""
        mark = self._text[self._at : self._at + 1]
        if not mark:
            return False
        if mark == "]" and self._state in ("element", "after element"):
            self._state = "after" if self._array else "end"
        elif mark == "}" and self._state in ("key", "after"):
            self._state, self._within = "after" if self._within else "end", self._within[:-1]
        elif (following := _NEXT.get((self._state, mark))) is not None:
            self._state = following
        elif self._state != "value" or not self._open(mark, (*self._within, self._name)):
            if self._state not in ("key", "value") or (self._state == "key" and mark != '"'):
                self._break("it is not valid")
                return False
            complete, value = self._value()
            if complete and self._state == "key":
                self._name, self._state = value, "colon"
            elif complete:
                self._object()[self._name], self._state = value, "after"
            return complete
        self._at += 1
        return True

    def _open(self, mark: str, keys: tuple[str, ...]) -> bool:
        """Goes into the long array, or an object that may wrap one."""
        if mark == "[" and keys in self._long and not self._array:
            self._array, self._state = keys, "element"
            return True
        if mark == "{" and keys in self._wrappers:
            self._object()[self._name] = {}
            self._within, self._state = keys, "key"
            return True
        return False

    def _object(self) -> dict[str, Any]:
        """The object that is open."""
        return reduce(getitem, self._within, self._head)

    def _value(self) -> tuple[bool, Any]:
        """(whether a whole value is there, the value)."""
        text = self._text
        try:
            value, end = self._scan(text, self._at)
        except json.JSONDecodeError as error:
            following = text[error.pos : error.pos + _FAR]
            near = len(following) < _FAR and len(following.strip()) <= _NEAR
            if not near and not error.msg.startswith("Unterminated"):
                self._break("it is not valid")
            return False, None
        except (RecursionError, ValueError):
            self._break("it is nested too deeply, or has a number that is none")
            return False, None
        if end == len(text) and text[-1] not in '}]"':  # a number may go on
            return False, None
        self._at = end
        return True, value

    def _break(self, why: str) -> None:
        self._state, self.why = "broken", why

    def _batch(self, batch: list[Any], start: int) -> Document:
        data = _with(self._head, self._array, batch) if self._array else batch
        return self._document(data, start, part=True, cut=False)

    def _document(self, data: Any, start: int, *, part: bool, cut: bool) -> Document:
        self._count_lines(start)
        self._parts += 1
        return Document("json", data, self._text[start : self._at], self._line, cut=cut, part=part)


def _with(head: dict[str, Any], keys: tuple[str, ...], batch: list[Any]) -> dict[str, Any]:
    """The object with an array at these keys; what is beside it is shared."""
    return {**head, keys[0]: batch if len(keys) == 1 else _with(head[keys[0]], keys[1:], batch)}
