# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""The pages of a folder of captures and of a comparison, with a double of the server of `gpuprof serve FOLDER`."""

import contextlib
import csv
import http.server
import json
import threading

import pytest

from conftest import ROOT, assert_quiet, gpuprof, missing, probe, write_report

TRACES = ROOT / "tests" / "golden" / "traces"
H200 = TRACES / "h200" / "pytorch"
TOKEN = "0123456789abcdef0123456789abcdef"
HOSTILE = "</script><img src=x onerror=alert(1)>"

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing")


def capture(number, title, **more):
    row = {"id": str(number), "title": title, "kind": "bundle", "importer": "", "bytes": number << 20, "modified_ns": (1764000000 + number) * 10**9,
           "state": "ready", "progress": 1, "reason": ""}
    return {**row, **more}


class Folder:
    """What the double answers. Tests change it while the page looks."""

    def __init__(self, page, results):
        self.page, self.results = page, results
        self.captures = [capture(1, "run1"), capture(2, "run2"), capture(3, "b200.json", kind="file", importer="Kineto JSON"),
                         capture(4, "large.json", kind="file", importer="Kineto JSON", state="importing", progress=0.4),
                         capture(5, HOSTILE, state="failed", reason=f"No events in {HOSTILE}.")]
        self.processes = [{"pid": 77, "command": f"python3 train.py {HOSTILE}", "state": "armed", "title": "run2"}]
        self.orders, self.asked = [], []
        self.is_down = False
        self.goes_down_after = None  # so many lists

    def page_of(self, **manifest):
        whole = {"version": 1, "gpuprof": "0.1.0", "passes": [], "failed": [], "http": True, "files": [], **manifest}
        text = json.dumps(whole).replace("<", "\\u003c")
        mark = self.page.rindex("<!--gpuprof:data-->")
        block = f'<script type="application/json" id="gpuprof-manifest">{text}</script>\n'
        return (self.page[:mark] + block + self.page[mark:]).encode()

    def get(self, path):
        if path == "":
            return "text/html", self.page_of(title="runs", captures=True)
        if self.goes_down_after is not None and self.asked.count("captures") > self.goes_down_after:
            self.is_down = True
        if path == "captures" and not self.is_down:
            return "application/json", json.dumps({"captures": self.captures, "processes": self.processes}).encode()
        if path == "c/1/":
            return "text/html", self.page_of(title="run1", passes=sorted(self.results), folder="../../")
        if path == "diff/1/3/":
            return "text/html", self.page_of(title="run1 and b200.json", passes=["diff"], folder="../../../")
        if path.startswith("c/1/waits/"):
            return "application/json", json.dumps({"words": "", "is_large": False, "has_large": False}).encode()
        name = path.rpartition("/results/")[2]
        if name in self.results:
            return "application/json", self.results[name]
        return None

    def post(self, path):
        self.orders.append(path)
        _, pid, what = path.split("/")
        if what == "snapshot":
            return {"ok": False, "message": "No flight recorder runs in this process."}
        self.processes[0]["state"] = "recording" if what == "start" else "armed"
        return {"ok": True, "message": f"Recording of {pid} will {what}."}


