#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What being loaded and dormant costs the example training: the calls it makes times what a dormant hook costs.

    tests/bench/dormant.py --gpuprof build/bench/launcher/gpuprof --programs build/bench/tests/bench

A tenth of a per cent lies far below the noise of any machine: no ratio of two runs shows it. So the parts are measured:
the hooked calls of the example, its loader processes among them, are counted by a library preloaded for that alone
(call_counter.c); what a dormant hook costs is the paired difference of the program `hooks`, dormant to bare; the
processor time is that of bare runs of the example. Start-up, which is paid once, is the difference of a program that
does nothing, told in milliseconds.
"""

import argparse
import os
import statistics
import struct
import subprocess
import sys
import tempfile

import recorders

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "pytorch_train", "train.py")


def hook_costs(options):
    """ns of a dormant hook of the heap and of a lock, each round's."""
    bare, dormant = recorders.Recorder(), recorders.Gpuprof(options.gpuprof, "gpuprof dormant", "--capture", "off")
    program = [os.path.join(options.programs, "hooks"), "8000"]
    heap, waits = [], []
    for _ in range(options.rounds):
        figures = [dict(line.split("=") for line in recorder.run(program).splitlines() if "_ns=" in line)
                   for recorder in (bare, dormant)]
        over = {name: float(figures[1][name]) - float(figures[0][name]) for name in figures[0]}
        heap.append(over["malloc_pair_ns"] / 2)
        waits.append(over["mutex_pair_ns"])  # of the pair only the lock is hooked
    return heap, waits


def start_up(options):
    """ms that a dormant program takes longer to do nothing, each round's."""
    bare, dormant = recorders.Recorder(), recorders.Gpuprof(options.gpuprof, "gpuprof dormant", "--capture", "off")
    over = []
    for _ in range(4 * options.rounds):
        for recorder in (bare, dormant):
            recorder.run(["/bin/true"])
        over.append((dormant.wall - bare.wall) * 1e3)
    return over


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--programs", required=True, help="folder with `hooks` and libcall_counter.so")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        example = [options.python, EXAMPLE, "--data", os.path.join(scratch, "data")]
        subprocess.run([*example, "--epochs", "1", "--steps", "1"], check=True, capture_output=True)  # makes the images
        counts = os.path.join(scratch, "counts")
        library = os.path.abspath(os.path.join(options.programs, "libcall_counter.so"))
        recorders.Recorder().call(example, env={"LD_PRELOAD": library, "CALL_COUNTS": counts})
        with open(counts, "rb") as file:
            heap_calls, wait_calls, other_calls = struct.unpack("3Q", file.read(24))
        if heap_calls == 0 or wait_calls == 0:
            sys.exit(f"dormant.py: {library} counted nothing: its functions were not called instead of libc's")
        bare = recorders.Recorder()
        bare.run(example)
    heap, waits = hook_costs(options)
    once = start_up(options)
    heap_ns, wait_ns = max(statistics.median(heap), 0.0), max(statistics.median(waits), 0.0)
    seconds = (heap_calls * heap_ns + (wait_calls + other_calls) * wait_ns) / 1e9

    print(recorders.machine())
    print(f"hooked calls of the example  {heap_calls:,} of the heap, {wait_calls:,} waits, {other_calls:,} mappings")
    print(f"a dormant hook               heap {heap_ns:.2f} ns [{min(heap):.2f}..{max(heap):.2f}], "
          f"lock {wait_ns:.2f} ns [{min(waits):.2f}..{max(waits):.2f}]")
    print(f"together                     {seconds * 1e3:.1f} ms of {bare.cpu:.1f} s of processor time: {100 * seconds / bare.cpu:.3f} %")
    print(f"once, at start and end       {statistics.median(once):.1f} ms [{min(once):.1f}..{max(once):.1f}]")


if __name__ == "__main__":
    main()
