# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""NVIDIA's own libcudart and libcupti on a machine without a driver: the program does as it does alone, and the reason is said once."""

import os
import pathlib
import shutil

import pytest

from conftest import run_bare, verify
from fake_gpu import DOUBLES, environment_of, libraries_without_cupti, needs_doubles, with_switch

pytestmark = needs_doubles

VECTOR_ADD = [str(DOUBLES / "programs" / "vector_add")]
NO_ACTIVITY = b"no GPU activity is recorded"


def toolkit_libraries():
    """The folder with NVIDIA's own libraries: beside nvcc, or where CUDA_HOME says."""
    nvcc = shutil.which("nvcc")
    homes = [os.environ.get("CUDA_HOME"), nvcc and pathlib.Path(nvcc).resolve().parents[1], "/usr/local/cuda"]
    for home in filter(None, homes):
        folder = pathlib.Path(home) / "lib64"
        if (folder / "libcudart.so.13").exists() and (folder / "libcupti.so.13").exists():
            return folder
    return None


TOOLKIT = toolkit_libraries()
needs_toolkit = pytest.mark.skipif(TOOLKIT is None, reason="no libcudart.so.13 and libcupti.so.13 of NVIDIA's here")
needs_no_driver = pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a driver")


@needs_toolkit
@needs_no_driver
@pytest.mark.parametrize("with_cupti", [False, True], ids=["runtime", "runtime and CUPTI"])
def test_the_runtime_without_a_driver(record, with_cupti):
    """It fails as it does bare, also where the program has NVIDIA's libcupti loaded by itself."""
    environment = {"LD_LIBRARY_PATH": str(TOOLKIT), **({"LD_PRELOAD": str(TOOLKIT / "libcupti.so.13")} if with_cupti else {})}
    bare = run_bare(VECTOR_ADD, env=environment)
    assert bare.status not in (0, 127), "there is a driver after all, or no runtime"
    outcome = record(VECTOR_ADD, env=environment)
    assert (outcome.status, outcome.out, outcome.own_err) == (bare.status, bare.out, bare.err)
    verify(outcome.bundle)


@needs_toolkit
def test_nvidias_cupti_that_finds_no_driver_of_its_own(session, tmp_path):
    """It is loaded and refuses to be subscribed to: said once, in however many captures, and the program computes what it computes."""
    truth = tmp_path / "truth.json"
    environment = {**environment_of(truth), "LD_LIBRARY_PATH": str(libraries_without_cupti(tmp_path / "lib")), "CUDA_HOME": str(TOOLKIT.parent)}
    program = with_switch(session([DOUBLES / "programs" / "rounds"], "--capture=off", env=environment), truth)
    assert program.line() == "ready"
    for _ in range(3):
        program.switch("start")
        program.tell("5\n")
        assert program.line() == "done 5"
        program.switch("stop")
    trace, found, outcome = program.whole()
    assert outcome.err.count(NO_ACTIVITY) == 1 and b"cuptiSubscribe" in outcome.err, outcome.err.decode()
    assert len(found.kernels()) == 3 * 5 * 16 and len(trace.kernel_rows()) == 0
    verify(outcome.bundle)
