# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""For programs that must be sampled: waits until gpuprof's sampler has looked. A time for it would be a guess, and wrong on a busy machine.
Its thread is asked for by system calls, as lists of libc do not show it."""

import ctypes
import os
import struct
import time


def _threads():
    folder, buffer = os.open("/proc/self/task", os.O_RDONLY), ctypes.create_string_buffer(65536)
    size = ctypes.CDLL(None).syscall(217 if os.uname().machine == "x86_64" else 61, folder, buffer, len(buffer))  # getdents64
    os.close(folder)
    at = 0
    while at < size:
        length, = struct.unpack_from("H", buffer.raw, at + 16)
        name = buffer.raw[at + 19:at + length].split(b"\0")[0].decode()
        if name.isdigit():
            yield name
        at += length


def _looks():
    """How often the sampler has gone to sleep: once for each look. 0: it has not begun."""
    for tid in _threads():
        try:
            with open("/proc/self/task/%s/status" % tid) as file:
                status = file.read()
        except FileNotFoundError:
            continue
        if status.startswith("Name:\tgpuprof-sample\n"):
            return int(status.split("\nvoluntary_ctxt_switches:\t")[1].split()[0])
    return 0


def await_looks(count):
    """Waits until the sampler has looked so often from now on. Returns at once in a program that is not recorded."""
    if not any(name.startswith("GPUPROF_") for name in os.environ):
        return
    while not _looks():
        time.sleep(0.005)
    enough = _looks() + count
    while _looks() < enough:
        time.sleep(0.005)


def worst_delay():
    """How long this machine keeps a thread that wakes up from a processor at present, in seconds."""
    worst = 0
    for _ in range(50):
        before = time.monotonic()
        time.sleep(0.005)
        worst = max(worst, time.monotonic() - before - 0.005)
    return worst
