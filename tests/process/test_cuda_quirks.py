# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What single releases of CUPTI need: buffers that are never refused, small ones where each thread has one, no records of mere questions."""

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

RELEASES = [*((release, "") for release in PERSONALITIES), ("13.3", DRIVER_OF_SEVERAL)]


def run(record, tmp_path, program, release, script, *options, arguments=()):
    truth = tmp_path / "truth.json"
    outcome = record([DOUBLES / "programs" / program, *arguments], *options, env=environment_of(truth, script, release))
    assert outcome.status == 0, outcome.err.decode()
    (trace,) = read_bundle(outcome.bundle)
    found = Truth(truth)
    assert found.of("violation") == []
    return trace, found, outcome


@pytest.mark.parametrize("release, script", RELEASES)
def test_beyond_the_memory_records_are_lost_and_counted(record, tmp_path, release, script):
    """Kernels that last hold their buffers back until no memory is left; before 12.9 the library does not survive to be given none.

    In 13 the eight threads hold all eight buffers from their first calls on: kernels have one only once those are fetched.
    """
    trace, truth, outcome = run(record, tmp_path, "threads", release, f"{script}; kernel_ns 6000000", "--memory=8MiB", arguments=("150",))
    kernels = len(trace.kernel_rows())
    assert 0 < kernels < len(truth.of("kernel")) == 150 * 128
    assert kernels + trace.lost >= len(truth.of("kernel"))
    dropped = len(truth.of("drop"))
    # Where the library is told that there is no buffer, it counts; where it gets one that nobody reads, the recorder does.
    assert (dropped == 0) == (release in ("11.8", "12.6")), dropped
    assert dropped in (0, trace.lost), trace.losses
    assert "gpu" in gpuprof("stats", "health", outcome.bundle).out.decode().lower()


@pytest.mark.parametrize("release, script", RELEASES)
def test_many_threads(record, tmp_path, release, script):
    """200 threads call CUDA at the same time: in 13 each has a buffer of its own. On a busy machine they fill more than the usual memory holds."""
    trace, truth, _ = run(record, tmp_path, "threads", release, script, "--memory=256MiB", arguments=("3", "200"))
    assert trace.lost == 0, trace.losses
    assert len(trace.kernel_rows()) == len(truth.of("kernel")) == 3 * 200 * 16


@pytest.mark.parametrize("release, script", RELEASES)
def test_a_question_is_no_wait(record, tmp_path, release, script):
    """`events` asks once whether an event has come, and then waits for it: from 12.8 on the question can be left out."""
    trace, truth, outcome = run(record, tmp_path, "events", release, f"{script}; kernel_ns 20000000")
    assert outcome.out.startswith(b"not ready")
    questions = 1 if release in ("11.8", "12.6") else 0
    assert len(trace.syncs["time"]) == len(truth.of("sync")) + questions
