# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`stats serving`: iterations of servers of language models. Traces of torch.profiler made by a generator that knows every figure; a program
on the simulated GPU, next to what truly happened on it; and stored traces of vLLM and sglang."""

import json
import math
import os
import pathlib

import pytest

from conftest import ROOT, gpuprof
from fake_gpu import DOUBLES, Truth, environment_of, needs_doubles
from nsys_exports import Export

STORED = pathlib.Path(os.environ.get("GPUPROF_TRACES", "/nonexistent"))
US = 1000
VLLM_PREFILL, VLLM_DECODE = "execute_context_4(400)_generation_0(0)", "execute_context_0(0)_generation_4(4)"
VLLM_MIXED = "execute_context_1(100)_generation_3(3)"


class Server:
    """A trace of torch.profiler. Times are in microseconds. The host launches the kernels of an iteration at the begin of its mark."""

    def __init__(self, pid=100, tid=None, rank=None):
        self.events, self.pid, self.tid, self.correlation, self.rank = [], pid, tid or pid, 0, rank
        self.now = 1000.0

    def add(self, category, name, pid, tid, at, length, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": at, "dur": length, "args": args})

    def mark(self, name, at, length, tid=None):
        self.add("user_annotation", name, self.pid, tid or self.tid, at, length)

    def kernel(self, at, length, launch, tid=None, call="cudaLaunchKernel", stream=7, graph=0):
        self.correlation += 1
        self.add("cuda_runtime", call, self.pid, tid or self.tid, launch, 2, correlation=self.correlation)
        more = {"graph id": graph, "graph node id": self.correlation} if graph else {}
        self.add("kernel", "gemm", 0, stream, at, length, device=0, context=1, stream=stream, correlation=self.correlation,
                 grid=[8, 1, 1], block=[128, 1, 1], **more)

    def iteration(self, name, work, gap, kernels=2, **options):
        """A mark of `work` + 20; `kernels` kernels that fill `work`, from 10 after its begin; then `gap` to the next mark."""
        at = self.now
        if name:
            self.mark(name, at, work + 20)
        for i in range(kernels):
            self.kernel(at + 10 + i * work / kernels, work / kernels, at + 1 + 3 * i, **options)
        self.now = at + work + 20 + gap

    def write(self, folder, name="trace.json"):
        document = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "baseTimeNanoseconds": 10 ** 18,
                    "displayTimeUnit": "ms", "traceEvents": self.events}
        if self.rank is not None:
            document["distributedInfo"] = {"backend": "nccl", "rank": self.rank, "world_size": 2}
        path = folder / name
        path.write_text(json.dumps(document))
        return path


def serving(source, *options):
    done = gpuprof("stats", "serving", "--json", *options, source)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def phases(result):
    return {row.get("phase"): row for row in result["phases"]}


def nearest_rank(values, part):
    return sorted(values)[max(math.ceil(part * len(values)) - 1, 0)]


def test_rows_and_sums_by_construction(tmp_path):
    """100 decodes of known lengths, with a prefill of 4 requests before each ten."""
    server = Server()
    lengths = [100 + (37 * i) % 100 for i in range(100)]
    for i, length in enumerate(lengths):
        if i % 10 == 0:
            server.iteration(VLLM_PREFILL, 1000, 30)
        server.iteration(VLLM_DECODE, length, 30)
    result = serving(server.write(tmp_path))
    rows = result["iterations"]
    assert len(rows) == 110
    decode, prefill = phases(result)["decode"], phases(result)["prefill"]
    assert result["engines"][0]["marked"]
    assert (decode["count"], prefill["count"]) == (100, 10), "nothing is left out as warm-up"
    first, second = rows[0], rows[1]
    assert (first["phase"], first["request_count"], first["prompt_token_count"], first["generation_token_count"]) == ("prefill", 4, 400, 0)
    assert (second["phase"], second["request_count"], second["prompt_token_count"], second["generation_token_count"]) == ("decode", 4, 0, 4)
    assert (first.get("bubble_ns"), second["bubble_ns"]) == (None, 50 * US), "10 behind the work, 30 to the next mark, 10 to its first kernel"
    assert (first["forward_ns"], first["busy_ns"], second["forward_ns"]) == (1000 * US, 1000 * US, 100 * US)
    assert second["bubble_category"] == "host"
    # The period of a step is from its mark to the next one.
    periods = [(length + 50) * US for length in lengths]
    periods[-1] -= 30 * US
    assert (decode["median_ns"], decode["p95_ns"], decode["p99_ns"], decode["max_ns"]) == (
        nearest_rank(periods, 0.5), nearest_rank(periods, 0.95), nearest_rank(periods, 0.99), max(periods))
    assert decode["total_ns"] == sum(periods)
    assert math.isclose(decode["tokens_per_s"], 400 / (sum(periods) / 1e9))
    assert (decode["bubble_count"], decode["bubble_ns"]) == (100, 100 * 50 * US)
    assert math.isclose(decode["bubble_ratio"], 5000 / (5000 + sum(lengths)))
    assert math.isclose(decode["busy_ratio"] + decode["bubble_ratio"], 1), "the kernels touch"
    assert sum(part["total_ns"] for part in decode["bubble_categories"]) == decode["bubble_ns"]
    (engine,) = result["engines"]
    # From the end of a decode to the end of the next: 90 directly, 9 with a prefill between.
    gaps = [(lengths[i] + 50 + (1050 if i % 10 == 0 else 0)) * US for i in range(1, 100)]
    assert engine["token_gap_count"] == 99 and engine["token_gap_prefill_count"] == 9
    assert engine["token_gap_median_ns"] == nearest_rank(gaps, 0.5)
    assert engine["token_gap_p95_ns"] == nearest_rank(gaps, 0.95)
    assert engine["token_gap_p99_ns"] == nearest_rank(gaps, 0.99)
    assert (engine["prompt_token_count"], engine["generation_token_count"]) == (4000, 400)


def test_sums_by_the_size_of_the_batch(tmp_path):
    """A larger batch takes longer. Each has its own latency."""
    server = Server()
    for i in range(60):
        batch = (4, 8, 16)[i % 3]
        server.iteration(f"execute_context_0(0)_generation_{batch}({batch})", 100 + 10 * batch, 30)
    path = server.write(tmp_path)
    result = serving(path, "--by", "batch")
    assert result["by"] == "batch"
    assert [(row["phase"], row["request_count"], row["count"], row["generation_token_count"], row["median_ns"]) for row in result["phases"]] == [
        ("decode", batch, 20, 20 * batch, (150 + 10 * batch) * US) for batch in (4, 8, 16)]
    (whole,) = serving(path)["phases"]
    assert whole.get("request_count") is None and math.isclose(whole["mean_request_count"], 28 / 3)
    assert sum(row["bubble_ns"] for row in result["phases"]) == whole["bubble_ns"]
    assert math.isclose(sum(row["total_ratio"] for row in result["phases"]), 1)
    refused = gpuprof("stats", "serving", "--by", "size", path)
    assert refused.status == 2 and b"phase, batch" in refused.err


def advised(path):
    done = gpuprof("advise", "--json", path)
    assert done.status == 0, done.err.decode()
    return {finding["id"]: finding for finding in json.loads(done.out)["findings"]}


def test_advice_about_prompts_that_make_tokens_late(tmp_path):
    """The same prompts in pieces that are as long as a decode are no finding."""
    for name in "whole", "pieces":
        server = Server()
        for i in range(100):
            if i % 10 == 0 and name == "whole":
                server.iteration(VLLM_PREFILL, 2000, 5)
            server.iteration(VLLM_MIXED if name == "pieces" and i % 5 == 0 else VLLM_DECODE, 100, 5)
        findings = advised(server.write(tmp_path, f"{name}.json"))
        assert ("ST-010" in findings) == (name == "whole")
        if name == "whole":
            finding = findings["ST-010"]
            assert finding["gain"] is None and finding["severity"] == "medium"
            # 2025 of the prefill and its gap, and 125 of the decode.
            assert "In 9 of 99 times" in finding["evidence"][0] and "is 2.15 ms" in finding["evidence"][0]


def test_steps_say_the_same(tmp_path):
    server = Server()
    for i in range(20):
        server.iteration(VLLM_PREFILL if i % 5 == 0 else VLLM_DECODE, 900 if i % 5 == 0 else 100, 20)
    path = server.write(tmp_path)
    steps = json.loads(gpuprof("stats", "steps", "--json", path).out)
    result = serving(path)
    assert [row["phase"] for row in steps["steps"]] == [row["phase"] for row in result["iterations"]]
    assert [row["token_count"] for row in steps["steps"]] == [row["token_count"] for row in result["iterations"]]
    periods = [row["duration_ns"] for row in steps["device_steps"] if row["window"] == "period"]
    assert periods == [row["duration_ns"] for row in result["iterations"]]
    assert steps["series"][0]["warmup_count"] == 0, "the first one is as long as each prefill"


def test_what_marks_do_not_tell_is_absent(tmp_path):
    server = Server()
    for i in range(12):
        server.iteration(["step[EXTEND bs=2 toks=1025]", "step[DECODE bs=62]", "step[MIXED bs=64]", "step[DRAFT_EXTEND_V2 bs=1]"][i % 4], 100, 10)
    result = serving(server.write(tmp_path))
    by_phase = phases(result)
    assert set(by_phase) == {"prefill", "decode", "mixed", None}
    assert (by_phase["prefill"]["prompt_token_count"], by_phase["prefill"]["generation_token_count"]) == (3075, 0)
    assert by_phase["decode"]["mean_request_count"] == 62
    assert by_phase["decode"].get("generation_token_count") is None, "with speculation a request has several"
    assert by_phase["decode"].get("tokens_per_s") is None and by_phase["decode"]["prompt_token_count"] == 0
    assert by_phase["mixed"].get("prompt_token_count") is None and by_phase[None].get("prompt_token_count") is None
    engine = result["engines"][0]
    assert engine.get("prompt_token_count") is None and engine.get("generation_tokens_per_s") is None
    assert engine.get("cached_token_peak_count") is None
    text = gpuprof("stats", "serving", tmp_path / "trace.json").out.decode()
    assert "unknown" in text and "decode" in text


def test_tokens_in_the_kv_cache(tmp_path):
    server = Server()
    server.iteration("execute_3_context_1(sq2sk7sqsq4sqsk14)_generation_1(sq1sk90sqsq1sqsk90)", 100, 10)
    server.iteration("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]", 100, 10)
    server.iteration("step[MIXED bs=3 c=1 g=2 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=2 g_sk=12 g_sqsq=2 g_sqsk=12]", 100, 10)
    server.iteration("step[EXTEND bs=2 toks=12 c_sq=12 c_sqsq=80 c_sqsk=120 c_sk=20]", 100, 10)
    result = serving(server.write(tmp_path))
    assert [row.get("cached_token_count") for row in result["iterations"]] == [97, 131072, 20, 20]
    assert [row.get("token_count") for row in result["iterations"]] == [3, 128, 7, 12]
    assert result["engines"][0]["cached_token_peak_count"] == 131072


def test_ranges_of_a_profiler_around_the_marks(tmp_path):
    """torch.profiler's own range of a step lies around the mark of the engine."""
    server = Server()
    for i in range(8):
        at = server.now
        server.iteration(VLLM_PREFILL if i == 0 else VLLM_DECODE, 100, 10)
        server.mark(f"ProfilerStep#{i}", at - 5, server.now - at)
    result = serving(server.write(tmp_path))
    rows = result["iterations"]
    assert [row["number"] for row in rows] == list(range(8))
    assert [row["phase"] for row in rows] == ["prefill", *["decode"] * 7]
    assert rows[3]["generation_token_count"] == 4
    assert phases(result)["decode"]["count"] == 7


