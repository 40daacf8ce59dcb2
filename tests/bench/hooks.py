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
import os
import shutil
import statistics
import subprocess
import sys
import tempfile


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def configurations(options, scratch):
    def gpuprof(*flags):
        return lambda n: [options.gpuprof, "run", "--quiet", "-o", os.path.join(scratch, n), *flags, "--"]

    rows = [
        ("bare", lambda n: []),
        ("gpuprof dormant", gpuprof("--capture", "off")),
        ("gpuprof default", gpuprof()),
        ("gpuprof exact, no stacks", gpuprof("--trace", "heap=exact,locks,threads", "--stacks", "0")),
        ("gpuprof exact, stacks", gpuprof("--trace", "heap=exact,locks,threads", "--stacks", "32")),
    ]
    if shutil.which("heaptrack"):
        rows.append(("heaptrack", lambda n: ["heaptrack", "--raw", "-o", os.path.join(scratch, n)]))
    else:
        print("heaptrack: not available", file=sys.stderr)
    return rows


def lost(options, bundle):
    """Events lost in a gpuprof bundle, or None."""
    if not os.path.isdir(bundle):
        return None
    run = subprocess.run([options.gpuprof, "stats", "overview", "--json", bundle], capture_output=True, text=True, check=False)
    try:
        return sum(loss["count"] for loss in json.loads(run.stdout)["meta"]["losses"])
    except (ValueError, KeyError):
        return None


def measure(command, options):
    run = subprocess.run([*command, options.program, str(options.pairs)], capture_output=True, text=True, check=True)
    figures = {}
    for line in run.stdout.splitlines():
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

    with tempfile.TemporaryDirectory() as scratch:
        rows = configurations(options, scratch)
        results = {name: [] for name, _ in rows}
        losses = {name: 0 for name, _ in rows}
        for round_number in range(options.rounds):
            for index, (name, prefix) in enumerate(rows):
                place = f"r{round_number}-{index}"
                results[name].append(measure(prefix(place), options))
                losses[name] += lost(options, os.path.join(scratch, place)) or 0
                shutil.rmtree(os.path.join(scratch, place), ignore_errors=True)

    report = {"machine": machine(), "rounds": options.rounds, "rows": []}
    for name, _ in rows:
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
              f"{row['max_ns']:8.1f} {row['over_bare_ns']:10.1f}  {row['lost_events']}")


if __name__ == "__main__":
    main()
