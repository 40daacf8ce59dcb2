# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Reads tables from four threads at once."""

import sys
import threading

import gpuprof

recording = gpuprof.open(sys.argv[1], threads=3)
right = {name: recording.table(name).to_arrow() for name in ("kernels", "api", "ops")}
fresh = gpuprof.open(sys.argv[1], threads=3)
wrong = []


def read():
    for _ in range(5):
        for name, table in right.items():
            if not fresh.table(name).to_arrow().equals(table):
                wrong.append(name)
        if len(fresh.stats("kernels").kernels) == 0 or len(fresh.table("stats.kernels")) == 0:
            wrong.append("stats")


threads = [threading.Thread(target=read) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong
