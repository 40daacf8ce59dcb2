# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Kernels of torch.compile, recorded live, have the lines of the program that they were made from. The real compiler
makes kernels for the processor here; those for GPUs are in the same table of the compiler."""

import json
import pathlib
import sys

import pytest

from process_support import gpuprof, run_bare

pytest.importorskip("torch")
PROGRAM = pathlib.Path(__file__).resolve().parent / "compile_program.py"


def environment(folder):
    # The compiler's own checks of the processor and its compiled headers take a minute, and change nothing here.
    return {"PYTHONDONTWRITEBYTECODE": "1", "TORCHINDUCTOR_CACHE_DIR": str(folder), "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "TORCHINDUCTOR_VEC_ISA_OK": "1", "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"}


def line_of(words):
    lines = PROGRAM.read_text().splitlines()
    found = [number for number, line in enumerate(lines, 1) if words in line and not line.lstrip().startswith(('"', "#"))]
    assert len(found) == 1, found
    return found[0]


def compiled_kernels(bundle):
    done = gpuprof("stats", "kernels", "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)["compiled_kernels"]


def test_a_kernel_has_the_line_of_the_program(record, tmp_path):
    outcome = record([sys.executable, str(PROGRAM), "model", str(tmp_path)], env=environment(tmp_path / "cache"))
    assert (outcome.status, outcome.out) == (0, b"sum 0x1.0000000000000p+17\n")
    line = line_of("return torch.relu(b + y)")
    [kernel] = compiled_kernels(outcome.bundle)
    assert kernel["name"].startswith("cpp_fused_") and "relu" in kernel["name"]
    assert kernel["source"] == f"compile_program.py:{line} in model"
    [place] = kernel["sources"]
    assert (place["file"], place["line"], place["function"]) == (str(PROGRAM), line, "model")
    assert place["code"].startswith("return torch.relu(b + y)")
    generated = pathlib.Path(kernel["generated_file"]).read_text().splitlines()
    assert generated[kernel["generated_line"] - 1].startswith(kernel["name"] + " = async_compile.")
    text = gpuprof("stats", "kernels", outcome.bundle).out.decode()
    assert "1 kernel was made by torch.compile" in text
    assert kernel["source"] in text and "torch.relu(b + y)" in text


def test_what_is_no_file_of_the_compiler_does_no_harm(record, tmp_path):
    (tmp_path / "bare").mkdir()
    (tmp_path / "recorded").mkdir()
    command = [sys.executable, str(PROGRAM), "hostile"]
    bare = run_bare([*command, str(tmp_path / "bare")], env=environment(tmp_path / "cache"))
    outcome = record([*command, str(tmp_path / "recorded")], env=environment(tmp_path / "cache"))
    assert (outcome.status, outcome.out) == (0, bare.out)
    assert b"Traceback" not in outcome.err
    kernels = compiled_kernels(outcome.bundle)
    assert [(each["name"], each["source"]) for each in kernels] == [("good_0", "model.py:7 in forward")]
    health = gpuprof("stats", "health", outcome.bundle).out.decode()
    assert "files that torch.compile generated could not be read" in " ".join(health.split())
