# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Locks behave as without us, contended waits are recorded with their kind and object, uncontended ones not at all."""

import json
import subprocess
import sys
import time

import pytest

from call_stacks import frames_of
from conftest import GPUPROF, clean_environment, gpuprof, program, run_bare, verify
from trace_file import (BARRIER, CONDITION, FLAG_HAS_STACK, FLAG_INCOMPLETE, FLAG_NO_UNWINDER, FLAG_TIMED_OUT, JOIN, MUTEX, RWLOCK_READ,
                        RWLOCK_WRITE, SEMAPHORE, THREAD_EXIT, THREAD_START)
from waiting import LIMIT_S

LOCKS = "--trace=locks"


@pytest.mark.parametrize("options", [(LOCKS,), ("--trace=heap=exact,locks,threads",), ("--capture=off",)])
@pytest.mark.parametrize("victim", ["lock_results", "sem_results"])
def test_results_are_those_of_the_bare_run(same, victim, options):
    same([program(victim)], *options)


@pytest.mark.parametrize("options", [(LOCKS,), ("--trace=heap=exact,locks,threads",), ("--capture=off",)])
def test_results_of_joins_are_those_of_the_bare_run(same, options):
    same([program("joins"), "results"], *options)


def _without_flags_of_stacks(row):
    return row["flags"] & ~(FLAG_HAS_STACK | FLAG_NO_UNWINDER)


def test_joins(record):
    """One that lasts, one of a thread that has ended, one that gives up, one that is cancelled."""
    outcome = record([program("joins"), "record"], LOCKS, "--clock=monotonic")  # ticks are ns
    assert outcome.status == 0
    slow_tid, ended_tid, stuck_tid, slow, _, late = map(int, outcome.out.split())
    trace = outcome.trace()
    assert trace.lost == 0
    main = int(trace.path.name[1:].split("-")[0])
    rows = trace.wait_rows(kind=JOIN)
    assert ended_tid not in {row["owner"] for row in rows}
    first = [row for row in rows if row["owner"] == slow_tid]
    assert [(row["object"], _without_flags_of_stacks(row)) for row in first] == [(slow, 0)]
    assert 90_000_000 <= first[0]["duration"] < LIMIT_S * 1e9
    assert first[0]["caller"] != 0 and first[0]["stack"] > 1
    assert [row["object"] for row in rows if row["flags"] & FLAG_TIMED_OUT] == [late]
    (cancelled,) = [row for row in rows if row["flags"] & FLAG_INCOMPLETE]
    assert cancelled["owner"] == main and cancelled["stack"] > 1
    assert trace.threads[cancelled["track"]].tid == stuck_tid
    assert 50_000_000 <= cancelled["duration"] < LIMIT_S * 1e9
    kinds = {kind["name"]: kind for kind in _stats(outcome)["kinds"]}
    assert not kinds["join"]["contended"] and kinds["join"]["count"] == len(rows)
    assert kinds["join"]["total_ns"] >= 150_000_000


def test_cancelled_waits_are_incomplete(record):
    """Each thread that is cancelled in a wait leaves it behind, and in a cancelled computation none."""
    trace = record([program("cancelled")], LOCKS).trace()
    rows = [row for row in trace.wait_rows() if row["flags"] & FLAG_INCOMPLETE]
    # Every other thread is given the time to begin its wait: of the four kinds of waits ten each.
    assert 20 <= len(rows) <= 80
    assert {row["kind"] for row in rows} <= {SEMAPHORE, CONDITION}
    assert sum(row["kind"] == CONDITION for row in rows) >= 20


def test_c11_threads(record):
    bare = run_bare([program("c11_threads")])
    outcome = record([program("c11_threads")], "--trace=locks,threads", "--clock=monotonic")  # ticks are ns
    assert (outcome.status, outcome.out) == (bare.status, bare.out) and bare.status == 0
    mutex, condition, thread, main, waiter = map(int, outcome.own_err.split())
    trace = outcome.trace()
    assert trace.lost == 0
    (contended,) = trace.wait_rows(obj=mutex)
    assert contended["kind"] == MUTEX and contended["owner"] == main and 20_000_000 <= contended["duration"] < LIMIT_S * 1e9
    assert contended["stack"] > 1 and trace.threads[contended["track"]].tid == waiter
    conditions = trace.wait_rows(obj=condition)
    assert {row["kind"] for row in conditions} == {CONDITION}
    assert sorted({_without_flags_of_stacks(row) for row in conditions}) == [0, FLAG_TIMED_OUT]
    assert sum(row["flags"] & FLAG_TIMED_OUT != 0 for row in conditions) == 1, "a call that is refused is no wait"
    timed = [row for row in trace.wait_rows(kind=MUTEX) if row["object"] != mutex]
    assert [(_without_flags_of_stacks(row), row["owner"]) for row in timed] == [(FLAG_TIMED_OUT, main)]
    assert [(row["object"], row["owner"]) for row in trace.wait_rows(kind=JOIN)] == [(thread, waiter)]
    events = list(zip(trace.thread_events["track"].tolist(), trace.thread_events["event"].tolist()))
    track = contended["track"]
    assert events.count((track, THREAD_START)) == events.count((track, THREAD_EXIT)) == 1


