# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Exact heaps are exact: threads wait for room, frees and allocations of different threads are put into order, and a flight recorder
has the stacks of what it keeps."""

import json

import pytest

from conftest import gpuprof, program, verify
from trace_file import read_bundle

BLOCKS = 300_000


def report(name, bundle):
    done = gpuprof("stats", name, "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


@pytest.fixture
def wander(same):
    def run(*options):
        return same([program("wandering_blocks"), str(BLOCKS)], "--trace=heap=exact", *options).bundle

    return run


def test_blocks_that_wander_between_threads(wander):
    """Rings of the smallest size, and a clock that is true to a millisecond: every block is seen, and every free finds its block."""
    bundle = wander("--ring-memory=1MiB")
    (trace,) = read_bundle(bundle)
    assert 200_000 < trace.coarse_step_ns < 60e9, "the clock stood for about a millisecond, or longer while the recorder was busy"
    heap = report("heap", bundle)["processes"][0]
    assert not heap.get("lost_count") and heap["count"] >= BLOCKS, heap
    assert not heap.get("unmatched_free_count") and not heap.get("implied_free_count"), heap
    assert heap["end_count"] < 20, heap


def test_a_forked_child_waits_for_its_recorder(same):
    """Its threads run before its recorder does: in rings of the smallest size, all it does in its first moments is there."""
    bundle = same([program("busy_child"), str(BLOCKS)], "--trace=heap=exact", "--ring-memory=1MiB").bundle
    child = max(report("heap", bundle)["processes"], key=lambda row: row["count"])
    assert child["count"] >= BLOCKS and not child.get("lost_count"), child


def test_drop_waits_for_nothing(same):
    """Four threads that do nothing else than allocate: 1.08 million events, in rings for some ten thousand."""
    bundle = same([program("heap_truth"), "4", "9000", *["16"] * 16], "--trace=heap=exact", "--ring-memory=1MiB", "--on-full=drop").bundle
    health = report("health", bundle)["processes"][0]
    assert health["lost_count"] > 0, "the rings were not small enough"
    fixes = [loss["fix"] for loss in health["losses"] if loss["name"] == "ring_full"]
    assert fixes and all("--ring-memory" in fix and "--on-full" not in fix for fix in fixes), fixes
    assert not health.get("room_wait_count"), health


def test_a_flight_recorder_has_the_stacks_of_what_it_keeps(record):
    """More different stacks come by than its table holds; the last ones are there, and no stack counts as a lost event."""
    bundle = record([program("many_stacks"), "17"], "--ring=1MiB", "--trace=heap=exact", "--stacks=64").bundle
    verify(bundle)
    heap = report("heap", bundle)
    assert not heap["meta"].get("losses"), heap["meta"]
    stacks = heap["stacks"]
    assert len(stacks) > 1000 and all(row["call_stack"] for row in stacks), len(stacks)
