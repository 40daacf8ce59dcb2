# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Snapshots of PyTorch's memory: the reader of pickles against Python's, and `stats memory_profile` against counted figures."""

import ast
import json
import os
import pickle
import random
import struct
import subprocess

import pytest

from cli_support import ROOT, build_dir, gpuprof
from memory_snapshots import MIB, Allocator, random_run
from waiting import LIMIT_S

GOLDEN = ROOT / "tests" / "golden"
PRINTER = build_dir() / "tests" / "process" / "gpuprof_pickle_text"


def printed(path):
    return subprocess.run([PRINTER, path], capture_output=True, text=True, timeout=LIMIT_S)


def expected(thing):
    """What the printer says of an object."""
    if thing is None or isinstance(thing, bool):
        return thing
    if isinstance(thing, int):
        return thing if -(1 << 63) <= thing < 1 << 63 else ("real", float(thing))
    if isinstance(thing, float):
        return ("real", thing)
    if isinstance(thing, str):
        return ("text", thing.encode("utf-8", "surrogatepass"))
    if isinstance(thing, (bytes, bytearray)):
        return ("bytes", len(thing))
    if isinstance(thing, dict):
        return ("dict", [expected(each) for pair in thing.items() for each in pair])
    return (type(thing).__name__.replace("frozenset", "set"), [expected(each) for each in thing])


def read(text):
    def mended(thing):
        if isinstance(thing, tuple) and thing[0] == "real":
            return ("real", float.fromhex(thing[1]))
        if isinstance(thing, tuple) and isinstance(thing[1], list):
            return (thing[0], [mended(each) for each in thing[1]])
        return thing
    return mended(ast.literal_eval(text))


def anything(seeded, depth, protocol):
    kinds = ["none", "bool", "int", "float", "text", "list", "tuple", "dict"]
    if protocol >= 3:
        kinds.append("bytes")
    if protocol >= 4:
        kinds += ["set", "frozenset"]
    kind = seeded.choice(kinds if depth else kinds[:5])
    some = seeded.choice([0, 1, 2, 3, 4, 9])
    if kind == "int":
        return seeded.choice([0, 1, -1, 255, 256, 65535, 65536, -(1 << 31), 1 << 31, (1 << 59) - 1, 1 << 59, -(1 << 60), (1 << 63) - 1,
                              -(1 << 63), 1 << 63, -(1 << 70), seeded.getrandbits(48), -seeded.getrandbits(20)])
    if kind == "text":
        return "".join(seeded.choice("ab\n\\'é日𝒳\0\x7f\u0430") for _ in range(seeded.choice([0, 3, 300])))
    if kind in ("list", "tuple"):
        items = [anything(seeded, depth - 1, protocol) for _ in range(some)]
        items += items[:1]  # shared
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {seeded.choice([i, f"key{i}"]): anything(seeded, depth - 1, protocol) for i in range(some)}
    if kind in ("set", "frozenset"):
        return {seeded.getrandbits(40)} if kind == "set" else frozenset([seeded.getrandbits(9)])
    return {"none": None, "bool": seeded.random() < 0.5, "float": seeded.choice([0.0, -1.5, 1e300, 0.1]), "bytes": bytes(some * 100)}[kind]


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_python_are_read(tmp_path, protocol):
    seeded = random.Random(protocol)
    things = [anything(seeded, 4, protocol) for _ in range(60)] + [list(range(2500)), {str(i): i for i in range(2500)}]
    path = tmp_path / "thing.pickle"
    path.write_bytes(pickle.dumps(things, protocol=protocol))
    done = printed(path)
    assert done.returncode == 0, done.stdout
    assert read(done.stdout) == expected(things)


class Harmful:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_run_nothing(tmp_path, protocol):
    path = tmp_path / "harm.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "x": Harmful(str(tmp_path / "made"))}, protocol=protocol))
    done = printed(path)
    assert done.returncode == 1 and "asks for posix.mkdir, and gpuprof runs no code of a pickle" in done.stdout
    if protocol >= 2:
        words = gpuprof("stats", "memory_profile", path, cwd=tmp_path)
        assert words.returncode == 3 and "asks for posix.mkdir" in words.stderr and words.stderr.count("\n") == 1
    assert not (tmp_path / "made").exists()


