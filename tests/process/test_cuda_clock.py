# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""CUPTI's clock beside ours: set or slewed meanwhile, the GPU's activity stays where it was, and what is not certain is said."""

import concurrent.futures
import json
import re

import pytest

from conftest import Session, gpuprof
from fake_gpu import DOUBLES, Truth, environment_of, needs_doubles
from waiting import stay

pytestmark = needs_doubles

ROUNDS = DOUBLES / "programs" / "rounds"
FAR_BACK = "clock_step -60000000000 1500000000"
# Set 1.5 s after the beginning: between that moment and each round the clocks are read once.
SCRIPTS = ["", "clock_step 2500000000 1500000000", "clock_step 40000000 1500000000", "clock_step -30000000 1500000000"]


def record_over_seconds(folder, script):
    """Three rounds of kernels, at 0, 2.8 and 4.4 s: where each round's first kernel began, by the dump and in truth, and health."""
    truth = folder / "truth.json"
    program = Session([ROUNDS], [], folder / "bundle", environment_of(truth, script=script))
    try:
        assert program.line() == "ready"
        for i in range(3):
            stay([0, 2.8, 1.6][i])
            program.tell("3\n")
            assert program.line() == "done 3"
        outcome = program.finish()
    finally:
        program.end()
    assert outcome.status == 0, outcome.err.decode()
    found = Truth(truth)
    assert found.of("violation") == []
    true, seen = {}, {}
    for kernel in found.of("kernel"):
        true.setdefault(kernel["grid"][0], []).append(kernel["start"])
    for line in gpuprof("dump", "--no-symbols", outcome.bundle).out.decode().splitlines():
        match = re.search(r" kernel name=\S+ start_ns=(\d+) .* grid=(\d+),", line)
        if match:
            seen.setdefault(int(match[2]), []).append(int(match[1]))
    assert {grid: len(starts) for grid, starts in seen.items()} == {1: 48, 2: 48, 3: 48} == {grid: len(starts) for grid, starts in true.items()}
    health = json.loads(gpuprof("stats", "health", "--json", outcome.bundle).out)["processes"][0]
    return [min(seen[i]) for i in (1, 2, 3)], [min(true[i]) for i in (1, 2, 3)], health, outcome


@pytest.fixture(scope="module")
def rounds_over_seconds(tmp_path_factory):
    """rounds_over_seconds(script): the recording of this script. All recordings go on at the same time: they mostly sleep."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        made = {script: pool.submit(record_over_seconds, tmp_path_factory.mktemp("clock"), script) for script in [*SCRIPTS, FAR_BACK]}
    return lambda script: made[script].result()


def apart(times):
    return [later - times[0] for later in times[1:]]


@pytest.mark.parametrize("script", SCRIPTS)
def test_kernels_stay_where_they_were_when_the_wall_clock_is_set(rounds_over_seconds, script):
    seen, true, health, outcome = rounds_over_seconds(script)
    for ours, theirs in zip(apart(seen), apart(true)):
        assert abs(ours - theirs) < 2_000_000, (apart(seen), apart(true))
    step = int(script.split()[1]) if script else 0
    assert abs(health["cupti_clock_step_ns"] - step) < 2_000_000
    assert health["cupti_clock_reading_count"] >= 4
    assert ("it was set by" in gpuprof("stats", "health", outcome.bundle).out.decode()) == (step != 0)


def test_a_long_way_back_is_declared(rounds_over_seconds):
    *_, outcome = rounds_over_seconds(FAR_BACK)
    done = gpuprof("stats", "health", outcome.bundle)
    assert done.status == 0
    assert re.search(r"CUPTI.s clock was set back by (59.9\d*|60.?0*) s, to before its last reading", " ".join(done.out.decode().split()))
    assert "Confidence: low" in done.out.decode()
