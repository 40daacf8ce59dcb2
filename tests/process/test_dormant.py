# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A process that nobody has asked to record has no thread of gpuprof, and is found and woken all the same."""

import json
import os
import pathlib
import signal

import pytest

from conftest import gpuprof, program, short_and_long, verify
from waiting import wait_until

OFF = "--capture=off"


def _threads(pid):
    names = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended
    return sorted(names)


def _sockets(pid):
    return [line for line in pathlib.Path("/proc/net/unix").read_text().splitlines() if f"/{pid}-" in line]


def test_no_thread_and_no_socket(session):
    run = session([program("toggled"), "3"], OFF)
    assert run.line() == "ready"
    assert set(_threads(run.pid)) == {"toggled"} and not _sockets(run.pid)
    listed = json.loads(gpuprof("ps", "--json").out)["processes"]
    (mine,) = [process for process in listed if process["pid"] == run.pid]
    assert (mine["state"], mine["captures"], mine["program"], mine["bundle"]) == ("dormant", 0, "toggled", str(run.bundle))
    assert mine == run.state() and mine["signal"] == signal.SIGUSR1
    assert set(_threads(run.pid)) == {"toggled"}, "to be asked for its state wakes nobody"
    outcome = run.finish()
    assert outcome.status == 0 and not list(outcome.bundle.glob("p*"))


def test_stopped_before_it_was_ever_asked(session):
    run = session([program("toggled"), "1"], OFF)
    assert run.line() == "ready"
    os.kill(run.pid, signal.SIGSTOP)
    wait_until(lambda: "State:\tT" in pathlib.Path(f"/proc/{run.pid}/status").read_text(), "the stop")
    started, listed = run.ctl("start"), gpuprof("ps")
    assert started.status == 3 and "it is stopped" in started.err.decode()
    assert f"process {run.pid}: did not answer" in listed.err.decode() and "stopped" in listed.out.decode()
    os.kill(run.pid, signal.SIGCONT)
    assert run.finish().status == 0


def test_requests_that_need_a_capture_wake_nobody(session):
    run = session([program("toggled"), "3"], OFF)
    assert run.line() == "ready"
    stop, snapshot = run.ctl("stop"), run.ctl("snapshot")
    assert stop.status == 1 and b"no capture is running" in stop.err
    assert snapshot.status == 1 and b"nothing was recorded yet" in snapshot.err
    assert set(_threads(run.pid)) == {"toggled"}
    assert run.finish().status == 0


WAYS = ["heap", "threads", "loader", "sleep", "poll", "join", "compute", "blocks"]


@pytest.mark.parametrize("by", ["signal", "ctl"])
@pytest.mark.parametrize("how", WAYS)
def test_whatever_it_does_it_wakes(session, how, by):
    run = session([program("busy_ways"), how], OFF)
    assert run.line() == "2 threads"
    if by == "ctl":
        started = run.ctl("start")
        assert started.status == 0, started.err.decode()
    else:
        os.kill(run.pid, signal.SIGUSR1)
    run.wait_for(lambda: run.state()["state"] == "capturing")
    assert "gpuprof-ctl" in _threads(run.pid)
    stopped = run.ctl("stop")
    assert stopped.status == 0, stopped.err.decode()
    outcome = run.finish()
    assert (outcome.status, outcome.out) == (0, b"the end\n")
    verify(outcome.bundle)
    assert [mark[1] for mark in outcome.trace().captures] == [True, False]


@short_and_long("rounds", 5, 200)
@pytest.mark.parametrize("how", ["heap", "threads", "loader"])
def test_at_any_moment(session, how, rounds):
    """Where the program was when the signal came: in malloc with a lock held, in pthread_create, in the loader."""
    for _ in range(rounds):
        run = session([program("busy_ways"), how], OFF)
        assert run.line() == "2 threads"
        os.kill(run.pid, signal.SIGUSR1)
        run.wait_for(lambda: run.state()["captures"] == 1)
        assert run.finish().out == b"the end\n"


@pytest.mark.parametrize("how", ["sigaction", "siginfo", "signal", "reset", "nodefer"])
def test_ctl_does_not_run_the_programs_handler(session, how):
    run = session([program("own_handler"), how], OFF)
    while run.line() != "ready":
        pass
    assert run.ctl("start").status == 0
    run.tell("\n")
    assert run.line() == "runs 0, info 0"
    run.wait_for(lambda: run.state()["state"] == "capturing")
    outcome = run.finish()
    assert outcome.status == 0
    verify(outcome.bundle)


def test_forked_children_are_woken_one_by_one(session):
    code = ("import os, sys\nchild = os.fork()\nif child == 0:\n    sys.stdin.readline()\n    os._exit(0)\n"
            "print(child, flush=True)\nsys.stdin.readline()\n")
    run = session(["/usr/bin/env", "python3", "-c", code], OFF)
    child = int(run.line())
    assert not [name for pid in (run.pid, child) for name in _threads(pid) if name.startswith("gpuprof")]
    assert gpuprof("ctl", "start", child).status == 0
    assert [name for name in _threads(child) if name.startswith("gpuprof")]
    assert not [name for name in _threads(run.pid) if name.startswith("gpuprof")]
    assert json.loads(gpuprof("ctl", "status", "--json", child).out)["processes"][0]["state"] == "capturing"
    assert run.state()["state"] == "dormant"
    run.tell("\n\n")
    assert run.finish().status == 0


def test_all_threads_block_the_signal(session):
    code = ("import signal, sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\nprint('ready', flush=True)\n"
            "sys.stdin.readline()\n")
    run = session(["/usr/bin/env", "python3", "-c", code], OFF)
    assert run.line() == "ready"
    done = run.ctl("start")
    assert done.status == 3 and "blocks signal 10" in done.err.decode() and "--signal" in done.err.decode()
    assert run.finish().status == 0


def test_a_handler_taken_away_is_not_signalled(session):
    """The system call, not libc's function: the signal would end the program."""
    run = session([program("raw_default")], OFF)
    assert run.line() == "ready"
    done = run.ctl("start")
    assert done.status == 3, done.err.decode()
    run.tell("\n")
    assert run.line() == "alive"
    assert run.finish().status == 0


def test_a_program_with_its_own_allocator(session):
    run = session([program("own_malloc")], OFF)
    assert run.line() == "ready"
    started = run.ctl("start")
    assert started.status == 0, started.err.decode()
    run.wait_for(lambda: run.state()["state"] == "capturing")
    assert run.finish().status == 0
