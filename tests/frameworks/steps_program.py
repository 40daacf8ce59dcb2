# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""sys.argv[1] training steps, each with a range "forward N" of its own, counted from 1; with a second argument over a loader. Prints the
loss, which does not depend on who looks on."""

import sys

import torch
from torch.profiler import record_function

torch.manual_seed(5)
model = torch.nn.Linear(64, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
steps = int(sys.argv[1])
data = torch.randn(steps, 16, 64)
batches = torch.utils.data.DataLoader(data, batch_size=1) if len(sys.argv) > 2 else data
loss = torch.zeros(())
for number, batch in enumerate(batches, 1):
    optimizer.zero_grad()
    with record_function(f"forward {number}"):
        loss = model(batch).pow(2).mean()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.9f}")
