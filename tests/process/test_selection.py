# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof stats` of a part of a recording: windows that touch add up, steps have their own work, wrong values are refused."""

import json

import pytest

from conftest import ROOT, gpuprof

COMPILED = ROOT / "tests" / "golden" / "kineto" / "h200_compiled.json.gz"


def stats(name, *options, trace=COMPILED):
    done = gpuprof("stats", name, "--json", *options, trace)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def by_name(result):
    return {row["name"]: (row["count"], row["total_ns"]) for row in result["kernels"]}


def window_of(result):
    return result["meta"]["window_start_ns"], result["meta"]["window_end_ns"]


@pytest.fixture(scope="module", name="imported")
def _imported(tmp_path_factory):
    bundle = tmp_path_factory.mktemp("imported") / "bundle"
    assert gpuprof("import", COMPILED, "-o", bundle).status == 0
    return bundle


@pytest.mark.parametrize("is_bundle", [False, True])
def test_windows_that_touch_add_up(imported, is_bundle):
    trace = imported if is_bundle else COMPILED
    whole = stats("kernels", trace=trace)
    start, end = window_of(whole)
    cuts = [start, start + (end - start) // 3, start + (end - start) // 2, end + 1]
    sums = {}
    for first, last in zip(cuts, cuts[1:]):
        part = stats("kernels", "--window", f"{first}ns-{last}ns", trace=trace)
        assert first <= part["meta"]["window_start_ns"] and part["meta"]["window_end_ns"] <= last
        assert any("only what began from" in note for note in part["meta"]["notes"])
        for name, (count, total) in by_name(part).items():
            before = sums.get(name, (0, 0))
            sums[name] = (before[0] + count, before[1] + total)
    assert sums == by_name(whole)


def test_each_step_has_the_work_that_it_launched():
    whole = stats("kernels")
    numbers = [step["number"] for step in stats("steps")["steps"]]
    assert len(numbers) > 3
    parts = [stats("kernels", "--steps", str(number)) for number in numbers]
    all_steps = stats("kernels", "--steps", f"{numbers[0]}-{numbers[-1]}")
    assert sum(part["count"] for part in parts) == all_steps["count"] <= whole["count"]
    assert any(note.startswith("step ") and "launched" in note for note in parts[0]["meta"]["notes"])
    ops = [stats("ops", "--steps", str(number)) for number in numbers[1:3]]
    assert all(0 < sum(row["count"] for row in part["ops"]) < sum(row["count"] for row in stats("ops")["ops"]) for part in ops)


def test_a_device_alone():
    whole = stats("kernels")
    assert by_name(stats("kernels", "--device", "0")) == by_name(whole)
    refused = gpuprof("stats", "kernels", "--device", "7", COMPILED)
    assert refused.status == 2 and "Its devices are: 0" in refused.err.decode()


@pytest.mark.parametrize("options, words", [
    (["--window", "3s-1s"], "it ends before it begins"),
    (["--window", "soon"], "is not FROM-TO"),
    (["--steps", "9-2"], "is not FIRST-LAST"),
    (["--steps", "900"], "No step has a number from 900"),
    (["--steps", "1", "--window", "1s-2s"], "exclude each other"),
    (["--device", "first"], "is not the number of a device"),
])
def test_what_makes_no_sense_is_refused(options, words):
    done = gpuprof("stats", "kernels", *options, COMPILED)
    assert done.status == 2 and words in done.err.decode(), done.err.decode()


def test_passes_of_all_steps_refuse_steps():
    done = gpuprof("stats", "steps", "--steps", "1", COMPILED)
    assert done.status == 2 and "looks at all steps" in done.err.decode()
    assert gpuprof("stats", "overview", "--window", "0s-10ms", COMPILED).status == 0


def test_what_was_not_recorded_is_named():
    """Figures about it are missing, not 0."""
    skipped = {row["name"]: (row["reason"], row["fix"]) for row in stats("overview")["meta"]["skipped"]}
    assert skipped["heap"] == ("not_in_source", "record the program with gpuprof run --trace heap")
    assert "cuda" not in skipped and "ops" not in skipped
    assert not stats("kernels")["meta"].get("skipped")
