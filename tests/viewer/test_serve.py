# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""`gpuprof serve`: the page, results and files for this machine's browser alone."""

import concurrent.futures
import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys

import pytest

from conftest import GPUPROF, MODULES, ROOT, Served, assert_quiet, build_dir, clean_env, gpuprof, missing, probe, stats, write_report
from waiting import LIMIT_S, stay, wait_until

IMAGES = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch" / "images"
TRACES = ROOT / "tests" / "golden" / "traces" / "v1"
KINETO = ROOT / "tests" / "golden" / "kineto" / "h200_streams.json.gz"


def lacks():
    """What this build lacks to serve; empty: nothing."""
    page = build_dir() / "viewer" / "index.html"
    if not page.exists() or page.stat().st_size == 0:
        return "this build has no page of reports"
    return ""


pytestmark = pytest.mark.skipif(bool(lacks()), reason=lacks() or "nothing is missing")


@pytest.fixture(name="served")
def start(tmp_path):
    with Served(IMAGES, cwd=tmp_path) as server:
        yield server


def trace_of(folder):
    return max(folder.glob("p*.gpt"), key=lambda path: path.stat().st_size)


def head(server, line=None, *headers):
    """The bytes of a request for the page."""
    line = line or f"GET /{server.token}/ HTTP/1.1"
    return "\r\n".join([line, f"Host: 127.0.0.1:{server.port}", *headers, "", ""]).encode()


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


@pytest.mark.parametrize("source", [IMAGES, TRACES / "locks.gpt", KINETO], ids=lambda path: path.name)
def test_results_are_those_of_stats_byte_by_byte(tmp_path, source):
    with Served(source, cwd=tmp_path) as server:
        names = server.manifest()["passes"]
        assert len(names) > 20 and "kernels:op" in names
        for name in names:
            key, _, by = name.partition(":")
            expected = gpuprof("stats", key, source, "--json", *(("--by", by) if by else ()), cwd=tmp_path)
            status, headers, body = server.get(f"results/{name}")
            assert expected.returncode == 0 and status == 200, (name, expected.stderr, body)
            assert body == expected.stdout, name
            assert headers["Content-Type"] == "application/json"
        # What was computed once is kept.
        assert server.get("results/overview")[2] == gpuprof("stats", "overview", source, "--json", cwd=tmp_path).stdout


def test_results_of_a_range_are_those_of_stats(served, tmp_path):
    step = stats("steps", IMAGES, cwd=tmp_path)["steps"][2]
    start, end = step["start_ns"], step["start_ns"] + step["duration_ns"]
    for name in ("idle", "streams", "memcpy:size", "stacks", "overview"):
        key, _, by = name.partition(":")
        options = ["--window", f"{start}ns-{end}ns", *(("--by", by) if by else ())]
        expected = gpuprof("stats", key, IMAGES, "--json", *options, cwd=tmp_path)
        assert expected.returncode == 0, expected.stderr
        assert served.get(f"results/{name}@{start},{end}")[2] == expected.stdout, name
        assert served.get(f"results/{name}")[2] != expected.stdout, name
    for wrong in ("idle@", "idle@5", "idle@5,", "idle@5,5", "idle@9,5", "idle@a,b", "idle@1,2,3", "idle@1,99999999999999999999"):
        assert served.get(f"results/{wrong}")[0] == 404, wrong
    # Results of many ranges do not pile up.
    for i in range(150):
        assert served.get(f"results/memcpy@{start},{end + i + 1}")[0] == 200
    assert len(os.listdir(f"/proc/{served.process.pid}/fd")) < 110


def test_a_pass_that_fails_says_why(tmp_path):
    """The input is gone before the pass asks for it."""
    bundle = tmp_path / "gone.gpt"
    bundle.write_bytes((TRACES / "locks.gpt").read_bytes())
    with Served(bundle, cwd=tmp_path) as server:
        bundle.unlink()
        status, headers, body = server.get("results/locks")
        assert (status, headers["Content-Type"]) == (422, "application/json")
        assert "gone.gpt" in json.loads(body)["reason"]
        assert server.get("files/gone.gpt")[0] == 404


def test_names_that_are_no_results(served):
    for name in ("nothing", "ops:nothing", "ops:", ":module", "../results/ops", "ops/", "", "%2e%2e%2fops", "ops%00"):
        status, _, body = served.get(f"results/{name}")
        assert status == 404 and body.endswith(b".\n"), (name, status, body)


