# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes XSpaces of a GPU that ran instructions of given programs of XLA."""

from xprof_spaces import PlaneBuilder, space
from xspace_files import field

GPU = {"device_vendor": "Nvidia", "gpu_device_name": "NVIDIA H200", "clock_rate": 1980000, "core_count": 132,
       "memory_bandwidth": (4800000000000,), "compute_cap_major": 9, "compute_cap_minor": 0}
EACH_PS = 1_000_000_000


class Programs:
    """The plane of compiled programs: {number: (name, bytes of a message xla.HloProto)}."""

    def __init__(self, programs):
        self.programs = programs

    def bytes(self):
        stats = field(5, [field(1, 1), field(2, [field(1, 1), field(2, "Hlo Proto")])])
        return field(1, [field(2, "/host:metadata"), *(
            field(4, [field(1, number), field(2, [field(1, number), field(2, name), field(5, [field(1, 1), field(6, proto)])])])
            for number, (name, proto) in programs_in_order(self.programs)), stats])


def programs_in_order(programs):
    return sorted(programs.items())


def kernel_stats(number, operation, correlation):
    return {"hlo_op": operation, "hlo_module": f"program_{number}", "program_id": number, "correlation_id": correlation,
            "kernel_details": "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 block:128,1,1 occ_pct:50"}


def gpu_space(programs, operations, gpu=None):
    """Each operation is (number of the program, instruction) and takes a millisecond. Its kernel is "k_INSTRUCTION"."""
    plane = PlaneBuilder("/device:GPU:0", 1, gpu or GPU)
    events = [(f"k_{operation}", (2 * place + 1) * EACH_PS, EACH_PS, kernel_stats(number, operation, place + 1))
              for place, (number, operation) in enumerate(operations)]
    plane.line(14, "Stream #14(Compute)", events)
    return space([plane, Programs(programs)], "host")
