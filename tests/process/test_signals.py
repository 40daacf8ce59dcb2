# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""SIGUSR1 toggles, and belongs to the program all the same: its handler, its flags, its queries, its sigwait."""

import os
import pathlib
import signal
import sys

import pytest

from conftest import HEAP_EXACT, gpuprof, program, run_bare, verify


def _kill(run):
    os.kill(run.pid, signal.SIGUSR1)


HOWS = {  # what the queries must answer before and after, and whether the handler stays
    "sigaction": True, "siginfo": True, "signal": True, "nodefer": True, "reset": False,
}


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("capture", ["now", "off"])
def test_own_handler_runs_and_capture_toggles(session, how, capture):
    run = session([program("own_handler"), how], f"--capture={capture}")
    bare = run_bare([program("own_handler"), how], stdin=b"")
    said = []
    while not said or said[-1] != "ready":
        said.append(run.line())
    # The queries answer as in the bare run.
    assert said == bare.out.decode().splitlines()[:len(said)]
    count = 4 if HOWS[how] else 1
    state = capture == "now"
    run.wait_for(lambda: run.state()["state"] == ("capturing" if state else "dormant"))
    for i in range(1, count + 1):
        _kill(run)
        state = not state
        run.wait_for(lambda: run.state()["state"] == ("capturing" if state else "dormant"))
        run.tell("\n")
        assert run.line() == f"runs {i}, info {int(how == 'siginfo')}"
    outcome = run.finish()
    assert outcome.status == 0
    last = outcome.out.decode().splitlines()[-1]
    wanted = bare.out.decode().splitlines()[-1]
    if how == "reset":
        wanted = wanted.replace("mine", "default").replace(wanted.split("flags ")[1].split(",")[0], "0").replace("1", "0")
        assert "default" in last
    else:
        assert last == wanted
    verify(outcome.bundle)
    assert [t for _, start, t in outcome.trace().captures if start and t == "signal"] == ["signal"] * (
        (count + (capture == "off")) // 2)


def test_without_handler_the_signal_only_toggles(session):
    run = session([program("own_handler"), "default"], "--capture=off")
    while run.line() != "ready":
        pass
    for i in range(4):
        _kill(run)
        run.wait_for(lambda: run.state()["state"] == ("capturing" if i % 2 == 0 else "dormant"))
    outcome = run.finish()
    assert outcome.status == 0
    assert outcome.out.decode().splitlines()[-1] == run_bare([program("own_handler"), "default"], stdin=b"").out.decode().splitlines()[-1]


IGNORING = """
import signal, sys
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
print("ignores", flush=True)
sys.stdin.readline()
signal.signal(signal.SIGUSR1, signal.SIG_DFL)
print("no longer", flush=True)
sys.stdin.readline()
"""


def test_a_program_that_ignores_the_signal_is_reached_by_ctl(session):
    """Truly ignored: a handler of ours would end its sleeps. Status says so, and the signal toggles again once it is not."""
    run = session([sys.executable, "-c", IGNORING], "--capture=off")
    assert run.line() == "ignores"
    assert run.state()["signal"] == 0
    status = pathlib.Path(f"/proc/{run.pid}/status").read_text()
    assert int(status.split("SigIgn:")[1].split()[0], 16) >> (signal.SIGUSR1 - 1) & 1
    _kill(run)
    assert run.state()["state"] == "dormant"
    assert run.ctl("start").status == 0
    run.wait_for(lambda: run.state()["state"] == "capturing")
    run.tell("\n")
    assert run.line() == "no longer"
    assert run.state()["signal"] == signal.SIGUSR1
    _kill(run)
    run.wait_for(lambda: run.state()["state"] == "dormant")
    run.tell("\n")
    assert run.finish().status == 0


@pytest.mark.parametrize("capture", ["now", "off"])
def test_older_functions(same, capture):
    """sigset, sigignore, siginterrupt and the variants of signal: as without us, step by step. The signals toggle."""
    same([program("older_signals")], f"--capture={capture}", "--trace=heap=exact,threads")


PYTHON = """
import os, signal, sys, threading, time
runs = []
def handler(number, frame):
    runs.append(number)
before = signal.signal(signal.SIGUSR1, handler)
print(before == signal.SIG_DFL, signal.getsignal(signal.SIGUSR1) is handler, flush=True)
for line in sys.stdin:
    print(len(runs), flush=True)
print(signal.signal(signal.SIGUSR1, signal.SIG_DFL) is handler)
"""


def test_python_handler(session):
    run = session([sys.executable, "-c", PYTHON], "--capture=off")
    assert run.line() == "True True"
    for i in range(1, 7):
        _kill(run)
        run.wait_for(lambda: run.state()["state"] == ("capturing" if i % 2 else "dormant"))
        run.tell("\n")
        assert run.line() == str(i)
    outcome = run.finish()
    assert outcome.status == 0 and outcome.out == b"True\n"
    verify(outcome.bundle)
    assert [mark for mark in outcome.trace().captures if mark[1]] == [(n, True, "signal") for n in (1, 2, 3)]


@pytest.mark.parametrize("flags", ["restart", "plain"])
def test_interrupted_calls(same, flags):
    """EINTR and restarts come as the program chose; the handler runs each time."""
    same([program("interrupted"), flags])


def test_sigwait_still_gets_it(session):
    run = session([program("sigwaits"), "3"], "--capture=off")
    assert run.line() == "ready"
    for _ in range(3):
        _kill(run)
        assert run.line() == "sigwait 0: 1"
    assert run.line() == "pending 0"
    assert run.finish().status == 0


def test_another_signal(session):
    run = session([program("own_handler"), "sigaction"], "--capture=off", "--signal=USR2")
    while run.line() != "ready":
        pass
    assert run.state()["signal"] == signal.SIGUSR2
    os.kill(run.pid, signal.SIGUSR2)
    run.wait_for(lambda: run.state()["state"] == "capturing")
    _kill(run)
    run.tell("\n")
    assert run.line() == "runs 1, info 0"
    assert run.state()["state"] == "capturing", "SIGUSR1 is the program's alone"
    assert run.finish().status == 0


SENDERS = """
import os, signal, subprocess, sys, time
runs = []
signal.signal(signal.SIGUSR1, lambda *_: runs.append(1))
me = os.getpid()
def until(count):
    while len(runs) < count:
        time.sleep(0.001)
os.kill(me, signal.SIGUSR1); until(1)
signal.pthread_kill(__import__("threading").get_ident(), signal.SIGUSR1); until(2)
if os.fork() == 0:
    kept = [bytearray(1000) for _ in range(1000)]
    os.kill(me, signal.SIGUSR1)
    os._exit(0)
os.wait(); until(3)
subprocess.run([sys.executable, "-c", f"import os, signal; os.kill({me}, signal.SIGUSR1)"]); until(4)
subprocess.run(["/bin/sh", "-c", f"kill -USR1 {me}"]); until(5)
print(len(runs), flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("options", [(HEAP_EXACT,), ("--capture=off",)])
def test_a_recorded_process_sends_the_programs_own_signal(session, options):
    """By whatever of its processes, it switches nothing. One that comes from outside does."""
    run = session([sys.executable, "-c", SENDERS], *options)
    before = "capturing" if options == (HEAP_EXACT,) else "dormant"
    after = "dormant" if options == (HEAP_EXACT,) else "capturing"
    assert run.line() == "5"
    assert run.state()["state"] == before
    _kill(run)
    run.wait_for(lambda: run.state()["state"] == after)
    assert run.state()["captures"] == 1
    run.tell("\n")
    assert run.finish().status == 0


def test_no_signal(session):
    """--signal none: SIGUSR1 keeps its meaning, which is death without a handler."""
    run = session([program("own_handler"), "default"], "--capture=off", "--signal=none")
    while run.line() != "ready":
        pass
    assert run.state()["signal"] == 0
    assert run.ctl("start").status == 0
    _kill(run)
    outcome = run.finish()
    assert outcome.status == -signal.SIGUSR1
    verify(outcome.bundle)


def test_ignored_before_the_start_stays_ignored_in_children(session):
    """A program that inherits SIG_IGN sees SIG_IGN, and what it executes inherits it too."""
    code = ("import os, signal, sys\n"
            "print(signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN, flush=True)\n"
            "os.execv('/bin/sh', ['sh', '-c', 'kill -USR1 $$; echo alive'])")
    ignoring = ("import os, signal, sys\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)\n"
                "os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])")
    run = session([sys.executable, "-c", ignoring, code])
    outcome = run.finish()
    assert (outcome.status, outcome.out) == (0, b"True\nalive\n")


@pytest.mark.parametrize("how", ["handler", "ignore"])
@pytest.mark.parametrize("capture", ["now", "off"])
def test_what_a_spawned_child_sets_is_its_own(same, how, capture):
    """A vfork child puts SIGUSR1 back to the default in its parent's memory: the parent's handler stays (Python's
    subprocess does it for each child). What is ignored stays ignored in children made by vfork, fork and posix_spawn."""
    outcome = same([program("spawned_signals"), how], f"--capture={capture}", "--exclude=sh,dash,bash")
    assert outcome.out.count(b"handler ran 2 times" if how == "handler" else b"alive") == (1 if how == "handler" else 6)


@pytest.mark.parametrize("options", [(), (HEAP_EXACT,), ("--capture=off",)])
def test_what_is_blocked_stays_blocked(same, options):
    """Taking a stack lets no signal in that the thread holds back."""
    same([program("blocked_signals")], *options)


@pytest.mark.parametrize("options", [(), (HEAP_EXACT,), ("--ring=8MiB",)])
def test_a_forked_child_without_a_file_can_be_asked(same, options):
    same([program("silent_signalled")], *options)


@pytest.mark.parametrize("verb", ["snapshot", "stop", "toggle"])
def test_a_forked_child_without_a_file_can_be_controlled(session, verb):
    run = session([program("silent_signalled"), "hold"], "--ring=8MiB")
    assert run.line() == "ready"
    child = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()[0]
    run.wait_for(lambda: gpuprof("ctl", verb, child).status == 0)
    assert run.finish().out.decode().splitlines()[-1] == "child lives"


@pytest.mark.parametrize("options", [("--trace=heap=exact",), (HEAP_EXACT, "--ring=8MiB"), ("--trace=heap=sampled:1KiB",)])
def test_what_libc_holds_back_stays_so(same, options):
    """Signals of libc's own, which its functions never block, are blocked on its own threads: there too stacks are taken."""
    same([program("timer_thread")], *options)
