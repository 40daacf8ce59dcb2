# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""--budget: windows of whole steps, as many as the measured cost permits. What it costs is measured by tests/bench/budget.py: here
is shown that the windows are whole, that the kernels in them are exact, and that what is told of the cost is what happened."""

import collections
import json
import os
import signal
import sys

import pytest

from conftest import gpuprof, verify
from fake_gpu import DOUBLES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

TRAINING = str(DOUBLES / "programs" / "training")
LAUNCHES = 100
# What a launch costs on an H200 while CUPTI records it (docs/cost.md).
SCRIPT = "record_ns 1160; kernel_ns 500; launch_ns 500"


@pytest.fixture
def training(record, tmp_path):
    def run(budget, seconds, *options, marks="nvtx", checkpoint=0, script=SCRIPT):
        outcome = record([TRAINING, str(seconds), str(LAUNCHES), "2800", marks, str(checkpoint)], f"--budget={budget}", *options,
                         env=environment_of(tmp_path / "truth.json", script))
        assert outcome.status == 0, outcome.err.decode()
        assert Truth(tmp_path / "truth.json").of("violation") == []
        verify(outcome.bundle)
        (trace,) = read_bundle(outcome.bundle)
        assert trace.lost == 0, trace.losses
        (health,) = json.loads(gpuprof("stats", "health", outcome.bundle, "--json").out)["processes"]
        return outcome, trace, health["budget"], int(outcome.out.split()[0])

    return run


@needs_doubles
def test_windows_are_of_whole_steps_and_exact(training):
    outcome, trace, budget, steps = training("10%", 3)
    counts = collections.Counter(row[2][0] for row in trace.kernel_rows())
    assert budget["window_count"] >= 2 and budget["detail"] == "all"
    assert set(counts.values()) == {LAUNCHES}, "each step that was recorded has all its kernels"
    # The last step of the program has no end: it is in no count. The program may end in a window.
    assert budget["step_count"] == steps - 1
    recorded = budget["recorded_step_count"] + (steps in counts)
    assert len(counts) == recorded
    assert 0 < budget["recorded_step_count"] < steps
    names = {row["name"] for row in trace.range_rows()}
    assert names == {"step"}
    # The ranges of the steps are in the windows too.
    assert len(trace.range_rows()) == recorded
    kernels = json.loads(gpuprof("stats", "kernels", outcome.bundle, "--json").out)
    assert sum(row["count"] for row in kernels["kernels"]) == LAUNCHES * recorded


@needs_doubles
def test_what_is_told_of_the_cost(training):
    # Windows are rare on a busy machine, and the error of their cost is that of several.
    outcome, trace, budget, steps = training("10%", 8)
    assert budget["limit_ratio"] == pytest.approx(0.1)
    assert budget["name"] == "range steps"
    assert budget["cost_error_ratio"] > 0
    assert budget["recorded_ns"] < budget["elapsed_ns"]
    # Each launch takes 1160 ns more in windows, whatever else the machine does.
    assert budget["inside_step_ns"] > budget["outside_step_ns"] + 0.5 * LAUNCHES * 1160
    assert budget["scale_ratio"] == pytest.approx(budget["step_count"] / budget["recorded_step_count"])
    # All kernels take 500 ns, so the windows say exactly what the run had.
    assert budget["run_gpu_ns"] == pytest.approx(500 * LAUNCHES * budget["step_count"], rel=0.01)
    assert budget["run_gpu_error_ns"] <= 0.01 * budget["run_gpu_ns"]
    text = gpuprof("stats", "health", outcome.bundle).out.decode()
    assert "Measured cost: " in text and " give or take " in text
    for name in ("overview", "kernels", "steps"):
        notes = " ".join(gpuprof("stats", name, outcome.bundle).out.decode().split())
        assert f"{budget['recorded_step_count']:,} of {budget['step_count']:,} steps were recorded, in windows" in notes


@needs_doubles
def test_less_detail_is_tried_in_the_stated_order(training):
    """A record that costs twenty times the step leaves too few steps, for certain. Kernels are never given up."""
    # Three windows of each detail are earned later on a busy machine, as its steps differ more.
    for seconds in (8, 24, 72):
        outcome, trace, budget, _ = training("20%", seconds, script="record_ns 60000; kernel_ns 500; launch_ns 500")
        tried = [budget[f"{detail}_window_count"] for detail in ("all", "operations", "gpu")]
        if tried[1] > 0:
            break
    assert sum(tried) == budget["window_count"] and tried[0] >= 3
    assert tried[2] == 0 or tried[1] >= 3
    assert tried[1] > 0, "CUPTI costs more than 20 % of one step in twenty"
    assert "all would leave too few steps, so less was tried" in " ".join(gpuprof("stats", "health", outcome.bundle).out.decode().split())
    counts = collections.Counter(row[2][0] for row in trace.kernel_rows())
    assert set(counts.values()) == {LAUNCHES}


@needs_doubles
def test_a_run_that_is_too_short_says_so(record, tmp_path):
    outcome = record([TRAINING, "1", str(LAUNCHES)], "--budget=0.1%", env=environment_of(tmp_path / "truth.json", SCRIPT))
    assert outcome.status == 0
    assert "nothing was recorded: no process ran long enough to earn a window (--budget)" in " ".join(outcome.err.decode().split())


@needs_doubles
def test_a_program_without_steps_has_windows_of_time(training):
    outcome, trace, budget, _ = training("20%", 12, marks="none")
    assert budget["name"] == "time" and budget["step_count"] == 0
    assert budget["window_count"] >= 1
    assert len(trace.kernel_rows()) > 0
    assert budget["cost_ratio"] < 0.2 and budget["cost_error_ratio"] is None
    text = " ".join(gpuprof("stats", "overview", outcome.bundle).out.decode().split())
    assert "of the time were recorded. All figures are of these windows" in text


@needs_doubles
def test_a_time_for_each_step(training):
    _, _, budget, _ = training("100us", 3)
    assert budget["limit_step_ns"] == 100_000 and budget["limit_ratio"] is None
    assert budget["window_count"] >= 1


@needs_doubles
def test_a_killed_program_has_the_windows_before(session, tmp_path):
    run = session([TRAINING, "60", str(LAUNCHES)], "--budget=20%", env=environment_of(tmp_path / "truth.json", SCRIPT))
    run.wait_for(lambda: run.state()["captures"] >= 3)
    os.kill(run.pid, signal.SIGKILL)
    run.finish()
    (health,) = json.loads(gpuprof("stats", "health", run.bundle, "--json").out)["processes"]
    assert health["budget"]["window_count"] >= 1
    assert health["budget"]["limit_ratio"] == pytest.approx(0.2)


@pytest.mark.parametrize(("options", "words"), [
    (["--budget", "0%"], "write 0.01% to 100%, for example 3%"),
    (["--budget", "200%"], "write 0.01% to 100%, for example 3%"),
    (["--budget", "3"], "write a part of the time (3%) or a time for each step (1us to 1m)"),
    (["--budget", "10ns"], "a time for each step (1us to 1m)"),
    (["--budget", "3%", "--capture", "steps:1-2"], "--budget chooses itself what is recorded; leave out --capture"),
    (["--budget", "3%", "--ring", "16MiB"], "leave out --ring or --budget"),
])
def test_refused(tmp_path, options, words):
    done = gpuprof("run", "-o", tmp_path / "b", *options, "--", "true")
    assert done.status == 2 and words in " ".join(done.err.decode().split()), done.err.decode()
    assert not (tmp_path / "b").exists()


def test_forked_children_record_in_windows_of_time(record):
    program = ("import os, time\npid = os.fork()\nend = time.time() + 12\n"
               "while time.time() < end:\n    kept = [bytearray(3_000_000) for _ in range(10)]\n    time.sleep(0.001)\n"
               "if pid:\n    os.waitpid(pid, 0)\n")
    outcome = record([sys.executable, "-c", program], "--budget=20%")
    assert outcome.status == 0, outcome.err.decode()
    parent, child = sorted(outcome.traces(), key=lambda trace: trace.ppid not in {t.pid for t in outcome.traces()}, reverse=True)
    assert child.ppid == parent.pid
    assert {trigger for _, start, trigger in parent.captures if start} == {"budget"}
    assert {trigger for _, start, trigger in child.captures if start} == {"parent"}
