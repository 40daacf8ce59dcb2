# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof stats memory_profile` of XSpaces: with `--format=xprof` it prints what the real xprof 2.24.0 prints."""

import json
import pathlib
import random
import subprocess

import pytest

from conftest import ROOT, clean_environment, gpuprof
from test_xprof_format import GOLDEN, SHARED, copies, differences, needs_xprof, page, reference
from waiting import LIMIT_S
from xprof_spaces import PlaneBuilder, Ref, space

HERE = pathlib.Path(__file__).resolve().parent
TENSORFLOW = ROOT / ".deps" / "tensorflow" / "bin" / "python"
TOOL = "memory_profile"
STORED = [*sorted(GOLDEN.glob("*.gz")), *sorted((GOLDEN / "cpu").glob("*.gz")), *sorted(SHARED.glob("*.pb"))]
# Of equal allocations XProf shows any one: what tells them apart may differ.
APART = ("timeOffsetPs", "aggregationStats", "address", "stepId")
OPS = ("model/dense/MatMul", "gradient_tape/a/Conv2D", Ref("referenced"), "", "ünïcode")


def memory_stats(chance, name, live):
    """The stats of an event: mostly those of an allocator, sometimes others or other types."""
    stats = {"allocator_name": name} if chance.random() < 0.95 else chance.choice(({}, {"index_on_host": 3}, {"device_ordinal": 1}))
    for key, most in (("bytes_reserved", 3), ("bytes_allocated", 1000), ("bytes_available", 1 << 40), ("peak_bytes_in_use", 2000)):
        if chance.random() < 0.95:
            stats[key] = chance.randrange(most)
    stats["fragmentation"] = chance.choice((0, 0.25, 1.0, chance.random(), 1e-9))
    is_release = live and chance.random() < 0.45
    address = live.pop(chance.randrange(len(live))) if is_release else chance.randrange(1, 40) << 8
    if not is_release:
        live.append(address)
    stats["addr"] = address if chance.random() < 0.97 else (address,)
    if not is_release or chance.random() < 0.8:
        stats.update({"requested_bytes": chance.randrange(4), "allocation_bytes": chance.randrange(4) * 256})
    if not is_release or chance.random() < 0.1:
        stats.update({"tf_op": chance.choice(OPS), "region_type": chance.choice(("output", "temp", Ref("persist"))),
                      "data_type": chance.choice((0, 1, 19, 24, 30, 31, 101, 122, 200, -4)), "shape": chance.choice(("[2,3]", "[]", ""))})
    if chance.random() < 0.03:
        stats["group_id"] = chance.randrange(5)
    return "MemoryDeallocation" if is_release else "MemoryAllocation", stats


def random_memory(seed):
    """Threads with steps, and allocators that say what they do within them and between them. No two moments are one."""
    chance = random.Random(seed)
    plane = PlaneBuilder("/host:CPU", 1)
    live = {name: [] for name in chance.sample(("GPU_0_bfc", "mklcpu", "gpu_host_bfc"), chance.randrange(1, 4))}
    threads = chance.randrange(1, 4)
    for thread in range(threads):
        begin, events, base = chance.randrange(1, 50) * 1000, [], chance.choice((0, 5, 77)) + thread
        at = begin + thread + base * 1000
        for step in range(chance.choice((0, 2, 6))):
            inside = chance.choice((1, 5, 400 if seed % 4 == 0 else 20))
            if chance.random() < 0.7:
                events.append(("train", at, (inside + 1) * 3000, {"step_num": step, "_r": 1}))
            for _ in range(inside + chance.randrange(5)):
                at += 3000
                name = chance.choice(list(live))
                kind, stats = memory_stats(chance, name, live[name])
                events.append((kind, at, 0, stats))
            at += 9000
        plane.line(thread + 1, f"thread {thread}", events, base)
    device = PlaneBuilder("/device:TPU:0", 2)
    device.line(2, "XLA Modules", [("jit_f(12)", 5000, 300, {"run_id": 5})], 1)
    return space([plane, device] if seed % 3 == 1 else [plane], "host")


def one(events, **planes):
    plane = PlaneBuilder("/host:CPU", 1)
    plane.line(1, "main", events)
    return space([plane, *planes.values()])


