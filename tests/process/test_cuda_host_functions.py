# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Functions that streams run on the host, recorded on a simulated GPU: CUPTI reports them from 13.1 on, older releases do not."""

import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

ROUNDS = 3
HOST_LAUNCH, GRAPH_HOST_NODE = 58, 56  # kinds of CUPTI
NEWER = [("13.3", ""), ("13.3", DRIVER_OF_SEVERAL)]
OLDER = [release for release in PERSONALITIES if release != "13.3"]


@pytest.fixture
def run(record, tmp_path):
    def start(release, script="", *options):
        truth = tmp_path / "truth.json"
        outcome = record([DOUBLES / "programs" / "host_functions", ROUNDS], *options, env=environment_of(truth, script, release))
        assert outcome.status == 0, outcome.err.decode()
        assert outcome.out == b"%d functions\n" % (ROUNDS + 3)
        (trace,) = read_bundle(outcome.bundle)
        found = Truth(truth)
        assert found.of("violation") == [] and trace.lost == 0, trace.losses
        return trace, found, outcome

    return start


def rows_of(trace):
    """(context, stream, correlation, thread, graph, node, start, end) of each row."""
    table = trace.host_functions
    return sorted((*trace.streams[int(track)][1:], int(correlation), int(thread), int(graph), int(node), int(end) - int(duration), int(end))
                  for track, correlation, thread, graph, node, duration, end in
                  zip(*(table[name] for name in ("track", "correlation", "thread", "graph", "graph_node", "duration", "time"))))


def true_rows(truth):
    return sorted((row["context"], row["stream"], row["correlation"], row["tid"], row["graph"], row["node"],
                   row["start"] + truth.offset, row["end"] + truth.offset) for row in truth.of("host_function"))


def same(ours, true):
    """The double's own clock may be read a little beside ours."""
    ours, true = (sorted(rows, key=lambda row: row[:-2] + row[-1:]) for rows in (ours, true))
    return [row[:-2] for row in ours] == [row[:-2] for row in true] and all(
        abs(x[-2] - y[-2]) < 50_000 and abs((x[-1] - x[-2]) - (y[-1] - y[-2])) < 1_000 for x, y in zip(ours, true))


@pytest.mark.parametrize("release, script", NEWER)
def test_functions_are_those_that_ran(run, release, script):
    trace, truth, outcome = run(release, script)
    assert same(rows_of(trace), true_rows(truth))
    assert len(rows_of(trace)) == ROUNDS + 3
    assert {row["kind"] for row in truth.of("kind") if row["enabled"]} >= {HOST_LAUNCH, GRAPH_HOST_NODE}
    assert b"not recorded" not in outcome.err


@pytest.mark.parametrize("release, script", NEWER)
def test_a_function_has_the_call_that_launched_it(run, release, script):
    trace, _, _ = run(release, script)
    begun = {correlation: (name, start) for name, _, correlation, _, start, _ in trace.call_rows()}
    for _, _, correlation, _, graph, _, start, _ in rows_of(trace):
        name, called = begun[correlation]
        assert name.startswith("cudaGraphLaunch" if graph else "cudaLaunchHostFunc") and called <= start


def test_the_streams_say_how_long(run):
    _, truth, outcome = run("13.3", "host_ns 3000000")
    result = json.loads(gpuprof("stats", "streams", "--json", outcome.bundle).out)
    rows = {row["stream"]: row for row in result["host_functions"]}
    true = {}
    for row in truth.of("host_function"):
        true.setdefault(row["stream"], []).append(row)
    assert rows.keys() == true.keys() and len(rows) == 2
    for stream, row in rows.items():
        durations = [each["end"] - each["start"] for each in true[stream]]
        assert int(row["count"]) == len(durations)
        assert int(row.get("graph_node_count", 0)) == sum(each["graph"] != 0 for each in true[stream])
        assert abs(int(row["total_ns"]) - sum(durations)) < 1_000 * len(durations)
        assert abs(int(row["mean_ns"]) - 3_000_000) < 1_000 and abs(int(row["max_ns"]) - 3_000_000) < 1_000
    # Nothing runs beside the functions; the last one ends behind the last kernel.
    one = rows[truth.of("kernel")[0]["stream"]]
    assert abs(int(one["idle_ns"]) - int(one["total_ns"]) + 3_000_000) < 10_000
    text = gpuprof("stats", "streams", outcome.bundle).out.decode()
    assert "Functions that streams ran on the host" in text
    gaps = json.loads(gpuprof("stats", "idle", "--json", outcome.bundle).out)["gaps"]
    assert sum(int(gap["host_function_ns"] or 0) for gap in gaps) == sum(int(row["idle_ns"]) for row in rows.values())
    assert "in host functions" in gpuprof("stats", "idle", outcome.bundle).out.decode()


def test_they_are_in_the_dump_and_in_the_export(run, tmp_path):
    trace, _, outcome = run("13.3")
    lines = [line for line in gpuprof("dump", outcome.bundle).out.decode().splitlines() if " host_function " in line]
    assert len(lines) == ROUNDS + 3
    assert all(" duration_ns=" in line and " stream=" in line and " correlation=" in line for line in lines)
    assert sum(" graph=" in line for line in lines) == 2
    file = tmp_path / "trace.json"
    done = gpuprof("export", outcome.bundle, "-o", file)
    assert done.status == 0 and b"host_function" not in done.err
    events = [event for event in json.loads(file.read_text())["traceEvents"] if event.get("cat") == "host_function"]
    assert sorted((event["tid"], event["args"]["correlation"], event["args"]["thread"]) for event in events) == \
        sorted((stream, correlation, thread) for _, stream, correlation, thread, *_ in rows_of(trace))


@pytest.mark.parametrize("release", OLDER)
def test_an_older_cupti_works_without_them(run, release):
    trace, truth, outcome = run(release)
    assert rows_of(trace) == [] and len(truth.of("host_function")) == ROUNDS + 3
    assert same(trace.kernel_rows(), truth.kernels())
    assert outcome.words.count("gpuprof: ") == len(outcome.words.splitlines()) and "not recorded" not in outcome.words
    assert not any(row["kind"] in (HOST_LAUNCH, GRAPH_HOST_NODE) for row in truth.of("kind"))
    result = json.loads(gpuprof("stats", "streams", "--json", outcome.bundle).out)
    assert not result.get("host_functions")
    assert "host functions" not in gpuprof("stats", "streams", outcome.bundle).out.decode()


def test_a_library_that_refuses_them_is_no_harm(run):
    trace, truth, outcome = run("13.3", f"fail cuptiActivityEnable:{HOST_LAUNCH} 27")
    assert {row[4] != 0 for row in rows_of(trace)} == {True} and len(rows_of(trace)) == 2
    assert same(trace.kernel_rows(), truth.kernels())
    assert "cuptiActivityEnable" not in outcome.words
