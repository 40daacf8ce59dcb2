# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""The verbs on real recordings: run's summary, ps, ctl, and the readers' exit codes."""

import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from cli_support import GPUPROF, PYTHON, clean_env, compile_c, gpuprof
from waiting import LIMIT_S, wait_until

WORK = "import threading\nblocks = [bytearray(200000) for _ in range(200)]\nt = threading.Thread(target=lambda: None)\nt.start()\nt.join()\n"


def record(tmp_path, *options, script=WORK, name="b"):
    result = gpuprof("run", "-o", name, *options, "--", PYTHON, "-c", script, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    return result


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded")
    record(path)
    return path / "b"


def words_of(result):
    return [line.removeprefix("gpuprof: ") for line in result.stderr.splitlines()]


def test_summary_has_five_lines_and_the_next_command_works(tmp_path):
    lines = words_of(record(tmp_path, "--trace", "heap=exact,threads"))
    assert len(lines) == 5, lines
    assert re.fullmatch(r"'[^']*' ended with status 0 after [0-9.]+ s", lines[0])
    assert re.fullmatch(r"recorded: [0-9,]+ events of 1 process", lines[1])
    assert lines[2] == "lost: nothing"
    assert re.fullmatch(r"bundle: b \([0-9.]+ [KM]?i?B\)", lines[3])
    assert lines[4].startswith("next: gpuprof ")
    events = int(re.sub(r"\D", "", lines[1].split("events")[0]))
    info = json.loads(gpuprof("info", "--json", "b", cwd=tmp_path).stdout)
    assert events == info["count"] > 200
    following = lines[4].removeprefix("next: gpuprof ").split()
    assert gpuprof(*following, cwd=tmp_path).returncode == 0


def test_paths_and_patterns_that_are_not_utf8(tmp_path):
    here = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(here)
    made = subprocess.run([GPUPROF, "run", "-o", b"b\xe9", "--exclude", b"x\xe9*", "--", PYTHON, "-c", WORK], cwd=here, env=clean_env(),
                          capture_output=True, timeout=LIMIT_S)
    assert made.returncode == 0 and b"libprotobuf" not in made.stderr, made.stderr
    assert b"next: gpuprof stats overview $'b\\351'\n" in made.stderr, "what is to be typed next names another bundle"
    for words in (["info"], ["info", "--json"], ["stats", "overview"], ["stats", "overview", "--json"], ["verify"], ["recover"]):
        read = subprocess.run([GPUPROF, *words, b"b\xe9"], cwd=here, env=clean_env(), capture_output=True, timeout=LIMIT_S)
        assert (read.returncode, read.stderr) == (0, b""), words
        if "--json" in words:
            json.loads(read.stdout.decode())
            assert "\ufffd" in read.stdout.decode()


def test_quiet_says_nothing(tmp_path):
    assert record(tmp_path, "--quiet").stderr == ""


def test_the_default_bundle_is_named_after_the_program(tmp_path):
    result = gpuprof("run", "--", PYTHON, "-c", WORK, cwd=tmp_path)
    made = [p.name for p in tmp_path.iterdir()]
    assert len(made) == 1
    assert re.fullmatch(rf"gpuprof-{re.escape(os.path.basename(PYTHON))}-\d{{8}}-\d{{6}}-\d+", made[0])
    assert made[0] in result.stderr


def test_bundle_says_how_the_command_ended(tmp_path):
    result = gpuprof("run", "-o", "b", "--stacks=3", "--", PYTHON, "-c", WORK + "raise SystemExit(9)", cwd=tmp_path)
    assert result.returncode == 9
    info = json.loads(gpuprof("info", "--json", "b", cwd=tmp_path).stdout)
    assert info["exit_status"] == 9
    assert "GPUPROF_STACKS=3" in info["settings"]
    assert info["command"][0] == PYTHON
    assert 0 < info["started_realtime_ns"] < info["ended_realtime_ns"]


@pytest.mark.parametrize("name", ["overview", "steps", "ops", "heap", "locks", "stacks", "threads", "health"])
def test_stats_in_every_form(bundle, name):
    text = gpuprof("stats", name, bundle, cwd=bundle)
    # Folded stacks are for other tools: what is to be said stands beside them.
    assert (text.returncode, bool(text.stderr)) == (0, name == "stacks")
    assert text.stdout.endswith("\n")
    as_json = gpuprof("stats", name, bundle, "--json", cwd=bundle)
    assert json.loads(as_json.stdout)["meta"]["pass"] == name
    as_csv = gpuprof("stats", name, bundle, "--csv", cwd=bundle)
    assert as_csv.returncode == 0
    rows = list(csv.reader(io.StringIO(as_csv.stdout)))
    assert rows and all(len(row) == len(rows[0]) for row in rows)


def test_a_cut_trace_is_shown_and_told(tmp_path, bundle):
    trace = next(bundle.glob("*.gpt"))
    cut = tmp_path / "cut.gpt"
    cut.write_bytes(trace.read_bytes()[:-200])
    for args in (["info", cut], ["stats", "heap", cut], ["dump", cut]):
        result = gpuprof(*args, cwd=tmp_path)
        assert result.returncode == 3, args
        assert result.stdout and "cut.gpt" in result.stderr, args
    assert gpuprof("verify", cut, cwd=tmp_path).returncode == 3
    assert gpuprof("verify", bundle, cwd=tmp_path).returncode == 0


def test_dump_stops_when_its_reader_does(bundle):
    script = f"'{GPUPROF}' dump '{bundle}' | head -n 1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", script], env=clean_env(), text=True, capture_output=True)
    assert result.stderr == ""
    assert len(result.stdout.splitlines()) == 1


