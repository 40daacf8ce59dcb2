# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof stats pods`: steps by rank, held against jobs whose truth was drawn."""

import json

import pytest

from conftest import gpuprof
from drawn_jobs import Job

TIMES = ("input", "forward", "backward", "optimizer", "compute", "copy", "wait", "transfer", "host", "other")


def pods(folder, *options):
    done = gpuprof("stats", "pods", folder, "--json", *options)
    assert done.status == 0, done.err
    return json.loads(done.out)


def near(got_ns, ms, within=0.1):
    assert abs(got_ns / 1e6 - ms) <= within, (got_ns / 1e6, ms)


def check_sums(told):
    for rows in ("ranks", "groups", "steps"):
        for row in told[rows]:
            assert sum(row[f"{time}_ns"] for time in TIMES) == row["step_ns"], row


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_times_of_each_rank_are_those_that_were_drawn(tmp_path, seed):
    slow = seed * 2
    job = Job(ranks=8, steps=12, seed=seed, more=lambda rank, step: {"backward": 6.0} if rank == slow else {})
    told = pods(job.write(tmp_path / "job"))
    check_sums(told)
    assert (told["rank_count"], told["host_count"], told["step_count"]) == (8, 2, 12)
    assert told["time"] == "device" and told["arrivals"] == "matched"
    assert [row["rank"] for row in told["ranks"]] == list(range(8))
    for row in told["ranks"]:
        rank = row["rank"]
        for phase in ("forward", "backward", "optimizer"):
            near(row[f"{phase}_ns"], job.mean(rank, phase), 0.01)
        near(row["input_ns"], job.mean(rank, "input"))
        near(row["wait_ns"], sum(job.waited(rank, step) for step in range(12)) / 12)
        near(row["transfer_ns"], job.transfer)
        assert row["outlier"] == (rank == slow), row
    odd = told["ranks"][slow]
    assert odd["outlier_time"] == "backward"
    near(odd["outlier_ns"], 6.0, 0.5)
    assert f"Rank {slow} needs" in told["verdict"] and "backward" in told["verdict"]
    # Clocks of hosts are aligned by the common ends.
    spread = max(job.clock_ms) - min(job.clock_ms)
    near(told["clock_spread_ns"], spread, 0.01)
    assert told["clock_error_ns"] < 10_000


def test_equal_ranks_are_one_group_and_nobody_is_blamed(tmp_path):
    told = pods(Job(ranks=6, ranks_per_host=3, seed=5).write(tmp_path / "job"))
    assert [group["name"] for group in told["groups"]] == ["ranks 0 to 5"]
    assert not any(row["outlier"] for row in told["ranks"])
    assert "All 6 ranks do equally much." in told["verdict"] and "ank 0" not in told["verdict"]


def test_a_slow_host_is_a_group(tmp_path):
    job = Job(ranks=12, ranks_per_host=4, seed=7, more=lambda rank, step: {"input": 5.0} if rank // 4 == 1 else {})
    told = pods(job.write(tmp_path / "job"))
    assert [(group["name"], group["outlier_time"]) for group in told["groups"]] == [("ranks 0 to 3, 8 to 11", ""), ("ranks 4 to 7", "input")]
    assert "Ranks 4 to 7 need" in told["verdict"] and "more for input" in told["verdict"]
    near(told["groups"][1]["wait_ns"], sum(job.waited(rank, step) for rank in range(4, 8) for step in range(12)) / 48)


def test_kinds_of_equal_size_are_no_outliers(tmp_path):
    told = pods(Job(ranks=8, seed=9, more=lambda rank, step: {"forward": rank // 2 * 4.0}).write(tmp_path / "job"))
    assert len(told["groups"]) == 4 and not any(group["outlier"] for group in told["groups"])
    assert "There are 4 kinds of ranks" in told["verdict"]


def test_each_step_names_who_did_most(tmp_path):
    # Another rank in each step, so none is an outlier.
    job = Job(ranks=4, steps=16, seed=11, more=lambda rank, step: {"forward": 8.0} if step % 4 == rank else {})
    told = pods(job.write(tmp_path / "job"))
    assert [row["number"] for row in told["steps"]] == list(range(16))
    for row in told["steps"]:
        assert row["slowest_name"].endswith(f"rank {row['number'] % 4}"), row
        near(row["slowest_ns"], 8.0, 1.0)
    assert not any(row["outlier"] for row in told["ranks"])


def test_steps_can_be_chosen(tmp_path):
    job = Job(ranks=4, steps=20, seed=13, more=lambda rank, step: {"backward": 12.0} if rank == 2 and step >= 10 else {})
    folder = job.write(tmp_path / "job")
    before, after = pods(folder, "--steps", "0-9"), pods(folder, "--steps", "10-19")
    assert len(before["groups"]) == 1 and len(after["groups"]) == 2
    assert after["groups"][1]["name"] == "rank 2"
    near(after["ranks"][2]["outlier_ns"], 12.0, 1.0)


def test_a_recording_without_ranks_says_so(tmp_path):
    job = Job(ranks=1, steps=6).write(tmp_path / "job")
    told = pods(job)
    assert told["rank_count"] == 1 and "nothing can be compared" in told["verdict"]
    text = gpuprof("stats", "pods", job).out.decode()
    assert "nothing can be compared" in text


def test_text_is_short_for_many_ranks(tmp_path):
    job = Job(ranks=96, ranks_per_host=8, steps=5, seed=17, more=lambda rank, step: {"backward": 9.0} if rank == 77 else {})
    text = gpuprof("stats", "pods", job.write(tmp_path / "job")).out.decode()
    assert "95 of 96" not in text and "95 ranks of 96 do equally much. Rank 77 needs" in " ".join(text.split())
    assert "ranks 0 to 76, 78 to 95" in text and len(text.splitlines()) < 60
