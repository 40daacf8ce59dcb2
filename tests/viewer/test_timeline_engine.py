# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""The timeline's questions: answers that were reviewed stay as they are, and sums are what the events and the passes say.

GPUPROF_UPDATE_GOLDEN=1 writes the reviewed answers anew."""

import collections
import concurrent.futures
import gzip
import hashlib
import json
import os
import random
import struct
import subprocess
import urllib.parse

import pytest

from conftest import BUILD, LIMIT_S, ROOT, Served, gpuprof, stats

GOLDEN = ROOT / "tests" / "golden"
TRACES = GOLDEN / "traces"
ENGINE = BUILD / "tests" / "viewer" / "gpuprof_timeline_answers"
STORED = [*sorted((TRACES / "v1").glob("*.gpt")), *(TRACES / "h200" / "pytorch" / name for name in ("images", "generate", "language_model"))]
COMPILED = GOLDEN / "kineto" / "h200_compiled.json.gz"
OLD_TORCH = GOLDEN / "import" / "names-of-torch-1.8"
AMD = GOLDEN / "import" / "copies-of-amd"
TPU = GOLDEN / "xspace" / "tpu_inference.xplane.pb.gz"
FOREIGN = [COMPILED, GOLDEN / "kineto" / "h200_streams.json.gz", OLD_TORCH, AMD, TPU, GOLDEN / "xspace" / "jax_conv_mi300.xplane.pb.gz", GOLDEN / "xspace" / "cpu",
           *(GOLDEN / "import" / name for name in ("python-calls-that-never-end", "ranks-merged-in-one-file", "sync-rows-are-no-kernels", "shapes-and-memory-rows"))]
# Digests of answers. They were equal, to the nanosecond, to those of another reader of the format, in another language.
REVIEWED = GOLDEN / "timeline" / "answers.json"
CURVES = ("queue", "memory", "counter")


def bundle_of(source, folder):
    """The source as a bundle in a folder."""
    if source.suffix == ".gpt":
        target = folder / "one"
        target.mkdir()
        (target / source.name).write_bytes(source.read_bytes())
        return target
    if source in STORED:
        return source
    if source.name.endswith(".pb.gz"):
        plain = folder / source.stem
        plain.write_bytes(gzip.decompress(source.read_bytes()))
        source = plain
    if source.parent == GOLDEN / "import":
        source = next(path for path in source.iterdir() if path.name != "expected.json")  # what the import must say
    done = gpuprof("import", source, "-o", folder / "imported", cwd=folder)
    assert (folder / "imported" / "bundle.pb").exists(), done.stderr
    return folder / "imported"


def ask(bundle, questions):
    """The engine's answers that are JSON."""
    return [json.loads(answer) for answer in ask_bytes(bundle, questions)]


def ask_bytes(bundle, questions):
    """The engine's answers. An error fails the test."""
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run([ENGINE, bundle], input=lines.encode(), capture_output=True, check=True, timeout=LIMIT_S)
    answers, at = [], 0
    while at < len(done.stdout):
        length, failed = struct.unpack_from("<QB", done.stdout, at)
        answer = done.stdout[at + 9:at + 9 + length]
        assert not failed, answer
        answers.append(answer)
        at += 9 + length
    assert len(answers) == len(questions)
    return answers


def windows_of(info, chance, count):
    """Windows of all lengths, with edges between nanoseconds, too."""
    start, end = info["start_ns"], info["end_ns"] + 1
    yield start, end
    for _ in range(count - 1):
        length = (end - start) * 10 ** -chance.uniform(0, 5)
        begin = start + (end - start - length) * chance.random()
        yield (round(begin), round(begin + length) + 1) if chance.random() < 0.7 else (begin, begin + length)


def random_questions(info, seed):
    chance = random.Random(seed)
    tracks = info["tracks"]
    drawn = [track for track in tracks if track["kind"] not in CURVES]
    names = [word for track in tracks for word in track["name"].split()]
    for start, end in windows_of(info, chance, 12):
        window = {"start_ns": start, "end_ns": end}
        some = [track["id"] for track in chance.sample(drawn, min(len(drawn), 8))]
        yield {"ask": "spans", "tracks": some, **window, "ns_per_px": (end - start) / chance.choice((200, 1900, 5000))}
        yield {"ask": "range", "kind": chance.choice(drawn)["kind"] if drawn else "op", **window}
        yield {"ask": "range", "kind": "stream", **window, "devices": [0]}
        yield {"ask": "gaps", **window}
        yield {"ask": "calls", **window}
        for track in tracks:
            if track["kind"] in CURVES and chance.random() < 0.3:
                yield {"ask": "counter", "track": track["id"], **window, "ns_per_px": (end - start) / 700}
        for track in chance.sample(drawn, min(len(drawn), 3)):
            yield {"ask": "at", "track": track["id"], "time_ns": start + (end - start) * chance.random()}
            if track["kind"] not in ("range", "steps"):  # some rows of ranges are no events
                yield {"ask": "event", "track": track["id"], "row": chance.randrange(track["rows"])}
    for text in ("gemm", "e", "Launch", *chance.sample(names, min(len(names), 2))):
        yield {"ask": "search", "text": text, "limit": 5}


