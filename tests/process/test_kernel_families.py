# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Families of kernels in every form: one family a kernel, sums that agree, and rules of the user's own."""

import csv
import io
import json

import pytest

from conftest import ROOT, gpuprof

COMPILED = ROOT / "tests/golden/kineto/h200_compiled.json.gz"
TPU = ROOT / "tests/golden/xspace/tpu_inference.xplane.pb.gz"


def stats(name, trace, *options):
    done = gpuprof("stats", name, "--json", *options, trace)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def write(path, kernels):
    """A trace of torch.profiler with kernels of 1 ms, behind each other."""
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 1000 + 2000 * i, "dur": 1000,
               "args": {"device": 0, "stream": 7, "correlation": i + 1}} for i, name in enumerate(kernels)]
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}))
    return path


@pytest.mark.parametrize("by", ["name", "signature", "stream", "op", "family"])
def test_the_families_sum_up_to_all_kernels(by):
    result = stats("kernels", COMPILED, "--by", by)
    families = result["families"]
    assert sum(each["total_ns"] for each in families) == result["total_ns"]
    assert sum(each["count"] for each in families) == result["count"]
    assert [each["total_ns"] for each in families] == sorted((each["total_ns"] for each in families), reverse=True)
    assert families == stats("overview", COMPILED)["gpu"]["families"]


def test_rows_have_the_family_that_the_sums_have():
    result = stats("kernels", COMPILED)
    sums = {}
    for row in result["kernels"]:
        sums[row["family"]] = sums.get(row["family"], 0) + row["total_ns"]
    assert sums == {each["family"]: each["total_ns"] for each in result["families"]}
    by_family = stats("kernels", COMPILED, "--by", "family")["kernels"]
    assert {row["name"]: row["total_ns"] for row in by_family} == sums
    assert all(row["family"] == row["name"] == row["short_name"] for row in by_family)


def test_csv_and_text_have_the_family():
    rows = list(csv.DictReader(io.StringIO(gpuprof("stats", "kernels", "--csv", COMPILED).out.decode())))
    assert {row["family"] for row in rows} >= {"matrix", "elementwise"}
    text = gpuprof("stats", "kernels", COMPILED).out.decode()
    assert "By family: " in text and "family" in text.splitlines()[1]
    ops = stats("ops", COMPILED)["ops"]
    assert {op["family"] for op in ops if op["device_self_ns"]} >= {"matrix"}
    assert all(op["family"] is None for op in ops if not op["device_count"])


def test_rules_of_the_user_come_first(tmp_path):
    trace = write(tmp_path / "t.json", ["void my_ring::push<4>(int)", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "mine"])
    before = stats("overlap", trace)["devices"][0]
    assert (before["collective_ns"], before["compute_ns"]) == (1_000_000, 2_000_000)
    rules = tmp_path / "families.txt"
    rules.write_text("# mine\n\ncollective  ^void my_ring::\nmatrix ^mine$\nother ^mine$\n")
    after = stats("overlap", trace, "--kernel-rules", rules)["devices"][0]
    assert (after["collective_ns"], after["compute_ns"]) == (2_000_000, 1_000_000)
    kernels = stats("kernels", trace, "--kernel-rules", rules)["kernels"]
    assert {row["name"]: row["family"] for row in kernels}["mine"] == "matrix"


@pytest.mark.parametrize("text, said", [
    ("copy a\ngemm b\n", "families.txt:2: 'gemm' is not a family; choose from matrix, convolution, "),
    ("# x\nmatrix\n", "families.txt:2: a regular expression is missing behind 'matrix'"),
    ("matrix (\n", "families.txt:1: '(' is not a regular expression: "),
])
@pytest.mark.parametrize("verb", [["stats", "kernels"], ["advise"], ["report"], ["diff", COMPILED]])
def test_a_bad_line_is_an_error_with_its_number(tmp_path, verb, text, said):
    rules = tmp_path / "families.txt"
    rules.write_text(text)
    done = gpuprof(*verb, COMPILED, "--kernel-rules", rules)
    assert (done.status, done.out) == (2, b"")
    assert said in done.err.decode()


def test_a_file_of_rules_that_is_not_there_is_an_error(tmp_path):
    done = gpuprof("stats", "kernels", COMPILED, "--kernel-rules", tmp_path / "none")
    assert done.status == 2 and "cannot be read" in done.err.decode()


