# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Hardware counters, by the double of NVML: every value that it told is recorded, what it has not is absent, what it refuses is said once,
and the program does not notice."""

import collections
import json
import os
import pathlib
import signal

import pytest

from conftest import clean_environment, gpuprof, run_bare, verify
from fake_gpu import DOUBLES, LIBRARIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle, read_samplers
from waiting import wait_until

NVML = DOUBLES / "nvml"
PROGRAMS = DOUBLES / "programs"
pytestmark = [needs_doubles, pytest.mark.skipif(not (NVML / "libnvidia-ml.so.1").exists(), reason="no double of NVML: no nvml.h")]

# What the truth calls it, what the trace does.
NAMES = {
    "nvmlDeviceGetUtilizationRates.gpu": "gpu_utilization", "nvmlDeviceGetUtilizationRates.memory": "memory_utilization",
    "nvmlDeviceGetMemoryInfo": "memory_used", "nvmlDeviceGetTemperature": "temperature", "nvmlDeviceGetPowerUsage": "power",
    "nvmlDeviceGetFieldValues.186": "power_instant", "nvmlDeviceGetClockInfo.1": "sm_clock", "nvmlDeviceGetClockInfo.2": "memory_clock",
    "nvmlDeviceGetCurrentClocksEventReasons": "clocks_event_reasons", "nvmlDeviceGetPcieThroughput.0": "pcie_tx",
    "nvmlDeviceGetPcieThroughput.1": "pcie_rx",
}
GPM = {1: "graphics_active", 2: "sm_active", 3: "sm_occupancy", 4: "integer_active", 5: "tensor_active", 7: "tensor_hmma_active",
       10: "dram_active", 12: "fp32_active", 13: "fp16_active", 20: "pcie_tx", 21: "pcie_rx", 60: "nvlink_rx", 61: "nvlink_tx"}
FAST = "--gpu-period=20ms"


def environment(folder, script, nvml=True):
    env = environment_of(folder / "truth.%p", script)
    if nvml:
        env["LD_LIBRARY_PATH"] = f"{NVML}:{env['LD_LIBRARY_PATH']}"
    return env


def truths(folder):
    """Everything that all processes were told, by file."""
    found = {}
    for path in folder.glob("truth.*"):
        try:
            found[path] = Truth(path)
        except (StopIteration, json.JSONDecodeError):
            pass  # is being written
    return found


def told(folder, kind="nvml"):
    return [row for truth in truths(folder).values() for row in truth.of(kind)]


def count_told(folder, kind="nvml"):
    """The number of rows of this kind by now, without reading the rows."""
    mark = b'{"t":"%s",' % kind.encode()
    return sum(path.read_bytes().count(mark) for path in folder.glob("truth.*"))


def scaled(row):
    if row["t"] == "gpm":
        return round(row["value"] * (1048576 if row["metric"] >= 20 else 1000))
    return int(row["value"]) * (1000 if "Pcie" in row["what"] else 1)


def expected(folder):
    """(device, source, name): values, as the trace must have them."""
    series = collections.defaultdict(list)
    for row in told(folder) + told(folder, "gpm"):
        if row["t"] == "gpm":
            series[row["device"], "gpm", GPM[row["metric"]]].append(scaled(row))
        elif row["what"] in NAMES:
            series[row["device"], "nvml", NAMES[row["what"]]].append(scaled(row))
    return dict(series)


def recorded(sampler):
    series = collections.defaultdict(list)
    for device, source, name, pid, _, value in sampler.counter_rows():
        if not pid:
            series[device, source, name].append(value)
    return dict(series)


def no_violation(folder):
    assert [row for truth in truths(folder).values() for row in truth.of("violation")] == []


def of_counters(outcome):
    return [line for line in outcome.words.splitlines() if "hardware counter" in line or "--gpu-log" in line]


@pytest.fixture
def rounds(session, tmp_path):
    """rounds(script, *options, until=): `rounds` on the doubles until the condition holds; then it ends."""

    def run(script, *options, until=lambda: count_told(tmp_path) > 60):
        running = session([PROGRAMS / "rounds"], *options, env=environment(tmp_path, script))
        assert running.line() == "ready"
        running.tell("3\n")
        assert running.line() == "done 3"
        wait_until(until, "enough counters")
        outcome = running.finish()
        assert outcome.status == 0 and outcome.out == b"", outcome.err.decode()
        verify(outcome.bundle)
        no_violation(tmp_path)
        assert not (outcome.bundle / "gpu.wait").exists()
        return outcome

    return run


SCRIPT = """devices 2
nvml nvmlDeviceGetPowerUsage 0 100000 200500 300250 250000 120001
nvml nvmlDeviceGetPowerUsage 1 70000 71000
nvml nvmlDeviceGetUtilizationRates.gpu 0 0 10 20 90 100 100 30
nvml nvmlDeviceGetUtilizationRates.memory 0 0 1 2 3 4 5
nvml nvmlDeviceGetMemoryInfo 0 1073741824 8589934592 85899345920
nvml nvmlDeviceGetClockInfo.1 0 345 1980 1980 1500 1980
nvml nvmlDeviceGetClockInfo.2 1 2619
nvml nvmlDeviceGetCurrentClocksEventReasons 0 1 0 4 4 36 0
nvml nvmlDeviceGetTemperature 0 30 31 35 44
gpm 1 0 50.5 99.25 0
gpm 2 0 12.5 100 33.333
gpm 3 0 6.25 50
gpm 5 0 1.5 75.125 0
gpm 7 0 1.5
gpm 10 0 45 46.5
gpm 12 0 0
gpm 20 0 100 2000.5
gpm 21 0 1 2
gpm 60 0 0
gpm 61 0 12
"""


def test_every_value_told_is_recorded(rounds, tmp_path):
    outcome = rounds(SCRIPT, FAST, until=lambda: count_told(tmp_path, "gpm") > 40)
    (sampler,) = read_samplers(outcome.bundle)
    assert sampler.is_sampler and sampler.lost == 0
    want = expected(tmp_path)
    assert recorded(sampler) == want
    assert len(want[0, "nvml", "power"]) > 3 and len(want[0, "gpm", "tensor_active"]) > 2
    assert (1, "gpm", "tensor_active") not in want
    devices = {device["index"]: device for device in sampler.devices.values()}
    assert [devices[i]["gpm"] for i in (0, 1)] == [True, False]
    assert devices[1]["uuid"] == "GPU-f1f1f1f1-f1f1-f1f1-f1f1-f1f1f1f1f1f1"
    assert of_counters(outcome) == []


def test_the_program_is_not_touched(rounds, tmp_path):
    """NVML is in the sampler's process alone, and the program is the only process of the trace."""
    outcome = rounds("")
    (trace,) = read_bundle(outcome.bundle)
    ours = [truth for path, truth in truths(tmp_path).items() if path.name == f"truth.{trace.pid}"]
    assert len(ours) == 1 and ours[0].of("nvml") == []
    info = json.loads(gpuprof("info", "--json", outcome.bundle).out)
    assert [process["pid"] for process in info["processes"]] == [trace.pid]
    assert len(info["samplers"]) == 1 and info["samplers"][0]["has_end"]
    assert info["count"] == trace.records
    overview = json.loads(gpuprof("stats", "overview", "--json", outcome.bundle).out)
    assert [process["pid"] for process in overview["processes"]] == [trace.pid]
    assert "1 process" in outcome.words


