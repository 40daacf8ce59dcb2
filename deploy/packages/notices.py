# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes NOTICE: what the command, the two objects and the page contain of others, with the licences in full.

usage: notices.py write --page notices.json --engine --out NOTICE    # the build calls it
       notices.py check BUILD                               # tests/checks calls it

`check` reads the link lines and the list of included headers of a build. It fails if a library is not in the table
below, if the table names one that is not inside, or if the text of a licence is missing.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import NamedTuple, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ("launcher/gpuprof", "inject/libgpuprof_inject.so", "tracer/libgpuprof_tracer.so", "analysis/libgpuprof.so")


class NoticeError(Exception):
    """Cause and fix, for people."""


class Library(NamedTuple):
    """One entry of the table."""
    name: str
    licence: str
    owner: str  # of its headers: a package of the distribution, or a folder of .deps
    archive: str = ""  # on the link line; empty: headers alone
    text: Tuple[str, ...] = ()  # places of the licence, the first that exists; empty: the package's copyright file


# The compiler's own headers and libraries, and the C library, which is not inside.
COMPILER = re.compile(r"(libc6|linux-libc|libgcc-\d+|libstdc\+\+-\d+|libcrypt|gcc-\d+|libclang-\S+|libc\+\+\S*)(-dev)?$")

LIBRARIES = [
    Library("Protocol Buffers", "BSD-3-Clause", "libprotobuf-dev", "libprotobuf.a"),
    Library("Zstandard", "BSD-3-Clause", "libzstd-dev", "libzstd.a"),
    Library("zlib", "Zlib", "zlib1g-dev", "libz.a"),
    Library("minizip", "Zlib", "libminizip-dev", "libminizip.a"),
    Library("SQLite", "public domain", "libsqlite3-dev", "libsqlite3.a"),
    Library("nghttp2", "MIT", "libnghttp2-dev", "libnghttp2.a"),
    Library("RE2", "BSD-3-Clause", "libre2-dev", "libre2.a"),
    Library("utf8proc", "MIT AND Unicode-DFS-2015", "libutf8proc-dev", "libutf8proc.a"),
    Library("libyaml", "MIT", "libyaml-dev", "libyaml.a"),
    Library("GNU libiberty (the demanglers)", "GPL-2.0-or-later and LGPL-2.0-or-later, each with the permission to link it into any program",
            "libiberty-dev", "libiberty.a"),
    Library("simdjson", "Apache-2.0", ".deps/simdjson", "libgpuprof_simdjson.a", (".deps/simdjson/LICENSE",)),
    Library("libunwind", "MIT", ".deps/libunwind", "libunwind.a", ("comment:.deps/libunwind/include/libunwind-common.h",)),
    Library("cpp-httplib", "MIT", ".deps/httplib", "", (".deps/httplib/include/LICENSE",)),
    Library("JSON for Modern C++", "MIT", "nlohmann-json3-dev"),
    Library("FlatBuffers", "Apache-2.0", "libflatbuffers-dev"),
    Library("CLI11", "BSD-3-Clause", "libcli11-dev"),
    Library("toml++", "MIT", "libtomlplusplus-dev"),
]
# Always inside, and on no link line.
RUNTIME = Library("The compiler's libraries libstdc++, libgcc and libgcc_eh", "GPL-3.0-or-later WITH GCC-exception-3.1", "", "",
                  tuple(f"/usr/share/doc/gcc-{version}-base/copyright" for version in (12, 11, 13, 14, 15)))
# In the engine that a report carries: compiled by Zig, with its libraries. Its other libraries are the command's.
ZIG = ".deps/zig/ziglang"
ENGINE = [
    Library("LLVM's libc++ and libc++abi, in the engine of reports", "Apache-2.0 WITH LLVM-exception", "", "", (f"{ZIG}/lib/libcxx/LICENSE.TXT",)),
    Library("wasi-libc, in the engine of reports", "MIT", "", "", (f"{ZIG}/lib/libc/wasi/LICENSE-MIT",)),
    Library("musl, in wasi-libc", "MIT", "", "", (f"{ZIG}/lib/libc/wasi/libc-top-half/musl/COPYRIGHT",)),
    Library("Zig's compiler_rt, in the engine of reports", "MIT", "", "", (f"{ZIG}/LICENSE",)),
]


def text_of(library):
    """Returns the licence as its package ships it, or "" if it is not on this machine."""
    for place in library.text or (f"/usr/share/doc/{library.owner}/copyright",):
        path = ROOT / place.replace("comment:", "")
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if place.startswith("comment:"):
            text = re.search(r"/\*(.*?)\*/", text, re.S)[1]
        return text.strip()
    return ""


def page_notices(path):
    """Returns (name, licence, text) of the packages in the page. The bundler found them (viewer/scripts/notices.mjs)."""
    if path is None or not path.is_file():
        return []
    return [(found["name"], found["licence"], found["text"]) for found in json.loads(path.read_text(encoding="utf-8"))]


