# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of ranks: a column a rank, groups of equal ranks, and steps. Its figures are those of `gpuprof stats pods`."""

import pytest

from conftest import ROOT, assert_quiet, missing, probe, stats, write_report
from drawn_jobs import Job
from test_pictures import no_faults, plain
from test_report import duration

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing")


def test_a_rank_that_differs_is_named(tmp_path):
    job = Job(ranks=24, ranks_per_host=8, steps=8, seed=3, more=lambda rank, step: {"backward": 9.0} if rank == 17 else {}).write(tmp_path / "job")
    told = stats("pods", job, cwd=tmp_path)
    chart = "The mean step of each of 24 ranks"
    steps = "Each of 8 steps"
    seen = probe(write_report(job, tmp_path), tmp_path, "text:pods", f"keys:{chart}=ArrowRight ArrowRight", "said", f"keys:{steps}=ArrowRight", "said",
                 f"keys:{chart}={' '.join(['ArrowRight'] * 18)}", "said",
                 "press:Show every step", "csv:pods", "inspect:pods")
    assert_quiet(seen)
    assert no_faults(seen)
    text = plain(seen["text"]["pods"])
    assert plain(told["verdict"]) in text and "Rank 17 needs" in text
    assert "24 ranks on 3 hosts" in text
    odd = next(row for row in told["ranks"] if row["outlier"])
    assert odd["rank"] == 17
    for group in told["groups"]:
        assert group["name"] in text
    second = told["ranks"][1]
    said = plain(seen["said"][0])
    assert said.startswith(f"{second['name']}, device 0 on {second['host']}: {plain(duration(second['step_ns']))}")
    assert f"Waits for other ranks {plain(duration(second['wait_ns']))}" in said
    last = plain(seen["said"][2])
    assert last.startswith(f"{odd['name']}, device 0 on host02: ") and f"Backward {plain(duration(odd['backward_ns']))}" in last
    assert f"Step 0: {plain(duration(told['steps'][0]['step_ns']))}" in plain(seen["said"][1])


@pytest.mark.parametrize("name, rows", [("stragglers", "ranks"), ("communication", "ranks")])
def test_pages_next_to_ranks_say_what_the_command_says(tmp_path, name, rows):
    job = Job(ranks=6, ranks_per_host=3, steps=12, seed=8, more=lambda rank, step: {"backward": 9.0} if rank == 4 else {}).write(tmp_path / "job")
    told = stats(name, job, cwd=tmp_path)
    seen = probe(write_report(job, tmp_path), tmp_path, f"text:{name}", f"inspect:{name}")
    assert_quiet(seen)
    assert no_faults(seen)
    text = plain(seen["text"][name])
    assert told["words"] and plain(told["words"]) in text and "ank 4" in told["words"]
    assert all(row["name"] in text for row in told[rows])


def test_a_program_of_one_rank_has_no_ranks(tmp_path):
    bundle = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch" / "language_model"
    seen = probe(write_report(bundle, tmp_path), tmp_path, "text:pods", "inspect:pods")
    assert_quiet(seen)
    assert "Read the folder of a whole job." in plain(seen["text"]["pods"])
