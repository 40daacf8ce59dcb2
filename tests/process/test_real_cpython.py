# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""CPython's own tests of threads, signals, subprocesses and forking: each test has the outcome of the bare run.

The bare and the two recorded runs go on at the same time, so that all three have the same machine. A test that passes bare and not
recorded is run again, bare, in the same crowd: a test that is then seen to fail bare too is flaky, and the fault is not gpuprof's.
Nor is it if the test fails once and in none of the runs that follow, recorded as before: such tests sleep for a tenth of a second
and take that for enough. A test that hangs or ends its process is never excused so.
The short form runs every fifth test of each module. Both forms leave the slow classes out. With GPUPROF_REAL_PROGRAMS=full the long
form runs every test of the four modules (about 10 minutes).
"""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import GPUPROF, HEAP_EXACT, ROOT, clean_environment, short_and_long, verify
from real_programs import DEPS, check_bundle

RUNNER = ROOT / "tests" / "process" / "cpython_runner.py"
MODULES = ("test_threading", "test_signal", "test_subprocess", "test_multiprocessing_fork")
FULL = os.environ.get("GPUPROF_REAL_PROGRAMS") == "full"
RERUNS = 8
LIMIT_S = 60  # of one test; those that reach it bare hang bare

# Left out: mostly sleeping, or the same code as another class with managers in between; and one that
# hangs bare on some machines (test_4_daemon_threads), which costs LIMIT_S each time.
SLOW = re.compile(r"StressTest|WithManager|WithThreads|TestPoolWorker|TestPool\.|_TestPool|ProcessTestCaseNoPoll"
                  r"|test_(communicate_timeout|wait_timeout|4_daemon_threads|itimer|setitimer)|CommandsWithSpaces")

MODES = {"bare": None, "default": (), "exact": (HEAP_EXACT,)}


def _environment():
    """Where the tests come from: the interpreter itself, or what scripts/setup unpacked."""
    extra = {"PYTHONDONTWRITEBYTECODE": "1"}
    if (DEPS / "cpython-tests" / "test").is_dir():
        extra["PYTHONPATH"] = str(DEPS / "cpython-tests")
    return clean_environment(extra)


def _interpreter():
    """Not the virtual environment's link: tests start it with -I and -E too."""
    python = os.path.realpath(sys.executable)
    there = subprocess.run([python, "-c", "import test.test_signal, test.test_multiprocessing_fork"], env=_environment(),
                           capture_output=True)
    if there.returncode != 0:
        pytest.skip("this Python comes without its tests: run scripts/setup --only test")
    return python


class Run:
    """One module in one mode, from the first to the last test: begun anew behind a test that hangs or kills it."""

    def __init__(self, folder, name, mode, module, tests):
        self.folder = folder / f"{name}-{len(list(folder.iterdir()))}"
        self.folder.mkdir()
        self.mode, self.module, self.left = mode, module, list(tests)
        self.outcomes, self.bundles, self.statuses, self.text = {}, [], [], ""
        self.begin()

    def begin(self):
        number = len(self.statuses)
        (self.folder / f"wanted{number}").write_text("\n".join(self.left))
        (self.folder / f"cwd{number}").mkdir()
        prefix = []
        if self.mode is not None:
            self.bundles.append(self.folder / f"bundle{number}")
            prefix = [str(GPUPROF), "run", "-o", str(self.bundles[-1]), *self.mode, "--"]
        self.log = open(self.folder / f"log{number}", "w+b")
        self.process = subprocess.Popen(
            [*prefix, _interpreter(), str(RUNNER), str(self.folder / f"outcomes{number}"), str(LIMIT_S), f"test.{self.module}",
             str(self.folder / f"wanted{number}")], env=_environment(), cwd=self.folder / f"cwd{number}", stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)

    def end_part(self):
        """Waits for the process; True when all tests are through."""
        try:
            self.process.wait(timeout=LIMIT_S * 12)
        except subprocess.TimeoutExpired:
            self.outcomes["(the whole run)"] = "hangs"
        try:  # whatever a hanging test started
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        number = len(self.statuses)
        self.statuses.append(self.process.returncode)
        self.log.seek(0)
        self.text += self.log.read().decode(errors="replace")
        self.log.close()
        rows = [json.loads(line) for line in (self.folder / f"outcomes{number}").read_text().splitlines()]
        self.outcomes.update({row["test"]: row["outcome"] for row in rows if "test" in row})
        if rows and "done" in rows[-1] or "(the whole run)" in self.outcomes:
            return True
        began = [row["begins"] for row in rows if "begins" in row]
        assert began, self.text[-4000:]
        self.outcomes[began[-1]] = "hangs or dies"
        self.left = self.left[self.left.index(began[-1]) + 1:]
        return not self.left

    def words_of(self, test):
        """What was printed of a failure."""
        found = re.search(r"^(?:failed|error): " + re.escape(test) + r"\n((?:.*\n)*?)(?=^(?:failed|error): |\Z)", self.text, re.M)
        return found.group(1) if found else ""


