#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What recording a kernel launch costs the thread that makes it, and how many launches a second are recorded without loss.

    tests/bench/launches.py --gpuprof build/bench/launcher/gpuprof --build build/bench [--sustain SECONDS]

Runs launch_load in turn bare, with CUPTI alone (cupti_client.c: its activity asked for, and thrown away) and under gpuprof, ROUNDS
times, interleaved. `launch ns` is the processor time of the launching thread for each launch, `over CUPTI` the paired difference to
CUPTI alone, `over same` that to CUPTI alone when it is asked for the same as by us: what is ours. `drain ns` is the drain thread's processor time by record. Then it holds a million launches a second for
SECONDS and tells what was lost, declared and not, and the memory that the process took beyond a bare run's.

Without a GPU this runs on the doubles of tests/fake_gpu, whose own cost is in every row alike: figures of the doubles say what
gpuprof costs, not what CUPTI does. --real takes the machine's GPU.
"""

import argparse
import os
import pathlib
import statistics

import recorders

SCRIPT = "kernel_ns 0; launch_ns 0"
MOST_OF_A_RECORD = 100  # bytes; a kernel and its call have twice as many


class CuptiAlone(recorders.Recorder):
    name = "CUPTI alone"

    def __init__(self, client, **asks):
        super().__init__()
        self.env = {"CUDA_INJECTION64_PATH": client, **asks}
        self.lost = None

    def run(self, command):
        return self.measured(command, env=self.env)


class CuptiAsGpuprof(CuptiAlone):
    name = "CUPTI, same asked"


def figures(output):
    return {name: float(value) for name, _, value in (line.partition("=") for line in output.splitlines())}


def configurations(options):
    client = str(options.build / "tests" / "bench" / "libcupti_client.so")
    return [
        recorders.Recorder(),
        CuptiAlone(client),
        CuptiAsGpuprof(client, CUPTI_CLIENT_ASKS="gpuprof"),
        recorders.Gpuprof(options.gpuprof, "gpuprof dormant", "--capture", "off"),
        recorders.Gpuprof(options.gpuprof, "gpuprof cuda", "--trace", "cuda"),
        recorders.Gpuprof(options.gpuprof, "gpuprof default"),
    ]


def cost(options, program):
    results = {}
    for _ in range(options.rounds):
        for recorder in configurations(options):
            run = figures(recorder.run([program, "0", str(options.seconds), str(options.threads)]))
            if isinstance(recorder, CuptiAlone) and run.get("cupti_bytes", 0) < run["launches"] * MOST_OF_A_RECORD:
                raise RuntimeError(f"{recorder.name} has recorded next to nothing: {run}")
            run["launch_ns"] = run["cpu_s"] / run["launches"] * 1e9
            run["lost"] = recorder.lost
            process = getattr(recorder, "process", {})
            run["drain_ns"] = process["drain_cpu_ns"] / process["count"] if process.get("count") else None
            results.setdefault(recorder.name, []).append(run)
    print(f"{'recorder':18} {'launch ns':>10} {'spread':>17} {'over CUPTI':>11} {'over same':>10} {'k/s':>7} {'drain ns':>9} {'lost':>6}")
    for name, runs in results.items():
        each = [run["launch_ns"] for run in runs]
        over, over_same = (statistics.median(run["launch_ns"] - alone["launch_ns"] for run, alone in zip(runs, results[peer]))
                           for peer in (CuptiAlone.name, CuptiAsGpuprof.name))
        rate = statistics.median(run["launches"] / run["seconds"] for run in runs) / 1e3
        drain = [run["drain_ns"] for run in runs if run["drain_ns"] is not None]
        lost = [run["lost"] for run in runs]
        print(f"{name:18} {statistics.median(each):10.1f} {f'[{min(each):.1f}, {max(each):.1f}]':>17} {over:11.1f} {over_same:10.1f} {rate:7.0f} "
              f"{f'{statistics.median(drain):.1f}' if drain else '':>9} {'?' if None in lost else sum(lost):>6}", flush=True)


def sustain(options, program):
    bare = figures(recorders.Recorder().run([program, "1000", "2"]))
    recorder = recorders.Gpuprof(options.gpuprof, "gpuprof cuda", "--trace", "cuda")
    run = figures(recorder.run([program, "1000", str(options.sustain)]))
    # A kernel and its call each; the rest of the program's calls are few.
    undeclared = 2 * run["launches"] - recorder.events - recorder.lost
    print(f"1 M launches/s asked for {options.sustain:g} s: {run['launches'] / run['seconds'] / 1e3:.0f} k/s reached, "
          f"{recorder.events} rows of {2 * run['launches']:.0f}, {recorder.lost} lost and declared, {max(0, undeclared):.0f} not; "
          f"{recorder.bytes / run['launches']:.2f} bytes a launch, drain {recorder.process['drain_cpu_ns'] / max(1, recorder.events):.1f} ns a row, "
          f"peak memory {(run['peak_bytes'] - bare['peak_bytes']) / 2**20:.1f} MiB over bare")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sustain", type=float, default=30, help="seconds; 0: not at all")
    parser.add_argument("--real", action="store_true", help="on this machine's GPU, not on the doubles")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not options.real:
        os.environ["LD_LIBRARY_PATH"] = str(options.build / "tests" / "fake_gpu" / "lib")
        os.environ["FAKE_GPU_SCRIPT"] = SCRIPT
    program = str(options.build / "tests" / "bench" / "launch_load")
    print(f"{recorders.machine()}; {'a real GPU' if options.real else 'doubles of the GPU'}; {options.rounds} interleaved rounds")
    cost(options, program)
    if options.sustain:
        sustain(options, program)


if __name__ == "__main__":
    main()
