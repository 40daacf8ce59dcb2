# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""XSpaces of TensorFlow and JAX go through the passes. Broken files of tests/golden/xspace/cases give what their
expected.json says. For real files the passes equal a plain reading of the bytes."""

import collections
import decimal
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import xspace_files as xs
from conftest import gpuprof

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden/xspace"
CASES = sorted(path.parent for path in (GOLDEN / "cases").glob("*/expected.json"))
FILES = sorted(GOLDEN.glob("*.xplane.pb.gz"))
EXIT_CUT = 3


def _stats(path, name, *options):
    done = gpuprof("stats", name, "--json", *options, str(path))
    assert done.status in (0, EXIT_CUT), done.err
    return json.loads(done.out)


def _info(path):
    return json.loads(gpuprof("info", "--json", str(path)).out)


def _by_name(rows):
    sums = collections.defaultdict(lambda: {"count": 0, "total_ns": 0})
    for row in rows:
        sums[row["name"]]["count"] += row["count"]
        sums[row["name"]]["total_ns"] += row["total_ns"]
    return dict(sums)


def _exported(path):
    done = gpuprof("export", path, "-f", "chrome", "-o", "-")
    assert done.status == 0, done.err
    return json.loads(done.out, parse_float=decimal.Decimal)


def _check_kernels(expected, path):
    rows = _by_name(_stats(path, "kernels")["kernels"])
    assert sum(row["count"] for row in rows.values()) == expected["count"]
    assert sum(row["total_ns"] for row in rows.values()) == expected["total_ns"]
    for name, row in expected["by_name"].items():
        part = re.fullmatch(r"\(name contains (.*)\)", name)
        found = [found for each, found in rows.items() if (part[1] in each if part else each == name)]
        assert found == [row], name


def _check_busy(expected, path):
    assert {str(row["device"]): row["busy_ns"] for row in _stats(path, "streams")["devices"]} == expected


def _check_streams(expected, path):
    found = collections.defaultdict(list)
    for row in _stats(path, "streams")["streams"]:
        found[str(row["device"])].append(row["stream"])
    assert {device: sorted(streams) for device, streams in found.items()} == expected


def _check_copies(expected, path):
    rows = [row for row in _stats(path, "memcpy")["copies"] if row["name"] != "Memset"]
    found = {row["name"]: {"count": row["count"], "total_ns": row["total_ns"], "bytes": row["total_bytes"]} for row in rows}
    assert found == expected


def _check_launches(expected, path):
    calls = _stats(path, "api")["calls"]
    assert sum(row["count"] for row in calls) == expected["count"]
    work = [event for event in _exported(path)["traceEvents"] if event.get("cat") == "ac2g" and event["ph"] == "f"]
    assert len(work) == expected.get("with_kernel", expected.get("with_device_work"))


def _devices(path):
    """The devices that the text of info names."""
    return re.findall(r"^  device +(\d+: .*)$", gpuprof("info", str(path)).out.decode(), re.M)


def _check_devices(expected, path):
    assert len(_devices(path)) == expected


def _check_block(expected, path):
    kernels = {event["name"]: event["args"]["block"] for event in _exported(path)["traceEvents"] if event.get("cat") == "kernel"}
    assert {name: kernels[name] for name in expected} == expected


def _check_starts(expected, path):
    document = _exported(path)
    base = document["baseTimeNanoseconds"]
    found = {event["name"]: base + int(event["ts"] * 1000) for event in document["traceEvents"] if event.get("cat") == "kernel"}
    assert found == expected


def _check_gaps(expected, path):
    device = _stats(path, "streams")["devices"][0]
    assert device["gap_count"] == expected["count"]
    assert device["window_ns"] - device["busy_ns"] == expected["total"]


CHECKS = {
    "kernels": _check_kernels,
    "busy_ns": _check_busy,
    "streams": _check_streams,
    "copies": _check_copies,
    "launches": _check_launches,
    "devices": _check_devices,
    "block": _check_block,
    "kernel_start_unix_ns": _check_starts,
    "gaps_ns": _check_gaps,
}
# What a case has beside expectations of its rows.
OTHER_FIELDS = {"case", "format", "inputs", "outcome", "notes", "message_names", "must_not"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_file_as_it_is_found(case, tmp_path):
    expected = json.loads((case / "expected.json").read_text())
    assert set(expected) <= set(CHECKS) | OTHER_FIELDS
    path = case / expected["inputs"][0]
    if expected["outcome"] == "refuse":
        done = gpuprof("import", str(path), "-o", str(tmp_path / "out"))
        assert done.status == EXIT_CUT and not (tmp_path / "out").exists()
        assert all(word in done.err.decode() for word in expected["message_names"])
        return
    notes = {note["kind"]: note for note in _info(path)["import_notes"]}
    for name, check in CHECKS.items():
        if name in expected:
            check(expected[name], path)
    wanted = collections.Counter()
    for note in expected.get("notes", []):
        wanted[note["kind"]] += note["count"]
    assert {kind: notes[kind]["count"] for kind in wanted} == wanted
    if expected["outcome"] == "import":
        assert not notes


def test_there_are_cases_and_files():
    assert len(CASES) == 7 and len(FILES) == 3


def test_what_the_file_itself_says_is_shown():
    text = gpuprof("stats", "overview", str(GOLDEN / "cases/scopes-in-a-circle/input.xplane.pb")).out.decode()
    assert "cuptiActivityFlushAll failed" in text and "dropped 17 events" in text


def _union(spans):
    total, end = 0, None
    for start, stop in sorted(spans):
        if end is None or start > end:
            total, end = total + stop - start, stop
        elif stop > end:
            total, end = total + stop - end, stop
    return total


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.name)
def plain(request):
    """The planes of a file, read by Python alone."""
    return request.param, xs.read_planes(request.param)


def _is_copy(event):
    return event.name.startswith(("Memcpy", "Memset", "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBuffer"))


def _device_work(planes):
    """Yields the device and each event of work: of streams, and of what a TPU does."""
    for plane in planes:
        match = re.fullmatch(r"/device:(GPU|TPU):(\d+)", plane.name)
        for line in plane.lines if match else ():
            if line.name.startswith("Stream #") or (match[1] == "TPU" and line.name == "XLA Ops"):
                for event in line.events:
                    yield int(match[2]), event


def test_kernels_equal_a_plain_reading(plain):
    path, planes = plain
    expected = collections.defaultdict(lambda: [0, 0])
    for _, event in _device_work(planes):
        if not _is_copy(event):
            expected[event.display_name][0] += 1
            expected[event.display_name][1] += event.end - event.start
    found = collections.defaultdict(lambda: [0, 0])
    for row in _stats(path, "kernels")["kernels"]:
        name = row["mangled"] or row["name"]
        found[name][0] += row["count"]
        found[name][1] += row["total_ns"]
    assert expected and found == expected


def test_devices_equal_plain_unions(plain):
    path, planes = plain
    kernels, copies = collections.defaultdict(list), collections.defaultdict(list)
    for device, event in _device_work(planes):
        (copies if _is_copy(event) else kernels)[device].append((event.start, event.end))
    rows = _stats(path, "streams")["devices"]
    assert {row["device"] for row in rows} == set(kernels) | set(copies)
    for row in rows:
        both = kernels[row["device"]] + copies[row["device"]]
        assert row["kernel_ns"] == _union(kernels[row["device"]])
        assert row["copy_ns"] == _union(copies[row["device"]])
        assert row["busy_ns"] == _union(both)
        assert row["window_ns"] == max(stop for _, stop in both) - min(start for start, _ in both)


def test_rows_of_threads_are_there(plain):
    path, planes = plain
    calls, ops, python, memory = collections.Counter(), collections.Counter(), 0, 0
    for line in next(plane for plane in planes if plane.name == "/host:CPU").lines:
        for event in line.events:
            if event.name.startswith("$"):
                python += 1
            elif event.name in ("MemoryAllocation", "MemoryDeallocation"):
                memory += 1
            else:
                (calls if "correlation_id" in event.stats else ops)[event.name] += 1
    for name, key, expected in (("ops", "ops", ops), ("api", "calls", calls)):
        found = collections.Counter()
        for row in _stats(path, name)[key]:
            if row.get("scope") != "device":
                found[row["name"]] += row["count"]
        assert found == expected
    rows = {kind["name"]: kind["count"] for kind in _info(path)["processes"][0]["kinds"]}
    assert (rows.get("python", 0), rows.get("tensor", 0)) == (python, memory)


def test_modules_and_steps_are_ranges(plain):
    path, planes = plain
    expected = collections.Counter()
    for plane in planes:
        for line in plane.lines if plane.name.startswith("/device:TPU") else ():
            if line.name != "XLA Ops":
                expected.update(f"{line.name}:{event.display_name}" for event in line.events)
    found = {f"{row['domain']}:{row['name']}": row["count"] for row in _stats(path, "ranges")["ranges"]}
    assert found == expected


def test_work_is_joined_to_its_call(plain):
    path, planes = plain
    calls = {event.stats["correlation_id"]: event.name for line in next(plane for plane in planes if plane.name == "/host:CPU").lines
             for event in line.events if "correlation_id" in event.stats}
    expected = collections.Counter(calls[event.stats["correlation_id"]] for _, event in _device_work(planes) if event.stats.get("correlation_id") in calls)
    found = {row["name"]: row["work_count"] for row in _stats(path, "api")["calls"] if row.get("work_count")}
    assert found == expected


def test_work_belongs_to_the_operation_that_it_names(plain):
    """Calls and operations of one thread are on two lines of the files; each kernel names its operation itself."""
    path, planes = plain
    expected = collections.Counter()
    for _, event in _device_work(planes):
        if "correlation_id" in event.stats and "hlo_op" in event.stats:
            expected[event.stats["hlo_op"]] += event.end - event.start
    rows = _stats(path, "ops")["ops"]
    found = {row["name"]: row["device_self_ns"] for row in rows if row["device_self_ns"] and row["scope"] != "device"}
    assert found == expected
    # Work without a call names its operation alone: on TPUs it is the operation.
    alone = collections.Counter()
    for _, event in _device_work(planes):
        if "correlation_id" not in event.stats and not _is_copy(event) and "hlo_category" in event.metadata:
            alone[event.display_name] += event.end - event.start
    assert {row["name"]: row["device_self_ns"] for row in rows if row["scope"] == "device"} == alone


def test_a_bundle_says_the_same(plain, tmp_path):
    path, _ = plain
    bundle = tmp_path / "bundle"
    assert gpuprof("import", str(path), "-o", str(bundle)).status == 0
    assert gpuprof("verify", str(bundle)).status == 0
    for name in ("kernels", "streams", "ops", "api", "ranges", "memcpy", "steps", "overview"):
        of_file, of_bundle = _stats(path, name), _stats(bundle, name)
        of_file.pop("meta"), of_bundle.pop("meta")
        assert of_file == of_bundle


def test_the_plain_reading_equals_libprotobuf(plain):
    """Counts fields in protobuf's own text of the file."""
    path, planes = plain
    done = subprocess.run([shutil.which("protoc"), "--decode=gpuprof.foreign.xspace.XSpace", f"--proto_path={ROOT}", "proto/foreign/xspace.proto"],
                          input=gzip.decompress(path.read_bytes()), capture_output=True, check=True)
    text = done.stdout.decode()
    events = [event for plane in planes for line in plane.lines for event in line.events]
    assert len(re.findall(r"^    events \{", text, re.M)) == len(events)
    assert len(re.findall(r"^planes \{", text, re.M)) == len(planes)
    assert not re.search(r"^\s*\d+: ", text, re.M)  # fields that the schema lacks


