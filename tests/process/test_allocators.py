# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs with another allocator, linked or preloaded, before and behind ours: its blocks are recorded, or all of its heap is let alone
and the trace says so; never does a block of one allocator reach another."""

import pathlib

import pytest

from conftest import HEAP_EXACT, PROGRAMS, program

FOLDERS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
LIBRARIES = {
    "jemalloc": ["libjemalloc.so.2"],
    "tcmalloc_minimal": ["libtcmalloc_minimal.so.4"],
    "mimalloc": ["libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so.2.1", "libmimalloc.so.3"],
}
SAMPLED = "--trace=heap=sampled:4096,locks,threads"


def _library(allocator):
    for folder in FOLDERS:
        for name in LIBRARIES[allocator]:
            if (pathlib.Path(folder) / name).exists():
                return f"{folder}/{name}"
    pytest.skip(f"{allocator} is not installed")


def _whole(trace, mode):
    if mode == HEAP_EXACT:
        assert len(trace.allocations({66001})) == trace.matched_frees({66001}) == 450
    assert trace.lost == 0 and not any("heap" in note or "allocator" in note for note in trace.notes)


@pytest.mark.parametrize("mode", [HEAP_EXACT, SAMPLED])
def test_libcs_own(same, mode):
    _whole(same([program("foreign_heap"), "4"], mode).trace(), mode)


@pytest.mark.parametrize("allocator", LIBRARIES)
@pytest.mark.parametrize("mode", [HEAP_EXACT, SAMPLED])
def test_linked(same, allocator, mode):
    _library(allocator)
    if not (PROGRAMS / f"foreign_heap_{allocator}").exists():
        pytest.skip(f"the victims were built without {allocator}")
    _whole(same([program(f"foreign_heap_{allocator}"), "4"], mode).trace(), mode)


@pytest.mark.parametrize("allocator", LIBRARIES)
@pytest.mark.parametrize("mode", [HEAP_EXACT, SAMPLED])
def test_preloaded_behind_ours(same, allocator, mode):
    _whole(same([program("foreign_heap"), "4"], mode, env={"LD_PRELOAD": _library(allocator)}).trace(), mode)


@pytest.mark.parametrize("allocator", LIBRARIES)
@pytest.mark.parametrize("mode", [HEAP_EXACT, SAMPLED, "--capture=off"])
def test_preloaded_before_ours(same, allocator, mode):
    """A script that puts its allocator first on the list. What that allocator lacks (reallocarray, free_sized) reaches our hooks with
    its blocks."""
    library = _library(allocator)
    # Many threads: a process that has ended before its recorder has begun has no notes.
    script = f'LD_PRELOAD="{library}${{LD_PRELOAD:+:$LD_PRELOAD}}" exec {program("foreign_heap")} 16'
    outcome = same(["sh", "-c", script], mode)
    assert b"0 wrong" in outcome.out
    if mode == "--capture=off":
        return
    trace = outcome.trace("foreign_heap")
    assert len(trace.heap["time"]) == 0, "part of a heap is worse than none"
    assert any("another allocator" in note for note in trace.notes)


@pytest.mark.parametrize("allocator", LIBRARIES)
def test_toggled(session, allocator):
    """Blocks from before a capture are freed in it, and the other way round."""
    run = session([program("toggled"), "4"], HEAP_EXACT, "--capture=off", env={"LD_PRELOAD": _library(allocator)})
    assert run.line() == "ready"
    for _ in range(4):
        assert run.ctl("toggle").status == 0
        run.tell("\n")
    outcome = run.finish()
    assert outcome.status == 0, outcome.err.decode()


def test_the_executables_own(same, tmp_path):
    """An allocator compiled into the program: libraries use it too, and so must what they reach through us."""
    from cli_support import compile_c
    source = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char room[64 << 20]; static size_t used; static long strangers;
void* malloc(size_t n) { n = (n + 31) & ~15ul; size_t at = __atomic_fetch_add(&used, n, 5);
  if (at + n > sizeof room) return 0; *(size_t*)(room + at) = n - 16; return room + at + 16; }
void free(void* p) { if (p && ((char*)p < room || (char*)p >= room + sizeof room)) ++strangers; }
void* calloc(size_t a, size_t b) { void* p = malloc(a * b); return p ? memset(p, 0, a * b) : p; }
void* realloc(void* p, size_t n) { void* q = malloc(n);
  if (p && ((char*)p < room || (char*)p >= room + sizeof room)) ++strangers;
  else if (p) memcpy(q, p, ((size_t*)p)[-2] < n ? ((size_t*)p)[-2] : n); return q; }
__attribute__((weak)) void free_sized(void*, size_t);
int main(void) { for (int i = 0; i < 1000; ++i) { char* p = reallocarray(malloc(10), 3, 50); p = reallocarray(p, 2, 500);
    if (free_sized) free_sized(p, 1000); else free(p); free(strdup("text")); }
  fprintf(stderr, "%ld strangers\\n", strangers); return 0; }
"""
    path = compile_c(tmp_path / "own_heap", source, "-O1", "-fno-builtin", "-w", "-D_GNU_SOURCE", "-rdynamic")
    outcome = same([path], HEAP_EXACT)
    assert outcome.own_err == b"0 strangers\n"
    assert len(outcome.trace().heap["time"]) == 0


