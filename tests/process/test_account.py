# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The account of a recording: how much of the run was captured, by what name a process goes, and what was not seen."""

import json
import sys

from conftest import gpuprof, program
from waiting import AWAIT_RECORDER

NAMES_ITSELF = AWAIT_RECORDER + """
import ctypes, os
os.environ["RANK"] = "3"
with open("/proc/self/stat", "rb") as stat:
    begin, end = map(int, stat.read().rpartition(b")")[2].split()[45:47])
title = b"worker: waits for work"
ctypes.memset(begin, 0, end - begin)
ctypes.memmove(begin, title, len(title))
"""


def overview(bundle):
    done = gpuprof("stats", "overview", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def test_how_much_was_captured_and_by_whom(session):
    """A capture of the middle of a run: the process lives longer than its events."""
    run = session([sys.executable, "-c", "input()"], "--capture=delay:300ms+200ms")
    run.wait_for(lambda: run.ctl("status").status == 0 and (run.state()["captures"], run.state()["state"]) == (1, "dormant"))
    run.tell("\n")
    result = overview(run.finish().bundle)
    cost = result["cost"]
    assert cost["capture_count"] == 1
    assert [trigger["name"] for trigger in cost["begun_by"]] == ["delay"]
    assert [trigger["name"] for trigger in cost["ended_by"]] == ["delay"]
    assert cost["captured_ns"] > 0
    process = result["processes"][0]
    life = process["end_ns"] - process["start_ns"]
    assert life == cost["life_ns"] >= cost["captured_ns"] + 250e6


def test_a_process_has_the_name_that_it_gives_itself(record):
    process = overview(record([sys.executable, "-c", NAMES_ITSELF]).bundle)["processes"][0]
    assert process["name"] == "worker: waits for work rank 3"


def test_code_of_an_interpreter_is_its_name(record):
    # A process that has ended before its recorder has read its command line has the name of its file.
    code = AWAIT_RECORDER + "pass"
    process = overview(record([sys.executable, "-c", code]).bundle)["processes"][0]
    assert process["name"].endswith(" -c import glob, time"), process


def test_namespaces_of_libraries_are_reported(same):
    result = overview(same([program("namespaces")]).bundle)
    assert any("1 namespace of libraries with dlmopen" in note for note in result["meta"]["notes"]), result["meta"]
