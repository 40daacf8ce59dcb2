#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""One expectation for each program, on whatever GPU there is.

    tests/gpu/twins.py --gpuprof build/ci/launcher/gpuprof --programs build/ci/tests/fake_gpu/programs [--doubles LIB] [NAME ...]

Each file of tests/gpu/expected says what a program does on the GPU, from its source: the kernels it launches and how, what it copies
and sets, which calls it makes (but not the first, inside of which CUDA begins and CUPTI with it). The program runs bare and under `gpuprof run`; what was recorded has to be just that, and what must hold
of every recording is checked besides: the same output and status, nothing lost, each kernel launched by one recorded call that began
before it, each stream in order. What differs is printed, and the exit status is 1.

With --doubles (the folder of tests/fake_gpu's libraries) this is a test of every run; without, it wants a GPU. Needs Python 3.8 and nothing
else: where nothing can be installed, `cmake --build build/ci --target gpu_kit` makes one folder of all that it takes.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def normalised(function):
    """A call as its program writes it: libraries add the version of the interface, compilers call names with underlines."""
    return re.sub(r"_v\d+$", "", function).lstrip("_").replace("_ptsz", "")


def rows_of(text):
    """Lines of `gpuprof dump`: by kind, dictionaries."""
    rows = collections.defaultdict(list)
    for line in text.splitlines():
        time_ns, pid, tid, track, kind, *pairs = shlex.split(line, posix=True)
        row = {"end_ns": int(time_ns), "pid": int(pid), "tid": int(tid), "track": int(track)}
        for pair in pairs:
            key, _, value = pair.partition("=")
            row[key] = value
        if "start_ns" in row:
            row["start_ns"], row["duration_ns"] = int(row["start_ns"]), int(row["duration_ns"])
        rows[kind].append(row)
    return rows


def counted(rows, *keys):
    return collections.Counter(tuple(row.get(key, "") for key in keys) for row in rows)


def expected(rows):
    """[[key ..., count]] as counted() gives it."""
    return collections.Counter({tuple(map(str, row[:-1])): row[-1] for row in rows})


class Twin:
    def __init__(self, options, path):
        self.options = options
        self.name = path.stem
        self.expectation = json.loads(path.read_text())
        self.differences = []

    def differs(self, text):
        self.differences.append(text)

    def same(self, what, found, wanted):
        for key in sorted(set(found) | set(wanted), key=str):
            if found.get(key, 0) != wanted.get(key, 0):
                self.differs(f"{what} {' '.join(map(str, key)) if isinstance(key, tuple) else key}: {found.get(key, 0)}, not {wanted.get(key, 0)}")

    def run(self):
        program = self.options.programs / self.expectation["program"]
        if not program.exists():
            self.differs(f"there is no {program}")
            return
        command = [str(program), *self.expectation.get("arguments", [])]
        environment = dict(os.environ)
        if self.options.doubles:
            environment["LD_LIBRARY_PATH"] = str(self.options.doubles)
            environment["FAKE_GPU_SCRIPT"] = self.expectation.get("script", "")
        bare = subprocess.run(command, env=environment, capture_output=True, check=False)
        with tempfile.TemporaryDirectory() as folder:
            bundle = os.path.join(folder, "bundle")
            recorded = subprocess.run([self.options.gpuprof, "run", "-o", bundle, *self.expectation.get("options", []), "--", *command],
                                      env=environment, capture_output=True, check=False)
            if bare.returncode != 0:
                self.differs(f"it fails bare, with status {bare.returncode}: {bare.stderr.decode(errors='replace')[-300:]}")
                return
            if recorded.returncode != bare.returncode:
                self.differs(f"status {recorded.returncode}, bare {bare.returncode}: {recorded.stderr.decode(errors='replace')[-300:]}")
            if self.expectation.get("same_output", True) and recorded.stdout != bare.stdout:
                self.differs(f"output {recorded.stdout[:200]!r}, bare {bare.stdout[:200]!r}")
            self.look_at(self.ask("dump", "--no-symbols", bundle), json.loads(self.ask("stats", "health", "--json", bundle)),
                         json.loads(self.ask("stats", "kernels", "--json", bundle)))

    def ask(self, *arguments):
        return subprocess.run([self.options.gpuprof, *arguments], capture_output=True, check=True, text=True).stdout

    def look_at(self, dump, health, kernels):
        rows = rows_of(dump)
        wanted = self.expectation
        if "kernels" in wanted:
            self.same("kernel", counted(rows["kernel"], "name", "grid", "block", "dynamic_shared_bytes"), expected(wanted["kernels"]))
            if kernels["count"] != sum(row[-1] for row in wanted["kernels"]):
                self.differs(f"stats kernels counts {kernels['count']}")
        if "tensor_cores" in wanted:
            verdicts = counted(kernels["kernels"], "name", "tensor_cores", "tensor_cores_evidence")
            self.same("tensor cores of", verdicts, expected(wanted["tensor_cores"]))
        if "copies" in wanted:
            self.same("copy", counted(rows["memcpy"], "kind", "source", "destination", "bytes"), expected(wanted["copies"]))
        if "sets" in wanted:
            self.same("set", counted(rows["memset"], "bytes", "value"), expected(wanted["sets"]))
        calls = collections.Counter(normalised(row["function"]) for row in rows["api"])
        self.same("call", {name: calls[name] for name in wanted.get("calls", {})}, wanted.get("calls", {}))
        for loss in health["meta"].get("losses", []):
            self.differs(f"lost: {loss}")
        self.holds_of_every_recording(rows)

    def holds_of_every_recording(self, rows):
        launches = collections.defaultdict(list)
        for call in rows["api"]:
            launches[call["correlation"]].append(call)
        streams = collections.defaultdict(list)
        for kernel in rows["kernel"]:
            began = launches[kernel["correlation"]]
            if len(began) != 1:
                self.differs(f"kernel {kernel['name']} of correlation {kernel['correlation']} has {len(began)} launches")
            elif began[0]["start_ns"] > kernel["start_ns"]:
                self.differs(f"kernel {kernel['name']} starts {began[0]['start_ns'] - kernel['start_ns']} ns before its launch")
            if kernel["duration_ns"] < 0:
                self.differs(f"kernel {kernel['name']} takes {kernel['duration_ns']} ns")
            if "graph" not in kernel:
                streams[kernel["device"], kernel["context"], kernel["stream"]].append(kernel)
        # Work of one stream begins in the order of its calls.
        for stream, kernels in streams.items():
            kernels.sort(key=lambda kernel: int(kernel["correlation"]))
            for before, after in zip(kernels, kernels[1:]):
                if after["start_ns"] < before["start_ns"]:
                    self.differs(f"stream {stream}: correlation {after['correlation']} starts before {before['correlation']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--doubles", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.gpuprof = str(pathlib.Path(options.gpuprof).resolve())
    options.programs = options.programs.resolve()
    paths = sorted((HERE / "expected").glob("*.json"))
    twins = [Twin(options, path) for path in paths if not options.names or path.stem in options.names]
    if not twins:
        sys.exit(f"no expectation for {' '.join(options.names)}; there are: {' '.join(path.stem for path in paths)}")
    for twin in twins:
        twin.run()
        print(f"{twin.name}: {'as expected' if not twin.differences else f'{len(twin.differences)} differences'}", flush=True)
        for difference in twin.differences[:40]:
            print(f"    {difference}", flush=True)
    sys.exit(1 if any(twin.differences for twin in twins) else 0)


if __name__ == "__main__":
    main()
