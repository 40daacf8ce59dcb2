# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Which libcupti is used, of several: the program's own, the newest that its driver is not too old for, and never two."""

import json
import subprocess

import pytest

from conftest import gpuprof, needs
from fake_gpu import DOUBLES, LIBRARIES, PERSONALITIES, Truth, environment_of, libraries_without_cupti, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles


def put(release, folder):
    """A copy of this release's libcupti, and its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (library,) = (DOUBLES / PERSONALITIES[release]).glob("libcupti.so.*")
    (folder / library.name).symlink_to(library)
    return folder / library.name


def put_cut(release, folder):
    """The same as a download leaves it that broke off: the loader would map pages that are not there."""
    library = put(release, folder)
    beginning = library.read_bytes()[:5000]
    library.unlink()
    library.write_bytes(beginning)
    return library


@pytest.fixture
def used(record, tmp_path):
    """used(program, libraries=folders, **variables): the path of the libcupti in the trace ("" for none), and the outcome."""

    def run(program, libraries, script="", status=0, **variables):
        truth = tmp_path / "truth.json"
        truth.unlink(missing_ok=True)
        env = {**environment_of(truth, script), "LD_LIBRARY_PATH": ":".join(map(str, libraries)), "CUDA_HOME": "", "CUDA_PATH": "",
               "CONDA_PREFIX": "", **variables}
        outcome = record([program], env=env)
        assert outcome.status == status, outcome.err.decode()
        (trace,) = read_bundle(outcome.bundle)
        health = json.loads(gpuprof("stats", "health", "--json", outcome.bundle).out)
        notes = [note for process in health["processes"] for note in process.get("notes", []) if note.startswith("cupti: ")]
        outcome.notes = notes
        path = notes[0].split(" of ")[1].split(", by ")[0] if notes else ""
        if path:
            assert len(trace.kernel_rows()) == len(Truth(truth).of("kernel")) > 0
        return path, outcome

    return run


PROGRAM = DOUBLES / "programs" / "vector_add"


def test_of_those_beside_the_runtime_the_newest_that_fits_the_driver(used, tmp_path):
    folder = libraries_without_cupti(tmp_path / "lib")
    newest, older = put("13.3", folder), put("12.9", folder)
    assert used(PROGRAM, [folder])[0] == str(newest)
    newest.unlink()
    assert used(PROGRAM, [folder])[0] == str(older)


def test_beside_the_runtime_comes_before_the_loaders_path(used, tmp_path):
    folder = libraries_without_cupti(tmp_path / "lib")
    beside = put("12.9", folder)
    put("13.3", tmp_path / "other")
    assert used(PROGRAM, [tmp_path / "other", folder])[0] == str(beside)


def test_the_loaders_path(used, tmp_path):
    folder = libraries_without_cupti(tmp_path / "lib")
    there = put("12.6", tmp_path / "other")
    assert used(PROGRAM, [folder, tmp_path / "other"])[0] == str(there)


@pytest.mark.parametrize("inside", ["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"])
def test_python_packages_of_whatever_was_loaded_from_there(used, tmp_path, inside):
    """As JAX has it: the driver's API alone, and no libcudart that is shared."""
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    there = put("13.0", packages / inside)
    loaded = packages / "some_framework"
    loaded.mkdir(parents=True)
    for file in LIBRARIES.iterdir():
        if file.name.startswith(("libcuda.so", "libfake_gpu")):
            (loaded / file.name).symlink_to(file)
    assert used(PROGRAM, [loaded, libraries_without_cupti(tmp_path / "rest")])[0] == str(there)


def test_the_conda_environment_and_the_toolkit(used, tmp_path):
    folder = libraries_without_cupti(tmp_path / "lib")
    conda = put("12.9", tmp_path / "conda" / "lib")
    toolkit = put("13.0", tmp_path / "toolkit" / "extras" / "CUPTI" / "lib64")
    assert used(PROGRAM, [folder], CUDA_HOME=str(tmp_path / "toolkit"))[0] == str(toolkit)
    assert used(PROGRAM, [folder], CUDA_HOME=str(tmp_path / "toolkit"), CONDA_PREFIX=str(tmp_path / "conda"))[0] == str(conda)


def test_where_the_program_was_linked_to_look(used):
    """driver_api has the doubles' folder in itself; no runtime is loaded that another would be beside."""
    assert used(PROGRAM.parent / "driver_api", [])[0] == str(LIBRARIES / "libcupti.so.13")


def test_one_that_is_too_new_for_the_driver_is_passed_over(used, tmp_path):
    """A driver of CUDA 12: what the program was linked to is of 13, what the toolkit has is of 12."""
    there = put("12.9", tmp_path / "toolkit" / "lib64")
    found, outcome = used(PROGRAM.parent / "driver_api", [], "driver_version 12080", CUDA_HOME=str(tmp_path / "toolkit"))
    assert found == str(there)
    assert "no GPU activity" not in outcome.words


def test_where_none_fits_it_is_said_which_is_too_new(used):
    found, outcome = used(PROGRAM.parent / "driver_api", [], "driver_version 12080")
    assert found == ""
    (line,) = [line for line in outcome.words.splitlines() if "no GPU activity is recorded" in line]
    assert str(LIBRARIES / "libcupti.so.13") in line and "newer driver" in line and "CUDA 12" in line


