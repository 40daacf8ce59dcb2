#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Compares the findings of `gpuprof advise` for PyTorch programs that have one fault with their twins that lack it.

    python3 tests/gpu/rules.py --gpuprof build/ci/launcher/gpuprof --out FOLDER

The rule of the fault must find it in the first program, and must be silent about the second. One more program replays a CUDA graph.
Its kernels must have the operations that were open when the graph was captured. Needs PyTorch and a GPU.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

PROGRAM = '''
import sys
import torch
import torch.nn.functional as F

what, variant, steps = sys.argv[1], sys.argv[2], 20
faulty = variant == "faulty"
torch.manual_seed(1)
device = "cuda"


def pageable():
    batch = torch.randn(8 << 20)
    batch = batch if faulty else batch.pin_memory()
    a = torch.randn(2048, 2048, device=device)
    return lambda: (batch.to(device, non_blocking=True).sum(), a @ a)


def churn():
    a = torch.randn(2048, 2048, device=device)

    def run():
        x = torch.empty(64 << 20, device=device)
        y = a @ a
        del x
        if faulty:
            torch.cuda.empty_cache()
        return y
    return run


def attention():
    q = torch.randn(8, 16, 1024, 64, device=device, dtype=torch.float16)

    def unfused():
        return torch.softmax((q @ q.transpose(-1, -2)) * 0.125, -1) @ q
    return (lambda: [unfused() for _ in range(4)]) if faulty else (lambda: [F.scaled_dot_product_attention(q, q, q) for _ in range(40)])


def precision():
    model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(4)]).to(device)
    x = torch.randn(2048, 4096, device=device)

    def run():
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=not faulty, cache_enabled=False):
            return model(x)
    if not faulty:
        model.bfloat16()
        x = x.bfloat16()
    return run


def types():
    a = torch.randn(64 << 20, device=device)
    b = torch.randn(4096, 4096, device=device, dtype=torch.float16)
    return lambda: (a.half().float() if faulty else None, [b @ b for _ in range(4)])


def graph():
    layers = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(8)]).to(device)
    x = torch.randn(64, 512, device=device)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        layers(x)
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        layers(x)
    return captured.replay


step = globals()[what]()
with torch.no_grad():
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    for number in range(steps):
        with torch.profiler.record_function(f"step {number}"):
            step()
    torch.cuda.synchronize()
'''

# Program: the rules of which one must find its fault.
FAULTS = {
    "pageable": {"CP-001"},
    "churn": {"SY-002", "ME-005"},
    "attention": {"GP-009"},
    "precision": {"GP-006", "GP-007"},
    "types": {"GP-015"},
}


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def record(gpuprof, program, name, variant, out):
    bundle = out / f"{name}_{variant}"
    run([gpuprof, "run", "--trace", "cuda,ops,tensors", "-o", bundle, "--", sys.executable, program, name, variant])
    return bundle


def findings(gpuprof, bundle):
    found = json.loads(run([gpuprof, "advise", "--json", bundle]))["findings"]
    return {each["id"]: (each.get("gain") or {}).get("high_ratio") for each in found}


def words(found):
    return " ".join(name if ratio is None else f"{name} {ratio:.0%}" for name, ratio in found.items()) or "nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    gpuprof, program = options.gpuprof.resolve(), options.out / "rules_program.py"
    program.write_text(PROGRAM)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    wrong = []
    for name, rules in FAULTS.items():
        faulty, clean = (findings(gpuprof, record(gpuprof, program, name, variant, options.out)) for variant in ("faulty", "clean"))
        fits = bool(rules & set(faulty)) and not rules & set(clean)
        wrong += [] if fits else [name]
        print(f"{name:11} {'as wanted' if fits else 'WRONG':9}  faulty: {words(faulty)};  clean: {words(clean)}", flush=True)
    kernels = json.loads(run([gpuprof, "stats", "kernels", "--by", "op", "--json", record(gpuprof, program, "graph", "faulty", options.out)]))["kernels"]
    in_graphs = sum(row["graph_count"] for row in kernels)
    owned = sum(row["graph_count"] for row in kernels if row["op"])
    print(f"graph       {owned} of {in_graphs} kernels of a graph have an operation: {sorted({row['op'] for row in kernels if row['graph_count'] and row['op']})}")
    if in_graphs == 0 or owned != in_graphs:
        wrong.append("graph")
    if wrong:
        sys.exit(f"not as wanted: {', '.join(wrong)}")


main()
