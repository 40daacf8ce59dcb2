# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes XSpaces: `Space` from plain lists, `random_space` from a seed, with what XProf's rules look at."""

import random
import struct

from xspace_files import field, number


def fixed64(key, value):
    return number(key << 3 | 1) + struct.pack("<d", value)


class Ref(str):
    """A text that the file has among the names of stats."""


class PlaneBuilder:
    """A plane. Times are in picoseconds. Stats are dicts: ints are signed, `unsigned` makes others."""

    def __init__(self, name, identifier=0, own=None):
        self.name, self.id, self.own = name, identifier, own or {}
        self.names, self.keys, self.lines = {}, {}, []

    def key(self, name):
        return self.keys.setdefault(name, len(self.keys) + 1)

    def stat(self, name, value):
        parts = [field(1, self.key(name))]
        if isinstance(value, Ref):
            parts.append(field(7, self.key(str(value))))
        elif isinstance(value, str):
            parts.append(field(5, value))
        elif isinstance(value, float):
            parts.append(fixed64(2, value))
        elif isinstance(value, tuple):
            parts.append(field(3, value[0]))
        else:
            parts.append(field(4, value))
        return parts

    def line(self, identifier, name, events, timestamp_ns=0):
        """Adds a line of (name, begin, duration, stats), which are in the order of their begins."""
        made = []
        for event, begin, duration, stats in events:
            place = self.names.setdefault(event, len(self.names) + 1)
            made.append(field(4, [field(1, place), field(2, begin - timestamp_ns * 1000), field(3, duration),
                                  *(field(4, self.stat(key, value)) for key, value in stats.items())]))
        self.lines.append(field(3, [field(1, identifier), field(2, name), field(3, timestamp_ns), *made]))

    def bytes(self):
        own = [field(6, self.stat(key, value)) for key, value in self.own.items()]
        return field(1, [field(1, self.id), field(2, self.name), *self.lines,
                         *(field(4, [field(1, place), field(2, [field(1, place), field(2, name)])])
                           for name, place in self.names.items()),
                         *(field(5, [field(1, place), field(2, [field(1, place), field(2, name)])])
                           for name, place in self.keys.items()), *own])


def space(planes, hostname=None, warnings=(), errors=()):
    return b"".join([*(plane.bytes() for plane in planes), *(field(2, text) for text in errors),
                     *(field(3, text) for text in warnings), *([field(4, hostname)] if hostname else [])])


GPUS = ({"device_vendor": "Nvidia", "clock_rate": (1980000,), "core_count": (132,), "memory_bandwidth": (4800000000000,),
         "compute_cap_major": (9,), "compute_cap_minor": (0,)},
        {"device_vendor": "Nvidia", "clock_rate": 1410000, "core_count": 108, "memory_bandwidth": (1555000000000,),
         "compute_cap_major": 8, "compute_cap_minor": 0},
        {"device_vendor": "Nvidia", "clock_rate": 2520000, "core_count": 128, "compute_cap_major": 12, "compute_cap_minor": 0},
        {"device_vendor": "AMD", "clock_rate": 2100000, "core_count": 304, "memory_bandwidth": (5300000000000,),
         "compute_cap_major": 9, "compute_cap_minor": 4},
        {"device_vendor": "AMD", "gpu_device_name": "gfx90a", "clock_rate": 1700000, "core_count": 110},
        {"device_vendor": "Intel"}, {})
KERNELS = ("ampere_h16816gemm_64x64", "sm80_xmma_gemm_f16f16", "volta_h884gemm", "nvjet_hsh_128x128", "half_kernel", "fp16_add",
           "elementwise<float>", "ncclDevKernel_AllReduce_Sum", "NCCL_ring", "Cijk_Ailk_MI16x16x16x1_SN", "gemm_fusion_dot.kd",
           "MemcpyH2D", "MemcpyD2H", "MEMCPYHToD", "MemcpyDToH", "memcpyDtoD(x)", "Memset", "train_kernel", "xdl_x_xdl")
OPS = ("model/dense/MatMul:MatMul", "model/conv/Conv2D:Conv2D", "jit(f)/jvp(x)/dot_general:", "jit(f)/transpose(jvp(x))/add:",
       "gradient_tape/a/MatMul_1:MatMul", "BatchMatMulV2:", "x/conv_general_dilated:", "weird name:With Space", "plain", "")
