# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Real jobs of DistributedDataParallel: who waited for whom. The program makes one rank slow, so the test knows it."""

import json

from conftest import GPUPROF, gpuprof, program, verify
from rank_jobs import TORCHRUN, launch, torchrun

RANKS, STEPS = 3, 24
SLEEP_NS = 100_000_000  # as SLEEP_S of ddp_train.py


def train(folder, who):
    command = [*torchrun(RANKS, "--no-python"), GPUPROF, "run", "-o", folder / "job", "--", TORCHRUN.parent / "python", program("ddp_train.py"), who, STEPS]
    done = launch(command, folder, {"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0 and done.stdout.count("loss of all ranks") == RANKS, done.stderr
    verify(folder / "job")
    return folder / "job"


def read(verb, *words):
    done = gpuprof(*verb.split(), "--json", *words)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def test_slow_rank_is_named_with_the_time_that_others_waited(tmp_path):
    job = train(tmp_path, "1")
    result = read("stats communication", job)
    assert (result["match"], result["rank_count"]) == ("matched", RANKS)
    # DistributedDataParallel has one bucket here. Beside the steps there are its begin and the program's end.
    reduced = {row["name"]: row["count"] for row in result["operations"]}
    assert STEPS // 2 <= reduced["c10d::allreduce_"] <= STEPS + 1, "the recorder may begin late on a busy machine"
    steps = min(reduced["c10d::allreduce_"], STEPS)
    late = result["late"]
    assert late["name"] == "ddp_train.py rank 1"
    ranks = {row["name"].split()[-1]: row for row in result["ranks"]}
    assert late["pid"] == ranks["1"]["pid"]
    # It comes so much later in each step. The others are slow now and then, too.
    assert late["lead_ns"] >= steps * SLEEP_NS // 2
    assert ranks["1"]["last_count"] >= steps * 3 // 4
    for other in "02":
        assert ranks[other]["waited_ns"] >= steps * SLEEP_NS // 2 > ranks["1"]["waited_ns"]
        pair, = [row for row in result["waits"] if row["pid"] == ranks[other]["pid"] and row["late_pid"] == ranks["1"]["pid"]]
        assert pair["late_name"] == "ddp_train.py rank 1"
        assert steps * SLEEP_NS // 2 <= pair["waited_ns"] <= pair["early_ns"]
        assert pair["max_ns"] >= SLEEP_NS // 2
    assert ranks["1"]["caused_ns"] == late["caused_ns"] >= (RANKS - 1) * steps * SLEEP_NS // 2
    text = gpuprof("stats", "communication", job).out.decode()
    assert f"ddp_train.py rank 1 (pid {late['pid']}) is late" in " ".join(text.split())
    finding, = [row for row in read("advise", job)["findings"] if row["id"] == "CO-010"]
    assert "ddp_train.py rank 1" in finding["evidence"][0]
    assert finding["gain"]["high_ns"] >= SLEEP_NS // 2
    assert finding["place"]["pid"] == late["pid"]
    # One rank alone says that it is not enough.
    alone = read("stats communication", job / "rank-0")
    assert alone["match"] == "one_rank" and alone["late"] is None and not alone["waits"]


def test_ranks_that_are_slow_in_turns_are_not_blamed(tmp_path):
    job = train(tmp_path, "turns")
    result = read("stats communication", job)
    assert result["match"] == "matched" and result["late"] is None, result
    assert result["lateness"] == "in_turns", result
    # Each rank was waited for.
    assert all(row["caused_ns"] >= SLEEP_NS for row in result["ranks"]), result["ranks"]
    assert {row["late_pid"] for row in result["waits"]} == {row["pid"] for row in result["ranks"]}
    assert "No rank is late" in gpuprof("stats", "communication", job).out.decode()
    assert "CO-010" not in {row["id"] for row in read("advise", job)["findings"]}
