#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What reading a big XSpace takes: the import alone, the overview, and XProf's overview page of the same file.

    python3 tests/bench/big_xspace.py --build build/bench [--rounds 3] [--megabytes 200]

The file is made up: see make_xspace.cc. Each figure is the best of the rounds. The import is on one core, from the file to the columns.
Memory is the most that the process had, also as a multiple of the file. XProf is used if .deps/xprof has it; it runs once.
"""

import argparse
import pathlib
import subprocess
import tempfile

from big_bundles import MIB, measure

ROOT = pathlib.Path(__file__).resolve().parents[2]
XPROF = ROOT / ".deps/xprof/bin/python"
PAGE = """
import sys
from xprof.convert import raw_to_tool_data
data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "overview_page", {"tqx": "", "host": "", "use_saved_result": False})
assert data
"""


def show(name, size, wall, processor, memory):
    print(f"{name:24} {wall:7.2f} s  processor {processor:7.2f} s, {size / processor / 1e6:6.1f} MB/s a core  "
          f"memory {memory / MIB:6.0f} MiB, {memory / size:.1f} times the file", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=200)
    options = parser.parse_args()
    gpuprof, maker, passes = (str(options.build / path) for path in ("launcher/gpuprof", "tests/bench/make_xspace", "tests/bench/pass_bench"))
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/host.xplane.pb"
        subprocess.run([maker, str(options.megabytes), file], check=True)
        size = pathlib.Path(file).stat().st_size
        done = subprocess.run([passes, file, "import", str(options.rounds)], check=True, capture_output=True, text=True)
        spent, rows = map(int, done.stdout.split())
        print(f"{size / 1e6:.0f} MB, {rows:,} events, {size / rows:.1f} bytes an event")
        _, _, memory = measure([passes, file, "import", "1"])
        show("import", size, spent / 1e9, spent / 1e9, memory)
        runs = [measure([gpuprof, "stats", "overview", file]) for _ in range(options.rounds)]
        show("stats overview", size, *(min(run[i] for run in runs) for i in range(3)))
        if XPROF.exists():
            show("XProf's overview page", size, *measure(["sh", "-c", 'exec "$@" 2>/dev/null', "sh", str(XPROF), "-c", PAGE, file]))


if __name__ == "__main__":
    main()
