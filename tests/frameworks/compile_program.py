# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`compile_program.py model FOLDER` compiles a small model for the processor. `compile_program.py hostile FOLDER` puts
what is no file of the compiler into the compiler's own table. Files are in the folder."""

import atexit
import ctypes
import os
import shutil
import sys
import time

import torch


def model(x, y):
    a = x @ y  # by a library, not by a kernel of the compiler
    b = torch.sin(a) * 2
    return torch.relu(b + y)  # the kernel's last operation


def await_recorder(folder):
    """Waits until the recorder has noticed a library of the compiler: it then waits for Python's exit."""
    library = os.path.join(folder, "c" + "a2" * 25 + "b.so")
    shutil.copy(sys.modules["_ctypes"].__file__, library)
    handlers = atexit._ncallbacks()
    ctypes.CDLL(library)
    while "gpuprof" in os.environ.get("LD_PRELOAD", "") and atexit._ncallbacks() == handlers:
        time.sleep(0.01)


def hostile(folder):
    from torch._inductor.codecache import PyCodeCache

    os.mkfifo(os.path.join(folder, "pipe.py"))
    with open(os.path.join(folder, "good.py"), "w") as out:
        out.write("good_0 = async_compile.triton('good_0', '''\n''')\n    good_0.run(x)\n")
    stack = '  File "/src/model.py", line 7, in forward\n    y = x\n'
    pair = [(1,), (stack,)]
    PyCodeCache.linemaps.update({
        os.path.join(folder, "pipe.py"): pair,
        os.path.join(folder, "missing.py"): pair,
        os.path.join(folder, "good.py"): pair,
        "/dev/zero": pair,
        "relative.py": pair,
        "\ud800": pair,
        17: pair,
        "/no/pair": None,
        "/short": [(1, 2), ("x",)],
        "/words": [("one", None, 10**30), (1, "\ud800", b"x")],
        "/" + "x" * 100_000: pair})
    print("entries", len(PyCodeCache.linemaps))


await_recorder(sys.argv[2])
if sys.argv[1] == "hostile":
    hostile(sys.argv[2])
else:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    compiled = torch.compile(model)
    with torch.no_grad():
        for _ in range(3):
            result = compiled(torch.zeros(64, 64), torch.full((64, 64), 32.0))
    print("sum", result.sum().item().hex())
