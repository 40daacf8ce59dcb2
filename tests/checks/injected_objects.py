# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The two objects that enter other people's processes: what they export, need and weigh.

    injected_objects.py libgpuprof_inject.so libgpuprof_tracer.so

Exports equal the reviewed lists beside this file; no symbol of glibc younger than 2.28; nothing of libstdc++, protobuf or the
unwinder leaves or is needed; libraries needed are libc's own; the tracer takes no lock that inject hooks; code and data stay
below the ratchet.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OLDEST_GLIBC = (2, 28)
NEEDED = {"libc.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# Bytes of code and data (text + data + bss without the ring tables), with some air. May only fall, or rise with a reason in the commit.
MOST_BYTES = {"inject": 243_000, "tracer": 1_060_000}
FOREIGN = re.compile(r"^(_ZNS?[tK]?St|_ZSt|_ZTISt|__cxa_|__gxx_|_Unwind_|_ZN6google8protobuf|GLIBCXX)")
# Hooked by the inject object: what runs inside a hook must not pass through another.
HOOKED_LOCKS = re.compile(r"^(pthread_(mutex|rwlock|cond|barrier)_|pthread_(timed|clock)?join|sem_|mtx_|cnd_|thrd_)")
TOLERATED_WEAK = {"__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"}
# Of libc, whatever the name says.
LIBCS = {"__cxa_at_quick_exit"}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def symbols(path, *flags):
    for line in run("nm", "-D", *flags, path).splitlines():
        yield line.split()[-1]


def check_jump(path, function):
    """The function calls nothing and jumps: what it wraps sees the caller's own return address."""
    code = run("objdump", "-d", f"--disassemble={function}", path)
    words = re.findall(r"\t(call|jmp|bl|blr|br|b)\s", code.partition(f"<{function}>:")[2])
    if not {"jmp", "br", "b"} & set(words) or {"call", "bl", "blr"} & set(words):
        yield f"inject's {function} does not end with a jump"


def check(kind, path):
    exported = {name.split("@")[0] for name in symbols(path, "--defined-only")}
    reviewed = {line.strip() for line in (HERE / f"exports_{kind}.txt").read_text(encoding="utf-8").splitlines()
                if line.strip() and not line.startswith("#")}
    for name in sorted(exported - reviewed):
        yield f"{kind} exports {name}, which tests/checks/exports_{kind}.txt does not list"
    for name in sorted(reviewed - exported):
        yield f"{kind} does not export {name}, which tests/checks/exports_{kind}.txt lists"
    for name in sorted(exported):
        if FOREIGN.match(name):
            yield f"{kind} exports {name}: it would bind in the whole process"
    for symbol in symbols(path, "--undefined-only"):
        name, _, version = symbol.partition("@")
        match = re.search(r"GLIBC_(\d+)\.(\d+)", version)
        if match and (int(match.group(1)), int(match.group(2))) > OLDEST_GLIBC:
            yield f"{kind} needs {symbol}: younger than glibc {'.'.join(map(str, OLDEST_GLIBC))}"
        if FOREIGN.match(name) and name not in TOLERATED_WEAK | LIBCS:
            yield f"{kind} needs {symbol}: it must bring its own or do without"
        if kind == "tracer" and HOOKED_LOCKS.match(name):
            yield f"tracer needs {symbol}: its own locks would be recorded as the program's"
    if kind == "inject":
        yield from check_jump(path, "dlmopen")
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path)))
    for library in sorted(needed - NEEDED):
        yield f"{kind} needs the library {library}"
    text, data = (int(field) for field in run("size", path).splitlines()[1].split()[:2])
    if text + data > MOST_BYTES[kind]:
        yield f"{kind} has grown to {text + data} bytes of code and data, {MOST_BYTES[kind]} are allowed"
    print(f"{kind}: {len(exported)} exports, {text + data} bytes of code and data")


def main():
    found = [line for kind, path in zip(("inject", "tracer"), sys.argv[1:]) for line in check(kind, path)]
    print("\n".join(found) or "both objects are fit to be guests")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