def event(at, name, allocator, live, size, address, **more):
    counts = {"bytes_reserved": more.pop("stack", 0), "bytes_allocated": live, "bytes_available": 1000 - live, "fragmentation": 0.5,
              "peak_bytes_in_use": more.pop("peak", live)}
    return (f"Memory{name}", at * 1000, 0, {"allocator_name": allocator, **counts, "requested_bytes": size, "allocation_bytes": size,
                                            "addr": address, **more})


def ties():
    """The last of equal peaks counts, and equal blocks are one row."""
    return one([event(1, "Allocation", "a", 300, 100, 1, tf_op="x"), event(2, "Allocation", "a", 400, 100, 2, tf_op="x"),
                event(3, "Deallocation", "a", 300, 100, 2), event(4, "Allocation", "a", 400, 100, 3, tf_op="y", data_type=1)])


def steps():
    """What an earlier step allocated has no row of its own."""
    return one([("train", 1000, 10000, {"step_num": 0, "_r": 1}), event(2, "Allocation", "a", 100, 100, 1, tf_op="x"),
                ("train", 20000, 10000, {"step_num": 1, "_r": 1}), event(21, "Allocation", "a", 300, 200, 2, tf_op="y", stack=7),
                event(22, "Deallocation", "a", 200, 100, 1)])


def tpu():
    """Programs of a TPU are listed beside the memory."""
    device = PlaneBuilder("/device:TPU:0", 2)
    device.line(2, "XLA Modules", [("jit_f(12)", 5000, 300, {}), ("jit_f(12)", 9000, 300, {})], 1)
    device.line(3, "XLA Ops", [("fusion.1", 5000, 300, {})])
    return one([event(1, "Allocation", "a", 100, 100, 1)], tpu=device)


WORKED = {each.__name__: each() for each in (ties, steps, tpu)}
SEEDS = range(24)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """An XSpace that TensorFlow's own profiler records here."""
    if not TENSORFLOW.exists():
        pytest.skip("TensorFlow is not installed: scripts/setup --only test")
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run([TENSORFLOW, HERE / "tensorflow_memory_program.py", folder], check=True, timeout=LIMIT_S, capture_output=True,
                   env=clean_environment({"PYTHONDONTWRITEBYTECODE": "1"}))
    (path,) = folder.glob("**/*.xplane.pb")
    return path


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Files with XProf's page of each, by name. One run of XProf makes them all."""
    folder = tmp_path_factory.mktemp("memory")
    files = {f"stored {path.name}": path for path in STORED}
    for name, data in [*WORKED.items(), *((f"seed {seed}", random_memory(seed)) for seed in SEEDS)]:
        files[name] = folder / f"{name}.xplane.pb"
        files[name].write_bytes(data)
    runs = [copies([path], folder / "copies" / str(i)) for i, path in enumerate(files.values())]
    return {name: (path, json.loads(pages[TOOL])) for (name, path), pages in zip(files.items(), reference(runs, TOOL))}


def without_what_varies(document):
    """Takes out what tells equal allocations apart."""
    for allocator in document["memoryProfilePerAllocator"].values():
        rows = [row for row in allocator["activeAllocations"] if row["specialIndex"] == "-1"]
        for row, moment in zip(rows, allocator["memoryProfileSnapshots"], strict=True):
            if row["numOccurrences"] != "1":
                for key in APART:
                    moment.pop(key, None)
                    moment["activityMetadata"].pop(key, None)
    return document


def assert_same(source, theirs):
    text, remark = page(TOOL, source)
    assert remark == ""
    found = list(differences(without_what_varies(json.loads(text)), without_what_varies(theirs)))
    assert not found, f"{source}: {len(found)} fields differ\n" + "\n".join(found[:10])


@needs_xprof
def test_stored_files(cases):
    names = [name for name in cases if name.startswith("stored ")]
    assert sum(bool(cases[name][1]["memoryIds"]) for name in names) >= 3
    for name in names:
        assert_same(*cases[name])


@needs_xprof
def test_random_files(cases):
    names = [name for name in cases if name.startswith("seed ")]
    moments = [len(each["sampledTimelineSnapshots"]) for name in names
               for each in cases[name][1]["memoryProfilePerAllocator"].values()]
    assert len(names) == len(SEEDS) and max(moments) == 1000, moments
    for name in names:
        assert_same(*cases[name])


