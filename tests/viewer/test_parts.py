# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Parts of a recording in a report: processes, devices, steps and any range of time."""

import base64
import gzip
import json
import re
import shutil

import pytest

from conftest import ROOT, Served, assert_quiet, gpuprof, missing, probe, stats, write_report
from test_report import manifest, rows_of

H200 = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch"
IMAGES = H200 / "images"
XSPACES = ROOT / "tests" / "golden" / "xspace"
PART = re.compile(r'<script type="text/plain" class="gpuprof-result" data-part="([^"]*)" data-encoding="gzip\+base64">([^<]*)</script>')

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing")


def parts_of(page):
    """Returns the results of each part, by the part's name."""
    found = {}
    for name, text in PART.findall(page.read_text(encoding="utf-8")):
        found[name] = json.loads(gzip.decompress(base64.b64decode(text, validate=True)))
    return found


def write_linked_report(path, folder):
    """A report whose events stay in the bundle. From disk it cannot read them: results of some parts are in it."""
    if path.suffix != ".gpt" and not path.is_dir():
        done = gpuprof("import", path, "-o", folder / "bundle", cwd=folder)
        assert (folder / "bundle" / "bundle.pb").exists(), done.stderr
    else:
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, folder / ("bundle" if path.is_dir() else path.name))
    page = write_report(folder / ("bundle" if (folder / "bundle").exists() else path.name), folder, "--link-events")
    assert "files_at" in manifest(page) and "left_out" not in manifest(page)
    return page


def options_of(part):
    if part.startswith("pid="):
        return ["--pid", part[4:]]
    if part.startswith("device="):
        return ["--device", part[7:]]
    return ["--steps", part[5:]]


def test_parts_have_what_stats_prints_of_them(tmp_path):
    """A page that cannot read events has processes, and the steps that matter: each result is that of `gpuprof stats`."""
    page = write_linked_report(IMAGES, tmp_path)
    bundle = tmp_path / "bundle"
    named, parts = manifest(page)["parts"], parts_of(page)
    assert [each["name"] for each in named] == list(parts)
    pids = {str(each["pid"]) for each in stats("overview", bundle, cwd=tmp_path)["processes"]}
    assert {name[4:] for name in parts if name.startswith("pid=")} == pids and len(pids) == 3
    words = [each["step"] for each in named if "step" in each]
    assert "a typical one" in words[0] and any("the longest" in each for each in words)
    counted = {step["number"] for step in stats("steps", bundle, cwd=tmp_path)["steps"] if not step["warmup"]}
    led = {finding["place"]["step"] for finding in stats("overview", bundle, cwd=tmp_path)["findings"] if finding["place"]}
    assert led & counted and {f"step={number}" for number in led & counted} <= set(parts)
    for part, results in parts.items():
        assert {"idle", "heap", "stacks:kernel", "kernels:op"} <= set(results)
        # A verdict and a critical path need neighbouring steps: a single one has none.
        assert ({"overview", "steps", "advise", "critical_path"} & set(results) == set()) == part.startswith("step=")
        # All results of the first parts, and some of the others: each is a start of the program.
        chosen = results if part in list(parts)[:2] + list(parts)[3:4] else ["kernels", "heap"]
        for name in chosen:
            name_of_pass, _, key = name.partition(":")
            printed = stats(name_of_pass, bundle, *(["--by", key] if key else []), *options_of(part), cwd=tmp_path)
            if part.startswith("step="):
                # What was read of the step: `stats` opens the tables of the pass alone.
                results[name].pop("meta"), printed.pop("meta")
            assert results[name] == printed, (part, name)


def test_devices_of_one_process_are_parts(tmp_path):
    for trace in sorted(XSPACES.glob("*.xplane.pb.gz")) + [ROOT / "tests" / "golden" / "traces" / "v1" / "gpu.gpt"]:
        devices = {each["device"] for each in stats("streams", trace, cwd=tmp_path)["streams"]}
        folder = tmp_path / trace.name.split(".")[0]
        folder.mkdir()
        page = write_linked_report(trace, folder)
        found = {name for name in parts_of(page) if name.startswith("device=")}
        assert found == ({f"device={each}" for each in devices} if len(devices) > 1 else set()), trace


