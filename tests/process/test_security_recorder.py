# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The recorder trusts no place that another user can exchange, and its threads keep no right that the program gave up."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from conftest import HEAP_EXACT, gpuprof, needs_root, program, verify
from waiting import AWAIT_RECORDER

OTHER = 61001  # a number without an account
NEW_THREADS = """
import threading
print("ready", flush=True)
input()
threads = [threading.Thread(target=lambda: [bytearray(5000) for _ in range(1000)]) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("made", flush=True)
input()
"""


BUSY = """
import time
kept = []
while time.process_time() < 3:
    kept = [bytearray(5000 + i % 977) for i in range(3000)]
print("made", flush=True)
"""


@pytest.fixture
def open_folder():
    """A folder that other users reach, unlike pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


@needs_root
@pytest.mark.parametrize("options", [(), (HEAP_EXACT,), ("--capture=off",)])
@pytest.mark.parametrize("how", ["capset", "setresuid", "prctl", "securebits"])
def test_threads_keep_no_right_that_the_program_gave_up(same, how, options):
    outcome = same([program("gives_up"), how], *options)
    assert outcome.out.count(b"Uid:") == 1, "no thread of the recorder is left"


@needs_root
def test_an_exchanged_ring_is_not_used(session):
    """Who owns the folder puts a file of another content under the ring's name: the next thread does not map it."""
    run = session([sys.executable, "-c", NEW_THREADS], HEAP_EXACT)
    assert run.line() == "ready"
    (ring,) = run.bundle.glob("*.ring")
    copy = run.bundle.parent / "copy"
    shutil.copyfile(ring, copy)
    os.chown(copy, OTHER, OTHER)
    os.chmod(copy, 0o666)
    before = copy.read_bytes()
    os.rename(copy, ring)
    run.tell("go\n")
    assert run.line() == "made"
    inode = str(ring.stat().st_ino)
    mapped = [line.split() for line in pathlib.Path(f"/proc/{run.pid}/maps").read_text().splitlines()]
    assert not [line for line in mapped if line[4] == inode]
    assert [line for line in mapped if line[-1] == "(deleted)"], "the file that it made"
    assert ring.read_bytes() == before
    run.tell("end\n")
    assert run.finish().status == 0


@needs_root
@pytest.mark.parametrize("mode", [0o700, 0o777])
def test_a_runtime_folder_of_another_user_is_passed_over(record, tmp_path, mode):
    folder = tmp_path / "run"
    folder.mkdir()
    os.chown(folder, OTHER, OTHER)
    folder.chmod(mode)
    outcome = record([program("plain")], env={"XDG_RUNTIME_DIR": str(folder)})
    assert outcome.status == 5
    assert list(folder.iterdir()) == []


@needs_root
def test_an_open_runtime_folder_of_ones_own_is_passed_over(session, tmp_path):
    """Others could exchange what is made there."""
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(0o777)
    run = session([program("toggled"), "2"], "--capture=off", env={"XDG_RUNTIME_DIR": str(folder)})
    assert run.line() == "ready"
    assert list(folder.iterdir()) == []
    run.finish()


@needs_root
def test_a_set_user_id_program_reads_none_of_the_variables(open_folder):
    """AT_SECURE, as the kernel sets it for a set-user-id program. The loader drops LD_PRELOAD there, so that the object comes as a library."""
    source = open_folder / "secure.c"
    source.write_text("int main(void) { return 0; }\n")
    inject = os.path.join(os.path.dirname(str(program("plain"))), "..", "..", "inject")
    binary = open_folder / "secure"
    built = subprocess.run(["cc", "-o", binary, source, f"-L{inject}", "-Wl,--no-as-needed", "-lgpuprof_inject", f"-Wl,-rpath,{os.path.realpath(inject)}"],
                           capture_output=True, check=False)
    assert built.returncode == 0, built.stderr.decode()
    bundle = open_folder / "bundle"
    bundle.mkdir()
    variables = {**os.environ, "GPUPROF_BUNDLE": str(bundle), "GPUPROF_TRACE": "heap=exact"}

    def traces():
        subprocess.run([binary], env=variables, check=True, preexec_fn=become_other)
        return list(bundle.iterdir())

    def become_other():
        os.setresgid(OTHER, OTHER, OTHER)
        os.setresuid(OTHER, OTHER, OTHER)

    os.chown(bundle, OTHER, OTHER)
    assert traces(), "without rights of its own it is recorded"
    for path in bundle.iterdir():
        path.unlink()
    os.chown(binary, 0, 0)
    os.chmod(binary, 0o4755)
    assert not traces()


def health_of(bundle):
    done = gpuprof("stats", "health", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


@pytest.mark.parametrize("options, words", [
    (("--keep-free=1000000GiB",), "the disk of the bundle is nearly full"),
    (("--bundle-limit=128KiB", "--stacks=0"), "the bundle has reached its limit"),
])
def test_a_recording_does_not_fill_the_disk(session, options, words):
    """The capture ends with a word, the trace is whole, and the program goes on."""
    run = session([sys.executable, "-c", BUSY], "--trace=heap=exact", *options)
    assert run.line() == "made"
    outcome = run.finish()
    assert outcome.status == 0 and words in outcome.err.decode(), outcome.err.decode()
    verify(outcome.bundle)
    assert sum(path.stat().st_size for path in outcome.bundle.iterdir()) < 30 << 20
    (process,) = health_of(outcome.bundle)["processes"]
    assert (process["count"] > 0) == ("--bundle-limit=128KiB" in options), "a full disk is seen before the first event"


# A process may be over before its recorder has read the command line.
STAY = AWAIT_RECORDER


@pytest.mark.parametrize("options, arguments", [
    ((), ["-c", STAY, "--password=***", "--rank=3"]),
    (("--no-arguments",), []),
])
def test_traces_tell_no_secret_of_a_command_line(record, options, arguments):
    outcome = record([sys.executable, "-c", STAY, "--password=hunter2", "--rank=3"], *options)
    (trace,) = outcome.traces()
    assert trace.argv[1:] == arguments
    assert gpuprof("info", outcome.bundle).out.find(b"hunter2") < 0
