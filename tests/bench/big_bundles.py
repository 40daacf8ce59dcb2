#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""How long passes take on big bundles, and how much memory: 40 million heap events, 100 million kernels with their calls.

    python3 tests/bench/big_bundles.py --build build/bench [--rounds 3] [--scale 1.0]

Each figure is the best of the rounds: wall time, processor time, and the most memory that the command had. Bytes a row count that memory
against the rows of the tables that the pass reads.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import tempfile
import time

HEAP_ROWS, KERNELS = 40_000_000, 100_000_000
MIB = 1 << 20


def measure(command):
    began = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere)  # pylint: disable=consider-using-with
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: status {status}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def show(gpuprof, bundle, rows, rounds, passes):
    size = sum(file.stat().st_size for file in bundle.iterdir())
    print(f"{rows:,} rows, {size / MIB:.0f} MiB, {size / rows:.2f} bytes a row")
    for name in passes:
        runs = [measure([gpuprof, "stats", name, "--json", str(bundle)]) for _ in range(rounds)]
        wall, processor, memory = (min(run[i] for run in runs) for i in range(3))
        print(f"  stats {name:10} {wall:6.2f} s  processor {processor:6.2f} s  memory {memory / MIB:6.0f} MiB  {memory / rows:5.1f} bytes a row", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    gpuprof, maker = (str(options.build / path) for path in ("launcher/gpuprof", "tests/bench/make_bundle"))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        for what, events, rows_each, passes in (("heap", HEAP_ROWS, 1, ("threads", "overview", "heap")),
                                                ("kernels", KERNELS, 2, ("kernels", "overview", "streams"))):
            events = int(events * options.scale)
            bundle = pathlib.Path(folder) / what
            subprocess.run([maker, what, str(events), str(bundle)], check=True)
            show(gpuprof, bundle, events * rows_each, options.rounds, passes)


if __name__ == "__main__":
    main()
