#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What it costs to record JAX: processor time of a loop's steps, and the longest stall of the main thread.

    tests/bench/jax_cost.py --gpuprof build/bench/launcher/gpuprof --python .deps/tensorflow/bin/python

Four ways, in interleaved rounds: bare; recorded without the source `ops`; recorded with it; with jax.profiler, whose session ends
behind the loop. The third divided by the second is what JAX's own marks cost. Processor time is of the loop alone, on all threads of the process. The longest step is given for the steps
behind the first tenth; beside it stands that of the bare run.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

WITHOUT = "--trace=cuda,heap,mmap,locks,threads,tensors,nvtx,itt,nccl,samples"


def child(steps, units, batch, own):
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp

    key = jax.random.key(7)
    weights = {"w1": jax.random.normal(key, (784, units)) * 0.01, "w2": jax.random.normal(key, (units, 10)) * 0.01}
    x, y = jax.random.normal(key, (batch, 784)), jnp.zeros((batch,), jnp.int32)

    def loss(w, x, y):
        logits = jax.nn.relu(x @ w["w1"]) @ w["w2"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))

    @jax.jit
    def train_step(w, x, y):
        value, gradient = jax.value_and_grad(loss)(w, x, y)
        return jax.tree.map(lambda a, b: a - 0.01 * b, w, gradient), value

    weights, value = train_step(weights, x, y)
    value.block_until_ready()
    walls = []
    folder = tempfile.TemporaryDirectory()
    if own:
        jax.profiler.start_trace(folder.name)
    cpu = time.process_time()
    for _ in range(steps):
        begin = time.perf_counter()
        weights, value = train_step(weights, x, y)
        value.block_until_ready()
        walls.append(time.perf_counter() - begin)
    cpu = time.process_time() - cpu
    if own:
        jax.profiler.stop_trace()
    print(json.dumps({"cpu_ms": cpu * 1e3 / steps, "longest_ms": max(walls[steps // 10:]) * 1e3, "median_ms": statistics.median(walls) * 1e3}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", nargs=4, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--gpuprof")
    parser.add_argument("--python")
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--units", type=int, default=384)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    if options.child:
        return child(*options.child)

    import recorders

    program = [options.python, __file__, "--child", str(options.steps), str(options.units), str(options.batch)]
    ways = {"bare": None, "without ops": [WITHOUT], "with ops": [], "profiler": None}
    found = {way: [] for way in ways}
    recorded = []
    for _ in range(options.rounds):
        for way, flags in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                bundle = os.path.join(folder, "bundle")
                command = [*program, "1" if way == "profiler" else "0"]
                command = command if flags is None else [options.gpuprof, "run", "--quiet", "-o", bundle, *flags, "--", *command]
                done = subprocess.run(command, capture_output=True, check=True)
                found[way].append(json.loads(done.stdout))
                if flags == []:
                    steps = json.loads(subprocess.run([options.gpuprof, "stats", "steps", "--json", bundle], capture_output=True, check=True).stdout)
                    recorded.append(sum(series["count"] for series in steps["series"]))
    print(recorders.machine())
    for way, runs in found.items():
        cpu = sorted(run["cpu_ms"] for run in runs)
        print(f"{way:12} {statistics.median(cpu):7.3f} ms of processor time a step ({cpu[0]:.3f} to {cpu[-1]:.3f}), "
              f"median step {statistics.median(run['median_ms'] for run in runs):.3f} ms, "
              f"longest {statistics.median(run['longest_ms'] for run in runs):.1f} ms")
    for over, under in (("with ops", "without ops"), ("with ops", "bare"), ("without ops", "bare"), ("profiler", "bare")):
        ratios = sorted(a["cpu_ms"] / b["cpu_ms"] for a, b in zip(found[over], found[under]))
        print(f"{over} / {under}: {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")
    print(f"steps told: {statistics.median(recorded):.0f} of {options.steps}")


if __name__ == "__main__":
    main()
