# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""`gpuprof report`: one page that opens anywhere and shows what `gpuprof stats` prints."""

import base64
import csv
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import GPUPROF, ROOT, assert_quiet, build_dir, clean_env, gpuprof, missing, probe, stats, write_report
from waiting import LIMIT_S

H200 = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch"
TRACES = ROOT / "tests" / "golden" / "traces" / "v1"
KINETO = ROOT / "tests" / "golden" / "kineto" / "h200_streams.json.gz"

needs_page = pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing")

# The entries of the rail of a program that used a GPU, and the pages that are tabs of three of them.
ENTRIES = ["overview", "timeline", "steps", "input_pipeline", "ops", "kernels", "roofline", "idle", "memory_profile", "stacks", "threads", "query", "device_memory"]
TABS = ["streams", "overlap", "memcpy", "graphs", "api", "sync", "critical_path", "counters", "locks", "files", "ranges", "processes", "unified_memory",
        "overhead", "python", "pods", "flight_recorder", "tf_data", "memory", "op_profile", "serving", "memory_viewer", "graph_viewer"]
PAGES = [*ENTRIES, *TABS, "health"]


def test_a_run_ends_with_a_report_beside_its_bundle(tmp_path):
    """The status is the command's, whatever the report needs."""
    code = "kept = [bytearray(1000) for _ in range(2000)]; raise SystemExit(3)"
    done = gpuprof("run", "--report", "-o", "made", "--", sys.executable, "-c", code, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    if missing():
        assert b"built without its page" in done.stderr
        pytest.skip(missing())
    assert b"made.html; it opens in a browser" in done.stderr
    seen = probe(tmp_path / "made.html", tmp_path)
    assert_quiet(seen)


def test_a_run_without_a_record_has_no_report(tmp_path):
    done = gpuprof("run", "--report", "-o", "made", "--capture=off", "--", "true", cwd=tmp_path)
    assert done.returncode == 0 and not (tmp_path / "made.html").exists()


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def duration(ns):
    """A duration as the page writes it: three significant digits."""
    if ns == 0:
        return "0"
    for limit, scale, unit in ((999.5e6, 1e9, "s"), (999.5e3, 1e6, "ms"), (999.5, 1e3, "µs")):
        if ns >= limit:
            value = ns / scale
            digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
            return f"{value:,.{digits}f}\u202f{unit}"
    return f"{round(ns)}\u202fns"


def blocks(page, kind):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf'<script type="text/plain" class="gpuprof-{kind}"([^>]*)>([^<]*)</script>', text)


