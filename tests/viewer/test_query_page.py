# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of queries: a server answers, and a report in a file says which command does."""

import json

import pytest

from conftest import ROOT, Served, assert_quiet, gpuprof, probe, write_report

IMAGES = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch" / "images"
LIBRARY = ROOT / ".deps" / "duckdb" / "libduckdb.so"
needs_library = pytest.mark.skipif(not LIBRARY.exists(), reason="scripts/setup could not fetch DuckDB's library")


@needs_library
def test_a_served_page_runs_sql(tmp_path):
    with Served(IMAGES, f"--library={LIBRARY}", cwd=tmp_path) as server:
        sql = "select name, sum(dur_ns) as total_ns from kernels group by name order by total_ns desc limit 5"
        right = json.loads(gpuprof("query", IMAGES, sql, "--json", f"--library={LIBRARY}", cwd=tmp_path).stdout)
        longest = right[0]["name"][:30]
        seen = probe(server.address, tmp_path, "text:query", "press:Run", f"wait:{longest}", "read:answer", "inspect:query")
    assert "One SELECT" in seen["text"]["query"]
    assert all(row["name"][:20] in seen["text"]["answer"] for row in right)
    assert seen["errors"] == [] and seen["axe"] != {} and not any(seen["axe"].values()), seen["axe"]


def test_a_report_says_the_command(tmp_path):
    seen = probe(write_report(IMAGES, tmp_path), tmp_path, "text:query")
    assert "gpuprof serve BUNDLE" in seen["text"]["query"] and "gpuprof query BUNDLE" in seen["text"]["query"]
    assert_quiet(seen)
