# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""libgpuprof.so by ctypes (analysis/arrow/gpuprof.h). It is loaded when it is first needed. Any thread may call: ctypes
lets other threads of Python run meanwhile."""

from __future__ import annotations

import ctypes
import os
import pathlib
import threading
from typing import Any, Callable, List, Optional, Sequence

from ._errors import Error, MissingLibraryError, RecordingError, UsageError

INTERFACE = 1
NAME = "libgpuprof.so"
_USAGE, _UNREADABLE, _MEMORY = 2, 3, 4


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArrayStream(ctypes.Structure):
    pass


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))
_RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArrayStream))
_GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream), ctypes.POINTER(ArrowSchema))
_LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(ArrowArrayStream))
ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))), ("dictionary", ctypes.c_void_p),
    ("release", _RELEASE_SCHEMA), ("private_data", ctypes.c_void_p)]
ArrowArrayStream._fields_ = [
    ("get_schema", _GET_SCHEMA), ("get_next", ctypes.c_void_p), ("get_last_error", _LAST_ERROR),
    ("release", _RELEASE_STREAM), ("private_data", ctypes.c_void_p)]


class OpenOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_int32), ("no_symbols", ctypes.c_int32), ("symfs", ctypes.c_char_p)]


_text_out = ctypes.POINTER(ctypes.c_void_p)
_texts_in = ctypes.POINTER(ctypes.c_char_p)
_FUNCTIONS: "dict[str, tuple[Any, list[Any]]]" = {
    "interface": (ctypes.c_int, []),
    "version": (ctypes.c_char_p, []),
    "free": (None, [ctypes.c_void_p]),
    "open": (ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(OpenOptions), _text_out, _text_out]),
    "close": (None, [ctypes.c_void_p]),
    "tables": (ctypes.c_int, [ctypes.c_void_p, _text_out, _text_out]),
    "faults": (ctypes.c_int, [ctypes.c_void_p, _text_out, _text_out]),
    "count": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), _text_out]),
    "read": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, _texts_in, ctypes.c_uint64, ctypes.c_void_p, _text_out]),
    "result": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, _text_out, _text_out]),
    "schema": (ctypes.c_int, [_text_out, _text_out]),
    "query": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, _text_out, _text_out]),
    "rows_count": (ctypes.c_uint64, [ctypes.c_void_p]),
    "rows_schema": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, _text_out]),
    "rows_read": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64, ctypes.c_void_p, _text_out]),
    "rows_close": (None, [ctypes.c_void_p]),
}
_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


def _places() -> List[str]:
    """Returns where the library may be: what the user names, the package itself, and an installed tree around it."""
    if named := os.environ.get("GPUPROF_LIBRARY"):
        return [named]
    here = pathlib.Path(__file__).resolve().parent
    return [str(folder / NAME) for folder in (here, here.parent.parent)]


def load() -> ctypes.CDLL:
    global _loaded
    with _lock:
        if _loaded is not None:
            return _loaded
        places = _places()
        found = [place for place in places if os.path.exists(place)]
        if not found:
            raise MissingLibraryError(f"{NAME} was not found ({', '.join(places)}); install the wheel gpuprof-tools, or name the file in GPUPROF_LIBRARY")
        try:
            library = ctypes.CDLL(found[0])
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(library, f"gpuprof_{name}")
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            raise MissingLibraryError(f"{found[0]} cannot be used: {error}; it must be of the same version as this package") from error
        if library.gpuprof_interface() != INTERFACE:
            raise MissingLibraryError(f"{found[0]} has interface {library.gpuprof_interface()}, and this package needs {INTERFACE}; install both of one version")
        _loaded = library
        return library


def version() -> str:
    return load().gpuprof_version().decode()


def _take(text: ctypes.c_void_p) -> str:
    """Returns a text of the library, and gives its memory back."""
    if not text.value:
        return ""
    try:
        return ctypes.string_at(text.value).decode("utf-8", "replace")
    finally:
        load().gpuprof_free(text)


def call(name: str, *arguments: Any) -> None:
    """Calls a function that can fail, and raises its error."""
    error = ctypes.c_void_p()
    number = getattr(load(), f"gpuprof_{name}")(*arguments, ctypes.byref(error))
    if number == 0:
        return
    message = _take(error)
    if number == _MEMORY:
        raise MemoryError(message)
    if number == _USAGE and "libduckdb.so" in message:
        raise MissingLibraryError(message.replace("--library=FILE", "library='FILE'"))
    raise (UsageError if number == _USAGE else RecordingError if number == _UNREADABLE else Error)(message)


def text_of(name: str, *arguments: Any) -> str:
    text = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(text))
    return _take(text)


def handle_of(name: str, *arguments: Any) -> ctypes.c_void_p:
    handle = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(handle))
    return handle


def texts(words: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(words))(*[word.encode() for word in words])


# Capsules: how Python hands Arrow's structs from one library to another. The reader takes what is in the struct, and
# the capsule frees the struct.

_STREAM, _SCHEMA = b"arrow_array_stream", b"arrow_schema"
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_raw_malloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(("PyMem_RawMalloc", ctypes.pythonapi))
_raw_free = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("PyMem_RawFree", ctypes.pythonapi))


def _destroyer(kind: Any, name: bytes) -> Any:
    """Returns what frees a struct with its capsule. It lives as long as the process: capsules may outlive this module."""

    def destroy(capsule: int, pointer_of: Any = _capsule_pointer, free: Any = _raw_free, cast: Any = ctypes.cast, pointer: Any = ctypes.POINTER(kind)) -> None:
        address = pointer_of(capsule, name)
        struct = cast(address, pointer)
        if struct.contents.release:
            struct.contents.release(struct)
        free(address)

    made = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(destroy)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made


_destroy_stream, _destroy_schema = _destroyer(ArrowArrayStream, _STREAM), _destroyer(ArrowSchema, _SCHEMA)


def _capsule(kind: Any, name: bytes, destroy: Any, fill: Callable[[int], None]) -> Any:
    size = ctypes.sizeof(kind)
    address = _raw_malloc(size)
    if not address:
        raise MemoryError("there is no memory for a struct of Arrow")
    ctypes.memset(address, 0, size)
    try:
        fill(address)
    except BaseException:
        _raw_free(address)
        raise
    return _new_capsule(address, name, ctypes.cast(destroy, ctypes.c_void_p))


def stream_capsule(fill: Callable[[int], None]) -> Any:
    """Returns a capsule of a stream that `fill` makes at an address."""
    return _capsule(ArrowArrayStream, _STREAM, _destroy_stream, fill)


def schema_capsule(fill: Callable[[int], None]) -> Any:
    return _capsule(ArrowSchema, _SCHEMA, _destroy_schema, fill)


def schema_of_stream(fill_stream: Callable[[int], None], address: int) -> None:
    """Fills a schema at an address with that of a stream, which ends then."""
    stream = ArrowArrayStream()
    fill_stream(ctypes.addressof(stream))
    try:
        if stream.get_schema(ctypes.byref(stream), ctypes.cast(address, ctypes.POINTER(ArrowSchema))) != 0:
            said = stream.get_last_error(ctypes.byref(stream))
            raise Error(said.decode("utf-8", "replace") if said else "the columns cannot be described")
    finally:
        stream.release(ctypes.byref(stream))
