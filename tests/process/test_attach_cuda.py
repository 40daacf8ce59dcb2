# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof attach` on CUDA programs: CUPTI is used from then on, and left again. The simulated GPU tells what truly ran."""

import collections
import json
import shutil
import subprocess

import pytest

from conftest import anonymous_kib, clean_environment, gpuprof, verify
from fake_gpu import DOUBLES, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle
from waiting import LIMIT_S, wait_until

pytestmark = needs_doubles

STREAMS = 16


class Rounds:
    """The program in whose rounds each kernel's grid is as wide as the round's number; without gpuprof."""

    def __init__(self, truth, release):
        self.truth = truth
        self.process = subprocess.Popen([str(DOUBLES / "programs" / "rounds")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                        env=clean_environment(environment_of(truth, "", release)))
        self.pid = self.process.pid
        assert self.process.stdout.readline() == b"ready\n"

    def go(self, kernels):
        self.process.stdin.write(f"{kernels}\n".encode())
        assert self.process.stdout.readline() == f"done {kernels}\n".encode()

    def subscribed(self):
        rows = Truth(self.truth).of("tool")
        return bool(rows) and bool(rows[-1]["subscribed"])

    def finish(self):
        self.process.communicate(timeout=LIMIT_S)
        assert self.process.returncode == 0
        found = Truth(self.truth)
        assert found.of("violation") == []
        return found


@pytest.mark.parametrize("release", PERSONALITIES)
def test_kernels_after_the_attach_are_all_there(tmp_path, release):
    rounds = Rounds(tmp_path / "truth.json", release)
    rounds.go(5)
    for number in (1, 2):
        bundle = tmp_path / f"bundle{number}"
        done = gpuprof("attach", rounds.pid, "--wait=60s", "-o", bundle)
        assert done.status == 0 and "of CUDA: streams and contexts made before" in done.words, done.words
        wait_until(rounds.subscribed, "CUPTI's subscription")
        rounds.go(20 + number)
        assert gpuprof("detach", rounds.pid).status == 0
        rounds.go(3)
        verify(bundle)
        (trace,) = read_bundle(bundle)
        recorded = collections.Counter(row[2][0] for row in trace.kernel_rows())
        assert recorded == {2 * number: (20 + number) * STREAMS}, "what ran before the attach and after the detach is not there"
        assert trace.lost == 0, trace.losses
        overview = json.loads(gpuprof("stats", "overview", "--json", bundle).out)
        assert overview["environment"]["attached_after_ns"] >= 0
    rounds.finish()


@pytest.mark.parametrize("release", ["11.8", "13.3"])
def test_again_and_again(tmp_path, release):
    """Forty sessions with CUPTI leave the memory that ten do: streams, signatures, buffers and tables of each are gone."""
    rounds = Rounds(tmp_path / "truth.json", release)
    held = []
    for number in range(40):
        bundle = tmp_path / "bundle"
        assert gpuprof("attach", rounds.pid, "--wait=60s", "-o", bundle).status == 0
        wait_until(rounds.subscribed, "CUPTI's subscription")
        rounds.go(2)
        assert gpuprof("detach", rounds.pid).status == 0
        (trace,) = read_bundle(bundle)
        assert len(trace.kernel_rows()) == 2 * STREAMS and trace.lost == 0, f"attach {number}"
        shutil.rmtree(bundle)
        held.append(anonymous_kib(rounds.pid))
    # A slab of the tracer's heap may come late, once; of thirty sessions 15 MiB would stay.
    assert held[-1] <= held[9] + 512, held
    rounds.finish()
