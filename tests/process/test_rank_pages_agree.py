# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What `pods`, `stragglers`, `communication` and `advise` say of one job names the same rank, phase and amount."""

import json
import random

import pytest

from conftest import GPUPROF, gpuprof, program
from drawn_jobs import PHASES, Job
from rank_jobs import TORCHRUN, launch, torchrun


def read(verb, path):
    done = gpuprof(*verb.split(), path, "--json")
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def pages_of(path):
    return {page: read(f"stats {page}", path) for page in ("pods", "stragglers", "communication")}


@pytest.mark.parametrize("seed", range(8))
def test_a_slow_rank_is_the_same_on_all_pages(tmp_path, seed):
    drawn = random.Random(1000 + seed)
    ranks, steps, phase = drawn.choice([4, 6, 12]), drawn.choice([16, 24]), PHASES[seed % len(PHASES)]
    slow, extra = drawn.randrange(ranks), drawn.uniform(4, 15)
    job = Job(ranks=ranks, steps=steps, seed=seed, more=lambda rank, step: {phase: extra} if rank == slow else {})
    pages = pages_of(job.write(tmp_path / "job"))
    odd, = [row for row in pages["pods"]["ranks"] if row["outlier"]]
    row, = pages["stragglers"]["slow"]
    assert (odd["rank"], odd["outlier_time"]) == (row["rank"], row["type"]) == (slow, phase)
    assert odd["outlier_ns"] == pytest.approx(extra * 1e6, rel=0.1) and row["extra_ns"] == pytest.approx(odd["outlier_ns"], rel=0.1)
    assert pages["communication"]["late"]["name"] == odd["name"]
    # What the others wait: by the step on one page, in all on the other.
    waited = sum(each["wait_ns"] for each in pages["pods"]["ranks"]) * pages["pods"]["step_count"]
    assert pages["communication"]["late"]["caused_ns"] == pytest.approx(waited, rel=0.15)
    assert f"Rank {slow} needs" in pages["pods"]["verdict"]
    said = json.dumps(read("advise", tmp_path / "job")["findings"])
    assert odd["name"] in said, "the advice names another rank, or none"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nobody_is_blamed_on_any_page(tmp_path, seed):
    pages = pages_of(Job(ranks=6, steps=20, seed=seed).write(tmp_path / "job"))
    assert not any(row["outlier"] for row in pages["pods"]["ranks"])
    assert not pages["stragglers"]["slow"] and pages["communication"]["late"] is None


def test_a_live_rank_that_sleeps_is_the_same_on_all_pages(tmp_path):
    command = [*torchrun(3, "--no-python"), GPUPROF, "run", "-o", tmp_path / "job", "--", TORCHRUN.parent / "python", program("ddp_train.py"), "1", 24]
    done = launch(command, tmp_path, {"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    pages = pages_of(tmp_path / "job")
    odd = [row for row in pages["pods"]["ranks"] if row["outlier"]]
    slow = pages["stragglers"]["slow"]
    assert [row["rank"] for row in odd] == [row["rank"] for row in slow] == [1]
    assert slow[0]["extra_ns"] == pytest.approx(odd[0]["outlier_ns"], rel=0.15)
    assert pages["communication"]["late"]["name"] == odd[0]["name"]
