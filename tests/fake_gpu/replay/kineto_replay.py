#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Turns a trace of torch.profiler into a recording that the doubles of the GPU stack play again.

    kineto_replay.py IN.json[.gz] OUT.replay
    kineto_replay.py --reduce IN.json[.gz] OUT.json.gz     the same work with nothing beside it, as small as a test wants it

replay_file.h says what is in the recording. Calls of the runtime and the driver, kernels, copies and sets are taken with all that the
trace has of them; calls without CUPTI's callback id (another vendor's runtime) are left out, and told. Times are as exact as they are
written: microseconds with up to three digits behind the point. Copies between devices are refused, as none has been seen yet.
b200_eager.json.gz, beside this, is a reduced trace for the tests.
"""

import argparse
import gzip
import json
import pathlib
import re
import struct
import sys

RUNTIME_CALL, DRIVER_CALL, KERNEL, COPY, SET = 1, 2, 3, 4, 5
TYPES = {"cuda_runtime": RUNTIME_CALL, "cuda_driver": DRIVER_CALL, "kernel": KERNEL, "gpu_memcpy": COPY, "gpu_memset": SET}

MAGIC = b"gpuplay1"
HEADER = struct.Struct("<8sII")
ROW = struct.Struct("<IIQQ" + "I" * 16 + "QQ")

# CUPTI's numbers for what the trace has as words.
COPY_KINDS = {"HtoD": 1, "DtoH": 2, "HtoA": 3, "AtoH": 4, "AtoA": 5, "AtoD": 6, "DtoA": 7, "DtoD": 8, "HtoH": 9}
MEMORY_KINDS = {"Unknown": 0, "Pageable": 1, "Pinned": 2, "Device": 3, "Array": 4, "Managed": 5, "Device Static": 6,
                "Managed Static": 7}

KEPT_ARGUMENTS = ("cbid", "correlation", "device", "context", "stream", "grid", "block", "registers per thread", "shared memory",
                  "bytes", "graph id", "graph node id")


class Unreadable(Exception):
    pass


def read_json(path):
    path = pathlib.Path(path)
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    # Numbers with a point stay text: a float has not the digits for an exact time.
    return json.loads(data, parse_float=str)


def nanoseconds(microseconds):
    match = re.fullmatch(r"(\d+)(?:\.(\d{1,3})0*)?", str(microseconds))
    if match is None:
        raise Unreadable(f"{microseconds} is no time in microseconds that is whole in nanoseconds")
    return int(match[1]) * 1000 + int((match[2] or "").ljust(3, "0"))


def memory_of(event):
    """What a copy's or a set's name tells: kind of copy, memory from << 8, memory to << 16."""
    name = event["name"]
    if match := re.fullmatch(r"Memcpy (\w+) \((.+) -> (.+)\)", name):
        return COPY_KINDS[match[1]] | MEMORY_KINDS[match[2]] << 8 | MEMORY_KINDS[match[3]] << 16
    if match := re.fullmatch(r"Memset \((.+)\)", name):
        return MEMORY_KINDS[match[1]] << 16
    return 0


def events(trace):
    """The spans that are calls or device work, in the trace's order."""
    return [event for event in trace["traceEvents"] if event.get("ph") == "X" and event.get("cat") in TYPES]


def rows_of(trace):
    """Rows as dicts with the names of replay_file.h (times not yet shifted), by their ends; and how many calls are not CUPTI's."""
    rows, foreign = [], 0
    for event in events(trace):
        kind, arguments = TYPES[event["cat"]], event["args"]
        is_call = kind in (RUNTIME_CALL, DRIVER_CALL)
        if is_call and "cbid" not in arguments:
            foreign += 1
            continue
        if not is_call and "device" not in arguments:
            raise Unreadable(f"{event['name']} is on no single device: {arguments}")
        start = nanoseconds(event["ts"])
        try:
            memory = memory_of(event)
        except KeyError as error:
            raise Unreadable(f"{event['name']}: {error} is not known") from error
        rows.append({
            "type": kind, "name": event["name"], "start": start, "end": start + nanoseconds(event["dur"]),
            "correlation": arguments["correlation"],
            # Where a thread has no number of the system's it has an address, cut and with a sign.
            "thread": event["tid"] & 0xffffffff if is_call else 0,
            "callback_id": arguments["cbid"] if is_call else 0,
            "device": arguments.get("device", 0), "context": arguments.get("context", 0), "stream": arguments.get("stream", 0),
            "grid": arguments.get("grid", [0, 0, 0]), "block": arguments.get("block", [0, 0, 0]),
            "registers": arguments.get("registers per thread", 0), "shared_memory": arguments.get("shared memory", 0),
            "graph": arguments.get("graph id", 0), "memory": memory,
            "graph_node": arguments.get("graph node id", 0), "bytes": arguments.get("bytes", 0),
        })
    return sorted(rows, key=lambda row: row["end"]), foreign


def pack(rows):
    names = {}
    first = min((row["start"] for row in rows), default=0)
    packed = b"".join(
        ROW.pack(r["type"], names.setdefault(r["name"], len(names)), r["start"] - first, r["end"] - first, r["correlation"], r["thread"],
                 r["callback_id"], r["device"], r["context"], r["stream"], *r["grid"], *r["block"], r["registers"],
                 r["shared_memory"], r["graph"], r["memory"], r["graph_node"], r["bytes"]) for r in rows)
    texts = b"".join(struct.pack("<I", len(text)) + text for text in (name.encode() for name in names))
    return HEADER.pack(MAGIC, len(names), len(rows)) + texts + packed


def reduced(trace):
    """The trace with the converted events alone, and of those what is read."""
    kept = [{"ph": "X", "cat": e["cat"], "name": e["name"], "tid": e["tid"], "ts": e["ts"], "dur": e["dur"],
             "args": {key: e["args"][key] for key in KEPT_ARGUMENTS if key in e["args"]}} for e in events(trace)]
    devices = [{"id": d["id"], "name": d["name"]} for d in trace.get("deviceProperties", [])[:1]]
    return {"schemaVersion": trace.get("schemaVersion", 1), "deviceProperties": devices, "traceEvents": kept}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reduce", action="store_true")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path)
    options = parser.parse_args()
    try:
        trace = read_json(options.source)
        if options.reduce:
            text = json.dumps(reduced(trace), separators=(",", ":"))
            text = re.sub(r'"(ts|dur)":"([0-9.]+)"', r'"\1":\2', text)
            options.target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
            return 0
        rows, foreign = rows_of(trace)
    except (Unreadable, OSError, ValueError, KeyError) as error:
        print(f"kineto_replay: {options.source}: {error}", file=sys.stderr)
        return 1
    options.target.write_bytes(pack(rows))
    print(f"{len(rows)} rows" + (f"; {foreign} calls of another runtime left out" if foreign else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
