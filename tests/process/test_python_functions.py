# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What is said of samples: functions of a program whose parts are known, and names that are no names."""

import json
import sys

import pytest

from conftest import gpuprof, program

# Samples, and a program whose end is never exact.
NEAR = 0.1


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    path = tmp_path_factory.mktemp("split") / "bundle"
    done = gpuprof("run", "-o", path, "--trace=samples,threads", "--", sys.executable, program("python_split.py"), "4")
    assert done.status == 0, done.err.decode()
    return path


def stats(name, bundle, *options):
    return json.loads(gpuprof("stats", name, bundle, "--json", *options).out)


def folded(bundle, key):
    lines = gpuprof("stats", "stacks", bundle, "--by", key).out.decode().splitlines()
    return [(line.rpartition(" ")[0].split(";"), int(line.rpartition(" ")[2])) for line in lines]


def test_functions_have_their_parts_of_the_time(bundle):
    result = stats("python", bundle)
    rows = {row["name"]: row for row in result["functions"] if row["file"].endswith("python_split.py")}
    assert set(rows) >= {"main", "alpha", "beta", "gamma", "spin"}
    for name, part in (("alpha", 0.5), ("beta", 0.3), ("gamma", 0.2)):
        assert abs(rows[name]["total_ns"] / rows["spin"]["total_ns"] - part) < NEAR, rows[name]
    assert rows["spin"]["self_ns"] > 0.8 * rows["spin"]["total_ns"]
    # alpha calls itself: it counts once.
    assert rows["alpha"]["total_ns"] <= rows["main"]["total_ns"] <= result["cpu_ns"]
    for figure in ("self_ns", "program_ns"):
        assert sum(row[figure] for row in result["functions"]) == result["cpu_ns"]
    assert sum(row["wait_ns"] for row in result["functions"]) == result["wait_ns"]


def test_lines_modules_and_threads_have_the_same_sums(bundle):
    all_time = stats("python", bundle)["cpu_ns"]
    for key in ("line", "module", "thread"):
        result = stats("python", bundle, "--by", key)
        assert sum(row["self_ns"] for row in result["functions"]) == all_time == result["cpu_ns"]
    threads = stats("python", bundle, "--by", "thread")["functions"]
    assert threads[0]["place"] == "spin" and threads[0]["tid"] == threads[0]["pid"]
    # The sampler's own thread is none of the program's.
    assert not any(row["name"].startswith("gpuprof") for row in threads)
    assert not any(row["op_ns"] for row in stats("threads", bundle)["threads"] if row["tool"])


def test_flame_graphs_add_up_to_the_table(bundle):
    result = stats("python", bundle)
    cpu = folded(bundle, "cpu")
    assert sum(weight for _, weight in cpu) == result["cpu_ns"]
    assert sum(weight for _, weight in folded(bundle, "samples")) == result["cpu_ns"] + result["ready_ns"] + result["gil_ns"] + result["wait_ns"]
    alpha = [frames for frames, _ in cpu if sum(frame.startswith("alpha (") for frame in frames) == 4 and frames[-1].startswith("spin (")]
    assert len(alpha) == 1, "lines of one function are one frame"


def test_windows_that_touch_add_up(bundle):
    whole = stats("python", bundle)
    parts = [stats("python", bundle, "--window", window) for window in ("0s-1234567us", "1234567us-2s", "2s-1000s")]
    assert sum(part["cpu_ns"] + part["ready_ns"] for part in parts) == whole["cpu_ns"] + whole["ready_ns"]
    # The kernel's account has a reading a second: the division within a second is an estimate.
    assert sum(part["cpu_ns"] for part in parts) == pytest.approx(whole["cpu_ns"], rel=0.1)
    assert 0 < parts[1]["cpu_ns"] < whole["cpu_ns"]


def test_the_overview_answers_which_function(bundle):
    overview = stats("overview", bundle)
    top = overview["functions"]["functions"][0]
    assert top["name"] == "spin" and top["program_ratio"] > 0.5
    text = gpuprof("stats", "overview", bundle).out.decode()
    assert "Functions by processor time" in text and "PyTorch did not run here" not in text
    finding = next(each for each in overview["findings"] if each["id"] == "PY-001")
    assert "spin" in finding["name"] and "alpha" in " ".join(finding["evidence"])
    assert finding["gain"]["method"] == "bound" and finding["gain"]["is_of_run"]
    assert finding["gain"]["high_ns"] <= finding["gain"]["base_ns"] == overview["run_ns"]


def test_names_are_no_commands(tmp_path):
    name = "=1;\x1b[2J\n\u202e`|x 7"
    bundle = tmp_path / "bundle"
    done = gpuprof("run", "-o", bundle, "--trace=samples", "--", sys.executable, program("python_split.py"), "1", name)
    assert done.status == 0, done.err.decode()
    for options in (["python"], ["python", "--csv"], ["stacks", "--by", "cpu"], ["overview"]):
        out = gpuprof("stats", *options[:1], bundle, *options[1:]).out.decode()
        assert "=1" in out and not {"\x1b", "\u202e"} & set(out), options
    assert all(len(frames) > 1 and weight > 0 for frames, weight in folded(bundle, "cpu"))
    cells = gpuprof("stats", "python", bundle, "--csv").out.decode()
    assert "\n=1" not in cells


def test_it_is_said_why_there_is_nothing(tmp_path):
    bundle = tmp_path / "bundle"
    gpuprof("run", "-o", bundle, "--trace=threads", "--", sys.executable, "-c", "pass")
    done = gpuprof("stats", "python", bundle)
    assert done.status == 0
    assert "Samples of stacks were not recorded. To record them: --trace samples" in done.out.decode()
    assert "which functions used" not in gpuprof("stats", "overview", bundle).out.decode()
