# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Sums of work in a whole bundle: `gpuprof import` writes them, and the tests' own reader compares them with the rows (work_sums.py)."""

import json
import random

import pytest

from conftest import gpuprof
from trace_file import TraceFile

KERNELS, STREAMS, NAMES = 20_000, (7, 13), 6


def make_trace(path):
    """Kernels of a few names on two streams. A copy follows each tenth kernel."""
    chance = random.Random(5)
    events = []
    at = {stream: 1_000.0 for stream in STREAMS}
    for i in range(KERNELS):
        stream = STREAMS[i % 2]
        duration = 5 + chance.randrange(4_000) / 1000
        common = {"ph": "X", "pid": 0, "tid": stream}
        arguments = {"device": 0, "context": 1, "stream": stream, "correlation": i + 1}
        events.append(common | {"cat": "kernel", "name": f"kernel_{chance.randrange(NAMES)}", "ts": at[stream], "dur": duration,
                                "args": arguments | {"grid": [1, 1, 1], "block": [64, 1, 1]}})
        at[stream] += duration + 1
        if i % 10 == 0:
            events.append(common | {"cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "ts": at[stream], "dur": 2.0,
                                    "args": arguments | {"bytes": 4096, "correlation": KERNELS + i + 1}})
            at[stream] += 3
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}))


@pytest.fixture(name="bundle", scope="module")
def fixture_bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sums")
    make_trace(folder / "trace.json")
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
