# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Libraries that come and go, one at the other's place, under relative names: each frame is named after the library that lay there then."""

import collections
import subprocess

import pytest

from conftest import gpuprof, needs, program

pytestmark = needs("gcc")
TIMES = 12
# One block in the constructor, two in Work's helper, one in the destructor; the functions of all lie at the same offsets.
PLUGIN = """
#include <stdlib.h>
{padding}
__attribute__((constructor)) static void Begin{name}(void) {{ free(malloc(70001)); }}
__attribute__((destructor)) static void End{name}(void) {{ free(malloc(70002)); }}
__attribute__((noinline)) static void Work{name}(void) {{ free(malloc(70003)); free(malloc(70004)); }}
void Work(void) {{ Work{name}(); __asm__ volatile(""); }}
"""
# Larger than the others, and begins elsewhere: it shares only some addresses with them.
LARGE = "void* g_table[5000] = {g_table}; int Padding(int x) { __asm__ volatile(\".skip 9000, 0x90\"); return x; }"


@pytest.fixture
def plugins(tmp_path):
    for name in ("A", "B", "C"):
        source = tmp_path / f"plug{name}.c"
        source.write_text(PLUGIN.format(name=name, padding=LARGE if name == "C" else ""), encoding="utf-8")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-fno-builtin", "-o", str(tmp_path / f"plug{name}.so"), str(source)], check=True)
    return tmp_path


@pytest.mark.parametrize("form, environment", [("./plug{}.so", {}), ("plug{}.so", {"LD_LIBRARY_PATH": "."})])
@pytest.mark.parametrize("names", ["A", "AB", "ABAC"])
def test_each_is_named_after_itself(record, plugins, names, form, environment):
    outcome = record([program("plugins"), str(TIMES), *(form.format(name) for name in names)], "--trace=heap=exact",
                     env=environment, cwd=plugins)
    assert outcome.status == 0, outcome.err.decode()
    assert len(set(outcome.out.split())) < TIMES * len(names), "no two of them lay at one place: this shows nothing"
    done = gpuprof("stats", "stacks", outcome.bundle, "--by", "heap_allocs")
    assert done.status == 0 and b"not a file" not in done.err, done.err.decode()
    leaves = collections.Counter()
    for line in done.out.decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        leaves[stack.rsplit(";", 1)[1]] += int(count)
    for name in set(names):
        loads = TIMES * names.count(name)
        for function, blocks in (("Begin", 1), ("End", 1), ("Work", 2)):
            # On a busy machine the drain thread may get no processor for longer than the program waits for it.
            assert abs(leaves[function + name] - blocks * loads) <= blocks * loads // 10, (function + name, leaves)
    assert not [leaf for leaf in leaves if leaf.startswith("plug")], "names, not offsets"


def test_no_address_of_ours_is_shown(record, plugins):
    """What lay at a reused address is told by the address that it had; without symbols by the offset in its own file."""
    outcome = record([program("plugins"), "3", "./plugA.so", "./plugB.so"], "--trace=heap=exact", cwd=plugins)
    for name in ("A", "B"):
        (plugins / f"plug{name}.so").unlink()
    done = gpuprof("stats", "stacks", outcome.bundle, "--by", "heap_allocs")
    offsets = {frame for line in done.out.decode().splitlines() for frame in line.rsplit(" ", 1)[0].split(";") if frame.startswith("plug")}
    offsets.discard("plugins")
    of = {name: {frame.split("+")[1] for frame in offsets if frame.startswith(f"plug{name}.so+")} for name in ("A", "B")}
    assert of["A"] and of["A"] == of["B"], offsets
    assert all(int(offset, 16) < 1 << 20 for offset in of["A"]), offsets
