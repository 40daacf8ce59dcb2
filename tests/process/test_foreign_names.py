# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Names and answers that others chose: bytes that are no UTF-8, commands to terminals, and answers that never end."""

import json
import os
import pathlib
import shutil
import signal
import socket
import tempfile
import threading
import time
import unicodedata

import pytest

from conftest import Session, gpuprof, needs_root, program

PID = 4194300  # no process has it
OTHER_USER = 54321


@pytest.fixture
def runtime():
    """A runtime directory, with a path that leaves room for a socket's."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


class Listener:
    """Listens where a process of this user would, and gives each that connects the answer, `step` bytes at a time."""

    def __init__(self, runtime, answer, uid=None, step=4096, pause=0.0):
        self.asked = 0
        self.answer, self.step, self.pause = answer, step, pause
        uid = os.geteuid() if uid is None else uid
        folder = runtime / f"gpuprof-{uid}"
        folder.mkdir(mode=0o700)
        os.chown(folder, uid, -1)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(folder / f"{PID}-1a.sock"))
        self.socket.settimeout(0.1)
        before = os.geteuid()
        if uid != before:
            os.seteuid(uid)  # whoever calls listen() is whom a client finds
        try:
            self.socket.listen(8)
        finally:
            if uid != before:
                os.seteuid(before)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self):
        while not self.ended.is_set():
            try:
                peer = self.socket.accept()[0]
            except socket.timeout:
                continue
            self.asked += 1
            with peer:
                try:
                    peer.recv(4096)  # closed with its request unread it would look as if the process had ended
                    for at in range(0, len(self.answer), self.step):
                        peer.sendall(self.answer[at:at + self.step])
                        time.sleep(self.pause)
                except OSError:
                    pass  # the client has left

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.socket.close()


def _ask(runtime, *words):
    return gpuprof(*words, env={"XDG_RUNTIME_DIR": str(runtime)})


def _check_plain(output):
    commands = [c for c in output.decode() if unicodedata.category(c) == "Cc" and c != "\n"]
    assert not commands, output


def test_no_answer_is_a_command_to_the_terminal(runtime):
    answer = f"result=ok\npid={PID}\nstate=\x1b]0;title\x07\x1b[2J\ncaptures=1\x7f\nevents=0\nlost=0\nprogram=\u009b2J\n\x1b[1A=x\n"
    with Listener(runtime, answer.encode() + b"bundle=/tmp/b\xe9\x9b\r\n"):
        for words in (["ps"], ["ctl", "status", PID]):
            done = _ask(runtime, *words)
            assert done.status == 0, done.err
            _check_plain(done.out)
            assert "\\x1b]0;title\\x07\\x1b[2J" in done.out.decode() and "\\u009b2J" in done.out.decode()
            done = _ask(runtime, *words, "--json")
            _check_plain(done.out)
            (process,) = [process for process in json.loads(done.out)["processes"] if process["pid"] == PID]
            assert process["bundle"] == "/tmp/b\ufffd\ufffd\\x0d"


def test_no_error_is_a_command_to_the_terminal(runtime):
    with Listener(runtime, b"result=error\nerror=no\x1b[2J\xc2\x9b2J\n"):
        for words in (["ps"], ["ctl", "start", PID]):
            done = _ask(runtime, *words)
            _check_plain(done.err)
            assert f"process {PID}: no\\x1b[2J\\u009b2J" in done.err.decode()


def test_a_number_is_nothing_that_a_shell_would_run(runtime):
    """Completion offers the numbers of `ps` to a shell, which expands what it is offered."""
    with Listener(runtime, b"result=ok\npid=$(id)\nstate=dormant\n"):
        done = _ask(runtime, "ps")
        assert str(PID) in [line.split()[0] for line in done.out.decode().splitlines()], done.out


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for(runtime):
    """Half a minute of it, each byte in time: the whole would be a good answer."""
    with Listener(runtime, b"result=ok\nstate=" + b"x" * 600 + b"\n", step=1, pause=0.05) as slow:
        done = _ask(runtime, "ps")
        assert slow.asked == 1
        assert done.status == 0 and f"process {PID}: did not answer within" in done.err.decode()
        assert "xxx" not in done.out.decode()


@needs_root
def test_the_end_of_a_command_waits_for_no_other_user(runtime, tmp_path):
    answer = f"result=ok\npid={PID}\nstate=dormant\nbundle={tmp_path}/b\n".encode()
    with Listener(runtime, answer, uid=OTHER_USER) as other:
        done = _ask(runtime, "run", "--capture=off", "-o", tmp_path / "b", "--", "true")
        assert done.status == 0 and "nothing was recorded" in done.words
        assert other.asked == 0 and str(PID) not in done.words
        assert str(PID) in _ask(runtime, "ps").out.decode() and other.asked == 1


def test_names_that_are_no_utf8(tmp_path):
    command = tmp_path / os.fsdecode(b"toggled\xe9")
    shutil.copy(program("toggled"), command)
    run = Session([command, "1"], ["--capture=off"], tmp_path / os.fsdecode(b"b\xe9"), None)
    try:
        assert run.line() == "ready"
        run.wait_for(lambda: run.ctl("status").status == 0)
        for words in (["ps", "--json"], ["ctl", "status", "--json", run.pid]):
            done = gpuprof(*words)
            assert done.status == 0, done.err
            (process,) = [process for process in json.loads(done.out)["processes"] if process["pid"] == run.pid]
            assert process["program"] == "toggled\ufffd" and process["bundle"].endswith("/b\ufffd")
        os.kill(run.pid, signal.SIGSTOP)
        try:
            done = gpuprof("ps", "--json")
        finally:
            os.kill(run.pid, signal.SIGCONT)
        (process,) = [process for process in json.loads(done.out)["processes"] if process["pid"] == run.pid]
        assert process == {"pid": run.pid, "state": "stopped", "program": "toggled\ufffd"}
        assert run.finish().status == 0
    finally:
        run.end()


def test_env_and_doctor_of_what_is_no_utf8(tmp_path):
    done = gpuprof("env", "--json", "-o", os.fsdecode(b"/tmp/b\xe9"))
    assert done.status == 0, done.err
    assert json.loads(done.out)["GPUPROF_BUNDLE"] == "/tmp/b\ufffd"
    done = gpuprof("doctor", "--json", env={"GPUPROF_STACKS": os.fsdecode(b"\xe9\x1b[2J")})
    assert done.status == 1, done.err
    assert any("\ufffd" in check["found"] for check in json.loads(done.out)["checks"])
    done = gpuprof("doctor", env={"GPUPROF_STACKS": os.fsdecode(b"\xe9\x1b[2J")})
    assert "\ufffd\\x1b[2J" in done.out.decode()
    _check_plain(done.out)


def test_a_programs_words_are_no_commands_to_the_terminal(record):
    outcome = record([program("toggled"), "1", "\x1b[2J\u009b2J"], "--capture=now", stdin=b"")
    for words in (["info"], ["info", "--json"], ["stats", "overview"], ["stats", "overview", "--json"], ["stats", "health"], ["dump"]):
        done = gpuprof(*words, outcome.bundle)
        assert done.status == 0, done.err
        _check_plain(done.out)
    assert "$'\\033[2J\\302\\2332J'" in gpuprof("info", outcome.bundle).out.decode()