def test_collectives_that_run_behind_last_from_start_to_done():
    """XLA's own names; a TPU waits in the done instruction alone."""
    device = stats("overlap", TPU)["devices"][0]
    assert device["compute_ns"] > 0
    assert device["busy_ns"] <= device["window_ns"]


def test_kernels_with_new_numbers_are_one_row(tmp_path):
    before = write(tmp_path / "a.json", ["triton_poi_fused_add_mul_3", "void f<float, 2ul>(int)", "ampere_sgemm_128x64_nn"])
    after = write(tmp_path / "b.json", ["triton_poi_fused_add_mul_5", "void f<float, 5ul>(int)", "ampere_sgemm_128x32_nn"])
    done = gpuprof("diff", "--json", before, after)
    assert done.status == 0, done.err.decode()
    rows = {row["name"]: row for row in json.loads(done.out)["kernels"]}
    assert len(rows) == 4
    assert rows["triton_poi_fused_add_mul_3"]["after_name"] == "triton_poi_fused_add_mul_5"
    assert rows["void f<float, 2ul>(int)"]["change_ns"] == 0
    assert rows["ampere_sgemm_128x64_nn"]["after_ns"] is None


def products(path, rows, device="AMD Instinct MI300X"):
    """A trace with products of bf16: (kernel, dims of both, ns)."""
    events, at = [], 1000
    for i, (name, left, right, ns) in enumerate(rows):
        events += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at, "dur": 10,
             "args": {"External id": i + 1, "Input Dims": [left, right], "Input type": ["c10::BFloat16"] * 2, "Concrete Inputs": ["", ""]}},
            {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": at + 2, "dur": 2,
             "args": {"correlation": i + 1, "External id": i + 1}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 20, "dur": ns / 1000,
             "args": {"device": 0, "stream": 7, "correlation": i + 1, "External id": i + 1}},
        ]
        at += ns / 1000 + 30
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}], "traceEvents": events}))
    return path


SLOW = "Cijk_Alik_Bljk_BBS_BH_MT128x256x32_MI16x16x1_SN"
FAST = "Cijk_Alik_Bljk_BBS_BH_MT320x224x64_MI16x16x1_SN"


def test_products_have_rates_by_their_shapes_beside_the_peak(tmp_path):
    trace = products(tmp_path / "t.json", [(SLOW, [4096, 4096], [4096, 4096], 1_000_000)])
    for by in ("name", "signature", "op", "family"):
        result = stats("kernels", trace, "--by", by)
        row = result["kernels"][0]
        assert (row["flop_count"], row["flop_evidence"], row["bytes_estimate"]) == (2 * 4096**3, "shapes", 3 * 2 * 4096**2)
        assert row["flop_per_s"] == pytest.approx(2 * 4096**3 / 1e-3)
        if by != "family":
            assert row["peak_flop_per_s"] == pytest.approx(1307.4e12)
            assert row["peak_flop_ratio"] == pytest.approx(2 * 4096**3 / 1e-3 / 1307.4e12)
            assert (row["peak_gb_per_s"], result["peak_source"]) == (5300, "AMD Instinct MI300X data sheet")
    unknown = stats("kernels", products(tmp_path / "u.json", [(SLOW, [4096, 4096], [4096, 4096], 1_000_000)], "Some GPU"))
    assert unknown["kernels"][0]["peak_flop_ratio"] is None and unknown["peak_source"] is None


@pytest.mark.parametrize("slow_ns, finds", [(400_000, True), (240_000, False)])
def test_large_products_far_below_their_siblings_are_a_finding(tmp_path, slow_ns, finds):
    rows = [(SLOW, [4096, 4096], [4096, 4096], slow_ns), (FAST, [4096, 4096], [4096, 4096], 220_000)] * 6
    done = gpuprof("advise", "--json", "--all", products(tmp_path / "t.json", rows))
    assert done.status == 0, done.err.decode()
    found = [each for each in json.loads(done.out)["findings"] if each["id"] == "GP-017"]
    assert bool(found) == finds
    if finds:
        words = " ".join(found[0]["evidence"])
        assert "344 TFLOP/s" in words and "625 TFLOP/s" in words
