# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Views of SQL with the names that users of Nsight Systems and Perfetto know. The same SQL gives the same rows over an export of Nsight
Systems, which SQLite reads, and over the recording that gpuprof makes of it.

NSYS_CASES may name a folder of real exports, each a folder with trace.sqlite."""

import json
import os
import pathlib
import sqlite3

import pytest

import nsys_exports as nsys
from conftest import ROOT, gpuprof

LIBRARY = ROOT / ".deps" / "duckdb" / "libduckdb.so"
MS = 1_000_000
START = 50_000 * MS
BUNDLE = sorted((ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch").glob("*/bundle.pb"))[0].parent
NAMED_CASES = os.environ.get("NSYS_CASES")
CASES = sorted(pathlib.Path(NAMED_CASES).glob("*/trace.sqlite")) if NAMED_CASES else []
pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="scripts/setup could not fetch DuckDB's library")


def rows(path, sql):
    done = gpuprof("query", path, sql, "--json", f"--library={LIBRARY}")
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def made_export():
    """Two processes: kernels with long names, copies of several kinds, calls of both interfaces, ranges, waits, a graph."""
    made = nsys.Export()
    for pid in (100, 200):
        made.add("PROCESSES", globalPid=nsys.process_id(pid), pid=pid, name=f"program{pid}")
    made.add("ThreadNames", nameId=made.text("worker"), globalTid=nsys.thread_id(100, 101))
    full = {"gemm": "void ns::(anonymous namespace)::gemm<float, (int)4>(float*, ns::shape<2>)", "add": "void add<float>(float*)", "plain_kernel": "plain_kernel",
            "reduce": "void at::native::reduce<512, at::native::op<float, long (*)(int)> >(at::native::op<float>)"}
    for i in range(40):
        pid, at = (100, 200)[i % 2], START + i * 10 * MS
        name = list(full)[i % len(full)]
        made.call(pid, pid + 1, "cudaLaunchKernel_v7000", at, at + MS, i + 1)
        made.kernel(pid, name, at + 2 * MS, at + (3 + i % 5) * MS, i + 1, device=i % 2, stream=7 + i % 3, full=full[name], node=(9 << 32) + i if i > 30 else None)
        made.call(pid, pid + 1, "cuStreamSynchronize", at + 4 * MS, at + 5 * MS, 1000 + i, driver=True, result=i % 2)
        made.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=at + 4 * MS, end=at + 5 * MS, deviceId=0, contextId=1, streamId=7, correlationId=1000 + i,
                 globalPid=nsys.process_id(pid), syncType=1 + i % 4, eventId=0)
        made.add("CUPTI_ACTIVITY_KIND_MEMCPY", start=at + MS, end=at + 2 * MS, deviceId=0, contextId=1, streamId=9, correlationId=2000 + i,
                 globalPid=nsys.process_id(pid), bytes=1000 * i + 1, copyKind=(1, 2, 8)[i % 3], srcKind=(0, 2, 2)[i % 3], dstKind=(2, 1, 2)[i % 3])
        made.add("CUPTI_ACTIVITY_KIND_MEMSET", start=at + 3 * MS, end=at + 3 * MS + 500, deviceId=0, contextId=1, streamId=9, correlationId=3000 + i,
                 globalPid=nsys.process_id(pid), value=0, bytes=64 + i, memKind=2)
        made.range(pid, pid + 1, f"step {i % 3}", at, at + 9 * MS)
        made.range(pid, pid + 1, "over threads", at, at + 4 * MS, kind=60)
    made.range(100, 101, "a moment", START + MS, None, kind=34)
    return made


# What users of the tool ask, in the part of SQL that SQLite and DuckDB share. The first row of a recording has time 0 in gpuprof, so queries
# take lengths and distances.
QUERIES = {
    "kernels by name": """select value, count(*) as n, sum(k."end" - k.start) as total, min(k."end" - k.start) as least, max(k."end" - k.start) as most
        from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName group by value order by total desc, value""",
    "kernels by short name": """select s.value as name, count(*) as n, sum(k."end" - k.start) as total from CUPTI_ACTIVITY_KIND_KERNEL as k
        left join StringIds as s on k.shortName = s.id group by s.value order by s.value""",
    "kernels by place": """select deviceId, contextId, streamId, globalPid / 0x1000000 % 0x1000000 as pid, count(*) as n, sum(gridX * gridY * gridZ) as blocks,
        sum(blockX * blockY * blockZ) as threads, sum(registersPerThread) as registers, sum(staticSharedMemory) as held, sum(dynamicSharedMemory) as wanted
        from CUPTI_ACTIVITY_KIND_KERNEL group by 1, 2, 3, 4 order by 1, 2, 3, 4""",
    "launches": """select substr(s.value, 1, instr(s.value || '_v', '_v') - 1) as call, r.eventClass, count(*) as n, sum(r."end" - r.start) as total,
        sum(r.returnValue) as failed from CUPTI_ACTIVITY_KIND_RUNTIME r join StringIds s on s.id = r.nameId group by 1, 2 order by 1, 2""",
    "launch to start": """select count(*) as n, sum(k.start - r.start) as waited, max(k.start - r."end") as most from CUPTI_ACTIVITY_KIND_KERNEL k
        join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId and r.globalTid / 0x1000000 = k.globalPid / 0x1000000""",
    "copies": """select copyKind, srcKind, dstKind, count(*) as n, sum(bytes) as bytes, sum("end" - start) as total
        from CUPTI_ACTIVITY_KIND_MEMCPY group by 1, 2, 3 order by 1, 2, 3""",
    "sets": """select memKind, count(*) as n, sum(bytes) as bytes, sum("end" - start) as total from CUPTI_ACTIVITY_KIND_MEMSET group by 1 order by 1""",
    "waits": """select syncType, streamId, count(*) as n, sum("end" - start) as total from CUPTI_ACTIVITY_KIND_SYNCHRONIZATION group by 1, 2 order by 1, 2""",
    "ranges": """select coalesce(n.text, s.value) as name, eventType, globalTid % 0x1000000 as tid, count(*) as n, sum(n."end" - n.start) as total from NVTX_EVENTS n
        left join StringIds s on s.id = n.textId where eventType in (59, 60, 34) group by 1, 2, 3 order by 1, 2, 3""",
    "work between": """select count(*) as n, sum(k."end" - k.start) as total from CUPTI_ACTIVITY_KIND_KERNEL k where k.start >= (select min(start) + 100000000
        from CUPTI_ACTIVITY_KIND_RUNTIME) and k."end" < (select min(start) + 300000000 from CUPTI_ACTIVITY_KIND_RUNTIME)""",
    "nodes of graphs": "select graphNodeId, count(*) as n from CUPTI_ACTIVITY_KIND_KERNEL where graphNodeId is not null group by 1 order by 1",
}


def right_rows(path, sql):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        database.row_factory = sqlite3.Row
        found = [dict(row) for row in database.execute(sql)]
    database.close()
    return found


def has_tables(path, sql):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        there = {name for (name,) in database.execute("select name from sqlite_master")}
    database.close()
    return all(word.strip(',()";') in there for word in sql.split() if word.startswith(("CUPTI_", "NVTX_")))


def in_duckdb(sql):
    """SQLite divides whole numbers as whole numbers; DuckDB writes //, and knows no hexadecimal digits."""
    return sql.replace(" / ", " // ").replace("0x1000000", "16777216")


