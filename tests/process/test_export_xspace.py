# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof export -f xspace`: the run that it writes tells what the source tells, to gpuprof itself and to XProf."""

import collections
import datetime
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, gpuprof
from xspace_files import read_planes

PYTHON = ROOT / ".deps" / "xprof" / "bin" / "python"
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
    done = gpuprof("stats", name, "--json", source, timeout=300)
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
    assert sums_of(stats("api", tmp_path)["functions"]) == sums_of(stats("api", source)["functions"])
    # A range that marks a step is a step there. Other ranges of the program are operations.
    names = {row["name"]: row["count"] for row in stats("ops", source)["ops"] if row["scope"] != "user"}
    found = collections.Counter()
    for row in stats("ops", tmp_path)["ops"]:
        found[row["name"]] += row["count"]
    for name, count in names.items():
        same = sum(row["count"] for row in stats("ops", source)["ops"] if row["name"] == name)
        assert found[name] == same >= count, name
    assert steps_of(tmp_path) == steps_of(source)


@each_source
def test_rows_without_a_place_are_counted(tmp_path, source):
    files, said = export(source, tmp_path)
    written = [line for line in said.splitlines() if ": wrote " in line]
    assert [line.rpartition("wrote ")[2] for line in written] == [str(path) for path in files]
    left_out = dict(re.findall(r"([\d,]+) (\w+)", said.partition("no place for these rows: ")[2].partition("\n")[0]))
    assert not {"kernel", "memcpy", "memset", "api", "op", "python", "tensor"} & {name for _, name in left_out.items()}


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


def xprof(files, folder):
    """What XProf finds. It writes into the folder of a run, so it gets a copy."""
    copies = [shutil.copy(path, folder) for path in files]
    done = subprocess.run([str(PYTHON), str(ROOT / "tests" / "process" / "xprof_figures.py"), *copies], capture_output=True, text=True,
                          timeout=300, env={"PATH": os.environ["PATH"], "HOME": str(folder)})
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
    on_device = sum(row["total_self_time"] for row in found["ops"] if row["host_or_device"] == "Device" and row["operation"] != "IDLE")
    device_ns = stats("ops", source).get("device_ns", 0)
    assert on_device * 1000 <= device_ns * 1.001