def test_a_page_follows_a_process(tmp_path):
    page = write_report(IMAGES, tmp_path)
    counts = {}
    for process in stats("overview", IMAGES, cwd=tmp_path)["processes"]:
        part = f"part=pid={process['pid']}"
        seen = probe(page, tmp_path, f"csv:threads?{part}", f"csv:ops?{part}", f"text:overview?{part}", "text:health", "text:kernels")
        assert_quiet(seen)
        threads = stats("threads", IMAGES, "--pid", str(process["pid"]), cwd=tmp_path)["threads"]
        counts[process["pid"]] = len(rows_of(seen["csv"][f"threads?{part}"]))
        assert counts[process["pid"]] == len(threads)
        ops = stats("ops", IMAGES, "--pid", str(process["pid"]), cwd=tmp_path)["ops"]
        assert sum(int(row["count"]) for row in rows_of(seen["csv"][f"ops?{part}"])) == sum(row["count"] for row in ops)
        assert f"This page is of process {process['pid']}." in seen["text"][f"overview?{part}"]
        # The scope stays until somebody ends it. The recorder's health is that of all.
        assert f"This page is of process {process['pid']}." in seen["text"]["kernels"]
        assert "This page is of the whole run." in seen["text"]["health"]
    assert len(counts) == 3


def test_a_step_of_the_list_narrows_every_page(tmp_path):
    """The list beside the scope has the step; the address keeps it, so that a link leads there."""
    page = write_linked_report(IMAGES, tmp_path)
    step = next(each for each in manifest(page)["parts"] if "step" in each)
    result = parts_of(page)[step["name"]]["idle"]
    seen = probe(page, tmp_path, f"choose:Narrow all pages={step['start_ns']},{step['end_ns']};{step['name']}", "csv:idle", "address:part=", "text:idle", "read:idle", "whole", "text:idle?a=1")
    assert_quiet(seen)
    assert len(rows_of(seen["csv"]["idle"])) == len(result["gaps"])
    assert f"step {step['step']} from" in seen["text"]["idle"] and f"This page is of {step['name'].replace('=', ' ')}." in seen["text"]["idle"]
    assert "This page is of" not in seen["text"]["idle?a=1"]
    address = seen["addresses"][0]
    seen = probe(page, tmp_path, f"text:memory?{address.split('?')[1]}", f"text:overview?{address.split('?')[1]}")
    memory, overview = seen["text"].values()
    # What was live before the step is in the figures; a verdict is of several steps.
    peak = max(each["peak_bytes"] for each in stats("heap", IMAGES, cwd=tmp_path)["processes"])
    assert f"{peak / 2**20:.0f}"[:2] in memory and "This page is of the whole run." in overview
    again = probe(page, tmp_path, f"text:streams?{address.split('?')[1]}", "read:streams")
    assert f"step {step['step']} from" in again["text"]["streams"]


def test_idle_memory_and_stacks_of_any_range(tmp_path):
    """Gaps are those of `stats idle --window`; live memory and Python functions are found in the events."""
    bundle = H200 / "language_model"
    page = write_report(bundle, tmp_path)
    idle = stats("idle", bundle, cwd=tmp_path)
    begin, end = (idle["meta"][key] for key in ("window_start_ns", "window_end_ns"))
    part = f"part={begin},{end + 1}"
    seen = probe(page, tmp_path, f"csv:idle?{part}", f"text:idle?{part}", f"text:memory?{part}", f"text:stacks?{part}&by=kernel")
    assert_quiet(seen)
    device = idle["devices"][0]
    rows = rows_of(seen["csv"][f"idle?{part}"])
    assert f"in {device['gap_count']:,} gaps" in seen["text"][f"idle?{part}"]
    seen_gaps = {round(float(row["at, ms"]) * 1e6): row for row in rows}
    for gap in idle["gaps"][:50]:
        row = seen_gaps[gap["start_ns"]]
        assert float(row["gap, µs"]) == pytest.approx(gap["duration_ns"] / 1e3) and row["cause"] != "", gap
    tensor = max(stats("heap", bundle, cwd=tmp_path)["tensors"], key=lambda each: each["peak_bytes"])
    text = seen["text"][f"memory?{part}"]
    assert f"{tensor['peak_bytes'] / 2**20:.1f}" in text.replace(",", "") or f"{tensor['peak_bytes'] / 2**20:.0f}" in text.replace(",", "")
    assert "This page is of what began in a range" in seen["text"][f"stacks?{part}&by=kernel"]


