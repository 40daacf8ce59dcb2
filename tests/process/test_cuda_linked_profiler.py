# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Profilers that are linked to CUPTI, inside the program. When one of them asks for CUPTI during a capture, the capture's GPU part ends there, and
the trace says who took CUPTI."""

import collections
import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from own_profiler import ABSENT, fixture_profiler, notes, profile, rounds  # pylint: disable=unused-import
from trace_file import read_bundle

pytestmark = needs_doubles

TAKEN = "asked CUPTI for GPU activity"


def library_of(release):
    return f"linked_profiler-{release if release == '11.8' else release.split('.')[0]}.so"


LINKED_WAYS = [*((release, "") for release in PERSONALITIES), ("13.3", DRIVER_OF_SEVERAL)]


@pytest.mark.parametrize("release, script", LINKED_WAYS)
def test_a_session_that_begins_in_a_capture_has_all_and_the_captures_gpu_part_ends(profiler, release, script):
    """The program and the trace say who took CUPTI. The next capture has it again."""
    program = profiler("linked", release, script)
    program.switch("start")
    assert program.ask("launch 25") == "launched 25"
    profile(program, 30)
    assert program.ask("launch 35") == "launched 35"
    program.switch("stop")
    profile(program, 20)
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 25, 6: 15} and trace.lost == 0, trace.losses
    (line,) = [line for line in outcome.words.splitlines() if TAKEN in line]
    assert line.startswith(f"gpuprof: {library_of(release)}, a profiler in the program, ")
    (note,) = notes(outcome.bundle, "cuda")
    assert library_of(release) in note and " ms after capture 1 began: from then on that capture has no GPU activity" in note
    assert "The same happened" not in note
    assert library_of(release) in gpuprof("stats", "overview", outcome.bundle).out.decode()


def test_each_capture_that_gives_way_is_counted(profiler):
    program = profiler("linked", "13.0")
    for kernels in (10, 20, 30):
        program.switch("start")
        assert program.ask("launch 5") == "launched 5"
        profile(program, kernels)
        program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 5, 4: 5, 6: 5} and trace.lost == 0, trace.losses
    (note,) = notes(outcome.bundle, "cuda")
    assert "after capture 1 began" in note and note.endswith(". The same happened in 2 more captures")


def test_a_session_across_captures_is_whole(profiler):
    """The capture in whose time it begins ends its GPU part, the capture that begins meanwhile has no GPU activity."""
    program = profiler("linked", "13.0")
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("begin") == "began 0"
    assert program.ask("launch 10") == "launched 10"
    program.switch("stop")
    assert program.ask("launch 20") == "launched 20"
    program.switch("start")
    assert program.ask("launch 30") == "launched 30"
    assert program.ask("end") == "ended 60"
    assert program.ask("launch 40") == "launched 40"
    program.switch("stop")
    program.switch("start")
    assert program.ask("launch 50") == "launched 50"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 5, 7: 50} and trace.lost == 0, trace.losses
    assert outcome.words.count(ABSENT) == 1 and outcome.words.count(TAKEN) == 1
    assert all(library_of("13.0") in note for note in notes(outcome.bundle, "cuda"))


@pytest.mark.parametrize("release", PERSONALITIES)
def test_who_is_linked_to_cupti_and_records_already_keeps_it(profiler, release):
    """A capture begins without a GPU then, and says whose it is; the next one has it, and the profiler after that again."""
    program = profiler("linked", release)
    assert program.ask("begin") == "began 0"
    program.switch("start")
    assert program.ask("launch 35") == "launched 35"
    program.switch("stop")
    assert program.ask("end") == "ended 35"
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    program.switch("stop")
    profile(program, 10)
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {3: 15} and trace.lost == 0, trace.losses
    (line,) = [line for line in outcome.words.splitlines() if ABSENT in line]
    assert "another profiler in this process (linked_profiler-" in line and "holds CUPTI" in line
    assert " failed with " not in line, "nothing was called, and nothing failed"


@pytest.mark.parametrize("release", PERSONALITIES)
def test_the_clock_of_another_profiler_is_not_ours(profiler, release):
    """Kineto registers one that counts ticks, for good: records of a later capture are on CUPTI's usual one all the same."""
    program = profiler("linked", release)
    assert program.ask("begin") == "began 0"
    assert program.ask("end") == "ended 0"
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    program.switch("stop")
    profile(program, 10)
    trace, truth, _ = program.whole()
    (first, last) = (min(row[-2] for row in truth.kernels()), max(row[-1] for row in truth.kernels()))
    kernels = trace.kernel_rows()
    assert rounds(kernels) == {2: 15}
    assert all(first <= row[-2] <= row[-1] <= last for row in kernels)


