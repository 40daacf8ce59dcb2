# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The flight recorder keeps the newest without a hole, however the process ends, and writes it out while it runs when asked."""

import json
import os
import pathlib
import shutil
import signal
import subprocess

import numpy
import pytest

from conftest import GPUPROF, HEAP_EXACT, clean_environment, needs_root, program, verify
from trace_file import WRITE_ERROR, read_bundle
from waiting import LIMIT_S, wait_until

RING = 1 << 20
EXACT = ("--ring", "1MiB", "--trace=heap=exact,threads", "--stacks=0", "--ring-memory=256MiB")
COUNT = 550_000  # One ring holds them all (32 MiB, 573,000 pairs): no drain is too late, however busy the machine is.


def kept(trace):
    """Numbers of the allocations kept, without a hole; the first and the last one."""
    heap = trace.heap
    sizes = heap["size"][((heap["operation"] & 1) == 0) & (heap["operation"] >> 1 & 0x7f == 1)]
    sizes = sizes[(sizes > COUNT // 100)]  # not the loader's and stdio's
    assert len(sizes) > 10_000
    steps = numpy.diff(sizes.astype("i8"))
    assert (steps == 1).all(), ("a hole", sizes[:-1][steps != 1][:5], steps[steps != 1][:5], trace.losses)
    assert trace.lost == 0
    return int(sizes[0]), int(sizes[-1])


def gpuprof(*args):
    done = subprocess.run([str(GPUPROF), *map(str, args)], capture_output=True, env=clean_environment(), text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


def wait_until_taken(run, count):
    """Waits until the recorder has taken the events of so many pairs out of the rings."""
    run.wait_for(lambda: run.state()["events"] >= 2 * count)


@pytest.mark.parametrize("end,status", [("exit", 0), ("abort", -6), ("segv", -11), ("kill", -9)])
def test_keeps_the_newest_however_it_ends(session, end, status):
    run = session([program("heap_counter"), COUNT, end, "stop"], *EXACT)
    assert run.line() == f"stopped at {COUNT - 20_000}"
    wait_until_taken(run, COUNT - 20_000)  # what stands in the rings at the end is little
    run.tell("\n")
    assert run.line() == f"made {COUNT}"
    outcome = run.finish()
    verify(outcome.bundle)
    assert (outcome.status, outcome.own_err) == (status, b""), outcome.err.decode()
    assert outcome.out == (b"own handler\n" if end == "segv" else b"")
    first, last = kept(outcome.trace())
    assert last == COUNT, "the newest is there"
    assert first > COUNT // 10, "the oldest is not"
    size = sum(f.stat().st_size for f in outcome.bundle.glob("*.gpt"))
    # What death left in the ring comes on top: of the last 20,000 here, some 60 KB.
    assert RING * 3 // 4 < size < RING * 5 // 4
    assert not list(outcome.bundle.glob("*.seg"))
    health = json.loads(gpuprof("stats", "health", "--json", outcome.bundle))["processes"][0]
    assert any("newest part" in note for note in health["notes"])
    overview = json.loads(gpuprof("stats", "overview", "--json", outcome.bundle))
    assert overview["meta"]["losses"] == []
    assert "the part that the flight recorder kept" in overview["steps_advice"]
    heap = json.loads(gpuprof("stats", "heap", "--json", outcome.bundle))["meta"]
    assert heap["confidence"]["level"] == "low" and any("newest part" in note for note in heap["notes"])
    assert "none of the kept part" in gpuprof("info", outcome.bundle)


def test_little_is_kept_whole(same):
    outcome = same([program("heap_counter"), "20000", "exit"], *EXACT)
    heap = outcome.trace().heap
    made = heap["size"][(heap["operation"] & 1) == 0]
    assert set(range(1, 20001)) <= set(made.tolist())
    health = json.loads(gpuprof("stats", "health", "--json", outcome.bundle))["processes"][0]
    assert not any("newest part" in note for note in health["notes"])
    heap = json.loads(gpuprof("stats", "heap", "--json", outcome.bundle))["meta"]
    assert heap["confidence"] == {"level": "high", "reason": "every record is present"}


@pytest.fixture
def in_halves(session):
    """in_halves(count, *command): runs a program that stops half way, until the recorder has taken what was made."""

    def run(count, *command):
        running = session(command, *EXACT)
        assert running.line() == "half"
        wait_until_taken(running, count // 2)
        running.tell("\n")
        outcome = running.finish()
        verify(outcome.bundle)
        assert (outcome.status, outcome.out, outcome.own_err) == (0, b"made %d\n" % count, b""), outcome.err.decode()
        return outcome

    return run


def test_without_room_for_another_segment_the_newest_grows_on(in_halves):
    made = 200_000  # of one segment's length in each half
    outcome = in_halves(made, program("no_new_files"), made)
    assert outcome.words.count("cannot be written") == 0, outcome.words
    assert kept(outcome.trace()) == (COUNT // 100 + 1, made), "all of them"
    assert not list(outcome.bundle.glob("*.seg"))


@needs_root
def test_another_root(in_halves, tmp_path):
    """New segments are begun, old ones let go and all of them joined where no path leads to the bundle any more."""
    empty = tmp_path / "empty"
    empty.mkdir()
    outcome = in_halves(COUNT, program("changed_root"), empty, COUNT)
    assert "cannot" not in outcome.words, outcome.words
    first, last = kept(outcome.trace())
    assert last == COUNT and first > COUNT // 10
    assert not list(outcome.bundle.glob("*.seg")) and list(empty.iterdir()) == []


def held(pid):
    """Bytes of the files that were removed and that a thread of the process has open still: our threads have tables of their own."""
    files = {}
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/fd/*"):
        try:
            if os.readlink(path).endswith(" (deleted)"):
                status = path.stat()
                files[status.st_dev, status.st_ino] = status.st_size
        except FileNotFoundError:
            pass
    return sum(files.values())


def test_after_its_bundle_was_removed_it_takes_no_more_room(session):
    """Into what nobody can see any more. It is said once, by the process; and at the end, by the launcher."""
    run = session([program("heap_counter"), COUNT, "again"], *EXACT)
    assert run.line() == f"made {COUNT}"
    while run.bundle.exists():  # the recorder may be replacing a segment
        shutil.rmtree(run.bundle, ignore_errors=True)
    before = held(run.pid)
    assert 0 < before, "the newest segment, at least"
    run.tell("\n")
    assert run.line() == f"made {2 * COUNT}"
    assert held(run.pid) <= before
    run.tell("\n")
    outcome = run.finish()
    assert outcome.status == 0
    said = outcome.words.splitlines()
    assert len(said) == len(set(said)), said
    assert outcome.words.count("the trace cannot be written: its bundle was removed") == 1, outcome.words
    assert "the bundle was removed or renamed while the command ran" in outcome.words
    assert not run.bundle.exists(), "nor is it made again"


def test_follows_its_bundle(session):
    """As those follow who have a file open that is renamed."""
    run = session([program("heap_counter"), COUNT, "again"], *EXACT)
    run.wait_for(lambda: list(run.bundle.glob("*.seg")))
    elsewhere = run.bundle.rename(run.bundle.with_name("elsewhere"))
    assert run.line() == f"made {COUNT}"
    assert len(list(elsewhere.glob("*.seg"))) > 1
    elsewhere.rename(run.bundle)
    run.tell("\n")
    assert run.line() == f"made {2 * COUNT}"
    run.tell("\n")
    outcome = run.finish()
    assert outcome.status == 0 and "cannot" not in outcome.words, outcome.words
    assert kept(outcome.trace())[1] == 2 * COUNT


def test_in_a_bundle_that_takes_no_more_files_it_grows_to_a_bound(in_halves):
    """What passes is counted, once there is as much as was asked for."""
    made = 2 * COUNT
    outcome = in_halves(made, program("no_new_files"), made)
    assert outcome.words.count("the trace cannot be written") == 1, outcome.words
    assert "because a trace could not be written (no space left on the disk; free some space" in outcome.words
    assert sum(path.stat().st_size for path in outcome.bundle.glob("*.gpt")) < RING * 9 // 4
    trace = outcome.trace()
    assert trace.losses.get(WRITE_ERROR, 0) > 100_000, "what came then is counted"


class Waiting:
    """A recorded program that has made COUNT allocations and goes on slowly."""

    def __init__(self, bundle, *options):
        self.bundle = bundle
        self.run = subprocess.Popen([str(GPUPROF), "run", "-o", str(bundle), *options, "--", str(program("heap_counter")), str(COUNT),
                                     "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                    env=clean_environment())
        assert self.run.stdout.readline() == b"made %d\n" % COUNT
        self.pid = int(next(bundle.glob("p*.gpt")).name[1:].split("-")[0])
        wait_until(lambda: self.events() >= 2 * COUNT, "events that are taken out of the rings")

    def events(self):
        return json.loads(gpuprof("ctl", "status", "--json", self.pid))["processes"][0]["events"]

    def end(self):
        out, _ = self.run.communicate(b"\n", timeout=LIMIT_S)
        assert self.run.returncode == 0
        return int(out.split()[1])


def test_snapshot_while_it_runs(tmp_path):
    process = Waiting(tmp_path / "b", *EXACT)
    snapshots = []
    for _ in range(2):
        said = gpuprof("ctl", "snapshot", process.pid)
        folder = said.strip().split(": ", 1)[1]
        snapshots.append(tmp_path / "b" / os.path.basename(folder))
    made = process.end()
    for snapshot in snapshots:
        assert gpuprof("verify", snapshot).startswith("ok")
        (trace,) = read_bundle(snapshot)
        first, last = kept(trace)
        assert first > COUNT // 10 and COUNT <= last < made
        assert "this is a snapshot" in gpuprof("info", snapshot)
        assert (snapshot / "bundle.pb").exists()
    (trace,) = read_bundle(tmp_path / "b")
    assert kept(trace)[1] == made, "recording went on"


def test_what_a_cut_segment_lacks_is_told(tmp_path):
    """A hole, in the snapshot with its rows counted, and after the end, when the segments are gone."""
    process = Waiting(tmp_path / "b", *EXACT)
    segment = sorted((tmp_path / "b").glob("*.seg"))[3]
    os.truncate(segment, segment.stat().st_size // 2)
    said = gpuprof("ctl", "snapshot", process.pid)
    process.end()
    assert not list((tmp_path / "b").glob("*.seg"))
    snapshot = tmp_path / "b" / os.path.basename(said.strip().split(": ", 1)[1])
    for folder in (snapshot, tmp_path / "b"):
        done = subprocess.run([str(GPUPROF), "verify", str(folder)], capture_output=True, env=clean_environment(), text=True, timeout=LIMIT_S)
        assert done.returncode == 3 and "bytes were lost" in done.stdout + done.stderr, (folder, done)
    done = subprocess.run([str(GPUPROF), "info", "--json", str(snapshot)], capture_output=True, env=clean_environment(), timeout=LIMIT_S)
    assert done.returncode == 3
    facts = json.loads(done.stdout)
    # A segment is about an eighth of what was kept, and half of it is gone.
    assert facts["count"] // 32 < facts["lost_count"] < facts["count"] // 8


def test_snapshot_by_signal(tmp_path):
    process = Waiting(tmp_path / "b", *EXACT)
    os.kill(process.pid, signal.SIGUSR1)
    found = wait_until(lambda: list((tmp_path / "b").glob("snapshot-*/bundle.pb")), "the snapshot")
    (trace,) = read_bundle(found[0].parent)
    wait_until(lambda: process.events() > 2 * kept(trace)[1], "events after the snapshot")
    made = process.end()
    assert COUNT <= kept(trace)[1] < made


def test_snapshot_without_a_flight_recorder_holds_everything(tmp_path):
    process = Waiting(tmp_path / "b", *EXACT[2:])
    gpuprof("ctl", "snapshot", process.pid)
    process.end()
    (snapshot,) = (tmp_path / "b").glob("snapshot-*")
    (trace,) = read_bundle(snapshot)
    first, last = kept(trace)
    assert first == COUNT // 100 + 1 and last >= COUNT


def has_threads(pid):
    """Also one whose first thread has ended already."""
    for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            if stat.read_text().rpartition(") ")[2][0] not in "ZX":
                return True
        except (FileNotFoundError, ProcessLookupError):
            pass
    return False


def left_alone(folder):
    """The bundle of a flight recorder that was killed together with its reader: nothing is merged yet."""
    process = Waiting(folder, *EXACT)
    os.kill(process.run.pid, signal.SIGKILL)
    os.kill(process.pid, signal.SIGKILL)
    process.run.wait()
    process.run.stdin.close()
    process.run.stdout.close()
    # Nobody waits for the orphan; as long as its memory is being taken down it counts as alive.
    wait_until(lambda: not has_threads(process.pid), "the end of the process")
    segments = sorted(folder.glob("*.seg"))
    assert len(segments) == 8
    return segments


def test_killed_with_a_reader_that_is_killed_too(tmp_path):
    """Recovery interrupted anywhere goes on where it was: no row twice, none missing."""
    left_alone(tmp_path / "b")
    for limit in (700, 100_000, 300_000, 650_000, None):
        # A limit on the file's size stops recovery in the middle of a segment.
        command = [str(GPUPROF), "recover", str(tmp_path / "b")]
        if limit is not None:
            command = ["prlimit", f"--fsize={limit}", *command]
        done = subprocess.run(command, capture_output=True, env=clean_environment(), text=True, timeout=LIMIT_S)
        if limit is not None:
            assert done.returncode == 3 and "is still in" in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    (trace,) = read_bundle(tmp_path / "b")
    assert kept(trace)[1] >= COUNT
    assert not list((tmp_path / "b").glob("*.seg"))
    assert "\nok: 1 file" in gpuprof("verify", tmp_path / "b")


def test_what_is_missing_of_its_files_is_a_fault(tmp_path):
    """Whichever is cut or gone, what the others hold is read, and every reader ends with status 3."""
    left_alone(tmp_path / "b")

    def status(*words):
        return subprocess.run([str(GPUPROF), *map(str, words)], capture_output=True, env=clean_environment(), timeout=LIMIT_S).returncode

    def allocations(folder):
        done = subprocess.run([str(GPUPROF), "stats", "heap", "--json", str(folder)], capture_output=True, env=clean_environment(), timeout=LIMIT_S)
        assert done.returncode == 3
        result = json.loads(done.stdout)
        assert result["meta"]["confidence"]["level"] == "low"
        return sum(row["count"] for row in result["processes"])

    counts = {}
    for what, pattern, index in (("ring", "*.ring", 0), ("segment", "*.seg", 3), ("trace", "*.gpt", 0)):
        folder = tmp_path / what
        shutil.copytree(tmp_path / "b", folder)
        victim = sorted(folder.glob(pattern))[index]
        victim.unlink() if what == "trace" else os.truncate(victim, 0)
        assert status("verify", folder) == 3, what
        assert status("recover", folder) == 3, what
        assert status("verify", folder) == 3, what
        counts[what] = allocations(folder)
    assert status("recover", tmp_path / "b") == 0 == status("verify", tmp_path / "b")
    (trace,) = read_bundle(tmp_path / "b")
    first, last = kept(trace)
    whole = last - first + 1
    assert 0.5 * whole < counts["segment"] < 0.95 * whole and counts["trace"] >= whole
    assert 0.8 * whole < counts["ring"] <= whole, "all but what stood in the ring"


def test_what_was_cut_off_an_unfinished_trace_is_told_for_good(tmp_path):
    """That a killed process's trace just ends is no damage; that it had been longer is, for every reader, after its completion too."""
    left_alone(tmp_path / "ring")
    (trace,) = (tmp_path / "ring").glob("*.gpt")
    os.truncate(trace, trace.stat().st_size * 3 // 4)
    process = Waiting(tmp_path / "all", *EXACT[2:])
    process.run.send_signal(signal.SIGKILL)
    os.kill(process.pid, signal.SIGKILL)
    process.run.wait()
    (trace,) = (tmp_path / "all").glob("*.gpt")
    os.truncate(trace, trace.stat().st_size // 2)
    for bundle in (tmp_path / "ring", tmp_path / "all"):
        for verb in (("stats", "health"), ("verify",), ("info",)):
            done = subprocess.run([str(GPUPROF), *verb, str(bundle)], capture_output=True, env=clean_environment(), text=True, timeout=LIMIT_S)
            assert done.returncode == 3 and "lost" in done.stdout + done.stderr, (bundle, verb, done.stdout, done.stderr)


def test_segments_without_a_ring_file_are_joined_and_what_is_missing_told(tmp_path):
    left_alone(tmp_path / "b")
    next((tmp_path / "b").glob("*.ring")).unlink()

    def tell(*verb):
        done = subprocess.run([str(GPUPROF), *verb, str(tmp_path / "b")], capture_output=True, env=clean_environment(), text=True, timeout=LIMIT_S)
        return done.returncode, done.stdout + done.stderr

    status, words = tell("verify")
    assert status == 3 and "ring at byte 0: missing; the last records" in words, words
    status, words = tell("recover")
    assert status == 3 and "missing; the last records" in words, words
    assert not list((tmp_path / "b").glob("*.seg"))
    assert "Confidence: low: a trace has no end" in tell("stats", "overview")[1]


def test_segments_of_a_process_that_lives_are_its_own_without_a_ring_file_too(session):
    """There may never have been one, on a full disk."""
    run = session([program("toggled"), "2"], "--ring", "1MiB", HEAP_EXACT)
    assert run.line() == "ready"
    run.wait_for(lambda: list(run.bundle.glob("*.seg")))
    next(run.bundle.glob("*.ring")).unlink()
    done = subprocess.run([str(GPUPROF), "recover", str(run.bundle)], capture_output=True, env=clean_environment(), text=True, timeout=LIMIT_S)
    assert "is still running" in done.stderr, done.stderr
    subprocess.run([str(GPUPROF), "stats", "overview", str(run.bundle)], capture_output=True, env=clean_environment(), timeout=LIMIT_S)
    assert list(run.bundle.glob("*.seg")), "nobody else joins them"
    run.tell("\n")
    run.tell("\n")
    outcome = run.finish()
    assert outcome.status == 0
    assert outcome.trace().lost == 0 and not list(run.bundle.glob("*.seg"))


def test_what_a_segment_holds_is_checked_before_and_after_it_is_joined(tmp_path):
    segments = left_alone(tmp_path / "b")

    def tell(verb):
        done = subprocess.run([str(GPUPROF), verb, str(tmp_path / "b")], capture_output=True, env=clean_environment(), text=True, timeout=LIMIT_S)
        return done.returncode, done.stdout + done.stderr

    status, words = tell("verify")
    assert status == 0 and "\nok: 9 files" in words and "every byte checked" in words, words
    # Of a block in the middle, where only its content tells.
    content = bytearray(segments[3].read_bytes())
    content[len(content) // 2] ^= 0x40
    segments[3].write_bytes(content)
    status, words = tell("verify")
    assert status == 3 and f"{segments[3].name} at byte" in words and "damaged: 9 files" in words, words
    status, words = tell("recover")
    assert status == 3 and "finished 1 trace" in words and "'gpuprof verify" in words, words
    assert not list((tmp_path / "b").glob("*.seg"))
    assert tell("verify")[0] == 3


def test_needs_a_sensible_size(tmp_path):
    done = subprocess.run([str(GPUPROF), "run", "-o", str(tmp_path / "b"), "--ring", "5KiB", "--", "true"], capture_output=True,
                          env=clean_environment(), text=True)
    assert done.returncode == 2 and "at least 1MiB" in done.stderr
