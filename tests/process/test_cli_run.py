# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""gpuprof run: the command is started, signalled and ended as if gpuprof were not there."""

import ctypes
import os
import pty
import re
import signal
import subprocess

import pytest

from cli_support import GPUPROF, PYTHON, clean_env, compile_c, gpuprof
from waiting import LIMIT_S, wait_until, wait_until_at_rest


def leftovers(path):
    return sorted(p.name for p in path.iterdir() if p.name.startswith("gpuprof-"))


@pytest.mark.parametrize("status", [0, 1, 2, 42, 125, 127, 255])
def test_status_is_passed_through(tmp_path, status):
    assert gpuprof("run", "--", "sh", "-c", f"exit {status}", cwd=tmp_path).returncode == status


@pytest.mark.parametrize("name", ["TERM", "KILL", "INT", "SEGV", "ABRT", "PIPE", "USR2", "HUP"])
def test_death_by_signal_is_passed_through(tmp_path, name):
    result = gpuprof("run", "--", "sh", "-c", f"kill -{name} $$", cwd=tmp_path)
    assert result.returncode == -signal.Signals[f"SIG{name}"]
    assert f"was killed by SIG{name}" in result.stderr
    assert not list(tmp_path.glob("core*"))


def test_arguments_and_streams_are_untouched(tmp_path):
    words = ["", "a b", "[1,2]", "--", "--output", "-o", "it's", "*", "\u00e9"]
    script = "import sys; print(sys.argv[1:]); print(sys.stdin.read(), file=sys.stderr)"
    result = gpuprof("run", "--quiet", "--capture=off", "-o", "b", "--", PYTHON, "-c", script, *words, cwd=tmp_path,
                     input="from stdin")
    assert result.stdout == f"{words}\n"
    assert "from stdin" in result.stderr
    assert result.returncode == 0


def test_without_dashes_the_command_begins_at_the_first_word(tmp_path):
    result = gpuprof("run", "--capture", "off", "echo", "--quiet", "-o", "x", cwd=tmp_path)
    assert result.stdout == "--quiet -o x\n"


def test_own_failures(tmp_path):
    (tmp_path / "text").write_text("not a program\n")
    (tmp_path / "script").write_text("#!/nonexistent/interpreter\n")
    (tmp_path / "script").chmod(0o755)
    for command, status, words in [
        ("surely-no-such-program", 127, "was not found on PATH"),
        ("./nothing-here", 127, "was not found"),
        ("./text", 126, "chmod +x"),
        (str(tmp_path), 126, "cannot be run"),
        ("./script", 126, "interpreter"),
    ]:
        result = gpuprof("run", "--", command, cwd=tmp_path)
        assert (result.returncode, result.stdout) == (status, ""), command
        assert words in result.stderr, command
    assert leftovers(tmp_path) == []


