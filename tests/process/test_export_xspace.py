# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof export -f xspace`: the run that it writes tells what the source tells, to gpuprof itself and to XProf."""

import collections
import datetime
import gzip
import json
import os
import re
import shutil
import subprocess

import pytest

from chrome_json import ChromeJson
from conftest import ROOT, gpuprof
from xspace_files import read_planes
from waiting import LIMIT_S

PYTHON = ROOT / ".deps" / "xprof" / "bin" / "python"
PLACED = {"op", "range", "tensor", "python", "kernel", "memcpy", "memset", "api", "graph_launch"}
needs_xprof = pytest.mark.skipif(not PYTHON.exists(), reason="xprof is not installed: scripts/setup --only test")
GOLDEN = ROOT / "tests" / "golden"
SOURCES = [*sorted((GOLDEN / "kineto").glob("*.json.gz")),
           *sorted(path.parent for path in (GOLDEN / "traces" / "h200" / "pytorch").glob("*/bundle.pb")),
           GOLDEN / "traces" / "v1" / "gpu.gpt", GOLDEN / "traces" / "v1" / "graphs.gpt"]
each_source = pytest.mark.parametrize("source", [pytest.param(path, id=path.name.partition(".")[0]) for path in SOURCES])


def export(source, folder, *options):
    """Writes the run. Returns its files, and what the command said."""
    done = gpuprof("export", source, "-f", "xspace", "-o", folder, *options)
    assert done.status == 0, done.err.decode()
    return sorted(folder.glob("plugins/profile/*/*.xplane.pb")), done.err.decode()


def stats(name, source):
    done = gpuprof("stats", *name.split(), "--json", source)
    assert done.status == 0, (name, done.err.decode())
    return json.loads(done.out)


def sums_of(rows, key=lambda row: row["name"]):
    sums = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        sums[key(row)][0] += row["count"]
        sums[key(row)][1] += row["total_ns"]
    return dict(sums)


def steps_of(source):
    """The steps of the leading thread."""
    result = stats("steps", source)
    if not result.get("series"):
        return []
    first = result["series"][0]
    return [(row["number"], row["duration_ns"]) for row in result["steps"] if (row["pid"], row["tid"]) == (first["pid"], first["tid"])]


@each_source
def test_read_again_it_tells_the_same(tmp_path, source):
    export(source, tmp_path)
    assert sums_of(stats("kernels", tmp_path)["kernels"]) == sums_of(stats("kernels", source)["kernels"])
    busy, again = (sorted((device["device"], device["busy_ns"]) for device in stats("streams", each)["devices"])
                   for each in (source, tmp_path))
    assert again == busy != []
    assert sums_of(stats("api", tmp_path)["calls"]) == sums_of(stats("api", source)["calls"])
    # A range that marks a step is a step there. Other ranges of the program are operations.
    names = {row["name"]: row["count"] for row in stats("ops", source)["ops"] if row["scope"] != "user"}
    found = collections.Counter()
    for row in stats("ops", tmp_path)["ops"]:
        found[row["name"]] += row["count"]
    for name, count in names.items():
        same = sum(row["count"] for row in stats("ops", source)["ops"] if row["name"] == name)
        assert found[name] == same >= count, name
    assert steps_of(tmp_path) == steps_of(source)
    copies, again = (sorted((row["name"], row["source"], row["destination"], row["count"], row["total_bytes"], row["total_ns"])
                            for row in stats("memcpy", each)["copies"] if not row["name"].startswith("memset"))
                     for each in (source, tmp_path))
    assert again == copies


@each_source
def test_rows_without_a_place_are_counted(tmp_path, source):
    files, said = export(source, tmp_path)
    written = [line for line in said.splitlines() if ": wrote " in line]
    assert [line.rpartition("wrote ")[2] for line in written] == [str(path) for path in files]
    words = re.findall(r"(\d[\d,]*) (\w+)", said.partition("no place for these rows: ")[2].partition("\n")[0])
    info = json.loads(gpuprof("info", "--json", source).out)
    rows = collections.Counter()
    for process in [*info["processes"], *info["samplers"]]:
        for kind in process["kinds"]:
            rows[kind["name"]] += kind["count"] if kind["is_event"] else 0
    placed = PLACED | ({"launch"} if info["importer"] else set())
    assert {name: int(count.replace(",", "")) for count, name in words} == {
        name: count for name, count in rows.items() if name not in placed and count}


