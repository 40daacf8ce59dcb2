# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`modules_program.py STEPS` trains a model of nested modules."""

import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first, self.second = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(64), Block(64))
        self.head = nn.Linear(64, 8)

    def forward(self, x):
        return self.head(self.blocks(x))


torch.manual_seed(0)
torch.set_num_threads(1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(int(sys.argv[1])):
    loss = net(torch.ones(16, 64)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("loss", loss.item().hex())
