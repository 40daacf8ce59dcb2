# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""GPU activity switched on and off while the program runs: every capture is as exact as the first, and between them nothing is
subscribed."""

import collections
import json
import resource
import subprocess

import pytest

from conftest import GPUPROF, gpuprof, short_and_long, verify
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, Truth, environment_of, needs_doubles, with_switch
from trace_file import WRITE_ERROR, read_bundle
from waiting import LIMIT_S, stay

pytestmark = needs_doubles

ROUNDS = DOUBLES / "programs" / "rounds"
QUEUE = DOUBLES / "programs" / "queue"
STREAMS = 16
GPU_TIMES = 13  # a loss


@pytest.mark.parametrize("options", [(), ("--gpu-finish=2m",)], ids=["default", "two minutes"])
def test_exit_amid_the_end_of_a_capture(session, tmp_path, options):
    """The capture's end waits for the kernel that still runs when the program leaves: nobody calls CUPTI once the driver has gone, and
    the program's end waits for none of it."""
    truth = tmp_path / "truth.json"
    ten_minutes = "kernel Long 600000000000"  # longer than `finish` waits
    program = session([DOUBLES / "programs" / "leave", "line"], *options, env=environment_of(truth, ten_minutes))
    assert program.line() == "launched"
    program.wait_for(lambda: program.ctl("status").status == 0)
    with subprocess.Popen([str(GPUPROF), "ctl", "stop", str(program.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as stop:
        stay(0.1)
        program.tell("\n")
        outcome = program.finish()
        stop.wait(timeout=LIMIT_S)
    assert outcome.status == 0, outcome.err.decode()
    found = Truth(truth)
    assert found.of("exit") and found.of("after_exit") == [] and found.of("violation") == []
    (trace,) = read_bundle(outcome.bundle)
    assert "_Z5Shortv" in [row[0] for row in trace.kernel_rows()]
    verify(outcome.bundle)


@pytest.fixture
def rounds(session, tmp_path):
    truth = tmp_path / "truth.json"
    program = session([ROUNDS], "--capture=off", env=environment_of(truth))
    assert program.line() == "ready"

    def go(kernels):
        program.tell(f"{kernels}\n")
        assert program.line() == f"done {kernels}"

    program.go = go
    return with_switch(program, truth)


def open_launches(bundle):
    kernels = json.loads(gpuprof("stats", "kernels", "--json", bundle).out)
    return [note for note in kernels["meta"].get("notes", []) if "no recorded work on the GPU" in note]


def key(kernel):
    return kernel[:7]


def of_rounds(rows, numbers):
    """Kernels, counted; the round is the grid's width."""
    return collections.Counter(key(row) for row in rows if row[2][0] in numbers)


@short_and_long("captures", 4, 10)
def test_captures_are_each_exact(rounds, captures):
    """The last as exact as the first; what runs in between is in none."""
    captured = []
    number = 0
    for capture in range(captures):
        rounds.go(5)
        number += 1
        rounds.switch("start")
        rounds.go(20 + capture)
        number += 1
        captured.append(number)
        rounds.switch("stop")
    trace, truth, _ = rounds.whole()
    assert trace.lost == 0, trace.losses
    recorded = trace.kernel_rows()
    assert sum(of_rounds(recorded, captured).values()) == sum((20 + i) * STREAMS for i in range(captures))
    assert of_rounds(recorded, captured) == of_rounds(truth.kernels(), captured)
    assert {row[2][0] for row in recorded} == set(captured), "nothing of the rounds between captures"
    by_capture = collections.Counter(trace.kernels["capture"].tolist())
    assert by_capture == {i + 1: (20 + i) * STREAMS for i in range(captures)}
    assert open_launches(rounds.bundle) == []


def test_what_the_disk_did_not_take_of_the_tables_comes_later(rounds):
    """Streams, signatures and functions are told once, here into a file that may not grow: rows that follow refer to them."""
    rounds.switch("start")
    (trace,) = rounds.bundle.glob("*.gpt")
    resource.prlimit(rounds.pid, resource.RLIMIT_FSIZE, (trace.stat().st_size, resource.RLIM_INFINITY))
    rounds.go(20)
    rounds.wait_for(lambda: rounds.state()["lost"] > 20 * STREAMS)
    resource.prlimit(rounds.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    rounds.go(21)
    trace, truth, outcome = rounds.whole()
    assert trace.losses.get(WRITE_ERROR, 0) > 20 * STREAMS, "the first round was lost"
    assert of_rounds(trace.kernel_rows(), [2]) == of_rounds(truth.kernels(), [2])
    verify(outcome.bundle)


@pytest.mark.parametrize("personality", [None, "11.8", "13.3"])
def test_what_was_launched_before_the_stop_is_there_when_it_ends(session, tmp_path, personality):
    """20 kernels of 10 ms each, stopped when the first runs: all of them are waited for."""
    truth = tmp_path / "truth.json"
    environment = environment_of(truth, f"kernel_ns 10000000; {DRIVER_OF_SEVERAL}", personality)
    program = with_switch(session([QUEUE, "20"], "--capture=off", env=environment), truth)
    assert program.line() == "ready"
    for _ in range(2):
        program.switch("start")
        program.tell("\n")
        assert program.line() == "launched"
        program.switch("stop")
    trace, found, _ = program.whole()
    assert trace.lost == 0, trace.losses
    assert len(trace.kernel_rows()) == len(found.kernels()) == 40


def test_what_runs_on_for_long_after_the_stop_is_counted(session, tmp_path):
    """The first two kernels of 0.4 s end in time, the third does not: no stop takes for ever."""
    truth = tmp_path / "truth.json"
    program = with_switch(session([QUEUE, "3"], "--capture=off", env=environment_of(truth, "kernel_ns 400000000")), truth)
    assert program.line() == "ready"
    program.switch("start")
    program.tell("\n")
    assert program.line() == "launched"
    program.switch("stop")
    trace, found, _ = program.whole()
    assert len(found.kernels()) == 3
    assert len(trace.kernel_rows()) + trace.losses.get(GPU_TIMES, 0) == 3 and trace.losses[GPU_TIMES] >= 1
    (note,) = open_launches(program.bundle)
    count = 3 - len(trace.kernel_rows())
    assert f": {count} launch" in note and "of capture 1 ha" in note, note


def test_the_end_waits_for_as_long_as_it_may(session, tmp_path):
    """Four kernels of 0.4 s: with the default two of them would be there."""
    truth = tmp_path / "truth.json"
    environment = environment_of(truth, "kernel_ns 400000000")
    program = with_switch(session([QUEUE, "4"], "--capture=off", "--gpu-finish=10s", env=environment), truth)
    assert program.line() == "ready"
    for _ in range(2):
        program.switch("start")
        program.tell("\n")
        assert program.line() == "launched"
        program.switch("stop")
    trace, found, _ = program.whole()
    assert trace.lost == 0, trace.losses
    assert len(trace.kernel_rows()) == len(found.kernels()) == 8
    assert open_launches(program.bundle) == []


def test_each_kernel_has_its_launch_in_its_own_capture(rounds):
    for _ in range(3):
        rounds.switch("start")
        rounds.go(10)
        rounds.switch("stop")
    trace, _, _ = rounds.whole()
    calls = {}
    for correlation, end, duration, capture in zip(trace.calls["correlation"].tolist(), trace.calls["time"].tolist(),
                                                   trace.calls["duration"].tolist(), trace.calls["capture"].tolist()):
        assert calls.setdefault(correlation, (end - duration, capture)) == (end - duration, capture), "two calls of one number"
    assert len(trace.kernels["time"]) == 30 * STREAMS
    for correlation, end, duration, capture in zip(trace.kernels["correlation"].tolist(), trace.kernels["time"].tolist(),
                                                   trace.kernels["duration"].tolist(), trace.kernels["capture"].tolist()):
        start, of = calls[correlation]
        assert start <= end - duration and of == capture


@short_and_long("count", 20, 100)
def test_toggled_while_it_launches(rounds, count):
    """Captures begin and end amid launches of eight threads: the rows are a part of the truth, none twice, none invented."""
    for _ in range(count):
        rounds.tell("3\n")
        rounds.switch("start")
        rounds.switch("stop")
    for _ in range(count):
        assert rounds.line() == "done 3"
    rounds.switch("start")
    rounds.go(7)
    rounds.switch("stop")
    trace, truth, _ = rounds.whole()
    true = collections.Counter(key(row) for row in truth.kernels())
    recorded = collections.Counter(key(row) for row in trace.kernel_rows())
    assert not recorded - true
    assert of_rounds(trace.kernel_rows(), [count + 1]) == of_rounds(truth.kernels(), [count + 1]), "the last capture is exact"
    assert trace.lost == 0, trace.losses


def test_dormant_nothing_is_asked_of_cupti(rounds):
    """Another tool can have CUPTI before, between and after our captures: nothing is subscribed or enabled."""
    rounds.go(5)
    rounds.switch("start")
    rounds.go(5)
    rounds.switch("stop")
    rounds.go(5)
    _, truth, _ = rounds.whole()
    asked = [(row["time"], row["subscribed"] or row["wants"]) for row in truth.of("tool")]
    assert asked[-1][1] == 0 and asked[0][1] != 0
    begin, end = asked[0][0], asked[-1][0]
    assert all(of != 0 for _, of in asked[:-1]), "asked once, let go of once"
    kernels = collections.Counter((k["grid"][0], begin <= k["start"] <= end) for k in truth.of("kernel"))
    assert kernels == {(1, False): 5 * STREAMS, (2, True): 5 * STREAMS, (3, False): 5 * STREAMS}


def test_stats_agree_with_the_truth_after_several_captures(rounds):
    for _ in range(2):
        rounds.switch("start")
        rounds.go(4)
        rounds.switch("stop")
        rounds.go(2)
    _, _, outcome = rounds.whole()
    text = gpuprof("stats", "kernels", outcome.bundle).out.decode()
    assert text.startswith(f"{2 * 4 * STREAMS} kernels, "), text


def test_a_snapshot_has_the_newest(session, tmp_path):
    """CUPTI is asked for what it has: of a flight recorder it is the last second that counts."""
    truth = tmp_path / "truth.json"
    program = session([ROUNDS], "--ring=4MiB", env=environment_of(truth))
    assert program.line() == "ready"
    for launches in (5, 7):
        program.tell(f"{launches}\n")
        assert program.line() == f"done {launches}"
        assert program.ctl("snapshot").status == 0
    counts = []
    for snapshot in sorted(program.bundle.glob("snapshot-*"), key=lambda path: path.stat().st_mtime):
        kernels = json.loads(gpuprof("stats", "kernels", "--json", snapshot).out)
        counts.append(sum(row["count"] for row in kernels["kernels"]))
    assert counts == [5 * STREAMS, 12 * STREAMS]


def test_what_a_flight_recorder_kept_has_its_window(record, tmp_path):
    """Times of kernels are CUPTI's, and do not tell when the capture goes back to."""
    launches = 2_000_000
    outcome = record([str(DOUBLES / "programs" / "generator"), str(launches)], "--ring=1MiB", env=environment_of(tmp_path / "truth.json"))
    assert outcome.status == 0, outcome.err.decode()
    (process,) = json.loads(gpuprof("info", "--json", outcome.bundle).out)["processes"]
    (capture,) = process["captures"]
    (device,) = json.loads(gpuprof("stats", "streams", "--json", outcome.bundle).out)["devices"]
    kept = capture["end_ns"] - capture["start_ns"]
    assert capture["let_go_ns"] > 0 and process["first_ns"] <= capture["start_ns"] < capture["end_ns"]
    assert 0 < device["window_ns"] <= kept and 0 < device["busy_ratio"] <= 1
    kernels = sum(row["count"] for row in json.loads(gpuprof("stats", "kernels", "--json", outcome.bundle).out)["kernels"])
    assert 0 < kernels < launches
