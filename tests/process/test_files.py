# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Reads of files: each by its path, thread and bytes, nothing else as a file, and the program notices nothing."""

import collections
import errno
import json
import os
import sys

import pytest

from conftest import gpuprof, program
from trace_file import REENTERED, RING_FULL, THREAD_EDGE

FILES = "--trace=files"


@pytest.fixture
def paths(tmp_path):
    """Two files of known sizes."""
    both = []
    for name, size in (("first.bin", 100_000), ("second.bin", 100_001)):
        both.append(tmp_path / name)
        both[-1].write_bytes(bytes(range(256)) * (size // 256) + bytes(size % 256))
    return both


def reads_of(trace, *paths):
    """(name, thread is the main one, bytes) of the reads of these files, in the order of each thread."""
    wanted = {str(path): path.name for path in paths}
    return [(wanted[row["path"]], row["tid"] == trace.pid, row["bytes"]) for row in trace.file_read_rows() if row["path"] in wanted]


def stats(bundle, *options):
    return json.loads(gpuprof("stats", "files", "--json", *options, bundle).out)


def test_every_call(same, paths):
    first, second = paths
    outcome = same([program("file_reads"), "calls", first, second], FILES)
    trace = outcome.trace()
    assert trace.lost == 0
    main = [1000, 1000, 1000, 500, 300, 300, 100, 100, 100]
    # fread() of 10 bytes fills a buffer of 4096. What the buffer serves is no read.
    assert collections.Counter(reads_of(trace, *paths)) == collections.Counter(
        [("first.bin", True, size) for size in main] + [("first.bin", False, 256)] * 4 +
        [("second.bin", True, 4096), ("second.bin", True, 8192)])
    # Nothing of the pipe, the socket and the device.
    assert all(row["path"].startswith("/") and not row["path"].startswith("/dev/") for row in trace.file_read_rows())
    assert all(row["duration"] > 0 for row in trace.file_read_rows())

    result = stats(outcome.bundle)
    rows = {os.path.basename(row["name"]): row for row in result["files"]}
    assert (rows["first.bin"]["count"], rows["first.bin"]["total_bytes"], rows["first.bin"]["thread_count"]) == (13, 4400 + 1024, 2)
    assert (rows["second.bin"]["count"], rows["second.bin"]["total_bytes"], rows["second.bin"]["thread_count"]) == (2, 12288, 1)
    assert result["thread_count"] == 2 and result["failed_count"] == 0
    threads = stats(outcome.bundle, "--by", "thread")["files"]
    other, = [row for row in threads if row["tid"] != trace.pid]
    assert (other["count"], other["total_bytes"], other["file_count"]) == (4, 1024, 1)
    assert sum(row["total_ns"] for row in threads) == result["total_ns"] == sum(row["total_ns"] for row in result["files"])

    lives = {row["tid"]: row for row in json.loads(gpuprof("stats", "threads", "--json", outcome.bundle).out)["threads"]}
    assert lives[other["tid"]]["count"] == 4 and lives[other["tid"]]["life_ns"] > 0
    text = gpuprof("stats", "files", outcome.bundle).out.decode()
    assert "first.bin" in text and "MB/s" in text
    dump = [line for line in gpuprof("dump", outcome.bundle).out.decode().splitlines() if "file_read" in line and "first.bin" in line]
    assert len(dump) == 13 and sum("bytes=256 " in line for line in dump) == 4


def test_a_window_of_the_reads(same, paths):
    outcome = same([program("file_reads"), "calls", *paths], FILES)
    trace = outcome.trace()
    assert stats(outcome.bundle)["count"] == len(trace.file_read_rows())
    nothing = stats(outcome.bundle, "--window", "3600s-3601s")
    assert nothing["count"] == 0 and nothing["files"] == []


def test_a_number_that_stands_for_other_files(same, paths):
    """close(), dup2(), dup3(), fclose() and close_range() end what a descriptor's number stood for."""
    trace = same([program("file_reads"), "reuse", *paths], FILES).trace()
    found = reads_of(trace, *paths)
    names = ["first.bin", "second.bin"] * 3 + ["first.bin"]
    assert found[:7] == [(name, True, 10 * (i + 1)) for i, name in enumerate(names)]
    # A descriptor beyond the table.
    assert found[7:] in ([], [("first.bin", True, 80)])


def test_fork(same, paths):
    traces = same([program("file_reads"), "forks", *paths], FILES).traces()
    by_root = {trace.ppid not in {t.pid for t in traces}: reads_of(trace, *paths) for trace in traces}
    assert by_root == {True: [("first.bin", True, 10), ("first.bin", True, 40)],
                       False: [("first.bin", True, 20), ("second.bin", True, 30)]}


def test_reads_that_fail(same, paths):
    """The errno is the program's. A closed descriptor and a folder are no files."""
    outcome = same([program("file_reads"), "fails", *paths], FILES)
    assert outcome.out.split() == [str(code).encode() for code in (errno.EFAULT, errno.EISDIR, errno.EBADF, 77)]
    assert reads_of(outcome.trace(), *paths) == [("first.bin", True, -errno.EFAULT), ("first.bin", True, 100)]
    assert stats(outcome.bundle)["failed_count"] == 1
    dump = gpuprof("dump", outcome.bundle).out.decode()
    assert sum(f"bytes=-{errno.EFAULT} " in line + " " for line in dump.splitlines()) == 1


def test_a_part_of_an_element(same, paths):
    """fread() returns 0 and has read the file to its end."""
    trace = same([program("file_reads"), "element", *paths], FILES).trace()
    assert reads_of(trace, *paths) == [("first.bin", True, 100_000)]


def test_reads_in_a_signal_handler(record, paths):
    """Each is recorded, or counted as one that came while the recorder was at work."""
    outcome = record([program("file_reads"), "handler", *paths], FILES)
    assert outcome.status == 0
    own, handled = map(int, outcome.out.split())
    trace = outcome.trace()
    missed = trace.losses.pop(REENTERED, 0) + trace.losses.pop(THREAD_EDGE, 0)
    # On a busy machine the ring may fill. The reads it had no room for are counted.
    full = trace.losses.pop(RING_FULL, 0)
    sizes = collections.Counter(size for _, _, size in reads_of(trace, *paths))
    assert trace.losses == {} and sizes[32] <= own <= sizes[32] + full
    assert sizes[32] + sizes[64] + missed + full == own + handled and sizes[64] > 0


@pytest.mark.parametrize("options", [(), ("--trace=heap,mmap,locks,threads",), ("--capture=off",)])
def test_off_unless_named(same, paths, options):
    outcome = same([program("file_reads"), "calls", *paths], *options)
    if "--capture=off" in options:
        return
    assert outcome.trace().file_read_rows() == []
    result = stats(outcome.bundle)
    assert result["count"] == 0
    assert [(row["name"], row["reason"], row["fix"]) for row in result["meta"]["skipped"]] == [("files", "not_asked_for", "--trace files")]
    assert "--trace files" in gpuprof("stats", "files", outcome.bundle).out.decode()


PYTHON = """
import os, socket, sys, threading
first, second = sys.argv[1:]
def work():
    for _ in range(3):
        with open(second, "rb", buffering=0) as f:
            assert len(f.read(50_000)) == 50_000
thread = threading.Thread(target=work)
thread.start()
assert len(open(first, "rb").read()) == 100_000
thread.join()
a, b = socket.socketpair()
a.send(b"x" * 100); b.recv(100)
r, w = os.pipe()
os.write(w, b"x" * 100); os.read(r, 100)
"""


def test_python(record, paths):
    """open().read() takes its file by read(), on whichever thread it runs."""
    outcome = record([sys.executable, "-c", PYTHON, *paths], FILES)
    assert outcome.status == 0, outcome.err.decode()
    trace = outcome.trace()
    found = reads_of(trace, *paths)
    assert sum(size for name, main, size in found if (name, main) == ("first.bin", True)) == 100_000
    assert [entry for entry in found if entry[0] == "second.bin"] == [("second.bin", False, 50_000)] * 3
    assert not any(row["path"].startswith(("socket:", "pipe:")) for row in trace.file_read_rows())


def test_waits_for_input_are_still_waits(record, paths):
    """A read of a pipe that lasts is a wait, with files or without."""
    for options in ("--trace=locks", "--trace=locks,files"):
        trace = record([sys.executable, "-c", "import os, time; os.read(os.popen('sleep 0.3; echo x').fileno(), 10)"], options).trace()
        assert [row for row in trace.wait_rows(kind=9) if row["duration"] > 0]


def test_a_wrong_source_names_the_right_ones():
    done = gpuprof("run", "--trace=file", "--", "true")
    assert done.status == 2 and b"Did you mean 'files'?" in done.err