BOMBS = {
    "stack": b"\x80\x04" + b"]" * (5 << 20),
    "marks": b"\x80\x04" + b"(" * (1 << 20),
    "memo": b"\x80\x04]r\xff\xff\xff\x7f.",
    "text": b"\x80\x04\x8d" + struct.pack("<Q", 1 << 60) + b"x",
    "number": b"\x80\x04\x8b" + struct.pack("<I", 1 << 31) + b"x",
    "bytes": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b"x",
    "odd": b"\x80\x04}(K\x01u.",
    "nothing": b"\x80\x04.",
    "changed": b"\x80\x04}\x94(X\x05\0\0\0stageK\x01X\x07\0\0\0time_usK\x01u0h\0(K\x01K\x02K\x03K\x04u.",
    "code": b"\x80\x04\xff.",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_refused(tmp_path, bomb):
    path = tmp_path / "bomb.pickle"
    path.write_bytes(BOMBS[bomb])
    done = gpuprof("stats", "memory_profile", path, cwd=tmp_path)
    assert done.returncode == 3 and done.stderr.startswith(f"gpuprof: {path}: byte "), done.stderr


def test_shared_lists_are_not_expanded(tmp_path):
    """A list of lists of lists, each a thousand times the same: ten to the fifteenth entries in a few kilobytes."""
    nest = [None] * 1000
    for _ in range(4):
        nest = [nest] * 1000
    path = tmp_path / "nest.pickle"
    path.write_bytes(pickle.dumps({"segments": nest, "device_traces": nest}, protocol=4))
    assert path.stat().st_size < 40_000
    done = gpuprof("stats", "memory_profile", path, "--json", cwd=tmp_path)
    assert done.returncode in (0, 3)
    device = random_run(random.Random(1)).snapshot()
    device["device_traces"] = [device["device_traces"][0]] * 1000
    path.write_bytes(pickle.dumps(device, protocol=4))
    done = gpuprof("stats", "memory_profile", path, cwd=tmp_path)
    assert done.returncode == 3 and "events stand in several lists" in done.stderr


def test_cut_and_changed_snapshots_harm_nobody(tmp_path):
    seeded = random.Random(3)
    whole = pickle.dumps(random_run(seeded, events=60).snapshot(), protocol=4)
    path = tmp_path / "s.pickle"
    for turn in range(60):
        damaged = bytearray(whole)
        if turn % 2:
            del damaged[seeded.randrange(2, len(whole)):]
        else:
            for _ in range(seeded.choice([1, 3, 20])):
                damaged[seeded.randrange(2, len(whole))] = seeded.randrange(256)
        path.write_bytes(damaged)
        done = gpuprof("stats", "memory_profile", path, "--json", cwd=tmp_path)
        assert done.returncode in (0, 3), (turn, done.returncode, done.stderr)
        if turn % 2:
            assert "the file was cut" in done.stderr


def profile(path, device, protocol=4):
    path.write_bytes(pickle.dumps(device.snapshot(), protocol=protocol))
    done = gpuprof("stats", "memory_profile", path, "--json", cwd=path.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("seed", range(4))
def test_peaks_are_exact(tmp_path, seed):
    device = random_run(random.Random(seed))
    results = [profile(tmp_path / "s.pickle", device, protocol) for protocol in (2, 3, 4, 5)]
    for each in results:
        del each["meta"]
    assert all(each == results[0] for each in results)
    row = results[0]["devices"][0]
    assert (row["peak_bytes"], row["before_bytes"]) == (device.peak, device.before)
    assert row["end_bytes"] == sum(size for size, _ in device.live.values())
    assert row["end_count"] == len(device.live)
    stacks = {}
    for each in results[0]["stacks"]:
        stacks[each["name"]] = stacks.get(each["name"], 0) + each["bytes"]
    # What was there before and is freed later has the place that its free tells.
    assert sum(stacks.values()) == device.peak
    peak = [each for each in results[0]["timeline"] if each["peak"]]
    assert peak and peak[0]["allocated_bytes"] == device.peak
    assert sum(each["bytes"] for each in results[0]["categories"]) == device.peak
    for point in results[0]["timeline"]:
        parts = sum(value for key, value in point.items() if key.endswith("_bytes") and key[:-6] not in ("allocated", "reserved", "pending"))
        assert parts == point["allocated_bytes"]


def test_places_and_categories_of_the_peak(tmp_path):
    device = Allocator()
    room = device.segment(512 * MIB)
    for i in range(4):
        device.alloc(room + i * MIB, MIB, "model.py:20:__init__", "train.py:4:main")
        device.alloc(room + (10 + i) * MIB, 2 * 1024, "adamw.py:140:_init_group", "train.py:4:main")
        device.alloc(room + (20 + i) * MIB, 3 * 1024, "model.py:55:attention", "model.py:88:forward", "train.py:40:main")
    device.alloc(room + 30 * MIB, 512, "x.py:1:f")
    device.alloc(room + 31 * MIB, 1024, "autograd:0:AccumulateGrad", "train.py:45:backward")
    device.alloc(room + 32 * MIB, 1536, "c10d.py:1:all_reduce", "train.py:45:backward")
    result = profile(tmp_path / "s.pickle", device)
    assert {each["name"]: each["bytes"] for each in result["stacks"]} == device.stacks_at_peak()
    assert {each["category"]: each["bytes"] for each in result["categories"]} == {
        "parameters": 4 * MIB, "optimizer_state": 8192, "activations": 12288, "unknown": 512, "gradients": 1024, "communication": 1536}
    assert result["categories"][0]["evidence"] == "stack"


def test_what_was_there_before_is_inferred_from_gradients(tmp_path):
    """Weights and Adam's states have no stack: as many as there are gradients of their size are parameters."""
    device = Allocator()
    device.is_recording = False
    room = device.segment(512 * MIB)
    for i in range(9):
        device.alloc(room + i * MIB, MIB)
    odd = device.alloc(room + 50 * MIB, 4096)
    device.begin_recording()
    for step in range(4):
        device.mark(f"ProfilerStep#{step}", True)
        gradients = [device.alloc(room + (20 + i) * MIB, MIB, "autograd:0:AccumulateGrad", "train.py:45:backward") for i in range(3)]
        device.mark("Optimizer.step#Adam.step", True)
        device.mark("Optimizer.step#Adam.step", False)
        for each in gradients:
            device.free(each)
        device.mark(f"ProfilerStep#{step}", False)
    device.free(odd)
    result = profile(tmp_path / "s.pickle", device)
    row = result["devices"][0]
    assert row["peak_bytes"] == 12 * MIB + 4096 and row["recorded_peak_bytes"] == 3 * MIB
    assert (row["before_bytes"], row["before_count"], row["before_freed_bytes"]) == (9 * MIB + 4096, 10, 4096)
    assert row["peak_range"] == "ProfilerStep#0" and row["growth_per_step_bytes"] == 0 and row["recorded_end_bytes"] == 0
    found = {each["category"]: (each["bytes"], each["evidence"]) for each in result["categories"]}
    assert found == {"parameters": (3 * MIB, "size"), "optimizer_state": (6 * MIB, "size"), "gradients": (3 * MIB, "stack"),
                     "unknown": (4096, "none")}


def test_gradients_are_known_by_their_life(tmp_path):
    """Autograd gives the gradients that its nodes make to the parameters: AccumulateGrad allocates none."""
    device = Allocator()
    device.is_recording = False
    room = device.segment(512 * MIB)
    for i in range(6):
        device.alloc(room + i * MIB, MIB)
    device.begin_recording()
    for step in range(2):
        gradients = []
        for i in range(2):
            passing = device.alloc(room + (30 + i) * MIB, 3 * MIB, "autograd:0:MmBackward0", "train.py:45:backward")
            gradients.append(device.alloc(room + (20 + i) * MIB, MIB, "autograd:0:MmBackward0", "train.py:45:backward"))
            device.free(passing)
        device.mark("Optimizer.step#Adam.step", True)
        device.free(device.alloc(room + 40 * MIB, 8 * MIB, "/torch/optim/adam.py:300:_multi_tensor_adam"))
        device.mark("Optimizer.step#Adam.step", False)
        for each in gradients:
            device.free(each)
    result = profile(tmp_path / "s.pickle", device)
    found = {each["category"]: (each["bytes"], each["evidence"]) for each in result["categories"]}
    assert found == {"parameters": (2 * MIB, "size"), "optimizer_state": (4 * MIB, "size"), "gradients": (2 * MIB, "life"),
                     "temporary": (8 * MIB, "stack")}


def test_growth_of_steps(tmp_path):
    device = Allocator()
    room = device.segment(64 * MIB)
    for step in range(6):
        device.mark(f"ProfilerStep#{step}", True)
        device.alloc(room + step * MIB, 512 * 1024, "log.py:3:keep", "train.py:4:main")
        device.mark(f"ProfilerStep#{step}", False)
    assert profile(tmp_path / "s.pickle", device)["devices"][0]["growth_per_step_bytes"] == 512 * 1024


def shortage_of(tmp_path, device, asked, device_free):
    device.oom(asked, device_free, "serve.py:58:prefill", "serve.py:52:request")
    result = profile(tmp_path / "s.pickle", device)
    failure = result["failures"][0]
    # The command prints the sentences of the result.
    words = " ".join(gpuprof("stats", "memory_profile", tmp_path / "s.pickle", cwd=tmp_path).stdout.split())
    assert failure["verdict"].startswith("A request for ") and words.startswith(f"{failure['verdict']} {result['devices'][0]['verdict']}")
    return failure


def full_segment(device, free=(), pool=(0, 0), waits=False):
    """A segment of 8 blocks of 10 MiB of which some are free, or wait for a stream."""
    at = device.segment(80 * MIB, pool=pool)
    blocks = [device.alloc(at + i * 10 * MIB, 10 * MIB, "cache.py:1:grow") for i in range(8)]
    for i in free:
        device.free(blocks[i], completes=not waits)


def test_verdict_fragmentation(tmp_path):
    device = Allocator()
    full_segment(device, free=[1, 3, 5])
    full_segment(device, free=[0, 1])
    row = shortage_of(tmp_path, device, 45 * MIB, 3 * MIB)
    assert (row["shortage"], row["pool_free_bytes"], row["largest_free_bytes"]) == ("fragmentation", 50 * MIB, 20 * MIB)
    assert row["fits_unfragmented"] and row["largest_fit_bytes"] == 20 * MIB and row["device_free_bytes"] == 3 * MIB


def test_verdict_capacity(tmp_path):
    device = Allocator()
    full_segment(device, free=[1])
    row = shortage_of(tmp_path, device, 45 * MIB, 3 * MIB)
    assert row["shortage"] == "capacity" and not row["fits_unfragmented"] and row["allocated_bytes"] == 70 * MIB


def test_verdict_frees_that_wait(tmp_path):
    device = Allocator()
    full_segment(device, free=[0, 1, 2, 3, 4], waits=True)
    row = shortage_of(tmp_path, device, 45 * MIB, 3 * MIB)
    assert (row["shortage"], row["pending_bytes"], row["largest_free_later_bytes"]) == ("pending_free", 50 * MIB, 50 * MIB)
    assert row["pool_free_bytes"] == 0


def test_verdict_private_pools(tmp_path):
    device = Allocator()
    full_segment(device)
    full_segment(device, free=[0, 1, 2, 3, 4], pool=(0, 1))
    row = shortage_of(tmp_path, device, 45 * MIB, 3 * MIB)
    assert (row["shortage"], row["private_pool_bytes"], row["private_free_bytes"]) == ("graph_pools", 80 * MIB, 50 * MIB)
    assert row["largest_free_bytes"] == 0


def test_the_pool_of_a_failure_is_that_of_its_moment(tmp_path):
    """Later the program gives segments back, and takes others: the verdict does not change."""
    device = Allocator()
    full_segment(device, free=[1, 3, 5])
    full_segment(device, free=[0, 1])
    device.oom(45 * MIB, 3 * MIB, "serve.py:58:prefill")
    for address in [a for a in device.live]:
        device.free(address)
    for address in [a for a in device.segments]:
        device.free_segment(address)
    device.alloc(device.segment(200 * MIB), 100 * MIB, "x.py:1:f")
    result = profile(tmp_path / "s.pickle", device)
    row = result["failures"][0]
    assert (row["shortage"], row["pool_free_bytes"], row["largest_free_bytes"]) == ("fragmentation", 50 * MIB, 20 * MIB)
    device_row = result["devices"][0]
    assert (device_row["reserved_end_bytes"], device_row["reserved_peak_bytes"]) == (200 * MIB, 200 * MIB)


def test_segments_that_do_not_fit_the_events(tmp_path):
    device = random_run(random.Random(9))
    for event in device.events:
        event["addr"] += 1 << 40
    result = profile(tmp_path / "s.pickle", device)
    row = result["devices"][0]
    assert row["uncounted_count"] == len(device.live) and row["peak_bytes"] > 0
    words = gpuprof("stats", "memory_profile", tmp_path / "s.pickle", cwd=tmp_path).stdout
    assert "Segments and events disagree" in words


def test_a_bundle_keeps_no_snapshot(tmp_path):
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps(random_run(random.Random(2)).snapshot(), protocol=4))
    done = gpuprof("import", path, "-o", tmp_path / "bundle", cwd=tmp_path)
    assert done.returncode != 0 and "it is a memory snapshot of PyTorch; read the file itself" in done.stderr


def test_recordings_have_the_peak_that_the_allocator_counted(tmp_path):
    """A training on an H200, recorded from its begin on."""
    bundle = GOLDEN / "traces" / "h200" / "pytorch" / "language_model"
    result, heap = (json.loads(gpuprof("stats", name, bundle, "--json", cwd=tmp_path).stdout) for name in ("memory_profile", "heap"))
    ours = {each["name"]: each for each in result["devices"]}
    assert set(ours) == {"cpu", "cuda:0"}
    for each in heap["tensors"]:
        row = ours[each["name"]]
        assert row["peak_bytes"] == row["recorded_peak_bytes"] == each["peak_bytes"] == each["reported_peak_bytes"]
        assert (row["end_bytes"], row["reserved_peak_bytes"]) == (each["end_bytes"], each["reserved_peak_bytes"])
    places = sum(each["bytes"] for each in result["stacks"] if each["device"] == "cuda:0")
    assert places == ours["cuda:0"]["peak_bytes"]
    found = {each["category"] for each in result["categories"] if each["device"] == "cuda:0"}
    assert {"activations", "optimizer_state", "temporary"} <= found
    assert "torch.cuda.memory._dump_snapshot" in gpuprof("stats", "memory_profile", bundle, cwd=tmp_path).stdout


def test_several_snapshots_and_compressed_ones(tmp_path):
    import gzip
    devices = [random_run(random.Random(seed)) for seed in (1, 2)]
    for rank, device in enumerate(devices):
        (tmp_path / f"rank{rank}.pickle").write_bytes(pickle.dumps(device.snapshot(), protocol=4))
    result = json.loads(gpuprof("stats", "memory_profile", tmp_path, "--json", cwd=tmp_path).stdout)
    assert [each["peak_bytes"] for each in result["devices"]] == [device.peak for device in devices]
    packed = tmp_path / "one.gz"
    packed.write_bytes(gzip.compress(pickle.dumps(devices[0].snapshot(), protocol=5)))
    result = json.loads(gpuprof("stats", "memory_profile", packed, "--json", cwd=tmp_path).stdout)
    assert result["devices"][0]["peak_bytes"] == devices[0].peak
