#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""How long 10 million kernels take as Arrow, next to what writing so many bytes takes.

    .deps/arrow/bin/python tests/bench/arrow.py --build build/bench [--rounds 5] [--kernels 10000000]

`first` is the first reading of a bundle: it decompresses the rows, and finds the names. `again` is the best of later
ones, from rows that are in memory. `floor` fills arrays of the same size by numpy: fresh memory, one thread.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIX = ["start_ns", "dur_ns", "name", "correlation", "stream", "pid"]


def timed(call):
    begin, processor = time.perf_counter(), time.process_time()
    result = call()
    return time.perf_counter() - begin, time.process_time() - processor, result


def show(name, wall, processor, extra=""):
    print(f"  {name:34} {wall:6.3f} s  processor {processor:6.3f} s  {extra}", flush=True)


def best(name, rounds, call, extra=lambda result: ""):
    runs = [timed(call)[:2] for _ in range(rounds)]
    show(name, min(run[0] for run in runs), min(run[1] for run in runs), extra(call()))


def bytes_of(table):
    """Returns the bytes of a table, each buffer once: batches share those of constant columns."""
    seen = {}
    for column in table.columns:
        for chunk in column.chunks:
            for buffer in chunk.buffers():
                if buffer is not None:
                    seen[buffer.address] = buffer.size
    return sum(seen.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kernels", type=int, default=10_000_000)
    options = parser.parse_args()
    os.environ["GPUPROF_LIBRARY"] = str((options.build / "analysis" / "libgpuprof.so").resolve())
    sys.path.insert(0, str(ROOT / "python"))
    import gpuprof  # noqa: PLC0415
    import numpy  # noqa: PLC0415
    import pandas  # noqa: PLC0415
    import polars  # noqa: PLC0415
    import pyarrow  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        bundle = pathlib.Path(folder) / "bundle"
        subprocess.run([str(options.build / "tests" / "bench" / "make_bundle"), "kernels", str(options.kernels), str(bundle)], check=True)
        wall, processor, recording = timed(lambda: gpuprof.open(bundle))
        show("open", wall, processor)
        six, everything = recording.kernels.select(SIX), recording.kernels
        wall, processor, table = timed(lambda: pyarrow.table(six))
        show("6 columns, first", wall, processor, f"{table.num_rows} rows in {table.column(0).num_chunks} batches")
        size = lambda table: f"{bytes_of(table) / 1e6:.0f} MB"  # noqa: E731
        best("6 columns, again", options.rounds, lambda: pyarrow.table(six), size)
        rows = table.num_rows
        best("floor: 3 x int64 + int32", options.rounds, lambda: [numpy.full(rows, 1, kind) for kind in ("int64", "int64", "int64", "int32")])
        wall, processor, _ = timed(lambda: pyarrow.table(everything))
        show(f"{len(everything.columns)} columns, first", wall, processor)
        best(f"{len(everything.columns)} columns, again", options.rounds, lambda: pyarrow.table(everything), size)
        best("polars.DataFrame, 6 columns", options.rounds, lambda: polars.DataFrame(six))
        best("pandas.DataFrame.from_arrow, 6", options.rounds, lambda: pandas.DataFrame.from_arrow(six))
        frame = polars.DataFrame(six)
        best("polars group by name", options.rounds, lambda: frame.group_by("name").agg(polars.col("dur_ns").sum()))
        best("pyarrow group by name", options.rounds, lambda: table.group_by("name").aggregate([("dur_ns", "sum")]))


if __name__ == "__main__":
    main()
