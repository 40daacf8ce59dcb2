# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof import` makes a bundle of a trace of torch.profiler. Every command says the same of both."""

import json
import re
import shutil
import subprocess

import pytest

from conftest import GPUPROF, ROOT, gpuprof
from test_cli_surface import PASSES
from test_export_import import FILES, without
from trace_file import read_bundle
from waiting import LIMIT_S

EXIT_CUT = 3
CASES = sorted(path.parent for path in (ROOT / "tests" / "golden" / "import").glob("*/expected.json"))


def keys_of_passes():
    text = gpuprof("help", "stats").out.decode()
    found = re.findall(r"of (\w+): ([\w, ]+)", text.split("Key of ", 1)[1].splitlines()[0].join(("of ", "")))
    return [(name, key) for name, keys in found for key in keys.split(", ")]


def import_(trace, bundle):
    done = gpuprof("import", trace, "-o", bundle)
    assert done.status in (0, EXIT_CUT), done.err
    assert done.out == b""
    return done


def said(verb, trace, path, *words):
    """What a command says: status, output, messages. The path and sizes of files are left out."""
    done = gpuprof(verb, *words, path)
    figures = json.loads(done.out)
    figures.pop("path", None)
    for each in figures["meta"]["inputs"] if "meta" in figures else []:
        del each["size_bytes"]
    # The name of one command for the next.
    names = {str(path): "TRACE", path.name: "TRACE", trace.name: "TRACE"}
    return done.status, without(figures, names), without(done.err.decode(), names)


def check_passes(trace, bundle):
    for name in PASSES:
        assert said("stats", trace, bundle, name, "--json") == said("stats", trace, trace, name, "--json"), name


def check_keys(trace, bundle):
    keys = keys_of_passes()
    assert ("ops", "shape") in keys and ("stacks", "python") in keys and len(keys) > 30
    for name, key in keys:
        words = (name, "--json", "--by", key)
        assert said("stats", trace, bundle, *words) == said("stats", trace, trace, *words), words


def check_rows(trace, bundle, tmp_path):
    dumps = [gpuprof("dump", path) for path in (trace, bundle)]
    assert dumps[0].status == dumps[1].status
    assert dumps[0].out == dumps[1].out
    for path, name in ((trace, "of_trace.json"), (bundle, "of_bundle.json")):
        gpuprof("export", path, "-f", "chrome", "-o", tmp_path / name)
    texts = [(tmp_path / name).read_text().replace(name, "FILE") for name in ("of_trace.json", "of_bundle.json")]
    assert texts[0] == texts[1]


def check_bundle(bundle):
    checked = gpuprof("verify", bundle)
    assert checked.status == 0 and b"every byte checked" in checked.out, checked.out


@pytest.mark.parametrize("path", FILES)
def test_passes_tell_the_same(tmp_path, path):
    import_(path, tmp_path / "imported")
    check_passes(path, tmp_path / "imported")
    check_keys(path, tmp_path / "imported")


