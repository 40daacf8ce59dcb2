# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""The timeline's own answers are those of the passes, also where they are estimates."""

import csv

import pytest

from conftest import assert_quiet, gpuprof, missing, probe, stats, write_report
from fake_gpu import DOUBLES, environment_of, needs_doubles

pytestmark = [needs_doubles, pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing")]


def test_sampled_gpu_work_is_scaled_as_in_stats(tmp_path):
    """With --gpu-rate a row stands for several kernels: a range of the page counts them all, as `stats kernels` does."""
    environment = environment_of(tmp_path / "truth.json", "kernel_ns 0; launch_ns 0")
    bundle = tmp_path / "sampled"
    program = DOUBLES / "programs" / "generator"
    done = gpuprof("run", "-o", bundle, "--trace", "cuda", "--gpu-rate=20000", "--", program, 60_000, cwd=tmp_path, **environment)
    assert done.returncode == 0, done.stderr
    told = stats("kernels", bundle, cwd=tmp_path)
    (kernel,) = told["kernels"]
    (file,) = [path for path in bundle.glob("p*.gpt")]
    dump = gpuprof("dump", file, cwd=tmp_path).stdout
    assert b" weight=" in dump
    assert kernel["count"] > dump.count(b" kernel ")

    begin, end = told["meta"]["window_start_ns"], told["meta"]["window_end_ns"] + 1
    page = write_report(bundle, tmp_path)
    seen = probe(page, tmp_path, f"narrow:{begin},{end}", f"text:timeline?v={begin},{end}", "csv:kernels")
    assert_quiet(seen)
    # Also a page from disk computes beside what it draws, all in one worker.
    assert seen["workers"] == 1
    assert "estimates: one in " in seen["text"][f"timeline?v={begin},{end}"]
    with open(seen["csv"]["kernels"], newline="", encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if row["kernel"] == kernel["short_name"]]
    assert int(row["count"]) == kernel["count"]
    assert float(row["total, ms"]) == pytest.approx(kernel["total_ns"] / 1e6, abs=1e-6)
