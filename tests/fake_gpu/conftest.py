# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Runs a program on the doubles, with the small tool or without, and reads what both wrote."""

import collections
import dataclasses
import json
import os
import pathlib
import re
import subprocess

import pytest

from waiting import LIMIT_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FAKE_GPU_BUILD_DIR", ROOT / "build" / "ci" / "tests" / "fake_gpu"))
LIBRARIES = BUILD / "lib"


def read_lines(path):
    """Lines of JSON. Zero bytes are what a thread was about to write when the process died: a line beside them may be half."""
    if not path.exists():
        return []
    found = []
    for index, part in enumerate(re.split(b"\0+", path.read_bytes())):
        lines = part.decode().split("\n")[:-1]
        if index > 0 and lines and not lines[0].startswith("{"):
            del lines[0]
        found += [json.loads(line) for line in lines if line]
    return found


@dataclasses.dataclass
class Run:
    status: int
    out: str
    err: str
    lines: list
    truth: list

    def got(self, kind):
        return [x for x in self.lines if x["t"] == kind]

    def true(self, kind):
        return [x for x in self.truth if x["t"] == kind]

    def result_of(self, function):
        """What the tool's call answered; 0 when it did not complain."""
        found = [x["result"] for x in self.got("result") if x["name"] == function]
        return found[0] if found else 0


def counts(lines, *keys):
    return collections.Counter(tuple(str(x[key]) for key in keys) for x in lines)


@pytest.fixture
def run(tmp_path):
    number = iter(range(1000))

    def start(program, *arguments, script="", tool=None, cupti=None, libraries=LIBRARIES, truth=True, timeout=LIMIT_S, env=None):
        n = next(number)
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("FAKE_GPU", "SELFTEST", "CUDA_", "GPUPROF", "LD_"))}
        environment.update(LD_LIBRARY_PATH=str(libraries), FAKE_GPU_SCRIPT=script)
        if truth:
            environment["FAKE_GPU_TRUTH"] = str(tmp_path / f"truth{n}")
        if tool is not None:
            environment.update(CUDA_INJECTION64_PATH=str(BUILD / "selftest" / "selftest.so"), SELFTEST=tool,
                               SELFTEST_OUT=str(tmp_path / f"tool{n}"))
        if cupti is not None:
            environment["SELFTEST_CUPTI"] = str(cupti)
        environment.update(env or {})
        done = subprocess.run([str(BUILD / "programs" / program), *map(str, arguments)], env=environment,
                              capture_output=True, text=True, timeout=timeout, check=False)
        return Run(done.returncode, done.stdout, done.stderr, read_lines(tmp_path / f"tool{n}"),
                   read_lines(tmp_path / f"truth{n}"))

    return start
