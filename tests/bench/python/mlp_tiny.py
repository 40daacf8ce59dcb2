#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Trains a tiny MLP on random data: operations of about a microsecond each, and nothing else.

The worst case for whoever observes operations: real layers are larger. One thread, no loader.
"""

import torch
from section import Section, arguments, prepare, print_result
from torch import nn

WIDTH = 16
LAYERS = 6
BATCH = 8


def train(model, optimizer, inputs, targets, steps):
    loss = None
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
    return loss


def main():
    options = arguments(__doc__.splitlines()[0], steps=3000, warmup=300).parse_args()
    prepare(options)
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(WIDTH, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    inputs, targets = torch.randn(BATCH, WIDTH), torch.randn(BATCH, 1)
    train(model, optimizer, inputs, targets, options.warmup)
    with Section(options):
        loss = train(model, optimizer, inputs, targets, options.steps)
    print_result(loss.item())


if __name__ == "__main__":
    main()
