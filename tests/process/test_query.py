# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""SQL over recordings: the same figures as the passes have, all types of columns, and nothing but reading."""

import csv
import io
import json
import subprocess

import pytest

from conftest import GPUPROF, ROOT, clean_environment, gpuprof
from waiting import LIMIT_S

LIBRARY = ROOT / ".deps" / "duckdb" / "libduckdb.so"
TRACES = ROOT / "tests" / "golden" / "traces"
DUCKDB_PYTHON = ROOT / ".deps" / "spark" / "bin" / "python"


def query(path, sql, *options):
    return gpuprof("query", path, sql, f"--library={LIBRARY}", *options)


def rows(path, sql):
    done = query(path, sql, "--json")
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def stats(name, path):
    done = gpuprof("stats", name, "--json", path)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


BUNDLE = sorted((TRACES / "h200" / "pytorch").glob("*/bundle.pb"))[0].parent
KINETO = ROOT / "tests" / "golden" / "kineto"
pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="scripts/setup could not fetch DuckDB's library")


def test_kernels_by_name_are_those_of_the_pass():
    found = rows(BUNDLE, "select name, count(*) as count, sum(dur_ns) as total_ns, max(dur_ns) as longest from kernels group by name")
    right = stats("kernels", BUNDLE)["kernels"]
    assert len(found) > 5
    assert {(row["name"], row["count"], row["total_ns"]) for row in found} == {(row["name"], row["count"], row["total_ns"]) for row in right}


def test_tables_have_all_rows():
    """`gpuprof info` counts the rows by the headers of blocks, and SQL by the rows themselves."""
    info = json.loads(gpuprof("info", "--json", BUNDLE).out)
    told = {kind["name"]: kind["count"] for kind in info["processes"][0]["kinds"] if kind["is_event"]}
    assert len(info["processes"]) == 1
    singular = {"kernels": "kernel", "ops": "op", "waits": "wait", "samples": "sample", "ranges": "range", "launches": "launch", "tensors": "tensor"}
    checked = 0
    for name in ["kernels", "ops", "waits", "samples", "ranges", "launches", "tensors", "api", "memcpy", "memset", "sync", "heap"]:
        rows_told = told.get(singular.get(name, name), 0)
        assert rows(BUNDLE, f"select count(*) as n from {name}")[0]["n"] == rows_told, name
        checked += rows_told > 0
    assert checked >= 6, told


def test_counters_have_the_readings_of_devices():
    """gpuprof reads them by NVML, in no process of the program."""
    found = rows(BUNDLE, """select name, source, unit, device, device_uuid, host, count(*) as count, min(reading) as min, max(reading) as max,
                            arg_max(reading, time_ns) as last from counters group by all""")
    right = stats("counters", BUNDLE)["counters"]
    assert len({row["source"] for row in right}) >= 2 and len(right) > 10
    key = lambda row: (row["device_uuid"], row["source"], row["name"])
    said = ("name", "source", "unit", "device", "device_uuid", "host", "count", "min", "max", "last")
    told = {key(row): [row[name] for name in said] for row in right}
    assert {key(row): [row[name] for name in said] for row in found} == {name: pytest.approx(row) for name, row in told.items()}
    [outside] = rows(BUNDLE, "select count(*) - count(step) - count(rank) - count(pid) as n, count(*) as all_rows from counters")
    assert outside["n"] == outside["all_rows"] > 0
    device, = rows(BUNDLE, "select distinct t.name, t.device, t.process, t.pid from counters c join tracks t on t.track = c.track")
    assert device["device"] == 0 and device["name"] == stats("counters", BUNDLE)["devices"][0]["name"] and device["process"] is device["pid"] is None


def _flat(row, outer=""):
    """The plain fields of a row, and those of messages within it, as columns are named."""
    flat = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{outer}{key}_")
        elif not (isinstance(value, list) and value and isinstance(value[0], dict)):
            flat[outer + key] = value
    return flat


def _lists(message, name="", depth=0):
    """Every list of rows of a result in JSON, by the name that its table has."""
    for key, value in message.items():
        if key == "meta" or depth >= 3:
            continue
        path = f"{name}_{key}" if name else key
        if isinstance(value, dict):
            yield from _lists(value, path, depth + 1)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield path, value
            deeper = {}
            for row in value:
                for inner, more in _lists(row, path, depth + 1):
                    deeper.setdefault(inner, []).extend(more)
            yield from deeper.items()


def _is_same(told, right):
    if isinstance(right, list):
        return told == ", ".join(str(each) for each in right) or any(isinstance(each, float) for each in right)
    if isinstance(right, float) or isinstance(told, float):
        return told == pytest.approx(right, rel=1e-9)
    return told == right or (told is None and right is None)


