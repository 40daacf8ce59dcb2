# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""An installed tree works, also after it was moved."""

import shutil
import subprocess

import pytest

from cli_support import build_dir, clean_env
from waiting import LIMIT_S


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("install") / "first"
    made = subprocess.run(["cmake", "--install", str(build_dir()), "--prefix", str(prefix)], text=True, capture_output=True)
    assert made.returncode == 0, made.stderr
    return prefix


def run(prefix, *args, cwd):
    return subprocess.run([str(prefix / "bin" / "gpuprof"), *args], cwd=cwd, env=clean_env(), text=True, capture_output=True, timeout=LIMIT_S)


def preload(prefix, cwd):
    result = run(prefix, "run", "--", "env", cwd=cwd)
    assert result.returncode == 0, result.stderr
    return [line for line in result.stdout.splitlines() if line.startswith(("LD_PRELOAD=", "GPUPROF_TRACER="))]


def test_a_moved_tree_finds_its_own_objects(installed, tmp_path):
    assert all(str(installed) in line for line in preload(installed, tmp_path))
    moved = installed.parent / "second"
    shutil.move(installed, moved)
    lines = preload(moved, tmp_path)
    assert len(lines) == 2
    assert all(str(moved) in line for line in lines)
    doctor = run(moved, "doctor", cwd=tmp_path)
    assert doctor.returncode == 0, doctor.stdout
    # Through a link on PATH as well.
    link = tmp_path / "gpuprof"
    link.symlink_to(moved / "bin" / "gpuprof")
    result = subprocess.run([str(link), "run", "--", "env"], cwd=tmp_path, env=clean_env(), text=True, capture_output=True)
    assert str(moved) in result.stdout
    shutil.move(moved, installed)


def test_a_tree_without_objects_says_so(installed, tmp_path):
    alone = tmp_path / "bin"
    alone.mkdir()
    shutil.copy(installed / "bin" / "gpuprof", alone / "gpuprof")
    result = subprocess.run([str(alone / "gpuprof"), "run", "--", "echo", "x"], cwd=tmp_path, env=clean_env(), text=True, capture_output=True)
    assert (result.returncode, result.stdout) == (125, "")
    assert "install gpuprof as a whole" in result.stderr
