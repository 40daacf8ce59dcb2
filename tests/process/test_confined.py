# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs that lose rights, resources or their place in the file system, in namespaces, under limits, system call filters and clocks
that are set: each behaves as without us, and what could not be recorded is said or counted."""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import GPUPROF, HEAP_EXACT, clean_environment, gpuprof, needs, needs_root, program, run_bare, verify
from trace_file import NO_RING, RING_FULL, read_bundle
from waiting import LIMIT_S, stay

WHENS = ["early", "late", "middle"]
BEFORE, AFTER = 70001, 70002


def _may(*words):
    """Whether this machine lets a command succeed; the reason otherwise."""
    if shutil.which(words[0]) is None:
        return f"{words[0]} is not installed"
    done = subprocess.run([*words, "true"], capture_output=True)
    return "" if done.returncode == 0 else f"{' '.join(words)}: {done.stderr.decode().strip() or done.returncode}"


def _needs(*words):
    reason = _may(*words)
    return pytest.mark.skipif(reason != "", reason=reason)


def _in_order(outcome, when, threads=4):
    """Rows and declared losses are what was done, unless the program was told that the recording had ended."""
    allocations = collections.Counter({AFTER: 2000 * (threads + 1)})
    if when == "late":
        allocations[BEFORE] = 1500
    if when == "middle":
        allocations[BEFORE] = 200
    said_so = "cannot record" in outcome.words
    traces = [t for t in outcome.traces() if t.program == "confined"]
    assert len(traces) <= 1
    lost = sum(t.losses.get(kind, 0) for t in traces for kind in (RING_FULL, NO_RING))
    for size, count in allocations.items():
        made = sum(len(t.allocations({size})) for t in traces)
        assert made <= count
        assert made + lost >= count or said_so, f"{count - made} blocks of {size} missing, {lost} declared: {outcome.words}"


@needs_root
@pytest.mark.parametrize("when", WHENS)
@pytest.mark.parametrize("what", ["user", "nofile", "memory"])
def test_loss_of_a_right(same, what, when):
    # The limit of memory leaves room for the usual rings.
    outcome = same([program("confined"), what, when], HEAP_EXACT, "--ring-memory=32MiB")
    assert outcome.out == b"confined 0, 4 threads\n" and outcome.status == 7
    _in_order(outcome, when)


@needs_root
@pytest.mark.parametrize("when", WHENS)
def test_another_root(same, tmp_path, when):
    empty = tmp_path / "empty"
    empty.mkdir()
    outcome = same([program("confined"), "chroot", when, empty], HEAP_EXACT)
    assert outcome.out == b"confined 0, 4 threads\n"
    assert list(empty.iterdir()) == []
    _in_order(outcome, when)


@needs_root
@pytest.mark.parametrize("when", WHENS)
def test_no_more_threads(same, when):
    """Not for the program, and not for ours."""
    outcome = same([program("confined"), "nproc", when], HEAP_EXACT)
    assert outcome.out.endswith(b"confined 0, 0 threads\n") and outcome.out.count(b"no thread") == 4
    _in_order(outcome, when, threads=0)


@pytest.mark.parametrize("when", WHENS)
def test_bundle_removed_by_the_program(tmp_path, when):
    bundle = tmp_path / "bundle"
    done = gpuprof("run", "-o", bundle, HEAP_EXACT, "--", program("confined"), "remove", when, bundle)
    assert (done.status, done.out) == (7, b"confined 0, 4 threads\n")
    said = done.words.splitlines()
    assert len(said) == len(set(said)) and "the bundle was removed or renamed while the command ran" in done.words, done.words
    assert not bundle.exists(), "nor is it made again"


@pytest.mark.parametrize("limit", ["--nofile=8", "--as=209715200"])
@needs("prlimit")
def test_limits_for_the_whole_run(tmp_path, limit):
    """The launcher lives below them too."""
    command = [program("confined"), "none", "middle"]
    bare = subprocess.run(["prlimit", limit, *command], capture_output=True, env=clean_environment())
    bundle = tmp_path / "bundle"
    done = subprocess.run(["prlimit", limit, str(GPUPROF), "run", "-o", str(bundle), HEAP_EXACT, "--", *command], capture_output=True,
                          env=clean_environment(), timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (bare.returncode, bare.stdout), done.stderr.decode()
    verify(bundle)


@pytest.fixture
def open_place():
    """A directory for everybody, which tmp_path is not."""
    place = pathlib.Path("/var/tmp") / f"gpuprof-confined-{os.getpid()}"
    place.mkdir()
    place.chmod(0o777)
    yield place
    shutil.rmtree(place)


@needs_root
def test_started_as_nobody(open_place):
    for room, name in (("launcher", "gpuprof"), ("inject", "libgpuprof_inject.so"), ("tracer", "libgpuprof_tracer.so")):
        (open_place / room).mkdir()
        shutil.copy(GPUPROF.parent.parent / room / name, open_place / room / name)
    shutil.copy(program("confined"), open_place / "confined")
    user = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": open_place, "capture_output": True, "timeout": LIMIT_S,
            "env": {"PATH": os.environ["PATH"]}}
    done = subprocess.run([str(open_place / "launcher" / "gpuprof"), "run", "-o", "bundle", HEAP_EXACT, "--", "./confined", "none", "middle"],
                          **user)
    assert (done.returncode, done.stdout) == (7, b"confined 0, 4 threads\n")
    verify(open_place / "bundle")
    trace, = read_bundle(open_place / "bundle")
    assert len(trace.allocations({AFTER})) == 10000 and trace.lost == 0
    assert {path.stat().st_uid for path in (open_place / "bundle").iterdir()} == {65534}


PID_NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


@_needs(*PID_NAMESPACE)
def test_pid_namespace(same):
    # The numbers of the children are then no other process's here.
    far = "echo 30000 > /proc/sys/kernel/ns_last_pid; exec \"$@\""
    outcome = same([*PID_NAMESPACE, "sh", "-c", far, "sh", program("spawn_storm"), "fork", "2", "5"], HEAP_EXACT)
    assert outcome.out == b"10 children ended as they should\n"
    traces = [t for t in outcome.traces() if t.allocations({62002})]
    assert len(traces) == 10 and all(t.lost == 0 and t.exit_status == 17 for t in traces)
    root, = [t for t in outcome.traces() if t.pid == 1 and t.allocations({62001})]
    assert root.exit_status == 0
    assert list(outcome.bundle.glob("*.ring")) == [], outcome.words
    assert "still running" not in outcome.words


@_needs(*PID_NAMESPACE)
def test_killed_in_a_pid_namespace(tmp_path):
    """Its number there, 1, is another process's here: not a sign of life."""
    bundle, counters = tmp_path / "bundle", tmp_path / "counters"
    launcher = subprocess.Popen([str(GPUPROF), "run", "-o", str(bundle), HEAP_EXACT, "--", *PID_NAMESPACE, program("kill_storm"), "2",
                                 str(counters), "300"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment())
    assert launcher.stdout.readline() == b"ready\n"
    children = lambda pid: [int(x) for x in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    outer = next(p for p in children(launcher.pid) if children(p))
    victim, = children(outer)
    # Of a younger one it could not be told where that other process may not be looked into.
    stay(2.2)
    os.kill(victim, signal.SIGKILL)
    _, err = launcher.communicate(timeout=LIMIT_S)
    assert b"still running" not in err, err.decode()
    assert list(bundle.glob("*.ring")) == []
    verify(bundle)
    trace, = [t for t in read_bundle(bundle) if t.program == "kill_storm"]
    assert trace.pid == 1 and len(trace.allocations({34567})) > 0


READ_ONLY = 'mount --make-rprivate / && mount -t tmpfs -o ro tmpfs /tmp && ! touch /tmp/file 2>/dev/null && exec "$@"'


@needs_root
@_needs("unshare", "--mount", "sh", "-c", READ_ONLY, "sh")
def test_read_only_tmp(open_place):
    """No control socket can be made there; the signal and the bundle work all the same."""
    shutil.copy(program("confined"), open_place / "confined")
    objects = open_place / "objects"
    for room, name in (("launcher", "gpuprof"), ("inject", "libgpuprof_inject.so"), ("tracer", "libgpuprof_tracer.so")):
        (objects / room).mkdir(parents=True)
        shutil.copy(GPUPROF.parent.parent / room / name, objects / room / name)
    done = subprocess.run(["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", str(objects / "launcher" / "gpuprof"), "run", "-o",
                           str(open_place / "bundle"), HEAP_EXACT, "--", str(open_place / "confined"), "none", "middle"],
                          capture_output=True, env=clean_environment({"XDG_RUNTIME_DIR": "/nowhere"}), timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (7, b"confined 0, 4 threads\n"), done.stderr.decode()
    verify(open_place / "bundle")
    trace, = read_bundle(open_place / "bundle")
    assert len(trace.allocations({AFTER})) == 10000 and trace.lost == 0


@_needs("unshare", "--time", "--monotonic", "100000")
def test_another_monotonic_clock(record):
    """A time namespace whose clock is a day ahead: rows lie within the run all the same."""
    began = time.time_ns()
    outcome = record(["unshare", "--time", "--monotonic", "100000", "--boottime", "100000", program("confined"), "none", "late"], HEAP_EXACT)
    ended = time.time_ns()
    assert (outcome.status, outcome.out) == (7, b"confined 0, 4 threads\n")
    _times_are_within(outcome.bundle, began, ended)
    _in_order(outcome, "late")


def _times_are_within(bundle, began, ended):
    """The recording lies between two moments of this process's wall clock."""
    process, = json.loads(gpuprof("info", "--json", bundle).out)["processes"]
    origin = json.loads(gpuprof("stats", "health", "--json", bundle).out)["meta"]["origin_realtime_ns"]
    assert began <= origin <= origin + process["duration_ns"] <= ended


def test_wall_clock_faked_while_running(same):
    """An hour back, then forward, for those who ask libc. The recorder asks the kernel."""
    began = time.time_ns()
    outcome = same([program("stepped_clock")], HEAP_EXACT, "--heap-times=exact")
    ended = time.time_ns()
    assert outcome.out == b"1 1\n"
    _times_are_within(outcome.bundle, began, ended)
    process, = json.loads(gpuprof("stats", "health", "--json", outcome.bundle).out)["processes"]
    assert abs(process["realtime_step_ns"]) < 60e9, "the machine's own clock was not set"
    trace = outcome.trace()
    for size in (71001, 71002, 71003):
        assert len(trace.allocations({size})) == trace.matched_frees({size}) == 200
    assert trace.lost == 0


FILTER = run_bare([program("sandboxed"), "container", "true"])
filters = pytest.mark.skipif(FILTER.status == 77, reason="no system call filter can be installed here: " + FILTER.err.decode().strip())


@filters
@pytest.mark.parametrize("mode", ["container", "strict"])
@pytest.mark.parametrize("command", [("confined", "none", "middle"), ("spawn_storm", "fork", "2", "10"), ("small_stacks",)])
def test_system_call_filters(same, mode, command):
    """What containers refuse we can do without, and what no profiler should need we do not even try."""
    outcome = same([program("sandboxed"), mode, program(command[0]), *command[1:]], HEAP_EXACT, "--ring-memory=256MiB")
    assert "cannot" not in outcome.words
    if command[0] == "confined":
        _in_order(outcome, "middle")


@filters
def test_a_filter_of_the_programs_own(same):
    """Dormant, its exit is as bare; what a recording needs it would be killed for, and docs/limits.md says so."""
    outcome = same([program("killing_filter")], "--capture=off")
    assert (outcome.status, outcome.out) == (0, b"a line\nand another\n")


@filters
@pytest.mark.parametrize("mode", ["container", "old", "strict"])
def test_launcher_below_a_filter(tmp_path, mode):
    bundle = tmp_path / "bundle"
    done = run_bare([program("sandboxed"), mode, GPUPROF, "run", "-o", bundle, HEAP_EXACT, "--", program("confined"), "none", "middle"])
    assert (done.status, done.out) == (7, b"confined 0, 4 threads\n"), done.err.decode()
    verify(bundle)
    below = run_bare([program("sandboxed"), mode, GPUPROF, "stats", "overview", bundle])
    assert below.status == 0, below.err.decode()


@pytest.mark.parametrize("limit", [4096, 300_000, 5_000_000])
@pytest.mark.parametrize("options", [(), ("--trace=heap=exact,threads",), ("--ring", "1MiB", "--trace=heap=exact,threads")])
def test_limit_on_the_size_of_files(tmp_path, limit, options):
    """A write of ours beyond `ulimit -f` fails; the signal that would kill for it is not the program's."""
    bundle = tmp_path / "bundle"
    done = subprocess.run([str(GPUPROF), "run", "-o", str(bundle), *options, "--", "prlimit", f"--fsize={limit}", str(program("heap_counter")),
                           "300000", "exit"], capture_output=True, env=clean_environment(), timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == b"made 300000\n"
    if list(bundle.glob("p*.gpt")):
        verify(bundle)  # the launcher, which has no limit, may have added what was left in rings and segments
    else:
        assert b"no space is left" in done.stderr or b"nothing was recorded" in done.stderr


@pytest.mark.parametrize("limit", [5000, 20_000, 40_000, 40_137, 40_411, 60_000])
def test_what_found_no_room_in_the_trace_is_counted(tmp_path, limit):
    """Where a file may not grow, the last word of what was lost still finds room."""
    counts = []
    for at_most in (limit, 100_000_000):
        bundle = tmp_path / f"bundle{at_most}"
        done = gpuprof("run", "-o", bundle, "--trace=heap=exact,threads", "--", "prlimit", f"--fsize={at_most}", program("heap_counter"), "60000", "exit")
        assert done.status == 0, done.err.decode()
        verify(bundle)
        facts = json.loads(gpuprof("info", "--json", bundle).out)
        counts.append(facts["count"] + facts["lost_count"])
    assert facts["count"] > 110_000
    assert abs(counts[0] - counts[1]) < 500, counts


def test_what_memory_alone_held_of_a_short_process_is_declared(record):
    """Its rings find no room in the bundle's files, and it ends before anybody has read them."""
    outcome = record(["prlimit", "--fsize=300000", program("early_stacks")], HEAP_EXACT)
    assert outcome.status == 0
    (child,) = [t for t in outcome.traces() if t.ppid in {u.pid for u in outcome.traces()}]
    made = len(child.allocations({1003}))
    assert made == 1 or (child.losses.get(NO_RING, 0) > 0 and "ulimit -f" in outcome.words), (child.losses, outcome.words)


def test_what_memory_alone_held_of_a_killed_process_is_told(record):
    outcome = record(["prlimit", "--fsize=300000", program("heap_counter"), "1000", "kill"], HEAP_EXACT)
    assert outcome.status == -signal.SIGKILL
    assert "lost: the last records of 1 thread, not counted" in outcome.words, outcome.words
    health = gpuprof("stats", "health", "--json", outcome.bundle)
    assert b"were only in memory" in health.out, health.out
    assert sum(p["lost_thread_count"] for p in json.loads(health.out)["processes"]) == 1
    assert b"lost: the last records of 1 thread, and 0 of " in gpuprof("stats", "overview", outcome.bundle).out


def test_reservation_that_is_interrupted(record):
    outcome = record([program("interrupted_reserve"), "1000"], HEAP_EXACT)
    assert outcome.out == b"killed by 9\n"
    assert sum(len(t.allocations({7007})) for t in outcome.traces()) == 1000


NO_MEMORY_AT_EXIT = """
import resource, sys
kept = [bytearray(1000) for _ in range(20000)]
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(),) * 2)
sys.exit(3)
"""


@pytest.mark.parametrize("trace", ["--trace=heap=exact", "--trace=heap=exact,locks,threads"])
def test_no_memory_is_left_at_exit(record, trace):
    """The thread that exits is not kept, and recovery does what it could not."""
    outcome = record([sys.executable, "-c", NO_MEMORY_AT_EXIT], trace)
    assert outcome.status == 3
    assert "in time" not in outcome.words, "nobody waits for a thread that sleeps for ever"
    verify(outcome.bundle)
    found = outcome.trace()
    assert len(found.allocations()) + found.lost >= 20000
