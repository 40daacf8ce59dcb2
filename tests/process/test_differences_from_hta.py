# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""HolisticTraceAnalysis next to gpuprof, on traces of real GPUs: a figure is equal, or a rule explains the difference exactly.

docs/differences-from-hta.md holds the table. GPUPROF_UPDATE_GOLDEN=1 writes it anew.
"""

import decimal
import functools
import gzip
import json
import os
import re
import subprocess

import pytest

from conftest import ROOT, gpuprof

PYTHON = ROOT / ".deps" / "hta" / "bin" / "python"
PAGE = ROOT / "docs" / "differences-from-hta.md"
BEGIN, END = "<!-- made by tests/process/test_differences_from_hta.py -->", "<!-- end of what the test makes -->"
TRACES = {
    "compiled network, H200": "tests/golden/kineto/h200_compiled.json.gz",
    "three streams, H200": "tests/golden/kineto/h200_streams.json.gz",
    "generation of text, H200": "tests/golden/traces/h200/pytorch/generate.json.gz",
    "training on images, H200": "tests/golden/traces/h200/pytorch/images.json.gz",
    "eager inference, B200": "tests/fake_gpu/replay/b200_eager.json.gz",
}
LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync")
COLLECTIVE = re.compile(r"nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|cross_device_reduce|SendRecv", re.I)

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="HolisticTraceAnalysis is not installed: scripts/setup --only test")


def stats(name, trace, *options):
    done = gpuprof("stats", name, "--json", *options, trace)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def union(spans):
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif end > start:
            merged.append([start, end])
    return merged


class Reading:
    """The device's work in a trace of torch.profiler, event by event."""

    def __init__(self, path):
        with gzip.open(path) as file:
            document = json.load(file, parse_float=decimal.Decimal)
        self.calls, self.work, self.streams = {}, [], {}
        for event in document["traceEvents"]:
            if event.get("ph") != "X":
                continue
            span = tuple(int(decimal.Decimal(x) * 1000) for x in (event["ts"], decimal.Decimal(event["ts"]) + decimal.Decimal(event["dur"])))
            correlation = event.get("args", {}).get("correlation")
            if event["cat"] in ("cuda_runtime", "cuda_driver") and correlation is not None:
                self.calls.setdefault(correlation, (event["name"], *span))
            elif event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                self.work.append((event["name"], event["cat"], correlation, *span))
                self.streams.setdefault(event["args"]["stream"], []).append(span)

    def spans(self, is_one):
        return union(row[3:] for row in self.work if is_one(row))

    def overlaps(self):
        """The time by which work begins before the work in front of it on the same stream ends."""
        rows = [sorted(spans) for spans in self.streams.values()]
        return sum(max(0, before[1] - after[0]) for spans in rows for before, after in zip(spans, spans[1:]))

    def whole_microseconds(self, is_one):
        """The library divides the time at each begin and end of a stretch of any type, and drops the fractions."""
        own = self.spans(is_one)
        others = self.spans(lambda row: not is_one(row))
        edges = sorted({moment for span in (*own, *others) for moment in span})
        total = {True: 0, False: 0}
        for start, end in zip(edges, edges[1:]):
            covers = lambda spans: any(a <= start and end <= b for a, b in spans)
            if covers(own):
                total[covers(others)] += (end - start) // 1000
        return total


def length(spans):
    return sum(end - start for start, end in spans)


