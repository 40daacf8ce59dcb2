# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Captures switched on and off from outside: by signal, by socket, a thousand times, without growth, with consistent records."""

import collections
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import numpy
import pytest

from conftest import GPUPROF, HEAP_EXACT, gpuprof, program, verify
from trace_file import read_bundle
from waiting import LIMIT_S, wait_until_at_rest


def _threads(pid):
    names = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            names.append(path.read_text().rstrip("\n"))
    return names


def _vitals(run):
    """Threads, descriptors, resident KiB, as the program counts them between captures."""
    run.wait_for(lambda: "gpuprof-drain" not in _threads(run.pid))
    run.tell("\n")
    return [int(x) for x in run.line().split()]


def _consistent(trace, captures):
    """Marks pair up, and every row belongs to a capture that exists and lies between its marks."""
    starts = [number for number, start, _ in trace.captures if start]
    ends = [number for number, start, _ in trace.captures if not start]
    assert starts == list(range(1, captures + 1)) and ends == starts
    for table in (trace.heap, trace.waits, trace.thread_events):
        assert set(numpy.unique(table["capture"])) <= set(starts)
        for track in numpy.unique(table["track"]):
            order = table["capture"][table["track"] == track]
            assert numpy.all(numpy.diff(order) >= 0), "rows of a capture stand behind those of a later one"


def test_ten_captures_by_socket(session):
    run = session([program("toggled"), "3"], "--capture=off", HEAP_EXACT)
    assert run.line() == "ready"
    events = 0
    for i in range(1, 11):
        assert run.ctl("start").status == 0
        run.record_some(400)
        assert run.ctl("stop").status == 0
        state = run.state()
        assert (state["state"], state["captures"]) == ("dormant", i)
        assert state["events"] > events
        events = state["events"]
    outcome = run.finish()
    assert outcome.status == 0
    verify(outcome.bundle)
    trace = outcome.trace()
    _consistent(trace, 10)
    made = collections.Counter(trace.heap["capture"][trace.heap["size"] == 25025].tolist())
    assert sorted(made) == list(range(1, 11))
    # Each capture has 400 events or more. Two of them are a block's, and waits for the mutex are few.
    assert all(count >= 100 for count in made.values()), made
    # Of the blocks allocated in a capture nearly all are freed in it: at most one a thread is alive when it ends.
    for capture in made:
        mine = trace.heap["capture"] == capture
        frees = int((trace.heap["operation"][mine] & 1).sum())
        assert abs(frees - made[capture]) <= 3 + 20, (capture, frees, made[capture])


def test_wrong_moments(session):
    run = session([program("toggled"), "1"], "--capture=off")
    assert run.line() == "ready"
    stopped = run.ctl("stop")
    assert stopped.status == 1 and b"no capture is running" in stopped.err
    assert run.ctl("start").status == 0
    again = run.ctl("start")
    assert again.status == 1 and b"already running" in again.err
    assert run.ctl("toggle").status == 0
    assert run.state()["state"] == "dormant"
    assert run.finish().status == 0


def _ask(run, verb):
    """Asks straight on the socket, without a new client process each time."""
    folder = pathlib.Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp") / f"gpuprof-{os.geteuid()}"
    path = next(folder.glob(f"{run.pid}-*.sock"))
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(LIMIT_S)
        client.connect(str(path))
        client.sendall(verb.encode() + b"\n")
        answer = b"".join(iter(lambda: client.recv(4096), b""))
    return dict(line.split("=", 1) for line in answer.decode().splitlines())


def _toggle_by_signal(run):
    os.kill(run.pid, signal.SIGUSR1)


def _toggle_until(run, captures):
    """Sends signals as fast as they go, until there were so many captures. Signals that arrive while one is pending are one."""
    while int(_ask(run, "status")["captures"]) < captures:
        _toggle_by_signal(run)


def _come_to_rest(run):
    """Waits until no signal is under way, and stops a capture that is."""
    wait_until_at_rest(run.pid, signal.SIGUSR1)
    run.wait_for(lambda: _ask(run, "status")["state"] == "dormant" or _ask(run, "stop") is None)