def manifest(page):
    found = re.search(r'id="gpuprof-manifest">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
    return json.loads(found[1])


@needs_page
def test_a_report_shows_the_licences_of_what_it_contains(tmp_path):
    page = write_report(H200 / "language_model", tmp_path)
    seen = probe(page, tmp_path, "text:licences")
    assert_quiet(seen)
    shown = " ".join(seen["text"]["licences"].split())
    found = json.loads((build_dir() / "viewer" / "notices.json").read_text(encoding="utf-8"))
    assert {"preact", "uplot"} <= {package["name"] for package in found}
    for package in found:
        assert f"{package['name']} ({package['licence']})" in shown
        assert " ".join(package["text"].split()) in shown


@needs_page
def test_a_gpu_bundle_shows_the_figures_of_stats(tmp_path):
    bundle = H200 / "language_model"
    page = write_report(bundle, tmp_path)
    seen = probe(page, tmp_path, "text:overview", "csv:ops", "csv:kernels", "csv:kernels?by=signature", "text:kernels")
    assert_quiet(seen)

    ops = stats("ops", bundle, cwd=tmp_path)["ops"]
    shown = rows_of(seen["csv"]["ops"])
    assert len(shown) == len(ops) > 0
    assert sorted(float(row["self, ms"]) for row in shown) == sorted(op["self_ns"] / 1e6 for op in ops)
    assert sorted(int(row["count"]) for row in shown) == sorted(op["count"] for op in ops)

    for name, options in (("kernels", ()), ("kernels?by=signature", ("--by", "signature"))):
        kernels = stats("kernels", bundle, *options, cwd=tmp_path)["kernels"]
        shown = rows_of(seen["csv"][name])
        assert len(shown) == len(kernels) > 0
        assert [float(row["total, ms"]) for row in shown] == sorted((k["total_ns"] / 1e6 for k in kernels), reverse=True)
        assert sorted(int(row["count"]) for row in shown) == sorted(k["count"] for k in kernels)

    overview = stats("overview", bundle, cwd=tmp_path)
    text = seen["text"]["overview"]
    assert f"{overview['gpu']['kernel_count']:,}" in text
    # The sentence and the red figure are the verdict's cost of its step. All shares are of that step.
    verdict = overview["verdict"]
    assert verdict["window"] == "period"
    cost = verdict["bound_ratio"] * verdict["step_ns"]
    assert duration(cost).split("\u202f")[0] + f" of {duration(verdict['step_ns'])} of each step" in text.splitlines()[0]
    assert duration(cost) in text and f"{verdict['bound_ratio'] * 100:.1f}\u202f% of the step" in text
    [period] = [series for series in overview["device_series"] if series["window"] == "period"]
    assert f"{period['busy_ratio'] * 100:.1f}\u202f%" in text
    assert duration(overview["step"]["median_ns"]) in text
    for finding in overview["findings"][:3]:
        assert finding["name"] in text
        assert finding["fix"][0].replace("`", "") in text
    # Findings come before the figures, and the figures before the parts of the step.
    order = [text.index(words) for words in (overview["findings"][0]["name"], "GPU busy", "Where the step went", "Top kernels", "Top operations")]
    assert order == sorted(order)


# Pages that begin with another table than the main one of their pass, or leave rows out.
OTHER_TABLES = {"overview", "pods", "communication", "stragglers", "heap", "memory_profile", "device_memory", "critical_path", "idle", "counters", "steps", "health", "unified_memory", "overhead", "serving", "memory_viewer", "graph_viewer", "flight_recorder"}


def tables():
    """The passes whose page begins with their main table: its rows, and its columns by key, from `gpuprof schema`."""
    done = gpuprof("schema", "--json", cwd=ROOT)
    found = {}
    for each in json.loads(done.stdout)["results"]["passes"]:
        mains = [table for table in each["tables"] if table["rows"] == each["main_table"]]
        if mains and each["name"] not in OTHER_TABLES:
            found[each["name"]] = mains
    assert len(found) >= 12 and all(name in PAGES for name in found), found
    return found


def figures_of(table, by):
    """The columns of figures that belong to a key: header, column."""
    for column in table["columns"]:
        is_of = (not column["only_by"] or by in column["only_by"]) and by not in column["except_by"]
        is_figure = column["divisor"] or column["format"] in ("percent", "number")
        if is_of and is_figure and not column["computed"] and column["page"] != "absent":
            yield column["title"] + (f", {column['unit']}" if column["unit"] else ""), column


def figure_in(row, column):
    """A figure as the page has it; -1: it was not measured."""
    value = row[column["field"]]
    if value is None or (column["needs"] and not row[column["needs"]]):
        return -1
    return value / (row[column["share_of"]] if column["share_of"] else column["divisor"] or 1)


@needs_page
@pytest.mark.parametrize("source", [H200 / "language_model", TRACES / "graphs.gpt", TRACES / "gpu.gpt", TRACES / "files.gpt", KINETO],
                         ids=lambda path: path.name)
def test_pages_of_one_pass_show_the_figures_of_stats(tmp_path, source):
    """Every row and every figure of the tables, by each key that the page holds, under the titles of the schema."""
    page = write_report(source, tmp_path)
    described = tables()
    expected, others = {}, {}
    for name in manifest(page)["passes"]:
        key, _, by = name.partition(":")
        if key in described:
            result = stats(key, source, *(("--by", by) if by else ()), cwd=tmp_path)
            by_key = result.get("by", "")
            [table] = [each for each in described[key] if not each["only_by"] or by_key in each["only_by"]]
            if result[table["rows"]]:
                expected[key + (f"?by={by}" if by else "")] = (result[table["rows"]], by_key, table)
            elif key == "python":
                others[key] = [row["name"] for row in result["calls"]]
    empty = [key for key in described if key not in expected]
    seen = probe(page, tmp_path, *[f"csv:{name}" for name in expected], *[f"text:{name}" for name in empty])
    assert_quiet(seen)
    assert expected
    for name, (rows, by, table) in expected.items():
        shown = rows_of(seen["csv"][name])
        assert len(shown) == len(rows), name
        compared = 0
        for title, column in figures_of(table, by):
            figures = sorted(figure_in(row, column) for row in rows)
            if title not in shown[0]:
                is_left_out = column["page"] != "shown" or column["shown"] != "always" or column["format"] == "process"
                assert is_left_out or set(figures) == {-1}, (name, title)
                continue
            assert sorted(float(row[title] or -1) for row in shown) == pytest.approx(figures), (name, title)
            compared += 1
        assert compared >= 2, name
    for key in empty:
        # Calls that were traced stand there without samples, too.
        if others.get(key):
            assert any(name in seen["text"][key] for name in others[key]), key
            continue
        assert re.search("No .* (recorded|found)|: nothing was recorded|No CUDA graphs were launched|This recording has no ", seen["text"][key]), key


@needs_page
@pytest.mark.parametrize("source, name", [(TRACES / "pools.gpt", "device_memory"), (TRACES / "managed.gpt", "unified_memory"), (TRACES / "gpu.gpt", "overhead")],
                         ids=["device_memory", "unified_memory", "overhead"])
def test_a_pass_without_a_page_has_a_page_of_its_tables(tmp_path, source, name):
    """Its titles, units and rows are those of the schema and of stats."""
    done = gpuprof("schema", "--json", cwd=ROOT)
    [entry] = [each for each in json.loads(done.stdout)["results"]["passes"] if each["name"] == name]
    table = entry["tables"][0]
    result = stats(name, source, cwd=tmp_path)
    rows = result[table["rows"]]
    assert rows, "the trace has nothing to show"
    seen = probe(write_report(source, tmp_path), tmp_path, f"csv:{name}", f"text:{name}")
    assert_quiet(seen)
    shown = rows_of(seen["csv"][name])
    assert len(shown) == len(rows)
    compared = 0
    for title, column in figures_of(table, result["by"]):
        if title in shown[0]:
            figures = sorted(figure_in(row, column) for row in rows)
            assert sorted(float(row[title] or -1) for row in shown) == pytest.approx(figures), title
            compared += 1
    assert compared >= 2
    assert entry["summary"] in seen["text"][name]
    for other in entry["tables"][1:]:
        assert not result[other["rows"]] or other["title"] in seen["text"][name], other["rows"]


@needs_page
def test_key_figures_of_copies_calls_and_waits(tmp_path):
    bundle = H200 / "language_model"
    seen = probe(write_report(bundle, tmp_path), tmp_path, "text:memcpy", "text:api", "text:sync", "text:overlap", "text:graphs", "text:files")
    assert_quiet(seen)
    text = seen["text"]
    memcpy, api, sync = (stats(name, bundle, cwd=tmp_path) for name in ("memcpy", "api", "sync"))
    for figure in (duration(memcpy["total_ns"]), duration(memcpy["exposed_ns"]), f"{memcpy['total_bytes'] / memcpy['total_ns']:.2f}\u202fGB/s"):
        assert figure in text["memcpy"]
    pageable = [row for row in memcpy["copies"] if row["name"] in ("HtoD", "DtoH")]
    of_host = sum(row["total_bytes"] for row in pageable)
    slow = sum(row["total_bytes"] for row in pageable if "pageable" in (row["source"], row["destination"]))
    assert f"{100 * slow / of_host:.1f}\u202f%" in text["memcpy"]
    for figure in (f"{api['count']:,}", duration(api["total_ns"]), duration(max(call["max_ns"] for call in api["calls"]))):
        assert figure in text["api"]
    for figure in (duration(sync["host_ns"]), duration(sync["host_max_ns"])):
        assert figure in text["sync"]
    device = stats("overlap", bundle, cwd=tmp_path)["devices"][0]
    for figure in (duration(device["busy_ns"]), duration(device["exposed_copy_ns"]), duration(device["window_ns"])):
        assert figure in text["overlap"]
    # No graph was launched, which a recording without an option says; reads of files need an option.
    assert "launched none" in text["graphs"] and "gpuprof run" not in text["graphs"]
    assert "--trace files" in text["files"]


@needs_page
def test_a_finding_leads_to_its_place(tmp_path):
    """A click on a finding, or on the longest of a row, shows the place in the timeline and selects the event."""
    bundle = H200 / "images"
    finding = next(each for each in stats("overview", bundle, cwd=tmp_path)["findings"] if each["place"])
    place = finding["place"]
    assert finding["id"] == "IN-001" and place["kind"] == "longest_wait"
    call = max(stats("api", bundle, cwd=tmp_path)["calls"], key=lambda each: each["total_ns"])
    seen = probe(write_report(bundle, tmp_path), tmp_path, "follow:Show in trace viewer", "address:event=", "read:place",
                 "text:api", f"follow:{call['max_ns'] / 1e3:,.1f}", "address:event=", "read:call")
    assert_quiet(seen)
    assert "DataLoader" in seen["text"]["place"].split("Where it comes from")[-1]
    assert call["name"] in seen["text"]["call"]
    for address, begin, end in ((seen["addresses"][0], place["start_ns"], place["end_ns"]),
                                (seen["addresses"][1], call["max_start_ns"], call["max_start_ns"] + call["max_ns"])):
        assert f"sel={begin},{end}" in address
        view = [int(time) for time in re.search(r"v=(\d+),(\d+)", address).groups()]
        assert view[0] < begin < end < view[1] and view[1] - view[0] < 3 * (end - begin)


@needs_page
def test_memory_at_the_peak(tmp_path):
    """The bar and the figures of tensors are those of the heap's result."""
    bundle = H200 / "language_model"
    heap = stats("heap", bundle, cwd=tmp_path)
    seen = probe(write_report(bundle, tmp_path), tmp_path, "text:memory")
    assert_quiet(seen)
    tensor = max(heap["tensors"], key=lambda each: each["peak_bytes"])
    assert f"Tensors on {tensor['name']}" in seen["text"]["memory"]
    assert f"{tensor['reserved_peak_bytes'] / (1 << 30):.2f}\u202fGiB" in seen["text"]["memory"]
    largest = max((op for op in heap["tensor_ops"] if op["device"] == tensor["name"]), key=lambda op: op["peak_bytes"])
    assert largest["name"].removeprefix("aten::") in seen["text"]["memory"]
    history = next(each for each in heap["tensor_histories"] if each["device"] == tensor["name"] and each["pid"] == tensor["pid"])
    assert max(history["live_bytes"]) == tensor["peak_bytes"] and len(history["time_ns"]) <= 480
    for at, live in enumerate(history["live_bytes"]):
        assert sum(owner["live_bytes"][at] for owner in history["owners"]) == live
    assert history["owners"][0]["name"].removeprefix("aten::") in seen["text"]["memory"]


@needs_page
def test_a_table_of_many_rows_holds_those_in_view(tmp_path):
    bundle = H200 / "language_model"
    last = len(stats("heap", bundle, cwd=tmp_path)["stacks"]) - 1
    assert last > 1000
    seen = probe(write_report(bundle, tmp_path), tmp_path, "rows:memory")
    assert_quiet(seen)
    assert [step["row"] for step in seen["rows"]["memory"]] == [last, last - 20, 0, 20, 21]
    assert all(step["isSeen"] and step["held"] < 60 for step in seen["rows"]["memory"])


@needs_page
def test_calls_of_python_in_the_order_of_time(tmp_path):
    """The flame graph by time is of the events: it zooms by keys, and leads to the timeline."""
    page = write_report(KINETO, tmp_path)
    seen = probe(page, tmp_path, "text:stacks?by=python", "press:By time", "wait:in the order of time", "press:real.py(68): step, 3.29 ms",
                 "wait:3.29 ms from", "read:zoomed", "inspect:by time", "press:All calls", "read:all", "text:timeline")
    assert_quiet(seen)
    assert "All calls" in seen["text"]["zoomed"] and "All calls" not in seen["text"]["all"]
    assert {name: faults for name, faults in seen["axe"].items() if faults} == {}


@needs_page
def test_a_recording_of_a_program(tmp_path):
    """A bundle recorded here: no GPU, so its pages say what was not recorded."""
    program = "import threading, time\nlock = threading.Lock()\nx = [bytes(1 << 20) for _ in range(64)]\ntime.sleep(0.1)"
    bundle = tmp_path / "run1"
    ran = subprocess.run([GPUPROF, "run", "-o", bundle, "--trace", "heap=exact,locks,threads", "--", sys.executable, "-c", program],
                         cwd=tmp_path, env=clean_env(), capture_output=True, timeout=LIMIT_S)
    assert ran.returncode == 0, ran.stderr
    page = write_report(bundle, tmp_path)
    seen = probe(page, tmp_path, "text:kernels", "text:memory", "csv:processes", "text:health")
    assert_quiet(seen)
    assert "No GPU work was recorded" in seen["text"]["kernels"]
    heap = stats("heap", bundle, cwd=tmp_path)["processes"][0]
    assert heap["peak_bytes"] > 64 << 20
    assert f"{heap['peak_bytes'] / (1 << 20):.1f}\u202fMiB" in seen["text"]["memory"]
    assert rows_of(seen["csv"]["processes"])[0]["pid"] == str(heap["pid"])
    assert "Not in this recording" in seen["text"]["health"]


@needs_page
def test_reads_of_files(tmp_path):
    """Which files a program read, by file; its largest is on top."""
    (tmp_path / "large.bin").write_bytes(bytes(3 << 20))
    program = "for name in ('large.bin', 'program.py'):\n    with open(name, 'rb') as file:\n        while file.read(1 << 16): pass\n"
    (tmp_path / "program.py").write_text(program)
    bundle = tmp_path / "run1"
    ran = subprocess.run([GPUPROF, "run", "-o", bundle, "--trace", "files", "--", sys.executable, "program.py"],
                         cwd=tmp_path, env=clean_env(), capture_output=True, timeout=LIMIT_S)
    assert ran.returncode == 0, ran.stderr
    page = write_report(bundle, tmp_path)
    seen = probe(page, tmp_path, "csv:files", "text:files")
    assert_quiet(seen)
    result = stats("files", bundle, cwd=tmp_path)
    rows = rows_of(seen["csv"]["files"])
    assert len(rows) == len(result["files"])
    read = [row for row in rows if row["file"].endswith("large.bin")]
    assert len(read) == 1 and float(read[0]["bytes, MiB"]) == 3
    assert f"of {result['file_count']} files" in seen["text"]["files"]


@needs_page
def test_pages_follow_a_range_of_the_timeline(tmp_path):
    """A range of the page is that of `stats --window`, to the last nanosecond: the page computes it by itself."""
    bundle = H200 / "images"
    page = write_report(bundle, tmp_path)
    meta = stats("streams", bundle, cwd=tmp_path)["meta"]
    begin, end = meta["window_start_ns"], meta["window_end_ns"] + 1
    middle = begin + (end - begin) * 9 // 10
    counts = []
    for part in ((begin, end), (begin, middle), (middle, end)):
        window = f"--window={part[0]}ns-{part[1]}ns"
        seen = probe(page, tmp_path, "narrow:%d,%d" % part, "csv:kernels", "csv:api", "csv:idle", "text:files", "text:steps", "whole", "text:kernels")
        assert_quiet(seen)
        assert "This page is of the whole run" in seen["text"]["steps"]
        assert "This page is of what began in a range" in seen["text"]["files"]
        assert "This page is" not in seen["text"]["kernels"]
        kernels, api, idle = (rows_of(seen["csv"][name]) for name in ("kernels", "api", "idle"))
        told = stats("kernels", bundle, window, cwd=tmp_path)["kernels"]
        assert sum(int(row["count"]) for row in kernels) == sum(row["count"] for row in told)
        assert sum(float(row["total, ms"]) for row in kernels) == pytest.approx(sum(row["total_ns"] for row in told) / 1e6, abs=1e-6)
        assert sum(float(row["total, ms"]) for row in api) == pytest.approx(stats("api", bundle, window, cwd=tmp_path)["total_ns"] / 1e6)
        assert len(idle) == len(stats("idle", bundle, window, cwd=tmp_path)["gaps"])
        counts.append(sum(int(row["count"]) for row in kernels))
    assert counts[0] == counts[1] + counts[2] and min(counts) > 0


@needs_page
@pytest.mark.parametrize("name", ["tpu_inference", "cpu/tensorflow_steps", "cpu/jax_steps"])
def test_reports_of_xspaces(tmp_path, name):
    """All pages of a trace of TensorFlow or JAX open, and say what `gpuprof stats` says."""
    trace = ROOT / "tests" / "golden" / "xspace" / f"{name}.xplane.pb.gz"
    page = write_report(trace, tmp_path)
    seen = probe(page, tmp_path, "csv:ops", "csv:threads", *(f"text:{each}" for each in PAGES))
    assert_quiet(seen)
    assert [each for each in PAGES if len(seen["text"][each]) < 40] == []
    ops = stats("ops", trace, cwd=tmp_path)["ops"]
    assert sum(int(row["count"]) for row in rows_of(seen["csv"]["ops"])) == sum(row["count"] for row in ops) > 0
    assert len(rows_of(seen["csv"]["threads"])) == len(stats("threads", trace, cwd=tmp_path)["threads"])
    for series in stats("steps", trace, cwd=tmp_path)["series"]:
        assert f"{series['count']} steps of" in seen["text"]["steps"]
        assert f"{series['median_ns'] / 1e6:.1f}" in seen["text"]["steps"]
    step = stats("overview", trace, cwd=tmp_path)["step"]
    assert step is None or duration(step["median_ns"]) in seen["text"]["overview"]


@needs_page
def test_every_page_by_keyboard_and_without_serious_faults_of_access(tmp_path):
    page = write_report(H200 / "images", tmp_path)
    seen = probe(page, tmp_path, "keyboard", "axe")
    assert_quiet(seen)
    assert seen["keyboard"]["reached"] == ENTRIES
    assert seen["keyboard"]["byNumber"] == ENTRIES[:9]
    assert seen["keyboard"]["row"] == 1
    # Also what was not recorded, and the page of losses, which is linked at the foot.
    assert sorted(seen["pages"]) == sorted(PAGES)
    assert len(seen["axe"]) == 2 * len(PAGES)
    assert {name: faults for name, faults in seen["axe"].items() if faults} == {}


@needs_page
def test_pages_fit_phones_and_laptops(tmp_path):
    """No page scrolls sideways, names keep their room, and findings stand on the first screen."""
    page = write_report(H200 / "language_model", tmp_path)
    steps = [step for width in (390, 1000, 1440) for step in (f"size:{width}", *(f"fits:{name}" for name in PAGES))]
    seen = probe(page, tmp_path, *steps)
    assert_quiet(seen)
    assert len(seen["fits"]) == 3 * len(PAGES)
    for name, fit in seen["fits"].items():
        assert fit["over"] <= 0, name
        assert all(width >= 110 for width in fit["names"]), (name, fit)
    rows = [seen["fits"][f"overview {width}"]["figures"] for width in (390, 1000, 1440)]
    assert rows[0] > rows[1] > rows[2] == 1
    assert all(seen["fits"][f"overview {width}"]["findings"] < 844 for width in (390, 1000, 1440))


@needs_page
def test_hits_of_a_search_are_listed_and_walked_through(tmp_path):
    bundle = H200 / "language_model"
    kernel = max(stats("kernels", bundle, cwd=tmp_path)["kernels"], key=lambda each: each["count"])
    name = f"timeline?q={kernel['short_name']}"
    seen = probe(write_report(bundle, tmp_path), tmp_path, "size:1440", f"text:{name}", "press:next ›", "wait:1 of ", "read:first",
                 "press:next ›", "wait:2 of ", "press:‹ previous", "wait:1 of ", "inspect:hits")
    assert_quiet(seen)
    assert f"{kernel['count']:,} found" in seen["text"][name] and "in order of time" in seen["text"][name]
    assert "Where it comes from" in seen["text"]["first"] and "cudaLaunchKernel" in seen["text"]["first"]
    assert {name: faults for name, faults in seen["axe"].items() if faults} == {}


HOSTILE = ["</script><img src=x onerror=alert(1)>", "<!--<script>alert(2)</script>", "\u202egnirts\u202c", '"><svg onload=alert(3)>', "x" * (1 << 20)]


@needs_page
def test_hostile_names_are_text(tmp_path):
    events = [{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": HOSTILE[0]}}]
    for number, name in enumerate(HOSTILE):
        start = 1000 + 100 * number
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": start, "dur": 50,
                       "args": {"External id": number + 1}})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": start + 5, "dur": 5,
                       "args": {"correlation": number + 1, "External id": number + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start + 20, "dur": 20 + number,
                       "args": {"device": 0, "stream": 7, "correlation": number + 1, "External id": number + 1,
                                "grid": [1, 1, 1], "block": [32, 1, 1], "context": 1}})
    body = json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": HOSTILE[3]}], "traceEvents": events}).encode()
    # A name with bytes that are not UTF-8.
    body = body.replace(b"cudaLaunchKernel", b"cuda\xff\xfeKernel", 1)
    trace = tmp_path / "<b>trace&.json"
    trace.write_bytes(body)
    page = write_report(trace, tmp_path)
    seen = probe(page, tmp_path, "text:ops", "text:kernels", "csv:kernels", *[f"text:{name}" for name in PAGES if name != "timeline"])
    assert_quiet(seen)
    assert HOSTILE[0] in seen["text"]["ops"]
    kernels = stats("kernels", trace, cwd=tmp_path)["kernels"]
    assert len(kernels) == len(HOSTILE)
    assert sorted(int(row["count"]) for row in rows_of(seen["csv"]["kernels"])) == [1] * len(HOSTILE)
    assert manifest(page)["title"] == "<b>trace&.json"


