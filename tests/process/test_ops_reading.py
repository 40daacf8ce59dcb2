# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`stats ops` and `stats kernels --by op` of real traces: every figure is that of a plain reading of the file."""

import collections
import decimal
import gzip
import json

import pytest

from conftest import ROOT, gpuprof

TRACES = [*sorted((ROOT / "tests/golden/kineto").glob("*.json.gz")),
          *sorted((ROOT / "tests/golden/traces/h200/pytorch").glob("*.json.gz"))]
NAMED = pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name.split(".")[0])


def stats(name, trace, *options):
    done = gpuprof("stats", name, "--json", *options, trace)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def compact(value):
    return json.dumps(value, separators=(",", ":"))


class Reading:
    """Operations, calls and work of a trace of torch.profiler."""

    def __init__(self, document):
        self.ops, self.calls, self.work, self.modules = [], {}, [], []
        for event in document["traceEvents"]:
            if event.get("ph") != "X":
                continue
            start = int(decimal.Decimal(event["ts"]) * 1000)
            row = {"name": event["name"], "start": start, "end": start + int(decimal.Decimal(event["dur"]) * 1000), "thread": (event["pid"], event["tid"]),
                   "args": event.get("args", {}), "cat": event.get("cat")}
            if row["cat"] in ("cpu_op", "user_annotation"):
                self.ops.append(row)
            elif row["cat"] in ("cuda_runtime", "cuda_driver") and "correlation" in row["args"]:
                self.calls.setdefault(row["args"]["correlation"], row)
            elif row["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                self.work.append(row)
            elif row["cat"] == "python_function" and row["name"].startswith("nn.Module: "):
                self.modules.append(row)
        self.nest(self.ops)
        self.nest(self.modules)
        self.by_external = {}
        for op in self.ops:
            if op["args"].get("External id"):
                self.by_external.setdefault(op["args"]["External id"], op)

    @staticmethod
    def nest(rows):
        """Sets the parents and the time in which no child ran."""
        open_rows = collections.defaultdict(list)
        for row in sorted(rows, key=lambda row: (row["start"], -row["end"])):
            stack = open_rows[row["thread"]]
            while stack and stack[-1]["end"] <= row["start"]:
                stack.pop()
            row["parent"] = stack[-1] if stack else None
            row["self"] = row["end"] - row["start"]
            if stack:
                assert row["end"] <= stack[-1]["end"], "this trace needs more than a plain reading"
                stack[-1]["self"] -= row["self"]
            stack.append(row)

    @staticmethod
    def above(row):
        while row:
            yield row
            row = row["parent"]

    def innermost(self, rows, thread, time):
        inside = [row for row in rows if row["thread"] == thread and row["start"] <= time < row["end"]]
        return max(inside, key=lambda row: (row["start"], -row["end"])) if inside else None

    def owner(self, work):
        call = self.calls.get(work["args"].get("correlation"))
        external = (call or {}).get("args", {}).get("External id") or work["args"].get("External id")
        if external in self.by_external:
            return self.by_external[external]
        return self.innermost(self.ops, call["thread"], call["start"]) if call else None


def read(trace):
    with gzip.open(trace) as file:
        return Reading(json.load(file, parse_float=decimal.Decimal))


def sums_of(reading, key_of):
    """By key: count, total without what lies in a row of the same key, self; on the device: total, self, pieces of work."""
    sums = collections.defaultdict(lambda: [0] * 6)
    for op in reading.ops:
        key = key_of(op)
        row = sums[key]
        row[0] += 1
        row[1] += 0 if any(key_of(up) == key for up in reading.above(op["parent"])) else op["end"] - op["start"]
        row[2] += op["self"]
    for work in reading.work:
        owner = reading.owner(work)
        ns = work["end"] - work["start"]
        for key in {key_of(op) for op in reading.above(owner)}:
            sums[key][3] += ns
        if owner:
            sums[key_of(owner)][4] += ns
            sums[key_of(owner)][5] += 1
    return {key: tuple(row) for key, row in sums.items()}


def found(result, key_of):
    rows = collections.defaultdict(lambda: [0] * 6)
    for row in result["ops"]:
        values = (row["count"], row["total_ns"], row["self_ns"], row["device_ns"], row["device_self_ns"], row["device_count"])
        assert key_of(row) not in rows
        rows[key_of(row)] = values
    return rows


def scope(op):
    return "user" if op["cat"] == "user_annotation" else "backward" if op["args"].get("Fwd thread id", 0) > 0 else "function"


@NAMED
def test_by_name(trace):
    reading, result = read(trace), stats("ops", trace)
    assert found(result, lambda row: (row["name"], row["scope"])) == sums_of(reading, lambda op: (op["name"], scope(op)))
    assert result["device_ns"] == sum(work["end"] - work["start"] for work in reading.work)
    assert result["device_outside_ns"] == sum(work["end"] - work["start"] for work in reading.work if reading.owner(work) is None)


@NAMED
def test_by_shape(trace):
    reading, result = read(trace), stats("ops", trace, "--by", "shape")

    def key(op):
        shapes, types = (op["args"].get(name) for name in ("Input Dims", "Input type"))
        return op["name"], scope(op), compact(shapes) if shapes is not None else None, compact(types) if types is not None else None

    assert found(result, lambda row: (row["name"], row["scope"], row["shapes"], row["types"])) == sums_of(reading, key)


@NAMED
def test_idle_time_in_and_out(trace):
    reading, result = read(trace), stats("ops", trace)
    busy, until = 0, 0
    for start, end in sorted((work["start"], work["end"]) for work in reading.work):
        busy += max(0, end - max(start, until))
        until = max(until, end)
    window = until - min(work["start"] for work in reading.work)
    (device,) = result["devices"]
    assert (device["window_ns"], device["busy_ns"], device["idle_ns"]) == (window, busy, window - busy)
    work_ns = sum(work["end"] - work["start"] for work in reading.work)
    for row in result["ops"]:
        assert row["device_self_ratio"] == pytest.approx(row["device_self_ns"] / work_ns)
        assert row["device_self_window_ratio"] == pytest.approx(row["device_self_ns"] / window)


@NAMED
def test_types_are_sums_of_names(trace):
    names, types = stats("ops", trace), stats("ops", trace, "--by", "type")
    for field in ("count", "self_ns", "device_self_ns", "device_count"):
        assert sum(row[field] for row in names["ops"]) == sum(row[field] for row in types["ops"]), field
    by_type = {(row["name"], row["scope"]): row for row in types["ops"]}
    in_place = [row for row in names["ops"] if row["name"] in ("aten::add", "aten::add_")]
    if in_place:
        assert by_type["add", "function"]["count"] == sum(row["count"] for row in in_place)


def test_compiled_code_is_told_from_eager_code():
    reading, result = read(ROOT / "tests/golden/kineto/h200_compiled.json.gz"), stats("ops", ROOT / "tests/golden/kineto/h200_compiled.json.gz")
    compiled = lambda op: any(up["name"].startswith(("Torch-Compiled Region", "CompiledFunction", "## Call CompiledFxGraph", "triton_"))
                              for up in reading.above(op))
    seen = set()
    for row in result["ops"]:
        ops = [op for op in reading.ops if (op["name"], scope(op)) == (row["name"], row["scope"])]
        verdicts = {"compiled" if compiled(op) else "eager" for op in ops if compiled(op) or row["scope"] != "user"}
        wanted = "none" if not verdicts else "mixed" if len(verdicts) > 1 else verdicts.pop()
        assert row["execution"] == wanted, row["name"]
        seen.add(wanted)
    assert {"compiled", "eager"} <= seen


@NAMED
def test_kernels_belong_to_their_operations(trace):
    reading, result = read(trace), stats("kernels", trace, "--by", "op")
    wanted = collections.Counter()
    steps = ("ProfilerStep#", "step ")
    for work in reading.work:
        if work["cat"] != "kernel":
            continue
        call = reading.calls.get(work["args"].get("correlation"))
        owner = reading.owner(work)
        in_graph = work["args"].get("graph id") or (call and "GraphLaunch" in call["name"])
        op = "graph" if in_graph else owner["name"] if owner and not owner["name"].startswith(steps) else None
        wanted[work["name"], op] += work["end"] - work["start"]
    ours = collections.Counter()
    for row in result["kernels"]:
        ours[row["mangled"] or row["name"], row["op"]] += row["total_ns"]
    assert ours == wanted
    for row in result["kernels"]:
        assert (row["op_evidence"] == "graph") == (row["op"] == "graph")
        assert (row["precision"] == "unknown") == (row["precision_evidence"] == "none") or row["precision"] == "mixed"


def test_the_inputs_of_an_operation_tell_the_type_of_numbers():
    rows = stats("kernels", ROOT / "tests/golden/traces/h200/pytorch/generate.json.gz", "--by", "op")["kernels"]
    by_inputs = [row for row in rows if row["precision_evidence"] == "operation"]
    assert by_inputs and all(row["precision"] == "fp32" for row in by_inputs)
    (attention,) = [row for row in rows if row["op"] == "aten::_efficient_attention_forward"]
    assert attention["is_tensor_core_eligible"]


# A model of two layers; the second is called twice. Its backward pass runs on another thread.
def module_trace():
    events, number = [], iter(range(1, 100))

    def add(cat, name, start, end, tid=1, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": tid, "ts": start, "dur": end - start, "args": args})

    def launch(name, start, end, on_device, tid=1, **args):
        correlation = next(number)
        add("cpu_op", name, start, end, tid, **{"External id": correlation, **args})
        add("cuda_runtime", "cudaLaunchKernel", start + 1, start + 2, tid, correlation=correlation, **{"External id": correlation})
        add("kernel", f"kernel_of_{name}", on_device[0], on_device[1], 0, device=0, stream=7, context=1, correlation=correlation,
            grid=[1, 1, 1], block=[32, 1, 1])

    add("python_function", "nn.Module: Net_0", 100, 200, **{"Python id": 1, "Python parent id": None, "Python module id": 0})
    add("python_function", "nn.Module: Linear_0", 110, 130, **{"Python id": 2, "Python parent id": 1, "Python module id": 1})
    add("python_function", "nn.Module: Linear_1", 140, 160, **{"Python id": 3, "Python parent id": 1, "Python module id": 2})
    add("python_function", "nn.Module: Linear_1", 170, 190, **{"Python id": 4, "Python parent id": 1, "Python module id": 2})
    launch("aten::addmm", 112, 120, (300, 340), **{"Sequence number": 1})
    launch("aten::addmm", 142, 150, (340, 350), **{"Sequence number": 2})
    launch("aten::addmm", 172, 180, (350, 355))
    launch("aten::relu", 192, 196, (355, 358))
    launch("AddmmBackward0", 220, 230, (400, 470), tid=2, **{"Sequence number": 2, "Fwd thread id": 1})
    launch("aten::add_", 240, 245, (480, 481), tid=2)
    return {"schemaVersion": 1, "traceEvents": events}


def test_by_module(tmp_path):
    (tmp_path / "trace.json").write_text(json.dumps(module_trace()))
    result = stats("ops", tmp_path / "trace.json", "--by", "module")
    assert result["module_source"] == "modules"
    fields = ("name", "count", "module_count", "total_ns", "self_ns", "device_ns", "device_self_ns", "device_backward_ns")
    us = 1000
    assert sorted(tuple(row[field] for field in fields) for row in result["ops"]) == [
        ("Net", 1, 1, 100 * us, 40 * us, 128 * us, 3 * us, 70 * us),
        ("Net/Linear", 3, 2, 60 * us, 60 * us, 125 * us, 125 * us, 70 * us),
    ]
    assert (result["device_ns"], result["device_outside_ns"]) == (129 * us, 1 * us)
    rows = stats("ops", tmp_path / "trace.json", "--by", "instance")["ops"]
    assert sorted((row["name"], row["count"], row["device_ns"]) for row in rows) == [
        ("Net_0", 1, 128 * us), ("Net_0/Linear_0", 1, 40 * us), ("Net_0/Linear_1", 2, 85 * us)]
    text = gpuprof("stats", "ops", "--by", "module", tmp_path / "trace.json").out.decode()
    assert "Net/Linear" in text and "modules" in text


def test_parts_of_jax_are_its_name_scopes():
    result = stats("ops", ROOT / "tests/golden/xspace/jax_te_fused_attn_mi300.xplane.pb.gz", "--by", "module")
    assert result["module_source"] == "scopes"
    names = {row["name"] for row in result["ops"]}
    assert {"jit(loss_fn)", "jit(loss_fn)/jvp()", "jit(loss_fn)/transpose(jvp())"} <= names
    rows = {row["name"]: row for row in result["ops"]}
    inner = [row for name, row in rows.items() if name.startswith("jit(loss_fn)/") and name.count("/") == 1]
    assert rows["jit(loss_fn)"]["device_ns"] == rows["jit(loss_fn)"]["device_self_ns"] + sum(row["device_ns"] for row in inner)


def test_ranges_stand_in_for_modules():
    result = stats("ops", ROOT / "tests/golden/kineto/h200_compiled.json.gz", "--by", "module")
    assert result["module_source"] == "ranges"
    assert any(row["name"] == "Optimizer.step#Adam.step" and row["device_ns"] for row in result["ops"])


def test_without_any_source_the_text_says_how_to_get_one(tmp_path):
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"External id": 1}}]
    (tmp_path / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    assert "with_stack=True" in gpuprof("stats", "ops", "--by", "module", tmp_path / "trace.json").out.decode()


@pytest.mark.parametrize("mark", ["ProfilerStep#{}", "execute_context_1(888_78)_generation_0({})"])
def test_ranges_of_steps_are_no_operations_of_the_overview(tmp_path, mark):
    events = []
    for step in range(4):
        common = {"ph": "X", "pid": 7, "tid": 7}
        events += [{**common, "cat": "user_annotation", "name": mark.format(step), "ts": 1000 * step, "dur": 900},
                   {**common, "cat": "cpu_op", "name": "aten::mm", "ts": 1000 * step + 10, "dur": 100}]
    trace = tmp_path / "steps.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    assert mark.format(0) in [row["name"] for row in stats("ops", trace)["ops"]]
    overview = stats("overview", trace)
    assert overview["steps"]["count"] == 4 and [row["name"] for row in overview["top_ops"]] == ["aten::mm"]
