# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof export` of sums and tables: OpenMetrics as its own parser reads it, and SQLite, whose sums are those of `gpuprof query`."""

import csv
import io
import json
import sqlite3
import subprocess

import pytest

from conftest import ROOT, gpuprof
from test_export_perfetto import KINETO, kineto, span
from waiting import LIMIT_S

TRACES = ROOT / "tests" / "golden" / "traces" / "v1"
PEERS = ROOT / ".deps" / "peers" / "bin"
DUCKDB = ROOT / ".deps" / "duckdb" / "libduckdb.so"
PARSE = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(sys.stdin.read()))
print(json.dumps([[f.name, f.type, f.unit, [[s.name, s.labels, s.value] for s in f.samples]] for f in families]))
"""
needs_parser = pytest.mark.skipif(not (PEERS / "python").exists(), reason="no parser of OpenMetrics: scripts/setup --only test")
needs_duckdb = pytest.mark.skipif(not DUCKDB.exists(), reason="no DuckDB: scripts/setup --only test")


def export(source, form, path, *options):
    done = gpuprof("export", source, "-f", form, "-o", path, *options)
    assert done.status in (0, 3), done.err.decode()
    return done.err.decode()


def families(path):
    done = subprocess.run([str(PEERS / "python"), "-c", PARSE], input=path.read_bytes(), capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr.decode()
    return {name: (kind, unit, samples) for name, kind, unit, samples in json.loads(done.stdout)}


def total(found, family, **labels):
    return sum(value for name, own, value in found[family][2] if labels.items() <= own.items())


@needs_parser
@pytest.mark.parametrize("source", KINETO + sorted(TRACES.glob("*.gpt")), ids=lambda path: path.name)
def test_metrics_parse_and_have_the_sums_of_the_passes(tmp_path, source):
    export(source, "openmetrics", tmp_path / "m.txt")
    found = families(tmp_path / "m.txt")
    kernels = json.loads(gpuprof("stats", "kernels", "--json", source).out)
    if kernels.get("kernels"):
        assert total(found, "gpuprof_kernel_launches") == sum(row["count"] for row in kernels["kernels"])
        assert round(total(found, "gpuprof_kernel_seconds") * 1e9) == kernels["total_ns"]
    # A name of a kernel is never a label.
    text = (tmp_path / "m.txt").read_text()
    assert not any(row["name"] in text for row in kernels.get("kernels", []))
    promtool = PEERS / "promtool"
    if promtool.exists():
        linted = subprocess.run([str(promtool), "check", "metrics"], input=text.encode(), capture_output=True, timeout=LIMIT_S)
        # Its older format has the help of a sum under another name.
        assert all(line.endswith("_total no help text") for line in linted.stderr.decode().splitlines()), linted.stderr


@needs_parser
def test_metrics_of_odd_hosts_and_of_nothing(tmp_path):
    events = [span("cudaLaunchKernel", 1, 1, "cuda_runtime", correlation=1), span("k", 2, 5, "kernel", 0, 7, device=0, stream=7, correlation=1)]
    (tmp_path / "t.json").write_text(kineto(events, host_name="a\"b\\c\nd"))
    export(tmp_path / "t.json", "openmetrics", tmp_path / "m.txt")
    assert total(families(tmp_path / "m.txt"), "gpuprof_kernel_launches") == 1
    export(tmp_path / "t.json", "openmetrics", tmp_path / "n.txt", "--window", "1s-2s")
    assert "gpuprof_kernel_launches" not in families(tmp_path / "n.txt")
    export(TRACES / "gpu.gpt", "openmetrics", tmp_path / "s.txt")
    steps = json.loads(gpuprof("stats", "steps", "--json", TRACES / "gpu.gpt").out)["steps"]
    found = {name: value for name, _, value in families(tmp_path / "s.txt")["gpuprof_step_seconds"][2]}
    assert found["gpuprof_step_seconds_count"] == len(steps)


def rows_of(source, sql):
    done = gpuprof("query", "--library", DUCKDB, "--csv", source, sql)
    assert done.status == 0, f"{sql}: {done.err.decode()}"
    return list(csv.DictReader(io.StringIO(done.out.decode())))


@needs_duckdb
@pytest.mark.parametrize("name", ["gpu", "locks", "samples", "heap", "ops", "nvtx"])
def test_sqlite_has_the_sums_of_each_table(tmp_path, name):
    source = TRACES / f"{name}.gpt"
    export(source, "sqlite", tmp_path / "t.sqlite")
    described = list(csv.DictReader(io.StringIO(gpuprof("query", source, "--csv").out.decode())))
    tables = {}
    for row in described:
        # Views with the names of other tools are the query's alone.
        if not row["rows"].startswith(("Nsight Systems:", "Perfetto:")):
            tables.setdefault(row["table"], []).append(row)
    assert {"kernels", "names", "stats.kernels"} <= set(tables)
    database = sqlite3.connect(tmp_path / "t.sqlite")
    # SQLite's own length() ends at a character 0.
    database.create_function("octet_length", 1, lambda text: None if text is None else len(text.encode()))
    assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    compared = 0
    parts, queries = [], []
    for table, columns in tables.items():
        numbers = [c["column"] for c in columns if c["type"] in ("bigint", "ubigint", "uinteger", "double", "boolean")]
        texts = [c["column"] for c in columns if c["type"] == "varchar"]
        sums = ["cast(count(*) as double)"] + [f'coalesce(sum(cast("{c}" as double)), 0)' for c in numbers] + \
            [f'coalesce(sum(cast(BYTES("{c}") as double)), 0)' for c in texts]
        quoted = ".".join(f'"{part}"' for part in table.split("."))
        parts.append((table, sums, quoted))
    for table, sums, quoted in parts:
        ours = database.execute(f'select {", ".join(sums).replace("BYTES", "octet_length")} from "{table.replace(".", "_")}"').fetchone()
        queries.append((table, ours))
    asked = [f"select '{table}' as t, cast([{', '.join(sums).replace('BYTES', 'strlen')}] as varchar) as v from {quoted}" for table, sums, quoted in parts]
    theirs = {}
    for at in range(0, len(asked), 25):
        for row in rows_of(source, " union all ".join(asked[at:at + 25])):
            for i, value in enumerate(json.loads(row["v"])):
                theirs[row["t"], i] = value
    for table, ours in queries:
        for i, value in enumerate(ours):
            assert value == pytest.approx(theirs[table, i], rel=1e-9), (table, i)
            compared += value != 0
    assert compared > 20


def test_sqlite_opens_with_names_and_indexes(tmp_path):
    export(TRACES / "gpu.gpt", "sqlite", tmp_path / "t.sqlite")
    database = sqlite3.connect(tmp_path / "t.sqlite")
    kernels = json.loads(gpuprof("stats", "kernels", "--json", TRACES / "gpu.gpt").out)
    ours = dict(database.execute("select name, count(*) from kernels group by name").fetchall())
    assert ours == {row["name"]: row["count"] for row in kernels["kernels"]}
    indexes = {row[0] for row in database.execute("select name from sqlite_master where type = 'index'")}
    assert {"kernels_rows_by_correlation", "kernels_rows_by_start_ns", "names_by_id"} <= indexes
    assert database.execute("select count(*) from stats_kernels").fetchone()[0] >= 0


def test_sqlite_of_a_window_and_a_process(tmp_path):
    (tmp_path / "t.json").write_text(kineto([span("early", 0, 5), span("late\u0000\u202e", 2000, 5), span("other", 2001, 5, pid=200)]))
    export(tmp_path / "t.json", "sqlite", tmp_path / "w", "--window", "1ms-1s")
    names = [row[0] for row in sqlite3.connect(tmp_path / "w").execute("select name from ops order by start_ns")]
    assert len(names) == 2 and names[1] == "other"
    export(tmp_path / "t.json", "sqlite", tmp_path / "p", "--pid", "200")
    assert sqlite3.connect(tmp_path / "p").execute("select name from ops").fetchall() == [("other",)]
    done = gpuprof("export", tmp_path / "t.json", "-f", "sqlite", "-o", tmp_path / "x", "--pid", "9")
    assert done.status == 2 and b"no process 9" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "t.json", "w"]  # no temporary file is left
