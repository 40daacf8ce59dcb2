# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A profiler that is started again writes another file of the same process. In one folder they are one process with several captures:
its steps are counted together, and the time between two files is no part of any. Processes that merely look alike stay apart."""

import json

import pytest

from conftest import gpuprof

KERNELS = 10


def write(path, second, first_call, first_step, pid=500, host="h1", rank=None):
    """Five steps of 2 ms, `second` seconds after the start. Numbers of operations and of Python calls begin anew in each file."""
    events, at, call, number = [], second * 1_000_000, first_call, 0
    for step in range(5):
        begin = at
        for kernel in range(KERNELS):
            call, number = call + 1, number + 1
            name = f"aten::op{kernel % 2}" if second == 1 else f"aten::op{1 - kernel % 2}"
            events += [
                {"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": pid, "ts": at, "dur": 80, "args": {"External id": number}},
                {"ph": "X", "cat": "python_function", "name": f"train.py(1): {name}", "pid": pid, "tid": pid, "ts": at, "dur": 90,
                 "args": {"Python id": number, "Python parent id": None}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": pid, "tid": pid, "ts": at + 10, "dur": 20,
                 "args": {"correlation": call, "External id": number}},
                {"ph": "X", "cat": "kernel", "name": f"kernel_of_{name}", "pid": 0, "tid": 7, "ts": at + 60, "dur": 100,
                 "args": {"correlation": call, "External id": number, "device": 0, "stream": 7, "context": 1}},
            ]
            at += 200
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{first_step + step}", "pid": pid, "tid": pid,
                       "ts": begin, "dur": at - begin})
    trace = {"schemaVersion": 1, "baseTimeNanoseconds": 1_700_000_000_000_000_000, "host_name": host,
             "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": events}
    if rank is not None:
        trace["distributedInfo"] = {"rank": rank, "world_size": 2}
    path.write_text(json.dumps(trace))


def stats(name, path):
    done = gpuprof("stats", name, "--json", path)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


@pytest.fixture(name="folder")
def _folder(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    # The names say nothing about the order.
    write(folder / "b.json", 1, 0, 0)
    write(folder / "a.json", 61, 100_000, 100)
    return folder


def of(path):
    overview = stats("overview", path)
    ops = {op["name"]: (op["count"], op["device_ns"], [k["name"] for k in op.get("kernels", [])]) for op in stats("ops", path)["ops"]}
    return overview, {name: value for name, value in ops.items() if name.startswith("aten")}


@pytest.mark.parametrize("form", ["files", "bundle"])
def test_files_of_one_process_are_one_process(folder, tmp_path, form):
    path = folder
    if form == "bundle":
        path = tmp_path / "bundle"
        assert gpuprof("import", folder, "-o", path).status == 0
        assert gpuprof("verify", path).status == 0
    overview, ops = of(path)
    assert len(overview["processes"]) == 1 and overview["processes"][0]["host"] == "h1"
    assert overview["step"]["count"] == 10 and overview["step"]["mean_ns"] == 2_000_000
    assert overview["verdict"]["busy_ratio"] == pytest.approx(0.5, abs=0.05), "what lies between the files is no part of a step"
    # The numbers of operations are the same in both files. Each kernel still belongs to its own.
    assert {name: value[:2] for name, value in ops.items()} == {f"aten::op{i}": (50, 50 * 100_000) for i in (0, 1)}
    kernels = {row["name"]: row["count"] for row in stats("kernels", path)["kernels"]}
    assert kernels == {f"kernel_of_aten::op{i}": 50 for i in (0, 1)}
    idle = stats("idle", path)["devices"][0]
    assert idle["idle_ns"] < 30_000_000, "a minute between two recordings is not idle"


def test_three_files(folder):
    write(folder / "c.json", 121, 200_000, 200)
    overview, _ = of(folder)
    assert len(overview["processes"]) == 1 and overview["step"]["count"] == 15


@pytest.mark.parametrize("other", [
    {"first_call": 0},  # a program that ran again in a container: its calls are counted anew
    {"second": 1, "first_call": 100_000},  # at the same time
    {"host": "h2"}, {"pid": 501}, {"rank": 1},
], ids=["again", "at-once", "host", "pid", "rank"])
def test_others_stay_apart(tmp_path, other):
    write(tmp_path / "a.json", 1, 0, 0, rank=0 if "rank" in other else None)
    write(tmp_path / "b.json", **({"second": 61, "first_call": 100_000, "first_step": 100} | other))
    assert len(stats("overview", tmp_path)["processes"]) == 2
