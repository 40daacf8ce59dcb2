#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Attaches to running programs and leaves them again and again, and tells how long their threads were stopped.

    tests/bench/attach_cycles.py --build build/ci --cycles 1000 [churn waits redis torch]

churn allocates on four threads and never waits. waits has a thread for each way to wait and checks every wait. redis is a
server under redis-benchmark. torch is a seeded training, whose result must be that of a training without gpuprof. Every
program must be alive at the end, be right about everything it checks itself, and hold the memory that it held after ten cycles.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "process"), str(ROOT / "tests")]

from conftest import anonymous_kib  # noqa: E402
from test_attach import TRAINING  # noqa: E402


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Victim:
    """A program that prints "ok" at SIGTERM."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(x) for x in command], stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n"

    def pid(self):
        return self.process.pid

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        out = self.process.communicate()[0].decode().strip()
        return f"{out.splitlines()[-1]}, status {self.process.returncode}"


class Redis:
    def __init__(self, folder):
        self.server = subprocess.Popen(["redis-server", "--port", "16391", "--save", "", "--dir", str(folder)], stdout=subprocess.DEVNULL)
        while subprocess.run(["redis-cli", "-p", "16391", "ping"], capture_output=True, check=False).stdout != b"PONG\n":
            time.sleep(0.05)
        self.load = subprocess.Popen(["redis-benchmark", "-p", "16391", "-l", "-q", "-c", "20", "-t", "set,get"], stdout=subprocess.DEVNULL)

    def pid(self):
        return self.server.pid

    def end(self):
        loads = self.load.poll() is None
        self.load.kill()
        self.load.wait()
        pong = subprocess.run(["redis-cli", "-p", "16391", "ping"], capture_output=True, check=False).stdout.decode().strip()
        self.server.terminate()
        return f"{pong}, the load {'went on' if loads else 'ENDED'}, status {self.server.wait()}"


class Torch(Victim):
    """As long as the cycles take; its result is known beforehand."""

    def __init__(self, steps):
        self.steps = steps
        super().__init__([sys.executable, "-c", TRAINING, steps])

    def end(self):
        result = self.process.stdout.readline()
        super().end()
        alone = Victim([sys.executable, "-c", TRAINING, self.steps])
        expected = alone.process.stdout.readline()
        alone.end()
        return f"{result.decode().strip()}, {'the same' if result == expected else 'NOT ' + expected.decode()} without gpuprof"


def cycle(gpuprof, pid, folder):
    """One attach and detach. Returns its words and its status."""
    bundle = pathlib.Path(folder) / "bundle"
    shutil.rmtree(bundle, ignore_errors=True)
    done = subprocess.run([str(gpuprof), "attach", str(pid), "--for=1ms", "-o", str(bundle)], capture_output=True, text=True, check=False)
    return done.stderr, done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "ci")
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200_000, help="of the training")
    parser.add_argument("targets", nargs="*", default=["churn", "waits", "redis", "torch"])
    options = parser.parse_args()
    for name in options.targets:
        with tempfile.TemporaryDirectory() as folder:
            victim = options.build / "tests" / "programs" / "attached"
            target = Redis(folder) if name == "redis" else Torch(options.steps) if name == "torch" else Victim([victim, name])
            stops, totals, refused, held = [], [], {}, []
            for _ in range(options.cycles):
                words, status = cycle(options.build / "launcher" / "gpuprof", target.pid(), folder)
                found = re.search(r"attached to \d+ in ([\d.]+) ms; thread \d+ was stopped for ([\d.]+) ms", words)
                if found:
                    totals.append(float(found[1]))
                    stops.append(float(found[2]))
                else:
                    word = re.search(r"\((\w+)\)", words)
                    refused[word[1] if word else words] = refused.get(word[1] if word else words, 0) + 1
                if status not in (0, 1) or not os.path.exists(f"/proc/{target.pid()}"):
                    break
                held.append(anonymous_kib(target.pid()))
            memory = re.search(r"VmSize:\s*(\d+)", pathlib.Path(f"/proc/{target.pid()}/status").read_text())
            print(f"{name}: {len(stops)} of {options.cycles} attached and left, refused {refused or 'none'}; stopped ms min "
                  f"{min(stops, default=0):.1f}, median {quantile(stops, 0.5):.1f}, p99 {quantile(stops, 0.99):.1f}, max {max(stops, default=0):.1f}; "
                  f"attached in ms min {min(totals, default=0):.0f}, median {quantile(totals, 0.5):.0f}; {int(memory[1]) // 1024} MiB mapped at the "
                  f"end; KiB in no file {' '.join(f'{held[at - 1]} (cycle {at})' for at in (1, 10, 100, 300, 1000) if at <= len(held))}, "
                  f"at the end {held[-1] if held else 0}; {target.end()}", flush=True)


if __name__ == "__main__":
    main()
