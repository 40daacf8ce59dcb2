# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs that train in a loop, simulated: a host thread, a loader, streams, copies, collectives, waits. A program can be run again with
one thing changed, so the true gain of the change is known. A run is written as torch.profiler would write it.

Nothing here is a measurement: the simulation proves what is said of a trace, and no figure of it is one of a GPU."""

import copy
import dataclasses
import json
import random

MS, US = 1_000_000, 1_000
MAIN, COMMUNICATION, COPIES = 7, 20, 21  # streams
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
LATENCY = 4 * US  # from the begin of a launch to the begin of its kernel on an idle GPU
LAUNCH = 5 * US
SYNC = 3 * US

# Changes, with the findings that advise them.
CHANGES = {
    "host": {"LA-001"},
    "input": {"IN-001", "IN-002", "IN-004", "IN-006"},
    "collectives": {"CO-001"},
    "blocking copies": {"CP-001", "CP-002"},
    "copies": {"CP-003"},
    "waits": {"SY-001"},
}


@dataclasses.dataclass
class Op:
    """One thing that the host does in a step."""

    kind: str  # host, input, kernel, collective, copy, wait
    ns: int = 0  # of the host for host and input, else of the GPU
    stream: int = MAIN
    behind: tuple = ()  # streams whose work so far it waits for on the GPU
    blocks: bool = False  # a copy of pageable memory
    to_host: bool = False
    name: str = ""


@dataclasses.dataclass
class Program:
    name: str
    step: list
    count: int = 8
    jitter: float = 0.02
    seed: int = 1


class Run:
    """A run of a program. `without`: a change of CHANGES, or None."""

    def __init__(self, program, without=None):
        self.events, self.correlation, self.now, self.ready, self.without = [], 0, 10 * MS, {}, without
        self.ends = []  # by step: when the host and the GPU are done with it
        rng = random.Random(program.seed)
        for number in range(program.count):
            begin = self.now
            for op in program.step:
                scale = 1 + program.jitter * (2 * rng.random() - 1)
                self.do(op, int(op.ns * scale))
            self.row("user_annotation", f"ProfilerStep#{number + 1}", begin, self.now - begin)
            self.ends.append(max([self.now, *self.ready.values()]))

    def step_ns(self):
        """The period: what each step adds to the run, behind the first two."""
        return (self.ends[-1] - self.ends[1]) / (len(self.ends) - 2)

    def row(self, category, name, begin, ns, pid=100, tid=100, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin / 1000, "dur": ns / 1000, "args": args})

    def call(self, name, begin, ns, correlation=0):
        self.row("cuda_runtime", name, begin, ns, cbid=211, correlation=correlation)

    def device(self, op, ns, category, name, launch, **args):
        begin = max([launch + LATENCY, self.ready.get(op.stream, 0), *(self.ready.get(stream, 0) for stream in op.behind)])
        self.ready[op.stream] = begin + ns
        if ns > 0:
            self.row(category, name, begin, ns, pid=0, tid=op.stream, device=0, context=1, stream=op.stream, correlation=self.correlation, **args)
        return begin + ns

    def do(self, op, ns):
        without = self.without
        if op.kind == "host":
            ns = 0 if without == "host" else ns
            if ns:
                self.row("cpu_op", op.name or "aten::add", self.now, ns)
            self.now += ns
        elif op.kind == "input":
            ns = 0 if without == "input" else ns
            if ns:
                self.row("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", self.now, ns)
            self.now += ns
        elif op.kind == "wait":
            if without == "waits":
                return
            end = max(self.now, self.ready.get(op.stream, 0)) + SYNC
            self.call("cudaStreamSynchronize", self.now, end - self.now)
            self.now = end
        elif op.kind == "copy":
            self.copy(op, ns)
        else:
            self.correlation += 1
            is_collective = op.kind == "collective"
            ns = 0 if without == "collectives" and is_collective else ns
            self.device(op, ns, "kernel", ALL_REDUCE if is_collective else GEMM, self.now, grid=[264, 1, 1], block=[128, 1, 1],
                        **{"registers per thread": 64, "shared memory": 0})
            cost = 0 if without == "host" else LAUNCH
            if cost:
                self.call("cudaLaunchKernel", self.now, cost, self.correlation)
            self.now += cost

    def copy(self, op, ns):
        self.correlation += 1
        is_free = self.without == "copies" or (self.without == "blocking copies" and op.blocks)
        name = "Memcpy DtoH (Device -> {})" if op.to_host else "Memcpy HtoD ({} -> Device)"
        ns = 0 if is_free else ns
        end = self.device(op, ns, "gpu_memcpy", name.format("Pageable" if op.blocks else "Pinned"), self.now, bytes=max(ns // 40, 1))
        cost = 0 if is_free or self.without == "host" else LAUNCH
        # A small result that is read back waits for the queue, not for the copy.
        is_wait = op.to_host and self.without == "waits"
        if op.blocks and not is_free and not is_wait:
            cost = end - self.now
        if cost:
            self.call("cudaMemcpyAsync", self.now, cost, self.correlation)
        self.now += cost

    def write(self, path):
        properties = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85899345920, "computeMajor": 9, "computeMinor": 0, "numSms": 132}]
        path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": properties, "traceEvents": self.events}))


def random_program(seed):
    """A program of a random kind and size."""
    rng = random.Random(seed)
    layers = rng.randint(4, 16)
    kernel = rng.choice([8, 30, 100, 300]) * US
    host = rng.choice([2, 10, 40, 150]) * US
    step = []
    if rng.random() < 0.4:
        step.append(Op("input", rng.choice([0.2, 2, 8]) * MS))
    if rng.random() < 0.5:
        step.append(Op("copy", int(rng.choice([0.1, 1, 4]) * MS), blocks=rng.random() < 0.5))
    has_collectives = rng.random() < 0.4
    waits = rng.random() < 0.3
    for layer in range(layers):
        for _ in range(rng.randint(1, 4)):
            step.append(Op("host", int(host * rng.uniform(0.5, 1.5))))
            step.append(Op("kernel", int(kernel * rng.uniform(0.5, 1.5))))
        if has_collectives and layer % 4 == 3:
            step.append(Op("collective", int(rng.choice([0.2, 1, 3]) * MS), stream=COMMUNICATION, behind=(MAIN,)))
            if rng.random() < 0.5:
                step.append(Op("kernel", kernel, behind=(COMMUNICATION,)))
        if waits and rng.random() < 0.3:
            step.append(Op("wait"))
    if has_collectives:
        step.append(Op("kernel", kernel, behind=(COMMUNICATION,)))
    if rng.random() < 0.3:
        step.append(Op("copy", 5 * US, blocks=True, to_host=True))
    step = [dataclasses.replace(op, ns=int(op.ns)) for op in step]
    return Program(f"random-{seed}", step, seed=seed)


def named_programs():
    """A program for each thing that can bound a step."""
    layers = [op for _ in range(20) for op in (Op("host", 10 * US), Op("kernel", 200 * US))]
    late = [op for _ in range(40) for op in (Op("host", 150 * US), Op("kernel", 20 * US))]
    return [
        Program("computes", copy.deepcopy(layers)),
        Program("host-is-late", late),
        Program("waits-for-input", [Op("input", 20 * MS), *copy.deepcopy(layers), Op("wait")]),
        Program("collectives-in-the-open", [*copy.deepcopy(layers), Op("collective", 3 * MS, stream=COMMUNICATION, behind=(MAIN,)),
                                            Op("kernel", 100 * US, behind=(COMMUNICATION,))]),
        Program("collectives-hidden", [Op("collective", 2 * MS, stream=COMMUNICATION, behind=(MAIN,)), *copy.deepcopy(layers),
                                       Op("kernel", 100 * US, behind=(COMMUNICATION,))]),
        Program("copies-that-block", [Op("copy", 3 * MS, blocks=True), *copy.deepcopy(layers), Op("wait")]),
        Program("copies-beside", [Op("copy", 3 * MS, stream=COPIES), *copy.deepcopy(layers)]),
        Program("waits-in-every-layer", [op for _ in range(20) for op in (Op("host", 100 * US), Op("kernel", 100 * US), Op("wait"))]),
    ]
