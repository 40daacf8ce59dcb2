# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`ddp_train.py WHO STEPS` trains with DistributedDataParallel over gloo. Before each step one rank sleeps: rank WHO, or with `turns` each rank in its turn."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

SLEEP_S = 0.1

who, steps = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(steps):
    if rank == (step % world if who == "turns" else int(who)):
        time.sleep(SLEEP_S)
    loss = model(torch.randn(32, 64)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
total = torch.tensor([loss.item()])
dist.all_reduce(total)
os.write(1, f"loss of all ranks {total.item()}\n".encode())
dist.destroy_process_group()
# A thread of gloo may still hold the last tensor. It aborts a process whose interpreter ends first (pytorch/pytorch, pull 179291).
os._exit(0)
