# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Bundles of somebody else's, from which a page is made or served. A page is handed on, so it must hold no file but the bundle's own."""

import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from conftest import GPUPROF, clean_environment, gpuprof, program
from waiting import LIMIT_S

SECRET = b"PRIVATE KEY 0123456789 " * 40
STEM = "p4194000-1"  # beyond the process numbers that Linux gives
OTHER = 61001  # a bare number, no account
TRACES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "traces" / "v1"


def built_without():
    tried = gpuprof("report", TRACES / "locks.gpt", "-o", "-")
    return b"built without" in tried.err


pytestmark = pytest.mark.skipif(built_without(), reason="this build has no page of reports")


@pytest.fixture
def bundle(record):
    return record([program("heap_truth"), 2, 2000, 64, 100], "--trace=heap=exact").bundle


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    return path


def page_of(bundle, tmp_path, *options):
    """What `report` says, the page, and the files inside."""
    page = tmp_path / "page.html"
    page.unlink(missing_ok=True)
    done = gpuprof("report", "-o", page, *options, bundle, timeout=LIMIT_S)
    text = page.read_bytes() if page.exists() else b""
    blocks = re.findall(rb'class="gpuprof-file" data-name="([^"]*)"[^>]*>([^<]*)<', text)
    return done, text, {name.decode(): base64.b64decode(data) for name, data in blocks}


def tells(text, files):
    return b"PRIVATE KEY" in text or any(b"PRIVATE KEY" in data for data in files.values()) or base64.b64encode(SECRET[:300]) in text


def is_listed(name, text):
    """Whether a page that reads files elsewhere names this one."""
    return re.search(rb'"name": ?"%s", ?"size"' % re.escape(name.encode()), text) is not None


def by_link(target, path):
    path.symlink_to(target)


def by_copy(target, path):
    shutil.copy(target, path)


@pytest.mark.parametrize("put", [by_link, by_copy])
@pytest.mark.parametrize("name", ["bundle.pb", f"{STEM}.gpt", "other.gpt"])
@pytest.mark.parametrize("options", [(), ("--link-events",)], ids=str)
def test_a_page_tells_no_foreign_file(bundle, secret, tmp_path, name, put, options):
    """Neither what a link leads to, nor a file that is not gpuprof's."""
    (bundle / name).unlink(missing_ok=True)
    put(secret, bundle / name)
    done, text, files = page_of(bundle, tmp_path, *options)
    assert done.status == 3 and name.encode() in done.err, done.err.decode()
    assert text and not tells(text, files)
    assert name not in files and not is_listed(name, text)
    [trace] = [path for path in bundle.glob("p*.gpt") if path.name != name and not path.is_symlink()]
    assert options or files[trace.name] == trace.read_bytes()


def test_a_link_to_a_trace_is_not_followed(bundle, tmp_path):
    """The other trace may be a private one of the reader's."""
    shutil.copy(TRACES / "locks.gpt", tmp_path / "private.gpt")
    (bundle / f"{STEM}.gpt").symlink_to(tmp_path / "private.gpt")
    done, text, files = page_of(bundle, tmp_path)
    assert done.status == 3 and f"{STEM}.gpt".encode() in done.err and b"a symbolic link" in done.err
    assert f"{STEM}.gpt" not in files and text
    for verb in (("info",), ("stats", "overview"), ("verify",)):
        done = gpuprof(*verb, bundle)
        assert done.status == 3 and b"a symbolic link, which is not followed here" in done.out + done.err, verb


def test_what_is_named_may_be_a_link(bundle, tmp_path):
    (tmp_path / "latest").symlink_to(bundle)
    done, _, files = page_of(tmp_path / "latest", tmp_path)
    assert done.status == 0 and "bundle.pb" in files, done.err.decode()
    [trace] = bundle.glob("*.gpt")
    (tmp_path / "latest.gpt").symlink_to(trace)
    done, _, files = page_of(tmp_path / "latest.gpt", tmp_path)
    assert done.status == 0 and files == {"latest.gpt": trace.read_bytes()}, done.err.decode()


def test_a_foreign_file_beside_a_named_trace(bundle, secret, tmp_path):
    (bundle / "bundle.pb").unlink()
    (bundle / "bundle.pb").symlink_to(secret)
    [trace] = bundle.glob("*.gpt")
    _, text, files = page_of(trace, tmp_path)
    assert text and not tells(text, files)


