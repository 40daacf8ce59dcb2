# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof agent` with TensorFlow's and xprof's own clients, and `gpuprof capture` with TensorFlow's and JAX's own servers."""

import contextlib
import gzip
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

import pytest

from conftest import GPUPROF, ROOT, clean_environment, gpuprof, needs_root
from fake_gpu import DOUBLES, environment_of, needs_doubles
from waiting import LIMIT_S, wait_until

TENSORFLOW = ROOT / ".deps" / "tensorflow" / "bin" / "python"
XPROF = ROOT / ".deps" / "xprof" / "bin" / "python"
CLIENTS = ROOT / "tests" / "process" / "remote_clients.py"
needs_tensorflow = pytest.mark.skipif(not TENSORFLOW.exists(), reason="TensorFlow is not installed: scripts/setup --only test")
needs_xprof = pytest.mark.skipif(not XPROF.exists(), reason="xprof is not installed: scripts/setup --only test")
needs_xprof_server = pytest.mark.skipif(not list(XPROF.parents[1].glob("lib/python3*/site-packages/cheroot")),
                                        reason="xprof's server is not installed: scripts/setup --only test")


class Agent:
    """A running agent. `options` come behind those that all tests need."""

    def __init__(self, *options, user=None):
        self.process = subprocess.Popen([str(GPUPROF), "agent", "--listen", "127.0.0.1:0", *map(str, options)],
                                        stderr=subprocess.PIPE, env=clean_environment(), user=user, cwd="/")
        self.first = self.process.stderr.readline().decode()
        found = re.search(r" at (\S+):(\d+) until Ctrl-C", self.first)
        assert found, self.first + self.process.stderr.read().decode()
        self.port = int(found[2])
        self.address = f"localhost:{self.port}"

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        said = self.process.stderr.read().decode()
        self.process.stderr.close()
        return self.process.wait(), said


@pytest.fixture
def agent():
    running = []

    def start(*options, **keywords):
        running.append(Agent(*options, **keywords))
        return running[-1]

    yield start
    for one in running:
        with contextlib.suppress(ValueError):
            one.end()


@pytest.fixture
def started():
    """started(python, *words): a program of remote_clients.py that says it is ready."""
    running = []

    def start(python, *words):
        running.append(subprocess.Popen([str(python), str(CLIENTS), *map(str, words)], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=clean_environment()))
        return running[-1]

    yield start
    for one in running:
        one.kill()
        one.wait()
        one.stdout.close()


def client(python, *words):
    done = subprocess.run([str(python), str(CLIENTS), *map(str, words)], capture_output=True, text=True, timeout=LIMIT_S,
                          env=clean_environment())
    return done


@pytest.fixture
def training(session):
    """PyTorch at work, not recorded."""
    run = session([sys.executable, CLIENTS, "train"], "--capture=off")
    assert run.line() == "ready"
    return run


def runs_in(logdir):
    """The files of each run."""
    runs = {}
    for path in sorted(pathlib.Path(logdir).glob("plugins/profile/*/*")):
        runs.setdefault(path.parent.name, []).append(path.name)
    return runs


def stats(name, source):
    done = gpuprof("stats", name, "--json", source)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def ops_of(source):
    return {row["name"] for row in stats("ops", source)["ops"]}


def words_of(path):
    """What a trace says about itself, and shows as rows of the host."""
    return path.read_bytes().decode(errors="replace")


def file_in(logdir):
    (run, names), = runs_in(logdir).items()
    name, = names
    return pathlib.Path(logdir) / "plugins" / "profile" / run / name


@needs_tensorflow
def test_tensorflows_client_gets_a_trace(tmp_path, agent, training):
    server = agent("--bundle", training.bundle)
    done = client(TENSORFLOW, "trace", server.address, tmp_path / "logs", 2000)
    assert done.returncode == 0, done.stderr
    path = file_in(tmp_path / "logs")
    assert re.fullmatch(r"\d{4}(_\d\d){5}", path.parent.name)
    assert path.name == f"localhost_{server.port}.xplane.pb"
    assert {"aten::addmm", "Optimizer.step#SGD.step"} <= ops_of(tmp_path / "logs")
    state = training.state()
    assert (state["state"], state["captures"]) == ("dormant", 1)
    told = client(TENSORFLOW, "monitor", server.address).stdout
    assert "1 process can be captured" in told and f"process {training.pid} " in told and "dormant" in told


def capture(agent_or_address, output, *options):
    address = getattr(agent_or_address, "address", agent_or_address)
    return gpuprof("capture", address, "-o", output, *options)


