#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Turns a trace of torch.profiler into a recording that the doubles of the GPU stack play again.

    kineto_replay.py IN.json[.gz] OUT.replay
    kineto_replay.py --reduce IN.json[.gz] OUT.json.gz     the same work with nothing beside it, as small as a test wants it

replay_file.h says what is in the recording. Calls of the runtime and the driver, kernels, copies and sets are taken with all that the
trace has of them; calls without CUPTI's callback id (another vendor's runtime) are left out, and spans without an end, and both are told.
Times are taken to the nanosecond: what is written finer (tools that read a trace and write it again make 0.30000000000000004 of 0.3) is
rounded to the nearest. Traces of before PyTorch 1.13 call the categories by other names; both are read.
b200_eager.json.gz, beside this, is a reduced trace for the tests.
"""

import argparse
import decimal
import gzip
import json
import pathlib
import re
import struct
import sys
import zlib

RUNTIME_CALL, DRIVER_CALL, KERNEL, COPY, SET = 1, 2, 3, 4, 5
TYPES = {"cuda_runtime": RUNTIME_CALL, "cuda_driver": DRIVER_CALL, "kernel": KERNEL, "gpu_memcpy": COPY, "gpu_memset": SET,
         "Runtime": RUNTIME_CALL, "Kernel": KERNEL, "Memcpy": COPY, "Memset": SET}

MAGIC = b"gpuplay1"
HEADER = struct.Struct("<8sII")
ROW = struct.Struct("<IIQQ" + "I" * 16 + "QQ")

# CUPTI's numbers for what the trace has as words.
COPY_KINDS = {"HtoD": 1, "DtoH": 2, "HtoA": 3, "AtoH": 4, "AtoA": 5, "AtoD": 6, "DtoA": 7, "DtoD": 8, "HtoH": 9, "PtoP": 10}
PEERS = COPY_KINDS["PtoP"]
# Host: a trace that names the side alone.
MEMORY_KINDS = {"Unknown": 0, "Host": 1, "Pageable": 1, "Pinned": 2, "Device": 3, "Array": 4, "Managed": 5, "Device Static": 6,
                "Managed Static": 7}

KEPT_ARGUMENTS = ("cbid", "correlation", "device", "context", "stream", "grid", "block", "registers per thread", "shared memory",
                  "bytes", "graph id", "graph node id", "fromDevice", "inDevice", "toDevice", "fromContext", "inContext", "toContext")


class Unreadable(Exception):
    pass


def read_json(path):
    path = pathlib.Path(path)
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    # A float has not the digits for an exact time. Names of kernels may be cut amid a character.
    return json.loads(data.decode("utf-8-sig", "replace"), parse_float=decimal.Decimal)


def nanoseconds(microseconds):
    try:
        exact = decimal.Decimal(microseconds) * 1000
        return int(exact.to_integral_value(decimal.ROUND_HALF_EVEN))
    except (decimal.InvalidOperation, OverflowError, ValueError, TypeError) as error:
        raise Unreadable(f"{microseconds!r} is no time in microseconds") from error


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
    everything = trace["traceEvents"] if isinstance(trace, dict) else trace
    if any(event.get("ph") in ("B", "E") and event.get("cat") in TYPES for event in everything):
        raise Unreadable("calls or work by begins and ends (\"B\", \"E\"); only whole spans (\"X\") are read")
    return [event for event in everything if event.get("ph") == "X" and event.get("cat") in TYPES]


def place_of(event):
    """Device, context and stream of work on a device; and of a copy between two devices, of both."""
    arguments = event["args"]
    if "inDevice" in arguments:
        return (arguments["inDevice"], arguments.get("inContext", 0), arguments.get("stream", 0)), \
            ([arguments.get("fromDevice", 0), arguments.get("toDevice", 0), 0], [arguments.get("fromContext", 0), arguments.get("toContext", 0), 0])
    if "device" not in arguments:
        raise Unreadable(f"{event['name']} is on no single device: {arguments}")
    return (arguments["device"], arguments.get("context", 0), arguments.get("stream", 0)), None


def number(value):
    """As CUPTI has it: -1 and addresses that were cut are numbers of 32 bits."""
    return int(value) & 0xffffffff


def thread_of(event):
    """Where a thread has no number of the system's it has an address, cut and with a sign; or a word."""
    tid = event.get("tid", 0)
    digits = re.search(r"-?\d+", str(tid))
    return number(digits[0]) if digits else 0


def sides(values):
    if len(values) != 3:
        raise Unreadable(f"{values} are not the three sides of a grid or block")
    return [number(value) for value in values]


def rows_of(trace):
    """Rows as dicts with the names of replay_file.h (times not yet shifted), by their ends; and how many calls are not CUPTI's."""
    rows, foreign = [], 0
    for event in events(trace):
        kind, arguments = TYPES[event["cat"]], event.get("args", {})
        is_call = kind in (RUNTIME_CALL, DRIVER_CALL)
        if (is_call and "cbid" not in arguments) or "dur" not in event:
            foreign += 1
            continue
        try:
            place, peers = ((0, 0, 0), None) if is_call else place_of(event)
            memory = memory_of(event)
        except KeyError as error:
            raise Unreadable(f"{event['name']}: {error} is not known") from error
        if memory & 0xff == PEERS and peers is None:
            raise Unreadable(f"{event['name']} does not tell between which devices: {arguments}")
        start = nanoseconds(event["ts"])
        grid, block = peers or (arguments.get("grid", [0, 0, 0]), arguments.get("block", [0, 0, 0]))
        rows.append({
            "type": kind, "name": event["name"], "start": start, "end": start + max(nanoseconds(event["dur"]), 0),
            "correlation": number(arguments.get("correlation", 0)),
            "thread": thread_of(event) if is_call else 0,
            "callback_id": number(arguments["cbid"]) if is_call else 0,
            "device": number(place[0]), "context": number(place[1]), "stream": number(place[2]),
            "grid": sides(grid), "block": sides(block),
            "registers": number(arguments.get("registers per thread", 0)), "shared_memory": number(arguments.get("shared memory", 0)),
            "graph": number(arguments.get("graph id", 0)), "memory": memory,
            "graph_node": int(arguments.get("graph node id", 0)) & 2**64 - 1, "bytes": int(arguments.get("bytes", 0)) & 2**64 - 1,
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
    kept = [{"ph": "X", "cat": e["cat"], "name": e["name"], "tid": e.get("tid", 0), "ts": e["ts"], "dur": e["dur"],
             "args": {key: e["args"][key] for key in KEPT_ARGUMENTS if key in e["args"]}} for e in events(trace)]
    trace = trace if isinstance(trace, dict) else {"traceEvents": trace}
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
            text = json.dumps(reduced(trace), separators=(",", ":"), default=str)
            text = re.sub(r'"(ts|dur)":"(-?[0-9.]+)"', r'"\1":\2', text)
            options.target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
            return 0
        rows, foreign = rows_of(trace)
    except (Unreadable, OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        print(f"kineto_replay: {options.source}: {error}", file=sys.stderr)
        return 1
    options.target.write_bytes(pack(rows))
    print(f"{len(rows)} rows" + (f"; {foreign} calls of another runtime or spans without an end left out" if foreign else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
