# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs `gpuprof report` and opens the page in Chromium (probe.mjs)."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "process"))

from cli_support import GPUPROF, build_dir, clean_env  # noqa: E402

MODULES = build_dir() / "viewer" / "work" / "node_modules"


def missing():
    """What the tests lack on this machine; empty: nothing."""
    page = build_dir() / "viewer" / "index.html"
    if not page.exists() or page.stat().st_size == 0:
        return "this build has no page of reports: Node.js 20.19 or newer and npm are needed"
    if shutil.which("node") is None:
        return "there is no Node.js"
    names = ("chromium", "chromium-browser", "google-chrome")
    if "GPUPROF_CHROMIUM" not in os.environ and not any(shutil.which(name) for name in names):
        return "there is no Chromium; scripts/setup installs it"
    return ""


def gpuprof(*args, cwd):
    return subprocess.run([GPUPROF, *map(str, args)], cwd=cwd, env=clean_env(), capture_output=True, timeout=300)


def stats(name, path, *options, cwd):
    """The result of a pass as the command prints it."""
    done = gpuprof("stats", name, path, "--json", *options, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_report(path, folder, *options):
    page = folder / "report.html"
    done = gpuprof("report", path, "-o", page, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return page


def probe(page, folder, *steps):
    """Opens a report and returns what probe.mjs saw."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    command = ["node", ROOT / "tests" / "viewer" / "probe.mjs", MODULES, page, folder, *steps]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    print(f"{page.name}: {page.stat().st_size} bytes, open after {seen['opened_ms']} ms")
    return seen


def assert_quiet(seen):
    """Nothing was asked of a network, nothing failed, no foreign element came in."""
    assert seen["requests"] == []
    assert seen["errors"] == []
    assert seen["dialogs"] == []
    assert seen["foreign"] == 0
    assert not seen["wide"]
