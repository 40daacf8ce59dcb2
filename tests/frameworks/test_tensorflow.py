# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Real TensorFlow, with no change of the program: steps, operations and tf.data, beside the framework's own profiler."""

import collections
import functools
import json
import pathlib
import statistics
import subprocess

import pytest

import xspace_files as xs
from process_support import ROOT, clean_environment, gpuprof, run_bare
from waiting import LIMIT_S, wait_until

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = ROOT / ".deps" / "tensorflow" / "bin" / "python"
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1"}
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="TensorFlow is not installed: scripts/setup --only test")


def _command(*words):
    return [PYTHON, HERE / "tensorflow_program.py", *words]


@functools.cache
def _bare(*words):
    done = run_bare(_command(*words), env=ENVIRONMENT)
    assert done.status == 0, done.err.decode()
    return done.out


def _stats(bundle, name, *options):
    done = gpuprof("stats", name, "--json", *options, bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def _counts(bundle):
    return {row["name"]: row["count"] for row in _stats(bundle, "ops", "--limit", "0")["ops"]}


def _all_steps(series):
    return series["count"] + series["warmup_count"]


def _recorded(record, *words, options=()):
    """The outcome of a recorded run, whose output is that of a bare one."""
    bare = _bare(*words)
    outcome = record(_command(*words), *options, env=ENVIRONMENT)
    assert (outcome.status, outcome.out) == (0, bare), outcome.err.decode()
    return outcome


def test_keras_fit_has_its_steps(record):
    steps = 400
    outcome = _recorded(record, "fit", str(steps))
    trace = outcome.trace()
    assert trace.lost == 0, trace.losses
    assert "TensorFlow 2.21" in trace.frameworks
    (series,) = _stats(outcome.bundle, "steps")["series"]
    assert _all_steps(series) == steps, series
    counts = _counts(outcome.bundle)
    # Waits for elements are there from the first step on: one a step, and one that finds the dataset at its end.
    assert counts["ExecutorState::ProcessAsync::Start"] >= steps + 1
    # Operations and iterators come when costs are known.
    assert 0 < counts["IteratorGetNextOp::DoCompute"] <= steps + 1 - 100, counts
    assert abs(counts["Iterator::Root::Prefetch"] - counts["IteratorGetNextOp::DoCompute"]) <= 1, counts
    overview = _stats(outcome.bundle, "overview")
    words = json.dumps(overview)
    assert "PyTorch did not run" not in words and "DataLoader" not in words


def test_a_loop_of_ones_own_has_its_steps(record):
    steps = 300
    outcome = _recorded(record, "loop", str(steps))
    (series,) = _stats(outcome.bundle, "steps")["series"]
    assert (_all_steps(series), series["marker"]) == (steps, "train_step"), series


def test_steps_that_the_program_numbers_have_these_numbers(record, tmp_path):
    """TensorFlow makes these marks while its own profiler records."""
    steps = 150
    outcome = _recorded(record, "numbered", str(steps), str(tmp_path / "logs"))
    result = _stats(outcome.bundle, "steps")
    (series,) = result["series"]
    assert (_all_steps(series), series["method"], series["marker"]) == (steps, "ranges", "train"), series
    assert [step["number"] for step in result["steps"]] == list(range(100, 100 + steps))


def test_without_functions_the_batches_are_the_steps(record):
    outcome = _recorded(record, "eager", "120")
    (series,) = _stats(outcome.bundle, "steps")["series"]
    assert abs(_all_steps(series) - 120) <= 1, series


@pytest.mark.parametrize("kind", ["fit", "loop", "eager"])
@pytest.mark.parametrize("first, last", [(10, 15), (1, 3), (59, 60)])
def test_a_capture_of_steps_counts_as_stats_does(record, kind, first, last):
    """Steps are counted while nothing is recorded."""
    outcome = _recorded(record, kind, "60", options=(f"--capture=steps:{first}-{last}",))
    trace = outcome.trace()
    assert trace.lost == 0, trace.losses
    result = _stats(outcome.bundle, "steps")
    assert [step["number"] for step in result["steps"]] == list(range(first, last + 1)), result
    (series,) = result["series"]
    assert (_all_steps(series), series["partial_count"]) == (last - first + 1, 0), series


def test_a_capture_of_steps_goes_by_the_programs_numbers(record, tmp_path):
    outcome = _recorded(record, "numbered", "60", str(tmp_path / "logs"), options=("--capture=steps:120-124",))
    result = _stats(outcome.bundle, "steps")
    assert [step["number"] for step in result["steps"]] == [120, 121, 122, 123, 124], result
    assert result["series"][0]["method"] == "ranges"


@pytest.mark.parametrize("name, steps", [("train_step", [20, 21]), ("other_step", None)])
def test_a_capture_of_steps_may_name_the_function(record, name, steps):
    outcome = _recorded(record, "loop", "60", options=(f"--capture=steps:20-21@{name}",))
    if steps is None:
        assert b"nothing was recorded: no process came to step 20" in outcome.err
        return
    assert [step["number"] for step in _stats(outcome.bundle, "steps")["steps"]] == steps


def test_steps_that_never_come_are_told(record):
    outcome = _recorded(record, "fit", "40", options=("--capture=steps:50-60",))
    assert b"--capture names steps 50 to 60, and the last step here was 40" in outcome.err


def test_without_ops_the_library_makes_no_marks(record):
    outcome = _recorded(record, "fit", "120", options=("--trace=locks,threads",))
    assert len(outcome.trace().ops["time"]) == 0


def _exported_ops(bundle, tmp_path):
    """Name, thread, begin and end of each mark, by CLOCK_REALTIME."""
    origin = _stats(bundle, "steps")["meta"]["origin_realtime_ns"]
    path = tmp_path / "events.json"
    assert gpuprof("export", "--format", "chrome", "-o", path, bundle).status == 0
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["ph"] == "X" and event["cat"] == "cpu_op":
            begin = origin + round(event["ts"] * 1000)
            yield event["name"], event["tid"], begin, begin + round(event["dur"] * 1000)


def _events_of(path):
    """The same of an XSpace of TensorFlow; a thread is a line."""
    planes = xs.read_planes(path)
    begin = next(plane.stats["profile_start_time"] for plane in planes if plane.name == "Task Environment")
    for plane in planes:
        for line in plane.lines:
            for event in line.events:
                yield event.name.split("#")[0], line.id, begin + event.start, begin + event.end


def _rounding(begin, end):
    """How much a duration may differ, and a begin, which TensorFlow takes to be the end less the duration."""
    return 5000 + (end - begin) // 1000  # the rate of the clock is an estimate


def _shift(ours, theirs, most):
    """How far our clock is from theirs in the middle, by the events of one length that are next to each other."""
    found = []
    for name, _, begin, end in theirs:
        near = [event[1] - begin for event in ours[name]
                if abs(event[1] - begin) < most and abs(event[2] - event[1] - (end - begin)) < _rounding(begin, end)]
        found += [min(near, key=abs)] if near else []
    return int(statistics.median(found))


def test_the_frameworks_own_profiler_sees_the_same_at_the_same_time(record, tmp_path):
    """It records ten steps in the middle: each event of its file is in the recording, and no other."""
    # What the clocks of both may differ by, in ns: ours is compared once a second and the system's may be slewed; within
    # the few milliseconds of ten steps they go alike.
    most, clocks = 1_000_000, 50_000
    outcome = _recorded(record, "profile", "400", str(tmp_path / "logs"))
    assert outcome.trace().lost == 0, outcome.trace().losses
    # The bare run wrote one before.
    _, path = sorted((tmp_path / "logs").glob("**/*.xplane.pb"), key=lambda file: file.stat().st_mtime_ns)
    theirs = list(_events_of(path))
    assert len(theirs) > 500
    every = collections.defaultdict(list)
    for name, *event in _exported_ops(outcome.bundle, tmp_path):
        every[name].append(event)
    shift = _shift(every, theirs, most)
    theirs = [(name, line, begin + shift, end + shift) for name, line, begin, end in theirs]
    first, last = min(event[2] for event in theirs), max(event[3] for event in theirs)
    ours = {name: [event for event in events if event[1] >= first - clocks and event[2] <= last + clocks] for name, events in every.items()}
    threads, windows, missing = collections.defaultdict(collections.Counter), {}, []
    for name, line, begin, end in sorted(theirs, key=lambda event: event[2]):
        rounding = _rounding(begin, end)
        near = [event for event in ours.get(name, []) if abs(event[1] - begin) < clocks + rounding and abs(event[2] - event[1] - (end - begin)) < rounding]
        if near:
            found = min(near, key=lambda event: abs(event[1] - begin))
            ours[name].remove(found)
            threads[line][found[0]] += 1
            window = windows.setdefault(found[0], [found[1], found[2]])
            window[1] = max(window[1], found[2])
        else:
            missing.append((name, begin - first, end - begin))
    # Its recording ends in one thread after the other: what counts is between the first and the last of a thread.
    extra = [(name, begin - first, end - begin) for name, events in ours.items() for thread, begin, end in events
             if thread in windows and begin > windows[thread][0] and end < windows[thread][1]]
    assert (missing, extra) == ([], []), (shift, last - first)
    # Moments of several threads may be taken for each other.
    assert len({found.most_common(1)[0][0] for found in threads.values()}) == len(threads), threads
    (series,) = _stats(outcome.bundle, "steps")["series"]
    assert _all_steps(series) == 400, series


def test_captures_begin_and_end_again(session):
    steps = 150
    run = session(_command("sections", str(steps)), "--capture=off", env=ENVIRONMENT)
    assert run.line() == "ready"
    losses = []
    for _ in range(2):
        assert run.ctl("start").status == 0
        run.wait_for(lambda: run.state()["ops"] == "active")
        run.tell("go\n")
        losses.append(run.line())
        assert run.ctl("stop").status == 0
        run.tell("go\n")
        losses.append(run.line())
    outcome = run.finish()
    assert outcome.status == 0 and set(losses) == set(json.loads(_bare("fit", str(steps))))
    trace = outcome.trace()
    assert trace.lost == 0, trace.losses
    captures = collections.Counter(trace.ops["capture"].tolist())
    assert set(captures) == {1, 2}
    (series,) = _stats(outcome.bundle, "steps")["series"]
    assert _all_steps(series) == 2 * steps, series


def test_a_forked_child_leaves_the_parent_its_marks(record):
    steps = 150
    outcome = _recorded(record, "fork", str(steps))
    parent = max(outcome.traces(), key=lambda trace: len(trace.ops["time"]))
    (series,) = [one for one in _stats(outcome.bundle, "steps")["series"] if one["pid"] == parent.pid]
    assert _all_steps(series) == 2 * steps, series


def test_a_late_arrival_sees_the_rest(tmp_path):
    """The slots of the program's libraries lead to the hooks from then on, and back again."""
    bundle = tmp_path / "bundle"
    program = subprocess.Popen(list(map(str, _command("sections", "200"))), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=clean_environment(ENVIRONMENT), bufsize=0)

    def train():
        program.stdin.write(b"go\n")
        return program.stdout.readline().decode().strip()

    def has_marks():
        answer = json.loads(gpuprof("ctl", "status", "--json", program.pid).out)
        return (answer["processes"][0] if "processes" in answer else answer)["ops"] == "active"

    try:
        assert program.stdout.readline() == b"ready\n"
        before = train()
        done = gpuprof("attach", program.pid, "--wait=60s", "-o", bundle)
        assert done.status == 0, done.words
        wait_until(has_marks, "marks of TensorFlow")
        within = [train(), train()]
        assert gpuprof("detach", program.pid).status == 0
        assert [before, *within, train()] == json.loads(_bare("fit", "200")) * 4
        program.stdin.close()
        assert program.wait(timeout=LIMIT_S) == 0
        assert b"gpuprof" not in program.stderr.read()
    finally:
        program.kill()
        program.wait()
        for stream in (program.stdin, program.stdout, program.stderr):
            stream.close()
    (series,) = _stats(bundle, "steps")["series"]
    assert _all_steps(series) == 400, series


def test_the_wait_for_a_slow_map_is_told(record, tmp_path):
    outcome = record(_command("slow", "1200", tmp_path / "truth.json"), env=ENVIRONMENT)
    assert outcome.status == 0, outcome.err.decode()
    truth = json.loads((tmp_path / "truth.json").read_text())
    result = _stats(outcome.bundle, "tf_data")
    (pipeline,) = result["pipelines"]
    assert pipeline["name"] == "Iterator::Root"
    # Two sleeps of 4 ms for each batch, one of 1 ms in the loop.
    assert abs(pipeline["waited_ratio"] - truth["waited_s"] / truth["all_s"]) < 0.1, (pipeline, truth)
    assert pipeline["blamed"] == "Map" and pipeline["blamed_class"] == "transform", pipeline
    assert pipeline["blamed_ratio"] > 0.8 and pipeline["python_ns"] > 0.8 * pipeline["waited_ns"], pipeline
    assert pipeline["long_count"] == 0 and pipeline["filled"] == "", pipeline
    rows = {row["name"]: row for row in result["iterators"]}
    assert [row["depth"] for row in result["iterators"]] == list(range(len(rows))), "each asks the next"
    assert sum(row["waited_ns"] for row in rows.values()) == pipeline["waited_ns"]
    assert rows["BatchV2"]["count"] >= pipeline["count"] - 1 and rows["Map"]["count"] >= 2 * (pipeline["count"] - 2), rows
    text = gpuprof("stats", "tf_data", outcome.bundle).out.decode()
    assert "It waits for Map most" in text and "Python runs one call at a time" in text, text
