# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Who subscribes to CUPTI, and by which interface: programs that profile themselves get what they get bare while no capture runs; during
one either both get everything (13.3, both by the second interface) or the second is refused, which is said and harms nobody."""

import collections
import json
import time

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

ABSENT = "no GPU activity is recorded: "


@pytest.fixture
def profiler(session, tmp_path):
    """profiler("v1" or "v2"): own_profiler under gpuprof, dormant."""
    truth = tmp_path / "truth.json"

    def start(way, personality, script=""):
        program = session([DOUBLES / "programs" / "own_profiler", way], "--capture=off", env=environment_of(truth, script, personality))
        assert program.line() == "ready"

        def ask(text):
            program.tell(text + "\n")
            return program.line()

        def switch(verb):
            done = program.ctl(verb)
            assert done.status == 0, done.err.decode()

        def end():
            outcome = program.finish()
            assert outcome.status == 0, outcome.err.decode()
            found = Truth(truth)
            assert found.of("violation") == []
            traces = read_bundle(outcome.bundle)
            return (traces[0] if traces else None), found, outcome

        program.ask, program.switch, program.whole = ask, switch, end
        return program

    return start


def profile(program, kernels):
    """By itself: everything, exactly."""
    assert program.ask("begin") == "began 0"
    assert program.ask(f"launch {kernels}") == f"launched {kernels}"
    assert program.ask("end") == f"ended {kernels}"


def rounds(kernels):
    """How many kernels of each round; the round is the grid's width."""
    return collections.Counter(row[2][0] for row in kernels)


def notes(bundle, source):
    health = json.loads(gpuprof("stats", "health", "--json", bundle).out)
    return [note for process in health["processes"] for note in process.get("notes", []) if note.startswith(source + ": ")]


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
    """One subscriber is all that the first interface has: the program is told so, and goes on."""
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
    time.sleep(1)
    assert program.ask("begin") == "began 0"
    assert program.ask("launch 5") == "launched 5"
    program.ask("end")
    time.sleep(1.5)
    program.switch("stop")
    _, _, outcome = program.whole()
    told = "another profiler in this process has turned CUPTI's records off during the capture"
    assert outcome.words.count(told) == 1
    assert any(told in note for note in notes(outcome.bundle, "cuda"))


REFUSED = "profiles this program too, and CUPTI serves one profiler at a time"


@pytest.mark.parametrize("release", PERSONALITIES)
def test_who_is_linked_to_cupti_and_begins_in_a_capture_is_refused(profiler, release):
    """As torch.profiler does: its buffers, kinds and clock would take the place of ours. It is told so, and has everything afterwards, on the
    clock that it asked for in the meantime."""
    program = profiler("linked", release)
    program.switch("start")
    assert program.ask("launch 25") == "launched 25"
    assert program.ask("begin") == "began 39"
    assert program.ask("launch 30") == "launched 30"
    assert program.ask("end") == "ended 0"
    assert program.ask("launch 35") == "launched 35"
    program.switch("stop")
    for _ in range(2):
        profile(program, 20)
    trace, truth, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 25, 3: 30, 4: 35} and trace.lost == 0, trace.losses
    (line,) = [line for line in outcome.words.splitlines() if REFUSED in line]
    library = f"linked_profiler-{release if release == '11.8' else release.split('.')[0]}.so"
    assert line.startswith(f"gpuprof: {library} ") and "--trace" in line
    (note,) = notes(outcome.bundle, "cuda")
    assert f"another profiler in this process ({library}) asked CUPTI for GPU activity during a capture and was refused" in note


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


LINKED_WAYS = [*((release, "") for release in PERSONALITIES), ("13.3", DRIVER_OF_SEVERAL)]


@pytest.mark.parametrize("release, script", LINKED_WAYS)
def test_a_subscription_in_a_capture_holds_when_it_has_ended(profiler, release, script):
    """PyTorch up to 2.9 subscribes when its profiler is first used; refused, it would never again look for a GPU in this process."""
    program = profiler("linked_once", release, script)
    program.switch("start")
    assert program.ask("launch 25") == "launched 25"
    assert int(program.ask("begin").split()[1]) != 0, "no records during the capture"
    assert program.ask("launch 30") == "launched 30"
    assert program.ask("end") == "ended 0"
    assert program.ask("reset") == "reset 1", "but callbacks, as it has asked for them"
    program.switch("stop")
    assert program.ask("reset") == "reset 2"
    profile(program, 20)
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {1: 1, 2: 25, 3: 30} and trace.lost == 0, trace.losses
    assert outcome.words.count(REFUSED) == 1


