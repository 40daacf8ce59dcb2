#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What one hooked call costs, bare and under each recorder, interleaved.

    tests/bench/hooks.py --gpuprof build/bench/launcher/gpuprof --program build/bench/tests/bench/hooks

Runs the program in turn under every configuration, ROUNDS times, and prints for each figure the median over
the rounds, its spread, and the paired difference to the bare run of the same round. A recorder that lost
events says so beside its figures. Peers that are not installed are named as such.
"""

import argparse
import json
import statistics

import recorders


def configurations(gpuprof):
    return [
        recorders.Recorder(),
        recorders.Gpuprof(gpuprof, "gpuprof dormant", "--capture", "off"),
        recorders.Gpuprof(gpuprof, "gpuprof default"),
        recorders.Gpuprof(gpuprof, "gpuprof exact, no stacks", "--trace", "heap=exact,locks,threads", "--stacks", "0"),
        recorders.Gpuprof(gpuprof, "gpuprof exact, stacks", "--trace", "heap=exact,locks,threads", "--stacks", "32"),
        recorders.Gpuprof(gpuprof, "gpuprof files", "--trace", "files"),
        *recorders.peers(),
    ]


def measure(recorder, options):
    figures = {}
    for line in recorder.run([options.program, str(options.pairs)]).splitlines():
        name, _, value = line.partition("=")
        if name.endswith("_ns"):
            figures[name] = float(value)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pairs", type=int, default=8000, help="pairs in one timed batch")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    rows = configurations(options.gpuprof)
    results = {row.name: [] for row in rows}
    losses = {row.name: 0 for row in rows}
    for _ in range(options.rounds):
        for row in rows:
            results[row.name].append(measure(row, options))
            losses[row.name] = None if row.lost is None else losses[row.name] + row.lost

    report = {"machine": recorders.machine(), "rounds": options.rounds, "rows": []}
    for name in results:
        for figure in results["bare"][0]:
            values = [run[figure] for run in results[name]]
            over = [run[figure] - bare[figure] for run, bare in zip(results[name], results["bare"])]
            report["rows"].append({
                "configuration": name, "figure": figure, "median_ns": statistics.median(values),
                "min_ns": min(values), "max_ns": max(values), "over_bare_ns": statistics.median(over),
                "lost_events": losses[name],
            })
    if options.json:
        print(json.dumps(report, indent=2))
        return
    print(f"{report['machine']}; medians of {options.rounds} interleaved rounds")
    print(f"{'configuration':26} {'figure':24} {'median':>8} {'min':>8} {'max':>8} {'over bare':>10}  lost")
    for row in report["rows"]:
        print(f"{row['configuration']:26} {row['figure']:24} {row['median_ns']:8.1f} {row['min_ns']:8.1f} "
              f"{row['max_ns']:8.1f} {row['over_bare_ns']:10.1f}  {'?' if row['lost_events'] is None else row['lost_events']}")


if __name__ == "__main__":
    main()
