#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What a recording with --budget costs, beside a whole recording and none, and what it tells of its own cost.

    tests/bench/budget.py --gpuprof build/bench/launcher/gpuprof --training build/ci/tests/fake_gpu/programs/training

The training is bound by its launches. It runs on the simulated GPU, where a launch that is recorded costs what it costs on an H200
(docs/cost.md); with --real it runs on the machine's GPU. Rounds are interleaved. A step's time is the program's own figure.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import recorders

SCRIPT = "record_ns 1160; kernel_ns 500; launch_ns 500"


def step_ns(command, environment):
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    return float(done.stdout.split()[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--training", required=True)
    parser.add_argument("--budget", action="append", help="as often as you like (1%%, 3%%)")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--real", action="store_true")
    options = parser.parse_args()
    budgets = options.budget or ["1%", "3%"]

    environment = dict(os.environ)
    if not options.real:
        library = pathlib.Path(options.training).parent.parent / "lib"
        environment |= {"LD_LIBRARY_PATH": str(library), "FAKE_GPU_SCRIPT": SCRIPT}
    program = [options.training, str(options.seconds)]
    times = {name: [] for name in ("bare", "whole", *budgets)}
    told = {budget: [] for budget in budgets}
    for _ in range(options.rounds):
        for name in times:
            with tempfile.TemporaryDirectory() as folder:
                bundle = os.path.join(folder, "bundle")
                flags = ["--budget", name] if name in told else []
                command = program if name == "bare" else [options.gpuprof, "run", "--quiet", "-o", bundle, *flags, "--", *program]
                times[name].append(step_ns(command, environment))
                if name in told:
                    done = subprocess.run([options.gpuprof, "stats", "health", "--json", bundle], capture_output=True, check=True)
                    told[name].append(json.loads(done.stdout)["processes"][0]["budget"])

    print(recorders.machine())
    for name, values in times.items():
        ratios = [value / bare for value, bare in zip(values, times["bare"])]
        print(f"{name:8} {statistics.median(values) / 1e6:8.3f} ms a step   {statistics.median(ratios):.3f} of bare "
              f"[{min(ratios):.3f}, {max(ratios):.3f}]")
    for name, budgets_told in told.items():
        for budget in budgets_told:
            print(f"{name:8} told {budget['cost_ratio']:+.4f} ± {budget['cost_error_ratio']:.4f}, {budget['window_count']} windows, "
                  f"{budget['recorded_step_count']} of {budget['step_count']} steps, detail {budget['detail']}, "
                  f"inside {budget['inside_step_ns'] / budget['outside_step_ns']:.3f} of outside")


if __name__ == "__main__":
    main()
