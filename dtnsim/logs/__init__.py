"""Benchmark logs in, measurements out.

>>> from dtnsim.logs import read_text
>>> figures, unread = read_text("10737418240 bytes (11 GB) copied, 92.9101 s, 116 MB/s")
>>> [f"{m.tool} {m.quantity} {m.value:.4g} {m.unit}" for m in figures]
['dd throughput 1.156e+08 B/s', 'dd duration 92.91 s']

Begin with `base`, the contract of a parser, and `measurement`, what it makes. A file is a topic of tools. Formats are
declared with `_declared` and `_columns`; `_reader` takes a log (`_source`) past all parsers that `_catalogue` finds.

What functions take has one name everywhere: the ``parser`` that reads; a ``quantity``, one of the project's words; its
``value`` in SI, and ``printed``, as the tool printed it; what it holds for, ``conditions``, and ``more`` beside that,
or instead; ``status``, whether its run ended; ``text`` of which a note says ``why`` it could not be read; its ``line``,
where that is not the present one. Of declarations ``pattern``, ``inside``, ``opens`` and ``settles``, as ``reads`` of
`_declared` has them.
"""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from dtnsim.ground.errors import LogError
from dtnsim.logs.measurement import Measurement, Unread

__all__ = ["iter_log", "read_logs", "read_text"]


def iter_log(source: str | Path | IO[bytes], name: str | None = None) -> Iterator[Measurement | Unread]:
    """Streams the records of one log in constant memory; of a tar archive those of every member.

    Args:
        source: File name (``-`` is stdin) or an open binary file; gzip, bzip2, xz and zstd are unpacked.
        name: Name to give the log in its records; the file name by default. Members of an archive are called
            ``archive:member``.

    Raises:
        LogError: the file cannot be opened, is empty or is not text. Of a member of an archive a note says so.
    """
    from dtnsim.logs._reader import LogReader
    from dtnsim.logs._source import logs

    label = name or (str(source) if isinstance(source, str | Path) else getattr(source, "name", None) or "log")
    if label == "-":
        label = "<stdin>"
    for log, blocks in logs(source, label):
        reader = LogReader(log)
        try:
            for block in blocks:
                yield from reader.feed(block)
        except LogError as error:
            if log == label:
                raise
            yield Unread(log, 1, "", str(error))
        yield from reader.finish()


def read_logs(sources: str | Path | Iterable[str | Path]) -> tuple[list[Measurement], list[Unread]]:
    """Reads one or more logs: (measurements, notes on parts that could not be read).

    A log in which nothing was recognised gives one note that says so.

    Raises:
        LogError: a file cannot be opened, is empty or is not text.
    """
    many = [sources] if isinstance(sources, str | Path) else sources
    logs = [_collected(iter_log(source), str(source)) for source in many]
    return [record for records, _ in logs for record in records], [note for _, unread in logs for note in unread]


def read_text(text: str | bytes, name: str = "text") -> tuple[list[Measurement], list[Unread]]:
    """Reads a log that is at hand as text: (measurements, notes)."""
    raw = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return _collected(iter_log(io.BytesIO(raw), name), name)


def _collected(records: Iterable[Measurement | Unread], name: str) -> tuple[list[Measurement], list[Unread]]:
    read = list(records)
    measurements = [record for record in read if isinstance(record, Measurement)]
    unread = [record for record in read if isinstance(record, Unread)]
    if not measurements and not unread:
        unread.append(Unread(name, 1, "", "nothing in it looks like the output of a tool dtnsim knows"))
    return measurements, unread