def test_times_are_on_the_programs_axis(rounds, tmp_path):
    outcome = rounds("nvml nvmlDeviceGetPowerUsage 0 " + " ".join(str(1000 + i) for i in range(300)), FAST)
    origin = json.loads(gpuprof("info", "--json", outcome.bundle).out)["origin_realtime_ns"]
    (offset,) = {truth.offset for truth in truths(tmp_path).values() if truth.of("nvml")}
    times = {round(row["value"]): row["time"] + offset - origin for row in told(tmp_path) if row["what"] == "nvmlDeviceGetPowerUsage"}
    rows = [line.split() for line in gpuprof("dump", outcome.bundle).out.decode().splitlines()]
    rows = [row for row in rows if row[4] == "counter" and 'name="power"' in row]
    assert len(rows) == len(times) > 3
    slack = 2_000_000  # the two processes read the wall clock at different moments
    for row in rows:
        value = round(float(next(word for word in row if word.startswith("value="))[6:]) * 1000)
        assert times[value] - slack <= int(row[0])
        if value + 1 in times:
            assert int(row[0]) <= times[value + 1] + slack


def test_what_a_device_has_not_is_absent(rounds, tmp_path):
    script = "devices 2; nvml nvmlDeviceGetPowerUsage 0; nvml nvmlDeviceGetClockInfo.2 0; fail nvmlDeviceGetTemperature 3"
    outcome = rounds(script, FAST)
    (sampler,) = read_samplers(outcome.bundle)
    found = recorded(sampler)
    assert found == expected(tmp_path)
    assert (0, "nvml", "power") not in found and (1, "nvml", "power") in found
    assert (0, "nvml", "temperature") not in found and (1, "nvml", "temperature") not in found
    assert of_counters(outcome) == []
    note = " ".join(note for note in sampler.notes if note.startswith("GPU 0 "))
    assert all(word in note for word in ("power", "memory_clock", "temperature", "GPM"))
    stats = json.loads(gpuprof("stats", "counters", "--json", outcome.bundle).out)
    assert [use["device"] for use in stats["counters"] if use["name"] == "power"] == [1]


