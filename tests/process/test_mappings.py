# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The mmap family: every call, what is mapped at the end of each kind, and errno as it was."""

import json
import subprocess
import sys

import pytest

from conftest import GPUPROF, clean_environment, program


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


def test_off_unless_named(same):
    result = mapped(same([program("mappings")], "--trace=threads"))
    assert result["mapped"] == []


def test_arenas_of_python(record):
    """CPython takes its small objects' arenas from mmap, which no malloc shows."""
    outcome = record([sys.executable, "-c", "x = [object() for _ in range(1000000)]"])
    memory = [row for row in mapped(outcome)["mapped"] if row["kind"] == "memory"]
    assert memory and memory[0]["peak_bytes"] > 12_000_000