def test_files_are_the_bundle_byte_by_byte(served):
    files = served.manifest()["files"]
    assert {file["name"] for file in files} >= {path.name for path in IMAGES.glob("*.gpt")} != set()
    for file in files:
        data = (IMAGES / file["name"]).read_bytes()
        assert file["size"] == len(data)
        status, headers, body = served.get(f"files/{file['name']}")
        assert (status, body, headers["Accept-Ranges"]) == (200, data, "bytes")


def test_ranges(served):
    path = trace_of(IMAGES)
    data = path.read_bytes()
    size = len(data)
    asked = [(f"bytes={first}-{last}", data[first:last + 1]) for first, last in ((0, 0), (0, size - 1), (5, 99), (size - 1, size - 1))]
    asked += [("bytes=7-", data[7:]), ("bytes=-9", data[-9:]), (f"bytes=-{size * 2}", data), (f"bytes=3-{size * 9}", data[3:])]
    tag = served.get(f"files/{path.name}", "HEAD")[1]["ETag"]
    for text, expected in asked:
        status, headers, body = served.get(f"files/{path.name}", Range=text)
        assert (status, body) == (206, expected), text
        first = size - len(expected) if text.startswith("bytes=-") else int(re.match(r"bytes=(\d+)", text)[1])
        assert headers["Content-Range"] == f"bytes {first}-{first + len(expected) - 1}/{size}"
        assert headers["ETag"] == tag
    assert served.get(f"files/{path.name}", Range="bytes=" + "0" * 8000 + "-1")[::2] == (206, data[:2])
    # A condition that does not hold: the whole file.
    assert served.get(f"files/{path.name}", Range="bytes=0-3", If_Range='"other"')[::2] == (200, data)
    assert served.get(f"files/{path.name}", Range="bytes=0-3", If_Range=tag)[::2] == (206, data[:4])


def test_ranges_that_are_none(served):
    path = trace_of(IMAGES)
    size = path.stat().st_size
    for text in (f"bytes={size}-", "bytes=9-3", "bytes=-0", "bytes=-", "bytes=", "bytes", "items=0-1", "bytes=0-1,3-4", "bytes=a-b",
                 "bytes=0x0-0x5", "bytes=-1-2", "bytes=18446744073709551616-", "bytes=0-99999999999999999999999999",
                 "bytes=99999999999999999999-99999999999999999999", "bytes=+1-2", "bytes=" + "9" * 8000 + "-", "bytes=" + "1-2," * 2000):
        answer = served.raw(head(served, f"GET /{served.token}/files/{path.name} HTTP/1.1", f"Range: {text}", "Connection: close"))
        assert status_of(answer) in (400, 416), (text[:40], answer[:80])
        assert len(answer) < 2000
    assert served.get(f"files/{path.name}", Range="bytes=0-0")[0] == 206


def large_bundle(folder):
    """A bundle of a file of 100 MiB, which is mostly a hole."""
    large = folder / "large"
    large.mkdir()
    (large / "p1-1.gpt").write_bytes((TRACES / "locks.gpt").read_bytes())
    os.truncate(large / "p1-1.gpt", 100 << 20)
    return large


def test_a_range_has_a_largest_size(tmp_path):
    with Served(large_bundle(tmp_path), cwd=tmp_path) as server:
        most = 64 << 20
        status, _, body = server.get("files/p1-1.gpt", Range=f"bytes=0-{most - 1}")
        assert (status, len(body)) == (206, most)
        status, headers, body = server.get("files/p1-1.gpt", Range=f"bytes=0-{most}")
        assert (status, headers["Content-Range"]) == (416, f"bytes */{100 << 20}")


def test_a_wrong_token_opens_nothing(served):
    good = served.token
    other = ("0" if good[0] != "0" else "1") + good[1:]
    for path in ("/", "", "/favicon.ico", f"/{other}/", f"/{good[:-1]}/", f"/{good}0/", f"/{good.upper()}0/", "//", f"//{good}/", f"/x/{good}/",
                 f"/{good}%00/", "/" + "a" * 4000 + "/"):
        answer = served.raw(head(served, f"GET {path} HTTP/1.1", "Connection: close"))
        assert status_of(answer) in (400, 403), (path[:50], answer[:80])
        assert good.encode() not in answer and b"gpuprof-manifest" not in answer


