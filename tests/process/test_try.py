# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof try`: runs with a change of the environment, interleaved with the unchanged program. What it says is what the runs took."""

import json
import os
import re
import sys

import pytest

from conftest import ROOT, gpuprof

# Takes as long as its environment says, and writes down each run.
PROGRAM = """
import os, sys, time
with open(sys.argv[1], "a") as log:
    log.write(os.environ.get("LENGTH", "none") + "\\n")
if os.environ.get("LENGTH") == sys.argv[2]:
    print("out of", "luck", flush=True)
    sys.exit(3)
time.sleep(float(os.environ.get("LENGTH", "0.4")))
"""


def kineto(path, environment=(), calls=("cudaLaunchKernel",)):
    """A training of PyTorch: each step has these calls, of 300 us, and a kernel behind."""
    events, at, correlation = [], 0, 0
    for step in range(6):
        begin = at
        for call in calls * 4:
            correlation += 1
            events.append({"ph": "X", "cat": "cuda_runtime", "name": call, "pid": 5, "tid": 5, "ts": at, "dur": 300,
                           "args": {"correlation": correlation}})
            at += 300
            if call == "cudaLaunchKernel":
                events.append({"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": at, "dur": 100,
                               "args": {"correlation": correlation, "device": 0, "stream": 7, "context": 1}})
        events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": begin, "dur": at - begin})
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 5, "tid": 5, "ts": begin, "dur": at - begin})
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": events}))
    return path


@pytest.fixture
def slow(tmp_path):
    """A trace with a finding that a variable may remedy."""
    return kineto(tmp_path / "slow.json", calls=("cudaMalloc", "cudaLaunchKernel"))


@pytest.fixture
def command(tmp_path):
    log = tmp_path / "runs"
    return [sys.executable, "-c", PROGRAM, log, "bad"], log


def test_a_finding_leads_to_a_variable(slow):
    done = gpuprof("try", slow, "--list", "--json")
    assert done.status == 0, done.err.decode()
    plan = json.loads(done.out)
    changes = {trial["id"]: trial["remedy"]["variables"] for trial in plan["trials"]}
    assert changes["SY-002"] == [{"name": "PYTORCH_CUDA_ALLOC_CONF", "value": "expandable_segments:True"}]
    assert all(trial["predicted"]["high_ratio"] > 0 for trial in plan["trials"] if trial["id"] == "SY-002")
    advice = json.loads(gpuprof("advise", "--json", "--all", slow).out)
    told = {finding["id"] for finding in advice["findings"]}
    assert told == {each["id"] for each in plan["trials"] + plan["not_tried"]}, "nothing is left out unsaid"


@pytest.mark.parametrize("value,reason", [("expandable_segments:True", "is set so already"), ("backend:native", "is set here")])
def test_what_is_set_already_is_not_tried(slow, value, reason):
    environment = {"PYTORCH_CUDA_ALLOC_CONF": value}
    plan = json.loads(gpuprof("try", slow, "--list", "--json", env=environment).out)
    assert "SY-002" not in {trial["id"] for trial in plan["trials"]}
    reasons = {each["id"]: each["reason"] for each in plan["not_tried"]}
    assert reasons["SY-002"].startswith(f"PYTORCH_CUDA_ALLOC_CONF {reason}")


def test_a_change_is_measured_between_runs_without_it(slow, command):
    words, log = command
    done = gpuprof("try", slow, "--only=none", "--set=LENGTH=0.1", "--rounds=3", "--json", "--", *words)
    assert done.status == 0, done.err.decode()
    result = json.loads(done.out)
    (trial,) = result["trials"]
    assert len(result["unchanged"]) == len(trial["runs"]) == 3
    assert sorted(log.read_text().split()) == ["0.1"] * 3 + ["none"] * 3
    order = log.read_text().split()
    assert all(set(order[i:i + 2]) == {"none", "0.1"} for i in (0, 2, 4)), order
    change = trial["change"]
    assert change["is_of_run"] and change["low_ratio"] <= change["mean_ratio"] <= change["high_ratio"]
    ratios = [1 - after["wall_ns"] / before["wall_ns"] for before, after in zip(result["unchanged"], trial["runs"])]
    assert change["mean_ratio"] == pytest.approx(sum(ratios) / 3) and change["mean_ratio"] > 0.1
    assert "id" not in trial or trial["id"] == ""