@pytest.mark.parametrize("path", FILES)
def test_rows_are_the_same(tmp_path, path):
    done = import_(path, tmp_path / "imported")
    check_bundle(tmp_path / "imported")
    check_rows(path, tmp_path / "imported", tmp_path)
    bytes_ = sum(file.stat().st_size for file in (tmp_path / "imported").iterdir())
    # A bundle of three processes with a row each is all headers.
    assert bytes_ < path.stat().st_size or path.stat().st_size < 4096
    rows = json.loads(gpuprof("info", "--json", path).out)["count"]
    assert done.err.decode().startswith(f"gpuprof: {rows:,} rows in {tmp_path / 'imported'}, ")
    assert done.err.decode().endswith(f"; next: gpuprof stats overview {tmp_path / 'imported'}\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_files(tmp_path, case):
    (trace,) = [path for path in case.iterdir() if path.name.startswith("input.json")]
    done = import_(trace, tmp_path / "imported")
    assert done.status == gpuprof("info", trace).status
    check_bundle(tmp_path / "imported")
    check_passes(trace, tmp_path / "imported")
    check_rows(trace, tmp_path / "imported", tmp_path)


def test_a_folder_of_ranks(tmp_path):
    folder = tmp_path / "ranks"
    folder.mkdir()
    for of, rank in ((0, "rank0.json.gz"), (1, "rank1.json.gz"), (0, "rank2.json.gz")):
        shutil.copy(FILES[of].values[0], folder / rank)
    import_(folder, tmp_path / "imported")
    check_bundle(tmp_path / "imported")
    check_passes(folder, tmp_path / "imported")
    check_rows(folder, tmp_path / "imported", tmp_path)


def test_info_is_the_same(tmp_path):
    trace = FILES[0].values[0]
    import_(trace, tmp_path / "imported")
    described = [json.loads(gpuprof("info", "--json", path).out) for path in (trace, tmp_path / "imported")]
    for each in described:
        del each["path"], each["size_bytes"]
        for process in each["processes"]:
            del process["size_bytes"], process["kinds"]
            # Nobody wrote the JSON with a tool of ours.
            process.pop("bytes_per_event", None)
    assert described[0] == described[1]
    texts = [gpuprof("info", path).out.decode().splitlines() for path in (trace, tmp_path / "imported")]
    kept = [[line for line in text if not line.lstrip().startswith(("size ", "file "))] for text in texts]
    assert kept[0] == kept[1]


def test_another_reader_finds_the_rows(tmp_path):
    """The test's own reader, from FORMAT.md alone: names, callers and ids are where the page says."""
    trace = tmp_path / "t.json"
    pid = {"pid": 5, "tid": 5}
    trace.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "cat": "python_function", "name": "a.py(1): f", "ts": 10, "dur": 50, **pid, "args": {"Python id": 1}},
        {"ph": "X", "cat": "python_function", "name": "a.py(2): g", "ts": 20, "dur": 30, **pid, "args": {"Python id": 2, "Python parent id": 1}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 25, "dur": 10, **pid, "args": {"External id": 3}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 36, "dur": 2, **pid, "args": {"External id": 4, "Input Dims": [[2]]}},
    ]}))
    import_(trace, tmp_path / "imported")
    (process,) = read_bundle(tmp_path / "imported")
    zero = 2**50
    assert [process.strings[int(name)] for name in process.python["name"]] == ["a.py(2): g", "a.py(1): f"]
    assert process.python["time"].tolist() == [zero + 40_000, zero + 50_000]
    assert process.python["duration"].tolist() == [30_000, 50_000]
    assert process.python["parent"].tolist() == [2, 0]
    assert process.python["inner"].tolist() == [0, 30_000]
    assert process.row_details["table"].tolist() == [34, 34]
    assert process.row_details["row"].tolist() == [0, 1]
    assert process.row_details["external"].tolist() == [3, 4]
    assert [json.loads(process.strings[int(id_)]) if id_ else None for id_ in process.row_details["detail"]] == [None, {"Input Dims": [[2]]}]
    assert process.ops["time"].tolist() == [zero + 25_000, zero + 28_000]


def test_places_that_are_refused(tmp_path):
    trace = FILES[0].values[0]
    missing = gpuprof("import", trace)
    assert missing.status == 2
    assert missing.err.decode() == f"gpuprof: the new bundle is missing: gpuprof import {trace} -o run1\n"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("keep")
    full = gpuprof("import", trace, "-o", tmp_path / "full")
    assert full.status == 2 and b"is not empty" in full.err
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]
    import_(trace, tmp_path / "imported")
    again = gpuprof("import", tmp_path / "imported", "-o", tmp_path / "c")
    assert again.status == 2 and b"is a bundle already" in again.err
    assert not (tmp_path / "c").exists()


def test_a_failed_import_leaves_nothing(tmp_path):
    noise = tmp_path / "noise.json"
    noise.write_text("{ nothing")
    failed = gpuprof("import", noise, "-o", tmp_path / "imported")
    assert failed.status == EXIT_CUT and b"noise.json" in failed.err
    assert not (tmp_path / "imported").exists()
    (tmp_path / "empty").mkdir()
    failed = gpuprof("import", noise, "-o", tmp_path / "empty")
    assert failed.status == EXIT_CUT
    assert list((tmp_path / "empty").iterdir()) == []


def test_a_full_disk_leaves_nothing(tmp_path):
    trace = FILES[0].values[0]
    command = [str(GPUPROF), "import", str(trace), "-o", str(tmp_path / "imported")]
    # No file may be longer than 16 KiB.
    done = subprocess.run(["bash", "-c", 'ulimit -f 16; exec "$@"', "-", *command], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == EXIT_CUT and "cannot be written: File too large" in done.stderr, done
    assert not (tmp_path / "imported").exists()
