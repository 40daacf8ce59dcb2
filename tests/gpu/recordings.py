#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Records CUPTI's activity buffers of some programs, byte for byte, for the doubles to play again.

    tests/gpu/recordings.py --recorder cupti_recorder.so --programs DIR --out DIR [--doubles LIB]

Each program runs under the recorder (tests/fake_gpu/recorder). OUT gets NAME.cupti and NAME.txt, which tells the machine, the libcupti
and the command: made on an H200, both go to tests/golden/traces/h200, where the suite plays whatever there is. A recording that is not
whole is an error. With --doubles (the folder of tests/fake_gpu's libraries) this tests the script itself. Needs Python 3.8, a driver and a GPU.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# In the kit it lies beside this file.
sys.path[:0] = [str(HERE), str(HERE.parent / "fake_gpu" / "recorder")]

from buffer_file import Recording  # noqa: E402

GRAPHS_AS_WHOLES = {"CUPTI_RECORDER_ALSO": "51"}
RECORDINGS = {
    "vector_add": (["vector_add", "5"], {}),
    "graphs": (["graphs", "5"], {}),
    "graphs_whole": (["graphs", "5"], GRAPHS_AS_WHOLES),
    "pools": (["pools"], {}),
    "threads": (["threads"], {}),
    "memory": (["memory", "device 3 1000000", "managed 2 300000", "pinned 2 50000", "async 4 70000", "pool 3 40000", "free 6", "trim"], {}),
}
LIMIT_S = 900


def gpu():
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown: no nvidia-smi"
    return "; ".join(done.stdout.splitlines())


def record(options, name):
    """What is wrong with it, in words; None: nothing."""
    (program, *arguments), more = RECORDINGS[name]
    path = options.out / f"{name}.cupti"
    path.unlink(missing_ok=True)
    command = [str(options.programs / program), *arguments]
    variables = {"CUDA_INJECTION64_PATH": str(options.recorder), "CUPTI_RECORDER_FILE": str(path), **more}
    environment = {**os.environ, **variables}
    if options.doubles:
        environment["LD_LIBRARY_PATH"] = str(options.doubles)
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"it ran for more than {LIMIT_S} s"
    if done.returncode != 0 or not path.exists():
        return f"status {done.returncode}: {done.stderr[-300:]}"
    try:
        recording = Recording(path)
    except Exception as error:  # whatever it is, the others are worth recording
        return f"not readable: {error!r}; {done.stderr[-300:]}"
    where = "doubles, no GPU" if options.doubles else gpu()
    words = " ".join([*(f"{key}={value}" for key, value in more.items()), shlex.join([program, *arguments])])
    said = [f"gpu {where}", f"command {words}", f"cupti {recording.version}", f"dropped {recording.dropped}", recording.about]
    path.with_suffix(".txt").write_text("\n".join(said))
    if recording.flags or recording.unread or recording.dropped:
        return f"not whole: flags {recording.flags}, {recording.unread} buffers unread, {recording.dropped} records dropped"
    print(f"{name}: {len(recording.kernels())} kernels, {sum(len(b.lengths) for b in recording.buffers)} records, CUPTI {recording.version}",
          flush=True)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recorder", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--doubles", type=pathlib.Path)
    options = parser.parse_args()
    options.recorder, options.programs, options.out = options.recorder.resolve(), options.programs.resolve(), options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    wrong = {name: record(options, name) for name in RECORDINGS}
    for name, why in wrong.items():
        if why:
            print(f"{name}: {why}", flush=True)
    sys.exit(1 if any(wrong.values()) else 0)


if __name__ == "__main__":
    main()
