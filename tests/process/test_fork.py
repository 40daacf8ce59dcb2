# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""fork, vfork, posix_spawn, exec in every form, daemons: each process that does something leaves a whole trace tied to its parent, and
the program notices nothing."""

import collections
import errno
import sys

import pytest

from conftest import HEAP_EXACT, gpuprof, program, short_and_long, verify
from trace_file import EXEC, EXIT, FORK, SPAWN, WAY_EXEC, WAY_RETURN, WAY_UNDERSCORE, WAY_UNKNOWN, read_bundle
from waiting import wait_until


def _root(traces):
    """The trace whose parent has none."""
    pids = {t.pid for t in traces}
    roots = [t for t in traces if t.ppid not in pids]
    assert len(roots) == 1, [(t.pid, t.ppid) for t in traces]
    return roots[0]


@pytest.mark.parametrize("what", ["exit", "return"])
@short_and_long("count", 100, 1000)
def test_children_that_leave_at_once(same, what, count):
    outcome = same([program("fork_storm"), count, what], HEAP_EXACT)
    traces = outcome.traces()
    root = _root(traces)
    children = [a for a, _, _ in root.process_event(FORK)]
    assert len(children) == len(set(children)) == count
    assert len(root.allocations({56789})) == 1
    # Children that record nothing but their end may leave a small file; each belongs to this parent.
    for child in traces:
        if child is not root:
            assert child.ppid == root.pid and child.pid in children
            assert child.exit_way == (WAY_UNDERSCORE if what == "exit" else WAY_RETURN)
            assert child.exit_status == 17
            assert not child.allocations({56789})


@pytest.mark.parametrize("options", [(HEAP_EXACT,), (HEAP_EXACT, "--stacks=0"), ("--trace=heap=sampled:1024",)])
@short_and_long("count", 50, 150)
def test_handler_that_forks_and_returns_in_the_child(same, options, count):
    """The hook that it interrupted goes on in the child, without the ring that it was writing to."""
    outcome = same([program("forking_handler"), count], *options)
    assert outcome.out == b"0 wrong\n"
    traces = outcome.traces()
    assert len([trace for trace in traces if trace.exit_status == 7]) >= count - 20, "children of early moments have nothing to tell"
    assert _root(traces).exit_status == 0


@short_and_long("count", 40, 200)
def test_children_that_allocate(same, count):
    outcome = same([program("fork_storm"), count, "alloc"], HEAP_EXACT)
    traces = outcome.traces()
    root = _root(traces)
    children = {a for a, _, _ in root.process_event(FORK)}
    assert len(traces) == count + 1 and {t.pid for t in traces if t is not root} == children
    for child in traces:
        made = len(child.allocations({45678}))
        assert made == (0 if child is root else 100), f"{made} in {child.path.name}"
        assert child.lost == 0
    assert len(root.allocations({56789})) == 1


@short_and_long("count", 40, 200)
def test_children_that_exec_a_shell(same, count):
    """The shells themselves leave nothing."""
    outcome = same([program("fork_storm"), count, "exec"], HEAP_EXACT)
    traces = outcome.traces()
    root = _root(traces)
    assert len(root.process_event(FORK)) == count
    for child in traces:
        assert child.program == "fork_storm"
        if child is not root:
            assert child.exit_way == WAY_EXEC
            assert [text for _, _, text in child.process_event(EXEC)] == ["/bin/sh"]


@short_and_long("count", 100, 1000)
def test_default_recording_of_a_fork_storm(same, count):
    outcome = same([program("fork_storm"), count, "exit"])
    assert len(_root(outcome.traces()).process_event(FORK)) == count


@pytest.mark.parametrize("trace", [HEAP_EXACT, "--trace=heap,locks,threads"])
def test_forks_from_threads_at_work(same, trace):
    """Locks of every library are held by some other thread when the child is born: no child may hang."""
    outcome = same([program("fork_from_threads")], trace)
    assert outcome.out == b"100 of 100 children\n"
    root = _root(outcome.traces())
    dropped = sum(t.dropped for t in root.threads.values())
    assert len(root.process_event(FORK)) == 100 or dropped > 0


@pytest.mark.parametrize("how,event", [("spawn", SPAWN), ("spawnp", SPAWN), ("vfork", None), ("system", None), ("popen", None)])
def test_other_ways_to_a_child(same, how, event):
    outcome = same([program("children"), how, "20"], HEAP_EXACT)
    trace = outcome.trace()
    assert trace.exit_way == WAY_RETURN
    assert len(trace.allocations({67890})) == 20, "the parent is recorded on, behind each child"
    if event is not None:
        rows = trace.process_event(event)
        assert len(rows) == 20 and len({a for a, _, _ in rows}) == 20
        assert {text for _, _, text in rows} == {"/bin/sh" if how == "spawn" else "sh"}
    # A vfork child's failed and successful exec are its own, not its parent's.
    assert trace.process_event(EXEC) == []


def test_spawn_that_fails(same):
    outcome = same([program("children"), "failed", "5"], HEAP_EXACT)
    assert outcome.trace().process_event(SPAWN) == []


FAILING = """
import glob, os, re, sys, time
held = []
for number in range(12):
    while len(glob.glob(sys.argv[1] + "/*.gpt")) <= number: time.sleep(0.01)
    time.sleep(1.2)  # the listener of the trace before leaves within a second, and its stack is the next one's
    held.append(int(re.search(r"Anonymous:\\s*(\\d+)", open("/proc/self/smaps_rollup").read())[1]))
    try: os.execv("/bin/true", ["true", "x" * 200000])  # longer than the kernel takes
    except OSError: pass
