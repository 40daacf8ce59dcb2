# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof attach` comes into a program that runs already, and `detach` leaves it as it was. The program itself is the witness:
it checks its waits, its registers and its memory all the time."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from conftest import GPUPROF, PROGRAMS, anonymous_kib, clean_environment, gpuprof, needs, needs_root, program, verify
from trace_file import read_bundle
from waiting import LIMIT_S, wait_until

# A busy machine lets a thread wait long for its moment.
PATIENT = "--wait=60s"
DETACHED = 11  # proto::ExitWay


def command_of(folder):
    """The words of a process's command; none of one that has ended."""
    try:
        return folder.joinpath("cmdline").read_bytes().split(b"\0")[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return []


class Target:
    """A program that runs without gpuprof until SIGTERM, and then says "ok" and how far it came."""

    def __init__(self, *command, env=None, **how):
        self.process = subprocess.Popen([str(x) for x in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE,
                                        bufsize=0, env=clean_environment(env), **how)
        assert self.process.stdout.readline() == b"ready\n", self.process.stderr.read()
        self.pid = self.process.pid
        self.first = None

    def status(self, key):
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return re.search(rf"^{key}:\s*(.*)$", text, re.M).group(1)

    def threads(self):
        names = []
        for folder in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            try:
                names.append(folder.joinpath("comm").read_text().strip())
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended
        return sorted(names)

    def files(self):
        folder = pathlib.Path(f"/proc/{self.pid}/fd")
        return sorted((x.name, os.readlink(x)) for x in folder.iterdir())

    def rights(self):
        """The rights of the mapped parts of the files that were there first: what is sealed must be sealed again."""
        parts = []
        for line in pathlib.Path(f"/proc/{self.pid}/maps").read_text().splitlines():
            words = line.split(maxsplit=5)
            if len(words) == 6 and words[5].startswith("/") and (self.first is None or words[5] in self.first):
                parts.append((words[0], words[1], words[5]))
        self.first = self.first or {x[2] for x in parts}
        return parts

    def finish(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=LIMIT_S)
        assert self.process.returncode == 0 and out.startswith(b"ok "), (self.process.returncode, out, err)
        assert err == b"", "nothing is written on the program's stderr"
        return int(out.split()[1])

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


@pytest.fixture
def target():
    running = []

    def start(*command, **how):
        running.append(Target(*command, **how))
        return running[-1]

    yield start
    for one in running:
        one.kill()


def attach(pid, *options):
    return gpuprof("attach", pid, PATIENT, *options)


WAYS = ["sleep", "waits", "churn", "busy", "locks", "forks"]


@pytest.mark.parametrize("way", WAYS)
def test_attached_and_left(target, tmp_path, way):
    """Each way to spend time: the program notices nothing, and has afterwards what it had before."""
    one = target(program("attached"), way)
    before = (one.threads(), one.files(), one.rights())
    done = attach(one.pid, "--for=500ms", "-o", tmp_path / "bundle")
    assert done.status == 0, done.words
    assert re.search(rf"attached to {one.pid} in [\d.]+ ms; thread \d+ was stopped for [\d.]+ ms", done.words)
    assert (one.threads(), one.files(), one.rights()) == before
    assert one.status("TracerPid") == "0"
    assert one.finish() > 0
    verify(tmp_path / "bundle")
    ends = [x.exit_way for x in read_bundle(tmp_path / "bundle") if x.pid == one.pid]
    assert ends == [DETACHED]


BUSY_PYTHON = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: (print("ok 1", flush=True), sys.exit(0)))
print("ready", flush=True)
value = 1
while True: value = value * 3 % 1000003
"""


def test_python_that_only_computes(target, tmp_path):
    """It makes no call of any library: a moment between two instructions is as good."""
    one = target(sys.executable, "-c", BUSY_PYTHON)
    done = attach(one.pid, "--for=200ms", "-o", tmp_path / "bundle")
    assert done.status == 0, done.words
    one.finish()


def test_words_of_a_late_arrival(target, tmp_path):
    """Nothing is claimed of the time before: not that the recording began with the program, nor that it ran no longer."""
    one = target(program("attached"), "locks")
    done = attach(one.pid, "--for=500ms", "-o", tmp_path / "bundle")
    assert "not seen: what the process did before" in done.words and f"gpuprof run -- {program('attached')} locks" in done.words
    one.finish()
    result = json.loads(gpuprof("stats", "overview", "--json", tmp_path / "bundle").out)
    environment = result["environment"]
    assert environment["attached_after_ns"] >= 0 and environment["wall_ns"] >= environment["attached_after_ns"] + 500_000_000
    assert environment.get("exit_status") is None, "it did not exit"
    assert any("before" in x for x in environment["unseen"])
    text = gpuprof("stats", "overview", tmp_path / "bundle").out.decode()
    assert "begun by gpuprof attach" in text and "start of the program" not in text and "and was attached to after" in text


def test_detach_ends_what_attach_began(target, tmp_path):
    one = target(program("attached"), "waits")
    before = (one.threads(), one.files(), one.rights())
    assert attach(one.pid, "-o", tmp_path / "bundle").status == 0
    assert "gpuprof-ctl" in one.threads()
    again = attach(one.pid, "-o", tmp_path / "other")
    assert again.status == 1 and "(already)" in again.words and not (tmp_path / "other").exists()
    listed = json.loads(gpuprof("ps", "--json").out)["processes"]
    assert [x["state"] for x in listed if x["pid"] == one.pid] == ["capturing"]
    done = gpuprof("detach", one.pid)
    assert done.status == 0 and f"detached from process {one.pid}" in done.words and "lost: nothing" in done.words
    assert (one.threads(), one.files(), one.rights()) == before
    verify(tmp_path / "bundle")
    assert gpuprof("detach", one.pid).status == 1, "once"
    one.finish()


@pytest.mark.parametrize("way", ["sleep", "waits", "churn"])
def test_again_and_again(target, tmp_path, way):
    """Attached forty times, the program has the memory that it had after the tenth: none of a session's stays."""
    one = target(program("attached"), way)
    held, mapped = [], []
    for number in range(40):
        folder = tmp_path / f"b{number}"
        assert attach(one.pid, "--for=1ms", PATIENT, "-o", folder).status == 0
        shutil.rmtree(folder)
        held.append(anonymous_kib(one.pid))
        mapped.append(int(one.status("VmSize").split()[0]))
    # A slab of the tracer's heap or an arena of libc's may come late, once; of thirty sessions 3600 KiB would stay.
    assert min(held[35:]) <= max(held[5:10]) + 512, held
    assert max(mapped[10:]) <= max(mapped[:10]) + 512, mapped
    one.finish()


def test_again_and_again_while_threads_children_and_libraries_pass(target, tmp_path):
    """What threads ask of the recording as they come and go is answered, or not, while it begins and ends around them."""
    one = target(program("attached"), "passing", PROGRAMS / "later_library.so")
    for number in range(20):
        folder = tmp_path / f"b{number}"
        assert attach(one.pid, "--for=1ms", PATIENT, "-o", folder).status == 0
        shutil.rmtree(folder)
    assert one.finish() > 0


LIMITED = """
import resource, signal, sys
ends = []
signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
print("ready", flush=True)
sys.stdin.readline()
resource.setrlimit(resource.RLIMIT_AS, (16 << 30, resource.RLIM_INFINITY))
print("set", flush=True)
while not ends: signal.pause()
print("ok 1")
"""


def test_a_limit_stays_what_it_was(target, tmp_path):
    """The kernel's limit is higher by what gpuprof has, which is no more after ten attaches than after two."""
    one = target(sys.executable, "-c", LIMITED)

    def limit():
        text = pathlib.Path(f"/proc/{one.pid}/limits").read_text()
        return int(re.search(r"^Max address space\s+(\d+)", text, re.M).group(1))

    assert attach(one.pid, PATIENT, "-o", tmp_path / "first").status == 0
    one.process.stdin.write(b"x\n")
    assert one.process.stdout.readline() == b"set\n"
    assert gpuprof("detach", one.pid).status == 0
    limits = []
    for number in range(10):
        assert attach(one.pid, "--for=1ms", PATIENT, "-o", tmp_path / f"b{number}").status == 0
        limits.append(limit())
    assert min(limits) > 16 << 30, "it was raised"
    assert limits[-1] <= limits[1] + (1 << 20), [x - (16 << 30) for x in limits]
    one.finish()


def test_captures_of_a_later_attach(target, tmp_path):
    """What an earlier attach ended with says nothing of a later one: its captures end and begin as those of the first."""
    one = target(program("attached"), "churn")
    assert attach(one.pid, "--for=1ms", PATIENT, "-o", tmp_path / "first").status == 0
    assert attach(one.pid, PATIENT, "-o", tmp_path / "second").status == 0

    def ctl(*words):
        done = gpuprof("ctl", *words, one.pid)
        assert done.status == 0, done.words

    def events():
        return json.loads(gpuprof("ctl", "status", "--json", one.pid).out)["processes"][0]["events"]

    ctl("stop")
    first = events()
    ctl("start")
    wait_until(lambda: events() > first, "events of the second capture")
    ctl("stop")
    ctl("snapshot")
    assert gpuprof("detach", one.pid).status == 0
    one.finish()
    verify(tmp_path / "second")
    (trace,) = read_bundle(tmp_path / "second")
    assert [(number, begins) for number, begins, _ in trace.captures] == [(1, True), (1, False), (2, True), (2, False)], trace.captures


@pytest.mark.parametrize("way", ["attach", "run"])
def test_counts_are_those_of_a_preload(target, session, tmp_path, way):
    """Every block and every wait after the attach is there, as if gpuprof had been there from the start."""
    options = ["--trace=heap=exact,locks,threads", "-o", tmp_path / "bundle"]
    if way == "run":
        run = session([program("attached"), "counted"], "--trace=heap=exact,locks,threads")
        assert run.line() == "ready"
        run.tell("x")
        assert run.line() == "counted"
        os.kill(run.pid, signal.SIGTERM)
        bundle = run.finish().bundle
    else:
        one = target(program("attached"), "counted")
        assert attach(one.pid, *options).status == 0
        one.process.stdin.write(b"x")
        assert one.process.stdout.readline() == b"counted\n"
        assert gpuprof("detach", one.pid).status == 0
        assert one.finish() >= 20
        bundle = tmp_path / "bundle"
    heap = json.loads(gpuprof("stats", "heap", "--json", bundle).out)["processes"][0]
    assert heap["count"] >= 1000 and heap["allocated_bytes"] >= 1000 * 12345
    assert heap["allocated_bytes"] < 1000 * 12345 + 2_000_000, heap
    locks = json.loads(gpuprof("stats", "locks", "--json", bundle).out)
    mutex = [x for x in locks["locks"] if x["kind"] == "mutex" and x["count"] >= 15]
    assert mutex and mutex[0]["count"] <= 40, locks


def test_a_library_that_comes_later_is_seen(target, tmp_path):
    one = target(program("attached"), "later", PROGRAMS / "later_library.so")
    assert attach(one.pid, "--trace=heap=exact", "-o", tmp_path / "bundle").status == 0
    one.process.stdin.write(b"x")

    def events():
        return json.loads(gpuprof("ctl", "status", "--json", one.pid).out)["processes"][0]["events"]

    wait_until(lambda: events() > 200, "the library's allocations")
    assert gpuprof("detach", one.pid).status == 0
    one.finish()
    heap = json.loads(gpuprof("stats", "heap", "--json", tmp_path / "bundle").out)["processes"][0]
    assert heap["allocated_bytes"] >= 50 * 54321, heap


def test_ctrl_c_detaches(target, tmp_path):
    one = target(program("attached"), "sleep")
    run = subprocess.Popen([str(GPUPROF), "attach", str(one.pid), "--for=1h", PATIENT, "-o", str(tmp_path / "bundle")],
                           stderr=subprocess.PIPE, env=clean_environment())
    wait_until(lambda: "gpuprof-ctl" in one.threads(), "the attach")
    run.send_signal(signal.SIGINT)
    words = run.communicate(timeout=LIMIT_S)[1].decode()
    assert run.returncode == 0 and "detached from" in words, words
    assert one.threads() == ["attached"]
    one.finish()
    verify(tmp_path / "bundle")


def test_the_program_ends_while_attached(target, tmp_path):
    """Its trace ends with it, and the command says so at once."""
    one = target(program("attached"), "locks")
    run = subprocess.Popen([str(GPUPROF), "attach", str(one.pid), "--for=1h", PATIENT, "-o", str(tmp_path / "bundle")],
                           stderr=subprocess.PIPE, env=clean_environment())
    said = []
    while not said or b"attached to" not in said[-1]:
        said.append(run.stderr.readline())
        assert said[-1] != b"", said
    one.finish()
    words = run.communicate(timeout=LIMIT_S)[1].decode()
    assert run.returncode == 0 and "ended while it was recorded" in words, words
    verify(tmp_path / "bundle")


# Targets that must be refused, each by its own word, and left alone.
def test_refused_before_anything_is_done(target, tmp_path):
    def refused(pid, word, status=1):
        done = gpuprof("attach", pid, "-o", tmp_path / "bundle", "--wait=100ms")
        assert done.status == status and f"({word})" in done.words, done.words
        assert not (tmp_path / "bundle").exists()

    refused(2 ** 22 - 1, "ended", 3)
    refused(2, "kernel")
    unable = target(program("attached_static"), "sleep")
    refused(unable.pid, "static")
    unable.finish()
    one = target(program("attached"), "sleep")
    one.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: one.status("State").startswith("T"), "the stop")
    refused(one.pid, "stopped")
    one.process.send_signal(signal.SIGCONT)
    wait_until(lambda: not one.status("State").startswith("T"), "the start")
    many = target(program("attached"), "waits")
    thread = max(int(x.name) for x in pathlib.Path(f"/proc/{many.pid}/task").iterdir())
    refused(thread, "ended", 3)
    one.finish()
    many.finish()
    usage = gpuprof("attach", "12x")
    assert usage.status == 2 and "not a process number" in usage.words


