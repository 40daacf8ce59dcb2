# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The account of a recording: how much of the run was captured, by what name a process goes, and what was not seen."""

import json
import sys

import pytest

from conftest import GPUPROF, gpuprof, program, run_bare
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
    assert process["name"].endswith(" -c import ctypes, os, struct, time"), process


def test_namespaces_of_libraries_are_reported(same):
    result = overview(same([program("namespaces")]).bundle)
    assert any("1 namespace of libraries with dlmopen" in note for note in result["meta"]["notes"]), result["meta"]


SLEEPS = f"{sys.executable} -c 'import time; time.sleep(1); sum(range(3000000))'"


@pytest.mark.parametrize("script, processes", [(f"seq 3 >/dev/null; {SLEEPS}; seq 3 >/dev/null", 3), (f"seq 3 >/dev/null; exec {SLEEPS}", 2),
                                               (f"{SLEEPS} & {SLEEPS}; wait", 2), (SLEEPS, 1)])
def test_time_of_a_script_is_that_of_the_whole_run(record, script, processes):
    """Whichever process came first: the parts sum to what the run took, and say whose they are."""
    result = overview(record(["bash", "-c", script]).bundle)
    assert result["main"]["process_count"] == processes
    assert result["main"]["name"].startswith("python") and result["main"]["pid"] in [p["pid"] for p in result["processes"]]
    assert sum(phase["total_ns"] for phase in result["phases"]) == result["run_ns"] >= 1e9
    assert abs(result["run_ns"] - result["environment"]["wall_ns"]) < 0.05 * result["run_ns"]
    assert abs(sum(phase["total_ratio"] for phase in result["phases"]) - 1) < 1e-9
    text = gpuprof("stats", "overview", record(["bash", "-c", script]).bundle).out.decode()
    assert ("the phases are those of python" in text) == (processes > 1), text
    main = [finding for finding in result["findings"] if finding["id"] == "RU-001"]
    assert not main or ("of process python" in main[0]["evidence"][0]) == (processes > 1), main


def test_time_of_a_run_without_a_launcher(tmp_path):
    """From the first process to the last."""
    script = f'eval "$({GPUPROF} env -o {tmp_path}/b)"; seq 3; {SLEEPS}'
    assert run_bare(["bash", "-c", script]).status == 0
    result = overview(tmp_path / "b")
    assert result["main"]["name"].startswith("python") and result["main"]["process_count"] == 2
    assert sum(phase["total_ns"] for phase in result["phases"]) == result["run_ns"] >= 1e9
