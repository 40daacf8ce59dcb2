# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""`gpuprof serve DIR`: the list of a folder's captures, the page of each, comparisons, and control of processes."""

import base64
import concurrent.futures
import contextlib
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import urllib.parse

import pytest

from conftest import GPUPROF, Served, build_dir, clean_env, gpuprof
from test_serve import IMAGES, KINETO, TRACES, head, lacks, status_of
from waiting import LIMIT_S, stay, wait_until

XSPACE = KINETO.parents[1] / "xspace" / "tpu_inference.xplane.pb.gz"
TOGGLED = build_dir() / "tests" / "programs" / "toggled"

pytestmark = pytest.mark.skipif(bool(lacks()), reason=lacks() or "nothing is missing")


@pytest.fixture(name="runs")
def make_runs(tmp_path):
    """A folder of a bundle, a single trace, traces of other tools, and files that are no captures."""
    folder = tmp_path / "runs"
    folder.mkdir()
    shutil.copytree(IMAGES, folder / "images")
    shutil.copy(TRACES / "locks.gpt", folder / "locks.gpt")
    shutil.copy(KINETO, folder / "streams.json.gz")
    shutil.copy(XSPACE, folder / "tpu.xplane.pb.gz")
    (folder / "package.json").write_text('{"name": "no trace"}')
    (folder / "notes.txt").write_text("no trace")
    (folder / "empty").mkdir()
    return folder


@pytest.fixture(name="served")
def start(runs, tmp_path):
    with Served(runs, cwd=tmp_path) as server:
        yield server


def captures_of(server):
    return {capture["title"]: capture for capture in server.json("captures")["captures"]}


def id_of(server, title):
    return captures_of(server)[title]["id"]


def open_page(server, path):
    """The manifest of a page, when its trace was imported."""
    wait_until(lambda: server.get(path)[0] != 202)
    return server.manifest(path)


def post(server, path, **headers):
    status, got, body = server.get(path, "POST", **{"X_Gpuprof": "1", "Content_Length": "0", **headers})
    return status, json.loads(body) if got["Content-Type"] == "application/json" else body


def kept(tmp_path):
    """The imported traces in the cache: their folders and the moments at which they were made."""
    folder = pathlib.Path(f"{tmp_path}.cache") / "gpuprof" / "imports"
    return {path.name: (path / "bundle.pb").stat().st_mtime_ns for path in folder.iterdir()}


def test_the_page_of_the_folder(served):
    manifest = served.manifest()
    assert manifest.pop("gpuprof")
    assert manifest == {"version": 1, "title": "runs", "http": True, "captures": True, "passes": [], "failed": [], "files": []}


def test_the_list(served, runs):
    listed = captures_of(served)
    assert {title: (each["kind"], each["importer"], each["state"], each["progress"], each["reason"]) for title, each in listed.items()} == {
        "images": ("bundle", "", "ready", None, ""),
        "locks.gpt": ("file", "", "ready", None, ""),
        "streams.json.gz": ("file", "Kineto JSON", "ready", None, ""),
        "tpu.xplane.pb.gz": ("file", "XSpace", "ready", None, ""),
    }
    assert listed["images"]["bytes"] == sum(path.stat().st_size for path in (runs / "images").iterdir())
    assert listed["locks.gpt"]["modified_ns"] == (runs / "locks.gpt").stat().st_mtime_ns
    assert len({each["id"] for each in listed.values()}) == 4 and all(each["id"].isdigit() for each in listed.values())
    assert served.json("captures")["processes"] == []
    assert captures_of(served) == listed


def test_a_capture_is_served_as_it_is_alone(served, runs, tmp_path):
    for title, least in (("images", 3), ("locks.gpt", 1), ("streams.json.gz", 1)):
        path = f"c/{id_of(served, title)}/"
        manifest = open_page(served, path)
        with Served(runs / title, cwd=tmp_path) as alone:
            assert {**alone.manifest(), "folder": "../../"} == manifest
        assert len(manifest["files"]) >= least and len(manifest["passes"]) > 20
        for name in ("overview", "kernels", "kernels:op", "locks", "capture" if title == "none" else "streams"):
            key, _, by = name.partition(":")
            expected = gpuprof("stats", key, runs / title, "--json", *(("--by", by) if by else ()), cwd=tmp_path)
            assert served.get(f"{path}results/{name}")[::2] == (200, expected.stdout), (title, name)
        for file in manifest["files"]:
            status, _, body = served.get(f"{path}files/{file['name']}", Range="bytes=0-99")
            assert status == 206 and len(body) == min(100, file["size"])


