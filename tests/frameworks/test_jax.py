# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Real JAX on the CPU: its own marks are recorded, the program stays as it is, and its own profiler goes first."""

import json
import pathlib
import re
import signal
import subprocess

import pytest

from process_support import ROOT, clean_environment, gpuprof, run_bare, verify
from trace_file import read_bundle
from waiting import wait_until

JAX = ROOT / ".deps" / "tensorflow" / "bin" / "python"
PROGRAM = pathlib.Path(__file__).resolve().parent / "jax_program.py"
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1"}
EXECUTION = "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"
CALL = "PjitFunction(train_step)"
NOT_RECORDED = "JAX was not recorded"

pytestmark = pytest.mark.skipif(not JAX.exists(), reason="JAX is not installed: scripts/setup --only test")


def _command(kind, calls=0, *more):
    return [JAX, PROGRAM, kind, str(calls), *more]


def _names(trace):
    return [trace.strings[int(name)] for name in trace.ops["name"]]


def _spans(trace, wanted):
    """Begin and end of each op of this name, in ticks."""
    table = trace.ops
    return [(int(table["time"][i]) - int(table["duration"][i]), int(table["time"][i]))
            for i, name in enumerate(_names(trace)) if name == wanted]


def _gaps(trace):
    return [(row["begin"], row["end"]) for row in trace.range_rows() if (row["domain"], row["name"]) == ("gpuprof", NOT_RECORDED)]


def _outermost(spans):
    found = []
    for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or begin >= found[-1][1]:
            found.append((begin, end))
    return found


def _run_both(record, kind, calls=0, *more):
    """Records the program, whose output and status must be those of a bare run."""
    bare = run_bare(_command(kind, calls, *more), env=ENVIRONMENT)
    outcome = record(_command(kind, calls, *more), env=ENVIRONMENT)
    assert (outcome.status, outcome.out, outcome.own_err) == (bare.status, bare.out, bare.err), outcome.err.decode()
    return outcome


def test_results_are_the_same_bit_for_bit(record):
    """jit, grad, scan, and pmap on two devices."""
    outcome = _run_both(record, "kinds", 20)
    assert outcome.status == 0
    trace = outcome.trace()
    assert {CALL, EXECUTION} <= set(_names(trace))
    assert {0, 1} <= set(_values(trace, "device_ordinal")) or _gaps(trace)


def test_each_call_is_counted(record):
    """JAX makes two marks a call, one in the other. Where recording paused, calls may be missing."""
    calls = 200
    trace = _run_both(record, "train", calls).trace()
    found = _outermost(_spans(trace, CALL))
    gaps = [gap for gap in _gaps(trace) if gap[1] > found[0][0] and gap[0] < found[-1][1]]
    assert len(found) == calls or (gaps and 0 < len(found) < calls), (len(found), gaps)
    # Each call executes the program once.
    inside = [sum(begin <= start and stop <= end for start, stop in _spans(trace, EXECUTION)) for begin, end in found[1:-1]]
    assert set(inside) == {1}, inside
    assert trace.lost == 0, trace.losses
    assert any(framework.startswith("JAX 0.") for framework in trace.frameworks), trace.frameworks


def test_calls_are_steps(record):
    calls = 120
    outcome = _run_both(record, "train", calls)
    done = gpuprof("stats", "steps", "--json", outcome.bundle)
    steps = json.loads(done.out)
    (series,) = steps["series"]
    trace = outcome.trace()
    found = _outermost(_spans(trace, CALL))
    gaps = [gap for gap in _gaps(trace) if gap[1] > found[0][0] and gap[0] < found[-1][1]]
    # From call to call; nothing says where the last step ends.
    assert series["marker"] == "train_step", series
    assert len(found) - 1 - 2 * len(gaps) <= len(steps["steps"]) <= len(found), (series, len(found), gaps)


def test_marks_of_steps_keep_their_numbers(record):
    trace = _run_both(record, "steps", 8).trace()
    parts = _spans(trace, "part")
    numbers = _values(trace, "step_num")
    gaps = _gaps(trace)
    assert numbers == sorted(set(numbers)) and set(numbers) <= set(range(100, 108)), numbers
    assert len(parts) == len(numbers) and (len(numbers) == 8 or gaps), (numbers, gaps)


def _values(trace, name):
    done = gpuprof("dump", trace.path)
    assert done.status == 0, done.err.decode()
    return [int(number) for number in re.findall(rf'op_value name="{name}" text="" value=(-?\d+)', done.out.decode())]


def test_the_programs_own_profiler_goes_first(record, tmp_path):
    outcome = _run_both(record, "own", 0, tmp_path / "own")
    assert outcome.status == 0
    assert list((tmp_path / "own").rglob("*.xplane.pb")), "the program's own trace"
    trace = outcome.trace()
    # The program's call without options is one more.
    assert any("used JAX's profiler itself" in note for note in map(str, trace.notes)), trace.notes
    assert _gaps(trace)