def test_mig_is_named(rounds):
    outcome = rounds("mig on; fail nvmlDeviceGetUtilizationRates 3")
    (sampler,) = read_samplers(outcome.bundle)
    assert "MIG" in " ".join(sampler.notes)


def test_nvlink_and_its_sums(rounds, tmp_path):
    """Without GPM, from running sums: nothing of the first, nothing where they begin anew."""
    sums = [1000, 1000, 5000, 20, 20]
    rows = lambda: [row for row in told(tmp_path) if row["what"] == "nvmlDeviceGetFieldValues.138"]
    outcome = rounds("nvml nvmlDeviceGetFieldValues.138 0 " + " ".join(map(str, sums)), FAST, until=lambda: len(rows()) >= len(sums))
    (sampler,) = read_samplers(outcome.bundle)
    values = recorded(sampler)[0, "nvml", "nvlink_tx"]
    assert len(values) == len(rows()) - 2
    assert values[0] == 0 and values[1] > 0 and set(values[2:]) == {0}
    assert (0, "nvml", "nvlink_rx") not in recorded(sampler)


def test_memory_of_the_programs_processes(rounds):
    outcome = rounds("")
    (trace,), (sampler,) = read_bundle(outcome.bundle), read_samplers(outcome.bundle)
    rows = [(pid, value) for _, _, name, pid, _, value in sampler.counter_rows() if name == "process_memory_used"]
    assert set(rows) == {(trace.pid, 1 << 30)}


REFUSALS = [
    ("fail nvmlInit_v2 9", "no hardware counters: ", "the NVIDIA driver is not loaded"),
    ("fail nvmlInit_v2 4", "no hardware counters: ", "/dev/nvidiactl"),
    ("fail nvmlInit_v2 12", "no hardware counters: ", "NVIDIA_DRIVER_CAPABILITIES"),
    ("fail nvmlInit_v2 18", "no hardware counters: ", "restart the machine after a driver's update"),
    ("fail nvmlDeviceGetCount_v2 999", "no hardware counters: ", "Xid"),
    ("fail nvmlDeviceGetHandleByIndex_v2 15", "hardware counter", "has fallen off the bus"),
    ("fail nvmlDeviceGetPowerUsage 4", "no hardware counter power: ", "ls -l /dev/nvidia*"),
    ("gpm 5 0 1; fail nvmlGpmSampleGet 4", "no hardware counter SM, tensor", "NVreg_RestrictProfilingToAdminUsers=0"),
    ("fail nvmlDeviceGetTemperature 10", "no hardware counter temperature: ", "did not answer in time"),
]


@pytest.mark.parametrize("script, begin, remedy", REFUSALS, ids=[script for script, _, _ in REFUSALS])
def test_a_refusal_is_said_once_with_its_remedy_and_kept(rounds, tmp_path, script, begin, remedy):
    outcome = rounds(script, FAST, until=lambda: any((tmp_path / "session1").glob("gpu-*.gpt")))
    lines = [line for line in of_counters(outcome) if begin in line and remedy in line]
    assert len(lines) == 1, outcome.words
    (sampler,) = read_samplers(outcome.bundle)
    assert [note for note in sampler.notes if remedy in note], sampler.notes
    assert remedy in gpuprof("stats", "health", outcome.bundle).out.decode().replace("\n  ", " ")
    text = gpuprof("stats", "counters", outcome.bundle).out.decode().replace("\n  ", " ")
    assert remedy in text
    if begin == "no hardware counters: ":
        assert text.startswith("No hardware counter was recorded: ") and sampler.counter_rows() == []
    else:
        assert recorded(sampler) == expected(tmp_path)


