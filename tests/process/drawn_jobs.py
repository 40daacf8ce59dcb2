# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Jobs of ranks as files of torch.profiler, one a rank, whose truth is known because it was drawn.

Each step of a rank: it loads, computes forward and backward, meets the others in an all-reduce, and steps its optimizer. The all-reduce of
a rank lasts from its arrival to the common end. Each host has a clock of its own.
"""

import gzip
import json
import random

PHASES = ("input", "forward", "backward", "optimizer")
KERNELS = {"forward": "fwd_gemm_bf16", "backward": "bwd_gemm_bf16", "optimizer": "multi_tensor_adamw"}


class Job:
    """`more(rank, step)` gives what a rank does beyond the others, in milliseconds by phase."""

    def __init__(self, ranks=8, ranks_per_host=4, steps=12, seed=1, input=4.0, forward=10.0, backward=20.0, transfer=5.0, optimizer=3.0,
                 noise=0.02, clock_ms=3.0, more=lambda rank, step: {}, marks=True):
        self.ranks, self.steps, self.per_host, self.transfer, self.marks = ranks, steps, ranks_per_host, transfer, marks
        drawn = random.Random(seed)
        hosts = (ranks + ranks_per_host - 1) // ranks_per_host
        self.clock_ms = [0.0] + [drawn.uniform(-clock_ms, clock_ms) for _ in range(hosts - 1)]
        usual = {"input": input, "forward": forward, "backward": backward, "optimizer": optimizer}
        # By rank and step: when it began, what each phase took, and when it came to the all-reduce.
        self.began, self.took, self.arrived, self.ended = [], [], [], []
        at = [1.0] * ranks
        for step in range(steps):
            took = []
            for rank in range(ranks):
                extra = more(rank, step)
                took.append({phase: usual[phase] * (1 + (drawn.uniform(-noise, noise) if phase != "input" else 0)) + extra.get(phase, 0)
                             for phase in PHASES})
            arrived = [at[r] + took[r]["input"] + took[r]["forward"] + took[r]["backward"] for r in range(ranks)]
            end = max(arrived) + transfer
            self.began.append(list(at))
            self.took.append(took)
            self.arrived.append(arrived)
            self.ended.append(end)
            at = [end + took[r]["optimizer"] for r in range(ranks)]
        self.end = max(at)

    def host(self, rank):
        return rank // self.per_host

    def mean(self, rank, phase, steps=None):
        chosen = range(self.steps) if steps is None else steps
        return sum(self.took[step][rank][phase] for step in chosen) / len(chosen)

    def waited(self, rank, step):
        return max(self.arrived[step]) - self.arrived[step][rank]

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for rank in range(self.ranks):
            with gzip.open(folder / f"rank{rank}.json.gz", "wt", compresslevel=1) as file:
                json.dump(self.file_of(rank), file)
        return folder

    def file_of(self, rank):
        pid, shift = 1000 + rank, self.clock_ms[self.host(rank)] + 10.0
        events = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": "python"}}]

        def add(category, name, start, length, where, **args):
            events.append({"ph": "X", "cat": category, "name": name, "pid": where[0], "tid": where[1],
                           "ts": round((start + shift) * 1000, 3), "dur": round(length * 1000, 3), "args": args})

        correlation = 0
        for step in range(self.steps):
            took, began = self.took[step][rank], self.began[step][rank]
            following = self.began[step + 1][rank] if step + 1 < self.steps else self.ended[step] + took["optimizer"]
            if self.marks:
                add("user_annotation", f"ProfilerStep#{step}", began, following - began, (pid, 1))
            add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", began, took["input"] - 0.04, (pid, 1))
            at = began + took["input"]
            work = [("forward", at, took["forward"]), ("backward", at + took["forward"], took["backward"]), ("reduce", None, None),
                    ("optimizer", self.ended[step], took["optimizer"])]
            for place, (phase, start, length) in enumerate(work):
                correlation += 1
                add("cuda_runtime", "cudaLaunchKernel", at - 0.03 + place * 0.006, 0.005, (pid, 1), correlation=correlation)
                if phase == "reduce":
                    arrived = self.arrived[step][rank]
                    add("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", arrived, self.ended[step] - arrived, (0, 20), device=0, stream=20,
                        correlation=correlation, **{"Collective name": "allreduce", "In msg nelems": 25_000_000, "dtype": "BFloat16",
                                                    "Group size": self.ranks, "Process Group Name": "0",
                                                    "Process Group Description": "default_pg", "Seq": step + 1})
                else:
                    add("kernel", KERNELS[phase], start, length, (0, 7), device=0, stream=7, correlation=correlation)
        return {"schemaVersion": 1,
                "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85899345920, "computeMajor": 9,
                                      "computeMinor": 0, "numSms": 132}],
                "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": self.ranks},
                "hostname": f"host{self.host(rank):02}", "baseTimeNanoseconds": 1764300000000000000, "traceEvents": events}
