# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs to which a profiler of Python may do harm. The first argument names what is done."""

import ctypes
import inspect
import os
import pickle
import sys
import threading
import time
import types


def innermost():
    return 1


class Held:
    """Keeps CPython's lock: calls of C functions that keep it, and no other thread's turn comes."""

    def __init__(self):
        self.libc = ctypes.PyDLL(None)
        self.interval = sys.getswitchinterval()

    def __enter__(self):
        sys.setswitchinterval(3600)
        return self

    def __exit__(self, *_):
        sys.setswitchinterval(self.interval)

    def touch(self, path):
        self.libc.close(self.libc.open(path, os.O_CREAT | os.O_WRONLY, 0o600))

    def wait_for(self, path):
        while self.libc.access(path, os.F_OK) != 0:
            self.libc.usleep(1000)


def path_of(name):
    return os.path.join(sys.argv[2], name).encode()


def forks():
    """Forks with the lock, each time that it is told to. Prints how long that took."""
    for line in sys.stdin:
        with Held() as held:
            held.touch(path_of("held" + line.strip()))
            held.wait_for(path_of("go" + line.strip()))
            began = time.monotonic()
            child = held.libc.fork()
            if child == 0:
                held.libc._exit(0)
            took = time.monotonic() - began
            held.libc.waitpid(child, None, 0)
        print(took, flush=True)


def loads():
    """A library that is being loaded takes the lock meanwhile."""
    library, copy = sys.argv[3:]
    first = ctypes.CDLL(library)
    sys.stdin.readline()
    loader = threading.Thread(target=first.load_when, args=(path_of("load"), copy.encode()))
    loader.start()
    with Held() as held:
        held.touch(path_of("held"))
        held.wait_for(path_of("go"))
    loader.join()
    with open(path_of("done"), "w"):
        pass
    sys.stdin.readline()
    innermost()


class WithSetter:
    pass


def looks():
    """What a program sees of sys.setprofile."""
    setter = sys.setprofile
    WithSetter.setter = setter
    print(repr(setter), str(setter), setter.__name__, setter.__qualname__, setter.__module__, setter.__doc__)
    print(isinstance(setter, types.BuiltinFunctionType), inspect.isbuiltin(setter), callable(setter), inspect.isfunction(setter))
    print(type(setter).__name__, type(setter).__module__, setter.__class__ is len.__class__, setter.__self__ is sys)
    print(hasattr(setter, "__get__"), hasattr(type(setter), "__get__"), WithSetter.setter is setter, WithSetter().setter is setter)
    print(pickle.loads(pickle.dumps(setter)) == setter, setter == sys.setprofile, setter != len, setter in {setter: 1})
    for wrong in (lambda: setter(), lambda: setter(1, 2), lambda: setter(function=1), lambda: setattr(setter, "x", 1),
                  lambda: setter.x, lambda: type(setter)(), lambda: setter < setter):
        try:
            print(wrong())
        except Exception as error:
            print(type(error), error)
    events = []
    WithSetter().setter(lambda frame, event, argument: events.append((frame.f_code.co_name, event, getattr(argument, "__name__", ""))))
    innermost()
    print(sys.getprofile() is not None)
    WithSetter().setter(None)
    print([event for event in events if event[2] != "setprofile"])


def refuses():
    """An audit hook that refuses all profilers."""
    def refuse(event, arguments):
        if event.startswith(("sys.setprofile", "sys.monitoring")):
            raise RuntimeError("no profiler here")

    sys.addaudithook(refuse)
    if len(sys.argv) > 2:
        print("ready", flush=True)
        sys.stdin.readline()
    for _ in range(3):
        each = threading.Thread(target=innermost)
        each.start()
        each.join()
    innermost()
    time.sleep(0.3)  # threads are looked for meanwhile
    print("done", flush=True)
    if len(sys.argv) > 2:
        sys.stdin.readline()


def churns():
    """Threads of C come to CPython and leave it, while others are made."""
    library = ctypes.CDLL(sys.argv[2])
    library.churn_begin()
    for _ in range(300):
        each = threading.Thread(target=innermost)
        each.start()
        each.join()
    library.churn_end()


def states():
    """Threads are made while a thread of C makes states of others."""
    import _thread
    library = ctypes.CDLL(sys.argv[2])
    time.sleep(0.05)
    for _ in range(5):
        library.states_begin()
        for _ in range(100):
            _thread.start_new_thread(innermost, ())
        library.states_end()
    print("done", flush=True)
    os._exit(0)  # the states are nobody's


def hides(way):
    innermost()
    if way.startswith("cprofile"):
        import cProfile
        own = cProfile.Profile()
        hides.own = own  # it stays there
        own.enable()
    else:
        sys.setprofile(lambda *_: None)
    time.sleep(2)
    innermost()
    if way == "cprofile":
        own.disable()
    elif way == "setprofile":
        sys.setprofile(None)


def hidden():
    hides(sys.argv[2])
    for _ in range(200):
        time.sleep(0.01)
        innermost()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
