# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of CUPTI's buffers (recorder/): what the recorder writes is what happened, and what is played again is what was recorded,
byte for byte. There is no GPU here: the recorded bytes came from the double of CUPTI. A program is recorded, and what is played of it
is recorded again."""

import collections
import re
import struct
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tests" / "fake_gpu" / "recorder"))

from buffer_file import (DEVICE, FLUSH_FAILED, KERNEL, NOT_FLUSHED, OVERHEAD, OWNED, RUNTIME, TEXT, Buffer,  # noqa: E402
                         Recording)

RECORDER = BUILD / "recorder" / "cupti_recorder.so"
PLAYER = "../replay/replay_buffers"
LIBRARIES = {18: "cupti-18/libcupti.so.11.8", 24: "cupti-24/libcupti.so.12", 28: "cupti-28/libcupti.so.12", 130001: "lib/libcupti.so.13",
             130300: "cupti-130300/libcupti.so.13"}
PROGRAMS = [("vector_add",), ("graphs", 3), ("pools",), ("threads",),
            ("memory", "device 3 1000000", "managed 2 300000", "pinned 2 50000", "async 4 70000", "free 6")]


@pytest.fixture
def recorded(run, tmp_path):
    """recorded(program, *arguments, version=, script=, env=): how it ran under the recorder, and its recording, if there is one."""
    number = iter(range(1000))

    def start(*command, version=130001, script="", env=None):
        path = tmp_path / f"{next(number)}.cupti"
        done = run(*command, script=script, env={"CUDA_INJECTION64_PATH": str(RECORDER), "CUPTI_RECORDER_FILE": str(path),
                                                 "CUPTI_RECORDER_LIBRARY": str(BUILD / LIBRARIES[version]), **(env or {})})
        done.path = path
        done.recording = Recording(path) if path.exists() and done.status == 0 else None
        return done

    return start


@pytest.fixture
def played(recorded, tmp_path):
    """played(recording, ...): it is written, played, and recorded once more."""
    def start(recording, **more):
        path = tmp_path / "played"
        recording.write(path)
        done = recorded(PLAYER, path, **more)
        assert done.status == 0, done.err
        return done

    return start


@pytest.mark.parametrize("version", LIBRARIES)
@pytest.mark.parametrize("command", PROGRAMS, ids=lambda command: command[0])
def test_what_is_played_is_what_was_recorded(recorded, played, command, version):
    first = recorded(*command, version=version)
    assert first.status == 0, first.err
    again = played(first.recording, version=version)
    assert first.recording.version == again.recording.version == version
    assert [(b.lengths, b.room) for b in again.recording.buffers] == [(b.lengths, b.room) for b in first.recording.buffers]
    assert again.recording.without_addresses() == first.recording.without_addresses()
    assert not (again.recording.unread or again.recording.unsafe or again.recording.flags)
    records = collections.Counter(record.kind for record in first.recording.records())
    assert {line["kind"]: line["records"] for line in again.true("played")} == records
    assert again.out == f"{len(first.recording.buffers)} buffers, {sum(records.values())} records\n"


@pytest.mark.parametrize("version", LIBRARIES)
def test_what_is_recorded_is_what_happened(recorded, version):
    done = recorded("vector_add", 20, version=version)
    true = [(k["name"], k["stream"], tuple(k["grid"]), tuple(k["block"]), k["registers"], k["static_smem"], k["dynamic_smem"],
             k["correlation"], k["end"] - k["start"]) for k in done.true("kernel")]
    assert collections.Counter((*row[:-2], row[-1] - row[-2]) for row in done.recording.kernels()) == collections.Counter(true)
    assert collections.Counter(row[4] for row in done.recording.copies()) == collections.Counter(c["bytes"] for c in done.true("copy"))
    assert {record.texts[136] for record in done.recording.records(DEVICE)} == {b"Simulated GPU"}
    for library in (f"library {BUILD / LIBRARIES[version]}", "driver 13000", f"kind {KERNEL} result 0", "attribute 0 value 3200000"):
        assert library in done.recording.about.splitlines()
    begin, end = done.recording.clocks
    assert begin[2] < min(row[-2] for row in done.recording.kernels()) < max(row[-1] for row in done.recording.kernels()) < end[2]
    for realtime_before, raw_before, cupti, raw_after, realtime_after in done.recording.clocks:
        assert realtime_before <= cupti <= realtime_after and raw_before <= raw_after


def test_smaller_buffers_get_the_same_records(recorded, played):
    first = recorded("vector_add", 20)
    room = 1000
    again = played(first.recording, env={"CUPTI_RECORDER_ROOM": str(room)})
    assert again.recording.without_addresses() == first.recording.without_addresses()
    assert len(again.recording.buffers) > len(first.recording.buffers)
    assert all(len(buffer.bytes) <= room for buffer in again.recording.buffers)


def test_a_record_that_fits_no_buffer_is_told_of(recorded):
    again = recorded(PLAYER, recorded("vector_add").path, env={"CUPTI_RECORDER_ROOM": "100"})
    assert again.status == 4 and "a tool did not take all of it" in again.err


def test_kinds_and_lengths_that_nobody_knows_pass(recorded, played):
    first = recorded("vector_add").recording
    unknown = struct.pack("<I", 999) + bytes([7] * 100)
    strange = [unknown, struct.pack("<2I", 61, 5), struct.pack("<I", KERNEL) + bytes(396), unknown]
    first.buffers.append(Buffer(b"".join(strange), [len(record) for record in strange]))
    again = played(first).recording
    assert again.without_addresses() == first.without_addresses()
    assert again.buffers[-1].bytes == first.buffers[-1].bytes and again.buffers[-1].lengths == [104, 8, 400, 104]


def test_data_that_a_tool_frees_is_a_block_of_its_own(recorded, played):
    first = recorded("vector_add").recording
    block = struct.pack("<3I", 0, 13, 2)
    overhead = bytearray(struct.pack("<3I", OVERHEAD, 6 << 16, 0) + bytes(44))
    overhead[48:56] = struct.pack("<Q", 0xDEAD0000)
    first.data.append(block)
    first.buffers.append(Buffer(bytes(overhead), [56], [(48, len(first.data) - 1, OWNED)]))
    again = played(first).recording
    (pointer,) = again.buffers[-1].pointers
    assert (pointer[0], pointer[2], again.data[pointer[1]]) == (48, OWNED, block)
    assert {p[2] for buffer in again.buffers[:-1] for p in buffer.pointers} == {TEXT}


def test_an_address_that_leads_nowhere_stays_and_is_counted(recorded, played):
    first = recorded("vector_add").recording
    first.buffers.append(Buffer(struct.pack("<I", DEVICE) + bytes(132) + struct.pack("<Q", 64) + bytes(40), [184]))
    again = played(first).recording
    assert again.unsafe == 1 and again.buffers[-1].bytes == first.buffers[-1].bytes


def test_dropped_records_are_counted_again(recorded, played):
    first = recorded("vector_add", 20, script="drop 5")
    assert 0 < first.recording.dropped <= len(first.true("drop"))
    assert played(first.recording).recording.dropped == first.recording.dropped


def test_the_clock_goes_on_from_the_end_of_the_recording(recorded, played):
    first = recorded("vector_add").recording
    year = 365 * 24 * 3600 * 10**9
    # Not those that count from the machine's start.
    first.clocks = [tuple(value - year if value > year else value for value in clock) for clock in first.clocks]
    again = played(first).recording
    assert first.clocks[-1][2] <= again.clocks[0][2] < again.clocks[1][2] < first.clocks[-1][2] + 600 * 10**9


def test_a_tool_is_told_the_version_of_the_recording(run, recorded, tmp_path):
    first = recorded("vector_add").recording
    first.version = 130000
    first.write(tmp_path / "older")
    done = run(PLAYER, tmp_path / "older", tool=f"kinds={KERNEL},{RUNTIME}", cupti=BUILD / LIBRARIES[130001])
    assert [line["version"] for line in done.got("version")] == [130000]
    assert sorted((k["name"], k["start"], k["end"]) for k in done.got("kernel")) == sorted((row[0], *row[-2:]) for row in first.kernels())


def test_another_generation_of_cupti_does_not_play_it(recorded):
    again = recorded(PLAYER, recorded("vector_add").path, version=28)
    assert again.status == 4 and "of another CUPTI than is loaded" in again.err


def test_without_a_tool_nothing_happens(run, recorded):
    first = recorded("vector_add")
    done = run(PLAYER, first.path)
    assert (done.status, done.err) == (0, "") and not done.true("played")


def test_a_program_without_a_context_has_an_empty_recording(recorded):
    done = recorded("vector_add", script="devices 0")
    recording = Recording(done.path)
    assert recording.flags == NOT_FLUSHED and not list(recording.records(KERNEL))


def test_a_recording_tells_that_its_end_is_missing(recorded):
    done = recorded("vector_add", script="fail cuptiActivityFlushAll 999")
    assert done.status == 0 and "CUPTI did not hand over the rest" in done.err
    assert done.recording.flags == FLUSH_FAILED and not list(done.recording.records(KERNEL))


def test_a_second_process_has_a_file_of_its_own(recorded, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("something")
    done = recorded("vector_add", env={"CUPTI_RECORDER_FILE": str(taken)})
    (other,) = tmp_path.glob("taken.*")
    assert done.status == 0 and taken.read_text() == "something" and Recording(other).kernels()


def test_a_forked_child_leaves_the_recording_alone(recorded):
    done = recorded("leave", "fork", script="kernel Long 1000000")
    assert done.status == 0 and len(done.recording.kernels()) == 2


@pytest.mark.parametrize("way", ["_exit", "kill"])
def test_what_was_killed_is_no_recording(run, recorded, way):
    done = recorded("leave", way)
    again = run(PLAYER, done.path)
    assert again.status == 1 and "has no end: its program was killed, or it was cut" in again.err


def test_without_a_library_or_a_file_the_program_runs(run, tmp_path):
    injected = {"CUDA_INJECTION64_PATH": str(RECORDER)}
    done = run("vector_add", env=injected)
    assert done.status == 0 and "CUPTI_RECORDER_FILE names no file" in done.err
    injected.update(CUPTI_RECORDER_FILE=str(tmp_path / "x"), CUPTI_RECORDER_LIBRARY="/nowhere/libcupti.so")
    done = run("vector_add", env=injected)
    assert done.status == 0 and "nothing is recorded" in done.err and not (tmp_path / "x").exists()


def test_it_runs_where_nothing_can_be_installed():
    """As tests/checks has it for the tracer: libc alone, none younger than 2.28."""
    def ask(*command):
        return subprocess.run([*command, str(RECORDER)], capture_output=True, text=True, check=True).stdout

    assert [line.split()[-1] for line in ask("nm", "-D", "--defined-only").splitlines()] == ["InitializeInjection"]
    versions = {(int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", ask("nm", "-D", "--undefined-only"))}
    assert versions and max(versions) <= (2, 28)
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", ask("readelf", "-d"))) <= {"libc.so.6", "libdl.so.2", "libpthread.so.0"}


@pytest.fixture
def small(recorded, tmp_path):
    """A recording of few bytes."""
    recording = recorded("vector_add", 1).recording
    recording.buffers = [recording.buffers[0]]
    first = recording.buffers[0]
    first.lengths = first.lengths[:2]
    first.bytes = first.bytes[:sum(first.lengths)]
    first.pointers = [p for p in first.pointers if p[0] < len(first.bytes)]
    recording.about = ""
    recording.data = recording.data[:2]
    first.pointers = [p for p in first.pointers if p[1] < 2]
    path = tmp_path / "small"
    recording.write(path)
    return path


def test_cut_anywhere_it_is_refused(run, small, tmp_path):
    whole = small.read_bytes()
    assert run(PLAYER, small).status == 0
    cut = tmp_path / "cut"
    for length in sorted({0, 7, 16, 20, 40, *range(0, len(whole), 37), len(whole) - 1}):
        cut.write_bytes(whole[:length])
        done = run(PLAYER, cut, truth=False)
        assert done.status == 1, length
        assert ("is no recording" if length < 16 else "has no end") in done.err
    cut.write_bytes(whole + b"x")
    assert "goes on behind its end" in run(PLAYER, cut).err


def test_damaged_anywhere_it_is_refused(run, small, tmp_path):
    whole = small.read_bytes()
    damaged = tmp_path / "damaged"
    for at in [*range(16), *range(16, len(whole), 29), len(whole) - 1]:
        content = bytearray(whole)
        content[at] ^= 0x40
        damaged.write_bytes(content)
        done = run(PLAYER, damaged, truth=False)
        assert done.status == 1 and done.err.startswith(f"replay_buffers: {damaged} "), at


@pytest.mark.parametrize("change, why", [
    (lambda r: r.buffers[0].lengths.__setitem__(0, r.buffers[0].lengths[0] + 8), "has a buffer that means nothing"),
    (lambda r: r.buffers[0].pointers.append((len(r.buffers[0].bytes) - 4, 0, TEXT)), "has a buffer that means nothing"),
    (lambda r: r.buffers[0].pointers.append((len(r.buffers[0].bytes) - 8, 99, TEXT)), "has a buffer that means nothing"),
    (lambda r: r.buffers[0].pointers.append((len(r.buffers[0].bytes) - 8, 0, 7)), "has a buffer that means nothing"),
    (lambda r: r.clocks.clear(), "does not tell CUPTI's time"),
])
def test_what_means_nothing_is_refused(run, small, tmp_path, change, why):
    recording = Recording(small)
    change(recording)
    recording.write(tmp_path / "strange")
    done = run(PLAYER, tmp_path / "strange")
    assert done.status == 1 and why in done.err