@pytest.mark.parametrize("script, words", [("nvml_hang nvmlDeviceGetPowerUsage", "NVML hangs"), ("nvml_crash nvmlDeviceGetPowerUsage", "died of"),
                                           ("nvml_hang nvmlInit_v2", "NVML hangs")])
def test_a_driver_that_hangs_or_crashes_costs_the_program_nothing(record, tmp_path, script, words):
    env = environment(tmp_path, script + "; kernel_ns 20000000")
    bare = run_bare([PROGRAMS / "vector_add"], env=environment(tmp_path, "kernel_ns 20000000"))
    outcome = record([PROGRAMS / "vector_add"], env=env)
    assert (outcome.status, outcome.out) == (bare.status, bare.out)
    assert len([line for line in outcome.words.splitlines() if words in line]) == 1, outcome.words
    assert not (outcome.bundle / "gpu.wait").exists()
    for reading in ("info",), ("stats", "counters"), ("stats", "health"):
        told_later = gpuprof(*reading, outcome.bundle)
        assert told_later.status == 0 and told_later.out.count(words.encode()) == 1, (reading, told_later.out)


def test_killed_the_program_leaves_its_counters(session, tmp_path):
    running = session([PROGRAMS / "rounds"], FAST, env=environment(tmp_path, ""))
    assert running.line() == "ready"
    running.wait_for(lambda: count_told(tmp_path) > 40)
    os.kill(running.pid, signal.SIGKILL)
    outcome = running.finish()
    assert outcome.status == -signal.SIGKILL
    verify(outcome.bundle)
    (sampler,) = read_samplers(outcome.bundle)
    assert recorded(sampler) == expected(tmp_path)


def test_killed_the_launcher_leaves_all_counters(session, tmp_path):
    running = session([PROGRAMS / "rounds"], FAST, env=environment(tmp_path, ""))
    assert running.line() == "ready"
    running.wait_for(lambda: count_told(tmp_path) > 40)
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.wait()
    ended = lambda: json.loads(gpuprof("info", "--json", running.bundle).out)["samplers"][0]["has_end"]
    wait_until(ended, "the end of the sampler's trace")
    (sampler,) = read_samplers(running.bundle)
    assert recorded(sampler) == expected(tmp_path)
    assert not (running.bundle / "gpu.wait").exists()
    no_violation(tmp_path)


def test_no_gpu_is_touched_before_the_program_has(record, tmp_path):
    outcome = record(["sleep", "0.3"], "--trace=cuda,heap", env=environment(tmp_path, ""))
    assert outcome.status == 0 and of_counters(outcome) == []
    assert list(tmp_path.glob("truth.*")) == [] and read_samplers(outcome.bundle) == []
    assert not (outcome.bundle / "gpu.wait").exists()


def test_dormant_no_gpu_is_touched_until_a_capture_begins(session, tmp_path):
    running = session([PROGRAMS / "rounds"], "--capture=off", FAST, env=environment(tmp_path, ""))
    assert running.line() == "ready"
    running.tell("3\n")
    assert running.line() == "done 3"
    assert told(tmp_path) == []
    assert running.ctl("start").status == 0
    wait_until(lambda: count_told(tmp_path) >= 20, "counters")
    outcome = running.finish()
    (sampler,) = read_samplers(outcome.bundle)
    assert recorded(sampler) == expected(tmp_path)


def test_off_beside_a_flight_recorder_or_without_cuda_nothing_is_read(record, tmp_path):
    env = environment(tmp_path, "kernel_ns 20000000")
    for options in (["--gpu-period=off"], ["--ring=16MiB"], ["--trace=heap,ops"]):
        outcome = record([PROGRAMS / "vector_add"], *options, env=env)
        assert read_samplers(outcome.bundle) == [] and told(tmp_path) == [] and outcome.status == 0, options
    outcome = record([PROGRAMS / "vector_add"], "--ring=16MiB", FAST, env=env)
    assert len(read_samplers(outcome.bundle)) == 1


