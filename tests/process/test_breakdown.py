# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`stats steps` and `stats idle` of real traces: each nanosecond of a device has the category of a plain reading of the file."""

import bisect
import decimal
import gzip
import json
import re
import subprocess

import pytest

from conftest import ROOT, gpuprof

TRACES = [*sorted((ROOT / "tests/golden/kineto").glob("*.json.gz")),
          *sorted((ROOT / "tests/golden/traces/h200/pytorch").glob("*.json.gz"))]
COLLECTIVE = re.compile(r"nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|cross_device_reduce|SendRecv", re.I)
LATE = ("input", "output", "compile", "sync", "profiler", "host")


def stats(name, trace):
    done = gpuprof("stats", name, "--json", trace)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def union(spans):
    merged = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(spans):
    return sum(end - start for start, end in spans)


def minus(spans, others):
    """What `spans` cover and `others` do not: both are unions."""
    rest = []
    for start, end in spans:
        for other_start, other_end in others:
            if other_end <= start or other_start >= end:
                continue
            if other_start > start:
                rest.append([start, other_start])
            start = max(start, other_end)
        if start < end:
            rest.append([start, end])
    return rest


def clip(spans, window):
    return [[max(start, window[0]), min(end, window[1])] for start, end in spans if end > window[0] and start < window[1]]


class Reading:
    """A device of a trace of torch.profiler, read event by event."""

    def __init__(self, path, steps):
        """`steps`: the numbers of steps, by the names of their annotations."""
        with gzip.open(path) as file:
            document = json.load(file, parse_float=decimal.Decimal)
        events = [event for event in document["traceEvents"] if event.get("ph") == "X"]
        span = lambda event: (int(decimal.Decimal(event["ts"]) * 1000), int((decimal.Decimal(event["ts"]) + decimal.Decimal(event["dur"])) * 1000))
        self.calls, self.work, self.steps = {}, [], []
        for event in events:
            if event["cat"] in ("cuda_runtime", "cuda_driver") and "correlation" in event["args"]:
                self.calls.setdefault(event["args"]["correlation"], span(event))
            elif event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                kind = "copy" if event["cat"] != "kernel" else "collective" if COLLECTIVE.search(event["name"]) else "compute"
                self.work.append((*span(event), kind, event["args"]["stream"], event["args"].get("correlation")))
            elif event["cat"] == "user_annotation" and event["name"] in steps:
                self.steps.append((*span(event), steps[event["name"]]))
        self.work.sort()
        self.of = {kind: union([row[:2] for row in self.work if row[2] == kind]) for kind in ("compute", "collective", "copy")}
        self.busy = union([row[:2] for row in self.work])
        self.gaps = self._gaps()

    def _gaps(self):
        """(start, the end of the host's lateness, end, what the rest is)"""
        edges = [None, *self.busy]
        gaps = []
        for before, after in zip(edges, edges[1:]):
            start = before[1] if before else -2**62
            next_works = [row for row in self.work if row[0] == after[0]]
            launched = sorted((self.calls[row[4]], row[3]) for row in next_works if row[4] in self.calls)
            if not launched:
                gaps.append((start, start, after[0], "unexplained"))
                continue
            (call_start, call_end), stream = launched[0]
            late = min(max(call_start, start), after[0])
            streams = {row[3] for row in self.work if row[1] == start}
            rest = "dependency" if call_end <= start and stream not in streams else "launch"
            gaps.append((start, late, after[0], rest))
        gaps.append((self.busy[-1][1], self.busy[-1][1], 2**62, "unexplained"))
        return gaps

    def split(self, window):
        parts = {"compute": length(clip(self.of["compute"], window))}
        parts["collective"] = length(clip(minus(self.of["collective"], self.of["compute"]), window))
        parts["copy"] = length(clip(minus(minus(self.of["copy"], self.of["compute"]), self.of["collective"]), window))
        for start, late, end, rest in self.gaps:
            parts["late"] = parts.get("late", 0) + length(clip([[start, late]], window))
            parts[rest] = parts.get(rest, 0) + length(clip([[late, end]], window))
        return {name: ns for name, ns in parts.items() if ns}

    def device_windows(self):
        streams = [row[3] for row in self.work if row[2] != "copy"]
        main = max(sorted(set(streams)), key=streams.count)
        marks = sorted(self.steps)
        starts = [mark[0] for mark in marks]
        first, last = {}, {}
        for start, end, _, stream, correlation in self.work:
            call = self.calls.get(correlation)
            at = bisect.bisect_right(starts, call[0]) - 1 if call else -1
            if at < 0 or call[0] >= marks[at][1]:
                continue
            if stream == main:
                first[at] = min(first.get(at, start), start)
            last[at] = max(last.get(at, end), end)
        return {marks[at][2]: (first[at], first.get(at + 1, last[at])) for at in first}


