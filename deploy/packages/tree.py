# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The tree of files that each package holds: the command, the two objects, licences and the list of changes."""

import pathlib
import re
import shutil
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
OBJECTS = {"libgpuprof_inject.so": "inject", "libgpuprof_tracer.so": "tracer"}
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


def text_of(place, build):
    """Returns the text of a licence, or None."""
    is_comment = place.startswith("comment:")
    path = ROOT / place.removeprefix("comment:").replace("{build}", str(build))
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    if is_comment:
        text = re.search(r"/\*(.*?)\*/", text, re.S)[1]
    return text.strip()


def linked_archives(build):
    """Returns the names of the foreign archives that the three files are linked with."""
    names = set()
    for target in ("launcher/gpuprof", *(f"{room}/{name}" for name, room in OBJECTS.items())):
        done = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "-s", target], capture_output=True, text=True, check=True)
        names |= {pathlib.PurePath(word).name for word in done.stdout.split() if word.endswith(".a")}
    return {name for name in names if not name.startswith("libgpuprof_") or name == "libgpuprof_simdjson.a"}


def notice(build):
    """Returns NOTICE: whose work is inside, and its licences in full."""
    libraries = tomllib.loads((ROOT / "deploy/packages/libraries.toml").read_text())["library"]
    known = {library["archive"] for library in libraries}
    # libunwind comes as two archives.
    unknown = {name for name in linked_archives(build) if re.sub(r"-(x86_64|aarch64)\.a$", ".a", name) not in known}
    if unknown:
        raise PackageError(f"deploy/packages/libraries.toml does not name the licence of {', '.join(sorted(unknown))}; add an entry")
    parts = ["gpuprof\nCopyright gpuprof contributors\nLicensed under the Apache License 2.0; see LICENSE.\n",
             "The command, its two objects and its page contain the work of others:\n"
             + "".join(f"- {library['name']}: {library['licence']}\n" for library in libraries)]
    for library in libraries:
        texts = [text for text in (text_of(place, build) for place in library["text"]) if text]
        if not texts:
            raise PackageError(f"the licence of {library['name']} is at none of {', '.join(library['text'])}; run scripts/setup, and build the page")
        parts.append(f"{'=' * 80}\n{library['name']}\n{library['licence']}\n{'=' * 80}\n\n{texts[0]}\n")
    return "\n".join(parts)


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
    documents = folder / "share" / "doc" / "gpuprof"
    documents.mkdir(parents=True)
    for name in ("LICENSE", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, documents / name)
    (documents / "NOTICE").write_text(notice(build), encoding="utf-8")
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
