# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""What the benchmark programs of this folder share: options, the timed section, the printing.

A program prints one `name value` pair a line on standard output: `section_s`, what the section took
while the profiler (if any) was already on and not yet stopped; `section_cpu_s`, the processor time
of this process meanwhile, which other load on the machine moves little; and a `result`, a digest of
what was computed, which must not depend on who watches. compare.py reads them. Never imports a
profiler of its own unless `--profiler torch` asks for it.
"""

import argparse
import time

import torch


def arguments(description, steps, warmup):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=steps, help="in the timed section")
    parser.add_argument("--warmup", type=int, default=warmup, help="steps before it")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profiler", choices=("none", "torch"), default="none",
                        help="torch: torch.profiler with CPU activities around the timed section")
    return parser


def prepare(options):
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)


class Section:
    """Times its body. With torch.profiler, its start and stop are printed apart as
    `profiler_start_s` and `profiler_stop_s`, and the events seen as `events`."""

    def __init__(self, options):
        self.options = options
        self.seconds = 0.0

    def __enter__(self):
        self.profile = None
        if self.options.profiler == "torch":
            from torch.profiler import ProfilerActivity, profile
            begin = time.perf_counter()
            self.profile = profile(activities=[ProfilerActivity.CPU])
            self.profile.__enter__()
            print(f"profiler_start_s {time.perf_counter() - begin:.6f}")
        self.cpu_begin = time.process_time()
        self.begin = time.perf_counter()
        return self

    def __exit__(self, *error):
        self.seconds = time.perf_counter() - self.begin
        cpu_seconds = time.process_time() - self.cpu_begin
        if self.profile is not None:
            begin = time.perf_counter()
            self.profile.__exit__(*error)
            print(f"profiler_stop_s {time.perf_counter() - begin:.6f}")
            if error[0] is None:
                print(f"events {len(self.profile.profiler.kineto_results.events())}")
        if error[0] is None:
            print(f"section_s {self.seconds:.6f}")
            print(f"section_cpu_s {cpu_seconds:.6f}")
        return False


def print_result(value):
    """The value in full, so that two runs can be compared bit for bit."""
    print(f"result {float(value).hex()}")
