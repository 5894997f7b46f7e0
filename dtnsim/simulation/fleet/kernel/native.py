"""Machine code of what numba compiled, kept as an object file and called without numba.

Numba's own cache (`cache=True`) reads the same code in 0.45 s of CPU, of which 0.4 s are numba's own start. This takes
0.05 s, and a year of ten thousand transfers 1.0 s in all (`tests/benchmarks/README.md`). A file is of one processor:
what that can do and llvmlite's version are in the file's name.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

#: what becomes of arrays that numba owns: there are none, all arrays are Python's
_NEVER: Final = "NRT_MemInfo_call_dtor"
#: what else the code may need from outside: the C library's memory
_OUTSIDE: Final = frozenset({"realloc", "free", "memset", "memcpy", "memmove", _NEVER})
_MARK: Final = 32  # bytes of the digest in front
_DECLARED: Final = re.compile(r"^declare .*?@\"?([^\"(]+)\"?\(", re.MULTILINE)
#: what is seen from outside: one function
_ENTRY: Final = re.compile(r"^define (?!linkonce|internal|private|weak).*?@\"?([^\"(]+)\"?\(", re.MULTILINE)

Called = Callable[..., int]


def file_in(folder: Path) -> Path:
    """Where the code for this processor is kept."""
    import llvmlite
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    mark = f"{llvmlite.__version__} {binding.get_process_triple()} {binding.get_host_cpu_name()} {features}"
    return folder / f"enter-{hashlib.sha256(mark.encode()).hexdigest()[:16]}.o"


def there(folder: Path) -> bool:
    """Whether it is."""
    try:
        return file_in(folder).is_file()
    except (ImportError, RuntimeError):
        return False


def loaded(folder: Path, given: int) -> Called | None:
    """The function of so many integers that is kept; None where there is none, or none that is whole."""
    try:
        data = file_in(folder).read_bytes()
        symbol, _, code = data[_MARK:].partition(b"\0")
        if hashlib.sha256(data[_MARK:]).digest() != data[:_MARK]:
            return None
        return _linked(symbol.decode(), code, given)
    except (ImportError, OSError, RuntimeError):
        return None


def compiled(function: Any, given: int, folder: Path | None) -> Called:
    """Compiles a function of so many integers with numba, and keeps its code where there is a folder."""
    import numba

    types: Any = numba.types
    njit: Any = numba.njit
    signature = types.int64(*[types.int64] * given)
    made = njit(signature, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    text = made.inspect_llvm(made.signatures[0])
    entry = _ENTRY.findall(text)
    needed = {name for name in _DECLARED.findall(text) if not name.startswith("llvm.")}
    if len(entry) != 1 or not needed <= _OUTSIDE:
        return cast("Called", njit(signature)(function))  # it does not stand alone: numba calls it
    code = object_of(text)
    if folder is not None:
        keep(folder, entry[0], code)
    return _linked(entry[0], code, given)


def _machine() -> Any:
    """This processor, as numba compiles for it."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3, reloc="default", codemodel="jitdefault", jit=True,
    )  # fmt: skip


def object_of(text: str) -> bytes:
    """The machine code of LLVM's text."""
    from llvmlite import binding

    return cast("bytes", _machine().emit_object(binding.parse_assembly(text)))


def _linked(symbol: str, code: bytes, given: int) -> Called:
    """A function in machine code, to be called; RuntimeError where it is not in there."""
    from llvmlite import binding

    machine = _machine()
    engine = binding.create_mcjit_compiler(
        binding.parse_assembly(f"define void @{_NEVER}(i64 %array) {{ ret void }}"), machine
    )
    engine.add_object_file(binding.object_file.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(symbol)
    if not address:
        raise RuntimeError(f"no {symbol} in the object")
    return _called(address, given, engine)


def keep(folder: Path, symbol: str, code: bytes) -> None:
    """Writes a function's code where it can be written."""
    body = symbol.encode() + b"\0" + code
    file = file_in(folder)
    part = file.with_suffix(f".{os.getpid()}")
    try:
        part.write_bytes(hashlib.sha256(body).digest() + body)
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)


def _called(address: int, given: int, owner: Any) -> Called:
    """A function of numba's calling convention: (answer, what went wrong, integers) -> whether something did."""
    integer = ctypes.c_int64
    function = ctypes.CFUNCTYPE(
        ctypes.c_int32, ctypes.POINTER(integer), ctypes.POINTER(ctypes.c_void_p), *[integer] * given
    )(address)

    def call(*numbers: int, _owner: Any = owner) -> int:
        answer, wrong = integer(), ctypes.c_void_p()
        if function(ctypes.byref(answer), ctypes.byref(wrong), *numbers):
            raise RuntimeError("shares do not come to rest, or time does not move on")
        return answer.value

    return call