@needs_xprof
@pytest.mark.parametrize("name", WORKED)
def test_worked_cases(cases, name):
    assert_same(*cases[name])


@needs_xprof
def test_a_file_that_tensorflow_records(recorded, tmp_path):
    (theirs,) = reference([copies([recorded], tmp_path / "copy")], TOOL)
    theirs = json.loads(theirs[TOOL])
    (allocator,) = theirs["memoryProfilePerAllocator"].values()
    assert any("MatMul" in each["activityMetadata"]["tfOpName"] for each in allocator["sampledTimelineSnapshots"])
    assert_same(recorded, theirs)


def of_worked(name, tmp_path):
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(WORKED[name])
    return json.loads(page(TOOL, path)[0])


def test_the_last_of_equal_peaks(tmp_path):
    allocator = of_worked("ties", tmp_path)["memoryProfilePerAllocator"]["a"]
    assert allocator["profileSummary"]["peakStatsTimePs"] == "4000"
    assert [(row["snapshotIndex"], row["specialIndex"], row["numOccurrences"]) for row in allocator["activeAllocations"]] == [
        ("-1", "0", "1"), ("0", "-1", "1"), ("1", "-1", "1")]
    assert [each["allocationBytes"] for each in allocator["specialAllocations"]] == ["200"]
    assert [each["activityMetadata"]["dataType"] for each in allocator["memoryProfileSnapshots"]] == ["", "float"]


def test_what_an_earlier_step_allocated(tmp_path):
    allocator = of_worked("steps", tmp_path)["memoryProfilePerAllocator"]["a"]
    assert [(each["tfOpName"], each["allocationBytes"]) for each in allocator["specialAllocations"]] == [
        ("unused preallocated device memory", "100"), ("stack", "7")]
    assert allocator["profileSummary"]["memoryCapacity"] == "1007"


def test_programs_of_a_tpu(tmp_path):
    modules = of_worked("tpu", tmp_path)["hloModules"]
    assert [(each["name"], each["planeName"], each["startTimePs"], each["endTimePs"]) for each in modules] == [
        ("jit_f(12)", "TPU:0", "4000", "4300"), ("jit_f(12)", "TPU:0", "8000", "8300")]


def test_a_run_of_two_hosts_is_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.xplane.pb").write_bytes(WORKED["ties"])
    done = gpuprof("stats", TOOL, tmp_path, "--format=xprof")
    assert done.status == 2 and b"one host" in done.err and done.out == b""


# gpuprof's own figures of the same files.

def own(source, *options):
    done = gpuprof("stats", TOOL, "--json", "--limit", "0", *options, source)
    assert done.status == 0, done.err.decode()
    result = json.loads(done.out)
    del result["meta"]
    return result


def check_account(result, theirs):
    """The peak is XProf's, and all of it has owners."""
    devices = {row["name"]: row for row in result["devices"]}
    for name, allocator in theirs["memoryProfilePerAllocator"].items():
        device = devices[f"tpu:{name}" if name.isdecimal() else name]
        peak = int(allocator["profileSummary"]["peakStats"]["peakBytesInUse"])
        assert (device["source"], device["peak_bytes"], device["reported_peak_bytes"]) == ("xspace", peak, peak), device
        assert (device.get("program_peak_bytes") or 0) == int(allocator["profileSummary"]["peakStats"]["stackReservedBytes"])
        rows = [row for row in result["stacks"] if row["device"] == device["name"]]
        assert sum(row["bytes"] for row in rows) == peak
        assert max(point["allocated_bytes"] for point in result["timeline"] if point["device"] == device["name"]) == peak
    assert len(devices) == len(theirs["memoryProfilePerAllocator"])


@needs_xprof
def test_the_account_has_the_peak_of_xprof(cases, recorded, tmp_path):
    checked = 0
    for name, (path, theirs) in cases.items():
        if name.startswith("stored ") and theirs["memoryIds"]:
            check_account(own(path), theirs)
            checked += 1
    assert checked >= 3
    (pages,) = reference([copies([recorded], tmp_path / "copy")], TOOL)
    check_account(own(recorded), json.loads(pages[TOOL]))