@pytest.mark.skipif(os.geteuid() != 0, reason="it needs two users")
def test_a_further_name_of_a_foreign_file_is_refused(bundle, tmp_path):
    """The kernel lets users make such a name if fs.protected_hardlinks is off. Their folder is theirs, the file is not."""
    private = tmp_path / "private.gpt"
    shutil.copy(TRACES / "locks.gpt", private)
    os.link(private, bundle / f"{STEM}.gpt")
    done, _, files = page_of(bundle, tmp_path)
    assert done.status == 0 and f"{STEM}.gpt" in files, "a name of the same user's file is none of another's"
    os.chown(bundle, OTHER, OTHER)
    done, _, files = page_of(bundle, tmp_path)
    assert done.status == 3 and b"a further name of another user's file" in done.err
    assert f"{STEM}.gpt" not in files


@pytest.mark.parametrize("name", ["rank1.json", "run/host.xplane.pb"])
def test_a_link_among_traces_of_other_tools_is_not_followed(tmp_path, name):
    folder = tmp_path / "traces"
    (folder / name).parent.mkdir(parents=True)
    event = '{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": 1, "dur": 9}'
    (folder / "rank0.json").write_text('{"traceEvents": [%s]}' % (event % "ours"))
    private = tmp_path / "private"
    private.write_text('{"traceEvents": [%s]}' % (event % "PRIVATE KEY"))
    (folder / name).symlink_to(private)
    named = folder if name.endswith(".json") else folder / "run"
    done, text, files = page_of(named, tmp_path)
    assert done.status == 3 and b"a symbolic link, which is not followed here" in done.err, done.err.decode()
    assert not tells(text, files)
    # The link itself may be named.
    if name.endswith(".json"):
        assert b"PRIVATE KEY" in gpuprof("stats", "ops", folder / name).out


class Server:
    def __init__(self, path, cache):
        environment = clean_environment({"XDG_CACHE_HOME": str(cache)})
        self.process = subprocess.Popen([str(GPUPROF), "serve", str(path)], stderr=subprocess.PIPE, text=True, env=environment)
        said = []
        while not said or "until Ctrl-C" not in said[-1]:
            said.append(self.process.stderr.readline())
            if not said[-1]:
                pytest.skip("this build has no server") if "built without a server" in "".join(said) else pytest.fail("".join(said))
        found = re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/ shows ", said[-1])
        self.port, self.token = int(found[1]), found[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=LIMIT_S)
        self.process.stderr.close()

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        connection.request("GET", f"/{self.token}/{path}")
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body


@pytest.mark.parametrize("put", [by_link, by_copy])
@pytest.mark.parametrize("name", ["bundle.pb", f"{STEM}.gpt"])
def test_a_server_tells_no_foreign_file(bundle, secret, tmp_path, name, put):
    [trace] = bundle.glob("*.gpt")
    (bundle / name).unlink(missing_ok=True)
    put(secret, bundle / name)
    with Server(bundle, tmp_path / "cache") as server:
        status, body = server.get(f"files/{name}")
        assert status == 404 and b"PRIVATE" not in body
        assert server.get(f"files/{trace.name}") == (200, trace.read_bytes())
        assert is_listed(trace.name, server.get("")[1]) and not is_listed(name, server.get("")[1])
        # A file that becomes a link while the server runs.
        moved = trace.rename(tmp_path / "moved.gpt")
        trace.symlink_to(moved)
        assert server.get(f"files/{trace.name}")[0] == 404


def test_a_folder_of_recordings_follows_no_link(bundle, secret, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    shutil.copytree(bundle, folder / "own")
    (folder / "linked").symlink_to(bundle)
    (folder / "linked.gpt").symlink_to(TRACES / "locks.gpt")
    (folder / "own" / "snapshot-1").symlink_to(bundle)
    (folder / "own" / f"{STEM}.gpt").symlink_to(secret)
    with Server(folder, tmp_path / "cache") as server:
        status, body = server.get("captures")
        assert status == 200
        listed = {each["title"]: each for each in json.loads(body)["captures"]}
        assert set(listed) == {"own", "linked", "linked.gpt"}
        assert "a link" in listed["linked"]["reason"] and "a link" in listed["linked.gpt"]["reason"]
        assert server.get(f"c/{listed['linked']['id']}/files/bundle.pb")[0] == 422
        own = listed["own"]["id"]
        assert server.get(f"c/{own}/files/{STEM}.gpt")[0] == 404
        assert server.get(f"c/{own}/files/bundle.pb") == (200, (bundle / "bundle.pb").read_bytes())
