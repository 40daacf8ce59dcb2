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
import unicodedata

import pytest

from conftest import Session, gpuprof, needs_root, program
from waiting import stay

OTHER_USER = 54321


@pytest.fixture
def runtime():
    """A runtime directory, with a path that leaves room for a socket's."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


class Listener:
    """A process that listens where a recorded one would, and gives each that connects the answer, `step` bytes at a time."""

    def __init__(self, runtime, answer, uid=None, step=4096, pause=0.0):
        self.answer, self.step, self.pause = answer, step, pause
        uid = os.geteuid() if uid is None else uid
        folder = runtime / f"gpuprof-{uid}"
        folder.mkdir(mode=0o700)
        os.chown(folder, uid, -1)
        runtime.chmod(0o755)
        self.events, events = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self._serve(folder, uid, events)
            finally:
                os._exit(1)
        os.close(events)
        assert os.read(self.events, 1) == b"r"
        os.set_blocking(self.events, False)
        self._asked = 0

    def _serve(self, folder, uid, events):
        """In the child, which is the process that a client finds."""
        if uid != os.geteuid():
            os.setresuid(uid, uid, uid)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(folder / f"{os.getpid()}-1a.sock"))
        listener.listen(8)
        os.write(events, b"r")
        while True:
            with listener.accept()[0] as peer:
                try:
                    # Closed with its request unread it would look as if the process had ended. A client that only looks whose
                    # socket it is sends none.
                    if not peer.recv(4096):
                        continue
                    os.write(events, b".")
                    for at in range(0, len(self.answer), self.step):
                        peer.sendall(self.answer[at:at + self.step])
                        stay(self.pause)
                except OSError:
                    pass  # the client has left

    @property
    def asked(self):
        try:
            self._asked += len(os.read(self.events, 4096))
        except BlockingIOError:
            pass
        return self._asked

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.events)


def _ask(runtime, *words):
    return gpuprof(*words, env={"XDG_RUNTIME_DIR": str(runtime)})


def _check_plain(output):
    commands = [c for c in output.decode() if unicodedata.category(c) == "Cc" and c != "\n"]
    assert not commands, output


def test_no_answer_is_a_command_to_the_terminal(runtime):
    answer = "result=ok\npid=1\nstate=\x1b]0;title\x07\x1b[2J\ncaptures=1\x7f\nevents=0\nlost=0\nprogram=\u009b2J\n\x1b[1A=x\n"
    with Listener(runtime, answer.encode() + b"bundle=/tmp/b\xe9\x9b\r\n") as one:
        for words in (["ps"], ["ctl", "status", one.pid]):
            done = _ask(runtime, *words)
            assert done.status == 0, done.err
            _check_plain(done.out)
            assert "\\x1b]0;title\\x07\\x1b[2J" in done.out.decode() and "\\u009b2J" in done.out.decode()
            done = _ask(runtime, *words, "--json")
            _check_plain(done.out)
            (process,) = [process for process in json.loads(done.out)["processes"] if process["pid"] == one.pid]
            assert process["bundle"] == "/tmp/b\ufffd\ufffd\\x0d"


def test_no_error_is_a_command_to_the_terminal(runtime):
    with Listener(runtime, b"result=error\nerror=no\x1b[2J\xc2\x9b2J\n") as one:
        for words in (["ps"], ["ctl", "start", one.pid]):
            done = _ask(runtime, *words)
            _check_plain(done.err)
            assert f"process {one.pid}: no\\x1b[2J\\u009b2J" in done.err.decode()


def test_a_number_is_nothing_that_a_shell_would_run(runtime):
    """Completion offers the numbers of `ps` to a shell, which expands what it is offered."""
    with Listener(runtime, b"result=ok\npid=$(id)\nstate=dormant\n") as one:
        done = _ask(runtime, "ps")
        assert str(one.pid) in [line.split()[0] for line in done.out.decode().splitlines()], done.out


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for(runtime):
    """Half a minute of it, each byte in time: the whole would be a good answer."""
    with Listener(runtime, b"result=ok\nstate=" + b"x" * 600 + b"\n", step=1, pause=0.05) as slow:
        done = _ask(runtime, "ps")
        assert slow.asked == 1
        assert done.status == 0 and f"process {slow.pid}: did not answer within" in done.err.decode()
        assert "xxx" not in done.out.decode()


@needs_root
def test_the_end_of_a_command_waits_for_no_other_user(runtime, tmp_path):
    answer = "result=ok\npid=1\nstate=dormant\nbundle={tmp_path}/b\n".encode()
    with Listener(runtime, answer, uid=OTHER_USER) as other:
        done = _ask(runtime, "run", "--capture=off", "-o", tmp_path / "b", "--", "true")
        assert done.status == 0 and "nothing was recorded" in done.words
        assert other.asked == 0 and str(other.pid) not in done.words
        assert str(other.pid) in _ask(runtime, "ps").out.decode() and other.asked == 1


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
        assert process == {"pid": run.pid, "namespace_pid": run.pid, "state": "stopped", "program": "toggled\ufffd"}
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
