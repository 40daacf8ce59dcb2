# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs with one hazard each: children made behind libc's back, libraries that come and go, exceptions, jumps, coroutines, signals,
cancellation. The output and status are the bare run's, and what the trace holds and declares as lost adds up to what was done."""

import re

import pytest

from conftest import HEAP_EXACT, PROGRAMS, program, run_bare, short_and_long
from trace_file import FORK, NO_RING, REENTERED, RING_FULL, SPAWN, THREAD_EDGE, THREAD_START, WAY_QUICK, WAY_RETURN, WAY_UNDERSCORE
from waiting import LIMIT_S

SAMPLED = "--trace=heap=sampled:4096,locks,threads"


def _told(outcome, pattern):
    """Numbers that the program told on stderr, which differ from run to run."""
    found = re.search(pattern, outcome.own_err.decode())
    assert found, outcome.err.decode()
    return [int(x) for x in found.groups()]


@pytest.fixture
def same_out(record):
    """As `same`, for programs whose stderr differs from run to run."""

    def compare(command, *options, timeout=LIMIT_S, **keywords):
        bare = run_bare(command, timeout=timeout)
        recorded = record(command, *options, timeout=timeout, **keywords)
        assert recorded.status == bare.status, recorded.err.decode(errors="replace")
        assert recorded.out == bare.out
        return recorded

    return compare


def _root(traces):
    pids = {t.pid for t in traces}
    roots = [t for t in traces if t.ppid not in pids]
    assert len(roots) == 1
    return roots[0]


@pytest.mark.parametrize("how", ["clone", "clone3", "_Fork", "nested"])
def test_children_made_behind_libcs_back(same, how):
    """They run unrecorded and undisturbed; nothing of theirs is in the parent's trace."""
    outcome = same([program("clones"), how, "50"], HEAP_EXACT)
    trace = _root(outcome.traces())
    assert len(trace.allocations({61001})) == 50
    assert trace.allocations({61002}) == []
    assert trace.lost == 0


@pytest.mark.parametrize("how", ["vm", "vm_vfork"])
def test_children_that_share_the_memory(same, how):
    """What they do to the heap they do to their parent's."""
    trace = same([program("clones"), how, "50"], HEAP_EXACT).trace()
    assert len(trace.allocations({61001})) == 50
    assert len(trace.allocations({61002})) == trace.matched_frees({61002}) == 150
    assert (trace.exit_way, trace.exit_status) == (WAY_RETURN, 0)
    assert trace.lost == 0


def test_exec_from_such_a_child_is_recorded(same):
    traces = same([program("clones"), "exec", "20"], HEAP_EXACT).traces()
    leaves = [t for t in traces if t.allocations({61003})]
    assert len(traces) == 21 and len(leaves) == 20
    assert {(t.exit_way, t.exit_status) for t in leaves} == {(WAY_RETURN, 21)}


@pytest.mark.parametrize("how,event,images", [("fork", FORK, 2), ("vfork", None, 1), ("spawn", SPAWN, 1)])
@short_and_long("each", 8, 40)
def test_storm_of_recorded_children(same, how, event, images, each):
    """Four threads start children at the same time while a fifth allocates."""
    count = 4 * each
    outcome = same([program("spawn_storm"), how, "4", each], HEAP_EXACT)
    assert outcome.out == b"%d children ended as they should\n" % count
    traces = outcome.traces()
    root = _root(traces)
    leaves = [t for t in traces if t.argv[1:] == ["leaf"] or t.allocations({62002})]
    assert len(leaves) == count
    assert all(len(t.allocations({62002})) == 10 and t.exit_status == 17 and t.lost == 0 for t in leaves)
    if event is not None:
        assert len(root.process_event(event)) + root.losses.get(RING_FULL, 0) >= count
    assert len(traces) <= count * images + 1
    assert root.lost == 0 and len(root.allocations({62001})) == root.matched_frees({62001}) > 0


PENDING = {"_exit": (31, WAY_UNDERSCORE), "quick_exit": (32, WAY_QUICK), "fork": (0, WAY_RETURN), "allocate": (0, WAY_RETURN)}


