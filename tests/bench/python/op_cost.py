#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Measures what one trivial operation costs, called in a tight Python loop.

The loop itself (some nanoseconds a turn) is in the figure, so what an observer adds is the
difference of two runs. Blocks of 1000 calls are timed; `ns_per_op` is the median block, which a
pre-empted block does not move, and `ns_per_op_min` the best one.
"""

import statistics
import time

import torch
from section import Section, arguments, prepare, print_result

BLOCK = 1000


def loop_add_in_place(tensor, _other):
    for _ in range(BLOCK):
        tensor.add_(1)


def loop_add_out(tensor, other):
    add = torch.add
    for _ in range(BLOCK):
        add(tensor, other, out=tensor)


LOOPS = {"add_": loop_add_in_place, "add_out": loop_add_out}


def main():
    parser = arguments(__doc__.splitlines()[0], steps=1_000_000, warmup=50_000)
    parser.add_argument("--op", choices=sorted(LOOPS), default="add_out",
                        help="add_: t.add_(1), whose scalar becomes a tensor each time; "
                             "add_out: torch.add(a, b, out=a), nothing allocated")
    options = parser.parse_args()
    prepare(options)
    loop = LOOPS[options.op]
    tensor, other = torch.zeros(1), torch.full((1,), 0.5)
    for _ in range(max(1, options.warmup // BLOCK)):
        loop(tensor, other)
    blocks = []
    clock = time.perf_counter_ns
    with Section(options):
        for _ in range(max(1, options.steps // BLOCK)):
            begin = clock()
            loop(tensor, other)
            blocks.append(clock() - begin)
    print(f"ns_per_op {statistics.median(blocks) / BLOCK:.2f}")
    print(f"ns_per_op_min {min(blocks) / BLOCK:.2f}")
    print_result(tensor.item())


if __name__ == "__main__":
    main()
