# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""How ranks find the bundle of their job, without a launcher: each rank is started by hand with a launcher's variables.
Whatever is in the way, the rank's program runs."""

import os
import shutil
import subprocess
import sys

import pytest

from conftest import GPUPROF, gpuprof, program, verify
from rank_jobs import check_job, info, job_environment, launch, meets, rank_names, recorded, summaries
from waiting import LIMIT_S

PASS = [sys.executable, "-c", "x = bytearray(5_000_000)"]


def slurm(rank, size, job="71", step="0", **more):
    return {"SLURM_JOB_ID": job, "SLURM_STEP_ID": step, "SLURM_PROCID": str(rank), "SLURM_NTASKS": str(size),
            "SLURM_LOCALID": str(rank), **more}


def torch(rank, size, run="run1", **more):
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "TORCHELASTIC_RUN_ID": run, **more}


def start(env, command, cwd, *options):
    return subprocess.Popen([str(x) for x in [GPUPROF, "run", *options, "--", *command]], cwd=cwd, env=job_environment(env),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(processes):
    outcomes = []
    for process in processes:
        out, err = process.communicate(timeout=LIMIT_S)
        outcomes.append((process.returncode, err))
    return outcomes


def run(env, cwd, *options, command=PASS):
    return launch([GPUPROF, "run", *options, "--", *command], cwd, env)


def parts(bundle):
    return sorted(path.name for path in bundle.iterdir() if path.is_dir())


def test_many_ranks_at_once_make_one_bundle(tmp_path):
    count = 12
    ranks = [start(slurm(rank, count), meets(tmp_path / "m", count), tmp_path, "-o", "deep/job") for rank in range(count)]
    outcomes = finish(ranks)
    assert [status for status, _ in outcomes] == [0] * count, outcomes
    assert parts(tmp_path / "deep" / "job") == sorted(f"rank-{rank}" for rank in range(count))
    assert sum(summaries(err) for _, err in outcomes) == 1
    assert not [name for name in os.listdir(tmp_path / "deep" / "job") if name.endswith(".new")]
    check_job(tmp_path / "deep" / "job", count)


def test_two_jobs_at_once_do_not_mix(tmp_path):
    count = 5
    ranks = [start(slurm(rank, count, job), meets(tmp_path / job, count), tmp_path, "-o", "job")
             for rank in range(count) for job in ("8", "9")]
    assert [status for status, _ in finish(ranks)] == [0] * 2 * count
    bundles = [path for path in tmp_path.iterdir() if path.name.startswith("job")]
    assert sorted(info(bundle)["job"]["id"] for bundle in bundles) == ["8.0", "9.0"]
    for bundle in bundles:
        check_job(bundle, count)


@pytest.mark.parametrize("content", ["file", "bundle", "link", "damaged"])
def test_what_is_there_stays_and_the_job_records_beside(tmp_path, content):
    place = tmp_path / "job"
    if content == "bundle":
        assert launch([*recorded("-o", "job"), *PASS], tmp_path).returncode == 0
    else:
        place.mkdir()
        if content == "link":
            (tmp_path / "elsewhere").mkdir()
            (place / "bundle.pb").symlink_to(tmp_path / "elsewhere" / "bundle.pb")
        (place / "bundle.pb").write_bytes(b"\xff\xff\xff") if content == "damaged" else None
        (place / "mine.txt").write_text("precious") if content == "file" else None
    before = sorted((path.name, path.lstat().st_size) for path in place.iterdir())
    outcomes = [run(slurm(rank, 2), tmp_path, "-o", "job") for rank in (1, 0)]
    assert [done.returncode for done in outcomes] == [0, 0], [done.stderr for done in outcomes]
    assert sorted((path.name, path.lstat().st_size) for path in place.iterdir()) == before
    assert parts(tmp_path / "job-71.0") == ["rank-0", "rank-1"]
    assert "so the job is recorded in job-71.0" in outcomes[1].stderr and str(place) in outcomes[1].stderr
    assert outcomes[0].stderr == ""


@pytest.mark.parametrize("why", ["read-only", "file", "other user"])
def test_rank_runs_unrecorded_where_nothing_can_be_written(tmp_path, why):
    place = tmp_path / "job"
    if why == "file":
        place.write_text("x")
    elif why == "other user":
        if os.geteuid() != 0:
            pytest.skip("needs another user")
        place.mkdir()
        os.chown(place, 12345, 12345)
    else:
        place = "/proc/job"
    done = run(slurm(1, 2), tmp_path, "-o", place, command=[sys.executable, "-c", "print('ran'); raise SystemExit(9)"])
    assert done.returncode == 9 and done.stdout == "ran\n"
    assert "rank 1 of 2: " in done.stderr and "The command runs unrecorded" in done.stderr
    alone = launch([GPUPROF, "run", "-o", place, "--", *PASS], tmp_path)
    assert alone.returncode == 125, "what is no rank is refused, as ever"


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_folder_of_another_user_is_passed_over_by_a_job(tmp_path, kind):
    if os.geteuid() != 0:
        pytest.skip("needs another user")
    taken = tmp_path / f"gpuprof-{os.path.basename(sys.executable)}-71.0"
    if kind == "folder":
        taken.mkdir()
        os.chown(taken, 12345, 12345)
    else:
        (tmp_path / "victim").mkdir()
        taken.symlink_to(tmp_path / "victim")
    for rank in (0, 1):
        assert run(slurm(rank, 2), tmp_path).returncode == 0
    assert parts(tmp_path / f"{taken.name}-2") == ["rank-0", "rank-1"]
    assert os.listdir(taken) == []


def test_second_command_of_a_rank(tmp_path):
    for _ in range(2):
        assert run(slurm(0, 2), tmp_path, "-o", "job").returncode == 0
    assert parts(tmp_path / "job") == ["rank-0", "rank-0.2"]
    verify(tmp_path / "job")


def test_ids_that_come_again_are_other_jobs(tmp_path):
    """torchrun's own name of a run may be the user's, and the same each time."""
    for _ in range(2):
        outcomes = [run(torch(rank, 2), tmp_path, "-o", "job") for rank in (0, 1)]
        assert [done.returncode for done in outcomes] == [0, 0]
    assert parts(tmp_path / "job") == parts(tmp_path / "job-run1") == ["rank-0", "rank-1"]
    assert "holds the recording of an earlier job, so the job is recorded in job-run1" in outcomes[0].stderr
    smaller = run(torch(2, 3), tmp_path, "-o", "job")
    assert parts(tmp_path / "job-run1-2") == ["rank-2"], smaller.stderr
    # All attempts of an elastic job that was begun anew are in one bundle.
    assert run(torch(0, 1, TORCHELASTIC_RESTART_COUNT="1", WORLD_SIZE="2"), tmp_path, "-o", "job").returncode == 0
    assert parts(tmp_path / "job") == ["rank-0", "rank-0.restart-1", "rank-1"]


def test_job_of_one_rank_has_a_plain_bundle(tmp_path):
    assert run(torch(0, 1), tmp_path, "-o", "job").returncode == 0
    assert parts(tmp_path / "job") == [] and list((tmp_path / "job").glob("p*.gpt"))
    again = run(torch(0, 1), tmp_path, "-o", "job")
    assert again.returncode == 0 and "so this rank is recorded in job-run1" in again.stderr
    verify(tmp_path / "job-run1")


def test_patterns(tmp_path):
    host = os.uname().nodename.split(".")[0]
    for rank in (0, 1):
        assert run(slurm(rank, 2), tmp_path, "-o", "all/%j/%h-%r-100%%").returncode == 0
    assert sorted(os.listdir(tmp_path / "all" / "71.0")) == [f"{host}-{rank}-100%" for rank in (0, 1)]
    for rank in (0, 1):
        assert run(slurm(rank, 2), tmp_path, "-o", "of-%j").returncode == 0
    assert parts(tmp_path / "of-71.0") == ["rank-0", "rank-1"]
    process = start({}, PASS, tmp_path, "-o", "p%p")
    assert finish([process])[0][0] == 0 and (tmp_path / f"p{process.pid}" / "bundle.pb").exists()


@pytest.mark.parametrize("name, words", [("x-%r", "no launcher gave this command a rank"),
                                         ("x-%j", "no launcher gave this command a job"),
                                         ("50%", "a % that stands for nothing"), ("%x", "a % that stands for nothing")])
def test_wrong_patterns(tmp_path, name, words):
    done = launch([GPUPROF, "run", "-o", name, "--", *PASS], tmp_path)
    assert done.returncode == 2 and words in done.stderr
    assert os.listdir(tmp_path) == []


def test_patterns_are_not_for_env(tmp_path):
    done = gpuprof("env", "-o", "x-%h", cwd=tmp_path)
    assert done.status == 2 and b"patterns are filled by 'gpuprof run' alone" in done.err
    assert b"GPUPROF_BUNDLE=" + str(tmp_path).encode() + b"/50%" in gpuprof("env", "-o", "50%%", cwd=tmp_path).out


def test_ray_workers_have_no_numbers(tmp_path):
    workers = [start({"RAY_JOB_ID": "01000000"}, PASS, tmp_path) for _ in range(3)]
    outcomes = finish(workers)
    assert [status for status, _ in outcomes] == [0] * 3, outcomes
    bundle, = tmp_path.glob("gpuprof-*-01000000")
    host = os.uname().nodename.split(".")[0]
    assert parts(bundle) == sorted(f"worker-{host}-{worker.pid}" for worker in workers)
    assert sum(summaries(err) for _, err in outcomes) == 1
    verify(bundle)


@pytest.mark.parametrize("quiet", [False, True])
def test_rank_0_speaks(tmp_path, quiet):
    options = ["-o", "job", *(["--quiet"] if quiet else [])]
    said = [run(slurm(rank, 2), tmp_path, *options).stderr for rank in (1, 0)]
    assert said[0] == "" and summaries(said[1]) == (0 if quiet else 1)
    if quiet:
        assert said[1] == ""
    else:
        assert "bundle: job (" in said[1] and "of this rank; each rank adds its own" in said[1]
        assert "next: gpuprof stats overview job" in said[1]


def test_stray_rank_is_no_job(tmp_path):
    assert run({"RANK": "3"}, tmp_path, "-o", "plain").returncode == 0
    assert parts(tmp_path / "plain") == [] and rank_names(tmp_path / "plain")
    assert "job" not in info(tmp_path / "plain")


def test_nothing_recorded_leaves_nothing(tmp_path):
    ranks = [start(slurm(rank, 4), ["true"], tmp_path) for rank in range(4)]
    assert [status for status, _ in finish(ranks)] == [0] * 4
    assert os.listdir(tmp_path) == []


def test_missing_ranks_are_told(tmp_path):
    for rank in (0, 2):
        run(slurm(rank, 4), tmp_path, "-o", "job")
    assert "Slurm 71.0, 2 of its 4 ranks" in gpuprof("info", tmp_path / "job").out.decode()
    notes = gpuprof("stats", "overview", tmp_path / "job")
    assert b"2 of its 4 ranks" in notes.out + notes.err


def test_hosts_with_the_same_numbers(tmp_path):
    """Two hosts that share a file system: each has process 1, and a name of its own."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs namespaces")
    count = 2
    ranks = []
    for rank in range(count):
        inside = " ".join(str(x) for x in [*recorded("-o", "job"), *meets(tmp_path / "m", count)])
        command = ["unshare", "--fork", "--pid", "--uts", "--mount-proc", "sh", "-c", f"hostname node{rank}; {inside}; exit $?"]
        ranks.append(subprocess.Popen(command, cwd=tmp_path, env=job_environment(slurm(rank, count)), stderr=subprocess.PIPE, text=True,
                                      stdout=subprocess.PIPE))
    outcomes = finish(ranks)
    assert [status for status, _ in outcomes] == [0, 0], outcomes
    told = check_job(tmp_path / "job", count)
    assert [rank["host"] for rank in told["job"]["ranks"]] == ["node0", "node1"]
    assert len({process["pid"] for process in told["processes"]}) == 1, "the numbers differ, and the test shows nothing"
    assert {process["host"] for process in told["processes"]} == {"node0", "node1"}


def test_hostile_ids_stay_in_the_folder(tmp_path):
    done = run(slurm(0, 2, job="../../x y", step="\x1b[31m"), tmp_path)
    assert done.returncode == 0
    bundle, = tmp_path.iterdir()
    assert bundle.name.startswith("gpuprof-python") and bundle.name.endswith("-_._.._x_y.__31m")
    assert "\x1b" not in done.stderr and "\x1b" not in gpuprof("info", bundle).out.decode()


def test_links_are_not_read_as_ranks(tmp_path):
    assert run(slurm(0, 2), tmp_path, "-o", "job").returncode == 0
    assert run(slurm(1, 2), tmp_path, "-o", "other").returncode == 0
    (tmp_path / "job" / "rank-1").symlink_to(tmp_path / "other" / "rank-1")
    assert [rank["rank"] for rank in info(tmp_path / "job")["job"]["ranks"]] == [0]


def test_copied_ranks_of_hosts_are_one_bundle(tmp_path):
    """Each node recorded on a disk of its own. Their folders are copied into one."""
    for rank in (0, 1):
        assert run(slurm(rank, 2), tmp_path, "-o", f"node{rank}/job").returncode == 0
    shutil.copytree(tmp_path / "node0" / "job", tmp_path / "all")
    shutil.copytree(tmp_path / "node1" / "job", tmp_path / "all", dirs_exist_ok=True)
    verify(tmp_path / "all")
    assert [rank["rank"] for rank in info(tmp_path / "all")["job"]["ranks"]] == [0, 1]
    assert len(rank_names(tmp_path / "all")) == 2