class Sleeper:
    """A program under gpuprof that allocates until it is told to end."""

    SCRIPT = "import sys, time\nprint('ready', flush=True)\nwhile True:\n    b = bytearray(600000)\n    time.sleep(0.01)\n"

    def __init__(self, tmp_path, *options):
        self.process = subprocess.Popen([GPUPROF, "run", "-o", "b", *options, "--", PYTHON, "-c", self.SCRIPT], cwd=tmp_path,
                                        env=clean_env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        self.pid = int(open(children).read().split()[0])

    def __enter__(self):
        return self

    def record_some(self, folder):
        """Waits until events are in the trace."""
        def events():
            done = gpuprof("ctl", "status", "--json", self.pid, cwd=folder)
            return done.returncode == 0 and json.loads(done.stdout)["processes"][0]["events"]

        wait_until(events, "events")

    def is_gone(self):
        try:
            return open(f"/proc/{self.pid}/stat").read().rpartition(") ")[2][0] in "ZX"
        except FileNotFoundError:
            return True

    def __exit__(self, *_):
        if not self.is_gone():
            os.kill(self.pid, signal.SIGKILL)
        self.process.communicate(timeout=LIMIT_S)


def test_ctl_and_ps(tmp_path):
    with Sleeper(tmp_path, "--capture=off") as sleeper:
        def status():
            return json.loads(gpuprof("ctl", "status", "--json", sleeper.pid, cwd=tmp_path).stdout)["processes"][0]

        first = status()
        assert first["state"] == "dormant" and first["captures"] == 0
        assert first["bundle"] == str(tmp_path / "b")
        text = gpuprof("ctl", "status", sleeper.pid, cwd=tmp_path).stdout
        assert dict(line.split(": ", 1) for line in text.splitlines())["state"] == "dormant"
        assert gpuprof("ctl", "start", sleeper.pid, cwd=tmp_path).returncode == 0
        assert status()["state"] == "capturing"
        again = gpuprof("ctl", "start", sleeper.pid, cwd=tmp_path)
        assert again.returncode == 1 and again.stderr.startswith(f"gpuprof: process {sleeper.pid}: ")
        listed = [p for p in json.loads(gpuprof("ps", "--json", cwd=tmp_path).stdout)["processes"] if p["pid"] == sleeper.pid]
        assert len(listed) == 1 and listed[0]["captures"] == 1
        assert re.search(rf"^ *{sleeper.pid}  capturing ", gpuprof("ps", cwd=tmp_path).stdout, re.M)
        sleeper.record_some(tmp_path)
        assert gpuprof("ctl", "stop", sleeper.pid, cwd=tmp_path).returncode == 0
        stopped = status()
        assert stopped["state"] == "dormant" and stopped["events"] > 0
        # After stop the data is in the bundle: readable while the process lives.
        info = json.loads(gpuprof("info", "--json", "b", cwd=tmp_path).stdout)
        assert info["count"] > 0
        mixed = gpuprof("ctl", "status", sleeper.pid, 4194300, cwd=tmp_path)
        assert mixed.returncode == 3 and f"pid: {sleeper.pid}" in mixed.stdout and "4194300" in mixed.stderr
    gone = gpuprof("ctl", "status", sleeper.pid, cwd=tmp_path)
    assert gone.returncode == 3 and "does not exist" in gone.stderr
    gpuprof("ps", cwd=tmp_path)
    folder = f"/tmp/gpuprof-{os.geteuid()}"
    left = os.listdir(folder) if os.path.isdir(folder) else []
    assert not [name for name in left if name.startswith(f"{sleeper.pid}-")]


def test_sigkill_of_the_command_leaves_a_finished_trace(tmp_path):
    with Sleeper(tmp_path, "--trace=heap=exact") as sleeper:
        sleeper.record_some(tmp_path)
        os.kill(sleeper.pid, signal.SIGKILL)
        _, stderr = sleeper.process.communicate(timeout=LIMIT_S)
        assert sleeper.process.returncode == -signal.SIGKILL
    assert "was killed by SIGKILL" in stderr
    assert not list((tmp_path / "b").glob("*.ring"))
    info = json.loads(gpuprof("info", "--json", "b", cwd=tmp_path).stdout)
    assert info["exit_status"] == 128 + signal.SIGKILL
    assert info["processes"][0]["has_end"]
    # It may have lived long enough for its recorder to note a cost; a zero would be none.
    health = json.loads(gpuprof("stats", "health", "--json", "b", cwd=tmp_path).stdout)["processes"][0]
    assert health["drain_cpu_ns"] is None or health["drain_cpu_ns"] > 0
    assert gpuprof("verify", "b", cwd=tmp_path).returncode == 0


def test_recover_finishes_what_the_launcher_could_not(tmp_path):
    with Sleeper(tmp_path, "--trace=heap=exact") as sleeper:
        sleeper.record_some(tmp_path)
        os.kill(sleeper.process.pid, signal.SIGKILL)
        sleeper.process.wait(timeout=LIMIT_S)
        alive = gpuprof("recover", "b", cwd=tmp_path)
        assert alive.returncode == 0
        assert f"process {sleeper.pid} is still running" in alive.stderr
        os.kill(sleeper.pid, signal.SIGKILL)
        wait_until(lambda: not os.path.exists(f"/proc/{sleeper.pid}"), "the end of the process")
    assert list((tmp_path / "b").glob("*.ring"))
    result = gpuprof("recover", "b", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "finished 1 trace\n"), result.stderr
    assert not list((tmp_path / "b").glob("*.ring"))
    assert gpuprof("verify", "b", cwd=tmp_path).returncode == 0


def test_recover_tells_what_it_cannot_mend(tmp_path, bundle):
    shutil.copytree(bundle, tmp_path / "b")
    assert gpuprof("recover", "b", cwd=tmp_path).returncode == 0
    trace = next((tmp_path / "b").glob("*.gpt"))
    os.truncate(trace, trace.stat().st_size // 2)
    result = gpuprof("recover", "b", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (3, "finished 0 traces\n")
    assert trace.name in result.stderr and "'gpuprof verify b' tells more" in result.stderr


def test_a_cut_ring_file_is_told(tmp_path):
    with Sleeper(tmp_path, "--trace=heap=exact") as sleeper:
        sleeper.record_some(tmp_path)
        os.kill(sleeper.process.pid, signal.SIGKILL)
        sleeper.process.wait(timeout=LIMIT_S)
        os.kill(sleeper.pid, signal.SIGKILL)
        wait_until(lambda: not os.path.exists(f"/proc/{sleeper.pid}"), "the end of the process")
    (ring,) = (tmp_path / "b").glob("*.ring")
    os.truncate(ring, ring.stat().st_size - 4096)
    assert gpuprof("verify", "b", cwd=tmp_path).returncode == 3
    for words in (["recover"], ["recover"], ["stats", "heap"], ["info"], ["verify"]):
        result = gpuprof(*words, "b", cwd=tmp_path)
        assert result.returncode == 3, words
        assert "cut or damaged" in result.stdout + result.stderr, words
    assert "lost        none" not in gpuprof("info", "b", cwd=tmp_path).stdout
    heap = json.loads(gpuprof("stats", "heap", "--json", "b", cwd=tmp_path).stdout)["meta"]
    assert "cut or damaged" in heap["inputs"][0]["fault"] and heap["confidence"]["level"] in ("none", "low")
    assert "damaged" in heap["confidence"]["reason"]


def test_survivors_are_told(tmp_path):
    await_file = "import glob, time\ndef wait(name):\n    while not glob.glob(name): time.sleep(0.01)\n"
    child = f"{await_file}\n{WORK}\nwait('go')\n"
    script = f"{await_file}\n{WORK}\nimport subprocess\nchild = subprocess.Popen([{PYTHON!r}, '-c', {child!r}], start_new_session=True, stdout=-3, stderr=-3)\n" \
        "wait(f'b/p{child.pid}-*.ring')\n"
    result = gpuprof("run", "-o", "b", "--", PYTHON, "-c", script, cwd=tmp_path)
    told = re.search(r"still running: 1 process \((\d+)\); its trace will be complete when it ends", result.stderr)
    assert told and "'gpuprof ps'" in result.stderr and f"gpuprof ctl stop {told.group(1)}" in result.stderr, result.stderr
    pid = int(told.group(1))
    (tmp_path / "go").touch()
    wait_until(lambda: not list((tmp_path / "b").glob(f"p{pid}-*.ring")), "the end of the survivor's trace")
    assert gpuprof("verify", "b", cwd=tmp_path).returncode == 0


DAEMON = "#include <unistd.h>\nint main(void) { if (daemon(1, 0)) return 1; sleep(1000); return 0; }\n"


@pytest.mark.parametrize("option", ["--capture=now", "--capture=off"])
def test_a_daemon_that_has_done_nothing_yet_is_told(tmp_path, option):
    """Its parent ends at once: the child may have neither a ring nor a socket when the command has ended."""
    daemon = compile_c(tmp_path / "daemon", DAEMON)
    result = gpuprof("run", option, "--", daemon, cwd=tmp_path)
    told = re.search(r"still running[^0-9]*(?:1 process \()?(\d+)", result.stderr)
    assert told, result.stderr
    assert f"gpuprof ctl {'stop' if option == '--capture=now' else 'start'} {told.group(1)}" in result.stderr
    os.kill(int(told.group(1)), signal.SIGKILL)
    assert list(tmp_path.glob("gpuprof-daemon-*")), "its bundle must be there"


def test_what_is_no_carrier_is_not_told(tmp_path):
    result = gpuprof("run", "--", "sh", "-c", "sleep 5 > /dev/null 2>&1 & exit 3", cwd=tmp_path)
    assert result.returncode == 3
    assert "still running" not in result.stderr, result.stderr


def test_a_program_that_uses_the_trigger_signal_switches_nothing(tmp_path):
    script = WORK + "import os, signal, time\nsignal.signal(signal.SIGUSR1, lambda *_: None)\n" \
        "for _ in range(3):\n    time.sleep(0.2)\n    os.kill(os.getpid(), signal.SIGUSR1)\ntime.sleep(0.2)\n"
    result = gpuprof("run", "-o", "b", "--", PYTHON, "-c", script, cwd=tmp_path)
    assert "switched" not in result.stderr, result.stderr
    (process,) = json.loads(gpuprof("info", "--json", "b", cwd=tmp_path).stdout)["processes"]
    assert [(capture["start_trigger"], capture["stop_trigger"]) for capture in process["captures"]] == [("now", "exit")]


def test_switches_from_outside_are_told(tmp_path):
    run = subprocess.Popen([str(GPUPROF), "run", "-o", "b", "--", PYTHON, "-c", WORK + "print('ready', flush=True)\ninput()"],
                           cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_env())
    assert run.stdout.readline() == "ready\n"
    pid = int(pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()[0])

    def state():
        done = gpuprof("ctl", "status", "--json", pid, cwd=tmp_path)
        return done.returncode == 0 and json.loads(done.stdout)["processes"][0]["state"]

    wait_until(lambda: state() == "capturing", "the capture")
    os.kill(pid, signal.SIGUSR1)
    wait_until(lambda: state() == "dormant", "the end of the capture")
    _, words = run.communicate("\n", timeout=LIMIT_S)
    assert re.search(r"switched: recording was started or stopped 1 time by SIGUSR1; .*--signal=none", words), words


def test_a_bundle_named_like_an_option_can_be_typed(tmp_path):
    result = gpuprof("run", "-o", "--foo", "--", PYTHON, "-c", WORK, cwd=tmp_path)
    following = words_of(result)[-1].removeprefix("next: gpuprof ").split()
    assert following[-1] == "./--foo"
    assert gpuprof(*following, cwd=tmp_path).returncode == 0


def test_reasons_for_nothing(tmp_path):
    for options, words in [(["--capture=off"], "gpuprof ctl start"), (["--capture=delay:60s"], "shorter delay"),
                           ([f"--exclude={os.path.basename(os.path.realpath(PYTHON))}"], "--include")]:
        result = gpuprof("run", *options, "--", PYTHON, "-c", "pass", cwd=tmp_path)
        assert "nothing was recorded" in result.stderr and words in result.stderr, options
    assert list(tmp_path.iterdir()) == []


def test_a_named_program_can_be_included(tmp_path):
    result = gpuprof("run", "-o", "b", "--include=sh,dash,bash", "--trace=heap=exact", "--", "sh", "-c", ":", cwd=tmp_path)
    assert re.search(r"recorded: [0-9,]+ events? of 1 process", result.stderr), result.stderr