def _check_csv(table, found):
    """CSV of the same rows has the same figures."""
    csv_rows = list(csv.DictReader(io.StringIO(query(BUNDLE, f"select * from {table}", "--csv").out.decode())))
    assert len(csv_rows) == len(found), table
    for told, row in zip(csv_rows, found):
        assert told.keys() == row.keys()
        for key, value in row.items():
            if isinstance(value, bool):
                assert told[key] == str(value).lower(), (table, key)
            elif isinstance(value, (int, float)):
                assert float(told[key]) == value, (table, key)
            elif value is None:
                assert told[key] == "", (table, key)


@pytest.mark.skipif(not DUCKDB_PYTHON.exists(), reason="DuckDB's package is not installed: scripts/setup --only test")
def test_parquet_has_the_figures_of_every_pass(tmp_path):
    """Results in a data set are those of SQL, and so of the passes."""
    done = gpuprof("export", BUNDLE, "-f", "parquet", "-o", tmp_path / "set", f"--library={LIBRARY}")
    assert done.status == 0, done.err.decode()
    files = sorted(tmp_path.glob("set/job=*/stats.*.parquet"))
    assert len(files) > 10
    code = ("import duckdb, json, sys\nfor path in sys.argv[1:]:\n"
            "    found = duckdb.sql(f\"select * from read_parquet('{path}', hive_partitioning = false)\")\n    print(json.dumps([dict(zip(found.columns, row)) for row in found.fetchall()]))")
    told = subprocess.run([DUCKDB_PYTHON, "-c", code, *files], capture_output=True, text=True, timeout=LIMIT_S)
    assert told.returncode == 0, told.stderr
    compared = 0
    for path, line in zip(files, told.stdout.splitlines(), strict=True):
        table = path.name.removesuffix(".parquet")
        right = rows(BUNDLE, f"select * from {table}")
        assert len(json.loads(line)) == len(right) > 0, table
        for got, row in zip(json.loads(line), right):
            assert got.keys() == row.keys(), table
            for key, value in row.items():
                assert _is_same(got[key], value), (table, key, got[key], value)
                compared += 1
    assert compared > 500


def test_sql_has_the_figures_of_every_pass():
    done = gpuprof("query", BUNDLE, "--json")
    assert done.status == 0, done.err.decode()
    tables = {row["table"] for row in json.loads(done.out)}
    passes = [each["name"] for each in json.loads(gpuprof("schema", "--json").out)["results"]["passes"]]
    assert len(passes) > 15
    compared = 0
    for name in passes:
        left = {}
        for path, right in _lists(stats(name, BUNDLE)):
            table = f"stats.{name}_{path}"
            if table in tables:
                left[table] = right
            elif f"stats.{name}" in tables and f"stats.{name}" not in left:
                left[f"stats.{name}"] = right
        for table, right in left.items():
            found = rows(BUNDLE, f"select * from {table}")
            assert len(found) == len(right), table
            _check_csv(table, found)
            for told, row in zip(found, right):
                for key, value in _flat(row).items():
                    if key in told:
                        assert _is_same(told[key], value), (table, key, told[key], value)
                        compared += 1
    assert compared > 1000


def test_ids_become_texts_and_stacks_become_frames():
    found = rows(BUNDLE, "select k.name, n.name as by_id from kernels k join names n on n.id = k.name_id")
    assert found and all(row["name"] == row["by_id"] != "" for row in found)
    assert rows(BUNDLE, "select count(*) as n from launches l left join stacks s on s.stack = l.stack where l.stack is not null and s.stack is null")[0]["n"] == 0
    chain = rows(BUNDLE, """with recursive chain as (
        select stack, parent, function, 1 as depth from stacks where stack = (select max(stack) from stacks)
        union all select s.stack, s.parent, s.function, c.depth + 1 from stacks s join chain c on s.stack = c.parent)
        select max(depth) as depth, bool_or(parent is null) as ends from chain""")
    assert chain[0]["depth"] >= 1 and chain[0]["ends"]


@pytest.mark.parametrize("trace", sorted(KINETO.glob("*.json.gz"))[:4], ids=lambda path: path.name)
def test_imported_traces(trace):
    found = rows(trace, "select count(*) as n, sum(dur_ns) as total, min(start_ns) as first from kernels")[0]
    right = stats("kernels", trace)
    assert (found["total"] or 0) == sum(row["total_ns"] for row in right["kernels"])


def test_the_number_of_threads_changes_nothing():
    sql = "select name, pid, stream, count(*) as n, sum(dur_ns) as total from kernels group by all order by all"
    one, many = (query(BUNDLE, sql, "--csv", f"--threads={n}").out for n in (1, 4))
    assert one == many and one.count(b"\n") > 3


