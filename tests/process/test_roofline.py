# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`stats roofline` and `stats op_profile`: figures by construction, on an XSpace of a TPU and on a trace of torch.profiler, and next to
xprof 2.24.0 on stored XSpaces."""

import csv
import gzip
import io
import json
import math
import os
import subprocess

import pytest

from conftest import ROOT, gpuprof
from waiting import LIMIT_S
from xprof_spaces import PlaneBuilder, space
from xspace_files import read_planes

PYTHON = ROOT / ".deps" / "xprof" / "bin" / "python"
needs_xprof = pytest.mark.skipif(not PYTHON.exists(), reason="xprof is not installed: scripts/setup --only test")
XSPACES = ROOT / "tests" / "golden" / "xspace"
STORED = [XSPACES / f"{name}.xplane.pb.gz" for name in ("tpu_inference", "jax_conv_mi300", "jax_te_fused_attn_mi300")]
US = 1_000_000  # picoseconds


def stats(name, source, *options):
    done = gpuprof("stats", name, "--json", *options, source)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def by_name(rows):
    found = {row["name"]: row for row in rows}
    assert len(found) == len(rows)
    return found


# An XSpace of a TPU v6e: 918 TFLOP/s with bf16 by its documentation, 1600 GB/s by the plane. The ridge point is 573.75 flop/byte.

def hlo(category, program=7, shape="bf16[8]{0}", **stats):
    return {"hlo_category": category, "program_id": (program,), "shape_with_layout": shape, **stats}


def tpu_space():
    tpu = PlaneBuilder("/device:TPU:0", 1, {"device_type_string": "TPU v6 Lite", "peak_hbm_bw_gigabytes_per_second": 1600.0,
                                            "peak_teraflops_per_second": 918.0})
    tpu.line(1, "XLA Modules", [("jit_step(7)", 0, 420 * US, {}), ("jit_end(8)", 420 * US, 100 * US, {})])
    tpu.line(2, "XLA Ops", [
        # At the peak: 100 us and 1 us. It takes 200 us.
        ("dot.1", 0, 200 * US, hlo("convolution", flops=(91_800_000_000,), bytes_accessed=(1_600_000,))),
        # At the peak: 1 us and 50 us. Both are one operation to XLA.
        ("fusion.1", 200 * US, 60 * US, hlo("loop fusion", flops=(918_000_000,), bytes_accessed=(80_000_000,), deduplicated_name="fusion.1")),
        ("fusion.2", 260 * US, 65 * US, hlo("loop fusion", flops=(918_000_000,), bytes_accessed=(80_000_000,), deduplicated_name="fusion.1")),
        # No operations, as XLA says, and 32 us at the memory's peak.
        ("copy.1", 325 * US, 40 * US, hlo("copy", flops=(0,), bytes_accessed=(51_200_000,))),
        # XLA knows nothing of a custom call, and says 0.
        ("kernel", 370 * US, 50 * US, hlo("custom-call", flops=(0,), bytes_accessed=(0,))),
        # The type has no peak in the table.
        ("odd", 420 * US, 100 * US, hlo("convolution", program=8, shape="f64[8]{0}", flops=(10 ** 9,), bytes_accessed=(1_600_000,)))])
    return space([tpu])


@pytest.fixture
def tpu(tmp_path):
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(tpu_space())
    return path


def close(value, expected):
    return value is not None and math.isclose(value, expected, rel_tol=1e-9)


def test_roofline_of_an_xspace_by_construction(tpu):
    result = stats("roofline", tpu)
    ops = by_name(result["operations"])
    assert [row["name"] for row in result["operations"]] == ["dot.1", "odd", "fusion.2", "fusion.1", "kernel", "copy.1"]
    assert {row["flop_evidence"] for row in ops.values() if row["name"] != "kernel"} == {"source"}

    dot = ops["dot.1"]
    assert (dot["total_ns"], dot["flop_count"], dot["bytes"], dot["bound"], dot["program"]) == \
        (200_000, 91_800_000_000, 1_600_000, "compute", "jit_step(7)")
    assert close(dot["flop_per_s"], 459e12) and close(dot["peak_flop_per_s"], 918e12) and close(dot["peak_flop_ratio"], 0.5)
    assert close(dot["gb_per_s"], 8) and close(dot["peak_gb_ratio"], 0.005) and close(dot["flop_per_byte"], 57375)
    assert close(dot["roof_flop_per_s"], 918e12) and close(dot["roof_ratio"], 0.5) and dot["known_ratio"] == 1

    fusion = ops["fusion.1"]
    assert fusion["bound"] == "memory" and close(fusion["flop_per_byte"], 11.475)
    assert close(fusion["roof_flop_per_s"], 11.475 * 1600e9) and close(fusion["roof_ratio"], 50 / 60) and close(fusion["peak_flop_ratio"], 1 / 60)

    copy = ops["copy.1"]
    assert (copy["flop_count"], copy["flop_per_byte"], copy["bound"], copy["roof_flop_per_s"]) == (0, 0, "memory", 0)
    assert close(copy["roof_ratio"], 0.8) and copy["peak_flop_per_s"] is None

    kernel = ops["kernel"]
    assert (kernel["bound"], kernel["flop_evidence"], kernel["bytes_evidence"], kernel["known_ratio"]) == ("unknown", "none", "none", 0)
    assert all(kernel[name] is None for name in ("flop_count", "flop_per_s", "bytes", "gb_per_s", "flop_per_byte", "peak_flop_ratio",
                                                 "peak_gb_ratio", "roof_flop_per_s", "roof_ratio"))

    odd = ops["odd"]
    assert (odd["bound"], odd["precision"], odd["flop_count"], odd["known_ratio"]) == ("unknown", "fp64", 10 ** 9, 0)
    assert close(odd["flop_per_byte"], 625) and odd["peak_flop_per_s"] is None and odd["roof_ratio"] is None

    (whole,) = result["devices"]
    known = 200 + 60 + 65 + 40
    assert (whole["name"], whole["total_ns"]) == ("TPU v6 Lite", 515_000)
    assert whole["flop_count"] == 91_800_000_000 + 2 * 918_000_000 + 10 ** 9 and whole["bytes"] == 2 * 1_600_000 + 160_000_000 + 51_200_000
    assert close(whole["known_ratio"], known / 515) and close(result["known_ratio"], known / 515)
    # At the peak, 102 us and 133 us: as one, the program would be bound by memory.
    assert whole["bound"] == "memory" and close(whole["roof_ratio"], 133 / known)
    categories = by_name(result["categories"])
    assert close(categories["loop fusion"]["roof_ratio"], 100 / 125) and categories["convolution"]["known_ratio"] == 200 / 300

    peaks = {row["precision"]: row for row in result["peaks"]}
    assert close(peaks["bf16"]["ridge_flop_per_byte"], 573.75) and peaks["bf16"]["peak_gb_source"] == "the trace"
    assert "v6e" in peaks["bf16"]["peak_flop_source"]
    assert peaks["fp64"]["peak_flop_per_s"] is None and peaks["fp64"]["ridge_flop_per_byte"] is None


def test_op_profile_of_an_xspace_by_construction(tpu):
    result = stats("op_profile", tpu)
    tree = [(row["level"], row["program"], row["category"], row["name"], row["total_ns"], row["operation_count"]) for row in result["rows"]]
    assert tree == [
        ("program", "", "", "jit_step(7)", 415_000, 5),
        ("category", "jit_step(7)", "", "convolution", 200_000, 1),
        ("operation", "jit_step(7)", "convolution", "dot.1", 200_000, 1),
        ("category", "jit_step(7)", "", "loop fusion", 125_000, 2),
        ("operation", "jit_step(7)", "loop fusion", "fusion.1", 125_000, 2),
        ("category", "jit_step(7)", "", "custom-call", 50_000, 1),
        ("operation", "jit_step(7)", "custom-call", "kernel", 50_000, 1),
        ("category", "jit_step(7)", "", "copy", 40_000, 1),
        ("operation", "jit_step(7)", "copy", "copy.1", 40_000, 1),
        ("program", "", "", "jit_end(8)", 100_000, 1),
        ("category", "jit_end(8)", "", "convolution", 100_000, 1),
        ("operation", "jit_end(8)", "convolution", "odd", 100_000, 1),
        ("idle", "", "", "idle", 5_000, 0)]
    assert (result["by"], result["total_ns"], result["window_ns"], result["idle_ns"]) == ("program", 515_000, 520_000, 5_000)
    rows = {(row["level"], row["program"], row["name"]): row for row in result["rows"]}
    fusion = rows["operation", "jit_step(7)", "fusion.1"]
    assert close(fusion["peak_gb_ratio"], 100 / 125) and close(fusion["peak_flop_ratio"], 2 / 125) and fusion["flop_count"] == 2 * 918_000_000
    assert close(fusion["total_ratio"], 125 / 515) and fusion["parent_ratio"] == 1 and close(fusion["window_ratio"], 125 / 520)
    kernel = rows["operation", "jit_step(7)", "kernel"]
    assert all(kernel[name] is None for name in ("flop_count", "flop_per_s", "bytes", "gb_per_s", "peak_flop_ratio", "peak_gb_ratio"))
    step = rows["program", "", "jit_step(7)"]
    # Bytes of the custom call are not known: its time does not count.
    assert close(step["peak_gb_ratio"], 133 / 365) and close(step["flop_known_ratio"], 365 / 415)
    idle = rows["idle", "", "idle"]
    assert idle["total_ratio"] is None and idle["flop_count"] is None and close(idle["window_ratio"], 5 / 520)

    by_category = stats("op_profile", tpu, "--by", "category")
    assert [row["name"] for row in by_category["rows"] if row["level"] == "category"] == ["convolution", "loop fusion", "custom-call", "copy"]
    table = list(csv.DictReader(io.StringIO(gpuprof("stats", "op_profile", "--csv", tpu).out.decode())))
    assert [row["name"] for row in table] == [row["name"] for row in result["rows"]]
    text = gpuprof("stats", "op_profile", tpu).out.decode()
    assert "5.00 us idle of 520 us" in text.replace("µs", "us") and "    dot.1" in text


# A trace of torch.profiler. H100: 989.5 TFLOP/s with bf16, 3350 GB/s.

def torch_trace(path, device="NVIDIA H100 80GB HBM3"):
    """A step of 1000 us. A product has two kernels: one of them multiplies. A relu is known by its bytes. A sort is not known."""
    events, correlation = [], 0

    def op(name, ts, inputs, types, kernels):
        nonlocal correlation
        number = len(events) + 1
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 40,
                       "args": {"External id": number, "Input Dims": inputs, "Input type": types, "Concrete Inputs": [""] * len(inputs)}})
        for i, (kernel, start, duration) in enumerate(kernels):
            correlation += 1
            link = {"External id": number, "correlation": correlation}
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts + 1 + 5 * i, "dur": 4,
                           "args": link})
            events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": start, "dur": duration,
                           "args": {**link, "device": 0, "context": 1, "stream": 7, "grid": [1, 1, 1], "block": [128, 1, 1]}})

    for step in (0, 1, 2):
        at = 1000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": 1000, "args": {}})
        op("aten::mm", at + 10, [[4096, 4096], [4096, 4096]], ["c10::BFloat16"] * 2,
           [("nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_NTN", at + 100, 200), ("splitKreduce_kernel", at + 300, 50)])
        op("aten::relu", at + 60, [[4096, 4096]], ["c10::BFloat16"], [("vectorized_elementwise_kernel", at + 400, 40)])
        op("aten::sort", at + 110, [[4096]], ["float"], [("radixSortKernel", at + 500, 30)])
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}], "traceEvents": events}))
    return path


def test_roofline_of_a_trace_of_torch_by_construction(tmp_path):
    result = stats("roofline", torch_trace(tmp_path / "trace.json"))
    ops = by_name(result["operations"])
    flops, moved = 2 * 4096 ** 3, 3 * 4096 ** 2 * 2
    product = ops["aten::mm"]
    # The operation took the time of both kernels.
    assert (product["count"], product["total_ns"], product["flop_ns"], product["bytes_ns"]) == (6, 750_000, 750_000, 750_000)
    assert (product["flop_count"], product["bytes"], product["flop_evidence"], product["bytes_evidence"]) == (3 * flops, 3 * moved, "shapes", "shapes")
    assert (product["category"], product["precision"], product["bound"], product["op_evidence"]) == ("matrix", "bf16", "compute", "call")
    assert close(product["flop_per_s"], flops / 250e-6) and close(product["peak_flop_ratio"], flops / 989.5e12 / 250e-6)
    assert close(product["roof_ratio"], flops / 989.5e12 / 250e-6) and close(product["flop_per_byte"], flops / moved)
    relu = ops["aten::relu"]
    assert (relu["flop_count"], relu["flop_evidence"], relu["bytes"], relu["bytes_evidence"]) == (None, "none", 3 * 2 * 4096 ** 2 * 2, "shapes")
    assert relu["bound"] == "unknown" and close(relu["gb_per_s"], 2 * 4096 ** 2 * 2 / 40e3) and close(relu["peak_gb_ratio"], relu["gb_per_s"] / 3350)
    sort = ops["aten::sort"]
    assert (sort["flop_count"], sort["bytes"], sort["bound"]) == (None, None, "unknown")
    (whole,) = result["devices"]
    assert whole["step_count"] >= 1 and close(whole["step_flop_ratio"], flops / 989.5e12 / 1e-3)
    (peak,) = result["peaks"]
    assert (peak["precision"], peak["peak_flop_source"]) == ("bf16", "NVIDIA H100 data sheet")
    assert close(peak["ridge_flop_per_byte"], 989.5e12 / 3350e9)
    tree = stats("op_profile", tmp_path / "trace.json")
    assert tree["by"] == "category" and [row["name"] for row in tree["rows"] if row["level"] == "operation"] == ["aten::mm", "aten::relu", "aten::sort"]
    text = gpuprof("stats", "roofline", tmp_path / "trace.json").out.decode()
    assert "Model FLOP utilisation" in text and "13.9 %" in text


def test_a_device_that_is_in_no_table_has_no_roof(tmp_path):
    result = stats("roofline", torch_trace(tmp_path / "trace.json", "Some GPU"))
    product = by_name(result["operations"])["aten::mm"]
    assert product["flop_per_s"] and product["flop_per_byte"] and product["bound"] == "unknown"
    assert all(product[name] is None for name in ("peak_flop_per_s", "peak_flop_ratio", "peak_gb_per_s", "peak_gb_ratio", "roof_ratio"))
    (whole,) = result["devices"]
    assert whole["step_flop_ratio"] is None and result["known_ratio"] == 0


def test_a_trace_without_kernels(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}))
    assert stats("roofline", path)["operations"] == [] and stats("op_profile", path)["rows"] == []
    assert "No kernel" in gpuprof("stats", "roofline", path).out.decode()
    assert "No work" in gpuprof("stats", "op_profile", path).out.decode()


# Next to xprof.

@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """XProf's pages of the stored XSpaces. XProf writes beside the files: it gets copies."""
    folder, runs = tmp_path_factory.mktemp("xprof"), []
    for source in STORED:
        copy = folder / source.stem / source.stem
        copy.parent.mkdir()
        copy.write_bytes(gzip.decompress(source.read_bytes()))
        runs.append([str(copy)])
    done = subprocess.run([str(PYTHON), str(ROOT / "tests" / "process" / "xprof_pages.py"), json.dumps(runs), "op_profile", "roofline_model"],
                          capture_output=True, text=True, timeout=LIMIT_S, env={"PATH": os.environ["PATH"], "HOME": str(folder)})
    assert done.returncode == 0, done.stderr[-2000:]
    return {source: {tool: json.loads(text) for tool, text in page.items()}
            for source, page in zip(STORED, json.loads(done.stdout.splitlines()[-1]))}


