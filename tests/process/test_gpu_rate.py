# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""GPU activity beyond a rate is recorded one launch in several: what was left out is counted, what is told of the whole is an estimate of
it, and a launch is there with its work or not at all."""

import json
import math

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

PROGRAMS = DOUBLES / "programs"
FAST = "kernel_ns 0; launch_ns 0"


@pytest.fixture
def launches(record, tmp_path):
    """launches(program, count, *options): the trace, what truly happened, the bundle."""

    def run(program, count, *options):
        truth = tmp_path / "truth.json"
        outcome = record([PROGRAMS / program, str(count)], "--trace", "cuda", *options, env=environment_of(truth, FAST))
        assert outcome.status == 0, outcome.err.decode()
        (trace,) = read_bundle(outcome.bundle)
        assert trace.lost == 0, trace.losses
        return trace, Truth(truth), outcome.bundle

    return run


def stats(bundle, name, *words):
    done = gpuprof("stats", name, "--json", *words, bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def rates(bundle):
    (process,) = stats(bundle, "health")["processes"]
    return {rate["name"]: rate for rate in process["gpu_rates"]}


def is_estimate(value, true, most_one_in):
    """Within five standard deviations, of a choice of one in `most_one_in` all the time."""
    return abs(value - true) <= 5 * math.sqrt(true * most_one_in)


def test_counts_are_estimates_and_what_was_left_out_is_counted(launches):
    trace, truth, bundle = launches("generator", 100_000, "--gpu-rate=20000")
    true = len(truth.of("kernel"))
    assert true == 100_000
    calls = rates(bundle)["calls"]
    left_out, most = int(calls["left_out_count"]), int(calls["most_one_in_count"])
    kept = sum(len(table["time"]) for table in (trace.kernels, trace.copies, trace.sets, trace.calls, trace.syncs))
    assert int(calls["limit_per_s"]) == 20_000 and most > 1
    assert int(calls["count"]) == left_out + kept
    assert kept < true

    kernels = stats(bundle, "kernels")
    assert is_estimate(int(kernels["count"]), true, most)
    (row,) = kernels["kernels"]
    total = sum(kernel["end"] - kernel["start"] for kernel in truth.of("kernel"))
    assert abs(int(row["total_ns"]) / int(row["count"]) - total / true) <= 0.2 * total / true
    api = {row["name"]: int(row["count"]) for row in stats(bundle, "api")["calls"]}
    assert is_estimate(sum(count for name, count in api.items() if "LaunchKernel" in name), true, most)
    assert kernels["meta"]["confidence"]["level"] == "medium"
    assert any("--gpu-rate" in note for note in kernels["meta"]["notes"])
    assert "GPU rate  calls: at most 20,000 per second" in gpuprof("stats", "health", bundle).out.decode()
    assert " weight=" in gpuprof("dump", bundle).out.decode()


@pytest.mark.parametrize("count, limit", [(250_000, 20_000), (2_000, 500), (10_000, 500)])
def test_a_launch_is_there_with_its_work_or_not_at_all(launches, count, limit):
    """From the first buffers on, in which everything is kept, though kernels come in others than their calls, and later."""
    trace, _, bundle = launches("generator", count, f"--gpu-rate=calls={limit}")
    launching = {correlation for name, _, correlation, *_ in trace.call_rows() if "LaunchKernel" in name}
    ran = set(map(int, trace.kernels["correlation"]))
    assert len(ran) > 100 and ran == launching
    of_kernels = int(stats(bundle, "kernels")["count"])
    (calls,) = [int(row["count"]) for row in stats(bundle, "api")["calls"] if "LaunchKernel" in row["name"]]
    assert of_kernels == calls, "both stand for equally many"


def test_nodes_of_graphs_have_a_limit_of_their_own(launches):
    times, kernels_each = 4000, 3
    trace, truth, bundle = launches("graphs", times, "--graphs=node", "--gpu-rate=nodes=2000")
    assert len(truth.of("kernel")) == times * kernels_each
    nodes, calls = rates(bundle)["nodes"], rates(bundle)["calls"]
    most = int(nodes["most_one_in_count"])
    recorded = trace.node_rows()
    assert most > 1 and int(nodes["count"]) == len(recorded) + int(nodes["left_out_count"])
    assert int(calls["left_out_count"]) == 0
    assert {row[4] for row in recorded} <= set(map(int, trace.calls["correlation"]))
    # Nodes of one launch share their fate.
    told = sum(int(row["graph_count"]) for row in stats(bundle, "kernels")["kernels"])
    assert abs(told - times * kernels_each) <= 5 * kernels_each * math.sqrt(times * most)
    assert abs(int(stats(bundle, "graphs")["count"]) - times) <= 5 * math.sqrt(times * most)


def test_below_the_limit_all_is_there(launches):
    trace, truth, bundle = launches("generator", 2000, "--gpu-rate=calls=4000000,nodes=1000")
    assert len(trace.kernels["time"]) == len(truth.of("kernel")) == 2000
    assert int(rates(bundle)["calls"]["left_out_count"]) == 0
    assert stats(bundle, "kernels")["meta"]["confidence"]["level"] == "high"


def test_without_the_option_there_is_no_limit(launches):
    _, _, bundle = launches("generator", 2000)
    assert rates(bundle) == {}