def read(trace):
    result = stats("steps", trace)
    names = {}
    if result["series"] and result["series"][0]["method"] == "ranges":
        names = {f"{result['series'][0]['marker']} {step['number']}": step["number"] for step in result["steps"]}
    return Reading(trace, names), result


def simple(categories):
    """The categories of gpuprof by the coarser names of a plain reading."""
    parts = {}
    for row in categories:
        name = row["category"]
        name = name.partition("_")[0] if name.startswith(("compute", "copy")) else "late" if name in LATE else name
        parts[name] = parts.get(name, 0) + row["total_ns"]
    return parts


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name.split(".")[0])
def test_each_nanosecond_has_the_category_of_a_plain_reading(trace):
    reading, result = read(trace)
    rows = result["device_steps"]
    assert rows
    for row in rows:
        assert sum(part["total_ns"] for part in row["categories"]) == row["duration_ns"]
    if result["series"] and not reading.steps:
        pytest.skip("its steps have no marks that a plain reading could take")
    if not reading.steps:
        assert [row["window"] for row in rows] == ["all"]
        whole = (reading.busy[0][0], reading.busy[-1][1])
        assert rows[0]["duration_ns"] == whole[1] - whole[0]
        assert simple(rows[0]["categories"]) == reading.split(whole)
        return
    marks = {row["number"]: row for row in rows if row["window"] == "mark"}
    for start, end, number in reading.steps:
        if number not in marks:  # a capture's border cuts it
            continue
        assert marks[number]["duration_ns"] == end - start
        assert simple(marks[number]["categories"]) == reading.split((start, end)), number
    windows = reading.device_windows()
    own = {row["number"]: row for row in rows if row["window"] == "device"}
    assert set(own) == set(windows)
    for number, row in own.items():
        assert row["duration_ns"] == windows[number][1] - windows[number][0]
        assert simple(row["categories"]) == reading.split(windows[number]), number
    (series,) = [each for each in result["device_series"] if each["window"] == "device"]
    counted = [row for row in own.values() if not row["warmup"]]
    assert series["count"] == len(counted)
    assert series["total_ns"] == sum(row["duration_ns"] for row in counted)
    assert series["typical_number"] in own


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name.split(".")[0])
def test_gaps_are_those_of_a_plain_reading(trace):
    reading = read(trace)[0]
    result = stats("idle", trace)
    (device,) = result["devices"]
    inner = reading.gaps[1:-1]
    assert device["gap_count"] == len(inner)
    assert device["idle_ns"] == sum(end - start for start, _, end, _ in inner)
    assert sum(cause["total_ns"] for cause in device["causes"]) == device["idle_ns"]
    whole = (reading.busy[0][0], reading.busy[-1][1])
    wanted = {name: ns for name, ns in reading.split(whole).items() if name in ("late", "launch", "dependency", "unexplained")}
    assert simple(device["causes"]) == wanted
    longest = sorted((end - start for start, _, end, _ in inner), reverse=True)
    assert [gap["duration_ns"] for gap in result["gaps"]] == longest[:1000]
    late = sum(late - start for start, late, _, _ in inner)
    assert sum(gap["late_ns"] for gap in result["gaps"]) <= late
    for rows in (result["operations"], result["functions"]):
        assert sum(row["total_ns"] for row in rows) <= late
        assert rows == sorted(rows, key=lambda row: -row["total_ns"])


def test_programs_without_a_gpu_have_no_idle_time():
    done = gpuprof("stats", "idle", ROOT / "tests/golden/traces/v1/heap.gpt")
    assert done.status == 0, done.err.decode()
    assert "No work of a GPU was recorded." in done.out.decode()


ATTENTION = "cudnn_generated_fort_native_sdpa_sm80_flash_{}_wmma_f16_knob_3_64x64x128_4x1x1_kernel0_0"


