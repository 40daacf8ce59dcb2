#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Writes a large snapshot of PyTorch's memory, and prints what reading it costs.

    make_snapshot.py FILE [MEGABYTES]          writes the file
    make_snapshot.py --measure GPUPROF FILE    time, memory and bytes a second of `stats memory_profile`

The events share frames and stacks as those of PyTorch do; half of the stacks are lists of their own. The pickle is written
piece by piece, so that this program needs little memory.
"""

import os
import pickle
import random
import resource
import subprocess
import sys
import time


def stacks(seeded, count=2000):
    frames = [{"filename": f"/opt/venv/lib/python3.12/site-packages/torch/nn/modules/part{i % 60}.py", "line": i, "name": f"forward_{i % 300}"}
              for i in range(3000)]
    return [[seeded.choice(frames) for _ in range(seeded.randint(5, 30))] for _ in range(count)]


def write(path, megabytes):
    seeded = random.Random(1)
    known = stacks(seeded)
    with open(path, "wb") as file:
        out = pickle._Pickler(file, protocol=4)
        # Without frames, so that the pieces can be written one after the other.
        out.framer.start_framing = lambda: None
        file.write(pickle.PROTO + bytes([4]) + pickle.EMPTY_DICT + pickle.MARK)
        for key, value in (("segments", []), ("external_annotations", [])):
            out.save(key)
            out.save(value)
        out.save("device_traces")
        file.write(pickle.EMPTY_LIST + pickle.EMPTY_LIST)
        live, now, address = [], 1_764_300_000_000_000, 0x7F0000000000
        for stack in known:
            out.save(stack)
            file.write(pickle.POP)
        fast = fast_events(out)
        while file.tell() < megabytes << 20:
            file.write(pickle.MARK)
            for _ in range(1000):
                now += seeded.randrange(1, 50)
                stack = seeded.choice(known)
                if live and seeded.random() < 0.49:
                    at, size = live.pop(seeded.randrange(len(live)))
                    fast(file, "free_completed", at, size, now, stack, seeded.random() < 0.5)
                else:
                    address += 512 * 64
                    size = 512 * seeded.randrange(1, 64)
                    live.append((address, size))
                    fast(file, "alloc", address, size, now, stack, seeded.random() < 0.5)
            file.write(pickle.APPENDS)
        file.write(pickle.APPEND + pickle.SETITEMS + pickle.STOP)


def fast_events(out):
    """Returns a function that writes an event as the C pickler does, with the keys and stacks that the memo has."""
    for key in ("action", "alloc", "free_completed", "addr", "size", "stream", "time_us", "frames", "compile_context", "N/A", "user_metadata", ""):
        out.save(key)
        out.write(pickle.POP)
    places = {}

    def get(thing):
        place = places.get(id(thing))
        if place is None:
            place = places[id(thing)] = out.get(out.memo[id(thing)][0])
        return place
    keys = {text: get_text(out, text) for text in ("action", "alloc", "free_completed", "addr", "size", "stream", "time_us", "frames",
                                                   "compile_context", "N/A", "user_metadata", "")}

    def long1(number):
        data = number.to_bytes((number.bit_length() >> 3) + 1, "little", signed=True)
        return pickle.LONG1 + bytes([len(data)]) + data

    def event(file, action, address, size, now, stack, is_shared):
        where = get(stack) if is_shared else pickle.EMPTY_LIST + pickle.MEMOIZE + pickle.MARK + b"".join(get(f) for f in stack) + pickle.APPENDS
        file.write(b"".join((pickle.EMPTY_DICT, pickle.MEMOIZE, pickle.MARK, keys["action"], keys[action], keys["addr"], long1(address),
                             keys["size"], pickle.BININT + size.to_bytes(4, "little"), keys["stream"], pickle.BININT1 + b"\0",
                             keys["time_us"], long1(now), keys["compile_context"], keys["N/A"], keys["user_metadata"], keys[""],
                             keys["frames"], where, pickle.SETITEMS)))
    return event


def get_text(out, text):
    for place, thing in out.memo.values():
        if isinstance(thing, str) and thing == text:
            return out.get(place)
    raise KeyError(text)


def measure(gpuprof, path):
    begin = time.monotonic()
    subprocess.run([gpuprof, "stats", "memory_profile", path, "--json"], check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = os.path.getsize(path)
    processor = usage.ru_utime + usage.ru_stime
    print(f"{size / 1e6:.0f} MB: {seconds:.2f} s, {processor:.2f} s of processors, {size / 1e6 / processor:.0f} MB/s, "
          f"memory {usage.ru_maxrss * 1024 / size:.2f} times the file")


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        measure(sys.argv[2], sys.argv[3])
    else:
        write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
