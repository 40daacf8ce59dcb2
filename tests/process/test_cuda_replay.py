# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Real GPU work, recorded once by torch.profiler and played again through the double of CUPTI (tests/fake_gpu/replay), comes out of
the trace as it went in: every kernel, copy, set and call, to the nanosecond.

A short one is kept in the repository; longer ones are taken from a folder beside the checkout where there is one. They are read
here straight from the JSON, by nothing of the converter's."""

import decimal
import gzip
import json
import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT, gpuprof
from trace_file import read_bundle

DOUBLES = BUILD / "tests" / "fake_gpu"
FOLDER = ROOT / "tests" / "fake_gpu" / "replay"
SAMPLE = FOLDER / "b200_eager.json.gz"
OTHERS = ROOT.parent / "shared" / "data" / "kineto"
PERSONALITIES = [18, 24, 28, 130001, 130300]
# What only looks is not recorded.
IDLE = {"cudaGetDevice", "cudaSetDevice", "cudaGetLastError", "cudaPeekAtLastError", "cudaStreamIsCapturing", "cudaStreamGetCaptureInfo"}

pytestmark = pytest.mark.skipif(not (DOUBLES / "replay" / "replay").exists(), reason="the doubles were not built: no CUDA headers or no nvcc")


def traces():
    found = sorted(OTHERS.glob("*.json.gz"))
    rest = [pytest.param(path, id=path.name.partition(".")[0]) for path in found] or \
        [pytest.param(OTHERS, id="others", marks=pytest.mark.skip(reason=f"no traces of torch.profiler in {OTHERS}"))]
    return [pytest.param(SAMPLE, id="sample"), *rest]


def library_folder(personality):
    """The folder of this release of libcupti."""
    return DOUBLES / ("lib" if personality == 130001 else f"cupti-{personality}")


def replay(record, tmp_path, path, personality=130001, words=(), options=()):
    """The one trace of the recording played again, and the outcome."""
    recording = tmp_path / "recording"
    subprocess.run([sys.executable, str(FOLDER / "kineto_replay.py"), str(path), str(recording)], check=True, capture_output=True)
    libraries = tmp_path / f"libraries{personality}"
    libraries.mkdir(exist_ok=True)
    for file in [*(DOUBLES / "lib").iterdir(), *library_folder(personality).iterdir()]:
        is_ours = not file.name.startswith("libcupti") or file.parent == library_folder(personality)
        if is_ours and not (libraries / file.name).exists():
            (libraries / file.name).symlink_to(file)
    outcome = record([str(DOUBLES / "replay" / "replay"), str(recording), *words], *options,
                     env={"LD_LIBRARY_PATH": str(libraries), "CUDA_HOME": "", "CUDA_PATH": ""})
    assert outcome.status == 0, outcome.err.decode()
    (trace,) = read_bundle(outcome.bundle)
    return trace, outcome


class Json:
    """What the JSON says was done; spans are (start, end) in nanoseconds."""

    COPY = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "HtoH": 9}
    MEMORY = {"Unknown": 0, "Host": 1, "Pageable": 1,  # Host: a trace that names the side alone
              "Pinned": 2, "Device": 3, "Managed": 5}

    def __init__(self, path):
        everything = json.loads(gzip.decompress(path.read_bytes()), parse_float=decimal.Decimal)["traceEvents"]
        self.events = [e for e in everything if e.get("ph") == "X"]

    def of(self, category):
        return [(e, e["args"]) for e in self.events if e.get("cat") == category]

    @staticmethod
    def span(event):
        start, duration = int(event["ts"] * 1000), int(event["dur"] * 1000)
        assert start == event["ts"] * 1000 and duration == event["dur"] * 1000, "the trace is finer than a nanosecond"
        return start, start + duration

    @staticmethod
    def place(arguments):
        # Where a runtime is not NVIDIA's there are no contexts.
        return arguments["device"], arguments.get("context", 0), arguments["stream"]

    @staticmethod
    def node(arguments):
        return arguments.get("graph id", 0), arguments.get("graph node id", 0)

    def kernels(self):
        return [(e["name"], *self.place(a), tuple(a.get("grid", (0, 0, 0))), tuple(a.get("block", (0, 0, 0))),
                 a.get("registers per thread", 0), a.get("shared memory", 0), a["correlation"], *self.node(a), *self.span(e))
                for e, a in self.of("kernel")]

    def copies(self):
        rows = []
        for e, a in self.of("gpu_memcpy"):
            kind, source, target = re.fullmatch(r"Memcpy (\w+) \((.*) -> (.*)\)", e["name"]).groups()
            rows.append((self.COPY[kind], self.MEMORY[source], self.MEMORY[target], *self.place(a), a["bytes"], a["correlation"],
                         *self.node(a), *self.span(e)))
        return rows

    def sets(self):
        return [(self.MEMORY[re.fullmatch(r"Memset \((.*)\)", e["name"])[1]], *self.place(a), a["bytes"], a["correlation"], *self.node(a),
                 *self.span(e)) for e, a in self.of("gpu_memset")]

    def calls(self, without=frozenset()):
        """Those that CUPTI knows, of the runtime and the driver, by thread as a trace numbers it. INVALID names no function."""
        return [(e["name"], e["tid"] % 2**32, a["correlation"], *self.span(e))
                for e, a in self.of("cuda_runtime") + self.of("cuda_driver") if "cbid" in a and e["name"] != "INVALID" and re.sub(r"_v\d+$", "", e["name"]) not in without]


def spans(table):
    return list(zip((int(t) - int(d) for t, d in zip(table["time"], table["duration"])), map(int, table["time"])))