@pytest.fixture(scope="module", name="export")
def write_export(tmp_path_factory):
    return made_export().write(tmp_path_factory.mktemp("nsys") / "run.sqlite")


@pytest.mark.parametrize("name", QUERIES)
def test_an_export_and_its_recording_answer_alike(export, name):
    right = right_rows(export, QUERIES[name])
    assert right and any(any(value not in (0, None) for value in row.values()) for row in right)
    assert rows(export, in_duckdb(QUERIES[name])) == right


@pytest.mark.skipif(not CASES, reason="NSYS_CASES names no folder of real exports")
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_a_real_export_and_its_recording_answer_alike(case, name):
    if not has_tables(case, QUERIES[name]):
        pytest.skip("the export lacks a table")
    assert rows(case, in_duckdb(QUERIES[name])) == right_rows(case, QUERIES[name])


def test_processes_are_there_by_both_names(export):
    sql = "select globalPid, pid, name from PROCESSES order by pid"
    assert rows(export, sql) == right_rows(export, sql)


def test_words_of_kinds(export):
    found = rows(export, "select e.label, count(*) as n from CUPTI_ACTIVITY_KIND_MEMCPY m join ENUM_CUDA_MEMCPY_OPER e on e.id = m.copyKind group by 1 order by 1")
    assert [row["label"] for row in found] == ["Device-to-Device", "Device-to-Host", "Host-to-Device"]
    assert rows(export, "select s.value from ThreadNames t join StringIds s on s.id = t.nameId where t.globalTid % 16777216 = 101") == [{"value": "worker"}]


