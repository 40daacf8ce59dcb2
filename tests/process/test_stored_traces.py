# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Stored traces of every version of the format (tests/golden/traces): each one is read as it was when its version was current. Nobody
asks a trace for what its version did not have."""

import collections
import json
import re
import struct
import subprocess

import numpy
import pytest

from conftest import ROOT, gpuprof
from test_cli_surface import PASSES
from column_values import fields, packed, zigzag
from trace_file import FLAG_INCOMPLETE, SCHEMA, TraceFile

TRACES = ROOT / "tests" / "golden" / "traces"
NAMES = {"heap", "locks", "gpu", "pools", "nvtx", "killed", "flight", "graphs", "events", "managed", "ops"}
# What `gpuprof dump` prints of each trace, for ever: so many rows of each kind.
ROWS = {
    "calls": {"gc_pause": 1, "process": 1, "python": 68, "thread": 1},
    "events": {"api": 13, "cuda_event": 3, "kernel": 2, "overhead": 2, "sync": 2},
    "files": {"file_read": 15},
    "flight": {"heap": 50, "process": 1, "thread": 25, "wait": 47},
    "gpu": {"api": 16, "kernel": 15, "launch": 15, "overhead": 2, "range": 9, "sync": 1},
    "graphs": {"api": 23, "device_memory": 2, "kernel": 6, "memcpy": 2, "memset": 2, "overhead": 3, "sync": 1},
    "heap": {"heap": 237, "process": 1, "thread": 5},
    "hosts": {"api": 18, "host_function": 5, "kernel": 6, "overhead": 2, "sync": 3},
    "killed": {"range": 2},
    "locks": {"process": 1, "thread": 25, "wait": 48},
    "managed": {"api": 16, "device_memory": 4, "kernel": 2, "overhead": 1, "sync": 4, "unified_memory": 10},
    "numbers": {"op": 355},
    "nvtx": {"range": 10, "range_value": 61},
    "ops": {"op": 10, "tensor": 6},
    "samples": {"process": 1, "sample": 87, "thread": 3},
    "sums": {"kernel": 9000, "memcpy": 900},
    "pools": {"api": 44, "device_memory": 32, "kernel": 8, "memory_pool": 36, "overhead": 1, "sync": 1},
}
FILES = sorted(TRACES.glob("v*/*.gpt"))


def ask(*words):
    done = gpuprof(*words)
    assert done.status == 0, (words, done.err.decode())
    return done.out.decode()


def decompress(frame):
    return subprocess.run(["zstd", "-dcq"], input=frame, capture_output=True, check=True).stdout


def stats(name, path):
    return json.loads(ask("stats", name, "--json", path))


def rows(path):
    """The rows of `gpuprof dump`: (kind, its fields)."""
    lines = [line.split(" ", 5) for line in ask("dump", "--no-symbols", path).splitlines()]
    return [(line[4], line[5] if len(line) > 5 else "") for line in lines]


def check_heap(path):
    """heap_truth 2 20 512 8192 200000: two threads make 20 blocks of each size, and each keeps 3 of 512 bytes."""
    made, live = collections.Counter(), {}
    for kind, fields in rows(path):
        if kind != "heap":
            continue
        address, size = re.search(r"address=(\w+)", fields).group(1), re.search(r"\bsize=(\d+)", fields)
        if size is None:
            live.pop(address, None)
        else:
            made[int(size.group(1))] += 1
            live[address] = int(size.group(1))
    sizes = (512, 8192, 200000)
    assert {size: made[size] for size in sizes} == dict.fromkeys(sizes, 40)
    assert {size: list(live.values()).count(size) for size in sizes} == {512: 6, 8192: 0, 200000: 0}
    (process,) = stats("heap", path)["processes"]
    assert process["mode"] == "exact" and int(process["end_count"]) == len(live)


def check_locks(path):
    """contended 3: three waits each for a mutex, for reading, for writing, and for a semaphore."""
    kinds = collections.Counter(re.search(r"\bkind=(\w+)", fields).group(1) for kind, fields in rows(path) if kind == "wait")
    waits = ("mutex", "rwlock_read", "rwlock_write", "semaphore")
    assert {kind: kinds[kind] for kind in waits} == dict.fromkeys(waits, 3)


def check_gpu(path):
    """phases 3: each step launches two kernels forward and three backward."""
    kernels = stats("kernels", path)["kernels"]
    counts = {re.sub(r"\(.*", "", kernel["name"]): int(kernel["count"]) for kernel in kernels}
    assert counts == {"Multiply": 6, "Gradient": 9}
    kinds = collections.Counter(kind for kind, _ in rows(path))
    assert (kinds["kernel"], kinds["launch"]) == (15, 15) and kinds["api"] >= 15
    ranges = {row["name"]: int(row["count"]) for row in stats("ranges", path)["ranges"]}
    assert ranges == {"step": 3, "forward": 3, "backward": 3}


def check_calls(path):
    """f(8) of Fibonacci's numbers is 67 calls of f, and the program asks for one collection of all generations."""
    result = stats("python", path)
    assert {row["name"].rpartition(".")[2]: row["count"] for row in result["calls"]} == {"<lambda>": 67, "<module>": 1}
    assert [(row["generation"], row["count"]) for row in result["pauses"]] == [(2, 1)]
    depths = [int(re.search(r"depth=(\d+)", fields).group(1)) for kind, fields in rows(path) if kind == "python" and "depth=" in fields]
    assert max(depths, default=8) == 8, "f(8) calls f(7), and so on to f(1)"


