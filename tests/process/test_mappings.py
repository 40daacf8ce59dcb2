# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The mmap family: every call, what is mapped at the end of each kind, and errno as it was."""

import json
import subprocess
import sys

import pytest

from conftest import GPUPROF, clean_environment, program, verify
from trace_file import REENTERED, THREAD_EDGE


def mapped(outcome):
    done = subprocess.run([str(GPUPROF), "stats", "heap", "--json", str(outcome.bundle)], capture_output=True,
                          env=clean_environment(), check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("heap", ["heap=exact", "heap=sampled", "heap=off"])
def test_what_is_mapped_at_the_end(same, heap):
    outcome = same([program("mappings")], f"--trace={heap},mmap")
    words = outcome.out.decode().splitlines()[-1].split()
    truth = dict(zip(words[::2], map(int, words[1::2])))
    result = mapped(outcome)
    assert {row["kind"]: row["end_bytes"] for row in result["mapped"]} == truth
    assert {row["kind"]: row["count"] for row in result["mapped"]} == {"memory": 5, "file": 1, "reserved": 2}
    assert all(row["unmatched_bytes"] == 0 for row in result["mapped"] if "unmatched_bytes" in row)
    ends = {kind: 0 for kind in truth}
    for row in result["mapping_stacks"]:
        ends[row["kind"]] += row["end_bytes"]
        assert row["name"] in ("main", "Memory")
    assert ends == truth


def test_handlers_that_map_while_the_program_unmaps(same):
    """An unmapping has the time before its call: the handler's rows, later by time, are written first, and nothing is wrong with that."""
    outcome = same([program("unmap_interrupted")], "--trace=heap=off,mmap")
    verify(outcome.bundle)
    trace = outcome.trace()
    # What comes while the recorder is at work, or makes the thread's ring, is counted, and may be a page's mapping or its end.
    unknown = 4096 * (trace.losses.pop(REENTERED, 0) + trace.losses.pop(THREAD_EDGE, 0))
    assert trace.losses == {}
    times = trace.mappings["time"].astype("int64")
    assert (times[1:] < times[:-1]).any()
    (memory,) = [row for row in mapped(outcome)["mapped"] if row["kind"] == "memory"]
    assert abs(int(memory["end_bytes"]) - 3 * 4096) <= unknown
    # A block, and at most a page of the handler's beside it.
    assert 1 << 20 <= int(memory["peak_bytes"]) <= (1 << 20) + 4096 + unknown
    assert int(memory.get("unmatched_bytes", 0)) <= unknown


def test_off_unless_named(same):
    result = mapped(same([program("mappings")], "--trace=threads"))
    assert result["mapped"] == []


def test_arenas_of_python(record):
    """CPython takes its small objects' arenas from mmap, which no malloc shows."""
    outcome = record([sys.executable, "-c", "x = [object() for _ in range(1000000)]"])
    memory = [row for row in mapped(outcome)["mapped"] if row["kind"] == "memory"]
    assert memory and memory[0]["peak_bytes"] > 12_000_000
