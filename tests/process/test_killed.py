# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""SIGKILL at random moments of a process's life, from before its first instruction on. The long form has a thousand moments. Whatever the
moment, the trace can be finished and read. The trace lacks at most one record a thread of what the process had acknowledged."""

import collections
import struct

from conftest import HEAP_EXACT, gpuprof, program, short_and_long, verify
from trace_file import RING_FULL, read_bundle

SLOT, THREADS, SIZE = 96, 2, 72001


def _truth(counters, count):
    """By pid: [(tid, begun, done)]."""
    raw = counters.read_bytes()
    assert len(raw) == count * SLOT
    found = {}
    for at in range(0, len(raw), SLOT):
        pid, = struct.unpack_from("<q", raw, at)
        found[pid] = [struct.unpack_from("<3q", raw, at + 32 + i * 32) for i in range(THREADS)]
    found.pop(0, None)  # killed before it could tell who it was
    return found


def _check(trace, threads):
    heap = trace.heap
    ours = collections.Counter(heap["track"][(heap["size"] == SIZE) & ((heap["operation"] & 1) == 0)].tolist())
    by_tid = {t.tid: t for t in trace.threads.values() if t.track}
    dropped = trace.losses.get(RING_FULL, 0)
    missing = 0
    for tid, begun, done in threads:
        recorded = ours[by_tid[tid].track] if tid in by_tid else 0
        assert recorded <= begun, f"{trace.path.name}, thread {tid}"
        missing += max(0, done - 1 - recorded)
    # A full ring counts what it refuses, by process, frees among it.
    assert missing <= dropped, f"{trace.path.name}: {threads}, {ours}, {dropped} lost"


@short_and_long("count,seed", (60, 1), (250, 1), (250, 2), (250, 3), (250, 4))
def test_random_moments(record, tmp_path, count, seed):
    counters = tmp_path / "counters"
    outcome = record([program("killed_children"), counters, str(count), str(seed)], HEAP_EXACT)
    assert outcome.out == b"%d killed\n" % count
    assert "not a ring file" not in outcome.words and "damaged" not in outcome.words, outcome.words
    assert list(outcome.bundle.glob("*.ring")) == [], "the launcher has finished them all"
    truth = _truth(counters, count)
    # Each has two: that of the forked copy of its parent, up to exec, and its own.
    traces = {t.pid: t for t in read_bundle(outcome.bundle) if t.pid in truth and (t.heap["size"] == SIZE).any()}
    assert len(truth) > count // 4, "most lived long enough to say who they were"
    for pid, threads in truth.items():
        if pid in traces:
            _check(traces[pid], threads)
        else:
            assert max(done for _, _, done in threads) <= 1, f"no trace of {pid}: {threads}"
    verify(outcome.bundle)
    assert gpuprof("recover", outcome.bundle).status == 0
