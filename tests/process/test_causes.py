# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What keeps a process from recording is told as what it is: to `gpuprof run`, to `gpuprof ctl`, or on stderr. Each
sentence names the user, the namespace or the limit, and what helps."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import GPUPROF, clean_environment, gpuprof, needs, needs_root, program, verify
from waiting import LIMIT_S, stay, wait_until

USER = 61001
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
WORKS = "import time; x = [bytes(1000) for _ in range(100000)]; time.sleep(.3)"

# Becomes another user once it has been told to, and has a log of its own.
CHANGES_USER = """
import os, sys, time
os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o666), 2)
os.setgid(61001)
os.setuid(61001)
print(os.getpid(), flush=True)
until = time.monotonic() + 60
while time.monotonic() < until and not os.path.exists(sys.argv[2]):
    bytes(100000)
    time.sleep(.001)
"""


@pytest.fixture
def place():
    """A folder that every user may look into, as pytest's own are private."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def run(bundle, *command, options=()):
    done = subprocess.run([str(GPUPROF), "run", "-o", str(bundle), *options, "--", *map(str, command)],
                          capture_output=True, env=clean_environment(), timeout=LIMIT_S)
    return done.returncode, done.stderr.decode()


@needs_root
@needs("setpriv")
def test_program_of_another_user(place):
    status, said = run(place / "b", *AS_USER, sys.executable, "-c", WORKS)
    assert status == 0
    lines = [line for line in said.splitlines() if "cannot record" in line]
    assert len(lines) == 1, said
    assert "nothing was recorded: cannot record 1 process (python" in lines[0]
    assert f"user {USER} may not write into the bundle, which belongs to user 0" in lines[0]
    assert f"start gpuprof itself as user {USER}" in lines[0]
    assert "--include" not in said


@needs_root
@needs("setpriv")
def test_some_programs_of_another_user(place):
    """The rest is recorded, and the processes that could not write are counted together."""
    works = f"{' '.join(AS_USER)} {program('plain')} x"
    status, said = run(place / "b", "bash", "-c", f"{program('plain')} x; {works}; {works}; {works}")
    assert "recorded: " in said
    assert f"cannot record 3 processes (plain): user {USER} may not write" in said, said
    assert said.count("cannot record") == 1


@needs_root
@needs("setpriv")
def test_the_remedy_helps(place):
    """As that user, gpuprof makes a bundle of that user's."""
    (place / "own").mkdir()
    shutil.chown(place / "own", USER, USER)
    done = subprocess.run([*AS_USER, str(GPUPROF), "run", "-o", str(place / "own" / "b"), "--", program("plain"), "x"],
                          capture_output=True, env=clean_environment(), timeout=LIMIT_S)
    if done.returncode == 126 or b"Permission denied" in done.stderr:
        pytest.skip("the build's folder is closed to other users")
    assert b"recorded: " in done.stderr, done.stderr.decode()