def test_refused_calls_are_no_waits(record):
    outcome = record([program("refused_locks")], "--trace=locks,threads")
    assert outcome.status == 0
    trace = outcome.trace()
    assert trace.wait_rows() == [] and trace.lost == 0


def test_contended_waits(record):
    count = 25
    outcome = record([program("contended"), str(count)], LOCKS)
    assert outcome.status == 0
    told, mutex, read, write, semaphore, calm, full = map(int, outcome.out.split())
    assert told == count
    trace = outcome.trace()
    assert trace.lost == 0
    for obj, kind in ((mutex, MUTEX), (read, RWLOCK_READ), (write, RWLOCK_WRITE), (semaphore, SEMAPHORE)):
        rows = trace.wait_rows(obj=obj)
        assert {row["kind"] for row in rows} == {kind}
        assert len(rows) == count
        assert all(row["duration"] > 0 and row["caller"] != 0 and row["flags"] & ~(FLAG_HAS_STACK | FLAG_NO_UNWINDER) == 0 for row in rows)
    assert trace.wait_rows(obj=calm) == [] and trace.wait_rows(obj=full) == []


def test_who_held_it_and_where_it_was_waited_for(record):
    """A mutex and a write-locked rwlock tell their holder, which is the main thread; readers and semaphores have none to tell."""
    outcome = record([program("contended"), "25"], LOCKS)
    _, mutex, read, write, semaphore, _, _ = map(int, outcome.out.split())
    trace = outcome.trace()
    main = int(trace.path.name[1:].split("-")[0])
    for obj, owner in ((mutex, main), (read, main), (write, 0), (semaphore, 0)):
        rows = [i for i in range(len(trace.waits["time"])) if trace.waits["object"][i] == obj]
        assert {int(trace.waits["owner"][i]) for i in rows} == {owner}
        assert sum(trace.waits["stack"][i] > 1 for i in rows) > len(rows) // 2, "all but those before the tracer was loaded"
    done = subprocess.run([str(GPUPROF), "stats", "locks", "--json", str(outcome.bundle)], capture_output=True, env=clean_environment(),
                          check=True)
    result = json.loads(done.stdout)
    held = {edge["object"]: edge["holder_tid"] for edge in result["edges"]}
    assert held == {mutex: main, read: main}
    assert sum(edge["count"] for edge in result["edges"]) == 50
    assert all(edge["waiter_tid"] != main for edge in result["edges"])
    for lock in result["locks"]:
        if lock["object"] in (mutex, read):
            assert lock["holders"] == ["contended"] and lock["holder_known_ns"] == lock["total_ns"]
            assert any(frame["name"] == "Waiter" for frame in frames_of(result, lock["call_stack"]))
        elif lock["object"] in (write, semaphore):
            assert lock["holders"] == []


def test_wait_times(record):
    """Each waiter slept for 2 ms at least before it was let go."""
    outcome = record([program("contended"), "10"], LOCKS, "--clock=monotonic")  # ticks are ns
    mutex = int(outcome.out.split()[1])
    rows = outcome.trace().wait_rows(obj=mutex)
    assert len(rows) == 10
    assert all(2_000_000 <= row["duration"] < LIMIT_S * 1e9 for row in rows)


