# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Writes stand-ins of the C library to link with, which offer each function only as an old release had it.

A program that is linked with them runs on that release and on all later ones. What the old release lacks is missing at
link time, so nothing younger gets in unseen. They are made of this machine's library, which keeps the old versions of
its functions. They have no code: at run time the machine's own library is loaded.

usage: libc_floor.py FOLDER FLOOR COMPILER...      (libc_floor.py build/floor 2.28 gcc)
"""

import pathlib
import re
import subprocess
import sys

# The threads and the loader's functions had libraries of their own up to release 2.33.
ONCE_APART = ("libpthread.so.0", "libdl.so.2")
LINE = re.compile(r"^\s*\d+:\s+([0-9a-f]+)\s+(\w+)\s+(\w+)\s+(GLOBAL|WEAK)\s+\w+\s+(\w+)\s+(\S+?)@@?GLIBC_([\d.]+)(?:\s|$)")


def version_key(version):
    return tuple(int(part) for part in version.split("."))


def newest_symbols(library, floor):
    """Returns {name: (version, type, size, address)} with the newest version up to the floor."""
    listing = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in listing.splitlines():
        match = LINE.match(line)
        if not match or match[5] == "UND" or match[3] == "TLS":
            continue
        address, size, kind, _, _, name, version = match.groups()
        if version_key(version) > version_key(floor):
            continue
        if name not in found or version_key(found[name][0]) < version_key(version):
            found[name] = (version, kind, int(size, 0), int(address, 16))
    return found


def assembly_of(symbols):
    """Returns the text of the assembly. Names of one variable stay names of one: a program may keep the variable."""
    lines = [".section .note.GNU-stack,\"\",%progbits"]
    variables = {}
    for name, (_, kind, size, address) in sorted(symbols.items()):
        if kind == "OBJECT":
            variables.setdefault((address, size), []).append(name)
        else:
            lines += [".text", f".globl {name}", f".type {name}, %function", f"{name}: .byte 0"]
    for (_, size), names in sorted(variables.items()):
        lines += [".bss", ".balign 32"]
        for name in names:
            lines += [f".globl {name}", f".type {name}, %object", f".size {name}, {size}", f"{name}:"]
        lines += [f".skip {max(size, 1)}"]
    return "\n".join(lines) + "\n"


def script_of(symbols):
    nodes = {}
    for name, (version, *_) in symbols.items():
        nodes.setdefault(version, []).append(name)
    text, before = "", ""
    for version in sorted(nodes, key=version_key):
        text += f"GLIBC_{version} {{ global: {' '.join(f'{name};' for name in sorted(nodes[version]))}"
        text += (" local: *;" if not before else "") + f" }} {before};\n"
        before = f"GLIBC_{version}"
    return text


def build(folder, compiler, soname, symbols):
    stem = folder / soname
    source, script = stem.with_suffix(".s"), stem.with_suffix(".map")
    source.write_text(assembly_of(symbols))
    arguments = [*compiler, "-shared", "-nostdlib", f"-Wl,-soname,{soname}", "-o", str(folder / soname), str(source)]
    if symbols:
        script.write_text(script_of(symbols))
        arguments.append(f"-Wl,--version-script={script}")
    subprocess.run(arguments, check=True)


def path_of(compiler, name):
    path = subprocess.run([*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
    if "/" not in path:
        sys.exit(f"libc_floor.py: {compiler[0]} does not find {name}; install the C library's development files")
    return path


def main():
    folder, floor, compiler = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    for soname in ("libc.so.6", "libm.so.6"):
        build(folder, compiler, soname, newest_symbols(path_of(compiler, soname), floor))
    for soname in ONCE_APART:
        build(folder, compiler, soname, {})
    loader = subprocess.run(["readelf", "-d", path_of(compiler, "libc.so.6")], capture_output=True, text=True, check=True)
    loader = re.search(r"\[(ld-linux[^\]]*)\]", loader.stdout)[1]
    parts = [folder / "libc.so.6", path_of(compiler, "libc_nonshared.a")]
    (folder / "libc.so").write_text(f"GROUP ( {' '.join(map(str, parts))} AS_NEEDED ( {path_of(compiler, loader)} ) )\n")
    (folder / "libm.so").write_text(f"GROUP ( {folder / 'libm.so.6'} )\n")


if __name__ == "__main__":
    main()
