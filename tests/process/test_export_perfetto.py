# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof export -f perfetto`: what Perfetto's own messages and the rules of its reader make of the file."""

import gzip
import io
import json
import os
import subprocess
import tarfile

import pytest

from chrome_json import ChromeJson
from conftest import ROOT, gpuprof
from waiting import LIMIT_S

PYTHON = ROOT / ".deps" / "peers" / "bin" / "python"
CHECK = ROOT / "tests" / "process" / "perfetto_check.py"
GOLDEN = ROOT / "tests" / "golden"
KINETO = sorted((GOLDEN / "kineto").glob("*.json.gz"))
OTHERS = sorted((GOLDEN / "import").glob("*/input.json*")) + sorted((GOLDEN / "xspace").glob("jax_*.xplane.pb.gz")) + \
    sorted((GOLDEN / "traces" / "v1").glob("*.gpt"))
# Categories that Perfetto's file has and Chrome's does not.
OWN = {"wait", "python", "file"}

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="Perfetto's messages are not installed: scripts/setup --only test")


def export(source, path, *options):
    done = gpuprof("export", source, "-f", "perfetto", "-o", path, *options)
    assert done.status in (0, 3), done.err.decode()
    return done.err.decode()


class Perfetto:
    """What a file holds. There must be nothing in it that its reader would drop."""

    def __init__(self, path):
        done = subprocess.run([str(PYTHON), str(CHECK), str(path)], capture_output=True, timeout=LIMIT_S, env={"PATH": os.environ["PATH"]})
        assert done.returncode == 0, done.stderr.decode()
        found = json.loads(done.stdout)
        assert found["errors"] == []
        self.tracks = {track["uuid"]: track for track in found["tracks"]}
        self.samples, self.flows, self.clocks = found["samples"], found["flows"], found["clocks"]

    def slices(self, *categories):
        return [(s, t) for t in self.tracks.values() for s in t["slices"] if not categories or s["category"] in categories]

    def named(self, name):
        return [track for track in self.tracks.values() if track["name"] == name]

    def process_of(self, track):
        while track["parent"]:
            track = self.tracks[track["parent"]]
        return track


def both(source, tmp_path, *options):
    """The same as Perfetto's file and as Chrome's."""
    said = export(source, tmp_path / "trace.pftrace", *options)
    done = gpuprof("export", source, "-f", "chrome", "-o", tmp_path / "trace.json", *options)
    assert done.status in (0, 3), done.err.decode()
    return Perfetto(tmp_path / "trace.pftrace"), ChromeJson(tmp_path / "trace.json"), said


def spans_of(found):
    """Slices by category, name and length, with their starts from the first one on."""
    spans = sorted((s["category"], s["name"], s["start"], s["end"] - s["start"]) for s, t in found.slices()
                   if s["category"] not in OWN and not s.get("is_instant") and t["name"] not in ("Steps", "Ranges between threads"))
    first = min((start for _, _, start, _ in spans), default=0)
    return [(category, name, start - first, length) for category, name, start, length in spans]


def chrome_spans(found):
    spans = sorted((e.get("cat", ""), e["name"], found.ns(e, "ts"), found.ns(e, "dur")) for e in found.events
                   if e["ph"] == "X" and e.get("cat") != "Trace")
    first = min((start for _, _, start, _ in spans), default=0)
    return [(category, name, start - first, length) for category, name, start, length in spans]


@pytest.mark.parametrize("source", KINETO + OTHERS, ids=lambda path: path.parent.name + "-" + path.name)
def test_no_slice_is_lost(source, tmp_path):
    found, chrome, _ = both(source, tmp_path)
    assert spans_of(found) == chrome_spans(chrome)


@pytest.mark.parametrize("source", KINETO, ids=lambda path: path.name)
def test_kernels_have_their_calls_and_arguments(source, tmp_path):
    found, chrome, _ = both(source, tmp_path)
    kernels = found.slices("kernel")
    ours = sorted((s["args"]["grid"], s["args"]["block"], s["args"]["correlation"], s["name"]) for s, _ in kernels)
    assert ours == sorted((e["args"]["grid"], e["args"]["block"], e["args"]["correlation"], e["name"]) for e in chrome.of("kernel"))
    assert all(track["name"].startswith("stream ") for _, track in kernels)
    assert all(found.tracks[track["parent"]]["name"].startswith("GPU 0") for _, track in kernels)
    copies = sorted(s["args"]["bytes"] for s, _ in found.slices("gpu_memcpy"))
    assert copies == sorted(e["args"]["bytes"] for e in chrome.of("gpu_memcpy"))
    # Each arrow leads from one call to work of the same number.
    launches = [ends for ends in found.flows if any(correlation is not None for _, _, correlation in ends)]
    assert len(launches) == len({e["id"] for e in chrome.arrows("f", "ac2g")}) > 0
    assert all(len({correlation for _, _, correlation in ends}) == 1 for ends in launches)


