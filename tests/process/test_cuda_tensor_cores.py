# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Whether kernels use tensor cores, told by the machine code that nvcc put into the program: in each release of CUPTI, and where a module was
loaded before the capture."""

import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

RELEASES = [*((release, "") for release in PERSONALITIES), ("13.3", DRIVER_OF_SEVERAL)]
HMMA, NONE = "SASS: HMMA", "SASS: no matrix instructions"


def verdicts(bundle):
    rows = json.loads(gpuprof("stats", "kernels", "--json", bundle).out)["kernels"]
    return {row["name"]: (row["tensor_cores"], row.get("tensor_cores_evidence", "")) for row in rows}


@pytest.mark.parametrize("release, script", RELEASES)
def test_code_is_believed_rather_than_names(record, tmp_path, release, script):
    truth = tmp_path / "truth.json"
    outcome = record([DOUBLES / "programs" / "matrix"], env=environment_of(truth, script, release))
    assert outcome.status == 0, outcome.err.decode()
    assert Truth(truth).of("violation") == []
    (trace,) = read_bundle(outcome.bundle)
    assert trace.lost == 0, trace.losses
    assert verdicts(outcome.bundle) == {"plain_name": ("yes", HMMA), "gemv_by_a_function": ("yes", HMMA), "my_hmma_kernel": ("no", NONE)}
    lines = [line for line in gpuprof("dump", outcome.bundle).out.decode().splitlines() if " kernel name=" in line]
    assert len(lines) == 12
    assert all("matrix_ops=none " in line if "my_hmma_kernel" in line else "matrix_ops=HMMA " in line for line in lines)


def test_the_evidence_is_a_few_bits_in_the_trace(record, tmp_path):
    outcome = record([DOUBLES / "programs" / "matrix"], env=environment_of(tmp_path / "truth.json"))
    assert outcome.status == 0, outcome.err.decode()
    (trace,) = read_bundle(outcome.bundle)
    assert trace.signatures and all(signature["matrix_ops"] in (0b01, 0b11) for signature in trace.signatures.values())


def test_what_was_loaded_before_the_capture_is_told_by_its_name(session, tmp_path):
    truth = tmp_path / "truth.json"
    program = session([DOUBLES / "programs" / "rounds"], "--capture=off", env=environment_of(truth))
    assert program.line() == "ready"
    for kernels, verb in ((5, "start"), (20, "stop")):
        program.tell(f"{kernels}\n")
        assert program.line() == f"done {kernels}"
        assert program.ctl(verb).status == 0
    outcome = program.finish()
    assert outcome.status == 0, outcome.err.decode()
    assert verdicts(outcome.bundle) == {"Work(int, int)": ("unknown", "")}
