# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Groups of ranks: jobs whose collectives are known to the nanosecond, and a real job of gloo with two kinds of groups."""

import json

import pytest

from conftest import GPUPROF, gpuprof, program, verify
from kineto_jobs import Job
from rank_jobs import TORCHRUN, launch, torchrun

MS = 1_000_000
STEPS = 12
LATE_NS = 3 * MS
TP_ELEMENTS, DP_ELEMENTS, PP_ELEMENTS = 4_000_000, 40_000_000, 1_000_000
TP_NS, DP_NS, PP_NS = MS, 4 * MS, MS // 2


def communication(path, *words):
    done = gpuprof("stats", "communication", "--json", path, *words)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def text_of(path):
    return " ".join(gpuprof("stats", "communication", path).out.decode().split())


def mesh(slow=5, clocks=None, numbered=True, names=("TENSOR_MODEL_PARALLEL_GROUP", "DATA_PARALLEL_GROUP", "PIPELINE_MODEL_PARALLEL_GROUP")):
    """Two stages of two data ranks of two tensor ranks: rank = stage * 4 + data * 2 + tensor. One rank computes longer."""
    job = Job(8, ranks_of_host=4, clocks=clocks)
    tensor = [(str(1 + i), names[0], [2 * i, 2 * i + 1]) for i in range(4)]
    data = [(str(10 + i), names[1], ranks) for i, ranks in enumerate(([0, 2], [1, 3], [4, 6], [5, 7]))]
    pipe = [(str(20 + i), names[2], [i, i + 4]) for i in range(4)]

    def reduce(groups, elements, ns):
        for number, name, ranks in groups:
            job.meet((number, name), ranks, "allreduce", elements, ns, numbered=numbered)

    for _ in range(STEPS):
        for rank in range(4):
            job.compute(rank, 5 * MS)
        reduce(tensor[:2], TP_ELEMENTS, TP_NS)
        for number, name, (low, high) in pipe:
            job.send((number, name), [low, high], low, high, PP_ELEMENTS, PP_NS)
        for rank in range(4, 8):
            job.compute(rank, 5 * MS + (LATE_NS if rank == slow else 0))
        reduce(tensor[2:], TP_ELEMENTS, TP_NS)
        for number, name, (low, high) in pipe:
            job.send((number, name), [low, high], high, low, PP_ELEMENTS, PP_NS)
        for rank in range(4):
            job.compute(rank, 5 * MS)
        reduce(data, DP_ELEMENTS, DP_NS)
    return job


def by(rows, **keys):
    return [row for row in rows if all(row[key] == value for key, value in keys.items())]


@pytest.mark.parametrize("numbered", [True, False])
def test_groups_of_three_kinds_have_their_bytes_bandwidth_and_arrivals(tmp_path, numbered):
    result = communication(mesh(numbered=numbered).write(tmp_path / "job"))
    assert (result["match"], result["rank_count"]) == ("matched", 8)
    # Per step: four all-reduces in tensor groups, four in data groups, and eight messages.
    assert result["matched_count"] == STEPS * 16
    families = {row["kind"]: row for row in result["families"]}
    assert set(families) == {"tensor", "data", "pipeline"}
    assert all((row["group_count"], row["size_count"], row["kind_source"]) == (4, 2, "name") for row in families.values())
    assert families["tensor"]["reach"] == families["data"]["reach"] == "one_node"
    assert families["pipeline"]["reach"] == "several_nodes"
    assert all(row["is_numbered"] == numbered for row in result["groups"] if row["kind"] != "pipeline")
    for kind, elements, ns, factor in (("tensor", TP_ELEMENTS, TP_NS, 1), ("data", DP_ELEMENTS, DP_NS, 1), ("pipeline", PP_ELEMENTS, PP_NS, 1)):
        row, = by(result["operations"], kind=kind)
        each = STEPS * (8 if kind == "pipeline" else 4)
        assert (row["count"], row["transfer_count"], row["gap"]) == (each, each, "none")
        assert row["size_bytes"] == each * elements * 2
        assert row["transfer_ns"] == pytest.approx(each * ns, rel=1e-3)
        assert row["algorithm_bytes_per_second"] == pytest.approx(elements * 2 / (ns / 1e9), rel=1e-3)
        assert row["bus_bytes_per_second"] == pytest.approx(factor * elements * 2 / (ns / 1e9), rel=1e-3)


