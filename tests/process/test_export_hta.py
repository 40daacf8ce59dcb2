# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""HolisticTraceAnalysis reads our exports and finds what gpuprof finds in the bundle."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from chrome_json import ON_DEVICE, ChromeJson
from conftest import ROOT, gpuprof
from fake_gpu import DOUBLES, environment_of, needs_doubles
from test_cuda_replay import SAMPLE, replay
from test_export import export
from waiting import LIMIT_S

PYTHON = ROOT / ".deps" / "hta" / "bin" / "python"
FIGURES = pathlib.Path(__file__).with_name("hta_figures.py")
# The library says these at the level of warnings for every file: how long it took, and that rounding is off.
ALWAYS = re.compile(r"Parsed |Overall parsing of |leaving parse_|Rounding down ns resolution traces disabled")
NO_STEPS = "ProfilerStep not found in the trace. The analysis result may not be accurate."

pytestmark = [needs_doubles, pytest.mark.skipif(not PYTHON.exists(), reason="HolisticTraceAnalysis is not installed: scripts/setup --only test")]


def hta(path):
    """The library's figures. Warnings are what it does not say for every file."""
    done = subprocess.run([str(PYTHON), str(FIGURES), str(path)], capture_output=True, text=True, timeout=LIMIT_S,
                          env={"PATH": os.environ["PATH"], "HOME": str(path.parent)})
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    figures["warnings"] = [message for message in figures["messages"] if not ALWAYS.match(message)]
    return figures


def stats(name, bundle):
    return json.loads(gpuprof("stats", name, "--json", bundle).out)


def union(found, events):
    """The time in which at least one of the events ran."""
    total, until = 0, 0
    for start, end in sorted(map(found.span, events)):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def near(ours_ns, theirs_us, events):
    """The library adds microseconds as floating-point numbers."""
    return abs(ours_ns - theirs_us * 1000) <= 1 + events


def compare_kernels(bundle, path):
    figures = hta(path)
    kernels = stats("kernels", bundle)
    named = {name: total for name, total in figures["kernels"].items() if not name.startswith("Mem")}
    assert set(named) == {row["name"] for row in kernels["kernels"]}
    for row in kernels["kernels"]:
        assert near(row["total_ns"], named[row["name"]], row["count"]), row["name"]
    return figures


def compare(bundle, path):
    figures = compare_kernels(bundle, path)
    found = ChromeJson(path)
    work, waits = found.of(*ON_DEVICE), [e for e in found.of("cuda_sync") if e["args"]["stream"] >= 0]
    (device,) = stats("streams", bundle)["devices"]
    assert device["busy_ns"] == union(found, work)
    assert near(device["kernel_ns"], figures["times"]["compute_time(us)"], len(work))
    # For the library a stream that is waited for is busy.
    busy = figures["times"]["compute_time(us)"] + figures["times"]["non_compute_time(us)"]
    assert near(union(found, work + waits), busy, len(work + waits))
    return figures


def test_steps_kernels_and_busy_time(record, tmp_path):
    outcome = record([str(DOUBLES / "programs" / "marks"), "4", "profiler"], env=environment_of(tmp_path / "truth.json"))
    assert outcome.status == 0, outcome.err.decode()
    export(outcome.bundle, tmp_path / "trace.json.gz")
    figures = hta(tmp_path / "trace.json.gz")
    assert figures["warnings"] == []
    # The library looks at launches until the end of the last step. One kernel is launched just behind it.
    kernels = {row["name"]: row for row in stats("kernels", outcome.bundle)["kernels"]}
    inside, between = kernels["Inside()"], kernels["Between()"]
    assert near(inside["total_ns"], figures["kernels"]["Inside()"], inside["count"])
    assert inside["count"] + between["count"] - len(figures["launches"]) in (0, 1)


@pytest.mark.parametrize("name", ["vector_add", "threads"])
def test_copies_too(record, tmp_path, name):
    outcome = record([str(DOUBLES / "programs" / name)], env=environment_of(tmp_path / "truth.json"))
    assert outcome.status == 0, outcome.err.decode()
    export(outcome.bundle, tmp_path / "trace.json")
    assert compare(outcome.bundle, tmp_path / "trace.json")["warnings"] == [NO_STEPS]


def test_work_of_a_real_gpu_gives_the_same_figures_as_the_original(record, tmp_path):
    """The original holds operations too, which the double does not play. Its times reach over the end of the recording."""
    _, outcome = replay(record, tmp_path, SAMPLE)
    export(outcome.bundle, tmp_path / "trace.json.gz")
    ours, original = compare_kernels(outcome.bundle, tmp_path / "trace.json.gz"), hta(SAMPLE)
    assert ours["types"] == original["types"]
    assert ours["kernels"].keys() == original["kernels"].keys()
    for name, total in ours["kernels"].items():
        assert total == pytest.approx(original["kernels"][name], abs=0.001)
    for key, value in ours["times"].items():
        assert value == pytest.approx(original["times"][key], abs=1), key
    assert ours["launches"] == original["launches"]
