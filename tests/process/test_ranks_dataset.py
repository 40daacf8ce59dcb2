# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Questions about all ranks of a job, over a data set of `gpuprof export -f parquet`: DuckDB and Spark give the answers of the command, and these
are the truth by which the job was made."""

import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess

import pytest

from conftest import ROOT, clean_environment, gpuprof
from waiting import LIMIT_S

LIBRARY = ROOT / ".deps" / "duckdb" / "libduckdb.so"
PYTHON = ROOT / ".deps" / "spark" / "bin" / "python"
ASK = ROOT / "examples" / "cluster" / "ranks.py"
US = 1000
# RANKS_CASES may name a folder like this job, with traces/ and truth.json.
NAMED_CASES = os.environ.get("RANKS_CASES")
pytestmark = pytest.mark.skipif(not (LIBRARY.exists() and PYTHON.exists()), reason="DuckDB is not installed: scripts/setup --only test")


class Job:
    """Data-parallel steps: input, forward, backward, one collective, optimizer. One rank is slow from a step on. Clocks of hosts are off."""

    def __init__(self, ranks, steps, seed, slow, hosts=3, missing=()):
        self.missing = missing
        draw = random.Random(seed)
        self.ranks, self.steps, self.slow = ranks, steps, slow
        self.hosts = [f"host{rank * hosts // ranks}" for rank in range(ranks)]
        clocks = {host: draw.randrange(-3000, 3000) * US for host in dict.fromkeys(self.hosts)}
        self.clocks = [clocks[host] for host in self.hosts]
        length = lambda ns, spread: round(draw.gauss(ns, spread) / US) * US
        # By rank and step, in ns, whole microseconds as the format has them.
        self.input = [[length(400_000, 9000) for _ in range(steps)] for _ in range(ranks)]
        self.forward = [[length(1_000_000, 20_000) for _ in range(steps)] for _ in range(ranks)]
        self.backward = [[length(2_000_000, 30_000) + (900_000 if rank == slow and step >= steps // 3 else 0) for step in range(steps)] for rank in range(ranks)]
        self.optimizer = [[length(300_000, 4000) for _ in range(steps)] for _ in range(ranks)]
        self.transfer = [length(500_000, 10_000) for _ in range(steps)]

    def leaves_out(self, rank, step):
        """Whether the file of a rank lacks a step."""
        return (rank, step) in self.missing

    def arrivals(self, step, begins):
        return [begins[rank] + self.input[rank][step] + self.forward[rank][step] + self.backward[rank][step] for rank in range(self.ranks)]

    def write(self, folder):
        """Writes one file a rank, as torch.profiler does."""
        folder.mkdir()
        begins = [0] * self.ranks
        events = [[] for _ in range(self.ranks)]
        self.last = []
        for step in range(self.steps):
            arrivals = self.arrivals(step, begins)
            self.last.append(max(range(self.ranks), key=lambda rank: arrivals[rank]))
            end = max(arrivals) + self.transfer[step]
            for rank in range(self.ranks):
                done = end + self.optimizer[rank][step]
                if self.leaves_out(rank, step):
                    begins[rank] = done
                    continue
                events[rank].append(("user_annotation", f"ProfilerStep#{step}", begins[rank], done))
                at = begins[rank] + self.input[rank][step]
                events[rank].append(("kernel", "fwd_gemm", at, at + self.forward[rank][step]))
                events[rank].append(("kernel", "bwd_gemm", at + self.forward[rank][step], arrivals[rank]))
                events[rank].append(("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", arrivals[rank], end))
                events[rank].append(("kernel", "adamw", end, done))
                begins[rank] = done
        self.job_ns = max(begins)
        for rank in range(self.ranks):
            self._write_rank(folder / f"rank{rank}.json.gz", rank, events[rank])

    def _write_rank(self, path, rank, events):
        rows = []
        for number, (kind, name, start, end) in enumerate(events):
            at = {"ph": "X", "cat": kind, "name": name, "ts": (start + self.clocks[rank]) / US, "dur": (end - start) / US}
            if kind == "kernel":
                rows.append({**at, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 5, "ts": at["ts"] - 20, "pid": 1000 + rank, "tid": 1,
                             "args": {"correlation": number + 1}})
                rows.append({**at, "pid": 0, "tid": 7, "args": {"device": 0, "stream": 20 if "nccl" in name else 7, "correlation": number + 1}})
            else:
                rows.append({**at, "pid": 1000 + rank, "tid": 1, "args": {}})
        whole = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": self.ranks}, "hostname": self.hosts[rank],
                 "baseTimeNanoseconds": 1764300000000000000, "traceEvents": rows}
        with gzip.open(path, "wt") as file:
            json.dump(whole, file)

    def what_if(self):
        """Simulates the job: as it was, with the mean of its like for each operation, and with that of the slow rank or of all others."""
        kinds = (self.input, self.forward, self.backward, self.optimizer)
        mean = [sum(map(sum, kind)) / self.ranks / self.steps for kind in kinds]
        transfer = sum(self.transfer)
        slow = self.slow

        def lasts(work):
            """The job's time if each rank works so long: `work(kind, rank, step)`."""
            total = 0
            for step in range(self.steps):
                total += max(sum(work(kind, rank, step) for kind in range(3)) + (work(3, rank, step - 1) if step else 0) for rank in range(self.ranks))
            return total + transfer + max(work(3, rank, self.steps - 1) for rank in range(self.ranks))

        real = lambda kind, rank, step: kinds[kind][rank][step]
        job, ideal = lasts(real), lasts(lambda kind, rank, step: mean[kind])
        without = lasts(lambda kind, rank, step: mean[kind] if rank == slow else real(kind, rank, step))
        only = lasts(lambda kind, rank, step: real(kind, rank, step) if rank == slow else mean[kind])
        return {"job_ns": job, "ideal_ns": ideal, "s": job / ideal, "s_w": only / ideal, "saved_ns": job - without, "part": (job - without) / (job - ideal)}


