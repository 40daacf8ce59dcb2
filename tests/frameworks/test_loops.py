# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Steps of loops that people write. The programs sleep, so they know how long a phase lasts at least."""

import functools
import json
import pathlib
import statistics
import sys

import pytest

from process_support import ROOT, gpuprof, run_bare

pytest.importorskip("torch")
HERE = pathlib.Path(__file__).resolve().parent
PYTHON = {"PYTHONDONTWRITEBYTECODE": "1"}
STEPS = 24
SLEEP_NS = 4_000_000


@pytest.fixture
def recorded(record):
    """recorded(LOOP): the bundle of the loop, which printed what it prints bare."""

    def run(loop, *options):
        command = [sys.executable, str(HERE / "loops_program.py"), loop]
        bare = _bare(loop)
        outcome = record(command, *options, env=PYTHON)
        assert (outcome.status, outcome.out) == (0, bare.out), outcome.err.decode()
        return outcome.bundle

    return run


@functools.cache
def _bare(loop):
    done = run_bare([sys.executable, str(HERE / "loops_program.py"), loop], env=PYTHON)
    assert done.status == 0, done.err.decode()
    return done


def _stats(bundle, name, *options):
    done = gpuprof("stats", name, "--json", bundle, *options)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def check_all_steps(told, count):
    """No step is missing, and only steps that took long are warm-up. On a busy machine the first ones may."""
    series, lengths = told["series"][0], [step["duration_ns"] for step in told["steps"]]
    assert len(lengths) == count
    limit = 3 * statistics.median(lengths)
    warmup = next(i for i, length in enumerate([*lengths[:count // 4], 0]) if length <= limit)
    assert [step["warmup"] for step in told["steps"]] == [True] * warmup + [False] * (count - warmup), lengths
    assert (series["count"], series["warmup_count"]) == (count - warmup, warmup)


def test_steps_of_a_coroutine(recorded):
    bundle = recorded("coroutine")
    told = _stats(bundle, "steps")
    check_all_steps(told, STEPS - 1)
    for step in told["steps"]:
        assert step["backward_ns"] >= SLEEP_NS and step["forward_ns"] >= SLEEP_NS and step["optimizer_ns"] > 0, step
        # The coroutine sleeps twice.
        assert step["blocked_ns"] + step["other_ns"] >= 2 * SLEEP_NS, step
    marked = _stats(bundle, "steps", "--step-marker", "^whole step$")
    assert [series["method"] for series in marked["series"]] == ["marker"]
    check_all_steps(marked, STEPS)
    # Both coroutines' ranges are there, although they cross.
    counts = {op["name"]: op["count"] for op in _stats(bundle, "ops")["ops"]}
    assert counts["whole step"] == STEPS and counts["tick"] > STEPS


def test_two_networks_in_turn_make_one_step(recorded):
    told = _stats(recorded("networks"), "steps")
    check_all_steps(told, STEPS - 1)
    assert "every 2 optimizer steps" in told["series"][0]["confidence"]["reason"]


def test_two_networks_of_one_kind_lower_the_confidence(recorded):
    series = _stats(recorded("twins"), "steps")["series"][0]
    assert series["confidence"]["level"] != "high"
    assert "--step-marker" in series["confidence"]["reason"]


def test_what_is_compiled_is_not_to_be_compiled(recorded):
    overview = _stats(recorded("compiled"), "overview")
    advice = [fix for finding in overview["findings"] for fix in finding["fix"]]
    assert any("graph_breaks" in fix for fix in advice), overview["findings"]
    assert not any("torch.compile(model)" in fix for fix in advice), advice


# Real trainers, whose programs sleep too. The tests above and those of the step detector know the same shapes.
TRAINERS = ROOT / ".deps" / "trainers" / "bin" / "python"
needs_trainers = pytest.mark.skipif(not TRAINERS.exists(), reason="the trainers are not installed")
TRAINER_STEPS = 20
SAMPLE_NS, FORWARD_NS, BACKWARD_NS = 2_000_000, 6_000_000, 8_000_000


def _steps(record, loop, capture="now"):
    command = [str(TRAINERS), str(HERE / "trainers_program.py"), loop]
    bare = run_bare(command, env=PYTHON)
    assert bare.out.endswith(f"{TRAINER_STEPS} steps\n".encode()), bare.err.decode()
    outcome = record(command, f"--capture={capture}", env=PYTHON)
    assert (outcome.status, outcome.out) == (0, bare.out), outcome.err.decode()
    done = gpuprof("stats", "steps", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


@needs_trainers
@pytest.mark.long
@pytest.mark.parametrize("loop, batches", [("lightning", 1), ("accumulate", 2), ("transformers", 2)])
def test_steps_and_phases_of_a_trainer(record, loop, batches):
    told = _steps(record, loop)
    assert len(told["series"]) == 1 and len(told["steps"]) == TRAINER_STEPS
    for step in told["steps"]:
        assert step["batch_count"] == batches
        # transformers takes a batch ahead: the last step asks for one less.
        if step is not told["steps"][-1]:
            assert step["input_ns"] >= batches * 2 * SAMPLE_NS, step
        assert step["forward_ns"] >= batches * FORWARD_NS, step
        assert step["backward_ns"] >= batches * BACKWARD_NS, step
        assert step["optimizer_ns"] > 0
    # What the closure does is not the optimizer's.
    medians = {category["name"]: category["median_ns"] for category in told["series"][0]["categories"]}
    assert medians["optimizer"] < medians["forward"], medians


@needs_trainers
@pytest.mark.long
@pytest.mark.parametrize("loop", ["lightning", "accumulate", "transformers"])
def test_a_capture_of_steps_counts_as_stats_does(record, loop):
    told = _steps(record, loop, "steps:4-7")
    assert [step["number"] for step in told["steps"]] == [4, 5, 6, 7]
