# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A deterministic little training in sections. `ops_program.py profile` runs one section under torch.profiler and prints how often each
op ran; `ops_program.py sections` runs a section for each line on stdin and answers with a line."""

import collections
import json
import sys

import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 30 * 30, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
images, labels = torch.randn(4, 3, 32, 32), torch.tensor([1, 2, 3, 4])


def section():
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        with torch.autograd.profiler.record_function("my own range"):
            for size in (111111, 222222):
                torch.empty(size, dtype=torch.uint8)
    return float(loss.detach())


section()  # lazy initialisation is behind us
if sys.argv[1] == "profile":
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        section()
    print(json.dumps(collections.Counter(event.name for event in profiler.events())))
else:
    print("ready", flush=True)
    for _ in sys.stdin:
        print(f"loss {section():.6f}", flush=True)
