# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What a program learns about its own threads, and what its limits leave it, is as without gpuprof."""

import os
import subprocess

import pytest

from conftest import GPUPROF, PROGRAMS, clean_environment, gpuprof, program

MODES = [("--capture=now",), ("--trace=heap=exact",), ("--capture=off",)]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def assert_counts_itself(outcome):
    lines = outcome.out.decode().splitlines()
    counts = [int(line.rsplit(" ", 1)[1]) for line in lines]
    half = len(lines) // 2
    assert half > 10 and counts[:half] == [1] * half and counts[half:-1] == [3] * (half - 1), lines


@pytest.mark.parametrize("options", MODES)
def test_a_program_counts_its_own_threads_alone(same, options):
    assert_counts_itself(same([program("counts_threads"), "400"], *options))


@pytest.mark.parametrize("options", MODES[:2])
def test_a_program_counts_its_own_threads_while_the_recorder_begins(record, options):
    """The recorder's threads are in the kernel's lists before they have run. On a busy machine that takes long."""
    for delay_ms in range(0, 50, 2):
        assert_counts_itself(record([program("counts_threads"), str(delay_ms)], *options))


def test_python_does_not_warn_of_threads_at_a_fork(same):
    """Python 3.12 reads /proc/self/stat at each fork."""
    code = "import os, time; time.sleep(0.3); text = open('/proc/self/stat').read(); print(text.rsplit(')', 1)[1].split()[17])"
    assert same(["/usr/bin/python3", "-c", code]).out == b"1\n"


def what_it_got(out):
    return {name: int(number) for name, number in (line.rsplit(" ", 1) for line in out.decode().splitlines())}


def at_least_as_bare(bare, under, amount=0):
    """The program gets no less than without gpuprof, and a limit of AMOUNT bytes still ends it.

    What the recorder takes beside the limit is rounded up, so the program may get more than without gpuprof.
    It never gets more blocks of 1 MiB than the limit itself has room for.
    """
    got, wanted = what_it_got(under.stdout), what_it_got(bare.stdout)
    assert (under.returncode, set(got)) == (bare.returncode, set(wanted)), under
    assert all(got[name] >= wanted[name] for name in wanted), (got, wanted)
    assert got["blocks"] <= max(wanted["blocks"] + 8, amount >> 20), (got, wanted)
    return got


@pytest.mark.parametrize("options", MODES[:2])
@pytest.mark.parametrize("how", ["soft", "hard", "outside"])
@pytest.mark.parametrize("limit,amount", [("addresses", 60000000), ("addresses", 160000000), ("data", 80000000), ("files", 20),
                                          ("file_size", 40960), ("stack", 65536), ("locked", 3000000)])
def test_a_limit_leaves_the_program_what_it_leaves_without_gpuprof(tmp_path, limit, amount, how, options):
    if limit == "locked" and os.geteuid() != 0:
        pytest.skip("only root can raise a hard limit")
    command = [program("limited"), limit, str(amount), how]
    bare = subprocess.run(command, capture_output=True, env=clean_environment())
    under = subprocess.run([GPUPROF, "run", "-o", tmp_path / "b", *options, "--", *command], capture_output=True,
                           env=clean_environment())
    assert b"told 1" in bare.stdout
    at_least_as_bare(bare, under, amount if limit in ("addresses", "data") else 0)
    assert gpuprof("verify", tmp_path / "b").status == 0


@needs_root
@pytest.mark.parametrize("how", ["soft", "hard"])
def test_a_limit_of_processes(tmp_path, how):
    """It holds for users other than root, and counts each thread of the user."""
    folder = tmp_path / "folder"
    folder.mkdir()
    # Nobody else's threads count, and the run before may not be quite over.
    user = 62000 + 2 * (os.getpid() % 1500) + (how == "hard")
    os.chown(folder, user, user)
    for above in (tmp_path, *tmp_path.parents):
        above.chmod(above.stat().st_mode | 0o055) if above.stat().st_uid == os.geteuid() and above != above.parent else None
    as_user = {"user": user, "group": user, "extra_groups": [], "cwd": folder, "capture_output": True, "env": clean_environment()}
    command = [PROGRAMS / "limited", "processes", "30", how]
    bare = subprocess.run(command, **as_user)
    assert what_it_got(bare.stdout)["threads"] == 29, bare
    under = subprocess.run([GPUPROF, "run", "-o", folder / "b", "--", *command], **as_user)
    at_least_as_bare(bare, under)


def test_a_limit_is_handed_on_as_it_was_set(same):
    """A program that is executed has the limit that its caller has set, and not the one that was raised for gpuprof."""
    code = """
import os, resource, time
time.sleep(0.2)
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 4 << 30))
assert resource.getrlimit(resource.RLIMIT_AS) == (3 << 30, 4 << 30)
os.execv("/bin/grep", ["grep", "address", "/proc/self/limits"])
"""
    soft = same(["/usr/bin/python3", "-c", code.replace("4 << 30", "resource.RLIM_INFINITY")]).out.split()[3]
    assert int(soft) == 3 << 30


def test_a_process_ends_with_its_last_own_thread(same):
    """Also if its main thread has left by the system call itself."""
    code = """
import ctypes, os, threading, time
threading.Thread(target=lambda: (time.sleep(0.3), print("done", flush=True), ctypes.CDLL(None).syscall(60, 0))).start()
ctypes.CDLL(None).syscall(60, 0)  # exit, of this thread alone
"""
    outcome = same(["/usr/bin/python3", "-c", code])
    assert outcome.out == b"done\n"
