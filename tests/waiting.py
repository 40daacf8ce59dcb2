# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Waits of tests. A test waits for what must happen, and never for a time that should be enough.

Ten other programs at work make everything ten times as slow. So there is one limit for all waits, and it only ends
what hangs. `tests/checks/waits.py` refuses other limits and other sleeps."""

import pathlib
import time

LIMIT_S = 900
# Between two looks. A look often starts a process of its own.
_LOOK_S = 0.02


def wait_until(condition, what="what must happen", limit=LIMIT_S):
    """Waits until the condition is true, and returns the condition's value. `what` may be a function that tells more."""
    end = time.monotonic() + limit
    while not (found := condition()):
        assert time.monotonic() < end, f"waited in vain for {what() if callable(what) else what}"
        time.sleep(_LOOK_S)
    return found


def wait_until_at_rest(pid, number):
    """Waits until a process has taken this signal and everything before it, and sleeps again."""
    looks = 0

    def rests():
        nonlocal looks
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
        pending = (int(status["ShdPnd"], 16) | int(status["SigPnd"], 16)) >> (number - 1) & 1
        looks = looks + 1 if status["State"].startswith("S") and not pending else 0
        return looks == 3

    wait_until(rests, f"process {pid} to be at rest")


# Code for a recorded program in Python: it waits until the recorder has begun. Then its threads sleep. By system calls:
# Python's own lists do not show the recorder's threads.
AWAIT_RECORDER = """
import ctypes, os, struct, time
def all_threads():
    folder, buffer = os.open("/proc/self/task", os.O_RDONLY), ctypes.create_string_buffer(65536)
    size = ctypes.CDLL(None).syscall(217 if os.uname().machine == "x86_64" else 61, folder, buffer, len(buffer))  # getdents64
    os.close(folder)
    at = 0
    while at < size:
        length, = struct.unpack_from("H", buffer.raw, at + 16)
        name = buffer.raw[at + 19:at + length].split(b"\\0")[0].decode()
        if name.isdigit():
            yield name
        at += length
def states():
    for tid in all_threads():
        try:
            stat = open(f"/proc/self/task/{tid}/stat").read()
            status = open(f"/proc/self/task/{tid}/status").read()
        except FileNotFoundError:
            continue
        name, _, rest = stat.partition("(")[2].rpartition(") ")
        yield name, rest[0], status.partition("voluntary_ctxt_switches")[2]
def sleepers():
    found = {(name, switches) for name, state, switches in states() if name in ("gpuprof-ctl", "gpuprof-drain") and state == "S"}
    return found if len(found) == 2 else None
while not (seen := sleepers()) or seen != sleepers():  # while a capture begins, they wait for each other in turn
    time.sleep(0.005)
"""


def stay(seconds):
    """Lets a program go on for at least this time, where the time itself is what the test is about."""
    time.sleep(seconds)
