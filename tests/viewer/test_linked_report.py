# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""`gpuprof report --link-events`: results in the page, events in the bundle, and any static web server."""

import contextlib
import csv
import functools
import http.server
import json
import re
import shutil
import threading

import pytest

from conftest import ROOT, assert_quiet, gpuprof, missing, probe, stats, write_report

IMAGES = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch" / "images"
KINETO = ROOT / "tests" / "golden" / "kineto" / "h200_streams.json.gz"
# An address must not take these letters as they are.
NAME = "run 1#ü%41"

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing")


class Whole(http.server.SimpleHTTPRequestHandler):
    """The server that comes with Python. It ignores ranges, and sends whole files."""

    def log_message(self, *_):
        pass


class Ranged(Whole):
    """Answers one range of a file, as common web servers do."""

    def send_head(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if wanted is None:
            return super().send_head()
        path = self.translate_path(self.path)
        try:
            file = open(path, "rb")
        except OSError:
            self.send_error(404)
            return None
        with file:
            whole = file.read()
        part = whole[int(wanted[1]) : int(wanted[2]) + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {wanted[1]}-{wanted[2]}/{len(whole)}")
        self.end_headers()
        self.wfile.write(part)
        return None


@contextlib.contextmanager
def served(folder, handler):
    """The address of a web server that offers a folder."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def manifest(page):
    return json.loads(re.search(r'id="gpuprof-manifest">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1])


def looks_at(bundle, folder):
    """A range of some steps, and what the page is asked about it."""
    steps = stats("steps", bundle, cwd=folder)["steps"]
    begin, end = steps[1]["start_ns"], steps[2]["start_ns"] + steps[2]["duration_ns"]
    timeline = f"timeline?v={begin},{end}&sel={begin},{end}"
    return timeline, [f"ink:{timeline}", f"text:{timeline}", f"narrow:{begin},{end}", "csv:kernels"]


def told(seen, timeline):
    """The picture, the texts beside the table of the range, its first rows, and the CSV. The page holds as many rows as it has room for."""
    lines = seen["text"][timeline].splitlines()
    rows = [line for line in lines if line.count("\t") > 3]
    with open(seen["csv"]["kernels"], encoding="utf-8") as file:
        return seen["ink"][timeline], [line for line in lines if line not in rows], rows[:10], file.read()


@pytest.mark.parametrize("handler", [Ranged, Whole])
def test_a_web_server_is_enough(tmp_path, handler):
    """The timeline, the table of a range and narrowed pages are those of a report that has its events inside."""
    site = tmp_path / "site"
    site.mkdir()
    bundle = site / NAME
    shutil.copytree(IMAGES, bundle)
    done = gpuprof("report", bundle, "--link-events", "-o", site / "page.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"a web server that offers the folder" in done.stderr and str(site).encode() in done.stderr
    page = manifest(site / "page.html")
    assert page["files_at"] == "run%201%23%C3%BC%2541/"
    assert {file["name"]: file["size"] for file in page["files"]} == {path.name: path.stat().st_size for path in bundle.iterdir()}
    whole = write_report(bundle, tmp_path)
    assert b'class="gpuprof-file"' not in (site / "page.html").read_bytes()

    timeline, steps = looks_at(bundle, tmp_path)
    folders = [tmp_path / name for name in ("linked", "inside")]
    for folder in folders:
        folder.mkdir()
    with served(site, handler) as address:
        seen = probe(f"{address}/page.html", folders[0], *steps)
    assert seen["errors"] == []
    assert seen["requests"] and all(asked.startswith(f"{address}/{page['files_at']}") for asked in seen["requests"])
    if handler is Whole:
        assert len(seen["requests"]) == len(page["files"])
    expected = probe(whole, folders[1], *steps)
    assert_quiet(expected)
    assert told(seen, timeline) == told(expected, timeline)
    assert seen["ink"][timeline]["colours"] > 20


def test_a_page_inside_its_bundle(tmp_path):
    bundle = tmp_path / "run1"
    shutil.copytree(IMAGES, bundle)
    done = gpuprof("report", "run1", "--link-events", "-o", "run1/index.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert manifest(bundle / "index.html")["files_at"] == "./"
    timeline, steps = looks_at(bundle, tmp_path)
    with served(bundle, Ranged) as address:
        seen = probe(f"{address}/", tmp_path, *steps)
    assert seen["errors"] == [] and seen["ink"][timeline]["colours"] > 20


def test_a_page_of_one_file(tmp_path):
    trace = max(IMAGES.glob("p*.gpt"), key=lambda path: path.stat().st_size)
    shutil.copy(trace, tmp_path / "some trace.gpt")
    done = gpuprof("report", "some trace.gpt", "--link-events", "-o", "page.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = manifest(tmp_path / "page.html")
    assert page["files_at"] == "./" and [file["name"] for file in page["files"]] == ["some trace.gpt"]
    timeline, steps = looks_at(tmp_path / "some trace.gpt", tmp_path)
    with served(tmp_path, Ranged) as address:
        seen = probe(f"{address}/page.html", tmp_path, *steps)
    assert seen["errors"] == [] and seen["ink"][timeline]["colours"] > 20


def test_a_page_from_disk_has_results_and_says_what_events_need(tmp_path):
    shutil.copytree(IMAGES, tmp_path / "run1")
    page = write_report("run1", tmp_path, "--link-events")
    seen = probe(page, tmp_path, "text:timeline", "text:kernels")
    assert_quiet(seen)
    assert "Open this page from a web server" in seen["text"]["timeline"]
    assert "launches" in seen["text"]["kernels"]


def test_a_page_without_its_bundle_says_what_is_missing(tmp_path):
    shutil.copytree(IMAGES, tmp_path / "run1")
    write_report("run1", tmp_path, "--link-events")
    shutil.move(tmp_path / "run1", tmp_path / "run2")
    with served(tmp_path, Ranged) as address:
        seen = probe(f"{address}/report.html", tmp_path, "text:timeline", "text:kernels")
    assert "Nothing is at http://" in seen["text"]["timeline"]
    assert "launches" in seen["text"]["kernels"]


def test_what_cannot_be_linked(tmp_path):
    shutil.copytree(IMAGES, tmp_path / "run1")
    refused = {
        ("run1", "-o", "-"): b"name it with -o",
        (KINETO, "-o", "page.html"): b"'gpuprof import' makes a bundle",
        ("run1", "-o", "/dev/shm/gpuprof-page.html"): b"write the page next to the bundle",
    }
    for options, words in refused.items():
        done = gpuprof("report", *options, "--link-events", cwd=tmp_path)
        assert done.returncode == 2 and words in done.stderr, (options, done.stderr)
    assert not (tmp_path / "page.html").exists()


def test_a_linked_page_from_disk_has_the_parts_that_are_written_in_it(tmp_path):
    """It may not read the files beside it, so a step comes from what the page holds."""
    bundle = tmp_path / "images"
    shutil.copytree(ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch" / "images", bundle)
    page = write_report(bundle, tmp_path, "--link-events")
    step = next(each["name"] for each in manifest(page)["parts"] if "step" in each)
    seen = probe(page, tmp_path, f"csv:kernels?part={step}")
    assert_quiet(seen)
    told = stats("kernels", bundle, "--steps", step.removeprefix("step="), cwd=tmp_path)["kernels"]
    with open(seen["csv"][f"kernels?part={step}"], newline="", encoding="utf-8") as file:
        assert sum(int(row["count"]) for row in csv.DictReader(file)) == sum(row["count"] for row in told) > 0
