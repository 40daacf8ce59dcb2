# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes recordings of jobs of many ranks, a file of torch.profiler each, and knows what each rank cost the job.

Each step loads, computes forward and backward, reduces gradients with all ranks, and optimizes. The times are drawn, and the
truth is computed from them here: a chain of steps, in which the all-reduce begins when the last rank has come to it."""

import dataclasses
import gzip
import json
import random
import statistics

PHASES = ["input", "forward", "backward", "optimizer"]


@dataclasses.dataclass
class Slow:
    """A rank that takes longer in a phase, from the first step to the last one."""
    rank: int
    phase: str
    extra_ms: float
    first: int = 0
    last: int = 10 ** 6


@dataclasses.dataclass
class Job:
    ranks: int = 8
    hosts: int = 2
    steps: int = 24
    slow: tuple = ()
    seed: int = 1
    on_device: bool = True
    # Kernels whose names tell their phase, as there are no operations that do.
    named_kernels: bool = False
    # The slow rank launches more kernels, and none of them is longer.
    more_kernels: bool = False
    noise: float = 0.01
    clock_ms: float = 3.0
    times_ms: tuple = (4.0, 10.0, 20.0, 3.0)
    reduce_ms: float = 5.0
    in_turns_ms: float = 0.0  # one rank after the other takes so much longer in backward

    def draw(self):
        """Times of all ranks, [step][rank][phase] in microseconds, and those of the transfers."""
        dice = random.Random(self.seed)
        self.work, self.transfers = [], []
        for step in range(self.steps):
            row = []
            for rank in range(self.ranks):
                times = [1000 * each * (1 + dice.uniform(-self.noise, self.noise)) for each in self.times_ms]
                for slow in self.slow:
                    if slow.rank == rank and slow.first <= step <= slow.last:
                        times[PHASES.index(slow.phase)] += 1000 * slow.extra_ms
                if self.in_turns_ms and step * 5 % self.ranks == rank:
                    times[2] += 1000 * self.in_turns_ms
                row.append([round(each) for each in times])
            self.work.append(row)
            self.transfers.append(round(1000 * self.reduce_ms * (1 + dice.uniform(-self.noise, self.noise))))
        self.offsets = [round(dice.uniform(-1000, 1000) * self.clock_ms) for _ in range(self.hosts)]

    def play(self, work=None, transfer=None):
        """The length of the job in microseconds. `work`: other times; `transfer`: of each all-reduce."""
        work = work or self.work
        free = [0.0] * self.ranks
        for step, row in enumerate(work):
            begin = max(free[rank] + sum(row[rank][:3]) for rank in range(self.ranks))
            took = self.transfers[step] if transfer is None else transfer
            free = [begin + took + row[rank][3] for rank in range(self.ranks)]
        return max(free)

    def truth(self):
        """T, T_ideal and S; by rank what the job would take less if it took the mean times."""
        means = [statistics.mean(row[rank][phase] for row in self.work for rank in range(self.ranks)) for phase in range(4)]
        ideal = [[means] * self.ranks] * self.steps
        transfer = statistics.median(self.transfers)
        total, best = self.play(), self.play(ideal, transfer)
        def without(ranks):
            return self.play([[means if rank in ranks else times for rank, times in enumerate(row)] for row in self.work])
        saved = {rank: (total - without([rank])) * 1000 for rank in {slow.rank for slow in self.slow}}
        return {"total_ns": total * 1000, "ideal_ns": best * 1000, "slowdown": total / best, "saved_ns": saved,
                "all_saved_ns": (total - without({slow.rank for slow in self.slow})) * 1000}

    def host_of(self, rank):
        return rank * self.hosts // self.ranks

    def write(self, folder):
        self.draw()
        folder.mkdir(parents=True, exist_ok=True)
        lines = [RankLines(self, rank) for rank in range(self.ranks)]
        free = [100.0] * self.ranks
        for step in range(self.steps):
            arrivals = [free[rank] + sum(self.work[step][rank][:3]) for rank in range(self.ranks)]
            done = max(arrivals) + self.transfers[step]
            for rank in range(self.ranks):
                lines[rank].add_step(step, free[rank], arrivals[rank], done)
                free[rank] = done + self.work[step][rank][3]
        for each in lines:
            each.write(folder)
        return folder


class RankLines:
    """The events of one rank."""

    MAIN, AUTOGRAD, GROUP = 1, 2, 3  # threads
    COMPUTE, REDUCE = 7, 20  # streams

    def __init__(self, job, rank):
        self.job, self.rank = job, rank
        self.offset = job.offsets[job.host_of(rank)]
        self.events = []
        self.calls = 0

    def add(self, category, name, start, took, thread, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if category == "kernel" else 1000 + self.rank,
                            "tid": thread, "ts": round(start + self.offset, 3), "dur": round(took, 3), "args": args})

    def add_step(self, step, start, arrival, done):
        times = self.job.work[step][self.rank]
        end = done + times[3]
        self.add("user_annotation", f"ProfilerStep#{step}", start, end - start, self.MAIN)
        self.add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start, times[0] - (50 if self.job.on_device else 0), self.MAIN)
        if self.job.on_device:
            self.add_device_work(start, times, arrival, done)
        else:
            self.add_host_work(start, times, arrival, done)

    def launch(self, at, name, start, took, stream):
        self.calls += 1
        self.add("cuda_runtime", "cudaLaunchKernel", at, 2, self.MAIN, correlation=self.calls)
        self.add("kernel", name, start, took, stream, device=0, stream=stream, correlation=self.calls)

    def add_device_work(self, start, times, arrival, done):
        """The host launches everything in the last 50 us before the first kernel."""
        named = self.job.named_kernels
        at = start + times[0] - 48
        forward = start + times[0]
        if not named:
            self.add("cpu_op", "aten::mm", at - 1, 5, self.MAIN)
        self.launch(at, "fwd_gemm" if named else "gemm_a", forward, times[1], self.COMPUTE)
        parts = 1
        usual = 1000 * self.job.times_ms[2]
        if self.job.more_kernels and times[2] > 1.2 * usual:
            parts = 2
        if not named:
            self.add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 5, 10, self.MAIN)
        first = min(times[2], usual) if parts == 2 else times[2]
        self.launch(at + 6, "bwd_gemm" if named else "gemm_b", forward + times[1], first, self.COMPUTE)
        if parts == 2:
            self.launch(at + 10, "bwd_gemm_long" if named else "gemm_c", forward + times[1] + first, times[2] - first, self.COMPUTE)
        self.launch(at + 18, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", arrival, done - arrival, self.REDUCE)
        if not named:
            self.add("user_annotation", "Optimizer.step#AdamW.step", at + 25, 12, self.MAIN)
            self.add("cpu_op", "aten::_foreach_add_", at + 26, 8, self.MAIN)
        self.launch(at + 28, "multi_tensor_adamw" if named else "update", done, times[3], self.COMPUTE)

    def add_host_work(self, start, times, arrival, done):
        forward = start + times[0]
        backward = forward + times[1]
        self.add("cpu_op", "aten::linear", forward, times[1], self.MAIN)
        self.add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", backward, times[2], self.AUTOGRAD)
        self.add("cpu_op", "MmBackward0", backward, times[2] - 1, self.AUTOGRAD)
        self.add("cpu_op", "c10d::allreduce_", arrival, 1, self.AUTOGRAD)
        self.add("user_annotation", "gloo:all_reduce", arrival + 1, done - arrival - 1, self.GROUP)
        self.add("user_annotation", "Optimizer.step#SGD.step", done, times[3], self.MAIN)
        self.add("cpu_op", "aten::_foreach_add_", done, times[3], self.MAIN)

    def write(self, folder):
        backend = "nccl" if self.job.on_device else "gloo"
        trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}] if self.job.on_device else [],
                 "distributedInfo": {"backend": backend, "rank": self.rank, "world_size": self.job.ranks},
                 "host_name": f"node{self.job.host_of(self.rank)}", "baseTimeNanoseconds": 1764300000000000000,
                 "traceEvents": [{"ph": "M", "name": "process_name", "pid": 1000 + self.rank, "tid": 0, "args": {"name": "python"}}, *self.events]}
        with gzip.open(folder / f"rank{self.rank}.json.gz", "wt") as file:
            json.dump(trace, file)