def test_a_wrong_host_opens_nothing(served):
    for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1", "localhost", f"127.0.0.1:{served.port + 1}",
                 f"127.0.0.1:{served.port}.evil.example", f"[::1]:{served.port}", f"localhost:{served.port}x"):
        status, _, body = served.get("", host=host)
        assert status == 403 and b"gpuprof-manifest" not in body, host
    assert served.get("", host=f"localhost:{served.port}")[0] == 200
    line = f"GET /{served.token}/ HTTP/1.1\r\n"
    assert status_of(served.raw(f"{line}Connection: close\r\n\r\n".encode())) == 403
    twice = f"{line}Host: 127.0.0.1:{served.port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert status_of(served.raw(twice.encode())) == 403


def test_a_refusal_names_the_option_for_tunnels_and_proxies(served):
    status, _, body = served.get("", host="localhost:9000")
    assert status == 403 and b"--allow-host" in body


def test_a_proxy_and_a_tunnel_that_are_named_open_the_page(tmp_path):
    """The token and the list of names stay the only ways in."""
    options = ["--allow-host", "hub.example.org,localhost:9000", "--url-prefix", "/user/me/proxy/8001/"]
    with Served(TRACES / "locks.gpt", *options, cwd=tmp_path) as server:
        for host in ("hub.example.org", "hub.example.org:443", "localhost:9000", f"127.0.0.1:{server.port}"):
            assert server.get("", host=host)[0] == 200, host
            assert server.get("results/overview", host=host, Origin=f"https://{host}" if "hub" in host else f"http://{host}")[0] == 200, host
        for host in ("evil.example", "evil.hub.example.org", "localhost:9001"):
            assert server.get("", host=host)[0] == 403, host
        assert server.get("results/overview", host="hub.example.org", Origin="https://evil.example")[0] == 403
        # Some proxies keep the prefix in the path, others take it away.
        token, server.token = server.token, f"user/me/proxy/8001/{server.token}"
        assert server.get("", host="hub.example.org")[0] == 200
        server.token = f"user/me/proxy/8001/{'0' * len(token)}"
        assert server.get("", host="hub.example.org")[0] == 403
        server.token = token


@pytest.mark.parametrize("options", [("--allow-host", "http://hub.example.org"), ("--allow-host", "*"), ("--url-prefix", "user/me")], ids=str)
def test_names_and_prefixes_that_make_no_sense(tmp_path, options):
    done = gpuprof("serve", TRACES / "locks.gpt", *options, cwd=tmp_path)
    assert done.returncode == 2 and options[0].encode() in done.stderr


def test_a_path_of_a_client_is_never_opened(served):
    for name in ("../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "..%2f..%2fetc%2fpasswd", "bundle.pb/../bundle.pb", ".", "..",
                 "", "%00", "bundle.pb%00.gpt", "\\..\\bundle.pb", "p*.gpt", "%", "%zz"):
        answer = served.raw(head(served, f"GET /{served.token}/files/{name} HTTP/1.1", "Connection: close"))
        assert status_of(answer) in (400, 404), (name, answer[:80])
        assert b"root:" not in answer


def test_only_get_and_head(served):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW", "get"):
        answer = served.raw(head(served, f"{method} /{served.token}/ HTTP/1.1", "Content-Length: 5") + b"hello")
        assert status_of(answer) in (400, 405), (method, answer[:80])
        assert b"gpuprof-manifest" not in answer
        assert answer.count(b"HTTP/1.1 ") == 1, "the body was taken for a request"
    status, headers, body = served.get("", "HEAD")
    assert (status, body) == (200, b"") and int(headers["Content-Length"]) == len(served.get("")[2])


def test_headers_keep_the_page_to_itself(served):
    for path in ("", "results/ops", f"files/{trace_of(IMAGES).name}", "nothing"):
        _, headers, _ = served.get(path, Origin="http://evil.example", Accept_Encoding="gzip, br")
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert not [name for name in headers if name.startswith("Access-Control-")]
        assert "Content-Encoding" not in headers


def test_only_loopback_listens(served):
    sockets = subprocess.run(["cat", "/proc/net/tcp"], capture_output=True, text=True, check=True).stdout
    port = f":{served.port:04X} 00000000:0000 0A"
    assert [line.split()[1] for line in sockets.splitlines() if port in line] == [f"0100007F:{served.port:04X}"]


