# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof run --upload`: the user's own command gets the finished bundle, and each snapshot while the program runs. It can fail or hang,
and the program's exit status stays its own."""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest

from conftest import GPUPROF, PROGRAMS, clean_environment, gpuprof, program, verify
from waiting import LIMIT_S, wait_until

ENDS_WELL = ["sh", "-c", f"{program('plain')}; exit 0"]
COPY = 'cp -r -- "$1" "$STORE"'


@pytest.fixture
def store(tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


def run(bundle, store, upload, *options, command=(), env=None):
    command = command or ENDS_WELL
    done = subprocess.run([str(GPUPROF), "run", "-o", str(bundle), "--upload", upload, *options, "--", *command], capture_output=True,
                          env=clean_environment({"STORE": str(store), **(env or {})}), timeout=LIMIT_S)
    return done.returncode, done.stderr.decode(errors="replace")


@pytest.mark.parametrize("name", ["b", "with a space", '$(touch made); "\'`touch made`', "-rf", "\udcff\n\t*"])
def test_the_finished_bundle(tmp_path, store, name):
    """Its path is a word of the command, never its text."""
    bundle = tmp_path / "in" / name
    status, said = run(bundle, store, COPY)
    assert status == 0 and "upload" not in said, said
    verify(store / name)
    assert sorted(os.listdir(store / name)) == sorted(os.listdir(bundle))
    assert not pathlib.Path("made").exists() and os.listdir(store) == [name]


def test_the_command_is_not_recorded(tmp_path, store):
    status, said = run(tmp_path / "b", store, 'tr "\\0" "\\n" < /proc/self/environ > "$STORE/environment"; echo "$1" > "$STORE/folder"; cat; echo out',
                       env={"GPUPROF_SIGNAL": "none"})
    assert status == 0, said
    variables = (store / "environment").read_text().splitlines()
    assert [x for x in variables if x.startswith("GPUPROF_")] == [f"GPUPROF_BUNDLE={tmp_path / 'b'}"]
    assert not any("libgpuprof_inject" in x for x in variables)
    assert (store / "folder").read_text() == f"{tmp_path / 'b'}\n"
    assert said.endswith("out\n"), "its output goes to standard error"


def test_a_run_in_a_run(tmp_path, store):
    """The upload of the inner run is not recorded by the outer one."""
    inner = [str(GPUPROF), "run", "-o", str(tmp_path / "inner"), "--upload", 'cat "$1"/bundle.pb > "$STORE/copy"', "--", *ENDS_WELL]
    done = subprocess.run([str(GPUPROF), "run", "-o", str(tmp_path / "outer"), "--", *inner], capture_output=True,
                          env=clean_environment({"STORE": str(store)}), timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr.decode()
    assert (store / "copy").read_bytes() == (tmp_path / "inner" / "bundle.pb").read_bytes()
    assert b"cat" not in gpuprof("info", tmp_path / "outer").out.split()


@pytest.mark.parametrize("status", [0, 7])
def test_a_failing_command_is_told_and_the_folder_stays(tmp_path, store, status):
    got, said = run(tmp_path / "b", store, "exit 3", "--quiet", command=["sh", "-c", f"{program('plain')}; exit {status}"])
    assert got == status
    assert f"the upload of {tmp_path / 'b'} failed with status 3; the folder stays" in said.replace(os.path.relpath(tmp_path / "b"), str(tmp_path / "b"))
    verify(tmp_path / "b")


def test_a_command_that_is_not_there(tmp_path, store):
    status, said = run(tmp_path / "b", store, "no-such-command-here")
    assert status == 0 and "failed with status 127; the folder stays" in said


def test_a_hanging_command_is_ended_with_its_children(tmp_path, store):
    status, said = run(tmp_path / "b", store, 'sleep 1000 & echo $! > "$STORE/child"; trap "" TERM; while :; do sleep 1; done', "--upload-limit=1s")
    assert status == 0 and "was ended by the time limit (--upload-limit); the folder stays" in said
    child = int((store / "child").read_text())
    wait_until(lambda: not pathlib.Path(f"/proc/{child}").exists() or "Z" in pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0],
               "the end of what the command started")
    verify(tmp_path / "b")


def test_a_signal_ends_the_upload(tmp_path, store):
    """Otherwise the user would have to wait. The status is the program's."""
    process = subprocess.Popen([str(GPUPROF), "run", "-o", str(tmp_path / "b"), "--upload", 'touch "$STORE/began"; exec sleep 1000', "--", "sh", "-c",
                                f"{program('plain')}; exit 5"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=clean_environment({"STORE": str(store)}))
    wait_until(lambda: (store / "began").exists(), "the upload")
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 5 and b"was ended by a signal to gpuprof" in said, said


def test_a_program_that_was_killed(tmp_path, store):
    status, said = run(tmp_path / "b", store, COPY, command=["sh", "-c", f"{program('plain')}; kill -9 $$"])
    assert status == -9, said
    verify(store / "b")


def test_a_bundle_that_is_gone_is_not_uploaded(tmp_path, store):
    status, said = run(tmp_path / "b", store, COPY, command=["sh", "-c", f"{program('plain')}; rm -rf {tmp_path / 'b'}; exit 0"])
    assert status == 0 and os.listdir(store) == [], said


def test_what_has_no_recording_is_not_uploaded(tmp_path, store):
    status, said = run(tmp_path / "b", store, COPY, "--capture=off")
    assert status == 0 and os.listdir(store) == [], said


def test_a_limit_that_is_none_is_refused(tmp_path, store):
    status, said = run(tmp_path / "b", store, COPY, "--upload-limit=soon")
    assert status == 2 and "soon" in said and not (tmp_path / "b").exists()


needs_steps = pytest.mark.skipif(not (PROGRAMS / "nvtx_steps").exists(), reason="the headers of NVTX are missing")


@needs_steps
def test_snapshots_are_uploaded_while_the_program_runs(session, store, tmp_path):
    running = session([program("nvtx_steps")], "--ring", "1MiB", "--trigger=exit", "--upload", COPY, env={"STORE": str(store)})
    running.wait_for(lambda: (running.bundle / "bundle.pb").exists())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "bundle.pb").write_text("secret")
    (running.bundle / "snapshot-link").symlink_to(elsewhere)
    (running.bundle / "snapshot-empty").mkdir()
    running.tell("run 10\n")
    assert running.line() == "10"
    for count in (1, 2):
        assert gpuprof("ctl", "snapshot", running.pid).status == 0
        wait_until(lambda: len(list(store.glob("snapshot-*/bundle.pb"))) == count, "the copy of the snapshot")
    names = os.listdir(store)
    for name in names:
        verify(store / name)
    running.tell("end 9\n")
    outcome = running.finish()
    assert outcome.status == 9, outcome.err.decode()
    # Then the failed exit's, and the bundle.
    assert sorted(os.listdir(store)) == sorted([*names, "session1", "snapshot-exit-9"])
    verify(store / "session1")
    verify(store / "snapshot-exit-9")


@needs_steps
def test_a_failing_upload_of_a_snapshot_is_told_once(session):
    running = session([program("nvtx_steps")], "--ring", "1MiB", "--upload", 'case "$1" in *snapshot-*) exit 4;; esac')
    running.tell("run 10\n")
    running.line()
    assert gpuprof("ctl", "snapshot", running.pid).status == 0
    (snapshot,) = running.wait_for(lambda: list(running.bundle.glob("snapshot-*/bundle.pb")))
    running.tell("end 0\n")
    outcome = running.finish()
    assert outcome.status == 0 and outcome.words.count("failed with status 4; the folder stays") == 1, outcome.words
    shutil.rmtree(snapshot.parent)
