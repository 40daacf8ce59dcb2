# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Sums of work in a whole bundle: `gpuprof import` writes them, and the tests' own reader compares them with the rows (work_sums.py)."""

import json

import pytest

from conftest import gpuprof
from trace_file import TraceFile
from work_sums import write_kineto

KERNELS, STREAMS = 20_000, (7, 13)


@pytest.fixture(name="bundle", scope="module")
def fixture_bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sums")
    write_kineto(folder / "trace.json", KERNELS, STREAMS)
    done = gpuprof("import", folder / "trace.json", "-o", folder / "bundle")
    assert done.status == 0, done.err
    return folder / "bundle"


def test_sums_are_those_of_the_rows(bundle):
    (path,) = bundle.glob("p*.gpt")
    trace = TraceFile(path)
    assert len(trace.kernels["time"]) == KERNELS
    assert trace.summed_blocks >= len(STREAMS)


def test_a_bundle_with_sums_is_sound(bundle):
    done = gpuprof("verify", bundle)
    assert done.status == 0, done.out
    (process,) = json.loads(gpuprof("info", "--json", bundle).out)["processes"]
    (kind,) = [kind for kind in process["kinds"] if kind["name"] == "work_sums"]
    assert kind["blocks"] == 1