def test_marks_within_marks_count_once(tmp_path):
    """Both an engine and its runner name the same pass."""
    server = Server()
    for _ in range(6):
        at = server.now
        server.iteration(VLLM_DECODE, 100, 10)
        server.mark("step[DECODE bs=4]", at + 1, 50)
    result = serving(server.write(tmp_path))
    assert len(result["iterations"]) == 6 and phases(result)["decode"]["generation_token_count"] == 24


def test_several_marks_in_one_step_tell_what_they_agree_about(tmp_path):
    """A round of speculation: a draft, and the check of what it made."""
    server = Server()
    for i in range(6):
        at = server.now
        server.iteration("step[DECODE bs=4]", 50, 5)
        server.iteration("step[TARGET_VERIFY bs=4]", 100, 5)
        server.mark(f"ProfilerStep#{i}", at - 2, server.now - at)
    row = serving(server.write(tmp_path))["iterations"][1]
    assert (row["phase"], row["request_count"], row.get("token_count")) == ("decode", 4, None)


def test_tokens_of_speculation_come_from_checks(tmp_path):
    """Two drafts and a check, each with a mark of its own."""
    server = Server()
    for _ in range(6):
        for _ in range(2):
            server.iteration("step[DECODE bs=4]", 30, 5)
        server.iteration("step[TARGET_VERIFY bs=4]", 100, 5)
    engine = serving(server.write(tmp_path))["engines"][0]
    assert (engine["token_gap_count"], engine["token_gap_median_ns"]) == (5, (2 * 55 + 125) * US)


