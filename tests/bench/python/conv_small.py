#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional network on random images: a few microseconds an operation.

Between mlp_tiny.py and a real training, which has larger layers. One thread, no loader.
"""

import torch
from section import Section, arguments, prepare, print_result
from torch import nn

BATCH = 4
SIDE = 16


def train(model, optimizer, images, labels, steps):
    loss = None
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    return loss


def main():
    options = arguments(__doc__.splitlines()[0], steps=1500, warmup=100).parse_args()
    prepare(options)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * (SIDE // 2) ** 2, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    images, labels = torch.randn(BATCH, 3, SIDE, SIDE), torch.randint(0, 10, (BATCH,))
    train(model, optimizer, images, labels, options.warmup)
    with Section(options):
        loss = train(model, optimizer, images, labels, options.steps)
    print_result(loss.item())


if __name__ == "__main__":
    main()
