# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A training on the CPU, as standard input says: "run N" steps, or "slow FACTOR", a step that takes so many times the longest so far.
After each command it prints the number of the last step. argv[1]: "optimizer", or "range" for ranges of record_function."""

import contextlib
import sys
import time

import torch

KIND = sys.argv[1]
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
longest, number = 0.0, 0


def step(least):
    global longest, number
    number += 1
    begin = time.perf_counter()
    with torch.profiler.record_function(f"step {number}") if KIND == "range" else contextlib.nullcontext():
        optimizer.zero_grad()
        model(torch.ones(4, 8)).sum().backward()
        while time.perf_counter() - begin < least:
            time.sleep(0.001)
        optimizer.step()
    if number > 3:  # the first ones load what they need
        longest = max(longest, time.perf_counter() - begin)


for line in sys.stdin:
    command, value = line.split()
    if command == "run":
        for _ in range(int(value)):
            step(0.005)
    else:
        step(longest * int(value))
    print(number, flush=True)
