# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes XProf's own pages of several runs, as JSON. Runs in the environment of .deps/xprof.

    xprof_pages.py '[["host0.xplane.pb", "host1.xplane.pb"], ...]' [TOOL ...]

XProf writes caches beside the files: give it copies. A page that XProf cannot make is null."""

import json
import sys

from xprof.convert import raw_to_tool_data

TOOLS = ("overview_page", "framework_op_stats", "kernel_stats", "input_pipeline_analyzer")


def page(paths, tool):
    data, _ = raw_to_tool_data.xspace_to_tool_data(paths, tool, {"tqx": "", "host": "", "use_saved_result": False})
    return data.decode() if isinstance(data, bytes) else data


def main(runs, tools):
    print(json.dumps([{tool: page(paths, tool) for tool in tools} for paths in runs]))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:] or TOOLS)