def test_an_xspace(served, runs, tmp_path):
    path = f"c/{id_of(served, 'tpu.xplane.pb.gz')}/"
    # A result waits for the import.
    expected = gpuprof("stats", "overview", runs / "tpu.xplane.pb.gz", "--json", cwd=tmp_path)
    assert served.get(f"{path}results/overview")[::2] == (200, expected.stdout)
    assert open_page(served, path)["title"] == "tpu.xplane.pb.gz"


@pytest.mark.parametrize("names", [("images", "locks.gpt"), ("locks.gpt", "images"), ("streams.json.gz", "images"), ("images", "images")],
                         ids=lambda names: "-".join(names))
def test_a_comparison_is_that_of_diff(served, runs, tmp_path, names):
    before, after = (id_of(served, name) for name in names)
    manifest = served.manifest(f"diff/{before}/{after}/")
    assert manifest.pop("gpuprof")
    assert manifest == {"version": 1, "title": f"{names[0]} and {names[1]}", "http": True, "passes": ["diff"], "failed": [], "files": [],
                        "folder": "../../../"}
    expected = gpuprof("diff", runs / names[0], runs / names[1], "--json", cwd=tmp_path)
    status, headers, body = served.get(f"diff/{before}/{after}/results/diff")
    assert (status, headers["Content-Type"], body) == (200, "application/json", expected.stdout)
    assert served.get(f"diff/{before}/{after}/results/overview")[0] == 404
    # Each recording has a timeline, two together have none.
    question = urllib.parse.quote('{"ask":"info"}')
    assert served.get(f"diff/{before}/{after}/timeline/{question}")[0] == 404
    assert served.json(f"c/{before}/timeline/{question}")["tracks"]


def test_two_that_cannot_be_compared(served, runs):
    good, bad = id_of(served, "images"), id_of(served, "locks.gpt")
    (runs / "locks.gpt").write_bytes((TRACES / "locks.gpt").read_bytes()[:15] + b"\0" * 50)
    wait_until(lambda: served.get(f"c/{bad}/")[0] == 422)
    status, headers, body = served.get(f"diff/{good}/{bad}/results/diff")
    assert (status, headers["Content-Type"]) == (422, "application/json") and "locks.gpt" in json.loads(body)["reason"]
    listed = captures_of(served)["locks.gpt"]
    assert listed["state"] == "failed" and "locks.gpt" in listed["reason"]


