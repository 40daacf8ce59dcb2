# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The parts of a real model of PyTorch, recorded live by the calls of its forward functions."""

import json
import pathlib
import sys

import pytest

from process_support import gpuprof, run_bare

pytest.importorskip("torch")
PROGRAM = pathlib.Path(__file__).resolve().parent / "modules_program.py"
PYTHON = {"PYTHONDONTWRITEBYTECODE": "1"}
STEPS = 12
# By hand, from the program: Net has a Sequential of two Blocks with two Linear each, and a Linear.
CALLS = {"Net": STEPS,
         "Net/Sequential": STEPS,
         "Net/Sequential/Block": 2 * STEPS,
         "Net/Sequential/Block/Linear": 4 * STEPS,
         "Net/Linear": STEPS}


def by_module(bundle):
    done = gpuprof("stats", "ops", "--by", "module", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def test_calls_of_forward_functions_are_modules(record):
    command = [sys.executable, str(PROGRAM), str(STEPS)]
    bare = run_bare(command, env=PYTHON)
    outcome = record(command, "--python=trace:*.forward", env=PYTHON)
    assert (outcome.status, outcome.out) == (0, bare.out)
    result = by_module(outcome.bundle)
    assert result["module_source"] == "forwards"
    rows = {row["name"]: row for row in result["ops"]}
    assert {name: row["count"] for name, row in rows.items()} == CALLS
    # What is inside of a module is a part of its time.
    assert rows["Net"]["total_ns"] >= rows["Net/Sequential"]["total_ns"] + rows["Net/Linear"]["total_ns"]
    assert rows["Net/Sequential"]["total_ns"] >= rows["Net/Sequential/Block"]["total_ns"] >= rows["Net/Sequential/Block/Linear"]["total_ns"]
    text = gpuprof("stats", "ops", "--by", "module", outcome.bundle).out.decode()
    assert "Net/Sequential/Block/Linear" in text and "calls of modules" in text


def test_without_calls_the_words_say_what_to_record(record):
    outcome = record([sys.executable, "-c", "import torch; torch.ones(3).sum()"], env=PYTHON)
    text = gpuprof("stats", "ops", "--by", "module", outcome.bundle).out.decode()
    assert "--python=trace:'*.forward'" in text
