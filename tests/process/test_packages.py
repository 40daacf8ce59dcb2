# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages of this build: they need the C library alone, and work where they are put. `scripts/package --check` does the
same on other systems."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

from cli_support import build_dir, clean_env
from waiting import LIMIT_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 24_000_000
sys.path.insert(0, str(ROOT / "deploy" / "packages"))
import notices  # noqa: E402  (deploy/packages/notices.py)
import tree as package_tree  # noqa: E402  (deploy/packages/tree.py)


def build(out, *options):
    return subprocess.run([sys.executable, str(ROOT / "scripts" / "package"), "--build", str(build_dir()), "--out", str(out), *options],
                          capture_output=True, text=True, check=False, env=clean_env())


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    out = tmp_path_factory.mktemp("packages")
    done = build(out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def one(packages, pattern):
    found = list(packages.glob(pattern))
    assert len(found) == 1, found
    return found[0]


@pytest.fixture(scope="module", name="unpacked")
def unpack(packages, tmp_path_factory):
    """The tarball's tree under a path that LD_PRELOAD cannot hold, without write permission."""
    folder = tmp_path_factory.mktemp("unpacked") / "my tools: new"
    folder.mkdir()
    subprocess.run(["tar", "-xzf", str(one(packages, "*.tar.gz")), "-C", str(folder)], check=True)
    inner = next(folder.iterdir())
    subprocess.run(["chmod", "-R", "a-w", str(folder)], check=True)
    yield inner
    subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)


def run(command, *arguments, cwd, env=None, **more):
    return subprocess.run([str(command), *map(str, arguments)], cwd=cwd, env=env or clean_env(), capture_output=True, text=True, timeout=LIMIT_S, check=False, **more)


def records(command, cwd, **more):
    """Records a program and reads the recording: no word about the loader, and the program is in it."""
    done = run(command, "run", "--include=dash,sh,bash,ls", "-o", "b", "--", "sh", "-c", "ls / > /dev/null; echo done", cwd=cwd, **more)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "preload" not in done.stderr
    processes = json.loads(run(command, "info", "b", "--json", cwd=cwd, **more).stdout)["processes"]
    assert any(process["executable"].endswith("/ls") for process in processes)
    overview = run(command, "stats", "overview", "b", cwd=cwd, **more)
    assert overview.returncode == 0, overview.stderr


def test_the_files_need_the_c_library_alone(packages):
    for path in [packages / "tree" / "bin" / "gpuprof", *sorted((packages / "tree" / "lib" / "gpuprof").glob("*.so"))]:
        libraries, newest = package_tree.needs_of(path)
        assert libraries <= package_tree.MACHINE_LIBRARIES, path
        assert newest <= (2, 28), path
    assert {path.name for path in (packages / "tree" / "lib" / "gpuprof").iterdir()} == {*package_tree.OBJECTS, "python"}


def test_a_tree_that_cannot_be_written_records_under_a_strange_path(unpacked, tmp_path):
    records(unpacked / "bin" / "gpuprof", tmp_path)
    doctor = run(unpacked / "bin" / "gpuprof", "doctor", cwd=tmp_path)
    assert doctor.returncode == 0, doctor.stdout
    report = run(unpacked / "bin" / "gpuprof", "report", "b", "-o", "r.html", cwd=tmp_path)
    assert report.returncode in (0, 2), report.stderr  # 2: this build has no page
    assert (report.returncode == 0) == (tmp_path / "r.html").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_nobody_records_with_it(unpacked, tmp_path):
    for folder in [unpacked, *unpacked.parents]:
        if not os.stat(folder).st_mode & 0o001:
            if str(folder).startswith("/tmp/"):
                os.chmod(folder, 0o755)
    place = tmp_path / "place"
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    for folder in place.parents:
        if str(folder).startswith("/tmp/"):
            os.chmod(folder, 0o755)
    env = clean_env()
    env["HOME"] = "/nonexistent"
    records(unpacked / "bin" / "gpuprof", place, env=env, user=65534, group=65534, extra_groups=[])


