# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""deploy/slurm under a real Slurm: steps that ask for it are recorded, their commands and outputs stay as they are."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import GPUPROF, ROOT, gpuprof, verify
from rank_jobs import job_environment, launch, meets, rank_names
from slurm_node import SlurmNode
from waiting import wait_until

DEPLOY = ROOT / "deploy" / "slurm"


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """A node as an administrator sets it up."""
    scripts = tmp_path_factory.mktemp("share")
    for name in ("task-prolog", "task-epilog", "task-options"):
        shutil.copy(DEPLOY / name, scripts / name)
    node = SlurmNode(tmp_path_factory.mktemp("slurm"), f"TaskProlog={scripts}/task-prolog\nTaskEpilog={scripts}/task-epilog\n")
    # gpuprof is on the path of the nodes.
    node.environment["PATH"] = os.pathsep.join([str(GPUPROF.parent), os.environ["PATH"]])
    yield node
    node.stop()


def step(slurm, count, command, cwd, **env):
    return launch(["srun", f"-n{count}", *command], cwd, {**slurm.environment, **env})


def bundle_in(folder):
    found, = folder.glob("gpuprof-*")
    return found


SHOWS = [sys.executable, "-c", "import os; print(*[k for k in os.environ if k.startswith(('GPUPROF', 'LD_PRELOAD', 'NVTX_INJ', 'CUDA_INJ'))])"]


def test_step_that_does_not_ask_is_left_alone(slurm, tmp_path):
    done = step(slurm, 2, SHOWS, tmp_path)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("asked", ["on", "--trace=heap,threads --stacks 4"])
def test_step_that_asks_is_recorded(slurm, tmp_path, asked):
    done = step(slurm, 3, meets(tmp_path / "m", 3, 0, 4), tmp_path, GPUPROF_SLURM=asked)
    assert done.returncode == 4 and done.stdout == ""
    assert "gpuprof" not in done.stderr
    bundle = bundle_in(tmp_path)
    assert sorted(path.name for path in bundle.iterdir()) == ["rank-0", "rank-1", "rank-2"]
    verify(bundle)
    assert rank_names(bundle) == [f"meets.py rank {rank}" for rank in range(3)]


def test_folder_is_the_users(slurm, tmp_path):
    done = step(slurm, 1, SHOWS, tmp_path, GPUPROF_SLURM="-o runs")
    assert done.returncode == 0, done.stderr
    assert "GPUPROF_SLURM" not in done.stdout and "LD_PRELOAD" in done.stdout
    assert rank_names(bundle_in(tmp_path / "runs"))


def test_capture_on_demand_in_all_ranks(slurm, tmp_path):
    gate = tmp_path / "gate"
    code = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): block = bytearray(3_000_000); time.sleep(0.01)"
    job = subprocess.Popen(["srun", "-n2", sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                           env=job_environment({**slurm.environment, "GPUPROF_SLURM": "--capture=off"}))
    try:
        wait_until(lambda: len(list(tmp_path.glob("gpuprof-*/rank-*"))) == 2, "both ranks")
        bundle = bundle_in(tmp_path)
        folders = [bundle / "rank-0", bundle / "rank-1"]
        ids = bundle.name.removeprefix("gpuprof-")
        dormant = lambda: [b for b in (str(f) for f in folders) if b.encode() in gpuprof("ps").out]  # noqa: E731
        wait_until(lambda: len(dormant()) == 2, "both ranks to be ready")
        assert not list(bundle.glob("*/p*"))
        assert launch(["scancel", "--signal=USR1", ids], tmp_path, slurm.environment).returncode == 0
        wait_until(lambda: all(list(folder.glob("p*.gpt")) for folder in folders), "captures in both ranks")
    finally:
        gate.touch()
        err = job.stderr.read()
        assert job.wait() == 0, err
    verify(bundle)
    assert len(rank_names(bundle)) == 2


def test_nothing_recorded_leaves_no_folder(slurm, tmp_path):
    done = step(slurm, 2, SHOWS, tmp_path, GPUPROF_SLURM="--capture=off")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: os.listdir(tmp_path) == [], lambda: os.listdir(tmp_path))


def test_killed_rank_is_finished_by_the_epilog(slurm, tmp_path):
    code = "import os, signal; block = bytearray(9_000_000); os.kill(os.getpid(), signal.SIGKILL)"
    done = step(slurm, 1, [sys.executable, "-c", code], tmp_path, GPUPROF_SLURM="on")
    assert done.returncode != 0
    bundle = bundle_in(tmp_path)
    wait_until(lambda: not list(bundle.glob("*/*.ring")), lambda: list(bundle.glob("*/*")))
    verify(bundle)


@pytest.mark.parametrize("asked, words", [("--trace=nonsense", "nonsense"), ("-o /proc", None), ("-o %r", "patterns are filled")])
def test_wrong_options_leave_the_task_alone(slurm, tmp_path, asked, words):
    (tmp_path / "%r").mkdir()
    done = step(slurm, 1, [sys.executable, "-c", "print('ran')"], tmp_path, GPUPROF_SLURM=asked)
    # Slurm says so itself while the job before gives its processors back.
    err = re.sub(r"srun: job \d+ (queued and waiting for resources|has been allocated resources)\n", "", done.stderr)
    assert (done.returncode, done.stdout, err) == (0, "ran\n", "")
    if words is not None:
        log, = tmp_path.glob("**/gpuprof-*.log")
        assert "rank 0: " in log.read_text() and words in log.read_text()


def test_missing_command_leaves_the_task_alone(slurm, tmp_path):
    done = step(slurm, 1, [sys.executable, "-c", "print('ran')"], tmp_path, GPUPROF_SLURM="on", PATH="/usr/bin:/bin")
    assert done.returncode == 0 and done.stdout == "ran\n", done.stderr
    log, = tmp_path.glob("gpuprof-*.log")
    assert log.read_text() == "rank 0: the command gpuprof is not on PATH. The task ran unrecorded.\n"
