# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What the command trusts: other users' folders, files, sockets and names change nothing that it does."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from cli_support import compile_c
from conftest import GPUPROF, clean_environment, gpuprof, needs_root, program
from waiting import LIMIT_S

OTHER = 61001  # a bare number, no account


@pytest.fixture
def place():
    """A folder that other users may enter, which tmp_path is not."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gp-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_other(*command, **keywords):
    """Runs a command as the other user."""
    return subprocess.run([str(word) for word in command], user=OTHER, group=OTHER, extra_groups=[], check=True, timeout=LIMIT_S, **keywords)


# The working directory


@pytest.mark.parametrize("entries", ["", "."])
def test_doctor_runs_no_module_of_the_working_directory(tmp_path, entries):
    """Python looks for modules in its working directory first, and for relative parts of PYTHONPATH too."""
    for name in ("importlib", "functools", "contextlib", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (tmp_path / "python3").write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    (tmp_path / "python3").chmod(0o755)
    env = {"PYTHONPATH": entries, "PATH": f"{entries}:{os.environ['PATH']}"}
    done = gpuprof("doctor", cwd=tmp_path, env=env)
    assert b"PyTorch" in done.out, done.err
    assert not (tmp_path / "ran").exists()


def test_doctor_finds_the_python_of_the_path(tmp_path):
    folder = pathlib.Path(sys.executable).parent
    done = gpuprof("doctor", cwd=tmp_path, env={"PATH": f"{folder}:{os.environ['PATH']}"})
    assert b"no python on PATH" not in done.out


LIBRARY = "#include <stdio.h>\n__attribute__((constructor)) static void Begin(void) {{ fclose(fopen(\"{}\", \"w\")); }}\n"


@pytest.mark.parametrize("path", [":{}", "{}:", ".:{}"])
@pytest.mark.parametrize("library", ["libnvidia-ml.so.1", "libcupti.so.12", "libcupti.so"])
def test_doctor_loads_no_library_of_the_working_directory(tmp_path, path, library):
    """An empty part of LD_LIBRARY_PATH means the working directory."""
    real = tmp_path / "real"
    real.mkdir()
    compile_c(real / library, "int nothing;\n", "-shared", "-fPIC")
    folder = tmp_path / "folder"
    folder.mkdir()
    compile_c(folder / library, LIBRARY.format(tmp_path / "ran"), "-shared", "-fPIC")
    done = gpuprof("doctor", cwd=folder, env={"LD_LIBRARY_PATH": path.format(real), "CUDA_HOME": ".", "CUDA_PATH": ""})
    assert done.status in (0, 1), done.err
    assert not (tmp_path / "ran").exists()


# gpuprof.toml


def settings(folder, text, owner=None):
    """Writes gpuprof.toml, with a mode that the umask has no part in."""
    path = folder / "gpuprof.toml"
    path.write_text(text)
    path.chmod(0o644)
    if owner is not None:
        os.chown(path, owner, owner)
    return path


@needs_root
def test_settings_of_another_user_are_passed_over(place):
    (place / "precious").write_text("precious")
    settings(place, f'gpu-log = "{place}/precious"\nstacks = "nonsense"\nsignal = "15"\n', OTHER)
    done = gpuprof("run", "-o", place / "b", "--", "env", cwd=place)
    assert done.status == 0 and b"GPUPROF_SIGNAL" not in done.out
    assert done.err.count(b"gpuprof.toml is not obeyed: it belongs to user 61001; copy it") == 1, done.err
    assert (place / "precious").read_text() == "precious"


@needs_root
@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: os.mkfifo(path), lambda path: path.symlink_to("/dev/zero")])
def test_another_user_stops_no_verb(place, make):
    make(place / "gpuprof.toml")
    os.chown(place / "gpuprof.toml", OTHER, OTHER, follow_symlinks=False)
    done = gpuprof("ps", cwd=place)
    assert done.status == 0 and b"is not obeyed" in done.err, done.err


@needs_root
def test_settings_of_root_are_obeyed(place):
    settings(place, "[env]\nstacks = 3\n", 0)
    os.chown(place, OTHER, OTHER)
    tool = place / "tool"
    for room, name in (("launcher", "gpuprof"), ("inject", "libgpuprof_inject.so"), ("tracer", "libgpuprof_tracer.so")):
        (tool / room).mkdir(parents=True)
        shutil.copy(GPUPROF.parent.parent / room / name, tool / room / name)
    done = as_other(tool / "launcher" / "gpuprof", "env", "-o", "b", cwd=place, capture_output=True, env=clean_environment())
    assert b"export GPUPROF_STACKS=3\n" in done.stdout, done.stdout


def test_a_pipe_or_an_endless_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "gpuprof.toml", 0o644)
    done = gpuprof("ps", cwd=tmp_path)
    assert done.status == 2 and b"is not a regular file; replace or remove it" in done.err
    (tmp_path / "gpuprof.toml").unlink()
    (tmp_path / "gpuprof.toml").symlink_to("/dev/zero")
    done = gpuprof("ps", cwd=tmp_path)
    assert done.status == 2 and b"is a link" in done.err
    (tmp_path / "gpuprof.toml").unlink()
    settings(tmp_path, "#" * (64 * 1024 + 1))
    done = gpuprof("ps", cwd=tmp_path)
    assert done.status == 2 and b"larger than 64 KiB" in done.err


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_settings_that_others_can_write_are_refused(tmp_path, mode):
    settings(tmp_path, "stacks = 3\n").chmod(mode)
    done = gpuprof("run", "--", "echo", "started", cwd=tmp_path)
    assert (done.status, done.out) == (2, b"") and b"chmod go-w gpuprof.toml" in done.err


@pytest.mark.parametrize("text, words", [
    ('gpu-log = "log"', "gpu-log: this file may not name files to write"),
    ('output = "/var/tmp/elsewhere"', "output: '/var/tmp/elsewhere' is not below the working directory"),
    ('output = "a/../../b"', "is not below the working directory"),
    ('upload = "echo started"', "upload: this file may not name a command to run; remove the line, and give --upload on the command line"),
    ('signal = "15"', "signal: from this file the signal is USR1, USR2, a real-time signal or none"),
])
def test_some_values_come_from_the_command_line_alone(tmp_path, text, words):
    (tmp_path / "log").write_text("precious")
    settings(tmp_path, text + "\n")
    done = gpuprof("run", "--", "echo", "started", cwd=tmp_path)
    assert (done.status, done.out) == (2, b"") and words in done.err.decode()
    assert (tmp_path / "log").read_text() == "precious"


def test_the_use_of_the_file_is_said_once(tmp_path):
    settings(tmp_path, 'stacks = 3\nsignal = "USR2"\noutput = "b"\n')
    done = gpuprof("run", "--", "env", cwd=tmp_path)
    assert done.status == 0 and b"GPUPROF_SIGNAL=12\n" in done.out and (tmp_path / "b" / "bundle.pb").exists()
    assert done.err.count(b"gpuprof: gpuprof.toml of the working directory sets output, signal, stacks\n") == 1, done.err
    done = gpuprof("ps", cwd=tmp_path)
    assert b"gpuprof.toml" not in done.err, "no key is for this verb"
    done = gpuprof("run", "--quiet", "-o", "c", "--", program("toggled"), cwd=tmp_path)
    assert b"gpuprof.toml" not in done.err


@needs_root
def test_no_other_user_takes_a_signal_from_the_program(place):
    settings(place, 'signal = "15"\n', OTHER)
    done = gpuprof("run", "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 15)", cwd=place)
    assert done.status == -signal.SIGTERM, done.err


# Control sockets


class Sockets:
    """A process of the other user's that listens on names which are not its own."""

    SCRIPT = """
import os, socket, sys
kept = []
for name in sys.argv[2:]:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(chr(0) + name[1:] if name.startswith("@") else name)
    listener.listen(0)
    kept.append(listener)
    while sys.argv[1] == "full":
        client = socket.socket(socket.AF_UNIX)
        client.setblocking(False)
        kept.append(client)
        try:
            client.connect(listener.getsockname())
        except BlockingIOError:
            break
print("ready", flush=True)
while sys.argv[1] != "full":
    for listener in kept:
        listener.setblocking(False)
        try:
            with listener.accept()[0] as client:
                client.settimeout(60)
                client.sendall(b"result=ok\\npid=1\\nstate=capturing\\nprogram=not-the-one\\nbundle=/x\\n")
                print(client.recv(300), flush=True)
        except (BlockingIOError, TimeoutError, BrokenPipeError, ConnectionResetError):
            pass
sys.stdin.read()
"""

    def __init__(self, how, *names):
        self.process = subprocess.Popen([sys.executable, "-c", self.SCRIPT, how, *names], user=OTHER, group=OTHER, extra_groups=[],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")
        assert self.process.stdout.readline() == b"ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.said = self.process.communicate()[0]


@pytest.fixture
def foreign_folder():
    """Another user's folder of sockets, where root looks for sockets."""
    folder = pathlib.Path(f"/tmp/gpuprof-{OTHER}")
    if folder.exists():
        pytest.skip(f"{folder} is in use")
    folder.mkdir(mode=0o700)
    os.chown(folder, OTHER, OTHER)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@needs_root
@pytest.mark.parametrize("how", ["answering", "full"])
def test_no_other_user_answers_for_a_process(session, foreign_folder, how):
    run = session([program("toggled"), "1"], "--capture=now")
    assert run.line() == "ready"
    run.wait_for(lambda: run.ctl("status").status == 0)
    names = [f"@gpuprof-0/{run.pid}-ffffffffffffff", f"{foreign_folder}/{run.pid}-ffffffffffffff.sock"]
    with Sockets(how, *names) as others:
        for words in (["ctl", "status", run.pid], ["ps"], ["ctl", "stop", run.pid], ["ctl", "start", run.pid]):
            done = gpuprof(*words)
            assert done.status == 0 and b"not-the-one" not in done.out, (words, done)
            assert str(run.pid).encode() in done.out and done.err == b"", (words, done)
        assert b"program: toggled" in gpuprof("ctl", "status", run.pid).out
    assert b"st" not in others.said, "a request was sent to it"


@needs_root
def test_names_without_a_process_of_their_own_are_not_waited_for(foreign_folder):
    """A process that does not carry gpuprof, for which others listen: with queues that are full, and that answer."""
    bare = subprocess.Popen(["sleep", "60"])
    try:
        for how in ("answering", "full"):
            name = f"{bare.pid}-ffffffffffff{how[:2].encode().hex()}"
            with Sockets(how, f"@gpuprof-0/{name}", f"{foreign_folder}/{name}.sock"):
                done = gpuprof("ctl", "start", bare.pid)
                assert done.status == 3 and b"runs without gpuprof" in done.err, done
                listed = gpuprof("ps")
                assert listed.status == 0 and str(bare.pid).encode() not in listed.out, listed
    finally:
        bare.kill()
        bare.wait()


def test_what_the_dead_leave_is_removed(tmp_path, record):
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    sleeper = f"{sys.executable} -c 'import time; time.sleep(1000)' & p=$!; until ls {runtime}/*/$p-*; do sleep 0.02; done; kill -9 $p"
    outcome = record(["sh", "-c", sleeper], "--capture=now", env={"XDG_RUNTIME_DIR": str(runtime)})
    assert b".sock" in outcome.out and list(outcome.bundle.glob("p*")), outcome.err.decode()
    assert list(runtime.iterdir()) == []


# The bundle


def mode(path):
    return oct(path.lstat().st_mode & 0o7777)


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_a_bundle_is_its_owners_alone(tmp_path, umask):
    words = [str(GPUPROF), "run", "--quiet", "--trace=heap=exact", "-o", "above/b", "--", program("toggled"), "1"]
    done = subprocess.run(words, cwd=tmp_path, umask=umask, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    assert mode(tmp_path / "above" / "b") == "0o700"
    assert mode(tmp_path / "above" / "b" / "bundle.pb") == "0o600"
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "above" / "b").iterdir())
    assert (tmp_path / "above").stat().st_mode & 0o022 == 0


