# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What slow ranks cost a job: a published job, and made jobs of which the truth is known."""

import json

import pytest

from conftest import ROOT, gpuprof
from drawn_jobs import Job as DrawnJob
from straggler_jobs import Job, Slow
from test_communication import SLEEP_NS, train

LIBRARY = ROOT / ".deps" / "duckdb" / "libduckdb.so"
PUBLISHED = ROOT / "tests" / "golden" / "stragglers" / "long_last_stage.parquet"
needs_library = pytest.mark.skipif(not LIBRARY.exists(), reason="scripts/setup could not fetch DuckDB's library")


def stragglers(path, *options):
    done = gpuprof("stats", "stragglers", path, "--json", *options)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def text_of(path, *options):
    done = gpuprof("stats", "stragglers", path, *options)
    assert done.status == 0, done.err.decode()
    return " ".join(done.out.decode().split())


def near(right, part=0.01):
    return pytest.approx(right, rel=part)


@needs_library
def test_published_job_has_its_published_figures():
    """result-ST.json, mw-ST.json and ms-ST.json of StragglerAnalysis."""
    found = stragglers(PUBLISHED, f"--library={LIBRARY}")
    assert (found["replica_count"], found["stage_count"], found["step_count"], found["left_out_count"]) == (2, 4, 32, 0)
    assert found["slowdown"] == near(1.1787021836556841)
    assert found["total_ns"] / 32 == near(2.172696813310722e9)
    assert found["ideal_ns"] / 32 == near(1.843295824372035e9)
    assert found["observed_ns"] / 32 == near(2.21444827e9, 0.001)
    assert found["simulation_error_ratio"] < 1e-4
    assert found["slowest_ratio"] == near(0.031404269124045224)
    assert found["last_stage_ratio"] == near(1.2193563788811714)
    types = {row["name"]: row["slowdown"] for row in found["types"]}
    assert types["forward-compute"] == near(1.0874989663025318)
    assert types["backward-compute"] == near(1.074156472437866)
    assert types["embedding-grads-all-reduce"] == near(1.0095504024370303)
    stages = {row["stage"]: row["slowdown"] for row in found["stages"]}
    assert stages == {0: near(0.9980450635272368), 1: near(0.9830562530894704), 2: near(0.9824931309511952), 3: near(1.2322559543157936)}
    ranks = {(row["replica"], row["stage"]): row for row in found["ranks"]}
    assert ranks[1, 3]["slowdown"] == near(1.1778704237064905) and ranks[1, 3]["slowest"]
    assert found["verdict"] == "stage" and found["slow_stage"]["stage"] == 3 and found["slow_stage"]["is_last"]
    steps = {row["step"]: row for row in found["steps"]}
    assert steps[23]["slowdown"] == near(1.269284197345525)
    text = text_of(PUBLISHED, f"--library={LIBRARY}")
    assert "The last stage (3) takes 2.08 times as long as the other stages in forward-compute" in text


@needs_library
def test_steps_of_a_table_are_chosen_by_number():
    found = stragglers(PUBLISHED, f"--library={LIBRARY}", "--steps=20-40")
    assert [row["step"] for row in found["steps"]] == [23, 25, 33, 34, 36]
    done = gpuprof("stats", "stragglers", PUBLISHED, f"--library={LIBRARY}", "--steps=1-2")
    assert done.status != 0 and b"No step has a number from 1 to 2" in done.err


@needs_library
def test_files_that_are_no_tables_of_operations_are_refused(tmp_path):
    (tmp_path / "cut.parquet").write_bytes(PUBLISHED.read_bytes()[:5000])
    done = gpuprof("stats", "stragglers", tmp_path / "cut.parquet", f"--library={LIBRARY}")
    assert done.status != 0 and b"is not a table of operations" in done.err and b"dp_rank" in done.err


def test_a_missing_library_is_named(tmp_path):
    done = gpuprof("stats", "stragglers", PUBLISHED, f"--library={tmp_path}/none.so")
    assert done.status != 0 and b"--library" in done.err
    (tmp_path / "libduckdb.so").write_text("no library")
    done = gpuprof("stats", "stragglers", PUBLISHED, f"--library={tmp_path}/libduckdb.so")
    assert done.status != 0 and b"libduckdb.so" in done.err


DEVICE = {"on_device": True}
HOST = {"on_device": False, "hosts": 1}


