# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""redis-server under redis-benchmark, with a forked snapshot and a forked rewrite of its log: every reply is right, the data is the
bare run's, and so is the exit status. Debian links it with jemalloc, whose own threads are made behind our back."""

import contextlib
import pathlib
import shutil
import subprocess

import pytest

from conftest import GPUPROF, clean_environment, needs, verify
from real_programs import both, check_bundle
from trace_file import FORK
from waiting import LIMIT_S, wait_until

# Debian's server is redis-check-rdb under another name, and redis-tools has that one without a service to start.
SERVER = shutil.which("redis-server") or shutil.which("redis-check-rdb")
COMMANDS = 12000
VERSION = (subprocess.run(["redis-cli", "--version"], capture_output=True, text=True).stdout.split()[1]
           if shutil.which("redis-cli") else "")

pytestmark = [needs("redis-cli"), needs("redis-benchmark"),
              pytest.mark.skipif(SERVER is None, reason="neither redis-server nor redis-check-rdb is installed")]

CONFIGURATION = """
port 0
unixsocket {folder}/socket
dir {folder}
save ""
appendonly yes
logfile {folder}/log
daemonize no
"""


class Server:
    def __init__(self, folder, prefix):
        folder.mkdir()
        self.folder = folder
        binary = folder / "redis-server"
        binary.symlink_to(SERVER)
        debug = "" if VERSION.startswith("6") else "enable-debug-command yes\n"
        (folder / "redis.conf").write_text(CONFIGURATION.format(folder=folder) + debug)
        self.process = subprocess.Popen([*prefix, str(binary), str(folder / "redis.conf")], env=clean_environment(), cwd=folder,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for(lambda: self.ask("ping", check=False) == "PONG")

    def ask(self, *words, check=True):
        done = subprocess.run(["redis-cli", "-s", str(self.folder / "socket"), *words], capture_output=True, text=True,
                              env=clean_environment(), timeout=LIMIT_S)
        assert not check or (done.returncode == 0 and "ERR" not in done.stdout), (words, done.stdout, done.stderr)
        return done.stdout.strip()

    def info(self, section):
        return dict(line.split(":", 1) for line in self.ask("info", section).splitlines() if ":" in line)

    def wait_for(self, condition):
        wait_until(lambda: condition() or self.process.poll() is not None, lambda: (self.folder / "log").read_text()[-3000:])
        assert self.process.poll() is None, self.process.stderr.read().decode()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


@contextlib.contextmanager
def started(folder, prefix=()):
    server = Server(folder, prefix)
    try:
        yield server
    finally:
        server.ask("shutdown", "nosave", "now", "force", check=False)
        server.end()


def _benchmark(server):
    """Fixed keys, so that two runs end with the same data. It ends with an error at the first reply that is one."""
    done = subprocess.run(["redis-benchmark", "-s", str(server.folder / "socket"), "-n", str(COMMANDS), "-c", "20", "-P", "8", "-q",
                           "--csv", "-t", "ping,set,get,incr,lpush,rpush,lpop,sadd,hset,zadd,mset"],
                          capture_output=True, text=True, env=clean_environment(), timeout=LIMIT_S)
    assert done.returncode == 0 and "rror" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) >= 11, done.stdout


def _fill(server):
    """More data, of every kind, by way of a script that the server runs; then some of it is given back."""
    script = ("for i = 1, 4000 do redis.call('set', 'k' .. i, string.rep(tostring(i), i % 50)); "
              "redis.call('zadd', 'z' .. i % 20, i, 'm' .. i); redis.call('hset', 'h' .. i % 30, 'f' .. i, i) end "
              "for i = 1, 4000, 3 do redis.call('del', 'k' .. i) end return redis.call('dbsize')")
    return server.ask("eval", script, "0")


def _exercise(server):
    """What must be the same in every run."""
    _benchmark(server)
    said = [_fill(server), server.ask("bgsave")]
    server.wait_for(lambda: server.info("persistence")["rdb_bgsave_in_progress"] == "0")
    said.append(server.info("persistence")["rdb_last_bgsave_status"])
    said.append(server.ask("bgrewriteaof"))
    server.wait_for(lambda: server.info("persistence")["aof_rewrite_in_progress"] == "0" ==
                    server.info("persistence")["aof_rewrite_scheduled"])
    said.append(server.info("persistence")["aof_last_bgrewrite_status"])
    said.append(server.ask("dbsize"))
    digest = server.ask("debug", "digest")
    said.append(server.ask("debug", "reload"))
    assert server.ask("debug", "digest") == digest, "what was written is what is read back"
    said += [digest, server.info("memory")["mem_allocator"], server.info("stats").get("total_error_replies", "0")]
    return said


def _run(folder, prefix=()):
    with started(folder, prefix) as server:
        said = _exercise(server)
        server.ask("shutdown", check=False)
        out, err = server.process.communicate(timeout=LIMIT_S)
        status = server.process.returncode
        files = sorted(str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*") if p.is_file())
    assert "crashed" not in (folder / "log").read_text()
    return status, said, out, b"".join(x for x in err.splitlines(True) if not x.startswith(b"gpuprof: ")), files


@both
def test_redis(tmp_path, options):
    bare = _run(tmp_path / "bare")
    assert bare[0] == 0 and bare[1][-1] == "0"
    bundle = tmp_path / "bundle"
    recorded = _run(tmp_path / "recorded", [str(GPUPROF), "run", "-o", str(bundle), *options, "--"])
    assert recorded == bare
    verify(bundle)
    traces = check_bundle(bundle)
    server = [t for t in traces if t.process_event(FORK)]
    assert len(server) == 1 and server[0].exit_status == 0
    assert len(server[0].process_event(FORK)) >= 2, "the snapshot and the rewrite are forked"
    names = {thread.name for thread in server[0].threads.values() if not thread.tool}
    assert {"bio_close_file", "bio_aof_fsync", "bio_lazy_free"} <= names, names
