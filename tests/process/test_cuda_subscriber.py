# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Profilers inside the program beside captures. A program that profiles itself gets what it gets bare. With the second interface of CUPTI both
have all."""


import pytest

from fake_gpu import DRIVER_OF_SEVERAL, PERSONALITIES, needs_doubles
from own_profiler import ABSENT, fixture_profiler, notes, profile, rounds  # pylint: disable=unused-import
from waiting import stay

pytestmark = needs_doubles

WAYS = [*((release, "v1", "") for release in PERSONALITIES), ("13.3", "v2", DRIVER_OF_SEVERAL)]


@pytest.mark.parametrize("release, way, script", WAYS)
def test_while_no_capture_runs_a_program_profiles_itself(profiler, release, way, script):
    program = profiler(way, release, script)
    profile(program, 40)
    program.switch("start")
    assert program.ask("launch 30") == "launched 30"
    program.switch("stop")
    profile(program, 20)
    trace, truth, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {3: 30} and rounds(truth.kernels()) == {1: 1, 2: 40, 3: 30, 4: 20}
    assert trace.lost == 0, trace.losses


@pytest.mark.parametrize("release", PERSONALITIES)
def test_during_a_capture_the_programs_own_is_refused(profiler, release):
    """CUPTI refuses the second subscriber of its first interface. gpuprof does not see a program that has its functions from dlsym."""
    program = profiler("v1", release)
    program.switch("start")
    assert program.ask("begin") == "began 39"
    assert program.ask("launch 25") == "launched 25"
    program.switch("stop")
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 25} and trace.lost == 0, trace.losses


@pytest.mark.parametrize("release", PERSONALITIES)
def test_who_profiles_itself_already_is_left_alone(profiler, release):
    """Said once, with the holder's name where the library tells it; the capture after that has everything."""
    program = profiler("v1", release)
    assert program.ask("begin") == "began 0"
    program.switch("start")
    assert program.ask("launch 35") == "launched 35"
    program.switch("stop")
    program.switch("start")
    program.switch("stop")
    assert program.ask("end") == "ended 35"
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {3: 15} and trace.lost == 0, trace.losses
    (line,) = [line for line in outcome.words.splitlines() if ABSENT in line]
    named = "another profiler in this process (CUPTI) holds CUPTI" if release.startswith("13") else "another profiler in this process holds CUPTI"
    assert named in line
    (note,) = notes(outcome.bundle, "cuda")
    assert named in note


def test_the_holders_name_is_in_the_sentence(profiler):
    """Nsight Systems and its like hold CUPTI before the program begins."""
    program = profiler("v1", "13.0", "fail cuptiSubscribe 39; fail cuptiSubscribe_v2 39; subscriber NVIDIA Nsight \x01 Systems")
    program.switch("start")
    program.switch("stop")
    _, _, outcome = program.whole()
    (line,) = [line for line in outcome.words.splitlines() if ABSENT in line]
    assert "another profiler in this process (NVIDIA Nsight ? Systems) holds CUPTI" in line


@pytest.mark.parametrize("first", ["we", "they"])
def test_by_the_second_interface_both_have_everything(profiler, first):
    program = profiler("v2", "13.3", DRIVER_OF_SEVERAL)
    if first == "we":
        program.switch("start")
        assert program.ask("launch 10") == "launched 10"
        assert program.ask("begin") == "began 0 CUPTI for gpuprof"
    else:
        assert program.ask("begin") == "began 0"
        assert program.ask("launch 10") == "launched 10"
        program.switch("start")
    assert program.ask("launch 50") == "launched 50"
    if first == "we":
        program.switch("stop")
        assert program.ask("launch 5") == "launched 5"
        assert program.ask("end") == "ended 55"
    else:
        assert program.ask("end") == "ended 60"
        assert program.ask("launch 5") == "launched 5"
        program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == ({2: 10, 3: 50} if first == "we" else {3: 50, 4: 5})
    assert trace.lost == 0, trace.losses
    calls = {row[2] for row in trace.call_rows()}
    assert {row[7] for row in trace.kernel_rows()} <= calls, "each kernel has its launch"
    assert {row[1] for row in trace.call_rows()} == {program.pid}, "threads have the system's numbers"
    assert notes(outcome.bundle, "cuda") == []


def test_who_shares_with_nobody_keeps_it(profiler):
    """The second interface exists, but its holder used the first."""
    program = profiler("v1", "13.3", DRIVER_OF_SEVERAL)
    assert program.ask("begin") == "began 0"
    program.switch("start")
    assert program.ask("launch 35") == "launched 35"
    program.switch("stop")
    assert program.ask("end") == "ended 35"
    _, _, outcome = program.whole()
    assert "(CUPTI) holds CUPTI" in outcome.words


def test_who_does_not_subscribe_keeps_it_too(profiler):
    """From 13.2 on CUPTI tells whether somebody records: as torch.profiler does that does not subscribe any more."""
    program = profiler("unsubscribed", "13.3")
    assert program.ask("begin") == "began 0"
    program.switch("start")
    assert program.ask("launch 35") == "launched 35"
    program.switch("stop")
    assert program.ask("end") == "ended 35"
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert outcome.words.count("holds CUPTI") == 1
    assert rounds(trace.kernel_rows()) == {3: 15}


def test_who_takes_it_without_subscribing_is_told_of(profiler):
    """Our kinds are off with theirs, and our buffers theirs: what is missing then is said."""
    program = profiler("unsubscribed", "13.3")
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    stay(1)
    assert program.ask("begin") == "began 0"
    assert program.ask("launch 5") == "launched 5"
    program.ask("end")
    stay(1.5)
    program.switch("stop")
    _, _, outcome = program.whole()
    told = "another profiler in this process turned CUPTI's records off during the capture"
    assert outcome.words.count(told) == 1
    assert any(told in note for note in notes(outcome.bundle, "cuda"))
