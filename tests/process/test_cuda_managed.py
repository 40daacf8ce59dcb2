# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Managed memory on a simulated GPU (`--trace um`): migrations and page faults are those that there were, or it says why there are none."""

import collections
import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle
from waiting import wait_until

pytestmark = needs_doubles

COUNTERS = 25  # the kind's number
LACKING = "counters of unified memory are not recorded"


@pytest.fixture
def managed(session, tmp_path):
    """managed(script, release, *options): the program up to its end, once `asked` of the truth so far is true; trace, truth, outcome."""

    def run(script="", release="13.0", *options, asked=None):
        truth = tmp_path / "truth.json"
        environment = environment_of(truth, script, release)
        program = session([DOUBLES / "programs" / "managed"], *(options or ("--trace=cuda,um",)), env=environment)
        assert program.line() == "ready"
        wait_until(lambda: asked is None or asked(truth.read_text()), "what is asked of CUPTI")
        program.tell("\n")
        outcome = program.finish()
        assert outcome.status == 0, outcome.err.decode()
        found = Truth(truth)
        assert found.of("violation") == []
        (trace,) = read_bundle(outcome.bundle)
        return trace, found, outcome

    return run


def enabled(truth):
    return f'"kind":{COUNTERS},"enabled":1' in truth


def rows_of(trace):
    table = trace.unified_memory
    columns = ("operation", "value", "address", "source", "destination", "duration")
    return sorted(tuple(int(v) for v in row) for row in zip(*(table[c] for c in columns)))


def true_rows(truth, kinds=range(1, 9)):
    return sorted((row["counter"] | row["flags"] << 8, row["value"], row["address"], row["source"], row["destination"],
                   row["end"] - row["start"]) for row in truth.of("um") if row["counter"] in kinds)


def said(outcome):
    return [line for line in outcome.words.splitlines() if "unified memory" in line]


@pytest.mark.parametrize("release", PERSONALITIES)
def test_migrations_and_faults_are_those_that_there_were(managed, release):
    trace, truth, outcome = managed("", release, asked=enabled)
    assert trace.lost == 0 and said(outcome) == []
    ours, true = rows_of(trace), true_rows(truth)
    assert len(true) == 5 * 3
    # Both ends are converted to the tool's clock.
    assert [row[:-1] for row in ours] == [row[:-1] for row in true]
    assert all(abs(x[-1] - y[-1]) < 1_000 for x, y in zip(ours, true))
    result = json.loads(gpuprof("stats", "unified_memory", "--json", outcome.bundle).out)
    by_counter = collections.Counter()
    for row in truth.of("um"):
        by_counter[row["counter"]] += row["value"] if row["counter"] in (1, 2) else 1
    assert int(result["htod_bytes"]) == by_counter[1] == 3 * (5 << 20)
    assert int(result["dtoh_bytes"]) == by_counter[2] == 3 * (5 << 20)
    assert int(result["gpu_page_fault_count"]) == by_counter[4] == 3
    causes = {(row["name"], row.get("cause", "")): int(row["count"]) for row in result["uses"]}
    assert causes == {("HtoD", "user"): 3, ("HtoD", "coherence"): 3, ("DtoH", "user"): 6, ("gpu_page_fault", "read"): 3}
    assert [int(place["bytes"]) for place in result["places"]] == [6 * (4 << 20), 6 * (1 << 20)]
    by_device = json.loads(gpuprof("stats", "unified_memory", "--by", "device", "--json", outcome.bundle).out)["uses"]
    assert {row["name"] for row in by_device} == {"HtoD", "DtoH", "gpu_page_fault"} and all(row["device"] == 0 for row in by_device)
    assert gpuprof("dump", outcome.bundle).out.decode().count(" unified_memory kind=") == len(true)


def test_unasked_they_are_left_alone(managed):
    trace, truth, outcome = managed("", "13.0", "--trace=cuda")
    assert len(trace.unified_memory["time"]) == 0 and len(truth.of("um")) > 0
    assert all(row["kind"] != COUNTERS for row in truth.of("kind") if row["enabled"])
    assert "--trace cuda,um" in gpuprof("stats", "unified_memory", outcome.bundle).out.decode()


@pytest.mark.parametrize("code, reason", [(28, "this kind of machine"), (29, "this GPU"), (30, "CUDA_VISIBLE_DEVICES"), (31, "MPS")])
def test_where_there_are_none_it_says_why_once(managed, code, reason):
    """What is refused after the driver was initialised is refused for the capture; the rest is recorded."""
    # All at once, and then one by one.
    settled = lambda truth: truth.count(f'"result":{code}}}') == 1 + 8
    trace, truth, outcome = managed(f"fail cuptiActivityConfigureUnifiedMemoryCounter {code}", asked=settled)
    (line,) = said(outcome)
    assert LACKING in line and reason in line and "cuptiActivityConfigureUnifiedMemoryCounter" in line
    assert len(trace.unified_memory["time"]) == 0
    assert len(trace.kernels["time"]) == len(truth.of("kernel")) > 0
    assert "cuptiActivityConfigureUnifiedMemoryCounter" in gpuprof("stats", "health", outcome.bundle).out.decode()


def test_a_device_without_page_faults_tells_of_the_rest(managed):
    trace, truth, outcome = managed("fail cuptiActivityConfigureUnifiedMemoryCounter:4 29", asked=enabled)
    (line,) = said(outcome)
    assert "some counters" in line
    assert [row[:-1] for row in rows_of(trace)] == [row[:-1] for row in true_rows(truth, (1, 2))]
    assert len(trace.unified_memory["time"]) == 4 * 3


def test_the_second_interface_has_none(managed):
    trace, truth, outcome = managed(DRIVER_OF_SEVERAL, "13.3")
    (line,) = said(outcome)
    assert LACKING in line and "13.3" in line
    assert len(trace.unified_memory["time"]) == 0
    assert len(trace.kernels["time"]) == len(truth.of("kernel")) > 0