def test_captures_come_and_go(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    with Served(folder, cwd=tmp_path) as server:
        assert captures_of(server) == {}
        shutil.copytree(IMAGES, folder / "one")
        number = wait_until(lambda: captures_of(server).get("one"))["id"]
        assert server.manifest(f"c/{number}/")["title"] == "one"
        os.rename(folder / "one", folder / "two")
        other = wait_until(lambda: captures_of(server).get("two"))["id"]
        assert other != number and list(captures_of(server)) == ["two"]
        for path in (f"c/{number}/", f"c/{number}/results/overview", f"diff/{number}/{other}/"):
            assert server.get(path)[0] == 404
        os.rename(folder / "two", folder / "one")
        assert wait_until(lambda: captures_of(server).get("one"))["id"] == number
        assert server.get(f"c/{number}/")[0] == 200


def test_a_bundle_that_grows_is_opened_again(tmp_path):
    folder = tmp_path / "runs"
    shutil.copytree(TRACES, folder / "grows", ignore=lambda _, names: [name for name in names if name != "locks.gpt"])
    with Served(folder, cwd=tmp_path) as server:
        path = f"c/{id_of(server, 'grows')}/"
        assert [file["name"] for file in server.manifest(path)["files"]] == ["locks.gpt"]
        first = server.get(f"{path}results/overview")[2]
        more = max(IMAGES.glob("*.gpt"), key=lambda each: each.stat().st_size)
        shutil.copy(more, folder / "grows")
        wait_until(lambda: len(server.manifest(path)["files"]) == 2)
        expected = gpuprof("stats", "overview", folder / "grows", "--json", cwd=tmp_path).stdout
        assert server.get(f"{path}results/overview")[2] == expected != first


def test_more_captures_than_stay_open(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for number in range(10):
        shutil.copytree(IMAGES, folder / f"run{number}")
    expected = gpuprof("stats", "kernels", folder / "run0", "--json", cwd=tmp_path).stdout
    with Served(folder, cwd=tmp_path) as server:
        listed = captures_of(server)
        tasks = pathlib.Path(f"/proc/{server.process.pid}/task")
        before = len(list(tasks.iterdir()))
        for _ in range(2):
            for capture in listed.values():
                assert server.get(f"c/{capture['id']}/results/kernels")[2].replace(capture["title"].encode(), b"run0") == expected
        # Each open capture has one thread.
        assert len(list(tasks.iterdir())) - before <= 4


def test_an_import_is_kept(runs, tmp_path):
    cache = pathlib.Path(f"{tmp_path}.cache")
    with Served(runs, cwd=tmp_path) as server:
        path = f"c/{id_of(server, 'streams.json.gz')}/"
        status, headers, body = server.get(path)
        assert status in (200, 202)
        if status == 202:
            assert headers["Retry-After"] == "1" and b'http-equiv="refresh"' in body
        open_page(server, path)
        expected = server.get(f"{path}results/overview")[2]
    first = kept(tmp_path)
    assert len(first) == 1
    for folder in (cache / "gpuprof" / "imports", *(cache / "gpuprof" / "imports").iterdir()):
        assert folder.stat().st_mode & 0o777 == 0o700
    # A second server finds it, and so does one of the trace alone.
    with Served(runs, cwd=tmp_path) as server:
        path = f"c/{id_of(server, 'streams.json.gz')}/"
        assert server.get(path)[0] == 200 and server.get(f"{path}results/overview")[2] == expected
    with Served(runs / "streams.json.gz", cwd=tmp_path) as server:
        assert server.get("results/overview")[2] == expected
    assert kept(tmp_path) == first
    # A trace that has changed is imported again.
    os.utime(runs / "streams.json.gz", (1, 1))
    with Served(runs / "streams.json.gz", cwd=tmp_path) as server:
        assert server.get("results/overview")[2] == expected
    assert len(kept(tmp_path)) == 2 and first.items() < kept(tmp_path).items()


@pytest.mark.parametrize("cache", ["/proc/none", "link", "file"])
def test_without_a_cache(runs, tmp_path, cache):
    place = tmp_path / "cache"
    if cache == "link":
        (place / "gpuprof").mkdir(parents=True)
        (tmp_path / "elsewhere").mkdir()
        (place / "gpuprof" / "imports").symlink_to(tmp_path / "elsewhere")
    if cache == "file":
        place.write_text("")
    with Served(runs, cwd=tmp_path, XDG_CACHE_HOME=cache if cache[0] == "/" else place) as server:
        path = f"c/{id_of(server, 'streams.json.gz')}/"
        assert open_page(server, path)["title"] == "streams.json.gz"
        expected = gpuprof("stats", "streams", runs / "streams.json.gz", "--json", cwd=tmp_path).stdout
        assert server.get(f"{path}results/streams")[2] == expected
        assert [name for name in os.listdir(tmp_path) if name.startswith("gpuprof-report-")]
    assert not [name for name in os.listdir(tmp_path) if name.startswith("gpuprof-report-")]
    if cache == "link":
        assert os.listdir(tmp_path / "elsewhere") == []


def test_a_damaged_entry_of_the_cache(runs, tmp_path):
    with Served(runs / "streams.json.gz", cwd=tmp_path):
        pass
    (name,) = kept(tmp_path)
    entry = pathlib.Path(f"{tmp_path}.cache") / "gpuprof" / "imports" / name
    (entry / "source.json").write_text("[1, 2")
    with Served(runs / "streams.json.gz", cwd=tmp_path) as server:
        assert server.get("results/overview")[0] == 200


def test_what_a_killed_server_left_in_the_cache(runs, tmp_path):
    folder = pathlib.Path(f"{tmp_path}.cache") / "gpuprof" / "imports"
    (folder / "new-abcdef").mkdir(parents=True)
    (folder / "new-abcdef" / "p1-1.gpt.part").write_bytes(b"half")
    with Served(runs / "streams.json.gz", cwd=tmp_path):
        assert not (folder / "new-abcdef").exists()


def large_trace(path):
    """A trace of torch.profiler whose import takes a while."""
    with gzip.open(path, "wt", compresslevel=1) as out:
        out.write('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [\n')
        for number in range(400_000):
            out.write(f'{{"ph": "X", "cat": "cpu_op", "name": "aten::op{number % 50}", "pid": 5, "tid": {number % 4}, '
                      f'"ts": {number * 10}, "dur": 5, "args": {{"External id": {number}}}}},\n')
        out.write('{"ph": "X", "cat": "cpu_op", "name": "last", "pid": 5, "tid": 1, "ts": 9000000, "dur": 1}]}\n')


def test_an_import_tells_how_far_it_is(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    large_trace(folder / "large.json.gz")
    with Served(folder, cwd=tmp_path) as server:
        path = f"c/{id_of(server, 'large.json.gz')}/"
        assert server.get(path)[0] == 202
        seen = []
        while (listed := captures_of(server)["large.json.gz"])["state"] == "importing":
            seen.append(listed["progress"])
            stay(0.02)
        assert listed["state"] == "ready"
        known = [part for part in seen if part is not None]
        assert known == sorted(known) and known and 0 < known[0] <= known[-1] <= 1
        assert server.get(path)[0] == 200


def test_a_signal_in_an_import_leaves_nothing(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    large_trace(folder / "large.json.gz")
    with Served(folder, cwd=tmp_path) as server:
        assert server.get(f"c/{id_of(server, 'large.json.gz')}/")[0] == 202
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=LIMIT_S) == 0
    assert not [name for name in kept(tmp_path) if name.startswith("new-")]
    assert os.listdir(tmp_path) == ["runs"]


def test_an_import_that_fails_says_why(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "bad.xplane.pb").write_bytes(b"\xff" * 5000)
    with Served(folder, cwd=tmp_path) as server:
        number = id_of(server, "bad.xplane.pb")
        status, headers, body = server.get(f"c/{number}/results/overview")
        assert (status, headers["Content-Type"]) == (422, "application/json") and "bad.xplane.pb" in json.loads(body)["reason"]
        assert server.get(f"c/{number}/")[0] == 422
        listed = captures_of(server)["bad.xplane.pb"]
        assert listed["state"] == "failed" and "bad.xplane.pb" in listed["reason"] and listed["reason"].endswith(".")


def test_the_ranks_of_a_run(tmp_path):
    """Files of another tool in one folder are one recording, as `import` reads them."""
    ranks = tmp_path / "runs" / "ranks"
    ranks.mkdir(parents=True)
    shutil.copy(KINETO, ranks / "rank0.json.gz")
    shutil.copy(KINETO.with_name("h200_compiled.json.gz"), ranks / "rank1.json.gz")
    with Served(tmp_path / "runs", cwd=tmp_path) as server:
        listed = captures_of(server)
        assert list(listed) == ["ranks"] and (listed["ranks"]["kind"], listed["ranks"]["importer"]) == ("bundle", "Kineto JSON")
        expected = gpuprof("stats", "streams", ranks, "--json", cwd=tmp_path).stdout
        assert server.get(f"c/{listed['ranks']['id']}/results/streams")[2] == expected
    with Served(ranks, cwd=tmp_path) as server:
        listed = captures_of(server)
        whole = "ranks (2 files as one recording)"
        assert set(listed) == {"rank0.json.gz", "rank1.json.gz", whole}
        assert server.get(f"c/{listed[whole]['id']}/results/streams")[2] == expected


def test_snapshots_of_a_bundle_are_listed(tmp_path):
    folder = tmp_path / "runs"
    shutil.copytree(IMAGES, folder / "run1")
    shutil.copytree(IMAGES, folder / "run1" / "snapshot-20260101T000000Z")
    (folder / "run1" / "snapshot-loop").symlink_to(".")
    with Served(folder, cwd=tmp_path) as server:
        listed = captures_of(server)
        assert {"run1", "run1/snapshot-20260101T000000Z"} <= set(listed) and len(listed) <= 3
        assert server.get(f"c/{listed['run1/snapshot-20260101T000000Z']['id']}/")[0] == 200


def test_a_bundle_is_served_alone(tmp_path):
    shutil.copytree(IMAGES, tmp_path / "run1")
    with Served(tmp_path / "run1", cwd=tmp_path) as server:
        assert "captures" not in server.manifest() and server.get("captures")[0] == 404


def test_wrong_numbers(served):
    good = id_of(served, "images")
    for number in ("", "0", "99", "-1", "+1", "1x", "0x1", " 1", "1%20", "1" * 10, "9" * 400, "%31%00", "..", "1.0", "images", "٣"):
        for path in (f"c/{number}/", f"c/{number}/results/overview", f"diff/{good}/{number}/", f"diff/{number}/{good}/"):
            answer = served.raw(head(served, f"GET /{served.token}/{path} HTTP/1.1".encode().decode("latin-1"), "Connection: close"))
            assert status_of(answer) in (400, 404), (path, answer[:80])
            assert b"gpuprof-manifest" not in answer
    for path in (f"c/{good}", f"diff/{good}", f"diff/{good}/", f"diff/{good}/{good}", "c", "c/", "diff/", "captures/"):
        assert served.get(path)[0] == 404, path


def test_a_path_of_a_client_is_never_opened(served):
    good = id_of(served, "images")
    for path in ("c/../", "c/../captures", "c/%2e%2e/", "c/..%2f..%2fetc%2fpasswd", f"c/{good}/../../etc/passwd", f"c/{good}/files/../../locks.gpt",
                 f"c/{good}/files/%2e%2e%2flocks.gpt", f"c/{good}/files//etc/passwd", "c/images/", "c/%2fetc%2fpasswd/", "../../etc/passwd",
                 f"c/{good}%00/", f"c//{good}/", f"c/{good}/files/"):
        answer = served.raw(head(served, f"GET /{served.token}/{path} HTTP/1.1", "Connection: close"))
        assert status_of(answer) in (400, 404), (path, answer[:80])
        assert b"root:" not in answer


def test_a_wrong_token_or_host_opens_nothing(served):
    good = served.token
    other = ("0" if good[0] != "0" else "1") + good[1:]
    for path in ("captures", "c/1/", "diff/1/2/", "control/1/start"):
        for line in (f"GET /{other}/{path}", f"GET /{path}", f"POST /{other}/{path}"):
            answer = served.raw(head(served, f"{line} HTTP/1.1", "X-Gpuprof: 1", "Connection: close"))
            assert status_of(answer) == 403 and b"images" not in answer, line
        for host in ("evil.example", f"evil.example:{served.port}", f"127.0.0.1:{served.port + 1}"):
            assert served.get(path, host=host)[0] == 403
            assert served.get(path, "POST", host=host, X_Gpuprof="1", Content_Length="0")[0] == 403
        for origin in ("http://evil.example", "null", "x", f"https://127.0.0.1:{served.port}", f"http://127.0.0.1:{served.port + 1}",
                       f"http://127.0.0.1:{served.port}.evil.example", f"http://127.0.0.1:{served.port}/"):
            assert served.get(path, Origin=origin)[0] == 403, origin
            assert served.get(path, "POST", X_Gpuprof="1", Content_Length="0", Origin=origin)[0] == 403, origin
    for origin in (f"http://127.0.0.1:{served.port}", f"http://localhost:{served.port}"):
        assert served.get("captures", Origin=origin)[0] == 200


def test_a_post_changes_nothing_elsewhere(served):
    good = id_of(served, "images")
    for path in ("", "captures", f"c/{good}/", f"c/{good}/results/overview", f"diff/{good}/{good}/", "nothing"):
        status, headers, _ = served.get(path, "POST", X_Gpuprof="1", Content_Length="0")
        assert (status, headers["Allow"]) == (405, "GET, HEAD")
    assert served.get("control/1/start")[0] == 405


class Victim:
    """A program that waits to be recorded: `gpuprof run --capture=off`."""

    def __init__(self, bundle, *options):
        self.bundle = bundle
        command = [GPUPROF, "run", "-o", bundle, *options, "--", TOGGLED, "2"]
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=clean_env())
        assert self.process.stdout.readline() == b"ready\n"
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        (self.pid,) = [int(pid) for pid in children if pathlib.Path(f"/proc/{pid}/comm").read_text() == "toggled\n"]

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.process.stdin.close()
        self.process.stdout.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=LIMIT_S)
        if self.process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.process.kill()
        self.process.wait()

    def answer(self):
        done = subprocess.run([GPUPROF, "ctl", "status", "--json", str(self.pid)], capture_output=True, env=clean_env(), check=True)
        return json.loads(done.stdout)["processes"][0]

    def state(self):
        return self.answer()["state"]


def process_of(server, pid):
    return next((each for each in server.json("captures")["processes"] if each["pid"] == pid), None)


@pytest.mark.skipif(not TOGGLED.exists(), reason="the program was not built")
def test_a_live_process(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    with Served(folder, cwd=tmp_path) as server, Victim(folder / "live", "--capture=off") as victim:
        listed = wait_until(lambda: process_of(server, victim.pid))
        assert listed == {"pid": victim.pid, "command": f"{TOGGLED} 2"[:200], "state": "dormant", "title": "live"}
        status, answer = post(server, f"control/{victim.pid}/stop")
        assert status == 200 and not answer["ok"] and "no capture is running" in answer["message"]
        status, answer = post(server, f"control/{victim.pid}/start")
        assert (status, answer["ok"]) == (200, True) and "capturing" in answer["message"]
        assert (victim.state(), process_of(server, victim.pid)["state"]) == ("capturing", "recording")
        number = wait_until(lambda: captures_of(server).get("live"))["id"]
        status, answer = post(server, f"control/{victim.pid}/stop", Origin=f"http://127.0.0.1:{server.port}")
        assert (status, answer["ok"]) == (200, True) and victim.state() == "dormant"
        # The bundle was open while it was written, and shows what is new.
        wait_until(lambda: json.loads(server.get(f"c/{number}/results/threads")[2]).get("threads"))
        files = server.manifest(f"c/{number}/")["files"]
        assert [file["name"] for file in files if file["name"].startswith(f"p{victim.pid}-")]


@pytest.mark.skipif(not TOGGLED.exists(), reason="the program was not built")
def test_a_snapshot(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    with Served(folder, cwd=tmp_path) as server, Victim(folder / "live", "--ring", "4MiB") as victim:
        wait_until(lambda: victim.state() == "capturing")
        wait_until(lambda: process_of(server, victim.pid))
        wait_until(lambda: victim.answer()["events"], "events")
        status, answer = post(server, f"control/{victim.pid}/snapshot")
        assert (status, answer["ok"]) == (200, True), answer
        name = re.search(r"snapshot-[0-9TZ]+", answer["message"])[0]
        assert list((folder / "live" / name).glob("*.gpt"))
        number = wait_until(lambda: captures_of(server).get(f"live/{name}"))["id"]
        assert server.get(f"c/{number}/")[0] == 200


@pytest.mark.skipif(not TOGGLED.exists(), reason="the program was not built")
def test_control_needs_its_header_and_a_process_of_the_folder(tmp_path):
    folder, other = tmp_path / "runs", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    with Served(folder, cwd=tmp_path) as server, Victim(other / "foreign", "--capture=off") as foreign, Victim(folder / "own", "--capture=off") as own:
        wait_until(lambda: process_of(server, own.pid))
        assert process_of(server, foreign.pid) is None
        for headers in ({"X_Gpuprof": "0"}, {"X_Gpuprof": ""}, {"X_Gpuprof": "1, 1"}):
            assert post(server, f"control/{own.pid}/start", **headers)[0] == 403
        assert server.get(f"control/{own.pid}/start", "POST", Content_Length="0")[0] == 403
        line = f"POST /{server.token}/control/{own.pid}/start HTTP/1.1"
        assert status_of(server.raw(head(server, line, "X-Gpuprof: 1", "X-Gpuprof: 1", "Content-Length: 0"))) == 403
        assert post(server, f"control/{own.pid}/start", Origin="http://evil.example")[0] == 403
        for pid, action in ((foreign.pid, "start"), (server.process.pid, "start"), (1, "stop"), (os.getpid(), "start"), (0, "start"),
                            ("all", "start"), (f"-{own.pid}", "start"), (own.pid, "toggle"), (own.pid, "status"), (own.pid, "start/"),
                            (own.pid, "snapshot x"), (own.pid, ""), ("9" * 12, "start"), ("99999999", "start")):
            assert post(server, f"control/{pid}/{str(action).replace(' ', '%20')}")[0] == 404, (pid, action)
        assert (own.state(), foreign.state()) == ("dormant", "dormant")


def test_hostile_content(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("pipe.gpt", "pipe.json", "pipe.xplane.pb"):
        os.mkfifo(folder / name)
    (folder / "loop").symlink_to("loop")
    (folder / "here").symlink_to(".")
    (folder / "gone.gpt").symlink_to("nothing")
    (folder / "zero.json").symlink_to("/dev/zero")
    (folder / "junk.gpt").write_bytes(os.urandom(9000))
    (folder / "bomb.json.gz").write_bytes(gzip.compress(b" " * (50 << 20)))
    (folder / "deep").mkdir()
    os.mkfifo(folder / "deep" / "p1-1.gpt")
    html = '<img src=x onerror="alert(1)">.gpt'
    shutil.copy(TRACES / "locks.gpt", folder / html)
    shutil.copy(TRACES / "locks.gpt", os.fsencode(folder) + b"/bad\xff\xfe.gpt")
    shutil.copy(TRACES / "locks.gpt", folder / "line\nfeed\x1b[2J.gpt")
    with Served(folder, cwd=tmp_path) as server:
        listed = captures_of(server)
        assert set(listed) >= {html, "bad��.gpt", "junk.gpt"} and not any(name.startswith(("pipe", "loop", "gone", "zero", "bomb")) for name in listed)
        assert listed["junk.gpt"]["state"] == "failed" and "Record it again" in listed["junk.gpt"]["reason"]
        for title, capture in listed.items():
            status, headers, body = server.get(f"c/{capture['id']}/")
            assert status in (200, 422) and headers["X-Content-Type-Options"] == "nosniff"
            assert b"<img src=x" not in body
            if title.startswith(("<img", "bad", "line")):
                assert status == 200 and server.get(f"c/{capture['id']}/results/locks")[0] == 200
                file = server.manifest(f"c/{capture['id']}/")["files"][0]["name"]
                assert "\n" not in file and "\x1b" not in file
        first, second = listed[html]["id"], listed["bad��.gpt"]["id"]
        assert b"<img src=x" not in server.get(f"diff/{first}/{second}/")[2]
        assert server.get(f"diff/{first}/{second}/results/diff")[0] == 200


def test_5000_files(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    trace = TRACES / "locks.gpt"
    for number in range(3000):
        shutil.copy(trace, folder / f"run{number:04}.gpt")
    for number in range(2000):
        (folder / f"settings{number}.json").write_text('{"a": 1}')
    with Served(folder, cwd=tmp_path) as server:
        listed = captures_of(server)
        stay(1.1)  # the list is read anew
        assert captures_of(server) == listed and len(listed) == 3000
        assert server.get(f"c/{listed['run2999.gpt']['id']}/results/locks")[0] == 200


def test_50_captures_at_rest(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for number in range(50):
        shutil.copytree(IMAGES, folder / f"run{number}")
    with Served(folder, cwd=tmp_path) as server:
        for capture in captures_of(server).values():
            assert server.get(f"c/{capture['id']}/results/overview")[0] == 200
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        resident = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        print(f"50 captures: {resident >> 10} MiB resident")
        assert resident < 100 << 10


def test_many_ask_at_once(served):
    listed = captures_of(served)
    paths = [f"c/{each['id']}/results/{name}" for each in listed.values() for name in ("overview", "kernels", "threads")] * 3
    with concurrent.futures.ThreadPoolExecutor(36) as pool:
        statuses = list(pool.map(lambda path: served.get(path)[0], paths))
    assert statuses == [200] * len(paths)


def test_a_report_against_another(runs, tmp_path):
    page = tmp_path / "report.html"
    done = gpuprof("report", runs / "images", "--against", runs / "locks.gpt", "-o", page, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    manifest = json.loads(re.search(r'id="gpuprof-manifest">(.*?)</script>', text, re.S)[1])
    assert "diff" in manifest["passes"] and text.count('data-pass="diff"') == 1
    packed = base64.b64decode(re.search(r'data-pass="diff" data-encoding="gzip\+base64">([^<]*)<', text)[1])
    assert gzip.decompress(packed) == gpuprof("diff", runs / "locks.gpt", runs / "images", "--json", cwd=tmp_path).stdout
    plain = tmp_path / "plain.html"
    assert gpuprof("report", runs / "images", "-o", plain, cwd=tmp_path).returncode == 0
    assert 'data-pass="diff"' not in plain.read_text()
    missing = gpuprof("report", runs / "images", "--against", "nothing", "-o", tmp_path / "no.html", cwd=tmp_path)
    assert missing.returncode == 3 and b"nothing" in missing.stderr and not (tmp_path / "no.html").exists()
