# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The page knows the results by files that are made of `gpuprof schema --json`."""

import pathlib
import shutil
import subprocess

import pytest

from cli_support import GPUPROF

VIEWER = pathlib.Path(__file__).resolve().parents[2] / "viewer"


def test_what_the_viewer_knows_is_what_the_command_says():
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node")
    schema = subprocess.run([GPUPROF, "schema", "--json"], capture_output=True, check=True)
    done = subprocess.run([node, VIEWER / "scripts" / "make-results.mjs", "--check"], input=schema.stdout, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
