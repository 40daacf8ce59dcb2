# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Prints what the pages of XProf say of the files of a run, as JSON. Runs in the environment of .deps/xprof.

    xprof_figures.py host.xplane.pb ...
"""

import json
import sys

from xprof.convert import raw_to_tool_data


def page(paths, tool, **params):
    data, _ = raw_to_tool_data.xspace_to_tool_data(paths, tool, {"tqx": "", "host": "", "use_saved_result": False, **params})
    return json.loads(data)


def rows(table):
    """Rows of one of Google's data tables, by the ids of its columns."""
    names = [column["id"] for column in table["cols"]]
    return [{name: (cell or {}).get("v") for name, cell in zip(names, row["c"])} for row in table["rows"]]


def main(paths):
    overview = page(paths, "overview_page")
    memory = page(paths[:1], "memory_profile", host=paths[0].rpartition("/")[2].removesuffix(".xplane.pb"))
    print(json.dumps({
        "kernels": rows(page(paths, "kernel_stats")),
        "ops": rows(page(paths, "framework_op_stats")[0]),
        "steps": rows(overview[1]),
        "top_ops": rows(overview[0]),
        "environment": overview[2].get("p", {}),
        "diagnostics": rows(overview[6]),
        "memory": {name: int(each["profileSummary"]["peakStats"]["heapAllocatedBytes"])
                   for name, each in memory.get("memoryProfilePerAllocator", {}).items()},
        "events": [event for event in page(paths, "trace_viewer")["traceEvents"] if event],
    }))


if __name__ == "__main__":
    main(sys.argv[1:])
