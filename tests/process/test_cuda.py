# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs that nvcc built, on a simulated GPU (tests/fake_gpu): what is recorded through CUPTI is what the device truly did."""

import collections
import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, LIBRARIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles


@pytest.fixture
def on_gpu(record, tmp_path):
    """on_gpu(program, *options): its trace and what truly happened."""

    def run(name, *options, arguments=(), environment=None):
        truth = tmp_path / "truth.json"
        truth.unlink(missing_ok=True)
        env = {**environment_of(truth), **(environment or {})}
        outcome = record([str(DOUBLES / "programs" / name), *arguments], *options, env=env)
        assert outcome.status == 0, outcome.err.decode()
        (trace,) = read_bundle(outcome.bundle)
        found = Truth(truth)
        assert found.of("violation") == [], "something was called where the real library forbids it"
        return trace, found, outcome

    return run


def counts(rows, key):
    return collections.Counter(key(row) for row in rows)


@pytest.mark.parametrize("name", ["vector_add", "graphs", "events", "pools", "threads", "driver_api"])
def test_kernels_are_those_that_ran(on_gpu, name):
    trace, truth, _ = on_gpu(name)
    assert trace.lost == 0, trace.losses
    recorded, true = trace.kernel_rows(), truth.kernels()
    assert len(true) > 0
    assert counts(recorded, lambda k: k[:8]) == counts(true, lambda k: k[:8])
    # The double's own clock may be read a little beside ours.
    for ours, theirs in zip(sorted(recorded, key=lambda k: (k[7], k[1], k[-1])), sorted(true, key=lambda k: (k[7], k[1], k[-1]))):
        assert abs(ours[-2] - theirs[-2]) < 50_000 and abs((ours[-1] - ours[-2]) - (theirs[-1] - theirs[-2])) < 1_000


@pytest.mark.parametrize("name", ["vector_add", "graphs", "pools"])
def test_copies_and_sets_are_those_that_were_made(on_gpu, name):
    trace, truth, _ = on_gpu(name)
    kinds = {1: "htod", 2: "dtoh", 8: "dtod", 9: "htoh", 10: "ptop"}
    recorded = [(kinds[int(o) & 0xff], int(b), int(c)) for o, b, c in
                zip(trace.copies["operation"], trace.copies["bytes"], trace.copies["correlation"])]
    assert sorted(recorded) == sorted((c["kind"], c["bytes"], c["correlation"]) for c in truth.of("copy"))
    recorded = [(int(b), int(v), int(c)) for b, v, c in zip(trace.sets["bytes"], trace.sets["value"], trace.sets["correlation"])]
    # CUPTI does not tell the value that a graph sets.
    assert sorted(recorded) == sorted((s["bytes"], 0 if s["graph"] else s["value"], s["correlation"]) for s in truth.of("set"))


def test_what_cuda_spends_on_itself(on_gpu):
    trace, truth, outcome = on_gpu("vector_add")
    loaded = {kernel["name"] for kernel in truth.of("kernel")}
    assert len(loaded) > 0 and trace.lost == 0
    # Functions are loaded when they are launched for the first time, inside of the call that launches.
    assert list(trace.overheads["operation"]) == [6] * len(loaded)
    assert set(trace.overheads["correlation"]) <= {row["correlation"] for row in truth.of("kernel")}
    assert all(0 < duration < 50_000_000 for duration in trace.overheads["duration"])
    (row,) = json.loads(gpuprof("stats", "overhead", "--json", outcome.bundle).out)["overheads"]
    assert (row["name"], int(row["count"])) == ("lazy_function_loading", len(loaded)) and not row.get("is_recorder", False)
    assert int(row["total_ns"]) == sum(map(int, trace.overheads["duration"]))
    assert "lazy_function_loading" in gpuprof("dump", outcome.bundle).out.decode()


def test_calls_are_those_of_the_program(on_gpu):
    trace, truth, _ = on_gpu("threads")
    true = [c for c in truth.of("api") if c["domain"] == "runtime" and c["correlation"] != 0]
    recorded = trace.call_rows()
    assert counts(recorded, lambda c: (c[1], c[2])) == counts(true, lambda c: (c["tid"], c["correlation"]))
    # The double's truth has names as the program writes them, the library's begin with underlines where a compiler calls, and end in an interface's version.
    by_id = {c["correlation"]: c["name"].lstrip("_") for c in true}
    for name, _, correlation, result, _, _ in recorded:
        assert name.lstrip("_").startswith(by_id[correlation]) and result == 0


def test_each_kernel_has_its_launch_and_starts_after_it(on_gpu):
    trace, _, _ = on_gpu("threads")
    calls = {correlation: start for _, _, correlation, _, start, _ in trace.call_rows()}
    assert len(trace.kernels["time"]) > 0
    for kernel in trace.kernel_rows():
        assert calls[kernel[7]] <= kernel[-2]


def test_kernels_of_a_stream_are_in_order(on_gpu):
    trace, _, _ = on_gpu("threads")
    table = trace.kernels
    for track in set(table["track"].tolist()):
        ours = table["track"] == track
        starts, ends = (table["time"] - table["duration"])[ours], table["time"][ours]
        assert (starts[1:] >= ends[:-1]).all()


def test_stats_tell_what_the_truth_tells(on_gpu):
    _, truth, outcome = on_gpu("vector_add")
    done = gpuprof("stats", "kernels", "--json", outcome.bundle)
    result = json.loads(done.out)
    assert result["count"] == len(truth.of("kernel"))
    assert abs(result["total_ns"] - sum(k["end"] - k["start"] for k in truth.of("kernel"))) < 1000 * result["count"]
    for kernel in result["kernels"]:
        assert kernel["launched_count"] == kernel["count"]


def test_without_the_library_the_program_is_unharmed(record, tmp_path):
    """libcuda and libcudart are there, libcupti is not."""
    folder = tmp_path / "without"
    folder.mkdir()
    for file in LIBRARIES.iterdir():
        if not file.name.startswith("libcupti"):
            (folder / file.name).symlink_to(file)
    outcome = record([str(DOUBLES / "programs" / "vector_add")], env={"LD_LIBRARY_PATH": str(folder), "CUDA_HOME": "", "CUDA_PATH": ""})
    assert outcome.status == 0
    (trace,) = read_bundle(outcome.bundle)
    assert len(trace.kernels["time"]) == 0