@pytest.mark.parametrize("source", [*STORED, *FOREIGN], ids=lambda path: path.name)
def test_reviewed_answers_stay(tmp_path, source):
    bundle = bundle_of(source, tmp_path)
    info = ask(bundle, [{"ask": "info"}])[0]
    found = {}
    for seed in (1, 2):
        for question, answer in zip(questions := list(random_questions(info, seed)), ask_bytes(bundle, questions)):
            # What the answers of one kind say together: a change names its kind.
            found.setdefault(question["ask"], hashlib.sha256()).update(answer)
    digests = {kind: digest.hexdigest()[:16] for kind, digest in sorted(found.items())}
    reviewed = json.loads(REVIEWED.read_text()) if REVIEWED.exists() else {}
    if os.environ.get("GPUPROF_UPDATE_GOLDEN"):
        REVIEWED.parent.mkdir(exist_ok=True)
        REVIEWED.write_text(json.dumps({**reviewed, source.name: digests}, indent=1, sort_keys=True) + "\n")
    else:
        assert digests == reviewed[source.name]


def spans_of(answer):
    """The rectangles of an answer, by track: start, end, depth, row, events, busy time."""
    length, = struct.unpack_from("<I", answer, 4)
    header = json.loads(answer[8:8 + length])
    kinds = {"f64": "d", "u32": "I", "u8": "B"}

    def array(place):
        return struct.unpack_from(f"<{place['length']}{kinds[place['type']]}", answer, 8 + length + place["at"])

    return {each["track"]: list(zip(*(array(each[name]) for name in ("start_ns", "end_ns", "depth", "row", "count", "busy_ns")))) for each in header["spans"]}


def covered(spans, start, end):
    """The time in a window in which one of them ran."""
    busy, until = 0, start
    for begin, stop in sorted(spans):
        begin, stop = max(begin, until), min(stop, end)
        if stop > begin:
            busy += stop - begin
            until = stop
    return busy


@pytest.mark.parametrize("source", [*STORED, *FOREIGN], ids=lambda path: path.name)
def test_pictures_and_sums_are_what_the_events_say(tmp_path, source):
    """Every event of some tracks is read one by one. Cells, sums of ranges and busy times are then theirs."""
    bundle = bundle_of(source, tmp_path)
    info = ask(bundle, [{"ask": "info"}])[0]
    chance = random.Random(3)
    drawn = [track for track in info["tracks"] if track["kind"] not in (*CURVES, "graph_lane", "range") and track["rows"] <= 20_000]
    checked = 0
    for track in chance.sample(drawn, min(len(drawn), 6)):
        rows = ask(bundle, [{"ask": "event", "track": track["id"], "row": row} for row in range(track["rows"])])
        events = [(row["start_ns"], row["start_ns"] + row["duration_ns"]) for row in rows]
        weights = [next((int(field["value"].split()[0]) for field in row["fields"] if field["name"] == "stands for"), 1) for row in rows]
        # One track alone: then a range of its kind has the events of this one.
        windows = list(windows_of(info, chance, 10))
        questions = [question for start, end in windows for question in (
            {"ask": "range", "kind": track["kind"], "start_ns": start, "end_ns": end, "tracks": [track["id"]]},
            {"ask": "spans", "tracks": [track["id"]], "start_ns": start, "end_ns": end, "ns_per_px": (end - start) / 300})]
        answers = ask_bytes(bundle, questions)
        for (start, end), range_bytes, span_bytes in zip(windows, answers[::2], answers[1::2]):
            told = json.loads(range_bytes)
            inside = [(event, weight) for event, weight in zip(events, weights) if event[0] < end and (event[1] > start or event[0] >= start)]
            assert sum(row["count"] for row in told["rows"]) == sum(weight for _, weight in inside), (track, start, end)
            cut = sum((min(stop, end) - max(begin, start)) * weight for (begin, stop), weight in inside)
            assert sum(row["total_ns"] for row in told["rows"]) == pytest.approx(cut, abs=1e-3), (track, start, end)
            busy = covered([event for event, _ in inside], start, end)
            assert sum(each["busy_ns"] for each in told["busy_ns"]) == pytest.approx(busy, abs=1e-3), (track, start, end)
            drawn_spans = spans_of(span_bytes)[track["id"]]
            begun = sum(start <= begin < end for begin, _ in events)
            assert sum(span[4] for span in drawn_spans) >= begun, (track, start, end)
            for begin, stop, _, row, count, time in drawn_spans:
                if count == 1:
                    assert (begin, stop) == events[row] and time == stop - begin
            if (start, end) == windows[0]:
                assert sum(span[4] for span in drawn_spans) == len(events)
                assert sum(span[5] for span in drawn_spans) == pytest.approx(sum(stop - begin for begin, stop in events), abs=1e-3)
            checked += 1
    assert checked > 0 or source.name in ("heap.gpt", "killed.gpt", "samples.gpt")  # a curve alone, ranges alone, and samples alone


