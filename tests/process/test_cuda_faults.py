# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""CUPTI of every release, CUPTI that refuses, and what is missing: the program gives what it gives bare, the reason is said once, and what
could be recorded is."""

import collections
import json

import pytest

from conftest import gpuprof, run_bare
from fake_gpu import DOUBLES, LIBRARIES, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

PROGRAMS = DOUBLES / "programs"
ABSENT = "no GPU activity is recorded: "


@pytest.fixture
def unharmed(record, tmp_path):
    """unharmed(program, *arguments, script=, personality=, libraries=): recorded, with the output and status of a bare run.
    has_truth=False: of a program whose threads end while they write the doubles' account of it, only violations are looked for."""

    def run(name, *arguments, script="", personality=None, libraries=None, status=0, has_truth=True):
        truth = tmp_path / "truth.json"
        truth.unlink(missing_ok=True)
        env = environment_of(truth, script, personality)
        if libraries is not None:
            env["LD_LIBRARY_PATH"] = str(libraries)
        command = [PROGRAMS / name, *arguments]
        bare = run_bare(command, env=env)
        truth.unlink(missing_ok=True)
        outcome = record(command, env=env)
        assert (outcome.status, outcome.out) == (bare.status, bare.out), outcome.err.decode()
        assert bare.status == status
        assert not truth.exists() or b'"t":"violation"' not in truth.read_bytes()
        return outcome, Truth(truth) if has_truth and truth.exists() else None

    return run


def without(tmp_path, *beginnings):
    """The doubles' folder without some of them."""
    folder = tmp_path / "without"
    folder.mkdir()
    for file in LIBRARIES.iterdir():
        if not file.name.startswith(beginnings):
            (folder / file.name).symlink_to(file)
    return folder


def said(outcome):
    return [line for line in outcome.words.splitlines() if ABSENT in line]


@pytest.mark.parametrize("release", PERSONALITIES)
@pytest.mark.parametrize("program", ["vector_add", "graphs", "threads"])
def test_every_release_gives_the_same_tables(unharmed, release, program):
    outcome, truth = unharmed(program, personality=release)
    (trace,) = read_bundle(outcome.bundle)
    assert trace.lost == 0, trace.losses
    assert {row["version"] for row in truth.of("subscriber")} == {130001 if release == "13.0" else int(PERSONALITIES[release].removeprefix("cupti-"))}
    count = collections.Counter
    assert count(row[:8] for row in trace.kernel_rows()) == count(row[:8] for row in truth.kernels())
    assert len(trace.copies["time"]) == len(truth.of("copy")) and len(trace.sets["time"]) == len(truth.of("set"))


@pytest.mark.parametrize("script, reason", [
    ("fail cuptiSubscribe 39", "another profiler in this process"),
    ("fail cuptiSubscribe 12", "holds CUPTI"),
    ("fail cuptiSubscribe 35", "administrators"),
    ("fail cuptiSubscribe 999", "cuptiSubscribe"),
    ("fail cuptiActivityEnable 26", "cuptiActivityEnable"),
    ("fail cuptiActivityRegisterCallbacks 21", "cuptiActivityRegisterCallbacks"),
])
def test_refused_it_says_why_once_and_the_host_is_recorded(unharmed, script, reason):
    outcome, _ = unharmed("vector_add", script=script)
    (line,) = said(outcome)
    assert reason in line
    (trace,) = read_bundle(outcome.bundle)
    assert len(trace.kernels["time"]) == 0
    assert len(trace.threads) > 0
    health = gpuprof("stats", "health", outcome.bundle).out.decode()
    assert reason in health, health


@pytest.mark.parametrize("code, remedy", [(999, "install the CUPTI of the driver's release"), (15, "install one that fits the driver")])
def test_a_library_that_does_not_fit_the_driver_is_named(unharmed, code, remedy):
    """With the driver's release and the remedy; the trace has both, the library as well."""
    outcome, _ = unharmed("vector_add", script=f"fail cuptiSubscribe {code}; driver_version 13010")
    (line,) = said(outcome)
    library = f"{LIBRARIES}/libcupti.so.13"
    assert f"({library}, CUPTI 13.0, API version 130001; the driver is of CUDA 13.1)" in line and remedy in line
    (process,) = json.loads(gpuprof("stats", "health", "--json", outcome.bundle).out)["processes"]
    assert line.split("gpuprof: ")[1] in [note.removeprefix("cuda: ") for note in process["notes"]]
    (note,) = [note for note in process["notes"] if note.startswith("cupti: ")]
    assert note == f"cupti: CUPTI 13.0 (130001) of {library}, which could not be subscribed to"


