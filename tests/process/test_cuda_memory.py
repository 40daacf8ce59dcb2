# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Memory that programs allocate through CUDA, on a simulated GPU: every allocation and release is recorded as it truly was, with what its pool
was then; peaks and leaks are those of the truth; what is older than the capture is told apart."""

import collections
import json

import pytest

from conftest import gpuprof, run_bare
from fake_gpu import DOUBLES, PERSONALITIES, Truth, environment_of, needs_doubles, with_switch
from trace_file import read_bundle

pytestmark = needs_doubles

PROGRAMS = DOUBLES / "programs"
NONE = 0xFFFFFFFF
RELEASES = [None, *PERSONALITIES]  # the first is 13.0
OWN_BUFFERS = 3 * 3200000

# Of everything something, of which something stays.
MIXTURE = ("device 3 1000000", "managed 2 300000", "pinned 2 50000", "async 4 70000", "pool 3 40000", "free 6", "pool 5 2000000", "free 6", "trim",
           "threads 20 4096")


@pytest.fixture
def allocating(record, tmp_path):
    """allocating(program, *arguments, script=, personality=): its trace, what truly happened, and the outcome."""

    def run(name, *arguments, script="", personality=None, options=()):
        truth = tmp_path / "truth.json"
        truth.unlink(missing_ok=True)
        outcome = record([PROGRAMS / name, *arguments], *options, env=environment_of(truth, script, personality))
        assert outcome.status == 0, outcome.err.decode()
        (trace,) = read_bundle(outcome.bundle)
        found = Truth(truth)
        assert found.of("violation") == []
        assert trace.lost == 0, trace.losses
        return trace, found, outcome

    return run


@pytest.fixture
def steered(session, tmp_path):
    """steered(*arguments): the program `memory`, told what to do while captures begin and end."""

    def start(*arguments, options=("--capture=off",), script=""):
        truth = tmp_path / "truth.json"
        program = session([PROGRAMS / "memory", *arguments, "-"], *options, env=environment_of(truth, script))
        assert program.line() == "ready"

        def do(*commands):
            for command in commands:
                program.tell(command + "\n")
                assert program.line() == f"done {command}"

        program.do = do
        return with_switch(program, truth)

    return start


def stats(outcome, *options):
    done = gpuprof("stats", "device_memory", "--json", *options, outcome.bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def key(row):
    """Of a row of ours, and of the truth."""
    kind = row["kind"] if "kind" in row else "device" if row["space"] == "pool" else row["space"]
    stream = row["stream"] if row["stream"] != NONE else 0
    return (row["t"], kind, row["address"], row["bytes"], row["pool"], row["device"], row["context"], stream, row["correlation"])


def same_memory(trace, truth):
    recorded, true = trace.memory_rows(), truth.memory()
    assert len(true) > 0
    assert collections.Counter(map(key, recorded)) == collections.Counter(map(key, true))
    times = {key(row): row["time"] + truth.offset for row in true}
    for row in recorded:
        assert abs(row["time"] - times[key(row)]) < 50_000_000
        assert row["async"] == (row["stream"] != NONE) and row["pool_type"] == (1 if row["pool"] else 0)
    return true


class Live:
    """Live bytes by the truth, of what is allocated from the beginning of `rows` on."""

    def __init__(self, rows):
        self.blocks, self.peak, self.older, self.older_bytes, live = {}, 0, 0, 0, 0
        for row in rows:
            if row["t"] == "alloc":
                self.blocks[row["address"]] = row
                live += row["bytes"]
                self.peak = max(self.peak, live)
            elif row["address"] in self.blocks:
                live -= self.blocks.pop(row["address"])["bytes"]
            else:
                self.older += 1
                self.older_bytes += row["bytes"]
        self.bytes = live


def kind_of(row):
    return "device pool" if row["space"] == "pool" else row["space"]


# Rows.

@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("program", ["vector_add", "pools", "graphs", "driver_api"])
def test_rows_are_the_allocations_that_were_made(allocating, program, release):
    trace, truth, _ = allocating(program, personality=release)
    same_memory(trace, truth)


@pytest.mark.parametrize("release", RELEASES)
def test_every_kind_of_memory_is_told_apart(allocating, release):
    trace, truth, _ = allocating("memory", *MIXTURE, personality=release)
    same_memory(trace, truth)
    assert collections.Counter(row["kind"] for row in trace.memory_rows() if row["t"] == "alloc") == {"device": 95, "managed": 2, "pinned": 2}


@pytest.mark.parametrize("release", RELEASES)
def test_pools_are_as_they_were(allocating, release):
    """Each creation, destruction and trim; and beside each allocation from a pool, what the pool was right after."""
    trace, truth, _ = allocating("memory", *MIXTURE, "destroy", "pool 2 5000000", personality=release)
    told = [row for row in trace.pool_rows() if row["op"] != "seen"]
    facts = ("op", "device", "size", "threshold", "kept", "correlation")
    assert [(*(row[f] for f in facts), row["pool"], row["utilized"]) for row in told] == \
        [(*(row[f] for f in facts), row["address"], row["used"]) for row in truth.of("pool")]
    assert {row["op"] for row in told} == {"create", "trim", "destroy"}
    seen = iter([row for row in trace.pool_rows() if row["op"] == "seen"])
    used = collections.Counter()
    for row in (row for row in truth.memory() if row["space"] == "pool"):
        used[row["pool"]] += row["bytes"] if row["t"] == "alloc" else -row["bytes"]
        state = next(seen)
        assert (state["pool"], state["utilized"]) == (row["pool"], used[row["pool"]])
        assert state["size"] >= state["utilized"]
    assert next(seen, None) is None


def test_each_allocation_has_its_call(allocating):
    trace, truth, _ = allocating("memory", *MIXTURE)
    calls = {correlation: (name, tid) for name, tid, correlation, *_ in trace.call_rows()}
    tids = {row["correlation"]: row["tid"] for row in truth.memory()}
    wanted = {"device": ("cudaMalloc_", "cudaFree_"), "managed": ("cudaMallocManaged_", "cudaFree_"), "pinned": ("cudaMallocHost_", "cudaFreeHost_")}
    for row in trace.memory_rows():
        name, tid = calls[row["correlation"]]
        if row["pool"]:
            assert name.startswith(("cudaMallocAsync_", "cudaMallocFromPoolAsync_") if row["t"] == "alloc" else "cudaFreeAsync_")
        else:
            assert name.startswith(wanted[row["kind"]][row["t"] == "free"])
        assert tid == tids[row["correlation"]]


def test_memory_that_was_only_registered_is_no_allocation(allocating):
    """The program's own pages, made known to CUDA, are not CUDA's."""
    trace, truth, _ = allocating("memory", "device 1 4096", "register 3 8192", "free 1")
    same_memory(trace, truth)
    assert [row["kind"] for row in trace.memory_rows()] == ["device", "device"]


def test_two_devices(allocating):
    trace, truth, outcome = allocating("memory", "device 2 1000", "use 1", "device 3 500", "async 1 100", "free 2", script="devices 2")
    same_memory(trace, truth)
    devices = {d["device"]: d for d in stats(outcome)["devices"]}
    assert (devices[0]["peak_bytes"], devices[0]["end_bytes"]) == (2000, 0)
    assert (devices[1]["peak_bytes"], devices[1]["end_bytes"]) == (1600, 1600)
    assert set(trace.devices) == {0, 1}


# Figures.

@pytest.mark.parametrize("release", RELEASES)
def test_stats_tell_what_the_truth_tells(allocating, release):
    _, truth, outcome = allocating("memory", *MIXTURE, personality=release)
    result = stats(outcome)
    for kind in ("device", "managed", "pinned", "device pool"):
        rows = [row for row in truth.memory() if kind_of(row) == kind]
        (use,) = [u for u in result["uses"] if u["name"] == kind]
        live = Live(rows)
        allocated = [row["bytes"] for row in rows if row["t"] == "alloc"]
        assert (use["count"], use["release_count"], use["allocated_bytes"]) == (len(allocated), len(rows) - len(allocated), sum(allocated))
        assert (use["peak_bytes"], use["end_bytes"], use["end_count"]) == (live.peak, live.bytes, len(live.blocks))
        assert (use["min_bytes"], use["max_bytes"], use["mean_bytes"]) == (min(allocated), max(allocated), sum(allocated) // len(allocated))
        assert use["older_count"] == 0 and use["allocation_call_ns"] > 0
    (device,) = result["devices"]
    on_device = Live([row for row in truth.memory() if row["space"] != "pinned"])
    assert (device["peak_bytes"], device["end_bytes"], device["begun_late"]) == (on_device.peak, on_device.bytes, False)
    assert result["implied_release_count"] == 0


@pytest.mark.parametrize("by", ["kind", "device", "pool", "size", "stream"])
def test_all_ways_to_look_at_it_add_up(allocating, by):
    _, truth, outcome = allocating("memory", *MIXTURE)
    result = stats(outcome, "--by", by)
    allocated = [row["bytes"] for row in truth.of("alloc")]
    assert result["by"] == by and len(result["uses"]) > 1
    assert (sum(u["count"] for u in result["uses"]), sum(u["allocated_bytes"] for u in result["uses"])) == (len(allocated), sum(allocated))
    assert sum(u["release_count"] for u in result["uses"]) == len(truth.of("free"))
    assert sum(u["end_bytes"] for u in result["uses"]) == result["end_bytes"] == Live(truth.memory()).bytes
    if by == "size":
        for use in result["uses"]:
            assert use["count"] == sum(use["low_bytes"] <= size <= use["high_bytes"] for size in allocated)


def test_what_leaks_is_named(allocating):
    _, truth, outcome = allocating("memory", "device 5 1000", "free 3", "managed 1 7777", "async 1 123456")
    result = stats(outcome)
    live = Live(truth.memory())
    assert [(l["address"], l["size_bytes"]) for l in result["live"]] == \
        [(row["address"], row["bytes"]) for row in sorted(live.blocks.values(), key=lambda row: -row["bytes"])]
    assert [l["function"] for l in result["live"]] == ["cudaMallocAsync", "cudaMallocManaged", "cudaMalloc", "cudaMalloc"]
    assert {l["tid"] for l in result["live"]} == {row["tid"] for row in truth.memory()}
    text = gpuprof("stats", "device_memory", outcome.bundle).out.decode()
    assert "Live at the end" in text and "cudaMallocManaged" in text


def test_pools_figures(allocating):
    """One pool gives back what a trim asks for, and is taken apart; the device's own has in use what its blocks are."""
    _, truth, outcome = allocating("memory", "pool 10 10000000", "async 3 1000000", "free 10", "trim", "destroy")
    pools = {p["pool_address"]: p for p in stats(outcome)["pools"]}
    (trim,) = [row for row in truth.of("pool") if row["op"] == "trim"]
    own = pools.pop(trim["address"])
    reserved = -(-100_000_000 // (32 << 20)) * (32 << 20)
    assert (own["count"], own["utilized_peak_bytes"], own["utilized_end_bytes"]) == (10, 100_000_000, 0)
    assert own["reserved_at_peak_bytes"] == own["reserved_peak_bytes"] == reserved
    assert own["fragmentation_ratio"] == pytest.approx(1 - 100_000_000 / reserved)
    assert (own["trim_count"], own["trimmed_bytes"], own["reserved_end_bytes"]) == (1, reserved, trim["size"])
    assert own["created"] and own["destroyed"] and not own["managed"]
    (default,) = pools.values()
    assert (default["utilized_end_bytes"], default["trim_count"], default["destroyed"]) == (3_000_000, 0, False)
    assert default["end_fragmentation_ratio"] == pytest.approx(1 - 3_000_000 / (32 << 20))


# The ends of contexts.

# With records of what goes along, and without: NVIDIA does not say.
@pytest.mark.parametrize("script", ["", "context_releases on"])
@pytest.mark.parametrize("release", RELEASES)
def test_a_reset_releases_what_the_context_had(allocating, release, script):
    reset = ("pause 5", "reset", "pause 5")
    trace, truth, outcome = allocating("memory", "device 2 1000000", "pinned 1 5000", "managed 1 300", "free 1", *reset,
                                       "device 1 1000000", *reset, "device 1 900000", personality=release, script=script)
    ends, frees, live = truth.of("end"), truth.of("free"), Live(truth.lives())
    assert (len(ends), len(frees), len(live.blocks), live.bytes) == (4, 1, 1, 900000)
    result = stats(outcome)
    assert (result["end_count"], result["end_bytes"], result["implied_release_count"]) == (1, live.bytes, 0)
    assert sum(u["release_count"] + u["context_end_count"] for u in result["uses"]) == len(ends) + len(frees)
    assert sum(u["older_count"] for u in result["uses"]) == 0
    (device,) = result["devices"]
    on_device = Live([row for row in truth.lives() if row["space"] != "pinned"])
    assert (device["peak_bytes"], device["end_bytes"]) == (on_device.peak, on_device.bytes) == (2000300, 900000)
    assert (device["context_count"], device["context_peak_count"], device["profiler_bytes"]) == (3, 1, OWN_BUFFERS)
    assert sorted(trace.contexts) == [1, 2, 3]
    assert all(begin != 0 for begin, _ in trace.contexts.values())
    assert [end != 0 for _, end in trace.contexts.values()] == [True, True, False]
    if script:
        return
    same_memory(trace, truth)
    assert (result["context_end_count"], result["context_end_bytes"]) == (len(ends), sum(row["bytes"] for row in ends))
    assert sorted((block["address"], block["size_bytes"]) for block in result["ended"]) == sorted((row["address"], row["bytes"]) for row in ends)
    text = gpuprof("stats", "device_memory", outcome.bundle).out.decode()
    assert "4 released with their context" in text and "1 live at the end" in text and "9.16 MiB" in text


def test_a_reset_is_of_one_device_and_leaves_pools_alone(allocating):
    """Memory of cudaMallocAsync is of no context: it stays, and may be freed after the reset."""
    trace, truth, outcome = allocating("memory", "device 1 1000", "async 1 70000", "use 1", "device 1 500", "async 1 80000", "use 0",
                                       "pause 5", "reset", "pause 5", "device 1 30", "free 1", script="devices 2")
    same_memory(trace, truth)
    assert [(row["device"], row["bytes"]) for row in truth.of("end")] == [(0, 1000)]
    assert [row["bytes"] for row in truth.of("free")] == [70000]
    result = stats(outcome)
    for device in result["devices"]:
        live = Live([row for row in truth.lives() if row["device"] == device["device"]])
        assert (device["peak_bytes"], device["end_bytes"]) == (live.peak, live.bytes)
    assert [d["context_peak_count"] for d in result["devices"]] == [1, 1]
    assert (result["context_end_count"], result["end_count"]) == (1, 3)
    for by in ("kind", "device", "pool", "size", "stream"):
        uses = stats(outcome, "--by", by)["uses"]
        assert (sum(u["context_end_bytes"] for u in uses), sum(u["end_bytes"] for u in uses)) == (1000, 30 + 500 + 80000)


# Captures that begin late.

def test_what_is_older_than_the_capture_is_told_apart(steered):
    program = steered("device 4 1000000", "pinned 1 5000")
    program.switch("start")
    program.do("device 2 300000", "free 3", "device 1 10")
    program.switch("stop")
    program.do("device 3 999")
    trace, truth, outcome = program.whole()
    known = truth.memory()[5:11]  # of the capture
    assert collections.Counter(map(key, trace.memory_rows())) == collections.Counter(map(key, known))
    assert trace.late_captures == {1}
    result = stats(outcome)
    (use,) = result["uses"]
    live = Live(known)
    assert (live.older, live.older_bytes) == (3, 3_000_000)
    assert (use["older_count"], use["older_bytes"]) == (live.older, live.older_bytes)
    assert (use["count"], use["release_count"], use["peak_bytes"], use["end_bytes"]) == (3, 0, live.peak, live.bytes)
    (device,) = result["devices"]
    assert device["begun_late"] and device["older_bytes"] == 3_000_000
    assert any("CUDA was in use before the capture" in note and "3 older blocks" in note for note in result["meta"]["notes"])


def test_a_capture_that_begins_with_cuda_is_not_late(allocating):
    trace, _, outcome = allocating("memory", "device 1 10")
    assert trace.late_captures == set()
    result = stats(outcome)
    assert result["meta"]["notes"] == [] and not result["devices"][0]["begun_late"]


def test_a_second_capture_knows_nothing_of_the_first_ones_blocks(steered):
    program = steered()
    program.switch("start")
    program.do("device 3 100", "free 1")
    program.switch("stop")
    program.do("free 1")
    program.switch("start")
    program.do("free 1", "device 2 70")
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert trace.late_captures == {1, 2}
    (use,) = stats(outcome)["uses"]
    assert (use["count"], use["release_count"], use["older_count"], use["older_bytes"]) == (5, 1, 1, 100)
    assert (use["peak_bytes"], use["end_bytes"], use["end_count"]) == (300, 140, 2)


def test_streams_and_devices_from_before_are_described(steered):
    program = steered("async 1 4096")
    program.switch("start")
    program.do("async 1 4096")
    program.switch("stop")
    trace, truth, _ = program.whole()
    (row,) = trace.memory_rows()
    (track,) = [t for t, (_, _, stream) in trace.streams.items() if stream == row["stream"]]
    assert trace.described[track] == (0, 2), "a stream that does not block"
    assert trace.devices[0]["name"] == "Simulated GPU"


# Devices, and ourselves.

@pytest.mark.parametrize("release", RELEASES)
def test_devices_are_described(allocating, release):
    trace, _, _ = allocating("vector_add", personality=release, script="memory 1000000000")
    (device,) = trace.devices.values()
    assert device == {"name": "Simulated GPU", "uuid": b"\xf0" * 16, "compute": (8, 0), "multiprocessors": 108, "memory_bytes": 1000000000,
                      "warps": 64, "blocks": 32, "mig": False, "gpu_instance": 0, "buffer_bytes": OWN_BUFFERS, "pinned": release == "11.8"}


@pytest.mark.parametrize("release", [None, "11.8"])
def test_our_own_memory_is_apart(allocating, release):
    _, truth, outcome = allocating("memory", "device 1 4096", personality=release)
    (device,) = stats(outcome)["devices"]
    assert (device["profiler_bytes"], device["context_count"], device["profiler_pinned"]) == (OWN_BUFFERS, 1, release == "11.8")
    assert device["peak_bytes"] == Live(truth.memory()).peak
    text = gpuprof("stats", "device_memory", outcome.bundle).out.decode()
    assert "profiler" in text and "9.16 MiB" in text


# Refusals.

@pytest.mark.parametrize("kind", [49, 50, 8, 9, 37])
def test_a_kind_that_is_refused_is_no_reason_to_refuse_the_others(allocating, kind):
    script = f"fail cuptiActivityEnable:{kind} 21; fail cuptiActivityEnableAndDump:{kind} 21"
    trace, truth, outcome = allocating("pools", script=script)
    assert len(trace.kernels["time"]) == len(truth.of("kernel"))
    if kind == 49:
        assert trace.memory_rows() == [] and [row["op"] for row in trace.pool_rows()] == [row["op"] for row in truth.of("pool")]
    else:
        same_memory(trace, truth)
    if kind == 50:
        assert {row["op"] for row in trace.pool_rows()} == {"seen"}
    assert (trace.devices == {}) == (kind == 8)
    said = [line for line in outcome.words.splitlines() if "recorded: cuptiActivityEnable failed" in line]
    assert len(said) == (1 if kind in (49, 50) else 0)
    assert len([note for note in trace.notes if "recorded: cuptiActivityEnable failed" in note]) == len(said)
    bare = run_bare([PROGRAMS / "pools"], env=environment_of(outcome.bundle.parent / "bare.json", script))
    assert (outcome.status, outcome.out) == (bare.status, bare.out)


def test_nothing_is_asked_of_cupti_between_captures(steered):
    program = steered()
    program.switch("start")
    program.do("device 1 64")
    program.switch("stop")
    program.do("device 20 64")
    program.do("free 21")
    trace, truth, _ = program.whole()
    assert len(trace.memory_rows()) == 1
    last = truth.of("tool")[-1]
    assert (last["subscribed"], last["wants"]) == (0, 0)