SECRETS = ["--password=hunter2", "--token", "hunter2", "https://me:hunter2@host/", "API_KEY=hunter2"]


@pytest.mark.parametrize("options, kept, told", [
    ([], b"epochs=3", False),
    (["--arguments=none"], None, False),
    (["--no-arguments"], None, False),
    (["--arguments=all"], b"epochs=3", True),
])
def test_secrets_of_the_command_line_stay_out_of_the_bundle(tmp_path, options, kept, told):
    words = ["true", *SECRETS, "epochs=3"]
    done = gpuprof("run", "-o", tmp_path / "b", *options, "--", *words)
    assert done.status == 0, done.err
    description = (tmp_path / "b" / "bundle.pb").read_bytes()
    assert (b"hunter2" in description) == told and b"true" in description
    assert (b"epochs=3" in description) == (kept is not None)


def test_processes_hear_how_arguments_are_recorded(tmp_path):
    done = gpuprof("run", "--no-arguments", "-o", "b", "--", "env", cwd=tmp_path)
    assert b"GPUPROF_ARGUMENTS=none\n" in done.out
    done = gpuprof("run", "--arguments=some", "--", "env", cwd=tmp_path)
    assert done.status == 2 and b"masked, none, all" in done.err


@needs_root
@pytest.mark.parametrize("name", ["b", "link"])
def test_a_folder_of_another_user_is_refused(place, name):
    home = place / "home"
    home.mkdir()
    os.chown(home, OTHER, OTHER)
    as_other("mkdir", "-m", "777", home / "b")
    as_other("ln", "-s", "/root", home / "link")
    done = gpuprof("run", "-o", home / name, "--", "echo", "started")
    assert (done.status, done.out) == (125, b"")
    words = "belongs to user 61001, who could change the bundle; name a new directory" if name == "b" else "is a link; name the directory"
    assert words in done.err.decode() and b"The command was not started" in done.err


