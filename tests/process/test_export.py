# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof export -f chrome`: the file has the form that Kineto writes, and tells what the bundle tells."""

import collections
import gzip
import json
import subprocess

import pytest

from chrome_json import check, text_of
from conftest import GPUPROF, clean_environment, gpuprof, program
from fake_gpu import DOUBLES, environment_of, needs_doubles
from test_cuda_buffers import golden, played  # noqa: F401
from test_cuda_replay import IDLE, SAMPLE, Json, assert_equal, replay
from trace_file import read_bundle


def export(bundle, path, *options):
    done = gpuprof("export", bundle, "-f", "chrome", "-o", path, *options)
    assert done.status == 0, done.err.decode()
    return done.err.decode()


@pytest.fixture
def on_gpu(record, tmp_path):
    """on_gpu(program): the bundle of a program on the doubles."""

    def run(name, *arguments):
        outcome = record([str(DOUBLES / "programs" / name), *arguments], env=environment_of(tmp_path / "truth.json"))
        assert outcome.status == 0, outcome.err.decode()
        return outcome.bundle

    return run


@needs_doubles
@pytest.mark.parametrize("name", ["vector_add", "graphs", "events", "pools", "threads", "driver_api", "marks"])
def test_the_form_is_kinetos(on_gpu, tmp_path, name):
    bundle = on_gpu(name)
    export(bundle, tmp_path / "trace.json")
    found = check(tmp_path / "trace.json")
    (trace,) = read_bundle(bundle)
    kernels = [(e["name"], e["args"]["stream"], e["args"]["correlation"], *found.span(e)) for e in found.of("kernel")]
    assert len(kernels) == len(trace.kernels["time"]) > 0
    counted = json.loads(gpuprof("stats", "kernels", "--json", bundle).out)
    assert collections.Counter(k[0] for k in kernels) == {row["name"]: row["count"] for row in counted["kernels"]}
    assert sum(k[4] - k[3] for k in kernels) == counted["total_ns"]
    # The reader of the tests tells when the kernels ran, by the wall clock. It may be a little beside ours.
    true = sorted(((k[1], k[7], *k[-2:]) for k in trace.kernel_rows()), key=lambda k: k[-2:])
    for ours, theirs in zip(sorted(kernels, key=lambda k: k[-2:]), true):
        assert ours[1:3] == theirs[:2] and abs(ours[3] - theirs[2]) < 100_000
    assert len(found.of("cuda_runtime", "cuda_driver")) == len(trace.calls["time"])
    assert all(e["args"]["cbid"] > 0 for e in found.of("cuda_runtime", "cuda_driver"))
    assert len(found.of("gpu_memcpy")) == len(trace.copies["time"])
    assert len(found.of("gpu_memset")) == len(trace.sets["time"])
    assert all(e["args"]["stream"] != 0 for e in found.of("kernel", "gpu_memcpy", "gpu_memset"))
    with_call = {int(c) for c in trace.calls["correlation"]}
    assert {arrow["id"] for arrow in found.arrows("f")} == \
        {e["args"]["correlation"] for e in found.of("kernel", "gpu_memcpy", "gpu_memset")} & with_call


@needs_doubles
def test_work_of_a_real_gpu_comes_out_as_it_went_in(record, tmp_path):
    """A file of torch.profiler is played again, recorded and exported."""
    _, outcome = replay(record, tmp_path, SAMPLE)
    exported = tmp_path / "trace.json.gz"
    export(outcome.bundle, exported)
    check(exported)
    ours, true = Json(exported), Json(SAMPLE)
    shift = min(row[-2] for row in ours.kernels() + ours.copies() + ours.sets()) - \
        min(row[-2] for row in true.kernels() + true.copies() + true.sets())
    assert_equal(ours.kernels(), true.kernels(), shift, "kernels")
    assert_equal(ours.copies(), true.copies(), shift, "copies")
    assert_equal(ours.sets(), true.sets(), shift, "sets")
    assert_equal(ours.calls(), true.calls(IDLE), shift, "calls")


