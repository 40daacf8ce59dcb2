# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of PyTorch on a real GPU: gpuprof and torch.profiler saw the same kernels in each step of the same programs."""

import json
import re

import pytest

from conftest import ROOT, gpuprof

FOLDER = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch"
PROGRAMS = {"language_model": 8, "images": 8, "generate": 16}
WITH_JSON = [name for name in PROGRAMS if (FOLDER / f"{name}.json.gz").exists()]


def stats(trace, name, *options):
    done = gpuprof("stats", name, "--json", *options, trace)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def kernels_of_step(trace, number):
    result = stats(trace, "kernels", "--steps", str(number))
    # A name may come demangled or not: what they have in common tells kernels apart well enough.
    return sorted((row["count"], re.sub(r"\W.*", "", row["name"].removeprefix("void "))) for row in result["kernels"]), result["total_ns"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_are_those_of_the_program(name):
    told = stats(FOLDER / name, "steps")
    recorded = re.search(r"recorded: (.*)", (FOLDER / f"{name}.txt").read_text(encoding="utf-8")).group(1)
    own_ms = json.loads(recorded)["step_ms"]
    steps = [step for step in told["steps"] if step["number"] < PROGRAMS[name]]
    assert [step["number"] for step in steps] == list(range(PROGRAMS[name]))
    for step, own in zip(steps, own_ms):
        # The program's own time holds the begin of its range too, which takes longer the first time.
        assert step["duration_ns"] == pytest.approx(own * 1e6, abs=2_000_000 if step["number"] == 0 else 200_000), step


@pytest.mark.parametrize("name", WITH_JSON)
def test_both_saw_the_same_kernels_in_each_step(name):
    for number in range(1, PROGRAMS[name] - 4):
        # torch.profiler began after three steps.
        ours, our_ns = kernels_of_step(FOLDER / name, number + 3)
        theirs, their_ns = kernels_of_step(FOLDER / f"{name}.json.gz", number)
        assert ours == theirs, number
        assert our_ns == pytest.approx(their_ns, rel=0.03), number


def test_every_step_of_a_training_has_the_same_kernels():
    counts = {sum(count for count, _ in kernels_of_step(FOLDER / "language_model", number)[0]) for number in range(1, 8)}
    assert counts == {279}


def test_the_whole_run():
    kernels = stats(FOLDER / "language_model", "kernels")
    assert kernels["count"] == 2335 and all(row["launched_count"] == row["count"] for row in kernels["kernels"])
    assert kernels["meta"]["lost_count"] == 0
    device = stats(FOLDER / "language_model", "streams")["devices"][0]
    assert 0 < device["kernel_ns"] < device["busy_ns"] < device["window_ns"]
    counters = {row["name"] for row in stats(FOLDER / "language_model", "counters")["counters"]}
    assert {"gpu_utilization", "sm_active"} & counters, counters


def test_windows_of_a_recording_add_up():
    """Its calls are read by their ids alone, other than those of an imported trace."""
    bundle = FOLDER / "images"
    whole = stats(bundle, "kernels")
    parts = [stats(bundle, "kernels", "--window", window) for window in ("0s-8.1s", "8.1s-8.14s", "8.14s-1h")]
    assert all(part["count"] > 0 for part in parts[1:])
    for key in ("count", "total_ns"):
        assert sum(part[key] for part in parts) == whole[key]
    assert all(row["launched_count"] == row["count"] for part in parts for row in part["kernels"])
