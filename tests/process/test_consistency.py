# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What is said of a trace is one story: verdict, step, gains, parts and pages contradict each other nowhere. The rules run over every
stored trace, over programs that are generated (tests/simulation), and over the folder that GPUPROF_TRACES names."""

import json
import math
import os
import pathlib
import re
import sys

import pytest

from conftest import ROOT, gpuprof

sys.path.insert(0, str(ROOT / "tests" / "simulation"))

import simulated_program  # noqa: E402

GOLDEN = ROOT / "tests" / "golden"
STORED = sorted([*GOLDEN.glob("kineto/*.json.gz"), *GOLDEN.glob("traces/h200/pytorch/*.json.gz"), *GOLDEN.glob("xspace/*.pb.gz"),
                 *GOLDEN.glob("xspace/cpu/*.pb.gz"), *GOLDEN.glob("import/*/input.json"), *(ROOT / "tests/fake_gpu/replay").glob("*.json.gz")])
BUNDLES = sorted(GOLDEN.glob("traces/h200/pytorch/*/bundle.pb"))
MORE = sorted(path for path in pathlib.Path(os.environ.get("GPUPROF_TRACES", "/nonexistent")).glob("*") if path.is_file())
EPSILON = 1e-6
# Families in which a GPU works, and in which it does not.
AT_WORK = {"compute", "collectives", "copies"}
IDLE = {"host", "input", "compile", "launch", "dependency", "unexplained"}


def answer(*command):
    outcome = gpuprof(*command)
    assert outcome.status == 0, outcome.err.decode()
    return json.loads(outcome.out)


def near(a, b, tolerance=EPSILON):
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def check_verdict(overview):
    verdict = overview["verdict"]
    if verdict is None:
        return
    bound, share, busy = verdict["bound"], verdict["bound_ratio"], verdict["busy_ratio"]
    if bound in AT_WORK:
        assert share <= busy + EPSILON, "the device works for longer than it is busy"
    if bound in IDLE:
        assert share <= 1 - busy + EPSILON, "the device waits for longer than it is idle"
    families = verdict["families"]
    if bound != "first_use":
        assert abs(sum(each["total_ns"] for each in families) - verdict["step_ns"]) <= len(families) + 1, "the families add up to the step"
        assert near(sum(each["total_ratio"] for each in families), 1, 1e-3)
        assert bound == "unknown" or near(share, max(each["total_ratio"] for each in families)), "the bound is the largest family"
    for each in families:
        assert each["saved_ns"] is None or 0 <= each["saved_ns"] <= verdict["step_ns"]
    if bound == "unknown":
        assert verdict["missing"] is not None and verdict["confidence"]["level"] == "low"


def check_step(overview):
    step, verdict = overview["step"], overview["verdict"]
    if step is None:
        return
    assert step["p10_ns"] <= step["median_ns"] <= step["p90_ns"] and step["count"] > 0
    assert near(overview["steps_per_s"], 1e9 / step["mean_ns"], 1e-3), "as many steps a second as the step is long"
    if step["device"] is None:
        return
    assert abs(step["mean_ns"] - verdict["step_ns"]) <= 1 or verdict["bound"] == "first_use", "one step"
    series, = [each for each in overview["device_series"] if (each["pid"], each["device"], each["window"]) == (step["pid"], step["device"], "period")]
    assert series["count"] == step["count"] and series["mean_ns"] == step["mean_ns"] and series["median_ns"] == step["median_ns"]


def check_parts(overview):
    for series in overview["device_series"]:
        assert sum(each["total_ns"] for each in series["categories"]) == series["total_ns"], "each nanosecond is in one category"
    if overview["phases"]:
        assert sum(each["total_ns"] for each in overview["phases"]) == overview["run_ns"], "each moment of the run is in one phase"


def per_step(overview, *categories):
    verdict = overview["verdict"]
    series, = [each for each in overview["device_series"]
               if (each["pid"], each["host"], each["device"], each["window"]) == tuple(verdict[key] for key in ("pid", "host", "device", "window"))]
    return sum(each["total_ns"] for each in series["categories"] if each["category"].startswith(categories)) / series["count"]


def check_gains(overview):
    base = (overview["step"] or {}).get("mean_ns") or (overview["verdict"] or {}).get("step_ns")
    for finding in overview["findings"]:
        gain = finding["gain"]
        if gain is None:
            continue
        assert gain["base_ns"] == base, f"{finding['id']}: the gain is of the step that is shown"
        assert 0 <= gain["low_ns"] <= gain["high_ns"] <= base
        if gain["method"] == "not_computed":
            assert gain["high_ns"] == 0
            continue
        assert gain["high_ns"] > 0 and gain["change"], f"{finding['id']}: a gain of nothing is no gain"
        assert near(gain["high_ratio"], gain["high_ns"] / base) and near(gain["low_ratio"], gain["low_ns"] / base)
        evidence = {"CO-001": ("collective",), "CP-003": ("copy",), "LA-001": ("host", "launch"), "LA-006": ("launch",)}.get(finding["id"])
        if evidence:
            assert gain["high_ns"] <= per_step(overview, *evidence) + 1, f"{finding['id']}: the gain is above its evidence"


def check_incomplete(overview):
    """No finding about idle time rests on work that is missing, and none contradicts the verdict."""
    verdict = overview["verdict"]
    ids = {finding["id"] for finding in overview["findings"]}
    if verdict is not None and verdict["bound"] == "unknown":
        assert not ids & {"GP-001", "GP-002", "LA-001", "LA-003", "LA-006", "SY-001"}, ids
        assert all(finding["confidence"]["level"] != "high" for finding in overview["findings"] if finding["id"][:2] in ("CO", "CP", "GP", "LA"))
    if verdict is not None and overview["step"] is not None and verdict["busy_ratio"] > 0.85:
        assert "GP-001" not in ids, "a GPU that works through its steps does not stand idle"


def check_pages(trace, overview):
    advice = answer("advise", "--json", trace)
    assert advice["verdict"] == overview["verdict"] and advice["findings"] == overview["findings"], "overview and advise tell one story"
    launches = sum(each["count"] for each in answer("stats", "api", "--json", "--limit", "0", trace)["calls"] if re.search("GraphLaunch", each["name"]))
    graphs = gpuprof("stats", "graphs", trace).out.decode()
    assert not launches or "No launch of a CUDA graph was recorded" not in graphs, f"{launches} launches of graphs"
    text = gpuprof("stats", "overview", trace).out.decode()
    assert "0 ns (0.0 %)" not in text.partition("What to try")[2].partition("Time of the run")[0], "no gain of nothing"


def check(trace):
    overview = answer("stats", "overview", "--json", trace)
    check_verdict(overview)
    check_step(overview)
    check_parts(overview)
    check_gains(overview)
    check_incomplete(overview)
    check_pages(trace, overview)


def name_of(path):
    return path.parent.name if path.name in ("input.json", "bundle.pb") else path.name.split(".")[0]


@pytest.mark.parametrize("trace", STORED + MORE, ids=name_of)
def test_a_stored_trace(trace):
    if gpuprof("stats", "overview", "--json", trace).status == 3:
        pytest.skip("no trace: the importer says so")
    check(trace)


@pytest.mark.parametrize("bundle", BUNDLES, ids=name_of)
def test_a_stored_bundle(bundle):
    check(bundle.parent)


@pytest.mark.parametrize("program", [*simulated_program.named_programs(), *map(simulated_program.random_program, range(12))], ids=lambda each: each.name)
def test_a_generated_program(program, tmp_path):
    trace = tmp_path / "trace.json"
    simulated_program.Run(program).write(trace)
    check(trace)
