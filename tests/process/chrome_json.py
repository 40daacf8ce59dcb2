# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Checks a file of Chrome JSON against the form that Kineto writes and that HolisticTraceAnalysis reads."""

import decimal
import gzip
import json
import pathlib
import re

# Members of the top object that gpuprof writes, in Kineto's order.
VERSIONS = ["cuda_driver_version", "cuda_runtime_version", "cupti_version"]
TOP = ["schemaVersion", "deviceProperties", *VERSIONS, "distributedInfo", "host_name", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName"]
# Each category of a slice, with the arguments that it has at least.
NEEDED = {
    "cpu_op": set(),
    "user_annotation": set(),
    "python_function": {"Python id", "Python parent id"},
    "cuda_runtime": {"correlation"},
    "cuda_driver": {"correlation"},
    "kernel": {"queued", "device", "context", "stream"},
    "gpu_memcpy": {"device", "context", "stream"},
    "gpu_memset": {"device", "context", "stream"},
    "cuda_sync": {"cuda_sync_kind", "device", "context", "stream", "correlation"},
    "overhead": set(),
    "Trace": set(),
}
ON_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
METADATA = {"process_name": "name", "process_labels": "labels", "process_sort_index": "sort_index",
            "thread_name": "name", "thread_sort_index": "sort_index"}
MEMCPY = re.compile(r"Memcpy (HtoD|DtoH|HtoA|AtoH|AtoA|AtoD|DtoA|DtoD|HtoH|PtoP|unknown) \(([\w ]+) -> ([\w ]+)\)")
MEMSET = re.compile(r"Memset \([\w ]+\)")
WAITS = {"Stream Sync", "Context Sync", "Event Sync", "Stream Wait Event"}


def text_of(path):
    data = pathlib.Path(path).read_bytes()
    return (gzip.decompress(data) if str(path).endswith(".gz") else data).decode("utf-8")


class ChromeJson:
    """The events of a file. Times are whole nanoseconds since the epoch."""

    def __init__(self, path):
        self.text = text_of(path)
        self.top = json.loads(self.text, parse_float=decimal.Decimal)
        self.base = self.top.get("baseTimeNanoseconds", 0)
        self.events = self.top["traceEvents"]

    def of(self, *categories):
        return [e for e in self.events if e.get("cat") in categories and e["ph"] == "X"]

    def ns(self, event, key):
        time = event[key] * 1000
        assert time == int(time), f"finer than a nanosecond: {event}"
        return int(time)

    def span(self, event):
        start = self.base + self.ns(event, "ts")
        return start, start + self.ns(event, "dur")

    def arrows(self, phase, category=None):
        return [e for e in self.events if e["ph"] == phase and category in (None, e.get("cat"))]


def check(path, is_imported=False):
    """Asserts the form. Returns the file. An imported file may link rows to operations that it does not hold."""
    found = ChromeJson(path)
    check_top(found)
    for event in found.events:
        check_event(found, event)
    check_arrows(found)
    check_backward_arrows(found)
    if not is_imported:
        check_links(found)
    return found


def check_top(found):
    keys = list(found.top)
    assert keys == [key for key in TOP if key in keys], keys
    assert set(TOP) - set(keys) <= {"distributedInfo", "host_name", *VERSIONS}
    # CUPTI counts its versions from 1: 22 with CUDA 12.4.
    assert all(found.top[key] > (0 if key == "cupti_version" else 9000) for key in VERSIONS if key in keys)
    assert (found.top["schemaVersion"], found.top["displayTimeUnit"]) == (1, "ms")
    ranks = [line for line in found.text.splitlines() if '"rank"' in line]
    if "distributedInfo" in keys:
        assert ranks and re.search(r'"rank":\s+(\d+)', ranks[0])
        assert found.text.index(ranks[0]) < found.text.index('"traceEvents"')
    for device in found.top["deviceProperties"]:
        assert list(device)[:2] == ["id", "name"]


def check_time(text):
    assert re.fullmatch(r"\d+\.\d{3}", text), text


def check_event(found, event):
    phase = event["ph"]
    assert phase in "XMisfCbe", event
    assert {"pid", "tid", "name", "ts"} <= set(event), event
    check_time(str(event["ts"]))
    if phase == "X":
        check_slice(event)
    elif phase == "M":
        assert METADATA[event["name"]] in event["args"], event
    elif phase == "i":
        assert event["s"] == "t" and event["cat"] == "cpu_instant_event"
    elif phase in "sf":
        assert event["cat"] == event["name"] and event["cat"] in ("ac2g", "fwdbwd") and isinstance(event["id"], int)
        assert (phase == "f") == (event.get("bp") == "e")


def check_slice(event):
    category, arguments = event["cat"], event.get("args", {})
    check_time(str(event["dur"]))
    assert NEEDED[category] <= set(arguments), event
    # HolisticTraceAnalysis takes an event with a stream for work of a device.
    assert ("stream" in arguments and category != "cpu_op") == (category in ON_DEVICE | {"cuda_sync"}), event
    if category in ON_DEVICE:
        assert isinstance(arguments["stream"], int) and event["tid"] == arguments["stream"]
        assert str(event["pid"]).split()[-1] == str(arguments["device"])
    if category == "gpu_memcpy":
        assert MEMCPY.fullmatch(event["name"]), event
    if category == "gpu_memset":
        assert MEMSET.fullmatch(event["name"]), event
    if category == "cuda_sync":
        assert event["name"] == arguments["cuda_sync_kind"] and event["name"] in WAITS
    if "grid" in arguments:
        assert len(arguments["grid"]) == len(arguments["block"]) == 3


def check_arrows(found):
    """Each arrow goes from a call to work of a device. Only calls and work have correlations."""
    with_correlation = {e["cat"] for e in found.events if "correlation" in e.get("args", {})}
    assert with_correlation <= {"cuda_runtime", "cuda_driver", "cuda_sync", *ON_DEVICE}
    begins = {}
    for arrow in found.arrows("s", "ac2g"):
        assert arrow["id"] not in begins, "two arrows begin with one id"
        begins[arrow["id"]] = arrow
    ends = found.arrows("f", "ac2g")
    assert {arrow["id"] for arrow in ends} == set(begins)
    calls = {(str(e["pid"]), e["tid"], e["ts"]) for e in found.of("cuda_runtime", "cuda_driver")}
    assert all((str(a["pid"]), a["tid"], a["ts"]) in calls for a in begins.values())
    work = {(str(e["pid"]), e["tid"], e["ts"]) for e in found.of(*ON_DEVICE)}
    assert all((str(a["pid"]), a["tid"], a["ts"]) in work for a in ends)


def check_backward_arrows(found):
    """Each arrow goes from one operation to one of the backward pass, which has the same number."""
    operations = {}
    for event in found.of("cpu_op"):
        sequence = event.get("args", {}).get("Sequence number")
        if sequence is not None:
            operations.setdefault((str(event["pid"]), event["tid"], event["ts"]), set()).add((sequence, event["args"]["Fwd thread id"] != 0))
    begins, ends = ({arrow["id"]: arrow for arrow in found.arrows(phase, "fwdbwd")} for phase in "sf")
    assert len(found.arrows("s", "fwdbwd")) == len(begins) and len(found.arrows("f", "fwdbwd")) == len(ends)
    assert set(begins) == set(ends)
    for number, begin in begins.items():
        forward, backward = (operations[str(e["pid"]), e["tid"], e["ts"]] for e in (begin, ends[number]))
        assert any((sequence, False) in forward for sequence, is_backward in backward if is_backward)


def check_links(found):
    """Each link names an operation."""
    operations = {e["args"]["External id"] for e in found.of("cpu_op") if "External id" in e.get("args", {})}
    for event in found.of("cuda_runtime", "cuda_driver", *ON_DEVICE):
        link = event["args"].get("External id")
        assert link is None or link in operations, event
