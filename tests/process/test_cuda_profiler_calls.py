# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""--capture=cuda-profiler: captures from cudaProfilerStart to cudaProfilerStop, whoever's functions the program calls. What is in the trace is
what the program did in between, to the kernel or the allocation."""

import collections
import json

import pytest

from conftest import gpuprof, program, run_bare, verify
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

CAPTURE = "--capture=cuda-profiler"
NEVER = "the program never called cudaProfilerStart"
CALLS = str(DOUBLES / "programs" / "profiler_calls")
WAYS = ["runtime", "driver", "entry"]


@pytest.fixture(name="calls")
def fixture_calls(record, tmp_path):
    def run(what, way, *options, wrapper=(), personality=None, script=""):
        truth = tmp_path / "truth.json"
        outcome = record([*wrapper, CALLS, what, way], CAPTURE, *options, env=environment_of(truth, script, personality))
        assert (outcome.status, outcome.out.decode()) == (0, f"{what.count('k')} kernels\n"), outcome.err.decode()
        assert b"in time" not in outcome.err, outcome.err.decode()
        assert Truth(truth).of("violation") == []
        return outcome

    return run


def widths_of(trace):
    """The widths of the kernels' grids, with their captures."""
    widths = [trace.signatures[int(signature)]["grid"][0] for signature in trace.kernels["signature"]]
    return list(zip(trace.kernels["capture"].tolist(), widths))


def captured(outcome):
    """The widths by capture, of a trace that has lost nothing."""
    (trace,) = read_bundle(outcome.bundle)
    assert trace.lost == 0, trace.losses
    found = collections.defaultdict(list)
    for capture, width in widths_of(trace):
        found[capture].append(width)
    return {capture: sorted(widths) for capture, widths in found.items()}


@needs_doubles
@pytest.mark.parametrize("personality, script", [(None, ""), ("11.8", ""), ("12.6", ""), ("13.3", ""), ("13.3", DRIVER_OF_SEVERAL)])
@pytest.mark.parametrize("way", WAYS)
def test_each_pair_is_a_capture(calls, way, personality, script):
    outcome = calls("kkskkxkskxk", way, personality=personality, script=script)
    assert captured(outcome) == {1: [3, 4], 2: [6]}
    overview = gpuprof("stats", "overview", outcome.bundle).out.decode()
    assert "begun by --capture=cuda-profiler" in " ".join(overview.split())


@needs_doubles
@pytest.mark.parametrize("way", WAYS)
def test_it_is_on_or_off_as_cuda_defines_it(calls, way):
    """A second start changes nothing; the first stop ends it, whichever start it is meant for; a stop without a start does nothing."""
    assert captured(calls("xkskskxkxk", way)) == {1: [2, 3]}


@needs_doubles
@pytest.mark.parametrize("way", WAYS)
def test_a_start_without_a_stop_ends_with_the_program(calls, way):
    assert captured(calls("kskk", way)) == {1: [2, 3]}


@needs_doubles
@pytest.mark.parametrize("way", WAYS)
def test_another_thread_may_stop_what_one_has_started(calls, way):
    assert captured(calls("kskktkxkskxk", way)) == {1: [2, 3, 4], 2: [6]}


@needs_doubles
@pytest.mark.parametrize("way", WAYS)
def test_a_hundred_captures(calls, way):
    assert captured(calls("skxk" * 100, way)) == {i + 1: [2 * i + 1] for i in range(100)}


@needs_doubles
@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_never_starts_is_told_so(calls, way):
    outcome = calls("kkx", way)
    assert f"nothing was recorded: {NEVER}" in " ".join(outcome.words.split()), outcome.words


@needs_doubles
def test_hooks_see_the_calls_where_the_driver_does_not_load_us(calls):
    assert captured(calls("kskxk", "runtime", wrapper=["env", "-u", "CUDA_INJECTION64_PATH"])) == {1: [2]}


@needs_doubles
@pytest.mark.parametrize("way", WAYS)
def test_without_the_preload_cupti_reports_the_calls(calls, way):
    """An object that the driver loads hooks nothing."""
    assert captured(calls("kskxkskxk", way, wrapper=["env", "-u", "LD_PRELOAD"])) == {1: [2], 2: [4]}


@needs_doubles
@pytest.mark.parametrize("way", WAYS)
def test_the_calls_count_where_the_gpu_is_not_recorded(calls, way):
    outcome = calls("kskxkskxk", way, "--trace=heap=exact,threads")
    (trace,) = read_bundle(outcome.bundle)
    assert [(capture, begins) for capture, begins, _ in trace.captures] == [(1, True), (1, False), (2, True), (2, False)]
    assert len(trace.kernels["time"]) == 0