@pytest.fixture
def stopped(session):
    """A process that has recorded and is dormant again, and then was stopped; it goes on to a good end."""
    run = session([program("toggled"), "1"], "--capture=off")
    assert run.line() == "ready"
    assert run.ctl("start").status == 0 and run.ctl("stop").status == 0
    os.kill(run.pid, signal.SIGSTOP)
    try:
        yield run
    finally:
        os.kill(run.pid, signal.SIGCONT)
    assert run.finish().status == 0


def test_a_stopped_process_is_listed(stopped):
    run = stopped
    table, listed = gpuprof("ps"), gpuprof("ps", "--json")
    assert table.status == listed.status == 0
    assert "no running process" not in table.err.decode() and f"process {run.pid}: did not answer" in table.err.decode()
    (row,) = [line.split() for line in table.out.decode().splitlines() if line.split()[0] == str(run.pid)]
    assert row == [str(run.pid), "stopped", "toggled"]
    (process,) = [process for process in json.loads(listed.out)["processes"] if process["pid"] == run.pid]
    assert process == {"pid": run.pid, "namespace_pid": run.pid, "state": "stopped", "program": "toggled"}


def test_a_stopped_process_with_a_full_queue_is_listed(stopped):
    # Nobody takes the requests from its queue, which holds some.
    for _ in range(12):
        listed = gpuprof("ps", "--json")
        assert stopped.pid in [process["pid"] for process in json.loads(listed.out)["processes"]]


def test_a_stopped_process_is_not_waited_for(stopped):
    for verb in ("status", "start", "snapshot"):
        answer = gpuprof("ctl", verb, stopped.pid)
        assert answer.status == 3 and "it is stopped" in answer.err.decode(), answer.err.decode()


def test_a_stopped_process_that_many_have_asked_is_not_waited_for(stopped):
    """Its listener has no room for another."""
    names = [line.split()[-1] for line in pathlib.Path("/proc/net/unix").read_text().splitlines() if f"/{stopped.pid}-" in line]
    assert len(names) == 1, names
    if not names[0].startswith("@"):  # bound by an open folder, whose number is the process's alone
        folder = pathlib.Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp", f"gpuprof-{os.geteuid()}")
        names = [str(folder / pathlib.Path(names[0]).name)]
    asking = []
    try:
        while len(asking) < 100:
            asking.append(socket.socket(socket.AF_UNIX))
            asking[-1].setblocking(False)
            asking[-1].connect(names[0].replace("@", "\0", 1) if names[0].startswith("@") else names[0])
    except BlockingIOError:
        answer = gpuprof("ctl", "snapshot", stopped.pid)
    finally:
        for one in asking:
            one.close()
    assert 1 < len(asking) < 100
    assert answer.status == 3 and "it is stopped" in answer.err.decode(), answer.err.decode()


def test_thousand_toggles_by_signal(session):
    # Small rings: large ones would still be touched for the first time while memory is compared.
    run = session([program("toggled"), "3"], "--capture=off", "--trace=heap=sampled:65536,locks,threads", "--ring-memory=1MiB")
    assert run.line() == "ready"
    _toggle_by_signal(run)
    run.wait_for(lambda: run.state()["state"] == "capturing")  # it opens its socket
    # The first captures warm up: rings and our own heap are touched for the first time.
    _toggle_until(run, 200)
    _come_to_rest(run)
    before = _vitals(run)
    _toggle_until(run, 500)
    _come_to_rest(run)
    after = _vitals(run)
    assert after[:2] == before[:2], "threads and descriptors"
    assert after[2] - before[2] < 512, f"resident memory grew from {before[2]} to {after[2]} KiB"
    outcome = run.finish()
    assert outcome.status == 0
    verify(outcome.bundle)
    trace = outcome.trace()
    captures = sum(start for _, start, _ in trace.captures)
    assert captures >= 500
    _consistent(trace, captures)