@pytest.mark.parametrize("how", PENDING)
@pytest.mark.parametrize("mode", [HEAP_EXACT, SAMPLED])
def test_pending_cancellation_stays_pending(same, how, mode):
    """No call of ours may be the cancellation point that the program's call is not."""
    status, way = PENDING[how]
    outcome = same([program("pending_cancel"), how], mode)
    assert outcome.status == status
    trace = _root(outcome.traces())
    assert (trace.exit_way, trace.exit_status) == (way, status)
    if mode == HEAP_EXACT:
        assert len(trace.allocations({64001})) == len(trace.allocations({64002})) == 1000
        assert trace.lost == 0


def test_pending_cancellation_at_exec(same):
    outcome = same([program("pending_cancel"), "exec"], HEAP_EXACT)
    assert outcome.status == 33
    assert len(outcome.traces()) == 2


@pytest.mark.parametrize("how", ["lazy", "deepbind"])
@pytest.mark.parametrize("mode", [HEAP_EXACT, "--trace=heap=sampled:1024,locks,threads"])
@short_and_long("count", 60, 400)
def test_libraries_that_come_and_go(same_out, how, mode, count):
    """Their constructors, functions and destructors allocate and lock; blocks outlive them; two lie at the same place in turn."""
    libraries = [PROGRAMS / "unload_library.so", PROGRAMS / "unload_library_other.so"]
    outcome = same_out([program("unload"), how, count, *libraries], mode)
    assert outcome.status == 0
    trace = outcome.trace()
    if mode != HEAP_EXACT:
        return
    beside, = _told(outcome, r"beside (\d+)")
    assert trace.lost == 0
    assert len(trace.allocations({65001})) == trace.matched_frees({65001}) == beside
    # With RTLD_DEEPBIND the library's calls go to libc and past every preload.
    seen = count if how == "lazy" else 0
    for size in (65011, 65012, 65013):
        assert len(trace.allocations({size})) == seen, size
        assert trace.matched_frees({size}) == seen, size


