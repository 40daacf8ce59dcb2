# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof advise` and `gpuprof diff`: what they say of real traces, their exit codes, and what they refuse."""

import gzip
import json
import re
import sys

import pytest

from conftest import ROOT, gpuprof
from waiting import AWAIT_RECORDER

STREAMS = ROOT / "tests/golden/kineto/h200_streams.json.gz"
COMPILED = ROOT / "tests/golden/kineto/h200_compiled.json.gz"
IMAGES = ROOT / "tests/golden/traces/h200/pytorch/images"
PROGRAM = (sys.executable, "-c", AWAIT_RECORDER)
GENERATE = ROOT / "tests/golden/traces/h200/pytorch/generate"


def run(*arguments, status=0):
    done = gpuprof(*arguments)
    assert done.status == status, (done.status, done.out.decode(), done.err.decode())
    return done.out.decode()


def advice(trace):
    return json.loads(run("advise", "--json", trace))


@pytest.mark.parametrize("trace", [STREAMS, COMPILED, IMAGES, GENERATE], ids=lambda path: path.name.split(".")[0])
def test_findings_have_figures_that_can_be(trace):
    result = advice(trace)
    verdict = result["verdict"]
    assert verdict["bound"] in ("compute", "host", "launch", "copies", "input", "compile", "dependency")
    assert 0 < verdict["bound_ratio"] <= 1 and 0 < verdict["busy_ratio"] <= 1
    if verdict["bound"] in ("compute", "copies"):
        assert verdict["bound_ratio"] <= verdict["busy_ratio"]
    else:
        assert verdict["bound_ratio"] <= 1 - verdict["busy_ratio"] + 1e-9
    assert [each["saved_ns"] for each in verdict["what_ifs"]] == sorted((each["saved_ns"] for each in verdict["what_ifs"]), reverse=True)
    for each in verdict["what_ifs"]:
        assert 0 < each["saved_ratio"] <= 1
    ids = [finding["id"] for finding in result["findings"]]
    assert len(ids) == len(set(ids))
    for finding in result["findings"]:
        assert finding["evidence"] and finding["fix"]
        gain = finding["gain"]
        if gain is not None and gain["method"] != "not_computed":
            assert 0 <= gain["low_ns"] <= gain["high_ns"] <= gain["base_ns"] == verdict["step_ns"]
            assert 0.01 <= gain["high_ratio"] <= 1 and gain["change"]
    # The overview says the same.
    overview = json.loads(run("stats", "overview", "--json", trace))
    assert overview["verdict"] == verdict
    assert overview["findings"] == result["findings"]


@pytest.mark.parametrize("trace, must, never", [
    # A small model: its loader and the host are too slow for the GPU, and its batches lie in pageable memory.
    (IMAGES, ["IN-001", "LA-001", "CP-001"], ["CP-003", "LA-005", "LA-006", "GP-001"]),
    (GENERATE, ["LA-001"], ["CP-001", "CP-003", "LA-003", "LA-006", "LA-007", "SY-002", "GP-001"]),
    # What was compiled runs, and nothing is compiled again.
    (COMPILED, ["LA-001"], ["ST-005", "LA-007", "LA-006", "GP-001"]),
    (STREAMS, [], ["LA-001", "SY-001", "SY-003"]),
], ids=["images", "generate", "compiled", "streams"])
def test_what_real_traces_are_advised(trace, must, never):
    findings = [finding["id"] for finding in advice(trace)["findings"]]
    assert [each for each in findings if each in must] == must
    assert not set(findings) & set(never)


def test_rules_that_could_not_look_say_why():
    rules = {rule["id"]: rule for rule in advice(COMPILED)["not_checked"]}
    assert rules["ME-006"]["need"] == "heap" and rules["ME-006"]["fix"] == "record with gpuprof run --trace heap"
    assert "LA-001" not in rules
    text = run("advise", COMPILED)
    assert "Not checked" in text and "Verdict: device 0" in text


def test_a_severity_can_be_a_failure():
    high = any(finding["severity"] == "high" for finding in advice(GENERATE)["findings"])
    run("advise", GENERATE, "--fail-on", "high", status=1 if high else 0)
    done = gpuprof("advise", GENERATE, "--fail-on", "loud")
    assert done.status == 2 and "choose from high, medium, low, info" in done.err.decode()


def test_a_recording_differs_not_from_itself():
    result = json.loads(run("diff", GENERATE, GENERATE, "--json"))
    assert result["verdict"] in ("neutral", "inconclusive")
    assert result["steps"]["change_ratio"] == 0
    assert result["steps"]["change_low_ratio"] <= 0 <= result["steps"]["change_high_ratio"]
    assert all(row["change_ns"] == 0 for rows in ("categories", "kernels", "ops") for row in result[rows])
    assert result["comparability"] == {"score_ratio": 1.0, "reasons": [], "same_shape_ratio": 1.0, "shapes": "grids"}
    run("diff", GENERATE, GENERATE, "--fail-on", "regression")


