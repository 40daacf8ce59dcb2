# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Exports of Nsight Systems go through the passes. Their figures are by construction, in any order of the rows and for releases
that lack tables and columns. Hostile databases give an error or a told loss. Nothing is made beside an export.

NSYS_CASES may name a folder of real exports, each a folder with trace.sqlite and truth.json."""

import gzip
import json
import os
import pathlib
import random
import sqlite3
import zipfile

import pytest

import nsys_exports as nsys
from conftest import gpuprof

EXIT_CUT = 3
MS = 1_000_000
NAMED_CASES = os.environ.get("NSYS_CASES")
CASES = sorted(path.parent for path in pathlib.Path(NAMED_CASES).glob("*/truth.json")) if NAMED_CASES else []
START, WALL = 50_000 * MS, 1_780_000_000 * 1000 * MS


def stats(path, name, *options, status=0):
    done = gpuprof("stats", name, "--json", *options, path)
    assert done.status == status, (done.status, done.err)
    return json.loads(done.out)


def info(path):
    return json.loads(gpuprof("info", "--json", path).out)


def notes_of(path):
    return {note["kind"]: note["count"] for note in info(path)["import_notes"]}


def two_processes():
    """Two processes on two devices with the same ids of calls. Process 100 launches 10 kernels of 2 ms and a graph; 200 copies."""
    made = nsys.Export()
    for name, value in (("Hostname", "node7"), ("CudaDriverVersion", "13000")):
        made.add("TARGET_INFO_SYSTEM_ENV", globalVid=nsys.VM, devStateName="", name=name, nameEnum=0, value=value)
    made.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=WALL, systemClockNs=START)
    made.add("ANALYSIS_DETAILS", globalVid=nsys.VM, duration=1, startTime=START, stopTime=START + 1)
    for number, name in enumerate(("GPU A", "GPU B")):
        made.add("TARGET_INFO_GPU", vmId=nsys.VM, id=number, name=name, totalMemory=80 << 30, smCount=100 + number, computeMajor=9, computeMinor=0,
                 cuDevice=number, threadsPerWarp=32, maxWarpsPerSm=64, uuid=f"GPU-0000000{number}-1111-2222-3333-44445555666A")
        # The second process sees the second device alone, as its device 0.
        made.add("TARGET_INFO_CUDA_DEVICE", gpuId=number, cudaId=0, pid=100 + 100 * number, uuid="", numMultiprocessors=100)
    for pid in (100, 200, 300):
        made.add("PROCESSES", globalPid=nsys.process_id(pid), pid=pid, name=f"program{pid}")
    made.add("ThreadNames", nameId=made.text("worker"), globalTid=nsys.thread_id(100, 101))
    for i in range(10):
        at = START + i * 10 * MS
        made.call(100, 101, "cudaLaunchKernel_v7000", at, at + MS, i + 1)
        made.kernel(100, "gemm" if i % 2 else "add", at + 2 * MS, at + 4 * MS, i + 1, full=f"void {'gemm' if i % 2 else 'add'}<float>(float*)")
        made.call(100, 101, "cuStreamSynchronize", at + 4 * MS, at + 5 * MS, 1000 + i, driver=True)
        made.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=at + 4 * MS, end=at + 5 * MS, deviceId=0, contextId=1, streamId=7, correlationId=1000 + i,
                 globalPid=nsys.process_id(100), syncType=3, eventId=0)
        made.add("OSRT_API", start=at + 5 * MS, end=at + 8 * MS, eventClass=27, globalTid=nsys.thread_id(100, 101), correlationId=0,
                 nameId=made.text("poll"), returnValue=1, nestingLevel=0, callchainId=0)
        made.range(100, 101, f"step {i}" if i % 2 else None, at, at + 9 * MS, textId=None if i % 2 else made.text("registered"))
        made.call(200, 200, "cudaMemcpyAsync_v3020", at, at + MS, i + 1)
        made.add("CUPTI_ACTIVITY_KIND_MEMCPY", start=at + MS, end=at + 2 * MS, deviceId=0, contextId=1, streamId=9, correlationId=i + 1,
                 globalPid=nsys.process_id(200), bytes=1000, copyKind=1, srcKind=1, dstKind=2)
        made.call(200, 200, "cudaMemsetAsync_v3020", at + 2 * MS, at + 3 * MS, 1000 + i)
        made.add("CUPTI_ACTIVITY_KIND_MEMSET", start=at + 3 * MS, end=at + 3 * MS + 500, deviceId=0, contextId=1, streamId=9, correlationId=1000 + i,
                 globalPid=nsys.process_id(200), value=0, bytes=64, memKind=2)
    at = START + 100 * MS
    made.call(100, 101, "cudaGraphLaunch_v10000", at, at + MS, 500)
    for node in range(4):
        made.kernel(100, "node", at + (1 + node) * MS, at + (2 + node) * MS, 500, node=(9 << 32) + node)
    made.call(100, 101, "cudaGraphLaunch_v10000", at + 10 * MS, at + 11 * MS, 501)
    made.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=at + 11 * MS, end=at + 14 * MS, deviceId=0, contextId=1, streamId=7, correlationId=501,
             globalPid=nsys.process_id(100), graphId=3, graphExecId=12)
    made.range(100, 101, "Comm", at, None, kind=75, domainId=5)
    made.range(100, 101, "ncclAllReduce", at, at + MS, domainId=5)
    made.range(100, 101, "a moment", at, None, kind=34)
    made.range(100, 101, "over threads", at, at + 4 * MS, kind=60)
    made.add("CUPTI_ACTIVITY_KIND_OVERHEAD", start=at, end=at + MS, eventClass=103, globalTid=nsys.thread_id(100, 101), correlationId=0,
             nameId=made.text("Lazy Function Loading"), overheadType=7)
    for number, name in enumerate(("SMs Active [Throughput %]", "Clock [MHz]")):
        made.add("TARGET_INFO_GPU_METRICS", typeId=(19 << 32) | 0, sourceId=20, typeName="GPU", metricId=number + 1, metricName=name)
        for i in range(10):
            made.add("GPU_METRICS", rawTimestamp=START + i * MS, timestamp=START + i * MS, typeId=19 << 32, metricId=number + 1, value=10 * i * (number + 1))
    return made


def figures(path):
    """All figures of the passes, without times of reading and paths."""
    names = ("kernels", "memcpy", "api", "sync", "ranges", "graphs", "streams", "counters", "locks", "overhead", "threads")
    return {name: {k: v for k, v in stats(path, name).items() if k != "meta"} for name in names}


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    return two_processes().write(tmp_path_factory.mktemp("nsys") / "run.sqlite")


def test_all_tables_are_read(export):
    told = info(export)
    assert told["importer"] == "Nsight Systems SQLite" and told["origin_realtime_ns"] == WALL
    assert [(each["pid"], each["executable"], each["host"]) for each in told["processes"]] == \
        [(100, "program100", "node7"), (200, "program200", "node7")]
    kernels = stats(export, "kernels")
    rows = {row["name"]: (row["count"], row["total_ns"], row["graph_count"]) for row in kernels["kernels"]}
    assert rows == {"void gemm<float>(float*)": (5, 10 * MS, 0), "void add<float>(float*)": (5, 10 * MS, 0), "node": (4, 4 * MS, 4)}
    launch = stats(export, "kernels", "--by", "signature")["kernels"][0]
    assert (launch["grid"], launch["block"], launch["registers_per_thread_count"]) == ("8,2,1", "128,1,1", 32)
    assert (launch["static_shared_bytes"], launch["dynamic_shared_bytes"]) == (64, 4096)
    copies = {row["name"]: (row["pid"], row["count"], row["total_bytes"], row["total_ns"]) for row in stats(export, "memcpy")["copies"]}
    assert copies == {"HtoD": (200, 10, 10_000, 10 * MS), "Memset": (200, 10, 640, 5000)}
    calls = {(row["pid"], row["name"]): (row["domain"], row["count"], row["total_ns"], row["work_count"]) for row in stats(export, "api")["calls"]}
    assert calls == {(100, "cudaLaunchKernel"): ("runtime", 10, 10 * MS, 10), (100, "cuStreamSynchronize"): ("driver", 10, 10 * MS, 0),
                     (100, "cudaGraphLaunch"): ("runtime", 2, 2 * MS, 5), (200, "cudaMemcpyAsync"): ("runtime", 10, 10 * MS, 10),
                     (200, "cudaMemsetAsync"): ("runtime", 10, 10 * MS, 10)}
    assert stats(export, "sync")["host_ns"] == 10 * MS
    graphs = {row["graph"]: (row["count"], row["whole_count"], row["kernel_count_per_launch"]) for row in stats(export, "graphs")["graphs"]}
    assert graphs[9] == (1, 0, 4.0) and graphs[12][:2] == (1, 1)
    assert notes_of(export) == {}


def test_ranges_waits_names_and_counters(export):
    ranges = stats(export, "ranges")
    rows = {(row["domain"], row["name"], row["kind"]): (row["count"], row["total_ns"]) for row in ranges["ranges"]}
    assert rows[("", "registered", "push_pop")] == (5, 45 * MS) and rows[("", "step 3", "push_pop")] == (1, 9 * MS)
    assert rows[("Comm", "ncclAllReduce", "push_pop")] == (1, MS) and rows[("", "over threads", "start_end")] == (1, 4 * MS)
    assert ranges["mark_count"] == 1
    waits = stats(export, "locks")["locks"]
    assert [(row["name"], row["kind"], row["count"], row["total_ns"], row["threads"]) for row in waits] == [("poll", "events", 10, 30 * MS, ["worker"])]
    counters = {row["name"]: (row["unit"], row["count"], row["mean"], row["max"]) for row in stats(export, "counters")["counters"]}
    assert counters == {"SMs Active [Throughput %]": ("%", 10, 45.0, 90.0), "Clock [MHz]": ("", 10, 90.0, 180.0)}
    assert [row["total_ns"] for row in stats(export, "overhead")["overheads"]] == [MS]


def test_each_process_numbers_its_devices(export):
    words = gpuprof("info", export).out.decode()
    assert [line.split(maxsplit=1)[1] for line in words.splitlines() if line.strip().startswith("device ")] == ["0: GPU A", "0: GPU B"]
    assert b"no UUID" not in gpuprof("stats", "kernels", export).out


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_rows_does_not_matter(export, tmp_path, seed):
    assert figures(two_processes().write(tmp_path / "run.sqlite", order=seed)) == figures(export)


def test_a_bundle_says_the_same(export, tmp_path):
    done = gpuprof("import", export, "-o", tmp_path / "b")
    assert done.status == 0, done.err
    assert gpuprof("verify", tmp_path / "b").status == 0
    assert figures(tmp_path / "b") == figures(export)


def test_packed_exports_and_folders(export, tmp_path):
    packed = tmp_path / "run.sqlite.gz"
    packed.write_bytes(gzip.compress(export.read_bytes()))
    assert stats(packed, "kernels")["count"] == 14
    with zipfile.ZipFile(tmp_path / "runs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(export, "a/run.sqlite")
    assert stats(tmp_path / "runs.zip", "kernels")["count"] == 14
    folder = tmp_path / "ranks"
    folder.mkdir()
    for rank in range(2):
        (folder / f"rank{rank}.sqlite").write_bytes(export.read_bytes())
    (folder / "notes.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    assert stats(folder, "kernels")["count"] == 28


def test_nothing_is_made_beside_an_export(export, tmp_path):
    """Also of a database whose journal is a log, and for names that are no plain text of an address."""
    path = tmp_path / "a?mode=rwc&b#c%41.sqlite"
    path.write_bytes(export.read_bytes())
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    before = path.read_bytes()
    path.chmod(0o444)
    assert stats(path, "kernels")["count"] == 14
    assert [each.name for each in tmp_path.iterdir()] == [path.name] and path.read_bytes() == before


# Releases differ

OLD = ("ANALYSIS_DETAILS", "TARGET_INFO_CUDA_DEVICE", "GPU_METRICS", "TARGET_INFO_GPU_METRICS", "TARGET_INFO_SESSION_START_TIME.systemClockNs",
       "CUPTI_ACTIVITY_KIND_KERNEL.greenContextId", "CUPTI_ACTIVITY_KIND_KERNEL.mangledName", "CUPTI_ACTIVITY_KIND_KERNEL.graphNodeId",
       "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_OVERHEAD", "NVTX_EVENTS.jsonText", "OSRT_API")


def test_old_releases(tmp_path):
    path = two_processes().write(tmp_path / "old.sqlite", without=OLD)
    kernels = stats(path, "kernels")
    assert (kernels["count"], sum(row["total_ns"] for row in kernels["kernels"])) == (14, 24 * MS)
    assert info(path)["origin_realtime_ns"] == WALL + START  # times count from the start of the session
    assert notes_of(path) == {"no_kernel": 1}


def test_work_without_a_process_is_of_the_only_one(tmp_path):
    made = nsys.Export()
    made.call(100, 101, "cudaLaunchKernel_v7000", MS, 2 * MS, 1)
    made.kernel(100, "k", 3 * MS, 4 * MS, 1)
    path = made.write(tmp_path / "run.sqlite", without=("CUPTI_ACTIVITY_KIND_KERNEL.globalPid", "CUPTI_ACTIVITY_KIND_KERNEL.demangledName"))
    row, = stats(path, "kernels")["kernels"]
    assert (row["pid"], row["name"], row["launched_count"]) == (100, "k", 1) and notes_of(path) == {}


def test_what_the_file_says_of_itself_and_what_has_no_place(tmp_path):
    made = two_processes()
    made.add("DIAGNOSTIC_EVENT", timestamp=0, timestampType=0, source=1, severity=3, text="Not all CUDA events were collected")
    made.add("DIAGNOSTIC_EVENT", timestamp=0, timestampType=0, source=1, severity=1, text="Process 100 was launched")
    made.range(100, 101, "open", START, None)
    path = made.write(tmp_path / "run.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER)")
        database.execute("INSERT INTO SCHED_EVENTS VALUES (1, 1)")
    database.close()
    assert notes_of(path) == {"said_by_the_file": 1, "unmatched": 1}
    words = gpuprof("stats", "health", path).out.decode()
    assert "SCHED_EVENTS" in words and "Not all CUDA events were collected" in words


# Hostile files


def damaged(path, change):
    with sqlite3.connect(path) as database:
        change(database)
    database.close()
    return path


def refused(path):
    done = gpuprof("info", path)
    assert (done.status, done.out) == (EXIT_CUT, b""), (done.status, done.out, done.err)
    return done.err.decode()


def test_other_databases_are_named(tmp_path):
    path = damaged(tmp_path / "app.sqlite", lambda d: d.execute("CREATE TABLE users (id int)"))
    assert "an SQLite database without the tables of `nsys export`" in refused(path)
    path = tmp_path / "short.sqlite"
    path.write_bytes(b"SQLite format 3\0" + bytes(84))
    assert "SQLite database cannot be read" in refused(path)


@pytest.mark.parametrize("change", [
    "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS start, n AS end FROM r",
    "CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING fts4(start, end)",
])
def test_a_view_is_no_table(export, tmp_path, change):
    path = two_processes().write(tmp_path / "run.sqlite", without=("CUPTI_ACTIVITY_KIND_KERNEL",))
    damaged(path, lambda d: d.execute(change))
    assert stats(path, "kernels")["count"] == 0 and stats(path, "api")["count"] == 42


def test_columns_that_the_database_computes_are_not_read(tmp_path):
    path = two_processes().write(tmp_path / "run.sqlite", without=("OSRT_API.start",))
    damaged(path, lambda d: d.execute("ALTER TABLE OSRT_API ADD COLUMN start AS (length(hex(zeroblob(100000000))))"))
    assert notes_of(path)["bad_time"] == 10


def test_wrong_types_and_values_out_of_range(tmp_path):
    """A column of SQLite may hold anything."""
    wrong = [None, "text", b"\xff\x00", -1, 0, 2.5, 1e300, (1 << 63) - 1, -(1 << 63), 1 << 40, "\ud7ff" * 10]
    seeded = random.Random(5)
    path = two_processes().write(tmp_path / "run.sqlite")

    def change(database):
        for table in ("StringIds", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "NVTX_EVENTS", "OSRT_API",
                      "GPU_METRICS", "TARGET_INFO_GPU", "TARGET_INFO_SESSION_START_TIME", "ANALYSIS_DETAILS", "PROCESSES", "ThreadNames",
                      "TARGET_INFO_CUDA_DEVICE", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"):
            columns = nsys.TABLES[table].replace(" NOT NULL PRIMARY KEY", "").replace(" NOT NULL", "")
            rows = database.execute(f"SELECT * FROM {table}").fetchall()
            database.execute(f"DROP TABLE {table}")
            database.execute(f"CREATE TABLE {table} ({columns})")
            for row in rows * 8:
                row = list(row)
                row[seeded.randrange(len(row))] = seeded.choice(wrong)
                database.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)

    damaged(path, change)
    for name in ("overview", "kernels", "memcpy", "api", "sync", "ranges", "graphs", "streams", "counters", "locks", "advise"):
        assert gpuprof("stats", name, path).status in (0, EXIT_CUT)
    assert notes_of(path)["bad_time"] > 0


def test_damaged_pages_lose_rows_and_say_so(tmp_path):
    """Bytes are overwritten anywhere behind the list of tables: an error, or what could be read."""
    whole = two_processes().write(tmp_path / "whole.sqlite", page=512).read_bytes()
    seeded = random.Random(7)
    told = 0
    for number in range(40):
        content = bytearray(whole)
        for _ in range(seeded.choice([1, 4, 40])):
            at = seeded.randrange(16, len(content))
            content[at:at + 8] = bytes(seeded.randrange(256) for _ in range(8))
        if number % 4 == 0:
            del content[seeded.randrange(len(content)):]
        path = tmp_path / f"damaged{number}.sqlite"
        path.write_bytes(content[:len(content)])
        done = gpuprof("stats", "kernels", path)
        assert done.status in (0, EXIT_CUT), (number, done.status, done.err)
        assert done.status == 0 or done.err.startswith(b"gpuprof: "), done.err
        told += done.status == EXIT_CUT
    assert told > 10


def test_pages_that_lead_in_circles_end(tmp_path):
    """An inner page of a table names itself as its children."""
    made = nsys.Export()
    for i in range(3000):
        made.call(100, 101, "f", i, i + 1, i)
    path = made.write(tmp_path / "run.sqlite", page=512)
    with sqlite3.connect(path) as database:
        root, = database.execute("SELECT rootpage FROM sqlite_schema WHERE name='CUPTI_ACTIVITY_KIND_RUNTIME'").fetchone()
    database.close()
    content = bytearray(path.read_bytes())
    page = memoryview(content)[(root - 1) * 512:root * 512]
    assert page[0] == 5  # an inner page
    cells = int.from_bytes(page[3:5], "big")
    first = int.from_bytes(page[12:14], "big")
    for cell in range(cells):
        at = int.from_bytes(page[12 + 2 * cell:14 + 2 * cell], "big")
        page[at:at + 4] = page[first:first + 4]  # every child is the first one
    path.write_bytes(content)
    done = gpuprof("stats", "api", "--json", path)
    assert done.status in (0, EXIT_CUT), done.err


def test_many_processes_threads_and_a_huge_text(tmp_path):
    made = nsys.Export()
    for i in range(6000):
        made.call(i, i, "f", i, i + 1, i + 1)
    made.range(1, 1, "x" * 50_000_000, 1, 2)
    path = made.write(tmp_path / "run.sqlite")
    done = gpuprof("info", "--json", path)
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert len(told["processes"]) <= 4097 and stats(path, "api")["count"] == 6000
    assert len(stats(path, "ranges")["ranges"][0]["name"]) <= 64 << 10


# Real exports


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_figures_of_stored_exports(case):
    path, truth = case / "trace.sqlite", json.loads((case / "truth.json").read_text())["truth"]
    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as database:
        short = dict(database.execute("SELECT d.value, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds d ON d.id = k.demangledName "
                                      "JOIN StringIds s ON s.id = k.shortName"))
    database.close()
    kernels = stats(path, "kernels")
    assert kernels["count"] == truth["kernels"]["count"]
    names = {}
    for row in kernels["kernels"]:
        known = names.setdefault(short[row["name"]], [0, 0, 1 << 60, 0])
        known[:] = [known[0] + row["count"], known[1] + row["total_ns"], min(known[2], row["min_ns"]), max(known[3], row["max_ns"])]
    assert len(names) == truth["kernels"]["names"] and sum(each[1] for each in names.values()) == truth["kernels"]["total_ns"]
    for each in truth["kernels"]["top"]:
        assert names[each["name"]] == [each["count"], each["total_ns"], each["min_ns"], each["max_ns"]]
    streams = stats(path, "streams")
    for row in streams["devices"]:
        right = truth["devices"][str(row["device"])]
        assert (row["busy_ns"], row["kernel_ns"]) == (right["busy_ns"], right["kernel_busy_ns"])
        assert len([1 for each in streams["streams"] if each["device"] == row["device"] and each["kernel_count"]]) == right["streams"]
    assert {str(row["device"]) for row in streams["devices"]} == set(truth["devices"])
    copies = {}
    for row in stats(path, "memcpy")["copies"]:
        known = copies.setdefault(row["name"], {"count": 0, "bytes": 0, "total_ns": 0})
        for key, value in (("count", row["count"]), ("bytes", row["total_bytes"]), ("total_ns", row["total_ns"])):
            known[key] += value
    sets = copies.pop("Memset", {"count": 0, "bytes": None, "total_ns": None})
    assert copies == truth["copies"] and sets == truth["memsets"]
    api = stats(path, "api")
    assert api["count"] == truth["calls"]["count"]
    calls = {}
    for row in api["calls"]:
        known = calls.setdefault(row["name"], [0, 0])
        known[:] = [known[0] + row["count"], known[1] + row["total_ns"]]
    for name, right in truth["calls"]["top"].items():
        assert calls[name.rsplit("_v", 1)[0]] == right
    launched = sum(row["launched_count"] for row in kernels["kernels"])
    assert launched == truth["kernels_with_their_call"]
    assert len({row["pid"] for row in kernels["kernels"]}) == truth["processes_with_kernels"]
    ranges = stats(path, "ranges")
    assert (ranges["count"], len({row["name"] for row in ranges["ranges"]})) == (truth["ranges"]["count"], truth["ranges"]["names"])
    by_name = {row["name"]: row for row in ranges["ranges"]}
    for each in truth["ranges"]["top"]:
        assert (by_name[each["name"]]["count"], by_name[each["name"]]["total_ns"]) == (each["count"], each["total_ns"])
    for name, right in truth.get("range_device_ns", {}).items():
        assert by_name[name]["device_ns"] == right
    synced = stats(path, "sync")
    assert synced["count"] == sum(count for count, _ in truth["synchronisations"].values())
    assert synced["host_ns"] == truth["synchronisations"].get("3", [0, 0])[1]
    for name, (count, total) in truth.get("os_calls", {}).items():
        assert [(row["count"], row["total_ns"]) for row in stats(path, "locks")["locks"] if row["name"] == name] == [(count, total)]
    for name, right in truth.get("metrics", {}).items():
        row, = [each for each in stats(path, "counters")["counters"] if each["name"] == name]
        assert row["count"] == right["samples"] and abs(row["mean"] - right["mean"]) < 0.001
    if "graph_launches" in truth:
        graphs = stats(path, "graphs")
        assert graphs["count"] == truth["graph_launches"]
        assert {row["kernel_count_per_launch"] for row in graphs["graphs"]} == {truth["kernels_a_replay"]}
    if "idle" in truth:
        gaps = stats(path, "idle")["gaps"]
        assert [row["duration_ns"] for row in gaps] == [truth["idle"]["each_ns"]] * truth["idle"]["gaps"]
