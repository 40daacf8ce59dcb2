# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Trains for two epochs with a DataLoader of known cost: input_program.py STAGE WORKERS [fork|spawn]. STAGE is sample, generator or
collate: which part of a batch takes 60 ms. Sleeps stand for storage, so that a busy machine changes little. Prints the steps, and on
stderr the part of the steady steps that waited for a batch."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

BATCHES, SIZE, SLOW_S = 16, 4, 0.06


class Samples(Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return BATCHES * SIZE

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((8,), float(index))


class Generated(IterableDataset):
    def __iter__(self):
        return self.generate()

    def generate(self):
        info = torch.utils.data.get_worker_info()
        for index in range(info.id, BATCHES, info.num_workers):
            for _ in range(SIZE):
                time.sleep(SLOW_S / SIZE)
                yield torch.full((8,), float(index))


class Join:
    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, samples):
        time.sleep(self.seconds)
        return torch.stack(samples)


if __name__ == "__main__":
    stage, workers = sys.argv[1], int(sys.argv[2])
    dataset = Generated() if stage == "generator" else Samples(SLOW_S / SIZE if stage == "sample" else 0)
    options = {"multiprocessing_context": sys.argv[3]} if workers else {}
    loader = DataLoader(dataset, batch_size=SIZE, num_workers=workers, collate_fn=Join(SLOW_S if stage == "collate" else 0), **options)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    steps = waits = whole = 0
    for _ in range(2):
        source, asked = iter(loader), []
        for _ in range(BATCHES):
            begin = time.monotonic()
            batch = next(source)
            asked.append((begin, time.monotonic()))
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
            time.sleep(0.01)
            steps += 1
        assert next(source, None) is None
        waits += sum(got - begin for begin, got in asked[1:-1])
        whole += asked[-1][0] - asked[1][0]
    print(steps)
    print(f"{waits / whole:.4f}", file=sys.stderr)
