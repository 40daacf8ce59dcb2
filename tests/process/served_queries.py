# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A server of `gpuprof serve` that is asked in SQL."""

import http.client
import json
import pathlib
import re
import signal
import socket
import subprocess
import urllib.parse

from conftest import GPUPROF, clean_environment
from waiting import LIMIT_S, wait_until


class Server:
    """Runs for the time of a with statement. It must end by SIGTERM, with status 0."""

    def __init__(self, path, *options, cwd):
        self.command = [GPUPROF, "serve", str(path), *map(str, options)]
        self.cwd, self.env = cwd, clean_environment({"TMPDIR": str(cwd), "XDG_CACHE_HOME": f"{cwd}.cache"})

    def __enter__(self):
        self.process = subprocess.Popen(self.command, cwd=self.cwd, env=self.env, stderr=subprocess.PIPE, text=True)
        said = [self.process.stderr.readline()]
        while "until Ctrl-C" not in said[-1]:
            assert said[-1], said
            said.append(self.process.stderr.readline())
        found = re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/ shows ", said[-1])
        self.port, self.token = int(found[1]), found[2]
        return self

    def __exit__(self, *raised):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=LIMIT_S)
        self.process.stderr.close()
        assert raised[0] is not None or status == 0

    def get(self, path, method="GET", timeout=LIMIT_S, **headers):
        """Asks for an address. Returns status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": f"127.0.0.1:{self.port}", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def _address(self, sql):
        return f"/{self.token}/query/" + urllib.parse.quote(sql, safe="")

    def query(self, sql, timeout=LIMIT_S):
        """Returns the status and the JSON of an answer."""
        status, body = self.get(self._address(sql), timeout=timeout)
        return status, json.loads(body)

    def leave(self, sql):
        """Asks, and does not wait."""
        self.connection = socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)
        self.connection.sendall(f"GET {self._address(sql)} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())

    def hang_up(self):
        self.connection.close()

    def until(self, holds):
        wait_until(holds)

    def children(self):
        pid = self.process.pid
        words = " ".join(path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"))
        return [int(word) for word in words.split()]

    def memory_kib(self):
        return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1])