def leaves(node):
    """The operations of a tree of XProf, without idle time, and without the parts of fusions."""
    if "xla" in node and not node["name"].endswith("and its duplicate(s)"):
        if node["xla"]["category"] != "IDLE":
            yield node
        return
    for child in node.get("children", []):
        yield from leaves(child)


def operations_of_xprof(page):
    """Time, operations and bytes by program and name. The tree has the first 100 of each node."""
    found = {}
    for program in page["byProgram"]["children"]:
        for node in leaves(program):
            metrics = node["metrics"]
            key = program["name"], node["name"]
            assert key not in found
            found[key] = (metrics["rawTime"], metrics["rawFlops"], metrics["rawBytesAccessedArray"][0], metrics["occurrences"])
    return found


def times_of_both_clocks(source):
    """The time of each operation of TPUs by the device's own clock in ps, and by the events in ns."""
    found = {}
    for plane in read_planes(source):
        for line in plane.lines if plane.name.startswith("/device:TPU") else []:
            for event in line.events if line.name == "XLA Ops" else []:
                own, ns = found.get(event.display_name, (0, 0))
                found[event.display_name] = own + event.stats["device_duration_ps"], ns + event.end - event.start
    return found


def memsets_of(source):
    """The time and number of memsets of each operation of XLA, by the name of ROCm's kernel."""
    found = {}
    for plane in read_planes(source):
        for line in plane.lines if plane.name.startswith("/device:GPU") else []:
            for event in line.events:
                if event.name.startswith("__amd_rocclr_fillBuffer") and "hlo_op" in event.stats:
                    ns, count = found.get(event.stats["hlo_op"], (0, 0))
                    found[event.stats["hlo_op"]] = ns + event.end - event.start, count + 1
    return found