def test_the_one_that_is_there_already_is_taken(used, tmp_path):
    """A newer one beside the runtime would be a second."""
    folder = libraries_without_cupti(tmp_path / "lib")
    put("13.3", folder)
    loaded = put("12.9", tmp_path / "first")
    found, _ = used(PROGRAM, [tmp_path / "first", folder], LD_PRELOAD=str(loaded))
    assert found == str(loaded)


@pytest.mark.parametrize("place", ["loader", "runtime"])
def test_one_that_is_cut_is_passed_over(used, tmp_path, place):
    """Neither taken where it lies nor found again by its name; the next one is, and the trace says why."""
    folder = libraries_without_cupti(tmp_path / "lib")
    cut = put_cut("13.0", folder if place == "runtime" else tmp_path / "cut")
    there = put("12.9", tmp_path / "toolkit" / "lib64")
    found, outcome = used(PROGRAM, [tmp_path / "cut", folder], CUDA_HOME=str(tmp_path / "toolkit"))
    assert found == str(there)
    assert f"passed over: {cut} is incomplete" in outcome.notes[0]


def test_of_one_folder_an_older_one_that_is_whole(used, tmp_path):
    folder = libraries_without_cupti(tmp_path / "lib")
    put_cut("13.3", folder)
    older = put("12.9", folder)
    assert used(PROGRAM, [folder])[0] == str(older)


def test_where_all_that_fits_is_cut_it_is_said(used, tmp_path):
    """The driver is too old for a whole one that the machine may have."""
    folder = libraries_without_cupti(tmp_path / "lib")
    cut = put_cut("12.9", tmp_path / "cut")
    found, outcome = used(PROGRAM.parent / "driver_api", [tmp_path / "cut", folder], "driver_version 12080")
    assert found == ""
    (line,) = [line for line in outcome.words.splitlines() if "no GPU activity is recorded" in line]
    assert f"{cut} is incomplete" in line and "reinstall it" in line


def doctor(name, **variables):
    """What doctor says of this check, of the variables alone."""
    done = gpuprof("doctor", "--json", env={"CUDA_HOME": "", "CUDA_PATH": "", "CONDA_PREFIX": "", **variables})
    (check,) = [check for check in json.loads(done.out)["checks"] if check["name"] == name]
    return check


def test_doctor_looks_where_the_recorder_does(tmp_path):
    there = put("12.9", tmp_path / "toolkit" / "lib64")
    cut = put_cut("13.0", tmp_path / "cut")
    check = doctor("CUPTI", LD_LIBRARY_PATH=f"{tmp_path / 'cut'}:{LIBRARIES}", CUDA_HOME=str(tmp_path / "toolkit"))
    assert check["level"] == "warn" and f"passed over: {cut} is incomplete" in check["found"], check
    assert check["found"].startswith(f"{LIBRARIES}/libcupti.so.13, API version 130001"), check
    there_alone = doctor("CUPTI", LD_LIBRARY_PATH=str(libraries_without_cupti(tmp_path / "lib")), CUDA_HOME=str(tmp_path / "toolkit"))
    assert there_alone["level"] == "ok" and there_alone["found"].startswith(str(there)), there_alone


@needs("cc")
def test_one_that_lacks_what_is_needed_is_refused_by_both(used, tmp_path):
    folder = libraries_without_cupti(tmp_path / "lib")
    stub = folder / "libcupti.so.13"
    (tmp_path / "stub.c").write_text("int cuptiSubscribe(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "stub.c", "-o", stub], check=True)
    found, outcome = used(PROGRAM, [folder])
    assert found == "" and f"{stub} has no cuptiGetVersion" in outcome.words
    check = doctor("CUPTI", LD_LIBRARY_PATH=str(folder))
    assert check["level"] == "warn" and f"{stub} has no cuptiGetVersion" in check["found"] and "11.8" in check["fix"], check


@needs("cc")
def test_doctor_tries_the_tools_that_variables_name(tmp_path):
    (tmp_path / "tool.c").write_text("int InitializeInjection(void) { return 1; }\n")
    tool = tmp_path / "tool.so"
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "tool.c", "-o", tool], check=True)
    (tmp_path / "text.so").write_text("not an object")
    whole = doctor("GPU injection", CUDA_INJECTION64_PATH=str(tool))
    assert whole["level"] == "info" and "called after" in whole["found"], whole
    for variables, words in [({"CUDA_INJECTION64_PATH": str(tmp_path / "none.so")}, "the file does not exist"),
                             ({"CUDA_INJECTION64_PATH": str(tmp_path / "text.so")}, "it is not a shared library"),
                             ({"CUDA_INJECTION64_PATH": "libnosuchtool.so"}, "it does not load"),
                             ({"NVTX_INJECTION64_PATH": str(tool)}, "it has no InitializeInjectionNvtx2")]:
        ((variable, value),) = variables.items()
        broken = doctor("GPU injection", **variables)
        assert broken["level"] == "warn" and f"{variable}={value}: {words}" in broken["found"], broken
        assert broken["fix"] == f"correct or unset {variable}"