@needs_page
def test_the_page_carries_the_bundle_byte_by_byte(tmp_path):
    page = write_report(H200 / "images", tmp_path)
    for attributes, text in blocks(page, "file"):
        name, size = re.search(r'data-name="([^"]*)" data-size="(\d+)"', attributes).groups()
        data = (H200 / "images" / name).read_bytes()
        assert (int(size), base64.b64decode(text)) == (len(data), data)
    # Without scripts a sentence names the command.
    assert "gpuprof stats overview FILE" in re.search("<noscript>(.*?)</noscript>", page.read_text(encoding="utf-8"), re.S)[1]
    names = {re.search(r'data-name="([^"]*)"', attributes)[1] for attributes, _ in blocks(page, "file")}
    assert names == {path.name for path in (H200 / "images").iterdir()} and "bundle.pb" in names
    assert "left_out" not in manifest(page)


@needs_page
@pytest.mark.parametrize("source", [H200 / "images", TRACES / "locks.gpt", KINETO], ids=lambda path: path.name)
def test_results_are_those_of_stats(tmp_path, source):
    """Every result in the page is what the command prints."""
    page = write_report(source, tmp_path)
    found = {}
    for attributes, text in blocks(page, "result"):
        if "data-part=" in attributes:
            continue
        name = re.search(r'data-pass="([^"]*)"', attributes)[1]
        found[name] = json.loads(gzip.decompress(base64.b64decode(text)))
    assert sorted(found) == sorted(manifest(page)["passes"])
    assert len(found) > 20
    for name in found:
        key, _, by = name.partition(":")
        expected = stats(key, source, *(("--by", by) if by else ()), cwd=tmp_path)
        assert found[name] == expected, name