def test_one_kind_refused_the_others_are_recorded(unharmed):
    outcome, truth = unharmed("vector_add", script="fail cuptiActivityEnable:1 26; fail cuptiActivityEnable:22 26")
    (trace,) = read_bundle(outcome.bundle)
    assert len(trace.kernels["time"]) == len(truth.of("kernel"))
    assert len(trace.copies["time"]) == 0


def test_no_driver(unharmed, tmp_path):
    """libcudart is there, libcuda is not: it says insufficient driver, and nothing of CUPTI is loaded."""
    outcome, _ = unharmed("vector_add", libraries=without(tmp_path, "libcuda.so"), status=3)
    assert said(outcome) == []
    assert gpuprof("stats", "kernels", outcome.bundle).out.decode().startswith("No kernel was recorded.")


def test_no_device(unharmed):
    outcome, _ = unharmed("vector_add", script="devices 0", status=3)
    assert gpuprof("stats", "kernels", outcome.bundle).out.decode().startswith("No kernel was recorded.")


def test_a_driver_too_old_for_the_library(unharmed):
    outcome, _ = unharmed("driver_api", script="driver_version 11080")
    (trace,) = read_bundle(outcome.bundle)
    assert len(trace.kernels["time"]) == 0
    (line,) = said(outcome)
    assert "driver" in line


def test_dropped_records_are_declared(unharmed):
    outcome, truth = unharmed("threads", script="drop 50")
    (trace,) = read_bundle(outcome.bundle)
    recorded = sum(len(table["time"]) for table in (trace.kernels, trace.calls, trace.copies, trace.sets, trace.syncs, trace.overheads))
    dropped = len(truth.of("drop"))
    assert dropped > 50
    assert trace.lost == dropped, trace.losses
    assert recorded > dropped


def test_lost_times_are_declared_and_not_invented(unharmed):
    outcome, truth = unharmed("threads", script="lose_times 40")
    (trace,) = read_bundle(outcome.bundle)
    lost = len(truth.of("lost_times"))
    assert lost > 50
    assert len(trace.kernels["time"]) + lost == len(truth.of("kernel"))
    assert trace.lost == lost, trace.losses
    assert (trace.kernels["duration"] > 0).all()


@pytest.mark.parametrize("way, status", [("return", 0), ("_exit", 5), ("kill", -9), ("wait", 0)])
def test_however_it_ends_what_was_over_is_there(unharmed, way, status):
    """`leave` ends while its long kernel (a second) runs; the short one before was waited for."""
    outcome, _ = unharmed("leave", way, script="kernel Long 1000000000" if way != "wait" else "kernel Long 1000000", status=status)
    (trace,) = read_bundle(outcome.bundle)
    names = [row[0] for row in trace.kernel_rows()]
    if way == "kill":
        assert all("Short" in name or "Long" in name for name in names)
    else:
        assert "_Z5Shortv" in names, names


def test_what_cupti_still_had_at_a_kill_is_told(unharmed):
    """Its buffers are in the process's memory and go with it: how long before the end they begin is known, how many records that were is not."""
    outcome, _ = unharmed("leave", "kill", script="kernel Long 1000000000", status=-9)
    assert "lost: what CUPTI recorded in the last " in outcome.words and "lost: nothing" not in outcome.words
    (process,) = json.loads(gpuprof("info", "--json", outcome.bundle).out)["processes"]
    assert 0 < process["activity_missing_ns"] < 3e9
    kernels = json.loads(gpuprof("stats", "kernels", "--json", outcome.bundle).out)
    assert any("it went with the process" in note for note in kernels["meta"]["notes"]), kernels["meta"]
    assert gpuprof("verify", outcome.bundle).status == 0
    health = gpuprof("stats", "health", outcome.bundle).out.decode()
    assert "lost   what CUPTI recorded in the last " in health and "lost   nothing" not in health
    (row,) = json.loads(gpuprof("stats", "health", "--json", outcome.bundle).out)["processes"]
    assert int(row["activity_missing_ns"]) == process["activity_missing_ns"]


def test_quiet_does_not_hide_what_was_lost(record, tmp_path):
    env = environment_of(tmp_path / "truth.json", "kernel Long 1000000000")
    outcome = record([PROGRAMS / "leave", "kill"], "--quiet", env=env)
    assert outcome.status == -9
    assert "lost: what CUPTI recorded in the last " in outcome.words
    whole = record([PROGRAMS / "vector_add"], "--quiet", env=environment_of(tmp_path / "truth2.json"))
    assert whole.status == 0 and whole.words == ""


