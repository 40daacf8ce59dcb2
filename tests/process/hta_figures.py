# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Prints what HolisticTraceAnalysis says of a trace file, as JSON. Runs in the environment of .deps/hta.

    hta_figures.py trace.json[.gz]
"""

import json
import logging
import math
import os
import sys
import warnings

# Without this the library rounds starts up and ends down to microseconds.
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
# The library uses parts of pandas that will go.
warnings.simplefilter("ignore")


class Keep(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def main(path):
    kept = Keep()
    logging.basicConfig(handlers=[kept], level=logging.WARNING)
    from hta.trace_analysis import TraceAnalysis

    analysis = TraceAnalysis(trace_files={0: path}, trace_dir="/", include_last_profiler_step=True)
    table = analysis.t.get_trace(0)
    types, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=1_000_000)
    times = analysis.get_temporal_breakdown(visualize=False)
    idle = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0].groupby("idle_category")["idle_time"].sum()
    launches = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
    overlap = float(analysis.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"])
    print(json.dumps({
        "messages": kept.messages,
        "rows": len(table),
        "types": {row["kernel_type"]: float(row["sum"]) for _, row in types.iterrows()},
        "kernels": {row["name"]: float(row["sum (us)"]) for _, row in kernels.iterrows()},
        "times": {key: float(value) for key, value in times.iloc[0].items()},
        "idle": {category: float(time) for category, time in idle.items()},
        "launches": {int(row["correlation"]): [float(row["cpu_duration"]), float(row["gpu_duration"])] for _, row in launches.iterrows()},
        "launch_delay": float(launches["launch_delay"].sum()),
        "overlap": None if math.isnan(overlap) else overlap,
    }))


main(sys.argv[1])
