# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The doubles of the GPU stack behave as the real one does towards a tool: one behaviour a test, told by the small tool of
selftest/ and compared with the doubles' own truth."""

import ctypes
import os
import signal
import subprocess
import sys

import pytest

from conftest import BUILD, LIBRARIES, counts
from waiting import LIMIT_S

KERNEL, COPY, SET, RUNTIME, DRIVER = 10, 1, 2, 5, 4
PROGRAMS = ["vector_add", "graphs", "pools", "threads", "events", "driver_api"]


# The simulation itself.

@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_run_without_a_tool(run, program):
    done = run(program)
    assert done.status == 0, done.err
    assert done.true("exit") and done.true("kernel")


def test_no_driver_is_an_insufficient_driver(run, tmp_path):
    for name in ("libcudart.so.13", "libfake_gpu.so"):
        (tmp_path / name).write_bytes((LIBRARIES / name).read_bytes())
    done = run("vector_add", libraries=tmp_path)
    assert (done.status, "35 cudaErrorInsufficientDriver" in done.err) == (3, True), done.err


def test_no_device(run):
    assert "100 cudaErrorNoDevice" in run("vector_add", script="devices 0").err


def test_old_driver(run):
    done = run("vector_add", script="driver_version 12090", tool="kinds=5")
    assert "35 cudaErrorInsufficientDriver" in done.err


def test_scripted_failure_of_a_call(run):
    done = run("vector_add", script="fail cudaMalloc 2 1 1")
    assert done.err.startswith("cudaMalloc(&b, bytes): 2 cudaErrorMemoryAllocation")


def test_misspelt_script_is_refused(run):
    assert run("vector_add", script="kernels_ns 5").status == 97


def test_memory_runs_out(run):
    assert "2 cudaErrorMemoryAllocation" in run("vector_add", script="memory 100000").err


def test_streams_are_in_order_and_overlap_each_other(run):
    done = run("threads", 20, script="kernel_ns 200000")
    streams = {}
    for kernel in done.true("kernel"):
        streams.setdefault(kernel["stream"], []).append((kernel["start"], kernel["end"]))
    assert len(streams) == 128
    for spans in streams.values():
        assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:]))
    everything = sorted(span for spans in streams.values() for span in spans)
    assert any(after[0] < before[1] for before, after in zip(everything, everything[1:]))


def test_work_completes_later_and_waiting_waits(run):
    done = run("events", script="kernel_ns 50000000")
    assert "not ready" in done.out and float(done.out.split()[2]) >= 100
    producer, consumer = done.true("kernel")
    assert consumer["start"] >= producer["end"] and consumer["stream"] != producer["stream"]
    waits = [x for x in done.true("sync") if x["type"] == "event"]
    assert waits[0]["end"] >= consumer["end"] > waits[0]["start"]
    launch = [x for x in done.true("api") if "LaunchKernel" in x["name"] and x["domain"] == "runtime"]
    assert launch[0]["end"] < producer["start"] + 50000000


def test_pageable_copies_block_and_pinned_ones_do_not(run):
    done = run("vector_add", 1, script="copy_ns 20000000")
    calls = {x["call"]: x for x in done.true("api")}
    seen = set()
    for copy in done.true("copy"):
        call = calls[copy["call"]]
        pageable = 1 in (copy["src"], copy["dst"])
        seen.add(pageable)
        assert (call["end"] >= copy["end"]) == pageable, (copy, call)
    assert seen == {True, False}


def test_truth_survives_a_kill(run):
    done = run("leave", "kill", script="kernel Long 5000000000")
    assert done.status == -signal.SIGKILL
    assert len(done.true("kernel")) == 2 and not done.true("exit")


def test_a_full_queue_blocks_the_launch(run):
    done = run("threads", 40, script="queue 16; kernel_ns 1000000")
    kernels = done.true("kernel")
    calls = {x["call"]: x for x in done.true("api") if x["domain"] == "runtime"}
    assert max(calls[k["call"]]["end"] - calls[k["call"]]["start"] for k in kernels) > 500000


# Records equal the truth.

