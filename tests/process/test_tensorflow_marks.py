# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Marks of TensorFlow's recorder, by a stand-in of its library: levels, activities, and the program's own profiler."""

import collections
import json

from conftest import PROGRAMS, gpuprof, program

# What tsl_marks.c prints of its own profiler, which works as it does without gpuprof.
PROFILE = b"begun 1, at level 3, again 0, kept 5, then level 2\n"


def _library(folder):
    return PROGRAMS / folder / "libtensorflow_framework.so.2"


def test_marks_become_operations(record):
    outcome = record([program("tsl_marks"), _library("tsl")])
    assert (outcome.status, outcome.out, outcome.own_err) == (0, PROFILE, b"")
    trace = outcome.trace()
    assert trace.frameworks == ["TensorFlow 2.99"]
    names = collections.Counter(trace.strings[int(name)] for name in trace.ops["name"])
    assert names == {"EagerExecute": 100, "dense/MatMul:MatMul": 10, "Transfer": 1, "verbose": 5, "began before": 1, "after": 1}
    assert sum(trace.losses.values()) == 1, "an end without a begin"
    (row,) = [row for row in json.loads(gpuprof("stats", "ops", "--json", outcome.bundle).out)["ops"] if row["name"] == "EagerExecute"]
    assert row["count"] == 100
    (series,) = json.loads(gpuprof("stats", "steps", "--json", outcome.bundle).out)["series"]
    assert (series["count"] + series["warmup_count"], series["marker"]) == (100, "train_step")


def test_values_are_those_of_the_mark(record):
    outcome = record([program("tsl_marks"), _library("tsl")], "--trace=ops")
    values = [line for line in gpuprof("dump", outcome.bundle).out.decode().splitlines() if " op_value " in line]
    assert sum('name="shapes"' in line and "[8,784] [8]" in line for line in values) == 10, values[:5]
    assert sum('name="id"' in line and "value=-1" in line for line in values) == 10, values[:5]


def test_a_release_without_its_recorder_is_told(session):
    run = session([program("tsl_marks"), _library("tsl_other"), "other"])
    assert run.line() == "ready"
    run.wait_for(lambda: run.state()["ops"].startswith("TensorFlow 2.99: its marks cannot be recorded: "))
    run.tell("go\n")
    assert run.line() == "level -1"
    outcome = run.finish()
    assert outcome.status == 0
    assert any("TensorFlow 2.99: its marks cannot be recorded" in note for note in outcome.trace().notes), outcome.trace().notes