@needs_root
def test_env_does_not_write_to_a_folder_of_another_user(place):
    """Whoever owns the folder could exchange what root records: the lines say so, and each process writes nothing there."""
    home = place / "home"
    home.mkdir()
    os.chown(home, OTHER, OTHER)
    as_other("sh", "-c", f"umask 0; mkdir {home / 'b'}")
    lines = gpuprof("env", "-o", home / "b", "--trace", "heap=exact").out.decode()
    done = subprocess.run(["sh", "-c", lines + program("plain") + " x"], capture_output=True, env=clean_environment())
    assert done.returncode == 5 and not list((home / "b").iterdir())
    assert done.stderr.count(b"belongs to") == 2, done.stderr


def test_an_own_folder_that_others_may_write_becomes_ones_own(tmp_path):
    bundle = tmp_path / "b"
    bundle.mkdir()
    bundle.chmod(0o777)
    lines = gpuprof("env", "-o", bundle, "--trace", "heap=exact").out.decode()
    done = subprocess.run(["sh", "-c", lines + program("plain") + " x"], capture_output=True, env=clean_environment())
    assert done.returncode == 5 and done.stderr == b"a word on stderr\n" and list(bundle.glob("p*"))
    assert bundle.stat().st_mode & 0o22 == 0


@needs_root
def test_a_bundle_that_another_user_moves_stays_the_same(place):
    """It lies in a folder of the other user's: a link and a folder of that user's take its name while the command runs."""
    precious = place / "precious"
    precious.write_text("precious")
    home = place / "home"
    home.mkdir()
    os.chown(home, OTHER, OTHER)
    script = (f"cd {home} && mv b aside && mkdir -m 777 b && ln -s {precious} b/bundle.pb.new && ln -s {precious} b/bundle.pb && "
              f"mkdir -m 777 b/empty")
    change = f"import os, subprocess; subprocess.run(['sh', '-c', {script!r}], user={OTHER}, group={OTHER}, extra_groups=[], check=True)"
    done = gpuprof("run", "-o", home / "b", "--", sys.executable, "-c", change)
    assert done.status == 0, done.err
    assert b"user 61001 can move or remove the bundle" in done.err, done.err
    assert precious.read_text() == "precious" and precious.stat().st_uid == 0
    assert {path.name for path in (home / "b").iterdir()} == {"bundle.pb.new", "bundle.pb", "empty"}
    assert (home / "aside" / "bundle.pb").exists() and mode(home / "aside") == "0o700"