@pytest.mark.parametrize("program", PROGRAMS)
def test_records_equal_the_truth(run, program):
    done = run(program, tool=f"kinds={KERNEL},{COPY},{SET},{RUNTIME},{DRIVER},38,49")
    keys = ("name", "grid", "block", "dynamic_smem", "registers", "stream", "context", "correlation", "node")
    assert done.status == 0, done.err
    assert counts(done.got("kernel"), *keys) == counts(done.true("kernel"), *keys) and done.got("kernel")
    assert counts(done.got("copy"), "bytes", "src", "dst", "stream", "correlation") == \
        counts(done.true("copy"), "bytes", "src", "dst", "stream", "correlation")
    # CUPTI does not tell the value that a graph sets.
    sets = [{**row, "value": 0 if row["graph"] else row["value"]} for row in done.true("set")]
    assert counts(done.got("set"), "bytes", "value", "stream") == counts(sets, "bytes", "value", "stream")
    for domain in ("runtime", "driver"):
        recorded = [x for x in done.true("api") if x["domain"] == domain and x["correlation"] != 0]
        assert counts(done.got(domain), "cbid", "tid", "correlation", "result") == \
            counts(recorded, "cbid", "tid", "correlation", "result")
    assert len(done.got("sync")) == len(done.true("sync")) or program == "events"
    assert counts(done.got("memory"), "address", "bytes") == counts(done.true("alloc") + done.true("free"), "address", "bytes")
    end = done.got("end")[0]
    assert (end["dropped"], end["flush"]) == (0, 0) and not done.true("drop")


def test_times_are_the_truth_in_realtime(run):
    done = run("vector_add", tool=f"kinds={KERNEL},{RUNTIME}")
    offset = done.true("process")[0]["realtime_offset"]
    true = {x["correlation"]: x for x in done.true("kernel")}
    calls = {x["correlation"]: x for x in done.got("runtime")}
    for kernel in done.got("kernel"):
        assert abs(kernel["start"] - true[kernel["correlation"]]["start"] - offset) < 5_000_000
        assert kernel["end"] - kernel["start"] == pytest.approx(5000, abs=2)
        assert kernel["start"] >= calls[kernel["correlation"]]["start"]


def test_driver_calls_share_the_id_of_the_runtime_call(run):
    done = run("vector_add", tool=f"kinds={RUNTIME},{DRIVER},{KERNEL}")
    launches = {x["correlation"] for x in done.got("runtime") if x["name"] == "__cudaLaunchKernel_v13000"}
    nested = {x["correlation"] for x in done.got("driver") if x["name"] == "cuLaunchKernel"}
    assert launches == nested == {x["correlation"] for x in done.got("kernel")} and len(launches) == 7


def test_launches_may_be_reported_as_the_public_function(run):
    done = run("vector_add", tool=f"kinds={RUNTIME}", script="launch_cbid 211")
    assert sum(x["name"] == "cudaLaunchKernel_v7000" for x in done.got("runtime")) == 7


# Ids.

@pytest.mark.parametrize("script, handles", [("", 1), ("stream_handles again", 3)])
def test_handles_of_destroyed_streams_come_again_where_it_is_asked_for(run, script, handles):
    done = run("stream_names", script=script, tool=f"kinds={KERNEL}")
    assert f"{handles} with one handle" in done.out
    assert len({x["stream"] for x in done.got("kernel")}) == 5, "numbers do not"


def test_stream_and_context_ids(run):
    done = run("vector_add", tool=f"kinds={KERNEL},{COPY}")
    assert {x["stream"] for x in done.got("kernel")} == {7, 14, 15}
    assert {x["context"] for x in done.got("kernel")} == {1}
    channels = {x["channel"] for x in done.got("kernel")}, {x["channel"] for x in done.got("copy")}
    assert not channels[0] & channels[1]


@pytest.mark.parametrize("kinds, script, ids", [("10", "", False), ("10", "correlation always", True), ("10,5", "", True),
                                                ("10,4", "", True)])
def test_correlation_ids_need_an_api_kind(run, kinds, script, ids):
    done = run("vector_add", tool=f"kinds={kinds}", script=script)
    assert [x["correlation"] != 0 for x in done.got("kernel")] == [ids] * 7