def is_half(row):
    """Of an operation that runs beside others: XProf divides what all of it moves by the time of its begin, or of the wait for its end."""
    return row["category"].endswith(("-start", "-done"))


# The figures of GPUs are those of the programs. Where XProf's differ: its operations for one of ours, and the same for bytes. It counts a
# convolution once for each kernel (79 kernels of 39 runs), nothing for a product of cuBLAS, and clock cycles for operations of an element.
CYCLES, CONCATENATION = 3, 36
OF_XPROF = {"cudnn-conv.1": 79 / 39, "custom-call.1": 0, **dict.fromkeys(("gemm_fusion_dot", "input_transpose_fusion"), 1)}


def flops_of_xprof(row):
    """What XProf counts where gpuprof counts this."""
    if row["name"] == "input_concatenate_fusion":
        return CONCATENATION * row["count"]
    known = [part for name, part in OF_XPROF.items() if row["name"] == name or row["name"].startswith(f"{name}.") and part == 1]
    return row["flop_count"] * (known[0] if known else CYCLES)


@needs_xprof
@pytest.mark.parametrize("source", STORED, ids=lambda path: path.name.split(".")[0])
def test_operations_are_those_of_xprof(pages, source):
    theirs = operations_of_xprof(pages[source]["op_profile"])
    clocks, memsets = times_of_both_clocks(source), memsets_of(source)
    ours = {(row["program"], row["name"]): row for row in stats("roofline", source)["operations"] if row["op_evidence"] == "source"}
    assert len(theirs) >= 4 and set(theirs) <= set(ours)
    for key, (time_ps, flops, moved, count) in theirs.items():
        row = ours[key]
        # Times of XProf are picoseconds, ours are whole nanoseconds for each execution. On TPUs, XProf takes the time by the device's own
        # clock, and gpuprof that of the event, which the timeline shows.
        if key[1] in clocks:
            own_ps, ns = clocks[key[1]]
            assert (row["total_ns"], time_ps) == (ns, own_ps), key
        else:
            # XProf counts memsets of an operation with it. They are copies and sets to gpuprof.
            sets_ns, sets = memsets.get(key[1], (0, 0))
            assert abs(row["total_ns"] + sets_ns - time_ps / 1000) <= count and row["count"] + sets == count, key
        if is_half(row):
            assert row["flop_count"] is None and row["bytes"] is None, key
        if row["flop_count"] is not None:
            is_of_program = row["flop_evidence"] == "hlo"
            assert is_of_program == ("tpu" not in source.name), key
            expected = flops_of_xprof(row) if is_of_program else row["flop_count"]
            assert row["count"] == count and math.isclose(expected, flops, rel_tol=1e-12), key
        if row["bytes"] is not None and key[1] != "custom-call.1":
            # XProf's tree has the bytes of the device's own memory: all of them, or those that a copy does not read from the host.
            assert math.isclose(row["bytes"], moved, rel_tol=1e-12) or (moved == 0 and row["category"].startswith("copy")), key
    known = [row for row in ours.values() if row["flop_count"] is not None or is_half(row)]
    # No program tells what a call of Transformer Engine computes. XProf takes 0 for it.
    unknown = {key for key in theirs if key[1].startswith("te_fused_attn")}
    assert len(known) >= len(theirs) - len(unknown) and all(ours[key]["flop_count"] is None and theirs[key][1] == 0 for key in unknown)