def without_nvml(tmp_path, record, *options):
    env = environment(tmp_path, "kernel_ns 5000000", nvml=False)
    bare = run_bare([PROGRAMS / "vector_add"], env=env)
    outcome = record([PROGRAMS / "vector_add"], *options, env=env)
    assert (outcome.status, outcome.out) == (bare.status, bare.out)
    assert read_samplers(outcome.bundle) == []
    return outcome


no_real_nvml = pytest.mark.skipif(bool(list(pathlib.Path("/usr/lib/x86_64-linux-gnu").glob("libnvidia-ml.so.1"))),
                                  reason="this machine has an NVML of its own")


@no_real_nvml
def test_without_nvml_not_a_word(record, tmp_path):
    outcome = without_nvml(tmp_path, record)
    assert "counter" not in outcome.words and "NVML" not in outcome.words
    text = gpuprof("stats", "counters", outcome.bundle).out.decode().replace("\n  ", " ")
    assert text.startswith("No hardware counter was recorded: ") and "libnvidia-ml.so.1" in text and "gpuprof doctor" in text


@no_real_nvml
def test_without_nvml_a_log_that_was_asked_for_says_why(record, tmp_path):
    outcome = without_nvml(tmp_path, record, f"--gpu-log={tmp_path}/log.csv")
    (line,) = of_counters(outcome)
    assert "libnvidia-ml.so.1" in line and "NVIDIA_DRIVER_CAPABILITIES" in line
    assert (tmp_path / "log.csv").read_text().count("\n") == 1  # the header


def log_rows(path):
    header, *lines = pathlib.Path(path).read_text().splitlines()
    names = header.split(", ")
    rows = [line.split(", ") for line in lines]
    assert all(len(row) == len(names) for row in rows)
    return names, [dict(zip(names, row)) for row in rows]


def test_the_log_has_what_nvidia_smi_would_print(rounds, tmp_path):
    outcome = rounds(SCRIPT, FAST, f"--gpu-log={tmp_path}/log.csv", until=lambda: count_told(tmp_path, "gpm") > 40)
    names, rows = log_rows(tmp_path / "log.csv")
    assert names[:8] == ["timestamp", "index", "name", "uuid", "utilization.gpu [%]", "utilization.memory [%]", "memory.used [MiB]",
                         "temperature.gpu"]
    want = expected(tmp_path)
    first = [row for row in rows if row["index"] == "0"]
    assert [row["power.draw [W]"] for row in first] == [f"{value / 1000:.2f} W" for value in want[0, "nvml", "power"]]
    assert [row["utilization.gpu [%]"] for row in first] == [f"{value} %" for value in want[0, "nvml", "gpu_utilization"]]
    assert [row["memory.used [MiB]"] for row in first] == [f"{value >> 20} MiB" for value in want[0, "nvml", "memory_used"]]
    assert [row["clocks_event_reasons.active"] for row in first] == [f"0x{value:016x}" for value in want[0, "nvml", "clocks_event_reasons"]]
    tensor = [row["gpm.tensor_active [%]"] for row in first if row["gpm.tensor_active [%]"] != "[N/A]"]
    assert tensor == [f"{value / 1000:.1f} %" for value in want[0, "gpm", "tensor_active"]]
    second = [row for row in rows if row["index"] == "1"]
    assert len(second) == len(want[1, "nvml", "power"]) and {row["gpm.tensor_active [%]"] for row in second} == {"[N/A]"}
    assert {row["name"] for row in rows} == {"Simulated GPU"}
    # The trace begins with CUDA, the log with the command: the one is the end of the other.
    (sampler,) = read_samplers(outcome.bundle)
    power = recorded(sampler)[0, "nvml", "power"]
    assert want[0, "nvml", "power"][-len(power):] == power


def test_a_log_needs_no_cuda_and_is_whole_line_by_line(session, tmp_path):
    running = session(["sleep", "1000"], FAST, f"--gpu-log={tmp_path}/log.csv", env=environment(tmp_path, ""))
    wait_until(lambda: len((tmp_path / "log.csv").read_text().splitlines()) >= 6, "lines of the log")
    os.kill(running.process.pid, signal.SIGKILL)
    assert read_samplers(running.bundle) == []
    names, rows = log_rows(tmp_path / "log.csv")
    assert len(rows) >= 5 and rows[0]["power.draw [W]"] == "300.12 W"