def ask(dataset, engine, *answers):
    command = [PYTHON, ASK, dataset, "--engine", engine, "--threads", "2", *(word for answer in answers for word in ("--answer", answer))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, env=clean_environment({"JAVA_TOOL_OPTIONS": "-Xmx1g"}))
    assert done.returncode == 0, done.stderr[-2000:]
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        found.setdefault(row.pop("answer"), []).append(row)
    return found


def export(source, folder):
    done = gpuprof("export", source, "-f", "parquet", "-o", folder, f"--library={LIBRARY}")
    assert done.status == 0, done.err.decode()
    return folder


@pytest.fixture(scope="module", name="job")
def make_job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    job = Job(ranks=6, steps=12, seed=11, slow=4)
    job.write(folder / "traces")
    job.dataset = export(folder / "traces", folder / "set")
    return job


@pytest.fixture(scope="module", name="told")
def ask_duckdb(job):
    return ask(job.dataset, "duckdb")


def test_who_came_last(job, told):
    right = {rank: job.last.count(rank) for rank in set(job.last)}
    assert {row["last_rank"]: row["times"] for row in told["last"]} == right
    assert told["last"][0]["last_rank"] == job.slow


def test_what_the_slow_rank_costs(job, told):
    [whole], first, right = told["job"], told["what_if"][0], job.what_if()
    assert first["rank"] == job.slow and right["job_ns"] == job.job_ns == whole["job_ns"]
    found = {**whole, **first}
    assert {key: found[key] for key in right} == pytest.approx(right, rel=0.01)


def check_with_command(traces, told):
    """Compares all figures with those of `gpuprof stats stragglers`. Its times are whole nanoseconds."""
    right = json.loads(gpuprof("stats", "stragglers", "--json", traces).out)
    assert right["match"] == "compared" and right["ranks"]
    same = lambda value: pytest.approx(value, rel=1e-9, abs=0 if isinstance(value, float) else 1)
    [whole], effects = told["job"], {row["rank"]: row for row in told["what_if"]}
    for key, name in (("job_ns", "total_ns"), ("ideal_ns", "ideal_ns"), ("s", "slowdown"), ("m_w", "slowest_ratio")):
        assert whole[key] == same(right[name]), name
    assert effects.keys() == {row["rank"] for row in right["ranks"]}
    for row in right["ranks"]:
        assert effects[row["rank"]]["s_w"] == same(row["slowdown"])
        if row["saved_ns"] is not None:
            assert effects[row["rank"]]["saved_ns"] == same(row["saved_ns"])
    return right


def test_figures_are_those_of_the_command(job, told):
    assert check_with_command(job.dataset.parent / "traces", told)["step_count"] == job.steps


def test_steps_that_a_rank_lacks_are_left_out(tmp_path):
    job = Job(ranks=5, steps=9, seed=3, slow=2, missing=((1, 8), (4, 5)))
    job.write(tmp_path / "traces")
    right = check_with_command(tmp_path / "traces", ask(export(tmp_path / "traces", tmp_path / "set"), "duckdb", "job", "what_if"))
    assert right["step_count"] == 7


def test_time_by_rank_and_step(job, told):
    assert len(told["rank_steps"]) == job.ranks * job.steps
    steps = json.loads(gpuprof("stats", "steps", "--json", job.dataset.parent / "traces").out)["steps"]
    right = {(row["pid"] - 1000, row["number"]): (row["duration_ns"], row["input_ns"], row["forward_ns"], row["other_ns"]) for row in steps}
    assert {(row["rank"], row["step"]): (row["duration_ns"], row["input_ns"], row["forward_ns"], row["other_ns"]) for row in told["rank_steps"]} == right


def test_one_folder_for_each_rank(job):
    found = {rank: host for _, host, rank in (path.relative_to(job.dataset).as_posix().split("/") for path in job.dataset.glob("*/*/*"))}
    # Files of torch.profiler may tell no host.
    assert found.keys() == {f"rank={rank}" for rank in range(job.ranks)}
    assert all(found[f"rank={rank}"] in (f"host={host}", "host=__HIVE_DEFAULT_PARTITION__") for rank, host in enumerate(job.hosts))


@pytest.mark.skipif(shutil.which("java") is None, reason="no java: run scripts/setup --only test")
def test_spark_answers_alike(job, told):
    found = ask(job.dataset, "spark")
    assert found.keys() == told.keys()
    for name, rows in told.items():
        assert len(rows) == len(found[name]) > 0
        for row, other in zip(rows, found[name]):
            assert row.keys() == other.keys()
            for key, value in row.items():
                assert other[key] == (value if value is None or isinstance(value, str) else pytest.approx(value, rel=1e-9)), (name, key)


@pytest.mark.skipif(not NAMED_CASES, reason="RANKS_CASES names no folder of a job")
def test_a_larger_job_has_its_truth(tmp_path):
    case = pathlib.Path(NAMED_CASES)
    right = json.loads((case / "truth.json").read_text())
    found = ask(export(case / "traces", tmp_path / "set"), "duckdb", "what_if", "job")
    [whole], first, truth = found["job"], found["what_if"][0], right["what_if"]
    assert first["rank"] == right["straggler"]["rank"] and whole["job_ns"] == truth["T_ns"]
    for key, value in (("s", truth["S"]), ("m_w", truth["M_W"]), ("ideal_ns", truth["T_ideal_ns"])):
        assert whole[key] == pytest.approx(value, rel=truth["tolerance"])
    check_with_command(case / "traces", found)
