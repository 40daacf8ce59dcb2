#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What a kernel and a runtime call of real GPU work cost in the trace, in bytes.

    tests/bench/replay_bytes.py --build build/bench [--columns] [FILE.json.gz ...]

Each trace of torch.profiler is played again under gpuprof (tests/fake_gpu/replay). `rows` are the compressed frames of the kernels'
chunks and `headers` what stands before each, by kernel; `tables` are signatures, and `names` all strings, those of calls included: both
are written once, however long a program runs. `total` is the sum. `tick` is the step of the clock that the writer saw, by kernels; ~32: one
of 32 ns that was rounded.
With --columns also what each column makes when compressed alone: that adds up to a little more than together.
"""

import argparse
import collections
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "process"))

import trace_file  # noqa: E402

REPLAY = ROOT / "tests" / "fake_gpu" / "replay"
OTHERS = ROOT.parent / "shared" / "data" / "kineto"
KINDS = {trace_file.KERNEL: "kernel", trace_file.API: "api", trace_file.MEMCPY: "memcpy", trace_file.MEMSET: "memset"}

BLOCK_HEADER = struct.Struct("<IIIIHHIII")  # the skippable frame's magic and size, then how BlockHeader begins
BLOCK_MAGIC = 0x184D2A51


def record(build, path, folder):
    """The .gpt of the trace played again."""
    recording, bundle = folder / "recording", folder / "bundle"
    subprocess.run([sys.executable, str(REPLAY / "kineto_replay.py"), str(path), str(recording)], check=True, stdout=subprocess.DEVNULL)
    doubles = build / "tests" / "fake_gpu"
    subprocess.run([str(build / "launcher" / "gpuprof"), "run", "--quiet", "-o", str(bundle), "--", str(doubles / "replay" / "replay"),
                    str(recording)], check=True, stdout=subprocess.DEVNULL,
                   env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "LD_LIBRARY_PATH": str(doubles / "lib")})
    (trace,) = bundle.glob("p*.gpt")
    return trace


def blocks(path):
    """(kind, count, bytes before the frame, bytes of the frame) of each block."""
    data, at = path.read_bytes(), 0
    while at + 8 <= len(data):
        magic, size = struct.unpack_from("<II", data, at)
        at += 8 + size
        if magic == BLOCK_MAGIC:
            _, _, compressed, _, kind, _, _, count, _ = BLOCK_HEADER.unpack_from(data, at - 8 - size)
            yield kind, count, 8 + size, compressed
            at += compressed


def compressed(data):
    return len(subprocess.run(["zstd", "-1", "--no-check", "-c"], input=data, capture_output=True, check=True).stdout)


def columns(path):
    """By kind: the ticks of its chunks, and each column's bytes compressed alone."""
    plain = subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, check=True).stdout
    ticks, costs = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for data in trace_file.fields(plain)[1]:
        chunk = trace_file.fields(data)
        kind = chunk[1][-1]
        if kind not in KINDS:
            continue
        ticks[kind][("~" if 35 in chunk else "") + str(chunk.get(24, [0])[-1] or 1)] += chunk[4][-1]
        for i, (name, _) in enumerate(trace_file._COLUMNS[kind]):
            if trace_file.FIRST_COLUMN + i in chunk:
                costs[kind][name] += compressed(chunk[trace_file.FIRST_COLUMN + i][-1])
        if 35 in chunk:
            costs[kind]["rounding_errors"] += compressed(chunk[35][-1])
    return ticks, costs


def report(name, path, with_columns):
    rows, frames, headers = collections.Counter(), collections.Counter(), collections.Counter()
    for kind, count, before, frame in blocks(path):
        rows[kind] += count
        frames[kind] += frame
        headers[kind] += before
    ticks, costs = columns(path)
    kernels, calls = rows[trace_file.KERNEL], rows[trace_file.API]
    each = lambda amount, count: f"{amount / count:.2f}" if count else "-"
    parts = [frames[trace_file.KERNEL], headers[trace_file.KERNEL],
             frames[trace_file.SIGNATURES] + headers[trace_file.SIGNATURES], frames[trace_file.STRINGS] + headers[trace_file.STRINGS]]
    seen = ",".join(sorted(ticks[trace_file.KERNEL])) or "-"
    print(f"{name:22} {kernels:8} {seen:>6} " + " ".join(f"{each(part, kernels):>8}" for part in [*parts, sum(parts)]) +
          f" {calls:8} {each(frames[trace_file.API], calls):>8} {each(headers[trace_file.API], calls):>8}")
    for kind in costs if with_columns else ():
        print(f"    {KINDS[kind]:8}" + ", ".join(f"{column} {each(cost, rows[kind])}" for column, cost in costs[kind].items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--columns", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = options.files or sorted(OTHERS.glob("*.json.gz")) or sorted(REPLAY.glob("*.json.gz"))
    print(f"{'bytes each':22} {'kernels':>8} {'tick':>6} {'rows':>8} {'headers':>8} {'tables':>8} {'names':>8} {'total':>8} {'calls':>8} "
          f"{'rows':>8} {'headers':>8}")
    for path in files:
        with tempfile.TemporaryDirectory() as folder:
            report(path.name.partition(".")[0], record(options.build.resolve(), path, pathlib.Path(folder)), options.columns)


if __name__ == "__main__":
    main()
