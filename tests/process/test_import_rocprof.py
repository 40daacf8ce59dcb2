# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""JSON of rocprofv3 goes through the passes. Its figures are by construction, in any order of its members and for releases that lack
some. Hostile files give an error or a told loss."""

import gzip
import json
import random
import zipfile

import pytest

import rocprof_files as rocprof
from conftest import gpuprof
from rocprof_files import CPU, FIRST_GPU

EXIT_CUT = 3
MS = 1_000_000
BOOT = 682_678_344_984_459


def stats(path, name, *options, status=0):
    done = gpuprof("stats", name, "--json", *options, path)
    assert done.status == status, (done.status, done.err)
    return json.loads(done.out)


def info(path, status=0):
    done = gpuprof("info", "--json", path)
    assert done.status == status, (done.status, done.err)
    return json.loads(done.out)


def notes_of(path, status=0):
    return {note["kind"]: note["count"] for note in info(path, status)["import_notes"]}


def a_process(pid=100, at=BOOT, **more):
    """10 kernels of 2 ms on two GPUs, 6 copies, a mark, ranges and a collective."""
    made = rocprof.Process(pid, **more)
    made.symbol(1, "gemm(float*, int)", "_Z4gemmPfi.kd", static=512)
    made.symbol(2, "add [clone .kd]", registers=(16, 0))
    for i in range(10):
        start = at + i * 10 * MS
        made.marker(f"step {i}", start, start + 9 * MS)
        launch = made.hip("hipLaunchKernel", start, start + MS)
        made.kernel(1 + i % 2, start + 2 * MS, start + 4 * MS, launch, gpu=i % 2, queue=1 + i % 2, lds=1024, scratch=48)
        made.hip("hipStreamSynchronize", start + 4 * MS, start + 5 * MS)
    at += 100 * MS
    for name, source, target in (("HOST_TO_DEVICE", CPU, FIRST_GPU), ("DEVICE_TO_HOST", FIRST_GPU + 1, CPU),
                                 ("DEVICE_TO_DEVICE", FIRST_GPU, FIRST_GPU + 1)):
        for _ in range(2):
            copy = made.hip("hipMemcpyAsync", at, at + MS)
            made.copy(name, at + MS, at + 2 * MS, copy, source, target, 1000)
            at += 3 * MS
    made.marker("a moment", at, at, name="roctxMarkA")
    made.marker("over threads", at, at + MS, name="roctxRangeStartA", thread=8)
    made.call("rccl_api", "RCCL_API", "ncclAllReduce", at, at + MS)
    made.call("hsa_api", "HSA_CORE_API", "hsa_signal_wait_scacquire", at, at + MS)
    return made


def write(folder, text, name="100_results.json"):
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return write(tmp_path_factory.mktemp("rocprof"), rocprof.text_of(a_process()))


def figures(path):
    """All figures of the passes, without times of reading and paths."""
    names = ("kernels", "memcpy", "api", "ranges", "streams", "sync", "threads")
    return {name: {k: v for k, v in stats(path, name).items() if k != "meta"} for name in names}


def test_all_records_are_read(trace):
    told = info(trace)
    assert told["importer"] == "rocprofv3 JSON" and not told["import_notes"]
    assert [(each["pid"], each["executable"], each["host"]) for each in told["processes"]] == [(100, "./train", "node7")]
    rows = {row["name"]: (row["count"], row["total_ns"]) for row in stats(trace, "kernels")["kernels"]}
    assert rows == {"gemm(float*, int)": (5, 10 * MS), "add": (5, 10 * MS)}
    launches = {row["name"]: row for row in stats(trace, "kernels", "--by", "signature")["kernels"]}
    launch = launches["gemm(float*, int)"]
    # 1000 work-items in groups of 64 are 16 groups.
    assert (launch["grid"], launch["block"], launch["registers_per_thread_count"]) == ("16,1,1", "64,4,1", 40)
    assert (launch["static_shared_bytes"], launch["dynamic_shared_bytes"]) == (512, 512)
    assert launches["add"]["registers_per_thread_count"] == 16
    copies = {row["name"]: (row["count"], row["total_bytes"], row["total_ns"]) for row in stats(trace, "memcpy")["copies"]}
    assert copies == {"HtoD": (2, 2000, 2 * MS), "DtoH": (2, 2000, 2 * MS), "PtoP": (2, 2000, 2 * MS)}
    calls = {row["name"]: (row["domain"], row["count"], row["total_ns"], row["work_count"]) for row in stats(trace, "api")["calls"]}
    assert calls == {"hipLaunchKernel": ("runtime", 10, 10 * MS, 10), "hipStreamSynchronize": ("runtime", 10, 10 * MS, 0),
                     "hipMemcpyAsync": ("runtime", 6, 6 * MS, 6), "hsa_signal_wait_scacquire": ("driver", 1, MS, 0)}


def test_markers_and_collectives_are_ranges(trace):
    rows = {row["name"]: row for row in stats(trace, "ranges")["ranges"]}
    assert {f"step {i}" for i in range(10)} <= set(rows) and rows["step 3"]["total_ns"] == 9 * MS
    assert rows["over threads"]["total_ns"] == MS and rows["ncclAllReduce"]["domain"] == "RCCL"


def test_agents_are_devices(trace):
    assert b"2 x AMD Instinct MI300X, 304 multiprocessors" in gpuprof("stats", "overview", trace).out
    # Kernels of an agent are on its device, whatever the order of the agents in the file.
    busy = {row["device"]: (row["kernel_ns"], row["copy_ns"]) for row in stats(trace, "streams")["devices"]}
    assert busy == {0: (10 * MS, 4 * MS), 1: (10 * MS, 2 * MS)}


@pytest.mark.parametrize("indent", [None, 0, 4])
def test_blanks_do_not_matter(trace, tmp_path, indent):
    path = write(tmp_path, rocprof.text_of(a_process(), indent=indent), name=trace.name)
    assert figures(path) == figures(trace)


def test_the_order_of_members_does_not_matter(trace, tmp_path):
    made = a_process()
    made.value = dict(reversed(made.value.items()))
    for record in made.value["buffer_records"].values():
        random.Random(5).shuffle(record)
    path = write(tmp_path, rocprof.text_of(made), name=trace.name)
    assert figures(path) == figures(trace)


def test_a_record_larger_than_the_window_is_read(trace, tmp_path):
    made = a_process()
    for number, record in enumerate(made.records("hip_api")):
        record["args"] = {"text": "x" * (300_000 if number % 9 == 0 else 10) + '\\"}]'}
    path = write(tmp_path, rocprof.text_of(made), name=trace.name)
    assert figures(path) == figures(trace)


def test_compressed_files_archives_and_folders_are_the_same(trace, tmp_path):
    text = trace.read_bytes()
    packed = write(tmp_path / "packed", gzip.compress(text), name="100_results.json.gz")
    assert [row["total_ns"] for row in stats(packed, "kernels")["kernels"]] == [10 * MS, 10 * MS]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("node7/100_results.json", text)
    assert notes_of(tmp_path / "all.zip") == {"in_zip": 1}
    # rocprofv3 makes a folder for each machine.
    write(tmp_path / "out" / "node7", rocprof.text_of(a_process()))
    write(tmp_path / "out" / "node7", rocprof.text_of(a_process(200, at=BOOT + 500 * MS)), name="200_results.json")
    write(tmp_path / "out" / "node8", rocprof.text_of(a_process(300, at=5 * MS, host="node8")))
    for folder, pids in ((tmp_path / "out" / "node7", [100, 200]), (tmp_path / "out", [100, 200, 300])):
        told = info(folder)
        assert told["importer"] == "rocprofv3 JSON"
        assert [each["pid"] for each in told["processes"]] == pids


def test_files_of_one_machine_have_one_clock(tmp_path):
    write(tmp_path, rocprof.text_of(a_process()))
    write(tmp_path, rocprof.text_of(a_process(200, at=BOOT + 500 * MS)), name="200_results.json")
    write(tmp_path, rocprof.text_of(a_process(300, at=BOOT + 900 * MS, host="node8")), name="300_results.json")
    assert {each["pid"]: each["first_ns"] for each in info(tmp_path)["processes"]} == {100: 0, 200: 500 * MS, 300: 0}


def test_other_files_of_a_folder_are_left_alone(tmp_path):
    write(tmp_path, rocprof.text_of(a_process()))
    for i in range(5):
        write(tmp_path, json.dumps({"traceEvents": [], "number": i}), name=f"0other{i}.json")
    write(tmp_path, "{}", name="z.json")
    assert [each["pid"] for each in info(tmp_path)["processes"]] == [100]


def test_two_processes_of_one_file(tmp_path):
    path = write(tmp_path, rocprof.text_of(a_process(), a_process(200)))
    assert [each["pid"] for each in info(path)["processes"]] == [100, 200]
    assert sum(row["count"] for row in stats(path, "kernels")["kernels"]) == 20


def test_streams_of_newer_releases_are_told_from_queues(tmp_path):
    made = rocprof.Process(100)
    made.symbol(1, "k")
    for stream, queue in ((0, 1), (0, 2), (3, 1), (3, 2)):
        made.kernel(1, BOOT, BOOT + MS, 0, queue=queue, stream=stream)
    streams = stats(write(tmp_path, rocprof.text_of(made)), "streams")["streams"]
    assert sorted(row["kernel_count"] for row in streams) == [1, 1, 2]


def test_a_recording_of_kernels_alone_misses_no_calls(tmp_path):
    made = rocprof.Process(100, host="")
    made.symbol(1, "k")
    made.kernel(1, BOOT, BOOT + MS, 77)
    path = write(tmp_path, rocprof.text_of(made))
    assert notes_of(path) == {} and stats(path, "kernels")["kernels"][0]["count"] == 1


def test_what_is_not_read_is_told(tmp_path):
    made = a_process()
    made.records("scratch_memory").extend([{"kind": 1}] * 3)
    made.records("memory_allocation").extend([{"kind": 1}] * 2)
    told = gpuprof("stats", "health", "--json", write(tmp_path, rocprof.text_of(made))).out
    assert b"not read: memory_allocation (2), scratch_memory (3)" in told


@pytest.mark.parametrize("has_dispatches", [False, True])
def test_a_recording_of_counters_has_its_kernels(tmp_path, has_dispatches):
    made = rocprof.Process(100)
    made.symbol(1, "k")
    for i in range(4):
        made.kernel(1, BOOT + i * MS, BOOT + i * MS + 1000, 0)
    made.value["callback_records"]["counter_collection"] = [{"thread_id": 7, "dispatch_data": record, "records": [{"value": 1.5}]}
                                                            for record in made.records("kernel_dispatch")]
    if not has_dispatches:
        made.records("kernel_dispatch").clear()
    path = write(tmp_path, rocprof.text_of(made))
    assert [(row["name"], row["count"], row["total_ns"]) for row in stats(path, "kernels")["kernels"]] == [("k", 4, 4000)]
    told = gpuprof("stats", "health", "--json", path).out
    assert b"counters of 4 kernels are not read" in told and (b"one by one" in told) == (not has_dispatches)


def test_wrong_numbers_are_told(tmp_path):
    made = rocprof.Process(100)
    made.symbol(1, "k")
    launch = made.hip("hipLaunchKernel", BOOT, BOOT + MS)
    made.kernel(1, BOOT + MS, BOOT + 2 * MS, launch)
    made.kernel(1, BOOT + 5 * MS, BOOT + 4 * MS, launch)  # ends before it begins
    made.kernel(1, 0, 0, launch)
    made.kernel(9, BOOT + MS, BOOT + 2 * MS, launch)  # no such symbol
    made.kernel(1, BOOT + MS, BOOT + 2 * MS, 4711)  # no such call
    made.kernel(1, BOOT - MS, BOOT, launch)
    for time in ("soon", -5, 1 << 63, 1 << 64, 1e300, None, [], {}, True, 1.5):
        made.kernel(1, time, BOOT, launch)
    path = write(tmp_path, rocprof.text_of(made))
    assert notes_of(path) == {"bad_time": 11, "no_time": 1, "unknown_name": 1, "no_launch": 1, "impossible_order": 1}
    assert {row["name"]: row["count"] for row in stats(path, "kernels")["kernels"]} == {"k": 4, "kernel 9": 1}


def test_huge_and_odd_values_do_no_harm(tmp_path):
    made = a_process()
    huge = (1 << 64) - 1
    made.kernel(1, BOOT, BOOT + MS, huge, gpu=0, queue=huge, stream=huge, items=(huge, huge, huge), group=(1, huge, 0), lds=huge, scratch=huge)
    made.copy("HOST_TO_DEVICE", BOOT, BOOT + 1, huge, huge, 0, huge)
    made.copy("HOST_TO_HOST", BOOT, BOOT + 1, 0, CPU, CPU, None)
    made.value["metadata"]["pid"] = huge
    made.value["kernel_symbols"].append({"kernel_id": 1 << 70, "kernel_name": ["x"]})
    made.value["agents"].append(7)
    made.value["strings"]["buffer_records"].append({"kind": 1, "operations": [1, None, {}]})
    path = write(tmp_path, rocprof.text_of(made))
    assert sum(row["count"] for row in stats(path, "kernels")["kernels"]) == 11
    assert notes_of(path)["unreadable_event"] == 1


def test_names_with_control_characters_and_broken_text(tmp_path):
    made = rocprof.Process(100)
    made.symbol(1, "bell\x07 and \x1b[31mred")
    made.kernel(1, BOOT, BOOT + MS, 0)
    text = rocprof.text_of(made).encode().replace(b"and", b"a\xff\xfed")
    path = write(tmp_path, text)
    assert notes_of(path)["bad_text"] == 2  # the name is there twice
    shown = gpuprof("stats", "kernels", path).out
    assert b"bell" in shown and b"\x07" not in shown and b"\x1b" not in shown


def test_files_that_are_cut_keep_what_came_before(trace, tmp_path):
    text = trace.read_bytes()
    seen = set()
    for part in (0.999, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1, 0.01):
        path = write(tmp_path, text[:int(len(text) * part)])
        done = gpuprof("stats", "kernels", "--json", path)
        assert done.status == EXIT_CUT, (part, done.err)
        if done.out:
            seen.add(sum(row["count"] for row in json.loads(done.out)["kernels"]))
    assert 10 in seen and min(seen) < 10


def test_damaged_bytes_never_crash(trace, tmp_path):
    text = trace.read_bytes()
    chance = random.Random(11)
    for _ in range(60):
        damaged = bytearray(text)
        for _ in range(chance.choice((1, 3, 30))):
            damaged[chance.randrange(40, len(damaged))] = chance.choice(b'{}[]",:\\\x00\xff9-')
        done = gpuprof("stats", "kernels", "--json", write(tmp_path, bytes(damaged)))
        assert done.status in (0, EXIT_CUT), (done.status, done.err)


@pytest.mark.parametrize("text", ['{"rocprofiler-sdk-tool": []}', '{"rocprofiler-sdk-tool": 7}', '{"rocprofiler-sdk-tool"', '{"rocprofiler-sdk-tool": [[',
                                  '{"rocprofiler-sdk-tool": ' + "[" * 100_000, '{"rocprofiler-sdk-tool": [7]}'])
def test_files_without_a_process_are_refused(tmp_path, text):
    done = gpuprof("stats", "kernels", write(tmp_path, text))
    assert done.status == EXIT_CUT and (b"no process" in done.err or b"no member" in done.err), done.err


@pytest.mark.parametrize("member", ['"x": ' + '{"a":' * 100_000 + "1" + "}" * 100_000, '"x": ' + "[" * 100_000 + "]" * 100_000])
def test_deep_members_are_stepped_over(trace, tmp_path, member):
    text = trace.read_text().replace('"metadata": {', member + ', "metadata": {', 1)
    assert sum(row["count"] for row in stats(write(tmp_path, text), "kernels")["kernels"]) == 10


def test_a_bundle_says_the_same(trace, tmp_path):
    done = gpuprof("import", trace, "-o", tmp_path / "bundle")
    assert done.status == 0, done.err
    for name in ("kernels", "memcpy", "api", "ranges"):
        mine, theirs = ({k: v for k, v in stats(path, name).items() if k != "meta"} for path in (trace, tmp_path / "bundle"))
        assert mine == theirs


def test_a_chrome_trace_in_the_same_format_is_none(tmp_path):
    path = write(tmp_path, json.dumps({"traceEvents": [{"ph": "X", "name": "rocprofiler-sdk-tool", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}))
    assert info(path)["importer"] == "Kineto JSON"