def test_malformed_requests(served):
    for data in (b"", b"\r\n", b"\0" * 3000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", os.urandom(5000), b"GET / HTTP/1.1\r\nHost\r\n\r\n",
                 b"GET " + b"a" * 20000, head(served, None, *[f"X-{i}: {'a' * 90}" for i in range(1000)]), head(served, None, "X: " + "a" * 20000)):
        assert status_of(served.raw(data)) in (None, 400)
    assert served.get("")[0] == 200


def test_what_is_no_request_has_one_answer(served):
    """Before the token and after it: the status is 400, and the answer tells nothing of how far it came."""
    host = f"Host: 127.0.0.1:{served.port}\r\n"
    answers = set()
    for target in ("#", "?", "*", f"{served.token}/", f"#/{served.token}/", f"http://127.0.0.1:{served.port}/{served.token}/", ""):
        answers.add(served.raw(f"GET {target} HTTP/1.1\r\n{host}\r\n".encode()))
    for target in ("/", f"/{served.token}/", f"/{served.token}/files/x"):
        for line in ("Host\r\n", " folded: a\r\n", "A b: c\r\n", "A: b\n", "A: \0\r\n", "Range: bytes=" + "9" * 40 + "-\r\n", f"A: {'a' * 20000}\r\n"):
            answers.add(served.raw(f"GET {target} HTTP/1.1\r\n{host}{line}\r\n".encode()))
        for line in (f"GET {target}", f"GET {target} HTTP/9.9", f"BREW {target} HTTP/1.1", f"GET {target} HTTP/1.1 x", f"GET {target} HTTP/1.1\0"):
            answers.add(served.raw(f"{line}\r\n{host}\r\n".encode()))
        answers.add(served.raw(f"GET {target} HTTP/1.1\r\n{host}".encode()))  # and then the end
    [answer] = answers
    assert status_of(answer) == 400 and b"EXCEPTION" not in answer
    assert served.get("")[0] == 200


