#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What reading a big export of Nsight Systems takes: `info`, which reads all tables.

    python3 tests/bench/big_nsys.py --build build/bench [--rounds 3] [--kernels 550000]

The file is made up: each kernel has a call, each second one a range of NVTX with a name of its own, as PyTorch writes them. Each figure is the
best of the rounds. Reading is on one core.
"""

import argparse
import multiprocessing
import pathlib
import random
import sys
import tempfile

from big_bundles import MIB, measure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))
import nsys_exports as nsys  # noqa: E402  pylint: disable=wrong-import-position


def make(path, kernels):
    made, seeded, at = nsys.Export(), random.Random(1), 10 ** 9
    names = [f"void kernel_{i}<float, {i}>(float*, int)" for i in range(200)]
    for i in range(kernels):
        pid = 100 + i % 2
        at += seeded.randrange(3000, 9000)
        made.call(pid, pid, "cudaLaunchKernel_v7000", at, at + 4000, i + 1)
        made.kernel(pid, f"kernel_{i % 200}", at + 5000, at + 5000 + seeded.randrange(1000, 6000), i + 1, device=i % 2, full=names[i % 200])
        if i % 2 == 0:
            made.range(pid, pid, f"aten::op_{i % 500}, op_id = {i}", at - 500, at + 4500)
        if i % 4 == 0:
            made.call(pid, pid, "cudaMemcpyAsync_v3020", at + 5000, at + 6000, kernels + i + 1)
            made.add("CUPTI_ACTIVITY_KIND_MEMCPY", start=at + 7000, end=at + 7600, deviceId=i % 2, contextId=1, streamId=8, correlationId=kernels + i + 1,
                     globalPid=nsys.process_id(pid), bytes=4096, copyKind=1, srcKind=1, dstKind=2)
    return made.write(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kernels", type=int, default=550_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.sqlite"
        # A process of its own: the memory of this one would count as that of its children.
        maker = multiprocessing.Process(target=make, args=(path, options.kernels))
        maker.start()
        maker.join()
        size = path.stat().st_size
        runs = [measure([str(options.build / "launcher/gpuprof"), "info", str(path)]) for _ in range(options.rounds)]
        wall, processor, memory = (min(run[i] for run in runs) for i in range(3))
        print(f"{size / 1e6:.0f} MB: {wall:.2f} s, processor {processor:.2f} s, {size / processor / 1e6:.0f} MB/s a core, memory {memory / MIB:.0f} MiB, "
              f"{memory / size:.1f} times the file")


if __name__ == "__main__":
    main()