TRACER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
assert libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0
print("traces", flush=True)
sys.stdin.read()
"""

FILTERED = """
import ctypes, signal, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGTERM, lambda *_: (print("ok 1", flush=True), sys.exit(0)))
allow = struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
code = ctypes.create_string_buffer(allow, len(allow))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
print("ready", flush=True)
while True: time.sleep(0.05)
"""


def test_a_traced_program_is_refused(target, tmp_path):
    one = target(program("attached"), "sleep")
    with subprocess.Popen([sys.executable, "-c", TRACER, str(one.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tracer:
        assert tracer.stdout.readline() == b"traces\n"
        done = attach(one.pid, "-o", tmp_path / "bundle")
        assert done.status == 1 and "(traced)" in done.words and f"process {tracer.pid}" in done.words, done.words
        tracer.stdin.close()
    one.finish()


def test_a_program_with_a_filter_is_refused(target, tmp_path):
    """It may end at the first system call that it does not expect. The filters of its container do not count."""
    one = target(sys.executable, "-c", FILTERED)
    done = attach(one.pid, "-o", tmp_path / "bundle")
    assert done.status == 1 and "(seccomp)" in done.words, done.words
    one.finish()


@pytest.mark.parametrize("way", ["handler", "constructor", "allocator"])
def test_no_moment_is_safe(target, tmp_path, way):
    """A thread in a signal handler, in the loader or in an allocator is never made to load anything."""
    if way == "allocator":
        one = target(program("attached"), way, env={"LD_PRELOAD": str(PROGRAMS / "allocator_library.so")})
    else:
        one = target(program("attached"), way, PROGRAMS / "sitting_library.so")
    done = gpuprof("attach", one.pid, "-o", tmp_path / "bundle", "--wait=1s")
    assert done.status == 1 and "(moment)" in done.words, done.words
    assert "gpuprof-ctl" not in one.threads() and not (tmp_path / "bundle").exists()
    one.finish()


@pytest.fixture
def open_folder():
    """A folder that every user can enter."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


