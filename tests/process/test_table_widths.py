# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Tables of text fit 120 columns, of every committed trace, and so does all text of kernels. JSON and CSV have all columns."""

import csv
import io
import json

import pytest

from conftest import ROOT, gpuprof

GOLDEN = ROOT / "tests/golden"
TRACES = [*sorted((GOLDEN / "kineto").glob("*.json.gz")), *sorted((GOLDEN / "traces/h200/pytorch").glob("*.json.gz")),
          *(GOLDEN / "traces/h200/pytorch" / name for name in ("images", "generate", "language_model")),
          *sorted((GOLDEN / "xspace").glob("*.pb.gz")), *sorted((GOLDEN / "traces/v1").glob("*.gpt"))]
PASSES = ["advise", "api", "counters", "critical_path", "device_memory", "files", "graphs", "heap", "idle", "kernels", "locks", "memcpy", "ops",
          "overhead", "overlap", "python", "ranges", "steps", "streams", "sync", "threads", "unified_memory", "health", "overview"]
KERNEL_KEYS = ["name", "op", "signature", "stream"]
WIDEST = 120


def text(words, trace, *options):
    done = gpuprof("stats", *words, trace, *options)
    assert done.status in (0, 3), done.err.decode()
    return done.out.decode()


def table_lines(lines):
    """Lines of tables: a head and rows that have two gaps of two spaces or more. Prose has single spaces."""
    return [line for line in lines if line.startswith("  ") and len(line.strip().split("  ")) > 2]


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name.partition(".")[0] + ("_json" if path.name.endswith(".json.gz") else ""))
def test_tables_fit(trace):
    seen = 0
    for words in [[name] for name in PASSES] + [["kernels", "--by", key] for key in KERNEL_KEYS]:
        lines = text(words, trace).splitlines()
        found = table_lines(lines)
        seen += len(found)
        assert max(map(len, found), default=0) <= WIDEST, (words, max(found, key=len))
        if words[0] == "kernels":
            assert max(map(len, lines)) <= WIDEST, (words, max(lines, key=len))
    assert seen > 3


def test_what_a_table_leaves_out_is_in_json_and_csv():
    trace = GOLDEN / "traces/h200/pytorch/images"
    narrow, wide = (text(["kernels"], trace, *options) for options in ([], ["--wide"]))
    assert "(no room for: " in narrow and "--wide shows all)" in narrow
    assert "no room for" not in wide and max(map(len, wide.splitlines())) > WIDEST
    left_out = narrow.partition("(no room for: ")[2].partition(";")[0].split(", ")
    fields = {"median": "median_ns", "min": "min_ns", "grid": "grid", "block": "block", "limit": "occupancy_limit", "waves": "wave_count"}
    assert left_out and set(left_out) <= set(fields)
    kernel = json.loads(text(["kernels"], trace, "--json"))["kernels"][0]
    row = next(csv.DictReader(io.StringIO(text(["kernels"], trace, "--csv"), newline="")))
    for title in left_out:
        assert fields[title] in kernel and fields[title] in row
