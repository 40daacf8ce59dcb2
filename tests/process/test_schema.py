# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof schema` and the tables of proto/FORMAT.md say the same. Its part `results` is what passes print."""

import json
import re

from conftest import ROOT, gpuprof

CHAINED = "gap"


def test_tables_of_sql_are_those_of_queries():
    """`gpuprof schema` needs no recording, and a query of any recording has the same tables."""
    source = ROOT / "tests" / "golden" / "traces" / "v1" / "gpu.gpt"
    described = [(row["table"], row["column"], row["type"], row["unit"]) for row in json.loads(gpuprof("query", source, "--json").out)]
    tables = schema()["sql"]
    assert [(table["name"], column["name"], column["type"], column["unit"]) for table in tables for column in table["columns"]] == described
    assert len(tables) > 60 and all(table["rows"] for table in tables)
    text = gpuprof("schema").out.decode()
    assert all(f"\n{table['name']}: {table['rows']}\n" in text for table in tables)
    units = {(table["name"], column["name"]): column["unit"] for table in tables for column in table["columns"]}
    assert units[("kernels", "dur_ns")] == units[("CUPTI_ACTIVITY_KIND_KERNEL", "start")] == units[("slice", "ts")] == "ns"
    assert units[("memcpy", "bytes")] == "bytes"


def schema():
    done = gpuprof("schema", "--json")
    assert done.status == 0
    return json.loads(done.out)


def rows(kind):
    return [column for column in kind["columns"] if column["per"] == "row"]


def events():
    return [kind for kind in schema()["kinds"] if kind["feed"] != "table"]


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def page_rows(first_cell):
    """The rows of the page's tables whose first cell in the head is this one."""
    found, is_inside = [], False
    for line in (ROOT / "proto" / "FORMAT.md").read_text().splitlines():
        if not line.startswith("|"):
            is_inside = False
        elif cells(line)[0] == first_cell:
            is_inside = True
        elif is_inside and not line.startswith("| ---"):
            found.append(cells(line))
    return found


def words(columns):
    return ", ".join(column["name"] + ("" if column["encoding"] == "plain" else f" ({column['encoding']})") for column in columns)


def test_kinds_are_those_of_the_page():
    on_page = [tuple(row[at:at + 3]) for at in (3, 7) for row in page_rows("kind") if len(row) == 10 and row[at]]
    assert sorted(on_page) == sorted((str(kind["kind"]), kind["name"], kind["clock"]) for kind in events())
    tables = [(row[0], re.sub(r"(?<=[a-z])(?=[A-Z])", "_", row[1].strip("`")).lower()) for row in page_rows("kind") if len(row) == 10]
    assert tables == [(str(kind["kind"]), kind["name"]) for kind in schema()["kinds"] if kind["feed"] == "table"]


def test_columns_are_those_of_the_page():
    plain = [[kind["name"], words(rows(kind))] for kind in events() if rows(kind)[0]["encoding"] != CHAINED]
    assert sorted(page_rows("table")) == sorted(plain)
    chained = [[kind["name"], rows(kind)[2]["name"], words(rows(kind)[3:])] for kind in events() if rows(kind)[0]["encoding"] == CHAINED]
    assert sorted(page_rows("chained table")) == sorted(chained)


def test_fields_of_packed_columns_are_those_of_the_page():
    def field_words(field):
        last = field["first_bit"] + field["bits"] - 1
        bits = f"{field['first_bit']}" if field["bits"] == 1 else f"{field['first_bit']}-{last}"
        return f"{field['name']} {bits} ({field['type']})"

    packed = [[f"{kind['name']}.{column['name']}", ", ".join(map(field_words, column["fields"]))]
              for kind in events() for column in rows(kind) if column["type"] == "bits"]
    assert len(packed) >= 15
    assert sorted(page_rows("packed column")) == sorted(packed)


