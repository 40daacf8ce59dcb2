# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Large results of `gpuprof serve`: a process computes each. For few_rows_gpuprof every result is large."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import threading
import urllib.parse

import pytest

from conftest import LIMIT_S, ROOT, Served, build_dir, gpuprof, missing, probe, stats
from waiting import wait_until

IMAGES = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch" / "images"
LOCKS = ROOT / "tests" / "golden" / "traces" / "v1" / "locks.gpt"
KINETO = ROOT / "tests" / "golden" / "kineto" / "h200_streams.json.gz"
FEW_ROWS = build_dir() / "tests" / "viewer" / "few_rows_gpuprof"


def lacks():
    """What this build lacks to serve; empty: nothing."""
    page = build_dir() / "viewer" / "index.html"
    return "" if page.exists() and page.stat().st_size != 0 else "this build has no page of reports"


pytestmark = pytest.mark.skipif(bool(lacks()), reason=lacks() or "nothing is missing")


class Large(Served):
    """A server to which all results are large."""

    def __init__(self, path, *options, cwd, **env):
        self.notes = pathlib.Path(f"{cwd}.notes")
        self.notes.mkdir(exist_ok=True)
        super().__init__(path, *options, cwd=cwd, program=str(FEW_ROWS), **{"FEW_ROWS_NOTES": str(self.notes), **env})

    def go(self):
        """Lets all processes go on that wait."""
        (self.notes / "go").touch()

    def process_of(self, name):
        """Waits until a process computes a result, and returns its number."""
        note = self.notes / name
        wait_until(note.exists, f"a process for {name}")
        return int(note.read_text())

    def words_of(self, name):
        return self.json(f"waits/{urllib.parse.quote(name)}")["words"]

    @contextlib.contextmanager
    def asking(self, *names):
        """Clients that wait for results. Gives their connections; they hang up at the end."""
        clients = []
        for name in names:
            client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
            client.request("GET", f"/{self.token}/results/{urllib.parse.quote(name)}")
            clients.append(client)
        try:
            yield clients
        finally:
            for client in clients:
                # A reader in another thread would keep the connection open.
                with contextlib.suppress(OSError, AttributeError):
                    client.sock.shutdown(socket.SHUT_RDWR)
                client.close()


