#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""How many heap events a second are recorded without loss, and what each costs in bytes and drain time.

    tests/bench/sustained.py --gpuprof build/bench/launcher/gpuprof --program build/bench/tests/bench/heap_load

For each rate the program runs bare and under each recorder in turn, ROUNDS times; it holds the rate by waiting,
so that a rate that it cannot reach under a recorder shows as a lower `reached`. Of several rounds the best is
told: an event is lost when the drain has to wait for a processor that something else uses. Where gpuprof is
concerned, `drain ns` is the drain thread's processor time for each event: a billion divided by it is what one
core sustains.
"""

import argparse

import recorders


def figures(output):
    return {name: float(value) for name, _, value in (line.partition("=") for line in output.splitlines())
            if name in ("events", "seconds", "cpu_s")}


def configurations(gpuprof):
    def exact(name, stacks, *more):
        return recorders.Gpuprof(gpuprof, name, "--trace", "heap=exact,threads", "--stacks", stacks, *more)
    return [
        recorders.Recorder(),
        exact("gpuprof exact", "0"),
        exact("gpuprof exact, 128 MiB rings", "0", "--ring-memory", "128MiB"),
        exact("gpuprof exact, exact times", "0", "--heap-times", "exact"),
        exact("gpuprof exact, stacks", "32"),
        *recorders.peers(),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--rates", default="1,5,10,15,20,30", help="million events a second")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    print(f"{recorders.machine()}; {options.threads} thread(s), depth {options.depth}, best of {options.rounds} rounds")
    print(f"{'recorder':28} {'M/s asked':>9} {'reached':>8} {'lost %':>8} {'bytes/event':>11} {'drain ns':>9}")
    for rate in options.rates.split(","):
        best = {}
        for _ in range(options.rounds):
            for recorder in configurations(options.gpuprof):
                command = [options.program, rate, str(options.seconds), str(options.threads), str(options.depth)]
                run = figures(recorder.run(command))
                lost = None if recorder.lost is None else recorder.lost / run["events"]
                recorded = run["events"] - (recorder.lost or 0)
                process = getattr(recorder, "process", {})
                row = {
                    "reached": run["events"] / run["seconds"] / 1e6,
                    "lost": lost,
                    "bytes": recorder.bytes / recorded,
                    "drain_ns": process["drain_cpu_ns"] / process["count"] if process else None,
                }
                before = best.get(recorder.name)
                if before is None or (lost or 0) < (before["lost"] or 0):
                    best[recorder.name] = row
        for name, row in best.items():
            lost = "?" if row["lost"] is None else f"{100 * row['lost']:.3f}"
            drain = "" if row["drain_ns"] is None else f"{row['drain_ns']:.1f}"
            print(f"{name:28} {rate:>9} {row['reached']:8.2f} {lost:>8} {row['bytes']:11.2f} {drain:>9}", flush=True)


if __name__ == "__main__":
    main()