@pytest.fixture(scope="module", name="slower")
def _slower(tmp_path_factory):
    """The same trace with every time twice as long."""
    with gzip.open(ROOT / "tests/golden/traces/h200/pytorch/generate.json.gz") as file:
        document = json.load(file)
    start = min(event["ts"] for event in document["traceEvents"] if event.get("ph") == "X")
    for event in document["traceEvents"]:
        if "ts" in event:
            event["ts"] = start + (event["ts"] - start) * 2
        if "dur" in event:
            event["dur"] *= 2
    path = tmp_path_factory.mktemp("slower") / "generate.json"
    path.write_text(json.dumps(document))
    return path


def test_twice_as_slow_is_a_regression(slower):
    before = ROOT / "tests/golden/traces/h200/pytorch/generate.json.gz"
    result = json.loads(run("diff", before, slower, "--json"))
    assert result["verdict"] == "regression"
    assert abs(result["steps"]["change_ratio"] - 1) < 0.01
    assert result["steps"]["change_low_ratio"] > 0.5
    for row in result["kernels"][:5]:
        assert abs(row["after_ns"] / row["before_ns"] - 2) < 0.01 and row["before_count"] == row["after_count"]
        assert 0 < row["change_low_ns"] <= row["change_ns"] <= row["change_high_ns"], "twice as long is beyond noise"
    run("diff", before, slower, "--fail-on", "regression", status=1)
    assert json.loads(run("diff", slower, before, "--json"))["verdict"] == "improvement"
    markdown = run("diff", before, slower, "--format=markdown")
    assert markdown.startswith("### gpuprof: regression\n") and "| name | before | after | change | of the step | beyond noise |" in markdown


def test_other_programs_are_told_apart():
    result = json.loads(run("diff", IMAGES, GENERATE, "--json"))
    assert "other_shapes" in result["comparability"]["reasons"]
    assert result["comparability"]["score_ratio"] < 1


def test_what_cannot_be_compared_is_refused(tmp_path):
    done = gpuprof("diff", IMAGES, tmp_path / "nowhere")
    assert done.status == 3 and "nowhere" in done.err.decode()
    assert gpuprof("diff", IMAGES).status == 2
    assert gpuprof("diff", IMAGES, IMAGES, "--format=html").status == 2


def test_the_text_is_short_and_all_tells_the_rest():
    result = advice(IMAGES)
    count = len(result["findings"])
    assert count >= 3, "the test needs a recording with some findings"
    text = run("advise", IMAGES, "--width", "100")
    whole = run("advise", IMAGES, "--width", "100", "--all")
    for finding in result["findings"]:
        assert f"[{finding['id']}," in whole
    # What only informs has one line.
    info = [finding for finding in result["findings"] if finding["severity"] == "info"]
    assert info and all(finding["fix"][0] in whole.replace("\n          ", " ") for finding in info)
    assert all(finding["fix"][0] not in text.replace("\n          ", " ") for finding in info)
    assert len(text) < len(whole)
    # Each line fits, also where nobody knows the width.
    piped = run("advise", IMAGES).split("Not checked", 1)[1].split("\n\n")[0]
    assert max(map(len, piped.splitlines())) <= 100


def test_addresses_of_objects_are_in_no_evidence():
    trace = ROOT / "tests/golden/kineto/h200_compiled.json.gz"
    with gzip.open(trace) as file:
        assert re.search(rb"_EngineBase object at 0x[0-9a-f]+", file.read()), "the trace must have some"
    words = json.dumps(advice(trace)["findings"])
    assert "torch._C._EngineBase object" in words and "object at 0x" not in words


def test_a_slow_setting_of_the_environment(tmp_path):
    bundle = tmp_path / "run"
    done = gpuprof("run", "-o", bundle, "--quiet", "--", *PROGRAM, env={"CUDA_LAUNCH_BLOCKING": "1"})
    assert done.status == 0, done.err
    findings = {finding["id"]: finding for finding in advice(bundle)["findings"]}
    assert findings["EN-001"]["evidence"] == ["CUDA_LAUNCH_BLOCKING=1: each launch waits for its kernel."]
    gpuprof("run", "-o", tmp_path / "plain", "--quiet", "--", *PROGRAM, env={"CUDA_LAUNCH_BLOCKING": "0"})
    assert "EN-001" not in {finding["id"] for finding in advice(tmp_path / "plain")["findings"]}


def test_a_gain_without_steps_is_one_of_the_recording():
    assert " of the recorded 4.26 ms, " in run("advise", STREAMS)
    assert " a step, " not in run("advise", STREAMS)
    assert " a step, " in run("advise", IMAGES)