def test_a_capture_holds_its_own_time_alone(tmp_path, agent, training):
    server = agent("--bundle", training.bundle)
    for number in (1, 2):
        done = capture(server, tmp_path / f"logs{number}", "--for", "2s")
        assert done.status == 0, done.err.decode()
    spans = [stats("overview", tmp_path / f"logs{number}")["meta"] for number in (1, 2)]
    assert all(span["window_end_ns"] - span["window_start_ns"] >= 1_000_000_000 for span in spans)
    whole = stats("ops", training.bundle)
    parts = [stats("ops", tmp_path / f"logs{number}") for number in (1, 2)]

    def steps(result):
        return sum(row["count"] for row in result["ops"] if row["name"] == "Optimizer.step#SGD.step")

    assert 0 < steps(parts[0]) < steps(whole) and 0 < steps(parts[1]) < steps(whole)
    assert steps(parts[0]) + steps(parts[1]) == steps(whole)


def test_what_export_takes_as_a_window(tmp_path, training):
    run = training
    assert run.ctl("start").status == 0
    run.record_some(100)
    assert run.ctl("stop").status == 0
    for window, words in (("@5-@4", "ends before it begins"), ("@5-6", "seconds since 1970"), ("@x-@y", "seconds since 1970"),
                          ("@1.1234567890-@2", "seconds since 1970"), ("@99999999999-@999999999999", "seconds since 1970"),
                          ("3s-2s", "ends before it begins"), ("5", "FROM-TO")):
        done = gpuprof("export", run.bundle, "-f", "xspace", "-o", tmp_path / "logs", "--window", window)
        assert done.status == 2 and words in done.err.decode(), (window, done.err.decode())
    for window, has_rows in (("@0-@1", False), ("@0-@4000000000", True), ("0s-1h", True), ("1h-2h", False)):
        file = tmp_path / f"{window}.json"
        assert gpuprof("export", run.bundle, "-o", file, "--window", window).status == 0
        events = json.loads(file.read_text())["traceEvents"]
        assert any(event["ph"] in "XCi" for event in events) == has_rows, window


@needs_tensorflow
def test_the_reason_for_no_trace_is_in_the_trace(tmp_path, agent, session):
    server = agent("--bundle", tmp_path)
    done = client(TENSORFLOW, "trace", server.address, tmp_path / "logs", 100)
    assert done.returncode == 0, done.stderr
    assert "start the program with 'gpuprof run --capture=off -- COMMAND'" in words_of(file_in(tmp_path / "logs"))
    done = capture(server, tmp_path / "own", "--for", "100ms")
    assert done.status == 3 and "gpuprof run --capture=off" in done.err.decode()


def test_no_time_at_all(tmp_path, agent, training):
    server = agent("--bundle", training.bundle)
    done = capture(server, tmp_path / "logs", "--for", "0s")
    assert done.status == 0, done.err.decode()
    assert file_in(tmp_path / "logs").stat().st_size > 0
    assert training.state()["captures"] == 1


@needs_tensorflow
def test_a_client_that_leaves_ends_the_capture(tmp_path, agent, training, started):
    server = agent("--bundle", training.bundle)
    asking = started(TENSORFLOW, "trace", server.address, tmp_path / "logs", 600_000)
    training.wait_for(lambda: training.state()["state"] == "capturing")
    asking.kill()
    training.wait_for(lambda: training.state()["state"] == "dormant")

    def goes_on():
        done = capture(server, tmp_path / "own", "--for", "100ms")
        assert done.status == 0 or "of a client that has left is about to end" in done.err.decode(), done.err.decode()
        return done.status == 0

    wait_until(goes_on)


def test_the_second_of_two_clients_is_told(tmp_path, agent, training):
    server = agent("--bundle", training.bundle)
    first = subprocess.Popen([str(GPUPROF), "capture", server.address, "--for", "9m", "-o", str(tmp_path / "first")],
                             stderr=subprocess.PIPE, env=clean_environment())
    training.wait_for(lambda: training.state()["state"] == "capturing")
    second = capture(server, tmp_path / "second", "--for", "100ms")
    assert not (tmp_path / "second").exists(), "there is a file with nothing but the reason"
    assert second.status == 3 and "another capture of this agent runs, for " in second.err.decode()
    first.send_signal(signal.SIGINT)
    assert "given up" in first.communicate()[1].decode()
    assert first.returncode == 3 and not (tmp_path / "first").exists()
    training.wait_for(lambda: training.state()["state"] == "dormant")