def test_thousand_toggles_by_socket(session):
    run = session([program("toggled"), "3"], "--capture=off", "--trace=heap=sampled:65536,locks,threads", "--ring-memory=1MiB")
    assert run.line() == "ready"
    assert run.ctl("start").status == 0 and run.ctl("stop").status == 0  # it opens its socket
    before = None
    for i in range(1000):
        answer = _ask(run, "toggle")
        assert answer["result"] == "ok", answer
        assert answer["state"] == ("capturing" if i % 2 == 0 else "dormant")
        if i == 399:
            before = _vitals(run)
    assert _ask(run, "nonsense")["result"] == "error"
    after = _vitals(run)
    assert after[:2] == before[:2]
    assert after[2] - before[2] < 512, f"resident memory grew from {before[2]} to {after[2]} KiB"
    outcome = run.finish()
    assert outcome.status == 0
    verify(outcome.bundle)
    _consistent(outcome.trace(), 501)


DELAYED = [(1, True, "delay"), (1, False, "delay")]
ALLOCATES = """
import sys, threading, time
ends = threading.Thread(target=sys.stdin.readline)
ends.start()
while ends.is_alive():
    bytearray(500000)
    time.sleep(0.001)
"""


def _is_over(pid):
    """Whether a capture has come and gone."""
    done = gpuprof("ctl", "status", "--json", pid)
    answer = json.loads(done.out)["processes"][0] if done.status == 0 else {}
    return (answer.get("captures"), answer.get("state")) == (1, "dormant")


def test_delayed_capture(session):
    run = session([sys.executable, "-c", ALLOCATES], "--capture=delay:300ms+400ms", HEAP_EXACT, "--clock=monotonic")
    run.wait_for(lambda: _is_over(run.pid))
    run.tell("\n")
    outcome = run.finish()
    trace = outcome.trace()
    assert trace.captures == DELAYED
    (process,) = json.loads(gpuprof("info", "--json", outcome.bundle).out)["processes"]
    (capture,) = process["captures"]
    times = trace.heap["time"]
    assert 0 < int(times.max() - times.min()) <= capture["end_ns"] - capture["start_ns"]


def test_delayed_capture_of_forked_children(session):
    """They are recorded in the same moments as the process that they were forked from."""
    run = session([program("delayed")], "--capture=delay:500ms+1s", "--trace=heap=exact")
    child = int(run.line())
    run.wait_for(lambda: _is_over(run.pid) and _is_over(child))
    run.process.stdin.close()
    last = sorted([int(run.line()), int(run.line())])
    assert run.process.wait(timeout=LIMIT_S) == 0
    traces = read_bundle(run.bundle)
    assert len(traces) == 2
    for trace in traces:
        assert trace.captures == DELAYED
        size = last[trace.pid == run.pid]
        first = 100_001 if trace.pid == child else 200_001
        made = {row[2] for row in trace.allocations(set(range(first, size + 1)))}
        assert made and size not in made and made == set(range(min(made), max(made) + 1)), (made, size)


def test_program_that_closes_all_descriptors(same):
    outcome = same([program("closes_all")], HEAP_EXACT)
    assert outcome.out == b"0 wrong\n"
    assert len(outcome.trace().allocations({26026})) == 20


def test_control_after_all_descriptors_were_closed(session):
    run = session([program("closes_all"), "hold"], "--capture=off", HEAP_EXACT)
    assert run.line() == "0 wrong" and run.line() == "ready"
    run.wait_for(lambda: run.ctl("status").status == 0)
    _toggle_by_signal(run)
    run.wait_for(lambda: run.state()["state"] == "capturing")
    assert run.ctl("stop").status == 0
    outcome = run.finish()
    assert outcome.status == 0
    verify(outcome.bundle)


def test_other_users_may_not_ask(session):
    if os.geteuid() != 0:
        pytest.skip("needs root to become somebody else")
    run = session([program("toggled"), "1"], "--capture=off")
    assert run.line() == "ready"
    run.wait_for(lambda: run.ctl("status").status == 0)
    done = subprocess.run([str(GPUPROF), "ctl", "start", str(run.pid)], capture_output=True, user=65534, group=65534,
                          extra_groups=[], env={"PATH": os.environ["PATH"]})
    assert done.returncode != 0 and done.stderr
    assert run.state()["state"] == "dormant"
    assert run.finish().status == 0