@functools.lru_cache(maxsize=None)
def figures(name):
    """(figure, theirs, ours, rule): numbers in microseconds; the rule is "" if they are equal."""
    path = ROOT / TRACES[name]
    done = subprocess.run([PYTHON, ROOT / "tests/process/hta_figures.py", path], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    reading = Reading(path)
    (overlap,), (idle,) = stats("overlap", path)["devices"], stats("idle", path)["devices"]
    kernels, api = stats("kernels", path), stats("api", path)
    rows = []

    def add(figure, their, our, rule="", explained=None):
        """`explained`: what the rule makes of gpuprof's figure."""
        is_equal = their == pytest.approx(our, abs=0.5, rel=1e-4)
        assert is_equal or explained == pytest.approx(their, abs=0.5, rel=1e-4), (name, figure, their, our, explained)
        rows.append((figure, their, our, "" if is_equal else rule))

    is_memory = lambda row: row[1] != "kernel"
    hidden = length(reading.spans(lambda row: row[1] == "kernel" and COLLECTIVE.search(row[0]) and "nccl" not in row[0]))
    add("idle", theirs["times"]["idle_time(us)"], overlap["idle_ns"] / 1000)
    add("compute", theirs["times"]["compute_time(us)"], overlap["compute_ns"] / 1000, "names", (overlap["compute_ns"] + hidden) / 1000)
    rest = overlap["busy_ns"] - overlap["compute_ns"]
    add("not compute", theirs["times"]["non_compute_time(us)"], rest / 1000, "names", (rest - hidden) / 1000)
    for part in ("host_wait", "kernel_wait", "other"):
        ns = idle[f"hta_{part}_ns"]
        add(f"idle, {part}", theirs["idle"][part], ns / 1000, "overlaps", (ns - reading.overlaps()) / 1000 if part == "kernel_wait" else None)

    own = {row["mangled"] or row["name"]: row["total_ns"] / 1000 for row in kernels["kernels"]}
    named = {row: total for row, total in theirs["kernels"].items() if not row.startswith("Mem")}
    assert set(own) == set(named)
    add("kernels, names", len(named), len(own))
    add("kernels, largest difference of a name", 0.0, max(abs(own[row] - named[row]) for row in own))
    types = theirs["types"]
    pieces = {
        "COMPUTATION": (lambda row: row[1] == "kernel" and not row[0].startswith("nccl"), overlap["compute_ns"] - overlap["compute_and_copy_ns"]),
        "MEMORY": (is_memory, overlap["copy_ns"] - overlap["compute_and_copy_ns"]),
        "COMMUNICATION": (lambda row: row[0].startswith("nccl"), overlap["collective_ns"]),
    }
    for kind, (is_one, ns) in pieces.items():
        if kind in types:
            rule = "names, whole" if kind != "MEMORY" and hidden else "whole"
            add(f"type {kind}", types[kind], ns / 1000, rule, reading.whole_microseconds(is_one)[False])
    together = types.get("COMPUTATION overlapping MEMORY")
    if together is not None:
        add("type COMPUTATION overlapping MEMORY", together, overlap["compute_and_copy_ns"] / 1000, "whole",
            reading.whole_microseconds(is_memory)[True])

    launching = [row for row in reading.work if row[2] in reading.calls]
    counted = [row for row in launching if reading.calls[row[2]][0] in LAUNCHES]
    works = sum(row["work_count"] for row in api["calls"])
    assert works == len(launching)
    add("launches", len(theirs["launches"]), works, "functions", len(counted))
    with_work = [row for row in api["calls"] if row["work_count"]]
    calls_ns = sum(row["total_ns"] for row in with_work)
    of_counted = {row[2] for row in counted}
    explained = sum(end - start for correlation, (_, start, end) in reading.calls.items() if correlation in of_counted)
    add("launches, time of the calls", sum(cpu for cpu, _ in theirs["launches"].values()), calls_ns / 1000, "functions", explained / 1000)
    delay_ns = sum(row["mean_delay_ns"] * row["work_count"] for row in api["calls"])
    assert delay_ns == pytest.approx(sum(row[3] - reading.calls[row[2]][1] for row in launching), abs=works)
    explained = sum(max(0, row[3] - reading.calls[row[2]][2]) for row in counted)
    rule = "delay" if len(counted) == works else "functions, delay"
    add("launches, delay", theirs["launch_delay"], delay_ns / 1000, rule, explained / 1000)

    ratio = overlap["hidden_collective_ratio"]
    if theirs["overlap"] is None:
        assert ratio is None
    else:
        add("collectives hidden by compute, %", theirs["overlap"], 100 * ratio)
    return rows


def table():
    lines = [BEGIN]
    for name in TRACES:
        lines += ["", f"### {name[0].upper()}{name[1:]}", "", "| figure | HTA | gpuprof | rule |", "|---|--:|--:|---|"]
        for figure, their, our, rule in figures(name):
            show = lambda value: f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
            lines.append(f"| {figure} | {show(their)} | {show(our)} | {rule} |")
    return "\n".join([*lines, "", END])


@pytest.mark.parametrize("name", TRACES)
def test_each_figure_is_equal_or_explained(name):
    assert len(figures(name)) >= 12


def test_the_page_holds_what_both_say_today():
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    if os.environ.get("GPUPROF_UPDATE_GOLDEN"):
        PAGE.write_text(before + table() + after, encoding="utf-8")
        return
    assert BEGIN + rest.split(END)[0] + END == table(), "run once with GPUPROF_UPDATE_GOLDEN=1, and review the page"


def test_the_page_explains_each_rule():
    page = PAGE.read_text(encoding="utf-8")
    used = {rule for name in TRACES for row in figures(name) for rule in row[3].split(", ") if rule}
    assert used, "without a difference the page is not needed"
    for rule in used:
        assert f"| {rule} |" in page.split(BEGIN)[0], rule
