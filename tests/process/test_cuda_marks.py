# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Captures that begin and end where the program says so: at steps and at named ranges. What is in the trace is what the program
did in between, to the kernel."""

import collections
import json

import pytest

from conftest import gpuprof, verify
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

MARKS = str(DOUBLES / "programs" / "marks")
INSIDE, BETWEEN = "_Z6Insidev", "_Z7Betweenv"


@pytest.fixture
def marks(record, tmp_path):
    def run(capture, steps, kind, *options, personality=None, script=""):
        truth = tmp_path / "truth.json"
        outcome = record([MARKS, str(steps), kind], f"--capture={capture}", *options, env=environment_of(truth, script, personality))
        assert (outcome.status, outcome.out.decode()) == (0, f"{steps} steps\n"), outcome.err.decode()
        assert Truth(truth).of("violation") == []
        return outcome

    return run


def kernels_of(outcome):
    """{(function, width of the grid): number}, of a trace that has lost nothing."""
    (trace,) = read_bundle(outcome.bundle)
    assert trace.lost == 0, trace.losses
    verify(outcome.bundle)
    return collections.Counter((row[0], row[2][0]) for row in trace.kernel_rows()), trace


def steps(first, last, between):
    """What the program launches in steps `first` to `last`, counted from 0, of which each launches its number + 1."""
    return collections.Counter({**{(INSIDE, i + 1): i + 1 for i in range(first, last + 1)}, **({(BETWEEN, 1): between} if between else {})})


@pytest.mark.parametrize("personality", [None, "11.8", "13.3"])
def test_numbered_steps(marks, personality):
    """Ranges that bear numbers are those numbers, wherever they begin."""
    kernels, trace = kernels_of(marks("steps:4-6", 12, "numbered", personality=personality, script=DRIVER_OF_SEVERAL))
    assert kernels == steps(4, 6, between=2)
    assert set(trace.kernels["capture"].tolist()) == {1}
    names = sorted(row["name"] for row in trace.range_rows())
    assert names == ["step 4", "step 5", "step 6"], "the ranges themselves are whole"


def test_steps_without_numbers_are_counted_from_one(marks):
    """A range of the same name inside of a step is none of its own."""
    kernels, _ = kernels_of(marks("steps:5-7", 12, "plain"))
    assert kernels == steps(4, 6, between=2)


def test_steps_that_are_started_and_ended_by_another_thread(marks):
    kernels, _ = kernels_of(marks("steps:2", 4, "started"))
    assert kernels == steps(1, 1, between=0)


@pytest.mark.parametrize("name", ["train@app", "steps:3-4@train@app"])
def test_ranges_of_a_domain(marks, name):
    if name.startswith("steps"):
        kernels, trace = kernels_of(marks(name, 6, "domain"))
        assert kernels == steps(2, 3, between=1)
    else:
        kernels, trace = kernels_of(marks(f"nvtx:{name}", 6, "domain"))
        assert kernels == steps(0, 5, between=0)
        assert sorted(set(trace.kernels["capture"].tolist())) == [1, 2, 3, 4, 5, 6], "each time is a capture"


def test_a_hundred_captures_of_a_range(marks):
    """The hundredth as exact as the first."""
    kernels, trace = kernels_of(marks("nvtx:step", 100, "plain"))
    assert kernels == steps(0, 99, between=0)
    by_capture = collections.Counter(trace.kernels["capture"].tolist())
    assert by_capture == {i + 1: i + 1 for i in range(100)}


def test_a_step_that_never_comes(marks):
    outcome = marks("steps:40-50", 12, "plain")
    assert b"--capture names steps 40 to 50, and the last step here was 12" in outcome.err
    assert b"no process came to step 40" in outcome.err


def test_a_range_waits_for_the_gpu_of_the_one_before(marks):
    """Each step's kernels run for longer than the range is away: the next capture begins when they have ended, and has its own."""
    kernels, trace = kernels_of(marks("nvtx:step", 4, "plain", script="kernel_ns 60000000"))
    assert kernels == steps(0, 3, between=0)
    assert collections.Counter(trace.kernels["capture"].tolist()) == {1: 1, 2: 2, 3: 3, 4: 4}


def test_a_range_that_never_comes(marks):
    outcome = marks("nvtx:epoch", 3, "plain")
    assert b"no process pushed or started an NVTX range named 'epoch'" in outcome.err


def test_the_last_step_is_the_last_of_the_program(marks):
    """Where the program ends first, so does the capture."""
    kernels, _ = kernels_of(marks("steps:10-20", 12, "plain"))
    assert kernels == steps(9, 11, between=3)


def steps_told(bundle):
    done = gpuprof("stats", "steps", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


@pytest.mark.parametrize(["capture", "kind", "numbers", "marker"], [
    ("steps:3-5", "numbered", [3, 4, 5], "step"),
    ("steps:3-5", "plain", [3, 4, 5], "step"),
    ("steps:3-5", "started", [3, 4, 5], "iteration"),
    ("steps:3-4@train@app", "domain", [3, 4], "app:train"),
    ("now", "numbered", list(range(8)), "step"),
    ("now", "plain", list(range(1, 9)), "step"),
])
def test_stats_shows_the_steps_that_the_capture_counted(marks, capture, kind, numbers, marker):
    outcome = marks(capture, 8, kind)
    told = steps_told(outcome.bundle)
    assert [int(step["number"]) for step in told["steps"]] == numbers, told["meta"]
    (series,) = told["series"]
    assert (series["method"], series["marker"]) == ("ranges", marker)
    durations = [int(row["duration_ns"]) for row in told["steps"]]
    assert all(int(step["other_ns"]) + int(step["blocked_ns"]) + int(step["lock_wait_ns"]) == ns for step, ns in zip(told["steps"], durations))


def test_a_name_of_the_users_is_no_step_without_its_capture(marks):
    told = steps_told(marks("now", 4, "domain").bundle)
    assert told["steps"] == [] and "NVTX range called `step`" in told["advice"]
