# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""gpuprof's thread that enters Python, in all versions of CPython that this machine has. JAX's profiler is a double; tests/frameworks has the real one."""

import pathlib
import shutil
import subprocess

import pytest

from conftest import program
from test_python_samples import PYTHONS

MARK = "the double's mark"


@pytest.fixture
def library(tmp_path):
    """Some library, under the name of JAX's."""
    here = next(line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/libm.so" in line or "/libm-" in line)
    return shutil.copy(here, tmp_path / "libjax_common.so")


def _marks(trace):
    return [trace.strings[int(name)] for name in trace.ops["name"]].count(MARK)


def _check(same, python, options, kind, library):
    outcome = same([python, *options, program("jax_double.py"), kind, library], env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert outcome.trace().lost == 0
    return outcome


@pytest.mark.parametrize("options", [(), ("-I",), ("-E",), ("-S",)], ids=lambda options: "".join(options) or "plain")
@pytest.mark.parametrize("version", PYTHONS)
def test_python_is_entered_however_it_was_started(same, library, version, options):
    assert _marks(_check(same, PYTHONS[version], options, "wait", library).trace()) >= 1


@pytest.mark.parametrize("version", PYTHONS)
def test_a_session_of_the_program_goes_first(same, library, version):
    outcome = _check(same, PYTHONS[version], (), "own", library)
    assert _marks(outcome.trace()) >= 1
    assert any("used JAX's profiler itself" in note for note in map(str, outcome.trace().notes))


@pytest.mark.parametrize("kind", ["interpreter", "thread", "fork"])
@pytest.mark.parametrize("version", PYTHONS)
def test_programs_stay_as_they_are(record, same, library, version, kind):
    command = [PYTHONS[version], "-W", "ignore", program("jax_double.py"), kind, library]
    outcome = same(command, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert outcome.status == 0, outcome.err.decode()


@pytest.mark.parametrize("version", PYTHONS)
def test_a_program_that_ends_at_once(same, library, version):
    """The thread may come while Python begins, or comes to its end."""
    for _ in range(5):
        _check(same, PYTHONS[version], (), "never", library)


def test_a_virtual_environment(same, library, tmp_path):
    version, python = next(iter(PYTHONS.items()))
    made = subprocess.run([python, "-m", "venv", "--without-pip", str(tmp_path / "venv")], capture_output=True)
    if made.returncode != 0:
        pytest.skip("this Python makes no virtual environments")
    assert _marks(_check(same, str(tmp_path / "venv" / "bin" / "python"), (), "wait", library).trace()) >= 1, version