def check_numbers(path):
    """9 products with gradients. Each node of the backward pass has the number of one operation of the forward pass."""
    numbers = collections.defaultdict(list)
    for kind, fields in rows(path):
        sequence = re.search(r"sequence=(\d+)", fields)
        if kind == "op" and sequence is not None:
            numbers["scope=backward" in fields].append(int(sequence.group(1)))
    assert numbers[True] and set(numbers[True]) <= set(numbers[False])


def check_samples(path):
    """Two threads that want one lock: the other one has it. One of them computes, and one that was woken waits for the other."""
    result = stats("python", path)
    assert (result["cpu_ns"], result["gil_ns"], result["wait_ns"]) == (132860064, 357689128, 0)
    assert result["cpu_ns"] + result["ready_ns"] == 1651862423
    loop = result["functions"][0]
    assert (loop["name"], loop["place"], loop["thread_count"]) == ("<lambda>.<locals>.<listcomp>", "<string>:1", 2)
    assert sum(row["self_ns"] for row in result["functions"]) == result["cpu_ns"]
    assert [(row["name"], row["total_ns"], row["waiter_count"]) for row in result["holders"]] == [(loop["name"], result["gil_ns"], 2)]


def check_files(path):
    """file_reads calls: nine calls on the main thread and four on another read one file, two fill a stream from another."""
    files = {row["name"]: (row["count"], row["total_bytes"], row["thread_count"]) for row in stats("files", path)["files"]}
    assert files == {"/tmp/gpuprof/tests/programs/plain": (13, 4400 + 4 * 256, 2), "/tmp/gpuprof/tests/programs/heap_truth": (2, 12288, 1)}


def check_sums(path):
    """An imported trace: kernels of six names and copies on one stream. The file has the sums of the kernels."""
    trace = TraceFile(path)
    assert trace.summed_blocks == 1 and len(set(trace.kernels["signature"].tolist())) == 6


def check_pools(path):
    """pools: eight rounds allocate from two pools, run a kernel and release."""
    kinds = collections.Counter(kind for kind, _ in rows(path))
    assert (kinds["kernel"], kinds["device_memory"]) == (8, 32) and kinds["memory_pool"] > 0 and kinds["sync"] > 0


def check_nvtx(path):
    """nvtx_payloads mix: three pushed reductions, of 1 MiB, 4096 and 16 bytes."""
    values = {(value["range"], value["kind"], value["name"]): value for value in stats("ranges", path)["values"]}
    size = values["ncclAllReduce", "push_pop", "Message size [bytes]"]
    assert (size["count"], size["sum_value"], size["min_value"], size["max_value"]) == (3, (1 << 20) + 4096 + 16, 16, 1 << 20)


def check_killed(path):
    """nvtx_ranges killed: two ranges are open when the process gets SIGKILL, and recovery finishes its trace."""
    found = TraceFile(path)
    assert sorted(row["name"] for row in found.range_rows() if row["flags"] & FLAG_INCOMPLETE) == ["inner", "outer"]
    (fed,) = stats("ranges", path)["meta"]["inputs"]
    assert fed["recovered"] is True and found.exit_status == 128 + 9


def check_flight(path):
    """contended 3 under a flight recorder: the segments are in the trace."""
    check_locks(path)
    (fed,) = stats("locks", path)["meta"]["inputs"]
    assert fed["recovered"] is False


