# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Reports memory to PyTorch's own profiler from outside of libc10, as the allocators of devices do, through whatever stands in the
process under that name; prints how often the profiler was told."""

import ctypes

import torch
from torch.profiler import ProfilerActivity, profile

BYTES = 123457
CPU = 0xff00  # c10::Device: no index, type 0

torch.ones(8)
report = ctypes.CDLL(None)["_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"]
report.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint16]
report.restype = None
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
    report(0x1000, BYTES, BYTES, 0, CPU)
    report(0x1000, -BYTES, 0, 0, CPU)
told = [event.nbytes() for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
print(told.count(BYTES), told.count(-BYTES))
