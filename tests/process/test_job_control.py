# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Job control: a shell sees the launcher stop when the command stops, and both go on together."""

import os
import signal
import subprocess

import pytest

from cli_support import GPUPROF, PYTHON, clean_env

STOPS_ITSELF = "import os, signal; print(os.getpid(), flush=True); os.kill(os.getpid(), signal.{}); print('goes on', flush=True); os._exit(7)"


class Shell:
    """Starts a command under gpuprof in a process group of its own and waits for it as a shell does."""

    def __init__(self, folder, code):
        self.run = subprocess.Popen([str(GPUPROF), "run", "--quiet", "--capture=off", "-o", "b", "--", PYTHON, "-c", code],
                                    stdout=subprocess.PIPE, cwd=folder, env=clean_env(), process_group=0)
        self.command = int(self.run.stdout.readline())

    def stopped(self):
        _, status = os.waitpid(self.run.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), f"the launcher ended with {status:#x}"
        return os.WSTOPSIG(status)

    def ended(self):
        _, status = os.waitpid(self.run.pid, 0)
        self.run.returncode = os.waitstatus_to_exitcode(status)
        return self.run.stdout.read(), self.run.returncode


@pytest.mark.parametrize("number", ["SIGSTOP", "SIGTSTP", "SIGTTIN"])
@pytest.mark.parametrize("whom", ["launcher", "group", "command"])
def test_a_command_that_stops_itself_stops_the_launcher(tmp_path, number, whom):
    shell = Shell(tmp_path, STOPS_ITSELF.format(number))
    assert shell.stopped() == getattr(signal, number)
    if whom == "group":
        os.killpg(shell.run.pid, signal.SIGCONT)
    else:
        os.kill(shell.run.pid if whom == "launcher" else shell.command, signal.SIGCONT)
    assert shell.ended() == (b"goes on\n", 7)


def test_a_stop_of_the_whole_group(tmp_path):
    """Ctrl-Z of the terminal. Both have stopped, and one SIGCONT for the group is enough."""
    shell = Shell(tmp_path, "import os, signal; signal.signal(signal.SIGUSR2, lambda *_: os._exit(5)); print(os.getpid(), flush=True)\n"
                            "while True: signal.pause()")
    os.killpg(shell.run.pid, signal.SIGTSTP)
    assert shell.stopped() == signal.SIGTSTP
    os.killpg(shell.run.pid, signal.SIGCONT)
    os.kill(shell.command, signal.SIGUSR2)
    assert shell.ended() == (b"", 5)


def test_one_continue_is_one_continue(tmp_path):
    """The command's handler of SIGCONT runs once, whoever was continued."""
    code = ("import os, signal, time; count = []; signal.signal(signal.SIGCONT, lambda *_: count.append(1)); print(os.getpid(), flush=True)\n"
            "for _ in range(3):\n    os.kill(os.getpid(), signal.SIGSTOP)\n    time.sleep(0.2)\n"
            "print(len(count), flush=True)")
    shell = Shell(tmp_path, code)
    for whom in (shell.run.pid, shell.command, -shell.run.pid):
        assert shell.stopped() == signal.SIGSTOP
        os.kill(whom, signal.SIGCONT)
    assert shell.ended() == (b"3\n", 0)


def test_a_stopped_command_that_is_killed(tmp_path):
    shell = Shell(tmp_path, STOPS_ITSELF.format("SIGSTOP"))
    assert shell.stopped() == signal.SIGSTOP
    os.kill(shell.command, signal.SIGKILL)
    assert shell.ended() == (b"", -signal.SIGKILL)