def test_an_iteration_without_work_on_the_device(tmp_path):
    server = Server()
    for i in range(9):
        server.iteration(VLLM_DECODE, 100, 10, kernels=0 if i == 4 else 2)
    rows = serving(server.write(tmp_path))["iterations"]
    assert rows[4].get("forward_ns") is None and rows[4]["kernel_count"] == 0
    assert rows[4].get("bubble_ns") is None and rows[5].get("bubble_ns") is None
    assert rows[6]["bubble_ns"] == 30 * US


def test_without_a_device(tmp_path):
    server = Server()
    for _ in range(10):
        server.iteration(VLLM_DECODE, 100, 10, kernels=0)
    result = serving(server.write(tmp_path))
    row = phases(result)["decode"]
    assert (row["count"], row["median_ns"]) == (10, 130 * US)
    assert [row.get(key) for key in ("forward_ns", "bubble_ns", "bubble_ratio", "busy_ratio")] == [None] * 4
    assert result["engines"][0].get("device") is None
    assert result["engines"][0]["token_gap_median_ns"] == 130 * US


def test_a_pause_is_no_bubble(tmp_path):
    """Nobody asks for a second: the server is idle, and no iteration is late."""
    server = Server()
    for i in range(20):
        server.iteration(VLLM_DECODE, 100, 1_000_000 if i == 9 else 10)
    result = serving(server.write(tmp_path))
    (engine,) = result["engines"]
    assert (engine["pause_count"], engine["pause_ns"]) == (1, 1_000_000 * US)
    assert [row["follows_pause"] for row in result["iterations"]].index(True) == 10
    assert result["iterations"][10].get("bubble_ns") is None and result["iterations"][10].get("token_gap_ns") is None
    assert phases(result)["decode"]["bubble_ns"] == 18 * 30 * US
    assert engine["token_gap_max_ns"] == 130 * US


