#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What one call of a Python function costs more with --python=trace: of a function that is traced, and of one that is
not. cProfile and viztracer stand beside it where they are installed. Figures are processor time of the calling thread.

    python_calls.py --gpuprof PATH/TO/gpuprof [--rounds 7] [PYTHON ...]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import sys, time
def traced(): pass
def other(): pass
def loop(function, calls):
    for _ in range(calls):
        function()
def nothing(calls):
    for _ in range(calls):
        pass
def cost(function, calls=200_000):
    loop(function, 1000)
    begin = time.thread_time_ns()
    loop(function, calls)
    middle = time.thread_time_ns()
    nothing(calls)
    return (2 * middle - begin - time.thread_time_ns()) / calls
if "cprofile" in sys.argv:
    import cProfile
    profile = cProfile.Profile()
    profile.enable()
elif "viztracer" in sys.argv:
    from viztracer import VizTracer
    tracer = VizTracer(verbose=0)
    tracer.start()
print(cost(traced), cost(other), file=sys.stderr)
"""


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def measure(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr}")
    return tuple(float(word) for word in done.stderr.strip().splitlines()[-1].split())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    options = parser.parse_args()
    for python in options.pythons:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write(PROGRAM)
            kinds = {"bare": [python, path], "gpuprof": None, "cProfile": [python, path, "cprofile"]}
            if has(python, "viztracer"):
                kinds["viztracer"] = [python, path, "viztracer"]
            figures = {kind: [] for kind in kinds}
            for round_number in range(options.rounds):
                for kind, command in kinds.items():
                    bundle = os.path.join(folder, f"b{round_number}")
                    figures[kind].append(measure(command or [
                        options.gpuprof, "run", "--quiet", "-o", bundle, "--trace=threads", "--ring-memory=256MiB",
                        "--python=trace:__main__.traced", "--", python, path]))
            bare = [statistics.median(pair[i] for pair in figures["bare"]) for i in (0, 1)]
            version = subprocess.run([python, "-V"], capture_output=True, text=True).stdout.strip()
            print(f"{version}: a call takes {bare[0]:.0f} ns")
            for kind, pairs in figures.items():
                if kind == "bare":
                    continue
                added = [statistics.median(pair[i] for pair in pairs) - bare[i] for i in (0, 1)]
                if kind == "gpuprof":
                    print(f"  gpuprof    +{added[0]:.0f} ns traced, {added[1]:+.0f} ns not traced")
                else:
                    print(f"  {kind:10} +{added[0]:.0f} ns")


if __name__ == "__main__":
    main()
