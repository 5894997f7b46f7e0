"""Opens a log whatever it is wrapped in (gzip, bzip2, xz, UTF-16, stdin) and refuses what is no text."""

from __future__ import annotations

import codecs
import io
import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, cast

from dtnsim.ground.errors import LogError

BLOCK: Final = 1 << 20
#: how long a named pipe may stay silent before it is taken for one nobody writes to [ms]
PATIENCE_MS: Final = 5000
_TEXT_CONTROL: Final = b"\x00\t\n\r\f\x0b\x1b\x08\x07\x0e\x0f\x1a\x03\x04\x1c\x05"


def blocks(source: str | Path | IO[bytes], name: str) -> Iterator[bytes]:
    """Yields the bytes of a log in UTF-8 (or the 8-bit encoding it has), about 1 MiB at a time.

    Raises:
        LogError: missing, a directory, not readable, empty, compressed and broken, not text.
    """
    try:
        yield from _blocks(source, name)
    except (OSError, EOFError) as error:
        if isinstance(error, FileNotFoundError):
            raise LogError(f"{name}: no such file; give the name of a benchmark log, or - for stdin") from None
        if isinstance(error, IsADirectoryError):
            raise LogError(f"{name}: is a directory; name the log files in it, for instance {name}/*.txt") from None
        if isinstance(error, PermissionError):
            raise LogError(f"{name}: permission denied; make it readable for this user") from None
        raise LogError(f"{name}: cannot be read ({error})") from None
    except Exception as error:
        if type(error).__module__ in ("zlib", "_lzma", "lzma"):
            raise LogError(f"{name}: cannot be decompressed ({error}); check the file with its own tool") from None
        raise


def _blocks(source: str | Path | IO[bytes], name: str) -> Iterator[bytes]:
    if not isinstance(source, str | Path):
        yield from _text(source, name)
    elif str(source) == "-":
        yield from _text(sys.stdin.buffer, name)
    else:
        with os.fdopen(_opened(str(source)), "rb") as file:
            yield from _text(_unpacked(file), name)


def _opened(path: str) -> int:
    """Opens as `open` does, but does not wait without end for somebody to write to a named pipe."""
    if path.startswith(("/dev/fd/", "/proc/")) or not Path(path).is_fifo():
        return os.open(path, os.O_RDONLY)
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    poll = select.poll()
    poll.register(number, select.POLLIN)
    if not poll.poll(PATIENCE_MS):
        os.close(number)
        raise LogError(
            f"{path}: is a pipe to which nothing was written for {PATIENCE_MS / 1e3:g} s; "
            f"write to it first, or wait as long as it takes with: dtnsim logs - < {path}"
        )
    os.set_blocking(number, True)
    return number


def _unpacked(file: io.BufferedReader) -> IO[bytes]:
    head = file.peek(6)[:6]  # a pipe cannot be wound back
    if head.startswith(b"\x1f\x8b"):
        import gzip

        return cast("IO[bytes]", gzip.open(file))
    if head.startswith(b"BZh"):
        import bz2

        return cast("IO[bytes]", bz2.open(file))
    if head.startswith(b"\xfd7zXZ\x00"):
        import lzma

        return cast("IO[bytes]", lzma.open(file))
    return file


def _text(file: IO[bytes], name: str) -> Iterator[bytes]:
    first = file.read(BLOCK)
    while 0 < len(first) < 8192 and (more := file.read(BLOCK)):  # a pipe gives little at first
        first += more
    if not first.strip(b"\x00 \t\r\n"):
        what = "is empty" if not first.strip() else "holds only zero bytes"
        raise LogError(f"{name}: {what}; there is no benchmark output in it")
    encoding = _encoding(first, name)
    if encoding is None:
        yield first.removeprefix(codecs.BOM_UTF8)
        while block := file.read(BLOCK):
            yield block
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(first).lstrip("\ufeff").encode()
    while block := file.read(BLOCK):
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


def _encoding(first: bytes, name: str) -> str | None:
    """The encoding to translate from; None for UTF-8 and 8-bit text.

    Raises:
        LogError: binary data.
    """
    if first.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = first[:8192]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) / 2
    if odd > 0.7 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.7 * half and odd < 0.05 * half:
        return "utf-16-be"
    # bytes no terminal capture holds: control codes beside those that terminals use
    controls = sum(1 for byte in sample if byte < 32 and byte not in _TEXT_CONTROL) + sample.count(0x7F)
    try:
        sample[: len(sample) - 4].decode()
        high = 0
    except UnicodeDecodeError:
        high = sum(1 for byte in sample if 0x80 <= byte < 0xA0)
    if controls + high > 0.02 * len(sample) or even + odd > 0.3 * len(sample):
        raise LogError(f"{name}: is not text (binary data); give the text or JSON the tool printed")
    return None
