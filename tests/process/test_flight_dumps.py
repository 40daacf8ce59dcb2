# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Dumps of PyTorch's flight recorder: `stats flight_recorder` names the rank and the collective at fault, and nobody else. The faults are put in."""

import gzip
import json
import pickle
import subprocess
import sys

import pytest

from cli_support import gpuprof
from flight_dumps import Job
from waiting import LIMIT_S


def read(folder):
    done = gpuprof("stats", "flight_recorder", folder, "--json", cwd=folder if folder.is_dir() else folder.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def only(result):
    assert len(result["problems"]) == 1, result["verdict"]
    return result["problems"][0]


def healthy(job, steps=4, **options):
    for _ in range(steps):
        job.all("all_reduce", **options)
        job.all("broadcast", size=7, place=("sync", "/home/me/train.py", 61), **options)


def test_a_rank_that_does_not_come(tmp_path):
    job = Job(4)
    healthy(job)
    job.all("all_reduce", without=[2], state="started", place=("reduce", "/home/me/ddp.py", 12))
    result = read(job.write(tmp_path / "dumps"))
    problem = only(result)
    assert (problem["kind"], problem["ranks"], problem["waiting_ranks"]) == ("missing_enter", [2], [0, 1, 3])
    assert (problem["group_description"], problem["sequence"], problem["last_common_sequence"]) == ("default_pg", 9, 8)
    words = " ".join(result["verdict"])
    assert "Rank 2 did not enter all_reduce 9" in words and "/home/me/ddp.py:12" in words
    assert result["late_ranks"] == []


@pytest.mark.parametrize("change, kind", [
    ({"size": 512}, "other_sizes"), ({"dtype": "Half"}, "other_types"), ({"operation": "broadcast"}, "other_operation")])
def test_a_rank_with_other_arguments(tmp_path, change, kind):
    job = Job(4)
    healthy(job)
    for rank in range(4):
        job.add(rank, **{"operation": "all_reduce", "state": "started", **(change if rank == 3 else {})})
    problem = only(read(job.write(tmp_path / "dumps")))
    assert (problem["kind"], problem["ranks"], problem["last_common_sequence"]) == (kind, [3], 8)
    assert not problem["has_no_majority"]


def test_two_ranks_of_which_neither_is_the_majority(tmp_path):
    job = Job(2)
    healthy(job)
    for rank, size in enumerate((8, 16)):
        job.add(rank, "all_reduce", size=size, state="started")
    problem = only(read(job.write(tmp_path / "dumps")))
    assert (problem["kind"], problem["ranks"], problem["has_no_majority"]) == ("other_sizes", [0, 1], True)


def test_operations_in_another_order(tmp_path):
    job = Job(4)
    healthy(job)
    for rank in range(4):
        for operation in ("all_gather_into_tensor", "all_reduce") if rank == 1 else ("all_reduce", "all_gather_into_tensor"):
            job.add(rank, operation, state="scheduled", time_discovered_started_ns=None)
    problem = only(read(job.write(tmp_path / "dumps")))
    assert (problem["kind"], problem["ranks"], problem["sequence"]) == ("other_order", [1], 9)


def test_sizes_that_may_differ(tmp_path):
    """all_to_all and scatter have other sizes on each rank, and nothing is wrong with them while they run."""
    job = Job(3)
    for rank in range(3):
        job.add(rank, "all_to_all", size=100 * rank, state="completed")
        job.add(rank, "gather", size=10, output_sizes=[[10]] * 3 if rank == 0 else [])
    assert read(job.write(tmp_path / "dumps"))["problems"] == []


def test_a_rank_that_does_not_leave(tmp_path):
    job = Job(4)
    healthy(job)
    for rank in range(4):
        job.add(rank, "all_reduce", state="started" if rank == 1 else "completed")
    problem = only(read(job.write(tmp_path / "dumps")))
    assert (problem["kind"], problem["ranks"], problem["sequence"]) == ("missing_leave", [1], 9)


def test_of_two_groups_the_cause_comes_first(tmp_path):
    """Rank 3 does not come to the group tp, where rank 1 waits. So rank 1 does not come to the group dp, where rank 0 waits."""
    job = Job(4)
    job.group("1", [0, 1], "dp")
    job.group("2", [1, 3], "tp")
    for _ in range(3):
        job.all("all_reduce", "1")
        job.all("all_gather", "2")
    job.add(1, "all_gather", "2", state="started")
    job.add(0, "all_reduce", "1", state="started")
    result = read(job.write(tmp_path / "dumps"))
    first, second = result["problems"]
    assert (first["group_description"], first["ranks"], first["caused_by"]) == ("tp", [3], None)
    assert (second["group_description"], second["ranks"], second["caused_by"]) == ("dp", [1], 0)


def test_ranks_that_wait_for_each_other_in_two_groups(tmp_path):
    job = Job(2)
    job.group("1", [0, 1], "a")
    job.group("2", [0, 1], "b")
    job.add(0, "all_reduce", "1", state="started")
    job.add(1, "all_reduce", "2", state="started")
    result = read(job.write(tmp_path / "dumps"))
    assert len(result["problems"]) == 2 and all(each["is_circle"] for each in result["problems"])


def test_groups_of_one_name_with_other_ranks_are_apart(tmp_path):
    """Each pair of ranks has a group of the name 1: one pair hangs, the other one does not."""
    jobs = [Job(4), Job(4)]
    for pair, job in enumerate(jobs):
        job.group("1", [2 * pair, 2 * pair + 1], "pair")
        job.all("all_reduce", "1")
        job.all("all_reduce", "1", without=[1], state="started")
    folder = jobs[0].write(tmp_path / "dumps", without=[2, 3])
    jobs[1].write(folder, without=[0, 1])
    problems = read(folder)["problems"]
    assert [(each["kind"], each["ranks"]) for each in problems if each["kind"] == "missing_enter"] == [("missing_enter", [1])]


def test_a_message_without_its_other_end(tmp_path):
    job = Job(2)
    for number in range(3):
        job.add(0, "send 0->1", p2p=True)
        job.add(1, "recv 1<-0", p2p=True)
    job.add(0, "send 0->1", p2p=True, state="started", place=("forward", "/home/me/pipe.py", 5))
    problem = only(read(job.write(tmp_path / "dumps")))
    assert (problem["kind"], problem["ranks"], problem["waiting_ranks"], problem["is_message"]) == ("missing_partner", [1], [0], True)


def test_a_message_of_two_sizes(tmp_path):
    job = Job(2)
    job.add(0, "send 0->1", p2p=True, state="started", size=8)
    job.add(1, "recv 1<-0", p2p=True, state="started", size=16)
    assert only(read(job.write(tmp_path / "dumps")))["kind"] == "other_message"


def test_batches_of_messages_are_no_collectives(tmp_path):
    """Ranks have batches of other lengths, and one of no message: nothing is wrong."""
    job = Job(3)
    job.add(0, "send 0->1", p2p=True)
    job.add(0, "coalesced", p2p=True, same=True)
    job.add(1, "recv 1<-0", p2p=True)
    job.add(1, "send 1->2", p2p=True, same=True)
    job.add(1, "coalesced", p2p=True, same=True)
    job.add(2, "recv 2<-1", p2p=True)
    job.all("all_reduce")
    assert read(job.write(tmp_path / "dumps"))["problems"] == []


def test_a_batch_of_collectives_is_one(tmp_path):
    job = Job(3)
    healthy(job)
    for rank in range(3):
        for part in range(2):
            job.add(rank, "all_gather_into_tensor_coalesced", same=part > 0, state="started", size=8 if rank == 2 and part else 16)
        job.add(rank, "coalesced", same=True, state="started", size=[])
    problem = only(read(job.write(tmp_path / "dumps")))
    assert (problem["kind"], problem["ranks"], problem["sequence"]) == ("other_sizes", [2], 9)


def test_a_rank_without_a_dump(tmp_path):
    job = Job(4)
    healthy(job)
    job.all("all_reduce", without=[2], state="started")
    result = read(job.write(tmp_path / "dumps", without=[2]))
    assert result["missing_dumps"] == [2]
    assert only(result)["unknown_ranks"] == [2] and only(result)["kind"] == "missing_leave"
    assert "Rank 2 has no dump" in " ".join(result["verdict"])


def test_what_left_the_ring_is_not_missing(tmp_path):
    """The rings hold the newest entries alone, and one rank has run many more operations of another group."""
    job = Job(4)
    job.group("1", [0, 1], "busy")
    healthy(job, 30)
    for _ in range(200):
        job.all("all_reduce", "1")
    assert read(job.write(tmp_path / "well", ring=100))["problems"] == []
    job.all("all_reduce", without=[3], state="started")
    problem = only(read(job.write(tmp_path / "hangs", ring=50)))
    assert (problem["kind"], problem["ranks"], problem["sequence"]) == ("missing_enter", [3], 61)


@pytest.mark.parametrize("form", ["json", "pickle", "gz"])
def test_forms_of_a_dump(tmp_path, form):
    job = Job(3)
    healthy(job)
    job.all("all_reduce", without=[1], state="started")
    folder = job.write(tmp_path / "dumps", form="json" if form == "json" else "pickle", name="nccl_trace_rank_{}" + (".json" if form == "json" else ""))
    if form == "gz":
        for path in list(folder.iterdir()):
            (folder / (path.name + ".gz")).write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    assert only(read(folder))["ranks"] == [1]


def test_dumps_of_the_first_version(tmp_path):
    """A list of entries with `seq_id`, and neither groups nor ranks."""
    def old(rank, dump):
        keep = ("record_id", "pg_id", "profiling_name", "time_created_ns", "input_sizes", "output_sizes", "state", "frames")
        return [{**{key: each[key] for key in keep}, "seq_id": each["collective_seq_id"]} for each in dump["entries"]]
    job = Job(3)
    healthy(job)
    job.all("all_reduce", without=[0], state="started")
    problem = only(read(job.write(tmp_path / "dumps", change=old)))
    assert (problem["kind"], problem["ranks"], problem["sequence"]) == ("missing_enter", [0], 9)


def test_a_library_that_notes_no_states(tmp_path):
    """Gloo leaves all entries scheduled, and its configuration has another name than its entries."""
    def gloo(rank, dump):
        for each in dump["entries"]:
            each.update(state="scheduled", retired=True, time_discovered_started_ns=None, time_discovered_completed_ns=None)
        dump["pg_config"] = {"": {"name": "", "desc": "", "ranks": "[0, 1, 2, 3]"}}
        del dump["rank"], dump["world_size"]
        return dump
    job = Job(4, backend="gloo")
    healthy(job)
    result = read(job.write(tmp_path / "dumps", change=gloo))
    assert result["problems"] == [] and result["missing_dumps"] == []
    assert result["verdict"] == ["All 4 ranks entered the same 8 collectives of the group default_pg; the last one that all have left is 8."]


def test_a_rank_that_was_late_before(tmp_path):
    """Rank 1 comes 30 ms late to one of two collectives. The clock of rank 3 is 2 s ahead, which is no lateness."""
    job = Job(4)
    for _ in range(6):
        job.all("all_reduce", late={1: 30, 3: 2000})
        job.all("broadcast", size=7, late={3: 2000})
    late, = read(job.write(tmp_path / "dumps"))["late_ranks"]
    assert (late["rank"], late["count"], late["late_ns"], late["operation"]) == (1, 6, 30_000_000, "all_reduce")
    assert (late["period"], late["place_in_period"]) == (2, 1)


def test_nobody_is_late_by_one_slow_start(tmp_path):
    job = Job(4)
    job.all("all_gather", late={2: 900})
    for step in range(20):
        job.all("all_reduce", late={step % 4: 0.3})
    assert read(job.write(tmp_path / "dumps"))["late_ranks"] == []


def test_one_file_and_info(tmp_path):
    job = Job(2)
    healthy(job)
    folder = job.write(tmp_path / "dumps")
    assert read(folder / "rank_1")["ranks"][0]["rank"] == 1
    done = gpuprof("info", folder, cwd=tmp_path)
    assert done.returncode == 0 and "flight recorder" in done.stdout


@pytest.mark.parametrize("bytes_, words", [
    (pickle.dumps({"pg_config": {}, "entries": [1] * 50})[:-20], "cut"),
    (b'{"pg_config": {}, "entries": [', "cut or damaged"),
    (pickle.dumps({"pg_config": subprocess.Popen}), "gpuprof runs no code of a pickle"),
    (pickle.dumps({"comm_lib_version": "1"}), "no list 'entries'")])
def test_files_that_are_refused(tmp_path, bytes_, words):
    path = tmp_path / "rank_0"
    path.write_bytes(bytes_)
    done = gpuprof("stats", "flight_recorder", path, cwd=tmp_path)
    assert done.returncode == 3 and words in done.stderr, done.stderr


def test_one_bad_file_leaves_the_others(tmp_path):
    job = Job(3)
    healthy(job)
    folder = job.write(tmp_path / "dumps")
    (folder / "rank_1").write_bytes((folder / "rank_1").read_bytes()[:400])
    done = gpuprof("stats", "flight_recorder", folder, "--json", cwd=tmp_path)
    assert done.returncode == 3 and "rank_1" in done.stderr
    assert json.loads(done.stdout)["missing_dumps"] == [1]


PROGRAM = """
import json, os, pickle, sys, time
import torch, torch.distributed as dist
import torch._C._distributed_c10d as c10d
rank, folder = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
for _ in range(5):
    dist.all_reduce(torch.ones(64))
dist.barrier()


def all_are_noted():
    # A thread of its own notes the end of an operation, a moment later.
    text = c10d._dump_fr_trace_json()
    status = json.loads(text.decode() if isinstance(text, bytes) else text).get("pg_status", {})
    return all(each["last_completed_collective"] == each["last_enqueued_collective"] for each in status.values())


while not all_are_noted():
    time.sleep(0.01)
with open(f"{folder}/dumps/rank_{rank}", "wb") as out:
    out.write(c10d._dump_fr_trace())
with open(f"{folder}/json/rank_{rank}.json", "wb") as out:
    text = c10d._dump_fr_trace_json()
    out.write(text if isinstance(text, bytes) else text.encode())
"""


def test_dumps_of_real_ranks(tmp_path):
    pytest.importorskip("torch")
    for name in ("dumps", "json"):
        (tmp_path / name).mkdir()
    import os
    env = {**os.environ, "TORCH_FR_BUFFER_SIZE": "200"}
    ranks = [subprocess.Popen([sys.executable, "-c", PROGRAM, str(rank), str(tmp_path)], env=env) for rank in range(2)]
    assert [each.wait(LIMIT_S) for each in ranks] == [0, 0]
    for name in ("dumps", "json"):
        result = read(tmp_path / name)
        assert result["problems"] == [] and len(result["ranks"]) == 2, result["verdict"]
        assert result["groups"][0]["last_common_sequence"] >= 5