def test_wait_through_several_captures(session):
    """Of each capture it has the part that lies in it: what went by in between was not recorded."""
    run = session([program("idle_waiter")], LOCKS, "--clock=monotonic")
    assert run.line() == "ready"
    run.wait_for(lambda: run.state()["state"] == "capturing")
    calls = []

    def switch(verb):
        asked = time.monotonic_ns()
        assert run.ctl(verb).status == 0
        calls.append((asked, time.monotonic_ns()))

    for verb in ("stop", "start", "stop", "start"):
        switch(verb)
    ended = time.monotonic_ns()
    outcome = run.finish()
    assert outcome.status == 0
    verify(outcome.bundle)
    parts = [(row["time"] - row["duration"], row["time"]) for row in outcome.trace().wait_rows() if row["kind"] == CONDITION]
    assert len(parts) == 3
    # Parts end and begin within the calls that stop and start captures. The last part ends with the wait.
    edges = [edge for part in parts for edge in part]
    for (asked, answered), edge in zip(calls, edges[1:5]):
        assert asked <= edge <= answered, (calls, edges)
    assert edges[0] < calls[0][0] and edges[5] >= ended


def test_conditions_and_barriers_are_their_own_kinds(record):
    outcome = record([program("conditions"), "200"], LOCKS)
    condition, waits, barrier, meetings = map(int, outcome.out.split())
    assert waits > 0 and meetings == 400
    trace = outcome.trace()
    assert trace.lost == 0
    for obj, kind, count in ((condition, CONDITION, waits), (barrier, BARRIER, meetings)):
        rows = trace.wait_rows(obj=obj)
        assert {row["kind"] for row in rows} == {kind} and len(rows) == count


@pytest.mark.parametrize("how", [(), ("c11",)])
def test_the_mutex_behind_a_condition_is_waited_for_too(record, how):
    """A woken thread that finds the mutex taken waits for it inside the condition's wait: a row of its own, from the signal on."""
    outcome = record([program("woken"), *how], LOCKS, "--clock=monotonic")  # ticks are ns
    condition, mutex = map(int, outcome.out.split())
    trace = outcome.trace()
    waits = {row["track"]: row for row in trace.wait_rows(obj=condition)}
    assert len(waits) == 3 and {row["kind"] for row in waits.values()} == {CONDITION}
    # Two threads wait while another has the mutex for 100 ms, and one of them while the second has it too.
    behind = sorted((row for row in trace.wait_rows(obj=mutex) if row["kind"] == MUTEX), key=lambda row: row["duration"])[-2:]
    assert len({row["track"] for row in behind}) == 2, behind
    assert behind[0]["duration"] >= 80e6 and behind[1]["duration"] >= 180e6, behind
    for row in behind:
        assert waits[row["track"]]["time"] <= row["time"] - row["duration"], "the wait for the condition ends with the signal"


GIL = """
import threading
import time
def spin():
    while time.process_time() < 0.9:
        for _ in range(1000):
            pass
threads = [threading.Thread(target=spin) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_the_lock_of_python_has_a_name(record):
    """Two threads that compute wait for each other by turns: for the GIL, by a condition that no other program has."""
    outcome = record([sys.executable, "-c", GIL], LOCKS)
    assert outcome.status == 0, outcome.err.decode()
    done = gpuprof("stats", "locks", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    result = json.loads(done.out)
    waited = sum(row["total_ns"] for row in result["locks"] if row["kind"] == "gil")
    assert waited > 300e6, result["locks"]
    told = sum(row["total_ns"] for row in result["edges"] if row["kind"] == "gil" and row["holder_tid"] != row["waiter_tid"])
    assert told > 0.5 * waited, "who held it"


WAITS = """
import queue, threading, time
requests, answers = queue.Queue(), queue.Queue()
def serve():
    for request in iter(requests.get, None):
        time.sleep(0.02)
        answers.put(request)
def ask():
    requests.put(1)
    return answers.get()
