# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Compares the sums of work in a .gpt file with its rows, for the tests' own reader (trace_file.py). Written from FORMAT.md alone.
Also writes a trace whose import has such sums."""

import json
import random

import numpy

from column_values import fields, packed

UNKNOWN = (1 << 64) - 1


def union_length(starts, ends):
    """The time in which at least one span runs, and whether each span begins after those before it."""
    order = numpy.argsort(starts, kind="stable")
    reached = numpy.maximum.accumulate(ends[order])
    begins = starts[order].copy()
    begins[1:] = numpy.maximum(begins[1:], reached[:-1])
    return int(numpy.maximum(reached - begins, 0).sum()), bool((starts[1:] >= ends[:-1]).all())


def check_sums(table, blocks):
    """Fails if a group is not what its blocks have. `blocks`: (kind, track, sampling factor, columns) of each block before the table's own.
    Returns how many blocks the groups sum."""
    summed = 0
    for entry in table.get(1, []):
        group = fields(entry)
        one = lambda number, default: group.get(number, [default])[-1]  # pylint: disable=cell-var-from-loop
        column = lambda number: [int(value) for value in packed(one(number, b""))]  # pylint: disable=cell-var-from-loop
        its_blocks = [blocks[len(blocks) - back] for back in column(5)]
        assert its_blocks and len(column(6)) == len(its_blocks)
        for (*head, rows), busy in zip(its_blocks, column(6)):
            assert head == [one(1, 0), one(2, 0), one(3, 0) or 1], (head, group)
            length, follow = union_length(rows["time"] - rows["duration"], rows["time"])
            assert busy == length if follow else busy <= length
        joined = {name: numpy.concatenate([rows[name] for *_, rows in its_blocks]) for name in its_blocks[0][3]}
        keys = joined[list(joined)[2]]
        values = joined["bytes"].astype(numpy.uint64) if "bytes" in joined else numpy.zeros(len(keys), numpy.uint64)
        assert bool(one(4, 0)) == bool((values == UNKNOWN).any())
        values[values == UNKNOWN] = 0
        sums = zip(column(7), column(8), column(9), column(10), column(11), column(12) or [0] * len(column(7)), strict=True)
        for key, count, total, least, rest, value in sums:
            durations = joined["duration"][keys == key]
            assert (count, total) == (len(durations), int(durations.sum())), (key, count, total)
            assert (least, least + rest) == (durations.min(), durations.max())
            assert value == int(values[keys == key].sum())
        assert set(column(7)) == set(keys.tolist())
        summed += len(its_blocks)
    return summed


def write_kineto(path, kernels, streams):
    """Writes a trace of torch.profiler: kernels of six names on some streams. A copy follows each tenth kernel."""
    chance = random.Random(5)
    events = []
    at = {stream: 1_000.0 for stream in streams}
    for i in range(kernels):
        stream = streams[i % len(streams)]
        duration = 5 + chance.randrange(4_000) / 1000
        common = {"ph": "X", "pid": 0, "tid": stream}
        arguments = {"device": 0, "context": 1, "stream": stream, "correlation": i + 1}
        events.append(common | {"cat": "kernel", "name": f"kernel_{chance.randrange(6)}", "ts": at[stream], "dur": duration,
                                "args": arguments | {"grid": [1, 1, 1], "block": [64, 1, 1]}})
        at[stream] += duration + 1
        if i % 10 == 0:
            events.append(common | {"cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "ts": at[stream], "dur": 2.0,
                                    "args": arguments | {"bytes": 4096, "correlation": kernels + i + 1}})
            at[stream] += 3
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}))
