# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Triggers: what happens in the program takes a snapshot of its flight recorder, and the program does not notice. The program knows
how long its steps are, so no test guesses that."""

import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from conftest import PROGRAMS, clean_environment, gpuprof, program, verify
from trace_file import read_bundle

pytestmark = pytest.mark.skipif(not (PROGRAMS / "nvtx_steps").exists(), reason="the headers of NVTX are missing")

RING = ("--ring", "1MiB", "--stacks=0")
# On a busy machine steps differ by a lot, so a slow one is much slower, and a usual one never as slow.
SLOW = 100
TRIGGER = f"--trigger=step:{SLOW}"
NEVER = "--trigger=step:10000"


@pytest.fixture
def steps(session):
    """steps(*options): the program, to be told what to do, with its flight recorder."""

    class Steps:
        def __init__(self, *options):
            self.run = session([program("nvtx_steps")], *RING, *options)
            self.bundle = self.run.bundle

        def tell(self, *commands):
            """The number of the last step after these commands."""
            for command in commands:
                self.run.tell(command + "\n")
                number = self.run.line()
            return int(number)

        def snapshots(self):
            """Names of the snapshots that are complete."""
            return sorted(path.parent.name for path in self.bundle.glob("snapshot-*/bundle.pb"))

        def wait_for(self, count):
            self.run.wait_for(lambda: len(self.snapshots()) >= count)
            return self.snapshots()

        def end(self, command="end 0"):
            self.run.tell(command + "\n")
            return self.run.finish()

    return Steps


def notes(bundle):
    done = gpuprof("stats", "overview", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return [note for note in json.loads(done.out)["meta"]["notes"] if "snapshot was taken" in note]


def test_a_slow_step_takes_a_snapshot_that_says_why(steps):
    running = steps(TRIGGER)
    slow = running.tell("run 10", f"slow {SLOW}")
    (name,) = running.wait_for(1)
    assert name == f"snapshot-step-{slow}-p{running.run.pid}"
    running.tell("run 5")
    outcome = running.end()
    assert (outcome.status, outcome.own_err) == (0, b"")
    assert running.snapshots() == [name]
    snapshot = running.bundle / name
    verify(snapshot)
    reason = re.search(rf"step {slow} took [\d.]+ m?s, ([\d.]+) times the median of [\d.]+ [mu]?s", outcome.words)
    assert float(reason[1]) >= SLOW
    assert outcome.words.count(f"a snapshot was taken, because {reason[0]}: {snapshot}") == 1
    assert notes(snapshot) == [f"pid {running.run.pid}: this snapshot was taken because {reason[0]}"]
    assert notes(running.bundle) == []
    assert f"ended by snapshot: {reason[0]}" in gpuprof("info", snapshot).out.decode()
    (trace,) = read_bundle(snapshot)
    assert f"step {slow}" in [row["name"] for row in trace.range_rows()], "the slow step is in it"
    (trace,) = read_bundle(running.bundle)
    assert f"step {slow + 5}" in [row["name"] for row in trace.range_rows()], "and recording went on"


def test_further_slow_steps_in_the_pause_are_counted(steps):
    running = steps(TRIGGER)
    running.tell("run 10", f"slow {SLOW}")
    running.wait_for(1)
    # As long as the slow one, or twice as long.
    running.tell("slow 2", "slow 1", "run 3")
    outcome = running.end()
    assert len(running.snapshots()) == 1
    assert "slow steps that took no snapshot (--trigger-pause): 2\n" in outcome.words


def test_after_the_pause_the_next_one_tells_what_was_missed(steps):
    running = steps(TRIGGER, "--trigger-pause=1s")
    running.tell("run 10", f"slow {SLOW}")
    running.wait_for(1)
    taken = 1
    while taken < 2:  # the pause ends at some time
        running.tell("run 20", "slow 2")
        taken = len(running.snapshots())
    outcome = running.end()
    assert outcome.words.count("a snapshot was taken, because step ") >= 2


def test_a_stall_takes_one_snapshot(steps):
    running = steps("--trigger=stall:500ms", "--trigger-pause=1ms")
    last = running.tell("run 3")
    found = running.wait_for(1)
    assert found == [f"snapshot-stall-after-step-{last}-p{running.run.pid}"]
    assert f"after step {last}" in notes(running.bundle / found[0])[0]
    running.tell("run 2")
    found = running.wait_for(2)
    assert found[1] == f"snapshot-stall-after-step-{last + 2}-p{running.run.pid}"
    running.end()
    assert len(running.snapshots()) == 2, "one for each stall"


def test_a_stall_that_outlasts_the_pause_takes_a_snapshot(steps):
    running = steps("--trigger=stall:100ms", "--trigger-pause=3s")
    first = running.tell("run 3")
    running.wait_for(1)
    second = running.tell("run 2")
    assert running.wait_for(2) == [f"snapshot-stall-after-step-{step}-p{running.run.pid}" for step in (first, second)]
    running.end()


def test_a_program_without_steps_does_not_stall(record):
    outcome = record([program("plain")], *RING, "--trigger=stall:100ms")
    assert outcome.status == 5
    assert list(outcome.bundle.glob("snapshot-*")) == []


@pytest.mark.parametrize("capture", ["now", "delay:0s", "steps:1-1000000"])
def test_nothing_happens_in_a_steady_run(steps, capture):
    running = steps(NEVER + ",stall:1h,exit", f"--capture={capture}")
    running.tell("run 100")
    outcome = running.end()
    assert outcome.status == 0 and list(running.bundle.glob("snapshot-*")) == []
    assert "snapshot" not in outcome.words


def test_steps_outside_of_the_capture_take_none(steps):
    running = steps(TRIGGER, "--capture=steps:1-9")
    running.tell("run 10", f"slow {SLOW}", "run 2")
    outcome = running.end()
    assert outcome.status == 0 and running.snapshots() == []


def test_a_forked_child_has_steps_of_its_own(steps):
    """It begins anew: its parent's median and pause are not its own."""
    running = steps(TRIGGER)
    running.tell("run 10", "fork 3")
    assert running.snapshots() == []
    running.tell(f"slow {SLOW}")
    (name,) = running.wait_for(1)
    assert name.endswith(f"-p{running.run.pid}")
    running.end()


