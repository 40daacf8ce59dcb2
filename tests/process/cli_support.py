# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs the real gpuprof command for the tests in test_cli_*.py."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from waiting import LIMIT_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = sys.executable


def build_dir():
    """The build under test: GPUPROF_BUILD_DIR (ctest sets it), or the first preset that was built."""
    named = os.environ.get("GPUPROF_BUILD_DIR")
    folders = [pathlib.Path(named)] if named else [ROOT / "build" / p for p in ("ci", "release", "dev")]
    for folder in folders:
        if (folder / "launcher" / "gpuprof").exists():
            return folder
    raise pytest.UsageError("gpuprof is not built; set GPUPROF_BUILD_DIR")


GPUPROF = str(build_dir() / "launcher" / "gpuprof")


def clean_env(**extra):
    """This environment without anything that changes what gpuprof does."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GPUPROF_") and k != "LD_PRELOAD"}
    env.update(extra)
    return env


def gpuprof(*args, cwd, env=None, **kwargs):
    """Runs gpuprof to its end; stdout and stderr are texts."""
    kwargs.setdefault("timeout", LIMIT_S)
    return subprocess.run([GPUPROF, *map(str, args)], cwd=cwd, env=env or clean_env(), text=True,
                          capture_output=True, **kwargs)


def compile_c(path, source, *flags):
    """Compiles a victim; skips the test where this machine cannot (no static libc, no sanitizer)."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    made = subprocess.run([compiler, "-x", "c", "-", "-o", str(path), *flags], input=source, text=True,
                          capture_output=True)
    if made.returncode != 0:
        pytest.skip(f"cannot compile with {flags}: {made.stderr.splitlines()[-1:]}")
    return str(path)