HOST_NAMES = ("model/a/Add:AddV2", "Relu_1:Relu", "Iterator::Root::Map::TFRecord", "Iterator::Root::Prefetch::TFRecord",
              "Iterator::Root::Batch", "IteratorGetNext", "IteratorGetNextOp::DoCompute", "MEMCPYHToD", "memcpyHToH x",
              "InfeedEnqueueTuple:InfeedEnqueueTuple", "FunctionRun", "EagerLocalExecute: Mul", "EagerExecute", "work", "a/b",
              "train_helper", "testing", "test/with/slash", "$module.py:1 f", "jit(f)/add:", "MemoryAllocation", "x:y:z")
RARE_NAMES = ("ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion", "BatchingSessionRun", "ProcessBatch", "SessionRun",
              "RunGraph", "InstantiatedCapturedFunction::Run", "OrbaxServing::ProcessBatch", "TfrtModelRun", "ServingModelRun")
# The id of the line that XProf makes of steps, as a 32-bit number.
STEPS_LINE = 0xdeadbeef - (1 << 32)
DETAILS = ("regs:{r} static_shared:{s} dynamic_shared:{d} grid:{g},1,1 block:{b},2,1 occ_pct:{o}",
           "regs:{r}\nstatic_shared:{s}\ngrid:{g},2,3 block:{b},1,1 occ_pct:{o}.5", "grid:{g},1 block:x,1,1 odd regs:-1")


