# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What NCCL tells its profiler plugin, of each version of the interface. A double of NCCL calls the plugin as NCCL does, and the program
knows each collective (tests/fake_gpu/programs/collectives.cu)."""

import json
import subprocess

import pytest

from conftest import GPUPROF, ROOT, gpuprof, verify
from fake_gpu import DOUBLES, environment_of, needs_doubles
from rank_jobs import job_environment
from waiting import LIMIT_S

pytestmark = needs_doubles

RANKS, STEPS = 4, 5
RUNS = 2  # of a graph with a collective
TEXTS = ("algorithm", "communicator name", "protocol", "type")
LIBRARY = ROOT / ".deps" / "duckdb" / "libduckdb.so"
PROGRAM = DOUBLES / "programs" / "collectives"
OF_ALL, OF_PAIRS = "0xa11", ("0x9a000", "0x9a001")
FLOAT = 4


def run_job(folder, version, *options, env=None, begins=()):
    """Runs a process for each rank; `begins`: the step at which a rank begins its capture. Returns what the programs printed."""
    folder.mkdir()
    started = []
    for rank in range(RANKS):
        begin = begins[rank] if begins else -1
        command = [PROGRAM, version, STEPS, folder.parent / "meeting", begin]
        variables = {**environment_of(folder.parent / f"truth-{rank}.json"), "RANK": rank, "WORLD_SIZE": RANKS, **(env or {})}
        capture = ["--capture=cuda-profiler"] if begin >= 0 else []
        started.append(subprocess.Popen(
            [str(x) for x in (GPUPROF, "run", "-o", folder / "job", *options, *capture, "--", *command)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=job_environment({k: str(v) for k, v in variables.items()})))
    outputs = []
    for one in started:
        out, err = one.communicate(timeout=LIMIT_S)
        assert one.returncode == 0, err
        outputs.append(out)
    verify(folder / "job")
    return folder / "job", outputs


def stats(name, job):
    done = gpuprof("stats", name, "--json", job)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def operations_of(result):
    return {(row["group"], row["operation"]): row for row in result["group_operations"]}


@pytest.mark.parametrize("version", range(1, 7))
def test_groups_numbers_and_sizes_are_those_of_the_program(tmp_path, version):
    job, outputs = run_job(tmp_path / "run", version)
    for out in outputs:
        assert f"plugin gpuprof v{version}" in out and out.count("init 0 mask 6") == 2, out
    result = stats("communication", job)
    groups = {row["name"]: row for row in result["groups"] if row["name"]}
    assert set(groups) == {OF_ALL, *OF_PAIRS}
    assert all(row["match"] == "matched" for row in groups.values())
    # What NCCL said when the graph was captured is true of both its runs.
    assert all(row["is_numbered"] for row in groups.values())
    assert groups[OF_ALL]["count"] == 3 * STEPS + RUNS and groups[OF_ALL]["unmatched_count"] == 0
    assert result["unnamed_count"] == 0
    assert groups[OF_ALL]["description"] == "everybody"
    knows_ranks = version >= 4
    assert groups[OF_ALL]["size_count"] == (RANKS if knows_ranks else 0)
    assert groups[OF_ALL]["reach"] == ("several_nodes" if knows_ranks else "unknown")
    assert [groups[name]["ranks"] for name in OF_PAIRS] == (["0-1", "2-3"] if knows_ranks else ["", ""])
    operations = operations_of(result)
    assert operations[OF_ALL, "all_reduce"]["size_bytes"] == (STEPS * 1000 + RUNS * 7) * FLOAT
    # Each rank keeps a part of two sums.
    of_parts = {"all_gather": STEPS * 1000 * RANKS, "reduce_scatter": STEPS * 30 * FLOAT * RANKS}
    for name, size in of_parts.items():
        assert operations[OF_ALL, name]["size_bytes"] == (size if knows_ranks else None)
    for name in OF_PAIRS:
        assert operations[name, "send"]["count"] == STEPS and operations[name, "send"]["size_bytes"] == STEPS * 2000 * FLOAT
        # NCCL has a name for unsigned bytes in version 1 alone.
        assert operations[name, "all_reduce"]["size_bytes"] == (STEPS * 64 if version == 1 else None)


def test_a_capture_that_begins_late_is_matched_by_number(tmp_path):
    job, _ = run_job(tmp_path / "run", 6, begins=(0, 2, 1, 3))
    result = stats("communication", job)
    groups = {row["name"]: row for row in result["groups"] if row["name"]}
    latest, of_first_pair, of_last_pair = STEPS - 3, STEPS - 2, STEPS - 3
    assert groups[OF_ALL]["is_numbered"] and groups[OF_ALL]["count"] == 3 * latest + RUNS
    # A message has no number: the captures of a pair have different numbers of them.
    assert [groups[name]["count"] for name in OF_PAIRS] == [of_first_pair, of_last_pair]


@pytest.mark.skipif(not LIBRARY.exists(), reason="scripts/setup could not fetch DuckDB's library")
def test_marks_have_all_that_nccl_reported(tmp_path):
    job, _ = run_job(tmp_path / "run", 5)

    def query(sql):
        done = gpuprof("query", job, sql, f"--library={LIBRARY}", "--json")
        assert done.status == 0, done.err.decode()
        return json.loads(done.out)

    of_nccl = "FROM range_values WHERE domain = 'NCCL profiler'"
    reported = RANKS * (6 * STEPS + 1)  # each task, and the one of the graph at its capture
    assert query(f"SELECT name, count(*) AS n, count(number) AS numbers, count(text) AS texts {of_nccl} GROUP BY 1 ORDER BY 1") == [
        {"name": name, "n": reported, "numbers": 0 if name in TEXTS else reported, "texts": reported if name in TEXTS else 0}
        for name in sorted([*TEXTS, "bytes", "channels", "communicator", "nodes", "number", "peer", "rank", "ranks", "root"])]
    assert query(f"SELECT DISTINCT whole {of_nccl} AND name = 'communicator' ORDER BY 1") == [
        {"whole": int(name, 16)} for name in (OF_ALL, *OF_PAIRS)]
    assert query(f"SELECT DISTINCT text {of_nccl} AND name = 'type' ORDER BY 1") == [
        {"text": text} for text in ("Unknown", "ncclBfloat16", "ncclFloat32")]
    assert query(f"SELECT rank, sum(number) AS peers {of_nccl} AND name = 'peer' AND whole >= 0 GROUP BY 1 ORDER BY 1") == [
        {"rank": rank, "peers": STEPS * (1 - rank % 2)} for rank in range(RANKS)]


@pytest.mark.parametrize("named", ["none", "/opt/plugins/libnccl-profiler-own.so"])
def test_a_plugin_that_the_user_named_stays(tmp_path, named):
    _, outputs = run_job(tmp_path / "run", 6, env={"NCCL_PROFILER_PLUGIN": named})
    assert all("plugin gpuprof" not in out for out in outputs)


def test_a_plugin_that_nccl_finds_by_itself_stays(tmp_path):
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "libnccl-profiler.so").write_bytes(b"")
    path = environment_of("")["LD_LIBRARY_PATH"] + f":{folder}"
    _, outputs = run_job(tmp_path / "run", 6, env={"LD_LIBRARY_PATH": path})
    assert all("no plugin" in out for out in outputs)


@pytest.mark.parametrize("where", ["home", "named"])
def test_a_plugin_of_nccls_settings_file_stays(tmp_path, where):
    file = tmp_path / (".nccl.conf" if where == "home" else "own.conf")
    file.write_text("NCCL_DEBUG=WARN\nNCCL_PROFILER_PLUGIN=own\n")
    env = {"HOME": tmp_path} if where == "home" else {"NCCL_CONF_FILE": file}
    _, outputs = run_job(tmp_path / "run", 6, env=env)
    assert all("no plugin" in out for out in outputs)


def test_without_the_source_nccl_has_no_plugin(tmp_path):
    job, outputs = run_job(tmp_path / "run", 6, "--trace=cuda,nvtx")
    assert all("no plugin" in out for out in outputs)
    assert [row["name"] for row in stats("communication", job)["groups"]] == [""]
