# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Prints how many figures of a recording were compared, in every table: rows, sums of columns, and sums by each text."""

import json
import sys

import duckdb
import gpuprof
import polars
import pyarrow

NUMBERS = ("int64", "uint64", "uint32", "float64", "bool")


def is_near(one, other):
    if one is None or other is None:
        return one == other
    return one == other or (isinstance(one, float) or isinstance(other, float)) and abs(one - other) <= 1e-9 * max(abs(one), abs(other))


def sums_by_text(recording, table, text, number):
    """Compares count and sum by a text: pyarrow, polars and SQL."""
    rows = recording.table(table).select([text, number])
    frame = rows.to_arrow()
    plain = frame.set_column(0, text, frame[text].cast(pyarrow.string()))
    grouped = plain.group_by(text).aggregate([([], "count_all"), (number, "sum")]).to_pylist()
    by_arrow = sorted((row[text] or "", row["count_all"], row[f"{number}_sum"] or 0) for row in grouped)
    grouped = rows.to_polars().with_columns(polars.col(text).cast(polars.String)).group_by(text).agg(polars.len().alias("n"), polars.col(number).sum().alias("total"))
    by_polars = sorted((row[text] or "", row["n"], row["total"]) for row in grouped.to_dicts())
    found = recording.sql(f'select "{text}" as text, count(*) as n, sum("{number}") as total from {table} group by 1').to_arrow().to_pylist()
    by_sql = sorted((row["text"] or "", row["n"], row["total"] or 0) for row in found)
    assert by_arrow == by_polars == by_sql, (table, text, number, by_arrow[:3], by_polars[:3], by_sql[:3])


def main():
    recording = gpuprof.open(sys.argv[1])
    tables = events = columns = 0
    for name in recording.tables:
        table = recording.table(name)
        arrow = table.to_arrow()
        arrow.validate(full=True)
        assert arrow.column_names == table.columns and arrow.num_rows == len(table), name
        quoted = name if "." in name else f'"{name}"'
        numbers = [column.name for column in table.fields if column.type in NUMBERS]
        texts = [column.name for column in table.fields if column.type not in NUMBERS]
        tables += 1
        # Sums of addresses need more than 64 bits: SQL says them as texts.
        sums = ""
        for each, kind, _ in table.fields:
            if each in texts:
                sums += f', count("{each}") as "{each}"'
            elif kind == "float64":
                sums += f', sum("{each}") as "{each}"'
            else:
                sums += f', sum("{each}"::hugeint)::varchar as "{each}"'
        right = recording.sql(f'select count(*) as "#"{sums} from {quoted}').to_arrow().to_pylist()[0]
        assert right["#"] == arrow.num_rows, name
        frame = table.to_polars()
        for each, kind, _ in table.fields:
            column = arrow[each]
            if each in texts:
                assert right[each] == len(column) - column.null_count == frame[each].count(), (name, each)
                continue
            values = [value for value in column.to_pylist() if value is not None]
            if kind == "float64":
                assert is_near(sum(values) if values else None, right[each]), (name, each, right[each])
            else:
                assert right[each] == (str(sum(map(int, values))) if values else None), (name, each, right[each])
            assert sum(value for value in frame[each].to_list() if value is not None) == sum(values), (name, each)
            columns += arrow.num_rows > 0
        if arrow.num_rows == 0:
            continue
        pandas = table.to_pandas()
        assert list(pandas.columns) == table.columns and len(pandas) == arrow.num_rows
        assert duckdb.sql("select count(*) from arrow").fetchall()[0][0] == arrow.num_rows
        if "." not in name and name not in ("names", "processes", "tracks", "stacks"):
            events += 1
            number = next((each for each in ("dur_ns", "size_bytes", "bytes") if each in numbers), "pid")
            for text in texts:
                sums_by_text(recording, name, text, number)
    print(json.dumps({"tables": tables, "events": events, "columns": columns}))


main()
