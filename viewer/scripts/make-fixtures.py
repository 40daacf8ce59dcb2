#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes src/trace/fixtures/rows.json: what the tests' own reader of .gpt files and `gpuprof dump` say about the stored traces.
The viewer's tests compare their reader with it. They need no built gpuprof so. It also imports two traces for these tests: one of
PyTorch, and one of made-up Python calls.

    GPUPROF_BUILD_DIR=build/dev viewer/scripts/make-fixtures.py"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "process"))
import trace_file  # noqa: E402  (the path is set above)

TRACES = ROOT / "tests" / "golden" / "traces"
BUNDLES = ["v1/%s.gpt" % name for name in
           ("ops", "gpu", "locks", "pools", "graphs", "managed", "events", "files", "flight", "killed", "nvtx", "heap")]
BUNDLES += ["h200/pytorch/" + name for name in ("images", "generate", "language_model")]
KINETO = "h200/pytorch/generate.json.gz"
FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "src" / "trace" / "fixtures"
SPANS = ("kernel", "memcpy", "memset", "graph_launch", "api", "op", "python", "range", "wait", "sync", "overhead", "file_read")
MASK, PRIME = 2**64 - 1, 1099511628211
VALUE = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')


def digest(values):
    """A number that stands for integers in their order."""
    sum_ = 14695981039346656037
    for value in values:
        sum_ = (sum_ * PRIME ^ (int(value) & MASK)) & MASK
    return str(sum_)


def columns_of(path):
    """Per kind: the rows, and a digest of each column, in the order of the file. Times are on the clock of the kind."""
    file = trace_file.TraceFile(path)
    found = {}
    for kind, columns in trace_file._COLUMNS.items():
        table = file._tables[kind]
        if len(table["track"]) == 0:
            continue
        found[kind] = {"rows": len(table["track"]), "columns": {name: digest(table[name].tolist()) for name, _ in columns}}
    return found


def spans_of(bundle):
    """Per kind: the spans in nanoseconds of the bundle's time, and sums by name."""
    done = subprocess.run([trace_file.find_build() / "launcher" / "gpuprof", "dump", "--no-symbols", bundle], capture_output=True, check=True)
    rows, names = {}, {}
    for line in done.stdout.decode(errors="replace").splitlines():
        time, pid, _, track, kind, rest = (line + " ").split(" ", 5)
        if kind not in SPANS:
            continue
        values = dict(VALUE.findall(rest))
        if kind == "range" and values["kind"] not in ("push_pop", "start_end", "mark"):
            continue
        end = int(time)
        start = int(values.get("start_ns", time))
        rows.setdefault(kind, []).append((int(pid), int(track), start, end))
        if kind in ("op", "kernel"):
            entry = names.setdefault(kind, {}).setdefault(json.loads(values["name"]), [0, 0])
            entry[0] += 1
            entry[1] += end - start
    spans = {kind: {"rows": len(all_), "digest": digest(value for row in sorted(all_) for value in row)} for kind, all_ in rows.items()}
    return {"spans": spans, "names": names}


def made_calls():
    """Nested calls of 32 functions on two threads, in the form of torch.profiler. They are the same in each run."""
    chance = random.Random(5)
    events = []

    def call(tid, begin, end, depth, parent):
        part = "again" if chance.randrange(6) == 0 else f"part_{depth}"
        name = f"loop/{part}.py({chance.randrange(4) + 1}): step"
        number = len(events) + 1
        events.append({"ph": "X", "cat": "python_function", "name": name, "pid": 7, "tid": tid, "ts": begin, "dur": end - begin,
                       "args": {"Python id": number, "Python parent id": parent}})
        at = begin
        while depth < 6 and at + 4 < end and len(events) < 1500:
            begin_inner = at + chance.randrange(3)
            at = min(end, begin_inner + 1 + chance.randrange(max(1, (end - begin) // 2)))
            if at > begin_inner:
                call(tid, begin_inner, at, depth + 1, number)

    for tid in (7, 8):
        for turn in range(8):
            call(tid, 1000 + turn * 500, 1450 + turn * 500, 0, None)
    return {"schemaVersion": 1, "baseTimeNanoseconds": 0, "traceEvents": events}


def import_to(target, path):
    with tempfile.TemporaryDirectory() as folder:
        bundle = pathlib.Path(folder) / "bundle"
        subprocess.run([trace_file.find_build() / "launcher" / "gpuprof", "import", path, "-o", bundle], check=True)
        target.mkdir(parents=True, exist_ok=True)
        for file in bundle.iterdir():
            (target / file.name).write_bytes(file.read_bytes())


def main():
    found = {}
    for name in BUNDLES:
        path = TRACES / name
        files = sorted(path.glob("*.gpt")) if path.is_dir() else [path]
        found[name] = {"columns": {file.name: columns_of(file) for file in files}, **spans_of(path)}
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "calls.json"
        made.write_text(json.dumps(made_calls()))
        import_to(FIXTURES / "calls", made)
    import_to(FIXTURES / "kineto", TRACES / KINETO)
    files = sorted((FIXTURES / "kineto").glob("*.gpt"))
    found["kineto"] = {"columns": {file.name: columns_of(file) for file in files}, **spans_of(FIXTURES / "kineto")}
    (FIXTURES / "rows.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
