#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What recording a training loop of TensorFlow costs: processor time of a step, of the program's threads and the recorder's.

    tests/bench/tensorflow_cost.py --gpuprof build/ci/launcher/gpuprof --rounds 9

Bare, with the source `ops` alone, with all default sources, and with TensorFlow's own profiler, which writes nothing until it ends.
Rounds are interleaved. A ratio is to the bare run of its round.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

import recorders

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / ".deps" / "tensorflow" / "bin" / "python"
# Units of the hidden layer and elements of a batch.
SIZES = {"small": (128, 8), "middle": (256, 64)}
WAYS = {"bare": None, "ops": ["--trace=ops"], "default": [], "profiler": None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--size", choices=SIZES, action="append")
    options = parser.parse_args()
    print(recorders.machine())
    for size in options.size or SIZES:
        program = [str(PYTHON), str(HERE / "tensorflow_steps.py"), str(options.steps), *map(str, SIZES[size])]
        times = {name: [] for name in WAYS}
        for _ in range(options.rounds):
            for name, flags in WAYS.items():
                with tempfile.TemporaryDirectory() as folder:
                    recorder = [] if flags is None else [options.gpuprof, "run", "--quiet", "-o", os.path.join(folder, "bundle"), *flags, "--"]
                    own = [os.path.join(folder, "profile")] if name == "profiler" else []
                    done = subprocess.run([*recorder, *program, *own], capture_output=True, check=True, text=True)
                    times[name].append(float(done.stdout))
        for name, values in times.items():
            ratios = sorted(value / bare for value, bare in zip(values, times["bare"]))
            print(f"{size:8} {name:8} {statistics.median(values):8.1f} us of processors a step   "
                  f"{statistics.median(ratios):.3f} of bare [{ratios[0]:.3f}, {ratios[-1]:.3f}]")


if __name__ == "__main__":
    main()
