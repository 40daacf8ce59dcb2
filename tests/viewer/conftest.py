# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs `gpuprof report` and `gpuprof serve`, and opens their pages in Chromium (probe.mjs)."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "process"), str(ROOT / "tests")]

from cli_support import GPUPROF, build_dir, clean_env  # noqa: E402
from waiting import LIMIT_S  # noqa: E402

BUILD = build_dir()
MODULES = build_dir() / "viewer" / "work" / "node_modules"


def missing():
    """What the tests lack on this machine; empty: nothing."""
    page = build_dir() / "viewer" / "index.html"
    if not page.exists() or page.stat().st_size == 0:
        return "this build has no page of reports: Node.js 20.19 or newer and npm are needed"
    if shutil.which("node") is None:
        return "there is no Node.js"
    names = ("chromium", "chromium-browser", "google-chrome")
    if "GPUPROF_CHROMIUM" not in os.environ and not any(shutil.which(name) for name in names):
        return "there is no Chromium; scripts/setup installs it"
    return ""


def gpuprof(*args, cwd, **env):
    return subprocess.run([GPUPROF, *map(str, args)], cwd=cwd, env=clean_env(**env), capture_output=True, timeout=LIMIT_S)


def stats(name, path, *options, cwd):
    """The result of a pass as the command prints it."""
    done = gpuprof("stats", name, path, "--json", *options, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_report(path, folder, *options):
    page = folder / "report.html"
    done = gpuprof("report", path, "-o", page, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return page


class Served:
    """A server for the time of a with statement. It must end by SIGTERM, with status 0."""

    def __init__(self, path, *options, cwd, program=GPUPROF, **env):
        self.command = [program, "serve", str(path), *map(str, options)]
        # Not the user's own cache: it would have what an earlier test has imported.
        self.cwd, self.env = cwd, clean_env(**{"TMPDIR": str(cwd), "XDG_CACHE_HOME": f"{cwd}.cache", **env})

    def __enter__(self):
        self.process = subprocess.Popen(self.command, cwd=self.cwd, env=self.env, stderr=subprocess.PIPE, text=True)
        said = []
        while not said or "until Ctrl-C" not in said[-1]:
            said.append(self.process.stderr.readline())
            assert said[-1], said
        found = re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/ shows ", said[-1])
        self.address, self.port, self.token = found[0].split()[0], int(found[1]), found[2]
        return self

    def __exit__(self, *raised):
        self.process.send_signal(signal.SIGTERM)
        self.status = self.process.wait(timeout=LIMIT_S)
        self.said = self.process.stderr.read()
        self.process.stderr.close()
        assert raised[0] is not None or (self.status, self.said) == (0, "")

    def get(self, path, method="GET", host=None, **headers):
        """Asks for a path below the token. Returns status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        connection.putrequest(method, f"/{self.token}/{path}", skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def json(self, path, **options):
        """The JSON of an address."""
        status, headers, body = self.get(path, **options)
        assert (status, headers["Content-Type"]) == (200, "application/json"), (path, status, body)
        return json.loads(body)

    def manifest(self, path=""):
        """What a page says of itself."""
        status, _, body = self.get(path)
        assert status == 200, (path, status, body[:200])
        return json.loads(re.search(r'id="gpuprof-manifest">(.*?)</script>', body.decode(), re.S)[1])

    def raw(self, data, timeout=LIMIT_S):
        """Sends bytes and returns what comes until the end, or until the server has had enough of them."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(1 << 16):
                got += piece
        return got


def probe(page, folder, *steps):
    """Opens a report, or the address of a page, and returns what probe.mjs saw."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    command = ["node", ROOT / "tests" / "viewer" / "probe.mjs", MODULES, page, folder, *steps]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    size = f"{page.stat().st_size} bytes, " if isinstance(page, pathlib.Path) else ""
    print(f"{page}: {size}open after {seen['opened_ms']} ms")
    return seen


def assert_quiet(seen):
    """Nothing was asked of a network, nothing failed, no foreign element came in."""
    assert seen["requests"] == []
    assert seen["errors"] == []
    assert seen["dialogs"] == []
    assert seen["foreign"] == 0
    assert not seen["wide"]