server = threading.Thread(target=serve)
server.start()
for _ in range(20): ask()
requests.put(None)
server.join()
"""


def test_waits_of_python_are_named_by_the_programs_line(record, tmp_path):
    """A queue makes a lock for each of its waits, and waits within the library: the program's line is what they share."""
    script = tmp_path / "waits.py"
    script.write_text(WAITS)
    outcome = record([sys.executable, script], LOCKS)
    assert outcome.status == 0, outcome.err.decode()
    done = gpuprof("stats", "locks", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    rows = {(row["kind"], row["name"].rsplit("/", 1)[-1]): row for row in json.loads(done.out)["locks"]}
    sleep = next(row for (kind, name), row in rows.items() if kind == "sleep" and name.endswith(": serve"))
    assert sleep["count"] == 20 and sleep["total_ns"] >= 20 * 20e6
    answer = next(row for (kind, name), row in rows.items() if kind != "gil" and name.endswith(": ask"))
    assert 0.5 * sleep["total_ns"] <= answer["total_ns"], rows.keys()
    assert answer["caller"]["name"].startswith(f"{script}(")
    assert answer["caller"]["pc"] == 0, "a line of Python has no address"


def test_timed_out_waits_say_so(record):
    trace = record([program("sem_results")], LOCKS).trace()
    flags = [(row["kind"], bool(row["flags"] & FLAG_TIMED_OUT)) for row in trace.wait_rows()]
    assert flags.count((SEMAPHORE, True)) == 2 and flags.count((SEMAPHORE, False)) == 3
    assert flags.count((CONDITION, True)) == 2
    trace = record([program("lock_results")], LOCKS).trace()
    assert any(row["kind"] == MUTEX and row["flags"] & FLAG_TIMED_OUT for row in trace.wait_rows())
    assert any(row["kind"] == RWLOCK_READ and row["flags"] & FLAG_TIMED_OUT for row in trace.wait_rows())
    assert any(row["kind"] == RWLOCK_WRITE and row["flags"] & FLAG_TIMED_OUT for row in trace.wait_rows())


def test_nothing_is_recorded_that_was_not_asked_for(record):
    trace = record([program("contended"), "3"], "--trace=threads").trace()
    assert len(trace.waits["time"]) == 0 and len(trace.heap["time"]) == 0
    assert len(trace.thread_events["time"]) > 0

def _stats(outcome):
    done = subprocess.run([str(GPUPROF), "stats", "locks", "--json", str(outcome.bundle)], capture_output=True, env=clean_environment(),
                          check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_deadlock(record, how):
    """Waits without an end have their stack and their holder, whether the process left or was killed, and the circle is named."""
    outcome = record([program("deadlock"), how], LOCKS)
    assert outcome.status == (7 if how == "exit" else -9)
    first, second, one, two, bystander = map(int, outcome.out.split())
    trace = outcome.trace()
    rows = {trace.threads[int(trace.waits["track"][i])].tid: i for i in range(len(trace.waits["time"]))
            if int(trace.waits["operation"][i]) >> 8 & FLAG_INCOMPLETE and int(trace.waits["object"][i]) in (first, second)}
    assert set(rows) == {one, two, bystander}
    assert [int(trace.waits["owner"][rows[tid]]) for tid in (one, two, bystander)] == [two, one, one]
    assert all(trace.waits["stack"][i] > 1 for i in rows.values())
    result = _stats(outcome)
    for lock in result["locks"]:
        if lock["object"] in (first, second) and lock["incomplete_count"] != 0:
            assert [frame["name"] for frame in frames_of(result, lock["call_stack"])][:1] == ["TakeTheOther"]
    assert len(result["deadlocks"]) == 1
    circle = result["deadlocks"][0]
    assert {(w["waiter_tid"], w["holder_tid"], w["object"]) for w in circle["waits"]} == {(one, two, second), (two, one, first)}
    assert circle["blocked_thread_count"] == 3
    text = subprocess.run([str(GPUPROF), "stats", "locks", str(outcome.bundle)], capture_output=True, env=clean_environment(), check=True)
    assert b"Deadlock" in text.stdout and text.stdout.count(b"TakeTheOther") >= 2
    overview = subprocess.run([str(GPUPROF), "stats", "overview", str(outcome.bundle)], capture_output=True, env=clean_environment(),
                              check=True)
    assert b"SY-006" in overview.stdout


@pytest.mark.parametrize("how,kinds", [("join", [{"mutex", "join"}]), ("joins", [{"join"}]), ("timed", [])])
def test_other_circles(record, how, kinds):
    """A thread that joins another waits for it; a wait that ends by itself is none of a deadlock's."""
    outcome = record([program("circles"), how], LOCKS)
    assert outcome.status == -9
    result = _stats(outcome)
    assert [{wait["kind"] for wait in circle["waits"]} for circle in result["deadlocks"]] == kinds


def test_snapshot_of_a_deadlock(session):
    """It can be asked for while the program hangs."""
    running = session([program("deadlock"), "wait"], LOCKS, "--ring=8MiB")
    first, second, one, two, _ = map(int, running.line().split())
    assert running.ctl("snapshot").status == 0
    snapshot = next(running.bundle.glob("snapshot-*"))
    done = subprocess.run([str(GPUPROF), "stats", "locks", "--json", str(snapshot)], capture_output=True, env=clean_environment(), check=True)
    circles = json.loads(done.stdout)["deadlocks"]
    assert [{w["waiter_tid"] for w in circle["waits"]} for circle in circles] == [{one, two}]
    running.tell("go\n")
    assert running.finish().status == 7
