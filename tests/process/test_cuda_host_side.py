# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The host's side of a launch: the stack it was made from, the NVTX range it was made in."""

import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

PHASES = str(DOUBLES / "programs" / "phases")
BRIEF_THREADS = str(DOUBLES / "programs" / "brief_threads")


@pytest.fixture
def phases(record, tmp_path):
    def run(*options, personality=None):
        truth = tmp_path / "truth.json"
        truth.unlink(missing_ok=True)
        outcome = record([PHASES, "4"], *options, env=environment_of(truth, script="kernel Multiply 30000; kernel Gradient 10000", personality=personality))
        assert (outcome.status, outcome.out) == (0, b"4 steps\n"), outcome.err.decode()
        found = Truth(truth)
        assert found.of("violation") == []
        return outcome.bundle, found

    return run


def folded(bundle):
    """[(frames, outermost first), ns] of each line."""
    lines = gpuprof("stats", "stacks", "--by", "kernel", bundle).out.decode().splitlines()
    return [(line.rpartition(" ")[0].split(";"), int(line.rpartition(" ")[2])) for line in lines if ";" in line]


def total(truth, name):
    return sum(kernel["end"] - kernel["start"] for kernel in truth.of("kernel") if name in kernel["name"])


@pytest.mark.parametrize("personality", [None, *PERSONALITIES])
def test_kernels_by_the_stack_that_launched_them(phases, personality):
    bundle, truth = phases("--trace", "launches", personality=personality)  # which takes cuda along
    (trace,) = read_bundle(bundle)
    assert trace.lost == 0, trace.losses
    assert sorted(trace.launches["correlation"].tolist()) == sorted(kernel["correlation"] for kernel in truth.of("kernel"))
    assert (trace.launches["stack"] > 1).all()
    lines = folded(bundle)
    for kernel, function in (("Multiply", "Forward"), ("Gradient", "Backward")):
        (line,) = [(frames, ns) for frames, ns in lines if frames[-1] == f"{kernel}()"]
        frames, ns = line
        names = [frame.partition("(")[0] for frame in frames]
        assert [name for name in names if name in ("main", "Step", function)] == ["main", "Step", function], frames
        assert not any("cupti" in frame.lower() for frame in frames), frames
        assert ns == total(truth, kernel)
    assert len(lines) == 2


def test_without_the_option_no_launch_is_looked_at(phases):
    bundle, truth = phases("--trace", "cuda")
    (trace,) = read_bundle(bundle)
    assert len(trace.launches["time"]) == 0
    assert {frames[1] for frames, _ in folded(bundle)} == {"[no stack]"}
    assert sum(ns for _, ns in folded(bundle)) == total(truth, "")


@pytest.mark.parametrize("name, kernels", [("forward", {"Multiply()": 8}), ("backward", {"Gradient()": 12}), ("step", {"Multiply()": 8, "Gradient()": 12})])
def test_kernels_under_a_range_are_those_launched_in_it(phases, name, kernels):
    bundle, _ = phases()
    result = json.loads(gpuprof("stats", "kernels", "--under-range", name, "--json", bundle).out)
    assert {row["name"]: row["count"] for row in result["kernels"]} == kernels
    assert result["under_range"] == name


def test_a_range_that_is_not_there_is_named(phases):
    bundle, _ = phases()
    done = gpuprof("stats", "kernels", "--under-range", "foreward", bundle)
    assert done.status == 2
    assert "foreward" in done.err.decode()


@pytest.mark.parametrize("personality", [None, *PERSONALITIES])
def test_threads_that_have_ended_when_their_calls_are_told_of(record, tmp_path, personality):
    """CUPTI hands over what they did after that: it is on their own tracks, so in their ranges, and no thread is there twice."""
    truth = tmp_path / "truth.json"
    outcome = record([BRIEF_THREADS, "6"], env=environment_of(truth, personality=personality))
    assert (outcome.status, outcome.out) == (0, b"6 threads\n"), outcome.err.decode()
    result = json.loads(gpuprof("stats", "kernels", "--under-range", "brief", "--json", outcome.bundle).out)
    assert {row["name"]: row["count"] for row in result["kernels"]} == {"Brief()": 30}
    threads = json.loads(gpuprof("stats", "threads", "--json", outcome.bundle).out)["threads"]
    launching = {c["tid"] for c in Truth(truth).of("api") if "LaunchKernel" in c["name"]}
    assert len(launching) == 6  # Linux gives ids again only after all others
    for tid in launching:
        (thread,) = [row for row in threads if row["tid"] == tid]
        assert int(thread["life_ns"]) > 0, thread
