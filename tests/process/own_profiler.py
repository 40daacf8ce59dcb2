# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A program that profiles itself by CUPTI, under gpuprof: for the tests of profilers beside captures."""

import collections
import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, Truth, environment_of
from trace_file import read_bundle

ABSENT = "no GPU activity is recorded: "


@pytest.fixture(name="profiler")
def fixture_profiler(session, tmp_path):
    """profiler("v1" or "v2"): own_profiler under gpuprof, dormant."""
    truth = tmp_path / "truth.json"

    def start(way, personality, script=""):
        program = session([DOUBLES / "programs" / "own_profiler", way], "--capture=off", env=environment_of(truth, script, personality))
        assert program.line() == "ready"

        def ask(text):
            program.tell(text + "\n")
            return program.line()

        def switch(verb):
            done = program.ctl(verb)
            assert done.status == 0, done.err.decode()

        def end():
            outcome = program.finish()
            assert outcome.status == 0, outcome.err.decode()
            found = Truth(truth)
            assert found.of("violation") == []
            traces = read_bundle(outcome.bundle)
            return (traces[0] if traces else None), found, outcome

        program.ask, program.switch, program.whole = ask, switch, end
        return program

    return start


def profile(program, kernels):
    """By itself: everything, exactly."""
    assert program.ask("begin") == "began 0"
    assert program.ask(f"launch {kernels}") == f"launched {kernels}"
    assert program.ask("end") == f"ended {kernels}"


def rounds(kernels):
    """How many kernels of each round; the round is the grid's width."""
    return collections.Counter(row[2][0] for row in kernels)


def notes(bundle, source):
    health = json.loads(gpuprof("stats", "health", "--json", bundle).out)
    return [note for process in health["processes"] for note in process.get("notes", []) if note.startswith(source + ": ")]