def test_values_may_hold_commas(slow):
    """A comma ends a value only where another variable follows."""
    done = gpuprof("try", slow, "--list", "--only=none", "--json", "--set=A=max:128,grow:True,B_2=x=y,z,C=")
    (trial,) = json.loads(done.out)["trials"]
    assert trial["remedy"]["variables"] == [
        {"name": "A", "value": "max:128,grow:True"}, {"name": "B_2", "value": "x=y,z"}, {"name": "C", "value": ""}]


def test_a_plan_speaks_of_no_run(slow):
    text = gpuprof("try", slow, "--list").out.decode()
    assert "Changes to try" in text and "expandable_segments:True" in text
    assert "Unchanged" not in text and "measured" not in text


def test_the_page_names_every_variable():
    names = set(re.findall(r'"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"', (ROOT / "analysis/advice/rules/remedies.cc").read_text()))
    assert len(names) > 8
    page = (ROOT / "docs/advice.md").read_text()
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_a_variable_is_removed_and_comes_back(slow, command):
    words, log = command
    done = gpuprof("try", slow, "--only=none", "--set=LENGTH=", "--rounds=2", "--json", "--", *words, env={"LENGTH": "0.01"})
    assert done.status == 0, done.err.decode()
    assert sorted(log.read_text().split()) == ["0.01"] * 2 + ["none"] * 2
    (trial,) = json.loads(done.out)["trials"]
    assert trial["remedy"]["variables"] == [{"name": "LENGTH", "value": ""}] and trial["change"]["mean_ratio"] < 0


def test_processors_are_those_that_were_asked_for(slow, tmp_path):
    """In the changed runs alone."""
    log = tmp_path / "log"
    program = "import os, sys; open(sys.argv[1], 'a').write(f'{sorted(os.sched_getaffinity(0))}\\n')"
    own = sorted(os.sched_getaffinity(0))
    done = gpuprof("try", slow, "--only=none", f"--processors={own[0]}", "--rounds=2", "--", sys.executable, "-c", program, log)
    assert done.status == 0, done.err.decode()
    assert sorted(log.read_text().splitlines()) == sorted([str(own)] * 2 + [str(own[:1])] * 2)
    assert f"on processors {own[0]}".encode() in done.out
    for wrong, message in ((f"{max(own) + 1}", b"may not use"), ("x", b"not a list of processors"), ("3-1", b"not a list of processors")):
        refused = gpuprof("try", slow, f"--processors={wrong}", "--", "true")
        assert refused.status == 2 and message in refused.err, refused.err


def test_a_run_that_fails_ends_all(slow, command):
    words, log = command
    done = gpuprof("try", slow, "--only=none", "--set=LENGTH=bad", "--", *words)
    assert done.status == 1
    assert log.read_text().split() == ["none", "bad"]
    message = done.err.decode()
    assert "the run with LENGTH=bad failed: it ended with status 3" in message and "out of luck" in message
    assert b"not measured" in done.out and b"Stopped:" in done.out


def test_recordings_are_kept_where_the_user_wants_them(slow, command, tmp_path):
    words, _ = command
    kept = tmp_path / "kept"
    done = gpuprof("try", slow, "--only=none", "--set=LENGTH=0.01", "--rounds=2", "-o", kept, "--", *words)
    assert done.status == 0, done.err.decode()
    assert sorted(path.name for path in kept.iterdir()) == ["round1-change1", "round1-unchanged", "round2-change1", "round2-unchanged"]
    for folder in kept.iterdir():
        assert gpuprof("verify", folder).status == 0
    again = gpuprof("try", slow, "--only=none", "--set=LENGTH=0.01", "-o", kept, "--", *words)
    assert again.status == 125 and b"name a new folder" in again.err


@pytest.mark.parametrize("words,status,message", [
    (["--rounds=1", "--", "true"], 2, b"an interval needs at least 2"),
    ([], 2, b"a command is missing"),
    (["--set=LENGTH", "--", "true"], 2, b"is not NAME=VALUE"),
    (["--set==1", "--", "true"], 2, b"is not NAME=VALUE"),
    (["--json", "--csv", "--", "true"], 2, b"exclude each other"),
    (["--", "no-such-program"], 127, b"was not found"),
])
def test_wrong_words_are_told(slow, words, status, message):
    done = gpuprof("try", slow, *words)
    assert done.status == status and message in done.err, done.err


def test_a_missing_recording(tmp_path):
    assert gpuprof("try", tmp_path / "none", "--", "true").status == 3