def test_a_host_that_runs_ahead(tmp_path):
    """Marks of 100, of which the device makes 300 each: it is never without work."""
    server = Server()
    for i in range(20):
        server.mark(VLLM_DECODE, 1000 + 100 * i, 90)
        server.kernel(1010 + 300 * i, 300, 1001 + 100 * i)
    result = serving(server.write(tmp_path))
    rows = result["iterations"]
    assert [row["forward_ns"] for row in rows] == [300 * US] * 20
    assert {row["duration_ns"] for row in rows[1:]} == {300 * US}, "the device sets the pace"
    assert [row["bubble_ns"] for row in rows[1:]] == [0] * 19 and {row.get("bubble_category") for row in rows} == {None}
    assert result["engines"][0]["token_gap_median_ns"] == 300 * US


def test_a_long_prefill_behind_a_short_mark_is_no_pause(tmp_path):
    """The host marks what it launches, and then waits for the device without a mark."""
    server = Server()
    lengths = [10_000 if i % 10 == 0 else 500 for i in range(40)]
    for i, length in enumerate(lengths):
        server.mark(VLLM_PREFILL if i % 10 == 0 else VLLM_DECODE, server.now, 40)
        server.kernel(server.now + 10, length, server.now + 2)
        server.now += length + 60
    result = serving(server.write(tmp_path))
    (engine,) = result["engines"]
    assert engine["pause_count"] == 0 and not any(row["follows_pause"] for row in result["iterations"])
    assert [row["bubble_ns"] for row in result["iterations"][1:]] == [60 * US] * 39
    assert (engine["token_gap_max_ns"], engine["token_gap_prefill_count"]) == ((10_060 + 560) * US, 3)


