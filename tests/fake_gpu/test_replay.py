# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of real work that the doubles play again (replay/): what the converter makes of a trace, and what a tool gets of it."""

import json
import subprocess
import sys

import pytest

from conftest import ROOT

CONVERTER = ROOT / "tests" / "fake_gpu" / "replay" / "kineto_replay.py"
PROGRAM = "../replay/replay"
KERNEL, COPY, PEER_COPY, SET, RUNTIME, DRIVER = 10, 1, 22, 2, 5, 4


def span(category, name, start, duration, tid=7, **arguments):
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, "tid": tid,
            "args": {key.replace("_", " "): value for key, value in arguments.items()}}


def kernel(name, start, duration, **more):
    return span("kernel", name, start, duration, **{"device": 1, "context": 2, "stream": 21, "correlation": 9, "grid": [4, 5, 6],
                                                    "block": [32, 2, 1], "registers_per_thread": 40, "shared_memory": 4096, **more})


SMALL = [
    span("cuda_runtime", "cudaGraphLaunch", 100.5, 9.001, tid=-5, cbid=311, correlation=9),
    kernel("first", 120.25, 1.001, graph_id=3, graph_node_id=8589934593),
    kernel("second", 121.3, 2, graph_id=3, graph_node_id=8589934594),
    span("cuda_driver", "cuLaunchKernel", 130, 2, tid=77, cbid=307, correlation=10),
    span("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 140, 3, device=1, context=2, stream=21, correlation=11, bytes=1000),
    span("gpu_memset", "Memset (Device)", 150, 1, device=0, context=1, stream=7, correlation=12, bytes=64),
    span("cpu_op", "aten::mm", 100, 60),
]


@pytest.fixture
def convert(tmp_path):
    """convert(events): what the converter said, and its recording."""
    def start(events):
        source, target = tmp_path / "trace.json", tmp_path / "recording"
        source.write_text(json.dumps({"traceEvents": events}))
        done = subprocess.run([sys.executable, str(CONVERTER), str(source), str(target)], capture_output=True, text=True, check=False)
        return done, target

    return start


def test_a_tool_gets_what_was_recorded(run, convert):
    said, recording = convert(SMALL)
    assert said.stdout == "6 rows\n", said.stderr
    done = run(PROGRAM, recording, tool=f"kinds={KERNEL},{COPY},{SET},{RUNTIME},{DRIVER} system_tids")
    assert done.status == 0, done.err
    first, second = sorted(done.got("kernel"), key=lambda k: k["start"])
    assert (first["name"], first["grid"], first["block"], first["registers"], first["dynamic_smem"]) == \
        ("first", [4, 5, 6], [32, 2, 1], 40, 4096)
    assert (first["context"], first["stream"], first["correlation"], first["graph"], first["node"]) == (2, 21, 9, 3, 8589934593)
    assert (second["name"], second["node"]) == ("second", 8589934594)
    assert first["end"] - first["start"] == 1001 and second["start"] - first["start"] == 1050
    (copy,), (fill,) = done.got("copy"), done.got("set")
    assert (copy["bytes"], copy["src"], copy["dst"], copy["start"] - first["start"]) == (1000, 3, 2, 19750)
    assert (fill["bytes"], fill["stream"], fill["end"] - first["start"]) == (64, 7, 30750)
    (launch,) = done.got("runtime")
    assert (launch["cbid"], launch["correlation"], launch["tid"]) == (311, 9, 2**32 - 5)
    assert (launch["start"], launch["end"]) == (first["start"] - 19750, first["start"] - 10749)
    (driver,) = [call for call in done.got("driver") if call["tid"] == 77]
    assert (driver["cbid"], driver["correlation"], driver["end"] - driver["start"]) == (307, 10, 2000)


def test_a_tool_gets_what_it_asked_for(run, convert):
    _, recording = convert(SMALL)
    done = run(PROGRAM, recording, tool=f"kinds={KERNEL},{RUNTIME} filter=311")
    assert len(done.got("kernel")) == 2
    assert not done.got("copy") and not done.got("set") and not done.got("runtime") and not done.got("driver")


def test_work_that_is_played_as_it_happens_takes_its_time(run, convert):
    _, recording = convert([kernel("a", 0, 1), kernel("b", 300000, 1)])
    done = run(PROGRAM, recording, "live", tool=f"kinds={KERNEL} at=50")
    a, b = sorted(done.got("kernel"), key=lambda k: k["start"])
    assert b["start"] - a["start"] == 300_000_000 and a["buffer"] != b["buffer"], "the first was handed over before the second was"


@pytest.mark.parametrize("events, why", [
    ([span("gpu_memcpy", "Memcpy HtoX (Pageable -> Device)", 1, 1, device=0, stream=7, correlation=1)], "'HtoX' is not known"),
    ([span("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 1, 1, fromDevice=0, toDevice=1, correlation=1)], "on no single device"),
    ([span("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 1, 1, device=0, correlation=1)], "between which devices"),
    ([kernel("a", "soon", 1)], "no time in microseconds"),
    ([span("kernel", "a", 1, 1, device=0, stream=7, correlation=1, grid=[4])], "three sides"),
    ([{**kernel("a", 1, 1), "ph": "B"}], "only whole spans"),
])
def test_what_cannot_be_converted_is_refused(convert, events, why):
    said, recording = convert(events)
    assert said.returncode == 1 and why in said.stderr and not recording.exists()


def test_calls_of_another_runtime_are_left_out(convert):
    said, _ = convert([span("cuda_runtime", "hipLaunchKernel", 1, 1, correlation=1), kernel("a", 2, 1)])
    assert said.stdout == "1 rows; 1 calls of another runtime or spans without an end left out\n"


def test_copies_between_devices(run, convert):
    said, recording = convert([span("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 1, 2, fromDevice=3, inDevice=1, toDevice=1, fromContext=7,
                                    inContext=2, toContext=2, stream=20, correlation=5, bytes=4096)])
    assert said.returncode == 0, said.stderr
    done = run(PROGRAM, recording, tool=f"kinds={PEER_COPY}")
    (copy,) = done.got("peer")
    assert (copy["bytes"], copy["from"], copy["to"], copy["stream"], copy["correlation"]) == (4096, 3, 1, 20, 5)


def test_traces_of_older_and_other_writers(run, convert):
    """Categories as they were called before; times that were read as floats and written again; numbers that are words or below 0."""
    old = [span("Runtime", "cudaLaunchKernel", 100.5, 9.001, tid="thread 12", cbid=211, correlation=9),
           {**kernel("first", 120.25, 1.0009999999999), "cat": "Kernel"},
           {**kernel("second", 130.30000000000004, 2), "cat": "Kernel"},
           {**span("Memset", "Memset (Device)", 150, 1, device=0, context=1, stream=-1, correlation=12, bytes=64)},
           {"ph": "X", "cat": "kernel", "name": "open", "ts": 160, "args": {"device": 0}}]
    said, recording = convert(old)
    assert said.stdout == "4 rows; 1 calls of another runtime or spans without an end left out\n", said.stderr
    done = run(PROGRAM, recording, tool=f"kinds={KERNEL},{COPY},{SET},{RUNTIME} system_tids")
    first, second = sorted(done.got("kernel"), key=lambda k: k["start"])
    assert first["end"] - first["start"] == 1001 and second["start"] - first["start"] == 10050
    (fill,), (launch,) = done.got("set"), done.got("runtime")
    assert fill["stream"] == 2**32 - 1 and launch["tid"] == 12


@pytest.mark.parametrize("bytes_kept", [0, 10, 20, -1])
def test_a_cut_recording_is_refused(run, convert, tmp_path, bytes_kept):
    _, recording = convert(SMALL)
    cut = tmp_path / "cut"
    cut.write_bytes(recording.read_bytes()[:bytes_kept])
    assert run(PROGRAM, cut).status == 1
