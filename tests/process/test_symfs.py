# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Libraries that are not at their path when the bundle is read: gone, moved under another root, or of another mount namespace."""

import json
import shutil
import subprocess

import pytest

from conftest import gpuprof, needs

pytestmark = needs("gcc")
LIBRARY = """
#include <stdlib.h>
__attribute__((noinline)) static void Inner(void) { free(malloc(70001 + BUILD)); __asm__ volatile(""); }
void Work(void) { for (int i = 0; i < 50; ++i) Inner(); __asm__ volatile(""); }
"""
PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return 3;
  ((void (*)(void))dlsym(library, "Work"))();
  printf("worked\\n");
  fflush(stdout);
  char byte;
  return argc > 2 && read(0, &byte, 1) < 0;
}
"""


def build(path, source, *flags):
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-x", "c", "-", "-O1", "-fno-builtin", "-Wl,--build-id", "-o", str(path), *flags], input=source.encode(), check=True)
    return path


@pytest.fixture
def library(tmp_path):
    return build(tmp_path / "extracted" / "libtemporary.so", LIBRARY, "-shared", "-fPIC", "-DBUILD=1")


@pytest.fixture
def loader(tmp_path):
    return build(tmp_path / "loader", PROGRAM, "-ldl")


def names(bundle, *options):
    """The innermost frames of the folded stacks, and all that the command said."""
    done = gpuprof("stats", "stacks", bundle, "--by", "heap_allocs", *options)
    assert done.status == 0, done.err.decode()
    return {line.rsplit(" ", 1)[0].rsplit(";", 1)[1] for line in done.out.decode().splitlines()}, done.err.decode()


def notes(name, bundle, *options):
    return json.loads(gpuprof("stats", name, "--json", bundle, *options).out)["meta"]["notes"]


def test_a_library_that_moved_under_another_root(record, library, loader, tmp_path):
    bundle = record([loader, library], "--trace=heap=exact").bundle
    assert "Inner" in names(bundle)[0]
    assert not any("libtemporary" in note for note in notes("overview", bundle))
    root = tmp_path / "root"
    moved = root / library.relative_to("/")
    moved.parent.mkdir(parents=True)
    shutil.move(library, moved)

    leaves, _ = names(bundle)
    assert "Inner" not in leaves and any(leaf.startswith("libtemporary.so+0x") for leaf in leaves)
    for name in ("overview", "health", "heap"):
        (note,) = [note for note in notes(name, bundle) if str(library) in note]
        assert "a file is not on this machine" in note and "--symfs" in note

    leaves, _ = names(bundle, "--symfs", root)
    assert "Inner" in leaves and not any(leaf.startswith("libtemporary.so+0x") for leaf in leaves)
    assert names(bundle, "--symfs", f"{root}//")[0] == leaves
    assert not any("libtemporary" in note for note in notes("overview", bundle, "--symfs", root))
    dumped = gpuprof("dump", bundle, "--symfs", root).out.decode()
    assert 'frames="Inner;Work;main;' in dumped

    # Nothing is there.
    (tmp_path / "empty").mkdir()
    (note,) = [note for note in notes("health", bundle, "--symfs", tmp_path / "empty") if str(library) in note]
    assert f"neither under {tmp_path / 'empty'} nor at the path" in note


def test_another_build_under_the_folder_is_refused(record, library, loader, tmp_path):
    bundle = record([loader, library], "--trace=heap=exact").bundle
    root = tmp_path / "root"
    other = build(root / library.relative_to("/"), LIBRARY, "-shared", "-fPIC", "-DBUILD=2")
    # The file at the recorded path is the right one.
    leaves, _ = names(bundle, "--symfs", root)
    assert "Inner" in leaves
    (note,) = [note for note in notes("heap", bundle, "--symfs", root) if "another build" in note]
    assert str(other) in note
    library.unlink()
    leaves, _ = names(bundle, "--symfs", root)
    assert "Inner" not in leaves and any(leaf.startswith("libtemporary.so+0x") for leaf in leaves)
    (note,) = [note for note in notes("heap", bundle, "--symfs", root) if "another build" in note]
    assert str(other) in note


def test_the_folder_must_be_there(record, library, loader):
    bundle = record([loader, library], "--trace=heap=exact").bundle
    for verb in (["stats", "heap"], ["dump"]):
        done = gpuprof(*verb, bundle, "--symfs", library)
        assert done.status == 2 and b"is not a folder" in done.err


def test_the_mount_namespace_of_a_process_that_still_runs(session, library, loader, tmp_path):
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace can be made here")
    inside = tmp_path / "inside"
    inside.mkdir()
    script = f"mount -t tmpfs none {inside} && mv {library} {inside} && exec {loader} {inside}/{library.name} wait"
    running = session(["unshare", "--mount", "sh", "-c", script], "--trace=heap=exact")
    assert running.line() == "worked"
    assert not list(inside.iterdir()), "the library is seen from inside only"
    running.wait_for(lambda: "Inner" in names(running.bundle)[0])
    running.tell("x")
    assert running.finish().status == 0
    leaves, _ = names(running.bundle)
    assert "Inner" not in leaves and any(leaf.startswith(f"{library.name}+0x") for leaf in leaves)