def test_cut_iterations_are_counted_apart(tmp_path):
    """The marks of the first and the last iteration have no length, as those that a profiler cut."""
    server = Server()
    server.iteration(VLLM_PREFILL, 100, 10)
    server.events[0]["dur"] = 0
    for _ in range(6):
        server.iteration(VLLM_DECODE, 100, 10)
    at = server.now
    server.iteration(VLLM_DECODE, 100, 10)
    for event in server.events:
        if event["ts"] == at and event["cat"] == "user_annotation":
            event["dur"] = 0
    result = serving(server.write(tmp_path))
    assert (len(result["iterations"]), result["engines"][0]["partial_count"]) == (6, 2)
    assert set(phases(result)) == {"decode"}


def test_what_the_host_did_in_bubbles(tmp_path):
    """The host schedules between two iterations, and the device waits."""
    server = Server()
    for i in range(8):
        at = server.now
        server.iteration(VLLM_DECODE, 100, 60)
        server.add("cpu_op", "schedule", server.pid, server.tid, at + 121, 50)
        server.add("cpu_op", "aten::empty", server.pid, server.tid, at + 172, 5)
    result = serving(server.write(tmp_path))
    row = phases(result)["decode"]
    assert (row["bubble_operation"], row["bubble_function"], row["bubble_category"]) == ("schedule", "", "host")
    assert [each["bubble_operation"] for each in result["iterations"]] == ["", *["schedule"] * 7]
    assert "schedule" in gpuprof("stats", "serving", "--wide", tmp_path / "trace.json").out.decode()


def test_several_threads_that_serve(tmp_path):
    server = Server()
    for i in range(10):
        at = server.now
        server.iteration(VLLM_DECODE, 100, 60)
        server.mark("step[EXTEND bs=1 toks=10]", at + 5, 70, tid=101)
        server.kernel(at + 120, 40, at + 8, tid=101, stream=8)
    result = serving(server.write(tmp_path))
    assert sorted((row["tid"], row["count"]) for row in result["engines"]) == [(100, 10), (101, 10)]
    by_thread = {row["tid"]: row for row in result["phases"]}
    assert by_thread[101]["prompt_token_count"] == 100 and by_thread[100]["generation_token_count"] == 40
    assert by_thread[101]["forward_ns"] == 10 * 40 * US
    assert (by_thread[100]["kernel_count"], by_thread[101]["kernel_count"]) == (20, 10)
    # Work of the other thread fills the bubbles of this one in part: 40 of 80.
    assert by_thread[100]["bubble_ns"] == 9 * 40 * US
    assert {row["twin_count"] for row in result["engines"]} == {0}


def test_ranks_that_mark_the_same_iterations(tmp_path):
    for rank in range(2):
        server = Server(pid=100 + rank, rank=rank)
        for i in range(10):
            server.iteration(VLLM_PREFILL if i == 0 else VLLM_DECODE, 100 + 20 * rank, 30 - 20 * rank)
        server.write(tmp_path, f"rank{rank}.json")
    result = serving(tmp_path)
    assert [row["twin_count"] for row in result["engines"]] == [1, 1]
    assert [row["generation_token_count"] for row in result["engines"]] == [36, 36], "not summed up over ranks"
    text = gpuprof("stats", "serving", tmp_path).out.decode()
    assert "The marks of 2 processes tell the same iterations" in text