@needs_xprof
def test_the_roofline_of_a_tpu_is_that_of_xprof(pages):
    source = STORED[0]
    (table,) = [table for table in pages[source]["roofline_model"] if "cols" in table and table["rows"][0]["c"][0]["v"] == "Total"]
    columns = [column["id"] for column in table["cols"]]
    rows = [dict(zip(columns, (cell["v"] for cell in row["c"]))) for row in table["rows"]]
    theirs = {(row["hlo_module_id"], row["operation"]): row for row in rows if row["step"] == "Total" and row["category"] not in ("Program", "IDLE")}
    result = stats("roofline", source)
    ours = {(row["program"].rpartition("(")[2].rstrip(")"), row["name"]): row for row in result["operations"]}
    (peak,) = {row["ridge_flop_per_byte"] for row in result["peaks"]}
    assert math.isclose(peak, float(table["p"]["hbm_ridge_point"]), rel_tol=1e-5)
    checked = of_hbm = 0
    for key, row in theirs.items():
        mine = ours[key]
        assert mine["category"] == row["category"], key
        checked += 1
        if is_half(mine):
            assert mine["gb_per_s"] is None and mine["roof_ratio"] is None and mine["bound"] == "unknown", key
            continue
        # Both have times of their own: what does not depend on them is equal.
        ours_s, theirs_s = mine["total_ns"] / 1e9, row["total_self_time"] / 1e6
        assert math.isclose(mine["flop_per_s"] / 1e9 * ours_s, row["measured_flop_rate"] * theirs_s, rel_tol=1e-9, abs_tol=1e-12), key
        assert math.isclose(mine["gb_per_s"] * 1e9 / 2 ** 30 * ours_s, row["measured_memory_bw"] * theirs_s, rel_tol=1e-9), key
        if not math.isclose(row["hbm_bw"], row["measured_memory_bw"], rel_tol=1e-9):
            continue  # some bytes are of another memory, which gpuprof does not tell apart
        of_hbm += 1
        assert mine["bound"] == {"HBM": "memory", "Compute": "compute"}[row["bound_by"]], key
        assert math.isclose(mine["flop_per_byte"], row["hbm_operational_intensity"], rel_tol=1e-9, abs_tol=1e-12), key
        assert math.isclose(mine["roof_ratio"] * ours_s, row["roofline_efficiency"] * theirs_s, rel_tol=1e-5), key
    assert checked == len(ours) and of_hbm >= 5
