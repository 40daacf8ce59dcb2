# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A recording: its tables, results of passes, and SQL."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import warnings
from types import TracebackType
from typing import Any, Dict, List, Optional, Type, Union

from . import _html, _library, _results
from ._errors import UsageError
from ._results import Result, Rows
from ._table import Column, Source, Table

_STATS = "stats."


class _Handle:
    """The open recording of the library. The library closes it when nothing refers to it any more."""

    def __init__(self, path: str, options: _library.OpenOptions) -> None:
        self._pointer: Optional[ctypes.c_void_p] = None
        self._pointer = _library.handle_of("open", path.encode("utf-8", "surrogateescape"), ctypes.byref(options))

    def use(self) -> ctypes.c_void_p:
        if self._pointer is None:
            raise UsageError("the recording is closed; open it again with gpuprof.open()")
        return self._pointer

    def close(self) -> None:
        pointer, self._pointer = self._pointer, None
        if pointer is not None:
            _library.load().gpuprof_close(pointer)

    __del__ = close


class _TableSource(Source):
    def __init__(self, handle: _Handle, name: str, columns: List[str]) -> None:
        self._handle, self._name, self._columns = handle, name, columns

    def fill(self, columns: List[int], address: int) -> None:
        names = _library.texts([self._columns[place] for place in columns])
        _library.call("read", self._handle.use(), self._name.encode(), names, len(columns), address)

    def count(self) -> int:
        rows = ctypes.c_uint64()
        _library.call("count", self._handle.use(), self._name.encode(), ctypes.byref(rows))
        return rows.value


class _QuerySource(Source):
    def __init__(self, rows: ctypes.c_void_p) -> None:
        self._rows = rows

    def fill(self, columns: List[int], address: int) -> None:
        places = (ctypes.c_uint64 * len(columns))(*columns)
        _library.call("rows_read", self._rows, places, len(columns), address)

    def count(self) -> int:
        return _library.load().gpuprof_rows_count(self._rows)

    def columns(self) -> List[Column]:
        schema = _library.ArrowSchema()
        _library.call("rows_schema", self._rows, ctypes.byref(schema))
        try:
            children = [schema.children[place].contents for place in range(schema.n_children)]
            return [Column(child.name.decode(), _type_name(child.format.decode())) for child in children]
        finally:
            schema.release(ctypes.byref(schema))

    def __del__(self) -> None:
        _library.load().gpuprof_rows_close(self._rows)


def _type_name(form: str) -> str:
    names = {"b": "bool", "c": "int8", "s": "int16", "i": "int32", "l": "int64", "C": "uint8", "S": "uint16", "I": "uint32", "L": "uint64", "f": "float32",
             "g": "float64", "u": "utf8", "U": "large_utf8", "vu": "utf8_view", "n": "null"}
    return names.get(form, form)


class Recording:
    """A recording that is open. Its tables are attributes: `t.kernels`. gpuprof.open() makes it."""

    def __init__(self, path: str, options: _library.OpenOptions, library: Optional[str]) -> None:
        self.path = path
        self._duckdb = library
        self._handle = _Handle(path, options)
        self._described = {table["name"]: table for table in json.loads(_library.text_of("tables", self._handle.use()))}
        self._results: Dict[str, Any] = {}

    @property
    def tables(self) -> List[str]:
        """The names of all tables: those of events and of what events refer to, then `stats.` and a list of a result."""
        return list(self._described)

    @property
    def faults(self) -> List[str]:
        """What of the recording could not be read, a sentence each."""
        return json.loads(_library.text_of("faults", self._handle.use()))

    def table(self, name: str) -> Table:
        """Returns a table by its name: "kernels", "stats.kernels"."""
        described = self._described.get(name)
        if described is None:
            raise UsageError(f"there is no table {name!r}; there are: {', '.join(each for each in self._described if not each.startswith(_STATS))}, and stats.PASS for each pass")
        columns = [Column(column["name"], column["type"], column["unit"]) for column in described["columns"]]
        source = _TableSource(self._handle, name, [column.name for column in columns])
        return Table(name, described["rows"], columns, source)

    def __getattr__(self, name: str) -> Table:
        if not name.startswith("_") and name in self._described:
            return self.table(name)
        raise AttributeError(f"the recording has no table {name!r}; tables lists their names")

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *(name for name in self._described if not name.startswith(_STATS))]

    def sql(self, statement: str, library: Union[str, "os.PathLike[str]", None] = None) -> Table:
        """Runs one SELECT over the tables, as `gpuprof query` does, and returns its rows.

        It needs DuckDB's library libduckdb.so 1.4 or newer: `library`, the one given to open(), that of the environment
        variable GPUPROF_DUCKDB, one beside libgpuprof.so, or the system's.
        """
        chosen = library or self._duckdb or os.environ.get("GPUPROF_DUCKDB") or _beside("libduckdb.so")
        if chosen and not os.path.exists(chosen):
            raise UsageError(f"'{os.fspath(chosen)}' is not a file; name libduckdb.so")
        path = os.fsencode(os.path.realpath(chosen)) if chosen else None
        rows = _QuerySource(_library.handle_of("query", self._handle.use(), statement.encode(), path))
        return Table("sql", "rows of a SELECT", rows.columns(), rows)

    def stats(self, name: str, **options: Any) -> Result:
        """Runs a pass, as `gpuprof stats NAME` does, and returns its result. Results are kept.

        Options are those of the command: by, pid, step_marker, under_range, program, op, depth, memory_space, symbolize,
        symfs; window and steps are pairs of numbers (from, to), and devices is a list.
        """
        given = {key: list(value) if isinstance(value, (tuple, range)) else value for key, value in options.items() if value is not None}
        text = json.dumps(given, sort_keys=True)
        key = f"{name} {text}"
        if key not in self._results:
            if name not in _results.passes():
                _results.of_pass(name, {})
            self._results[key] = json.loads(_library.text_of("result", self._handle.use(), name.encode(), text.encode()))
        return _results.of_pass(name, self._results[key])

    @property
    def steps(self) -> Rows:
        """The steps of the run: the list `steps` of the pass of that name."""
        return self.stats("steps").steps

    @property
    def findings(self) -> Rows:
        """What makes the run slow, and what to do: the findings of the pass `advise`. The greatest gain comes first."""
        return self.stats("advise").findings

    def close(self) -> None:
        """Closes the recording. What was read of it stays valid."""
        self._handle.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"gpuprof.Recording({self.path!r})"

    def _repr_html_(self) -> str:
        return _html.overview(self.path, self.stats("overview"))


def _beside(name: str) -> Optional[str]:
    """Returns a file next to this package, or None."""
    path = pathlib.Path(__file__).resolve().parent / name
    return str(path) if path.exists() else None


def open(path: Union[str, "os.PathLike[str]"], *, threads: int = 0, symbolize: bool = True, symfs: Union[str, "os.PathLike[str]", None] = None,
         library: Union[str, "os.PathLike[str]", None] = None) -> Recording:
    """Opens a bundle, a .gpt file, or a trace of another tool.

    `threads`: 0 is as many as processors. `symbolize`: name program counters. `symfs`: a folder with the files of modules.
    `library`: libduckdb.so, for sql().
    """
    options = _library.OpenOptions(ctypes.sizeof(_library.OpenOptions), threads, 0 if symbolize else 1, os.fsencode(symfs) if symfs else None)
    recording = Recording(os.fspath(path), options, os.fspath(library) if library else None)
    for fault in recording.faults[:3]:
        warnings.warn(f"a part of the recording could not be read: {fault}", stacklevel=2)
    return recording
