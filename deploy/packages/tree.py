# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The tree of files that each package holds: the command, its objects, the Python package, licences and the list of changes."""

import pathlib
import re
import shutil
import subprocess

from notices import NoticeError, check

ROOT = pathlib.Path(__file__).resolve().parents[2]
OBJECTS = {"libgpuprof_inject.so": "inject", "libgpuprof_tracer.so": "tracer", "libgpuprof.so": "analysis"}
# Below lib/gpuprof: the module `gpuprof`, which finds libgpuprof.so two folders above itself, or beside itself in a wheel.
PYTHON = "python/gpuprof"
# The glibc of the oldest machine that the packages run on (cmake/GpuprofOptions.cmake).
FLOOR = (2, 28)
# What a package may ask of the machine: parts of the C library.
MACHINE_LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


class PackageError(Exception):
    """Cause and fix, for people."""


def version():
    """Returns the version. CMakeLists.txt is its one place."""
    return re.search(r"project\(gpuprof VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def needs_of(path):
    """Returns the libraries that an ELF file needs, and the newest release of the C library that it asks for."""
    listing = subprocess.run(["readelf", "-d", "-V", "-W", str(path)], capture_output=True, text=True, check=True).stdout
    libraries = set(re.findall(r"\(NEEDED\).*\[(.+)\]", listing))
    versions = [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", listing)]
    return libraries, max(versions, default=(0,))


def check_portable(path):
    libraries, newest = needs_of(path)
    if foreign := libraries - MACHINE_LIBRARIES:
        raise PackageError(f"{path.name} needs {', '.join(sorted(foreign))}, which not every machine has; build it with the preset release")
    if newest > FLOOR:
        raise PackageError(f"{path.name} needs glibc {'.'.join(map(str, newest))}; build it with GPUPROF_LIBC_FLOOR={'.'.join(map(str, FLOOR))}")


def stage(build, folder):
    """Writes the tree into a folder: bin/, lib/gpuprof/ and share/. Each file is stripped and checked."""
    shutil.rmtree(folder, ignore_errors=True)
    wanted = {build / "launcher" / "gpuprof": folder / "bin" / "gpuprof"}
    for name, room in OBJECTS.items():
        wanted[build / room / name] = folder / "lib" / "gpuprof" / name
    for source, target in wanted.items():
        if not source.is_file():
            raise PackageError(f"{source} is missing; build it first (scripts/package builds it without --build)")
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["strip", "--strip-unneeded", "-o", str(target), str(source)], check=True)
        target.chmod(0o755)
        check_portable(target)
    shutil.copytree(ROOT / PYTHON, folder / "lib" / "gpuprof" / PYTHON, ignore=shutil.ignore_patterns("__pycache__"))
    documents = folder / "share" / "doc" / "gpuprof"
    documents.mkdir(parents=True)
    for name in ("LICENSE", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, documents / name)
    try:
        check(build)
    except NoticeError as error:
        raise PackageError(str(error)) from error
    shutil.copyfile(build / "NOTICE", documents / "NOTICE")
    completions = {"bash": "bash-completion/completions/gpuprof", "zsh": "zsh/site-functions/_gpuprof", "fish": "fish/vendor_completions.d/gpuprof.fish"}
    for shell, place in completions.items():
        done = subprocess.run([str(folder / "bin" / "gpuprof"), "completions", shell], capture_output=True, check=True)
        target = folder / "share" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(done.stdout)
    return folder


def files_of(folder):
    """Returns the relative paths of all files, sorted, so that a package is the same each time."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