def test_an_agent_that_ends_leaves_nothing_recording(tmp_path, agent, training):
    server = agent("--bundle", training.bundle)
    asking = subprocess.Popen([str(GPUPROF), "capture", server.address, "--for", "9m", "-o", str(tmp_path / "logs")],
                              stderr=subprocess.PIPE, env=clean_environment())
    training.wait_for(lambda: training.state()["state"] == "capturing")
    status, _ = server.end()
    assert status == 0
    assert training.state()["state"] == "dormant"
    assert "closed the connection" in asking.communicate()[1].decode() and asking.returncode == 3


def test_an_agent_that_is_killed_leaves_nothing_recording(tmp_path, agent, training):
    server = agent("--bundle", training.bundle)
    asking = subprocess.Popen([str(GPUPROF), "capture", server.address, "--for", "9m", "-o", str(tmp_path / "logs")],
                              stderr=subprocess.PIPE, env=clean_environment())
    training.wait_for(lambda: training.state()["state"] == "capturing")
    server.end(signal.SIGKILL)
    training.wait_for(lambda: training.state()["state"] == "dormant")
    asking.communicate()


def test_a_process_that_records_already_goes_on(tmp_path, agent, training):
    assert training.ctl("start").status == 0
    server = agent("--pid", training.pid)
    done = capture(server, tmp_path / "logs", "--for", "2s")
    assert done.status == 0, done.err.decode()
    assert "aten::addmm" in ops_of(tmp_path / "logs")
    state = training.state()
    assert (state["state"], state["captures"]) == ("capturing", 1)


def test_the_log_folder_keeps_a_copy(tmp_path, agent, training):
    server = agent("--bundle", training.bundle, "--logdir", tmp_path / "kept")
    assert capture(server, tmp_path / "logs", "--for", "100ms").status == 0
    kept, sent = file_in(tmp_path / "kept"), file_in(tmp_path / "logs")
    assert kept.name == f"{socket.gethostname()}.xplane.pb" and kept.parent.name == sent.parent.name
    assert sent.read_bytes().startswith(kept.read_bytes())


def test_the_log_folder_keeps_the_newest(tmp_path, agent, training):
    runs = tmp_path / "kept" / "plugins" / "profile"
    (runs / "foreign").mkdir(parents=True)
    server = agent("--bundle", training.bundle, "--logdir", tmp_path / "kept", "--keep", "2")
    made = []
    for number in range(3):
        assert capture(server, tmp_path / f"logs{number}", "--for", "100ms").status == 0
        (name,) = {path.name for path in runs.iterdir()} - {"foreign", *made}
        made.append(name)
        (runs / name / "ALL_HOSTS.op_stats.pb").write_bytes(b"computed")
    assert {path.name for path in runs.iterdir()} == {"foreign", *made[1:]}


@pytest.mark.parametrize("options,words", [(["--keep=5"], "--logdir DIR"), (["--logdir=logs", "--keep=0"], "0 would keep no run"),
                                           (["--logdir=logs", "--keep=many"], "such as 10GiB")])
def test_a_limit_that_makes_no_sense_is_refused(tmp_path, options, words):
    done = gpuprof("agent", *options, cwd=tmp_path)
    assert done.status == 2 and words in done.err.decode(), done.err.decode()


@needs_tensorflow
def test_a_client_that_writes_to_the_log_folder_is_left_to_it(tmp_path, agent, training):
    server = agent("--bundle", training.bundle, "--logdir", tmp_path / "logs")
    assert client(TENSORFLOW, "trace", server.address, tmp_path / "logs", 100).returncode == 0
    assert file_in(tmp_path / "logs").name.startswith("localhost_")


@needs_xprof
def test_snapshots_of_a_flight_recorder(tmp_path, agent, session):
    run = session([sys.executable, CLIENTS, "train"], "--ring=16MiB")
    assert run.line() == "ready"
    run.record_some(500)
    server = agent("--bundle", run.bundle)
    done = client(XPROF, "continuous", server.address, tmp_path / "logs")
    assert done.returncode == 0, done.stderr
    assert file_in(tmp_path / "logs").name == f"localhost_{server.port}.xplane.pb"
    assert "aten::addmm" in ops_of(tmp_path / "logs")
    assert not list(run.bundle.glob("snapshot-*")), "what was made for the client stays"
    assert run.state()["state"] == "capturing"
    done = capture(server, tmp_path / "window", "--for", "2s")
    assert done.status == 0, done.err.decode()
    assert "aten::addmm" in ops_of(tmp_path / "window")
    assert not list(run.bundle.glob("snapshot-*"))


