# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Allocates and waits in known functions. Prints "up", and begins when a line comes: a capture has begun then."""

import threading

KEPT = []


def grow(size):
    KEPT.append(bytearray(size))


def outer(size):
    grow(size)


class Thing:
    def deep(self, depth):
        if depth:
            return self.deep(depth - 1)
        # A native function calls back.
        return sorted([1], key=lambda _: outer(3_000_000) or 0)


def wait_for(lock):
    lock.acquire()


print("up", flush=True)
input()
outer(5_000_000)
Thing().deep(3)
held = threading.Lock()
held.acquire()
threading.Timer(0.2, held.release).start()
wait_for(held)
print(len(KEPT))