def test_a_graphs_nodes_share_the_launchs_id(run):
    done = run("graphs", 3, tool=f"kinds={KERNEL},{COPY},{RUNTIME}")
    launches = [x["correlation"] for x in done.got("runtime") if x["name"].startswith("cudaGraphLaunch")]
    assert counts(done.got("kernel"), "correlation") == {(str(x),): 3 for x in launches} and len(launches) == 3
    nodes = {(x["name"], x["node"]) for x in done.got("kernel")}
    assert len(nodes) == 3 and len({x["graph"] for x in done.got("kernel")}) == 1
    last = [x for x in done.true("kernel") if "Last" in x["name"]][0]
    assert all(x["end"] <= last["start"] for x in done.true("kernel") if x["correlation"] == last["correlation"] and x != last)


def test_graph_trace_hides_the_nodes(run):
    done = run("graphs", 3, tool=f"kinds={KERNEL},{COPY},{RUNTIME},51")
    assert len(done.got("graph")) == 3 and not done.got("kernel")
    assert {x["graph"] for x in done.got("graph")} == {x["graph"] for x in done.true("graph_launch")}


def test_graphs_made_before_the_tool_lack_fields(run):
    early = run("graphs", 3, 0, tool=f"kinds={KERNEL}")
    late = run("graphs", 3, 200000, tool=f"dump={KERNEL} at=50")
    assert {x["executed"] == 0 for x in early.got("kernel")} == {False}
    assert {x["executed"] == 0 for x in late.got("kernel")} == {True} and len(late.got("kernel")) == 9


def test_thread_ids(run):
    done = run("threads", 5, tool=f"kinds={RUNTIME}")
    true = {x["tid"] for x in done.true("api") if "LaunchKernel" in x["name"]}
    assert {x["tid"] for x in done.got("runtime") if "LaunchKernel" in x["name"]} == true and len(true) == 8
    default = run("threads", 5, tool=f"kinds={RUNTIME} system_tids=0")
    assert not {x["tid"] for x in default.got("runtime")} & {x["tid"] for x in default.true("api")}


# Buffers.

def test_buffers_are_asked_for_at_the_first_record_and_completed_elsewhere(run):
    done = run("vector_add", tool=f"kinds={KERNEL},{RUNTIME}")
    requests, completions = done.got("request"), done.got("complete")
    main = done.true("api")[0]["tid"]
    assert requests and all((x["tid"], x["enabling"]) == (main, False) for x in requests)
    assert completions and all(x["tid"] != main for x in completions)


def test_device_records_come_in_other_buffers_unless_mixed(run):
    split = run("vector_add", tool=f"kinds={KERNEL},{RUNTIME}")
    assert not {x["buffer"] for x in split.got("kernel")} & {x["buffer"] for x in split.got("runtime")}
    mixed = run("vector_add", tool=f"kinds={KERNEL},{RUNTIME}", script="gpu_records mixed")
    assert {x["buffer"] for x in mixed.got("kernel")} == {x["buffer"] for x in mixed.got("runtime")}


def test_records_are_not_in_order(run):
    ordered = run("vector_add", 20, tool=f"kinds={RUNTIME}", script="shuffle off").got("runtime")
    shuffled = run("vector_add", 20, tool=f"kinds={RUNTIME}").got("runtime")
    assert [x["end"] for x in ordered] == sorted(x["end"] for x in ordered)
    assert [x["end"] for x in shuffled] != sorted(x["end"] for x in shuffled)


def test_size_and_number_are_honoured(run):
    small = run("vector_add", tool=f"kinds={KERNEL},{RUNTIME} buffer=1000")
    assert len(small.got("complete")) > 3 and all(x["valid"] <= 1000 for x in small.got("complete"))
    few = run("vector_add", tool=f"kinds={KERNEL},{RUNTIME} records=5")
    assert max(x["records"] for x in few.got("complete")) == 5
    assert counts(small.got("kernel"), "name") == counts(few.got("kernel"), "name") == counts(few.true("kernel"), "name")


def test_each_thread_has_buffers_of_its_own_from_13_on(run):
    def threads_of_a_buffer(done):
        buffers = {}
        for x in done.got("runtime"):
            buffers.setdefault(x["buffer"], set()).add(x["tid"])
        return max(map(len, buffers.values()))

    # Kernels long enough for the threads to live at the same time: a later thread may go on with an ended one's buffer.
    slow = "kernel_ns 2000000"
    assert threads_of_a_buffer(run("threads", 20, tool=f"kinds={RUNTIME}", script=slow)) < 8
    assert threads_of_a_buffer(run("threads", 20, tool=f"kinds={RUNTIME}", script=slow, cupti=release(28))) >= 8


