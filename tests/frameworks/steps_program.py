# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""sys.argv[1] training steps, each with a range "forward N" of its own, counted from 1. More words: "loader" takes the batches from a
loader, "workers" gives it workers by spawn, "forked" by fork, which take 50 ms for each batch; "wrapped" has the optimizer called by
another. Prints the loss, which does not depend on who looks on."""

import sys
import time

import torch
from torch.profiler import record_function


class Slow(torch.utils.data.Dataset):
    def __init__(self, batches):
        self.batches = batches

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        time.sleep(0.05)
        return self.batches[index]


class Around(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
        super().__init__(inner.param_groups, {})

    def step(self):
        self.inner.step()


def main():
    torch.manual_seed(5)
    words = sys.argv[2:]
    model = torch.nn.Linear(64, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if "wrapped" in words:
        optimizer = Around(optimizer)
    steps = int(sys.argv[1])
    batches = torch.randn(steps, 16, 64)
    if "loader" in words:
        context = "spawn" if "workers" in words else "fork" if "forked" in words else None
        batches = torch.utils.data.DataLoader(Slow(batches) if "forked" in words else batches, batch_size=1,
                                              num_workers=2 if context else 0, multiprocessing_context=context)
    loss = torch.zeros(())
    for number, batch in enumerate(batches, 1):
        optimizer.zero_grad()
        with record_function(f"forward {number}"):
            loss = model(batch).pow(2).mean()
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.9f}")


if __name__ == "__main__":
    main()