def check_graphs(path):
    """graphs 2: each launch copies, sets and runs three kernels."""
    found = TraceFile(path)
    in_graphs = collections.Counter(kind for kind, *_ in found.node_rows())
    assert in_graphs == {"kernel": 6, "copy": 2, "set": 2}
    assert len({node for _, _, _, node, _ in found.node_rows()}) == 5 and all(found.root_of(node) for _, _, _, node, _ in found.node_rows())


def check_events(path):
    """events: one stream waits for an event of the other."""
    found = TraceFile(path)
    assert len(found.cuda_events["time"]) > 0
    assert {int(operation) & 0xFF for operation in found.syncs["operation"]} >= {1, 2}  # the host waits for an event, a stream does


def check_managed(path):
    """managed 2: two rounds move 4 MiB and 1 MiB to the GPU and back."""
    moved = collections.Counter()
    for use in stats("unified_memory", path)["uses"]:
        moved[use["name"]] += int(use["bytes"])
    assert moved["HtoD"] == moved["DtoH"] == 2 * (5 << 20) and moved["gpu_page_fault"] == 0


def check_hosts(path):
    """host_functions 2: a stream runs two functions on the host, and two of a graph; another stream runs one."""
    table = TraceFile(path).host_functions
    assert sorted(collections.Counter(map(int, table["track"])).values()) == [1, 4]
    assert collections.Counter(int(graph) != 0 for graph in table["graph"]) == {False: 3, True: 2}
    rows_of = {int(row["count"]): row for row in stats("streams", path)["host_functions"]}
    assert rows_of.keys() == {1, 4} and int(rows_of[4]["graph_node_count"]) == 2
    assert int(rows_of[4]["total_ns"]) == sum(int(ns) for ns in table["duration"]) - int(rows_of[1]["total_ns"])


def check_ops(path):
    """One product of two matrices of ones in PyTorch."""
    found = TraceFile(path)
    names = collections.Counter(found.strings[int(name)] for name in found.ops["name"])
    assert (names["aten::mm"], names["aten::ones"]) == (1, 2)
    assert any(framework.startswith("torch") for framework in found.frameworks)


def headers(data):
    """The block headers of a trace as (offset of the frame, header bytes), by their magic numbers alone."""
    at = 0
    while at < len(data):
        magic, size = struct.unpack_from("<II", data, at)
        body, at = at + 8, at + 8 + size
        if magic == 0x184D2A51:
            yield at, data[body:at]
            at += struct.unpack_from("<I", data, body)[0]


def check_index(path):
    """The index says of each block what its header says; read by the letter of FORMAT.md."""
    data = path.read_bytes()
    magic, size, blocks, _, at = struct.unpack_from("<IIQQQ", data, len(data) - 48)
    assert (magic, size) == (0x184D2A53, 40) and at != 0
    found = []
    while at != 0:
        magic, size, previous, count, raw = struct.unpack_from("<IIQII", data, at)
        message = fields(decompress(data[at + 32:at + 8 + size]))
        assert magic == 0x184D2A52 and sum(map(len, message.values())) == len(message)
        column = lambda number: [int(v) for v in packed(message[number][-1])] if number in message else [0] * count
        delta = lambda number: [int(v) for v in numpy.cumsum(zigzag(packed(message[number][-1])))] if number in message else [0] * count
        capture, track, first = delta(5), delta(6), delta(9)
        sequence = [value + i + 1 for i, value in enumerate(delta(8))]
        last = [begin + more for begin, more in zip(first, column(10))]
        found = list(zip(column(2), column(3), column(4), capture, track, column(7), sequence, first, last, column(11), strict=True)) + found
        at = previous
    assert len(found) == blocks
    assert found == [struct.unpack_from("<IIHHIIIQQQ", header) for _, header in headers(data)]


def test_every_version_is_stored():
    """A new version of the format must store its traces: tests/golden/make_traces."""
    version = tuple(int(part) for part in SCHEMA["format"].split("."))
    stored = {}
    for path in FILES:
        magic, major, minor = struct.unpack_from("<8sHH", path.read_bytes(), 8)
        assert (magic, path.parent.name) == (b"gpuprof\n", f"v{major}")
        stored.setdefault((major, minor), set()).add(path.stem)
    assert version in stored and stored[1, 0] == NAMES
    assert ROWS.keys() == {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_stored_trace_is_read(path):
    ask("verify", path)
    assert json.loads(ask("info", "--json", path))
    check_index(path)
    assert collections.Counter(kind for kind, _ in rows(path)) == ROWS[path.stem]
    for name in PASSES:
        assert stats(name, path)["meta"]["inputs"][0]["fault"] == "", name
    globals()[f"check_{path.stem}"](path)