def trace_kernels(trace):
    rows = []
    for track, signature, correlation, graph, node, span in zip(
            *(trace.kernels[c] for c in ("track", "signature", "correlation", "graph", "graph_node")), spans(trace.kernels)):
        launch, place = trace.signatures[int(signature)], trace.streams[int(track)]
        assert (launch["device"], launch["context"]) == place[:2], "a kernel's signature and its stream tell of different places"
        rows.append((trace.strings[launch["name"]], *place, launch["grid"], launch["block"], launch["registers"],
                     launch["static_smem"] + launch["dynamic_smem"], int(correlation), int(graph), int(node), *span))
    return rows


def trace_copies(trace):
    table = trace.copies
    return [(int(o) & 0xff, int(o) >> 8 & 0xff, int(o) >> 16 & 0xff, *trace.streams[int(t)], int(b), int(c), int(g), int(n), *span)
            for t, o, b, c, g, n, span in zip(*(table[c] for c in ("track", "operation", "bytes", "correlation", "graph", "graph_node")),
                                              spans(table))]


def trace_sets(trace):
    table = trace.sets
    return [(int(o) >> 16 & 0xff, *trace.streams[int(t)], int(b), int(c), int(g), int(n), *span)
            for t, o, b, c, g, n, span in zip(*(table[c] for c in ("track", "operation", "bytes", "correlation", "graph", "graph_node")),
                                              spans(table))]


def trace_calls(trace):
    """As Json.calls: CUPTI's names end in the CUDA release that the function is of."""
    for _, _, _, result, _, _ in trace.call_rows():
        assert result == 0
    return [(re.sub(r"_v\d{4,5}$", "", name), tid, correlation, start, end) for name, tid, correlation, _, start, end in trace.call_rows()]


def assert_equal(recorded, true, shift, what):
    """The same rows, after the one shift."""
    recorded = sorted((*row[:-2], row[-2] - shift, row[-1] - shift) for row in recorded)
    true = sorted(true)
    if recorded == true:
        return
    missing, added = sorted(set(true) - set(recorded)), sorted(set(recorded) - set(true))
    raise AssertionError(f"{what}: {len(recorded)} rows, {len(true)} in the JSON; {len(missing)} are missing, the first {missing[:2]}; "
                         f"{len(added)} are others, the first {added[:2]}")


def check(trace, true, without):
    assert trace.lost == 0, trace.losses
    work = true.kernels() + true.copies() + true.sets()
    assert len(work) > 0
    recorded = trace_kernels(trace) + trace_copies(trace) + trace_sets(trace)
    # One shift for everything, calls included: to the double's clock.
    shift = min(row[-2] for row in recorded) - min(row[-2] for row in work)
    assert_equal(trace_kernels(trace), true.kernels(), shift, "kernels")
    assert_equal(trace_copies(trace), true.copies(), shift, "copies")
    assert_equal(trace_sets(trace), true.sets(), shift, "sets")
    assert_equal(trace_calls(trace), true.calls(without), shift, "calls")


@pytest.mark.parametrize("path", traces())
def test_a_trace_is_what_was_played(record, tmp_path, path):
    trace, outcome = replay(record, tmp_path, path)
    true = Json(path)
    check(trace, true, IDLE)
    result = json.loads(gpuprof("stats", "kernels", "--json", outcome.bundle).out)
    assert result["count"] == len(true.kernels())
    assert result["total_ns"] == sum(row[-1] - row[-2] for row in true.kernels())
    # Each kernel that had a call in the JSON, of the runtime or the driver, has it in the table.
    calls = {row[2] for row in true.calls(IDLE)}
    assert sum(kernel["launched_count"] for kernel in result["kernels"]) == sum(row[-5] in calls for row in true.kernels())


@pytest.mark.parametrize("path", traces())
def test_tables_show_short_names_and_fit(record, tmp_path, path):
    _, outcome = replay(record, tmp_path, path)
    rows = json.loads(gpuprof("stats", "kernels", "--json", outcome.bundle).out)["kernels"]
    assert {row["name"] for row in rows} >= {row[0] for row in Json(path).kernels() if not row[0].startswith("_Z")}
    short_names = {}
    for row in rows:
        assert short_names.setdefault(row["short_name"], row["name"]) == row["name"], "two kernels have one short name"
    for table in ("kernels", "overview", "api", "ops", "streams", "sync", "memcpy"):
        lines = gpuprof("stats", table, "--limit", "0", outcome.bundle).out.decode().splitlines()
        assert max((len(line) for line in lines if re.match(r"  \S.*\S  +\S", line)), default=0) <= 120
    table = gpuprof("stats", "kernels", "--limit", "0", outcome.bundle).out.decode().splitlines()
    shown = [re.match(r"  (\S.*?)  ", line).group(1) for line in table if re.match(r"  \S.*? {2,}\d", line)]
    assert len(shown) == len(set(shown)) == len(rows), "rows are told apart by what is left of a name"
    assert max(map(len, gpuprof("stats", "kernels", "--limit", "0", "--width", "80", outcome.bundle).out.decode().splitlines()[1:])) <= 80
    wide = gpuprof("stats", "kernels", "--limit", "0", "--wide", outcome.bundle).out.decode()
    assert all(row["name"] in wide for row in rows)


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_each_release_delivers_the_same(record, tmp_path, personality):
    trace, _ = replay(record, tmp_path, SAMPLE, personality)
    check(trace, Json(SAMPLE), IDLE)


def test_what_comes_while_it_happens_is_the_same(record, tmp_path):
    trace, _ = replay(record, tmp_path, SAMPLE, words=["live"])
    check(trace, Json(SAMPLE), IDLE)


def test_without_gpu_tracing_nothing_is_recorded(record, tmp_path):
    trace, _ = replay(record, tmp_path, SAMPLE, options=["--trace=threads"])
    assert len(trace.kernels["time"]) == len(trace.calls["time"]) == 0