WRAPPERS = {
    "each when it is first called": """
#define WRAP(result, name, parameters, arguments) \\
  result name parameters { \\
    static result(*next) parameters; \\
    if (!next) next = (result(*) parameters)dlsym(RTLD_NEXT, #name); \\
    ++calls; \\
    return next arguments; \\
  }
WRAP(void*, malloc, (size_t n), (n)) WRAP(void*, realloc, (void* p, size_t n), (p, n)) WRAP(void, free, (void* p), (p))
""",
    "all at once, with memory of its own until then": """
static char room[65536]; static size_t used; static int looking, found;
static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void*, size_t); static void (*next_free)(void*);
static void* early(size_t n) { void* p = room + used; used += (n + 15) & ~15ul; return p; }
static void look(void) { looking = 1; next_malloc = dlsym(RTLD_NEXT, "malloc"); next_calloc = dlsym(RTLD_NEXT, "calloc");
  next_realloc = dlsym(RTLD_NEXT, "realloc"); next_free = dlsym(RTLD_NEXT, "free"); looking = 0; found = 1; }
void* malloc(size_t n) { if (looking) return early(n); if (!found) look(); ++calls; return next_malloc(n); }
void* calloc(size_t a, size_t b) { if (looking) return early(a * b); if (!found) look(); ++calls; return next_calloc(a, b); }
void* realloc(void* p, size_t n) { if (looking) return early(n); if (!found) look(); ++calls; return next_realloc(p, n); }
void free(void* p) { if ((char*)p >= room && (char*)p < room + sizeof room) return; if (!found) look(); ++calls; next_free(p); }
""",
}


@pytest.mark.parametrize("how", WRAPPERS)
@pytest.mark.parametrize("place", ["executable", "library"])
@pytest.mark.parametrize("mode", [HEAP_EXACT, "--capture=off"])
def test_a_wrapper_around_the_next_allocator(same, tmp_path, how, place, mode):
    """Counters of allocations, leak checkers: their malloc calls whatever dlsym(RTLD_NEXT) says, which is ours."""
    from cli_support import compile_c
    wrapper = "#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nstatic long calls;\n" + WRAPPERS[how].replace("\\\\", "\\")
    program_of = """
int main(void) { for (int i = 0; i < 1000; ++i) { char* p = strdup("text"); p = realloc(p, 500); p = reallocarray(p, 3, 300); free(p); }
"""
    flags = ("-O1", "-fno-builtin", "-w", "-D_GNU_SOURCE")
    if place == "executable":
        path = compile_c(tmp_path / "wrapped", wrapper + program_of + "printf(\"%d\\n\", calls >= 3000); return 0; }", *flags)
        outcome = same([path], mode)
        assert outcome.out == b"1\n"
    else:
        library = compile_c(tmp_path / "libwrapper.so", wrapper, "-shared", "-fPIC", *flags)
        path = compile_c(tmp_path / "wrapped", "#include <stdlib.h>\n#include <string.h>\n" + program_of + "return 0; }", *flags)
        outcome = same(["sh", "-c", f'LD_PRELOAD="{library}${{LD_PRELOAD:+:$LD_PRELOAD}}" exec {path}'], mode)
    if mode == "--capture=off":
        return
    trace = outcome.trace("wrapped")
    assert len(trace.heap["time"]) == 0
    assert any("another allocator" in note for note in trace.notes)


def test_a_heap_that_is_not_ours_alone(same, tmp_path):
    """What was asked for cannot be had: the reason is said at once, as there is no trace to say it in."""
    from cli_support import compile_c
    wrapper = "#include <dlfcn.h>\n#include <stdlib.h>\nstatic long calls;\n" + WRAPPERS["each when it is first called"]
    path = compile_c(tmp_path / "wrapped", wrapper + "int main(void) { free(malloc(5)); return 0; }", "-O1", "-fno-builtin", "-w", "-D_GNU_SOURCE")
    outcome = same([path], "--trace=heap=exact")
    assert b"another allocator comes before gpuprof's" in outcome.err