@pytest.mark.parametrize("source", [*STORED, *FOREIGN], ids=lambda path: path.name)
def test_sums_of_the_whole_are_those_of_passes(tmp_path, source):
    bundle = bundle_of(source, tmp_path)
    info = ask(bundle, [{"ask": "info"}])[0]
    window = {"start_ns": info["start_ns"], "end_ns": info["end_ns"] + 1}
    for kind, name, table in (("api", "api", "calls"), ("op", "ops", "ops")):
        rows = ask(bundle, [{"ask": "range", "kind": kind, **window}])[0]["rows"]
        told = collections.Counter()
        for row in stats(name, bundle, cwd=tmp_path)[table]:
            told[row["name"]] += row["count"]
        if kind == "op" and source == TPU:
            continue  # the pass counts the operations of the TPU, too
        assert collections.Counter({row.get("full_name", row["name"]): row["count"] for row in rows}) == told, (kind, source)
    rows = ask(bundle, [{"ask": "range", "kind": "stream", **window}])[0]["rows"]
    kernels = sum(row["count"] for row in stats("kernels", bundle, cwd=tmp_path)["kernels"])
    copies = sum(row["count"] for row in stats("memcpy", bundle, cwd=tmp_path)["copies"])
    classes = collections.Counter()
    for row in rows:
        classes["copies" if row["cls"] in ("memcpy", "memset") else "kernels"] += row["count"]
    assert (classes["kernels"], classes["copies"]) == (kernels, copies) or source.name == "graphs.gpt", classes  # a graph as a whole is a row


@pytest.mark.parametrize("source", [TRACES / "h200" / "pytorch" / "images", COMPILED, OLD_TORCH, AMD, TPU], ids=lambda path: path.name)
def test_operations_of_kernels_are_those_of_the_pass(tmp_path, source):
    """For each kernel by its full name, and each operation: as many events as `kernels --by op` counts."""
    bundle = bundle_of(source, tmp_path)
    expected = collections.Counter()
    for row in stats("kernels", bundle, "--by", "op", cwd=tmp_path)["kernels"]:
        expected[row["name"], row["op"] or ""] += row["count"]
    tracks = ask(bundle, [{"ask": "info"}])[0]["tracks"]
    rows = [(track["id"], row) for track in tracks if track["kind"] == "stream" for row in range(track["rows"])]
    found = collections.Counter()
    for event in ask(bundle, [{"ask": "event", "track": track, "row": row} for track, row in rows]):
        fields = {field["name"]: field["value"] for field in event["fields"]}
        if "registers a thread" not in fields:
            continue  # copies and memsets
        kinds = [tracks[cause["track"]]["kind"] for cause in event["causes"]]
        ops = [cause["name"] for cause, kind in zip(event["causes"], kinds) if kind == "op"]
        is_in_graph = kinds[:1] == ["api"] and "GraphLaunch" in event["causes"][0]["name"]
        # The operation that launched a graph did not make its nodes.
        op = "" if is_in_graph and len(ops) < 2 else ops[-1] if ops else fields.get("operation", "")
        found[fields.get("full name", event["name"]), "" if op.startswith("ProfilerStep#") else op] += 1
    assert sum(found.values()) == sum(expected.values()) > 0
    known = {key: count for key, count in expected.items() if key[1] not in ("", "graph")}
    assert known and {key: count for key, count in found.items() if key[1]} == known


