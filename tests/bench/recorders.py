# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The recorders that the native benchmarks run a program under: gpuprof and its peers.

A Recorder runs a command and returns its output; afterwards it knows what it lost and how many bytes it wrote. Peers
that are not installed are named on stderr and left out.
"""

import glob
import json
import os
import re
import shutil
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


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names)


class Recorder:
    """The program as it is. `lost` and `bytes` are of the last run; None: not known."""

    name = "bare"

    def __init__(self):
        self.lost = 0
        self.bytes = 0

    def run(self, command):
        return self.call(command)

    @staticmethod
    def call(command, env=None):
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env=None if env is None else {**os.environ, **env})
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout


class Gpuprof(Recorder):
    def __init__(self, gpuprof, name, *flags):
        super().__init__()
        self.name = name
        self.gpuprof = gpuprof
        self.flags = flags
        self.process = {}

    def run(self, command):
        with tempfile.TemporaryDirectory() as scratch:
            bundle = os.path.join(scratch, "bundle")
            output = self.call([self.gpuprof, "run", "--quiet", "-o", bundle, *self.flags, "--", *command])
            self.bytes = sum(map(os.path.getsize, glob.glob(os.path.join(bundle, "*.gpt"))))
            self.process = {}
            self.lost = 0
            if self.bytes:
                health = json.loads(self.call([self.gpuprof, "stats", "health", "--json", bundle]))
                self.lost = sum(loss["count"] for loss in health["meta"]["losses"])
                self.process = health["processes"][0]
        return output


class Heaptrack(Recorder):
    name = "heaptrack"  # with stacks, always

    def run(self, command):
        with tempfile.TemporaryDirectory() as scratch:
            output = self.call(["heaptrack", "--raw", "-o", os.path.join(scratch, "trace"), *command])
            self.bytes = folder_bytes(scratch)
        return output


class Lttng(Recorder):
    """LTTng-UST's wrappers of malloc and the mutexes, without stacks."""

    name = "LTTng-UST"

    def run(self, command):
        wrappers = "liblttng-ust-libc-wrapper.so:liblttng-ust-pthread-wrapper.so"
        with tempfile.TemporaryDirectory() as scratch:
            session = "gpuprof-bench"
            self.call(["lttng", "create", session, f"--output={scratch}/trace"])
            try:
                self.call(["lttng", "enable-channel", "-u", "heap", "--subbuf-size=2M", "--num-subbuf=8"])
                self.call(["lttng", "enable-event", "-u", "-c", "heap", "lttng_ust_libc:*,lttng_ust_pthread:*"])
                self.call(["lttng", "start"])
                output = self.call(command, env={"LD_PRELOAD": wrappers})
                stopped = self.call(["lttng", "stop"]) + self.call(["lttng", "destroy", session])
            except RuntimeError:
                subprocess.run(["lttng", "destroy", session], capture_output=True, check=False)
                raise
            self.bytes = folder_bytes(os.path.join(scratch, "trace"))
            lost = re.findall(r"(\d+) events? (?:were )?(?:discarded|lost)", stopped)
            self.lost = sum(map(int, lost)) if lost else 0
        return output


class Uftrace(Recorder):
    """uftrace at the program's calls into libraries; it was not built for it."""

    name = "uftrace"

    def run(self, command):
        with tempfile.TemporaryDirectory() as scratch:
            env_free = ["uftrace", "record", "--force", "--no-event", "-d", os.path.join(scratch, "trace")]
            for call in ("malloc", "free", "pthread_mutex_lock", "pthread_mutex_unlock"):
                env_free += ["-F", call]
            output = self.call([*env_free, *command])
            self.bytes = folder_bytes(scratch)
            self.lost = None
        return output


def peers():
    """Those that are installed."""
    found = []
    for command, recorder in (("heaptrack", Heaptrack), ("lttng", Lttng), ("uftrace", Uftrace)):
        if shutil.which(command) is None:
            print(f"{recorder.name}: not available", file=sys.stderr)
            continue
        if command == "lttng":
            subprocess.run(["lttng-sessiond", "--daemonize"], capture_output=True, check=False)
        found.append(recorder())
    return found
