# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The op observer in a process with a real PyTorch, through torch_probe.cc's library.

Every test runs in a process of its own: observers, name tables and forks are process-wide. GPUPROF_TORCH_PROBE names
the library. Holds for PyTorch 1.13 too, whose record_function runs ops of its own.
"""

import collections
import ctypes
import inspect
import os
import sys
import textwrap
import threading
import time

import pytest

PROBE = os.environ["GPUPROF_TORCH_PROBE"]


class Probe:
    def __init__(self):
        self.lib = ctypes.CDLL(PROBE)
        self.lib.probe_summary.restype = ctypes.c_char_p
        self.lib.probe_state.restype = ctypes.c_char_p
        self.lib.probe_attach.restype = ctypes.c_bool
        self.lib.probe_record.argtypes = [ctypes.c_bool]
        self.lib.probe_add_empty.restype = ctypes.c_uint64

    def attach(self, records=1 << 18):
        return self.lib.probe_attach(records)

    def detach(self):
        self.lib.probe_detach()

    def state(self):
        return self.lib.probe_state().decode()

    def take(self):
        """(ops: Counter of (scope, name), facts: dict)"""
        ops, facts = collections.Counter(), {}
        for line in self.lib.probe_summary().decode().splitlines():
            name, count = line.rsplit("\t", 1)
            if name.startswith("!"):
                facts[name[1:]] = int(count)
            else:
                scope, name = name.split(":", 1)
                ops[int(scope), name] += int(count)
        return ops, facts

    def record(self, work):
        self.lib.probe_record(True)
        try:
            work()
        finally:
            self.lib.probe_record(False)
        return self.take()


def in_own_process(function):
    """Runs the test's body in a forked child. PyTorch is imported here, once, for all that use it: that takes seconds."""

    def run():
        if "load()" in inspect.getsource(function):
            import torch  # noqa: F401 - the child uses it

        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            status = 1
            try:
                function()
                status = 0
            except BaseException as error:  # noqa: BLE001 - told to the parent
                import traceback

                with os.fdopen(write, "w") as pipe:
                    pipe.write("".join(traceback.format_exception(error)))
            finally:
                os._exit(status)
        os.close(write)
        with os.fdopen(read) as pipe:
            text = pipe.read()
        _, status = os.waitpid(child, 0)
        if status != 0:
            pytest.fail(text or f"the process ended with wait status {status:#x}", pytrace=False)

    run.__name__ = function.__name__
    run.__doc__ = function.__doc__
    return run


def load():
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    return torch, Probe()


def train(torch, steps=20):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.randn(steps * 4, 8), torch.randn(steps * 4, 4)), batch_size=4
    )
    losses = []
    for features, wanted in data:
        with torch.profiler.record_function("my_step"):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(features), wanted)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return losses


def no_losses(facts):
    kinds = ("unnested", "dropped", "unpaired", "async", "too_deep", "names_lost")
    assert {kind: facts[kind] for kind in kinds} == dict.fromkeys(kinds, 0)


def has_observers():
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "/libtorch_cpu.so" in line)
    function = ctypes.CDLL(path)["_ZN2at18hasGlobalCallbacksEv"]
    function.restype = ctypes.c_bool
    return function()


# The next two come first: they begin without PyTorch.


@in_own_process
def test_nothing_to_attach_to():
    probe = Probe()
    assert not probe.attach()
    assert probe.state() == "none"
    assert "torch" not in sys.modules


@in_own_process
def test_attaches_once_torch_is_imported():
    probe = Probe()
    assert not probe.attach()
    import torch

    assert probe.attach()
    assert probe.state() == "active"
    assert has_observers()
    _, facts = probe.record(lambda: torch.ones(2))
    assert facts["reporter"] == 1
    probe.detach()
    assert not has_observers()
    assert probe.state() == "none"


