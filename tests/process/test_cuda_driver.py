# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Calls of the driver's API: those that a program makes itself are recorded, those that the runtime makes for it are not, so that
everything the GPU did has one call that began it."""

import collections
import json
import re

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

RELEASES = [*((release, "") for release in PERSONALITIES), ("13.3", DRIVER_OF_SEVERAL)]
# As the truth and the program write them.
RECORDED = re.compile(r"cu(Launch|GraphLaunch|Memcpy|Memset|MemAlloc|MemFree|MemHostAlloc|CtxSynchronize|StreamSynchronize|StreamWaitEvent"
                      r"|EventRecord|EventSynchronize|MemCreate|MemRelease|MemMap|MemUnmap|MemAddress)")
IDLE = re.compile(r"_*cuda(GetDevice|SetDevice|GetLastError|PeekAtLastError|StreamIsCapturing|StreamGetCaptureInfo(_v\d)?|"
                  r"PushCallConfiguration|PopCallConfiguration)$")


def run(record, tmp_path, program, release, script):
    truth = tmp_path / "truth.json"
    outcome = record([DOUBLES / "programs" / program], env=environment_of(truth, script, release))
    assert outcome.status == 0, outcome.err.decode()
    (trace,) = read_bundle(outcome.bundle)
    found = Truth(truth)
    assert found.of("violation") == []
    assert trace.lost == 0, trace.losses
    return trace, found, outcome


def recorded(truth):
    """The calls of the truth that a trace has: of the runtime those that do more than look, of the driver those in no such call."""
    calls = [call for call in truth.of("api") if call["correlation"] != 0]
    outer = {c["correlation"]: c for c in calls if c["domain"] == "runtime" and not IDLE.match(c["name"])}
    return [*outer.values(), *(c for c in calls if c["domain"] == "driver" and RECORDED.match(c["name"]) and c["correlation"] not in outer)]


def calls_of(trace):
    """Domain, thread, correlation id, result of each."""
    rows = []
    for track, function, correlation, result in zip(*(trace.calls[c].tolist() for c in ("track", "function", "correlation", "result"))):
        rows.append(({1: "driver", 2: "runtime"}[function >> 24], trace.threads[track].tid, correlation, result))
    return collections.Counter(rows)


@pytest.mark.parametrize("release, script", RELEASES)
@pytest.mark.parametrize("program", ["driver_api", "vector_add", "threads", "graphs", "pools"])
def test_the_programs_own_calls_and_no_others(record, tmp_path, program, release, script):
    trace, truth, _ = run(record, tmp_path, program, release, script)
    true = recorded(truth)
    assert len(true) > 0
    assert calls_of(trace) == collections.Counter((c["domain"], c["tid"], c["correlation"], c["result"]) for c in true)
    inner = [call for call in truth.of("api") if call["depth"] != 0 and RECORDED.match(call["name"])]
    assert program == "driver_api" or len(inner) > 0, "there is something to leave out"


@pytest.mark.parametrize("release, script", RELEASES)
@pytest.mark.parametrize("program", ["driver_api", "threads"])
def test_each_kernel_has_one_launch(record, tmp_path, program, release, script):
    trace, truth, outcome = run(record, tmp_path, program, release, script)
    launches = collections.Counter(trace.calls["correlation"].tolist())
    kernels = trace.kernel_rows()
    assert len(kernels) == len(truth.of("kernel")) > 0
    assert {launches[kernel[7]] for kernel in kernels} == {1}
    result = json.loads(gpuprof("stats", "kernels", "--json", outcome.bundle).out)
    for kernel in result["kernels"]:
        assert kernel["launched_count"] == kernel["count"]


def test_the_table_of_calls_tells_of_both_interfaces(record, tmp_path):
    _, truth, outcome = run(record, tmp_path, "driver_api", None, "")
    result = json.loads(gpuprof("stats", "api", "--json", outcome.bundle).out)
    # The truth's names are without the version of the interface.
    counted = collections.Counter()
    for call in result["calls"]:
        assert call["domain"] == "driver"
        counted[re.sub(r"_v2$", "", call["name"])] += call["count"]
    assert counted == collections.Counter(re.sub(r"_v2$", "", c["name"]) for c in recorded(truth))
    launch = next(call for call in result["calls"] if call["name"] == "cuLaunchKernel")
    assert launch["count"] == launch["work_count"] == 4


def test_where_records_are_late_the_inner_calls_are_still_told(record, tmp_path):
    """Records of calls and of the device in the same buffers, which come back in any order and late: kernels take a millisecond."""
    trace, truth, _ = run(record, tmp_path, "threads", "12.9", "gpu_records mixed; kernel_ns 300000; seed 7")
    true = recorded(truth)
    assert calls_of(trace) == collections.Counter((c["domain"], c["tid"], c["correlation"], c["result"]) for c in true)
