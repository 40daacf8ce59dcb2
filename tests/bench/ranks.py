#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The same questions about all ranks of a job, side by side: `gpuprof stats stragglers` and `pods` over the recording, and DuckDB and Spark over
its data set of `gpuprof export -f parquet`.

    .deps/spark/bin/python tests/bench/ranks.py --build build/bench [--jobs 64x1000,1024x1000] [--by stats,duckdb,spark] [--limit 1800]

The jobs are made: ranks x steps, with four kernels a step, and the last rank slow in the second half. Each run is one process and all that it starts:
its time, its processor time, and the most memory that all of them had at once. The answers of the data set are compared with those of
the command: the largest difference of a figure, by that figure.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = ROOT / ".deps" / "duckdb" / "libduckdb.so"
ASK = ROOT / "examples" / "cluster" / "ranks.py"
LOOK_S = 0.1
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
GIB = 1 << 30


def used_by(session):
    """Processor seconds of each process of a session by now, and the memory of all."""
    seconds, memory = {}, 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            seconds[path.parent.name] = (int(fields[11]) + int(fields[12])) / TICKS
            memory += int(fields[21]) * PAGE
    return seconds, memory


class Run:
    """A command with its output, its time, and what all its processes took."""

    def __init__(self, command, limit_s):
        began, seconds, self.memory = time.monotonic(), {}, 0
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
            process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=said, start_new_session=True)  # pylint: disable=consider-using-with
            while process.poll() is None and time.monotonic() - began < limit_s:
                now, memory = used_by(process.pid)
                seconds.update(now)
                self.memory = max(self.memory, memory)
                time.sleep(LOOK_S)
            self.in_time = process.poll() is not None
            if not self.in_time:
                os.killpg(process.pid, signal.SIGKILL)
            self.status = process.wait()
            self.wall_s, self.processor_s = time.monotonic() - began, sum(seconds.values())
            said.seek(0)
            self.why = "" if self.status == 0 else f"no end in {limit_s} s" if not self.in_time else said.read().decode().strip().rpartition("\n")[2]
            out.seek(0)
            self.out = out.read().decode() if self.status == 0 else ""

    def show(self, name):
        print(f"  {name:18} {self.wall_s:7.1f} s  processor {self.processor_s:7.1f} s  memory {self.memory / GIB:6.2f} GiB  {self.why}", flush=True)


def largest_difference(told, out):
    """Between what the command and a data set say about a job."""
    rows = [json.loads(line) for line in out.splitlines()]
    job = next(row for row in rows if row["answer"] == "job")
    ranks = {row["rank"]: row for row in rows if row["answer"] == "what_if"}
    pairs = [(job["job_ns"], told["total_ns"]), (job["ideal_ns"], told["ideal_ns"]), (job["s"], told["slowdown"]), (job["m_w"], told["slowest_ratio"])]
    pairs += [(ranks[row["rank"]]["s_w"], row["slowdown"]) for row in told["ranks"]]
    return max(abs(one - other) / abs(other) for one, other in pairs), len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", default="64x1000,1024x1000")
    parser.add_argument("--by", default="stats,duckdb,spark")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1800, help="seconds that a run may take")
    options = parser.parse_args()
    gpuprof, maker = options.build / "launcher" / "gpuprof", options.build / "tests" / "bench" / "make_bundle"
    for size in options.jobs.split(","):
        ranks, steps = size.split("x")
        with tempfile.TemporaryDirectory() as name:
            job, dataset = pathlib.Path(name) / "job", pathlib.Path(name) / "set"
            subprocess.run([maker, "job", ranks, job, steps], check=True)
            exported = Run([gpuprof, "export", job, "-f", "parquet", "-o", dataset, f"--library={LIBRARY}"], options.limit)
            sizes = [sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6 for folder in (job, dataset)]
            print(f"{ranks} ranks of {steps} steps: recording {sizes[0]:.0f} MB, data set {sizes[1]:.0f} MB")
            exported.show("export -f parquet")
            told = None
            if "stats" in options.by:
                for verb in ("stragglers", "pods"):
                    run = Run([gpuprof, "stats", verb, "--json", job], options.limit)
                    run.show(f"stats {verb}")
                    told = json.loads(run.out) if verb == "stragglers" and run.out else told
            for engine in ("duckdb", "spark"):
                if engine not in options.by or exported.status != 0:
                    continue
                ask = [sys.executable, ASK, dataset, "--engine", engine, "--threads", options.threads]
                effects = Run([*ask, "--answer", "job", "--answer", "what_if"], options.limit)
                effects.show(f"{engine} what_if")
                if told is not None and effects.out:
                    difference, figures = largest_difference(told, effects.out)
                    print(f"  {'':18} {figures} figures differ from the command's by {difference:.1e} at most")
                Run([*ask, "--answer", "rank_steps"], options.limit).show(f"{engine} rank_steps")


if __name__ == "__main__":
    main()