@needs_root
def test_a_link_in_the_place_of_the_description_is_not_followed(place):
    """The other user may write in the bundle: its mode was changed by the command."""
    precious = place / "precious"
    precious.write_text("precious")
    bundle = place / "b"
    script = f"chmod 777 {bundle}; ln -s {precious} {bundle}/bundle.pb.new; ln -sf {precious} {bundle}/bundle.pb"
    done = gpuprof("run", "-o", bundle, "--", "sh", "-c", script)
    assert done.status == 0, done.err
    assert precious.read_text() == "precious"
    assert (bundle / "bundle.pb").is_file() and not (bundle / "bundle.pb").is_symlink()


def test_a_default_name_is_always_a_new_folder(tmp_path):
    """Another user can foretell the name, apart from the letters that follow if the name is taken."""
    script = r"""
import os, sys, time
now = time.time()
for second in range(-1, 9):
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now + second))
    os.mkdir(f"gpuprof-env-{stamp}-{os.getpid()}", 0o777)
os.execv(sys.argv[1], [sys.argv[1], "run", "--include=env", "--", "env"])
"""
    done = subprocess.run([sys.executable, "-c", script, str(GPUPROF)], cwd=tmp_path, env=clean_environment(), capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    bundle, = [line for line in done.stdout.decode().splitlines() if line.startswith("GPUPROF_BUNDLE=")]
    name = pathlib.Path(bundle.split("=", 1)[1]).name
    taken = [path for path in tmp_path.iterdir() if not list(path.iterdir())]
    assert len(taken) >= 10 and name.rsplit("-", 1)[0] in {path.name for path in taken}
    letters = name.rsplit("-", 1)[1]
    assert len(letters) == 6 and set(letters) <= set("abcdefghijklmnopqrstuvwxyz234567")


def test_env_makes_the_bundle_for_its_owner_alone(tmp_path):
    done = gpuprof("env", "-o", tmp_path / "above" / "b")
    subprocess.run(["sh", "-c", "umask 0; " + done.out.decode().splitlines()[0]], check=True)
    assert mode(tmp_path / "above" / "b") == "0o700"


@needs_root
def test_a_folder_that_may_not_be_written_is_told_as_it_is(place):
    done = subprocess.run([str(GPUPROF), "run", "-o", str(place / "bundle"), "--", "true"], user=OTHER, group=OTHER, extra_groups=[],
                          capture_output=True, check=False, env=clean_environment(), cwd="/")
    assert done.returncode == 125 and b"Permission denied" in done.stderr, done.stderr.decode()


def test_a_limit_of_the_size_of_files_does_not_kill_the_launcher(tmp_path):
    done = subprocess.run(["prlimit", "--fsize=0", str(GPUPROF), "run", "-o", str(tmp_path / "bundle"), "--", "true"], capture_output=True,
                          check=False, env=clean_environment())
    assert done.returncode == 125 and b"File too large" in done.stderr, done.stderr.decode()
