# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A job may start many thousand programs that live for milliseconds: they need no more of the disk than their traces."""

import subprocess

import pytest

from conftest import BUILD, clean_environment, gpuprof, program, verify
from trace_file import read_bundle

COUNT = 20
# A few pages of a ring's header and of its first records; a whole ring has 1 MiB.
FEW_BYTES = 100_000


def disk_bytes(path):
    return path.stat().st_blocks * 512


def rings_of_others(bundle, pid):
    return [x for x in bundle.glob("*.ring") if not x.name.startswith(f"p{pid}-")]


def test_traces_are_finished_while_the_command_runs(session):
    """The copies end by exit and by SIGKILL. Their ring files go before the command ends; its own stays, with its process."""
    run = session([program("brief"), COUNT])
    assert run.line() == "done"
    run.wait_for(lambda: not rings_of_others(run.bundle, run.pid))
    assert len(list(run.bundle.glob("*.gpt"))) >= COUNT
    assert [x.name for x in run.bundle.glob(f"p{run.pid}-*.ring")], "the command lives, and so does its ring"
    run.tell("\n")
    assert run.finish().status == 0
    verify(run.bundle)
    traces = read_bundle(run.bundle)
    assert len(traces) == COUNT + 1 and not list(run.bundle.glob("*.ring"))


@pytest.mark.parametrize("sources", ["heap,threads", "heap=exact,threads"])
def test_dead_rings_are_small(tmp_path, sources):
    """Where no launcher lives (`gpuprof env`), the rings stay until somebody reads, and each takes a few pages."""
    bundle = tmp_path / "bundle"
    bundle.mkdir(mode=0o700)
    environment = clean_environment({"LD_PRELOAD": str(BUILD / "inject" / "libgpuprof_inject.so"), "GPUPROF_BUNDLE": str(bundle),
                                     "GPUPROF_TRACER": str(BUILD / "tracer" / "libgpuprof_tracer.so"), "GPUPROF_TRACE": sources})
    subprocess.run([program("brief"), str(COUNT)], env=environment, check=True, input=b"\n", stdout=subprocess.DEVNULL)
    rings = list(bundle.glob("*.ring"))
    assert len(rings) >= COUNT // 2, "the killed ones at least"
    assert all(disk_bytes(x) < FEW_BYTES for x in rings), [disk_bytes(x) for x in rings]
    done = gpuprof("recover", bundle)
    assert done.status == 0, done.err.decode()
    assert len(read_bundle(bundle)) == COUNT + 1


def test_a_ring_grows_with_its_records(record):
    """The ring of a thread with many events grows, and none is lost on the way."""
    outcome = record([program("heap_truth"), "1", "20000", "64"], "--trace=heap=exact,threads", "--stacks=0")
    assert "lost: nothing" in outcome.words, outcome.words
