#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What real programs cost under gpuprof and its peers: redis, gcc, Node.js, CPython's tests.

    tests/bench/real_programs.py --gpuprof build/bench/launcher/gpuprof [--programs redis,node] [--rounds 5]

In each round a program runs once under every recorder, beginning with another one each time. Ratios are to the bare run of the same
round: of wall time, and of processor time of the whole tree; where other work shares the machine, believe the second. Peers are those that
are installed; one that fails on a program is named and left out. `gcc` is a build of zlib with make -j2: by default compilers are
not recorded and pay nothing, the row with `compilers` records each of them.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import statistics
import sys
import tempfile

import recorders

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPS = ROOT / ".deps"
EXACT = ("--trace", "heap=exact,locks,threads")

REDIS = r"""
set -e
cd "$(mktemp -d)"
ln -s "$(command -v redis-server || command -v redis-check-rdb)" redis-server
./redis-server --port 0 --unixsocket "$PWD/socket" --save '' --appendonly yes --logfile log &
until redis-cli -s socket ping >/dev/null 2>&1; do sleep 0.02; done
redis-benchmark -s socket -n 100000 -c 20 -P 8 -q -t set,get,incr,lpush,lpop,sadd,hset,zadd >/dev/null
redis-cli -s socket bgrewriteaof >/dev/null
redis-cli -s socket shutdown nosave
wait $!
rm -rf "$PWD"
"""

GCC = r"""
set -e
work=$(mktemp -d)
cp -a {zlib} "$work/zlib"
cd "$work/zlib"
./configure >/dev/null
make -j2 libz.a >/dev/null
rm -rf "$work"
"""

NODE = r"""
work=$(mktemp -d)
node {script} "$work" >/dev/null 2>&1
status=$?
rm -rf "$work"
[ $status = 11 ]
"""


def programs():
    """name: (command, why it cannot be run, or None)"""
    def missing(*commands):
        return next((f"{command} is not installed" for command in commands if shutil.which(command) is None), None)

    zlib = DEPS / "sources" / "zlib-source"
    tests = DEPS / "cpython-tests"
    python = os.path.realpath(sys.executable)
    if (tests / "test").is_dir():
        os.environ["PYTHONPATH"] = str(tests)
    runner = ROOT / "tests" / "process" / "cpython_runner.py"
    script = ROOT / "tests" / "programs" / "node_mixture.js"
    return {
        "redis": (["sh", "-c", REDIS], missing("redis-cli", "redis-benchmark")),
        "gcc": (["sh", "-c", GCC.format(zlib=shlex.quote(str(zlib)))],
                missing("gcc", "make") or (None if zlib.is_dir() else "no source: run scripts/setup --only test")),
        "node": (["sh", "-c", NODE.format(script=shlex.quote(str(script)))], missing("node")),
        "cpython": ([python, str(runner), os.devnull, "100", "test.test_json"], None),
        "cpython processes": ([python, "-c", "import subprocess, sys\n"
                               "for _ in range(30): subprocess.run([sys.executable, '-c', 'pass'], check=True)"], None),
    }


def configurations(gpuprof, program):
    rows = [
        recorders.Recorder(),
        recorders.Gpuprof(gpuprof, "gpuprof dormant", "--capture", "off"),
        recorders.Gpuprof(gpuprof, "gpuprof default"),
        recorders.Gpuprof(gpuprof, "gpuprof exact", *EXACT),
    ]
    if program == "gcc":
        rows.append(recorders.Gpuprof(gpuprof, "gpuprof exact, compilers", *EXACT, "--include", "gcc,cc1,as,ld,collect2,ar,make"))
    if program == "cpython":  # the peers know the first process only, and elsewhere that is a shell
        rows += [peer for peer in recorders.peers() if isinstance(peer, recorders.Heaptrack)]
        memray = DEPS / "venv" / "lib"
        if list(memray.glob("*/site-packages/memray")):
            rows.append(recorders.Memray())
        else:
            print("memray: not available", file=sys.stderr)
    return rows


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}..{max(values):.{digits}f}]"


def measure(name, command, options):
    rows = configurations(options.gpuprof, name)
    runs = {row.name: [] for row in rows}
    failed = {}
    for number in range(options.rounds):
        turn = number % len(rows)
        for row in rows[turn:] + rows[:turn]:
            if row.name in failed:
                continue
            # memray is a module of the virtual environment.
            words = [sys.executable, *command[1:]] if isinstance(row, recorders.Memray) else command
            try:
                row.run(words)
            except RuntimeError as error:
                failed[row.name] = str(error).strip().splitlines()[-1][:100]
                continue
            runs[row.name].append({"wall": row.wall, "cpu": row.cpu, "events": row.events, "lost": row.lost, "bytes": row.bytes})
    bare = runs["bare"]
    print(f"\n{name}")
    print(f"  {'recorder':26} {'wall s':>20} {'wall ratio':>20} {'cpu ratio':>20} {'events':>11} {'lost':>10} {'MB':>8}")
    for row in rows:
        if row.name in failed or not bare:
            print(f"  {row.name:26} failed: {failed.get(row.name, 'the bare run failed')}")
            continue
        mine = runs[row.name]
        lost = "?" if mine[-1]["lost"] is None else f"{max(run['lost'] for run in mine):,}"
        events = f"{statistics.median(run['events'] for run in mine):,.0f}" if mine[-1]["events"] else ""
        print(f"  {row.name:26} {spread([run['wall'] for run in mine]):>20} "
              f"{spread([run['wall'] / base['wall'] for run, base in zip(mine, bare)]):>20} "
              f"{spread([run['cpu'] / base['cpu'] for run, base in zip(mine, bare)]):>20} "
              f"{events:>11} {lost:>10} {statistics.median(run['bytes'] for run in mine) / 1e6:8.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--programs", help="names, comma between; default: all")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.gpuprof = os.path.abspath(options.gpuprof)
    known = programs()
    chosen = [name for name in (options.programs or "").split(",") if name] or list(known)
    for name in chosen:
        if name not in known:
            parser.error(f"no program '{name}'; known: {', '.join(known)}")
    print(f"{recorders.machine()}; medians [min..max] of {options.rounds} interleaved rounds")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TMPDIR"] = scratch
        for name in chosen:
            command, missing = known[name]
            if missing:
                print(f"\n{name}: not available: {missing}")
                continue
            measure(name, command, options)


if __name__ == "__main__":
    main()