def tree(random_, begin, end, make, depth=0):
    """Yields nested events of a thread in the order of their begins. `make` gives a name and stats."""
    at = begin
    while end - at > 5000 and random_.random() < 0.9:
        start = random_.randrange(at, at + (end - at) // 4 + 1)
        duration = random_.choice((0, random_.randrange(1, end - start), random_.randrange(1, (end - start) // 2 + 2)))
        yield (*make(start, depth), start, duration)
        if duration > 10000 and depth < 4:
            yield from tree(random_, start + random_.randrange(0, 3), start + duration, make, depth + 1)
        at = start + duration + random_.randrange(1, 2000)


class Maker:
    def __init__(self, seed, with_copies):
        self.random = random.Random(seed)
        self.is_grouped = self.random.random() < 0.15  # the events have groups already
        self.names = [name for name in HOST_NAMES if with_copies or "memcpy" not in name.lower()]
        self.correlation = 0
        self.launched, self.given, self.stages = [], [], []

    def host_event(self, begin, depth):
        chance = self.random.random
        name, stats = self.random.choice(self.names), {}
        if depth == 0 and chance() < 0.4:
            name, stats = self.random.choice(("train", "step", "TraceContext")), {"_r": 1, "step_num": self.random.randrange(50)}
            if chance() < 0.2:
                stats["graph_type"] = self.random.choice(("train", Ref("eval")))
            if chance() < 0.1:
                stats["iter_num"] = self.random.randrange(9)
        elif chance() < 0.25:
            self.correlation += 1
            self.launched.append((self.correlation, begin))
            name, stats = "cudaLaunchKernel", {"correlation_id": self.correlation, "device_id": 0}
        elif chance() < 0.1:
            stats = {"_r": 2}
        if name == "EagerExecute" and chance() < 0.7:
            stats["is_func"] = self.random.randrange(2)
        if chance() < 0.1:
            stats.update({"_pt": 3, "_p": self.random.randrange(20)})
        if chance() < 0.1:
            stats.update({"_ct": 3, "_c": (self.random.randrange(20),)})
        if chance() < 0.03:
            stats["_a"] = 1
        if chance() < 0.08:
            name = f"stage {len(self.stages) % 5}"
            stats.update({"_ipl_stage_id": 1000 + len(self.stages) % 5, "_ipl_stage_name": name,
                          "_ipl_stage_cat": ("Read", "preprocessing", "ENQUEUE", "unknown", "other")[len(self.stages) % 5]})
            self.stages.append(name)
        if chance() < 0.05:
            stats["tf_op"] = self.random.choice(OPS)
        if chance() < 0.1:
            name = self.random.choice(RARE_NAMES)
            if name.startswith("ThreadpoolListener"):
                stats = {"_ct": 15, "_c": self.random.randrange(5)}
        if self.is_grouped and chance() < 0.7:
            stats["group_id"] = self.random.randrange(4)
            if chance() < 0.2:
                stats["step_name"] = f"step {stats['group_id']}"
        if chance() < 0.05:
            stats.update({"id": self.random.randrange(3), "iter_num": self.random.randrange(3)})
            name = self.random.choice(("ExecutorState::Process", "IteratorGetNextOp::DoCompute", name))
        return name, stats

    def host(self, own=None):
        plane = PlaneBuilder("/host:CPU", 9, own)
        for thread in range(self.random.randrange(1, 4)):
            base = self.random.randrange(0, 1000)
            events = [(name, begin, duration, stats) for name, stats, begin, duration in
                      tree(self.random, base * 1000 + 1, 400_000_000 + thread, self.host_event)]
            plane.line(thread + 1, f"thread {thread}", events, base)
        return plane

    def gpu(self, number_, own):
        plane = PlaneBuilder(f"/device:GPU:{number_}", number_ + 1, own)
        streams = {}
        for correlation, begin in self.launched:
            if self.random.random() < 0.3:
                continue
            stream = self.random.randrange(3)
            start = max(begin, streams.get(stream, [("", 0, 0, {})])[-1][1] + streams.get(stream, [("", 0, 0, {})])[-1][2])
            start += self.random.randrange(1, 500_000)
            stats = {"correlation_id": correlation if self.random.random() < 0.9 else (correlation,)}
            if self.random.random() < 0.8:
                stats["kernel_details"] = self.random.choice(DETAILS).format(
                    r=self.random.randrange(3), s=self.random.randrange(2), d=self.random.randrange(2), g=self.random.randrange(1, 3),
                    b=self.random.randrange(1, 3), o=self.random.randrange(100))
            if self.random.random() < 0.6:
                stats["tf_op"] = self.random.choice((str, Ref))(self.random.choice(OPS))
            if self.random.random() < 0.2:
                stats["shape"] = self.random.choice(("(half[3,4])", "float[2]"))
            if self.random.random() < 0.1:
                stats["equation"] = self.random.choice(("ab,bc->ac", "ab->ba", "a,b,c->d", "a,b"))
            if self.random.random() < 0.05:
                stats.update({"hlo_op": "fusion.1", "program_id": 7})
            if self.random.random() < 0.05:
                del stats["correlation_id"]
            if self.is_grouped and self.random.random() < 0.8:
                stats.update({"group_id": self.random.randrange(4), "is_eager": self.random.randrange(2)})
            streams.setdefault(stream, []).append((self.random.choice(KERNELS), start, self.random.randrange(1, 900_000), stats))
        for stream, events in streams.items():
            base = min(self.random.randrange(0, 1000), events[0][1] // 1000)
            plane.line(stream + 10, f"Stream #{stream + 10}(Compute)", events, base)
        if streams and self.random.random() < 0.2:
            steps = [(str(step), step * 100_000_000, 90_000_000, {"group_id": step}) for step in range(4)]
            plane.line(self.random.choice((STEPS_LINE, STEPS_LINE + 3)), "Steps", steps)
        return plane


def random_space(seed, gpus=None, hostname=None, with_copies=True):
    """Returns an XSpace. XProf gives copies on hosts no number: it tells those of two hosts apart, or it does not."""
    maker = Maker(seed, with_copies)
    pick = maker.random
    count = pick.choice((0, 1, 1, 2, 3)) if gpus is None else gpus
    own = {"matrix_unit_utilization_percent": 12.5} if pick.random() < 0.2 else {}
    if pick.random() < 0.2:
        own["process_id"] = 4711
    host = maker.host(own)
    kind = pick.choice(GPUS)
    planes = [maker.gpu(each, kind) for each in range(count)] + [host]
    if pick.random() < 0.1:
        planes.remove(host)
    return space(planes, hostname, warnings=["events were lost"] if pick.random() < 0.2 else (),
                 errors=["b failed", "a failed"] if pick.random() < 0.1 else ())
