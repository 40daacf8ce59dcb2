# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""CUPTI's own bytes, recorded once (tests/fake_gpu/recorder) and handed out again by the double of CUPTI, become the rows that they tell
of, to the nanosecond, and the tables are those of the program itself.

The recordings made here come from the double, in each release. Those of a real GPU are kept in tests/golden/traces/h200, each with the
command that made it beside it, and all that are there are read."""

import collections
import json
import sys

import pytest

from conftest import ROOT, gpuprof, run_bare
from fake_gpu import DOUBLES, PERSONALITIES, Truth, environment_of, libraries_of, needs_doubles
from trace_file import read_bundle

sys.path.insert(0, str(ROOT / "tests" / "fake_gpu" / "recorder"))

from buffer_file import DEVICE, DRIVER, RUNTIME, Recording  # noqa: E402

pytestmark = needs_doubles

GOLDEN = ROOT / "tests" / "golden" / "traces" / "h200"
PLAYER = DOUBLES / "replay" / "replay_buffers"
RECORDER = DOUBLES / "recorder" / "cupti_recorder.so"
PROGRAMS = [("vector_add", "20"), ("graphs", "4"), ("pools",), ("threads",),
            ("memory", "device 3 1000000", "managed 2 300000", "async 4 70000", "free 6")]
VERSIONS = {"11.8": 18, "12.6": 24, "12.9": 28, "13.0": 130001, "13.3": 130300}
# Of each table the columns that two runs of a program have in common.
TABLES = {
    "kernels": ("kernels", ("name", "count", "launched_count", "graph_count", "signature_count")),
    "memcpy": ("copies", ("name", "source", "destination", "count", "async_count", "graph_count", "total_bytes")),
    "api": ("calls", ("name", "count", "error_count", "work_count")),
    "device_memory": ("uses", ("name", "count", "release_count", "async_count", "allocated_bytes", "end_bytes", "end_count")),
}


def golden():
    return [pytest.param(path, id=path.stem) for path in sorted(GOLDEN.glob("*.cupti"))] or \
        [pytest.param(None, id="none", marks=pytest.mark.skip(reason=f"no recordings of a real GPU in {GOLDEN}"))]


def release_for(version):
    """The double that stands for this cuptiGetVersion: the newest that is not newer, of the same CUDA."""
    major = lambda v: v // 10000 if v >= 130000 else 12 if v >= 19 else 11
    fitting = sorted((number, name) for name, number in VERSIONS.items() if major(number) == major(version))
    assert fitting, f"no double stands for CUPTI {version}"
    return ([name for number, name in fitting if number <= version] or [fitting[0][1]])[-1]


@pytest.fixture
def recorded(tmp_path):
    """recorded(program, *arguments, personality=, also=further kinds): the file that the recorder made of it."""
    def start(name, *arguments, personality="13.0", also=""):
        path = tmp_path / f"{name}.cupti"
        path.unlink(missing_ok=True)
        truth = tmp_path / "truth_of_recording"
        truth.unlink(missing_ok=True)
        recorder = {"CUDA_INJECTION64_PATH": str(RECORDER), "CUPTI_RECORDER_FILE": str(path), "CUPTI_RECORDER_ALSO": also}
        done = run_bare([DOUBLES / "programs" / name, *arguments], env={**environment_of(truth, personality=personality), **recorder})
        assert done.status == 0, done.err.decode()
        return path

    return start


@pytest.fixture
def played(record, tmp_path):
    """played(path): a recording played under gpuprof: its trace, and its bundle."""
    def start(path):
        libraries = libraries_of(release_for(Recording(path).version), tmp_path / "libraries")
        outcome = record([PLAYER, path], env={"LD_LIBRARY_PATH": str(libraries), "CUDA_HOME": "", "CUDA_PATH": ""})
        assert outcome.status == 0, outcome.err.decode()
        (trace,) = read_bundle(outcome.bundle)
        return trace, outcome.bundle

    return start


def spans(table, *columns):
    return sorted((*(int(v) for v in values), int(time - duration), int(time))
                  for *values, time, duration in zip(*(table[c] for c in columns), table["time"], table["duration"]))


def check(trace, recording):
    """Each row of the trace is a record of the recording, and the other way round."""
    assert trace.lost == recording.dropped, trace.losses
    assert sorted(trace.kernel_rows()) == sorted(recording.kernels())
    assert spans(trace.copies, "bytes", "correlation") == sorted((row[4], row[5], *row[-2:]) for row in recording.copies())
    assert spans(trace.sets, "bytes", "correlation") == sorted((row[1], row[2], *row[-2:]) for row in recording.sets())
    assert spans(trace.syncs, "operation", "correlation") == recording.waits()
    assert sorted(trace.graph_rows()) == recording.graph_launches()
    memory = zip(*(trace.device_memory[column] for column in ("bytes", "address", "correlation", "time")))
    assert sorted((int(size), int(address) % 2**64, int(correlation), int(time)) for size, address, correlation, time in memory) == \
        sorted(row[2:6] for row in recording.memory())
    calls = [(tid, correlation, result, start, end) for _, tid, correlation, result, start, end in trace.call_rows()]
    assert not collections.Counter(calls) - collections.Counter(recording.calls(RUNTIME, DRIVER)), "a call that was not recorded"
    # What only looks is left out: no such call launches anything.
    launches = {row[7] for row in recording.kernels()} | {row[5] for row in recording.copies()} | {row[2] for row in recording.sets()}
    assert sorted(call for call in calls if call[1] in launches) == [call for call in recording.calls(RUNTIME) if call[1] in launches]
    assert {device["name"] for device in trace.devices.values()} == {record.texts[136].decode() for record in recording.records(DEVICE)}


def table(bundle, name, but=""):
    """Its rows without those that are called `but`."""
    key, columns = TABLES[name]
    done = gpuprof("stats", name, "--json", bundle)
    assert done.status == 0, done.err.decode()
    result = json.loads(done.out)
    assert result["meta"]["lost_count"] == 0
    return collections.Counter(tuple(str(row[column]) for column in columns) for row in result[key] if row["name"] != but)


@pytest.mark.parametrize("personality", PERSONALITIES)
@pytest.mark.parametrize("command", PROGRAMS, ids=lambda command: command[0])
def test_played_bytes_are_the_rows_they_tell_of(recorded, played, command, personality):
    """The bytes are the double's own."""
    path = recorded(*command, personality=personality)
    recording = Recording(path)
    assert recording.version == VERSIONS[personality] and (recording.kernels() or recording.memory())
    check(played(path)[0], recording)


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_launches_of_graphs_as_wholes(recorded, played, personality):
    """The bytes are the double's own."""
    path = recorded("graphs", "4", personality=personality, also="51")
    recording = Recording(path)
    assert len(recording.graph_launches()) == 4 and not recording.kernels()
    check(played(path)[0], recording)