@pytest.mark.parametrize("threads", [1, 4])
@short_and_long("count", 10_000, 100_000)
def test_exceptions_through_ten_frames(same, threads, count):
    """Each throw allocates, with stacks on."""
    outcome = same([program("throws"), threads, count // threads], SAMPLED)
    assert outcome.out.count(b"%d cleaned" % (10 * count // threads)) == threads
    assert outcome.trace().lost == 0


def test_exceptions_recorded_exactly(same):
    trace = same([program("throws"), "2", "2000"], HEAP_EXACT).trace()
    made = len(trace.allocations({71}))
    assert made + trace.losses.get(RING_FULL, 0) >= 40000 >= made
    assert trace.losses.get(RING_FULL, 0) > 0 or trace.matched_frees({71}) == 40000


JUMPS = {"deep": (400, None), "handler": (200, 200), "wait": (200, 200), "fault": (1000, 1000)}


@pytest.mark.parametrize("how", JUMPS)
@pytest.mark.parametrize("mode", [HEAP_EXACT, SAMPLED])
def test_jumps(same, how, mode):
    times, handled = JUMPS[how]
    outcome = same([program("jumps"), how, str(times)], mode)
    assert outcome.out == b"%d jumps\n" % times
    trace = outcome.trace()
    if mode == SAMPLED:
        return
    dropped = trace.losses.pop(RING_FULL, 0)
    assert trace.losses == {}
    made = {68002: times, 68003: handled or 0}
    if how == "deep":
        made[68001] = sum(201 + i % 50 for i in range(times))
    recorded = {size: len(trace.allocations({size})) for size in made}
    missing = sum(made.values()) - sum(recorded.values())
    assert all(recorded[size] <= made[size] for size in made) and missing <= dropped
    assert dropped > 0 or missing == 0


@pytest.mark.parametrize("how", ["heap", "mapped", "moved", "bare"])
@pytest.mark.parametrize("mode", [HEAP_EXACT, "--trace=heap=sampled:1024,locks,threads"])
def test_coroutines(same, how, mode):
    outcome = same([program("coroutines"), how, "40"], mode, "--stacks=127")
    made = int(outcome.out.split()[0])
    trace = outcome.trace()
    if mode == HEAP_EXACT:
        assert len(trace.allocations({69001})) == trace.matched_frees({69001}) == made
    assert trace.lost == 0


@pytest.mark.parametrize("how", ["before", "after", "raw", "altstack", "timer"])
@pytest.mark.parametrize("mode", [HEAP_EXACT, SAMPLED])
@short_and_long("count", 1000, 10_000)
def test_signals_whose_handler_allocates(same_out, how, mode, count):
    """So many at least, into our own hook again and again. What comes while the recorder is at work is counted."""
    outcome = same_out([program("signal_storm"), how, count], mode)
    assert outcome.out == b"installed 0, errno changed 0\n"
    handled, named = _told(outcome, r"handled (\d+), named (\d+)")
    assert handled >= count
    trace = outcome.trace()
    if mode == SAMPLED:
        return
    reentered, dropped = trace.losses.pop(REENTERED, 0), trace.losses.pop(RING_FULL, 0)
    assert trace.losses == {}
    # A handler makes four events: two allocations and two frees.
    recorded = len(trace.allocations({67001})) + len(trace.allocations({67002}))
    assert recorded <= 2 * handled <= recorded + reentered + dropped
    events = sum(int(n) for n in [len(trace.heap["time"]), len(trace.thread_events["time"])])
    assert events + reentered + dropped >= 4 * handled + named


def test_signals_at_birth(same_out):
    """Also what comes while a thread's first event makes its ring is counted."""
    outcome = same_out([program("signals_at_birth"), "500"], HEAP_EXACT, "--heap-times=exact")
    if outcome.status == 77:
        pytest.skip("threads cannot be born with a mask of their own here")
    handled, = _told(outcome, r"handled (\d+)")
    assert handled > 50
    trace = outcome.trace()
    recorded = len(trace.allocations({74001})) + trace.matched_frees({74001})
    declared = sum(trace.losses.pop(kind, 0) for kind in (REENTERED, THREAD_EDGE, RING_FULL))
    assert trace.losses == {}
    assert recorded <= 2 * handled <= recorded + declared, f"{2 * handled - recorded} missing, {declared} declared"


def test_blocked_signals_stay_blocked(same):
    """Also while the recorder looks at code that it has not seen before: a pending SIGTERM would kill the program."""
    outcome = same([program("masked")], HEAP_EXACT)
    assert outcome.status == 0 and outcome.out.startswith(b"pending 1 1, runs 0\n")
    assert len(outcome.trace().allocations({73001})) == 20


@pytest.mark.parametrize("options", [(HEAP_EXACT,), (SAMPLED,)])
@short_and_long("each", 125, 1250)
def test_short_threads(same, options, each):
    count = 8 * each
    trace = same([program("thread_storm"), "8", each], *options).trace()
    lost = trace.lost
    starts = int((trace.thread_events["event"] == THREAD_START).sum())
    assert starts <= count + 8 <= starts + lost, "and the eight that make the others"
    if options[0] == HEAP_EXACT:
        made = len(trace.allocations({16016}))
        assert made <= count <= made + lost


def test_thousand_threads_at_once_with_stacks(same):
    trace = same([program("many_threads"), "1000"], "--trace=heap=sampled:1024,locks,threads", "--stacks=127").trace()
    starts = int((trace.thread_events["event"] == THREAD_START).sum())
    assert starts + trace.losses.get(NO_RING, 0) >= 1000


@short_and_long("runs", 2, 10)
def test_environment_that_moves_while_the_recorder_starts(same, runs):
    """Nothing that the recorder needs is looked up late, and no freed entry is read."""
    for _ in range(runs):
        trace = same([program("moved_environment")], HEAP_EXACT).trace()
        assert len(trace.allocations({73001})) == trace.matched_frees({73001}) == 500
        assert len(trace.allocations({73002})) == trace.matched_frees({73002}) == 500
        assert (trace.exit_way, trace.exit_status) == (WAY_RETURN, 0)
        assert trace.lost == 0
