# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The account of a recording: how much of the run was captured, by what name a process goes, and what was not seen."""

import json
import sys

from conftest import gpuprof, program

NAMES_ITSELF = """
import ctypes, os, time
os.environ["RANK"] = "3"
with open("/proc/self/stat", "rb") as stat:
    begin, end = map(int, stat.read().rpartition(b")")[2].split()[45:47])
title = b"worker: waits for work"
time.sleep(0.5)  # the recording has begun
ctypes.memset(begin, 0, end - begin)
ctypes.memmove(begin, title, len(title))
time.sleep(0.3)
"""


def overview(bundle):
    done = gpuprof("stats", "overview", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def test_how_much_was_captured_and_by_whom(record):
    """A capture of the middle of a run: the process lives longer than its events."""
    result = overview(record([sys.executable, "-c", "import time; time.sleep(1)"], "--capture=delay:300ms+200ms").bundle)
    cost = result["cost"]
    assert cost["capture_count"] == 1
    assert [trigger["name"] for trigger in cost["begun_by"]] == ["delay"]
    assert [trigger["name"] for trigger in cost["ended_by"]] == ["delay"]
    assert cost["captured_ns"] >= 150e6
    process = result["processes"][0]
    life = process["end_ns"] - process["start_ns"]
    assert life == cost["life_ns"] >= 1e9 > cost["captured_ns"]


def test_a_process_has_the_name_that_it_gives_itself(record):
    process = overview(record([sys.executable, "-c", NAMES_ITSELF]).bundle)["processes"][0]
    assert process["name"] == "worker: waits for work rank 3"


def test_code_of_an_interpreter_is_its_name(record):
    # A process that has ended before its recorder has read its command line has the name of its file.
    process = overview(record([sys.executable, "-c", "\nimport time; time.sleep(0.5)"]).bundle)["processes"][0]
    assert process["name"].endswith(" -c import time; time.sleep(0.5)"), process


def test_namespaces_of_libraries_are_reported(same):
    result = overview(same([program("namespaces")]).bundle)
    assert any("1 namespace of libraries with dlmopen" in note for note in result["meta"]["notes"]), result["meta"]