def test_details_of_kernels_are_exported():
    kernels = [event for event in _exported(GOLDEN / "jax_conv_mi300.xplane.pb.gz")["traceEvents"] if event.get("cat") == "kernel"]
    assert {event["args"]["hlo_module"] for event in kernels if "hlo_module" in event["args"]} == {"jit_forward_3d_conv"}
    assert any(event["args"].get("hlo_op") == "loop_transpose_fusion" for event in kernels)


def _write_run(folder, names, source=FILES[0]):
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_bytes(gzip.decompress(source.read_bytes()))


@pytest.mark.parametrize("named", ["", "train", "train/plugins", "train/plugins/profile", "train/plugins/profile/2026_02_03_04_05_06"])
def test_a_log_folder_has_runs(tmp_path, named):
    profile = tmp_path / "train/plugins/profile"
    _write_run(profile / "2026_02_03_04_05_06", ["a.xplane.pb", "b.xplane.pb"])
    _write_run(profile / "2025_12_31_23_59_59", ["a.xplane.pb"])
    os.utime(profile / "2026_02_03_04_05_06/a.xplane.pb", (1, 1))
    os.utime(profile / "2026_02_03_04_05_06/b.xplane.pb", (1, 1))
    (profile / "2026_02_03_04_05_06/a.trace.json.gz").write_bytes(b"not read")
    info = _info(tmp_path / named)
    assert [process["name"] for process in info["processes"]] == ["a.xplane.pb", "b.xplane.pb"]
    assert len({process["host"] for process in info["processes"]}) == 2
    notes = {note["kind"]: note for note in info["import_notes"]}
    is_run = named.endswith("06")
    assert ("other_run" in notes) != is_run
    if not is_run:
        assert notes["other_run"]["count"] == 2 and notes["other_run"]["example"].endswith("2026_02_03_04_05_06")
    both = _stats(tmp_path / named, "kernels")["kernels"]
    alone = _stats(FILES[0], "kernels")["kernels"]
    assert sum(row["total_ns"] for row in both) == 2 * sum(row["total_ns"] for row in alone)