@needs_xprof
def test_without_a_flight_recorder_the_client_is_told(tmp_path, agent, training):
    server = agent("--bundle", training.bundle)
    done = client(XPROF, "continuous", server.address, tmp_path / "logs")
    assert done.returncode != 0 and "gpuprof run --ring 64MiB" in done.stderr
    assert training.state()["state"] == "dormant"


@needs_xprof_server
def test_the_page_of_xprof_captures(tmp_path, agent, training):
    server = agent("--bundle", training.bundle)
    logs = tmp_path / "logs"
    logs.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    page = subprocess.Popen([str(XPROF), "-m", "xprof.server", "--logdir", str(logs), "--port", str(port), "--grpc_port", "0"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
    try:
        def get(path):
            with contextlib.suppress(ConnectionError, urllib.error.URLError):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/data/plugin/profile/{path}") as answer:
                    bytes_ = answer.read()
                    return (gzip.decompress(bytes_) if bytes_[:2] == b"\x1f\x8b" else bytes_).decode()
            assert page.poll() is None, "xprof's server ended"
            return None

        wait_until(lambda: get("runs"), "xprof's server")
        answer = get(f"capture_profile?service_addr={server.address}&duration=2000&num_retry=0&host_tracer_level=2"
                     "&device_tracer_level=1&python_tracer_level=0&delay=0&worker_list=&is_tpu_name=false")
        assert "Capture profile successfully" in answer
        run, = json.loads(get("runs"))
        events = get(f"data?run={run}&tag=trace_viewer&host=localhost_{server.port}")
        assert "aten::addmm" in events
    finally:
        page.kill()
        page.wait()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@needs_tensorflow
def test_servers_of_tensorflow_and_jax_and_one_that_is_not_there(tmp_path, agent, training, started):
    server = agent("--bundle", training.bundle)
    ports = {name: free_port() for name in ("tensorflow", "jax", "nobody")}
    for name in ("tensorflow", "jax"):
        assert started(TENSORFLOW, f"serve-{name}", ports[name]).stdout.readline() == b"ready\n"
    done = gpuprof("capture", f"localhost:{server.port},127.0.0.1:{ports['tensorflow']}", f"127.0.0.1:{ports['jax']}",
                   f"127.0.0.1:{ports['nobody']}", "--for", "2s", "-o", tmp_path / "job")
    said = done.err.decode()
    assert done.status == 3, said
    assert f"127.0.0.1:{ports['nobody']}: no connection: Connection refused" in said
    (run, names), = runs_in(tmp_path / "job").items()
    assert names == sorted([f"localhost_{server.port}.xplane.pb", f"127.0.0.1_{ports['tensorflow']}.xplane.pb",
                            f"127.0.0.1_{ports['jax']}.xplane.pb"])
    folder = tmp_path / "job" / "plugins" / "profile" / run
    assert "MatMul" in str(ops_of(folder / f"127.0.0.1_{ports['tensorflow']}.xplane.pb"))
    assert "PjitFunction" in str(ops_of(folder / f"127.0.0.1_{ports['jax']}.xplane.pb"))
    assert {"aten::addmm"} <= ops_of(tmp_path / "job")
    assert gpuprof("report", tmp_path / "job", "-o", tmp_path / "page.html").status == 0


def kernels_of(source):
    return sorted((row["name"], row["count"], row["total_ns"]) for row in stats("kernels", source)["kernels"])


@needs_doubles
def test_programs_with_gpus_have_files_of_their_own(tmp_path, agent, session):
    programs = [session([DOUBLES / "programs" / "rounds"], "--capture=off", env=environment_of(tmp_path / f"truth{number}.json"))
                for number in (1, 2)]
    assert [each.line() for each in programs] == ["ready", "ready"]
    server = agent("--pid", ",".join(str(each.pid) for each in programs))
    asking = subprocess.Popen([str(GPUPROF), "capture", server.address, "--for", "8s", "-o", str(tmp_path / "logs")],
                              stderr=subprocess.PIPE, env=clean_environment())
    for each in programs:
        each.wait_for(lambda each=each: each.state()["state"] == "capturing")
    for each in programs:
        each.tell("5\n")
        assert each.line() == "done 5"
    said = asking.communicate()[1].decode()
    assert asking.returncode == 0, said
    for each in programs:  # between captures: in no file
        each.tell("7\n")
        assert each.line() == "done 7"
    (run, names), = runs_in(tmp_path / "logs").items()
    assert len(names) == 2 and all(name.startswith(f"localhost_{server.port}.") for name in names)
    files = [kernels_of(tmp_path / "logs" / "plugins" / "profile" / run / name) for name in names]
    assert sorted(files) == sorted(kernels_of(each.bundle) for each in programs) and files[0] != []


class TestWhoMayCall:
    @pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0"])
    def test_the_network_must_be_asked_for(self, listen):
        done = gpuprof("agent", "--listen", listen)
        assert done.status == 2 and "--open-to-network" in done.err.decode()
        done = gpuprof("agent", "--listen", listen, "--open-to-network")
        assert done.status == 2 and "--allow-peers or --token-file" in done.err.decode()

    def test_a_port_that_is_taken(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            done = gpuprof("agent", "--listen", "127.0.0.1:%d" % other.getsockname()[1])
        assert done.status == 2 and "Address already in use; name another port with --listen" in done.err.decode()

    def test_a_token(self, tmp_path, agent, training):
        token, other, short, loose = (tmp_path / name for name in ("token", "other", "short", "loose"))
        token.write_text("0123456789abcdef\n")
        other.write_text("0123456789abcdee\n")
        short.write_text("short\n")
        loose.write_text("0123456789abcdef\n")
        for path in (token, other, short):
            path.chmod(0o600)
        loose.chmod(0o644)
        # This machine's own address is one of the network.
        server = agent("--listen", "0.0.0.0:0", "--open-to-network", "--token-file", token, "--bundle", training.bundle)
        address = f"{own_address()}:{server.port}"
        done = capture(address, tmp_path / "none", "--for", "100ms")
        assert done.status == 3 and "UNAUTHENTICATED" in done.err.decode()
        done = capture(address, tmp_path / "none", "--for", "100ms", "--token-file", other)
        assert done.status == 3 and "UNAUTHENTICATED" in done.err.decode()
        assert training.state()["captures"] == 0
        done = capture(address, tmp_path / "logs", "--for", "100ms", "--token-file", token)
        assert done.status == 0, done.err.decode()
        for path, words in ((short, "must hold 16 to 256 letters"), (loose, "chmod 600"), (tmp_path / "missing", "cannot be read")):
            for verb in (("agent",), ("capture", address, "-o", tmp_path / "no")):
                done = gpuprof(*verb, "--token-file", path)
                assert done.status == 2 and words in done.err.decode()

    def test_a_list_of_peers(self, tmp_path, agent, training):
        options = ("--listen", "0.0.0.0:0", "--open-to-network", "--bundle", training.bundle)
        allowed = agent(*options, "--allow-peers", f"203.0.113.7,{own_address()}/32")
        assert capture(f"{own_address()}:{allowed.port}", tmp_path / "logs", "--for", "100ms").status == 0
        refusing = agent(*options, "--allow-peers", "203.0.113.7")
        done = capture(f"{own_address()}:{refusing.port}", tmp_path / "none", "--for", "100ms")
        assert done.status == 3
        assert "refused: its address is not on the list of --allow-peers" in refusing.end()[1]

    @needs_root
    def test_other_users_of_this_machine_are_refused(self, tmp_path, agent):
        server = agent(user="nobody")
        # Root may ask every agent, and another user none but its own.
        assert "gpuprof run --capture=off" in capture(server, tmp_path / "logs", "--for", "100ms").err.decode()
        done = subprocess.run([str(GPUPROF), "capture", server.address, "--for", "100ms", "-o", "/tmp/none"], user="games",
                              capture_output=True, env=clean_environment(), cwd="/")
        assert done.returncode == 3
        assert re.search(r"refused: the client belongs to user \d+, and the agent to another one", server.end()[1])

    @needs_root
    def test_the_agent_of_root_gives_each_user_the_users_own(self, tmp_path, agent, training):
        server = agent("--bundle", training.bundle)
        done = subprocess.run([str(GPUPROF), "capture", server.address, "--for", "100ms", "-o", "/tmp/none"], user="nobody",
                              capture_output=True, env=clean_environment(), cwd="/")
        assert done.returncode == 3 and b"none that this client may capture" in done.stderr
        assert training.state()["captures"] == 0

    @needs_root
    def test_the_agent_of_root_reads_for_a_user_as_this_user(self, agent):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-agent-", dir="/tmp"))
        shutil.chown(folder, "nobody")
        options = {"user": "nobody", "cwd": "/", "env": clean_environment({"HOME": str(folder)})}
        run = subprocess.Popen([str(GPUPROF), "run", "--quiet", "--capture=off", "-o", str(folder / "bundle"), "--", sys.executable,
                                str(CLIENTS), "train"], stdout=subprocess.PIPE, **options)
        try:
            assert run.stdout.readline() == b"ready\n"
            server = agent("--bundle", folder / "bundle")
            done = subprocess.run([str(GPUPROF), "capture", server.address, "--for", "2s", "-o", str(folder / "logs")],
                                  capture_output=True, **options)
            assert done.returncode == 0, done.stderr.decode()
            assert "aten::addmm" in ops_of(folder / "logs")
            # What nobody may not read is not read for nobody.
            (folder / "bundle").chmod(0)
            shutil.chown(folder / "bundle", "root")
            done = subprocess.run([str(GPUPROF), "capture", server.address, "--for", "2s", "-o", str(folder / "none")],
                                  capture_output=True, **options)
            assert done.returncode == 3 and b"Permission denied" in done.stderr, done.stderr.decode()
        finally:
            run.terminate()
            run.wait()
            run.stdout.close()
            shutil.rmtree(folder)


def own_address():
    """An address of this machine that other machines use."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            any_socket.connect(("203.0.113.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no network")
        return any_socket.getsockname()[0]


def test_bytes_of_anybody_do_not_end_the_agent(tmp_path, agent, training):
    server = agent("--bundle", training.bundle)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    for data in (b"", b"GET / HTTP/1.1\r\n\r\n", preface, preface + bytes(64), preface + b"\xff" * 5000,
                 preface + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" * 5000, preface + b"\x00\x40\x00\x01\x05\x00\x00\x00\x01" + bytes(16384)):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
    done = capture(server, tmp_path / "logs", "--for", "100ms")
    assert done.status == 0, done.err.decode()
    for connection in idle:
        connection.close()


@needs_tensorflow
def test_no_path_of_a_client_is_written(tmp_path, agent, training):
    for folder in ("kept", "client"):
        (tmp_path / folder).mkdir()
    server = agent("--bundle", training.bundle, "--logdir", tmp_path / "kept")
    done = client(TENSORFLOW, "ask-with-paths", server.address, tmp_path / "client")
    assert done.returncode == 0 and int(done.stdout) > 100, done.stderr
    assert list((tmp_path / "client").iterdir()) == []
    kept = file_in(tmp_path / "kept")
    assert kept.parent.name.startswith(".._.._.._") and "/" not in kept.parent.name
    assert [path for path in tmp_path.rglob("*.pb") if training.bundle not in path.parents] == [kept]


@needs_tensorflow
def test_a_server_chooses_no_path(tmp_path, started):
    port = free_port()
    assert started(TENSORFLOW, "serve-paths", port).stdout.readline() == b"ready\n"
    done = capture(f"127.0.0.1:{port}", tmp_path / "a" / "b" / "logs", "--for", "0s")
    assert done.status == 0, done.err.decode()
    (_, names), = runs_in(tmp_path / "a" / "b" / "logs").items()
    assert len(names) == 5 and all(re.fullmatch(rf"127\.0\.0\.1_{port}\.[\w.-]*xplane\.pb", name) for name in names), names
    assert len(list(tmp_path.rglob("*.pb"))) == 5 and b"\x1b" not in done.err


@pytest.mark.parametrize("data,words", [
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak HTTP/2"),
    (b"", "closed the connection"),
    (bytes(9000), "does not speak HTTP/2|closed the connection"),
    (b"\xff" * 9000, "does not speak HTTP/2|closed the connection"),
], ids=["http1", "nothing", "zeros", "ones"])
def test_a_server_that_is_none(tmp_path, data, words):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(data)

        server = threading.Thread(target=serve)
        server.start()
        done = capture("127.0.0.1:%d" % listener.getsockname()[1], tmp_path / "logs", "--for", "100ms")
        server.join()
    assert done.status == 3 and re.search(words, done.err.decode()), done.err.decode()
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("words,fault", [
    (["node7"], "is not HOST:PORT"), (["node7:9012", "--for", "11m"], "at most 10m"), (["node7:9012"], "the log folder is missing"),
    (["node7:9012,node7:9012", "-o", "x"], "is named twice"), ([], "HOST:PORT is missing"),
])
def test_wrong_usage(words, fault):
    done = gpuprof("capture", *words)
    assert done.status == 2 and fault in done.err.decode()