@needs_root
def test_another_user(target, open_folder):
    """Nobody's own process can be attached to by nobody and by root, root's not by nobody. The bundle is the process's user's."""
    nobody = dict(user=65534, group=65534, extra_groups=[])
    tmp_path = open_folder
    one = target(program("attached"), "locks", **nobody)
    done = attach(one.pid, "--for=300ms", "-o", tmp_path / "bundle")
    assert done.status == 0, done.words
    assert (tmp_path / "bundle").stat().st_uid == 65534
    verify(tmp_path / "bundle")
    own = tmp_path / "own"
    own.mkdir()
    os.chown(own, 65534, 65534)
    done = subprocess.run([str(GPUPROF), "attach", str(one.pid), "--for=300ms", PATIENT, "-o", str(own / "bundle")], env=clean_environment(),
                          capture_output=True, cwd="/", **nobody)
    assert done.returncode == 0, done.stderr
    one.finish()
    other = target(program("attached"), "sleep")
    done = subprocess.run([str(GPUPROF), "attach", str(other.pid), "-o", str(own / "no")], env=clean_environment(), capture_output=True,
                          cwd="/", **nobody)
    assert done.returncode == 1 and b"(rights)" in done.stderr and b"belongs to root" in done.stderr, done.stderr
    other.finish()