@pytest.mark.parametrize("personality", ["11.8", "12.9", "13.0"])
@pytest.mark.parametrize("command", PROGRAMS, ids=lambda command: command[0])
def test_tables_are_those_of_the_program_itself(record, recorded, played, tmp_path, command, personality):
    """The bytes are the double's own."""
    _, again = played(recorded(*command, personality=personality))
    directly = record([DOUBLES / "programs" / command[0], *command[1:]], "--graphs=node",
                      env=environment_of(tmp_path / "truth", personality=personality)).bundle
    # Several threads are inside their first call when recording begins, which then is in none.
    first = "cudaStreamCreateWithFlags" if command[0] == "threads" else ""
    for name in TABLES:
        assert table(again, name, but=first) == table(directly, name, but=first), name


@pytest.mark.parametrize("personality, chosen_one_by_one", [("11.8", set()), ("13.0", {DRIVER})])
def test_the_recorder_asks_for_what_the_tracer_asks_for(record, recorded, tmp_path, personality, chosen_one_by_one):
    """Calls of the driver apart, which the tracer chooses one by one where it can."""
    def enabled(path):
        return {line["kind"] for line in Truth(path).of("kind") if line["enabled"]}

    recorded("vector_add", personality=personality)
    outcome = record([DOUBLES / "programs" / "vector_add"], "--graphs=node",
                     env=environment_of(tmp_path / "truth", personality=personality))
    assert outcome.status == 0
    assert enabled(tmp_path / "truth_of_recording") - enabled(tmp_path / "truth") == chosen_one_by_one
    assert enabled(tmp_path / "truth") - enabled(tmp_path / "truth_of_recording") == set()


def test_a_recording_that_was_cut_fails_the_program_and_not_gpuprof(record, recorded, tmp_path):
    path = recorded("vector_add")
    path.write_bytes(path.read_bytes()[:-100])
    outcome = record([PLAYER, path], env=environment_of(tmp_path / "truth"))
    assert outcome.status == 1 and b"has no end: its program was killed, or it was cut" in outcome.err


@pytest.mark.parametrize("path", golden())
def test_bytes_of_a_real_gpu_are_the_rows_they_tell_of(played, path):
    recording = Recording(path)
    assert recording.flags == recording.unread == 0 and any(recording.records())
    check(played(path)[0], recording)