def test_slices_are_the_events():
    """The queries of Perfetto's documentation: slices of threads, by way of tracks."""
    slices = rows(BUNDLE, """select p.pid, t.tid, s.category, count(*) as n, sum(s.dur) as total from slice s join thread_track k on s.track_id = k.id
        join thread t using (utid) join process p using (upid) group by all""")
    right = rows(BUNDLE, """select pid, tid, 'op' as category, count(*) as n, sum(dur_ns) as total from ops group by all union all
        select pid, tid, 'range', count(*), sum(dur_ns) from ranges group by all union all select pid, tid, 'api', count(*), sum(dur_ns) from api group by all
        union all select pid, tid, 'python', count(*), sum(dur_ns) from python group by all""")
    in_order = lambda found: sorted(found, key=lambda row: (row["pid"], row["tid"], row["category"]))
    assert in_order(slices) == in_order(right) and len(right) >= 2
    work = rows(BUNDLE, """select s.name, count(*) as n from slice s join track t on t.id = s.track_id where t.type = 'gpu_track' and s.category = 'kernel'
        group by 1 order by 1""")
    assert work == rows(BUNDLE, "select name, count(*) as n from kernels group by 1 order by 1") and work
    assert rows(BUNDLE, "select count(*) as n from (select id from slice group by id having count(*) > 1)") == [{"n": 0}]


def test_args_are_values_of_slices():
    found = rows(BUNDLE, """select count(*) as n, sum(a.int_value) as total from slice s join args a using (arg_set_id)
        where s.category = 'kernel' and a.key = 'args.correlation'""")
    assert found == rows(BUNDLE, "select count(correlation) as n, sum(correlation) as total from kernels") and found[0]["n"] > 0


def test_counters_have_tracks(export, tmp_path):
    made = made_export()
    made.add("TARGET_INFO_GPU", vmId=nsys.VM, id=0, name="GPU A", totalMemory=80 << 30, smCount=100, computeMajor=9, computeMinor=0, cuDevice=0,
             threadsPerWarp=32, maxWarpsPerSm=64, uuid="GPU-00000000-1111-2222-3333-44445555666A")
    made.add("TARGET_INFO_GPU_METRICS", typeId=19 << 32, sourceId=20, typeName="GPU", metricId=1, metricName="SMs Active [Throughput %]")
    for i in range(10):
        made.add("GPU_METRICS", rawTimestamp=START + i * MS, timestamp=START + i * MS, typeId=19 << 32, metricId=1, value=10 * i)
    path = made.write(tmp_path / "counted.sqlite")
    found = rows(path, "select t.name, count(*) as n, avg(c.value) as mean from counter c join counter_track t on c.track_id = t.id group by 1")
    right = rows(path, "select name, count(*) as n, avg(reading) as mean from counters group by 1")
    assert found == right


def test_each_view_has_the_described_columns_and_types():
    described = {}
    for row in json.loads(gpuprof("query", BUNDLE, "--json").out):
        described.setdefault(row["table"], []).append((row["column"], row["type"]))
    views = [name for name in described if name.startswith(("CUPTI_", "ENUM_", "NVTX_")) or name in
             ("StringIds", "ThreadNames", "slice", "thread", "process", "track", "thread_track", "counter", "counter_track", "args")]
    assert len(views) >= 16
    told = rows(BUNDLE, "select table_name, column_name, lower(data_type) as type from duckdb_columns() where schema_name = 'main' order by column_index")
    found = {}
    for row in told:
        found.setdefault(row["table_name"], []).append((row["column_name"], row["type"]))
    for name in views:
        assert found[name] == described[name], name
