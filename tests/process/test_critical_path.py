# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`stats critical_path` and `stats overlap` of real traces: the path is whole, what-ifs are possible, unions equal a plain reading."""

import gzip
import json
import re

import pytest

from conftest import ROOT, gpuprof

JSON = [*sorted((ROOT / "tests/golden/kineto").glob("*.json.gz")), *sorted((ROOT / "tests/golden/traces/h200/pytorch").glob("*.json.gz"))]
BUNDLES = [ROOT / "tests/golden/traces/h200/pytorch" / name for name in ("images", "generate", "language_model")]
COLLECTIVE = re.compile(r"nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|cross_device_reduce|SendRecv", re.I)


def stats(name, trace):
    done = gpuprof("stats", name, "--json", trace)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


@pytest.mark.parametrize("trace", JSON + BUNDLES, ids=lambda path: path.name.replace(".json.gz", "_json"))
def test_the_path_covers_its_window(trace):
    (path,) = stats("critical_path", trace)["paths"]
    assert path["duration_ns"] > 0 and path["node_count"] > 0
    assert sum(part["total_ns"] for part in path["categories"]) == path["duration_ns"]
    assert sum(share["total_ns"] for share in path["shares"]) == path["duration_ns"]
    assert path["what_ifs"], "something takes time"
    for what_if in path["what_ifs"]:
        assert 0 <= what_if["duration_ns"] < path["duration_ns"]
        assert what_if["saved_ns"] == path["duration_ns"] - what_if["duration_ns"]
    steps = stats("steps", trace)
    own = {step["number"]: step for step in steps["device_steps"] if step["window"] == "device"}
    if path["first_step"] is None:
        assert not own
        return
    chosen = [own[number] for number in range(path["first_step"], path["last_step"] + 1)]
    assert path["start_ns"] == chosen[0]["start_ns"]
    assert path["duration_ns"] == sum(step["duration_ns"] for step in chosen)


def union_ns(spans):
    total, end = 0, None
    for start, stop in sorted(spans):
        if end is None or start > end:
            total, end = total + stop - start, stop
        elif stop > end:
            total, end = total + stop - end, stop
    return total


@pytest.mark.parametrize("trace", JSON, ids=lambda path: path.name.split(".")[0])
def test_overlap_equals_plain_unions(trace):
    with gzip.open(trace) as file:
        document = json.load(file, parse_float=lambda text: text)
    scale = lambda text: round(float(text) * 1000) if "." not in str(text) else int(str(text).replace(".", "").ljust(len(str(text).partition(".")[0]) + 3, "0"))
    kinds = {"compute": [], "collective": [], "copy": []}
    for event in document["traceEvents"]:
        if event.get("ph") != "X" or event["cat"] not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        kind = "copy" if event["cat"] != "kernel" else "collective" if COLLECTIVE.search(event["name"]) else "compute"
        kinds[kind].append((scale(event["ts"]), scale(event["ts"]) + scale(event["dur"])))
    (device,) = stats("overlap", trace)["devices"]
    for kind, spans in kinds.items():
        assert device[f"{kind}_ns"] == union_ns(spans), kind
    everything = [span for spans in kinds.values() for span in spans]
    assert device["busy_ns"] == union_ns(everything)
    both = union_ns(kinds["compute"]) + union_ns(kinds["copy"]) - union_ns(kinds["compute"] + kinds["copy"])
    assert device["compute_and_copy_ns"] == both
    kernels = kinds["compute"] + kinds["collective"]
    assert device["exposed_copy_ns"] == union_ns(everything) - union_ns(kernels)
    assert device["exposed_collective_ns"] == union_ns(kernels) - union_ns(kinds["compute"])