def test_a_log_that_cannot_be_written_is_an_error_before_the_command_runs(tmp_path):
    outcome = gpuprof("run", "-o", tmp_path / "b", "--gpu-log", tmp_path / "none" / "log.csv", "--", "touch", tmp_path / "ran")
    assert outcome.status == 125 and "--gpu-log: " in outcome.words and "was not started" in outcome.words
    assert not (tmp_path / "ran").exists() and not (tmp_path / "b").exists()
    outcome = gpuprof("run", "--gpu-period=off", "--gpu-log", tmp_path / "log.csv", "--", "touch", tmp_path / "ran")
    assert outcome.status == 125 and "--gpu-period=off" in outcome.words and not (tmp_path / "ran").exists()


def test_the_sampler_holds_nothing_of_the_launchers(session, tmp_path):
    """No descriptor that the launcher was started with, no signal of its process group."""
    running = session([PROGRAMS / "rounds"], FAST, env=environment(tmp_path, ""))
    assert running.line() == "ready"
    running.wait_for(lambda: count_told(tmp_path) > 5)
    children = pathlib.Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()
    assert children[0] == str(running.pid)
    (sampler,) = [int(pid) for pid in children[1:] if pathlib.Path(f"/proc/{pid}/comm").read_text() == "gpuprof-gpu\n"]
    assert os.getsid(sampler) == sampler
    stdio = {os.readlink(f"/proc/{running.process.pid}/fd/{fd}") for fd in range(3)}
    assert not stdio & {os.readlink(f"/proc/{sampler}/fd/{fd}") for fd in os.listdir(f"/proc/{sampler}/fd")}
    running.finish()


def test_stats_are_those_of_the_values(rounds, tmp_path):
    outcome = rounds(SCRIPT, FAST, until=lambda: count_told(tmp_path, "gpm") > 40)
    (sampler,) = read_samplers(outcome.bundle)
    stats = json.loads(gpuprof("stats", "counters", "--json", outcome.bundle).out)
    found = {(use["device"], use["source"], use["name"]): use for use in stats["counters"] if not use.get("pid")}
    values = recorded(sampler)
    assert set(found) == set(values)
    divisors = {(counter["source"], counter["name"]): counter["divisor"] for counter in sampler.counters.values()}
    for (device, source, name), series in values.items():
        use, divisor = found[device, source, name], divisors[source, name]
        times = [row[4] for row in sampler.counter_rows() if row[:4] == (device, source, name, 0)]
        weights = [b - a for a, b in zip(times, times[1:])]
        weights = [weights[0] if weights else 1, *weights]
        mean = sum(v * w for v, w in zip(series, weights)) / sum(weights) / divisor
        assert use["count"] == len(series) and use["min"] == min(series) / divisor and use["max"] == max(series) / divisor
        assert use["mean"] == pytest.approx(mean, rel=1e-3)
    masks = values[0, "nvml", "clocks_event_reasons"]
    names = {reason["name"] for reason in stats["reasons"] if reason["device"] == 0}
    bits = {0x1: "gpu_idle", 0x4: "sw_power_cap", 0x20: "sw_thermal_slowdown"}
    assert names == {name for bit, name in bits.items() if any(mask & bit for mask in masks)}
    text = gpuprof("stats", "counters", outcome.bundle).out.decode()
    assert "tensor_active" in text and "sw_power_cap" in text


def test_doctor_tells_of_nvml(tmp_path):
    def check(script, nvml=True):
        done = gpuprof("doctor", "--json", env=environment(tmp_path, script, nvml))
        return next(each for each in json.loads(done.out)["checks"] if each["name"] == "GPU utilisation")

    good = check("devices 2; gpm 5 0 1")
    assert good["level"] == "ok" and "580.65.06" in good["found"]
    assert "0: Simulated GPU (GPM); 1: Simulated GPU" in good["found"]
    assert check("fail nvmlInit_v2 18")["fix"].startswith("restart the machine")
    assert "NVreg_RestrictProfilingToAdminUsers" in check("gpm 5 0 1; fail nvmlGpmSampleGet 4")["fix"]
    assert check("nvml_crash nvmlInit_v2")["level"] == "warn"


def test_clean_environment_is_ours():
    """The double is never on the way of other tests."""
    assert str(NVML) not in clean_environment().get("LD_LIBRARY_PATH", "") and LIBRARIES != NVML