def test_a_run_of_several_hosts_is_imported_and_exported(tmp_path):
    _write_run(tmp_path / "run", ["a.xplane.pb", "b.xplane.pb"])
    assert gpuprof("import", str(tmp_path / "run"), "-o", str(tmp_path / "bundle")).status == 0
    kernels = _stats(tmp_path / "bundle", "kernels")["kernels"]
    assert sum(row["count"] for row in kernels) == 400
    assert sum(1 for event in _exported(tmp_path / "run")["traceEvents"] if event.get("cat") == "kernel") == 400


def test_runs_without_a_date_are_known_by_their_files(tmp_path):
    _write_run(tmp_path / "plugins/profile/b", ["old.xplane.pb"])
    _write_run(tmp_path / "plugins/profile/a", ["new.xplane.pb"])
    os.utime(tmp_path / "plugins/profile/b/old.xplane.pb", (1, 1))
    assert [process["name"] for process in _info(tmp_path)["processes"]] == ["new.xplane.pb"]


def test_bytes_decide_and_not_the_name(tmp_path):
    path = tmp_path / "trace.data"
    path.write_bytes(gzip.decompress(FILES[0].read_bytes()))
    assert _stats(path, "kernels")["kernels"] == _stats(FILES[0], "kernels")["kernels"]