@pytest.mark.parametrize("release, script", LINKED_WAYS)
def test_who_has_subscribed_and_rests_is_no_obstacle(profiler, release, script):
    """As torch.profiler between its own captures: gpuprof's have the GPU, and the profiler finds everything as it was."""
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
    assert program.ask("leave") == "left 0"
    assert program.ask("reset") == "reset 4", "it wants nothing any more"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {1: 3, 3: 15, 5: 15} and trace.lost == 0, trace.losses
    assert ABSENT not in outcome.words and REFUSED not in outcome.words
    assert notes(outcome.bundle, "cuda") == []


def test_who_follows_calls_keeps_its_subscription(profiler):
    program = profiler("linked_once", "13.0")
    assert program.ask("begin") == "began 0"
    assert program.ask("end") == "ended 0"
    assert program.ask("follow 1") == "follow 0"
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    program.switch("stop")
    assert program.ask("follow 0") == "follow 0"
    program.switch("start")
    assert program.ask("launch 20") == "launched 20"
    assert program.ask("follow 1") == "follow 39"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {3: 20}
    (line,) = [line for line in outcome.words.splitlines() if ABSENT in line]
    assert "(linked_profiler-13.so) holds CUPTI" in line


def test_a_session_that_begins_as_a_capture_ends_has_all_of_its_kinds_or_none(profiler):
    """It turns them on one by one, and goes on where one is refused: kernels without copies would pass for a program without copies."""
    memcpy, kernel = 1, 10
    program = profiler("linked", "13.0")
    program.switch("start")
    assert program.ask("buffers") == "buffers 0"
    assert program.ask(f"kind {memcpy}") == "kind 39"
    program.switch("stop")
    assert program.ask(f"kind {kernel}") == "kind 39"
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("end") == "ended 0"
    assert program.ask(f"kind {kernel}") == "kind 0", "of another session"
    program.ask("end")
    profile(program, 5)
    program.whole()


@pytest.mark.parametrize("way", ["linked", "linked_once"])
def test_sessions_beside_beginning_and_ending_captures_are_whole_or_refused(profiler, way):
    """As fast as both go, so that calls of the one meet each step of the other."""
    program = profiler(way, "13.0")
    program.tell("sessions 2500\n")
    until = time.monotonic() + 2.2
    captures = 0
    while time.monotonic() < until:
        program.switch("start")
        program.switch("stop")
        captures += 1
    begun, wrong = map(int, program.line().removeprefix("sessions ").split())
    assert wrong == 0, f"of {begun} beside {captures} captures"
    assert begun > 100 and captures > 20
    profile(program, 10)
    program.switch("start")
    assert program.ask("launch 15") == "launched 15"
    program.switch("stop")
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows())[3] == 15 and trace.lost == 0, trace.losses


@pytest.mark.parametrize("release, script", LINKED_WAYS)
def test_what_a_profiler_has_not_fetched_yet_is_its_own(profiler, release, script):
    """Kineto turns its kinds off, works on what it has of the host, and then has its buffers delivered: a capture may begin in between."""
    program = profiler("linked", release, script)
    assert program.ask("begin") == "began 0"
    assert program.ask("launch 10") == "launched 10"
    assert program.ask("pause") == "pause 0"
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("end") == "ended 10"
    program.switch("stop")
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {3: 5} and trace.lost == 0, trace.losses


@pytest.mark.parametrize("release, script", LINKED_WAYS)
def test_what_it_fetches_after_a_capture_is_all_there(profiler, release, script):
    """It asks for nothing where it believes that no buffer of its own is outside; the capture's beginning had all of them delivered."""
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
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {3: 5, 4: 5} and trace.lost == 0, trace.losses


@pytest.mark.parametrize("release, script", LINKED_WAYS)
def test_kinds_that_it_has_turned_on_before_it_has_buffers(profiler, release, script):
    """As CUPTI's own samples do: they are of no use yet, on again after a capture, and no obstacle to the next."""
    program = profiler("linked", release, script)
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
    assert rounds(trace.kernel_rows()) == {2: 5, 4: 15} and trace.lost == 0, trace.losses


