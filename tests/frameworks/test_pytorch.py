# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Real PyTorch: workers of every kind are followed, results stay bit-identical, and ops and tensors are counted as PyTorch counts them."""

import collections
import functools
import json
import os
import pathlib
import sys

import pytest

from process_support import ROOT, gpuprof, run_bare, short_and_long, verify
from trace_file import FORK, SPAWN

torch = pytest.importorskip("torch")
HERE = pathlib.Path(__file__).resolve().parent
BACKWARD = 1  # proto::OpScope
TRAIN = [sys.executable, str(ROOT / "examples" / "pytorch_train" / "train.py")]
PYTHON = {"PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.parametrize("method", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.long)])
def test_loader_workers_are_followed(record, method):
    command = [sys.executable, str(HERE / "loader_program.py"), method]
    bare = run_bare(command, env=PYTHON)
    outcome = record(command, env=PYTHON)
    assert (outcome.status, outcome.out) == (bare.status, bare.out) == (0, bare.out)
    # Python's tracker of semaphores loses count now and then, bare as well (one run of six that were tried), and says so.
    said = [line for line in outcome.own_err.decode().splitlines() if "resource_tracker.py:" not in line and "warnings.warn('resource_tracker: " not in line]
    assert len(said) == 1, outcome.own_err
    workers = {int(pid) for pid in said[0].split()}
    assert len(workers) == 2
    traces = {t.pid: t for t in outcome.traces()}
    assert workers <= set(traces), "each worker has a trace"
    roots = [t for t in traces.values() if t.ppid not in traces]
    assert len(roots) == 1
    root = roots[0]
    for worker in workers:
        # Up to the root every parent tells of its child.
        pid = worker
        while pid != root.pid:
            parent = traces[traces[pid].ppid]
            children = {a for event in (FORK, SPAWN) for a, _, _ in parent.process_event(event)}
            # A child of spawn and forkserver is made by a raw fork_exec of Python, which libc's hooks do not all see.
            assert pid in children or method != "fork", f"{parent.pid} does not tell of {pid}"
            pid = parent.pid
        assert traces[worker].records > 0
    assert all(t.lost == 0 for t in traces.values()), {t.pid: t.losses for t in traces.values()}


@short_and_long("options", ((),), (("--trace=heap=exact,locks,threads,ops,tensors",),))
def test_example_learns_the_same_bit_for_bit(record, tmp_path, options):
    command = [*TRAIN, "--epochs", "1", "--steps", "6", "--data", str(tmp_path / "images")]
    bare = run_bare(command, env=PYTHON)
    assert bare.status == 0 and bare.out, bare.err.decode()
    recorded = record(command, *options, env=PYTHON)
    assert (recorded.status, recorded.out) == (0, bare.out)
    assert len(recorded.traces()) >= 3, "the training and its two workers"


@pytest.fixture(scope="module")
def profiled():
    """How often torch.profiler sees each op in one section."""
    done = run_bare([sys.executable, str(HERE / "ops_program.py"), "profile"], env=PYTHON)
    assert done.status == 0, done.err.decode()
    counts = json.loads(done.out)
    return {name: count for name, count in counts.items() if not name.startswith("[")}


def _op_counts(trace, capture):
    mine = trace.ops["capture"] == capture
    return dict(collections.Counter(trace.strings[int(name)] for name in trace.ops["name"][mine]))


def test_op_counts_equal_those_of_torch_profiler(session, profiled):
    """The capture starts late, by the control socket, and again: each holds one section's ops exactly."""
    run = session([sys.executable, str(HERE / "ops_program.py"), "sections"], "--capture=off", env=PYTHON)
    assert run.line() == "ready"
    losses = []
    for _ in range(4):
        assert run.ctl("start").status == 0
        run.wait_for(lambda: run.state()["ops"] == "active")
        run.tell("go\n")
        losses.append(run.line())
        assert run.ctl("stop").status == 0
        run.tell("go\n")  # one section that nobody records
        losses.append(run.line())
    outcome = run.finish()
    assert outcome.status == 0 and len(losses) == 8
    verify(outcome.bundle)
    trace = outcome.trace()
    assert trace.lost == 0 and any("torch" in framework for framework in trace.frameworks)
    for capture in range(1, 5):
        counts = _op_counts(trace, capture)
        assert counts == profiled, {n: (counts.get(n), profiled.get(n)) for n in {*counts, *profiled}
                                    if counts.get(n) != profiled.get(n)}


@functools.cache
def _bare_steps_program(*arguments):
    return run_bare([sys.executable, str(HERE / "steps_program.py"), *arguments], env=PYTHON)


def _steps_program(record, capture, *arguments):
    command = [sys.executable, str(HERE / "steps_program.py"), *arguments]
    # No other word changes what is printed.
    bare = _bare_steps_program(*(word for word in arguments if word.isdigit()))
    outcome = record(command, f"--capture={capture}", env=PYTHON)
    assert (outcome.status, outcome.out) == (0, bare.out), outcome.err.decode()
    return outcome


def _names(trace):
    return collections.Counter(trace.strings[int(name)] for name in trace.ops["name"])


@pytest.mark.parametrize("capture", ["steps:10-15", "steps:10-15@Optimizer.step#SGD.step"])
def test_a_capture_of_some_steps_has_those_and_no_other(record, capture):
    """From one optimizer step's end to another's, to the range."""
    outcome = _steps_program(record, capture, "30")
    (trace,) = outcome.traces()
    assert trace.lost == 0, trace.losses
    names = _names(trace)
    assert names["Optimizer.step#SGD.step"] == 6
    steps = json.loads(gpuprof("stats", "steps", "--json", outcome.bundle).out)
    (row,) = steps["series"]
    assert (row["count"] + row["warmup_count"], row["partial_count"]) == (6, 0), "the first began with the capture"
    assert [step["number"] for step in steps["steps"]] == list(range(10, 16)), "as --capture counts them"
    assert sorted(name for name in names if name.startswith("forward")) == [f"forward {n}" for n in range(10, 16)]
    verify(outcome.bundle)


@pytest.mark.parametrize("options", [(), ("--trace=ops",)])
def test_a_capture_at_ranges_of_record_function_has_those(record, options):
    """The capture begins within the first range, which PyTorch does not report any more."""
    command = [sys.executable, str(HERE / "steps_program.py"), "30"]
    outcome = record(command, "--capture=steps:10-15@forward", *options, env=PYTHON)
    assert outcome.status == 0, outcome.err.decode()
    (trace,) = outcome.traces()
    assert _names(trace)["aten::linear"] == 6 and _names(trace)["Optimizer.step#SGD.step"] == 5
    told = json.loads(gpuprof("stats", "steps", "--json", outcome.bundle).out)
    assert [step["number"] for step in told["steps"]] == list(range(10, 16))
    (row,) = told["series"]
    assert (row["method"], row["marker"], row["partial_count"]) == ("ranges", "forward", 0)
    assert all(step["forward_ns"] > 0 and step["optimizer_ns"] == 0 for step in told["steps"])
    ranges = json.loads(gpuprof("stats", "ranges", "--json", outcome.bundle).out)["ranges"]
    assert {r["name"] for r in ranges if r["domain"] == "PyTorch"} >= {f"forward {n}" for n in range(10, 16)}
    verify(outcome.bundle)


def test_the_first_step_begins_with_its_first_batch_or_optimizer(record):
    """Workers that load PyTorch too have no steps, and leave no trace."""
    outcome = _steps_program(record, "steps:1-3", "30", "loader", "workers")
    (trace,) = outcome.traces()
    names = _names(trace)
    assert sorted(name for name in names if name.startswith("forward")) == ["forward 1", "forward 2", "forward 3"]
    assert names["Optimizer.step#SGD.step"] == 3


def test_workers_that_were_forked_are_in_the_capture(record):
    """They are there before it, and make batches in it."""
    outcome = _steps_program(record, "steps:40-80", "120", "loader", "forked")
    traces = outcome.traces()
    assert len(traces) == 3, [trace.program for trace in traces]
    parent = next(trace for trace in traces if trace.ppid not in {t.pid for t in traces})
    assert _names(parent)["Optimizer.step#SGD.step"] == 41
    info = json.loads(gpuprof("info", "--json", outcome.bundle).out)
    captures = {process["pid"]: process["captures"] for process in info["processes"]}
    for worker in traces:
        if worker is not parent:
            (capture,) = captures[worker.pid]
            assert (capture["start_trigger"], capture["stop_trigger"]) == ("parent", "parent")
            assert _names(worker)["aten::stack"] > 0, "what makes a batch of samples"
    verify(outcome.bundle)


def test_a_budget_takes_windows_of_whole_optimizer_steps(record):
    steps = 12_000
    outcome = record([sys.executable, str(HERE / "steps_program.py"), str(steps)], "--budget=20%", env=PYTHON)
    assert (outcome.status, outcome.out) == (0, _bare_steps_program(str(steps)).out), outcome.err.decode()
    (trace,) = outcome.traces()
    (told,) = json.loads(gpuprof("stats", "health", "--json", outcome.bundle).out)["processes"]
    budget = told["budget"]
    assert budget["name"] == "optimizer steps" and budget["limit_ratio"] == pytest.approx(0.2)
    assert 0.9 * steps < budget["step_count"] <= steps, "the observer comes a moment after the library"
    assert 0 < budget["recorded_step_count"] < budget["step_count"]
    forwards = [name for name in _names(trace).elements() if name.startswith("forward ")]
    # On a busy machine a window that is cut can end within a step, and rings can be full: what they lost is told.
    recorded, cut = budget["recorded_step_count"], budget["cut_window_count"]
    assert recorded - trace.lost <= len(forwards) == len(set(forwards)) <= recorded + cut, trace.losses
    assert recorded - trace.lost <= _names(trace)["Optimizer.step#SGD.step"] <= recorded + cut, trace.losses


def test_one_step_is_a_step(record):
    outcome = _steps_program(record, "steps:4", "30")
    steps = json.loads(gpuprof("stats", "steps", "--json", outcome.bundle).out)
    assert [row["count"] + row["warmup_count"] for row in steps["series"]] == [1], steps["meta"]


def test_an_optimizer_within_another_makes_no_step(record):
    (trace,) = _steps_program(record, "steps:3-4", "30", "wrapped").traces()
    names = _names(trace)
    assert sorted(name for name in names if name.startswith("forward")) == ["forward 3", "forward 4"]
    assert names["Optimizer.step#Around.step"] == names["Optimizer.step#SGD.step"] == 2


def test_steps_that_ask_a_loader_are_whole(record):
    outcome = _steps_program(record, "steps:5-8", "30", "loader")
    steps = json.loads(gpuprof("stats", "steps", "--json", outcome.bundle).out)
    (row,) = steps["series"]
    assert (row["count"] + row["warmup_count"], row["partial_count"]) == (4, 0), row


def test_steps_that_the_program_does_not_reach_are_told(record):
    outcome = _steps_program(record, "steps:50-60", "30")
    assert outcome.traces() == []
    assert b"--capture names steps 50 to 60, and the last step here was 30" in outcome.err


def test_same_results_while_ops_are_observed(session):
    def losses(*options):
        run = session([sys.executable, str(HERE / "ops_program.py"), "sections"], *options, env=PYTHON)
        assert run.line() == "ready"
        told = []
        for _ in range(3):
            run.tell("go\n")
            told.append(run.line())
        assert run.finish().status == 0
        return told

    assert losses("--capture=off") == losses("--capture=now") == losses("--capture=now", "--trace=heap=exact,locks,threads,ops,tensors")


def test_tensors_are_matched(session):
    run = session([sys.executable, str(HERE / "ops_program.py"), "sections"], env=PYTHON)
    assert run.line() == "ready"
    for _ in range(2):
        run.tell("go\n")
        run.line()
    outcome = run.finish()
    assert b"CPUAllocator" not in outcome.err
    trace = outcome.trace()
    sizes = collections.Counter(trace.tensors["bytes"].tolist())
    for size in (111111, 222222):
        # PyTorch rounds nothing on the CPU: each tensor's bytes are its own.
        # The section at the start and two more, five of each in one.
        assert sizes[size] == sizes[-size] == 15
    live = collections.Counter()
    for address, size in zip(trace.tensors["address"].tolist(), trace.tensors["bytes"].tolist()):
        live[address] += size
        assert live[address] >= 0 or size == -live[address], "returned before it was handed out"


def test_cpu_tensors_of_captures_that_begin_late(session):
    """PyTorch's table lacks the blocks from before then, about which it would warn: no capture needs it."""
    run = session([sys.executable, str(HERE / "ops_program.py"), "sections"], "--capture=off", env=PYTHON)
    assert run.line() == "ready"
    for _ in range(2):
        assert run.ctl("start").status == 0
        run.wait_for(lambda: run.state()["ops"] == "active")
        run.tell("go\n")
        run.line()
        assert run.ctl("stop").status == 0
        run.tell("go\n")  # nobody records this one
        run.line()
    outcome = run.finish()
    assert outcome.status == 0
    assert b"CPUAllocator" not in outcome.err and b"before the profiling started" not in outcome.err, outcome.err.decode()
    verify(outcome.bundle)
    trace = outcome.trace()
    rows = trace.tensors
    assert set(rows["device"].tolist()) == {0xff}
    peak = 0
    for capture in (1, 2):
        mine = rows["capture"] == capture
        live, handed_out, returned = {}, collections.Counter(), collections.Counter()
        for address, size in zip(rows["address"][mine].tolist(), rows["bytes"][mine].tolist()):
            if size >= 0:
                assert address not in live, "handed out twice"
                live[address] = size
                handed_out[size] += 1
                peak = max(peak, sum(live.values()))
            else:
                returned[live.pop(address, None)] += 1
        for size in (111111, 222222):
            assert handed_out[size] == returned[size] == 5, f"capture {capture}"

    done = gpuprof("stats", "heap", "--json", outcome.bundle)
    heap = json.loads(done.out)
    assert not any("tensors on the CPU are not recorded" in note for note in heap["meta"].get("notes", []))
    (device,) = heap["tensors"]
    assert (device["name"], device["peak_bytes"]) == ("cpu", peak)
    assert device.get("implied_free_count", 0) == 0
    assert device.get("end_bytes", 0) == sum(live.values()), "of the second capture alone"
    (row,) = json.loads(gpuprof("stats", "memory_profile", "--json", outcome.bundle).out)["devices"]
    assert (row["name"], row["recorded_peak_bytes"], row["end_bytes"]) == ("cpu", peak, sum(live.values()))


def test_torch_profiler_still_works_inside(record, profiled):
    """A second observer in the process is a normal state."""
    outcome = record([sys.executable, str(HERE / "ops_program.py"), "profile"], env=PYTHON)
    assert outcome.status == 0
    counts = json.loads(outcome.out)
    assert {name: count for name, count in counts.items() if not name.startswith("[")} == profiled


def test_numbers_of_autograd_are_those_of_torch_profiler(record, tmp_path):
    """torch.profiler runs at the same time. The arrows of the export are its arrows, too."""
    file = tmp_path / "torch.json"
    outcome = record([sys.executable, str(HERE / "backward_program.py"), str(file)], env=PYTHON)
    assert outcome.status == 0, outcome.err.decode()
    events = json.loads(file.read_text())["traceEvents"]
    # torch.profiler writes the number of each node to the operation around it, too.
    engine = "autograd::engine::evaluate_function"
    theirs = collections.Counter((e["name"], e["args"]["Sequence number"], e["args"]["Fwd thread id"] != 0)
                                 for e in events if e.get("cat") == "cpu_op" and e["args"].get("Sequence number", -1) >= 0
                                 and not e["name"].startswith(engine))
    assert len(theirs) > 50
    trace = outcome.trace()
    least, most = (pick(number for _, number, _ in theirs) for pick in (min, max))
    ours = collections.Counter()
    for name, sequence, operation in zip(trace.ops["name"], trace.ops["sequence"], trace.ops["operation"], strict=True):
        if least <= int(sequence) - 1 <= most:
            ours[trace.strings[int(name)], int(sequence) - 1, int(operation) & 0xff == BACKWARD] += 1
    # Those of the numbers at the edges are in the steps before and behind, too.
    edges = {entry for entry in ours if entry[1] in (least, most)}
    assert {e: n for e, n in ours.items() if e not in edges} == {e: n for e, n in theirs.items() if e not in edges}
    export = tmp_path / "ours.json"
    assert gpuprof("export", outcome.bundle, "-f", "chrome", "-o", export).status == 0
    begun = [e for e in json.loads(export.read_text())["traceEvents"] if e.get("cat") == "fwdbwd" and e["ph"] == "s"]
    assert len(begun) >= len([e for e in events if e.get("cat") == "fwdbwd" and e["ph"] == "s"]) > 0


def test_reports_of_other_libraries_reach_the_frameworks_profiler(record):
    """Also while nothing has been recorded yet: libc10_cuda reports from outside of the library that has the function."""
    outcome = record([sys.executable, str(HERE / "report_program.py")], "--capture=off", env=PYTHON)
    assert (outcome.status, outcome.out) == (0, b"1 1\n"), outcome.err.decode()


def test_interrupted_training_leaves_its_trace(session):
    code = "import torch\nprint('ready', flush=True)\nwhile True: torch.mm(torch.ones(64, 64), torch.ones(64, 64))"
    run = session([sys.executable, "-c", code])
    assert run.line() == "ready"
    run.wait_for(lambda: run.state()["ops"] == "active")
    os.kill(run.pid, 2)
    outcome = run.finish()
    assert outcome.status == -2
    verify(outcome.bundle)
    counts = collections.Counter(t for t in outcome.trace().strings.values())
    assert "aten::mm" in counts