def test_a_script_without_an_interpreter_line_runs_as_in_a_shell(tmp_path):
    (tmp_path / "bare").write_text("echo bare; exit 3\n")
    (tmp_path / "bare").chmod(0o755)
    result = gpuprof("run", "--", "./bare", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (3, "bare\n")


def test_bundles_are_never_written_over(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").write_text("x")
    (tmp_path / "empty").mkdir()
    for directory, words in [("full", "is not empty"), ("full/precious", "not a directory"), ("/proc/nope", "-o DIR")]:
        result = gpuprof("run", "-o", directory, "--", "echo", "started", cwd=tmp_path)
        assert result.returncode == 125, directory
        assert words in result.stderr and "was not started" in result.stderr
        assert result.stdout == ""
    assert (tmp_path / "full" / "precious").read_text() == "x"
    result = gpuprof("run", "-o", "empty", "--", "echo", "started", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "started\n")
    assert (tmp_path / "empty" / "bundle.pb").exists()


def test_a_full_disk_is_told_before_the_program_starts(tmp_path):
    script = "mount -t tmpfs -o size=4k,nr_inodes=2 none disk && cd disk && exec \"$@\""
    (tmp_path / "disk").mkdir()
    unshared = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if subprocess.run([*unshared, "true"], cwd=tmp_path, capture_output=True).returncode != 0:
        pytest.skip("cannot make a private mount here")
    result = subprocess.run([*unshared, GPUPROF, "run", "--", "echo", "started"], cwd=tmp_path, text=True,
                            capture_output=True, env=clean_env(), timeout=LIMIT_S)
    assert (result.returncode, result.stdout) == (125, "")
    assert "No space left" in result.stderr and "free some space" in result.stderr


def test_missing_objects_are_told(tmp_path):
    result = gpuprof("run", "--", "echo", "started", cwd=tmp_path, env=clean_env(GPUPROF_INJECT="/nope.so"))
    assert (result.returncode, result.stdout) == (125, "")
    assert "GPUPROF_INJECT names '/nope.so'" in result.stderr


def test_without_proc_the_cause_is_named(tmp_path):
    unshared = ["unshare", "--mount", "sh", "-c", 'umount -l /proc && exec "$0" "$@"']
    if subprocess.run([*unshared, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine does not let /proc be unmounted")
    result = subprocess.run([*unshared, GPUPROF, "run", "--", "echo", "started"], cwd=tmp_path, text=True, capture_output=True,
                            env=clean_env(), timeout=LIMIT_S)
    assert (result.returncode, result.stdout) == (125, "")
    assert "/proc/self/exe cannot be read; mount /proc" in result.stderr


@pytest.mark.parametrize("args, words", [
    (["run"], "a command is missing"),
    (["run", "--captrue=off", "--", "true"], "Did you mean '--capture'?"),
    (["run", "--capture=of", "--", "true"], "Did you mean 'off'?"),
    (["run", "--gpu-finish=1h", "--", "true"], "waits at most 2m"),
    (["run", "--capture=steps:5-3", "--", "true"], "the last step is before the first"),
    (["run", "--capture=steps:19-18446744073709551615", "--", "true"], "steps are numbered up to"),
    (["run", "--capture=steps:first", "--", "true"], "write FIRST-LAST as in steps:10-15"),
    (["run", "--capture=steps:1-2@", "--", "true"], "the name of the range is missing"),
    (["run", "--capture=nvtx:", "--", "true"], "the name of the range is missing"),
    (["run", "--capture=steps:3", "--trace=cuda,heap", "--", "true"], "add nvtx (ranges) or ops"),
    (["run", "--capture=nvtx:step", "--trace=cuda,heap", "--", "true"], "add nvtx to it"),
    (["run", "--trace", "haep", "--", "true"], "Did you mean 'heap'?"),
    (["run", "--trace", "HEAP", "--", "true"], "Did you mean 'heap'?"),
    (["run", "--signal", "usr2", "--", "true"], "Did you mean 'USR2'?"),
    (["run", "--trace", "heap=exact", "--trace", "locks", "--", "true"], "--trace is given twice; join the values with a comma"),
    (["run", "--exclude=a", "--exclude=b", "--", "true"], "--exclude is given twice"),
    (["run", "--stacks=1000", "--", "true"], "0 to 127"),
    (["run", "--signal=KILL", "--", "true"], "cannot toggle a capture"),
    (["run", "--ring-memory=12Q", "--", "true"], "is not a size"),
    (["run", "--clock=utc", "--", "true"], "auto, tsc, monotonic"),
    (["run", "--graphs=all", "--", "true"], "node, whole"),
    (["run", "--gpu-rate=fast", "--", "true"], "N, calls=N, nodes=N"),
    (["run", "--gpu-rate=calls=0", "--", "true"], "leave cuda out"),
    (["run", "--gpu-rate=nodes=5,", "--", "true"], "N, calls=N, nodes=N"),
    (["run", "--trace", "all", "--", "true"], "comma separated. The command"),
    (["run", "--signal=x", "--", "true"], "or none. The command"),
    (["run", "--stacks"], "--stacks"),
])
def test_usage_errors(tmp_path, args, words):
    result = gpuprof(*args, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr
    assert not re.search(r"[.?!][.]", result.stderr.replace("...", "")), result.stderr


def test_a_settings_file_that_cannot_be_read(tmp_path):
    (tmp_path / "gpuprof.toml").mkdir()
    result = gpuprof("run", "--", "true", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert "gpuprof.toml cannot be read (Is a directory); make it readable or remove it" in result.stderr


def test_unknown_variables_are_errors(tmp_path):
    result = gpuprof("run", "--", "true", cwd=tmp_path, env=clean_env(GPUPROF_STAKS="1"))
    assert result.returncode == 2
    assert "Did you mean 'GPUPROF_STACKS'?" in result.stderr


def settings_of(tmp_path, *flags, **env):
    """The GPUPROF_* variables that the command sees."""
    result = gpuprof("run", *flags, "--", "env", cwd=tmp_path, env=clean_env(**env))
    assert result.returncode == 0, result.stderr
    return dict(line.split("=", 1) for line in result.stdout.splitlines() if line.startswith(("GPUPROF_", "LD_PRELOAD")))


def test_settings_come_from_the_nearest_source(tmp_path):
    (tmp_path / "gpuprof.toml").write_text('stacks = 1\nclock = "tsc"\n[run]\nheap-times = "exact"\n[stats]\nlimit = 3\n')
    seen = settings_of(tmp_path, "--stacks=3", GPUPROF_STACKS="2", GPUPROF_CLOCK="monotonic")
    assert seen["GPUPROF_STACKS"] == "3"
    assert seen["GPUPROF_CLOCK"] == "monotonic"
    assert seen["GPUPROF_HEAP_TIMES"] == "exact"
    assert "GPUPROF_SIGNAL" not in seen
    assert os.path.isabs(seen["GPUPROF_BUNDLE"]) and os.path.isabs(seen["GPUPROF_TRACER"])


@pytest.mark.parametrize("text, words", [
    ("stcks = 1\n", "Did you mean 'stacks'?"),
    ("[rnu]\nstacks = 1\n", "Did you mean 'run'?"),
    ("stacks = 'many'\n", "gpuprof.toml: stacks:"),
    ("# [a\n\nstacks = [oops\n", "gpuprof.toml: line 3: "),
    ("exclude = ['a',\n  'b'\n[stats]\nlimit = 3\n", "gpuprof.toml: line 3: "),
    ("[run\nstacks = 1\n", "gpuprof.toml: line 1: "),
    ('clock = "tsc\n', "gpuprof.toml: line 1: "),
])
def test_faults_in_the_settings_file(tmp_path, text, words):
    (tmp_path / "gpuprof.toml").write_text(text)
    result = gpuprof("run", "--", "true", cwd=tmp_path)
    assert result.returncode == 2
    assert words in result.stderr


def test_preload_is_chained_with_ours_in_front(tmp_path):
    seen = settings_of(tmp_path, LD_PRELOAD="libm.so.6 libpthread.so.0")
    ours, *others = seen["LD_PRELOAD"].split(":")
    assert ours.endswith("/libgpuprof_inject.so")
    assert others == ["libm.so.6", "libpthread.so.0"]


def test_a_run_inside_a_run_has_a_bundle_of_its_own(tmp_path):
    result = gpuprof("run", "-o", "outer", "--", GPUPROF, "run", "--", "env", cwd=tmp_path)
    seen = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    assert result.returncode == 0, result.stderr
    assert seen["GPUPROF_BUNDLE"] != str(tmp_path / "outer")
    assert seen["LD_PRELOAD"].count("libgpuprof_inject.so") == 1


def test_the_rest_of_the_environment_keeps_its_order(tmp_path):
    env = {"ZZ": "1", "PATH": os.environ["PATH"], "AA": "x=y", "MM": ""}
    plain = subprocess.run(["env"], env=env, text=True, capture_output=True).stdout.splitlines()
    seen = gpuprof("run", "--", "env", cwd=tmp_path, env=env).stdout.splitlines()
    assert seen[:len(plain)] == plain
    assert all(line.startswith(("GPUPROF_", "LD_PRELOAD=", "CUDA_INJECTION64_PATH=", "NVTX_INJECTION64_PATH=", "INTEL_LIBITTNOTIFY64=", "NCCL_PROFILER_PLUGIN=")) for line in seen[len(plain):])


def test_the_process_state_is_what_it_would_be(tmp_path):
    """Signal mask and dispositions, descriptors, process group, session."""
    script = "grep -E '^(Sig(Blk|Ign|Cgt)|NoNewPrivs)' /proc/self/status; ls /proc/self/fd; cut -d' ' -f5,6,7 /proc/self/stat"

    def prepare():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    def seen(prefix):
        result = subprocess.run([*prefix, "sh", "-c", script], cwd=tmp_path, env=clean_env(), text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, preexec_fn=prepare, timeout=LIMIT_S)
        return result.stdout

    assert seen([GPUPROF, "run", "--"]) == seen([])


def test_closed_streams_stay_closed(tmp_path):
    for stream in (">&-", "<&-", "2>&-"):
        script = "ls -l /proc/self/fd | wc -l"
        with_it = subprocess.run(["sh", "-c", f"exec '{GPUPROF}' run -o b{ord(stream[0])} -- sh -c '{script} >out' {stream}"],
                                 cwd=tmp_path, env=clean_env(), timeout=LIMIT_S)
        assert with_it.returncode == 0
        first = (tmp_path / "out").read_text()
        subprocess.run(["sh", "-c", f"exec sh -c '{script} >out' {stream}"], cwd=tmp_path, env=clean_env(), timeout=LIMIT_S)
        assert (tmp_path / "out").read_text() == first


# Notes each signal, and ends by SIGPWR, which comes last: what gpuprof had passed on twice would stand before it.
TRAPPER = "trap 'echo {0} >>log' {0}; trap 'echo PWR >>log; exit 5' PWR; echo ready >>log; while :; do sleep 0.1; done"


def note_of(folder, count):
    """Waits until the program has noted so many words, and returns them all."""
    log = folder / "log"
    return wait_until(lambda: log.exists() and (words := log.read_text().split())[count - 1:] and words, f"{count} words of the program")


@pytest.mark.parametrize("name", ["TERM", "HUP", "USR1", "USR2", "INT", "QUIT", "CONT"])
def test_signals_sent_to_gpuprof_reach_the_command_once(tmp_path, name):
    process = subprocess.Popen([GPUPROF, "run", "--signal=none", "--", "sh", "-c", TRAPPER.format(name)], cwd=tmp_path,
                               env=clean_env(), stderr=subprocess.DEVNULL)
    note_of(tmp_path, 1)
    process.send_signal(signal.Signals[f"SIG{name}"])
    note_of(tmp_path, 2)
    process.send_signal(signal.SIGPWR)
    assert process.wait(timeout=LIMIT_S) == 5
    assert note_of(tmp_path, 3) == ["ready", name, "PWR"]


KEPT = {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCHLD, signal.SIGURG}
FORWARDED = sorted(int(number) for number in signal.valid_signals() - KEPT)
WAITER = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
print("ready", flush=True)
while True:
    got = signal.sigwaitinfo(signal.valid_signals() - {signal.SIGCHLD})
    print(got.si_signo, flush=True)
    if got.si_signo == signal.SIGTERM:
        break
"""


def test_whatever_would_end_gpuprof_alone_reaches_the_command_once(tmp_path):
    process = subprocess.Popen([GPUPROF, "run", "--signal=none", "--capture=off", "--", PYTHON, "-c", WAITER], cwd=tmp_path,
                               env=clean_env(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout.readline() == "ready\n"
    order = [n for n in FORWARDED if n != signal.SIGTERM] + [int(signal.SIGTERM)]
    assert {1, 6, 11, 13, 24, 26, 29, 31, int(signal.SIGRTMIN), int(signal.SIGRTMAX)} < set(order)
    for number in order:
        process.send_signal(number)
        assert process.stdout.readline() == f"{number}\n"
    assert process.wait(timeout=LIMIT_S) == 0
    assert process.stdout.read() == ""


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV, signal.SIGPIPE, signal.SIGVTALRM, signal.SIGXCPU, signal.SIGIO,
                                    signal.SIGSYS, signal.SIGRTMIN, signal.SIGRTMAX])
def test_a_signal_that_kills_the_command_kills_gpuprof_the_same_way(tmp_path, number):
    process = subprocess.Popen([GPUPROF, "run", "--", "sh", "-c", "ulimit -c 0; echo $$; exec sleep 1000"], cwd=tmp_path,
                               env=clean_env(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    pid = int(process.stdout.readline())
    process.send_signal(number)
    assert process.wait(timeout=LIMIT_S) == -number
    assert not os.path.exists(f"/proc/{pid}")


def test_control_c_of_a_terminal_is_the_commands_to_answer(tmp_path):
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        script = TRAPPER.format("INT")
        os.execve(GPUPROF, [GPUPROF, "run", "--", "sh", "-c", script], clean_env())
    note_of(tmp_path, 1)
    os.write(terminal, b"\x03")
    note_of(tmp_path, 2)
    os.kill(pid, signal.SIGPWR)
    output = b""
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 5, output
    assert note_of(tmp_path, 3) == ["ready", "INT", "PWR"]


def test_control_c_that_kills_the_command_kills_gpuprof_the_same_way(tmp_path):
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execve(GPUPROF, [GPUPROF, "run", "--", "sh", "-c", "echo ready >log; exec sleep 1000"], clean_env())
    note_of(tmp_path, 1)
    os.write(terminal, b"\x03")
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGINT


# Says each signal, so that the next one is sent when nothing of this one is under way. SIGPWR ends it.
COUNTER = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.{0}, signal.SIGPWR])
print("ready", flush=True)
while (got := signal.sigwaitinfo([signal.{0}, signal.SIGPWR]).si_signo) != signal.SIGPWR:
    print("got", flush=True)
print("end", flush=True)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2", "SIGXCPU", "SIGRTMIN"])
def test_signals_sent_to_the_group_reach_the_command_once(tmp_path, name):
    process = subprocess.Popen([GPUPROF, "run", "--quiet", "--", PYTHON, "-c", COUNTER.format(name)], cwd=tmp_path,
                               env=clean_env(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    for number in range(3):  # a witness that counts wrongly would swallow or double the later ones
        os.killpg(process.pid, signal.Signals[name])
        assert process.stdout.readline() == "got\n"
        wait_until_at_rest(process.pid, signal.Signals[name])
    process.send_signal(signal.Signals[name])
    assert process.stdout.readline() == "got\n"
    process.send_signal(signal.SIGPWR)
    assert process.stdout.read() == "end\n"
    assert process.wait(timeout=LIMIT_S) == 0


def test_an_alarm_set_before_reaches_the_command(tmp_path):
    def prepare():
        signal.setitimer(signal.ITIMER_REAL, 1.0)

    process = subprocess.run([GPUPROF, "run", "--", "sleep", "1000"], cwd=tmp_path, env=clean_env(), capture_output=True,
                             preexec_fn=prepare, timeout=LIMIT_S)
    assert process.returncode == -signal.SIGALRM


def test_a_parent_death_signal_is_kept(tmp_path):
    script = "import ctypes; n = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(n)); print(n.value)"
    libc = ctypes.CDLL(None)
    result = subprocess.run([GPUPROF, "run", "--capture=off", "--", PYTHON, "-c", script], cwd=tmp_path, env=clean_env(), text=True,
                            capture_output=True, preexec_fn=lambda: libc.prctl(1, signal.SIGUSR2), timeout=LIMIT_S)
    assert result.stdout == f"{int(signal.SIGUSR2)}\n"


def test_a_closed_stderr_pipe_does_not_change_the_status(tmp_path):
    reader, writer = os.pipe()
    process = subprocess.Popen([GPUPROF, "run", "--", "sh", "-c", "sleep 0.3; exit 6"], cwd=tmp_path, env=clean_env(), stderr=writer)
    os.close(writer)
    os.close(reader)
    assert process.wait(timeout=LIMIT_S) == 6


HELLO = '#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main(void) { char* volatile p = malloc(10); p[0] = 0; printf("hello %d\\n", (int)geteuid()); free(p); return 4; }\n'


def test_an_address_sanitizer_program_runs(tmp_path):
    program = compile_c(tmp_path / "asan", HELLO, "-fsanitize=address")
    plain = subprocess.run([program], text=True, capture_output=True)
    result = gpuprof("run", "-o", "b", "--", program, cwd=tmp_path)
    assert "does not come first" not in result.stderr
    assert (result.returncode, result.stdout) == (plain.returncode, plain.stdout) == (4, "hello %d\n" % os.geteuid())


def test_a_static_program_runs_and_is_named(tmp_path):
    program = compile_c(tmp_path / "static", HELLO, "-static")
    result = gpuprof("run", "--", program, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (4, "hello %d\n" % os.geteuid())
    assert "linked statically" in result.stderr


def test_a_loader_run_as_a_program_is_not_called_static(tmp_path):
    program = compile_c(tmp_path / "program", HELLO)
    headers = subprocess.run(["readelf", "-l", program], text=True, capture_output=True).stdout
    loader = re.search(r"interpreter: ([^]]+)", headers).group(1)
    result = gpuprof("run", "-o", "b", "--trace=heap=exact", "--", loader, program, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (4, "hello %d\n" % os.geteuid())
    assert "static" not in result.stderr and "recorded:" in result.stderr


def test_too_little_memory_for_gpuprof_does_not_take_the_program_down(tmp_path):
    """From a limit at which gpuprof itself cannot be loaded up to one with which all is recorded."""
    program = compile_c(tmp_path / "program", HELLO)
    words = []
    for kilobytes in range(8000, 80000, 300):
        result = subprocess.run(["sh", "-c", f"ulimit -v {kilobytes}; exec \"$@\"", "sh", GPUPROF, "run", "--", program],
                                cwd=tmp_path, text=True, capture_output=True, env=clean_env(), timeout=LIMIT_S)
        if "gpuprof: " not in result.stderr or "shared libraries" in result.stderr:
            continue  # the loader, or a library that begins before gpuprof does
        words.append(result.stderr)
        assert (result.returncode, result.stdout) == (4, "hello %d\n" % os.geteuid()), f"{kilobytes}: {result.stderr}"
        if result.stderr.count("gpuprof: ") == 5:
            break
    if not words:
        pytest.skip("gpuprof needs more than this test gives it: a sanitizer's build")
    assert "gpuprof: recorded: " in words[-1]
    # What gpuprof itself needs may be enough for the recorder, too.
    assert len(words) == 1 or any("not enough memory" in said for said in words), words


def test_a_setuid_program_runs_and_is_named(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root to make a program setuid to another user")
    program = compile_c(tmp_path / "setuid", HELLO)
    os.chown(program, 65534, 65534)
    os.chmod(program, 0o4755)
    plain = subprocess.run([program], text=True, capture_output=True)
    result = gpuprof("run", "--", program, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (plain.returncode, plain.stdout)
    assert "setuid" in result.stderr


def test_nothing_recorded_is_explained_and_leaves_nothing(tmp_path):
    result = gpuprof("run", "--", "sh", "-c", ":", cwd=tmp_path)
    assert re.search(r"nothing was recorded: .*--include", result.stderr)
    assert leftovers(tmp_path) == []


def test_a_program_with_nothing_to_record_is_not_said_to_lack_the_recorder(tmp_path):
    program = compile_c(tmp_path / "program", HELLO)
    result = gpuprof("run", "--trace", "locks", "--", program, cwd=tmp_path)
    assert result.returncode == 4
    assert "nothing was recorded: no process did anything that --trace records, or no process loaded the recorder" in result.stderr


def test_two_dashes_end_the_options_of_every_verb(tmp_path):
    program = compile_c(tmp_path / "program", HELLO)
    assert gpuprof("run", "-o", "./-b", "--trace=heap=exact", "--", program, cwd=tmp_path).returncode == 4
    for words in (["verify", "--", "-b"], ["info", "--json", "--", "-b"], ["stats", "overview", "--", "-b"], ["stats", "--", "heap", "-b"]):
        result = gpuprof(*words, cwd=tmp_path)
        assert result.returncode == 0, (words, result.stderr)
    result = gpuprof("info", "--", "-b", "more", cwd=tmp_path)
    assert result.returncode == 2 and "'more'" in result.stderr