@pytest.mark.parametrize("command,status", [("end 3", 3), (f"signal {int(signal.SIGKILL)}", 137), (f"signal {int(signal.SIGABRT)}", 134)])
def test_a_failed_exit_leaves_a_snapshot(steps, command, status):
    running = steps("--trigger=exit")
    running.tell("run 10")
    outcome = running.end(command)
    assert outcome.status == (status if status < 128 else 128 - status)
    snapshot = running.bundle / f"snapshot-exit-{status}"
    assert outcome.words.count(f"a snapshot was taken, because the command ended with status {status}: {snapshot}") == 1
    verify(snapshot)
    (trace,) = read_bundle(snapshot)
    assert [row["name"] for row in trace.range_rows()][-1] == "step 10"
    assert all(path.samefile(running.bundle / path.name) for path in snapshot.glob("*.gpt")), "it takes no room"


def test_a_good_exit_leaves_none(steps):
    running = steps("--trigger=exit")
    running.tell("run 10")
    running.end()
    assert list(running.bundle.glob("snapshot-*")) == []


def test_the_newest_snapshots_are_kept(steps, tmp_path):
    """What this process has not made stays, and so does what is behind a link."""
    running = steps(TRIGGER, "--trigger-pause=1ms", "--snapshots=2")
    running.run.wait_for(lambda: (running.bundle / "bundle.pb").exists())
    foreign = running.bundle / "snapshot-step-1-p1"
    foreign.mkdir()
    (foreign / "notes.txt").write_text("mine")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (running.bundle / "snapshot-aaa").symlink_to(elsewhere)
    asked = gpuprof("ctl", "snapshot", running.run.pid)
    assert asked.status == 0, asked.err.decode()
    (first,) = running.snapshots()
    # Somebody replaces the folder by a link to a copy.
    copy = tmp_path / "copy"
    shutil.move(running.bundle / first, copy)
    (running.bundle / first).symlink_to(copy)
    made = []
    for _ in range(4):
        slow = running.tell("run 70", f"slow {SLOW if not made else 2}")
        made.append(f"snapshot-step-{slow}-p{running.run.pid}")
        running.run.wait_for(lambda: made[-1] in running.snapshots())
        if len(made) == 2:
            (running.bundle / made[0] / "notes.txt").write_text("mine")
    running.end()
    assert [name for name in running.snapshots() if name in made[1:]] == made[2:]
    assert sorted(os.listdir(running.bundle / made[0])) == ["bundle.pb", "notes.txt"], "what somebody put there"
    assert (foreign / "notes.txt").read_text() == "mine"
    assert (running.bundle / "snapshot-aaa").is_symlink() and (running.bundle / first).is_symlink()
    assert list(copy.glob("*.gpt")) and (copy / "bundle.pb").exists()
    verify(running.bundle)