def test_no_buffer_drops_counts_and_warns(run):
    done = run("vector_add", tool=f"kinds={RUNTIME} null=3 callbacks=6")
    end = done.got("end")[0]
    assert end["dropped"] == len(done.true("drop")) == 3 and end["dropped_again"] == 0
    assert sum(x["domain"] == 6 and x["id"] == 3 for x in done.got("callback")) == 3
    recorded = [x for x in done.true("api") if x["domain"] == "runtime" and x["correlation"] != 0]
    assert len(done.got("runtime")) == len(recorded) - 3


def test_no_buffer_kills_an_older_one(run):
    done = run("vector_add", tool=f"kinds={RUNTIME} null=3", cupti=release(24))
    assert done.status == -signal.SIGABRT and done.true("violation")


def test_scripted_drops_are_counted(run):
    done = run("vector_add", tool=f"kinds={RUNTIME}", script="drop 4")
    assert done.got("end")[0]["dropped"] == len(done.true("drop")) > 5
    recorded = [x for x in done.true("api") if x["domain"] == "runtime" and x["correlation"] != 0]
    assert len(done.got("runtime")) + len(done.true("drop")) == len(recorded)


@pytest.mark.parametrize("script, calls", [("", True), ("; gpu_records mixed", False)])
def test_a_default_flush_withholds_what_is_not_complete(run, script, calls):
    done = run("leave", "return", tool=f"kinds={KERNEL},{RUNTIME} flush=0", script="kernel Long 5000000000" + script)
    assert not done.got("kernel") and bool(done.got("runtime")) == calls


def test_no_buffer_comes_back_before_its_work_has_ended(run):
    done = run("generator", 4, tool=f"kinds={KERNEL} records=1 at=10", script="kernel_ns 50000000")
    came = {x["buffer"]: x["now"] for x in done.got("complete")}
    assert len(done.got("kernel")) == len(came) == 4
    assert all(came[x["buffer"]] >= x["end"] > x["start"] for x in done.got("kernel"))


def test_a_forced_flush_delivers_it_with_no_end(run):
    done = run("leave", "return", tool=f"kinds={KERNEL},{RUNTIME} flush=1", script="kernel Long 5000000000")
    ends = {x["name"]: x["end"] for x in done.got("kernel")}
    assert ends["_Z4Longv"] == 0 and ends["_Z5Shortv"] > 0


def test_a_full_buffer_comes_back_without_a_flush(run):
    done = run("generator", 2000, tool=f"kinds={RUNTIME} buffer=4096 no_exit_flush")
    assert 1500 < len(done.got("runtime")) < 2010 and not done.got("end")


def test_a_flush_in_a_buffer_callback_ends_the_test(run):
    done = run("vector_add", tool=f"kinds={RUNTIME} buffer=500 flush_in_callback")
    assert done.status == -signal.SIGABRT and "buffer callback" in done.true("violation")[0]["what"]


def test_lost_times_are_zero(run):
    done = run("vector_add", tool=f"kinds={KERNEL}", script="lose_times 2")
    lost = [x for x in done.got("kernel") if (x["start"], x["end"]) == (0, 0)]
    assert len(lost) == len(done.true("lost_times")) == 3


# Calls.

def test_a_filtered_call_is_not_recorded(run):
    done = run("vector_add", tool=f"kinds={RUNTIME} filter=131")
    names = counts(done.got("runtime"), "name")
    assert ("cudaStreamSynchronize_v3020",) not in names and names[("cudaStreamDestroy_v5050",)] == 2


def test_an_external_id_comes_right_before_its_call(run):
    done = run("vector_add", 20, tool=f"kinds={RUNTIME},39 external=77")
    records = [x for x in done.lines if x["t"] in ("external", "runtime")]
    externals = [i for i, x in enumerate(records) if x["t"] == "external"]
    assert len(externals) == len(done.got("runtime")) > 50
    for i in externals:
        assert records[i]["id"] == 77 and records[i + 1]["t"] == "runtime"
        assert records[i]["correlation"] == records[i + 1]["correlation"]