def check(job, folder, part=0.01):
    """Compares the figures of a job with its truth. Returns the result, and the slow ranks by number."""
    found = stragglers(job.write(folder))
    truth = job.truth()
    assert found["match"] == "compared" and found["rank_count"] == job.ranks
    # The first step may be warm-up.
    assert job.steps - 1 <= found["step_count"] <= job.steps
    assert found["simulation_error_ratio"] < 0.01
    scale = found["step_count"] / job.steps
    assert found["total_ns"] == near(truth["total_ns"] * scale, 0.02)
    assert found["slowdown"] == near(truth["slowdown"], 0.012)
    return found, {row["rank"]: row for row in found["slow"]}, truth


@pytest.mark.parametrize("kind", [DEVICE, HOST, {"on_device": True, "named_kernels": True}], ids=["device", "host", "names"])
@pytest.mark.parametrize("phase", ["input", "forward", "backward", "optimizer"])
def test_a_slow_rank_is_named_with_its_phase_step_and_cost(tmp_path, kind, phase):
    slow = Slow(rank=5, phase=phase, extra_ms=9, first=10)
    job = Job(slow=(slow,), seed=7, **kind)
    found, ranks, truth = check(job, tmp_path / "job")
    assert found["verdict"] == "ranks" and list(ranks) == [5]
    row = ranks[5]
    assert (row["type"], row["first_step"], row["last_step"]) == (phase, 10, job.steps - 1)
    assert row["extra_ns"] == near(9e6, 0.05)
    assert row["saved_ns"] == near(truth["saved_ns"][5], 0.03)
    # In the steps from the tenth on all others wait for it. What they wait for an optimizer, they wait in the next step.
    assert found["waited_per_step_ns"] == near(9e6, 0.12)
    text = text_of(tmp_path / "job")
    assert f"Rank 5 is slow in {phase} from step 10 on" in text
    # The collective has the same transfer in all steps, and the wait in it is no transfer.
    reduce, = [each for each in found["types"] if each["transfer"]]
    assert reduce["slowdown"] < 1.01
    assert reduce["total_ns"] / job.ranks / found["step_count"] == near(5e6, 0.03)


@pytest.mark.parametrize("every, phase", [(2, "forward"), (3, "backward"), (4, "input")])
def test_a_rank_that_is_slow_in_every_nth_step_is_named(tmp_path, every, phase):
    job = DrawnJob(ranks=8, steps=30, seed=every, more=lambda rank, step: {phase: 12.0} if rank == 2 and step % every == 1 else {})
    found = stragglers(job.write(tmp_path / "job"))
    row, = found["slow"]
    assert (row["rank"], row["type"], row["single_steps"], row["every_step"]) == (2, phase, True, every)
    steps = range(1, 30, every)
    assert (row["first_step"], row["last_step"], row["step_count"]) == (1, steps[-1], len(steps))
    assert row["extra_ns"] == near(12e6, 0.05)
    # Its slow steps would be as long as those of the others. The mean of its like contains them, so it saves a little less.
    longer = sum(max(job.arrived[step]) - max(job.arrived[step][:2] + job.arrived[step][3:]) for step in range(30)) * 1e6
    assert row["saved_ns"] == near(longer, 0.1)
    word = {2: "second", 3: "third", 4: "fourth"}[every]
    assert f"Rank 2 is slow in {phase} in every {word} step:" in text_of(tmp_path / "job")


def test_three_long_steps_are_no_habit(tmp_path):
    job = DrawnJob(ranks=8, steps=30, seed=6, more=lambda rank, step: {"forward": 15.0} if rank == 5 and step in (4, 11, 17) else {})
    found = stragglers(job.write(tmp_path / "job"))
    assert found["verdict"] == "balanced" and not found["slow"]


@pytest.mark.parametrize("kind", [DEVICE, HOST], ids=["device", "host"])
def test_a_balanced_job_names_nobody(tmp_path, kind):
    found, ranks, _ = check(Job(seed=3, **kind), tmp_path / "job")
    assert found["verdict"] == "balanced" and not ranks and found["saved_ns"] is None
    text = text_of(tmp_path / "job")
    assert "The job is balanced" in text and "is slow" not in text


def test_several_slow_ranks_are_found(tmp_path):
    job = Job(ranks=12, hosts=3, steps=30, seed=11, slow=(Slow(2, "forward", 6, last=14), Slow(9, "backward", 4), Slow(10, "backward", 5, first=20)))
    found, ranks, truth = check(job, tmp_path / "job")
    assert {rank: row["type"] for rank, row in ranks.items()} == {2: "forward", 9: "backward", 10: "backward"}
    assert ranks[2]["last_step"] == 14 and ranks[9]["all_steps"] and ranks[10]["first_step"] == 20
    assert found["saved_ns"] == near(truth["all_saved_ns"], 0.05)


