# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The simulated GPU (tests/fake_gpu) for process tests: how a program gets it, and what truly happened on it."""

import json
import pathlib

import pytest

from conftest import BUILD
from trace_file import read_bundle

DOUBLES = BUILD / "tests" / "fake_gpu"
LIBRARIES = DOUBLES / "lib"
# Releases by their names; LIBRARIES itself has 13.0.
PERSONALITIES = {"11.8": "cupti-18", "12.6": "cupti-24", "12.9": "cupti-28", "13.0": "lib", "13.3": "cupti-130300"}
# What a driver tells that lets several profilers use CUPTI 13.3.
DRIVER_OF_SEVERAL = "driver_version 13030"

needs_doubles = pytest.mark.skipif(not (LIBRARIES / "libcupti.so.13").exists(),
                                   reason="the doubles were not built: no CUDA headers or no nvcc")


def libraries_of(personality, folder):
    """The doubles with this release of libcupti and no other: beside the program's runtime the newest one is taken."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ours = DOUBLES / PERSONALITIES[personality]
    for file in [*LIBRARIES.iterdir(), *ours.iterdir()]:
        if (file.parent == ours or not file.name.startswith("libcupti")) and not (folder / file.name).exists():
            (folder / file.name).symlink_to(file)
    return folder


def libraries_without_cupti(folder):
    """The doubles' driver and runtime alone."""
    folder.mkdir()
    for file in LIBRARIES.iterdir():
        if not file.name.startswith("libcupti"):
            (folder / file.name).symlink_to(file)
    return folder


def environment_of(truth, script="", personality=None):
    """Variables for a program; `script` as in tests/fake_gpu/device/script.h."""
    path = LIBRARIES if personality is None else libraries_of(personality, pathlib.Path(truth).parent / f"cupti-{personality}")
    return {"LD_LIBRARY_PATH": str(path), "FAKE_GPU_TRUTH": str(truth), **({"FAKE_GPU_SCRIPT": script} if script else {})}


class Truth:
    def __init__(self, path):
        lines = [line.strip("\0") for line in pathlib.Path(path).read_text().splitlines()]
        self.rows = [json.loads(line) for line in lines if line]
        self.offset = next(row["realtime_offset"] for row in self.rows if row["t"] == "process")

    def of(self, kind):
        return [row for row in self.rows if row["t"] == kind]

    def memory(self):
        """Allocations and releases, in order."""
        return [row for row in self.rows if row["t"] in ("alloc", "free")]

    def lives(self):
        """Allocations and how they ended, by a release or with their context, in order."""
        return [row for row in self.rows if row["t"] in ("alloc", "free", "end")]

    def kernels(self):
        """As TraceFile.kernel_rows; times on CUPTI's clock, which is CLOCK_REALTIME."""
        rows = [(k["name"], k["stream"], tuple(k["grid"]), tuple(k["block"]), k["registers"], k["static_smem"], k["dynamic_smem"],
                 k["correlation"], k["start"] + self.offset, k["end"] + self.offset) for k in self.of("kernel")]
        return sorted(rows, key=lambda row: row[-2:])


def with_switch(program, truth):
    """A running program (conftest.session) with `switch(verb)` of `gpuprof ctl`, and `whole()`: its trace, what truly happened, its outcome."""

    def switch(verb):
        done = program.ctl(verb)
        assert done.status == 0, done.err.decode()

    def whole():
        outcome = program.finish()
        assert outcome.status == 0, outcome.err.decode()
        found = Truth(truth)
        assert found.of("violation") == []
        (trace,) = read_bundle(outcome.bundle)
        return trace, found, outcome

    program.switch, program.whole = switch, whole
    return program
