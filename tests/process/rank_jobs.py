# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What the tests of jobs with several ranks share: the launchers, and what a job's bundle must say."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import GPUPROF, ROOT, clean_environment, gpuprof, program, verify
from waiting import LIMIT_S

TORCHRUN = ROOT / ".deps" / "venv" / "bin" / "torchrun"
# A test may itself run in a job.
RANK_NAMES = re.compile(r"^(SLURM|OMPI|PMIX?|PMI|TORCHELASTIC|RAY)_|^(RANK|LOCAL_RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT)$")


def job_environment(extra=None):
    environment = {k: v for k, v in clean_environment().items() if not RANK_NAMES.match(k)}
    # Root starts the tests in most containers, and Open MPI asks for a word of consent.
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment.update(extra or {})
    return environment


def launch(command, cwd, env=None):
    """Runs a command to its end; stdout and stderr are texts."""
    return subprocess.run([str(x) for x in command], cwd=cwd, env=job_environment(env), text=True, capture_output=True,
                          timeout=LIMIT_S)


def need(*names):
    for name in names:
        if shutil.which(str(name)) is None:
            pytest.skip(f"no {name}: run scripts/setup --only test")


def openmpi(count):
    need("mpirun.openmpi")
    return ["mpirun.openmpi", "--oversubscribe", "-n", count]


def hydra(count):
    need("mpiexec.hydra")
    return ["mpiexec.hydra", "-n", count]


def torchrun(count, *options):
    need(TORCHRUN)
    return [TORCHRUN, "--nproc-per-node", count, *options]


def meets(folder, count, *statuses):
    return [sys.executable, program("meets.py"), folder, count, *statuses]


def recorded(*options):
    return [GPUPROF, "run", *options, "--"]


def info(bundle):
    done = gpuprof("info", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def overview(bundle):
    done = gpuprof("stats", "overview", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def rank_names(bundle):
    """The names of the processes that were recorded, sorted."""
    return sorted(row["name"] for row in overview(bundle)["processes"])


def summaries(err):
    return len(re.findall(r"^gpuprof: next: ", err, re.MULTILINE))


def all_met(folder, count):
    return sorted(path.name for path in folder.glob("met-*")) == sorted(f"met-{rank}" for rank in range(count))


def check_job(bundle, count, statuses=()):
    """The bundle of a job is whole, and has each rank once, with its name and its status."""
    verify(bundle)
    told = info(bundle)
    ranks = told["job"]["ranks"]
    assert [rank["rank"] for rank in ranks] == list(range(count)), ranks
    assert [rank["exit_status"] for rank in ranks] == [*statuses, *[0] * count][:count]
    assert all(rank["ended_realtime_ns"] for rank in ranks)
    assert told["exit_status"] == max([*statuses, 0])
    assert rank_names(bundle) == sorted(f"meets.py rank {rank}" for rank in range(count))
    text = gpuprof("info", bundle).out.decode()
    assert all(f"rank {rank} on " in text for rank in range(count)), text
    return told


def children_of(pid):
    return [int(x) for x in open(f"/proc/{pid}/task/{pid}/children").read().split()]


def exists(pid):
    return os.path.exists(f"/proc/{pid}")
