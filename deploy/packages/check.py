# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Installs and runs the packages on other systems: roots of Debian with the oldest and the newest C library at hand.

Each package is used by a user without rights, from a tree that cannot be written, under a path that LD_PRELOAD cannot
hold. A root that cannot be made is left out with a word.
"""

import os
import pathlib
import shutil
import subprocess

from tree import ROOT

# Releases of Debian, and what each root contains besides the essential packages.
ROOTS = {"bullseye": [], "bookworm": ["python3-venv"], "sid": []}
PLACE = "/opt/my tools: new"
ENVIRONMENT = "/opt/my tools"  # Python refuses a colon
NOBODY = "65534"
# What a user does with the command. $1 is the command.
STEPS = r"""
set -eu
"$1" --version
"$1" run --include dash,ls -o /tmp/bundle -- sh -c 'for i in 1 2 3; do ls / > /dev/null; done; echo done' > /tmp/out 2> /tmp/err
grep -qx done /tmp/out
! grep -i 'preload' /tmp/err
"$1" stats overview /tmp/bundle | grep -q .
"$1" info /tmp/bundle --json | grep -q '"executable": ".*/ls"'
"$1" report /tmp/bundle -o /tmp/report.html
test "$(wc -c < /tmp/report.html)" -gt 100000
"$1" doctor > /tmp/doctor || { cat /tmp/doctor; exit 1; }
"""


def make_root(suite, include, folder):
    """Returns the root, or None where it cannot be made."""
    root = folder / suite
    if (folder / f"{suite}.made").exists():
        return root
    if shutil.which("mmdebstrap") is None:
        print(f"{suite}: left out: there is no mmdebstrap (scripts/setup --only packages)")
        return None
    shutil.rmtree(root, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    options = [f"--include={','.join(include)}"] if include else []
    # Mirrors that stand still have lists that are out of date.
    options.append("--aptopt=Acquire::Check-Valid-Until \"false\"")
    done = subprocess.run(["mmdebstrap", "--mode=root", "--variant=minbase", *options, suite, str(root)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{suite}: left out: mmdebstrap fails: {done.stderr.strip().splitlines()[-1:]}")
        return None
    (folder / f"{suite}.made").touch()
    return root


def inside(root, command, binds=(), user=NOBODY):
    """Runs a command in a root that it cannot write to. `binds` are (folder here, path there)."""
    arguments = ["bwrap", "--ro-bind", str(root), "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/opt", "--tmpfs", "/mnt",
                 "--unshare-pid", "--unshare-net", "--unshare-ipc", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/nonexistent"]
    for here, there in binds:
        arguments += ["--ro-bind", str(here), there]
    arguments += ["--chdir", "/tmp", "--"]
    if user:
        arguments = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *arguments]
    return subprocess.run([*arguments, *command], capture_output=True, text=True, check=False)


def used(name, root, command, binds):
    done = inside(root, ["sh", "-c", STEPS, "sh", command], binds)
    print(f"{root.name}: {name}: {'ok' if done.returncode == 0 else 'FAILED'}")
    if done.returncode != 0:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def unpack_tarball(path, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run(["tar", "-xzf", str(path), "-C", str(folder)], check=True)
    return next(folder.iterdir())


def check_wheel(wheel, root, work):
    """Installs the wheel into an environment under a path with a space, and uses both of its commands."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    # An environment knows its own path, so it is made where it is used.
    script = (f"python3 -m venv '{ENVIRONMENT}' && "
              f"'{ENVIRONMENT}/bin/pip' install -q --no-index --no-deps --disable-pip-version-check '/mnt/{wheel.name}'")
    done = subprocess.run(
        ["bwrap", "--ro-bind", str(root), "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/opt", "--bind", str(work), ENVIRONMENT,
         "--tmpfs", "/mnt", "--ro-bind", str(wheel), f"/mnt/{wheel.name}", "--chdir", "/tmp", "--", "bash", "-c",
         script], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{root.name}: wheel: FAILED to install\n{done.stdout}{done.stderr}")
        return False
    return all([used(f"wheel, {command}", root, f"{ENVIRONMENT}/bin/{command}", [(work, ENVIRONMENT)]) for command in ("gpuprof", "gpuprof-tools")])


def check_deb(deb, root, work):
    """Installs the package with dpkg into a copy of the root."""
    subprocess.run(["rm", "-rf", str(work)], check=True)
    work.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", str(root), str(work)], check=True)
    shutil.copyfile(deb, work / "tmp" / deb.name)
    done = subprocess.run(["chroot", str(work), "dpkg", "-i", f"/tmp/{deb.name}"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{root.name}: deb: FAILED to install\n{done.stdout}{done.stderr}")
        return False
    return used("deb", work, "/usr/bin/gpuprof", [])


def check_tag(wheel):
    """Asks auditwheel which systems the wheel is for."""
    auditwheel = shutil.which("auditwheel", path=f"{ROOT}/.deps/venv/bin:{os.environ['PATH']}")
    if auditwheel is None:
        print("auditwheel: left out: it is not installed (scripts/setup --only packages)")
        return True
    done = subprocess.run([auditwheel, "show", str(wheel)], capture_output=True, text=True, check=False)
    words = " ".join(done.stdout.split())
    print(f"auditwheel: {words.partition('. ')[0]}")
    found = words.partition('platform tag: "manylinux_2_')[2].partition("_")[0]
    return found.isdigit() and int(found) <= 28


def check_all(made, out):
    ok, tried = True, 0
    if "wheel" in made:
        ok = check_tag(made["wheel"])
    for suite, include in ROOTS.items():
        root = make_root(suite, include, out / "roots")
        if root is None:
            continue
        tried += 1
        if "tarball" in made:
            tree = unpack_tarball(made["tarball"], out / "unpacked")
            ok = used("tarball", root, f"{PLACE}/bin/gpuprof", [(tree, PLACE)]) and ok
        if "deb" in made:
            ok = check_deb(made["deb"], root, pathlib.Path(out / "installed" / suite)) and ok
        if "wheel" in made and "python3-venv" in include:
            ok = check_wheel(made["wheel"], root, out / "environment") and ok
    if tried == 0:
        print("no root could be made: nothing was run")
    return 0 if ok and tried else 1