def test_steps_that_the_program_marks_are_found(tmp_path):
    events = [xs.event(1, 1_000_000 * i, 900_000, [(1, 1), (2, 100 + i)]) for i in range(8)]
    calls = [xs.event(2, 1_000_000 * i + 1000, 500, [(3, i + 1)]) for i in range(8)]
    kernels = [xs.event(1, 1_000_000 * i + 5000, 300_000, [(1, i + 1)]) for i in range(8)]
    path = tmp_path / "steps.xplane.pb"
    path.write_bytes(xs.plane("/host:CPU", [xs.line(5, "python", events + calls)], ["train", "cuLaunchKernel"], ["_r", "step_num", "correlation_id"])
                     + xs.plane("/device:GPU:0", [xs.line(7, "Stream #7(Kernel)", kernels)], ["gemm"], ["correlation_id"]))
    series = _stats(path, "steps")["series"][0]
    assert (series["marker"], series["count"], series["mean_ns"]) == ("train:step", 8, 900_000)
    assert _stats(path, "kernels", "--steps", "102-103")["kernels"][0]["count"] == 2


def test_steps_of_a_real_program_are_found():
    path = GOLDEN / "cpu/jax_steps.xplane.pb.gz"
    result = _stats(path, "steps")
    assert (result["series"][0]["marker"], result["series"][0]["count"]) == ("train:step", 6)
    assert [step["number"] for step in result["steps"]] == list(range(10, 16))
    events = {event.stats.get("step_num"): event for plane in xs.read_planes(path) for line in plane.lines for event in line.events}
    assert [step["duration_ns"] for step in result["steps"]] == [events[i].end - events[i].start for i in range(10, 16)]
    process = _info(path)["processes"][0]
    assert (process["pid"], process["frameworks"], process["host"]) == (4989, ["JAX 0.10.2"], "vm")
    layers = [event["args"].get("layer") for event in _exported(path)["traceEvents"] if event["name"] == "forward"]
    assert layers == [3] * 6