def test_the_slow_rank_is_named_with_its_group_and_ranks_that_waited_are_not(tmp_path):
    # The clocks of two hosts differ by more than the delay. Messages between the stages tell by how much.
    path = mesh(clocks={1: 7 * MS}).write(tmp_path / "job")
    result = communication(path)
    assert result["late"]["name"] == "python rank 5", result["late"]
    ranks = {row["name"].split()[-1]: row for row in result["ranks"]}
    family, = by(result["families"], kind="tensor")
    assert (family["late_name"], family["late_group"]) == ("python rank 5", "3")
    assert family["late_lead_ns"] == pytest.approx(STEPS * LATE_NS, rel=0.01)
    # Rank 4 is late in its group of data, as it waited for rank 5 before.
    assert ranks["4"]["inherited_ns"] >= STEPS * LATE_NS * 0.95
    assert ranks["5"]["lead_ns"] == pytest.approx(STEPS * LATE_NS, rel=0.01), "its group of data inherits it"
    assert ranks["4"]["lead_ns"] < LATE_NS and ranks["4"]["caused_ns"] < ranks["5"]["caused_ns"] / 10
    offsets = [ranks[str(rank)]["clock_offset_ns"] for rank in range(8)]
    distance = offsets[0] - offsets[4]
    assert abs(distance - 7 * MS) <= max(result["clock_error_ns"], 1000) < 7 * MS
    assert "python rank 5 (pid 1005) is late" in text_of(path)


def test_a_job_without_a_slow_rank_blames_nobody(tmp_path):
    path = mesh(slow=None).write(tmp_path / "job")
    result = communication(path)
    assert result["late"] is None and result["lateness"] == "none", result["lateness"]
    found = json.loads(gpuprof("advise", "--json", path).out)["findings"]
    assert not {"CO-002", "CO-008", "CO-010"} & {row["id"] for row in found}, found


def test_kinds_are_found_without_names_and_say_so(tmp_path):
    result = communication(mesh(names=("undefined",) * 3).write(tmp_path / "job"))
    sources = {(row["kind"], row["kind_source"], row["kind_confidence"]["level"]) for row in result["families"]}
    assert sources == {("pipeline", "operations", "medium"), ("tensor", "ranks", "low"), ("data", "ranks", "low")}


