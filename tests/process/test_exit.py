# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Every way out of a process: the status and output are the bare run's, and the trace is readable and complete, but for one record a
thread at most where the process was killed."""

import collections
import mmap
import os
import random
import signal
import struct
import subprocess
import sys

import pytest

from conftest import GPUPROF, HEAP_EXACT, clean_environment, program, run_bare, verify
from trace_file import (MALLOC, THREAD_EXIT, WAY_ABORT, WAY_QUICK, WAY_RETURN, WAY_UNDERSCORE, WAY_UNKNOWN, EXIT, TraceFile,
                        read_bundle)
from waiting import LIMIT_S, stay

WAYS = {
    "return": (7, WAY_RETURN, 7),
    "exit": (3, WAY_RETURN, 3),
    "thread": (23, WAY_RETURN, 23),
    "pthread_exit": (0, WAY_RETURN, 0),
    "_exit": (4, WAY_UNDERSCORE, 4),
    "_Exit": (5, WAY_UNDERSCORE, 5),
    "handler": (41, WAY_UNDERSCORE, 41),
    "quick_exit": (6, WAY_QUICK, 6),
    "abort": (-signal.SIGABRT, WAY_ABORT, signal.SIGABRT),
    "SIGTERM": (-signal.SIGTERM, WAY_UNKNOWN, None),
    "SIGKILL": (-signal.SIGKILL, WAY_UNKNOWN, None),
    "SIGINT": (-signal.SIGINT, WAY_UNKNOWN, None),
    "SIGSEGV": (-signal.SIGSEGV, WAY_UNKNOWN, None),
    "SIGFPE": (-signal.SIGFPE, WAY_UNKNOWN, None),
}


@pytest.mark.parametrize("way", WAYS)
def test_way_out(same, way):
    status, exit_way, told = WAYS[way]
    outcome = same([program("exit_ways"), way], HEAP_EXACT)
    assert outcome.status == status
    trace = outcome.trace()
    assert trace.exit_way == exit_way
    if told is not None:
        assert trace.exit_status == told
        assert trace.process_event(EXIT) == [(told, exit_way, "")]
    made = trace.allocations({12345})
    assert len(made) == 1000 and {function for function, _, _ in made} == {MALLOC}
    assert trace.matched_frees({12345}) == 1000
    assert trace.lost == 0


@pytest.mark.parametrize("way", ["return", "SIGKILL", "SIGTERM"])
def test_default_recording(same, way):
    """Without exact mode there is little to record: the file is there and whole all the same."""
    trace = same([program("exit_ways"), way]).trace()
    assert trace.program == "exit_ways" and trace.records > 0


def test_abort_that_is_caught(same):
    outcome = same([program("abort_caught")], HEAP_EXACT)
    assert outcome.status == 9
    trace = outcome.trace()
    assert len(trace.allocations({23456})) == 3, "recording goes on behind an abort that was caught"
    assert (trace.exit_way, trace.exit_status) == (WAY_RETURN, 9)


PYTHON = {
    "sys.exit": ("import sys; sys.exit(21)", 21, WAY_RETURN),
    "os._exit": ("import os; os._exit(22)", 22, WAY_UNDERSCORE),
    "exception": ("raise ValueError('told')", 1, WAY_RETURN),
    # Python 3.8 and later end themselves by SIGINT again, past every handler of ours.
    "interrupt": ("import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(1000)", -signal.SIGINT, WAY_UNKNOWN),
    "abort": ("import os; os.abort()", -signal.SIGABRT, WAY_ABORT),
}


@pytest.mark.parametrize("case", PYTHON)
def test_python(same, case):
    code, status, way = PYTHON[case]
    outcome = same([sys.executable, "-c", code], HEAP_EXACT)
    assert outcome.status == status
    trace = outcome.trace()
    assert trace.exit_way == way
    assert len(trace.allocations()) > 1000
    assert trace.lost == 0


def test_ctrl_c_to_the_group(tmp_path):
    """What a terminal does: SIGINT to the launcher and the program alike."""
    bundle = tmp_path / "bundle"
    code = "import time, signal\nprint('ready', flush=True)\ntime.sleep(1000)"
    launcher = subprocess.Popen([str(GPUPROF), "run", "-o", str(bundle), "--", sys.executable, "-c", code],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(),
                                start_new_session=True)
    assert launcher.stdout.readline() == b"ready\n"
    os.killpg(launcher.pid, signal.SIGINT)
    out, err = launcher.communicate(timeout=LIMIT_S)
    assert launcher.returncode == -signal.SIGINT
    assert b"KeyboardInterrupt" in err and b"recorded:" in err
    verify(bundle)
    assert len(read_bundle(bundle)) == 1


def _kill_storm(tmp_path, name, threads, pause, after):
    """Runs the storm, kills it after so many seconds, and returns its trace and the victim's own counters by thread."""
    bundle, counters = tmp_path / f"{name}.bundle", tmp_path / f"{name}.counters"
    launcher = subprocess.Popen(
        [str(GPUPROF), "run", "-o", str(bundle), HEAP_EXACT, "--", program("kill_storm"), str(threads), str(counters), str(pause)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment())
    assert launcher.stdout.readline() == b"ready\n"
    victim = int(open(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read().split()[0])
    stay(after)
    os.kill(victim, signal.SIGKILL)
    launcher.communicate(timeout=LIMIT_S)
    assert launcher.returncode == -signal.SIGKILL
    verify(bundle)
    raw = counters.read_bytes()
    truth = {}
    for i in range(threads):
        tid, begun, done = struct.unpack_from("<3q", raw, i * 64)
        if tid:
            truth[tid] = (begun, done)
    return read_bundle(bundle)[0], truth


# The moments are spread over the first steps of a life: before the tracer is loaded, while it is, and long after.
@pytest.mark.parametrize("round", range(8))
def test_sigkill_of_many_threads(tmp_path, round):
    random.seed(round)
    trace, truth = _kill_storm(tmp_path, "storm", threads=8, pause=300, after=random.choice([0, 0.004, 0.02, 0.1, 0.3]) + random.random() / 50)
    heap = trace.heap
    ours = collections.Counter(heap["track"][(heap["size"] == 34567) & ((heap["operation"] & 1) == 0)].tolist())
    by_tid = {t.tid: t for t in trace.threads.values() if t.track}
    for tid, (begun, done) in truth.items():
        thread = by_tid.get(tid)
        recorded = ours[thread.track] if thread else 0
        dropped = max(thread.dropped, trace.dropped.get(thread.track, 0)) if thread else 0
        if dropped == 0:
            # One record may be lost: that of the last allocation, or of the last free before it.
            assert done - 1 <= recorded <= begun, f"thread {tid}: {done} to {begun} made, {recorded} recorded"
        else:
            assert recorded <= begun <= recorded + dropped + 1
    assert sum(ours.values()) > 0 or not any(done for _, done in truth.values())


def test_sigkill_long_after(tmp_path):
    """Seconds after the start much of the trace has been written: nothing may stand in it twice or be missing."""
    trace, truth = _kill_storm(tmp_path, "long", threads=3, pause=100, after=2.5)
    made = len(trace.allocations({34567}))
    begun, done = (sum(t[i] for t in truth.values()) for i in (0, 1))
    dropped = sum(trace.dropped.values())
    assert done - 3 <= made + dropped and made <= begun


def test_sigterm_with_handler_that_exits(session):
    """A server that ends orderly on SIGTERM."""
    code = ("import signal, sys\n"
            "signal.signal(signal.SIGTERM, lambda *a: sys.exit(33))\n"
            "print('ready', flush=True)\n"
            "signal.pause()")
    server = session([sys.executable, "-c", code], HEAP_EXACT)
    assert server.line() == "ready"
    os.kill(server.process.pid, signal.SIGTERM)  # to the launcher, which passes it on
    outcome = server.finish()
    assert outcome.status == 33
    verify(outcome.bundle)
    assert outcome.trace().exit_status == 33


def test_exits_while_the_recorder_is_at_work(record):
    """Whoever ends the capture, the thread that exits or the recorder's own, the other finds it ended."""
    outcome = record([program("exits_at_work"), "1200"], HEAP_EXACT)
    assert (outcome.status, outcome.out) == (0, b"0 ended wrongly\n")


def test_handlers_of_quick_exit_are_recorded(same):
    outcome = same([program("quick_exit_handlers")], HEAP_EXACT)
    trace = outcome.trace()
    assert (outcome.status, trace.exit_way, trace.exit_status) == (7, WAY_QUICK, 7)
    assert len(trace.allocations({10008})) == 10 and len(trace.allocations({10007})) == 1000
    assert trace.lost == 0 and len(trace.wait_rows()) >= 1
