# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A program with a double of JAX's profiler, for interpreters that have no JAX: jax_double.py KIND LIBRARY.

LIBRARY is a file called libjax_common.so, whatever is in it. The double's sessions return an XSpace with one mark of the thread that
began them. The program waits until it has seen sessions of others, where it must have seen one: they are gpuprof's. `never` waits for none."""

import ctypes
import os
import sys
import threading
import time
import traceback
import types

kind, library = sys.argv[1:3]
made = []


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytearray([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def metadata(field, key, name):
    return text(field, number(1, key) + text(2, number(1, key) + text(2, name)))


def xspace(begin, end, tid):
    line = text(3, number(1, tid) + text(2, b"python") + number(3, 0) + text(4, number(1, 1) + number(2, 1000) + number(3, (end - begin) * 500)))
    host = text(2, b"/host:CPU") + metadata(4, 1, b"the double's mark") + line
    environment = (text(2, b"Task Environment") + metadata(5, 1, b"profile_start_time") + metadata(5, 2, b"profile_stop_time")
                   + text(6, number(1, 1) + number(3, begin)) + text(6, number(1, 2) + number(3, end)))
    return text(1, host) + text(1, environment)


class ProfileOptions:
    """Like JAX's, but for its layout in memory."""


class ProfilerSession:
    """As JAX's: one at a time."""

    active = None

    def __init__(self, options):
        if not isinstance(options, ProfileOptions):
            raise TypeError("incompatible arguments")
        if ProfilerSession.active is not None:
            raise RuntimeError("ALREADY_EXISTS: Another profiling session active.")
        ProfilerSession.active = self
        self.begin = time.time_ns()
        self.tid = threading.get_native_id()
        made.append(vars(options).copy())

    def stop(self):
        if ProfilerSession.active is not self:
            raise RuntimeError("ALREADY_EXISTS: Another profiling session active.")
        ProfilerSession.active = None
        return xspace(self.begin, max(time.time_ns(), self.begin + 2), self.tid)


def start_server(port):
    return port + 1


module = types.ModuleType("jaxlib._profiler")
for thing in (ProfileOptions, ProfilerSession, start_server):
    setattr(module, thing.__name__, thing)
    thing.__module__ = "jaxlib._profiler"
sys.modules["jaxlib"] = types.ModuleType("jaxlib")
sys.modules["jaxlib"]._profiler = sys.modules["jaxlib._profiler"] = module
ctypes.CDLL(library)


def wait_for_session():
    """Until somebody else has begun one. It ends with the program if nobody ever does."""
    while not made and "GPUPROF_BUNDLE" in os.environ:
        time.sleep(0.001)


if kind == "wait":
    wait_for_session()
    print("done", [thread.name for thread in threading.enumerate()], len(sys._current_frames()))
elif kind == "own":
    wait_for_session()
    made.clear()
    session = module.ProfilerSession(ProfileOptions())
    print(isinstance(session, module.ProfilerSession), type(session).__name__, type(session).__module__, len(session.stop()) > 50)
    # What a wrong call prints has no frame of anybody else.
    for call in (lambda: module.ProfilerSession(1), session.stop, lambda: module.start_server()):
        try:
            call()
        except Exception:
            print("".join(traceback.format_exc().splitlines(True)[-1:]), traceback.format_exc().count('  File "'))
    print(module.start_server(4), module.start_server(port=5))
elif kind == "interpreter":
    wait_for_session()
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    other = interpreters.create()
    result = interpreters.run_string(other, "import sys; assert not [name for name in sys.modules if 'jax' in name]")
    interpreters.destroy(other)
    print("another interpreter", result)
elif kind == "thread":
    # Daemon threads are ended, or hang, when Python comes to its end.
    wait_for_session()
    threading.Thread(target=lambda: [sum(range(1000)) for _ in iter(int, 1)], daemon=True).start()
    print("leaves a thread")
elif kind == "fork":
    wait_for_session()
    child = os.fork()
    if child == 0:
        module.ProfilerSession(ProfileOptions()).stop()
        os._exit(7)
    print("child", os.WEXITSTATUS(os.waitpid(child, 0)[1]))
elif kind == "never":
    print("at once")
