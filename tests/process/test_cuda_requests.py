# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs that make a stream, or a thread, for each request are recorded to their end: what has gone takes next to no memory."""

import pytest

from fake_gpu import DOUBLES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

PROGRAM = str(DOUBLES / "programs" / "requests")
REQUESTS = 4000


@pytest.mark.parametrize("own", ["streams", "threads"])
def test_each_request_is_there_and_on_its_stream(record, tmp_path, own):
    truth = tmp_path / "truth.json"
    outcome = record([PROGRAM, str(REQUESTS), own], "--trace", "cuda", "--memory", "32MiB",
                     env=environment_of(truth, "kernel_ns 1000; launch_ns 0"))
    assert (outcome.status, outcome.out) == (0, f"{REQUESTS} answered\n".encode()), outcome.err.decode()
    assert "memory limit" not in outcome.words
    found = Truth(truth)
    assert found.of("violation") == []
    (trace,) = read_bundle(outcome.bundle)
    assert trace.lost == 0, trace.losses
    assert len(found.kernels()) == REQUESTS
    assert sorted(kernel[:8] for kernel in trace.kernel_rows()) == sorted(kernel[:8] for kernel in found.kernels())
    assert sorted(trace.copies["correlation"].tolist()) == sorted(copy["correlation"] for copy in found.of("copy"))
    assert len(trace.streams) > REQUESTS
    assert len(set(trace.streams.values())) == len(trace.streams), "each has one track"
    launches = {kernel["correlation"] for kernel in found.of("kernel")}
    called = {correlation: tid for _, tid, correlation, *_ in trace.call_rows() if correlation in launches}
    assert called == {kernel["correlation"]: kernel["tid"] for kernel in found.of("kernel")}
    assert len(set(called.values())) == (REQUESTS if own == "threads" else 1)
