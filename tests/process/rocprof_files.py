# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes JSON as `rocprofv3 --output-format json` writes it: members, their order and their names are those of generateJSON.cpp and
cxx/serialization.hpp of ROCm's rocprofiler-sdk."""

import json

KINDS = (("NONE", ()), ("HSA_CORE_API", ("hsa_init", "hsa_signal_wait_scacquire")), ("HIP_RUNTIME_API", ("hipLaunchKernel", "hipMemcpyAsync",
         "hipStreamSynchronize", "hipMalloc")), ("MARKER_CORE_API", ("roctxMarkA", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA")),
         ("MEMORY_COPY", ("MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
                          "MEMORY_COPY_DEVICE_TO_DEVICE")),
         ("KERNEL_DISPATCH", ("KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE", "KERNEL_DISPATCH_COMPLETE")),
         ("RCCL_API", ("ncclAllReduce", "ncclBroadcast")), ("MEMORY_ALLOCATION", ("MEMORY_ALLOCATION_ALLOCATE",)))
NUMBERS = {name: number for number, (name, _) in enumerate(KINDS)}
CPU, FIRST_GPU = 1, 17_000_000_000_000_000_001  # handles may need all 64 bits


def handle(number):
    return {"handle": number}


class Process:
    """One process of a file."""

    def __init__(self, pid, host="node7", gpus=2):
        self.value = {
            "metadata": {"pid": pid, "init_time": 1, "fini_time": 2, "config": {"kernel_trace": True}, "command": ["./train", "--steps=3"]},
            "agents": [{"size": 1, "id": handle(CPU), "type": 1, "logical_node_id": 0, "name": "AMD EPYC", "product_name": "AMD EPYC"}],
            "counters": [],
            "strings": {"callback_records": [], "buffer_records": [{"kind": name, "operations": list(names)} for name, names in KINDS],
                        "marker_api": [], "correlation_id": {"external": []}, "counters": {"dimension_ids": []}},
            "code_objects": [],
            "kernel_symbols": [],
            "callback_records": {"counter_collection": []},
            "buffer_records": {name: [] for name in ("kernel_dispatch", "hip_api", "hsa_api", "marker_api", "rccl_api", "memory_copy",
                                                     "memory_allocation", "scratch_memory")},
        }
        if host:
            self.value["metadata"]["node"] = {"id": 1, "hash": 2, "machine_id": "abc", "system_name": "Linux", "hostname": host}
        for number in reversed(range(gpus)):
            self.value["agents"].append(
                {"size": 1, "id": handle(FIRST_GPU + number), "type": 2, "logical_node_id": 1 + number, "name": "gfx942", "cu_count": 304,
                 "product_name": "AMD Instinct MI300X", "max_engine_clk_fcompute": 2100, "wave_front_size": 64, "max_waves_per_cu": 32,
                 "lds_size_in_kb": 64, "workgroup_max_size": 1024, "gfx_target_version": 90402, "mem_banks": [{"size_in_bytes": 1 << 37}]})
        self.numbers = 0

    def records(self, section):
        return self.value["buffer_records"][section]

    def symbol(self, number, formatted, mangled=None, static=0, registers=(32, 8)):
        self.value["kernel_symbols"].append(
            {"size": 1, "kernel_id": number, "code_object_id": 1, "kernel_name": mangled or formatted, "group_segment_size": static,
             "arch_vgpr_count": registers[0], "accum_vgpr_count": registers[1], "sgpr_count": 96, "formatted_kernel_name": formatted})

    def call(self, section, kind, name, start, end, thread=7, correlation=None):
        if correlation is None:
            self.numbers += 1
            correlation = self.numbers
        operations = dict(KINDS)[kind]
        self.records(section).append({"size": 56, "kind": NUMBERS[kind], "operation": operations.index(name), "correlation_id":
                                      {"internal": correlation, "external": 0}, "start_timestamp": start, "end_timestamp": end, "thread_id": thread})
        return correlation

    def hip(self, name, start, end, **more):
        return self.call("hip_api", "HIP_RUNTIME_API", name, start, end, **more)

    def marker(self, text, start, end, name="roctxRangePushA", **more):
        number = self.call("marker_api", "MARKER_CORE_API", name, start, end, **more)
        self.value["strings"]["marker_api"].append({"key": number, "value": text})

    def kernel(self, number, start, end, correlation, gpu=0, queue=1, stream=None, items=(1000, 4, 1), group=(64, 4, 1), lds=0, scratch=0):
        row = {"size": 152, "kind": NUMBERS["KERNEL_DISPATCH"], "operation": 2, "thread_id": 7,
               "correlation_id": {"internal": correlation, "external": 0}, "start_timestamp": start, "end_timestamp": end,
               "dispatch_info": {"size": 1, "agent_id": handle(FIRST_GPU + gpu), "queue_id": handle(queue), "kernel_id": number,
                                 "dispatch_id": 1, "private_segment_size": scratch, "group_segment_size": lds,
                                 "workgroup_size": dict(zip("xyz", group)), "grid_size": dict(zip("xyz", items))}}
        if stream is not None:
            row["stream_id"] = handle(stream)
        self.records("kernel_dispatch").append(row)

    def copy(self, name, start, end, correlation, source, target, size):
        row = {"size": 1, "kind": NUMBERS["MEMORY_COPY"], "operation": dict(KINDS)["MEMORY_COPY"].index("MEMORY_COPY_" + name), "thread_id": 7,
               "correlation_id": {"internal": correlation, "external": 0}, "start_timestamp": start, "end_timestamp": end,
               "dst_agent_id": handle(target), "src_agent_id": handle(source)}
        if size is not None:
            row["bytes"] = size
        self.records("memory_copy").append(row)


def text_of(*processes, indent=1):
    return json.dumps({"rocprofiler-sdk-tool": [process.value for process in processes]}, indent=indent)
