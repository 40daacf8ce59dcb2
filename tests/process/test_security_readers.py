# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Bundles in which somebody else may write: pipes, links, holes, held files, files that are cut while they are read, and names that deceive.

A reader that waits for ever fails by the limit of its command."""

import fcntl
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading

import pytest

from conftest import GPUPROF, clean_environment, gpuprof, needs, program
from waiting import LIMIT_S

VERBS = (("info",), ("stats", "overview"), ("dump",), ("verify",), ("recover",))
STEM = "p4194000-1"  # beyond the process numbers that Linux gives
HOLE = 4 << 30


def read(bundle, *verb):
    return gpuprof(*verb, bundle)


@pytest.fixture
def bundle(record):
    return record([program("heap_truth"), 2, 2000, 64, 100], "--trace=heap=exact").bundle


def trace_of(bundle):
    [trace] = bundle.glob("*.gpt")
    return trace


# S11


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("name", [f"{STEM}.00000001.seg", f"{STEM}.gpt", f"{STEM}.ring", "bundle.pb"])
def test_a_pipe_in_a_bundle_is_told_and_passed_over(bundle, name, verb):
    (bundle / name).unlink(missing_ok=True)
    os.mkfifo(bundle / name)
    if name.endswith(".gpt"):
        (bundle / f"{STEM}.ring").touch()
    done = read(bundle, *verb)
    assert done.status == 3, done.err.decode()
    if (name, verb) != (f"{STEM}.00000001.seg", ("verify",)):  # the newest segment may be incomplete
        assert "not a regular file" in (done.out + done.err).decode()
    # The trace beside it is read.
    if verb[0] in ("info", "dump"):
        assert len(done.out.splitlines()) > 10


# S12


@needs("gcc")
@pytest.mark.parametrize("kind", ["pipe", "kernel", "device"])
def test_a_module_is_opened_only_if_it_is_a_regular_file(record, tmp_path, kind):
    library = tmp_path / "libchanges.so"
    source = "#include <stdlib.h>\nvoid Work(void) { for (int i = 0; i < 50; ++i) free(malloc(70001)); }\n"
    subprocess.run(["gcc", "-x", "c", "-", "-O1", "-g", "-fno-builtin", "-shared", "-fPIC", "-o", str(library)], input=source.encode(), check=True)
    main = "extern void Work(void);\nint main(void) { Work(); return 0; }\n"
    subprocess.run(["gcc", "-x", "c", "-", "-o", str(tmp_path / "main"), "-x", "none", str(library)], input=main.encode(), check=True)
    outcome = record([tmp_path / "main"], "--trace=heap=exact")
    before = gpuprof("stats", "stacks", outcome.bundle, "--by", "heap_allocs")
    assert b"Work" in before.out, before.err.decode()
    library.unlink()
    if kind == "pipe":
        os.mkfifo(library)
    else:
        library.symlink_to("/proc/kmsg" if kind == "kernel" else "/dev/zero")
    for verb in (("stats", "stacks", outcome.bundle, "--by", "heap_allocs"), ("stats", "heap", outcome.bundle), ("dump", outcome.bundle)):
        done = gpuprof(*verb)
        assert done.status == 0, done.err.decode()
        assert b";Work" not in done.out
    done = gpuprof("stats", "heap", outcome.bundle, "--json")
    notes = [x for x in json.loads(done.out)["meta"]["notes"] if str(library) in x]
    assert notes and all("not a regular file" in x for x in notes)


@needs("gcc")
@needs("objcopy")
@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_debug_information_names_no_file_that_is_waited_for(record, tmp_path, kind):
    """A module may keep strings in a file that it shares with others. Its name is the module's choice."""
    source = "#include <stdlib.h>\nvoid Work(void) { for (int i = 0; i < 50; ++i) free(malloc(70001)); }\n"
    flags = ["-O1", "-g", "-gdwarf-5", "-fno-builtin", "-fPIC"]
    text = subprocess.run(["gcc", "-x", "c", "-", "-S", *flags, "-o", "-"], input=source.encode(), check=True, capture_output=True).stdout.decode()
    # The form of DW_AT_comp_dir (0x1b) becomes DW_FORM_GNU_strp_alt.
    text, count = re.subn(r"(\.uleb128 0x1b\n\s+\.uleb128) 0x(?:1f|e)\n", r"\1 0x1f21\n", text)
    if count == 0:
        pytest.skip("this compiler writes another form")
    own = tmp_path / "own.so"
    subprocess.run(["gcc", "-x", "assembler", "-", "-shared", "-Wl,--build-id", "-o", str(own)], input=text.encode(), check=True)
    shared, build_id = tmp_path / "shared", "6a" * 20
    if kind == "pipe":
        os.mkfifo(shared)
    else:
        subprocess.run(["gcc", "-x", "c", "-", "-shared", f"-Wl,--build-id=0x{build_id}", *flags, "-o", str(shared)], input=source.encode(), check=True)
    (tmp_path / "link").write_bytes(bytes(shared) + b"\0" + bytes.fromhex(build_id))
    library = tmp_path / "libnames.so"
    subprocess.run(["objcopy", "--add-section", f".gnu_debugaltlink={tmp_path}/link", str(own), str(library)], check=True)
    main = "extern void Work(void);\nint main(void) { Work(); return 0; }\n"
    subprocess.run(["gcc", "-x", "c", "-", "-o", str(tmp_path / "main"), "-x", "none", str(library)], input=main.encode(), check=True)
    done = gpuprof("stats", "heap", record([tmp_path / "main"], "--trace=heap=exact").bundle)
    assert done.status == 0 and "<stdin>:2" in done.out.decode(), done.out.decode() + done.err.decode()


