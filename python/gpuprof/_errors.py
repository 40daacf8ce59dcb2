# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Errors. Each says its cause and its fix."""


class Error(Exception):
    """What went wrong, and what to do."""


class UsageError(Error, ValueError):
    """What was asked for does not exist: a table, a column, a pass, an option, or a word of SQL."""


class RecordingError(Error, OSError):
    """The recording cannot be read."""


class MissingLibraryError(Error, ImportError):
    """A library is missing: libgpuprof.so, DuckDB's, or a package of Python."""
