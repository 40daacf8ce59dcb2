#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Compares what `gpuprof advise` says of programs whose bound is known, and its predictions with the programs after the change.

    python3 tests/gpu/what_if.py --gpuprof build/ci/launcher/gpuprof --out FOLDER

Each program of PyTorch runs in two ways: before and after a change that takes one thing away. `gpuprof run` records the first.
Its critical path predicts the step without this thing. The second run, without gpuprof, says what the step really takes.
Needs PyTorch and a GPU.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

PROGRAM = '''
import json, sys, time
import torch

what, variant, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.manual_seed(1)
device = "cuda"
torch.backends.cuda.matmul.allow_tf32 = False


def launches():
    """200 small layers: the host launches them more slowly than the GPU runs them. After: one CUDA graph."""
    layers = [torch.nn.Linear(256, 256).to(device) for _ in range(200)]
    x = torch.randn(64, 256, device=device)

    def forward():
        y = x
        for layer in layers:
            y = torch.relu(layer(y))
        return y

    with torch.no_grad():
        if variant == "before":
            return forward
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            forward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            forward()
        return graph.replay


def waits():
    """A wait for the GPU behind each of 20 products. After: none."""
    a = torch.randn(1024, 1024, device=device)

    def products():
        y = a
        for _ in range(20):
            y = (y @ a) * 1e-3
            if variant == "before":
                torch.cuda.synchronize()
        return y

    return products


def products():
    """Large products in fp32. After: in TF32, on the tensor cores."""
    a = torch.randn(4096, 4096, device=device)
    torch.backends.cuda.matmul.allow_tf32 = variant == "after"

    def run():
        y = a
        for _ in range(6):
            y = (y @ a) * 1e-3
        return y

    return run


def copies():
    """A copy of 64 MB from pageable memory in each step. After: none."""
    batch = torch.randn(16 << 20)
    on_device = batch.to(device)
    a = torch.randn(2048, 2048, device=device)

    def run():
        x = batch.to(device) if variant == "before" else on_device
        y = a
        for _ in range(4):
            y = (y @ a) * 1e-3
        return x.sum() + y.sum()

    return run


def sleep():
    """The host prepares for 3 ms in each step while the GPU has nothing to do. After: it prepares nothing."""
    a = torch.randn(2048, 2048, device=device)

    def run():
        if variant == "before":
            time.sleep(0.003)
        y = a
        for _ in range(4):
            y = (y @ a) * 1e-3
        torch.cuda.synchronize()
        return y

    return run


step = {"launches": launches, "waits": waits, "products": products, "copies": copies, "sleep": sleep}[what]()
with torch.no_grad():
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for number in range(steps):
        with torch.profiler.record_function(f"step {number}"):
            step()
    torch.cuda.synchronize()
print(json.dumps({"step_ns": (time.perf_counter() - begin) / steps * 1e9}))
'''

# Program: what its change takes away, the bound, the findings that fit.
PROGRAMS = {
    "launches": (("host", "launches"), {"host", "launch"}, {"LA-001"}),
    "waits": (("sync",), {"compute", "host", "launch"}, {"SY-001", "LA-001", "GP-006"}),
    "products": ((), {"compute"}, {"GP-006"}),
    "copies": (("copies",), {"copies", "host"}, {"CP-001", "CP-003"}),
    "sleep": (("host",), {"host"}, {"LA-001"}),
}


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def step_ns(program, name, variant, steps, rounds=3):
    return statistics.median(json.loads(run([sys.executable, program, name, variant, steps]).splitlines()[-1])["step_ns"] for _ in range(rounds))


def compare(gpuprof, program, name, out, steps):
    subjects, bounds, findings = PROGRAMS[name]
    bundle = out / name
    run([gpuprof, "run", "--trace", "cuda,ops", "-o", bundle, "--", sys.executable, program, name, "before", steps])
    advice = json.loads(run([gpuprof, "advise", "--json", bundle]))
    verdict = advice["verdict"]
    found = {finding["id"]: finding for finding in advice["findings"]}
    what_ifs = {each["subject"]: each["saved_ratio"] for each in verdict["what_ifs"]}
    before, after = step_ns(program, name, "before", steps), step_ns(program, name, "after", steps)
    predicted = max((what_ifs.get(subject, 0) for subject in subjects), default=None)
    if not subjects:
        predicted = (found.get("GP-006", {}).get("gain") or {}).get("high_ratio")
    return {
        "program": name,
        "bound": verdict["bound"],
        "bound_fits": verdict["bound"] in bounds,
        "findings": sorted(found),
        "finding_fits": bool(findings & set(found)),
        "recorded_step_us": verdict["step_ns"] / 1e3,
        "step_us": before / 1e3,
        "step_after_us": after / 1e3,
        "saved_ratio": 1 - after / before,
        "predicted_ratio": predicted,
        "what_ifs": {subject: round(ratio, 3) for subject, ratio in what_ifs.items()},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpuprof", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    program = options.out / "what_if_program.py"
    program.write_text(PROGRAM)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    rows = [compare(options.gpuprof.resolve(), program, name, options.out, options.steps) for name in PROGRAMS]
    (options.out / "what_if.json").write_text(json.dumps(rows, indent=1))
    for row in rows:
        predicted = "-" if row["predicted_ratio"] is None else f"{row['predicted_ratio']:.1%}"
        print(f"{row['program']:9} bound {row['bound']:12} step {row['step_us']:9.1f} us (recorded {row['recorded_step_us']:9.1f})  after {row['step_after_us']:9.1f} us "
              f" saved {row['saved_ratio']:6.1%}  predicted {predicted:>6}  {' '.join(row['findings'])}")
    wrong = [row["program"] for row in rows if not row["bound_fits"] or not row["finding_fits"]]
    if wrong:
        sys.exit(f"bound or finding does not fit: {', '.join(wrong)}")


main()
