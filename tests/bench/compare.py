#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What `gpuprof diff` of two bundles of 10 million events takes, and how many events a second the critical path takes.

    python3 tests/bench/compare.py --build build/bench [--rounds 5] [--events 10000000]

Steps have 5,000 layers. A layer is two operations, a call and a kernel. The kernels of the second bundle take 5 % longer.
Each figure is the best of the rounds: wall time, processor time, and the most memory that the command had.
The critical path is measured without the opening of the bundle, on one core. Its events are all rows that the pass reads.
"""

import argparse
import pathlib
import subprocess
import tempfile

from big_bundles import MIB, measure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--events", type=int, default=10_000_000)
    options = parser.parse_args()
    gpuprof, maker, passes = (str(options.build / path) for path in ("launcher/gpuprof", "tests/bench/make_bundle", "tests/bench/pass_bench"))
    with tempfile.TemporaryDirectory() as folder:
        before, after = (f"{folder}/{name}" for name in ("before", "after"))
        subprocess.run([maker, "training", str(options.events), before], check=True)
        subprocess.run([maker, "training", str(options.events), after, "5"], check=True)
        kept = f"{folder}/baselines"
        subprocess.run([gpuprof, "baseline", "save", "b", before, "--baseline-dir", kept], check=True, stderr=subprocess.DEVNULL)
        bytes_kept = pathlib.Path(kept, "b.baseline").stat().st_size
        for words in (["diff", before, after], ["diff", "--baseline", "b", "--baseline-dir", kept, after]):
            runs = [measure([gpuprof, *words, "--json"]) for _ in range(options.rounds)]
            wall, processor, memory = (min(run[i] for run in runs) for i in range(3))
            name = "two bundles" if words[1] == before else f"a baseline of {bytes_kept / 1024:.0f} KiB and a bundle"
            print(f"diff of {name}: {wall:.2f} s  processor {processor:.2f} s  memory {memory / MIB:.0f} MiB", flush=True)
        done = subprocess.run([passes, before, "critical_path", str(options.rounds)], check=True, capture_output=True, text=True)
        spent, rows = map(int, done.stdout.split())
        print(f"critical path of {rows:,} events: {spent / 1e9:.2f} s, {rows / spent * 1e3:.1f} million events a second")


if __name__ == "__main__":
    main()
