# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Training loops of other shapes. sys.argv[1] names the loop, each of 24 steps: "coroutine" trains in a coroutine, while another one has
ranges of its own; "networks" trains two networks of different kinds in turn; "twins" two of one kind; "compiled" a model that torch.compile
made. Each layer sleeps SLEEP seconds forward and as long backward. Prints the last loss."""

import asyncio
import sys
import time

import torch
from torch import nn
from torch.profiler import record_function

SLEEP = 0.004
STEPS = 24


class Sleeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        time.sleep(SLEEP)
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(SLEEP)
        return gradient


class Layer(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.linear = nn.Linear(8, out)

    def forward(self, x):
        return Sleeps.apply(self.linear(x))


def update(model, optimizer, loss_of):
    optimizer.zero_grad()
    loss = loss_of(model(torch.ones(4, 8)))
    loss.backward()
    optimizer.step()
    return loss


def square(x):
    return x.pow(2).mean()


async def ticker():
    while True:
        with record_function("tick"):
            await asyncio.sleep(SLEEP * 1.5)


async def coroutine():
    model = Layer(1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    other = asyncio.create_task(ticker())
    loss = None
    for _ in range(STEPS):
        with record_function("whole step"):
            await asyncio.sleep(SLEEP)
            output = model(torch.ones(4, 8))
            await asyncio.sleep(SLEEP)
            loss = square(output)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    other.cancel()
    return loss


def in_turn(loss_of_second):
    models = [Layer(4), Layer(4)]
    optimizers = [torch.optim.SGD(model.parameters(), 0.01) for model in models]
    loss = None
    for _ in range(STEPS):
        time.sleep(SLEEP * 5)  # the environment that both learn from
        update(models[0], optimizers[0], square)
        loss = update(models[1], optimizers[1], loss_of_second)
    return loss


def compiled():
    model = torch.compile(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)), backend="aot_eager")
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loss = None
    for _ in range(STEPS):
        loss = update(model, optimizer, square)
        sum(i * i for i in range(100_000))  # Python between the operations
    return loss


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    loops = {"coroutine": lambda: asyncio.run(coroutine()), "compiled": compiled, "twins": lambda: in_turn(square),
             "networks": lambda: in_turn(lambda x: -torch.log_softmax(x, 1)[:, 0].mean())}
    print(f"{loops[sys.argv[1]]().item():.9f}")


if __name__ == "__main__":
    main()
