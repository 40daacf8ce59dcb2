# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Dumps of the flight recorder that are of different moments. A job is drawn on a time line, with clocks and arrivals of its ranks, and each
dump holds what had happened at its own moment. A job that runs has no rank at fault. A rank that hangs is named."""

import dataclasses
import os
import random

import pytest

from flight_dumps import MS, START_NS, Job
from test_flight_dumps import read

S = 1000 * MS
PLACE = ("reduce", "/home/me/train.py", 33)


@dataclasses.dataclass
class Event:
    rank: int
    group: str
    created: int
    started: int
    ended: int  # after all else: it never ends
    number: int


NEVER = 1 << 62


def draw(job, seed, steps, hung=None, stuck=None, interval=10 * MS):
    """Ranks reduce in the world, and in pairs if the job has groups of them. From step 3/4 on `hung` comes no more, or `stuck` does not leave.
    Hosts are up to two collectives ahead of the device. Each rank's clock is its own."""
    rng = random.Random(seed)
    events, free = [], {rank: START_NS for rank in range(job.size)}  # when the rank can go on
    done = {rank: [START_NS] * 2 for rank in range(job.size)}
    last_step = steps * 3 // 4
    counts = {}
    for step in range(steps):
        for group, (_, ranks) in job.groups.items():
            counts[group] = counts.get(group, 0) + 1
            come = {}
            for rank in ranks:
                if rank == hung and step >= last_step:
                    continue
                if free[rank] >= NEVER:
                    continue
                come[rank] = max(free[rank], done[rank][-2]) + int(interval * rng.uniform(0.7, 1.3))
            all_came = len(come) == len(ranks)
            end = max(come.values()) + int(interval * rng.uniform(0.2, 0.6)) if all_came else NEVER
            for rank, created in come.items():
                own_end = NEVER if rank == stuck and step >= last_step else end + rng.randrange(MS // 10) if end < NEVER else NEVER
                events.append(Event(rank, group, created, created + MS // 20, own_end, counts[group]))
                free[rank] = created + MS // 10
                done[rank].append(own_end)
                if done[rank][-2] >= NEVER:
                    free[rank] = NEVER  # it waits for the one before the last
    return events, rng


def dump_all(job, events, moments, clocks):
    for rank in range(job.size):
        for event in sorted((each for each in events if each.rank == rank), key=lambda each: each.created):
            if event.created > moments[rank]:
                continue
            state = "completed" if event.ended <= moments[rank] else "started" if event.started <= moments[rank] else "scheduled"
            job.add(rank, "all_reduce", event.group, state=state, place=PLACE, time_created_ns=event.created + clocks[rank],
                    time_discovered_started_ns=event.started + clocks[rank] if state != "scheduled" else None,
                    time_discovered_completed_ns=event.ended + clocks[rank] if state == "completed" else None)


def write(job, folder, moments, clocks, files):
    job.write(folder)
    for rank in range(job.size):
        # What a copy has is the time of the copy.
        at = moments[rank] + clocks[rank] + 2 * MS if files == "own" else START_NS + 3600 * S
        os.utime(folder / f"rank_{rank}", ns=(at, at))
    return read(folder)


def of_groups(size, has_pairs):
    job = Job(size)
    if has_pairs:
        for first in range(0, size, 2):
            job.group(str(first + 1), [first, first + 1], f"pair{first}")
    return job


@pytest.mark.parametrize("files", ["own", "copied"])
@pytest.mark.parametrize("has_pairs", [False, True])
@pytest.mark.parametrize("spread_ms", [0, 3, 10, 40, 100, 300])
def test_nobody_is_blamed_in_a_job_that_runs(tmp_path, spread_ms, has_pairs, files):
    for seed in range(6):
        job = of_groups((2, 4, 8)[seed % 3], has_pairs)
        events, rng = draw(job, seed, 120)
        begin = START_NS + rng.randrange(500 * MS, 700 * MS)
        moments = {rank: begin + rng.randrange(spread_ms * MS + 1) for rank in range(job.size)}
        clocks = {rank: rng.randrange(-20, 20) * MS for rank in range(job.size)}
        dump_all(job, events, moments, clocks)
        result = write(job, tmp_path / f"dumps{seed}", moments, clocks, files)
        words = " ".join(result["verdict"])
        is_early = any("earlier_ns" in rank and rank["earlier_ns"] is not None for rank in result["ranks"])
        if files == "own" or is_early:
            assert result["problems"] == [], (seed, words)
        # A copy does not tell when the dumps were written. If they do not tell it themselves, that is said.
        for problem in result["problems"]:
            assert problem["is_moment_uncertain"] and "perhaps written at different moments" in words, (seed, words)
        if result["undecided"]:
            assert "perhaps written at different moments" in words
        if spread_ms >= 100 and job.size > 2:
            assert is_early and "still ran while the dumps were written" in words, (seed, words)
        true = [max(moments.values()) - moments[rank["rank"]] for rank in result["ranks"]]
        for rank, most in zip(result["ranks"], true):
            # Clocks are levelled to some ms.
            assert (rank.get("earlier_ns") or 0) <= most + 5 * MS, (seed, rank, most)


@pytest.mark.parametrize("files", ["own", "copied"])
@pytest.mark.parametrize("has_pairs", [False, True])
@pytest.mark.parametrize("spread_ms", [0, 300])
def test_the_rank_that_hangs_is_blamed(tmp_path, spread_ms, has_pairs, files):
    for seed in range(6):
        size = (2, 4, 8)[seed % 3]
        job = of_groups(size, has_pairs)
        hung = seed % size
        events, rng = draw(job, seed, 120, hung=hung)
        moments = {rank: START_NS + 600 * S + rng.randrange(spread_ms * MS + 1) for rank in range(size)}
        clocks = {rank: rng.randrange(-20, 20) * MS for rank in range(size)}
        dump_all(job, events, moments, clocks)
        result = write(job, tmp_path / f"dumps{seed}", moments, clocks, files)
        first = result["problems"][0]
        assert (first["kind"], first["ranks"]) == ("missing_enter", [hung]), (seed, result["verdict"])
        assert result["undecided"] == [] and not any(rank.get("earlier_ns") for rank in result["ranks"])


@pytest.mark.parametrize("files", ["own", "copied"])
def test_the_rank_that_does_not_leave_is_blamed(tmp_path, files):
    for seed in range(6):
        job = Job(4)
        events, rng = draw(job, seed, 40, stuck=seed % 4)
        moments = {rank: START_NS + 600 * S + rng.randrange(300 * MS) for rank in range(4)}
        clocks = dict.fromkeys(range(4), 0)
        dump_all(job, events, moments, clocks)
        result = write(job, tmp_path / f"dumps{seed}", moments, clocks, files)
        first = result["problems"][0]
        assert (first["kind"], first["ranks"]) == ("missing_leave", [seed % 4]), (seed, result["verdict"])


def test_a_dump_of_long_after_needs_no_doubt(tmp_path):
    """Rank 2 does not come to the world, and goes on in a group of its own for ten seconds."""
    job = Job(4)
    job.group("1", [2], "own")
    for _ in range(5):
        job.all("all_reduce")
    job.all("all_reduce", without=[2], state="started")
    for _ in range(1000):
        job.all("barrier", "1")
    result = read(job.write(tmp_path / "dumps"))
    problem, = result["problems"]
    assert (problem["ranks"], problem["is_moment_uncertain"]) == ([2], False)
    assert "different moments" not in " ".join(result["verdict"])


def test_an_old_dump_is_left_out(tmp_path):
    """The dump of rank 0 is of an earlier moment. The others are compared without it."""
    job = Job(4)
    for _ in range(5):
        job.all("all_reduce")
    job.write(tmp_path / "dumps", without=[1, 2, 3])
    for _ in range(5):
        job.all("all_reduce")
    for rank in range(4):
        job.add(rank, "all_reduce", state="started", size=8 if rank == 2 else 16)
    result = read(job.write(tmp_path / "dumps", without=[0]))
    problem, = result["problems"]
    assert (problem["kind"], problem["ranks"], problem["sequence"]) == ("other_sizes", [2], 11)
    assert [rank["rank"] for rank in result["ranks"] if rank.get("earlier_ns") is not None] == [0]


def test_messages_of_a_pipeline_that_runs(tmp_path):
    """Rank 0 sends, and its dump is of an earlier moment than that of rank 1. Then it is the other way round."""
    for early in (0, 1):
        job = Job(2)
        for number in range(40):
            for rank in range(2):
                if rank == early and number >= 20:
                    continue
                is_last = number == (19 if rank == early else 39)
                job.add(rank, "send 0->1" if rank == 0 else "recv 1<-0", p2p=True, state="started" if is_last else "completed")
            job.now += 10 * MS
        result = read(job.write(tmp_path / f"dumps{early}"))
        assert result["problems"] == [], result["verdict"]