def test_a_snapshot_that_somebody_has_removed_takes_no_place(steps):
    running = steps("--snapshots=2")
    running.tell("run 3")
    taken = []
    for number in range(3):
        assert gpuprof("ctl", "snapshot", running.run.pid).status == 0
        (name,) = set(running.snapshots()) - set(taken)
        taken.append(name)
        if number == 1:
            shutil.rmtree(running.bundle / taken.pop())
    assert running.snapshots() == sorted(taken) and len(taken) == 2
    running.end()


def test_no_room_for_a_snapshot_is_said(steps):
    running = steps(TRIGGER)
    running.tell("run 10")
    shutil.rmtree(running.bundle)
    running.tell(f"slow {SLOW}", "run 1")
    outcome = running.end()
    assert outcome.status == 0
    assert not running.bundle.exists()


@pytest.mark.parametrize("options,words", [
    (["--trigger=step:3"], "add --ring SIZE"),
    (["--trigger=step:1", "--ring=1MiB"], "1.1 to 10000 times the median"),
    (["--trigger=stall:1ms", "--ring=1MiB"], "at least 100ms"),
    (["--trigger=slow", "--ring=1MiB"], "'slow' is not a trigger"),
    (["--trigger=step:3", "--ring=1MiB", "--capture=nvtx:x"], "leave one of them out"),
    (["--trigger=stall:1s", "--ring=1MiB", "--trace=heap"], "add nvtx"),
    (["--snapshots=0", "--ring=1MiB"], "0 snapshots would keep nothing"),
])
def test_what_cannot_be_is_refused(tmp_path, options, words):
    done = gpuprof("run", "-o", tmp_path / "b", *options, "--", "true")
    assert done.status == 2 and words in done.err.decode(), done.err.decode()
    assert not (tmp_path / "b").exists()


def test_a_variable_that_makes_no_sense_is_said_by_the_process(tmp_path):
    """Only what was made by hand gets there."""
    done = gpuprof("env", "-o", tmp_path / "b", "--json")
    assert done.status == 0, done.err.decode()
    variables = json.loads(done.out)
    (tmp_path / "b").mkdir(mode=0o700)
    for trigger in ("step:3", "stall:", "exit,what", "step:99999999%"):
        ended = subprocess.run([program("plain")], capture_output=True,
                               env=clean_environment({**variables, "GPUPROF_RING": "1MiB", "GPUPROF_TRIGGER": trigger}))
        assert f"GPUPROF_TRIGGER={trigger} is not valid" in ended.stderr.decode()
