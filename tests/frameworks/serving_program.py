# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Serves made-up requests with a small model. Each pass over the model has the name that a serving engine gives it.

usage: serving_program.py vllm|sglang ROUNDS   (a round: one prefill of 3 requests, then 6 decodes)
"""

import sys

import torch

WIDTH, REQUESTS, PROMPT, DECODES = 64, 3, 40, 6


def names(engine):
    if engine == "vllm":
        return f"execute_context_{REQUESTS}({REQUESTS * PROMPT})_generation_0(0)", f"execute_context_0(0)_generation_{REQUESTS}({REQUESTS})"
    return f"step[EXTEND bs={REQUESTS} toks={REQUESTS * PROMPT}]", f"step[DECODE bs={REQUESTS}]"


def main():
    prefill, decode = names(sys.argv[1])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = torch.nn.Linear(WIDTH, WIDTH)
    with torch.inference_mode():
        for _ in range(int(sys.argv[2])):
            with torch.profiler.record_function(prefill):
                tokens = model(torch.ones(REQUESTS * PROMPT, WIDTH))[:REQUESTS]
            for _ in range(DECODES):
                with torch.profiler.record_function(decode):
                    tokens = torch.tanh(model(tokens))
    print(float(tokens.sum()).hex())


main()