def test_killed_in_the_middle(target, tmp_path):
    """The command is killed at random moments: the program goes on, and can be attached to afterwards."""
    one = target(program("attached"), "waits")
    for number in range(30):
        run = subprocess.Popen([str(GPUPROF), "attach", str(one.pid), "--for=1h", "-o", str(tmp_path / f"b{number}")], stderr=subprocess.PIPE,
                               env=clean_environment())
        if number % 3 == 0:
            wait_until(lambda: "gpuprof-ctl" in one.threads(), "the attach")
        else:
            wait_until(lambda: one.status("TracerPid") != "0" or "gpuprof-ctl" in one.threads() or run.poll() is not None, "the stop")
        run.kill()
        run.communicate()
        # It may have been too early for a thread of gpuprof.
        gpuprof("detach", one.pid)
        assert one.process.poll() is None, (number, one.process.stdout.read())
    done = attach(one.pid, "--for=100ms", "-o", tmp_path / "last")
    assert done.status == 0, done.words
    one.finish()


@needs("bwrap")
def test_a_process_with_another_file_system(tmp_path):
    """It sees neither gpuprof nor our folder, and has its own numbers. Nothing of gpuprof stays in its file system."""
    name = program("attached")
    command = ["bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc",
               "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", name, "/attached", "/attached", "waits"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as outer:
        assert outer.stdout.readline() == b"ready\n"
        (pid,) = [int(x.name) for x in pathlib.Path("/proc").iterdir() if x.name.isdigit() and command_of(x) == [b"/attached", b"waits"]]
        endless = attach(pid, "-o", tmp_path / "endless")
        assert endless.status == 1 and "(namespace)" in endless.words and "--for" in endless.words, endless.words
        done = attach(pid, "--for=500ms", "-o", tmp_path / "bundle")
        assert done.status == 0 and "lost: nothing" in done.words, done.words
        assert list(pathlib.Path(f"/proc/{pid}/root/tmp").iterdir()) == []
        os.kill(pid, signal.SIGTERM)
        assert outer.communicate(timeout=LIMIT_S)[0].startswith(b"ok ")
    verify(tmp_path / "bundle")
    (trace,) = read_bundle(tmp_path / "bundle")
    assert trace.exit_way == DETACHED


TRAINING = """
import signal, sys, torch
ends = []
signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
torch.manual_seed(7); torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
best = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
print("ready", flush=True)
for step in range(int(sys.argv[1])):
    loss = model(torch.randn(32, 64)).square().mean()
    best.zero_grad(); loss.backward(); best.step()
print("result", repr(sum(p.double().sum().item() for p in model.parameters())), flush=True)
while not ends: signal.pause()
print("ok 1")
"""


def test_a_training_comes_to_the_same_result(target, tmp_path):
    """A seeded training is attached to and left many times. Its result is the same to the last digit, and its operations are seen."""
    steps = 3000
    alone = target(sys.executable, "-c", TRAINING, steps)
    result = alone.process.stdout.readline()
    assert result.startswith(b"result")
    alone.finish()
    one = target(sys.executable, "-c", TRAINING, steps)
    seen = 0
    for number in range(8):
        done = attach(one.pid, "--for=200ms", "--trace=ops,heap,locks,threads", "-o", tmp_path / f"b{number}")
        assert done.status == 0, done.words
        ops = json.loads(gpuprof("stats", "ops", "--json", tmp_path / f"b{number}").out)
        seen += any("addmm" in x["name"] for x in ops["ops"])
    assert one.process.stdout.readline() == result
    one.finish()
    assert seen >= 1, "no operation of PyTorch was recorded"


def test_ps_says_why(target):
    """Which processes can be recorded as they run, and how the others are to be started."""
    one, fixed = target(program("attached"), "sleep"), target(program("attached_static"), "sleep", "--token=secret")
    rows = {x["pid"]: x for x in json.loads(gpuprof("ps", "--why", "--json").out)["processes"]}
    assert (rows[one.pid]["way"], rows[one.pid]["next"]) == ("attach", f"gpuprof attach {one.pid}")
    assert (rows[fixed.pid]["way"], rows[fixed.pid]["refusal"]) == ("restart", "static")
    assert rows[fixed.pid]["next"] == f"gpuprof run -- {program('attached_static')} sleep '--token=***'"
    assert os.getpid() in rows and 2 not in rows, "threads of the kernel are no programs"
    text = gpuprof("ps", "--why").out.decode()
    assert re.search(rf"^ *{one.pid}  attach  +gpuprof attach {one.pid}$", text, re.M) and re.search(rf"{fixed.pid}  restart  static", text)
    one.finish()
    fixed.finish()
