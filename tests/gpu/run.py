#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What a real GPU has to show, from one folder (`--target gpu_kit`) on a machine where nothing can be installed.

    python3 gpu-kit/run.py [--as-they-came]

Builds the programs with the machine's nvcc where there is one, so that they fit its driver; otherwise (or with --as-they-came) those that came along are taken. Then the
twins, the frameworks that are there, and recordings of CUPTI's own buffers in gpu-kit/recordings, to be kept. Exit status 1 if anything differed. Needs Python 3.8, a driver and a GPU.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

KIT = pathlib.Path(__file__).resolve().parent


def build(nvcc, name, source, *more):
    """For the GPU that is there; where nvcc cannot tell, for one that all programs are at home on."""
    for architecture in ("-arch=native", "-arch=sm_80"):
        done = subprocess.run([nvcc, architecture, "-O1", "-o", str(KIT / "built" / name), *more, str(source), *(["-lcuda"] if source.suffix == ".c" else [])],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
    print(f"{name}: not built: {done.stderr.strip()[-300:]}", flush=True)


def built(nvcc):
    """The folder of programs, built here. What cannot be built is told, and again by what wants to run it."""
    (KIT / "built").mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source in sorted((KIT / "sources").glob("*.cu")):
            pool.submit(build, nvcc, "cuda_train" if source.stem == "train" else source.stem, source, "-cudart", "shared")
        pool.submit(build, nvcc, "driver_api", KIT / "sources" / "driver_api.c", "-x", "cu")
    return KIT / "built"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--as-they-came", action="store_true")
    options = parser.parse_args()
    nvcc = None if options.as_they_came else shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    programs = built(nvcc) if nvcc else KIT / "programs"
    print(f"programs: {'by ' + nvcc if nvcc else 'those that came along'}", flush=True)
    gpuprof = str(KIT / "gpuprof")
    subprocess.run([gpuprof, "doctor"], check=False)
    status = subprocess.run([sys.executable, str(KIT / "twins.py"), "--gpuprof", gpuprof, "--programs", str(programs)], check=False).returncode
    status |= subprocess.run([sys.executable, str(KIT / "frameworks.py"), "--gpuprof", gpuprof], check=False).returncode
    status |= subprocess.run([sys.executable, str(KIT / "recordings.py"), "--recorder", str(KIT / "cupti_recorder.so"), "--programs", str(programs),
                              "--out", str(KIT / "recordings")], check=False).returncode
    sys.exit(1 if status else 0)


if __name__ == "__main__":
    main()
