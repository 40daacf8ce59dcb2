# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Real PyTorch: inputs of operations are those that torch.profiler tells at the same time, and the program learns nothing of it."""

import collections
import json
import pathlib
import sys

import pytest

from process_support import gpuprof, run_bare, verify

torch = pytest.importorskip("torch")
HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = [sys.executable, str(HERE / "shapes_program.py")]
PYTHON = {"PYTHONDONTWRITEBYTECODE": "1"}
FIRST_WINDOW = 10_000  # operations; tracer/torch/shape_window.h
LISTS = ("TensorList", "GenericList", "ScalarList")


def _recorded(session, program, *options):
    """The bundle of what the program does between two lines, from the capture's begin to its end, and the program's output."""
    run = session(program, "--capture=off", *options, env=PYTHON)
    out = []
    while not out or out[-1] != "ready":
        out.append(run.line())
    assert run.ctl("start").status == 0
    run.wait_for(lambda: run.state()["ops"] == "active")
    run.tell("go\n")
    while out[-1] != "done":
        out.append(run.line())
    assert run.ctl("stop").status == 0
    run.tell("go\n")
    outcome = run.finish()
    assert outcome.status == 0, outcome.err.decode()
    verify(outcome.bundle)
    assert outcome.trace().lost == 0
    return outcome.bundle, out


def _bare(program):
    return run_bare(program, env=PYTHON, stdin=b"go\ngo\n").out.decode().splitlines()


def _rows(bundle):
    done = gpuprof("stats", "ops", "--by", "shape", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def _key(name, dims, types):
    """Lists of numbers have no type of their own here, and of several lists of tensors there is no shape."""
    types = ["GenericList" if kind in LISTS and not size else kind for kind, size in zip(types, dims, strict=True)]
    if sum(kind in LISTS for kind in types) > 1:
        dims = [[] if kind in LISTS else size for kind, size in zip(types, dims, strict=True)]
        types = ["GenericList" if kind in LISTS else kind for kind in types]
    return name, json.dumps(dims), json.dumps(types)


def test_shapes_equal_those_of_torch_profiler_at_the_same_time(session, tmp_path):
    file = tmp_path / "torch.json"
    bundle, out = _recorded(session, [*PROGRAM, str(file)])
    assert out == _bare(PROGRAM), "bit for bit"
    theirs, without = collections.Counter(), collections.Counter()
    for event in json.loads(file.read_text())["traceEvents"]:
        if event.get("cat") != "cpu_op":
            continue
        args = event["args"]
        # torch.profiler does not tell of a list that may have holes.
        if "Input Dims" not in args or "index_put" in event["name"]:
            without[event["name"]] += 1
        else:
            theirs[_key(event["name"], args["Input Dims"], args["Input type"])] += 1
    assert sum(theirs.values()) > 1000 and len(theirs) > 100
    result = _rows(bundle)
    ours = collections.Counter()
    for row in result["ops"]:
        if row["name"] in without or row["scope"] == "user":
            continue
        assert row.get("shapes"), f"{row['name']} was not read"
        ours[_key(row["name"], json.loads(row["shapes"]), json.loads(row["types"]))] += row["count"]
    assert ours == theirs, {key: (ours[key], theirs[key]) for key in {*ours, *theirs} if ours[key] != theirs[key]}
    kinds = {kind for _, _, types in ours for kind in json.loads(types)}
    assert {"float", "c10::BFloat16", "long int", "Scalar", "TensorList", "GenericList"} <= kinds


@pytest.mark.parametrize("sources", ["ops=names", "ops,heap=exact"])
def test_where_shapes_are_not_read(session, sources):
    """Either nobody asked for them, or the reading would be among the recorded allocations."""
    bundle, out = _recorded(session, PROGRAM, f"--trace={sources}")
    assert out == _bare(PROGRAM), "bit for bit"
    result = _rows(bundle)
    assert result["ops"] and not any(row.get("shapes") for row in result["ops"])


def test_a_window_has_so_many_operations_and_no_more(session):
    """The first ones of the capture. Each later window that the program lasts for is a small one."""
    code = ("import sys, torch\nx = torch.ones(2, 3)\nprint('ready', flush=True)\nsys.stdin.readline()\n"
            "for i in range(40_000): x.add(x)\nprint('done', flush=True)\nsys.stdin.readline()")
    bundle, _ = _recorded(session, [sys.executable, "-c", code])
    result = _rows(bundle)
    read = {row.get("shapes"): row["count"] for row in result["ops"] if row["name"] == "aten::add"}
    assert set(read) == {None, "[[2,3],[2,3],[]]"} and sum(read.values()) == 40_000
    later = read["[[2,3],[2,3],[]]"] - FIRST_WINDOW
    assert later >= 0
    told = f"shapes of {read['[[2,3],[2,3],[]]']} of 40000 calls"
    assert any(told in note for note in result["meta"]["notes"]), result["meta"]


def test_odd_tensors_are_not_harmed(session):
    """Sizes that are code of the program, that throw, or that nobody knows."""
    program = [sys.executable, str(HERE / "odd_tensors_program.py")]
    bundle, out = _recorded(session, program)
    assert out == _bare(program)
    read = {row["name"] for row in _rows(bundle)["ops"] if row.get("shapes")}
    assert "aten::add" in read
    assert "shapes of inputs are missing of some operations" in gpuprof("stats", "health", bundle).out.decode()