def test_blocks_of_a_training(recorded):
    """Weights, input and a kept block of 1 MiB each were there before; products come and go."""
    size = 512 * 512 * 4
    result = own(recorded)
    (device,) = result["devices"]
    assert device["before_bytes"] >= 3 * size and device["before_peak_bytes"] >= 3 * size
    products = [row for row in result["stacks"] if (row["shape"], row["data_type"], row["region"]) == ("[512,512]", "float", "output")]
    assert products and all(row["bytes"] == row["count"] * size and not row["before"] for row in products), result["stacks"]
    assert any(row["name"].startswith("gradient_tape/") and row["category"] == "temporary" for row in products)
    text = gpuprof("stats", TOOL, recorded).out.decode()
    assert "events are missing" not in text and "gradient_tape/" in text


def test_a_bundle_says_the_same(recorded, tmp_path):
    for i, path in enumerate((recorded, GOLDEN / "tpu_inference.xplane.pb.gz", GOLDEN / "jax_te_fused_attn_mi300.xplane.pb.gz")):
        bundle = tmp_path / str(i)
        assert gpuprof("import", path, "-o", bundle).status == 0
        assert gpuprof("verify", bundle).status == 0
        assert own(bundle) == own(path)


def test_a_window_has_what_was_live_before_it(tmp_path):
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(one([event(1000, "Allocation", "a", 100, 100, 1), event(2000, "Allocation", "a", 300, 200, 2),
                          event(5000, "Allocation", "a", 350, 50, 3), event(6000, "Deallocation", "a", 250, 100, 1)]))
    (device,) = own(path, "--window", "3us-9us")["devices"]
    assert (device["before_bytes"], device["before_freed_bytes"], device["peak_bytes"], device["end_bytes"]) == (300, 100, 350, 250)


def test_memory_of_earlier_steps_has_its_owner(tmp_path):
    """XProf calls it unused."""
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(WORKED["steps"])
    rows = {(row["name"], row["bytes"]) for row in own(path)["stacks"]}
    assert rows == {("x", 100), ("y", 200), ("(programs of the device)", 7)}


def test_threads_that_begin_at_different_times(tmp_path):
    """XProf counts the time of an event since the begin of its thread: the release of 9 ns is before the allocation of 2 ns."""
    plane = PlaneBuilder("/host:CPU", 1)
    plane.line(1, "early", [event(2, "Allocation", "a", 100, 100, 1)])
    plane.line(2, "late", [event(9, "Deallocation", "a", 0, 100, 1)], 8)  # the thread begins at 8 ns
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(space([plane]))
    moments = json.loads(page(TOOL, path)[0])["memoryProfilePerAllocator"]["a"]["sampledTimelineSnapshots"]
    assert [each["activityMetadata"]["memoryActivity"] for each in moments] == ["DEALLOCATION", "ALLOCATION"]
    (device,) = own(path)["devices"]
    assert (device["peak_bytes"], device["before_bytes"], device["end_bytes"]) == (100, 0, 0)


def test_the_peak_of_life_is_the_largest_one(tmp_path):
    """XProf shows what the last event of the file says."""
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(one([event(2, "Allocation", "a", 100, 100, 1, peak=700), event(3, "Allocation", "a", 200, 100, 2, peak=150)]))
    assert json.loads(page(TOOL, path)[0])["memoryProfilePerAllocator"]["a"]["profileSummary"]["peakBytesUsageLifetime"] == "150"
    assert own(path)["devices"][0]["lifetime_peak_bytes"] == 700


def test_the_peak_of_life_of_a_tpu():
    path = GOLDEN / "tpu_inference.xplane.pb.gz"
    summary = json.loads(page(TOOL, path)[0])["memoryProfilePerAllocator"]["0"]["profileSummary"]
    assert (summary["peakBytesUsageLifetime"], summary["peakStats"]["peakBytesInUse"]) == ("16106341504", "21492569216")
    device = own(path)["devices"][0]
    assert (device["name"], device["peak_bytes"], device["lifetime_peak_bytes"]) == ("tpu:0", 21492569216, 21492569216)


def test_damaged_bytes_never_crash(tmp_path):
    """Any bytes give an answer or a clear error."""
    chance = random.Random(7)
    data = random_memory(2)
    path = tmp_path / "host.xplane.pb"
    for turn in range(60):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 3, 30))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(bytes(broken))
        done = gpuprof("stats", TOOL, path, "--format=xprof" if turn % 2 else "--json")
        assert done.status in (0, 3), (done.status, done.err.decode())
