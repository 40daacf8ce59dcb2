# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Traces of torch.profiler go through the passes. Broken files of tests/golden/import give what their expected.json
says. For real files the passes equal a plain reading of the JSON."""

import collections
import decimal
import gzip
import json
import pathlib
import shutil

import pytest

from conftest import gpuprof

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
CASES = sorted(path.parent for path in (GOLDEN / "import").glob("*/expected.json"))
FILES = sorted((GOLDEN / "kineto").glob("*.json.gz"))
EXIT_CUT = 3


def _stats(path, name, *options):
    done = gpuprof("stats", name, "--json", *options, str(path))
    assert done.status in (0, EXIT_CUT), done.err
    return json.loads(done.out)


def _by_name(rows):
    sums = collections.defaultdict(lambda: {"count": 0, "total_ns": 0})
    for row in rows:
        sums[row["name"]]["count"] += row["count"]
        sums[row["name"]]["total_ns"] += row["total_ns"]
    return dict(sums)


def _owner(row, name):
    """A process that the file names by a text has this text as its host."""
    host = row.get("host") or ""
    return f"{host} {name}" if host.startswith("[") else name


def _check_kernels(expected, path):
    rows = _by_name(_stats(path, "kernels")["kernels"])
    assert sum(row["count"] for row in rows.values()) == expected["count"]
    assert sum(row["total_ns"] for row in rows.values()) == expected["total_ns"]
    if "by_name" in expected:
        assert rows == expected["by_name"]


def _check_busy(expected, path):
    assert {_owner(row, str(row["device"])): row["busy_ns"] for row in _stats(path, "streams")["devices"]} == expected


def _check_streams(expected, path):
    found = collections.defaultdict(list)
    for row in _stats(path, "streams")["streams"]:
        found[str(row["device"])].append(row["stream"])
    assert found == expected


def _check_cpu_ops(expected, path):
    assert {row["name"]: row["count"] for row in _stats(path, "ops")["ops"]} == expected


def _check_cpu_op_ns(expected, path):
    assert {row["name"]: row["total_ns"] for row in _stats(path, "ops")["ops"]} == expected


def _check_op_device_ns(expected, path):
    found = {_owner(row, row["name"]): row["device_ns"] for row in _stats(path, "ops", "--by", "process")["ops"]}
    assert {name: found.get(name) for name in expected} == expected


def _check_copies(expected, path):
    rows = [row for row in _stats(path, "memcpy")["copies"] if row["name"] != "Memset"]
    found = {row["name"]: {"count": row["count"], "total_ns": row["total_ns"], "bytes": row["total_bytes"]} for row in rows}
    assert found == expected


def _check_memsets(expected, path):
    rows = [row for row in _stats(path, "memcpy")["copies"] if row["name"] == "Memset"]
    assert sum(row["count"] for row in rows) == expected["count"]
    assert sum(row["total_ns"] for row in rows) == expected["total_ns"]


def _check_syncs(expected, path):
    assert _stats(path, "sync")["count"] == sum(expected.values())


def _check_processes(expected, path):
    assert len(_stats(path, "kernels")["meta"]["inputs"]) == expected


def _check_shapes(expected, path):
    found = collections.defaultdict(collections.Counter)
    for row in _stats(path, "ops", "--by", "shape")["ops"]:
        found[row["name"]][row["shapes"]] += row["count"]  # rows of one shape may differ in their types
    assert {name: found[name] for name in expected} == expected


def _check_counters(expected, path):
    found = [{key: row[key] for key in ("name", "device", "pid", "count", "mean", "min", "max", "last") if key in row}
             for row in _stats(path, "counters")["counters"]]
    assert sorted(found, key=lambda row: row["name"]) == expected
    assert all(row["unit"] == "" for row in _stats(path, "counters")["counters"])


def _exported(path):
    done = gpuprof("export", path, "-f", "chrome", "-o", "-")
    assert done.status == 0, done.err
    return json.loads(done.out, parse_float=decimal.Decimal)["traceEvents"]


def _check_kernel_args(expected, path):
    keys = set().union(*expected.values())
    kernels = [event for event in _exported(path) if event.get("cat") == "kernel"]
    assert {event["name"]: {key: value for key, value in event["args"].items() if key in keys} for event in kernels} == expected


def _check_sequences(expected, path):
    operations = [event for event in _exported(path) if event.get("cat") == "cpu_op"]
    assert {event["name"]: event["args"].get("Sequence number") for event in operations} == expected


def _check_backward_arrows(expected, path):
    events = _exported(path)
    names = {(event["tid"], event["ts"]): event["name"] for event in events if event.get("cat") == "cpu_op"}
    ends = collections.defaultdict(dict)
    for event in events:
        if event.get("cat") == "fwdbwd":
            ends[event["id"]][event["ph"]] = names[event["tid"], event["ts"]]
    assert {each["s"]: each["f"] for each in ends.values()} == expected


CHECKS = {
    "kernels": _check_kernels,
    "busy_ns": _check_busy,
    "streams": _check_streams,
    "cpu_ops": _check_cpu_ops,
    "cpu_op_ns": _check_cpu_op_ns,
    "op_device_ns": _check_op_device_ns,
    "copies": _check_copies,
    "memsets": _check_memsets,
    "syncs": _check_syncs,
    "processes": _check_processes,
    "shapes": _check_shapes,
    "counters": _check_counters,
    "kernel_args": _check_kernel_args,
    "sequences": _check_sequences,
    "backward_arrows": _check_backward_arrows,
}
# Kinds of notes that must be told, where the number is a matter of counting.
UNCOUNTED = {"repaired_syntax", "unreadable_event", "not_read"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_file_as_it_is_found(case):
    expected = json.loads((case / "expected.json").read_text())
    path = case / expected["inputs"][0]
    for field, check in CHECKS.items():
        if expected.get(field) is not None:
            check(expected[field], path)
    info = gpuprof("info", "--json", str(path))
    notes = {note["kind"]: note for note in json.loads(info.out)["import_notes"]}
    wanted = collections.Counter()
    for note in expected.get("notes", []):
        wanted[note["kind"]] += note["count"]
    for kind, count in wanted.items():
        if kind == "unreadable_event" and kind not in notes:
            kind = "repaired_syntax"  # the event was recovered
        assert kind in notes
        if kind not in UNCOUNTED:
            assert notes[kind]["count"] == count, kind
    if expected["outcome"] == "import":
        assert not [note for note in notes.values() if note["is_loss"]]


def test_there_are_cases_and_files():
    assert len(CASES) >= 25 and len(FILES) >= 2


def _ns(microseconds):
    return int(decimal.Decimal(microseconds) * 1000)


def _union(spans):
    total, end = 0, None
    for start, stop in sorted(spans):
        if end is None or start > end:
            total, end = total + stop - start, stop
        elif stop > end:
            total, end = total + stop - end, stop
    return total


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.name)
def plain(request):
    """The complete events of a file by category, read by Python alone."""
    document = json.loads(gzip.decompress(request.param.read_bytes()), parse_float=decimal.Decimal)
    events = collections.defaultdict(list)
    for event in document["traceEvents"]:
        if event.get("ph") == "X":
            events[event.get("cat")].append(event)
    return request.param, events


def _spans(events):
    by_device = collections.defaultdict(list)
    for event in events:
        start = _ns(event["ts"])
        by_device[event["args"]["device"]].append((start, start + _ns(event["dur"])))
    return by_device


def test_kernels_equal_a_plain_reading(plain):
    path, events = plain
    expected = collections.defaultdict(lambda: [0, 0])
    for event in events["kernel"]:
        expected[event["name"]][0] += 1
        expected[event["name"]][1] += _ns(event["dur"])
    found = collections.defaultdict(lambda: [0, 0])
    for row in _stats(path, "kernels")["kernels"]:
        name = row["mangled"] or row["name"]
        found[name][0] += row["count"]
        found[name][1] += row["total_ns"]
    assert expected and found == expected


def test_devices_equal_plain_unions(plain):
    path, events = plain
    kernels, copies = _spans(events["kernel"]), _spans(events["gpu_memcpy"] + events["gpu_memset"])
    rows = _stats(path, "streams")["devices"]
    assert {row["device"] for row in rows} == set(kernels) | set(copies)
    for row in rows:
        both = kernels[row["device"]] + copies[row["device"]]
        assert row["kernel_ns"] == _union(kernels[row["device"]])
        assert row["copy_ns"] == _union(copies[row["device"]])
        assert row["busy_ns"] == _union(both)
        assert row["window_ns"] == max(stop for _, stop in both) - min(start for start, _ in both)


def test_operations_and_calls_are_there(plain):
    path, events = plain
    for name, key, categories in (("ops", "ops", ("cpu_op", "user_annotation")), ("api", "calls", ("cuda_runtime", "cuda_driver"))):
        expected = collections.Counter(event["name"] for category in categories for event in events[category])
        found = collections.Counter()
        for row in _stats(path, name)[key]:
            found[row["name"]] += row["count"]
        assert expected and found == expected


def test_work_belongs_to_the_operation_that_launched_it(plain):
    path, events = plain
    names = {event["args"]["External id"]: event["name"] for event in events["cpu_op"] + events["user_annotation"]}
    external = {event["args"]["correlation"]: event["args"].get("External id") for event in events["cuda_runtime"] + events["cuda_driver"]}
    expected = collections.Counter()
    for event in events["kernel"] + events["gpu_memcpy"] + events["gpu_memset"]:
        name = names.get(external.get(event["args"]["correlation"]))
        if name is not None:
            expected[name] += _ns(event["dur"])
    found = {row["name"]: row["device_self_ns"] for row in _stats(path, "ops")["ops"] if row["device_self_ns"]}
    assert expected and {name: found.get(name) for name in expected} == expected


def test_kernels_have_python_stacks(plain):
    path, events = plain
    stacks = gpuprof("stats", "stacks", "--by", "kernel", str(path)).out.decode()
    total = sum(int(line.rsplit(" ", 1)[1]) for line in stacks.splitlines())
    assert total == sum(_ns(event["dur"]) for event in events["kernel"])
    functions = {event["name"] for event in events["python_function"]}
    assert any(line.split(";")[1] in functions for line in stacks.splitlines() if ";" in line)


def test_a_directory_of_ranks(tmp_path):
    for rank, file in enumerate(FILES[:2]):
        document = json.loads(gzip.decompress(file.read_bytes()))
        document["distributedInfo"] = {"rank": rank, "world_size": 2}
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(document))
    info = json.loads(gpuprof("info", "--json", str(tmp_path)).out)
    assert [process["environment"]["RANK"] for process in info["processes"]] == ["0", "1"]
    both = _stats(tmp_path, "kernels")["kernels"]
    alone = [row for file in FILES[:2] for row in _stats(file, "kernels")["kernels"]]
    assert sum(row["total_ns"] for row in both) == sum(row["total_ns"] for row in alone)


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "the file is empty"),
        (b"hello, world", "not"),
        (b'{"events": 3}', "no array traceevents"),
        (b"\x1f\x8b\x08\x00garbage", "cannot be inflated"),
    ],
    ids=["empty", "text", "another_json", "broken_gzip"],
)
def test_what_is_not_a_trace_is_refused(tmp_path, content, message):
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    done = gpuprof("stats", "kernels", str(path))
    assert done.status == EXIT_CUT and done.out == b""
    assert message in done.err.decode().lower()


def test_a_cut_file_gives_what_came_before(tmp_path):
    whole = gzip.decompress(FILES[0].read_bytes())
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    done = gpuprof("info", "--json", str(path))
    assert done.status == EXIT_CUT
    assert b"cut" in done.err
    assert 0 < json.loads(done.out)["count"] < json.loads(gpuprof("info", "--json", str(FILES[0])).out)["count"]


def test_a_cut_compressed_file_gives_what_came_before(tmp_path):
    path = tmp_path / "cut.json.gz"
    whole = FILES[0].read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    done = gpuprof("info", "--json", str(path))
    assert done.status == EXIT_CUT and done.err
    assert json.loads(done.out)["count"] > 0


def test_a_huge_number_of_threads_is_bounded(tmp_path):
    path = tmp_path / "threads.json"
    with open(path, "w") as file:
        file.write('{"traceEvents": [')
        file.write(",".join(f'{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":{i},"ts":{i},"dur":1}}' for i in range(1, 200_001)))
        file.write("]}")
    done = gpuprof("stats", "ops", "--json", str(path))
    assert done.status == 0
    result = json.loads(done.out)
    assert result["count"] == 200_000
    assert any("more than 65536 threads" in note for note in result["meta"]["notes"])


def _write_kernels(path, place_of):
    with open(path, "w") as file:
        file.write('{"traceEvents": [')
        file.write(",".join(f'{{"ph":"X","cat":"kernel","name":"k",{place_of(i)},"ts":{i},"dur":1,"args":{{"device":0,"stream":{i}}}}}' for i in range(1, 20_001)))
        file.write("]}")


@pytest.mark.parametrize("what, place_of", [
    ("16384 streams", lambda i: f'"pid":0,"tid":{i}'),
    ("4096 processes", lambda i: f'"pid":"[rank {i}] 0","tid":7'),
])
def test_huge_numbers_of_streams_and_processes_are_bounded(tmp_path, what, place_of):
    path = tmp_path / "many.json"
    _write_kernels(path, place_of)
    result = _stats(path, "kernels")
    assert sum(row["count"] for row in result["kernels"]) == 20_000
    assert any(f"more than {what}" in note for note in result["meta"]["notes"])


def test_the_name_decides_nothing(tmp_path):
    path = tmp_path / "trace.data"
    shutil.copy(FILES[0], path)
    assert _stats(path, "kernels")["kernels"] == _stats(FILES[0], "kernels")["kernels"]


def test_annotations_of_nodes_of_graphs_are_their_owners(tmp_path):
    """As PyTorch writes what mark_kernels() kept of a captured graph. Nodes without annotations say why they have no owner."""
    call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 5, "tid": 5, "ts": 10, "dur": 3, "args": {"correlation": 1}}
    events = [call]
    for i, told in enumerate([{"annotation": "attention"}, {"name": "mlp", "layer": "3"}, {"name": "mlp", "layer": "3"}, {}]):
        args = {"device": 0, "context": 1, "stream": 7, "correlation": 1, "graph id": 3, "graph node id": (3 << 32) + i + 1, **told}
        events.append({"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 0, "tid": 7, "ts": 20 + 10 * i, "dur": 2 + i, "args": args})
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    owners = {row["name"]: row for row in _stats(path, "graphs", "--by", "owner")["graphs"]}
    assert {name: (row["count"], row["total_ns"], row["owner_evidence"]) for name, row in owners.items()} == {
        "attention": (1, 2_000, "source"), "mlp": (2, 7_000, "source"), "not known": (1, 5_000, "graph")}
    assert owners["not known"]["owner_gap"] == "not_told" and owners["mlp"]["node_count"] == 2
    kernels = {row["name"]: (row["op"], row["op_evidence"]) for row in _stats(path, "kernels", "--by", "op")["kernels"]}
    assert kernels == {"k0": ("attention", "source"), "k1": ("mlp", "source"), "k2": ("mlp", "source"), "k3": ("graph", "graph")}
    text = gpuprof("stats", "graphs", "--by", "owner", str(path)).out.decode()
    assert "not known: nodes without a known original" in text