def children_of(pid):
    """The processes that a process has started, by all its threads."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += (task / "children").read_text().split()
    return [int(each) for each in found]


def is_there(pid):
    return pathlib.Path(f"/proc/{pid}").exists()


def expected(name, source, cwd, *options):
    key, _, by = name.partition(":")
    done = gpuprof("stats", key, source, "--json", *(("--by", by) if by else ()), *options, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("source", [IMAGES, LOCKS, KINETO], ids=lambda path: path.name)
def test_results_are_those_of_stats_byte_by_byte(tmp_path, source):
    with Large(source, cwd=tmp_path) as server:
        names = server.manifest()["passes"]
        assert len(names) > 20
        computed = []
        for name in names:
            is_large = server.json(f"waits/{name}")["is_large"]
            status, headers, body = server.get(f"results/{name}")
            assert (status, headers["Content-Type"]) == (200, "application/json"), (name, body)
            assert body == expected(name, source, tmp_path), name
            # A result of no rows at all is computed by the server.
            assert (server.notes / name).exists() == is_large, name
            computed += [name] * is_large
        assert {"overview", "advise", "health"} <= set(computed), computed
        # What was computed once is kept.
        for name in computed:
            (server.notes / name).unlink()
        assert server.get("results/overview")[2] == expected("overview", source, tmp_path)
        assert server.json("waits/overview") == {"words": "", "is_large": False, "has_large": True}
        assert list(server.notes.iterdir()) == []
        print(f"{source.name}: {len(computed)} of {len(names)} results by processes")


def test_parts_are_those_of_stats(tmp_path):
    with Large(IMAGES, cwd=tmp_path) as server:
        pid = stats("overview", IMAGES, cwd=tmp_path)["processes"][0]["pid"]
        for part, options in (("step=3", ["--steps", "3"]), (f"pid={pid}", ["--pid", pid]), ("device=0", ["--device", "0"]),
                              (f"pid={pid};device=0", ["--pid", pid, "--device", "0"])):
            for name in ("idle", "kernels:op"):
                assert server.get(f"results/{name}@{part}")[2] == expected(name, IMAGES, tmp_path, *options), (name, part)
                assert (server.notes / f"{name}@{part}").exists()


def test_a_folder_and_rules_of_kernels(tmp_path):
    """No link in the folder is followed, also by the process. It knows the rules of the command."""
    folder, rules = tmp_path / "runs", tmp_path / "rules"
    shutil.copytree(IMAGES, folder / "ours")
    shutil.copy(LOCKS, folder / "locks.gpt")
    shutil.copy(KINETO, folder / KINETO.name)
    rules.write_text("random .*\n")
    with Large(folder, "--kernel-rules", rules, cwd=tmp_path) as server:
        captures = {each["title"]: each["id"] for each in server.json("captures")["captures"]}
        for title, source in (("ours", IMAGES), ("locks.gpt", LOCKS), (KINETO.name, KINETO)):
            address = f"c/{captures[title]}/results/overview"
            status, _, body = server.get(address)
            of = folder / title
            assert status == 200 and body == expected("overview", of, tmp_path, "--kernel-rules", rules), (title, body[:300])
            assert server.notes.joinpath("overview").exists()
            server.notes.joinpath("overview").unlink()
        kernels = server.get(f"c/{captures['ours']}/results/kernels")[2]
        assert kernels != expected("kernels", folder / "ours", tmp_path)
        assert kernels == expected("kernels", folder / "ours", tmp_path, "--kernel-rules", rules)
        # Somebody puts a link in the place of a trace.
        trace = max((folder / "ours").glob("*.gpt"), key=lambda path: path.stat().st_size)
        other = tmp_path / "other.gpt"
        trace.rename(other)
        trace.symlink_to(other)
        left = json.loads(server.get(f"c/{captures['ours']}/results/ops")[2])["meta"]["inputs"]
        assert len(left) > 0 and trace.name not in json.dumps(left)
        assert server.notes.joinpath("ops").exists()


def test_memory_that_does_not_suffice(tmp_path):
    with Large(IMAGES, cwd=tmp_path, FEW_ROWS_FREE="1000000") as server:
        status, _, body = server.get("results/ops:module")
        reason = json.loads(body)["reason"]
        assert status == 422
        assert "This page needs " in reason and " rows of the recording." in reason
        assert " MiB of memory, and 977 KiB are free." in reason, reason
        assert reason.endswith("gpuprof stats ops --by module")
        # The first page is always there: its rows are few enough for the server itself.
        assert server.get("results/overview")[2] == expected("overview", IMAGES, tmp_path)
        assert list(server.notes.iterdir()) == []
        print(reason)


def test_a_client_that_hangs_up_ends_the_process(tmp_path):
    with Large(IMAGES, cwd=tmp_path, FEW_ROWS_HOLD="1") as server:
        with server.asking("ops", "ops"):
            pid = server.process_of("ops")
            words = server.words_of("ops")
            assert words.startswith("Reading ") and " rows for 'ops'; this takes about 1 s." in words
        wait_until(lambda: not is_there(pid), "the process to end")
        wait_until(lambda: server.words_of("ops") == "", "the wait to end")
        server.go()
        assert server.get("results/ops")[2] == expected("ops", IMAGES, tmp_path)


def test_one_client_of_two_hangs_up(tmp_path):
    """The process goes on for the other one, whichever came first."""
    with Large(IMAGES, cwd=tmp_path, FEW_ROWS_HOLD="1") as server, server.asking("ops") as others:
        with server.asking("ops"):
            pid = server.process_of("ops")
        with server.asking("sync"):
            wait_until(lambda: server.words_of("sync").startswith("Waiting until 'ops' is done. Then "), "the other result to wait")
            assert is_there(pid)
        wait_until(lambda: server.words_of("sync") == "", "the other result to be forgotten")
        server.go()
        assert others[0].getresponse().read() == expected("ops", IMAGES, tmp_path)
        assert not (server.notes / "sync").exists()


def test_many_requests_start_one_process_at_a_time(tmp_path):
    with Large(IMAGES, cwd=tmp_path, FEW_ROWS_HOLD="1") as server:
        names = [name for name in server.manifest()["passes"] if server.json(f"waits/{name}")["is_large"]]
        assert len(names) > 14
        with server.asking(names[0]):
            pid = server.process_of(names[0])
            with server.asking(*names[1:], *names[1:], *names[1:]) as clients:
                # Too many are told so at once.
                refused = [False] * len(clients)

                def read(at, client, refused=refused):
                    with contextlib.suppress(OSError, http.client.HTTPException, ValueError, AttributeError):
                        answer = client.getresponse()
                        refused[at] = answer.status == 422 and b"Too many requests" in answer.read()

                readers = [threading.Thread(target=read, args=(at, client), daemon=True) for at, client in enumerate(clients)]
                for reader in readers:
                    reader.start()
                wait_until(lambda: sum(refused) == len(clients) - 11, lambda: f"refusals: {sum(refused)} of {len(clients)}")
                assert children_of(server.process.pid) == [pid]
                # Everything else is answered meanwhile.
                assert server.get("")[0] == 200
                assert server.words_of(names[0]).startswith("Reading ")
                assert server.get("timeline/%7B%22ask%22%3A%22info%22%7D")[0] in (200, 422)
        wait_until(lambda: children_of(server.process.pid) == [], "the processes to end")
        server.go()
        assert server.get(f"results/{names[1]}")[2] == expected(names[1], IMAGES, tmp_path)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=lambda end: end.name)
def test_the_process_ends_with_the_server(tmp_path, end):
    server = Large(IMAGES, cwd=tmp_path, FEW_ROWS_HOLD="1")
    server.__enter__()
    with server.asking("ops"):
        pid = server.process_of("ops")
        server.process.send_signal(end)
        assert server.process.wait(timeout=LIMIT_S) == (0 if end == signal.SIGTERM else -end)
    server.process.stderr.close()
    wait_until(lambda: not is_there(pid), "the process to end")


def test_a_process_that_is_killed_says_so_and_is_tried_again(tmp_path):
    with Large(IMAGES, cwd=tmp_path, FEW_ROWS_HOLD="1") as server:
        with server.asking("ops") as clients:
            os.kill(server.process_of("ops"), signal.SIGKILL)
            answer = clients[0].getresponse()
            assert answer.status == 422 and "signal 9" in json.loads(answer.read())["reason"]
        server.go()
        assert server.get("results/ops")[2] == expected("ops", IMAGES, tmp_path)


def test_small_results_do_not_wait_for_large_ones(tmp_path):
    with Large(IMAGES, cwd=tmp_path, FEW_ROWS_HOLD="1", FEW_ROWS_MOST="150000") as server:
        large = [name for name in server.manifest()["passes"] if server.json(f"waits/{name}")["is_large"]]
        assert "ops" in large and "sync" not in large
        with server.asking("ops"):
            server.process_of("ops")
            assert server.get("results/sync")[2] == expected("sync", IMAGES, tmp_path)


def test_the_processes_are_for_the_server_alone(tmp_path):
    done = gpuprof("__page", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"") and b"serve" in done.stderr


@pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing")
def test_the_page_says_what_it_waits_for(tmp_path):
    """A process waits until the page has shown the words. When the page is left, the process ends."""
    with Large(IMAGES, cwd=tmp_path, FEW_ROWS_HOLD="1") as server:
        server.go()
        server.get("results/overview")
        (server.notes / "go").unlink()
        # The rail and the overview start no process of their own.
        steps = ["text:overview", "enter:kernels", "wait:rows for 'kernels'; this takes about 1 s.", "text:licences", f"ended:{server.notes / 'kernels'}",
                 "enter:ops", "wait:rows for 'ops'; this takes about 1 s.", f"mark:{server.notes / 'go'}", "text:ops", "read:all"]
        seen = probe(server.address, tmp_path, *steps)
        assert seen["ended"] == [True]
        assert "conv2d" in seen["text"]["ops"], seen["text"]["ops"]
        assert "Reading" not in seen["text"]["all"]
        assert sorted(note.name for note in server.notes.iterdir()) == ["go", "kernels", "ops", "overview"]
        assert (seen["errors"], seen["dialogs"]) == ([], [])