print(*held)
"""


def test_an_exec_that_fails_again_and_again(tmp_path):
    """Each ends a trace and begins another, and of the ended ones no memory stays."""
    done = gpuprof("run", "--trace=heap=exact", "-o", tmp_path / "b", "--", sys.executable, "-c", FAILING, tmp_path / "b")
    assert done.status == 0, done.words
    held = [int(x) for x in done.out.split()]
    assert len(held) == 12 and min(held[8:]) <= min(held[3:8]) + 64, held


UNSEEN = """
import glob, os, time
for _ in range(40):
    try: os.execv("/bin/true", ["true", "x" * 200000])
    except OSError: pass
while len(found := glob.glob("/proc/self/task/*")) > 1: time.sleep(0.01)
print(len(found))
"""


def test_threads_are_hidden_behind_execs_that_fail(tmp_path):
    """Listeners of the ended traces live on for a second, and take no other thread's place among the hidden."""
    done = gpuprof("run", "--trace=heap=exact", "-o", tmp_path / "b", "--", sys.executable, "-c", UNSEEN)
    assert (done.status, done.out) == (0, b"1\n"), done.words


def test_exec_chain(same):
    """Ten images of one process, each form of exec once, and in each a failed exec first."""
    outcome = same([program("exec_chain"), "9"], HEAP_EXACT)
    assert outcome.status == 31
    traces = outcome.traces()
    assert len({t.pid for t in traces}) == 1
    made = collections.Counter(size for t in traces for _, _, size in t.allocations())
    for step in range(10):
        assert made[70000 + step] == 1, f"before the failed exec of step {step}"
        assert made[80000 + step] == 1, f"after the failed exec of step {step}"
    events = [event for t in traces for event in t.process_event(EXEC)]
    begun = [text for _, error, text in events if error == 0]
    failed = [(error, text) for _, error, text in events if error != 0]
    assert failed == [(errno.ENOENT, "/nonexistent/program")] * 10, "told once for each failed exec"
    assert len(begun) == 9
    assert len(traces) == 10, "what could not succeed ends no trace"
    ends = [(t.exit_way, t.exit_status) for t in traces]
    assert ends.count((WAY_RETURN, 31)) == 1
    assert all(way in (WAY_RETURN, WAY_EXEC) for way, _ in ends)


def test_exec_that_only_the_system_can_refuse(same, tmp_path):
    """What may be executed but is no program: nobody knows before exec itself, and the trace has ended by then."""
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"\x7fnothing that a system knows\n")
    garbage.chmod(0o755)
    outcome = same([program("exec_refused"), garbage], HEAP_EXACT)
    traces = outcome.traces()
    made = collections.Counter(size for t in traces for _, _, size in t.allocations())
    assert [made[70000 + i] for i in range(20)] == [1] * 20
    failed = [error for t in traces for _, error, _ in t.process_event(EXEC) if error != 0]
    assert failed == [errno.ENOEXEC] * 20


def test_programs_that_are_looked_for(same, tmp_path):
    """As shells and Python's os.execvp do: one place after the other, in one trace."""
    places = ":".join(str(tmp_path / str(i)) for i in range(10))
    code = ("import os\n"
            "blocks = [bytearray(300000) for _ in range(3)]\n"
            "try: os.execvp('no-such-program', ['x'])\n"
            "except FileNotFoundError: print('not found')\n")
    outcome = same([sys.executable, "-c", code], HEAP_EXACT, env={"PATH": places})
    trace = outcome.trace()
    assert outcome.out == b"not found\n"
    assert len(trace.allocations({300001})) == 3
    tried = [(error, text) for _, error, text in trace.process_event(EXEC)]
    assert tried == [(errno.ENOENT, f"{tmp_path / str(i)}/no-such-program") for i in range(10)]


def test_a_child_that_only_works(same):
    """It has its file for its time and its end, if it lives for longer than a moment."""
    outcome = same([program("silent_child"), "2500"])
    assert outcome.status == 3
    traces = {t.pid: t for t in outcome.traces()}
    (child,) = [t for t in traces.values() if t.ppid in traces]
    assert (child.exit_way, child.exit_status) == (WAY_RETURN, 3)


