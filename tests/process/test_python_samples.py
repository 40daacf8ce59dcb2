# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Samples of Python's threads: functions, lines and waits, in every version of CPython that this machine has."""

import ast
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import ROOT, SOURCES, gpuprof, program, verify
from real_programs import DEPS

SAMPLES = "--trace=samples"


def version_of(python):
    done = subprocess.run([str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True)
    return done.stdout.decode().strip()


def interpreters():
    """One interpreter of each version that is sampled, by version."""
    places = [pathlib.Path(sys.executable), *sorted(pathlib.Path("/usr/bin").glob("python3.?*")),
              *sorted(pathlib.Path.home().glob(".pyenv/versions/3*/bin/python3")), *(DEPS / "new-python" / "bin").glob("python3.*")]
    found = {}
    for python in places:
        if re.fullmatch(r"python3?(\.\d+)?", python.name) and os.access(python, os.X_OK):
            with contextlib.suppress(OSError):  # its loader is gone
                found.setdefault(version_of(python), str(python))
    return {version: found[version] for version in ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14") if version in found}


PYTHONS = interpreters()


@dataclasses.dataclass
class Sample:
    start: int
    end: int
    thread: int
    flags: set
    holder: int
    frames: list  # (file, line, function), innermost first

    @property
    def length(self):
        return self.end - self.start

    def calls(self, function):
        return any(name.split(".")[-1] == function for _, _, name in self.frames)


def frame_of(text):
    file, line, name = re.fullmatch(r"(.*)\((\d+)\): (.*)", text).groups()
    return os.path.basename(file), int(line), name


def samples_of(bundle, kind="python"):
    found = []
    for line in gpuprof("dump", bundle).out.decode().splitlines():
        head = re.match(r"(\d+) \d+ \d+ \d+ sample ", line)
        if not head:
            continue
        number = lambda key, text=line: int((re.search(rf" {key}=(\d+)", text) or [0, 0])[1])
        frames = re.search(r' frames="([^"]*)"', line)
        flags = {flag for flag in ("runs", "waits_for_gil", "has_gil", "python", "native") if number(flag)}
        # Readers join native samples to those of Python: these have both.
        if {"python", "native"} & flags != {kind}:
            continue
        found.append(Sample(number("start_ns"), int(head[1]), number("thread_tid"), flags, number("holder_tid"),
                            [frame_of(frame) if kind == "python" else frame for frame in frames[1].split(";")] if frames else []))
    return found


def time_of(samples):
    return sum(sample.length for sample in samples)


@pytest.mark.parametrize("version", PYTHONS)
def test_functions_lines_and_waits(same, tmp_path, version):
    outcome = same([PYTHONS[version], program("python_threads.py"), "4", tmp_path / "slept"], SAMPLES)
    slept = float((tmp_path / "slept").read_text()) * 1e9
    rest_line, nap_line = map(int, outcome.out.split())
    samples = samples_of(outcome.bundle)
    trace = outcome.trace()
    assert trace.lost == 0 and trace.notes == []
    assert all("python" in sample.flags and sample.frames for sample in samples)
    # Only functions of the program and of the library that it uses.
    source = ast.parse(pathlib.Path(program("python_threads.py")).read_text())
    lines_of = {node.name: range(node.lineno, node.end_lineno + 1) for node in ast.walk(source) if isinstance(node, ast.FunctionDef)}
    for sample in samples:
        for file, line, name in sample.frames:
            if file == "python_threads.py" and name != "<module>":
                assert line in lines_of[name.split(".")[-1]], (name, line)
    if tuple(map(int, version.split("."))) >= (3, 11):
        assert any(name == "Worker.spin" for sample in samples for _, _, name in sample.frames)

    resting = [sample for sample in samples if sample.calls("rest")]
    assert {line for sample in resting for _, line, name in sample.frames if name.endswith("rest")} <= {rest_line, rest_line - 1}
    assert time_of(s for s in resting if "runs" not in s.flags) > 0.9 * time_of(resting)
    napping = [sample for sample in samples if sample.calls("nap")]
    assert time_of(napping) == pytest.approx(slept, rel=0.15)
    assert {line for sample in napping for _, line, name in sample.frames if name == "nap"} <= {nap_line, nap_line - 1}
    assert time_of(s for s in napping if "runs" not in s.flags) > 0.9 * time_of(napping)

    # Recursion: ten frames of it below the leaf, all at the line of the call but the innermost.
    deep = [sample for sample in samples if sample.calls("deep") and sample.calls("spin")]
    assert deep and all(sum(name.endswith("deep") for _, _, name in sample.frames) == 10 for sample in deep)

    # Two threads want the lock: each waits for the other.
    spinning = collections.defaultdict(list)
    for sample in samples:
        if sample.calls("spin"):
            spinning[sample.thread].append(sample)
    assert len(spinning) == 2
    for thread, own in spinning.items():
        waits = [sample for sample in own if "waits_for_gil" in sample.flags]
        assert waits and {sample.holder for sample in waits} <= set(spinning) - {thread} | {0}
        assert not any("runs" in sample.flags for sample in waits)
        # What each had of the lock is what it asked for.
        assert time_of(sample for sample in own if "has_gil" in sample.flags) > 0.6e9


@pytest.mark.parametrize("version", PYTHONS)
def test_stacks_are_those_that_python_tells(record, tmp_path, version):
    """Of calls of all kinds: the program prints the stack of each thread before the thread sleeps."""
    outcome = record([PYTHONS[version], program("python_truth.py"), tmp_path], SAMPLES)
    assert outcome.status == 0, outcome.own_err
    truth = {}
    for line in outcome.out.decode().splitlines():
        thread, frames = json.loads(line)
        truth[thread] = [(os.path.basename(file), line, name) for file, line, name in frames]
    assert len(truth) == 20
    lines, callers = collections.defaultdict(set), collections.defaultdict(set)
    for sample in samples_of(outcome.bundle):
        stack = [(file, line, name.split(".")[-1]) for file, line, name in sample.frames]
        if stack[0][2] == "rest" and "runs" not in sample.flags:
            lines[sample.thread].add(stack[0][1])
            callers[sample.thread].add(tuple(stack[1:]))
    assert {thread: [list(stack) for stack in stacks] for thread, stacks in callers.items()} == \
        {thread: [frames[1:]] for thread, frames in truth.items()}
    for thread, frames in truth.items():
        line = frames[0][1]
        # It may have to wait where the function begins and ends, too.
        assert line in lines[thread] and lines[thread] <= {line - 1, line, line + 1}


@pytest.mark.parametrize("version", PYTHONS)
def test_each_thread_is_covered(same, version):
    """The samples of one thread follow each other, and stand for all of its time."""
    outcome = same([PYTHONS[version], program("python_threads.py"), "1"], SAMPLES)
    own = [sample for sample in samples_of(outcome.bundle) if sample.thread == outcome.trace().pid]
    own.sort(key=lambda sample: sample.start)
    # Times are rounded where they are written and where they are read.
    assert all(after.start >= before.end - 1000 for before, after in zip(own, own[1:]))
    assert time_of(own) > 0.8 * (own[-1].end - own[0].start)


def test_there_are_samples_of_all_versions():
    """A suite without an old and a new interpreter would show little."""
    assert PYTHONS and version_of(sys.executable) in PYTHONS
    assert "3.14" in PYTHONS or not (DEPS / "new-python").exists()


def test_samples_by_default_and_only_if_asked(same):
    command = [sys.executable, program("python_threads.py"), "1"]
    assert samples_of(same(command).bundle)
    assert samples_of(same(command, "--trace=heap,threads").bundle) == []


def test_no_thread_where_there_is_no_python(same):
    outcome = same(["/bin/sh", "-c", "sleep 0.3; ls /proc/self/task | wc -l"], SAMPLES)
    assert samples_of(outcome.bundle) == []


FORKS = """
import multiprocessing, os, sys, time
def spin(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(100))
    return seconds
def child(seconds):
    print(spin(seconds), flush=True)
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    children = [context.Process(target=child, args=(0.6,)) for _ in range(2)]
    for each in children:
        each.start()
    for each in children:
        each.join()
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children(same, tmp_path, method):
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    outcome = same([sys.executable, script, method])
    pids = {sample.thread for sample in samples_of(outcome.bundle) if sample.calls("child")}
    assert len(pids) == 2


MANY_FORKS = """
import os, threading, time
def spin(event):
    while not event.is_set():
        sum(range(100))
event = threading.Event()
thread = threading.Thread(target=spin, args=(event,))
thread.start()
for i in range(60):
    pid = os.fork()
    if pid == 0:
        os._exit(i % 7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == i % 7
event.set()
thread.join()
print("done")
"""


def test_forks_while_samples_are_taken(same, tmp_path):
    script = tmp_path / "forks.py"
    script.write_text(MANY_FORKS)
    assert same([sys.executable, script], SAMPLES).out == b"done\n"


def test_many_short_threads(same, tmp_path):
    """Threads come and go while they are looked at. Their numbers and memory are used again."""
    script = tmp_path / "threads.py"
    script.write_text("import threading\n"
                      "def leaf(i):\n    return sum(range(i % 3000))\n"
                      "def work(i):\n    return leaf(i)\n"
                      "for i in range(4000):\n"
                      "    pair = [threading.Thread(target=work, args=(i,)) for _ in range(2)]\n"
                      "    [thread.start() for thread in pair]\n"
                      "    [thread.join() for thread in pair]\n"
                      "print('done')\n")
    outcome = same([sys.executable, script], SAMPLES)
    assert outcome.trace().lost == 0
    assert any(sample.calls("<module>") for sample in samples_of(outcome.bundle))


BUSY_END = """
import sys, threading, time
def deep(depth, count):
    return deep(depth - 1, count) if depth else sum(range(count))
def work(i):
    deep(i % 150, i % 1500)
def forever():
    while True:
        deep(200, 300)
def makes_threads():
    i = 0
    while not is_over:
        pair = [threading.Thread(target=work, args=(i + k,)) for k in range(2)]
        try:
            [thread.start() for thread in pair]
            [thread.join() for thread in pair]
        except RuntimeError:  # no threads are begun any more
            return
        i += 37
is_over = False
threads = [threading.Thread(target=target, daemon=True) for target in (forever, forever, makes_threads, makes_threads)]
[thread.start() for thread in threads]
time.sleep(0.3)
if sys.version_info < (3, 12):  # a thread that begins at Python's end reads freed memory there
    is_over = True
    [thread.join() for thread in threads[2:]]
sys.exit(5)
"""


@pytest.mark.parametrize("version", PYTHONS)
def test_an_end_in_the_middle_of_everything(record, tmp_path, version):
    """Python frees the states of threads while they are looked at, by the sampler and in hooks."""
    script = tmp_path / "ends.py"
    script.write_text(BUSY_END)
    for options in ([SAMPLES], ["--trace=samples,locks,heap=exact"]):
        # On a busy machine a run can be over before its threads are sampled.
        is_sampled, runs = False, 0
        while not is_sampled:
            runs += 1
            assert runs <= 20, "none of the runs has a sample of its threads"
            outcome = record([PYTHONS[version], script], *options)
            assert outcome.status == 5, outcome.own_err
            is_sampled = any(sample.calls("forever") for sample in samples_of(outcome.bundle))


NAMES = f"""
import sys, time
sys.path.insert(0, {str(SOURCES)!r})
sys.dont_write_bytecode = True
import sampler_looks
sampler_looks.await_looks(1)
""" + """
source = "def %s(until):\\n    while time.thread_time() < until:\\n        pass\\n"
names = ["plain", "ümläut", "函数", "f" + "x" * 3000]
for name in names:
    space = {"time": time}
    exec(compile(source % name, "/tmp/" + name[:40] + ' "quoted";\\x1b[31m.py', "exec"), space)
    space[name](time.thread_time() + 0.2)
"""


def test_names_of_all_letters(same, tmp_path):
    script = tmp_path / "names.py"
    script.write_text(NAMES)
    outcome = same([sys.executable, script], SAMPLES)
    strings = [text for text in outcome.trace().strings.values() if ": " in text]
    leaves = {text.rsplit(": ", 1)[1] for text in strings}
    assert {"plain", "ümläut", "函数"} <= leaves
    # The end of a long name is kept. A control character becomes a question mark.
    assert any(leaf.startswith("...x") and len(leaf) < 300 for leaf in leaves)
    assert not any("\x1b" in text for text in strings)


def test_captures_one_after_the_other(session):
    """Each file has the names that its samples refer to."""
    running = session([sys.executable, "-c", "import sys\nprint('up', flush=True)\n"
                       "def loop():\n    import time\n    while not done():\n        sum(range(1000))\n"
                       "def done():\n    import select\n    return select.select([sys.stdin], [], [], 0)[0]\nloop()\n"],
                      SAMPLES, "--capture=off")
    assert running.line() == "up"
    for _ in range(2):
        assert running.ctl("start").status == 0
        running.record_some(5)
        assert running.ctl("stop").status == 0
    running.tell("x")
    outcome = running.finish()
    assert outcome.status == 0
    captures = collections.Counter(int(c) for c in outcome.trace()._tables[44]["capture"])
    assert len(captures) == 2
    assert all(sample.calls("loop") for sample in samples_of(outcome.bundle) if sample.frames)


@pytest.mark.parametrize("version", PYTHONS)
def test_functions_in_the_stacks_of_hooks(session, version):
    """Each run of the interpreter's loop gives way to the functions of Python that it runs."""
    running = session([PYTHONS[version], program("python_stacks.py")], "--trace=heap=exact,locks", "--capture=off")
    assert running.line() == "up"
    # A capture of a program that runs Python already knows the interpreter when it has begun.
    assert running.ctl("start").status == 0
    running.tell("go\n")
    outcome = running.finish()
    assert (outcome.status, outcome.out) == (0, b"2\n"), outcome.err
    verify(outcome.bundle)
    stacks = collections.defaultdict(list)
    for line in gpuprof("dump", outcome.bundle).out.decode().splitlines():
        frames = re.search(r' frames="([^"]*)"', line)
        size = re.search(r" size=(\d+) ", line)
        if frames and size and " heap " in line:
            stacks[round(int(size[1]), -6)].append(frames[1].split(";"))
        elif frames and " wait " in line and "wait_for" in frames[1]:
            stacks["wait"].append(frames[1].split(";"))

    def python(frames):
        found = [frame_of(frame) for frame in frames if re.search(r"\.py\(\d+\): ", frame)]
        return [name.split(".")[-1] for _, _, name in found]

    plain, = [frames for frames in stacks[5_000_000] if "grow" in python(frames)]
    assert python(plain) == ["grow", "outer", "<module>"]
    back, = [frames for frames in stacks[3_000_000] if "grow" in python(frames)]
    assert python(back) == ["grow", "outer", "<lambda>", "deep", "deep", "deep", "deep", "<module>"]
    # What is native stays where it is: the function that sorts is between those of Python.
    places = [i for i, frame in enumerate(back) if re.search(r"\.py\(\d+\): ", frame)]
    assert places[3] - places[2] > 1
    assert not any("EvalFrameDefault" in name for frames in (plain, back) for name in frames)
    assert python(stacks["wait"][0]) == ["wait_for", "<module>"]


def permits_native_stacks():
    """Whether the kernel lets this user sample a process of its own, as `perf` would ask."""
    paranoid = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    return paranoid.exists() and (os.geteuid() == 0 or int(paranoid.read_text()) <= 2)


@pytest.mark.skipif(not permits_native_stacks(), reason="the kernel refuses perf_event_open")
def test_native_functions(record):
    """Without frame pointers, on two threads, each by its processor time."""
    outcome = record([program("native_work")], SAMPLES)
    samples = samples_of(outcome.bundle, "native")
    assert samples and samples_of(outcome.bundle) == []
    threads = {sample.thread for sample in samples}
    assert len(threads) == 2
    alpha, beta = ([s for s in samples if any(f.startswith(name) for f in s.frames)] for name in ("alpha(", "beta("))
    assert all("main" in sample.frames for sample in samples if sample.thread == outcome.trace().pid and sample in alpha + beta)
    # The program measures what each took.
    truth = dict(zip(("alpha", "beta"), map(float, outcome.own_err.split())))
    # Some 250 samples: their number is known, and a share to a few hundredths.
    assert time_of(alpha + beta) / 1e9 == pytest.approx(sum(truth.values()), rel=0.1)
    assert time_of(alpha) / time_of(alpha + beta) == pytest.approx(truth["alpha"] / sum(truth.values()), abs=0.13)


def test_the_source_is_in_the_help_and_documented():
    assert "samples" in gpuprof("run", "--help").out.decode()
    assert "`samples`" in (ROOT / "docs" / "recording.md").read_text()
