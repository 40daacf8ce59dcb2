# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof export` for tools that show stacks: pprof, speedscope, flamegraph.pl. Each tool finds the sums that the pass stacks has."""

import gzip
import json
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, gpuprof
from test_export_perfetto import KINETO, kineto, span
from test_stacks import FLAMEGRAPH
from waiting import LIMIT_S

TRACES = ROOT / "tests" / "golden" / "traces" / "v1"
SPEEDSCOPE = ROOT / ".deps" / "speedscope"
JSONSCHEMA = ROOT / ".deps" / "peers" / "bin" / "python"
IMPORTER = ROOT / "tests" / "process" / "speedscope_import.mjs"
# A recording, and weights of stacks that it has.
WEIGHTS = [("samples", "cpu"), ("samples", "samples"), ("samples", "native"), ("locks", "wait"), ("locks", "wait_all"), ("locks", "waits"),
           ("heap", "heap_alloc"), ("heap", "heap_live"), ("heap", "heap_allocs"), ("gpu", "kernel")]

needs_pprof = pytest.mark.skipif(shutil.which("go") is None, reason="no Go, which brings pprof: scripts/setup --only test")
needs_speedscope = pytest.mark.skipif(not SPEEDSCOPE.exists() or shutil.which("node") is None, reason="no speedscope: scripts/setup --only test")


def export(source, form, path, *options):
    done = gpuprof("export", source, "-f", form, "-o", path, *options)
    assert done.status in (0, 3), done.err.decode()
    return done.err.decode()


def stacks(source, by, *options):
    result = json.loads(gpuprof("stats", "stacks", source, "--by", by, "--json", *options).out)
    return result


