#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Small recordings of PyTorch on a real GPU, to be kept: each bundle beside what torch.profiler wrote of the same program.

    python3 tests/gpu/bundles.py --gpuprof build/ci/launcher/gpuprof --out FOLDER

Each program trains or generates for a few steps. `gpuprof run` records it once; a second run is traced by torch.profiler instead. FOLDER then has
NAME/ (the bundle), NAME.json.gz (torch.profiler's trace) and NAME.txt (the program's own account of its steps). Needs PyTorch and a GPU.
"""

import argparse
import os
import pathlib
import subprocess
import sys

PROGRAM = '''
import gzip, json, os, sys, time
import torch
from torch.utils.data import DataLoader, Dataset

how, steps = sys.argv[1], int(sys.argv[2])
profiled = sys.argv[3] if len(sys.argv) > 3 else None
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
F = torch.nn.functional
walls = []


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (y.view(b, t, self.heads, w // self.heads).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Lm(torch.nn.Module):
    def __init__(self, width, heads, layers, words=8192):
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.blocks = torch.nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.head = torch.nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.blocks(self.words(tokens)))


class SlowImages(Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, index):
        until = time.perf_counter() + 0.001
        while time.perf_counter() < until:
            pass
        return torch.full((3, 64, 64), float(index % 7)), index % 10


def language_model():
    model = Lm(512, 8, 4).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 8192, (16, 257), device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss.item()
    return step


def images():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 3, 2), torch.nn.BatchNorm2d(64), torch.nn.ReLU(), torch.nn.Conv2d(64, 128, 3, 2), torch.nn.BatchNorm2d(128),
        torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(128, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    batches = iter(DataLoader(SlowImages(), batch_size=32, num_workers=2))

    def step():
        pictures, labels = next(batches)
        pictures, labels = pictures.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(pictures), labels)
        loss.backward()
        optimizer.step()
        return None
    return step


def generate():
    model = Lm(256, 4, 4).to(device).eval()
    state = {"tokens": torch.randint(0, 8192, (1, 16), device=device)}

    def step():
        with torch.no_grad():
            following = model(state["tokens"][:, -64:])[:, -1].argmax(-1, keepdim=True)
        state["tokens"] = torch.cat([state["tokens"], following], 1)
        return following.item()
    return step


step = {"language_model": language_model, "images": images, "generate": generate}[how]()


def run():
    for number in range(steps):
        began = time.perf_counter()
        with torch.profiler.record_function(f"step {number}"):
            step()
        walls.append(time.perf_counter() - began)
    if device == "cuda":
        torch.cuda.synchronize()


if profiled:
    for _ in range(3):
        step()
    activities = [torch.profiler.ProfilerActivity.CPU] + ([torch.profiler.ProfilerActivity.CUDA] if device == "cuda" else [])
    with torch.profiler.profile(activities=activities, record_shapes=True) as profile:
        run()
    profile.export_chrome_trace(profiled)
else:
    run()
print(json.dumps({"program": how, "device": torch.cuda.get_device_name(0) if device == "cuda" else "cpu", "torch": torch.__version__,
                  "step_ms": [round(1000 * wall, 3) for wall in walls]}))
'''
PROGRAMS = {"language_model": 8, "images": 8, "generate": 16}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    script = options.out / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    failed = False
    for name, steps in PROGRAMS.items():
        command = [sys.executable, str(script), name, str(steps)]
        recorded = subprocess.run([options.gpuprof, "run", "-o", str(options.out / name), "--", *command], capture_output=True, text=True, check=False)
        traced = subprocess.run([*command, str(options.out / f"{name}.json.gz")], capture_output=True, text=True, check=False,
                                env={**os.environ, "PYTHONWARNINGS": "ignore"})
        (options.out / f"{name}.txt").write_text(f"recorded: {recorded.stdout}traced: {traced.stdout}", encoding="utf-8")
        for what, done in (("recorded", recorded), ("traced", traced)):
            if done.returncode != 0:
                failed = True
                print(f"{name}, {what}: status {done.returncode}: {done.stderr[-600:]}")
        print(f"{name}: {sum(file.stat().st_size for file in (options.out / name).glob('*'))} bytes", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
