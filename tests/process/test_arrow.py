# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Tables as Arrow in Python: the figures of SQL, of JSON and of the passes, in every library that reads them.

pyarrow, polars, pandas and duckdb are in an environment of their own, so each test is a script of arrow_scripts/.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT, gpuprof
from waiting import LIMIT_S

OBJECT = BUILD / "analysis" / "libgpuprof.so"
READERS = ROOT / ".deps" / "arrow" / "bin" / "python"
DUCKDB = ROOT / ".deps" / "duckdb" / "libduckdb.so"
SCRIPTS = pathlib.Path(__file__).parent / "arrow_scripts"
TRACES = ROOT / "tests" / "golden" / "traces"
BUNDLES = sorted(path.parent for path in (TRACES / "h200" / "pytorch").glob("*/bundle.pb"))
KINETO = sorted((ROOT / "tests" / "golden" / "kineto").glob("*.json.gz"))
VERSIONS = ["3.9", "3.10", "3.12", "3.13", "3.14"]

pytestmark = pytest.mark.skipif(not OBJECT.exists(), reason="libgpuprof.so is not built (scripts/setup --only build)")
with_readers = pytest.mark.skipif(not READERS.exists(), reason="scripts/setup could not install pyarrow, polars, pandas and duckdb")
with_duckdb = pytest.mark.skipif(not DUCKDB.exists(), reason="scripts/setup could not fetch DuckDB's library")


def environment():
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1",
            "GPUPROF_LIBRARY": str(OBJECT), "GPUPROF_DUCKDB": str(DUCKDB) if DUCKDB.exists() else ""}


def script(name, *arguments, python=READERS, **more):
    done = subprocess.run([str(python), str(SCRIPTS / name), *map(str, arguments)], env={**environment(), **more}, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@with_readers
@with_duckdb
@pytest.mark.parametrize("bundle", [BUNDLES[0], BUNDLES[-1], KINETO[0]], ids=lambda path: path.name)
def test_all_readers_and_sql_have_the_same_figures(bundle):
    """Each table: the number of rows, the sum of each column, and sums by each text, in pyarrow, polars, pandas, duckdb and SQL."""
    told = json.loads(script("same_figures.py", bundle))
    assert told["tables"] > 40 and told["events"] >= 5 and told["columns"] > 150, told


@with_readers
def test_kernels_are_those_of_the_pass():
    found = json.loads(script("kernels.py", BUNDLES[0]))
    right = json.loads(gpuprof("stats", "kernels", "--json", BUNDLES[0]).out)["kernels"]
    assert len(right) > 5
    assert sorted(found) == sorted([row["name"], row["count"], row["total_ns"]] for row in right)


@with_readers
def test_arrays_outlive_the_recording_and_streams_may_be_dropped():
    script("lifetimes.py", BUNDLES[0])


@with_readers
def test_threads_read_the_same_rows():
    script("threads.py", BUNDLES[0])


@with_readers
def test_exported_files_are_read():
    folder = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"gpuprof-arrow-{os.getpid()}"
    try:
        done = gpuprof("export", BUNDLES[0], "-f", "arrow", "-o", folder)
        assert done.status == 0, done.err.decode()
        script("files.py", BUNDLES[0], folder)
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_an_export_refuses_a_part():
    done = gpuprof("export", BUNDLES[0], "-f", "arrow", "-o", "/nonexistent/folder", "--pid", "1")
    assert done.status == 2 and "whole tables" in done.err.decode()


def pythons():
    """The interpreters of this machine, by version, with this one. The package runs in all of them without a build."""
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    places = [*pathlib.Path.home().glob(".pyenv/versions/*/bin/python3.*"), *pathlib.Path("/usr/bin").glob("python3.*"),
              *(ROOT / ".deps" / "new-python" / "bin").glob("python3.*")]
    for path in places:
        version = path.name.removeprefix("python")
        if version in VERSIONS:
            found.setdefault(version, str(path))
    return found


@pytest.mark.parametrize("version", sorted(pythons()))
def test_plain_python_reads_results(version):
    """Without any other package: results, findings, errors, what a notebook shows."""
    script("plain.py", BUNDLES[0], python=pythons()[version])


def test_the_same_result_as_the_command():
    found = json.loads(script("result.py", BUNDLES[0], "steps", python=sys.executable))
    assert found == json.loads(gpuprof("stats", "steps", "--json", BUNDLES[0]).out)


def test_a_missing_library_is_named():
    done = subprocess.run([sys.executable, "-c", "import gpuprof; gpuprof.open('x')"], env={**environment(), "GPUPROF_LIBRARY": "/nonexistent/libgpuprof.so"},
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1 and "/nonexistent/libgpuprof.so" in done.stderr and "GPUPROF_LIBRARY" in done.stderr


def test_only_the_interface_is_visible():
    listing = subprocess.run(["nm", "-D", "--defined-only", str(OBJECT)], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in listing.splitlines()}
    assert names and all(name.startswith("gpuprof_") for name in names), names
    header = (ROOT / "analysis" / "arrow" / "gpuprof.h").read_text()
    assert all(f"{name}(" in header for name in names)


