# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What the process tests share: the built command, the victims, and runs of one under the other.

GPUPROF_BUILD_DIR names the build (ctest sets it); without it build/ci and the other presets are tried."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from trace_file import TraceFile, find_build, read_bundle  # noqa: E402
from waiting import LIMIT_S, wait_until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Shells start commands in the background with these signals ignored, and the victims would inherit that.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

BUILD = find_build()
GPUPROF = BUILD / "launcher" / "gpuprof"
PROGRAMS = BUILD / "tests" / "programs"
SOURCES = ROOT / "tests" / "programs"
# On a busy machine a program fills the usual rings while the recorder waits for a processor, and events are lost.
ROOMY = "--ring-memory=256MiB"


def program(name):
    """Path of a victim: built from tests/programs/NAME.c or .cc, or the script itself."""
    path = SOURCES / name if name.endswith((".py", ".js")) else PROGRAMS / name
    assert path.exists(), f"{path} was not built"
    return str(path)


def clean_environment(extra=None):
    """Ours without anything of gpuprof's, so that a run under another gpuprof run is no different."""
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("GPUPROF_", "PYTEST_")) and k != "LD_PRELOAD"}
    environment.update(extra or {})
    return environment


def roomy(options):
    """The options, with rings that hold what comes while the recorder gets no processor, unless the test is about memory."""
    is_about_memory = any(str(option).startswith(("--ring", "--memory")) for option in options)
    return [*options] if is_about_memory else [ROOMY, *options]


@dataclasses.dataclass
class Outcome:
    """How a command ended. `status` is Popen's: negative for a signal."""
    status: int
    out: bytes
    err: bytes
    bundle: pathlib.Path = None

    def traces(self):
        return read_bundle(self.bundle)

    def trace(self, name=None):
        """The one trace of the bundle, or the one of this program."""
        found = [t for t in self.traces() if name in (None, t.program)]
        assert len(found) == 1, f"{len(found)} traces of {name or 'any program'}: " + \
            str([(t.path.name, t.program) for t in self.traces()]) + self.err.decode(errors="replace")
        return found[0]

    @property
    def words(self):
        """What gpuprof said, and what the program said, on stderr."""
        lines = self.err.decode(errors="replace").splitlines(keepends=True)
        return "".join(x for x in lines if x.startswith("gpuprof: "))

    @property
    def own_err(self):
        lines = self.err.splitlines(keepends=True)
        return b"".join(x for x in lines if not x.startswith(b"gpuprof: "))


def run_bare(command, env=None, timeout=LIMIT_S, cwd=None, stdin=None):
    done = subprocess.run([str(x) for x in command], capture_output=True, env=clean_environment(env),
                          timeout=timeout, cwd=cwd, input=stdin)
    return Outcome(done.returncode, done.stdout, done.stderr)


def verify(bundle):
    """`gpuprof verify` of the bundle, which must be without fault."""
    done = subprocess.run([str(GPUPROF), "verify", str(bundle)], capture_output=True, env=clean_environment())
    assert done.returncode == 0, f"verify {bundle}: {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}"


def anonymous_kib(pid):
    """What a process holds of memory that is in no file."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Anonymous:\s*(\d+)", text, re.M).group(1))


def gpuprof(*words, env=None, timeout=LIMIT_S, cwd=None):
    done = subprocess.run([str(GPUPROF), *map(str, words)], capture_output=True, env=clean_environment(env),
                          timeout=timeout, cwd=cwd)
    return Outcome(done.returncode, done.stdout, done.stderr)


class Session:
    """A command running under gpuprof, with its pid, for tests that talk to it while it runs."""

    def __init__(self, command, options, bundle, env):
        self.bundle = bundle
        # Unbuffered: communicate() does not see what line() has read ahead.
        self.process = subprocess.Popen(
            [str(GPUPROF), "run", "-o", str(bundle), *roomy(options), "--", *map(str, command)], bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(env))
        self.pid = self._child()

    def _child(self):
        """The command's pid, once it has started."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        found = wait_until(lambda: children.read_text().split() or self.process.poll() is not None and ["0"], "the command's start")
        assert found != ["0"], "the command did not start: " + self.process.stderr.read().decode()
        return int(found[0])

    def line(self):
        """The next line of the program's stdout."""
        return self.process.stdout.readline().decode().rstrip("\n")

    def tell(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def ctl(self, verb):
        return gpuprof("ctl", verb, self.pid)

    def state(self):
        done = gpuprof("ctl", "status", "--json", self.pid)
        assert done.status == 0, done.err.decode()
        answer = json.loads(done.out)
        return answer["processes"][0] if "processes" in answer else answer

    def wait_for(self, condition):
        return wait_until(condition, lambda: f"what must happen; state: {self.state()}")

    def record_some(self, events=1):
        """Waits until the capture that is under way has so many more events in the trace."""
        before = self.state()["events"]
        self.wait_for(lambda: self.state()["events"] >= before + events)

    def finish(self, timeout=LIMIT_S):
        out, err = self.process.communicate(timeout=timeout)
        return Outcome(self.process.returncode, out, err, self.bundle)

    def end(self):
        if self.process.poll() is None:
            for pid in (self.pid, self.process.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


@pytest.fixture
def record(tmp_path):
    """record(command, *options): runs it under `gpuprof run`, and checks that the bundle is without fault."""
    count = 0

    def run(command, *options, env=None, timeout=LIMIT_S, cwd=None, stdin=None, check=True):
        nonlocal count
        count += 1
        bundle = tmp_path / f"bundle{count}"
        done = subprocess.run(
            [str(GPUPROF), "run", "-o", str(bundle), *roomy(options), "--", *map(str, command)],
            capture_output=True, env=clean_environment(env), timeout=timeout, cwd=cwd, input=stdin)
        outcome = Outcome(done.returncode, done.stdout, done.stderr, bundle)
        if check and list(bundle.glob("p*")):
            verify(bundle)
        return outcome

    return run


@pytest.fixture
def session(tmp_path):
    """session(command, *options): starts it under `gpuprof run`; whatever is left is killed at the end."""
    running = []

    def start(command, *options, env=None):
        running.append(Session(command, options, tmp_path / f"session{len(running) + 1}", env))
        return running[-1]

    yield start
    for one in running:
        one.end()


@pytest.fixture
def same(record):
    """same(command): the program's output and status under gpuprof must equal those of the bare run; returns the
    recorded outcome."""

    def compare(command, *options, env=None, timeout=LIMIT_S, **keywords):
        bare = run_bare(command, env=env, timeout=timeout)
        recorded = record(command, *options, env=env, timeout=timeout, **keywords)
        assert recorded.status == bare.status, recorded.err.decode(errors="replace")
        assert recorded.out == bare.out
        assert recorded.own_err == bare.err
        return recorded

    return compare


def short_and_long(names, short, *long):
    """Parametrises a test: the short case is in `make test`, the long cases are in `make test-long`."""
    def param(value, **keywords):
        return pytest.param(*(value if isinstance(value, tuple) else (value,)), **keywords)

    return pytest.mark.parametrize(names, [param(short, id="short"), *(param(each, marks=pytest.mark.long) for each in long)])


def needs(tool):
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes files of other users: needs root")
HEAP_EXACT = "--trace=heap=exact,locks,threads"