@needs_doubles
@pytest.mark.parametrize("path", golden())
def test_bytes_of_a_real_gpu(played, tmp_path, path):
    """CUPTI's own bytes of an H200, handed out again by the double of CUPTI."""
    trace, bundle = played(path)
    export(bundle, tmp_path / "trace.json")
    found = check(tmp_path / "trace.json")
    assert len(found.of("kernel")) == len(trace.kernels["time"])
    assert sorted(e["args"]["bytes"] for e in found.of("gpu_memcpy")) == sorted(map(int, trace.copies["bytes"]))
    assert len(found.of("cuda_runtime", "cuda_driver")) == len(trace.calls["time"])
    waits = collections.Counter(e["name"] for e in found.of("cuda_sync"))
    assert sum(waits.values()) == len(trace.syncs["time"])


@needs_doubles
def test_ranges_of_a_thread_are_annotations(on_gpu, tmp_path):
    export(on_gpu("marks", "3", "profiler"), tmp_path / "trace.json")
    found = check(tmp_path / "trace.json")
    assert [e["name"] for e in found.of("user_annotation")] == ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"]
    assert len([e for e in found.of("cuda_sync") if e["name"] == "Stream Sync"]) == 1


@needs_doubles
def test_ranges_between_threads_have_a_begin_and_an_end(on_gpu, tmp_path):
    assert " range" not in export(on_gpu("marks", "3", "started"), tmp_path / "trace.json")
    found = check(tmp_path / "trace.json")
    assert found.of("user_annotation") == []
    begins, ends = found.arrows("b"), found.arrows("e")
    assert [e["name"] for e in begins] == [e["name"] for e in ends] == ["iteration"] * 3
    assert len({e["id"] for e in begins}) == 3 and {e["tid"] for e in begins}.isdisjoint(e["tid"] for e in ends)


def test_rows_without_a_place_are_counted(record, tmp_path):
    outcome = record([program("heap_truth"), "1", "3", "512"], "--trace=heap=exact")
    assert outcome.status == 0, outcome.err.decode()
    (trace,) = read_bundle(outcome.bundle)
    said = export(outcome.bundle, tmp_path / "trace.json")
    assert f"{len(trace.heap['time']):,} heap" in said
    assert check(tmp_path / "trace.json").of("kernel") == []


def test_compressed_plain_and_standard_output_are_the_same(record, tmp_path):
    outcome = record([program("heap_truth"), "1", "3", "512"])
    export(outcome.bundle, tmp_path / "t.json")
    export(outcome.bundle, tmp_path / "t.json.gz")
    piped = gpuprof("export", outcome.bundle, "-o", "-").out
    events = json.loads(piped)["traceEvents"]
    assert events == json.loads(text_of(tmp_path / "t.json"))["traceEvents"] == json.loads(gzip.decompress((tmp_path / "t.json.gz").read_bytes()))["traceEvents"]


def test_files_are_not_overwritten(record, tmp_path):
    outcome = record([program("heap_truth"), "1", "3", "512"])
    (tmp_path / "t.json").write_text("mine")
    done = gpuprof("export", outcome.bundle, "-o", tmp_path / "t.json")
    assert done.status == 2 and b"t.json exists already; remove it, or name another file with -o FILE" in done.err
    assert (tmp_path / "t.json").read_text() == "mine"


def test_an_export_that_fails_leaves_no_file(record, tmp_path):
    outcome = record([program("heap_truth"), "1", "3", "512"])
    done = gpuprof("export", outcome.bundle, "-o", tmp_path / "t.json", "--pid", "1")
    assert done.status == 2 and b"no process 1" in done.err
    assert not (tmp_path / "t.json").exists()
    limited = subprocess.run(["bash", "-c", 'ulimit -f 0; trap "" XFSZ; exec "$@"', "-", str(GPUPROF), "export", str(outcome.bundle), "-o", str(tmp_path / "t.json")],
                             capture_output=True, env=clean_environment())
    assert limited.returncode == 3 and b"cannot be written" in limited.stderr, limited.stderr
    assert not (tmp_path / "t.json").exists()


@pytest.mark.parametrize("words, said", [
    (["-f", "parchment", "-o", "x"], b"not a format"),
    ([], b"the file is missing"),
    (["-o", "missing-folder/x"], b"cannot be created"),
])
def test_wrong_usage(record, words, said):
    outcome = record([program("heap_truth"), "1", "3", "512"])
    done = gpuprof("export", outcome.bundle, *words)
    assert done.status == 2 and said in done.err, done.err