def test_exec_of_what_is_left_out(same):
    outcome = same([sys.executable, "-c", "import os; os.execv('/bin/sh', ['sh', '-c', 'echo shell; exit 8'])"], HEAP_EXACT)
    trace = outcome.trace()
    assert (outcome.status, outcome.out) == (8, b"shell\n")
    assert trace.exit_way == WAY_EXEC
    assert [text for _, _, text in trace.process_event(EXEC)] == ["/bin/sh"]


def test_daemon(record, tmp_path):
    """daemon() forks inside libc. The launcher sees the original process end; the daemon's own trace is finished when it ends."""
    mark = tmp_path / "mark"
    outcome = record([program("daemonize"), mark], HEAP_EXACT, check=False)
    assert outcome.status == 0
    wait_until(lambda: mark.exists() and mark.read_text() == "done", "the daemon's work")
    wait_until(lambda: not list(outcome.bundle.glob("*.ring")), "the end of the daemon's trace")
    verify(outcome.bundle)
    traces = outcome.traces()
    made = {size: [t for t in traces if t.allocations({size})] for size in (11000, 12000)}
    assert len(made[11000]) == 1 and len(made[12000]) == 1
    daemon = made[12000][0]
    assert daemon is not made[11000][0]
    assert len(daemon.allocations({12000})) == 500
    assert (daemon.exit_way, daemon.exit_status) == (WAY_RETURN, 0)


def test_python_subprocess_and_multiprocessing(same):
    code = """
import multiprocessing, os, subprocess, sys
def work(n):
    return sum(len(bytearray(100000)) for _ in range(n))
if __name__ == '__main__':
    print(subprocess.run([sys.executable, '-c', 'print(5 * 5)'], capture_output=True).stdout)
    print(os.system('exit 3') >> 8, os.popen('echo piped').read())
    with multiprocessing.get_context('fork').Pool(3) as pool:
        print(sum(pool.map(work, range(20))))
"""
    outcome = same([sys.executable, "-c", code], HEAP_EXACT)
    traces = outcome.traces()
    root = _root(traces)
    assert len([t for t in traces if t.ppid == root.pid]) >= 4, "one subprocess and three workers"
    assert len(root.process_event(FORK)) >= 3
    workers = {a for a, _, _ in root.process_event(FORK)}
    assert sum(len(t.allocations({100001, 100000})) for t in traces if t.pid in workers) >= 190


def test_forked_child_is_captured_late(session):
    """A child forked while the parent was dormant is dormant too, and can be told to record by itself."""
    code = ("import os, sys\n"
            "child = os.fork()\n"
            "if child:\n"
            "    print(child, flush=True)\n"
            "    os._exit(os.waitpid(child, 0)[1] >> 8)\n"
            "while sys.stdin.readline():\n"
            "    for i in range(1000): bytearray(300000)\n"
            "    print('worked', flush=True)\n"
            "os._exit(5)\n")
    run = session([sys.executable, "-c", code], "--capture=off", HEAP_EXACT)
    child = int(run.line())
    run.pid = child
    run.wait_for(lambda: run.ctl("status").status == 0)
    assert run.state()["state"] == "dormant"
    assert run.ctl("start").status == 0
    run.tell("go\n")
    assert run.line() == "worked"
    run.process.stdin.close()
    run.process.stdin = None
    outcome = run.finish()
    run.process.stdin = open("/dev/null", "rb")
    assert outcome.status == 5
    verify(outcome.bundle)
    trace = outcome.trace()
    assert trace.pid == child and len(trace.allocations({300001, 300000})) >= 1000


@pytest.mark.parametrize("options", [(HEAP_EXACT,), ("--capture=off",)])
@pytest.mark.parametrize("command", [("fork_storm", "40", "alloc"), ("exec_chain", "9"), ("exit_ways", "_exit")])
def test_sockets_do_not_pile_up(same, tmp_path, command, options):
    """Every control socket is gone when its process is."""
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    for _ in range(3):
        same([program(command[0]), *command[1:]], *options, env={"XDG_RUNTIME_DIR": str(folder)})
    assert [str(path) for path in folder.rglob("*.sock")] == []


@pytest.mark.parametrize("options", [(), ("--capture=off",), (HEAP_EXACT,)])
def test_changing_the_ids_of_the_process(same, options):
    """setuid() and its relatives have libc stop every thread, ours too, which must answer: also in forked children."""
    same([program("set_ids")], *options)


@pytest.mark.parametrize("options", [(HEAP_EXACT,), (), ("--capture=off",)])
def test_a_library_forks_before_the_program_begins(same, options):
    outcome = same([program("linked_forking")], *options)
    assert (outcome.status, outcome.out) == (3, b"default\n1 answers\n")
    if options == (HEAP_EXACT,):
        traces = outcome.traces()
        assert len(traces) == 2
        made = {trace.exit_way: (len(trace.allocations({54323})), len(trace.allocations({54324}))) for trace in traces}
        assert made == {WAY_UNDERSCORE: (1, 0), WAY_RETURN: (0, 500)}