def test_callbacks_of_calls_come_in_pairs_and_name_the_kernel(run):
    done = run("vector_add", tool="callbacks=2")
    calls = [x for x in done.got("callback") if x["domain"] == 2]
    assert counts([x for x in calls if x["site"] == 0], "name") == counts([x for x in calls if x["site"] == 1], "name")
    assert sum(x["symbol"] == "_Z3AddPKfS0_Pfi" and x["site"] == 0 for x in calls) == 4
    assert {x["result"] for x in calls if x["site"] == 1} == {0}


def test_resource_callbacks(run):
    done = run("vector_add", tool="callbacks=3")
    ids = counts([x for x in done.got("callback") if x["domain"] == 3], "id")
    assert (ids[("1",)], ids[("3",)], ids[("4",)], ids[("5",)], ids[("6",)]) == (1, 3, 2, 1, 1)
    module = [x for x in done.got("callback") if x["id"] == 6][0]
    assert module["first"] == 0x7f and module["bytes"] == done.true("module")[0]["bytes"] > 1000


def test_graph_callbacks(run):
    done = run("graphs", tool="callbacks=3")
    ids = counts([x for x in done.got("callback") if x["domain"] == 3], "id")
    # Two of the nodes are the driver's own.
    assert (ids[("9",)], ids[("13",)], ids[("18",)], ids[("20",)], ids[("19",)]) == (1, 5 + 2, 1, 5, 1)


def test_pool_records(run):
    done = run("pools", tool="kinds=49,50")
    memory = done.got("memory")
    assert len(memory) == 32 and all(x["async"] == 1 and x["pool"] != 0 for x in memory)
    assert len({x["pool"] for x in memory}) == 2
    assert sum(x["kind"] == 50 for x in done.got("record")) == len(done.true("pool")) == 4


# Attaching late, leaving, forking.

def test_existing_objects_are_told_only_by_a_dump(run):
    late = run("leave", "wait", tool="dump=9,37 at=100")
    assert {x["id"] for x in late.got("context")} == {1} and {x["id"] for x in late.got("stream")} == {7}
    early = run("leave", "wait", tool="kinds=9,37")
    assert len(early.got("context")) == 1 and early.got("context")[0]["null_stream"] == 7


def test_the_drivers_exit_comes_before_the_tools(run):
    done = run("leave", "return", tool=f"kinds={KERNEL}", script="exit_flush 15")
    assert done.got("end")[0]["flush"] == 15 and not done.got("kernel")


def test_nothing_is_delivered_after_an_immediate_exit(run):
    assert not run("leave", "_exit", tool=f"kinds={KERNEL}").got("complete")


def test_in_a_forked_child_cupti_blocks_and_the_driver_refuses(run):
    assert run("leave", "fork").out == "child left 6\n"
    assert run("leave", "fork", tool=f"kinds={KERNEL} fork_flush").out == "child blocked 0\n"


# Clocks.

def test_a_clock_step_moves_the_records(run):
    done = run("leave", "wait", tool=f"kinds={KERNEL},{RUNTIME}", script="clock_step 3600000000000 0")
    offset = done.true("process")[0]["realtime_offset"]
    true = {x["correlation"]: x["start"] + offset for x in done.true("api") if x["domain"] == "runtime"}
    assert all(abs(x["start"] - true[x["correlation"]]) < 50_000_000 for x in done.got("runtime"))
    plain = run("leave", "wait", tool=f"kinds={KERNEL},{RUNTIME}")
    assert done.got("runtime")[0]["start"] - plain.got("runtime")[0]["start"] == pytest.approx(-3.6e12, abs=6e10) or \
        done.got("runtime")[0]["start"] - plain.got("runtime")[0]["start"] == pytest.approx(3.6e12, abs=6e10)


def test_the_devices_clock_may_drift(run):
    done = run("leave", "wait", tool=f"kinds={KERNEL},{RUNTIME}", script="gpu_drift 100000; kernel Long 100000000")
    length = [x["end"] - x["start"] for x in done.got("kernel") if "Long" in x["name"]][0]
    assert length == pytest.approx(110_000_000, abs=10_000)