def pprof(path, *options):
    done = subprocess.run(["go", "tool", "pprof", *options, str(path)], capture_output=True, timeout=LIMIT_S, text=True,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(path.parent), "PPROF_TMPDIR": str(path.parent)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def raw(path):
    """The profile as pprof reads it: names of the values, samples as (values, labels), and the text."""
    text = pprof(path, "-raw")
    names = re.search(r"^Samples:\n(.*)$", text, re.M)[1].split()
    samples = []
    for line in text.split("Samples:\n", 1)[1].split("\nLocations\n", 1)[0].splitlines()[1:]:
        values = re.match(r"\s*([\d ]+): ", line)
        if values:
            samples.append(([int(value) for value in values[1].split()], {}))
        elif samples:
            samples[-1][1].update(re.findall(r"(\w+):\[([^\]]*)\]", line))
    return [name.split("[")[0] for name in names], samples, text


@needs_pprof
@pytest.mark.parametrize("name, by", WEIGHTS)
def test_pprof_finds_the_sums(tmp_path, name, by):
    source = TRACES / f"{name}.gpt"
    export(source, "pprof", tmp_path / "all.pb.gz")
    names, samples, text = raw(tmp_path / "all.pb.gz")
    column = [each.split("/")[0] for each in names].index(by)
    expected = stacks(source, by)["total"]
    assert sum(values[column] for values, _ in samples) == expected > 0
    assert all("pid" in labels and "process" in labels for _, labels in samples)
    export(source, "pprof", tmp_path / "one.pb.gz", "--by", by)
    names, samples, _ = raw(tmp_path / "one.pb.gz")
    assert len(names) == 1 and sum(values[0] for values, _ in samples) == expected


@needs_pprof
def test_pprof_knows_programs_threads_and_functions(tmp_path):
    export(TRACES / "locks.gpt", "pprof", tmp_path / "p.pb.gz")
    _, samples, text = raw(tmp_path / "p.pb.gz")
    assert len({labels["tid"] for _, labels in samples if "tid" in labels}) > 1
    mappings = text.split("\nMappings\n", 1)[1]
    assert re.match(r"1: 0x[0-9a-f]+/0x[0-9a-f]+/0x[0-9a-f]+ \S*contended [0-9a-f]{40} \[FN\]\[FL\]\[LN\]", mappings.strip())
    assert "0 of 0 total" not in pprof(tmp_path / "p.pb.gz", "-top")


@needs_pprof
def test_pprof_of_nothing_and_of_a_window(tmp_path):
    (tmp_path / "t.json").write_text(kineto([span("only", 0, 5)]))
    assert "no stack has a weight" in export(tmp_path / "t.json", "pprof", tmp_path / "none.pb.gz")
    assert raw(tmp_path / "none.pb.gz")[1] == []
    piped = gpuprof("export", tmp_path / "t.json", "-f", "pprof", "-o", "-").out
    assert gzip.decompress(piped) == gzip.decompress((tmp_path / "none.pb.gz").read_bytes())
    export(TRACES / "locks.gpt", "pprof", tmp_path / "w.pb.gz", "--by", "wait_all", "--window", "0s-40ms")
    part = stacks(TRACES / "locks.gpt", "wait_all", "--window", "0s-40ms")["total"]
    assert sum(values[0] for values, _ in raw(tmp_path / "w.pb.gz")[1]) == part


def test_a_weight_that_is_none(tmp_path):
    for form in ("pprof", "speedscope", "folded"):
        done = gpuprof("export", TRACES / "locks.gpt", "-f", form, "-o", tmp_path / "x", "--by", "luck")
        assert done.status == 2 and b"luck" in done.err and b"heap_alloc" in done.err and not (tmp_path / "x").exists()
    done = gpuprof("export", TRACES / "locks.gpt", "-f", "perfetto", "-o", tmp_path / "x", "--by", "wait")
    assert done.status == 2 and b"--by is for pprof, speedscope, folded" in done.err


def speedscope(path):
    done = subprocess.run(["node", str(IMPORTER), str(SPEEDSCOPE), str(path)], capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0 and done.stderr == b"", done.stderr.decode()
    return json.loads(done.stdout)


def validate(path):
    """Its published schema."""
    code = "import json, sys, jsonschema; jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))"
    schema = SPEEDSCOPE / "file-format-schema.json"
    done = subprocess.run([str(JSONSCHEMA), "-c", code, str(path), str(schema)], capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr.decode()[-2000:]


@needs_speedscope
@pytest.mark.parametrize("name, by", WEIGHTS)
def test_speedscope_finds_the_sums(tmp_path, name, by):
    source = TRACES / f"{name}.gpt"
    export(source, "speedscope", tmp_path / "p.json", "--by", by)
    if JSONSCHEMA.exists():
        validate(tmp_path / "p.json")
    result = stacks(source, by)
    profiles = speedscope(tmp_path / "p.json")["profiles"]
    assert sum(profile["total"] for profile in profiles) == result["total"] > 0
    assert {profile["unit"] for profile in profiles} == {{"ns": "nanoseconds", "bytes": "bytes", "count": "none"}[result["unit"]]}


@needs_speedscope
@pytest.mark.parametrize("source", KINETO[:1] + [TRACES / "gpu.gpt", TRACES / "nvtx.gpt"], ids=lambda path: path.name)
def test_speedscope_has_each_slice_of_a_timeline(tmp_path, source):
    export(source, "speedscope", tmp_path / "p.json")
    if JSONSCHEMA.exists():
        validate(tmp_path / "p.json")
    text = json.loads((tmp_path / "p.json").read_text())
    begun = sum(event["type"] == "O" for profile in text["profiles"] if profile["type"] == "evented" for event in profile["events"])
    gpuprof("export", source, "-o", tmp_path / "c.json")
    events = json.loads((tmp_path / "c.json").read_text())["traceEvents"]
    assert begun == sum(e["ph"] in "Xb" and e.get("cat") != "Trace" for e in events) > 0
    assert all(profile["left"] == 0 for profile in speedscope(tmp_path / "p.json")["profiles"])


@needs_speedscope
def test_speedscope_of_crossing_slices_and_odd_names(tmp_path):
    names = ["a\u202eb", "\"q\"", "", "\u0000", "constructor", "__proto__"]
    (tmp_path / "t.json").write_text(kineto([span(name, 5 * i, 8) for i, name in enumerate(names)]))
    export(tmp_path / "t.json", "speedscope", tmp_path / "p.json")
    profiles = speedscope(tmp_path / "p.json")["profiles"]
    assert len(profiles) == 2 and sum(profile["opened"] for profile in profiles) == len(names)
    export(tmp_path / "t.json", "speedscope", tmp_path / "empty.json", "--window", "1s-2s")
    assert len(speedscope(tmp_path / "empty.json")["profiles"]) == 1


@pytest.mark.parametrize("name, by", WEIGHTS)
def test_folded_lines_are_those_of_the_pass(tmp_path, name, by):
    source = TRACES / f"{name}.gpt"
    export(source, "folded", tmp_path / "t.folded", "--by", by)
    lines = (tmp_path / "t.folded").read_bytes()
    assert lines == gpuprof("stats", "stacks", source, "--by", by).out != b""
    if pathlib.Path(FLAMEGRAPH).exists():
        drawn = subprocess.run(["perl", FLAMEGRAPH, "--minwidth=0"], input=lines, capture_output=True, check=True)
        assert drawn.stderr == b""
        assert f"all ({stacks(source, by)['total']:,} samples, 100%)".encode() in drawn.stdout
    if SPEEDSCOPE.exists() and shutil.which("node"):
        assert speedscope(tmp_path / "t.folded")["profiles"][0]["total"] == stacks(source, by)["total"]
