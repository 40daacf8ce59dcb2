# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes XProf's own memory viewer of programs, as JSON. Runs in the environment of .deps/xprof.

    xprof_programs.py '[["host.xplane.pb", [["jit_f(4)", 0], ...]], ...]'

XProf writes the programs beside the files: give it copies, each in a folder of its own. A page that XProf cannot make is null."""

import json
import sys

from xprof.convert import raw_to_tool_data


def page(path, program, space):
    options = {"module_name": program, "memory_space": str(space), "use_saved_result": False}
    data, _ = raw_to_tool_data.xspace_to_tool_data([path], "memory_viewer", options)
    return json.loads(data) if data else None


def main(runs):
    pages = []
    for path, wanted in runs:
        raw_to_tool_data.xspace_to_tool_names([path])  # writes the programs
        pages.append([page(path, program, space) for program, space in wanted])
    print(json.dumps(pages))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