def test_steps_are_a_track(tmp_path):
    source = GOLDEN / "traces" / "v1" / "gpu.gpt"
    steps = json.loads(gpuprof("stats", "steps", "--json", source).out)["steps"]
    export(source, tmp_path / "t.pftrace")
    tracks = Perfetto(tmp_path / "t.pftrace").named("Steps")
    ours = [(s["name"], s["end"] - s["start"]) for track in tracks for s in track["slices"]]
    assert sorted(ours) and sorted(ours) == sorted((f"step {step['number']}", step["duration_ns"]) for step in steps)


def kineto(events, **top):
    return json.dumps({"schemaVersion": 1, "displayTimeUnit": "ms", **top, "traceEvents": events})


def span(name, start, length, cat="cpu_op", pid=100, tid=7, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length, "args": args}


def test_slices_that_cross_go_to_further_lanes(tmp_path):
    crossing = [span("a", 0, 10), span("b", 5, 10), span("c", 8, 1), span("d", 12, 20), span("e", 13, 25), span("f", 10, 0), span("g", 0, 10)]
    (tmp_path / "t.json").write_text(kineto(crossing))
    export(tmp_path / "t.json", tmp_path / "t.pftrace")
    found = Perfetto(tmp_path / "t.pftrace")
    ours = {s["name"]: (s["end"] - s["start"], track["uuid"]) for s, track in found.slices()}
    assert {name: length for name, (length, _) in ours.items()} == \
        {"a": 10_000, "b": 10_000, "c": 1_000, "d": 20_000, "e": 25_000, "f": 0, "g": 10_000}
    assert ours["a"][1] == ours["g"][1] != ours["b"][1] and ours["d"][1] != ours["e"][1]
    # Lanes of a thread are below its track.
    assert found.tracks[ours["b"][1]]["parent"] == ours["a"][1]


def test_names_of_any_bytes(tmp_path):
    names = ["\u202egnp.exe", "a\x00b\x1b[31m", "\"quoted\"\\", "", "x" * 70_000, "\ud800"]
    text = kineto([span(name, 10 * i, 5, **{"Input Dims": [[1, 2], []], "odd \u0007": {"deep": [[[[[[[[[[1]]]]]]]]]]}})
                   for i, name in enumerate(names)])
    (tmp_path / "t.json").write_bytes(text.encode().replace(b"gnp", b"\xff\xfe"))
    export(tmp_path / "t.json", tmp_path / "t.pftrace")
    found = Perfetto(tmp_path / "t.pftrace")
    assert len(found.slices("cpu_op")) == len(names)
    assert all(s["args"]["Input Dims"] == [[1, 2], "[]"] for s, _ in found.slices("cpu_op"))