@pytest.mark.parametrize("name", ["h200_compiled", "h200_streams"])
def test_python_functions_come_back(tmp_path, name):
    source = GOLDEN / "kineto" / f"{name}.json.gz"
    export(source, tmp_path / "logdir")
    found = []
    for number, each in enumerate((source, tmp_path / "logdir")):
        path = tmp_path / f"{number}.json"
        assert gpuprof("export", each, "-f", "chrome", "-o", path).status == 0
        chrome = ChromeJson(path)
        found.append(sorted((event["name"], *chrome.span(event)) for event in chrome.of("python_function")))
    assert found[0] == found[1] != []


def test_processes_with_gpus_have_files_of_their_own(tmp_path):
    sources = sorted((GOLDEN / "kineto").glob("*.json.gz"))
    (tmp_path / "ranks").mkdir()
    for rank, file in enumerate(sources):
        document = json.loads(gzip.decompress(file.read_bytes()))
        document |= {"distributedInfo": {"rank": rank, "world_size": len(sources)}, "host_name": "node7"}
        (tmp_path / "ranks" / f"rank{rank}.json").write_text(json.dumps(document))
    files, _ = export(tmp_path / "ranks", tmp_path / "logdir")
    assert [path.name for path in files] == [f"node7-rank{rank}.xplane.pb" for rank in range(len(sources))]
    assert len({path.parent for path in files}) == 1
    for file, source in zip(files, sources):
        assert sums_of(stats("kernels", file)["kernels"]) == sums_of(stats("kernels", source)["kernels"])
    start = min(read_planes(path)[-1].stats["profile_start_time"] for path in files)
    assert all(read_planes(path)[-1].stats["profile_start_time"] == start for path in files)


def test_work_of_a_tpu_is_refused(tmp_path):
    done = gpuprof("export", GOLDEN / "xspace" / "tpu_inference.xplane.pb.gz", "-f", "xspace", "-o", tmp_path / "logdir")
    assert done.status == 2 and "work of a TPU" in done.err.decode()
    assert not (tmp_path / "logdir").exists()


def test_an_xspace_of_jax_keeps_what_kernels_tell(tmp_path):
    source = GOLDEN / "xspace" / "jax_conv_mi300.xplane.pb.gz"
    (path,), _ = export(source, tmp_path)

    def kernels(of):
        return sorted((plane.name, line.id, event.name, event.end - event.start, event.stats["hlo_op"], event.stats["hlo_module"])
                      for plane in read_planes(of) if plane.name.startswith("/device:GPU:")
                      for line in plane.lines for event in line.events if {"kernel_details", "hlo_op"} <= set(event.stats))

    assert kernels(path) == kernels(source) != []