def test_fields_and_their_words():
    columns = {(kind["name"], column["name"]): column for kind in events() for column in rows(kind)}
    for (_, name), column in columns.items():
        assert ("fields" in column) == (column["type"] == "bits"), name
        assert ("values" in column) == (column["type"] == "enum"), name
        for field in column.get("fields", []):
            assert field["first_bit"] + field["bits"] <= 64
            assert bool(field.get("values")) == (field["type"] in ("enum", "flags")), (name, field)
    fields = {field["name"]: field for field in columns["heap", "operation"]["fields"]}
    assert fields["free"] == {"name": "free", "first_bit": 0, "bits": 1, "type": "flag"}
    assert fields["call"]["values"]["3"] == "realloc"
    assert fields["flags"]["values"] == {"1": "sampled", "2": "has_stack", "4": "coarse_time", "8": "timed_out", "16": "incomplete",
                                         "32": "no_unwinder", "64": "file", "128": "no_access"}
    copy = {field["name"]: field for field in columns["memcpy", "operation"]["fields"]}
    assert copy["kind"]["values"]["1"] == "HtoD" and copy["source"]["values"]["2"] == "pinned"
    assert columns["thread", "event"]["values"] == {"1": "start", "2": "name", "3": "exit", "4": "seen"}
    assert columns["row_detail", "table"]["values"]["34"] == "op"


def test_numbers_of_proto_are_those_of_the_schema():
    text = (ROOT / "proto" / "trace.proto").read_text()
    (chunk,) = re.findall(r"^message Chunk {(.*?)^}", text, re.M | re.S)
    fields = {name: int(number) for name, number in re.findall(r"(\w+) = (\d+);", chunk)}
    for kind in schema()["kinds"]:
        if kind["feed"] == "table":
            assert fields[kind["name"]] == kind["field"], kind["name"]
        for i, column in enumerate(rows(kind)):
            assert fields[f"c{i}"] == column["field"]
        for column in kind["columns"]:
            if column["per"] == "block":
                assert fields[column["name"]] == column["field"], column["name"]


def test_every_column_has_a_type_and_times_have_a_unit():
    for kind in events():
        unit = {"ticks": "ticks", "cupti": "ns"}[kind["clock"]]
        for column in kind["columns"]:
            since = {"file_read": "1.1", "host_function": "1.3", "op_value": "1.4", "sample": "1.4", "gc_pause": "1.5"}.get(kind["name"]) if column["per"] == "row" else None
            if (kind["name"], column["name"]) in (("python", "operation"), ("op", "sequence")):
                since = "1.5"
            assert column["type"] and column["since"] == (since or "1.0")
            if column["type"] in ("time", "duration"):
                assert column["unit"] == unit
            if column["type"] in ("bytes", "signed_bytes"):
                assert column["unit"] == "bytes"


def test_text_names_every_table_and_column():
    text = gpuprof("schema").out.decode()
    for kind in events():
        assert f"\n{kind['name']}: kind {kind['kind']}, feed {kind['feed']}, clock {kind['clock']}\n" in text
        for column in rows(kind):
            assert re.search(rf"^  {column['name']} +{column['type']} +{column['unit'] or '-'} +{column['encoding']}$", text, re.M)
            for field in column.get("fields", []):
                assert re.search(rf"^    {field['name']} +{field['type']} +bits {field['first_bit']}\b", text, re.M)


def fields(message):
    return {field["name"]: field for field in schema()["results"]["messages"][message]}


def test_fields_of_results_have_units_and_tell_what_may_be_null():
    copies = fields("Copies")
    assert copies["total_bytes"] == {"name": "total_bytes", "type": "uint64", "unit": "bytes", "list": False, "nullable": True}
    assert copies["mean_ns"] == {"name": "mean_ns", "type": "int64", "unit": "ns", "list": False, "nullable": False}
    assert [copies[name]["unit"] for name in ("limit_ratio", "count", "gb_per_s", "name")] == ["ratio", "count", "", ""]
    assert fields("Memcpy")["copies"] == {"name": "copies", "type": "message", "unit": "", "list": True, "nullable": False, "message": "Copies"}
    assert fields("Confidence")["level"]["values"] == ["none", "low", "medium", "high"]


def test_every_message_of_a_result_is_described():
    results = schema()["results"]
    names = {field["message"] for message in results["messages"].values() for field in message if field["type"] == "message"}
    assert names | {each["message"] for each in results["passes"] + results["pages"]} == set(results["messages"])