def test_kernels_of_graphs_are_told(tmp_path):
    server = Server()
    for _ in range(6):
        server.iteration(VLLM_DECODE, 100, 10, call="cudaGraphLaunch", graph=5)
    row = phases(serving(server.write(tmp_path)))["decode"]
    assert (row["kernel_count"], row["graph_kernel_count"]) == (12, 12)


def test_hostile_names(tmp_path):
    """Numbers without room, names without end, and bytes that are none."""
    server = Server()
    largest = "9" * 18
    for i in range(30):
        server.iteration(f"execute_context_1({largest})_generation_{largest}({largest})", 100, 10)
    for name in ["step[MIXED bs=1 " + "c_sq=1 c_sk= g_sq=" * 20_000, "step[decode bs=" + "9" * 4000 + "]", "execute_context_1(1)_generation_0(" + "0" * 100_000,
                 "decode[bs=\ud83d\ude80 tok=1]", "execute_new_1_cached_", "prefill[bs=1 tok=1" + " sk=" * 50_000 + "]"]:
        server.mark(name, server.now, 50)
        server.now += 100
    result = serving(server.write(tmp_path))
    assert len([row for row in result["iterations"] if row["phase"] == "mixed"]) == 30
    mixed = phases(result)["mixed"]
    assert mixed.get("generation_token_count") is None and mixed.get("tokens_per_s") is None, "the sum has no room"
    assert result["iterations"][0]["generation_token_count"] == int(largest)


def test_a_program_that_trains_has_no_iterations(tmp_path):
    server = Server()
    for i in range(8):
        at = server.now
        server.iteration(f"step {i}", 100, 10)
        server.mark("Optimizer.step#SGD.step", at + 80, 20)
    result = serving(server.write(tmp_path))
    assert result["iterations"] == [] and result["phases"] == []
    assert "no range tells requests" in result["advice"]
    assert "no range tells requests" in gpuprof("stats", "serving", tmp_path / "trace.json").out.decode().replace("\n", " ")


def test_first_marks_of_vllm(tmp_path):
    """Requests that are not new may still read their prompts, so the phase is not known."""
    server = Server()
    for i in range(9):
        server.iteration(["execute_new_2_cached_0", "execute_new_0_cached_2", "execute_new_1_cached_2"][i % 3], 100, 10)
    result = serving(server.write(tmp_path))
    assert [row.get("phase") for row in result["iterations"][:3]] == ["prefill", None, None]
    assert [row.get("request_count") for row in result["iterations"][:3]] == [2, 2, 3]
    assert {row.get("token_count") for row in result["iterations"]} == {None}


def test_marks_of_tensorrt_llm_in_an_export_of_nsight_systems(tmp_path):
    """Ranges of NVTX, and one kernel for each. The executor numbers its iterations."""
    made, at = Export(), 1_000_000
    for i in range(12):
        name = f"[Executor] _forward_step {200 + i}: " + ("2 ctx reqs, 300 ctx tokens, 0 gen reqs" if i % 4 == 0 else "0 ctx reqs, 0 ctx tokens, 64 gen reqs")
        length = 900_000 if i % 4 == 0 else 200_000
        made.range(100, 100, name, at, at + length + 50_000)
        made.call(100, 100, "cudaLaunchKernel_v7000", at + 5_000, at + 8_000, i + 1)
        made.kernel(100, "gemm", at + 20_000, at + 20_000 + length, i + 1)
        at += length + 100_000
    result = serving(made.write(tmp_path / "run.sqlite"))
    rows = result["iterations"]
    assert [row["number"] for row in rows] == list(range(200, 212))
    assert [row["phase"] for row in rows] == ["prefill", "decode", "decode", "decode"] * 3
    assert [(row["request_count"], row["prompt_token_count"], row.get("generation_token_count")) for row in rows[:2]] == [(2, 300, 0), (64, 0, None)]
    assert [row["forward_ns"] for row in rows[:2]] == [900_000, 200_000]
    assert [row["bubble_ns"] for row in rows[1:]] == [100_000] * 11


