# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A slow step of a real training takes a snapshot of the flight recorder."""

import pathlib
import sys

import pytest

from process_support import gpuprof, verify

pytest.importorskip("torch")
PROGRAM = str(pathlib.Path(__file__).resolve().parent / "slow_program.py")


@pytest.mark.parametrize("kind", ["optimizer", "range"])
def test_a_slow_step(session, kind):
    run = session([sys.executable, PROGRAM, kind], "--ring", "4MiB", "--trigger=step:100,stall:1h", env={"PYTHONDONTWRITEBYTECODE": "1"})
    run.tell("run 3\n")  # the first steps load what they need
    assert run.line() == "3"
    # Its ranges are looked for ten times a second.
    steps = 3
    while not run.state()["ops"].startswith("active"):
        run.tell("run 10\n")
        steps = int(run.line())
    run.tell("run 100\n")
    steps = int(run.line())
    run.tell("slow 100\n")
    slow = int(run.line())
    assert slow == steps + 1
    (snapshot,) = run.wait_for(lambda: list(run.bundle.glob("snapshot-step-*/bundle.pb")))
    if kind == "range":
        assert snapshot.parent.name == f"snapshot-step-{slow}-p{run.pid}"
    run.tell("run 3\n")
    run.line()
    run.process.stdin.close()
    run.process.stdin = open("/dev/null", "wb")
    outcome = run.finish()
    assert outcome.status == 0, outcome.err.decode()
    assert outcome.words.count("a snapshot was taken, because step ") == 1
    verify(snapshot.parent)
    assert "this snapshot was taken because step" in gpuprof("stats", "overview", snapshot.parent).out.decode().replace("\n", " ")