def notice(page=None, has_engine=True):
    """Returns NOTICE, and the names of the libraries whose licence is not on this machine."""
    libraries = [*LIBRARIES, RUNTIME, *(ENGINE if has_engine else [])]
    found = [(library.name, library.licence, text_of(library)) for library in libraries]
    missing = [name for name, _, text in found if not text]
    found += page_notices(page)
    parts = ["gpuprof\nCopyright gpuprof contributors\nLicensed under the Apache License 2.0; see LICENSE.\n",
             "The command, its two objects and its page contain the work of others:\n" + "".join(f"- {name}: {licence}\n" for name, licence, _ in found)]
    for name, licence, text in found:
        parts.append(f"{'=' * 80}\n{name}\n{licence}\n{'=' * 80}\n\n{text or 'The text was not on the machine that built this.'}\n")
    return "\n".join(parts), missing


def linked_archives(build):
    """Returns the names of the foreign archives that the shipped files are linked with."""
    names = set()
    for target in SHIPPED:
        # Built where .deps/pic is.
        if target == "analysis/libgpuprof.so" and not (build / target).exists():
            continue
        done = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "-s", target], capture_output=True, text=True, check=True)
        names |= {pathlib.PurePath(word).name for word in done.stdout.split() if word.endswith(".a")}
    # libunwind comes as two archives.
    names = {re.sub(r"^libunwind-\w+\.a$", "libunwind.a", name) for name in names}
    return {name for name in names if not name.startswith("libgpuprof_") or name == "libgpuprof_simdjson.a"}


def included_headers(build):
    """Returns the foreign headers that the product's objects include."""
    done = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True)
    headers, is_product = set(), False
    for line in done.stdout.splitlines():
        if not line.startswith(" "):
            is_product = not line.startswith("tests/")
        elif is_product and line.strip():
            # Not resolved: .deps may be a link.
            headers.add(os.path.normpath(build / line.strip()))
    own = [f"{ROOT}/", f"{build}/"]
    return {path for path in headers if path.startswith(f"{ROOT}/.deps/") or not any(path.startswith(folder) for folder in own)}


def owners_of(headers):
    """Returns the owners of headers: packages of the distribution and folders of .deps, each with one of its headers."""
    deps = f"{ROOT}/.deps/"
    owners = {f".deps/{path[len(deps):].split('/')[0]}": path for path in sorted(headers) if path.startswith(deps)}
    foreign = sorted(path for path in headers if not path.startswith(deps))
    if foreign and shutil.which("dpkg-query") is None:
        raise NoticeError("the owners of headers are told by dpkg-query, which this machine lacks; check on Debian or Ubuntu")
    told = subprocess.run(["dpkg-query", "-S", *foreign], capture_output=True, text=True, check=False).stdout if foreign else ""
    seen = set()
    for line in told.splitlines():
        names, _, path = line.rpartition(": ")
        seen.add(path)
        for name in names.split(", "):
            owners.setdefault(name.partition(":")[0], path)
    for path in foreign:
        if path not in seen:
            owners[path] = path
    return {owner: path for owner, path in owners.items() if not COMPILER.match(owner)}


def faults_of(archives, owners, missing):
    """Returns what is wrong with the table, one sentence each."""
    known_archives = {library.archive for library in LIBRARIES if library.archive}
    known_owners = {library.owner for library in LIBRARIES}
    where = "deploy/packages/notices.py"
    faults = [f"{name} is linked and has no entry in {where}; add its licence" for name in sorted(archives - known_archives)]
    faults += [f"{path} of {owner} is included and has no entry in {where}; add its licence" for owner, path in sorted(owners.items())
               if owner not in known_owners]
    faults += [f"{name} has an entry in {where} and is not linked; remove the entry" for name in sorted(known_archives - archives)]
    faults += [f"{name} has an entry in {where} and none of its headers is included; remove the entry" for name in sorted(known_owners - set(owners))]
    faults += [f"the licence of {name} is not on this machine; run scripts/setup" for name in missing]
    return faults


def check(build):
    """Raises if NOTICE would not be true of a build."""
    faults = faults_of(linked_archives(build), owners_of(included_headers(build)), notice(has_engine=(build / "engine").is_dir())[1])
    if faults:
        raise NoticeError("\n".join(faults))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    write = verbs.add_parser("write")
    write.add_argument("--page", type=pathlib.Path)
    write.add_argument("--engine", action="store_true")
    write.add_argument("--out", type=pathlib.Path, required=True)
    verbs.add_parser("check").add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    if options.verb == "write":
        text, missing = notice(options.page, options.engine)
        options.out.write_text(text, encoding="utf-8")
        if missing:
            print(f"warning: NOTICE lacks the licences of {', '.join(missing)}: they are not on this machine, and packages cannot be made", file=sys.stderr)
        return 0
    try:
        check(pathlib.Path(os.path.abspath(options.build)))
    except NoticeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