def test_a_slow_host_is_named_and_a_clock_is_no_slowness(tmp_path):
    job = Job(ranks=12, hosts=3, steps=20, seed=13, clock_ms=30, slow=tuple(Slow(rank, "backward", 7) for rank in range(4, 8)))
    found, ranks, _ = check(job, tmp_path / "job")
    assert sorted(ranks) == [4, 5, 6, 7] and found["slow_hosts"] == ["node1"]
    assert "The ranks of node1 are slow together" in text_of(tmp_path / "job")


def test_clocks_of_hosts_without_devices_are_put_right(tmp_path):
    job = Job(seed=37, on_device=False, hosts=4, clock_ms=50, slow=(Slow(3, "forward", 9),))
    found, ranks, _ = check(job, tmp_path / "job")
    assert list(ranks) == [3] and ranks[3]["host"] == "node1" and found["clock_error_ns"] < 1_000_000


def test_ranks_that_are_slow_in_turns_are_not_named(tmp_path):
    found, ranks, _ = check(Job(seed=17, steps=30, in_turns_ms=8), tmp_path / "job")
    assert found["verdict"] == "in_turns" and not ranks
    assert found["types"][0]["name"] == "backward"


@pytest.mark.parametrize("more, cause", [(False, "slower_device"), (True, "more_work")], ids=["slower", "more"])
def test_more_work_is_told_from_a_slower_device(tmp_path, more, cause):
    job = Job(seed=19, more_kernels=more, slow=(Slow(3, "backward", 10),))
    _, ranks, _ = check(job, tmp_path / "job")
    assert ranks[3]["cause"] == cause
    assert ranks[3]["kernel"] == ("gemm_c" if more else "gemm_b")


def test_what_the_host_does_has_no_cause(tmp_path):
    _, ranks, _ = check(Job(seed=23, slow=(Slow(3, "input", 10),)), tmp_path / "job")
    assert ranks[3]["cause"] == "unknown" and ranks[3]["same_kernels_ratio"] is None


def test_each_step_names_whom_it_waited_for(tmp_path):
    job = Job(seed=29, steps=20, slow=(Slow(6, "forward", 8, first=8),))
    found, _, _ = check(job, tmp_path / "job")
    for row in found["steps"]:
        if row["step"] >= 8:
            assert (row["rank"], row["type"]) == (6, "forward"), row
            assert row["extra_ns"] == near(8e6, 0.15)


def test_steps_are_chosen_by_number(tmp_path):
    job = Job(seed=31, steps=20, slow=(Slow(6, "forward", 8, first=10),))
    folder = job.write(tmp_path / "job")
    early = stragglers(folder, "--steps=1-9")
    assert [row["step"] for row in early["steps"]] == list(range(1, 10)) and early["verdict"] == "balanced"
    late = stragglers(folder, "--steps=10-19")
    assert late["verdict"] == "ranks" and late["slow"][0]["all_steps"]
    done = gpuprof("stats", "stragglers", folder, "--steps=100-200")
    assert done.status != 0 and b"No step of all ranks has a number from 100 to 200" in done.err


def test_a_real_job_names_its_slow_rank(tmp_path):
    """One rank of DistributedDataParallel sleeps before each step. Waits of the others were recorded, and its own are missing."""
    job = train(tmp_path, "1")
    found = stragglers(job)
    assert found["match"] == "compared" and found["verdict"] == "ranks", found
    ranks = {row["rank"]: row for row in found["slow"]}
    assert ranks[1]["type"] == "blocked" and ranks[1]["extra_ns"] == near(SLEEP_NS, 0.25)
    assert found["waited_per_step_ns"] >= SLEEP_NS // 2 and found["simulation_error_ratio"] < 0.05
    assert "rank 1" in found["late_name"]
    assert "Rank 1 is slow in blocking calls" in text_of(job)


def test_one_rank_alone_says_what_is_missing(tmp_path):
    job = Job(ranks=2, hosts=1, steps=4)
    folder = job.write(tmp_path / "job")
    (folder / "rank1.json.gz").unlink()
    found = stragglers(folder)
    assert found["match"] == "one_rank" and found["slow"] == [] and found["saved_ns"] is None
    assert "read the directory of the job" in text_of(folder)