def test_pages_of_verbs_are_described_like_passes():
    pages = {each["name"]: each for each in schema()["results"]["pages"]}
    assert {name: (each["message"], each["main_table"]) for name, each in pages.items()} == {
        "diff": ("Diff", "kernels"), "baseline": ("Baseline", "kernels"), "baselines": ("Baselines", "baselines"), "rules": ("Rules", "rules"), "trials": ("Trials", "trials")}
    assert fields("Diff")["kernels"] == {"name": "kernels", "type": "message", "unit": "", "list": True, "nullable": False, "message": "RowDiff"}
    assert fields("RowDiff")["before_ns"] == {"name": "before_ns", "type": "int64", "unit": "ns", "list": False, "nullable": True}
    assert fields("Baseline")["step_median_ns"]["unit"] == "ns" and fields("Baseline")["kernel_count"]["unit"] == "count"
    assert fields("BaselineEntry")["size_bytes"]["unit"] == "bytes"


def test_text_names_every_message_and_field():
    text = gpuprof("schema").out.decode()
    results = schema()["results"]
    for each in results["passes"] + results["pages"]:
        assert re.search(rf"^  {each['name']} +{each['message']}$", text, re.M), each["name"]
    blocks = {block.splitlines()[0]: block.splitlines()[1:] for block in text[text.index("\nEach message"):text.index("\ntables of SQL")].strip().split("\n\n")[1:]}
    assert set(blocks) == set(results["messages"])
    for name, described in results["messages"].items():
        marks = [["list"] if field["list"] else ["nullable"] if field["nullable"] else [] for field in described]
        expected = [[field["name"], field.get("message", field["type"]), field["unit"] or "-", *mark] for field, mark in zip(described, marks)]
        assert [line.split() for line in blocks[name]] == expected, name


def test_paths_of_tables_and_columns_lead_to_fields():
    results = schema()["results"]

    def follow(message, path):
        for step in path.split("."):
            (field,) = [field for field in results["messages"][message] if field["name"] == step]
            message = field.get("message")
        return field

    assert len(results["passes"]) >= 22
    for each in results["passes"] + results["pages"]:
        assert follow(each["message"], each["main_table"])["list"], each["name"]
        for table in each["tables"]:
            assert follow(each["message"], table["rows"])["message"] == table["message"]
            for column in table["columns"]:
                for key in ("field", "share_of", "needs", "shown_by"):
                    assert not column[key] or follow(table["message"], column[key])
                assert set(column["only_by"] + column["except_by"]) <= set(each["keys"]), (each["name"], column["title"])


def test_columns_say_how_and_when_they_are_shown():
    (memcpy,) = [each for each in schema()["results"]["passes"] if each["name"] == "memcpy"]
    assert memcpy["keys"] == ["direction", "stream", "size"] and memcpy["main_table"] == "copies"
    (table,) = memcpy["tables"]
    columns = {column["title"]: column for column in table["columns"]}
    assert columns["of limit"] == {"title": "of limit", "field": "limit_ratio", "format": "percent", "unit": "", "divisor": 0.0,
                                   "decimals": 0, "tip": "", "page": "shown", "text": True, "share_of": "", "computed": False,
                                   "needs": "", "blank": "-", "align": "right", "flexible": False, "shown": "always", "shown_by": "",
                                   "only_by": ["direction"], "except_by": []}
    assert (columns["pid"]["format"], columns["pid"]["shown"]) == ("process", "different")
    assert columns["context"]["shown"] == "different_in_process"
    assert (table["noun"], table["sorted_by"]) == (["copy", "copies"], "total_ns")
    total = columns["total"]
    assert (total["unit"], total["divisor"], total["decimals"]) == ("ms", 1e6, 2)
    assert columns["mean"]["unit"] == "\u00b5s" and columns["bytes"]["unit"] == "MiB"
    assert (columns["async"]["page"], columns["stream"]["page"], columns["memory"]["page"]) == ("if_wide", "offered", "absent")
    assert not columns["from"]["text"] and columns["memory"]["text"]
    assert columns["memory"]["computed"] and columns["memory"]["align"] == "left"
