# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof export -f parquet`: a data set has the rows and figures of the recording, and a failing export leaves nothing."""

import json
import shutil
import subprocess

import pytest

import nsys_exports as nsys
from conftest import GPUPROF, ROOT, clean_environment, gpuprof
from waiting import LIMIT_S

LIBRARY = ROOT / ".deps" / "duckdb" / "libduckdb.so"
PYTHON = ROOT / ".deps" / "spark" / "bin" / "python"
GOLDEN = ROOT / "tests" / "golden"
BUNDLE = sorted((GOLDEN / "traces" / "h200" / "pytorch").glob("*/bundle.pb"))[0].parent
pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="scripts/setup could not fetch DuckDB's library")
needs_reader = pytest.mark.skipif(not PYTHON.exists(), reason="DuckDB's package is not installed: scripts/setup --only test")
EXIT_UNREADABLE = 3
INSIDE = {"host", "rank", "track", "process", "id", "stack", "function_id"}


def export(source, folder, *options, status=0):
    done = gpuprof("export", source, "-f", "parquet", "-o", folder, f"--library={LIBRARY}", *options)
    assert done.status == status, (done.status, done.err.decode())
    return done.err.decode()


def rows(path, sql):
    done = gpuprof("query", path, sql, "--json", f"--library={LIBRARY}")
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def read(*queries):
    """Asks DuckDB's own package, another release than the library that wrote. Returns the rows of each query."""
    code = "import duckdb, json, sys; print(json.dumps([duckdb.sql(sql).fetchall() for sql in json.load(sys.stdin)], default=str))"
    done = subprocess.run([PYTHON, "-c", code], input=json.dumps(queries), capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", name="dataset")
def write_dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet") / "set"
    export(BUNDLE, folder)
    return folder


def described():
    tables = {}
    for row in json.loads(gpuprof("query", BUNDLE, "--json").out):
        tables.setdefault(row["table"], []).append(row["column"])
    return tables


def test_folders_are_of_jobs_hosts_and_ranks(dataset):
    files = sorted(path.relative_to(dataset).as_posix() for path in dataset.rglob("*") if path.is_file())
    assert files and all(file.endswith(".parquet") for file in files)
    inside = [file for file in files if file.count("/") == 3]
    assert {"kernels.parquet", "api.parquet", "ops.parquet", "processes.parquet", "tracks.parquet"} <= {file.rpartition("/")[2] for file in inside}
    assert all([part.partition("=")[0] for part in file.split("/")[:3]] == ["job", "host", "rank"] for file in inside)
    results = [file for file in files if file.count("/") == 1]
    assert len(inside) + len(results) == len(files) and any(file.endswith("stats.kernels.parquet") for file in results)


@needs_reader
def test_each_table_has_the_rows_and_sums_of_sql(dataset):
    compared = 0
    for table, columns in described().items():
        if "step" not in columns or table.startswith("stats."):
            continue
        texts = {column.removesuffix("_id") for column in columns if column.endswith("_id") and column.removesuffix("_id") in columns}
        kept = [column for column in columns if column not in INSIDE and column.removesuffix("_id") not in INSIDE
                and not (column.endswith("_id") and column.removesuffix("_id") in texts)]
        count = rows(BUNDLE, f"select count(*) as n from {table}")[0]["n"]
        files = sorted(dataset.glob(f"job=*/host=*/rank=*/{table}.parquet"))
        assert bool(files) == (count > 0), table
        if count == 0:
            continue
        each = ", ".join(f'count("{name}")' for name in kept)
        names, [right] = read(f"select name from parquet_schema('{files[0]}')", f"select {each} from '{dataset}/*/*/*/{table}.parquet'")
        assert [name for [name] in names[1:]] == kept, table
        told = rows(BUNDLE, "select " + ", ".join(f'count("{name}") as "n {name}"' for name in kept) + f" from {table}")[0]
        assert list(told.values()) == right, table
        compared += len(kept)
        numbers = [name for name in kept if name.endswith(("_ns", "bytes"))]
        if numbers:
            sums = ", ".join(f'sum("{name}")::varchar as "{name}"' for name in numbers)
            [[right]] = read(f"select {sums} from '{dataset}/*/*/*/{table}.parquet'")
            assert list(rows(BUNDLE, f"select {sums} from {table}")[0].values()) == right, table
    assert compared > 100


@needs_reader
def test_names_are_texts_and_rows_are_in_the_order_of_steps(dataset):
    [by_name, order, types] = read(
        f"select name, count(*), sum(dur_ns)::bigint from '{dataset}/*/*/*/kernels.parquet' group by 1 order by 1",
        f"""select count(*) filter (step < before or (before is null and step is not null and file_row_number > 0)) from (
            select step, file_row_number, lag(step) over (partition by filename order by file_row_number) as before
            from read_parquet('{dataset}/*/*/*/kernels.parquet', file_row_number = true, filename = true))""",
        f"select name, type from parquet_schema('{next(dataset.glob('*/*/*/kernels.parquet'))}') where name in ('name', 'step', 'dur_ns') order by 1")
    right = json.loads(gpuprof("stats", "kernels", "--json", BUNDLE).out)["kernels"]
    assert sorted(map(tuple, by_name)) == sorted((row["name"], row["count"], row["total_ns"]) for row in right)
    assert order == [[0]]
    assert types == [["dur_ns", "INT64"], ["name", "BYTE_ARRAY"], ["step", "INT64"]]


@needs_reader
def test_steps_are_those_of_the_pass(dataset):
    right = json.loads(gpuprof("stats", "steps", "--json", BUNDLE).out)["steps"]
    assert right
    [found] = read(f"select step, start_ns, duration_ns, forward_ns, backward_ns, pid, tid from '{dataset}/*/*/*/steps.parquet'")
    assert sorted(map(tuple, found)) == sorted((row["number"], row["start_ns"], row["duration_ns"], row["forward_ns"], row["backward_ns"], row["pid"], row["tid"])
                                               for row in right)
    # A row is in the step that it begins in.
    [within] = read(f"""select count(*), count(*) filter (o.start_ns >= s.start_ns and o.start_ns < s.end_ns) from '{dataset}/*/*/*/ops.parquet' o
        join '{dataset}/*/*/*/steps.parquet' s using (step, pid) where o.step is not null""")
    assert within[0][0] == within[0][1] > 0


@needs_reader
def test_counters_of_devices_are_in_the_folder_of_their_host(dataset):
    [told] = read(f"select host, rank, count(*), count(distinct device_uuid) from read_parquet('{dataset}/*/*/*/counters.parquet', hive_partitioning = true) "
                  "group by all")
    right = rows(BUNDLE, "select host, count(*) as n, count(distinct device_uuid) as devices from counters group by all")
    assert told == [[right[0]["host"], None, right[0]["n"], right[0]["devices"]]] and len(right) == 1


def test_a_part_is_exported(dataset, tmp_path):
    pid = rows(BUNDLE, "select pid, count(*) as n from kernels group by 1 order by 2 desc")[0]["pid"]
    middle = rows(BUNDLE, "select median(start_ns)::bigint as at from kernels")[0]["at"]
    export(BUNDLE, tmp_path / "part", "--pid", str(pid), "--window", f"0ns-{middle}ns")
    found = rows(BUNDLE, f"select count(*) as n from kernels where pid = {pid} and start_ns < {middle}")[0]["n"]
    if PYTHON.exists():
        assert read(f"select count(*) from '{tmp_path}/part/*/*/*/kernels.parquet'") == [[[found]]] and found > 0
    assert not list((tmp_path / "part").glob("job=*/stats.*"))
    assert "has no process" in export(BUNDLE, tmp_path / "none", "--pid", "4194303", status=2)
    assert not (tmp_path / "none").exists()


def test_an_existing_data_set_is_not_overwritten(dataset, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(dataset, copy)
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    said = export(BUNDLE, copy, status=EXIT_UNREADABLE)
    assert "exists already; remove it, or name another folder with -o DIR" in said
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before
    # Another recording has folders of its own in the same data set.
    other = tmp_path / "other"
    shutil.copytree(BUNDLE, other)
    export(other, copy)
    assert len(list(copy.glob("job=*"))) == 2


def test_a_failing_export_leaves_nothing(dataset, tmp_path):
    target = tmp_path / "set"
    # The last file of the data set is in the way.
    last = sorted(path.relative_to(dataset) for path in dataset.glob("job=*/stats.*"))[-1]
    (target / last).parent.mkdir(parents=True)
    (target / last).write_text("here before")
    export(BUNDLE, target, status=EXIT_UNREADABLE)
    assert [path.relative_to(target) for path in target.rglob("*") if path.is_file()] == [last]
    assert (target / last).read_text() == "here before"
    closed = tmp_path / "closed"
    closed.write_text("")
    assert "cannot be created" in export(BUNDLE, closed / "set", status=EXIT_UNREADABLE)
    done = subprocess.run([GPUPROF, "export", BUNDLE, "-f", "parquet", "-o", tmp_path / "new", f"--library={LIBRARY}"], capture_output=True,
                          env=clean_environment({"TMPDIR": str(tmp_path / "none")}), timeout=LIMIT_S)
    assert done.returncode == 2 and b"TMPDIR" in done.stderr and not (tmp_path / "new").exists()


def test_without_the_library_an_error_names_the_python_way(tmp_path):
    done = subprocess.run([GPUPROF, "export", BUNDLE, "-f", "parquet", "-o", tmp_path / "set"], capture_output=True, cwd=tmp_path,
                          env=clean_environment({"LD_LIBRARY_PATH": ""}), timeout=LIMIT_S)
    if done.returncode == 0:
        pytest.skip("this machine has DuckDB's library")
    assert done.returncode == 2 and b"libduckdb.so" in done.stderr and b"pyarrow.parquet.write_table" in done.stderr
    assert not (tmp_path / "set").exists()


def test_names_of_folders_are_escaped(tmp_path):
    trace = tmp_path / "a b=c;'x.sqlite"
    made = nsys.Export()
    made.add("TARGET_INFO_SYSTEM_ENV", globalVid=nsys.VM, devStateName="", name="Hostname", nameEnum=0, value="../up; host")
    made.add("PROCESSES", globalPid=nsys.process_id(100), pid=100, name="program")
    made.kernel(100, "name", 1000, 6000, 1, full="it's a \"name\"")
    made.write(trace)
    export(trace, tmp_path / "set")
    found = [path.relative_to(tmp_path / "set").as_posix() for path in (tmp_path / "set").rglob("kernels.parquet")]
    assert len(found) == 1 and found[0].startswith("job=a%20b%3Dc%3B%27x.sqlite/host=..%2Fup%3B%20host/rank=__HIVE_DEFAULT_PARTITION__/"), found
    if PYTHON.exists():
        sql = f"select name, job, host, rank::bigint from read_parquet('{tmp_path}/set/*/*/*/kernels.parquet', hive_partitioning = true)"
        assert read(sql) == [[["it's a \"name\"", "a b=c;'x.sqlite", "../up; host", None]]]
