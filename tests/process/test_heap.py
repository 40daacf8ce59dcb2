# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The heap: exact mode counts every call of every function; the sampled mode's estimate is unbiased; the program's own results, errno
and alignment stay as they are."""

import collections
import json
import math
import subprocess
import sys

import numpy
import pytest

from conftest import GPUPROF, HEAP_EXACT, clean_environment, gpuprof, program
from trace_file import (ALIGNED_ALLOC, CALLOC, FLAG_COARSE_TIME, FLAG_NO_UNWINDER, FLAG_SAMPLED, MALLOC, MEMALIGN, POSIX_MEMALIGN, PVALLOC, REALLOC, REALLOCARRAY, VALLOC,
                        read_bundle)

FAMILY = {  # size: (function, how often)
    100001: (MALLOC, 10), 100002: (CALLOC, 11), 300009: (CALLOC, 12), 100004: (REALLOC, 13), 100005: (MALLOC, 14),
    200006: (REALLOC, 14), 50007: (REALLOC, 14), 100008: (MALLOC, 15), 200018: (REALLOCARRAY, 16), 100010: (POSIX_MEMALIGN, 17),
    100032: (ALIGNED_ALLOC, 18), 100012: (MEMALIGN, 19), 100013: (VALLOC, 20), 100014: (PVALLOC, 21), 30001: (MALLOC, 22),
    100015: (MALLOC, 1), 100016: (MALLOC, 1),
}


def test_every_function_is_counted(same):
    trace = same([program("heap_family")], HEAP_EXACT).trace()
    made = collections.Counter((size, function) for function, _, size in trace.allocations(FAMILY))
    assert made == {(size, function): count for size, (function, count) in FAMILY.items()}
    assert trace.matched_frees(FAMILY) == sum(count for _, count in FAMILY.values())
    assert len(trace.allocations({0})) == 23, "malloc(0) gives a block; realloc to 0 does not"
    assert not [size for _, _, size in trace.allocations() if size > 1 << 40], "a failed call allocates nothing"
    assert trace.lost == 0


@pytest.mark.parametrize("options", [(), ("--capture=off",), ("--trace=heap=sampled:4096",)])
def test_results_in_other_modes(same, options):
    same([program("heap_family")], *options)
    same([program("cxx_new")], *options)


def test_cxx(same):
    trace = same([program("cxx_new")], HEAP_EXACT).trace()
    made = collections.Counter(size for _, _, size in trace.allocations())
    wanted = {40001: 10, 40002: 11, 40192: 12, 40003: 13, 40004: 14, 40005: 15}
    assert {size: made[size] for size in wanted} == wanted
    assert trace.matched_frees(wanted) == sum(wanted.values())


def test_balance_of_a_whole_process(same):
    """What Python had allocated and not freed at its end, from the trace, cannot be negative anywhere: no free without its allocation."""
    trace = same([sys.executable, "-c", "import json; print(len(json.dumps(list(range(20000)))))"], HEAP_EXACT).trace()
    live, strangers = {}, 0
    heap = trace.heap
    for i in numpy.argsort(heap["time"], kind="stable"):
        address = int(heap["address"][i])
        if int(heap["operation"][i]) & 1:
            strangers += live.pop(address, None) is None
        else:
            assert address not in live, "an address handed out twice"
            live[address] = int(heap["size"][i])
    # A few blocks are older than the recording: the loader's.
    assert strangers < 20


# Sizes around the period, far below it, and far above, from several threads. Each line: threads, blocks of each size, sizes, period.
TRUTHS = [
    (1, 200000, (64,), 4096),
    (4, 50000, (16, 100, 1000), 16384),
    (2, 20000, (24, 5000, 100000), 65536),
    (4, 100, (600000, 3000000), 524288),
    (1, 300000, (40, 200), 524288),
]


@pytest.mark.parametrize("threads,count,sizes,period", TRUTHS)
def test_sampling_is_unbiased(record, threads, count, sizes, period):
    """An allocation of s bytes is sampled with p = 1 - exp(-s/period) and stands for s/p bytes, 1/p blocks. The estimates' standard
    deviations are sqrt(n (1-p)/p) times s and 1. A right sampler fails a bound of 6 standard deviations with a probability of 2e-9 a
    figure (normal approximation), so a failure here is a fault."""
    outcome = record([program("heap_truth"), str(threads), str(count), *map(str, sizes)], f"--trace=heap=sampled:{period}",
                     "--ring-memory=256MiB")
    assert outcome.status == 0
    true_bytes, true_blocks = map(int, outcome.out.split())
    trace = outcome.trace()
    assert trace.lost == 0
    heap = trace.heap
    kept = ((heap["operation"] & 1) == 0) & numpy.isin(heap["size"], sizes)
    assert numpy.all(heap["operation"][kept] >> 8 & FLAG_SAMPLED)
    total_bytes = total_blocks = variance_bytes = variance_blocks = 0
    for size in sizes:
        p = 1 - math.exp(-size / period)
        n = threads * count
        seen = int((heap["size"][kept] == size).sum())
        deviation = math.sqrt(n * p * (1 - p))
        assert abs(seen - n * p) <= 6 * deviation + 1, f"size {size}: {seen} samples, {n * p:.1f} expected, deviation {deviation:.1f}"
        total_bytes += seen * size / p
        total_blocks += seen / p
        variance_bytes += n * (1 - p) / p * size ** 2
        variance_blocks += n * (1 - p) / p
    assert abs(total_bytes - true_bytes) <= 6 * math.sqrt(variance_bytes) + max(sizes)
    assert abs(total_blocks - true_blocks) <= 6 * math.sqrt(variance_blocks) + 1


def test_no_more_is_sampled_while_the_recorder_starts(tmp_path):
    """On a busy machine its thread starts late, long after the program's first allocations."""
    sizes, period = (24, 5000, 100000), 65536
    command = [program("heap_truth"), "2", "20000", *map(str, sizes)]
    runs = [subprocess.Popen([GPUPROF, "run", "-o", tmp_path / str(i), "--ring-memory=256MiB", f"--trace=heap=sampled:{period}", "--", *command],
                             env=clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in range(12)]
    assert [run.wait() for run in runs] == [0] * len(runs)
    seen = collections.Counter()
    for i in range(len(runs)):
        (trace,) = read_bundle(tmp_path / str(i))
        assert trace.lost == 0
        seen.update(size for _, _, size in trace.allocations(sizes))
    for size in sizes:
        p, n = 1 - math.exp(-size / period), len(runs) * 2 * 20000
        assert abs(seen[size] - n * p) <= 6 * math.sqrt(n * p * (1 - p)) + 1, (size, seen[size], n * p)


def test_frees_of_sampled_blocks_are_matched(record):
    """Every eighth small block stays: of those sampled, seven of eight must be freed in the trace, and no stranger's free may be in it."""
    outcome = record([program("heap_truth"), "4", "100000", "64"], "--trace=heap=sampled:2048", "--ring-memory=256MiB")
    trace = outcome.trace()
    assert trace.lost == 0
    made = len(trace.allocations({64}))
    freed = trace.matched_frees({64})
    frees = int((trace.heap["operation"] & 1).sum())
    kept_share, deviation = 1 / 8, math.sqrt(made * 7 / 64)
    assert abs((made - freed) - made * kept_share) <= 6 * deviation + 1
    assert frees <= len(trace.allocations())


def test_samples_carry_stacks(record):
    trace = record([program("heap_truth"), "1", "200000", "640"], "--trace=heap=sampled:65536").trace()
    heap = trace.heap
    kept = (heap["size"] == 640) & ((heap["operation"] & 1) == 0)
    assert kept.sum() > 500
    assert (heap["stack"][kept] != 0).mean() > 0.5, "all but those before the tracer was loaded"
    assert not heap["stack"][(heap["operation"] & 1) == 1].any()


def test_exact_stacks_from_the_first_allocation_on(same):
    """Of exact traces the program waits for the recorder before its first line, and a forked child has stacks at once."""
    outcome = same([program("early_stacks")], HEAP_EXACT)
    places = {}
    for trace in outcome.traces():
        for stack, size in zip(trace.heap["stack"], trace.heap["size"]):
            if int(size) in (1001, 1002, 1003):
                places[int(size)] = int(stack)
    assert sorted(places) == [1001, 1002, 1003] and all(places.values())
    folded = gpuprof("stats", "stacks", outcome.bundle, "--by", "heap_alloc").out.decode().splitlines()
    for place, size in (("BeforeMain", 1001), ("main;FirstInMain", 1002), ("main;FirstInChild", 1003)):
        assert any(line.endswith(f"{place} {size}") for line in folded), (place, folded)


def test_the_coarse_clock_is_kept_only_where_there_is_much_to_record(record):
    """Few events have their true times; many take the coarse clock, which on no thread goes back."""
    for quiet in record([program("early_stacks")], HEAP_EXACT).traces():
        assert len(quiet.heap["operation"]) > 0, (quiet.path, quiet.program, quiet.lost, quiet.losses, quiet.exit_status)
        assert not (quiet.heap["operation"] >> 8 & FLAG_COARSE_TIME).any()
    busy = record([program("heap_truth"), "2", "300000", "640"], HEAP_EXACT, "--ring-memory=256MiB").trace()
    coarse = (busy.heap["operation"] >> 8 & FLAG_COARSE_TIME) != 0
    assert coarse.mean() > 0.5
    for track in numpy.unique(busy.heap["track"]):
        times = busy.heap["time"][busy.heap["track"] == track]
        assert (numpy.diff(times.astype(numpy.int64)) >= 0).all()


def test_events_without_a_stack_are_told(record):
    """What came before the recorder could take stacks has none, and health says how much that is."""
    outcome = record([sys.executable, "-c", "import json"], "--trace=heap=sampled:1KiB", "--stacks=16")
    trace = outcome.trace()
    missing = sum(int((trace_table["operation"] >> 8 & FLAG_NO_UNWINDER != 0).sum()) for trace_table in (trace.heap, trace.waits, trace.mappings))
    assert missing > 0
    done = subprocess.run([str(GPUPROF), "stats", "health", "--json", str(outcome.bundle)], capture_output=True, env=clean_environment(),
                          check=True)
    assert json.loads(done.stdout)["processes"][0]["stack_missing_count"] == missing


@pytest.mark.parametrize("options", [(), ("--clock=monotonic",), ("--stacks=0",)])
def test_what_the_hooks_cost_is_told_with_its_interval(record, options):
    outcome = record([program("heap_truth"), "2", "50000", "64"], HEAP_EXACT, *options)
    health = json.loads(gpuprof("stats", "health", "--json", outcome.bundle).out)["processes"][0]
    events = health["count"] + health["lost_count"]
    assert 0.9 * events - 300 <= health["hook_count"] <= 1.1 * events + 300, (health["hook_count"], events)
    assert 0 < health["hook_low_ns"] < health["hook_ns"] < health["hook_high_ns"]
    assert 1 <= health["hook_ns"] / health["hook_count"] <= 20_000
    # Of threads that stood still while they were timed at most the processor time that the process had.
    assert health["cost_limited"] or health["slowdown_ratio"] >= health["hook_ns"] / health["captured_ns"] * 0.99


@pytest.mark.parametrize("what", ["small", "half", "most"])
def test_what_could_not_be_had_is_no_allocation(record, what):
    """However much a failing call asks for, the samples of what there is stay as likely as they were."""
    outcome = record([program("failing_calls"), what], "--trace=heap=sampled")
    truth = int(outcome.out)
    told = json.loads(gpuprof("stats", "heap", "--json", outcome.bundle).out)
    total = sum(row["allocated_bytes"] for row in told["processes"])
    if what == "small":
        assert truth == 16000 and total < 4 << 20, total
    else:
        assert abs(total - truth) < 0.1 * truth, (total, truth)


def test_exact_heap_of_libraries_that_come_before(record):
    """What a library allocates as it is initialised, before the preloaded recorder's own turn, and on its threads."""
    trace = record([program("linked_first")], "--trace=heap=exact,threads").trace()
    for size in (54321, 54322):
        assert len(trace.allocations({size})) == 1 and trace.matched_frees({size}) == 1, size
    assert trace.lost == 0
