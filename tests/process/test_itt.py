# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Intel's ITT, from a program that was built with Intel's own part of it: what is recorded is what the program did."""

import collections
import json
import pathlib
import sys

import pytest

from conftest import gpuprof, run_bare, verify
from trace_file import FLAG_INCOMPLETE, read_bundle

PROGRAM = [sys.executable, str(pathlib.Path(__file__).with_name("itt_program.py"))]
EXACT = ("--clock=monotonic", "--trace=itt,threads")
QUANTUM_NS = 64
UNPAIRED_SPAN = 9


def facts(row):
    return tuple(row[key] for key in ("tid", "kind", "domain", "name", "depth"))


def truth_of(outcome):
    return [json.loads(line) for line in outcome.out.decode().splitlines() if line.startswith("{")]


def ranges_of(trace):
    return [row for row in trace.range_rows() if not row["kind"].startswith("name_")]


def compare(rows, true):
    assert collections.Counter(map(facts, rows)) == collections.Counter(map(facts, true))
    left = list(true)
    for row in sorted(rows, key=lambda row: row["end"]):
        match = next((t for t in left if facts(t) == facts(row) and t["begin"][0] - QUANTUM_NS <= row["begin"] <= t["begin"][1]
                      and t["end"][0] - QUANTUM_NS <= row["end"] <= t["end"][1]), None)
        assert match is not None, row
        left.remove(match)


def test_everything_that_the_program_did(record):
    outcome = record([*PROGRAM, "mix"], *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    trace, true = outcome.trace(), truth_of(outcome)
    assert len(true) == 20 and trace.lost == 0, trace.losses
    compare(ranges_of(trace), true)
    names = [row for row in trace.range_rows() if row["kind"] == "name_thread"]
    assert [row["name"] for row in names] == ["the first thread"]


def test_the_pass_ranges_shows_them(record):
    outcome = record([*PROGRAM, "mix"], *EXACT)
    done = gpuprof("stats", "ranges", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    counts = collections.Counter((row["name"], row["domain"], row["kind"]) for row in truth_of(outcome))
    assert {(r["name"], r["domain"], r["kind"]): int(r["count"]) for r in json.loads(done.out)["ranges"]} == counts


def test_a_capture_of_steps_has_those_that_stats_shows(record):
    outcome = record([*PROGRAM, "steps"], "--capture=steps:3-4", *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    trace = outcome.trace()
    assert collections.Counter(map(facts, ranges_of(trace))) == collections.Counter(map(facts, truth_of(outcome)[4:8]))
    told = json.loads(gpuprof("stats", "steps", "--json", outcome.bundle).out)
    assert [int(step["number"]) for step in told["steps"]] == [3, 4]
    (series,) = told["series"]
    assert (series["method"], series["marker"]) == ("ranges", "library:step")


def test_what_begins_again_goes_on(record):
    outcome = record([*PROGRAM, "again"], *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    trace = outcome.trace()
    assert [(row["kind"], row["name"], bool(row["flags"] & FLAG_INCOMPLETE)) for row in ranges_of(trace)] == [
        ("start_end", "an event", False), ("start_end", "overlapped", False), ("start_end", "without an end", True)]
    assert trace.lost == 0, trace.losses


def test_a_capture_that_begins_later(session):
    run = session([*PROGRAM, "late"], "--capture=off", *EXACT)
    assert run.line() == "ready"
    assert run.ctl("start").status == 0
    run.tell("\n")
    while (line := run.line()) != "done":
        assert json.loads(line)["name"] == "made before"
    assert run.ctl("stop").status == 0
    run.tell("\n")
    outcome = run.finish()
    verify(outcome.bundle)
    trace = outcome.trace()
    assert [(r["domain"], r["name"], r["depth"]) for r in ranges_of(trace)] == [("library", "made before", 0)]
    assert trace.losses == {UNPAIRED_SPAN: 1}


def test_threads_at_once_lose_nothing(record):
    rounds = 2000
    trace = record([*PROGRAM, "storm", rounds], "--trace=itt").trace()
    rows = ranges_of(trace)
    assert len(rows) + trace.lost == 2 * 4 * rounds
    if trace.lost == 0:
        assert collections.Counter(row["name"] for row in rows) == {"inside": 4 * rounds, **{f"name {i}": 4 * rounds // 50 for i in range(50)}}
        assert collections.Counter(row["domain"] for row in rows) == {"domain 0": 4 * rounds, "domain 1": 4 * rounds}


@pytest.mark.parametrize("options", [("--capture=off",), ("--trace=threads",), ("--trace=itt",), ("--trace=heap=exact,locks,nvtx",)])
def test_the_program_is_unharmed(record, options):
    bare = run_bare([*PROGRAM, "mix"])
    outcome = record([*PROGRAM, "mix"], *options, check=False)
    assert outcome.status == bare.status == 0 and outcome.own_err == bare.err
    essence = lambda done: [(row["kind"], row["domain"], row["name"]) for row in truth_of(done)]
    assert essence(outcome) == essence(bare)
    if "--trace=itt" not in options:
        assert sum(len(trace.ranges["time"]) for trace in read_bundle(outcome.bundle)) == 0


def test_a_collector_that_was_chosen_stays(record):
    show = [sys.executable, "-c", "import os; print(os.environ['INTEL_LIBITTNOTIFY64'])"]
    outcome = record(show, "--trace=itt", env={"INTEL_LIBITTNOTIFY64": "/opt/vtune/libittnotify_collector.so"}, check=False)
    assert outcome.status == 0 and outcome.out == b"/opt/vtune/libittnotify_collector.so\n"


def test_pytorch_marks_its_ops(record):
    """torch.autograd.profiler.emit_itt: each op is a task."""
    program = ("import torch\nx = torch.ones(8, 8)\n"
               "with torch.autograd.profiler.emit_itt():\n    for _ in range(5): x = torch.mm(x, x)\n")
    outcome = record([sys.executable, "-c", program], "--trace=itt")
    assert outcome.status == 0, outcome.err.decode()
    rows = ranges_of(outcome.trace())
    assert sum(row["name"].startswith("aten::mm") for row in rows) == 5, collections.Counter(row["name"] for row in rows)
