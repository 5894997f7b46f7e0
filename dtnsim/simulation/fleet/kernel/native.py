"""Machine code that numba made, kept as an object file, and called without numba: reading numba takes half a second.

A file is of one processor: its name, what it can do, and llvmlite's version are in the file's name.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

#: what becomes of arrays that numba owns: there are none, all arrays are Python's
_NEVER: Final = "NRT_MemInfo_call_dtor"
#: what else the code may need from outside: the C library's memory
_OUTSIDE: Final = frozenset({"realloc", "free", "memset", "memcpy", "memmove", _NEVER})
_MARK: Final = 32  # bytes of the digest in front
_DECLARED: Final = re.compile(r"^declare .*?@\"?([^\"(]+)\"?\(", re.MULTILINE)

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
        from llvmlite import binding

        data = file_in(folder).read_bytes()
        symbol, _, code = data[_MARK:].partition(b"\0")
        if hashlib.sha256(data[_MARK:]).digest() != data[:_MARK]:
            return None
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        machine = binding.Target.from_default_triple().create_target_machine(jit=True)
        engine = binding.create_mcjit_compiler(
            binding.parse_assembly(f"define void @{_NEVER}(i64 %array) {{ ret void }}"), machine
        )
        engine.add_object_file(binding.object_file.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = engine.get_function_address(symbol.decode())
    except (ImportError, OSError, RuntimeError):
        return None
    return _called(address, given, engine) if address else None


def compiled(function: Any, given: int, folder: Path | None) -> Called:
    """Compiles a function of so many integers with numba, and keeps its code where there is a folder."""
    import numba

    types: Any = numba.types
    njit: Any = numba.njit
    signature = types.int64(*[types.int64] * given)
    made = njit(signature, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    result = made.overloads[made.signatures[0]]
    library, symbol = result.library, result.fndesc.llvm_func_name
    if folder is not None and _stands_alone(library):
        keep(folder, symbol, library._get_compiled_object())  # noqa: SLF001 - numba gives it in no other way
    return _called(library.get_pointer_to_function(symbol), given, made)


def _stands_alone(library: Any) -> bool:
    """Whether compiled code needs nothing of numba's, and can be had."""
    needed = {name for name in _DECLARED.findall(library.get_llvm_str()) if not name.startswith("llvm.")}
    return needed <= _OUTSIDE and hasattr(library, "_get_compiled_object")


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