def _service(place, *options):
    process = subprocess.Popen(
        [str(GPUPROF), "run", *(options or ["--capture=off"]), "-o", str(place / "b"), "--", sys.executable, "-c", CHANGES_USER,
         str(place / "log"), str(place / "end")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment())
    return process, int(process.stdout.readline())


def _end(process, place):
    (place / "end").touch()
    return process.communicate(timeout=LIMIT_S)[1].decode()


@needs_root
def test_root_captures_after_a_change_of_user(place):
    """ctl makes the files and hands them over: two captures, without a word in the service's log."""
    process, pid = _service(place)
    for _ in range(2):
        started = gpuprof("ctl", "start", pid)
        assert started.status == 0, started.err.decode()
        stay(.2)
        assert gpuprof("ctl", "stop", pid).status == 0
    said = _end(process, place)
    assert "recorded: " in said and "lost: nothing" in said and "cannot" not in said, said
    assert (place / "log").read_text() == ""
    verify(place / "b")
    assert [path.suffix for path in (place / "b").glob("p*")] == [".gpt"]
    result = json.loads(gpuprof("stats", "overview", "--json", place / "b").out)
    assert result["cost"]["capture_count"] == 2 and result["processes"][0]["count"] > 0


@needs_root
def test_second_capture_after_a_change_of_user(place):
    """The first capture began as root and is whole. The second finds no file that its user may write."""
    process, pid = _service(place, "--capture=now")
    assert gpuprof("ctl", "stop", pid).status == 0
    gpuprof("ctl", "start", pid)
    stay(.3)
    said = _end(process, place)
    assert "only the capture that began before it can be written" in said and "disk" not in said, said
    assert (place / "log").read_text() == ""


@needs_root
def test_files_are_made_in_bundles_of_roots_alone(place):
    """Whoever answers may name any folder. Root makes files of others in no other."""
    process, pid = _service(place)
    (place / "b").chmod(0o722)
    started = gpuprof("ctl", "start", pid)
    (place / "b").chmod(0o700)
    _end(process, place)
    assert started.status == 1, started.out.decode()
    assert list((place / "b").glob("p*")) == []


@needs_root
def test_ctl_has_the_reason_where_it_cannot_help(place):
    """A flight recorder makes files all the time. ctl itself gets the reason. The service's log stays empty."""
    process, pid = _service(place, "--capture=off", "--ring=1MiB")
    started = gpuprof("ctl", "start", pid)
    said = _end(process, place)
    assert started.status == 1
    for words in (started.err.decode(), said):
        assert f"user {USER} may not write into the bundle, which belongs to user 0" in words, words
        assert "before the program changes its user" in words
        assert "disk" not in words and "no capture was started" not in words
    assert (place / "log").read_text() == ""
    assert list((place / "b").glob("p*")) == []


@needs_root
def test_capture_after_a_change_of_user_by_signal(place):
    process, pid = _service(place)
    os.kill(pid, signal.SIGUSR1)
    wait_until(lambda: b"state: failed" in gpuprof("ctl", "status", pid).out)
    said = _end(process, place)
    assert f"user {USER} may not write into the bundle, which belongs to user 0" in said, said
    assert "disk" not in said and "no capture was started" not in said
    assert "as root with 'gpuprof ctl start'" in said
    assert (place / "log").read_text() == ""


@needs_root
@needs("setpriv")
def test_without_a_launcher_stderr_has_the_reason(place):
    (place / "b").mkdir(mode=0o700)
    exported = [line.removeprefix("export ") for line in gpuprof("env", "-o", place / "b").out.decode().splitlines()]
    variables = {name: value.strip("'") for name, value in (line.split("=", 1) for line in exported if "=" in line)}
    assert "GPUPROF_BUNDLE" in variables, exported
    done = subprocess.run([*AS_USER, program("plain"), "x"], capture_output=True, env=clean_environment(variables), timeout=LIMIT_S)
    said = [line for line in done.stderr.decode().splitlines() if line.startswith("gpuprof: ")]
    assert len(said) == 1 and f"user {USER} may not write into the bundle" in said[0], said


LEAVES_NAMESPACE = """
import ctypes, os, sys, time
print(ctypes.CDLL(None).unshare(0x20000000), flush=True)
sys.stdin.readline()
"""


@needs_root
def test_process_that_left_its_pid_namespace(session):
    """The kernel refuses each new thread there. No limit is to blame."""
    running = session([sys.executable, "-c", LEAVES_NAMESPACE], "--capture=off")
    assert running.line() == "0"
    started = running.ctl("start")
    assert started.status != 0
    assert "has left its PID namespace" in started.err.decode(), started.err.decode()
    os.kill(running.pid, signal.SIGUSR1)
    stay(.2)
    running.tell("\n")
    said = running.finish().err.decode()
    assert "has left its PID namespace" in said and "limit" not in said.split("bundle:")[0], said


@needs("faketime")
@pytest.mark.parametrize("clock", ["1971-01-01", "2020-01-01", "2076-01-01", "+1y x100"])
def test_faked_clock_damages_nothing(record, clock):
    """Durations and places are those of the true clock, whatever the program is told."""
    outcome = record(["bash", "-c", f"{program('plain')} x; exec faketime -f '@{clock} 00:00:00' {sys.executable} -c '{WORKS}'"
                      if clock[0] != "+" else f"exec faketime -f '{clock}' {sys.executable} -c '{WORKS}'"])
    assert outcome.status == 0, outcome.err.decode()
    assert "lost: nothing" in outcome.words
    done = gpuprof("stats", "overview", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    result = json.loads(done.out)
    for process in result["processes"]:
        assert -1e9 < process["start_ns"] < process["end_ns"] < 50e9, process
    origin = result["meta"]["origin_realtime_ns"] / 1e9
    assert abs(origin - time.time()) < 120


HANDLES = """
import signal, sys, time
seen = []
signal.signal(signal.SIGUSR1, lambda *_: (print("reopened", flush=True), seen.append(1)))
print("ready", flush=True)
while not seen:  # the first line is for the shell, which has the same input
    time.sleep(0.01)
for line in sys.stdin:
    pass
"""


def test_signal_of_a_shell_of_the_run_is_the_programs_own(session):
    """As a script that has a server reopen its log: `kill -USR1 $(cat pid)`."""
    script = f"exec 3<&0; {sys.executable} -c '{HANDLES}' <&3 & read line; kill -USR1 $!; wait"
    running = session(["bash", "-c", script])
    assert running.line() == "ready"
    running.tell("\n")
    assert running.line() == "reopened"
    running.process.stdin.close()
    said = running.process.stderr.read().decode()
    assert running.process.wait(timeout=LIMIT_S) == 0
    assert "switched:" not in said, said


def test_folder_of_sockets_goes_with_the_last_process(tmp_path):
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    outcome = subprocess.run([str(GPUPROF), "run", "-o", str(tmp_path / "b"), "--", sys.executable, "-c", WORKS],
                             env=clean_environment({"XDG_RUNTIME_DIR": str(runtime)}), capture_output=True, timeout=LIMIT_S)
    assert outcome.returncode == 0
    assert list(runtime.iterdir()) == []
