# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The table of imports in docs/analysing.md: each row's file is read by the importer that it names, or its refusal says what shows it. Each
importer of the source has a row."""

import gzip
import json
import pickle
import re
import shutil

import pytest

import flight_dumps as flight
import nsys_exports as nsys
import rocprof_files as rocprof
from conftest import ROOT, gpuprof

EXIT_CUT = 3
GOLDEN = ROOT / "tests" / "golden" / "xspace"
ROW = re.compile(r"^\| (.+?) \| `([^`]+)` \| (.+) \|$", re.M)
EVENT = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0, "stream": 7}}


def rows():
    text = (ROOT / "docs" / "analysing.md").read_text()
    section = text.split("## Traces of other tools", 1)[1].split("\n## ", 1)[0]
    return {(re.sub(r"\[(.+?)\]\(.+?\)", r"\1", tool), name): recipe for tool, name, recipe in ROW.findall(section)}


def chrome(path):
    path.write_bytes(json.dumps({"traceEvents": [EVENT]}).encode())


def torch(path):
    path.write_bytes(gzip.compress(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [EVENT]}).encode()))


def xspace(name):
    return lambda path: path.write_bytes(gzip.decompress((GOLDEN / "cpu" / name).read_bytes()))


def export(path):
    made = nsys.Export()
    made.kernel(1, "k", 30, 40, 1)
    made.write(path)


def rocprofv3(path):
    made = rocprof.Process(7)
    made.symbol(1, "k")
    made.kernel(1, 10, 20, 0)
    path.write_text(rocprof.text_of(made))


def snapshot(path):
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [[]], "allocator_settings": {}}, protocol=4))


def dump(path):
    job = flight.Job(1)
    job.all("all_reduce")
    path.write_bytes(pickle.dumps(job.dump(0)))


# What makes a file of the row, and its importer; none: the file is refused.
KNOWN = {
    ("torch.profiler", "trace.json.gz"): (torch, "Kineto JSON"),
    ("TensorFlow", "HOST.xplane.pb"): (xspace("tensorflow_steps.xplane.pb.gz"), "XSpace"),
    ("JAX", "HOST.xplane.pb"): (xspace("jax_steps.xplane.pb.gz"), "XSpace"),
    ("Nsight Systems", "report.sqlite"): (export, "Nsight Systems SQLite"),
    ("rocprofv3", "7_results.json"): (rocprofv3, "rocprofv3 JSON"),
    ("PyTorch's memory", "snapshot.pickle"): (snapshot, "PyTorch memory snapshot"),
    ("PyTorch's flight recorder", "rank_0"): (dump, "PyTorch flight recorder"),
    ("XProf", "ALL_HOSTS.op_stats_v2.pb"): (lambda path: shutil.copy(GOLDEN / path.name, path), None),
    ("Perfetto, and others", "trace.json"): (chrome, "Kineto JSON"),
}


def test_the_table_has_the_rows_that_are_tested():
    assert set(rows()) == set(KNOWN)


def test_each_importer_has_a_row():
    headers = "".join(path.read_text() for path in (ROOT / "analysis").rglob("*.h"))
    names = set(re.findall(r'k\w+Importer\[\] = "(.+?)"', headers))
    table = (ROOT / "analysis" / "import" / "importers.cc").read_text()
    assert len(re.findall(r"\{\.name = k\w+", table)) == len(names) >= 5
    assert names == {importer for _, importer in KNOWN.values() if importer}


@pytest.mark.parametrize("row", KNOWN, ids="-".join)
def test_the_file_of_a_row_is_known(tmp_path, row):
    make, importer = KNOWN[row]
    path = tmp_path / row[1]
    make(path)
    for named in (path, tmp_path):
        done = gpuprof("info", "--json", named)
        if importer is None:
            assert done.status == EXIT_CUT and b"--format=xprof" in done.err, done
        else:
            assert done.status == 0 and json.loads(done.out)["importer"] == importer, done