@pytest.mark.parametrize("release, script", LINKED_WAYS)
def test_a_subscription_in_a_capture_is_the_programs_for_life(profiler, release, script):
    """PyTorch up to 2.9 subscribes when its profiler is first used. Refused, it would never again look for a GPU in this process."""
    program = profiler("linked_once", release, script)
    program.switch("start")
    assert program.ask("launch 25") == "launched 25"
    profile(program, 30)
    assert program.ask("reset") == "reset 1"
    program.switch("stop")
    assert program.ask("reset") == "reset 2"
    profile(program, 20)
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 25} and trace.lost == 0, trace.losses
    assert outcome.words.count(TAKEN) == 1


@pytest.mark.parametrize("release, script", LINKED_WAYS)
def test_who_has_subscribed_and_rests_is_no_obstacle(profiler, release, script):
    """As torch.profiler between its own captures. gpuprof records without callbacks, and the profiler has all of its own."""
    program = profiler("linked_once", release, script)
    profile(program, 10)
    for contexts in (1, 3):
        program.switch("start")
        assert program.ask("launch 15") == "launched 15"
        assert program.ask("reset") == f"reset {contexts}"
        program.switch("stop")
        assert program.ask("reset") == f"reset {contexts + 1}"
        profile(program, 20)
    program.switch("start")
    assert program.ask("quiet") == "quiet 0"
    assert program.ask("reset") == "reset 4", "it wants nothing any more"
    assert program.ask("leave") == "left 0"
    program.switch("stop")
    assert program.ask("launch 5") == "launched 5"
    program.switch("start")
    assert program.ask("launch 25") == "launched 25"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {1: 3, 3: 15, 5: 15, 8: 25} and trace.lost == 0, trace.losses
    assert ABSENT not in outcome.words and TAKEN not in outcome.words
    (note,) = notes(outcome.bundle, "cuda")
    assert f"{library_of(release)}, a profiler in the program, has CUPTI's callbacks. Capture 1 has no call stacks of launches" in note
    assert note.endswith(". The same happened in 2 more captures"), "the last one had the callbacks"


def test_who_rests_and_records_in_a_capture_has_all(profiler):
    """The capture has no subscription to give up."""
    program = profiler("linked_once", "13.0")
    profile(program, 10)
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    profile(program, 20)
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {3: 15} and trace.lost == 0, trace.losses
    assert outcome.words.count(TAKEN) == 1


def test_who_follows_calls_goes_on_in_a_capture(profiler):
    """Callbacks and activity are apart in CUPTI: each has its own."""
    program = profiler("linked_once", "13.0")
    assert program.ask("begin") == "began 0"
    assert program.ask("end") == "ended 0"
    assert program.ask("follow 1") == "follow 0"
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    assert program.ask("follow 0") == "follow 0"
    assert program.ask("follow 1") == "follow 0"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 15}
    assert ABSENT not in outcome.words and TAKEN not in outcome.words


def test_a_session_that_a_capture_comes_in_between_has_all_of_its_kinds(profiler):
    """A capture takes CUPTI while the program has registered buffers and no kind yet. The first kind gives CUPTI back, with the buffers."""
    memcpy, kernel = 1, 10
    program = profiler("linked", "13.0")
    assert program.ask("begin") == "began 0"
    assert program.ask("end") == "ended 0"
    assert program.ask("buffers") == "buffers 0"
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask(f"kind {memcpy}") == "kind 0"
    assert program.ask("launch 6") == "launched 6"
    program.switch("stop")
    program.switch("start")
    assert program.ask(f"kind {kernel}") == "kind 0"
    assert program.ask("launch 7") == "launched 7"
    assert program.ask("end") == "ended 7"
    program.switch("stop")
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 5} and trace.lost == 0, trace.losses


@pytest.mark.parametrize("way", ["linked", "linked_once"])
def test_sessions_beside_beginning_and_ending_captures_are_whole(profiler, way):
    """As fast as both go, so that calls of the one meet each step of the other."""
    program = profiler(way, "13.0")
    program.tell("sessions\n")
    captures = 20
    for _ in range(captures):
        program.switch("start")
        program.switch("stop")
    program.tell("enough\n")
    count, wrong = map(int, program.line().removeprefix("sessions ").split())
    assert wrong == 0, f"of {count} beside {captures} captures"
    assert count > captures
    profile(program, 10)
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    program.switch("stop")
    # No session may have met a capture: then there is nothing to tell.
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows())[3] == 15 and trace.lost == 0, trace.losses


