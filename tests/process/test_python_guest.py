# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs to which a profiler of Python (--python) may do harm, in every version of CPython that this machine has."""

import pathlib
import re
import shutil
import subprocess

import pytest

import test_python_trace as traced
from conftest import GPUPROF, clean_environment, gpuprof, program
from test_python_samples import PYTHONS
from waiting import wait_until

SCRIPT = program("python_guest.py")
TRACE = "--python=trace:__main__.*"
BEFORE_3_12 = [version for version in PYTHONS if version in ("3.8", "3.9", "3.10", "3.11")]


def calls_of(bundle):
    """Names, whether they are incomplete, their begin and end."""
    found = []
    for end, _, _, fields in traced.rows_of(bundle, "python"):
        name = re.fullmatch(r'".*\(\d+\): (.*)"', fields["name"]).group(1)
        found.append((name.split(".")[-1], "incomplete" in fields.get("flags", ""), int(fields["start_ns"]), end))
    return found


def count_of(calls, name):
    return sum(call[0] == name for call in calls)


def words_of_program(run):
    """What the program of a session said on stderr, when it has ended."""
    lines = run.process.stderr.read().decode().splitlines()
    return [line for line in lines if not line.startswith("gpuprof: ")]


def waits_in_python(pid):
    """Whether the agent's thread waits, in a process whose program keeps CPython's lock."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            stat = (task / "stat").read_text()
        except OSError:
            continue
        if "(gpuprof-python) S" in stat:
            return True
    return False


def begin_ctl(run, verb):
    return subprocess.Popen([str(GPUPROF), "ctl", verb, str(run.pid)], env=clean_environment(), stdout=subprocess.DEVNULL)


# Before 3.12 the agent's thread is there all the time: nobody sees when a capture waits for it at its end.
@pytest.mark.parametrize("version, moment", [*((version, "start") for version in PYTHONS),
                                             *((version, "stop") for version in PYTHONS if version not in BEFORE_3_12)])
def test_a_fork_does_not_wait_for_a_capture_that_waits_for_python(session, tmp_path, version, moment):
    run = session([PYTHONS[version], SCRIPT, "forks", tmp_path], "--capture=off", TRACE)
    other = "stop" if moment == "start" else "start"
    times = []
    # A fork waits for a capture under way for a second at most. On a busy machine it may take as long by itself.
    while len(times) < 5 and not any(took < 0.9 for took in times):
        if moment == "stop" or times:
            assert run.ctl(other).status == 0
        run.tell(f"{len(times)}\n")
        wait_until((tmp_path / f"held{len(times)}").exists, "the program's hold of the lock")
        asked = begin_ctl(run, moment)
        wait_until(lambda: waits_in_python(run.pid), "the agent")
        (tmp_path / f"go{len(times)}").touch()
        times.append(float(run.line()))
        assert asked.wait() == 0
    assert traced.end_of(run) == 0
    assert min(times) < 0.9


@pytest.mark.parametrize("version", PYTHONS)
def test_the_loader_is_not_asked_with_pythons_lock(session, tmp_path, version):
    library = program("gil_library.so")
    copy = tmp_path / "copy.so"
    shutil.copy(library, copy)
    run = session([PYTHONS[version], SCRIPT, "loads", tmp_path, library, copy], "--capture=off", TRACE,
                  env={"GIL_LIBRARY_INSIDE": str(tmp_path / "inside")})
    run.tell("\n")
    wait_until((tmp_path / "held").exists, "the program's hold of the lock")
    asked = begin_ctl(run, "start")
    wait_until(lambda: waits_in_python(run.pid), "the agent")
    (tmp_path / "load").touch()
    wait_until((tmp_path / "inside").exists, "the library's constructor")
    (tmp_path / "go").touch()
    wait_until((tmp_path / "done").exists, "the library's end of its work")
    assert asked.wait() == 0
    assert traced.end_of(run) == 0
    assert count_of(calls_of(run.bundle), "innermost") == 1


@pytest.mark.parametrize("version", PYTHONS)
def test_what_a_program_sees_of_the_setter(same, version):
    same([PYTHONS[version], SCRIPT, "looks"], TRACE)


@pytest.mark.parametrize("version", PYTHONS)
def test_an_audit_hook_that_refuses_profilers_from_the_start(same, version):
    outcome = same([PYTHONS[version], SCRIPT, "refuses"], TRACE)
    assert count_of(calls_of(outcome.bundle), "refuses") == 1
    if version in ("3.9", "3.10", "3.11"):  # in 3.8 the hooks are asked once
        assert "an audit hook of the program refuses sys.setprofile" in traced.notes_of(outcome.bundle)


@pytest.mark.parametrize("version", PYTHONS)
def test_an_audit_hook_that_refuses_profilers_later(session, version):
    run = session([PYTHONS[version], SCRIPT, "refuses", "listen"], "--capture=off", TRACE)
    assert run.line() == "ready"
    assert run.ctl("start").status == 0
    run.tell("\n")
    assert run.line() == "done"
    assert run.ctl("stop").status == 0
    assert run.ctl("start").status == 0
    assert traced.end_of(run) == 0
    assert words_of_program(run) == []
    assert calls_of(run.bundle) == []
    assert "calls are not recorded: " in traced.notes_of(run.bundle)
    if version in BEFORE_3_12:
        assert "an audit hook of the program refuses sys.setprofile" in traced.notes_of(run.bundle)


@pytest.mark.parametrize("version", PYTHONS)
def test_threads_that_others_make_meanwhile(same, version):
    outcome = same([PYTHONS[version], SCRIPT, "churns", program("gil_library.so")], TRACE)
    # In 3.11 the state of a new thread may stand behind one that is being made.
    assert (290 if version == "3.11" else 300) <= count_of(calls_of(outcome.bundle), "innermost") <= 300


@pytest.mark.parametrize("version", BEFORE_3_12)
def test_states_of_threads_that_are_half_made(same, version):
    outcome = same([PYTHONS[version], SCRIPT, "states", program("gil_library.so")], TRACE)
    assert outcome.status == 0 and outcome.out == b"done\n"


@pytest.mark.parametrize("version", BEFORE_3_12)
@pytest.mark.parametrize("way", ["setprofile", "cprofile", "cprofile to the end"])
def test_calls_that_a_profiler_of_the_program_hides(record, version, way):
    outcome = record([PYTHONS[version], SCRIPT, "hidden", way], TRACE)
    assert outcome.status == 0
    calls = calls_of(outcome.bundle)
    ended = {name: (start, end) for name, is_incomplete, start, end in calls if is_incomplete}
    # Those that were open, and none of the later ones.
    assert set(ended) == {"hides", "hidden", "<module>"}
    # The program sleeps for two seconds while its own profiler is there.
    assert ended["hides"][1] - ended["hides"][0] < 1.5e9
    assert ended["hides"][1] == ended["hidden"][1] == ended["<module>"][1]
    # Calls are recorded again when it is gone.
    assert count_of(calls, "innermost") == 1 if way == "cprofile to the end" else 1 < count_of(calls, "innermost") <= 201


@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("way", ["main", "text"])
def test_an_embedded_interpreter_with_an_allocator_of_its_own(same, version, way):
    python = pathlib.Path(PYTHONS[version]).resolve()
    libraries = [*(python.parent.parent / "lib").glob(f"libpython{version}.so*"),
                 *pathlib.Path("/usr/lib/x86_64-linux-gnu").glob(f"libpython{version}.so*")]
    if not libraries:
        pytest.skip("this Python has no library")
    home = subprocess.run([str(python), "-c", "import sys; print(sys.base_prefix)"], capture_output=True).stdout.decode().strip()
    words = ["main", traced.SCRIPT, "recursion"] if way == "main" else ["text", "def f(): return 1\nfor _ in range(5): f()\n"]
    outcome = same([program("embedder"), *words], TRACE, env={"LD_PRELOAD": str(libraries[0]), "PYTHONHOME": home})
    if way == "main":
        assert traced.counts_of(traced.calls_of(outcome.bundle))["fib"] == traced.ALL_OF_FIB_12
