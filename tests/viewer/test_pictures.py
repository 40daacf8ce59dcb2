# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Pages with pictures: rooflines, the profile of operations, memory of frameworks, and input. Their figures are those of stats."""

import pickle

import pytest

from conftest import ROOT, assert_quiet, gpuprof, missing, probe, stats, write_report
from memory_snapshots import MIB, Allocator
from test_report import duration, rows_of

H200 = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch"
TPU = ROOT / "tests" / "golden" / "xspace" / "tpu_inference.xplane.pb.gz"
TENSORFLOW = ROOT / "tests" / "golden" / "xspace" / "cpu" / "tensorflow_steps.xplane.pb.gz"

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing")


def plain(text):
    """A text of the page as the command writes it: its blanks, and its microseconds."""
    return " ".join(text.replace("\u202f", " ").replace("µs", "us").split())


def percent(ratio):
    return f"{ratio * 100:.1f} %" if ratio >= 0.0005 else "<0.1 %"


def no_faults(seen):
    return {name: faults for name, faults in seen["axe"].items() if faults} == {}


def test_a_roofline_has_points_and_counts_what_is_unknown(tmp_path):
    result = stats("roofline", TPU, cwd=tmp_path)
    points = sorted((row for row in result["operations"] if (row["flop_per_byte"] or 0) > 0), key=lambda row: -row["total_ns"])
    assert len(points) >= 3
    chart = f"Roofline with {len(points)} operations as points"
    seen = probe(write_report(TPU, tmp_path), tmp_path, "text:roofline", f"keys:{chart}=ArrowRight", "said",
                 f"keys:{chart}=ArrowRight Enter", "wait:Its kernels", "read:picked", "inspect:roofline", "follow:Its kernels", "read:kernels")
    assert_quiet(seen)
    text = plain(seen["text"]["roofline"])
    [device] = result["devices"]
    assert f"{percent(1 - result['known_ratio'])} of the device's time has no known work." in text
    unknown = [row for row in result["operations"] if row["bound"] == "unknown"]
    assert f"{len(unknown)} operations have no bound and no point" in text
    assert "1 operation computes nothing and so has no point." in text
    assert percent(device["roof_ratio"]) in text and f"bound by {device['bound']}" in text
    # The arrow keys go from the longest operation to the next ones; each is spoken with its figures.
    longest = plain(seen["said"][0])
    assert longest.startswith(points[0]["name"] + ":") and f"of its roof {percent(points[0]['roof_ratio'])}" in longest
    assert f"bound by {points[0]['bound']}" in longest and "FLOP known by source" in longest
    assert "operation known by source" in longest
    # The picked operation has a row and a way to its kernels.
    assert f"{points[1]['name']}{points[1]['category']}; {points[1]['count']} executions" in plain(seen["text"]["picked"])
    assert no_faults(seen)
    kernels = stats("kernels", TPU, cwd=tmp_path)["kernels"]
    own = [row for row in kernels if points[1]["name"] in row["name"]]
    assert f"{len(own)} of {len(kernels)} kernels" in plain(seen["text"]["kernels"])


def test_a_profile_of_operations_is_a_tree(tmp_path):
    """Rows fold by the keys; the CSV has all of them, in their order."""
    result = stats("op_profile", TPU, cwd=tmp_path)
    rows = result["rows"]
    seen = probe(write_report(TPU, tmp_path), tmp_path, "csv:op_profile", "text:op_profile", "press:Fold categories", "read:folded", "inspect:tree")
    assert_quiet(seen)
    assert no_faults(seen)
    shown = rows_of(seen["csv"]["op_profile"])
    assert [float(row["total, ms"]) for row in shown] == pytest.approx([row["total_ns"] / 1e6 for row in rows])
    text, folded = plain(seen["text"]["op_profile"]), plain(seen["text"]["folded"])
    categories = [row["name"] for row in rows if row["level"] == "category"]
    operations = [row["name"] for row in rows if row["level"] == "operation" and row["name"] not in categories]
    assert operations and all(name in text for name in operations) and all(name in folded for name in categories)
    assert not any(name in folded for name in operations)
    assert f"{percent(result['idle_ns'] / result['window_ns'])} of the window" in text


