# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Traces of torch.profiler of jobs that never ran: kernels of many ranks in several groups, whose times the test chose.

A collective begins on each rank when the rank comes to it, and ends on all of them at one moment. So the test knows
arrivals, transfers and clocks exactly. Times are nanoseconds."""

import gzip
import json

TYPES = {"BFloat16": 2, "Float": 4}
KERNELS = {"allreduce": "AllReduce_Sum_bf16_RING_LL", "_allgather_base": "AllGather_RING_LL",
           "_reduce_scatter_base": "ReduceScatter_Sum_bf16_RING_LL", "all_to_allv": "SendRecv", "send": "SendRecv",
           "recv": "SendRecv", "broadcast": "Broadcast_RING_LL"}


class Job:
    def __init__(self, ranks, ranks_of_host=8, clocks=None, names_ranks=True):
        """`clocks`: what each host's clock is ahead, by host."""
        self.ranks, self.ranks_of_host, self.names_ranks = ranks, ranks_of_host, names_ranks
        self.clocks = clocks or {}
        self.now = [1_000_000] * ranks
        self.events = [[] for _ in range(ranks)]
        self.numbers = {}
        self.calls = 0

    def host(self, rank):
        return rank // self.ranks_of_host

    def _kernel(self, rank, name, start, end, stream, args):
        ahead = self.clocks.get(self.host(rank), 0)
        self.calls += 1
        self.events[rank].append({
            "ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": (start + ahead) / 1000,
            "dur": (end - start) / 1000,
            "args": {"device": 0, "context": 1, "stream": stream, "correlation": self.calls, **args}})

    def compute(self, rank, ns):
        self._kernel(rank, "gemm_bf16", self.now[rank], self.now[rank] + ns, 7, {})
        self.now[rank] += ns

    def _args(self, group, ranks, op, in_elements, out_elements, number, more):
        args = {"Collective name": op, "In msg nelems": in_elements, "Out msg nelems": out_elements,
                "Group size": len(ranks), "dtype": "BFloat16", "Process Group Name": group[0],
                "Process Group Description": group[1], **more}
        if self.names_ranks:
            shown = ranks if len(ranks) <= 30 else [*ranks[:30], "..."]
            args["Process Group Ranks"] = "[" + ", ".join(map(str, shown)) + "]"
        if number is not None:
            args["Seq"] = number
        return args

    def meet(self, group, ranks, op, elements, transfer, out=None, numbered=True, hide=0):
        """All ranks come to a collective. `out`: what each receives. `hide`: each computes so long meanwhile."""
        number = self.numbers[group[0], op == "send"] = self.numbers.get((group[0], op == "send"), 0) + 1
        end = max(self.now[rank] for rank in ranks) + transfer
        for i, rank in enumerate(ranks):
            received = elements if out is None else out[i]
            args = self._args(group, ranks, op, elements, received, number if numbered else None, {})
            self._kernel(rank, f"ncclDevKernel_{KERNELS[op]}", self.now[rank], end, 20 + int(group[0]) % 50, args)
            if hide:
                self._kernel(rank, "gemm_bf16", end - hide, end, 7, {})
            self.now[rank] = end
        return end

    def send(self, group, ranks, source, target, elements, transfer):
        end = max(self.now[source], self.now[target]) + transfer
        for rank, op in ((source, "send"), (target, "recv")):
            more = {"Src Rank": source, "Dst Rank": target}
            args = self._args(group, ranks, op, elements, elements, None, more)
            self._kernel(rank, "ncclDevKernel_SendRecv", self.now[rank], end, 60, args)
            self.now[rank] = end

    def _host_event(self, rank):
        ahead = self.clocks.get(self.host(rank), 0)
        return {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1000 + rank, "tid": 1, "ts": (900_000 + ahead) / 1000,
                "dur": 10, "args": {"External id": 1}}

    def write(self, folder, ranks=None):
        folder.mkdir(parents=True, exist_ok=True)
        for rank in range(self.ranks) if ranks is None else ranks:
            trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Test GPU", "numSms": 132}],
                     "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": self.ranks},
                     "hostname": f"host{self.host(rank)}", "baseTimeNanoseconds": 1764300000000000000,
                     "traceEvents": [{"ph": "M", "name": "process_name", "pid": 1000 + rank, "tid": 0, "ts": 0,
                                      "args": {"name": "python"}}, self._host_event(rank), *self.events[rank]]}
            with gzip.open(folder / f"rank{rank}.json.gz", "wt", compresslevel=1) as out:
                json.dump(trace, out)
        return folder
