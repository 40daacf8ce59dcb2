# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Jobs of several ranks under their real launchers: every rank runs and ends as it would alone, one bundle holds all
of them, and one of them speaks."""

import json
import signal
import subprocess
import sys

import pytest

from conftest import GPUPROF, gpuprof, verify
from rank_jobs import (TORCHRUN, all_met, check_job, hydra, info, job_environment, launch, meets, openmpi, overview, rank_names,
                       recorded, summaries, torchrun)
from slurm_node import SlurmNode
from trace_file import read_bundle
from waiting import wait_until

GLOO = r"""
import os, sys, torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
for _ in range(500):
    dist.all_reduce(total)
    total /= 2
os.write(1, f"total {total.item()}\n".encode())  # two ranks write at once
dist.destroy_process_group()
os._exit(0)  # as in ddp_train.py
"""


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    node = SlurmNode(tmp_path_factory.mktemp("slurm"))
    yield node
    node.stop()


def srun(count, *options):
    return ["srun", f"-n{count}", *options]


# ---- inside: each rank is a `gpuprof run`

@pytest.mark.parametrize("options", [(), ("--mpi=pmi2",)], ids=["plain", "pmi2"])
def test_srun_inside(slurm, tmp_path, options):
    done = launch([*srun(4, *options), *recorded("-o", "job"), *meets(tmp_path / "m", 4, 0, 3, 0, 5)], tmp_path, slurm.environment)
    assert done.returncode == 5, done.stderr
    assert all_met(tmp_path / "m", 4)
    told = check_job(tmp_path / "job", 4, (0, 3, 0, 5))
    assert told["job"]["rank_count"] == 4
    assert summaries(done.stderr) == 1, done.stderr
    assert "rank 0 of 4: 'python" in done.stderr
    # The others speak of what went wrong alone.
    assert "rank 3 of 4: 'python" in done.stderr and "ended with status 5" in done.stderr
    assert "rank 2 of 4" not in done.stderr


def test_srun_default_name_is_of_the_job(slurm, tmp_path):
    done = launch([*srun(2), *recorded(), *meets(tmp_path / "m", 2)], tmp_path, slurm.environment)
    assert done.returncode == 0, done.stderr
    bundle, = tmp_path.glob("gpuprof-*")
    job = info(bundle)["job"]
    assert job["launcher"] == "Slurm" and bundle.name.endswith("-" + job["id"]) and bundle.name.startswith("gpuprof-python")
    check_job(bundle, 2)


def test_batch_script_is_no_rank_and_its_steps_are_jobs(slurm, tmp_path):
    script = tmp_path / "batch.sh"
    run = " ".join(str(x) for x in recorded("-o", "job"))
    alone = " ".join(str(x) for x in recorded("-o", "alone"))
    first, second = (" ".join(str(x) for x in meets(tmp_path / name, 2)) for name in ("m1", "m2"))
    script.write_text(f"#!/bin/sh\n{alone} {sys.executable} -c pass\nsrun -n2 {run} {first}\nsrun -n2 {run} {second}\n")
    done = launch(["sbatch", "--wait", "-n2", "-o", "out", script], tmp_path, slurm.environment)
    said = (tmp_path / "out").read_text()
    assert done.returncode == 0, said
    assert all_met(tmp_path / "m1", 2) and all_met(tmp_path / "m2", 2), said
    assert "job" not in info(tmp_path / "alone"), "the batch script is no rank"
    check_job(tmp_path / "job", 2)
    # The second step found another job's recording, and left it alone.
    other, = tmp_path.glob("job-*")
    step = info(other)["job"]["id"]
    assert other.name == f"job-{step}" and step.endswith(".1")
    check_job(other, 2)
    assert said.count("holds another recording, so the job is recorded in") == 1, said


@pytest.mark.parametrize("launcher", [openmpi, hydra])
def test_mpi_inside(tmp_path, launcher):
    done = launch([*launcher(3), *recorded("-o", "job"), *meets(tmp_path / "m", 3)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert all_met(tmp_path / "m", 3)
    check_job(tmp_path / "job", 3)
    assert summaries(done.stderr) == 1, done.stderr
    # Once more, by another job: it records beside, and both are whole.
    again = launch([*launcher(3), *recorded("-o", "job"), *meets(tmp_path / "m2", 3)], tmp_path)
    assert again.returncode == 0, again.stderr
    beside, = tmp_path.glob("job-*")
    check_job(tmp_path / "job", 3)
    check_job(beside, 3)
    assert again.stderr.count(f"so the job is recorded in {beside.name}") == 1, again.stderr


@pytest.mark.parametrize("launcher", [openmpi, hydra])
def test_status_of_a_rank_is_its_own(tmp_path, launcher):
    program = [sys.executable, "-c", "import os, sys; sys.exit(7 if '1' in (os.environ.get('PMIX_RANK'), os.environ.get('PMI_RANK')) else 0)"]
    bare = launch([*launcher(2), *program], tmp_path)
    done = launch([*launcher(2), *recorded("-o", "job"), *program], tmp_path)
    assert done.returncode == bare.returncode == 7, done.stderr
    assert {rank["exit_status"] for rank in info(tmp_path / "job")["job"]["ranks"] if rank["rank"] == 1} == {7}


def test_torchrun_inside(tmp_path):
    command = [*torchrun(2, "--no-python"), *recorded("-o", "job"), *meets(tmp_path / "m", 2)]
    done = launch(command, tmp_path)
    assert done.returncode == 0, done.stderr
    assert all_met(tmp_path / "m", 2)
    assert check_job(tmp_path / "job", 2)["job"]["launcher"] == "torchrun"
    assert summaries(done.stderr) == 1, done.stderr


def test_torchrun_in_a_step_of_slurm(slurm, tmp_path):
    done = launch([*srun(1), *torchrun(2, "--no-python"), *recorded("-o", "job"), *meets(tmp_path / "m", 2)], tmp_path, slurm.environment)
    assert done.returncode == 0, done.stderr
    assert check_job(tmp_path / "job", 2)["job"]["launcher"] == "torchrun"


def test_real_collective_of_torch(tmp_path):
    (tmp_path / "train.py").write_text(GLOO)
    done = launch([*torchrun(2, "--no-python"), *recorded("-o", "job"), TORCHRUN.parent / "python", "train.py"], tmp_path)
    assert done.returncode == 0 and done.stdout.count("total 1.5") == 2, done.stderr
    verify(tmp_path / "job")
    assert rank_names(tmp_path / "job") == ["train.py rank 0", "train.py rank 1"]
    for words in (("stats", "overview"), ("stats", "ops"), ("stats", "steps"), ("advise",), ("dump",)):
        read = gpuprof(*words, tmp_path / "job")
        assert read.status == 0 and read.out, (words, read.err)
    ops = json.loads(gpuprof("stats", "ops", "--by", "process", "--json", tmp_path / "job").out)
    reduced = [row for row in ops["ops"] if row["name"] == "c10d::allreduce_"]
    # The recorder may begin late on a busy machine.
    assert len(reduced) == len({row["pid"] for row in reduced}) == 2 and all(0 < row["count"] <= 500 for row in reduced), ops["ops"]
    report = gpuprof("report", tmp_path / "job", "-o", tmp_path / "job.html")
    assert report.status == 0 and "rank-1/p" in (tmp_path / "job.html").read_text(), report.err


# ---- outside: the launcher is the command of one `gpuprof run`

def check_outside(done, bundle, count):
    assert done.returncode == 0, done.stderr
    verify(bundle)
    assert rank_names(bundle) == sorted(f"meets.py rank {rank}" for rank in range(count))
    assert summaries(done.stderr) == 1, done.stderr


def test_srun_outside(slurm, tmp_path):
    done = launch([*recorded("-o", "job"), *srun(2), *meets(tmp_path / "m", 2)], tmp_path, slurm.environment)
    check_outside(done, tmp_path / "job", 2)


@pytest.mark.parametrize("launcher", [openmpi, hydra])
def test_mpi_outside(tmp_path, launcher):
    done = launch([*recorded("-o", "job"), *launcher(2), *meets(tmp_path / "m", 2)], tmp_path)
    check_outside(done, tmp_path / "job", 2)


@pytest.mark.parametrize("form", ["script", "module"])
def test_torchrun_outside(tmp_path, form):
    command = torchrun(2)
    if form == "module":
        command = [TORCHRUN.parent / "python", "-m", "torch.distributed.run", *command[1:]]
    done = launch([*recorded("-o", "job"), *command, *meets(tmp_path / "m", 2)[1:]], tmp_path)
    check_outside(done, tmp_path / "job", 2)


def test_launcher_can_be_recorded_by_name(tmp_path):
    done = launch([*recorded("-o", "job", "--include", "torchrun"), *torchrun(1), *meets(tmp_path / "m", 1)[1:]], tmp_path)
    assert done.returncode == 0, done.stderr
    assert rank_names(tmp_path / "job") == ["meets.py rank 0", "torchrun"]


# ---- while the job runs

def test_bundle_is_whole_when_rank_0_is_over(slurm, tmp_path):
    gate = tmp_path / "gate"
    code = ("import os, pathlib, time\nblock = bytearray(10_000_000)\n"
            f"while os.environ['SLURM_PROCID'] != '0' and not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.01)")
    job = subprocess.Popen([*map(str, [*srun(2), *recorded("-o", "job"), sys.executable, "-c", code])], cwd=tmp_path,
                           env=job_environment(slurm.environment), text=True, stderr=subprocess.PIPE)
    try:
        said = ""
        while "next: " not in said:
            line = job.stderr.readline()
            assert line, said
            said += line
        verify(tmp_path / "job")
        ranks = {rank["rank"]: rank for rank in info(tmp_path / "job")["job"]["ranks"]}
        assert ranks[0]["ended_realtime_ns"] and not ranks[1]["ended_realtime_ns"]
        assert overview(tmp_path / "job")["processes"]
    finally:
        gate.touch()
        job.stderr.read()
        status = job.wait()
    assert status == 0
    verify(tmp_path / "job")
    assert len(overview(tmp_path / "job")["processes"]) == 2


def test_killed_rank_is_recovered(slurm, tmp_path):
    """srun ends the step with SIGKILL: launcher and program of each rank die, and their records are read."""
    code = "import os, signal, time\nblock = bytearray(10_000_000)\n"
    code += "os.killpg(0, signal.SIGKILL) if os.environ['SLURM_PROCID'] == '1' else time.sleep(900)"
    command = [*srun(2, "--kill-on-bad-exit"), *recorded("-o", "job"), sys.executable, "-c", code]
    done = launch(command, tmp_path, slurm.environment)
    assert done.returncode != 0
    assert gpuprof("recover", tmp_path / "job").status == 0
    verify(tmp_path / "job")
    assert {trace.program for trace in read_bundle_of_job(tmp_path / "job")} != set()


def read_bundle_of_job(bundle):
    return [trace for part in sorted(bundle.glob("rank-*")) for trace in read_bundle(part)]


def test_signal_to_the_job_reaches_each_rank(slurm, tmp_path):
    job = subprocess.Popen([*map(str, [*srun(2), *recorded("-o", "job"), *meets(tmp_path / "m", 3)])], cwd=tmp_path,
                           env=job_environment(slurm.environment), text=True, stderr=subprocess.PIPE)
    wait_until(lambda: len(list((tmp_path / "m").glob("begun-*"))) == 2, "both ranks")
    job.send_signal(signal.SIGTERM)
    job.stderr.read()
    assert job.wait() != 0
    gpuprof("recover", tmp_path / "job")
    verify(tmp_path / "job")


def test_launcher_alone_says_why_nothing_was_recorded(slurm, tmp_path):
    done = launch([GPUPROF, "run", "-o", "x", "--", *srun(1), "true"], tmp_path, slurm.environment)
    assert done.returncode == 0
    assert "programs named 'srun' are not recorded" in done.stderr
