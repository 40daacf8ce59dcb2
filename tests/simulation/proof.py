#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Compares what `gpuprof advise` promises with what a change truly wins, over simulated programs.

    tests/simulation/proof.py --gpuprof build/ci/launcher/gpuprof --count 1000

Prints how often the first finding is the change that wins most, how often the true gain lies in the told range, and how wide the ranges
are. --show prints the programs on which it is wrong."""

import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import tempfile

import simulated_program as simulated

# A change that wins less than this part of a step is no advice.
LEAST = 0.05
# The first finding is right if it wins nearly as much as the best change.
NEARLY = 0.9
# Edges of a range are told with three digits, and steps differ by their jitter.
SLACK = 0.02


def advice_of(gpuprof, path):
    done = subprocess.run([gpuprof, "advise", "--json", path], capture_output=True, check=True)
    return json.loads(done.stdout)


def change_of(finding):
    return next((change for change, ids in simulated.CHANGES.items() if finding["id"] in ids), None)


def judge(gpuprof, program, folder):
    """Compares one program. Returns the best change, the first finding's, and its ranges beside the truth."""
    run = simulated.Run(program)
    path = folder / "trace.json"
    run.write(path)
    advice = advice_of(gpuprof, path)
    step = run.step_ns()
    gains = {change: (step - simulated.Run(program, change).step_ns()) / step for change in simulated.CHANGES}
    told = [(finding, change_of(finding)) for finding in advice["findings"] if finding["gain"] and finding["gain"]["method"] != "not_computed"]
    return advice, gains, [(finding, change) for finding, change in told if change]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    first_right = first_all = inside = ranges = 0
    widths, wrong, missed = [], collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(options.first, options.first + options.count):
            program = simulated.random_program(seed)
            advice, gains, told = judge(options.gpuprof, program, pathlib.Path(scratch))
            best = max(gains, key=gains.get)
            if gains[best] >= LEAST:
                first_all += 1
                change = told[0][1] if told else None
                is_right = change is not None and gains[change] >= NEARLY * gains[best]
                first_right += is_right
                if not is_right:
                    wrong[(best, change)] += 1
                    if options.show:
                        print(program.name, "best", best, {k: round(v, 3) for k, v in gains.items()}, "told", change,
                              advice["verdict"]["bound"], round(advice["verdict"]["busy_ratio"], 2), [f["id"] for f in advice["findings"]])
            for finding, change in told:
                gain, truth = finding["gain"], gains[change]
                ranges += 1
                is_inside = gain["low_ratio"] - SLACK <= truth <= gain["high_ratio"] + SLACK
                inside += is_inside
                widths.append(gain["high_ratio"] - gain["low_ratio"])
                if not is_inside:
                    missed[finding["id"]] += 1
                    if options.show:
                        print(program.name, finding["id"], f"told {gain['low_ratio']:.3f} to {gain['high_ratio']:.3f}, true {truth:.3f}", gain["method"])
    print(f"first finding wins most: {first_right} of {first_all} ({first_right / max(first_all, 1):.1%})")
    print(f"true gain in the told range: {inside} of {ranges} ({inside / max(ranges, 1):.1%}); median width {statistics.median(widths or [0]):.1%} of a step")
    print("wrong first (best, told):", dict(wrong.most_common(8)))
    print("outside of its range:", dict(missed))


if __name__ == "__main__":
    main()
