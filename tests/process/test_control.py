# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Captures switched on and off from outside: by signal, by socket, a thousand times, without growth, with consistent records."""

import collections
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import numpy
import pytest

from conftest import GPUPROF, HEAP_EXACT, gpuprof, program, verify


def _vitals(run):
    """Threads, descriptors, resident KiB, as the program counts them."""
    time.sleep(0.3)  # for threads that have just ended
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
        time.sleep(0.05)
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
    # 20 blocks each half a millisecond and thread at most; each capture lasted 50 ms or more.
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


def _toggle_by_signal(run):
    os.kill(run.pid, signal.SIGUSR1)


def _come_to_rest(run):
    """Stops a capture that is still under way; the number of captures so far."""
    time.sleep(0.3)
    if run.state()["state"] == "capturing":
        assert run.ctl("stop").status == 0
    assert run.state()["state"] == "dormant"
    return run.state()["captures"]


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
    assert process == {"pid": run.pid, "state": "stopped", "program": "toggled"}


def test_a_stopped_process_is_not_waited_for(stopped):
    for verb in ("status", "start", "snapshot"):
        answer = gpuprof("ctl", verb, stopped.pid, timeout=30)
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
        answer = gpuprof("ctl", "snapshot", stopped.pid, timeout=30)
    finally:
        for one in asking:
            one.close()
    assert 1 < len(asking) < 100
    assert answer.status == 3 and "it is stopped" in answer.err.decode(), answer.err.decode()


def test_thousand_toggles_by_signal(session):
    # Small rings: large ones would still be touched for the first time while memory is compared.
    run = session([program("toggled"), "3"], "--capture=off", "--trace=heap=sampled:65536,locks,threads", "--ring-memory=1MiB")
    assert run.line() == "ready"
    # The first captures warm up: rings and our own heap are touched for the first time.
    for _ in range(600):
        _toggle_by_signal(run)
        time.sleep(0.003)
    assert _come_to_rest(run) > 150
    before = _vitals(run)
    for _ in range(1000):
        _toggle_by_signal(run)
        time.sleep(0.003)
    # Signals that arrive while one is pending are one; the state in the end is what counts.
    captures = _come_to_rest(run)
    assert captures > 400
    after = _vitals(run)
    assert after[:2] == before[:2], "threads and descriptors"
    assert after[2] - before[2] < 512, f"resident memory grew from {before[2]} to {after[2]} KiB"
    outcome = run.finish(timeout=120)
    assert outcome.status == 0
    verify(outcome.bundle)
    _consistent(outcome.trace(), captures)


def test_thousand_toggles_by_socket(session):
    """Straight on the socket, without a new client process each time."""
    run = session([program("toggled"), "3"], "--capture=off", "--trace=heap=sampled:65536,locks,threads", "--ring-memory=1MiB")
    assert run.line() == "ready"
    folder = pathlib.Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp") / f"gpuprof-{os.geteuid()}"

    def ask(verb):
        path = next(folder.glob(f"{run.pid}-*.sock"))
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(30)
            client.connect(str(path))
            client.sendall(verb.encode() + b"\n")
            answer = b"".join(iter(lambda: client.recv(4096), b""))
        return dict(line.split("=", 1) for line in answer.decode().splitlines())

    assert run.ctl("start").status == 0 and run.ctl("stop").status == 0  # it opens its socket
    before = None
    for i in range(1000):
        answer = ask("toggle")
        assert answer["result"] == "ok", answer
        assert answer["state"] == ("capturing" if i % 2 == 0 else "dormant")
        if i == 399:
            before = _vitals(run)
    assert ask("nonsense")["result"] == "error"
    after = _vitals(run)
    assert after[:2] == before[:2]
    assert after[2] - before[2] < 512, f"resident memory grew from {before[2]} to {after[2]} KiB"
    outcome = run.finish(timeout=120)
    assert outcome.status == 0
    verify(outcome.bundle)
    _consistent(outcome.trace(), 501)


def test_delayed_capture(record):
    trace = record([sys.executable, "-c",
                   "import time\nend = time.time() + 1.5\nwhile time.time() < end: bytearray(500000); time.sleep(0.001)"],
                   "--capture=delay:300ms+400ms", HEAP_EXACT, "--clock=monotonic").trace()
    assert [(n, s, t) for n, s, t in trace.captures] == [(1, True, "delay"), (1, False, "delay")]
    times = trace.heap["time"]
    assert 0.2e9 < int(times.max() - times.min()) < 0.8e9


def test_delayed_capture_of_forked_children(record):
    """They are recorded in the same moments as the process that they were forked from."""
    traces = record([program("delayed")], "--capture=delay:500ms+1s", "--trace=heap=exact").traces()
    assert len(traces) == 2
    for trace in traces:
        assert [(n, s, t) for n, s, t in trace.captures] == [(1, True, "delay"), (1, False, "delay")]
        count = len(trace.allocations(set(range(10000, 10030)) | set(range(20000, 20030))))
        assert 3 <= count <= 14, count


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