def test_values_of_all_types():
    sql = ("select 1.25 as decimal, 1e300::double as large, 'nan'::double as odd, 170141183460469231731687303715884105727 as huge, "
           "-5::hugeint as negative, null as nothing, true as yes, [1, 2] as list, interval 90 seconds as wait, 'a\"b' as text, 7 as text, ''::text as empty")
    row = rows(BUNDLE, sql)[0]
    assert (row["decimal"], row["large"], row["huge"], row["negative"]) == (1.25, 1e300, 2**127 - 1, -5)
    assert (row["odd"], row["nothing"], row["yes"], row["list"], row["wait"]) == ("nan", None, True, "[1, 2]", "00:01:30")
    assert (row["text"], row["text_1"], row["empty"]) == ('a"b', 7, "")
    assert rows(BUNDLE, "select 1 as n, 2 as n, 3 as n") == [{"n": 1, "n_1": 2, "n_2": 3}]
    table = list(csv.reader(io.StringIO(query(BUNDLE, "select '=1+1' as formula, 'a,b' as comma, null as nothing", "--csv").out.decode())))
    assert table == [["formula", "comma", "nothing"], ["'=1+1", "a,b", ""]]
    text = query(BUNDLE, "select i from range(150) t(i)").out.decode()
    assert "... and 50 more rows (--limit 0 shows all)" in text
    assert query(BUNDLE, "select i from range(150) t(i)", "--limit=0").out.count(b"\n") == 151
    assert "no rows" in query(BUNDLE, "select 1 as n where false").out.decode()
    assert rows(BUNDLE, "select 1 as n where false") == []
    assert rows(BUNDLE, "select count(*) as n from kernels -- a comment;\n;")[0]["n"] > 0


HOSTILE = [
    "create table t as select 1", "create view v as select 1", "insert into names values (1, 'x')", "drop view kernels", "delete from kernels",
    "update kernels set dur_ns = 0", "copy (select 1) to '{folder}/out.csv'", "copy kernels to '{folder}/out.parquet' (format parquet)",
    "export database '{folder}/out'", "attach '{folder}/out.db' as other", "select * from '{folder}/secret.csv'",
    "select * from read_csv('{folder}/secret.csv')", "select * from read_text('{folder}/secret.csv')", "select * from glob('{folder}/*')",
    "install httpfs", "load httpfs", "set enable_external_access = true", "set memory_limit = '1TB'", "pragma enable_profiling",
    "set temp_directory = '{folder}'", "select 1; select 2", "begin", "call pragma_version()", "vacuum", "checkpoint", "use stats",
    "prepare p as select 1", "", "  ", "select", "select * from no_such_table", "select pg_read_file('/etc/passwd')",
]


@pytest.mark.parametrize("sql", [sql for sql in HOSTILE if sql.strip()])
def test_a_statement_can_only_read_tables(sql, tmp_path):
    (tmp_path / "secret.csv").write_text("word\nswordfish\n")
    before = sorted(tmp_path.rglob("*"))
    done = subprocess.run([GPUPROF, "query", BUNDLE, sql.format(folder=tmp_path), f"--library={LIBRARY}"], capture_output=True,
                          cwd=tmp_path, env=clean_environment(), timeout=LIMIT_S)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(b"gpuprof: ") and b"swordfish" not in done.stdout + done.stderr
    assert sorted(tmp_path.rglob("*")) == before, "a statement made a file"


def test_an_error_of_sql_is_one_line():
    done = query(BUNDLE, "select * from kernel")
    assert done.status == 2 and done.err.count(b"\n") == 1, done.err
    assert b"kernel does not exist! Did you mean" in done.err and b"\\n" not in done.err and b"LINE" not in done.err


def test_wide_shows_all_columns():
    shown = query(BUNDLE, "select * from kernels limit 1", "--width=60").out
    assert b"--wide shows all" in b" ".join(shown.split())
    assert b"no room" not in query(BUNDLE, "select * from kernels limit 1", "--width=60", "--wide").out


def test_without_the_library_an_error_says_where_it_is_from(tmp_path):
    done = gpuprof("query", BUNDLE, "select 1", f"--library={tmp_path / 'none.so'}")
    assert done.status == 2 and b"is not a file" in done.err
    other = tmp_path / "libduckdb.so"
    other.write_bytes(b"not a library")
    done = gpuprof("query", BUNDLE, "select 1", f"--library={other}")
    assert done.status == 2 and b"libduckdb.so" in done.err and b"https://duckdb.org" in done.err
    # The current folder is no place to look: whoever writes there would run code.
    done = subprocess.run([GPUPROF, "query", BUNDLE, "select 1"], capture_output=True, cwd=tmp_path, env=clean_environment(), timeout=LIMIT_S)
    assert b"not a library" not in done.stderr and b"invalid ELF" not in done.stderr
    # The list of tables needs no library.
    listed = gpuprof("query", BUNDLE, "--csv").out.decode()
    assert "kernels,dur_ns,bigint,ns" in listed and "stats.idle" in listed


def test_hostile_names(tmp_path):
    trace = tmp_path / "trace.json"
    name = "bad \u0000\u001b[31m name\u202e\"'; drop view kernels; --"
    event = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 1}}
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [event]}))
    assert rows(trace, "select name, dur_ns from kernels")[0]["dur_ns"] == 5000
    text = query(trace, "select name from kernels").out
    assert b"\x1b" not in text and b"\x00" not in text