def test_who_asks_while_cupti_does_not_come_back_goes_on_all_the_same(profiler):
    """The capture cannot leave CUPTI then. The program waits once, and not for ever: the session begins, and the process ends as it would bare."""
    program = profiler("linked", "13.0", "hang cuptiActivityFlushAll")
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("begin") == "began 0"
    assert program.ask("launch 10") == "launched 10"
    assert program.ask("pause") == "pause 0"
    assert program.ask("begin") == "began 0"
    assert program.ask("finalize") == "finalize 39", "a thread of gpuprof's is inside CUPTI"
    program.whole()


@pytest.mark.parametrize("release, script", LINKED_WAYS)
def test_what_a_profiler_has_not_fetched_yet_is_its_own(profiler, release, script):
    """Kineto turns its kinds off, works on what it has of the host, and then has its buffers delivered: until then its session goes on."""
    program = profiler("linked", release, script)
    assert program.ask("begin") == "began 0"
    assert program.ask("launch 10") == "launched 10"
    assert program.ask("pause") == "pause 0"
    for _ in range(2):
        program.switch("start")
        assert program.ask("launch 5") == "launched 5"
        program.switch("stop")
    assert program.ask("end") == "ended 10"
    profile(program, 20)
    program.switch("start")
    assert program.ask("launch 6") == "launched 6"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {6: 6} and trace.lost == 0, trace.losses
    (line,) = [line for line in outcome.words.splitlines() if ABSENT in line]
    assert f"another profiler in this process ({library_of(release)}) holds CUPTI" in line


@pytest.mark.parametrize("release", PERSONALITIES)
def test_kinds_that_it_has_turned_on_before_it_has_buffers(profiler, release):
    """As CUPTI's own samples do: that is a session too."""
    program = profiler("linked", release)
    assert program.ask("early") == "early 0"
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    program.switch("stop")
    assert program.ask("buffers") == "buffers 0"
    assert program.ask("launch 10") == "launched 10"
    assert program.ask("end") == "ended 10"
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    program.switch("stop")
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {4: 15} and trace.lost == 0, trace.losses


def test_a_subscription_that_is_over_is_not_the_captures(profiler):
    """Its handle may be the same."""
    program = profiler("linked_once", "13.0")
    profile(program, 10)
    assert program.ask("leave") == "left 0"
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("leave") != "left 0"
    assert program.ask("launch 5") == "launched 5"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {3: 5, 4: 5} and trace.lost == 0, trace.losses
    assert notes(outcome.bundle, "cuda") == []


def test_functions_called_from_one_place_are_not_mixed_up(profiler):
    """A wrapper that ends with its call returns to whoever called the wrapper."""
    program = profiler("linked", "13.0")
    profile(program, 10)
    assert program.ask("dropped") == "dropped 0"
    assert program.ask("finalize") == "finalize 0"
    assert program.ask("buffers") == "buffers 0"
    assert program.ask("early") == "early 0"
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("end") == "ended 5"
    program.whole()


@pytest.mark.parametrize("release", PERSONALITIES)
def test_cuda_that_begins_within_a_call_of_the_programs(session, tmp_path, release):
    """The driver calls gpuprof then in the midst of what the program asks of CUPTI: the program goes first."""
    truth = tmp_path / "truth.json"
    program = session([DOUBLES / "programs" / "own_profiler", "linked_first"], env=environment_of(truth, personality=release))
    assert program.line() == "ready"

    def ask(text):
        program.tell(text + "\n")
        return program.line()

    assert ask("begin") == "began 0"
    assert ask("launch 10") == "launched 10"
    assert ask("end") == "ended 10"
    outcome = program.finish()
    assert outcome.status == 0, outcome.err.decode()
    assert Truth(truth).of("violation") == []
    (trace,) = read_bundle(outcome.bundle)
    assert trace.lost == 0, trace.losses
    assert trace.kernel_rows() == []
    assert outcome.words.count(TAKEN) + outcome.words.count(f"({library_of(release)}) holds CUPTI") <= 1, "as the calls of both fall"