def test_what_cupti_does_not_hand_over_is_told(unharmed):
    outcome, truth = unharmed("threads", script="fail cuptiActivityFlushAll 999")
    (trace,) = read_bundle(outcome.bundle)
    (line,) = [line for line in outcome.words.splitlines() if "does not hand over" in line]
    assert "cuptiActivityFlushAll failed with" in line
    assert len(trace.kernels["time"]) < len(truth.of("kernel"))
    assert "lost: what CUPTI recorded in the last " in outcome.words and "lost: nothing" not in outcome.words
    kernels = json.loads(gpuprof("stats", "kernels", "--json", outcome.bundle).out)
    assert any("CUPTI did not hand it over" in note for note in kernels["meta"]["notes"]), kernels["meta"]
    assert kernels["meta"]["confidence"]["level"] == "low"


def test_a_cupti_that_does_not_come_back_keeps_no_program_from_ending(unharmed):
    """At its end, or before it: what was recorded of the host is there, and what is missing is said."""
    outcome, _ = unharmed("leave", "return", script="hang cuptiActivityFlushAll")
    assert outcome.words.count("does not come back") == 1, outcome.words
    assert gpuprof("recover", outcome.bundle).status == 0
    threads = json.loads(gpuprof("stats", "threads", "--json", outcome.bundle).out)
    assert threads["threads"]


@pytest.mark.parametrize("script", ["exit_read 999", "exit_read 999; driver_version 13030"])
def test_all_is_read_before_the_driver_goes(unharmed, script):
    """From 13.3 on the library asks the driver when it reads."""
    outcome, truth = unharmed("vector_add", script=script, personality="13.3")
    (trace,) = read_bundle(outcome.bundle)
    assert collections.Counter(row[:8] for row in trace.kernel_rows()) == collections.Counter(row[:8] for row in truth.kernels())
    assert trace.lost == 0 and "does not read" not in outcome.words


def test_what_cupti_does_not_read_is_told(unharmed):
    """Of a buffer whose next record it refuses the rest is lost: how much nobody knows, one record at least."""
    outcome, _ = unharmed("vector_add", script="fail cuptiActivityGetNextRecord 22 5 1")
    assert outcome.words.count("does not read all of its own records") == 1
    (trace,) = read_bundle(outcome.bundle)
    assert trace.lost >= 1 and len(trace.kernel_rows()) < 12


def test_threads_that_call_cuda_beyond_the_end(unharmed):
    """The driver has gone and their calls fail, as fast as they can: they are neither waited for nor recorded."""
    outcome, _ = unharmed("detached", status=5, has_truth=False)
    assert "in time" not in outcome.words
    (trace,) = read_bundle(outcome.bundle)
    assert gpuprof("verify", outcome.bundle).status == 0
    assert len(trace.kernels["time"]) > 100


def test_a_forked_child_does_not_hang(unharmed):
    """The driver refuses in the child, as it does bare; the tool calls nothing of CUPTI's there."""
    outcome, _ = unharmed("leave", "fork", script="kernel Long 1000000")
    parents = [trace for trace in read_bundle(outcome.bundle) if len(trace.kernels["time"])]
    assert len(parents) == 1
    assert sorted(row[0] for row in parents[0].kernel_rows()) == ["_Z4Longv", "_Z5Shortv"]


def test_a_forked_child_has_nothing_of_its_parents(record):
    """Buffers that are full and not yet read when it is made are the parent's alone, and so is what was lost."""
    env = {"LD_LIBRARY_PATH": str(LIBRARIES), "FAKE_GPU_SCRIPT": "kernel_ns 0; launch_ns 0"}
    outcome = record([str(DOUBLES / "programs" / "leave"), "busy"], "--trace", "cuda,threads,heap=exact", env=env)
    assert outcome.status == 0, outcome.err.decode()
    parent, *children = sorted(read_bundle(outcome.bundle), key=lambda trace: -len(trace.kernels["time"]))
    assert len(parent.kernels["time"]) + parent.lost >= 300_001
    for child in children:
        assert child.ppid == parent.pid
        assert len(child.kernels["time"]) == len(child.calls["time"]) == child.lost == 0


def test_a_program_that_is_faster_than_the_recorder_is_recorded_to_its_end(record):
    """What cannot be kept is declared, and the recorder's memory holds: every launch is a kernel and a call, or counted as lost."""
    launches = 1_500_000
    env = {"LD_LIBRARY_PATH": str(LIBRARIES), "FAKE_GPU_SCRIPT": "kernel_ns 0; launch_ns 0"}
    outcome = record([str(DOUBLES / "programs" / "generator"), str(launches)], "--trace", "cuda", "--memory", "32MiB", env=env)
    assert outcome.status == 0, outcome.err.decode()
    assert "no memory" not in outcome.words
    (trace,) = read_bundle(outcome.bundle)
    assert len(trace.kernels["time"]) + len(trace.calls["time"]) + trace.lost >= 2 * launches
    assert "recovered" not in gpuprof("info", outcome.bundle).out.decode()
