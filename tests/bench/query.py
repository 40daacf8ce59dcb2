#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""How long queries of SQL take on a big bundle: 10 million kernels, each with the call that launched it.

    python3 tests/bench/query.py --build build/bench [--rounds 3] [--kernels 10000000]

Each figure is the best of the rounds, of the whole command: the rows are decoded, too. The first query counts rows, which decodes nothing.
"""

import argparse
import pathlib
import subprocess
import tempfile

from big_bundles import MIB, measure

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / ".deps" / "duckdb" / "libduckdb.so"
QUERIES = {
    "count": "select count(*) from kernels",
    "sum": "select sum(dur_ns) from kernels",
    "group by name_id": "select name_id, count(*), sum(dur_ns) from kernels group by 1 order by 3 desc",
    "group by name": "select name, count(*), sum(dur_ns) from kernels group by 1 order by 3 desc limit 10",
    "like": "select count(*) from kernels where name like '%1%'",
    "window": "select count(*) from kernels where start_ns between 1000000 and 2000000",
    "join with calls": "select count(*), sum(k.start_ns - a.start_ns) from kernels k join api a on a.correlation = k.correlation and a.pid = k.pid",
    "stats.kernels": "select name, total_ns from stats.kernels order by 2 desc limit 10",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kernels", type=int, default=10_000_000)
    options = parser.parse_args()
    gpuprof, maker = (str(options.build / path) for path in ("launcher/gpuprof", "tests/bench/make_bundle"))
    with tempfile.TemporaryDirectory() as folder:
        bundle = str(pathlib.Path(folder) / "bundle")
        subprocess.run([maker, "kernels", str(options.kernels), bundle], check=True)
        for name, sql in QUERIES.items():
            runs = [measure([gpuprof, "query", bundle, sql, f"--library={LIBRARY}"]) for _ in range(options.rounds)]
            wall, processor, memory = (min(run[i] for run in runs) for i in range(3))
            print(f"  {name:18} {wall:6.2f} s  processor {processor:6.2f} s  memory {memory / MIB:6.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
