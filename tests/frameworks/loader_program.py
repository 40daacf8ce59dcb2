# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Reads 24 batches through a DataLoader of two workers started in the way named: loader_program.py fork|spawn|forkserver."""

import os
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        return torch.full((64, 64), float(index)), os.getpid()


if __name__ == "__main__":
    torch.manual_seed(0)
    total, pids = 0.0, set()
    loader = DataLoader(Numbers(), batch_size=4, num_workers=2, multiprocessing_context=sys.argv[1])
    for batch, seen in loader:
        total += float(batch.sum())
        pids |= set(seen.tolist())
    print(f"{total:.1f}")
    print(" ".join(str(pid) for pid in sorted(pids)), file=sys.stderr)
