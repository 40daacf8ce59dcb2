# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Prints count and time of the kernels of each name, as pandas counts them."""

import json
import sys

import gpuprof

frame = gpuprof.open(sys.argv[1]).kernels.select(["name", "dur_ns"]).to_pandas()
grouped = frame.groupby("name", observed=True)["dur_ns"].agg(["count", "sum"])
print(json.dumps([[name, int(row["count"]), int(row["sum"])] for name, row in grouped.iterrows()]))