@needs_doubles
@pytest.mark.parametrize("way", WAYS)
def test_stacks_of_launches_are_those_of_the_captures(calls, way):
    """Their callbacks are asked for in captures alone."""
    outcome = calls("kkskkxkkkskxk", way, "--trace=cuda,launches")
    assert captured(outcome) == {1: [3, 4], 2: [8]}
    (trace,) = read_bundle(outcome.bundle)
    assert len(trace.launches["time"]) == 3


@needs_doubles
@pytest.mark.parametrize("release, script", [*((release, "") for release in PERSONALITIES), ("13.3", DRIVER_OF_SEVERAL)])
@pytest.mark.parametrize("wrapper", [[], ["env", "-u", "CUDA_INJECTION64_PATH"]])
def test_a_profiler_of_the_program_goes_first(session, tmp_path, release, script, wrapper):
    """While CUPTI is kept for these calls the program profiles itself, exactly; after that the calls are seen again."""
    truth = tmp_path / "truth.json"
    run = session([*wrapper, DOUBLES / "programs" / "own_profiler", "linked"], CAPTURE, env=environment_of(truth, script, release))
    assert run.line() == "ready"

    def ask(text, answer):
        run.tell(text + "\n")
        assert run.line() == answer

    def subscriptions():
        return len(Truth(truth).of("subscriber"))

    def capture(kernels):
        ask("profiler 1", "profiler 0")
        ask(f"launch {kernels}", f"launched {kernels}")
        ask("profiler 0", "profiler 0")

    run.wait_for(lambda: subscriptions() >= 1)
    capture(20)
    before = subscriptions()
    ask("begin", "began 0")
    ask("launch 30", "launched 30")
    ask("end", "ended 30")
    run.wait_for(lambda: subscriptions() > before)
    capture(40)
    ask("launch 50", "launched 50")
    outcome = run.finish()
    assert outcome.status == 0, outcome.err.decode()
    assert Truth(truth).of("violation") == []
    (trace,) = read_bundle(outcome.bundle)
    assert collections.Counter(widths_of(trace)) == {(1, 2): 20, (2, 4): 40}


LETTERS = {"s": 100, "x": 200, "S": 300, "X": 400}


def allocated(outcome):
    """The numbers of the victim's own allocations, by capture."""
    found = {}
    for trace in read_bundle(outcome.bundle):
        for size, capture in zip(trace.heap["size"].tolist(), trace.heap["capture"].tolist()):
            if 10000 <= size < 10100:
                found.setdefault(capture, []).append(size - 10000)
    return {capture: sorted(set(numbers)) for capture, numbers in found.items()}


def run_victim(record, what, *options):
    command = [program("linked_marks"), what]
    bare = run_bare(command)
    outcome = record(command, *options)
    assert (outcome.status, outcome.out) == (bare.status, bare.out), "the functions were called as often, and returned the same"
    counts = collections.Counter()
    results = []
    for letter in what:
        if letter in LETTERS:
            counts[letter] += 1
            results.append(LETTERS[letter] + counts[letter])
    assert outcome.out.decode().split() == [str(result) for result in results]
    return outcome


@pytest.mark.parametrize("start, stop", ["sx", "SX", "sX"])
def test_without_a_gpu_the_calls_count_too(record, start, stop):
    """Whatever the functions return, and whoever has them."""
    outcome = run_victim(record, f"aa{start}aa{stop}a{start}a{stop}a", CAPTURE, "--trace=heap=exact")
    assert allocated(outcome) == {1: [2, 3], 2: [5]}
    verify(outcome.bundle)


def test_forked_children_are_in_the_capture(record):
    outcome = run_victim(record, "aassaftaxaf", CAPTURE, "--trace=heap=exact,threads")
    traces = read_bundle(outcome.bundle)
    assert len(traces) == 2, "the child that was forked later records nothing"
    assert allocated(outcome) == {1: [2, 3]}


@pytest.mark.parametrize("capture", ["now", "off"])
def test_otherwise_the_calls_go_by(record, capture):
    outcome = run_victim(record, "asaxa", f"--capture={capture}", "--trace=heap=exact")
    if capture == "now":
        assert allocated(outcome) == {1: [0, 1, 2]}
    else:
        assert NEVER not in outcome.words


def test_a_program_without_cuda_is_told_so(record):
    outcome = record([program("plain")], CAPTURE)
    assert f"nothing was recorded: {NEVER}" in " ".join(outcome.words.split()), outcome.words


def test_the_health_of_a_capture_counts_them(record):
    outcome = run_victim(record, "saxsax", CAPTURE, "--trace=heap=exact")
    overview = json.loads(gpuprof("stats", "overview", "--json", outcome.bundle).out)
    (begun,) = overview["cost"]["begun_by"]
    assert (begun["name"], int(begun["count"])) == ("cuda_profiler", 2)