# Refusals.

@pytest.mark.parametrize("function, code", [("cuptiSubscribe", 39), ("cuptiSubscribe", 35), ("cuptiActivityEnable", 26),
                                            ("cuptiActivityEnable", 27), ("cuptiActivityFlushAll", 999)])
def test_scripted_results(run, function, code):
    done = run("vector_add", tool=f"kinds={KERNEL}", script=f"fail {function} {code}")
    assert done.result_of(function) == code and done.status == 0


def test_one_kind_may_be_refused(run):
    done = run("vector_add", tool=f"kinds={KERNEL},{RUNTIME}", script=f"fail cuptiActivityEnable:{KERNEL} 27")
    assert not done.got("kernel") and done.got("runtime")


def test_a_second_subscriber_is_refused_and_told_who_holds_it(run):
    done = run("vector_add", tool=f"kinds={KERNEL} subscribe2")
    assert done.result_of("cuptiSubscribe") == done.result_of("cuptiSubscribe_v2") == 39
    assert done.got("holder")[0]["name"] == "CUPTI" and len(done.got("kernel")) == 7
    scripted = run("vector_add", tool="subscribe2", script="fail cuptiSubscribe_v2 39; subscriber nsys of somebody")
    assert scripted.got("holder")[0]["name"] == "nsys of somebody"


def test_kinds_refused(run):
    for kind, code in ((6, 38), (26, 14), (60, 21), (3, 14)):
        assert run("vector_add", tool=f"kinds={KERNEL},{kind}").result_of("cuptiActivityEnable") == code


def ask(libraries, code, script="", others=None):
    """What a fresh Python with the double of CUPTI at hand prints."""
    environment = {"LD_LIBRARY_PATH": f"{libraries}:{others or libraries}", "FAKE_GPU_SCRIPT": script, "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", "import ctypes\nc = ctypes.CDLL('libcupti.so.13')\n"
                           "p = ctypes.byref(ctypes.c_void_p())\n" + code], env=environment, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    return done.stdout.split() or done.stderr


QUESTIONS = "print(c.cuptiGetVersion(p), c.cuptiGetTimestamp(p), c.cuptiSubscribe(p, None, None), c.cuptiActivityEnable(5), c.cuptiActivityFlushAll(0), c.cuptiFinalize())"


def test_without_a_driver_all_but_the_harmless_is_unknown(tmp_path):
    for name in ("libcupti.so.13", "libfake_gpu.so"):
        (tmp_path / name).write_bytes((LIBRARIES / name).read_bytes())
    assert ask(tmp_path, QUESTIONS) == ["0", "0", "999", "999", "999", "0"]


def test_with_an_old_driver_it_is_not_initialised():
    assert ask(LIBRARIES, QUESTIONS, "driver_version 12090") == ["0", "0", "15", "15", "15", "0"]


# Releases.

def release(version):
    if version == 130001:
        return LIBRARIES / "libcupti.so.13"
    return next((BUILD / f"cupti-{version}").glob("libcupti.so.*"))


@pytest.mark.parametrize("version, kernel, copy", [(18, 200, 88), (24, 208, 88), (28, 208, 96), (130001, 216, 96), (130300, 232, 96)])
def test_each_release_has_its_record_sizes(run, version, kernel, copy):
    for kind, size in ((KERNEL, kernel), (COPY, copy), (RUNTIME, 40)):
        done = run("vector_add", tool=f"kinds={kind}", cupti=release(version))
        assert done.got("version")[0]["version"] == version
        assert {x["stride"] for x in done.got("complete")} == {size}
        assert len(done.got("kernel")) == (7 if kind == KERNEL else 0)


def test_each_release_has_its_kinds_and_entry_points(run):
    assert run("vector_add", tool="kinds=55", cupti=release(18)).result_of("cuptiActivityEnable") == 21
    assert run("vector_add", tool="kinds=55").result_of("cuptiActivityEnable") == 0
    has = {v: {n for n in ("cuptiSubscribe_v2", "cuptiActivityEnableRuntimeApi", "cuptiActivityEnableHWTrace", "cuptiSubscribe")
               if hasattr(ctypes.CDLL(str(release(v))), n)} for v in (18, 24, 28, 130001)}
    assert [len(has[v]) for v in (18, 24, 28, 130001)] == [1, 2, 3, 4]