def _finish(runs):
    for run in runs:
        while not run.end_part():
            run.begin()


def _tests_of(module, folder):
    listed = folder / "listed"
    done = subprocess.run([_interpreter(), str(RUNNER), str(listed), "60", f"test.{module}"], capture_output=True,
                          env={**_environment(), "CPYTHON_RUNNER_LIST": "1"}, timeout=LIMIT_S, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    tests = [json.loads(line)["lists"] for line in listed.read_text().splitlines()]
    return tests if FULL else [test for test in tests if not SLOW.search(test)]


def _failing_again(folder, module, tests, mode=None):
    """Those of the tests that are seen to fail in a mode, when run again and again in a crowd of three on processors kept busy: what a
    build or a neighbour does to a test that takes a tenth of a second for enough is not the recorder's doing."""
    burners = [subprocess.Popen([_interpreter(), "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        return _failing_in_crowds(folder, module, tests, mode)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def _failing_in_crowds(folder, module, tests, mode):
    failing = set()
    for number in range(0, RERUNS, 3):
        runs = [Run(folder, f"again{number}-{i}", mode, module, tests) for i in range(3)]
        _finish(runs)
        for run in runs:
            failing |= {test for test in tests if run.outcomes.get(test) != "passed"}
    return failing


@pytest.mark.parametrize("module", MODULES)
@short_and_long("every", 5, 1)
def test_cpython(tmp_path, module, every):
    tests = _tests_of(module, tmp_path)[::every]
    runs = {name: Run(tmp_path, name, mode, module, tests) for name, mode in MODES.items()}
    _finish(runs.values())
    bare = runs["bare"]
    assert sum(outcome == "passed" for outcome in bare.outcomes.values()) >= len(tests) // 2, bare.text[-4000:]
    suspects, differ = set(), {}
    for name in ("default", "exact"):
        run = runs[name]
        different = {test for test in {*run.outcomes, *bare.outcomes} if run.outcomes.get(test) != bare.outcomes.get(test)}
        different = {test for test in different if bare.outcomes.get(test) == "passed"} | {
            test for test in different if test not in bare.outcomes}
        differ[name] = different
        suspects |= different
        if run.outcomes == bare.outcomes:
            assert run.statuses == bare.statuses
    flaky = _failing_again(tmp_path, module, sorted(suspects)) if suspects else set()
    for name, different in differ.items():
        once = {test for test in different - flaky if runs[name].outcomes.get(test) in ("failed", "error")}
        if once:
            different -= once - _failing_again(tmp_path, module, sorted(once), MODES[name])
        assert not different - flaky, (name, {t: (bare.outcomes.get(t), runs[name].outcomes.get(t), runs[name].words_of(t)[-1500:])
                                              for t in different - flaky})
    for name in ("default", "exact"):
        for bundle in runs[name].bundles:
            verify(bundle)
        assert check_bundle(runs[name].bundles[0])
