# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of gpuprof in Python: tables as Arrow, results of passes, and SQL.

    import gpuprof
    t = gpuprof.open("run1")
    t.tables                        # names of all tables
    t.kernels.select(["name", "dur_ns"]).to_polars()
    t.sql("select name, sum(dur_ns) as ns from kernels group by 1 order by 2 desc").to_pandas()
    t.stats("overview").run_ns
    t.findings

Times are nanoseconds of the recording. The package needs no other one: a table goes to pandas, polars, pyarrow or
DuckDB by Arrow's C interface, whichever is installed.
"""

import sys

if sys.version_info < (3, 9):
    raise ImportError("the module gpuprof needs Python 3.9 or newer; the command gpuprof runs with any")

from ._errors import Error, MissingLibraryError, RecordingError, UsageError
from ._recording import Recording, open
from ._results import Result, Rows
from ._table import Column, Table
from ._library import version as _version

__all__ = ["Column", "Error", "MissingLibraryError", "Recording", "RecordingError", "Result", "Rows", "Table", "UsageError", "open"]


def __getattr__(name: str) -> str:
    # The version is that of the library, which is loaded when it is first needed.
    if name == "__version__":
        return _version()
    raise AttributeError(f"module 'gpuprof' has no attribute {name!r}")