def event_bytes(page):
    return sum(len(text) for _, text in blocks(page, "file"))


def part_bytes(page):
    return sum(len(text) for attributes, text in blocks(page, "result") if "data-part=" in attributes)


@needs_page
def test_a_page_that_would_be_too_large_has_some_steps(tmp_path):
    """The typical step is whole, with the figures of the page that has everything. The rest is counted."""
    bundle = H200 / "language_model"
    whole = write_report(bundle, tmp_path)
    small = tmp_path / "small"
    small.mkdir()
    size = whole.stat().st_size - event_bytes(whole) // 4
    done = gpuprof("report", bundle, "-o", small / "report.html", "--max-size", size, cwd=small)
    assert done.returncode == 0
    assert b"the events of some steps are in the page" in done.stderr and b"--max-size" in done.stderr
    page = small / "report.html"
    assert page.stat().st_size <= size
    assert event_bytes(page) < event_bytes(whole)
    words = manifest(page)["left_out"]
    number = int(re.search(r"events of step (\d+), a typical one", words)[1])
    steps = stats("steps", bundle, cwd=tmp_path)
    step = next(each for each in steps["steps"] if each["number"] == number)
    start, end = step["start_ns"], step["start_ns"] + step["duration_ns"]
    narrowed = [f"narrow:{start},{end}", "csv:ops", "csv:kernels"]
    seen = probe(page, small, "text:timeline", *narrowed)
    assert words in seen["text"]["timeline"]
    # The events of the step are all there: what ran in its time is what the whole recording has.
    answers = build_dir() / "tests" / "viewer" / "gpuprof_timeline_answers"
    for name, kind in (("ops", "op"), ("kernels", "stream")):
        question = json.dumps({"ask": "range", "kind": kind, "start_ns": start, "end_ns": end})
        done = subprocess.run([answers, bundle], input=question.encode() + b"\n", capture_output=True, check=True)
        expected = [(row["name"], row["count"], row["total_ns"] / 1e6) for row in json.loads(done.stdout[9:])["rows"]]
        rows = [(row["Name"], int(row["count"]), float(row["total, ms"])) for row in rows_of(seen["csv"][name])]
        assert len(rows) == len(expected) > 10
        for found, wanted in zip(sorted(rows), sorted(expected)):
            assert found[:2] == wanted[:2] and found[2] == pytest.approx(wanted[2])
    assert_quiet(seen)


