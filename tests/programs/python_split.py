# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Functions with known parts of the time: alpha 50 %, beta 30 %, gamma 20 %, all of it in spin. usage: python_split.py SECONDS [NAME]
With NAME, spin is called so."""

import sys
import time


def spin(seconds):
    end = time.perf_counter() + seconds
    total = 0
    while time.perf_counter() < end:
        for i in range(200):
            total += i
    return total


def alpha(depth=3):
    return alpha(depth - 1) if depth > 0 else spin(0.05)


def beta():
    return spin(0.03)


def gamma():
    return spin(0.02)


def main():
    if len(sys.argv) > 2:
        name = sys.argv[2]
        names = {"co_name": name} if sys.version_info < (3, 11) else {"co_name": name, "co_qualname": name}
        spin.__code__ = spin.__code__.replace(**names)
    end = time.perf_counter() + float(sys.argv[1])
    while time.perf_counter() < end:
        alpha()
        beta()
        gamma()


main()