@in_own_process
def test_counts_are_the_profilers():
    torch, probe = load()
    train(torch, 3)
    assert probe.attach()

    def both():
        nonlocal profile
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            train(torch, 40)

    profile = None
    ours, facts = probe.record(both)
    no_losses(facts)
    # The profiler's own record of what it saw: events() leaves out an op inside one of the same name.
    theirs = collections.Counter(event.name() for event in profile.profiler.kineto_results.events())
    by_name = collections.Counter()
    for (_, name), count in ours.items():
        by_name[name] += count
    assert by_name == theirs
    assert sum(theirs.values()) > 3000
    scopes = {scope for scope, _ in ours}
    assert scopes == {0, 1, 7}
    assert ours[7, "my_step"] == 40
    assert ours[1, "AddmmBackward0"] == 80
    assert ours[7, "Optimizer.step#Adam.step"] == 40
    assert ours[7, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"] == 41


@in_own_process
def test_results_are_unchanged():
    torch, probe = load()
    bare = train(torch, 30)
    assert probe.attach()
    observed = []
    probe.record(lambda: observed.extend(train(torch, 30)))
    assert observed == bare


@in_own_process
def test_attach_and_detach_a_hundred_times_under_load():
    torch, probe = load()
    stop = threading.Event()
    done = [0, 0]

    def work(index):
        while not stop.is_set():
            train(torch, 5)
            done[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    probe.lib.probe_record(True)
    for cycle in range(100):
        assert probe.attach()
        if cycle % 10 == 0:  # long enough for whole trainings, on a busy machine too
            before = sum(done)
            while sum(done) < before + 2:
                time.sleep(0.001)
        else:
            time.sleep(0.001)
        probe.detach()
    stop.set()
    for thread in threads:
        thread.join()
    probe.lib.probe_record(False)
    assert min(done) > 0
    assert not has_observers()
    ops, facts = probe.take()
    assert sum(ops.values()) > 1000
    assert not [name for name in ops if not name[1]], "ops without a name"
    assert facts["unnested"] == 0
    assert facts["dropped"] == 0


@in_own_process
def test_second_capture_keeps_the_names():
    torch, probe = load()
    probe.attach()
    first, facts = probe.record(lambda: train(torch, 4))
    strings = facts["strings"]
    assert strings == len({name for _, name in first})
    probe.detach()
    probe.attach()
    second, facts = probe.record(lambda: train(torch, 4))
    assert second == first
    assert facts["strings"] == strings


@in_own_process
def test_forked_child_defines_its_names_anew():
    torch, probe = load()
    probe.attach()
    before, facts = probe.record(lambda: train(torch, 4))
    probe.lib.probe_record(True)
    probe.lib.probe_before_fork()
    child = os.fork()
    if child == 0:
        probe.lib.probe_after_fork_child()
        status = 1
        try:
            assert probe.attach()  # still
            train(torch, 4)
            ops, facts = probe.take()
            assert ops == before, ops
            assert facts["unnested"] == 0
            probe.detach()
            assert not has_observers()
            status = 0
        finally:
            os._exit(status)
    probe.lib.probe_after_fork_parent()
    assert os.waitpid(child, 0)[1] == 0
    after, facts = probe.record(lambda: train(torch, 4))
    assert after == before
    no_losses(facts)


@in_own_process
def test_begun_before_recording_is_counted_and_harms_nothing():
    torch, probe = load()
    probe.attach()

    def work():
        outer.__exit__(None, None, None)
        torch.ones(2)

    outer = torch.profiler.record_function("outer")
    outer.__enter__()
    ops, facts = probe.record(work)
    assert facts["unpaired"] == 1
    assert (7, "outer") not in ops
    assert ops[0, "aten::ones"] == 1
    # Left open at the end of a capture, and ended in the next one.
    left = torch.profiler.record_function("left")
    probe.record(left.__enter__)
    assert probe.lib.probe_open_ops() == 1
    probe.detach()
    probe.attach()
    assert probe.lib.probe_open_ops() == 0
    ops, facts = probe.record(lambda: left.__exit__(None, None, None))
    assert facts["unpaired"] == 2
    assert probe.lib.probe_open_ops() == 0


@in_own_process
def test_deeper_than_is_kept():
    torch, probe = load()
    probe.attach()

    def nest(depth):
        with torch.profiler.record_function(f"level {depth}"):
            if depth < 79:
                nest(depth + 1)

    ops, facts = probe.record(lambda: (nest(0), torch.ones(2)))
    assert facts["too_deep"] >= 80 - 64
    assert sum(count for (scope, _), count in ops.items() if scope == 7) == 64
    assert facts["unpaired"] == 0
    assert facts["unnested"] == 0
    assert probe.lib.probe_open_ops() == 0


@in_own_process
def test_spans_that_overlap_without_nesting():
    torch, probe = load()
    probe.attach()

    def work():
        first = torch.profiler.record_function("first")
        second = torch.profiler.record_function("second")
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        torch.ones(2)

    ops, facts = probe.record(work)
    assert ops[7, "first"] == 1 and ops[7, "second"] == 1
    assert facts["unpaired"] == 0
    assert ops[0, "aten::ones"] == 1
    assert probe.lib.probe_open_ops() == 0


@in_own_process
def test_annotations_under_a_dispatch_mode():
    """They begin within one of the mode's ops and end within another."""
    torch, probe = load()
    from torch.utils.flop_counter import FlopCounterMode
    probe.attach()

    def work():
        with FlopCounterMode(display=False):
            for _ in range(5):
                with torch.profiler.record_function("encode"):
                    torch.ones(2) + 1

    ops, facts = probe.record(work)
    assert ops[7, "encode"] == 5
    assert facts["unpaired"] == 0
    assert probe.lib.probe_open_ops() == 0


@in_own_process
def test_of_those_that_never_end_a_few_are_kept():
    torch, probe = load()
    probe.attach()
    kept = []

    def work():
        for _ in range(100):
            with torch.profiler.record_function("round"):
                kept.append(torch.profiler.record_function("lost"))
                kept[-1].__enter__()
        torch.ones(2)

    ops, facts = probe.record(work)
    assert ops[7, "round"] == 100 and ops[0, "aten::ones"] == 1
    assert probe.lib.probe_open_ops() == 8
    assert facts["unpaired"] == 92


@in_own_process
def test_ended_on_another_thread():
    torch, probe = load()
    probe.attach()

    def work():
        span = torch.profiler.record_function("wandering")
        span.__enter__()
        thread = threading.Thread(target=lambda: span.__exit__(None, None, None))
        thread.start()
        thread.join()
        torch.ones(2)

    ops, facts = probe.record(work)
    assert facts["unpaired"] == 1
    assert (7, "wandering") not in ops
    assert ops[0, "aten::ones"] == 1


@in_own_process
def test_full_ring_defines_names_later():
    torch, probe = load()
    probe.attach(64)
    _, facts = probe.record(lambda: train(torch, 4))
    assert facts["dropped"] > 0
    assert facts["unnested"] == 0
    # Names that could not be defined then are defined now; twenty ops fit.
    ops, _ = probe.record(lambda: [torch.ones(2).neg().sum() for _ in range(2)])
    assert {name for _, name in ops} >= {"aten::ones", "aten::neg", "aten::sum"}


@in_own_process
def test_more_names_than_the_table_holds():
    torch, probe = load()
    probe.attach(1 << 20)

    def work():
        for number in range(66_000):
            with torch.profiler.record_function(f"a different name each time {number}"):
                pass

    ops, facts = probe.record(work)
    assert facts["names_lost"] > 0
    assert facts["dropped"] == 0
    # The nameless ones among them.
    assert sum(count for (scope, _), count in ops.items() if scope == 7) == 66_000
    assert ops[7, ""] == facts["names_lost"]


def kept(name):
    """As proto/kept_name.h says of an ASCII name."""
    if len(name) <= 1024:
        return name
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{name[:1004]}\u2026#{value:016x}"


@in_own_process
def test_names_of_every_length():
    torch, probe = load()
    probe.attach()
    names = ["x" * length for length in range(1, 200)] + ["y" * 1500]

    def work():
        for _ in range(3):
            for name in names:
                with torch.profiler.record_function(name):
                    pass

    ops, facts = probe.record(work)
    no_losses(facts)
    assert {name: count for (scope, name), count in ops.items() if scope == 7} == {kept(name): 3 for name in names}


@in_own_process
def test_versions_beside_the_library():
    import tempfile

    probe = Probe()

    def version(layout, text):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(folder + "/torch/lib")
            if layout:
                with open(f"{folder}/torch/{layout}", "w") as file:
                    file.write(text)
            return probe.lib.probe_version(f"{folder}/torch/lib/libtorch_cpu.so".encode())

    python = textwrap.dedent(
        """\
        from typing import Optional

        __all__ = ['__version__', 'debug']
        __version__ = '{}'
        debug = False
        """
    )
    assert version("version.py", python.format("2.13.0+cpu")) == 2013
    assert version("version.py", python.format("1.9.1")) == 1009
    assert version("build-version", "2.4.0+cu121\n") == 2004
    assert version("version.py", "nothing of use") == 0
    assert version(None, "") == 0
    assert probe.lib.probe_version(b"/usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13") == 1013
    assert probe.lib.probe_version(b"libtorch_cpu.so") == 0
