# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Real programs that shut themselves in: Chromium, whose zygotes must have a single thread, and OpenSSH's server, whose
children filter their system calls."""

import os
import signal
import socket
import subprocess

import pytest

from conftest import GPUPROF, clean_environment, gpuprof, needs, needs_root, run_bare, verify
from waiting import LIMIT_S, wait_until

CAPTURES = pytest.mark.parametrize("capture", ["off", pytest.param("now", marks=pytest.mark.long)])


def _screenshot(folder, name, *before):
    image = folder / f"{name}.png"
    done = run_bare([*before, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / name}",
                     f"--screenshot={image}", f"file://{folder / 'page.html'}"], timeout=LIMIT_S)
    assert done.status == 0 and image.exists(), done.err.decode(errors="replace")[-2000:]
    return image.read_bytes()


@needs("chromium")
@CAPTURES
def test_chromium(tmp_path, capture):
    (tmp_path / "page.html").write_text("<html><body><h1>hello</h1><script>document.write(1 + 1)</script></body></html>")
    bare = _screenshot(tmp_path, "bare")
    bundle = tmp_path / "bundle"
    recorded = _screenshot(tmp_path, "recorded", GPUPROF, "run", f"--capture={capture}", "-o", bundle, "--")
    assert recorded == bare
    if capture == "now":
        verify(bundle)
        overview = gpuprof("stats", "overview", bundle, env={"COLUMNS": "200"}).out.decode()
        assert "went on unrecorded: it needs a single thread" in overview


@pytest.fixture
def server(tmp_path):
    """OpenSSH's server under gpuprof; server(capture) returns the words of a login."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / key)], check=True)
    (tmp_path / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/user.pub\nStrictModes no\n"
        f"PidFile {tmp_path}/pid\nUsePAM no\nPermitRootLogin yes\n")
    os.makedirs("/run/sshd", exist_ok=True)
    running = []

    def start(capture):
        running.append(subprocess.Popen([str(GPUPROF), "run", f"--capture={capture}", "-o", str(tmp_path / "bundle"), "--", "/usr/sbin/sshd",
                                         "-D", "-e", "-f", str(tmp_path / "config")], stderr=subprocess.PIPE, env=clean_environment()))
        wait_until((tmp_path / "pid").exists, "the server's start")

        def login():
            return run_bare(["ssh", "-p", port, "-i", tmp_path / "user", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR",
                             "-o", f"UserKnownHostsFile={tmp_path}/known", "root@127.0.0.1", "echo logged in"], timeout=LIMIT_S)
        return login

    yield start
    for run in running:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
        run.communicate(timeout=LIMIT_S)


@needs("sshd")
@needs_root
@CAPTURES
def test_openssh(server, capture):
    login = server(capture)
    for _ in range(3):
        done = login()
        assert (done.status, done.out) == (0, b"logged in\n"), done.err.decode()
