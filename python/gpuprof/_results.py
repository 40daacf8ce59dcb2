# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Results of passes: objects whose attributes are the fields of proto/results/, with their units and meanings."""

from __future__ import annotations

import functools
import html
import json
from typing import Any, Dict, Iterator, List, Optional, Type

from . import _library
from ._errors import UsageError

_MOST_SHOWN = 20


@functools.lru_cache(maxsize=1)
def schema() -> Dict[str, Any]:
    """Returns what `gpuprof schema --json` says of results: passes, and the fields of each message."""
    return json.loads(_library.text_of("schema"))["results"]


def passes() -> Dict[str, Dict[str, Any]]:
    return {entry["name"]: entry for entry in schema()["passes"]}


class Rows(List[Any]):
    """A list of a result. Notebooks show it as a table."""

    def _repr_html_(self) -> str:
        return _table_of(self)


class Result:
    """A result of a pass, or a row of one. Fields are attributes: None is what is not known.

    `help(type(result))` and `result.describe()` say what the fields are.
    """

    _message = ""
    _fields: Dict[str, Dict[str, Any]] = {}

    def __init__(self, values: Dict[str, Any]) -> None:
        self._values = values

    def to_dict(self) -> Dict[str, Any]:
        """Returns the fields as JSON has them."""
        return self._values

    def describe(self) -> str:
        """Returns the fields, a line each: type, unit and meaning."""
        return "\n".join(f"{name}: {_words(field)}" for name, field in self._fields.items())

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._fields]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"the result {self._message} has no field {name!r}; there are: {', '.join(self._fields)}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self._message == other._message and self._values == other._values

    def __repr__(self) -> str:
        shown = []
        for name in self._fields:
            value = getattr(self, name)
            if isinstance(value, Rows):
                value = f"<{len(value)} rows>"
            elif isinstance(value, Result):
                value = f"<{value._message}>"
            elif value is not None:
                value = repr(value)
            if value is not None:
                shown.append(f"{name}={value}")
        return f"{self._message}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        plain, lists = [], []
        for name in self._fields:
            value = getattr(self, name)
            if isinstance(value, Rows):
                if value:
                    lists.append(f"<details><summary>{html.escape(name)}: {len(value)} rows</summary>{_table_of(value)}</details>")
            elif not isinstance(value, Result) and value is not None:
                plain.append(f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(value))}</td></tr>")
        return f"<b>{html.escape(self._message)}</b><table><tbody>{''.join(plain)}</tbody></table>{''.join(lists)}"


def _words(field: Dict[str, Any]) -> str:
    """Returns what a field is, in a line."""
    kind = field.get("message", field["type"])
    parts = [f"list of {kind}" if field["list"] else kind]
    if field["unit"]:
        parts.append(f"in {field['unit']}")
    if field.get("values"):
        parts.append("one of " + ", ".join(field["values"]))
    if field["nullable"]:
        parts.append("None if it is not known")
    text = "; ".join(parts)
    return f"{field['title']}: {text}" if field.get("title") else text


def _property(name: str, field: Dict[str, Any]) -> property:
    inner = field.get("message")

    def value(self: Result) -> Any:
        found = self._values.get(name)
        if not field["list"]:
            return made(inner, found) if inner and found is not None else found
        return Rows(made(inner, each) if inner else each for each in found or [])

    return property(value, doc=_words(field))


@functools.lru_cache(maxsize=None)
def _class_of(message: str) -> Type[Result]:
    titles: Dict[str, str] = {}
    for entry in schema()["passes"]:
        for table in entry["tables"]:
            if table["message"] == message:
                for column in table["columns"]:
                    said = f"{column['title']}. {column['tip']}" if column["tip"] else column["title"]
                    titles.setdefault(column["field"], said)
    fields = {field["name"]: {**field, "title": titles.get(field["name"], "")} for field in schema()["messages"][message]}
    members: Dict[str, Any] = {name: _property(name, field) for name, field in fields.items() if name not in ("to_dict", "describe")}
    members.update(_message=message, _fields=fields, __doc__=f"Fields of the result {message}.")
    return type(message, (Result,), members)


def made(message: Optional[str], values: Any) -> Any:
    return _class_of(message)(values) if message else values


def of_pass(name: str, values: Dict[str, Any]) -> Result:
    """Returns the result of a pass as an object."""
    known = passes()
    if name not in known:
        raise UsageError(f"there is no pass {name!r}; there are: {', '.join(known)}")
    return made(known[name]["message"], values)


def _table_of(rows: List[Any]) -> str:
    """Returns the first rows as a table of HTML."""
    if not rows:
        return "<i>no rows</i>"
    if not isinstance(rows[0], Result):
        return html.escape(", ".join(str(each) for each in rows[:_MOST_SHOWN]))
    plain = [name for name, field in rows[0]._fields.items() if not field["list"] and "message" not in field]
    names = [name for name in plain if any(getattr(row, name) is not None for row in rows[:_MOST_SHOWN])]
    head = "".join(f"<th title='{html.escape(_words(rows[0]._fields[name]), quote=True)}'>{html.escape(name)}</th>" for name in names)
    lines = []
    for row in rows[:_MOST_SHOWN]:
        cells = (getattr(row, name) for name in names)
        lines.append("<tr>" + "".join(f"<td>{'' if cell is None else html.escape(str(cell))}</td>" for cell in cells) + "</tr>")
    more = f"<i>and {len(rows) - _MOST_SHOWN} more rows</i>" if len(rows) > _MOST_SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{more}"
