# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""SQL of a stranger has limits: it ends in time, in its memory, makes no file and reads none. So does each query of `gpuprof serve`."""

import json
import pathlib
import resource
import subprocess
import urllib.parse

import pytest

from conftest import BUILD, GPUPROF, ROOT, clean_environment, gpuprof
from served_queries import Server
from waiting import wait_until

LIBRARY = ROOT / ".deps" / "duckdb" / "libduckdb.so"
BUNDLE = sorted((ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch").glob("*/bundle.pb"))[0].parent
pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="scripts/setup could not fetch DuckDB's library")
TIME_S, MEMORY_MIB = 2, 512
# A busy machine takes its time to begin and to end a process.
SLACK_S = 30

# What never ends, or wants all memory. Some end sooner, with an error or an answer.
GREEDY = {
    "recursion": "with recursive r(n) as (select 1::bigint union all select n + 1 from r) select count(*) from r",
    "cross joins": "select count(*) from range(1000000) a, range(1000000) b, range(1000000) c",
    "long text": "select length(repeat('x', 2000000000))",
    "long texts": "select max(length(repeat(i::varchar, 100000000))) from range(1000) t(i)",
    "text within text": "select instr(repeat('a', 100000000), repeat('a', 50000000) || 'b')",
    "many rows": "select * from range(100000000000)",
    "many groups": "select i, count(*) from range(100000000000) t(i) group by 1",
    "sorted": "select i from range(100000000000) t(i) order by hash(i)",
    "list": "select length(list(i)) from range(100000000000) t(i)",
    "regular expression": "select regexp_matches(repeat('a', 50000000), '(a|aa|aaa)*b')",
}
REFUSED = [
    "create table t as select 1", "create temp table t as select 1", "create view v as select 1", "insert into names values (1, 'x')", "drop view kernels",
    "copy (select 1) to '{folder}/out.csv'", "copy kernels to '{folder}/out.parquet' (format parquet)", "export database '{folder}/out'",
    "attach '{folder}/out.db' as other", "select * from '{folder}/secret.csv'", "select * from read_csv('{folder}/secret.csv')",
    "select * from read_text('{folder}/secret.csv')", "select * from read_blob('/etc/passwd')", "select * from read_parquet('{folder}/*')",
    "select * from glob('{folder}/*')", "install httpfs", "load httpfs", "set enable_external_access = true", "set memory_limit = '1TB'",
    "pragma enable_profiling", "set temp_directory = '{folder}'", "select 1; select 2", "select 1; drop view kernels", "begin", "vacuum", "checkpoint",
    "prepare p as select 1", "call pragma_version()", "select", "select * from no_such_table", "create secret s (type s3)",
]


def limited(sql, *options, cwd):
    """Runs a query with limits. It must end in time."""
    return subprocess.run([GPUPROF, "query", BUNDLE, sql, "--json", f"--library={LIBRARY}", f"--time-limit={TIME_S}s", f"--memory-limit={MEMORY_MIB}MiB",
                           "--threads=2", *options], capture_output=True, cwd=cwd, env=clean_environment(), timeout=TIME_S + 1 + SLACK_S)


@pytest.fixture(name="empty")
def empty_folder(tmp_path):
    (tmp_path / "secret.csv").write_text("word\nswordfish\n")
    before = sorted(tmp_path.rglob("*"))
    yield tmp_path
    assert sorted(tmp_path.rglob("*")) == before, "a statement made a file"


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_refused_with_limits(sql, empty):
    done = limited(sql.format(folder=empty), cwd=empty)
    assert done.returncode == 2 and done.stderr.startswith(b"gpuprof: "), (done.returncode, done.stderr)
    assert b"swordfish" not in done.stdout + done.stderr and b"root:" not in done.stdout


@pytest.mark.parametrize("name", GREEDY)
def test_what_is_greedy_ends(name, empty):
    done = limited(GREEDY[name], "--limit=10", cwd=empty)
    if done.returncode == 2:
        said = done.stderr.decode()
        assert said.startswith("gpuprof: ") and said.count("\n") == 1, said
        assert "took longer than 2 s" in said or "emory" in said or "size" in said or "too" in said, said
    else:
        assert done.returncode == 0 and json.loads(done.stdout)
    # The largest of all processes that this test has waited for.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < (MEMORY_MIB + 400) * 1024


def test_some_end_by_time_and_some_by_memory(tmp_path):
    done = limited(GREEDY["recursion"], cwd=tmp_path)
    assert done.returncode == 2 and b"took longer than 2 s" in done.stderr
    done = limited(GREEDY["long text"], cwd=tmp_path)
    assert done.returncode == 2 and b"emory" in done.stderr


def test_limits_change_no_answer(tmp_path):
    sql = "select name, count(*) as n, sum(dur_ns) as total from kernels group by name order by total desc"
    for form in ("--json", "--csv", "--wide"):
        plain = gpuprof("query", BUNDLE, sql, form, f"--library={LIBRARY}")
        with_limits = gpuprof("query", BUNDLE, sql, form, f"--library={LIBRARY}", "--time-limit=60s", "--memory-limit=4GiB", cwd=tmp_path)
        assert plain.status == with_limits.status == 0, with_limits.err
        assert plain.out == with_limits.out != b""
    # Results of passes, too: they are computed within the limits.
    found = gpuprof("query", BUNDLE, "select count(*) as n from stats.kernels", "--json", f"--library={LIBRARY}", "--time-limit=60s")
    assert found.status == 0 and json.loads(found.out)[0]["n"] > 5


def test_wrong_limits_are_refused():
    for option in ("--time-limit=0s", "--time-limit=soon", "--memory-limit=lots"):
        done = gpuprof("query", BUNDLE, "select 1", option)
        assert done.status == 2 and option.split("=")[0].encode() in done.err, done.err


def runs(pid):
    """Says if a process runs. One that has ended may wait for its parent."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def page_is_built():
    page = BUILD / "viewer" / "index.html"
    return page.exists() and page.stat().st_size > 0


needs_page = pytest.mark.skipif(not page_is_built(), reason="this build has no page of reports")


@pytest.fixture(name="server")
def serve(tmp_path):
    (tmp_path / "secret.csv").write_text("word\nswordfish\n")
    before = sorted(path for path in tmp_path.rglob("*"))
    with Server(BUNDLE, f"--library={LIBRARY}", cwd=tmp_path) as server:
        yield server
        assert sorted(path for path in tmp_path.rglob("*")) == before, "a query made a file"


@needs_page
def test_the_server_answers_queries(server):
    status, answer = server.query("select name, count(*) as n, sum(dur_ns) as total from kernels group by name order by total desc")
    right = json.loads(gpuprof("stats", "kernels", "--json", BUNDLE).out)["kernels"]
    assert status == 200 and answer["columns"] == ["name", "n", "total"] and answer["truncated"] is None
    assert sorted(answer["rows"]) == sorted([row["name"], row["count"], row["total_ns"]] for row in right)
    status, answer = server.query("select i from range(25000) t(i)")
    assert status == 200 and len(answer["rows"]) == 10000 and answer["truncated"] == {"shown": 10000, "total": 25000}
    status, answer = server.query("select 1 as a, 2 as a, null as n, 'x\"y' as t, true as b, 9223372036854775807 as big, 0.5 as half")
    assert answer == {"columns": ["a", "a_1", "n", "t", "b", "big", "half"], "rows": [[1, 2, None, 'x"y', True, "9223372036854775807", 0.5]], "truncated": None}
    status, answer = server.query("")
    assert status == 200 and ["kernels", "dur_ns", "bigint", "ns"] in [row[:4] for row in answer["rows"]]
    status, answer = server.query("select 1 where false")
    assert (status, answer["rows"]) == (200, [])


@needs_page
def test_strangers_do_not_come_in(server):
    path = f"/{server.token}/query/" + urllib.parse.quote("select 1")
    assert server.get(path)[0] == 200
    assert server.get("/" + "0" * 32 + "/query/select%201")[0] == 403
    assert server.get(path, Host="evil.example.org")[0] == 403
    assert server.get(path, Origin="http://evil.example.org")[0] == 403
    assert server.get(path, method="POST")[0] == 405
    assert server.get(f"/{server.token}/query/" + "x" * 60000)[0] in (400, 414, 422, 431)
    assert server.query("select 1")[0] == 200


@needs_page
def test_hostile_queries_leave_the_server_well(server, tmp_path):
    for sql in REFUSED:
        status, answer = server.query(sql.format(folder=tmp_path))
        assert status == 422 and answer["reason"].endswith((".", "?", "!")), (sql, answer)
        assert "swordfish" not in json.dumps(answer)
    for name in ("recursion", "long text", "many rows", "cross joins"):
        status, answer = server.query(GREEDY[name], timeout=10 + 1 + SLACK_S)
        assert status == 422 and ("took longer than 10" in answer["reason"] or "emory" in answer["reason"]), (name, answer)
    assert server.query("select 1 as n") == (200, {"columns": ["n"], "rows": [[1]], "truncated": None})
    assert server.memory_kib() < 400 * 1024
    assert server.children() == []


@needs_page
def test_a_query_ends_with_its_client_and_with_the_server(tmp_path):
    with Server(BUNDLE, f"--library={LIBRARY}", cwd=tmp_path) as server:
        server.leave("select count(*) from range(1000000) a, range(1000000) b, range(1000000) c")
        server.until(lambda: server.children() != [])
        server.hang_up()
        server.until(lambda: server.children() == [])
        server.leave("select count(*) from range(1000000) a, range(1000000) b, range(1000000) c")
        server.until(lambda: server.children() != [])
        left = server.children()
    wait_until(lambda: not any(runs(pid) for pid in left))