def end_of(whole):
    """Where the end marker of a trace begins."""
    return whole.rindex((0x184D2A53).to_bytes(4, "little"))


def test_more_large_traces_than_files_may_be_open(bundle, tmp_path):
    whole = trace_of(bundle).read_bytes()
    # A frame of a kind that is to be skipped makes it large.
    frame = (0x184D2A5A).to_bytes(4, "little") + (100_000).to_bytes(4, "little") + bytes(100_000)
    large = whole[:end_of(whole)] + frame + whole[end_of(whole):]
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(80):
        (folder / f"copy{i}.gpt").write_bytes(large)
    for verb in ("info", "verify", "stats health"):
        words = [str(GPUPROF), *verb.split(), str(folder)]
        done = subprocess.run(["sh", "-c", 'ulimit -n 50 && exec "$@"', "sh", *words], capture_output=True, env=clean_environment(), timeout=LIMIT_S)
        assert done.returncode == 0, (done.stdout[-2000:] + done.stderr).decode()


# S13


def test_a_trace_that_is_cut_while_it_is_read_ends_nobody(bundle):
    trace = trace_of(bundle)
    # Frames of a kind that is to be skipped, so that the walk takes a moment.
    frame = (0x184D2A5A).to_bytes(4, "little") + (56).to_bytes(4, "little") + bytes(56)
    whole = trace.read_bytes() + frame * 200_000
    (bundle / f"{trace.stem}.ring").touch()  # the trace is looked at for recovery as well
    ended = threading.Event()

    def cut():
        with open(trace, "r+b") as file:
            while not ended.wait(0.005):
                file.truncate(100)
                ended.wait(0.001)
                os.pwrite(file.fileno(), whole, 0)

    cutter = threading.Thread(target=cut)
    cutter.start()
    try:
        for i in range(20):
            done = read(bundle, *VERBS[i % 4])
            assert 0 <= done.status < 128, f"{VERBS[i % 4]}: {done.status}"
    finally:
        ended.set()
        cutter.join()


# S14


def peak_bytes(*words):
    with subprocess.Popen([str(GPUPROF), *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment()) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 3), words
    return usage.ru_maxrss * 1024


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("place", ["trace", "segment", "manifest"])
def test_a_hole_takes_no_memory(bundle, place, verb):
    trace = trace_of(bundle)
    whole = trace.read_bytes()
    end = end_of(whole)
    if place == "trace":  # the end marker stands behind the hole
        with open(trace, "r+b") as file:
            file.truncate(end)
            file.seek(HOLE)
            file.write(whole[end:])
    else:
        victim = bundle / (f"{STEM}.00000001.seg" if place == "segment" else "bundle.pb")
        if place == "segment":
            shutil.copy(trace, victim)
        os.truncate(victim, HOLE)
    assert peak_bytes(*verb, bundle) < 512 << 20
    if place == "trace" and verb[0] == "verify":
        done = read(bundle, *verb)
        assert b"no block header where one should be" in done.out and b"no end marker" not in done.out


# S15


DECEIVING = "gpj.\u202egnp \u200b\u2066\ufeff\U000e0041"


def test_marks_of_direction_and_without_width_are_told(record):
    outcome = record([program("plain"), DECEIVING], "--trace=heap=exact")
    # A command is shown as a shell reads it: the bytes of such a character are escapes.
    told = "$'" + "".join(chr(byte) if byte < 0x80 else f"\\{byte:03o}" for byte in DECEIVING.encode()) + "'"
    text = read(outcome.bundle, "info").out.decode()
    assert told in text and not set(DECEIVING[4:5] + DECEIVING[9:]) & set(text)
    document = gpuprof("info", outcome.bundle, "--json").out.decode()
    assert not set(DECEIVING[4:5] + DECEIVING[9:]) & set(document)
    assert DECEIVING in json.dumps(json.loads(document), ensure_ascii=False)


# S26


def test_events_of_a_small_file_do_not_fill_the_memory(tmp_path):
    """Twelve million events of six bytes: in memory each takes eighty."""
    def field(number, content):
        length, size = b"", len(content)
        while size >= 0x80:
            length += bytes([size & 0x7F | 0x80])
            size >>= 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + content

    name = field(4, b"\x08\x01" + field(2, b"\x08\x01" + field(2, b"MatMul")))
    line = field(3, b"\x08\x01" + field(4, b"\x08\x01\x18\x01") * 12_000_000)
    path = tmp_path / "host.xplane.pb.gz"
    path.write_bytes(gzip.compress(field(1, field(2, b"/host:CPU") + line + name), 6))
    assert path.stat().st_size < 1 << 20
    assert peak_bytes("info", path) < 800 << 20
    done = gpuprof("info", path)
    assert done.status == 3 and b"the events take more than" in done.err
    assert b"inflate it first" in done.err and len(done.out.splitlines()) > 5


# S22


def test_held_rings_cost_one_wait_for_the_bundle(tmp_path):
    bundle = tmp_path / "held"
    bundle.mkdir()
    holders = []
    for i in range(20):
        holder = open(bundle / f"p{4194000 + i}-1.ring", "wb")
        fcntl.flock(holder, fcntl.LOCK_EX)
        holders.append(holder)
    # A wait of its own for each of the rings would take longer than this limit.
    for verb in ("info", "recover"):
        done = read(bundle, verb)
        assert done.status == 3
        assert done.err.decode().count("another gpuprof is finishing it") >= 1
    for holder in holders:
        holder.close()
    assert read(bundle, "recover").out == b"finished 20 traces\n"
    assert not list(pathlib.Path(bundle).glob("*.ring"))