def test_experts_pipelines_and_what_computing_hides(tmp_path):
    job = Job(4, ranks_of_host=4)
    everyone, received = ("1", "EXPERT_MODEL_PARALLEL_GROUP"), [100_000, 100_000, 500_000, 100_000]
    for _ in range(STEPS):
        job.meet(everyone, [0, 1, 2, 3], "all_to_allv", 200_000, MS, out=received, hide=MS // 4)
        job.compute(0, MS)
        job.send(("2", "pp"), [0, 1], 0, 1, 1000, MS)
        job.send(("2", "pp"), [0, 1], 1, 0, 1000, MS)
    result = communication(job.write(tmp_path / "job"))
    first = result["experts"][0]
    assert (first["name"], first["received_bytes"]) == ("python rank 2", STEPS * 1_000_000)
    assert first["load_ratio"] == pytest.approx(2.5)
    assert sum(row["load_ratio"] for row in result["experts"]) == pytest.approx(4)
    experts, = by(result["families"], kind="expert")
    # Each rank computes in a quarter of the transfer. Three of them wait for rank 0 from the second step on.
    assert experts["time_ns"] - experts["exposed_ns"] == 4 * STEPS * MS // 4
    # The larger buffer of the ranks counts, with three of four parts on the links.
    row, = by(result["operations"], kind="expert")
    assert row["bus_bytes_per_second"] == pytest.approx(1_000_000 / (MS / 1e9) * 3 / 4, rel=1e-3)
    stages = {row["name"]: row for row in result["stages"]}
    assert set(stages) == {"python rank 0", "python rank 1"}
    assert stages["python rank 1"]["bubble_ratio"] > stages["python rank 0"]["bubble_ratio"] > 0


def test_groups_with_missing_or_single_ranks_say_why_they_have_no_bandwidth(tmp_path):
    job = mesh()
    job.meet(("30", "solo"), [0], "allreduce", 1000, MS)
    result = communication(job.write(tmp_path / "job", ranks=[0, 1, 2]))
    gaps = {(row["family"], row["gap"]) for row in result["operations"]}
    assert ("DATA_PARALLEL_GROUP", "missing_ranks") in gaps and ("solo", "one_rank") in gaps, gaps
    assert ("TENSOR_MODEL_PARALLEL_GROUP", "none") in gaps, gaps
    assert all(row["bus_bytes_per_second"] is None for row in result["operations"] if row["gap"] != "none")


def test_groups_of_one_name_without_ranks_are_not_mixed(tmp_path):
    job = Job(4, names_ranks=False)
    for _ in range(STEPS):
        for ranks in ([0, 1], [2, 3]):
            job.meet(("1", "tp"), ranks, "allreduce", 1000, MS)
    result = communication(job.write(tmp_path / "job"))
    assert result["match"] == "several_groups" and not result["waits"], result["match"]
    assert "does not say which ranks" in text_of(tmp_path / "job")


def test_many_ranks_are_said_shortly(tmp_path):
    job = Job(256)
    groups = [(str(1 + i), [*range(8 * i, 8 * i + 8)]) for i in range(32)]
    strides = [(str(100 + i), [*range(i, 256, 8)]) for i in range(8)]
    for _ in range(6):
        for rank in range(256):
            job.compute(rank, 2 * MS + (4 * MS if rank == 77 else 0))
        for number, ranks in groups:
            job.meet((number, "mesh_tp"), ranks, "_allgather_base", 1000, MS, out=[8000] * 8)
        for number, ranks in strides:
            job.meet((number, "mesh_dp"), ranks, "_reduce_scatter_base", 32_000, MS, out=[1000] * 32)
    path = job.write(tmp_path / "job")
    result = communication(path)
    assert len(result["ranks"]) == 256 and len(result["groups"]) == 40 and len(result["families"]) == 2
    assert result["late"]["name"] == "python rank 77" or result["lateness"] == "too_few"
    assert len(result["waits"]) <= 10_000
    lines = gpuprof("stats", "communication", path).out.decode().splitlines()
    assert len(lines) < 40, len(lines)
    assert "python rank 77" in text_of(path) and "are alike: 255 ranks" in text_of(path)


STEPS_OF_PAIRS, SLEPT = 24, 100 * MS  # as SLEEP_S of two_groups.py


def run_pairs(folder, out, *before):
    """Runs four ranks of which rank 1 sleeps before each step. Returns what is said of their collectives."""
    command = [*torchrun(4, "--no-python"), *before, TORCHRUN.parent / "python", program("two_groups.py"), out, "1", STEPS_OF_PAIRS]
    done = launch(command, folder, {"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    return communication(folder / "job")


def check_pairs(result):
    steps = STEPS_OF_PAIRS
    assert result["match"] == "matched", result["groups"]
    groups = {(row["description"], row["ranks"]): row for row in result["groups"]}
    ranks = {row["name"].split()[-1]: row for row in result["ranks"]}
    assert {("tp", "0-1"), ("tp", "2-3"), ("dp", "0,2"), ("dp", "1,3")} <= set(groups)
    late = groups["tp", "0-1"]
    assert late["late_name"].endswith("rank 1") and steps <= late["count"] <= steps + 1
    assert ranks["1"]["lead_ns"] < steps * SLEPT * 1.5, "the second group inherits the delay"
    assert steps * SLEPT * 0.9 <= late["late_lead_ns"] <= steps * SLEPT * 1.5
    assert groups["tp", "2-3"]["spread_ns"] < late["spread_ns"] / 2
    assert result["late"]["name"].endswith("rank 1")
    # Rank 0 waited for rank 1 before.
    assert groups["dp", "0,2"]["late_lead_ns"] < late["late_lead_ns"] / 4 < groups["dp", "0,2"]["spread_ns"]
    assert ranks["0"]["inherited_ns"] > steps * SLEPT / 2


def test_a_real_job_of_two_kinds_of_groups_names_group_rank_and_time(tmp_path):
    (tmp_path / "job").mkdir()
    result = run_pairs(tmp_path, tmp_path / "job")
    check_pairs(result)
    data, = by(result["operations"], family="dp")
    assert data["size_bytes"] == 2 * STEPS_OF_PAIRS * 1_000_000
    tensor, = by(result["operations"], family="tp")
    assert tensor["size_bytes"] == 2 * STEPS_OF_PAIRS * 4000


def test_a_bundle_names_the_groups_of_gloo(tmp_path):
    """The program destroys its groups before it ends. No profiler of PyTorch is in use."""
    check_pairs(run_pairs(tmp_path, "-", GPUPROF, "run", "-o", tmp_path / "job", "--"))
    verify(tmp_path / "job")
    process = json.loads(gpuprof("info", "--json", tmp_path / "job" / "rank-1").out)["processes"][0]
    notes = [note["text"] for note in process["notes"] if note["source"] == "process_group"]
    assert notes == ["ranks 0-3 of group 0, default_pg", "ranks 0-1 of group 1, tp", "ranks 1-3:2 of group 4, dp"]