@contextlib.contextmanager
def served(folder):
    class Answer(http.server.BaseHTTPRequestHandler):
        def reply(self, status, kind, body):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # the page was left before it was all there
                self.wfile.write(body)

        def path_below(self):
            root = f"/{TOKEN}/"
            return self.path[len(root):] if self.path.startswith(root) else None

        def do_GET(self):
            path = self.path_below()
            folder.asked.append(path)
            found = None if path is None else folder.get(path)
            self.reply(*((404, "text/plain", b"There is no such page.\n") if found is None else (200, *found)))

        def do_POST(self):
            if self.headers["X-Gpuprof"] != "1":
                return self.reply(403, "text/plain", b"")
            return self.reply(200, "application/json", json.dumps(folder.post(self.path_below())).encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/{TOKEN}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(name="folder")
def make_folder(tmp_path):
    page = write_report(TRACES / "v1" / "files.gpt", tmp_path).read_text(encoding="utf-8")
    begin, end = page.rindex('<script type="application/json" id="gpuprof-manifest">'), page.rindex("<!--gpuprof:data-->")
    results = {}
    for name in ("overview", "files"):
        results[name] = gpuprof("stats", name, TRACES / "v1" / "files.gpt", "--json", cwd=tmp_path).stdout
    results["diff"] = gpuprof("diff", H200 / "language_model", H200 / "generate", "--json", cwd=tmp_path).stdout
    return Folder(page[:begin] + page[end:], results)


def quiet_but_asked(seen, address):
    """Nothing is asked of anybody but the server."""
    assert [asked for asked in seen["requests"] if not asked.startswith(address)] == []
    assert_quiet({**seen, "requests": []})


def test_captures_are_listed_opened_and_compared_by_keyboard(tmp_path, folder):
    with served(folder) as address:
        seen = probe(address, tmp_path, "keyboard", "axe", "read:list", "tick:Compare run1", "tick:Compare b200.json", "said", "press:Compare",
                     "wait:What changed", "read:diff", "follow:All captures", "read:again", "follow:run1", "read:run1")
        quiet_but_asked(seen, address)
    assert seen["keyboard"]["reached"] == ["captures"]
    assert {name: faults for name, faults in seen["axe"].items() if faults} == {}
    listed = seen["text"]["list"]
    for words in ("run1", "run2", "bundle", "file, Kineto JSON", "importing, 40.0\u202f%", "failed: No events", HOSTILE, "train.py", "armed"):
        assert words in listed, words
    assert "5 captures" in listed
    assert "run1 and b200.json" in seen["said"][0]
    assert "The step takes 83.3\u202f% less time." in seen["text"]["diff"]
    assert "Compare" in seen["text"]["diff"] and "Kernels 61" in seen["text"]["diff"]
    assert "5 captures" in seen["text"]["again"]
    assert "All captures" in seen["text"]["run1"] and "Overview" in seen["text"]["run1"]


def test_processes_take_orders_and_say_what_came_of_them(tmp_path, folder):
    with served(folder) as address:
        seen = probe(address, tmp_path, "press:Start recording 77", "wait:Recording of 77 will start.", "said", "wait:1 recording",
                     "press:Snapshot recording 77", "wait:No flight recorder", "said", "press:Stop recording 77", "wait:will stop.", "said")
        quiet_but_asked(seen, address)
    assert folder.orders == ["control/77/start", "control/77/snapshot", "control/77/stop"]
    for said, words in zip(seen["said"], ("Process 77: Recording of 77 will start.", "No flight recorder", "will stop."), strict=True):
        assert words in said


def test_a_server_that_went_away_is_told_and_the_list_stays(tmp_path, folder):
    with served(folder) as address:
        folder.goes_down_after = 2
        seen = probe(address, tmp_path, "wait:The list of captures is not up to date", "read:gone")
    assert "run1" in seen["text"]["gone"] and "404" in seen["text"]["gone"]


def test_a_comparison_shows_the_figures_of_diff(tmp_path, folder):
    result = json.loads(folder.results["diff"])
    with served(folder) as address:
        seen = probe(address + "diff/1/3/", tmp_path, "keyboard", "axe", "csv:diff", "read:diff", "press:Operations 105", "read:ops")
        quiet_but_asked(seen, address)
    assert seen["keyboard"]["reached"] == ["diff"]
    assert {name: faults for name, faults in seen["axe"].items() if faults} == {}
    with open(seen["csv"]["diff"], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["change, µs"]) for row in rows] == pytest.approx([row["change_ns"] / 1e3 for row in result["kernels"]])
    assert [float(row["before, µs"] or -1) for row in rows] == pytest.approx(
        [-1 if row["before_ns"] is None else row["before_ns"] / 1e3 for row in result["kernels"]])
    assert "40.0\u202f%" in seen["text"]["diff"] and "shapes differ" in seen["text"]["diff"]
    assert "copy_" in seen["text"]["ops"]