def test_every_step_and_device_of_a_report_is_that_of_stats(tmp_path):
    """The engine in the page computes parts that nobody wrote into it, of any input."""
    page = write_report(IMAGES, tmp_path)
    assert manifest(page)["engine"] and parts_of(page) == {}
    numbers = [each["number"] for each in stats("steps", IMAGES, cwd=tmp_path)["steps"]]
    pid = stats("overview", IMAGES, cwd=tmp_path)["processes"][0]["pid"]
    for part, options in ([(f"step={number}", ["--steps", str(number)]) for number in numbers[1::5]] +
                          [("device=0", ["--device", "0"]), (f"step={numbers[2]};pid={pid}", ["--steps", str(numbers[2]), "--pid", str(pid)])]):
        seen = probe(page, tmp_path, f"csv:kernels?part={part}", f"csv:api?part={part}")
        assert_quiet(seen)
        for name, rows in (("kernels", "kernels"), ("api", "calls")):
            told = stats(name, IMAGES, *options, cwd=tmp_path)[rows]
            shown = rows_of(seen["csv"][f"{name}?part={part}"])
            assert sum(int(row["count"]) for row in shown) == sum(row["count"] for row in told), (name, part)
            assert sum(float(row["total, ms"]) for row in shown) == pytest.approx(sum(row["total_ns"] for row in told) / 1e6, abs=1e-6)


def test_python_functions_of_a_range(tmp_path):
    """The whole range has the sums of `gpuprof stats stacks --by python`; its halves add up to them."""
    trace = ROOT / "tests" / "viewer" / "traces" / "calls"
    page = write_report(trace, tmp_path)
    total = stats("stacks", trace, "--by", "python", cwd=tmp_path)["total"]
    meta = stats("threads", trace, cwd=tmp_path)["meta"]
    begin, end = meta["window_start_ns"], meta["window_end_ns"] + 1
    middle = (begin + end) // 2 + 777
    found = []
    for start, stop in ((begin, end), (begin, middle), (middle, end)):
        name = f"stacks?part={start},{stop}"
        text = probe(page, tmp_path, f"text:{name}")["text"][name]
        value, unit = re.search(r"([\d.,]+)\u202f(ms|µs) in Python functions", text).groups()
        found.append(float(value.replace(",", "")) * {"ms": 1e6, "µs": 1e3}[unit])
    assert found[0] == pytest.approx(total, rel=0.006)
    assert found[1] + found[2] == pytest.approx(total, rel=0.012) and min(found) > 0


def test_a_served_page_has_the_results_of_every_part(tmp_path):
    with Served(IMAGES, cwd=tmp_path) as server:
        pid = stats("overview", IMAGES, cwd=tmp_path)["processes"][1]["pid"]
        meta = stats("streams", IMAGES, cwd=tmp_path)["meta"]
        start, end = meta["window_start_ns"], meta["window_start_ns"] + (meta["window_end_ns"] - meta["window_start_ns"]) // 2
        for part, options in ((f"pid={pid}", ["--pid", str(pid)]), ("device=0", ["--device", "0"]),
                              (f"{start},{end};pid={pid}", ["--window", f"{start}ns-{end}ns", "--pid", str(pid)])):
            expected = gpuprof("stats", "threads", IMAGES, "--json", *options, cwd=tmp_path).stdout
            assert server.get(f"results/threads@{part}")[2] == expected, part
        number = stats("steps", IMAGES, cwd=tmp_path)["steps"][3]["number"]
        expected = gpuprof("stats", "kernels", IMAGES, "--json", "--steps", str(number), cwd=tmp_path).stdout
        assert server.get(f"results/kernels@step={number}")[2] == expected
        for wrong in ("step=", "step=-1", "step=1;step=2", "pid=", "pid=x", "pid=-1", "pid=1;pid=2", "device=", "device=-1", "device=0;device=1", "name=1", ";", "pid=1;", "1,2;3,4"):
            assert server.get(f"results/threads@{wrong}")[0] == 404, wrong
        # There is no such process: the answer says so.
        status, _, body = server.get("results/threads@pid=99999")
        assert status == 422 and b"99999" in body
