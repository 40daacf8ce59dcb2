#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a script unchanged under torch.profiler: with_torch_profiler.py [-o DIR] SCRIPT [ARG...]

Start to end of the script in the main process, CPU activities (and CUDA's where there are any);
with -o, writes DIR/trace.json. Child processes are not followed: torch.profiler does not. For
scripts that do not have a --profiler option of their own. Only scripts whose own children do not
import the main module again can be run so (start method fork, not spawn).
"""

import os
import runpy
import sys
import time

from torch.profiler import profile


def main():
    arguments = sys.argv[1:]
    out = None
    if arguments[:1] == ["-o"]:
        out, arguments = arguments[1], arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    status = 0
    profiler = profile()
    with profiler:
        try:
            runpy.run_path(arguments[0], run_name="__main__")
        except SystemExit as error:
            status = error.code
        begin = time.perf_counter()
    print(f"profiler_stop_s {time.perf_counter() - begin:.6f}", file=sys.stderr)
    print(f"events {len(profiler.profiler.kineto_results.events())}", file=sys.stderr)
    if out:
        profiler.export_chrome_trace(os.path.join(out, "trace.json"))
    sys.exit(status)


if __name__ == "__main__":
    main()
