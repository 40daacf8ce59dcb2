# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs that cannot load gpuprof's object run as they would without it, whoever starts them and how."""

import os
import shutil
import subprocess

import pytest

from conftest import SOURCES, gpuprof, program

OTHER = program("other_libc")
UNSET = "LD_PRELOAD (unset), CUDA_INJECTION64_PATH (unset)"


@pytest.mark.parametrize("options", [(), ("--capture=off",), ("--exclude=executes",)])
def test_another_libc(same, options):
    outcome = same([program("executes"), OTHER], *options)
    lines = outcome.out.decode().splitlines()
    assert len(lines) == 20 and lines[0::2] == [f"{line.split(':')[0]}: {UNSET}" for line in lines[0::2]], lines
    assert lines[1::2] == ["5"] * 10


def test_they_are_named(same):
    outcome = same([program("executes"), OTHER])
    overview = " ".join(gpuprof("stats", "overview", outcome.bundle).out.decode().split())
    assert f"not recorded: {OTHER}, 10 times: it is linked with another C library than glibc" in overview


def test_scripts_for_it(same, tmp_path):
    script = tmp_path / "script"
    script.write_text(f"#! {OTHER} argument\n")
    script.chmod(0o755)
    outcome = same([program("executes"), script])
    assert outcome.out.count(UNSET.encode()) == 10


def test_what_others_preload_stays(same, tmp_path):
    """Only our object goes; the program's own preloads are its own business."""
    outcome = same([program("executes"), OTHER], env={"LD_PRELOAD": "libm.so.6"})
    assert outcome.out.count(b"LD_PRELOAD libm.so.6,") == 10


def test_programs_of_glibc_still_have_it(record):
    outcome = record([program("executes"), program("shows_preload")])
    assert outcome.out.count(b"libgpuprof_inject.so") >= 10
    assert len([trace for trace in outcome.traces() if trace.program == "shows_preload"]) == 10


@pytest.mark.parametrize("export", [False, True])
def test_a_start_script_that_preloads_another_library(record, tmp_path, export):
    """Images set LD_PRELOAD to an allocator; our object stays beside it."""
    script = tmp_path / "start.sh"
    shows = program("shows_preload")
    script.write_text(f"#!/bin/sh\nexport LD_PRELOAD=libm.so.6\n{shows}\n" if export else f"#!/bin/sh\nLD_PRELOAD=libm.so.6 {shows}\n")
    script.chmod(0o755)
    outcome = record([script])
    assert outcome.out.decode().split(",")[0].endswith("libgpuprof_inject.so:libm.so.6")
    assert outcome.trace().program == "shows_preload"


def test_a_sanitizer_comes_first(record, tmp_path):
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
    outcome = record(["/bin/sh", "-c", f"LD_PRELOAD={asan} {program('shows_preload')}"], env={"ASAN_OPTIONS": "detect_leaks=0"})
    assert outcome.out.startswith(f"LD_PRELOAD {asan}:".encode()) and b"libgpuprof_inject.so" in outcome.out, outcome.err


@pytest.mark.skipif(os.geteuid() != 0, reason="another root folder needs root")
def test_another_root(same, tmp_path):
    """Without our object in it; the loader would complain on the child's stderr."""
    root = tmp_path / "root"
    (root / "lib64").mkdir(parents=True)
    for line in subprocess.run(["ldd", program("shows_preload")], capture_output=True, text=True, check=True).stdout.splitlines():
        for path in (word for word in line.split() if word.startswith("/")):
            (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            (root / path[1:]).write_bytes(open(path, "rb").read())
            (root / path[1:]).chmod(0o755)
    (root / "shows").write_bytes(open(program("shows_preload"), "rb").read())
    (root / "shows").chmod(0o755)
    code = f"import os, sys\nos.chroot({str(root)!r}); os.chdir('/')\nos.execv('/shows', ['shows'])"
    outcome = same(["python3", "-c", code])
    assert outcome.out.decode().strip() == UNSET


STARTERS = {
    "sh": ["sh", "-c", "{} x; exit $?"],
    "bash": ["bash", "-c", "{} x; exit $?"],
    "python": ["/usr/bin/python3", "-c", "import subprocess, sys; sys.exit(subprocess.run(['{}', 'x']).returncode)"],
    "exec": ["sh", "-c", "exec {} x"],
}


@pytest.mark.parametrize("options", [(), ("--capture=off",), ("--exclude=plain_asan",)])
@pytest.mark.parametrize("starter", STARTERS)
@pytest.mark.parametrize("name", ["plain_asan", "plain_tsan"])
def test_children_built_with_a_sanitizer(same, name, starter, options):
    """gcc's runtime of AddressSanitizer ends a program in which it is not the first library."""
    outcome = same([word.replace("{}", program(name)) for word in STARTERS[starter]], *options)
    assert outcome.status == 5 and outcome.own_err == b"a word on stderr\n"
    assert f"not recorded: {program(name)}: it is built with a sanitizer" in outcome.words
    assert name not in [trace.program for trace in outcome.traces()]


def test_the_overview_tells_of_them_while_the_run_goes_on(session):
    run = session(["sh", "-c", f"{program('plain_asan')} x; echo ran; read line"])
    while run.line() != "ran":
        pass
    overview = gpuprof("stats", "overview", run.bundle)
    assert b"it is built with a sanitizer" in overview.out + overview.err
    run.tell("\n")
    outcome = run.finish()
    assert not list(outcome.bundle.glob("unrecorded*")) and "it is built with a sanitizer" in outcome.words


def test_a_descriptor_that_is_executed(same):
    code = f"import os; os.execve(os.open({program('plain_asan')!r}, os.O_RDONLY), ['plain_asan', 'x'], os.environ)"
    assert same(["/usr/bin/python3", "-c", code]).status == 5


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind here")
@pytest.mark.parametrize("options", [(), ("--capture=off",), ("--trace=heap=exact,locks,threads",)])
@pytest.mark.parametrize("tool", ["memcheck", "helgrind", "drd"])
def test_tools_of_valgrind_see_the_program_alone(record, tool, options):
    command = ["valgrind", "-q", f"--tool={tool}", "--error-exitcode=9", program("counts_threads"), "10"]
    bare = subprocess.run(command, capture_output=True)
    outcome = record(command, *options)
    assert outcome.status == bare.returncode and b"libgpuprof" not in outcome.own_err, outcome.err
    assert "not recorded: " in outcome.words and "another tool watches it" in outcome.words


@pytest.mark.skipif(shutil.which("clang-14") is None, reason="no clang here")
@pytest.mark.parametrize("options", [(), ("--capture=off",)])
@pytest.mark.parametrize("starter", [None, "sh"])
@pytest.mark.parametrize("kind", ["address", "leak", "memory", "thread", "undefined"])
def test_clang_links_a_sanitizer_into_the_program(same, tmp_path, kind, starter, options):
    """Its runtimes of MemorySanitizer and LeakSanitizer hang, or end the program, behind any other library."""
    built = tmp_path / "built"
    subprocess.run(["clang-14", "-w", f"-fsanitize={kind}", "-pthread", "-I", SOURCES.parents[1], SOURCES / "plain.c", "-o", built], check=True)
    command = [built, "x"] if starter is None else [word.replace("{}", str(built)) for word in STARTERS[starter]]
    assert same(command, *options).status == 5
