# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`backward_program.py FILE` trains a little, and then some steps under torch.profiler, which writes its trace to FILE."""

import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

torch.manual_seed(1)
torch.set_num_threads(1)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 14 * 14, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
images, labels = torch.randn(4, 3, 16, 16), torch.tensor([1, 2, 3, 4])


def step():
    optimizer.zero_grad()
    with torch.no_grad():
        model(images)
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()


for _ in range(10):
    step()
with profile(activities=[ProfilerActivity.CPU]) as profiler:
    for _ in range(3):
        step()
profiler.export_chrome_trace(sys.argv[1])
