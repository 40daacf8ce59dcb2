# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Prints a result as JSON."""

import json
import sys

import gpuprof

print(json.dumps(gpuprof.open(sys.argv[1]).stats(sys.argv[2]).to_dict()))