def test_a_memory_snapshot_has_a_report(tmp_path):
    """Why a request failed, what was live at the peak, and no events: a snapshot fits into no bundle."""
    device = Allocator()
    at = device.segment(80 * MIB)
    blocks = [device.alloc(at + i * 10 * MIB, 10 * MIB, "adamw.py:140:_init_group" if i % 2 else "cache.py:31:grow", "train.py:40:main") for i in range(8)]
    for i in (1, 3, 5):
        device.free(blocks[i])
    device.oom(25 * MIB, 3 * MIB, "serve.py:58:prefill", "serve.py:52:request")
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps(device.snapshot(), protocol=4))
    result = stats("memory_profile", path, cwd=tmp_path)
    [failure], [row] = result["failures"], result["devices"]
    words = gpuprof("stats", "memory_profile", path, "--limit", "0", cwd=tmp_path).stdout.decode()
    assert plain(failure["verdict"]) in plain(words) and plain(row["verdict"]) in plain(words)
    page = write_report(path, tmp_path)
    seen = probe(page, tmp_path, "text:overview", "text:memory_profile", "csv:memory_profile", "keys:Memory of cuda:0 over time=ArrowRight ArrowRight", "said",
                 "inspect:memory", "text:timeline")
    assert_quiet(seen)
    assert no_faults(seen)
    assert plain(failure["verdict"]) in plain(seen["text"]["overview"])
    text = plain(seen["text"]["memory_profile"])
    assert plain(failure["verdict"]) in text and plain(row["verdict"]) in text
    assert f"Out of memory at {failure['time_ns']:,} ns: fragmentation" in text
    assert "Asked by serve.py:58:prefill." in text
    assert f"{row['peak_bytes'] / MIB:.1f} MiB" in text and f"{row['largest_free_bytes'] / MIB:.1f} MiB" in text
    assert percent(row["fragmentation_ratio"]) in text
    for category in result["categories"]:
        assert f"{category['bytes'] / MIB:.2f} {percent(category['ratio'])} {category['count']}" in text, category
    shown = rows_of(seen["csv"]["memory_profile"])
    assert [float(each["at the peak, MiB"]) for each in shown] == pytest.approx([each["bytes"] / MIB for each in result["stacks"]])
    moment = result["timeline"][1]
    assert f"{moment['allocated_bytes'] / MIB:.1f} MiB at" in plain(seen["said"][0])
    assert "The page has the results of a memory snapshot of PyTorch, and not its events." in seen["text"]["timeline"]
    assert b'id="gpuprof-engine"' not in page.read_bytes()


@pytest.mark.parametrize("source", [H200 / "language_model", TPU], ids=["recording", "xspace"])
def test_memory_of_recordings_and_xspaces(tmp_path, source):
    result = stats("memory_profile", source, cwd=tmp_path)
    device = max(result["devices"], key=lambda each: each["peak_bytes"])
    name = device["name"]
    seen = probe(write_report(source, tmp_path), tmp_path, "text:memory_profile", "inspect:memory")
    assert_quiet(seen)
    assert no_faults(seen)
    text = plain(seen["text"]["memory_profile"])
    # The device of the greatest peak comes first.
    assert f"Memory of {name}" in text and plain(device["verdict"]) in text
    for category in [each for each in result["categories"] if each["device"] == name]:
        assert f"{category['bytes'] / MIB:,.2f} {percent(category['ratio'])}" in text


def test_waits_of_steps_and_the_life_of_batches(tmp_path):
    source = H200 / "images"
    result = stats("input_pipeline", source, cwd=tmp_path)
    [loader] = result["sources"]
    batches = sorted(result["batches"], key=lambda each: each["asked_ns"])
    words = gpuprof("stats", "input_pipeline", source, cwd=tmp_path).stdout.decode()
    assert plain(words).startswith(plain(loader["verdict"]))
    chart = f"Waits of {len(batches)} steps"
    seen = probe(write_report(source, tmp_path), tmp_path, "text:input_pipeline", f"keys:{chart}=ArrowRight ArrowRight", "said",
                 "keys:Life of batches=End", "said", "inspect:input")
    assert_quiet(seen)
    assert no_faults(seen)
    text = plain(seen["text"]["input_pipeline"])
    assert plain(loader["verdict"]) in text
    assert f"{percent(loader['wait_ratio'])} of a step" in text and f"mean of {loader['step_count']} steps" in text
    assert all(plain(duration(loader[name])) in text for name in ("step_ns", "wait_ns", "median_ns", "p95_ns", "first_ns", "rest_ns"))
    assert plain(seen["said"][0]).startswith(f"Batch {batches[1]['number']}: waited for {plain(duration(batches[1]['wait_ns']))}")
    assert f"Batch {batches[-1]['number']}: asked" in plain(seen["said"][1])


def test_iterators_of_tf_data_as_a_chain(tmp_path):
    result = stats("tf_data", TENSORFLOW, cwd=tmp_path)
    [pipeline] = result["pipelines"]
    seen = probe(write_report(TENSORFLOW, tmp_path), tmp_path, "text:tf_data", "inspect:chain", "follow:Steps and their waits", "read:steps")
    assert_quiet(seen)
    assert no_faults(seen)
    text = plain(seen["text"]["tf_data"])
    assert plain(pipeline["verdict"]) in text
    chain = text[text.index("From the data to the program"):text.index("Iterators: each asks")]
    inner_first = sorted(result["iterators"], key=lambda row: -row["depth"])
    places = [chain.index(f"{row['name']} ") for row in inner_first]
    assert places == sorted(places)
    assert chain.rindex("the program asks") > places[-1]
    assert "Input pipeline" in seen["text"]["steps"]
