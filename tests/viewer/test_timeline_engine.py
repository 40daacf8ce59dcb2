# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""The timeline's questions: what analysis/timeline answers is what the page's reader answers, and what passes say."""

import collections
import concurrent.futures
import gzip
import json
import struct
import subprocess
import urllib.parse

import pytest

from conftest import BUILD, LIMIT_S, MODULES, ROOT, Served, gpuprof, stats

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
# Here the source names the operations of work by ids, which the page does not read, or work is of a graph.
OTHER_OPS = {COMPILED, OLD_TORCH, AMD}


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


@pytest.fixture(scope="session")
def script(tmp_path_factory):
    made = tmp_path_factory.mktemp("compare") / "compare.mjs"
    bundled = subprocess.run(
        [MODULES / ".bin" / "esbuild", ROOT / "tests" / "viewer" / "compare_timeline.ts", "--bundle", "--platform=node", "--format=esm", f"--outfile={made}", "--log-level=warning"],
        check=False, capture_output=True, text=True)
    assert bundled.returncode == 0, bundled.stderr
    return made


@pytest.mark.parametrize("source", [*STORED, *FOREIGN], ids=lambda path: path.name)
def test_engine_and_page_answer_alike(script, tmp_path, source):
    bundle = bundle_of(source, tmp_path)
    for name in ("kernels", "steps", "heap"):
        (tmp_path / name).write_text(json.dumps(stats(name, bundle, cwd=tmp_path)))
    for seed in (1, 2):
        done = subprocess.run(["node", script, ENGINE, bundle, tmp_path / "kernels", tmp_path / "steps", tmp_path / "heap", str(seed)],
                              check=False, capture_output=True, text=True, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr
        compared = json.loads(done.stdout)
        assert compared["questions"] > 100
        if source.name != "heap.gpt":  # it has a curve alone
            assert compared["events"] == 300 and compared["cells"] > 0
        assert compared["ops_that_differ"] == 0 or source in OTHER_OPS


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