# It opens connections and begins a request on each. A line of input: how many are still open?
CROWD = """
import socket, sys
port, crowd = int(sys.argv[1]), []
for _ in range(400):
    crowd.append(socket.create_connection(("127.0.0.1", port), timeout=900))
    crowd[-1].sendall(b"G")
print("ready", flush=True)
sys.stdin.readline()
count = 0
for each in crowd:
    each.setblocking(False)
    try:
        each.recv(1)
    except BlockingIOError:
        count += 1
    except OSError:
        pass
print(count, flush=True)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="it needs two users")
def test_another_user_keeps_nobody_out(served):
    """The page comes while they still wait. An own connection that was there before them stays."""
    for _ in range(10):
        with socket.create_connection(("127.0.0.1", served.port), timeout=LIMIT_S) as own:
            own.sendall(head(served, f"GET /{served.token}/nothing HTTP/1.1"))
            assert status_of(own.recv(1000)) == 404
            crowd = subprocess.Popen([sys.executable, "-c", CROWD, str(served.port)], user=61001, group=61001, extra_groups=[],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert crowd.stdout.readline() == "ready\n"
            assert served.get("")[0] == 200
            stayed = False
            with contextlib.suppress(ConnectionError):
                own.sendall(head(served, f"GET /{served.token}/nothing HTTP/1.1"))
                stayed = status_of(own.recv(1000)) == 404
            left = int(crowd.communicate("\n", timeout=LIMIT_S)[0])
        # On a busy machine the time of all of them may have been over.
        if left > 0 and stayed:
            assert left <= 128
            return
    raise AssertionError("the page came only when the others had been let go")


def test_slow_clients_are_let_go(served):
    """They take all connections, and the page still comes."""
    slow = [socket.create_connection(("127.0.0.1", served.port), timeout=LIMIT_S) for _ in range(64)]
    for each in slow:
        each.sendall(b"GET /")
    # A byte now and then is no reason to wait on. On a busy machine some are let go before.
    for _ in range(3):
        stay(1)
        for each in slow:
            with contextlib.suppress(ConnectionError):
                each.sendall(b"a")
    assert served.get("")[0] == 200
    for each in slow:
        with contextlib.suppress(ConnectionError), each:
            assert each.recv(100) == b""


def test_a_client_that_takes_nothing_holds_nobody_up(tmp_path):
    """Others are answered, and the server ends while an answer waits for its client."""
    with Served(large_bundle(tmp_path), cwd=tmp_path) as server, socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", server.port))
        slow.sendall(head(server, f"GET /{server.token}/files/p1-1.gpt HTTP/1.1"))
        assert slow.recv(10) == b"HTTP/1.1 2"
        assert server.get("")[0] == 200
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=LIMIT_S) == 0


def test_1000_connections_at_once(served):
    """They wait for their turn, and a client that is gone takes no place."""
    for _ in range(100):
        gone = socket.create_connection(("127.0.0.1", served.port))
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.close()
    name = trace_of(IMAGES).name
    request = head(served, f"GET /{served.token}/files/{name} HTTP/1.1", "Range: bytes=0-99")
    open_at_once = []
    for _ in range(1000):
        open_at_once.append(socket.create_connection(("127.0.0.1", served.port), timeout=LIMIT_S))
        open_at_once[-1].sendall(request)  # at once: one that says nothing is let go
    with concurrent.futures.ThreadPoolExecutor(1000) as pool:
        answers = list(pool.map(lambda connection: connection.recv(100), open_at_once))
    assert [status_of(answer) for answer in answers] == [206] * 1000
    for each in open_at_once:
        each.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_nothing_stays(tmp_path, number):
    """Without a cache a trace of another tool became a bundle in a temporary folder, which goes."""
    server = Served(KINETO, cwd=tmp_path, XDG_CACHE_HOME="/proc/none")
    with server, socket.create_connection(("127.0.0.1", server.port)) as idle:
        assert [name for name in os.listdir(tmp_path) if name.startswith("gpuprof-report-")]
        # An answered connection is open, and waits for the next request.
        idle.sendall(head(server, "GET / HTTP/1.1"))
        answer = b""
        while not answer.endswith(b"printed.\n"):
            answer += idle.recv(1 << 16)
        assert status_of(answer) == 403
        server.process.send_signal(number)
        assert server.process.wait(timeout=LIMIT_S) == 0
        assert idle.recv(10) == b""
    assert os.listdir(tmp_path) == []


def test_a_port_that_is_taken(tmp_path):
    with Served(TRACES / "locks.gpt", cwd=tmp_path) as server:
        done = gpuprof("serve", TRACES / "locks.gpt", "--port", server.port, cwd=tmp_path)
        assert done.returncode == 2 and b"--port 0" in done.stderr
    assert gpuprof("serve", TRACES / "locks.gpt", "--port", 99999, cwd=tmp_path).returncode == 2


def test_an_input_that_cannot_be_read(tmp_path):
    (tmp_path / "junk.json").write_bytes(b"no trace")
    for name in ("junk.json", "missing"):
        done = gpuprof("serve", name, cwd=tmp_path)
        assert done.returncode == 3 and name.encode() in done.stderr


def test_open_starts_the_browser_without_the_token_on_its_command_line(tmp_path):
    tool = tmp_path / "bin" / "xdg-open"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\ncat "$1" > {tmp_path}/page.new\nmv {tmp_path}/page.new {tmp_path}/page\n')
    tool.chmod(0o755)
    with Served(TRACES / "locks.gpt", "--open", cwd=tmp_path, PATH=f"{tool.parent}:{os.environ['PATH']}") as server:
        wait_until((tmp_path / "page").exists, "the browser's start")
        assert server.address in (tmp_path / "page").read_text()
        assert server.token not in (tmp_path / "words").read_text()
    assert sorted(os.listdir(tmp_path)) == ["bin", "page", "words"]


def test_the_page_in_a_browser_is_that_of_the_report(tmp_path):
    reason = missing()
    if reason:
        pytest.skip(reason)
    steps = ("text:overview", "text:ops", "text:kernels", "text:memory", "ink:timeline")
    report = probe(write_report(IMAGES, tmp_path), tmp_path, *steps)
    assert_quiet(report)
    with Served(IMAGES, cwd=tmp_path) as server:
        seen = probe(server.address, tmp_path, *steps)
    requests = seen.pop("requests")
    assert_quiet({**seen, "requests": []})
    assert all(asked.startswith(server.address) for asked in requests)
    assert any("/timeline/" in asked for asked in requests) and any("/results/ops" in asked for asked in requests)
    assert seen["text"] == report["text"]
    # The timeline draws the same events by the server's answers.
    assert seen["ink"] == report["ink"]
    assert seen["ink"]["timeline"]["colours"] > 20
    overview = stats("overview", IMAGES, cwd=tmp_path)
    assert f"{overview['gpu']['kernel_count']:,}" in seen["text"]["overview"]
