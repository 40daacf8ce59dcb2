# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A small model whose operations have inputs of many kinds. It waits for a line on stdin, trains, and prints its losses bit for bit.
`shapes_program.py FILE` trains under torch.profiler, which writes the inputs to FILE; `shapes_program.py` trains alone."""

import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

torch.manual_seed(1)
torch.set_num_threads(1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 12)
        self.image = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 7 * 7, 12))
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)
        self.out = nn.Linear(24, 5)

    def forward(self, images, words):
        words = self.words(words)
        words, _ = self.attention(words, words, words)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            both = torch.cat([self.image(images), words.mean(1)], dim=1)
            return self.out(both).float()


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, foreach=True)
images, words, labels = torch.randn(6, 3, 16, 16), torch.randint(0, 50, (6, 7)), torch.tensor([0, 1, 2, 3, 4, 0])


def train():
    for step in range(3):
        optimizer.zero_grad()
        with torch.autograd.profiler.record_function("forward"):
            loss = nn.functional.cross_entropy(model(images[: 6 - step], words[: 6 - step]), labels[: 6 - step])
        loss.backward()
        optimizer.step()
        images[0, images[0] > 2] = 0.5
        print(float(loss.detach()).hex(), flush=True)


train()  # lazy initialisation is behind us
print("ready", flush=True)
sys.stdin.readline()
if len(sys.argv) == 1:
    train()
else:
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        train()
    profiler.export_chrome_trace(sys.argv[1])
print("done", flush=True)
sys.stdin.readline()
