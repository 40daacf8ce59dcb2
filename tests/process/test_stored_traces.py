# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Stored traces of every version of the format (tests/golden/traces): each one is read as it was when its version was current."""

import collections
import json
import re
import struct

import pytest

from conftest import ROOT, gpuprof
from test_cli_surface import PASSES
from trace_file import FLAG_INCOMPLETE, TraceFile

TRACES = ROOT / "tests" / "golden" / "traces"
NAMES = {"heap", "locks", "gpu", "pools", "nvtx", "killed"}
FILES = sorted(TRACES.glob("v*/*.gpt"))


def ask(*words):
    done = gpuprof(*words)
    assert done.status == 0, (words, done.err.decode())
    return done.out.decode()


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
    ranges = {row["name"]: int(row["count"]) for row in stats("nvtx", path)["ranges"]}
    assert ranges == {"step": 3, "forward": 3, "backward": 3}


def check_pools(path):
    """pools: eight rounds allocate from two pools, run a kernel and release."""
    kinds = collections.Counter(kind for kind, _ in rows(path))
    assert (kinds["kernel"], kinds["device_memory"]) == (8, 32) and kinds["memory_pool"] > 0 and kinds["sync"] > 0


def check_nvtx(path):
    """nvtx_payloads mix: three pushed reductions, of 1 MiB, 4096 and 16 bytes."""
    values = {(value["range"], value["kind"], value["name"]): value for value in stats("nvtx", path)["values"]}
    size = values["ncclAllReduce", "push_pop", "Message size [bytes]"]
    assert (size["count"], size["sum_value"], size["min_value"], size["max_value"]) == (3, (1 << 20) + 4096 + 16, 16, 1 << 20)


def check_killed(path):
    """nvtx_ranges killed: two ranges are open when the process gets SIGKILL, and recovery finishes its trace."""
    found = TraceFile(path)
    assert sorted(row["name"] for row in found.range_rows() if row["flags"] & FLAG_INCOMPLETE) == ["inner", "outer"]
    (fed,) = stats("nvtx", path)["meta"]["inputs"]
    assert fed["recovered"] is True and found.exit_status == 128 + 9


def test_every_version_is_stored():
    """A new version of the format must store its traces: tests/golden/make_traces."""
    text = (ROOT / "proto" / "container.h").read_text()
    version = [int(re.search(rf"kFormat{part} = (\d+);", text).group(1)) for part in ("Major", "Minor")]
    assert {path.stem for path in (TRACES / "v{}.{}".format(*version)).glob("*.gpt")} == NAMES
    for path in FILES:
        magic, major, minor = struct.unpack_from("<8sHH", path.read_bytes(), 8)
        assert (magic, path.parent.name) == (b"gpuprof\0", f"v{major}.{minor}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_stored_trace_is_read(path):
    ask("verify", path)
    assert json.loads(ask("info", "--json", path))
    TraceFile(path)
    for name in PASSES:
        assert stats(name, path)["meta"]["inputs"][0]["fault"] == "", name
    globals()[f"check_{path.stem}"](path)