@needs_page
def test_a_page_without_room_for_a_step_leaves_all_events_out(tmp_path):
    whole = write_report(H200 / "images", tmp_path)
    small = tmp_path / "small"
    small.mkdir()
    size = whole.stat().st_size - event_bytes(whole)
    done = gpuprof("report", H200 / "images", "-o", small / "report.html", "--max-size", size, cwd=small)
    assert done.returncode == 0
    assert b"the events are left out" in done.stderr
    page = small / "report.html"
    assert blocks(page, "file") == []
    assert "--max-size" in manifest(page)["left_out"]
    seen = probe(page, small, "text:timeline", "text:ops")
    assert manifest(page)["left_out"] in seen["text"]["timeline"]


@needs_page
def test_an_existing_file_is_kept(tmp_path):
    (tmp_path / "report.html").write_text("mine")
    done = gpuprof("report", TRACES / "locks.gpt", cwd=tmp_path)
    assert done.returncode == 2
    assert b"exists already" in done.stderr
    assert (tmp_path / "report.html").read_text() == "mine"


@needs_page
def test_an_unreadable_input_leaves_no_file(tmp_path):
    (tmp_path / "junk.json").write_bytes(gzip.compress(b"no trace"))
    done = gpuprof("report", "junk.json", cwd=tmp_path)
    assert done.returncode == 3
    assert not (tmp_path / "report.html").exists()


def test_a_build_without_a_page_says_what_is_missing(tmp_path):
    if (build_dir() / "viewer" / "index.html").exists():
        pytest.skip("this build has its page")
    done = gpuprof("report", TRACES / "locks.gpt", cwd=tmp_path)
    assert done.returncode == 2
    assert b"Node.js" in done.stderr
    assert not os.listdir(tmp_path)