def test_functions_of_tensorflow_are_no_steps():
    path = GOLDEN / "cpu/tensorflow_steps.xplane.pb.gz"
    result = _stats(path, "steps")
    assert [(series["marker"], series["count"] + series["warmup_count"]) for series in result["series"]] == [("train:step", 8)]
    assert [step["number"] for step in result["steps"]] == list(range(8))
    found = {row["name"]: row["count"] for row in _stats(path, "ops")["ops"]}
    expected = collections.Counter(event.name for plane in xs.read_planes(path) for line in plane.lines for event in line.events if "step_num" not in event.stats)
    assert found == expected


def test_work_belongs_to_what_runs_around_its_call(tmp_path):
    line = xs.line(5, "python", [xs.event(1, 0, 2000), xs.event(2, 500, 100, [(1, 7)]), xs.event(3, 3000, 900), xs.event(2, 3100, 10, [(1, 8)])])
    nvtx = xs.line(1 << 32, "Host Threads/5/NVTX", [xs.event(4, 400, 300)])
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(xs.plane("/host:CPU", [line, nvtx], ["dense/MatMul:MatMul", "cuLaunchKernel", "$model.py:12 call", "NVTX:layers:dense"], ["correlation_id"])
                     + xs.plane("/device:GPU:0", [xs.line(7, "Stream #7(Kernel)", [xs.event(1, 5000, 300, [(1, 7)]), xs.event(1, 6000, 50, [(1, 8)])])], ["gemm"], ["correlation_id"]))
    assert [(row["name"], row["device_ns"]) for row in _stats(path, "ops")["ops"]] == [("dense/MatMul:MatMul", 300)]
    assert [(row["domain"], row["name"], row["device_ns"]) for row in _stats(path, "ranges")["ranges"]] == [("layers", "dense", 300)]
    assert b"model.py(12): call;gemm 50" in gpuprof("stats", "stacks", "--by", "kernel", path).out


def test_graphs_that_were_recorded_as_a_whole_are_work(tmp_path):
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(xs.plane("/host:CPU", [xs.line(5, "python", [xs.event(1, 0, 2000, [(1, 7)])])], ["cuGraphLaunch (CudaGraph:3)"], ["correlation_id"])
                     + xs.plane("/device:GPU:0", [xs.line(7, "Stream #7(Kernel)", [xs.event(1, 5000, 300, [(1, 7)])])], ["CudaGraphExec:3"], ["correlation_id"]))
    assert gpuprof("import", path, "-o", tmp_path / "bundle").status == 0
    for source in (path, tmp_path / "bundle"):
        device = _stats(source, "streams")["devices"][0]
        assert (device["busy_ns"], device["kernel_ns"], device["whole_graph_ns"]) == (300, 0, 300)
        assert _stats(source, "api")["calls"][0]["work_count"] == 1


