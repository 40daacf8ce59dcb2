# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A table: columns that are read when another library asks for them, by Arrow's C interface."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Iterable, List, NamedTuple, Optional

from . import _library
from ._errors import MissingLibraryError, UsageError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Column(NamedTuple):
    """A column: its type is Arrow's, and its unit "ns", "bytes" or ""."""

    name: str
    type: str
    unit: str = ""


class Source:
    """Where the rows of a table are. Recordings and results of SQL have one each."""

    def fill(self, columns: List[int], address: int) -> None:
        raise NotImplementedError

    def count(self) -> int:
        raise NotImplementedError


class Table:
    """A table of a recording, or the rows of a SELECT. It can be read any number of times, by any thread.

    Only the chosen columns are decoded: choose them with select() before another library reads the table. What was read
    stays valid when the recording is closed.
    """

    def __init__(self, name: str, rows: str, columns: List[Column], source: Source, chosen: Optional[List[int]] = None) -> None:
        self.name = name
        self.rows = rows
        """What a row is, in words."""
        self._all = columns
        self._source = source
        self._chosen = list(range(len(columns))) if chosen is None else chosen

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        return [self._all[place].name for place in self._chosen]

    @property
    def fields(self) -> List[Column]:
        """The columns with their types and units."""
        return [self._all[place] for place in self._chosen]

    def select(self, columns: Iterable[str]) -> Table:
        """Returns the table with these columns alone, in this order."""
        wanted = [columns] if isinstance(columns, str) else list(columns)
        if not wanted:
            raise UsageError(f"select() of the table {self.name} needs a column; there are: {', '.join(self.columns)}")
        places = {self._all[place].name: place for place in self._chosen}
        if missing := [name for name in wanted if name not in places]:
            raise UsageError(f"the table {self.name} has no column {missing[0]!r}; there are: {', '.join(places)}")
        return Table(self.name, self.rows, self._all, self._source, [places[name] for name in wanted])

    def __getitem__(self, columns: Any) -> Table:
        return self.select(columns)

    def __len__(self) -> int:
        return self._source.count()

    def _fill(self, address: int) -> None:
        self._source.fill(self._chosen, address)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's C stream interface. Another schema cannot be asked for: readers then convert the columns themselves."""
        return _library.stream_capsule(self._fill)

    def __arrow_c_schema__(self) -> Any:
        return _library.schema_capsule(lambda address: _library.schema_of_stream(self._fill, address))

    def to_arrow(self) -> pyarrow.Table:
        """Returns a pyarrow.Table."""
        return _needed("pyarrow", "to_arrow()").table(self)

    def to_polars(self) -> polars.DataFrame:
        """Returns a polars.DataFrame. Texts that recur are categories."""
        return _needed("polars", "to_polars()").DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a pandas.DataFrame. Texts that recur are categories."""
        frame = _needed("pandas", "to_pandas()").DataFrame
        # Readers before pandas 3 need pyarrow.
        return frame.from_arrow(self) if hasattr(frame, "from_arrow") else self.to_arrow().to_pandas()

    def __repr__(self) -> str:
        shown = [f"  {column.name}: {column.type}{f'  [{column.unit}]' if column.unit else ''}" for column in self.fields]
        return "\n".join([f"gpuprof.Table {self.name}: {self.rows}", *shown])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(column.name)}</td><td>{html.escape(column.type)}</td><td>{html.escape(column.unit)}</td></tr>" for column in self.fields)
        return (f"<b>{html.escape(self.name)}</b>: {html.escape(self.rows)}"
                f"<table><thead><tr><th>column</th><th>type</th><th>unit</th></tr></thead><tbody>{rows}</tbody></table>")


def _needed(name: str, what: str) -> Any:
    import importlib  # noqa: PLC0415

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibraryError(f"{what} needs the package {name}: pip install {name}") from error