def test_children_that_outlive_the_command_still_find_the_object(unpacked, tmp_path):
    done = run(unpacked / "bin" / "gpuprof", "run", "--quiet", "-o", "b", "--", "sh", "-c", "sleep 0.1; env", cwd=tmp_path)
    preload = next(line for line in done.stdout.splitlines() if line.startswith("LD_PRELOAD=")).partition("=")[2]
    # The command has ended, and the path is still good.
    assert pathlib.Path(preload).resolve() == (unpacked / "lib" / "gpuprof" / "libgpuprof_inject.so").resolve()
    after = subprocess.run(["/bin/true"], env={"LD_PRELOAD": preload}, capture_output=True, check=False)
    assert (after.returncode, after.stderr) == (0, b"")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become two other users")
def test_a_folder_that_another_user_made_first_gets_no_link(unpacked, tmp_path):
    """Whoever owned the folder could exchange what programs of the victim load."""
    attacker, victim = 65530, 65531
    taken = [pathlib.Path(f"{place}/gpuprof-objects-{victim}") for place in ("/dev/shm", "/tmp")]
    place = tmp_path / "place"
    place.mkdir()
    for folder in [unpacked, *unpacked.parents, place, *place.parents]:
        if str(folder).startswith("/tmp/") and folder.stat().st_mode & 0o111 != 0o111:
            os.chmod(folder, 0o755)
    place.chmod(0o777)
    env = {**clean_env(), "HOME": "/nonexistent"}
    env.pop("XDG_CACHE_HOME", None)
    command = (unpacked / "bin" / "gpuprof", "env")
    own = {"cwd": place, "env": env, "user": victim, "group": victim, "extra_groups": []}
    try:
        taken[0].mkdir()
        os.chown(taken[0], attacker, attacker)
        done = run(*command, **own)
        assert done.returncode == 0 and f"LD_PRELOAD={taken[1]}/" in done.stdout.replace("'", ""), done.stderr
        shutil.rmtree(taken[1])
        taken[1].mkdir()
        os.chown(taken[1], attacker, attacker)
        done = run(*command, **own)
        assert done.returncode == 125 and "has a space or a colon" in done.stderr and str(taken[1]) in done.stderr
        own["env"] = {**env, "TMPDIR": str(place)}
        done = run(*command, **own)
        assert done.returncode == 125 and "No folder can hold a link" in done.stderr, "any user may write above it, without the sticky bit"
        assert not list(taken[0].iterdir()) and not list(taken[1].iterdir())
    finally:
        for folder in taken:
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module", name="environment")
def install(packages, tmp_path_factory):
    """A Python environment under a path with a space, with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment") / "my env"
    venv.create(folder, with_pip=False, symlinks=True)
    done = subprocess.run([sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "-q", "--no-index", "--no-deps",
                           "--disable-pip-version-check", str(one(packages, "*.whl"))], capture_output=True, text=True, check=False)
    if done.returncode != 0 and "no such option: --python" in done.stderr:
        pytest.skip("this pip is too old")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", ["gpuprof", "gpuprof-tools"])
def test_the_wheel_brings_two_commands(environment, tmp_path, name):
    records(environment / "bin" / name, tmp_path)
    link = tmp_path / "bin" / name
    link.parent.mkdir()
    link.symlink_to(environment / "bin" / name)
    assert run(link, "--version", cwd=tmp_path).stdout == f"gpuprof {package_tree.version()}\n"


def test_the_wheel_and_the_tree_have_the_python_package(environment, unpacked, tmp_path):
    code = ("import sys; sys.path[:0] = sys.argv[1:]; import gpuprof, pathlib; print(gpuprof.__version__); "
            "print(pathlib.Path(gpuprof.__file__).parent); gpuprof.open('nothing')")
    # PYTHONPATH cannot hold a colon.
    for python, folder in ((environment / "bin" / "python", []), (sys.executable, [unpacked / "lib" / "gpuprof" / "python"])):
        done = run(python, "-B", "-c", code, *folder, cwd=tmp_path)
        version, place = done.stdout.split("\n")[:2]
        assert version == package_tree.version(), done.stderr
        assert place.startswith((str(environment), str(unpacked)))
        assert "RecordingError" in done.stderr and "nothing" in done.stderr


def test_doctor_tells_two_installations_apart(environment, tmp_path):
    def checked(command, path):
        env = clean_env()
        env["PATH"] = f"{path}:{env['PATH']}"
        done = run(command, "doctor", cwd=tmp_path, env=env)
        lines = done.stdout.splitlines()
        at = next(i for i, line in enumerate(lines) if line.split()[1] == "gpuprof")
        return lines[at], lines[at + 1]
    assert checked(environment / "bin" / "gpuprof-tools", environment / "bin")[0].startswith("ok ")
    assert checked(environment / "bin" / "gpuprof", environment / "bin")[0].startswith("ok ")
    # Another project's package takes the name.
    both = tmp_path / "both"
    shutil.copytree(environment, both, symlinks=True)
    packages = next((both / "lib").glob("python*/site-packages"))
    (packages / "gpuprof-0.7.1.dist-info").mkdir()
    (both / "bin" / "gpuprof").write_text("#!/usr/bin/env python3\nprint('other')\n")
    found, fix = checked(both / "bin" / "gpuprof-tools", both / "bin")
    assert found.startswith("warn") and "another project's command" in found and "0.7.1" in found
    assert "gpuprof-tools" in fix and "pip uninstall gpuprof" in fix
    # Two installations of this one.
    found, fix = checked(both / "bin" / "gpuprof-tools", environment / "bin")
    assert found.startswith("warn") and str(environment / "bin" / "gpuprof") in found


def test_the_wheel_is_small_and_says_whose_work_it_is(packages):
    wheel = one(packages, "*.whl")
    assert "manylinux_2_28" in wheel.name
    assert wheel.stat().st_size <= MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        notice = archive.read(next(name for name in names if name.endswith("/NOTICE"))).decode()
    assert any(name.endswith("dist-info/LICENSE") for name in names)
    for words in ("Redistribution and use in source and binary forms", "Permission is hereby granted", "GCC RUNTIME LIBRARY EXCEPTION"):
        assert words.lower() in notice.lower(), words
    # Nothing asks for more of those who hand it on than Apache-2.0 does.
    assert "elfutils" not in notice.lower()


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb")
def test_the_debian_package_is_one(packages, tmp_path):
    path = one(packages, "*.deb")
    fields = subprocess.run(["dpkg-deb", "--field", str(path)], capture_output=True, text=True, check=True).stdout
    assert "Package: gpuprof-tools\n" in fields and f"Version: {package_tree.version()}\n" in fields
    assert "Depends: libc6 (>= 2.28)\n" in fields
    subprocess.run(["dpkg-deb", "--extract", str(path), str(tmp_path / "root")], check=True)
    assert run(tmp_path / "root" / "usr" / "bin" / "gpuprof", "--version", cwd=tmp_path).returncode == 0
    records(tmp_path / "root" / "usr" / "bin" / "gpuprof", tmp_path)


def test_a_library_without_a_licence_makes_no_package(monkeypatch, tmp_path):
    real = notices.linked_archives
    monkeypatch.setattr(notices, "linked_archives", lambda build: real(build) | {"libunheard.a"})
    with pytest.raises(package_tree.PackageError, match="libunheard.a is linked and has no entry"):
        package_tree.stage(build_dir(), tmp_path / "tree")


def test_the_command_shows_the_licences_of_what_it_contains(packages):
    command = packages / "tree" / "bin" / "gpuprof"
    shown = run(command, "help", "licences", cwd=packages)
    assert shown.returncode == 0 and shown.stdout == run(command, "help", "licenses", cwd=packages).stdout
    assert shown.stdout == (packages / "tree" / "share" / "doc" / "gpuprof" / "NOTICE").read_text(encoding="utf-8")
    for library in notices.LIBRARIES:
        assert f"- {library.name}: {library.licence}\n" in shown.stdout
        assert notices.text_of(library) in shown.stdout


def test_a_file_that_needs_more_makes_no_package(tmp_path):
    with pytest.raises(package_tree.PackageError, match="not every machine has"):
        package_tree.check_portable(pathlib.Path(shutil.which("cmake")).resolve())
    done = build(tmp_path, "--only", "rpm")
    assert done.returncode == 2 and "no package is called rpm" in done.stderr