# What 13.3 answers: subscribing with others allowed, old entry points, new ones, and the holder's name.
V2 = """
class Parameters(ctypes.Structure):
    _fields_ = [(n, t) for n, t in (("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("old", ctypes.c_char_p),
                                    ("old_size", ctypes.c_size_t), ("allow", ctypes.c_uint8),
                                    ("padding", ctypes.c_uint8 * 7))]
h = ctypes.c_void_p()
c.cuptiActivityEnable_v2.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
old = ctypes.create_string_buffer(64)
q = Parameters(40, b"us", None, 0, ALLOW)
r = [c.cuptiSubscribe_v2(ctypes.byref(h), None, None, ctypes.byref(q)), c.cuptiActivityEnable(10), c.cuptiActivityEnable_v2(h, 10, None)]
q = Parameters(40, b"them", ctypes.cast(old, ctypes.c_char_p), 64, ALLOW)
r.append(c.cuptiSubscribe_v2(ctypes.byref(ctypes.c_void_p()), None, None, ctypes.byref(q)))
print(*r, old.value.decode().replace(" ", "_"))
"""


@pytest.mark.parametrize("driver, allow, answers", [(13030, 1, "0 39 0 0"), (13030, 0, "0 0 39 39"), (13000, 1, "0 0 27 39")])
def test_the_two_generations_do_not_mix(driver, allow, answers):
    said = ask(BUILD / "cupti-130300", V2.replace("ALLOW", str(allow)), f"driver_version {driver}", others=LIBRARIES)
    assert said == answers.split() + ["CUPTI_for_us"]
    assert not hasattr(ctypes.CDLL(str(release(130001))), "cuptiActivityEnable_v2")


def test_several_subscribers_each_have_their_own():
    """Handles of two, and what each may do with its own alone."""
    code = V2.replace("ALLOW", "1").rpartition("print")[0] + """
two = ctypes.c_void_p()
q = Parameters(40, b"two", ctypes.cast(old, ctypes.c_char_p), 64, 1)
size, number = ctypes.c_size_t(8), ctypes.c_uint64(7)
c.cuptiActivityGetAttribute_v2.argtypes = c.cuptiActivitySetAttribute_v2.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
c.cuptiUnsubscribe.argtypes = [ctypes.c_void_p]
r = [c.cuptiSubscribe_v2(ctypes.byref(two), None, None, ctypes.byref(q)), c.cuptiSubscribe(p, None, None),
     c.cuptiActivitySetAttribute_v2(two, 21, ctypes.byref(ctypes.c_size_t(4)), ctypes.byref(ctypes.c_int(1))),
     c.cuptiActivityGetAttribute_v2(h, 21, ctypes.byref(size), ctypes.byref(number)), size.value, number.value & 0xffffffff,
     c.cuptiUnsubscribe(two), c.cuptiActivityEnable_v2(two, 10, None), c.cuptiActivityEnable_v2(h, 5, None)]
print(*r, old.value.decode().replace(" ", "_"))
"""
    said = ask(BUILD / "cupti-130300", code, "driver_version 13030", others=LIBRARIES)
    assert said == ["0", "39", "0", "0", "4", "0", "0", "1", "0", "CUPTI_for_us"]


# Speed, as counts: nothing is lost when launches come as fast as they can.

def test_a_flood_of_launches_is_complete(run):
    done = run("generator", 100000, 2, tool=f"kinds={KERNEL},{RUNTIME}", script="kernel_ns 0; launch_ns 0", truth=False)
    assert len(done.got("kernel")) == 100000 and done.got("end")[0]["dropped"] == 0
    launches = {x["correlation"] for x in done.got("runtime") if "LaunchKernel" in x["name"]}
    assert launches == {x["correlation"] for x in done.got("kernel")}


def test_a_million_launches_are_counted(run):
    done = run("generator", 1000000, tool=f"kinds={KERNEL},{RUNTIME} count", script="kernel_ns 0; launch_ns 0", truth=False)
    numbers = {x["kind"]: x["records"] for x in done.got("count")}
    assert numbers[KERNEL] == 1000000 and 1000000 < numbers[RUNTIME] < 1000010