def test_a_program_sees_nothing(record):
    outcome = _run_both(record, "look", 50)
    assert outcome.status == 0 and CALL in _names(outcome.trace())


@pytest.mark.parametrize("kind", ["import", "raise", "exit", "fork", "thread", "server"])
def test_ends_of_programs(record, kind):
    _run_both(record, kind, 7)


def test_a_killed_program(session):
    run = session(_command("kill", 100), env=ENVIRONMENT)
    assert run.line().startswith("0x")
    # A window is closed by a limit of time, at last.
    run.wait_for(lambda: run.state()["ops"] == "active")
    run.tell("go\n")
    outcome = run.finish()
    assert outcome.status in (-signal.SIGKILL, 128 + signal.SIGKILL)
    assert gpuprof("recover", outcome.bundle).status == 0
    verify(outcome.bundle)


def test_captures_while_the_program_runs(session):
    run = session(_command("talk"), "--capture=off", env=ENVIRONMENT)
    run.tell("train 3\n")
    losses = {run.line()}
    for capture in (1, 2):
        assert run.ctl("start").status == 0
        run.wait_for(lambda: run.state()["ops"] == "active")
        run.tell("train 3\n")
        losses.add(run.line())
        assert run.ctl("stop").status == 0
        run.tell("train 3\n")  # nobody records this
        losses.add(run.line())
    run.tell("end\n")
    outcome = run.finish()
    assert outcome.status == 0 and len(losses) == 1, losses
    verify(outcome.bundle)
    trace = outcome.trace()
    for capture in (1, 2):
        mine = trace.ops["capture"] == capture
        names = [trace.strings[int(name)] for name in trace.ops["name"][mine]]
        assert names.count(CALL) == 6, (capture, sorted(set(names)))


def test_a_process_that_was_attached_to(tmp_path):
    """JAX is there already, and its programs are compiled."""
    with subprocess.Popen([str(word) for word in _command("talk")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment(ENVIRONMENT),
                          bufsize=0) as process:
        try:
            process.stdin.write(b"train 3\n")
            loss = process.stdout.readline()
            bundle = tmp_path / "attached"
            done = gpuprof("attach", process.pid, "-o", bundle)
            assert done.status == 0, done.err.decode()
            wait_until(lambda: json.loads(gpuprof("ctl", "status", "--json", process.pid).out)["processes"][0]["ops"] == "active", "JAX's first window")
            process.stdin.write(b"train 3\n")
            assert process.stdout.readline() == loss
            assert gpuprof("detach", process.pid).status == 0
            process.stdin.write(b"train 3\nend\n")
            assert process.stdout.readline() == loss
            assert process.wait() == 0
        finally:
            process.kill()
    verify(bundle)
    (trace,) = read_bundle(bundle)
    assert _names(trace).count(CALL) == 6


def test_without_jax_no_python_is_run(record):
    """Python's own audit of what is run has the program's code alone."""
    program = "import sys; seen = []; sys.addaudithook(lambda name, a: seen.append(name)); import json; print(sorted(set(seen)))"
    bare = run_bare([JAX, "-c", program], env=ENVIRONMENT)
    outcome = record([JAX, "-c", program], env=ENVIRONMENT)
    assert (outcome.status, outcome.out) == (bare.status, bare.out)
    assert "gpuprof-python" not in str(outcome.trace().threads)


def test_programs_that_were_compiled_are_kept(record):
    outcome = _run_both(record, "train", 5)
    done = gpuprof("info", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    modules = [module["name"] for process in json.loads(done.out)["processes"] for module in process["hlo_modules"]]
    assert len([name for name in modules if name.startswith("jit_train_step(")]) == 1, modules
    # Weights of 64 x 8 and a batch of 16 x 64 floats come in. Weights and a loss come out.
    memory = json.loads(gpuprof("stats", "memory_viewer", "--program", "jit_train_step", "--json", outcome.bundle).out)
    (space,) = memory["spaces"]
    assert space["parameter_bytes"] == 64 * 8 * 4 + 16 * 64 * 4 and space["output_bytes"] >= 64 * 8 * 4 + 4
    assert space["peak_bytes"] == sum(row["peak_bytes"] for row in memory["buffers"])
    weights = next(row["name"] for row in memory["buffers"] if row.get("parameter_number") == 0)
    graph = json.loads(gpuprof("stats", "graph_viewer", "--program", "jit_train_step", "--op", weights, "--json", outcome.bundle).out)
    assert {edge["from"] for edge in graph["edges"]} >= {weights}
    assert any("jax_program.py:" in node["source"] for node in graph["nodes"]), graph["nodes"]
