#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""PyTorch and JAX on a real GPU: what gpuprof records is what their own profilers see.

    python3 tests/gpu/frameworks.py --gpuprof build/ci/launcher/gpuprof

A small training runs once under `gpuprof run` and once under torch.profiler: the kernels, by name, grid and block, have to be the same, eager and
with a CUDA graph. A jitted JAX loop runs twice under gpuprof: each kernel has its launch, both runs count the same. Frameworks that are not there
are named. Exit status 1 if anything differed, 0 also where there is nothing to compare.
"""

import argparse
import collections
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

TORCH = """
import json, os, sys
import torch
graph = sys.argv[1] == "graph"
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
inputs, labels = torch.randn(128, 256, device="cuda"), torch.randint(10, (128,), device="cuda")
def step():
    optimizer.zero_grad(set_to_none=False)
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
run = step
if graph:
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        step()
    run = recorded.replay
torch.cuda.synchronize()
def measured():
    for _ in range(10):
        run()
    torch.cuda.synchronize()
if len(sys.argv) > 2:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        measured()
    profile.export_chrome_trace(sys.argv[2])
else:
    torch.cuda.nvtx.range_push("measured")
    measured()
    torch.cuda.nvtx.range_pop()
"""

JAX = """
import jax, jax.numpy as jnp
@jax.jit
def step(w, x):
    return w - 0.01 * (x.T @ jnp.tanh(x @ w))
w, x = jnp.ones((256, 256)), jnp.ones((128, 256))
for _ in range(20):
    w = step(w, x)
w.block_until_ready()
"""


def triple(values):
    return ",".join(map(str, values))


def ask(options, *arguments):
    return json.loads(subprocess.run([options.gpuprof, *arguments], capture_output=True, check=True, text=True).stdout)


def record(options, folder, command, *flags):
    bundle = os.path.join(folder, f"bundle{len(os.listdir(folder))}")
    done = subprocess.run([options.gpuprof, "run", "-o", bundle, *flags, "--", *command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr[-500:]}")
    return bundle


def has_gpu(module):
    if importlib.util.find_spec(module) is None:
        print(f"{module}: not installed")
        return False
    check = {"torch": "import torch; assert torch.cuda.is_available()",
             "jax": "import jax; assert jax.devices()[0].platform in ('gpu', 'cuda')"}[module]
    if subprocess.run([sys.executable, "-c", check], capture_output=True, check=False).returncode != 0:
        print(f"{module}: sees no GPU")
        return False
    return True


def torch_differences(options, folder, mode):
    script = os.path.join(folder, "training.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(TORCH)
    trace = os.path.join(folder, f"{mode}.json")
    subprocess.run([sys.executable, script, mode, trace], check=True, capture_output=True)
    with open(trace, encoding="utf-8") as file:
        events = [event for event in json.load(file)["traceEvents"] if event.get("cat") == "kernel"]
    theirs = collections.Counter((event["name"], triple(event["args"]["grid"]), triple(event["args"]["block"])) for event in events)
    # The range is a thread's, and PyTorch launches backward kernels on another: so it bounds the capture.
    bundle = record(options, folder, [sys.executable, script, mode], "--capture=nvtx:measured")
    rows = ask(options, "stats", "kernels", "--by", "signature", "--json", bundle)["kernels"]
    ours = collections.Counter()
    for row in rows:
        ours[row["name"], row["grid"], row["block"]] += row["count"]
    differences = [f"{' '.join(key)}: {ours[key]}, torch.profiler has {theirs[key]}" for key in sorted(set(ours) | set(theirs))
                   if ours[key] != theirs[key]]
    print(f"torch, {mode}: {sum(ours.values())} kernels, torch.profiler {sum(theirs.values())}")
    return differences


def jax_differences(options, folder):
    counts = []
    differences = []
    for _ in range(2):
        rows = ask(options, "stats", "kernels", "--json", record(options, folder, [sys.executable, "-c", JAX]))["kernels"]
        counts.append(collections.Counter({row["name"]: row["count"] for row in rows}))
        differences += [f"{row['name']}: {row['launched_count']} of {row['count']} have a launch" for row in rows
                        if row["launched_count"] != row["count"]]
    print(f"jax: {sum(counts[0].values())} kernels, again {sum(counts[1].values())}")
    differences += [f"{name}: {counts[0][name]}, then {counts[1][name]}" for name in counts[0] | counts[1] if counts[0][name] != counts[1][name]]
    return differences if counts[0] else ["no kernel was recorded"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    options = parser.parse_args()
    options.gpuprof = os.path.abspath(options.gpuprof)
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        if has_gpu("torch"):
            for mode in ("eager", "graph"):
                differences += torch_differences(options, folder, mode)
        if has_gpu("jax"):
            differences += jax_differences(options, folder)
    for difference in differences:
        print(f"    {difference}")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
