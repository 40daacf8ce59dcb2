# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Where gpuprof's own passes differ from XProf's pages: docs/differences-from-xprof.md.

Each difference is a small XSpace, a figure of XProf's page, and gpuprof's own figure of the same thing. The page has the table of
all figures. GPUPROF_UPDATE_GOLDEN=1 writes it anew."""

import dataclasses
import json
import os
import re
from typing import Callable

import pytest

from conftest import ROOT, gpuprof
from test_xprof_format import PAGES, differences, needs_xprof, page, reference
from xprof_spaces import PlaneBuilder, space

DOCUMENT = ROOT / "docs" / "differences-from-xprof.md"
BEGIN, END = "<!-- figures: tests/process/test_xprof_differences.py -->\n", "<!-- end of figures -->\n"
US = 1_000_000  # picoseconds


def stats(name, source):
    done = gpuprof("stats", *name.split(), "--json", source)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def cells(document, table, column):
    chosen = document if table is None else document[table]
    place = [each["id"] for each in chosen["cols"]].index(column)
    return [row["c"][place]["v"] for row in chosen["rows"]]


def step_with(*work, host=(), gpus=1):
    """A step of 100 us whose launches begin the work, which is (name, begin us, length us, stats) with a GPU as fifth."""
    plane = PlaneBuilder("/host:CPU", 9)
    launches = [("launch", (2 + i) * US, US // 2, {"correlation_id": i + 1}) for i in range(len(work))]
    plane.line(1, "main", sorted([("train", 1 * US, 100 * US, {"_r": 1, "step_num": 1}), *launches, *host], key=lambda each: each[1]))
    planes = [PlaneBuilder(f"/device:GPU:{i}", i + 1, {"device_vendor": "Nvidia", "compute_cap_major": 9}) for i in range(gpus)]
    for number, device in enumerate(planes):
        for i, (name, begin, length, stats_, *place) in enumerate(work):
            if (place[0] if place else 0) == number:
                details = {} if name.startswith("Memcpy") else {"kernel_details": "regs:32 grid:1,1,1 block:32,1,1"}
                device.line(10 + i, f"Stream #{10 + i}", [(name, begin * US, length * US, {"correlation_id": i + 1, **details, **stats_})])
    return [space([*planes, plane], "host0")]


def device_share(source, category, device=0):
    """How much time of the step is of a category, of a device."""
    series = next(each for each in stats("steps", source)["device_series"] if each["device"] == device and each["window"] != "device")
    found = [each["total_ns"] for each in series["categories"] if each["category"] == category]
    return f"{sum(found) / 1000:g} µs"


def step_cell(column):
    return lambda pages: f"{cells(pages['overview_page'], 1, column)[0] * 1000:g} µs"


@dataclasses.dataclass
class Difference:
    number: int
    figure: str
    files: list
    xprof: Callable
    gpuprof: Callable


def gpu_idle(source):
    device = stats("streams", source)["devices"][0]
    return f"{(device['window_ns'] - device['busy_ns']) / 1000:g} µs"


def op_rows(pages):
    """Time and count of each operation, by where it ran and by its name."""
    table = pages["framework_op_stats"][0]
    rows = zip(*(cells(table, None, column) for column in ("host_or_device", "operation", "total_time", "occurrences")))
    return {(where, name): (time, count) for where, name, time, count in rows}


def host_time(source, *names):
    (series,) = stats("steps", source)["series"]
    return f"{sum(each['total_ns'] for each in series['categories'] if each['name'] in names) / 1000:g} µs"


def op_count(source, name):
    return str(sum(row["count"] for row in stats("ops", source)["ops"] if row["name"].partition(":")[0] == name))


def without_mark():
    plane = PlaneBuilder("/host:CPU", 9)
    plane.line(1, "main", [("launch", 2 * US, US, {"correlation_id": 1})])
    device = PlaneBuilder("/device:GPU:0", 1)
    device.line(10, "Stream #10", [("k", 5 * US, 40 * US, {"correlation_id": 1, "kernel_details": "regs:1"})])
    return [space([device, plane])]


def two_hosts():
    made = []
    for host in range(2):
        events = []
        for i in range(3):
            events += [("train", (1 + 100 * i) * US, (50 + 40 * host) * US, {"_r": 1, "step_num": i}),
                       ("launch", (2 + 100 * i) * US, US, {"correlation_id": i + 1})]
        plane = PlaneBuilder("/host:CPU", 9)
        plane.line(1, "main", events)
        device = PlaneBuilder("/device:GPU:0", 1)
        device.line(10, "Stream #10", [("k", (5 + 100 * i) * US, (20 + 20 * host) * US,
                                        {"correlation_id": i + 1, "kernel_details": "regs:1"}) for i in range(3)])
        made.append(space([device, plane], f"host{host}"))
    return made


def ops_that_end_together():
    plane = PlaneBuilder("/host:CPU", 9)
    plane.line(1, "main", [("a/Outer:Outer", 1 * US, 50 * US, {}), ("a/Inner:Inner", 11 * US, 40 * US, {})])
    return [space([plane])]


DIFFERENCES = [
    Difference(1, "computing in a step whose only work is `MemcpyH2D` of 10 µs", step_with(("MemcpyH2D", 20, 10, {"memcpy_details": "size:64"})),
               step_cell("deviceComputeTimeMs"), lambda source: device_share(source, "compute_unknown")),
    Difference(2, "part of the computing on 16 bits, of a kernel `ampere_bf16_s16816gemm_bf16_128x128`",
               step_with(("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn", 20, 10, {})),
               lambda pages: pages["overview_page"][0]["p"]["device_compute_16bit_percent"],
               lambda source: "100.0%" if device_share(source, "compute_bf16") == "10 µs" else "0.0%"),
    Difference(3, "does `nvjet_hsh_128x128_64x6_1x2_h_bz_NNT` use tensor cores",
               step_with(("nvjet_hsh_128x128_64x6_1x2_h_bz_NNT", 20, 10, {})),
               lambda pages: "yes" if cells(pages["kernel_stats"], None, "is_kernel_using_tensor_core")[0] else "no",
               lambda source: stats("kernels", source)["kernels"][0]["tensor_cores"]),
    Difference(4, "work of operations, of a kernel that no annotation names", step_with(("my_kernel", 20, 10, {})),
               lambda pages: f"{sum(row[0] for key, row in op_rows(pages).items() if key[0] == 'Device' and key[1] != 'IDLE'):g} µs",
               lambda source: f"{stats('kernels', source)['total_ns'] / 1000:g} µs"),
    Difference(5, "work of the host in a step that works on the host until 90 µs", step_with(("k", 20, 10, {}), host=[("prepare", 30 * US, 60 * US, {})]),
               step_cell("hostComputeTimeMs"), lambda source: host_time(source, "forward")),
    Difference(6, "idle time of a GPU that two streams share: 0–40 and 20–60 µs, then 80–100 µs",
               step_with(*((name, begin, length, {"tf_op": "a/b:C"}) for name, begin, length in (("x", 10, 40), ("y", 30, 40), ("z", 90, 20)))),
               lambda pages: f"{op_rows(pages)['Device', 'IDLE'][0]:g} µs", gpu_idle),
    Difference(7, "computing in a step in which GPU 0 works for 20 µs and GPU 1 for 60 µs",
               step_with(("x", 10, 10, {}, 0), ("x", 80, 10, {}, 0), ("y", 20, 60, {}, 1), gpus=2),
               step_cell("deviceComputeTimeMs"),
               lambda source: " and ".join(device_share(source, "compute_unknown", device) for device in (0, 1))),
    Difference(8, "busy time of a GPU without a mark of a step", without_mark(),
               lambda pages: f"{len(pages['overview_page'][1]['rows'])} steps, no breakdown",
               lambda source: f"{stats('steps', source)['device_series'][0]['busy_ns'] / 1000:g} µs"),
    Difference(9, "steps of two hosts with three steps each", two_hosts(),
               lambda pages: str(len(pages["overview_page"][1]["rows"])),
               lambda source: str(sum(each["count"] for each in stats("steps", source)["series"]))),
    Difference(10, "spread of the input's time, of one step without input", step_with(("k", 20, 10, {})),
               lambda pages: pages["overview_page"][1]["p"]["infeed_time_ms_sdv"] + " ms",
               lambda source: f"{stats('steps', source)['series'][0]['stddev_ns'] / 1e6:g} ms"),
    Difference(11, "runs of an operation that ends with the operation around", ops_that_end_together(),
               lambda pages: f"{op_rows(pages).get(('Host', 'a/Inner'), (0, 0))[1]:g}",
               lambda source: op_count(source, "a/Inner")),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The run of each difference, and XProf's pages of it."""
    folder = tmp_path_factory.mktemp("differences")
    made, copied = {}, []
    for each in DIFFERENCES:
        for place in ("run", "copy"):
            path = folder / place / str(each.number)
            path.mkdir(parents=True)
            for host, data in enumerate(each.files):
                (path / f"host{host}.xplane.pb").write_bytes(data)
        made[each.number] = folder / "run" / str(each.number)
        copied.append(sorted((folder / "copy" / str(each.number)).iterdir()))
    pages = [{tool: json.loads(text) for tool, text in found.items()} for found in reference(copied)]
    return {number: (source, found) for (number, source), found in zip(made.items(), pages)}


