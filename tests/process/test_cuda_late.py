# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""GPU activity where the driver does not call us, because the program's environment has lost CUDA_INJECTION64_PATH or names another tool
there; and captures that begin late and last to the end."""

import collections
import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

MISSING = "of GPU activity are missing at the start"
STREAMS = 16
RELEASES = [*((release, "") for release in PERSONALITIES), ("13.3", DRIVER_OF_SEVERAL)]


@pytest.fixture
def rounds(session, tmp_path):
    """rounds(wrapper, options, release=, script=): the program, in whose rounds each kernel's grid is as wide as the round's number."""
    truth = tmp_path / "truth.json"

    def start(wrapper, *options, release="13.0", script=""):
        program = session([*wrapper, DOUBLES / "programs" / "rounds"], *options, env=environment_of(truth, script, release))
        assert program.line() == "ready"

        def go(kernels):
            program.tell(f"{kernels}\n")
            assert program.line() == f"done {kernels}"

        def whole():
            outcome = program.finish()
            assert outcome.status == 0, outcome.err.decode()
            found = Truth(truth)
            assert found.of("violation") == []
            traces = [trace for trace in read_bundle(outcome.bundle) if len(trace.kernels["time"]) > 0]
            assert len(traces) == 1
            return traces[0], found, outcome

        program.go, program.whole, program.truth = go, whole, truth
        return program

    return start


def of_rounds(rows):
    return collections.Counter(row[2][0] for row in rows)


def wait_until_subscribed(program):
    """The truth says when somebody listens."""
    program.wait_for(lambda: any(row["subscribed"] for row in Truth(program.truth).of("tool")))


@pytest.mark.parametrize("release, script", RELEASES)
@pytest.mark.parametrize("change", [["-u", "CUDA_INJECTION64_PATH"], ["CUDA_INJECTION64_PATH=/nowhere/other.so"]])
def test_without_the_variable_it_begins_late_and_says_so(rounds, change, release, script):
    program = rounds(["env", *change], release=release, script=script)
    wait_until_subscribed(program)
    program.go(20)
    program.go(7)
    trace, truth, outcome = program.whole()
    recorded = of_rounds(trace.kernel_rows())
    assert recorded == of_rounds(truth.kernels()) == {1: 20 * STREAMS, 2: 7 * STREAMS}, "what runs after it began is all there"
    assert trace.lost == 0, trace.losses
    (line,) = [line for line in outcome.words.splitlines() if MISSING in line]
    assert "CUDA_INJECTION64_PATH does not name gpuprof" in line
    health = json.loads(gpuprof("stats", "health", "--json", outcome.bundle).out)
    assert sum(MISSING in note for process in health["processes"] for note in process.get("notes", [])) == 1


def test_without_the_variable_a_later_capture_misses_nothing(rounds):
    program = rounds(["env", "-u", "CUDA_INJECTION64_PATH"], "--capture=off")
    program.go(5)
    assert program.ctl("start").status == 0
    program.go(30)
    assert program.ctl("stop").status == 0
    program.go(5)
    trace, truth, outcome = program.whole()
    assert of_rounds(trace.kernel_rows()) == {2: 30 * STREAMS}
    assert len(truth.of("kernel")) == 40 * STREAMS
    assert MISSING not in outcome.words


def test_without_the_preload_the_driver_loads_us(rounds):
    """An environment that has lost LD_PRELOAD alone: an object that is loaded later hooks nothing, and records the GPU all the same."""
    program = rounds(["env", "-u", "LD_PRELOAD"])
    program.go(20)
    trace, truth, outcome = program.whole()
    assert len(trace.kernel_rows()) == len(truth.of("kernel")) == 20 * STREAMS
    assert trace.lost == 0, trace.losses


def test_a_program_without_cuda_is_left_alone(record):
    """Nothing of the driver is loaded or called for it."""
    outcome = record(["env", "-u", "CUDA_INJECTION64_PATH", "sh", "-c", "sleep 0.3; grep -c libcuda /proc/self/maps; true"])
    assert outcome.status == 0 and outcome.out.decode().strip() == "0"
    assert MISSING not in outcome.words


def test_with_the_variable_nothing_is_missing(rounds):
    program = rounds([])
    program.go(9)
    trace, truth, outcome = program.whole()
    assert of_rounds(trace.kernel_rows()) == of_rounds(truth.kernels())
    assert MISSING not in outcome.words


@pytest.mark.parametrize("release, script", RELEASES)
def test_a_capture_that_begins_late_has_its_end(rounds, release, script):
    """It lasts until the program returns: what CUPTI has not delivered by then is fetched before the driver goes."""
    program = rounds([], "--capture=off", release=release, script=script)
    program.go(5)
    assert program.ctl("start").status == 0
    program.go(30)
    trace, truth, _ = program.whole()
    assert of_rounds(trace.kernel_rows()) == {2: 30 * STREAMS}
    assert trace.lost == 0, trace.losses
