# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Iterations of serving engines, by the names that the engines give to them, with real PyTorch."""

import json
import pathlib
import sys

import pytest

from process_support import gpuprof, run_bare

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = {"PYTHONDONTWRITEBYTECODE": "1"}
pytest.importorskip("torch")
ROUNDS = 12
ITERATIONS = ROUNDS * 7


def _steps(record, engine, *options):
    command = [sys.executable, HERE / "serving_program.py", engine, str(ROUNDS)]
    bare = run_bare(command, env=PYTHON)
    assert bare.status == 0, bare.err.decode()
    # The observer comes a moment after the library: on a busy machine so short a program is then over, or has begun.
    for _ in range(20):
        outcome = record(command, *options, env=PYTHON)
        assert (outcome.status, outcome.out) == (0, bare.out), outcome.err.decode()
        done = gpuprof("stats", "steps", "--json", outcome.bundle)
        assert done.status == 0, done.err.decode()
        result = json.loads(done.out)
        if options or len(result["steps"]) >= ITERATIONS:
            break
    return result, outcome.bundle


@pytest.mark.parametrize("engine, decode_tokens", [("vllm", 3), ("sglang", None)])
def test_iterations_have_phase_requests_and_tokens(record, engine, decode_tokens):
    result, bundle = _steps(record, engine)
    steps = result["steps"]
    assert [step["phase"] for step in steps] == ["prefill", *["decode"] * 6] * ROUNDS
    assert {step["request_count"] for step in steps} == {3}
    assert {step.get("token_count") for step in steps if step["phase"] == "prefill"} == {120}
    assert {step.get("token_count") for step in steps if step["phase"] == "decode"} == {decode_tokens}
    phases = {row["phase"]: row for row in result["iteration_series"]}
    warm = result["series"][0]["warmup_count"]
    assert phases["decode"]["count"] + phases["prefill"]["count"] + warm == 7 * ROUNDS
    assert 0 < phases["decode"]["median_ns"] <= phases["decode"]["p95_ns"]
    assert (phases["decode"].get("tokens_per_s") is None) == (decode_tokens is None)
    assert phases["decode"]["gap_median_ns"] > 0
    done = gpuprof("stats", "serving", "--json", bundle)
    assert done.status == 0, done.err.decode()
    serving = json.loads(done.out)
    assert [row["phase"] for row in serving["iterations"]] == [step["phase"] for step in steps]
    assert [row["mark_ns"] for row in serving["iterations"]] == [step["duration_ns"] for step in steps]
    assert {row["prompt_token_count"] for row in serving["iterations"]} == {120, 0}
    assert {row["generation_token_count"] for row in serving["iterations"]} == {0, decode_tokens}
    assert {row["forward_ns"] for row in serving["iterations"]} == {None}, "there is no device"
    (server,) = serving["engines"]
    assert (server["count"], server["prompt_token_count"]) == (7 * ROUNDS, 120 * ROUNDS)
    assert 0 < server["token_gap_median_ns"] <= server["token_gap_p99_ns"]
    text = gpuprof("stats", "steps", bundle).out.decode()
    assert "Iterations of a serving engine, by phase" in text


def test_a_capture_of_iterations_counts_as_stats_does(record):
    result, _ = _steps(record, "vllm", "--capture=steps:8-14")
    assert [step["number"] for step in result["steps"]] == list(range(8, 15))
    assert [step["phase"] for step in result["steps"]] == ["prefill", *["decode"] * 6]