def own_pages(source):
    return {tool: json.loads(page(name, source)[0]) for name, tool in PAGES.items()}


@needs_xprof
@pytest.mark.parametrize("each", DIFFERENCES, ids=lambda each: str(each.number))
def test_the_figures_differ_and_the_pages_do_not(runs, each):
    source, theirs = runs[each.number]
    assert not list(differences(own_pages(source), theirs))
    assert each.xprof(own_pages(source)) == each.xprof(theirs)
    assert each.gpuprof(source) != each.xprof(theirs)


@needs_xprof
def test_the_table_of_the_page_is_that_of_the_runs(runs):
    rows = ["| | figure | XProf 2.24.0 | `--format=xprof` | gpuprof |", "|---|---|---|---|---|"]
    for each in DIFFERENCES:
        source, theirs = runs[each.number]
        rows.append(f"| {each.number} | {each.figure} | {each.xprof(theirs)} | {each.xprof(own_pages(source))} | {each.gpuprof(source)} |")
    text = DOCUMENT.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    committed, _, tail = rest.partition(END)
    wanted = "\n".join(rows) + "\n"
    if os.environ.get("GPUPROF_UPDATE_GOLDEN"):
        DOCUMENT.write_text(head + BEGIN + wanted + END + tail, encoding="utf-8")
        committed = wanted
    assert committed == wanted, "GPUPROF_UPDATE_GOLDEN=1 writes the table anew"


def test_each_difference_is_explained():
    """The page has a numbered paragraph for each row of the table, and no other."""
    numbers = [int(found) for found in re.findall(r"^(\d+)\. \*\*", DOCUMENT.read_text(encoding="utf-8"), re.M)]
    assert numbers == [each.number for each in DIFFERENCES]