def test_a_cut_file_gives_what_came_before(tmp_path):
    whole = gzip.decompress(FILES[0].read_bytes())
    path = tmp_path / "cut.xplane.pb"
    path.write_bytes(whole[:len(whole) * 2 // 3])
    done = gpuprof("info", "--json", str(path))
    assert done.status == EXIT_CUT and b"cut" in done.err
    assert 0 < json.loads(done.out)["count"] < _info(FILES[0])["count"]
    assert {note["kind"] for note in json.loads(done.out)["import_notes"]} >= {"truncated"}
    packed = tmp_path / "cut.xplane.pb.gz"
    packed.write_bytes(FILES[0].read_bytes()[:40_000])
    done = gpuprof("info", "--json", str(packed))
    assert done.status == EXIT_CUT and b"cut or damaged" in done.err
    assert json.loads(done.out)["count"] > 0


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\x1f\x8b\x08\x00garbage", b"\x00" * 1000],
                         ids=["empty", "text", "broken_gzip", "zeros"])
def test_what_is_no_xspace_is_refused(tmp_path, content):
    path = tmp_path / "trace.xplane.pb"
    path.write_bytes(content)
    done = gpuprof("stats", "kernels", str(path))
    assert done.status == EXIT_CUT and done.out == b""
    assert len(done.err.splitlines()) == 1


def test_riegeli_is_known_by_its_name_too(tmp_path):
    path = tmp_path / "host.xplane.riegeli"
    path.write_bytes((GOLDEN / "cases/riegeli-instead-of-protobuf/input.xplane.pb").read_bytes())
    assert b"Riegeli" in gpuprof("stats", "kernels", str(path)).err
    assert b"Riegeli" in gpuprof("stats", "kernels", str(tmp_path)).err


@pytest.mark.parametrize("kind", ["threads", "streams", "planes", "names", "kernels", "devices"])
def test_huge_numbers_are_bounded(tmp_path, kind):
    path = tmp_path / "many.xplane.pb"
    count = 100_000
    one = xs.event(1, 5, 10)
    if kind == "threads":
        data = xs.plane("/host:CPU", [xs.line(i, "t", [one]) for i in range(count)], ["a"])
    elif kind == "streams":
        data = xs.plane("/device:GPU:0", [xs.line(i, f"Stream #{i}", [one]) for i in range(count)], ["a"])
    elif kind == "planes":
        data = b"".join(xs.plane(f"/some/{i}", [xs.line(1, "t", [one])], ["a"]) for i in range(count))
    elif kind == "names":
        data = xs.plane("/host:CPU", [xs.line(1, "t", [xs.event(-i, 5 * i, 3) for i in range(count)])])
    elif kind == "kernels":
        data = xs.plane("/device:GPU:0", [xs.line(7, "Stream #7", [xs.event(-i, 5 * i, 3) for i in range(count)])])
    else:
        data = b"".join(xs.plane(f"/device:GPU:{i}", [xs.line(7, "Stream #7", [one])], ["a"]) for i in range(count))
    path.write_bytes(data)
    done = gpuprof("info", "--json", str(path))
    assert done.status == 0, done.err
    info = json.loads(done.out)
    assert 60_000 < info["count"] <= count


def test_devices_have_their_names():
    assert _devices(GOLDEN / "tpu_inference.xplane.pb.gz") == [f"{i}: TPU v6 Lite" for i in range(4)]
    assert _devices(GOLDEN / "jax_conv_mi300.xplane.pb.gz") == [f"{i}: AMD GPU" for i in range(8)]