def test_work_is_an_effect_of_its_operation(tmp_path):
    """Old files of PyTorch name the operation of each kernel, also where another one ran at the time of the call."""
    bundle = bundle_of(OLD_TORCH, tmp_path)
    tracks = ask(bundle, [{"ask": "info"}])[0]["tracks"]
    work = [{"ask": "event", "track": track["id"], "row": row} for track in tracks if track["kind"] == "stream" for row in range(track["rows"])]
    checked = 0
    for question, event in zip(work, ask(bundle, work)):
        ops = [cause for cause in event["causes"] if tracks[cause["track"]]["kind"] == "op"]
        for op in ops:
            back = ask(bundle, [{"ask": "event", "track": op["track"], "row": op["row"]}])[0]
            assert (question["track"], question["row"]) in [(effect["track"], effect["row"]) for effect in back["effects"]], (event, back)
            checked += 1
    assert checked > 0


def served_answer(server, question, **options):
    text = question if isinstance(question, str) else json.dumps(question)
    return server.get("timeline/" + urllib.parse.quote(text, safe=""), **options)


def questions_about(bundle):
    info = ask(bundle, [{"ask": "info"}])[0]
    start, end = info["start_ns"], info["end_ns"]
    drawn = [track["id"] for track in info["tracks"] if track["kind"] not in ("queue", "memory", "counter")]
    curves = [track["id"] for track in info["tracks"] if track["id"] not in drawn]
    window = {"start_ns": start, "end_ns": end}
    return [
        {"ask": "info"},
        {"ask": "spans", "tracks": drawn, **window, "ns_per_px": (end - start) / 1000},
        {"ask": "spans", "tracks": drawn[:2], "start_ns": start + 0.25, "end_ns": start + 1e6, "ns_per_px": 500.5},
        *({"ask": "counter", "track": track, **window, "ns_per_px": 1e6} for track in curves[:3]),
        {"ask": "event", "track": drawn[0], "row": 0},
        {"ask": "search", "text": "a/b?c%#", "limit": 3},
        {"ask": "search", "text": "e", "limit": 3},
        {"ask": "at", "track": drawn[0], "time_ns": (start + end) / 2},
        {"ask": "range", "kind": "stream", **window},
        {"ask": "calls", **window},
        {"ask": "gaps", **window},
    ]


def test_a_server_answers_as_the_engine(tmp_path):
    source = TRACES / "h200" / "pytorch" / "images"
    questions = questions_about(source)
    expected = ask_bytes(source, questions)
    with Served(source, cwd=tmp_path) as server:
        for question, wanted in zip(questions, expected):
            status, headers, body = served_answer(server, question)
            assert (status, body) == (200, wanted), question
            is_json = not wanted.startswith(b"GTA1")
            assert headers["Content-Type"] == ("application/json" if is_json else "application/octet-stream")
        # Pages ask at the same time.
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda question: served_answer(server, question)[2], questions * 4))
        assert answers == expected * 4


def test_a_server_refuses_what_is_no_question(tmp_path):
    with Served(TRACES / "v1" / "gpu.gpt", cwd=tmp_path) as server:
        for wrong in ("", "info", "{}", '{"ask":"nothing"}', '{"ask":"event","track":0,"row":99}', '{"ask":"spans","tracks":[0,0],"start_ns":0,"end_ns":1,"ns_per_px":1}', "[" * 1000, "\xff"):
            status, headers, body = served_answer(server, wrong)
            assert (status, headers["Content-Type"]) == (422, "application/json"), wrong
            assert json.loads(body)["reason"].endswith("."), wrong
        good = {"ask": "info"}
        assert served_answer(server, good, method="POST")[0] == 405
        assert served_answer(server, good, method="HEAD")[2] == b""
        assert served_answer(server, good, Origin="http://example.org")[0] == 403
        assert served_answer(server, good, host="example.org")[0] == 403
        token, server.token = server.token, "0" * 32
        assert served_answer(server, good)[0] == 403
        server.token = token
        assert served_answer(server, good)[0] == 200


def test_a_page_that_is_opened_anew_sees_what_a_recording_has_got(tmp_path):
    source = TRACES / "h200" / "pytorch" / "images"
    target = tmp_path / "bundle"
    target.mkdir()
    first, *others = sorted(source.glob("p*.gpt"))
    for path in (first, source / "bundle.pb"):
        (target / path.name).write_bytes(path.read_bytes())
    with Served(target, cwd=tmp_path) as server:
        before = json.loads(served_answer(server, {"ask": "info"})[2])
        (target / others[0].name).write_bytes(others[0].read_bytes())
        # The page that is open keeps its tracks until it asks for them again.
        again = served_answer(server, {"ask": "at", "track": 0, "time_ns": 0})
        assert again[0] == 200
        after = json.loads(served_answer(server, {"ask": "info"})[2])
        assert len(after["processes"]) == len(before["processes"]) + 1
