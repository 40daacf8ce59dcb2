# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs that cannot bear other threads: sandboxes that filter system calls, processes that must have a single thread."""

import pathlib

import pytest

from conftest import HEAP_EXACT, program, run_bare

# proto::ExitWay.
FILTERED_WAY, ALONE_WAY, RIGHTS_WAY = 7, 8, 9
FILTERED = run_bare([program("killing_filter")])
filters = pytest.mark.skipif(FILTERED.status == 77, reason="no system call filter can be installed here")


@filters
@pytest.mark.parametrize("options", [(), (HEAP_EXACT,), ("--ring=8MiB",), ("--capture=off",), ("--capture=delay:50ms",)])
@pytest.mark.parametrize("way", ["prctl", "syscall"])
def test_a_filter_that_kills(same, way, options):
    """No call of ours comes after the program has closed its door. What came before is in the trace."""
    outcome = same([program("killing_filter"), way, "100"], *options)
    assert "cannot" not in outcome.words
    if options == ("--capture=off",):
        return
    trace = outcome.trace()
    assert trace.exit_way == RIGHTS_WAY, "no_new_privs comes before the filter"
    assert len(trace.captures) == 2


@filters
@pytest.mark.parametrize("way", ["forked", "threads"])
def test_filters_of_children_and_of_single_threads(same, way):
    """sshd shuts a forked child in; some filters end a thread and not the process, which must not live on for our sake."""
    same([program("killing_filter"), way, "100"], HEAP_EXACT)


@pytest.mark.parametrize("options", [(), (HEAP_EXACT,), ("--capture=off",)])
@pytest.mark.parametrize("milliseconds", ["0", "100"])
def test_a_process_that_must_be_alone(same, options, milliseconds):
    outcome = same([program("alone"), milliseconds], *options)
    assert outcome.out.count(b"1 threads") == 2 and outcome.out.count(b"alone") == 2
    if options == (HEAP_EXACT,) and milliseconds == "100":
        traces = outcome.traces()
        assert [trace.exit_way for trace in traces] == [ALONE_WAY] * 2
        assert [len(trace.heap["size"]) > 1000 for trace in traces] == [True, True]


def test_asking_for_filters_is_no_filter(same):
    """Firefox asks so in each process whether the system has them."""
    code = ("import ctypes\nlibc = ctypes.CDLL(None)\nprint(libc.prctl(22, 2, None), libc.syscall(317, 1, 0, None))\n"
            "kept = [bytearray(1000) for _ in range(2000)]")
    outcome = same(["python3", "-c", code], HEAP_EXACT)
    assert outcome.out == b"-1 -1\n"
    trace = outcome.trace()
    assert trace.exit_way not in (FILTERED_WAY, ALONE_WAY) and len(trace.heap["size"]) > 2000


def _looks_dormant(pid):
    """As `ps` sees it: our object is mapped far behind its end (proto::kDormantOffset)."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return any(int(line.split()[2], 16) >= 0x40000000 for line in lines if "libgpuprof_inject" in line)


def test_a_child_of_a_process_left_alone_does_not_look_dormant(session):
    """Its parent is dormant by then, and the child gets a copy of the parent's memory; but it records."""
    run = session([program("alone"), "2000"], HEAP_EXACT)
    assert run.line() == "parent: 0, 1 threads" and run.line() == "parent: alone"
    children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children")
    run.wait_for(lambda: children.read_text().split())
    child = int(children.read_text().split()[0])
    run.wait_for(lambda: len(list(pathlib.Path(f"/proc/{child}/task").iterdir())) > 1)
    assert _looks_dormant(run.pid) and not _looks_dormant(child)
    assert run.finish().status == 0
