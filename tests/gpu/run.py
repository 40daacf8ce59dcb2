#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What a real GPU has to show, from one folder (`--target gpu_kit`) on a machine where nothing can be installed.

    python3 gpu-kit/run.py

Builds the programs with the machine's nvcc where there is one, so that they fit its driver; otherwise those that came along are taken. Then the
twins, the frameworks that are there, and recordings of CUPTI's own buffers in gpu-kit/recordings, to be kept. Exit status 1 if anything differed. Needs Python 3.8, a driver and a GPU.
"""

import pathlib
import shutil
import subprocess
import sys

KIT = pathlib.Path(__file__).resolve().parent


def built(nvcc):
    """The folder of programs, built here."""
    folder = KIT / "built"
    folder.mkdir(exist_ok=True)
    for source in sorted((KIT / "sources").glob("*.cu")):
        name = "cuda_train" if source.stem == "train" else source.stem
        subprocess.run([nvcc, "-cudart", "shared", "-O1", "-o", str(folder / name), str(source)], check=True)
    subprocess.run([nvcc, "-x", "cu", "-o", str(folder / "driver_api"), str(KIT / "sources" / "driver_api.c"), "-lcuda"], check=False)
    return folder


def main():
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
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
