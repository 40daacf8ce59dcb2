#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What recording adds to programs that live for milliseconds, and what the recording says that it adds.

    tests/bench/short_processes.py --gpuprof build/bench/launcher/gpuprof

A shell starts the same program that does nothing again and again. The processor time of the whole tree is measured, the
command `gpuprof run` and its work on the traces included. What the recording tells is the begin and the end of gpuprof
in the programs: not the loader's work on its library, nor the kernel's on its memory, nor that of `gpuprof run`.
"""

import argparse
import json
import os
import statistics
import tempfile

import recorders

LOOP = "i=0; while [ $i -lt %d ]; do /bin/true; i=$((i+1)); done"


class Told(recorders.Gpuprof):
    """Keeps what the overview says of the begin and end of gpuprof in each process, in milliseconds."""

    told = None

    def run(self, command):
        with tempfile.TemporaryDirectory() as scratch:
            bundle = os.path.join(scratch, "bundle")
            output = self.measured([self.gpuprof, "run", "--quiet", "-o", bundle, *self.flags, "--", *command])
            cost = json.loads(self.call([self.gpuprof, "stats", "overview", "--json", bundle]))["cost"]
            self.told = cost["begin_end_ns"] / cost["begin_end_count"] / 1e6 if cost.get("begin_end_count") else None
        return output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(recorders.machine())
    kinds = [recorders.Recorder(), Told(options.gpuprof, "default", "--include", "true"),
             Told(options.gpuprof, "heap=exact,locks,threads", "--include", "true", "--trace", "heap=exact,locks,threads"),
             Told(options.gpuprof, "dormant", "--include", "true", "--capture", "off")]
    spent = {kind.name: [] for kind in kinds}
    told = {kind.name: [] for kind in kinds}
    for _ in range(options.rounds):
        for kind in kinds:
            if kind.name == "dormant":
                # Without a trace there is nothing to ask.
                with tempfile.TemporaryDirectory() as scratch:
                    kind.measured([kind.gpuprof, "run", "--quiet", "-o", os.path.join(scratch, "b"), *kind.flags, "--", "sh", "-c",
                                   LOOP % options.count])
            else:
                kind.run(["sh", "-c", LOOP % options.count])
            spent[kind.name].append(kind.cpu * 1e3 / options.count)
            if getattr(kind, "told", None) is not None:
                told[kind.name].append(kind.told)
    bare = statistics.median(spent["bare"])
    for name, each in spent.items():
        words = f"{name:26s} {statistics.median(each):6.2f} ms a process [{min(each):.2f}, {max(each):.2f}]"
        if name != "bare":
            words += f", {statistics.median(each) / bare:.2f}x, {statistics.median(each) - bare:.2f} ms added"
        if told[name]:
            words += f", {statistics.median(told[name]):.2f} ms of it told"
        print(words)


if __name__ == "__main__":
    main()
