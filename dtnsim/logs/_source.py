"""Opens a log whatever it is wrapped in (gzip, bzip2, xz, zstd, tar, UTF-16, stdin) and refuses what is no text."""

import codecs
import importlib
import os
import select
import sys
import tarfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Final, cast

from dtnsim.ground.errors import LogError, hint

BLOCK: Final = 1 << 20
PATIENCE_MS: Final = 5000  #: how long a named pipe may stay silent before it is taken for one nobody writes to [ms]
#: what packed files begin with, and the modules that unpack them
_PACKED: Final = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_UTF8: Final = codecs.getincrementaldecoder("utf-8")
_TEXT_CONTROL: Final = b"\x00\t\n\r\f\x0b\x1b\x08\x07\x0e\x0f\x1a\x03\x04\x1c\x05"


def logs(source: str | Path | IO[bytes], name: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yields (name, `blocks`) of every log in a file: one, or each member of a tar archive as ``archive:member``.

    The blocks of a log are to be used up before the next log is asked for.
    """
    with _complained(name), _bytes(source) as packed:
        file = _unpacked(packed, name)
        if file.peek(512)[257:262] != b"ustar":  # where a tar archive has it, POSIX or GNU
            yield name, blocks(file, name)
            return
        with tarfile.open(fileobj=cast("IO[bytes]", file), mode="r|") as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is not None:
                    label = f"{name}:{member.name}"
                    yield label, blocks(_unpacked(stream, label), label)


@contextmanager
def _complained(name: str) -> Iterator[None]:
    """Turns what reading may raise into a `LogError` that says what to do."""
    try:
        yield
    except tarfile.TarError as error:
        raise LogError(f"{name}: the tar archive cannot be read ({error}); check it with tar -t") from None
    except (OSError, EOFError) as error:
        if isinstance(error, FileNotFoundError):
            raise LogError(f"{name}: no such file; give the name of a benchmark log, or - for stdin") from None
        if isinstance(error, IsADirectoryError):
            raise LogError(f"{name}: is a directory; read all logs in it with: dtnsim logs -r {name}") from None
        if isinstance(error, PermissionError):
            raise LogError(f"{name}: permission denied; make it readable for this user") from None
        raise LogError(f"{name}: cannot be read ({error})") from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] in ("zlib", "_lzma", "lzma", "zstd", "zstandard", "compression"):
            raise LogError(f"{name}: cannot be decompressed ({error}); check the file with its own tool") from None
        raise


def _bytes(source: str | Path | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    if str(source) == "-":
        return nullcontext(sys.stdin.buffer)
    return os.fdopen(_opened(str(source)), "rb") if isinstance(source, str | Path) else nullcontext(source)


def _opened(path: str) -> int:
    """Opens as `open` does, but does not wait without end for somebody to write to a named pipe."""
    if path.startswith(("/dev/fd/", "/proc/")) or not Path(path).is_fifo():
        return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
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


class _Peekable:
    """A stream whose first bytes can be looked at without taking them: a pipe cannot be wound back."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._head = file, b""

    def peek(self, size: int) -> bytes:
        while len(self._head) < size and (more := self._file.read(size - len(self._head))):
            self._head += more
        return self._head[:size]

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return self._file.read(size)
        head, self._head = (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
        return head if size >= 0 else head + self._file.read()


def _unpacked(packed: IO[bytes], name: str) -> _Peekable:
    file = _Peekable(packed)
    head, stream = file.peek(6), cast("IO[bytes]", file)
    for mark, module in _PACKED.items():
        if head.startswith(mark):
            return _Peekable(importlib.import_module(module).open(stream))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            import zstandard
        except ImportError:
            raise LogError(f"{name}: is packed with zstd; unpack it with zstd -d, or: {hint('zstandard')}") from None
        return _Peekable(zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True))
    return file


def blocks(file: _Peekable, name: str) -> Iterator[bytes]:
    """Yields the bytes of a log in UTF-8 (or the 8-bit encoding it has), about 1 MiB at a time."""
    with _complained(name):
        first = file.read(BLOCK)
        while 0 < len(first) < 8192 and (more := file.read(BLOCK)):  # a pipe gives little at first
            first += more
        if not first.strip(b"\x00 \t\r\n"):
            problem = "is empty" if not first.strip() else "holds only zero bytes"
            raise LogError(f"{name}: {problem}; there is no benchmark output in it")
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
    """The encoding to translate from; None for UTF-8 and 8-bit text."""
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
    # bytes that are no UTF-8 become lone surrogates; the sample may end within a character
    text = _UTF8("surrogateescape").decode(sample)
    high = 0 if text.isascii() else sum(1 for character in text if "\udc80" <= character < "\udca0")
    if controls + high > 0.02 * len(sample) or even + odd > 0.3 * len(sample):
        raise LogError(f"{name}: is not text (binary data); give the text or JSON the tool printed")
    return None