def test_many_ranks_are_one_archive(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in range(3):
        # Each rank has the same pid on a machine of its own.
        events = [span(f"op of {rank}", 1000 * i, 100) for i in range(4)]
        (folder / f"rank{rank}.json").write_text(kineto(
            events, distributedInfo={"backend": "nccl", "rank": rank, "world_size": 3}, host_name=f"node{rank}", baseTimeNanoseconds=1_700_000_000_000_000_000 + rank))
    export(folder, tmp_path / "job.tar")
    files = {}
    with tarfile.open(tmp_path / "job.tar") as archive:
        for member in archive.getmembers():
            assert not member.name.startswith(".") and member.isreg()
            files[member.name] = archive.extractfile(member).read()
    manifest = json.loads(files.pop("perfetto_manifest.json"))["perfetto_manifest"]
    assert manifest["version"] == 1
    assert [entry["path"] for entry in manifest["files"]] == sorted(files) == ["rank0.pftrace", "rank1.pftrace", "rank2.pftrace"]
    assert len({entry["machine"]["name"] for entry in manifest["files"]}) == 3
    starts = {}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        found = Perfetto(tmp_path / name)
        (clocks,) = found.clocks
        assert clocks["1"] == clocks["6"]  # the time of day
        assert {s["name"] for s, _ in found.slices("cpu_op")} == {f"op of {name[4]}"}
        starts[name] = min(s["start"] for s, _ in found.slices("cpu_op"))
    assert [starts[name] - starts["rank0.pftrace"] for name in sorted(starts)] == [0, 1, 2]


def test_offsets_of_clocks_are_those_of_the_collectives(tmp_path):
    """What the pass collectives adds to a rank's times is what the manifest moves its file by."""
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in range(2):
        events = []
        for i in range(50):
            at = 1000 * i + 7 * (i % 5)
            args = {"Collective name": "allreduce", "In msg nelems": 1024, "Group size": 2, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}
            events.append(span("cudaLaunchKernel", at, 5, "cuda_runtime", correlation=i + 1))
            events.append(span("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 10, 100, "kernel", 0, 7, device=0, stream=7, correlation=i + 1, **args))
        shift = 40_000_000 * rank
        (folder / f"rank{rank}.json").write_text(kineto(
            events, distributedInfo={"backend": "nccl", "rank": rank, "world_size": 2}, host_name=f"node{rank}",
            baseTimeNanoseconds=1_700_000_000_000_000_000 + shift))
    ranks = json.loads(gpuprof("stats", "communication", "--json", folder).out)["ranks"]
    offsets = {row["host"]: row.get("clock_offset_ns", 0) for row in ranks}
    export(folder, tmp_path / "job.tar")
    with tarfile.open(tmp_path / "job.tar") as archive:
        manifest = json.loads(archive.extractfile("perfetto_manifest.json").read())["perfetto_manifest"]
    told = [entry.get("clocks", {}).get("offset_ns") for entry in manifest["files"]]
    if len(set(offsets.values())) == 1:
        assert told == [None, None]
    else:
        assert told == [None, offsets["node1"] - offsets["node0"]]
        assert manifest["files"][1]["clocks"]["sync_to"] == {"file": "rank0.pftrace", "clock": "BOOTTIME"}


def test_waits_and_their_stacks(tmp_path):
    source = GOLDEN / "traces" / "v1" / "locks.gpt"
    export(source, tmp_path / "t.pftrace")
    waits = Perfetto(tmp_path / "t.pftrace").slices("wait")
    rows = json.loads(gpuprof("stats", "locks", "--json", source).out)
    assert len(waits) >= rows["wait_count"] if "wait_count" in rows else waits
    assert all(track["tid"] for _, track in waits)
    assert any(s["stack"] for s, _ in waits)


def test_a_window_and_a_process(tmp_path):
    (tmp_path / "t.json").write_text(kineto([span("early", 0, 5), span("late", 2000, 5), span("other", 2001, 5, pid=200)]))
    said = export(tmp_path / "t.json", tmp_path / "a", "--window", "1ms-1s")
    assert {s["name"] for s, _ in Perfetto(tmp_path / "a").slices("cpu_op")} == {"late", "other"}, said
    export(tmp_path / "t.json", tmp_path / "b", "--pid", "200")
    assert {s["name"] for s, _ in Perfetto(tmp_path / "b").slices("cpu_op")} == {"other"}
    done = gpuprof("export", tmp_path / "t.json", "-f", "perfetto", "-o", tmp_path / "c", "--pid", "9")
    assert done.status == 2 and not (tmp_path / "c").exists()


def test_an_empty_recording_and_a_compressed_file(tmp_path):
    (tmp_path / "t.json").write_text(kineto([span("only", 0, 5)]))
    export(tmp_path / "t.json", tmp_path / "empty", "--window", "1s-2s")
    assert Perfetto(tmp_path / "empty").slices() == []
    export(tmp_path / "t.json", tmp_path / "t.pftrace.gz")
    piped = gpuprof("export", tmp_path / "t.json", "-f", "perfetto", "-o", "-").out
    assert gzip.decompress((tmp_path / "t.pftrace.gz").read_bytes()) == piped
    assert not tarfile.is_tarfile(io.BytesIO(piped))


def test_samples_are_of_threads_that_ran(tmp_path):
    source = GOLDEN / "traces" / "v1" / "samples.gpt"
    said = export(source, tmp_path / "t.pftrace")
    samples = Perfetto(tmp_path / "t.pftrace").samples
    assert samples and all(sample["stack"] for sample in samples) and len({sample["pid"] for sample in samples}) == 1
    assert " sample" in said  # those of threads that waited are counted