def test_a_subscription_that_is_over_is_not_the_captures(profiler):
    """Its handle may be the same."""
    program = profiler("linked_once", "13.0")
    profile(program, 10)
    assert program.ask("leave") == "left 0"
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("leave") != "left 0"
    assert program.ask("follow 1") != "follow 0"
    assert program.ask("launch 5") == "launched 5"
    program.switch("stop")
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {3: 5, 4: 5} and trace.lost == 0, trace.losses


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
    """The driver calls gpuprof then in the midst of what the program asks of CUPTI: who has CUPTI is decided after that."""
    truth = tmp_path / "truth.json"
    program = session([DOUBLES / "programs" / "own_profiler", "linked_first"], env=environment_of(truth, personality=release))
    assert program.line() == "ready"

    def ask(text):
        program.tell(text + "\n")
        return program.line()

    assert ask("begin") == "began 39", "that call turned no kind on yet, and so the capture was first"
    assert ask("launch 10") == "launched 10"
    assert ask("end") == "ended 0"
    outcome = program.finish()
    assert outcome.status == 0, outcome.err.decode()
    found = Truth(truth)
    assert found.of("violation") == []
    (trace,) = read_bundle(outcome.bundle)
    assert trace.lost == 0, trace.losses
    kernels = trace.kernel_rows()
    (first, last) = (min(row[-2] for row in found.kernels()), max(row[-1] for row in found.kernels()))
    assert len(kernels) == 10
    slack = 1_000_000  # of a clock that was registered a moment ago
    assert all(first - slack <= row[-2] <= row[-1] <= last + slack for row in kernels), "on its usual clock"
    assert outcome.words.count(REFUSED) == 1


def test_who_wants_no_callbacks_any_more_gets_none(profiler):
    program = profiler("linked_once", "13.0")
    assert program.ask("begin") == "began 0"
    assert program.ask("end") == "ended 0"
    assert program.ask("reset") == "reset 1"
    program.switch("start")
    assert program.ask("reset") == "reset 2"
    assert program.ask("quiet") == "quiet 0"
    assert program.ask("reset") == "reset 2"
    program.switch("stop")
    assert program.ask("reset") == "reset 2"
    program.whole()


def test_what_is_dropped_in_a_capture_is_the_captures(profiler):
    """And what was dropped before it is not."""
    program = profiler("linked", "13.0", "drop 4")
    assert program.ask("begin") == "began 0"
    assert program.ask("launch 40") == "launched 40"
    assert int(program.ask("end").split()[1]) < 40
    program.switch("start")
    assert program.ask("launch 30") == "launched 30"
    assert program.ask("dropped") == "dropped 0"
    program.switch("stop")
    trace, truth, _ = program.whole()
    kernels = len(trace.kernel_rows())
    assert 0 < kernels < 30 and 30 - kernels <= trace.lost < 30, trace.losses
    assert len(truth.of("drop")) > trace.lost, "some were the program's"


def test_the_programs_end_of_cupti_is_not_the_captures(profiler):
    program = profiler("linked", "13.0")
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("finalize") == "finalize 39"
    assert program.ask("launch 5") == "launched 5"
    program.switch("stop")
    trace, _, outcome = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 5, 3: 5}
    assert REFUSED not in outcome.words, "it asked for no records"


def test_a_stub_that_looks_in_the_whole_process_finds_cupti(profiler):
    """The function that comes first there is ours, which leads back to the stub."""
    program = profiler("linked", "13.0")
    assert program.ask("stub") == "stub 7", "as CUPTI answers where nobody has registered buffers"
    program.switch("start")
    assert program.ask("launch 5") == "launched 5"
    assert program.ask("stub") == "stub 0"
    program.switch("stop")
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 5}


def test_who_is_linked_to_cupti_has_no_part_in_the_second_interface(profiler):
    """CUPTI itself refuses functions of the first there."""
    program = profiler("linked", "13.3", DRIVER_OF_SEVERAL)
    program.switch("start")
    assert program.ask("launch 25") == "launched 25"
    assert program.ask("begin") == "began 39"
    program.switch("stop")
    trace, _, _ = program.whole()
    assert rounds(trace.kernel_rows()) == {2: 25}


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
