# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""How the cost of each pass grows with traces that are made to be slow: a file of four times the size may cost four times
the processor time, and a little more for sorting. A ratio near 16 is a square.

usage: hostile_shapes.py GPUPROF [--rows N] [--shape NAME] [--pass NAME]"""

import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

FACTOR = 4
# Below this nothing but the start of the command is measured.
LEAST_SECONDS = 0.15


def span(category, name, start, length, pid=1, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length, "args": args}


def launch(i, at, stream=7, name="k", external=0):
    """A call and its kernel, far behind all operations."""
    return [span("cuda_runtime", "cudaLaunchKernel", at, 1, tid=1, correlation=i + 1, **({"External id": external} if external else {})),
            span("kernel", name, 10**9 + 2 * i, 1, pid=0, tid=stream, device=0, stream=stream, correlation=i + 1)]


def nested(n, name):
    return [span("cpu_op", name(i), i, 2 * n - 2 * i, **{"External id": i + 1}) for i in range(n)]


def launched_within(n, name):
    return nested(n, name) + [each for i in range(n) for each in launch(i, n + i / n, external=i + 1)]


def launched_behind(n):
    # Each launch asks which operation is open: none is, and the last that began is the innermost.
    return nested(n, lambda i: "a") + [each for i in range(n) for each in launch(i, 2 * n + 2 + 2 * i)]


def python_nested(n, name):
    return [span("python_function", name(i), i, 2 * n - 2 * i, **{"Python id": i + 1, "Python parent id": i or None}) for i in range(n)]


SHAPES = {
    "ops nested, own names": lambda n: nested(n, lambda i: f"op{i}"),
    "ops nested, one name": lambda n: nested(n, lambda i: "op"),
    "work launched within nested ops": lambda n: launched_within(n, lambda i: f"op{i}"),
    "work launched within one-named ops": lambda n: launched_within(n, lambda i: "op"),
    "work launched behind nested ops": launched_behind,
    "all at one time": lambda n: [span("cpu_op", f"op{i % 9}", 5, 5) for i in range(n)],
    "no length": lambda n: [span("cpu_op", f"op{i % 9}", 5, 0) for i in range(n)],
    "overlapping": lambda n: [span("cpu_op", f"op{i % 9}", i, n) for i in range(n)],
    "overlapping ranges": lambda n: [span("user_annotation", f"r{i % 9}", i, n) for i in range(n)],
    "overlapping ranges, own names": lambda n: [span("user_annotation", f"r{i}", i, n) for i in range(n)],
    "ranges nested": lambda n: [span("user_annotation", f"r{i}", i, 2 * n - 2 * i) for i in range(n)],
    "plain spans nested": lambda n: [span("mine", f"r{i}", i, 2 * n - 2 * i) for i in range(n)],
    "plain spans overlapping": lambda n: [span("mine", f"r{i}", i, n) for i in range(n)],
    "python nested, own names": lambda n: python_nested(n, lambda i: f"f{i}"),
    "modules nested": lambda n: python_nested(n, lambda i: f"nn.Module: M_{i}") + [each for i in range(n) for each in launch(i, 2 * n + 2 + 2 * i)],
    "lanes": lambda n: [span("cpu_op", "op", i, 5, tid=i + 1) for i in range(n)],
    "streams": lambda n: [each for i in range(n) for each in launch(i, 3 * i, stream=i)],
    "processes": lambda n: [span("cpu_op", "op", i, 5, pid=i + 1) for i in range(n)],
    "kernels of many processes": lambda n: [span("cuda_runtime", "cudaLaunchKernel", i, 1, pid=i + 1, correlation=i % 7 + 1) for i in range(n // 2)] +
                                           [span("kernel", "k", n + i, 1, pid=0, tid=7, device=i % 9, stream=7, correlation=i % 7 + 1) for i in range(n // 2)],
    "kernels, own names": lambda n: [each for i in range(n) for each in launch(i, 3 * i, name=f"void kernel{i}<int>(float*)")],
    "kernels at one time": lambda n: [span("kernel", "k", 5, 5, pid=0, tid=7, device=0, stream=7, correlation=i + 1) for i in range(n)],
    "kernels overlapping on streams": lambda n: [span("kernel", "k", i, n, pid=0, tid=i % 64, device=0, stream=i % 64, correlation=i + 1) for i in range(n)],
    "calls nested": lambda n: [span("cuda_runtime", f"call{i}", i, 2 * n - 2 * i, correlation=i + 1) for i in range(n)],
    "one correlation": lambda n: [span("cuda_runtime", "cudaLaunchKernel", 3 * i, 1, correlation=1) for i in range(n)] +
                                 [span("kernel", "k", 10**7 + 3 * i, 1, pid=0, tid=7, device=0, stream=7, correlation=1) for i in range(n)],
    "steps": lambda n: [span("user_annotation", f"ProfilerStep#{i}", 10 * i, 9) for i in range(n)],
    "memory": lambda n: [{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": i,
                          "args": {"Device Type": 1, "Device Id": 0, "Addr": i, "Bytes": 64, "Total Allocated": 64 * i, "Total Reserved": 64 * i}} for i in range(n)],
    "begins without ends": lambda n: [{"ph": "B", "cat": "c", "name": f"b{i}", "pid": 1, "tid": 1, "ts": i} for i in range(n)],
    "counters": lambda n: [{"ph": "C", "name": f"c{i}", "pid": 1, "tid": 1, "ts": i, "args": {"v": i}} for i in range(n)],
}


def make(shape, n, folder):
    path = folder / f"{n}.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "G"}], "traceEvents": SHAPES[shape](n)}))
    return path


def seconds(gpuprof, name, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [gpuprof, name, path] if name in ("dump", "info") else [gpuprof, "stats", name, path]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def passes(gpuprof):
    words = subprocess.run([gpuprof, "stats", "--help"], capture_output=True, text=True, check=True).stdout
    names = re.search(r"^  (\w+(?:\|\w+)+)$", words, re.M)[1].split("|")
    return ["info", "dump", *names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpuprof")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--shape", choices=SHAPES)
    parser.add_argument("--pass", dest="name")
    options = parser.parse_args()
    names = [options.name] if options.name else passes(options.gpuprof)
    worst = 0
    print(f"{'shape':38} {'pass':18} {options.rows:>9} {FACTOR * options.rows:>9}   ratio")
    for shape in [options.shape] if options.shape else SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            small, large = (make(shape, n, pathlib.Path(folder)) for n in (options.rows, FACTOR * options.rows))
            for name in names:
                long = seconds(options.gpuprof, name, large)
                if long < LEAST_SECONDS:
                    continue
                short = seconds(options.gpuprof, name, small)
                ratio = long / short
                worst = max(worst, ratio)
                print(f"{shape:38} {name:18} {short:8.2f}s {long:8.2f}s {ratio:7.1f}{'  <-- grows faster than the file' if ratio > 2 * FACTOR else ''}", flush=True)
    print(f"worst ratio: {worst:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
