# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs a training that is under way: its epochs with and without it, in one and the same run.

    toggle.py --gpuprof build/bench/launcher/gpuprof                     # the example, the default sources
    toggle.py --gpuprof ... --options '--trace heap=exact' --rounds 40

Start-up and the drift of the machine hide a cost of 1 % in any comparison of whole runs. Here the program is loaded
once, dormant, and recording is switched on and off in all its processes every few epochs: neighbours of seconds are
compared. The first epoch after a switch counts for neither (it pays for the switch). What remains unseen is the cost
of being loaded and dormant, which compare.py's configuration gpuprof-off and hooks.py measure.

Printed: the ratio of an on block to the mean of the off blocks around it, of the time and of the processor time of the
program's processes, as median [quartiles], mean and its standard error.
"""

import argparse
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "pytorch_train" / "train.py"
EPOCH = re.compile(r"^epoch ")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def family(leader):
    """The process and all its descendants, by /proc."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found = [leader]
    for pid in found:
        found += children.get(pid, [])
    return found


def cpu_seconds(pids):
    """Processor time so far of these processes, in seconds, from the scheduler's own account (nanoseconds); without it from
    the ticks of /proc/PID/stat."""
    total = 0.0
    for pid in pids:
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                total += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0]) / 1e9
        except FileNotFoundError:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) * TICK_S
    return total


def switch(gpuprof, verb, pids):
    done = subprocess.run([gpuprof, "ctl", verb, *map(str, pids)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"toggle.py: gpuprof ctl {verb}: {done.stderr.strip() or done.stdout.strip()}")


def blocks(options, bundle, data):
    """Yields (recording, seconds, processor seconds) of each block of epochs, beginning and ending with one without."""
    per_block = options.epochs + 1
    total = (2 * options.rounds + 1) * per_block
    command = [options.gpuprof, "run", "--quiet", "--capture=off", "-o", bundle, *shlex.split(options.options), "--",
               options.python, str(EXAMPLE), "--data", data, "--epochs", str(total + 1), "--steps", str(options.steps)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
    try:
        done, on, begin = 0, False, None
        for line in program.stdout:
            if not EPOCH.match(line):
                continue
            done += 1  # the first epoch of all warms up
            if done == 1:
                pids = [p for p in family(program.pid) if "train.py" in Path(f"/proc/{p}/cmdline").read_text()
                        and Path(f"/proc/{p}/exe").resolve().name.startswith("python")]
            at = (done - 1) % per_block
            if at == 1:
                begin = (time.perf_counter(), cpu_seconds(pids))
            if at == 0 and done > 1:
                yield on, time.perf_counter() - begin[0], cpu_seconds(pids) - begin[1]
                if done <= total:
                    on = not on
                    switch(options.gpuprof, "start" if on else "stop", pids)
        if program.wait() != 0:
            sys.exit(f"toggle.py: the program failed: {program.stderr.read()[-400:]}")
    finally:
        program.kill()


def told(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    error = statistics.stdev(values) / len(values) ** 0.5
    return f"{middle:.3f} [{low:.3f}..{high:.3f}], mean {statistics.mean(values):.4f} +- {error:.4f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpuprof", required=True)
    parser.add_argument("--options", default="", help="of gpuprof's run verb")
    parser.add_argument("--rounds", type=int, default=20, help="blocks with recording; at least 2")
    parser.add_argument("--epochs", type=int, default=2, help="epochs of a block that count")
    parser.add_argument("--steps", type=int, default=8, help="of an epoch")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("--rounds must be at least 2")
    with tempfile.TemporaryDirectory(prefix="toggle-") as scratch:
        data = os.path.join(scratch, "data")
        seen = list(blocks(options, os.path.join(scratch, "bundle"), data))
    ratios, cpu_ratios = [], []
    for before, mine, after in zip(seen[0::2], seen[1::2], seen[2::2]):
        ratios.append(2 * mine[1] / (before[1] + after[1]))
        cpu_ratios.append(2 * mine[2] / (before[2] + after[2]))
    print(f"{options.rounds} blocks of {options.epochs * options.steps} steps, "
          f"{statistics.median(b[1] for b in seen):.2f} s each")
    print(f"time       {told(ratios)}")
    print(f"processor  {told(cpu_ratios)}")


if __name__ == "__main__":
    main()