def attention_trace(tensors):
    """Three steps of attention and its gradient. `tensors`: the type of the inputs; None: the file tells no types."""
    events = []

    def add(cat, name, start, end, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 0 if cat == "kernel" else 7, "ts": start, "dur": end - start, "args": args})

    def launch(op, kernel, start, number, types):
        inputs = {"Input Dims": [[2, 4, 64, 128]] * len(types), "Input type": types} if tensors else {}
        add("cpu_op", op, start, start + 10, **{"External id": number, **inputs})
        add("cuda_runtime", "cudaLaunchKernel", start + 1, start + 3, correlation=number, **{"External id": number})
        add("kernel", ATTENTION.format(kernel), start + 10, start + 20, device=0, stream=7, context=1, correlation=number, grid=[1, 1, 1], block=[128, 1, 1])

    for step in range(3):
        at = 1000 + 100 * step
        add("user_annotation", f"ProfilerStep#{step}", at, at + 100)
        launch("aten::_scaled_dot_product_cudnn_attention", "fprop", at + 10, 2 * step + 1, [tensors] * 3)
        launch("aten::_scaled_dot_product_cudnn_attention_backward", "bprop", at + 40, 2 * step + 2, [tensors] * 5 + ["float"])
    return {"schemaVersion": 1, "traceEvents": events}


@pytest.mark.parametrize("tensors, category, evidence", [("c10::BFloat16", "compute_bf16", "operation"), ("c10::Half", "compute_fp16", "operation"),
                                                         (None, "compute_fp16", "name")])
def test_inputs_tell_the_type_of_attention_whose_name_does_not(tmp_path, tensors, category, evidence):
    (tmp_path / "trace.json").write_text(json.dumps(attention_trace(tensors)))
    steps = stats("steps", tmp_path / "trace.json")["device_steps"]
    assert len(steps) == 9  # three of each window
    for step in steps:
        parts = {part["category"]: part["total_ns"] for part in step["categories"] if part["category"].startswith("compute")}
        assert parts == {category: 20_000}, step["number"]
    done = gpuprof("stats", "kernels", "--by", "op", "--json", tmp_path / "trace.json")
    rows = json.loads(done.out)["kernels"]
    assert [(row["precision"], row["precision_evidence"]) for row in rows] == [(category.partition("_")[2], evidence)] * 2


PYTHON = ROOT / ".deps" / "hta" / "bin" / "python"


@pytest.mark.skipif(not PYTHON.exists(), reason="HolisticTraceAnalysis is not installed: scripts/setup --only test")
@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name.split(".")[0])
def test_another_tool_divides_the_time_alike(trace):
    figures = subprocess.run([PYTHON, ROOT / "tests/process/hta_figures.py", trace], capture_output=True, text=True, check=True)
    theirs = json.loads(figures.stdout)
    (device,) = stats("idle", trace)["devices"]
    for name in ("host_wait", "kernel_wait", "other"):
        # The library keeps hundredths of microseconds, stream by stream.
        assert device[f"hta_{name}_ns"] / 1000 == pytest.approx(theirs["idle"][name], abs=0.5, rel=1e-4), name
    (overlap,) = stats("overlap", trace)["devices"]
    assert overlap["idle_ns"] / 1000 == pytest.approx(theirs["times"]["idle_time(us)"], abs=0.5, rel=1e-5)
    assert overlap["compute_ns"] / 1000 == pytest.approx(theirs["times"]["compute_time(us)"], abs=0.5, rel=1e-5)
    other = overlap["busy_ns"] - overlap["compute_ns"]
    assert other / 1000 == pytest.approx(theirs["times"]["non_compute_time(us)"], abs=0.5, rel=1e-4)


@pytest.mark.parametrize("name", ["overlap", "idle", "steps", "streams", "kernels", "critical_path", "overview", "advise"])
def test_work_that_took_no_time(tmp_path, name):
    """A clock too coarse gives such kernels: nothing divides by their time, and nothing looks for their first busy moment."""
    launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 10, "dur": 1, "args": {"correlation": 1}}
    kernel = {"ph": "X", "cat": "kernel", "name": "gone", "pid": 0, "tid": 7, "ts": 20, "dur": 0,
              "args": {"correlation": 1, "device": 0, "stream": 7, "context": 1}}
    trace = tmp_path / "moment.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [launch, kernel]}))
    result = stats(name, trace)
    if name == "overlap":
        assert result["devices"] == []
    if name == "kernels":
        assert [(row["name"], row["count"], row["total_ns"]) for row in result["kernels"]] == [("gone", 1, 0)]
