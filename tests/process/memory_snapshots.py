# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes snapshots as torch.cuda.memory._dump_snapshot writes them, with the figures that are right of them."""

import collections

MIB = 1 << 20


def frames(*places):
    """Frames of "file:line:function", innermost first."""
    parts = [place.rsplit(":", 2) for place in places]
    return [{"filename": file, "line": int(line), "name": name} for file, line, name in parts]


class Allocator:
    """One device: the events that a recording has, and the blocks that live. Figures are counted here, event by event."""

    def __init__(self):
        self.events, self.marks = [], []
        self.live = {}  # address: (size, stack)
        self.waits = {}
        self.segments = {}  # address: dict
        self.time_us = 1_764_300_000_000_000
        self.next_segment = 0x7F0000000000
        self.is_recording = True
        self.peak = self.peak_time_us = 0
        self.live_at_peak = {}

    def _event(self, action, address, size, stack, **more):
        self.time_us += 7
        if self.is_recording:
            self.events.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time_us,
                                "compile_context": "N/A", "user_metadata": "", "frames": frames(*stack), **more})

    def segment(self, size, stack=(), pool=(0, 0), expandable=False, at=None):
        address = at or self.next_segment
        self.next_segment = max(self.next_segment, address + size + 2 * MIB)
        self.segments[address] = {"size": size, "pool": pool, "expandable": expandable, "stack": stack}
        self._event("segment_map" if expandable else "segment_alloc", address, size, stack)
        return address

    def free_segment(self, address):
        segment = self.segments.pop(address)
        self._event("segment_free", address, segment["size"], ())

    def alloc(self, address, size, *stack):
        self.live[address] = (size, stack if self.is_recording else ())
        self._event("alloc", address, size, stack)
        total = sum(each[0] for each in self.live.values())
        if total > self.peak:
            self.peak, self.peak_time_us, self.live_at_peak = total, self.time_us, dict(self.live)
        return address

    def free(self, address, completes=True):
        size, stack = self.live.pop(address)
        self._event("free_requested", address, size, stack)
        if completes:
            self._event("free_completed", address, size, stack)
        else:
            self.waits[address] = (size, stack)

    def complete(self, address):
        size, stack = self.waits.pop(address)
        self._event("free_completed", address, size, stack)

    def oom(self, size, device_free, *stack):
        self._event("oom", 0, size, stack, device_free=device_free)
        del self.events[-1]["addr"]

    def mark(self, name, is_begin):
        self.time_us += 1
        self.marks.append({"stage": "START" if is_begin else "END", "name": name, "device": 0, "time_us": self.time_us})

    def begin_recording(self):
        """Forgets what the recording does not have: events and marks so far, and the stacks of blocks."""
        self.events, self.marks, self.is_recording = [], [], True
        self.peak = sum(each[0] for each in self.live.values())
        self.live_at_peak = dict(self.live)
        self.before = self.peak
        self.live = {address: (size, ()) for address, (size, _) in self.live.items()}

    def stacks_at_peak(self):
        sums = collections.Counter()
        for size, stack in self.live_at_peak.values():
            sums[" < ".join(stack) or "(live before the recording)"] += size
        return dict(sums)

    def snapshot(self):
        segments = []
        for address, segment in sorted(self.segments.items()):
            end, at, blocks = address + segment["size"], address, []
            inside = sorted((a, *self.live[a], "active_allocated") for a in self.live if address <= a < end)
            inside += sorted((a, *self.waits[a], "active_awaiting_free") for a in self.waits if address <= a < end)
            for a, size, stack, state in sorted(inside):
                if a > at:
                    blocks.append({"address": at, "size": a - at, "requested_size": 0, "state": "inactive", "frames": []})
                blocks.append({"address": a, "size": size, "requested_size": size - 1, "state": state, "frames": frames(*stack)})
                at = a + size
            if at < end:
                blocks.append({"address": at, "size": end - at, "requested_size": 0, "state": "inactive", "frames": []})
            used = sum(b["size"] for b in blocks if b["state"] == "active_allocated")
            segments.append({"device": 0, "address": address, "total_size": segment["size"], "allocated_size": used, "active_size": used,
                             "requested_size": used, "stream": 0, "segment_type": "large", "segment_pool_id": segment["pool"],
                             "is_expandable": segment["expandable"], "frames": frames(*segment["stack"]), "blocks": blocks})
        return {"segments": segments, "device_traces": [self.events], "external_annotations": self.marks,
                "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "garbage_collection_threshold": 0.0}}


def random_run(seeded, events=400, before=20):
    """A program that allocates and frees at random, recorded from some moment on."""
    device = Allocator()
    device.is_recording = False
    room = device.segment(64 * MIB)
    places = [("model.py:5:forward", "train.py:9:main"), ("autograd:0:MmBackward0", "train.py:12:main"), ("x.py:1:f",),
              ("/opt/torch/optim/adam.py:7:_init_group", "train.py:14:main")]
    free = [room + i * 65536 for i in range(64 * MIB // 65536)]
    seeded.shuffle(free)
    for step in range(events):
        if step == before:
            device.begin_recording()
        if device.live and seeded.random() < 0.45:
            address = seeded.choice(sorted(device.live))
            device.free(address)
            free.append(address)
        else:
            device.alloc(free.pop(), 512 * seeded.randint(1, 128), *seeded.choice(places))
    return device