def test_the_form_is_xlas(tmp_path):
    source = GOLDEN / "kineto" / "h200_compiled.json.gz"
    (path,), _ = export(source, tmp_path)
    planes = {plane.name: plane for plane in read_planes(path)}
    assert set(planes) == {"/host:CPU", "/device:GPU:0", "Task Environment"}
    task = planes["Task Environment"].stats
    start = datetime.datetime.fromtimestamp(task["profile_start_time"] // 10**9, datetime.timezone.utc)
    assert path.parent.name == start.strftime("%Y_%m_%d_%H_%M_%S")
    events = [event for plane in planes.values() for line in plane.lines for event in line.events]
    assert min(event.start for event in events) == 0
    assert max(event.end for event in events) == task["profile_stop_time"] - task["profile_start_time"]
    device = planes["/device:GPU:0"]
    assert device.stats["gpu_device_name"] == "NVIDIA H200" and device.stats["device_vendor"] == "Nvidia"
    assert device.stats["core_count"] == 132
    assert all(re.fullmatch(r"Stream #\d+\([A-Za-z0-9,]+\).*", line.name) for line in device.lines)
    kernels = [event for line in device.lines for event in line.events if "kernel_details" in event.stats]
    form = r"regs:\d+ static_shared:\d+ dynamic_shared:\d+ grid:\d+,\d+,\d+ block:\d+,\d+,\d+( occ_pct:\d+)?"
    assert kernels and all(re.fullmatch(form, event.stats["kernel_details"]) for event in kernels)
    calls = {event.stats["correlation_id"] for line in planes["/host:CPU"].lines if re.fullmatch(r"Host Threads/\d+", line.name)
             for event in line.events}
    assert {event.stats["correlation_id"] for event in kernels} <= calls
    steps = [event for line in planes["/host:CPU"].lines for event in line.events if event.stats.get("_r") == 1]
    assert [event.stats["step_num"] for event in steps] == [number for number, _ in steps_of(source)]
    for plane in planes.values():
        for line in plane.lines:
            assert [event.start for event in line.events] == sorted(event.start for event in line.events)


def test_a_run_is_not_overwritten_and_a_folder_is_asked_for(tmp_path):
    source = GOLDEN / "traces" / "v1" / "gpu.gpt"
    (path,), _ = export(source, tmp_path)
    before = path.read_bytes()
    done = gpuprof("export", source, "-f", "xspace", "-o", tmp_path)
    assert done.status == 3 and "exists already" in done.err.decode()
    assert path.read_bytes() == before
    for output in ([], ["-o", "-"]):
        done = gpuprof("export", source, "-f", "xspace", *output)
        assert done.status == 2 and "the log folder is missing" in done.err.decode()
    (tmp_path / "file").write_text("")
    done = gpuprof("export", source, "-f", "xspace", "-o", tmp_path / "file")
    assert done.status == 3 and "Not a directory" in done.err.decode()


def busy_of_steps(source):
    """When the device worked: between the marks of each step, and from the first work of each step to its last."""
    rows = stats("steps", source).get("device_steps", [])
    return [[row["busy_ns"] for row in rows if row["window"] == window] for window in ("mark", "device")]


def page_name(name):
    """How XProf shows an operation: it knows the parts of a path, but no namespaces."""
    return re.sub("::?", "/", name) if re.fullmatch(r"\w+(::?\w+)*", name) else name


def xprof(files, folder):
    """What XProf finds. It writes into the folder of a run, so it gets a copy."""
    copies = [shutil.copy(path, folder) for path in files]
    done = subprocess.run([str(PYTHON), str(ROOT / "tests" / "process" / "xprof_figures.py"), *copies], capture_output=True, text=True,
                          timeout=LIMIT_S, env={"PATH": os.environ["PATH"], "HOME": str(folder)})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@needs_xprof
@each_source
def test_xprof_finds_the_same(tmp_path, source):
    files, _ = export(source, tmp_path / "logdir")
    (tmp_path / "copy").mkdir()
    found = xprof(files, tmp_path / "copy")
    kernels = sums_of(stats("kernels", source)["kernels"])
    ours = {name: (count, total) for name, (count, total) in kernels.items() if total != 0}
    theirs = collections.defaultdict(lambda: [0, 0.0])
    for row in found["kernels"]:
        theirs[row["kernel_name"]][0] += row["occurrences"]
        theirs[row["kernel_name"]][1] += row["total_duration_us"] * 1000
    assert {name: (count, round(total)) for name, (count, total) in theirs.items()} == ours
    steps = steps_of(source)
    assert len(found["steps"]) == len(steps)
    problems = " ".join(str(row) for row in found["diagnostics"])
    assert ("step marker" in problems) == (not steps), problems
    names = collections.Counter(event["name"] for event in found["events"] if event.get("ph") == "X")
    for name, (count, _) in ours.items():
        assert names[name] >= count, name
    # Other parts of a step's time are not of the device.
    on_device = ("deviceComputeTimeMs", "deviceToDeviceTimeMs", "deviceCollectivesTimeMs", "infeedTimeMs", "outfeedTimeMs")
    busy = [round(sum(step[part] for part in on_device) * 1_000_000) for step in found["steps"]]
    # XProf takes the marks where they contain the work.
    marks, works = busy_of_steps(source)
    assert len(busy) == len(marks) == len(works)
    assert all(found in (mark, work) for found, mark, work in zip(busy, marks, works)), (busy, marks, works)
    ops = collections.Counter()
    for row in stats("kernels --by op", source)["kernels"]:
        ops[row["op"]] += row["total_ns"]
    ops.pop(None, None)
    pages = collections.Counter()
    for row in found["ops"]:
        if row["host_or_device"] == "Device" and row["operation"] != "IDLE":
            pages[row["operation"]] += round(row["total_self_time"] * 1000)
    assert pages == {page_name(name): total for name, total in ops.items()}


@needs_xprof
def test_xprof_finds_the_peak_of_memory(tmp_path):
    source = GOLDEN / "traces" / "h200" / "pytorch" / "language_model"
    files, _ = export(source, tmp_path / "logdir")
    (tmp_path / "copy").mkdir()
    peaks = xprof(files, tmp_path / "copy")["memory"]
    ours = {row["name"]: row["reported_peak_bytes"] for row in stats("heap", source)["tensors"]}
    assert peaks == {"GPU_0": ours["cuda:0"], "cpu": ours["cpu"]}