def test_what_is_dropped_in_a_capture_is_the_captures(profiler):
    """And what was dropped before it is not."""
    program = profiler("linked", "13.0", "drop 4")
    assert program.ask("begin") == "began 0"
    assert program.ask("launch 40") == "launched 40"
    assert int(program.ask("end").split()[1]) < 40
    program.switch("start")
    assert program.ask("launch 30") == "launched 30"
    program.switch("stop")
    trace, truth, _ = program.whole()
    kernels = len(trace.kernel_rows())
    assert 0 < kernels < 30 and 30 - kernels <= trace.lost < 30, trace.losses
    assert len(truth.of("drop")) > trace.lost, "some were the program's"


def test_the_programs_end_of_cupti_ends_the_captures_gpu_part_before(profiler):
    program = profiler("linked", "13.0")
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("finalize") == "finalize 0"
    assert program.ask("launch 6") == "launched 6"
    program.switch("stop")
    program.switch("start")
    assert program.ask("launch 7") == "launched 7"
    program.switch("stop")
    trace, truth, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 5, 4: 7} and trace.lost == 0, trace.losses
    assert truth.of("abandoned") == [], "nothing was in buffers any more"
    assert outcome.words.count(TAKEN) == 1


def test_a_stub_that_looks_in_the_whole_process_finds_cupti(profiler):
    """The function that comes first there is gpuprof's, which leads back to the stub."""
    program = profiler("linked", "13.0")
    assert program.ask("stub") == "stub 7", "as CUPTI answers where nobody has registered buffers"
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("stub") == "stub 0"
    program.switch("stop")
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 5}


@pytest.mark.parametrize("release", ["13.0", "13.3"])
def test_who_subscribes_by_the_second_generations_function_alone_has_cupti_too(profiler, release):
    """It allows nobody beside it, so CUPTI refuses it during a capture of the first interface."""
    program = profiler("linked", release)
    knows = release == "13.0"
    alone = program.ask("second")
    assert alone == ("second 0" if knows else "second 1"), "13.3 does not know the struct of 13.0"
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("second") == alone
    assert program.ask("launch 6") == "launched 6"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == ({2: 5} if knows else {2: 5, 3: 6}), "an error of its own is no reason to leave CUPTI"
    assert outcome.words.count(TAKEN) == (1 if knows else 0)


@pytest.mark.parametrize("release, number, script, way", [
    ("11.8", 18, "", "first"), ("12.6", 24, "", "first"), ("12.9", 28, "", "first"), ("13.0", 130001, "", "first"), ("13.3", 130300, "", "first"),
    ("13.3", 130300, DRIVER_OF_SEVERAL, "second"),
    # A library that tells nothing of itself before it is subscribed to.
    ("13.3", 130300, DRIVER_OF_SEVERAL + "; fail cuptiGetVersion 999 0 2; fail cuptiGetCallbackName 999 0 2046", "second"),
    ("13.0", 130001, "fail cuptiGetVersion 999 0 2; fail cuptiGetCallbackName 999 0 2046", "first"),
    # What of it a driver or a library does not carry out leads back to the first.
    ("13.3", 130300, DRIVER_OF_SEVERAL + "; fail cuptiSubscribe_v2 27", "first"),
    ("13.3", 130300, DRIVER_OF_SEVERAL + "; fail cuptiActivityRegisterCallbacks_v2 999", "first"),
    ("13.3", 130300, DRIVER_OF_SEVERAL + "; fail cuptiActivitySetAttribute_v2 1", "first"),
])
def test_the_choice_is_in_the_trace(record, tmp_path, release, number, script, way):
    env = environment_of(tmp_path / "truth.json", script, release)
    outcome = record([DOUBLES / "programs" / "vector_add"], env=env)
    assert outcome.status == 0
    (trace,) = read_bundle(outcome.bundle)
    truth = Truth(tmp_path / "truth.json")
    assert collections.Counter(row[:8] for row in trace.kernel_rows()) == collections.Counter(row[:8] for row in truth.kernels())
    assert "cudaLaunchKernel" in gpuprof("stats", "api", outcome.bundle).out.decode()
    (note,) = notes(outcome.bundle, "cupti")
    assert f"CUPTI {release} ({number}) of {env['LD_LIBRARY_PATH']}/libcupti.so." in note and f"by its {way} interface" in note
    assert "libcupti" not in gpuprof("stats", "kernels", outcome.bundle).out.decode(), "what went well is not in every table"
