# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`ps` and `ctl` for processes in namespaces of process numbers: one number, the caller's, in every verb. The number
that the process has in its own namespace belongs to somebody else here, who gets no signal."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import GPUPROF, clean_environment, gpuprof
from trace_file import read_bundle
from waiting import wait_until

# It tells its number in its namespace, and waits for the end of its stdin.
INSIDE = "import os, sys; block = bytearray(10_000_000); print(os.getpid(), flush=True); sys.stdin.read()"
# Takes the number NUMBER in the namespace, then becomes the command.
AT_NUMBER = """
import os, sys
number, command = int(sys.argv[1]), sys.argv[2:]
open("/proc/sys/kernel/ns_last_pid", "w").write(str(number - 1))
pid = os.fork()
if pid == 0:
    assert os.getpid() == number, os.getpid()
    os.execvp(command[0], command)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def need_namespaces():
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs unshare as root")


def kernel_number(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return [int(x) for x in next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]]


def descendants(pid):
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += descendants(int(child))
    return found


class Inner:
    """A recorded program in a namespace of its own, with both its numbers."""

    def __init__(self, wrapper, bundle, *options, number=None, env=None):
        command = [sys.executable, "-c", INSIDE]
        if number is not None:
            command = [sys.executable, "-c", AT_NUMBER, str(number), *command]
        run = [str(GPUPROF), "run", "-o", str(bundle), *options, "--", *wrapper, *command]
        self.run = subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    env=clean_environment(env))
        told = self.run.stdout.readline()
        if not told:
            pytest.skip("no such namespace here: " + self.run.stderr.read())
        self.own = int(told)
        self.pid = next(pid for pid in descendants(self.run.pid) if len(kernel_number(pid)) > 1 and kernel_number(pid)[-1] == self.own)

    def ctl(self, action, *words):
        return gpuprof("ctl", action, "--json", self.pid, *words)

    def end(self):
        out, err = self.run.communicate()
        return self.run.returncode, out, err


@pytest.fixture
def inner(tmp_path):
    running = []

    def start(wrapper, *options, **more):
        running.append(Inner(wrapper, tmp_path / f"bundle{len(running)}", *options, **more))
        return running[-1]

    yield start
    for one in running:
        if one.run.poll() is None:
            one.end()


def listed():
    done = gpuprof("ps", "--json")
    assert done.status == 0, done.err
    return {row["pid"]: row for row in json.loads(done.out)["processes"]}


UNSHARE = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"]
BWRAP = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid"]
# With a /tmp of its own, where its socket is. The bundle is where it was.
OWN_TMP = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--tmpfs", "/tmp"]


def wrapper_of(kind, tmp_path):
    need_namespaces()
    if kind != "unshare" and shutil.which("bwrap") is None:
        pytest.skip("no bwrap: run scripts/setup --only test")
    return {"unshare": UNSHARE, "bwrap": BWRAP, "own tmp": [*OWN_TMP, "--bind", str(tmp_path), str(tmp_path)]}[kind]


KINDS = pytest.mark.parametrize("kind", ["unshare", "bwrap", "own tmp"])


@KINDS
@pytest.mark.parametrize("capture", ["off", "now"])
def test_one_number_in_every_verb(inner, tmp_path, kind, capture):
    process = inner(wrapper_of(kind, tmp_path), f"--capture={capture}")
    assert process.own != process.pid
    if capture == "now":
        wait_until(lambda: listed().get(process.pid, {}).get("state") == "capturing", lambda: listed())
    row = listed()[process.pid]
    assert row["namespace_pid"] == process.own and row["state"] == ("dormant" if capture == "off" else "capturing")
    text = gpuprof("ps").out.decode()
    assert f"{process.pid} ({process.own} in its namespace)" in text, text
    actions = ["status", "start", "status", "stop", "start", "toggle", "status"] if capture == "off" else ["status", "stop", "start", "toggle"]
    for action in actions:
        done = process.ctl(action)
        assert done.status == 0, (action, done.err.decode())
        answer, = json.loads(done.out)["processes"]
        assert (answer["pid"], answer["namespace_pid"]) == (process.pid, process.own), action
        row = listed()[process.pid]
        assert row["namespace_pid"] == process.own and row["state"] == answer["state"]
    told = gpuprof("ctl", "status", process.pid).out.decode()
    assert told.startswith(f"pid: {process.pid} ({process.own} in its namespace)\n"), told
    status, _, err = process.end()
    assert status == 0, err
    assert process.pid not in listed()
    assert [trace for trace in read_bundle(tmp_path / "bundle0") if trace.pid == process.own], "what it recorded is there"


@KINDS
def test_stranger_with_the_inner_number_survives(inner, tmp_path, kind):
    """The decoy has the number that the recorded process has inside, and SIGUSR1 would end it."""
    wrapper = wrapper_of(kind, tmp_path)
    decoy = subprocess.Popen([sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(900)"], stdout=subprocess.PIPE,
                             env=clean_environment())
    try:
        decoy.stdout.readline()
        assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL
        # bwrap gives no right to choose numbers away.
        more = ["--cap-add", "ALL"] if wrapper[0] == "bwrap" else []
        process = inner([*wrapper, *more], "--capture=off", number=decoy.pid)
        assert process.own == decoy.pid
        for action in ("start", "stop", "toggle", "snapshot", "status"):
            done = gpuprof("ctl", action, decoy.pid)
            assert done.status == 3, (action, done.out)
            words = done.err.decode()
            assert f"process {decoy.pid} runs without gpuprof" in words, words
            assert f"Process {process.pid} has the number {decoy.pid} in its namespace" in words, words
            assert decoy.poll() is None, f"ctl {action} {decoy.pid} ended a stranger"
        assert list(listed()).count(decoy.pid) == 0
        for action in ("start", "stop", "start"):
            done = process.ctl(action)
            assert done.status == 0, (action, done.err.decode())
            assert decoy.poll() is None, f"ctl {action} {process.pid} ended a stranger"
        done = gpuprof("ctl", "start", decoy.pid)
        assert done.status == 3, "awake, it is still no process of this number here"
        # Only a question: other programs of this machine may be recorded, too.
        assert gpuprof("ctl", "status", "all").status in (0, 1)
        assert decoy.poll() is None
        assert process.end()[0] == 0
    finally:
        decoy.kill()
        decoy.wait()


def test_two_namespaces_with_the_same_number(inner, tmp_path):
    wrapper = wrapper_of("unshare", tmp_path)
    first, second = inner(wrapper, "--capture=off"), inner(wrapper, "--capture=off")
    assert first.own == second.own and first.pid != second.pid
    assert first.ctl("start").status == 0
    rows = listed()
    assert rows[first.pid]["state"] == "capturing" and rows[second.pid]["state"] == "dormant"
    assert second.ctl("start").status == 0
    assert first.ctl("stop").status == 0
    rows = listed()
    assert rows[first.pid]["state"] == "dormant" and rows[second.pid]["state"] == "capturing"
    assert json.loads(second.ctl("status").out)["processes"][0]["bundle"] == str(tmp_path / "bundle1")


def test_inside_the_number_is_the_one_seen_there(inner, tmp_path):
    """The caller in the namespace uses the inner number, and there is no other for it."""
    process = inner(wrapper_of("unshare", tmp_path), "--capture=off")
    inside = ["nsenter", "--target", str(process.pid), "--pid", "--mount", str(GPUPROF)]
    done = subprocess.run([*inside, "ctl", "start", "--json", str(process.own)], capture_output=True, env=clean_environment())
    assert done.returncode == 0, done.stderr
    answer, = json.loads(done.stdout)["processes"]
    assert (answer["pid"], answer["namespace_pid"]) == (process.own, process.own)
    ps = subprocess.run([*inside, "ps"], capture_output=True, env=clean_environment(), text=True)
    assert "in its namespace" not in ps.stdout and str(process.own) in ps.stdout, ps


def test_survivor_is_told_by_the_callers_number(tmp_path):
    """A daemon that outlives the command: the summary names the number that ctl takes."""
    need_namespaces()
    gate = tmp_path / "gate"
    gate.touch()
    code = ("import os, pathlib, time\n"
            "if os.fork() == 0:\n    os.close(0); os.close(1); os.close(2); os.setsid()\n"
            f"    while pathlib.Path({str(gate)!r}).exists(): time.sleep(0.01)\n"
            "else:\n    os._exit(0)")
    # Process 1 of the namespace ends last.
    holder = subprocess.Popen(["unshare", "--fork", "--pid", "--mount-proc", "sleep", "900"], env=clean_environment())
    try:
        root = wait_until(lambda: [pid for pid in descendants(holder.pid) if pid != holder.pid and len(kernel_number(pid)) > 1], "the namespace")[0]
        enter = ["nsenter", "--target", str(root), "--pid", "--mount", sys.executable, "-c", code]
        done = gpuprof("run", "-o", tmp_path / "b", "--", *enter)
        assert done.status == 0, done.err
        told = next(line for line in done.err.decode().splitlines() if "still running" in line)
        pid = int(told.rsplit(" ", 1)[1])
        assert len(kernel_number(pid)) == 2, told
        assert f"({pid})" in told
        assert gpuprof("ctl", "stop", pid).status == 0
    finally:
        gate.unlink()
        holder.kill()
        holder.wait()