def test_programs_without_marks():
    """A server on a TPU, of which nothing tells requests: runs of the program that takes most time."""
    source = ROOT / "tests" / "golden" / "xspace" / "tpu_inference.xplane.pb.gz"
    result = serving(source)
    (engine,) = result["engines"]
    assert (engine["marked"], engine["count"], engine.get("token_gap_count"), engine.get("prompt_token_count")) == (False, 100, None, None)
    (row,) = result["phases"]
    assert [row.get(key) for key in ("phase", "mean_request_count", "tokens_per_s")] == [None] * 3
    steps = json.loads(gpuprof("stats", "steps", "--json", source).out)["steps"]
    assert [each["number"] for each in result["iterations"]] == [each["number"] for each in steps]
    assert "No mark tells whether they serve" in gpuprof("stats", "serving", source).out.decode().replace("\n", " ")


@needs_doubles
@pytest.mark.parametrize("engine", ["vllm", "sglang", "wrapped"])
def test_a_live_server_next_to_the_truth(record, tmp_path, engine):
    truth_file, rounds = tmp_path / "truth.json", 6
    script = "kernel Prefill 400000; kernel Decode 60000; kernel Pick 20000"
    outcome = record([str(DOUBLES / "programs" / "serving"), str(rounds), engine], env=environment_of(truth_file, script))
    assert (outcome.status, outcome.out.decode()) == (0, f"{4 * rounds} iterations\n"), outcome.err.decode()
    kernels = sorted((row["start"], row["end"], row["name"]) for row in Truth(truth_file).of("kernel"))
    forwards, picks, at = [], [], 0
    for i in range(4 * rounds):
        count = 4 if i % 4 == 0 else 2
        own = kernels[at:at + count]
        assert {name for _, _, name in own} == {"_Z7Prefillv" if i % 4 == 0 else "_Z6Decodev"}
        forwards.append((own[0][0], own[-1][1]))
        picks.append(kernels[at + count][:2])
        at += count + 1
    result = serving(outcome.bundle)
    rows = result["iterations"]
    assert [row["phase"] for row in rows] == ["prefill", "decode", "decode", "decode"] * rounds
    assert [row["kernel_count"] for row in rows] == [4, 2, 2, 2] * rounds
    # The clock of the device is fitted to that of the host, so lengths may differ by a little.
    assert [row["forward_ns"] for row in rows] == pytest.approx([end - start for start, end in forwards], rel=1e-3, abs=2000)
    bubbles = [forwards[i + 1][0] - forwards[i][1] - (picks[i][1] - picks[i][0]) for i in range(len(forwards) - 1)]
    told = [(row.get("bubble_ns"), truly) for row, truly in zip(rows[1:], bubbles) if not row["follows_pause"]]
    assert told and [ours for ours, _ in told] == pytest.approx([truly for _, truly in told], rel=1e-3, abs=2000)
    assert {row.get("generation_token_count") for row in rows if row["phase"] == "decode"} == {None if engine == "sglang" else 3}
    assert {row["prompt_token_count"] for row in rows if row["phase"] == "prefill"} == {120}


needs_stored = pytest.mark.skipif(not STORED.is_dir(), reason="GPUPROF_TRACES names no folder of traces")


@needs_stored
@pytest.mark.parametrize("name, phase, requests, prompt, generation, cached, forward", [
    ("vllm_decode_graph", "decode", 32, 0, 32, 55086, 10_743_181),
    ("sglang_prefilldecode", "prefill", 15, 15360, 0, 15360, None),
    ("b200_eager", "prefill", 1, 888, 0, None, None)])
def test_stored_traces(name, phase, requests, prompt, generation, cached, forward):
    result = serving(STORED / f"{name}.json.gz")
    (row,) = result["iterations"]
    assert (row["phase"], row["request_count"], row["prompt_token_count"], row["generation_token_count"], row.get("cached_token_count")) == (
        phase, requests, prompt, generation, cached)
    assert forward is None or row["forward_ns"] == forward
    assert row.get("bubble_ns") is None, "there is no iteration before"
