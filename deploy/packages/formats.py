# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The three packages, made of one tree: a tarball, a .deb and a wheel. The same tree gives the same bytes."""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import platform
import tarfile
import time
import zipfile

from tree import FLOOR, PYTHON, files_of, version

NAME = "gpuprof-tools"
SUMMARY = "Tells why a GPU program is slower than it could be"
HERE = pathlib.Path(__file__).resolve().parent


def moment():
    """Returns the time of all files, in seconds since 1970. SOURCE_DATE_EPOCH chooses it."""
    return int(os.environ.get("SOURCE_DATE_EPOCH", "1735689600"))


def machine():
    return platform.machine()


def tar_of(entries):
    """Returns the bytes of a tar archive. `entries` are (name, bytes, mode). Folders come before their files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        made = set()
        for name, data, mode in entries:
            for folder in reversed([str(part) for part in pathlib.PurePosixPath(name).parents if str(part) != "."]):
                if folder not in made:
                    made.add(folder)
                    archive.addfile(described(folder, 0o755, 0, tarfile.DIRTYPE))
            archive.addfile(described(name, mode, len(data), tarfile.REGTYPE), io.BytesIO(data))
    return buffer.getvalue()


def described(name, mode, size, kind):
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size, entry.type, entry.mtime = mode, size, kind, moment()
    return entry


def packed(data):
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=moment(), compresslevel=9) as stream:
        stream.write(data)
    return buffer.getvalue()


def entries_of(tree, prefix):
    for path in files_of(tree):
        yield f"{prefix}{path}", (tree / path).read_bytes(), 0o755 if (tree / path).stat().st_mode & 0o111 else 0o644


def tarball(tree, out):
    name = f"gpuprof-{version()}-linux-{machine()}"
    path = out / f"{name}.tar.gz"
    path.write_bytes(packed(tar_of(entries_of(tree, f"{name}/"))))
    return path


def deb(tree, out):
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}[machine()]
    entries = []
    for name, data, mode in entries_of(tree, "./usr/"):
        name = name.replace("/share/zsh/site-functions/", "/share/zsh/vendor-completions/").replace("/share/doc/gpuprof/", f"/share/doc/{NAME}/")
        entries.append((name, data, mode))
        if name.endswith("/NOTICE"):
            entries.append((name.replace("NOTICE", "copyright"), data, mode))
    installed = sum(len(data) for _, data, _ in entries) // 1024
    fields = {
        "Package": NAME, "Version": version(), "Architecture": architecture, "Section": "devel", "Priority": "optional",
        "Maintainer": "gpuprof contributors", "Installed-Size": str(installed),
        "Depends": f"libc6 (>= {'.'.join(map(str, FLOOR))})", "Description": SUMMARY}
    control = "".join(f"{key}: {value}\n" for key, value in fields.items()).encode()
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {name.removeprefix('./')}\n" for name, data, _ in entries).encode()
    members = [("debian-binary", b"2.0\n"),
               ("control.tar.gz", packed(tar_of([("./control", control, 0o644), ("./md5sums", sums, 0o644)]))),
               ("data.tar.gz", packed(tar_of(entries)))]
    data = b"!<arch>\n"
    for name, member in members:
        data += f"{name:<16}{moment():<12}{0:<6}{0:<6}{'100644':<8}{len(member):<10}`\n".encode() + member + b"\n" * (len(member) % 2)
    path = out / f"{NAME}_{version()}_{architecture}.deb"
    path.write_bytes(data)
    return path


def wheel(tree, out):
    """Writes the wheel. The command has a name of its own in it, because another project's `gpuprof` may take that one.

    The Python package has libgpuprof.so beside it.
    """
    tag = f"py3-none-manylinux_{FLOOR[0]}_{FLOOR[1]}_{machine()}"
    stem = f"{NAME.replace('-', '_')}-{version()}"
    data, info = f"{stem}.data", f"{stem}.dist-info"
    readme = (HERE / "wheel-readme.md").read_text(encoding="utf-8")
    metadata = (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
                f"Requires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n{readme}")
    members = []
    for name, content, mode in entries_of(tree, ""):
        if name == "bin/gpuprof":
            members.append((f"{data}/scripts/gpuprof-tools", content, 0o755))
        elif name == "lib/gpuprof/libgpuprof.so":
            members.append((f"{pathlib.PurePosixPath(PYTHON).name}/libgpuprof.so", content, mode))
        elif name.startswith(f"lib/gpuprof/{PYTHON}/"):
            members.append((name.removeprefix("lib/gpuprof/python/"), content, mode))
        elif name.startswith("share/doc/"):
            members.append((f"{info}/{pathlib.PurePosixPath(name).name}", content, mode))
        else:
            members.append((f"{data}/data/{name}", content, mode))
    members += [(f"{data}/scripts/gpuprof", (HERE / "wheel-command.sh").read_bytes(), 0o755),
                (f"{info}/METADATA", metadata.encode(), 0o644),
                (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: gpuprof {version()}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)]
    record = f"{info}/RECORD"
    lines = []
    for name, content, _ in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    members.append((record, ("\n".join([*lines, f"{record},,"]) + "\n").encode(), 0o644))
    path = out / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, mode in members:
            entry = zipfile.ZipInfo(name, time.gmtime(moment())[:6])
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return path


ALL = {"tarball": tarball, "deb": deb, "wheel": wheel}
