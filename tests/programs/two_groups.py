# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`two_groups.py FOLDER WHO STEPS`: four ranks of gloo reduce in pairs of neighbours, then in pairs of every second rank.

Rank WHO sleeps before each step. Each rank writes its trace of torch.profiler to FOLDER. `-`: it does not use it."""

import contextlib
import sys
import time

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile, record_function

SLEEP_S = 0.1
TENSOR_ELEMENTS, DATA_ELEMENTS = 1000, 250_000

folder, who, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
# All ranks make all groups, in one order.
pairs = [dist.new_group(ranks, group_desc="tp") for ranks in ([0, 1], [2, 3])]
strides = [dist.new_group(ranks, group_desc="dp") for ranks in ([0, 2], [1, 3])]
neighbours, others = pairs[rank // 2], strides[rank % 2]
activations, gradients = torch.ones(TENSOR_ELEMENTS), torch.ones(DATA_ELEMENTS)
dist.all_reduce(activations, group=neighbours)
dist.all_reduce(gradients, group=others)
profiling = contextlib.nullcontext() if folder == "-" else profile(activities=[ProfilerActivity.CPU], record_shapes=True)
with profiling as profiler:
    dist.barrier()  # profilers begin at different moments
    for step in range(steps):
        with record_function(f"ProfilerStep#{step}"):
            if rank == who:
                time.sleep(SLEEP_S)
            dist.all_reduce(activations, group=neighbours)
            dist.all_reduce(gradients, group=others)
    dist.barrier()
if profiler is not None:
    profiler.export_chrome_trace(f"{folder}/rank{rank}.json")
dist.destroy_process_group()
