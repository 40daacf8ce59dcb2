# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""PM sampling, by the doubles of CUPTI and NVML: every sample that was told is recorded at its own end, what cannot be had is said once
with its remedy, and NVML's counters and the program go on."""

import collections
import json
import os
import pathlib
import signal
import subprocess

import pytest

from conftest import GPUPROF, clean_environment, gpuprof, run_bare, verify
from fake_gpu import LIBRARIES, PERSONALITIES, environment_of
from test_gpu_counters import (FAST, NVML, PROGRAMS, count_told, environment, expected, no_real_nvml, no_violation, of_counters, pytestmark, recorded,
                               rounds, told, truths)
from trace_file import read_bundle, read_samplers
from waiting import LIMIT_S

__all__ = ["pytestmark", "rounds"]  # used by pytest

PM = "--gpu-pm=1ms"
COUNTER_SAMPLE = 16  # the kind of loss
END = ".avg.pct_of_peak_sustained_elapsed"
SM, TENSOR, TENSOR_PLAIN = "sm__cycles_active" + END, "sm__pipe_tensor_cycles_active_realtime" + END, "sm__pipe_tensor_cycles_active" + END
READ, WRITE, ISSUED = "dramc__read_throughput" + END, "dramc__write_throughput" + END, "sm__inst_executed_realtime" + END
READ_OTHER, WRITE_OTHER = "dram__read_throughput" + END, "dram__write_throughput" + END
NAMES = {SM: "sm_active", TENSOR: "tensor_active", TENSOR_PLAIN: "tensor_active", READ: "dram_read", WRITE: "dram_write",
         ISSUED: "instructions_issued", READ_OTHER: "dram_read", WRITE_OTHER: "dram_write"}
# Five metrics whose values tell the samples apart.
SCRIPT = "pm on\n" + "".join(f"pm_samples {metric} 0 " + " ".join(str(round((7 * i + j * 13.25) % 100.5, 3)) for j in range(200)) + "\n"
                             for i, metric in enumerate((SM, TENSOR, READ, WRITE, ISSUED)))
# What the two clocks and their reading may add to a time, and what a reading adds that is interrupted.
SLACK_NS, INTERRUPTED_NS = 500_000, 200_000_000


def is_share(value):
    return value is not None and 0 <= value <= 110


def pm_expected(folder):
    """(device, name): [(value as stored, end)], as the trace must have them."""
    series = collections.defaultdict(list)
    for row in told(folder, "pm"):
        if is_share(row["value"]):
            series[row["device"], NAMES[row["metric"]]].append((round(row["value"] * 1000), row["end"]))
    return dict(series)


def pm_recorded(sampler):
    series = collections.defaultdict(list)
    for device, source, name, _, when, value in sampler.counter_rows():
        if source == "pm":
            series[device, name].append((value, when))
    return dict(series)


def pm_calls(folder):
    return [row["what"] for row in told(folder, "pm_call")]


def enough(folder, count=1000):
    return lambda: count_told(folder, "pm") >= count


def nvml_alone(series):
    return {key: values for key, values in series.items() if key[1] != "pm"}


def is_same(found, want):
    assert set(found) == set(want)
    for key, rows in want.items():
        assert [value for value, _ in found[key]] == [value for value, _ in rows], key
        apart = sorted(abs(mine - true) for (_, mine), (_, true) in zip(found[key], rows))
        assert apart[len(apart) // 2] < SLACK_NS and apart[-1] < INTERRUPTED_NS, (key, apart[len(apart) // 2], apart[-1])


def test_every_sample_told_is_recorded_at_its_own_end(rounds, tmp_path):
    script = "devices 2\n" + SCRIPT + f"pm_samples {SM} 1 1 2 3\n"
    outcome = rounds(script, FAST, PM, until=enough(tmp_path, 2000))
    (sampler,) = read_samplers(outcome.bundle)
    want = pm_expected(tmp_path)
    assert {name for device, name in want if device == 0} == set(NAMES.values()) and (1, "sm_active") in want
    is_same(pm_recorded(sampler), want)
    assert sampler.lost == 0
    # The first sample after the start is none, and every later one was taken.
    numbers = [row["sample"] for row in told(tmp_path, "pm") if row["metric"] == SM and row["device"] == 0]
    assert numbers == list(range(1, len(numbers) + 1))
    (config, _) = told(tmp_path, "pm_config")
    assert (config["interval"], config["mode"], config["metrics"]) == (1_000_000, 1, 5)
    assert nvml_alone(recorded(sampler)) == expected(tmp_path)
    assert of_counters(outcome) == []


def test_the_program_has_none_of_it_and_the_counters_are_given_back(rounds, tmp_path):
    outcome = rounds(SCRIPT, PM, until=enough(tmp_path))
    (trace,) = read_bundle(outcome.bundle)
    for path, truth in truths(tmp_path).items():
        if path.name == f"truth.{trace.pid}":
            assert truth.of("pm_call") == []
    calls = pm_calls(tmp_path)
    assert calls[0] == "cuptiProfilerInitialize" and calls[-1] == "cuptiProfilerDeInitialize"
    assert calls.count("cuptiPmSamplingStart") == calls.count("cuptiPmSamplingStop") == 1
    assert calls.index("cuptiPmSamplingStop") < calls.index("cuptiPmSamplingDisable")
    info = json.loads(gpuprof("info", "--json", outcome.bundle).out)
    (device,) = info["samplers"][0]["devices"]
    assert device["has_pm"]


def test_off_no_function_of_pm_sampling_is_called(rounds, tmp_path):
    outcome = rounds(SCRIPT, FAST)
    assert told(tmp_path, "pm_call") == [] and told(tmp_path, "pm") == []
    (sampler,) = read_samplers(outcome.bundle)
    assert pm_recorded(sampler) == {} and recorded(sampler) == expected(tmp_path)


def test_counters_of_one_name_are_apart_by_their_source(rounds, tmp_path):
    outcome = rounds(SCRIPT + "gpm 2 0 50.5; gpm 5 0 12.5\n", FAST, PM, until=lambda: enough(tmp_path)() and count_told(tmp_path, "gpm") > 8)
    stats = json.loads(gpuprof("stats", "counters", "--json", outcome.bundle).out)
    (device,) = stats["devices"]
    (sampler,) = read_samplers(outcome.bundle)
    pm = pm_recorded(sampler)
    assert int(device["pm_count"]) == len(pm[0, "sm_active"]) and abs(int(device["pm_period_ns"]) - 1_000_000) < 100_000
    # The program asks for 20 ms. A busy machine reads later.
    times = sorted({when for _, source, _, pid, when, _ in sampler.counter_rows() if source != "pm" and not pid})
    gaps = sorted(after - before for before, after in zip(times, times[1:]))
    assert gaps[0] <= int(device["period_ns"]) <= gaps[-1] and int(device["period_ns"]) > 5_000_000
    by_source = {use["source"]: use for use in stats["counters"] if use["name"] == "sm_active"}
    assert set(by_source) == {"gpm", "pm"} and by_source["gpm"]["mean"] == 50.5
    values = [value / 1000 for value, _ in pm[0, "sm_active"]]
    assert by_source["pm"]["count"] == len(values)
    assert (by_source["pm"]["min"], by_source["pm"]["max"]) == (min(values), max(values))
    assert by_source["pm"]["mean"] == pytest.approx(sum(values) / len(values), rel=2e-2)
    text = gpuprof("stats", "counters", outcome.bundle).out.decode()
    lines = [line.split() for line in text.splitlines() if line.split()[:1] == ["sm_active"]]
    assert sorted(line[-1] for line in lines) == ["gpm", "pm"] and " PM samples, every " in text


REFUSALS = [
    ("", "NVreg_RestrictProfilingToAdminUsers=0", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 35"),
    ("pm on; fail cuptiPmSamplingEnable 35", "--cap-add=SYS_ADMIN (from driver 565 on, PERFMON)", "35"),
    ("pm on; fail cuptiPmSamplingEnable 26", "dcgmi profmon --pause", "CUPTI_ERROR_HARDWARE_BUSY, 26"),
    ("pm on; fail cuptiPmSamplingStart 26", "Nsight Compute", "26"),
    ("pm on; fail cuptiPmSamplingEnable 40", "hypervisor", "40"),
    ("pm on; fail cuptiPmSamplingGetCounterAvailability 43", "MIG", "43"),
    ("pm on; fail cuptiProfilerInitialize 999", "libnvperf_host.so", "999"),
    ("pm on; fail cuptiProfilerHostInitialize 46", "set CUDA_HOME to a newer toolkit", "46"),
    ("pm on; fail cuptiPmSamplingSetConfig 8", "a longer --gpu-pm", "8"),
    ("pm on; fail cuptiPmSamplingDecodeData 9 3", "Xid", "9"),
]


@pytest.mark.parametrize("script, remedy, code", REFUSALS, ids=[script or "pm off" for script, _, _ in REFUSALS])
def test_a_refusal_is_said_once_with_its_remedy_and_nvml_goes_on(rounds, tmp_path, script, remedy, code):
    metrics = "" if script == "" else SCRIPT
    outcome = rounds(metrics.removeprefix("pm on\n") + script, FAST, PM,
                     until=lambda: count_told(tmp_path) > 60 and any(call["result"] for call in told(tmp_path, "pm_call")))
    (line,) = of_counters(outcome)
    assert remedy in line and code in line and "PM sampling" in line
    (sampler,) = read_samplers(outcome.bundle)
    assert [note for note in sampler.notes if remedy in note] != []
    assert nvml_alone(recorded(sampler)) == expected(tmp_path)
    is_same(pm_recorded(sampler), pm_expected(tmp_path))
    assert remedy in gpuprof("stats", "health", outcome.bundle).out.decode().replace("\n  ", " ")


@pytest.mark.parametrize("personality", ["11.8"])
def test_a_library_that_is_too_old_is_named(session, tmp_path, personality):
    env = environment_of(tmp_path / "truth.%p", SCRIPT, personality)
    env["LD_LIBRARY_PATH"] = f"{NVML}:{env['LD_LIBRARY_PATH']}"
    running = session([PROGRAMS / "rounds"], FAST, PM, env=env)
    assert running.line() == "ready"
    running.tell("3\n")
    assert running.line() == "done 3"
    running.wait_for(lambda: count_told(tmp_path) > 60)
    outcome = running.finish()
    (line,) = of_counters(outcome)
    assert outcome.status == 0 and "CUDA 12.6 or newer: set CUDA_HOME" in line and PERSONALITIES[personality] in line
    (sampler,) = read_samplers(outcome.bundle)
    assert recorded(sampler) == expected(tmp_path) and pm_calls(tmp_path) == []


@pytest.mark.parametrize("personality", ["12.6", "12.9", "13.3"])
def test_other_releases_sample_alike(session, tmp_path, personality):
    env = environment_of(tmp_path / "truth.%p", SCRIPT, personality)
    running = session([PROGRAMS / "rounds"], "--gpu-period=off", PM, env=env)
    assert running.line() == "ready"
    running.tell("3\n")
    assert running.line() == "done 3"
    running.wait_for(enough(tmp_path))
    outcome = running.finish()
    (sampler,) = read_samplers(outcome.bundle)
    is_same(pm_recorded(sampler), pm_expected(tmp_path))
    # By the name that the program has it by, or, before the program has it, the one it is looked for by.
    (library,) = [note.split(" through ")[1].split(", API ")[0] for note in sampler.notes if " through " in note]
    assert pathlib.Path(library).resolve().parent.name == PERSONALITIES[personality]
    no_violation(tmp_path)


HIDDEN = 'for folder in /usr/local/cuda /usr/local/cuda-*; do [ -d "$folder" ] && mount -t tmpfs none "$folder"; done; exec "$@"'


def test_without_a_library_it_says_so(tmp_path):
    hidden = ["unshare", "--mount", "sh", "-c", HIDDEN, "sh"]
    if subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespace may be made here, and the machine's own CUPTI would be found")
    (tmp_path / "libraries").mkdir()
    for file in [*LIBRARIES.iterdir(), *NVML.iterdir()]:
        if not file.name.startswith("libcupti"):
            (tmp_path / "libraries" / file.name).symlink_to(file)
    env = {**clean_environment(), **environment(tmp_path, "kernel_ns 20000000"), "LD_LIBRARY_PATH": str(tmp_path / "libraries")}
    done = subprocess.run([*hidden, GPUPROF, "run", FAST, PM, "-o", tmp_path / "b", "--", PROGRAMS / "vector_add"], env=env,
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)
    bare = run_bare([PROGRAMS / "vector_add"], env=environment(tmp_path, "kernel_ns 20000000"))
    assert (done.returncode, done.stdout.encode()) == (bare.status, bare.out), done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "PM sampling" in line]
    assert "libcupti was not found; pip install nvidia-cuda-cupti" in line
    (sampler,) = read_samplers(tmp_path / "b")
    assert recorded(sampler) == expected(tmp_path) != {}


def test_a_full_hardware_buffer_is_a_loss(rounds, tmp_path):
    outcome = rounds(SCRIPT + "pm_overflow 4\n", PM, until=enough(tmp_path, 2000))
    (sampler,) = read_samplers(outcome.bundle)
    is_same(pm_recorded(sampler), pm_expected(tmp_path))
    (lost,) = told(tmp_path, "pm_lost")
    starts = [row["time"] for row in told(tmp_path, "pm_call") if row["what"] == "cuptiPmSamplingStart"]
    assert len(starts) == 2 and lost["samples"] > 10
    # What is missing between the sample before and the one after, in periods.
    rows = [row for row in told(tmp_path, "pm") if row["metric"] == SM]
    gap = max(after["start"] - before["end"] for before, after in zip(rows, rows[1:]))
    counted = sampler.losses[COUNTER_SAMPLE]
    assert counted >= lost["samples"] and abs(counted - gap / 1_000_000) <= 1.5
    (line,) = of_counters(outcome)
    assert "hardware buffer was full" in line and "a longer --gpu-pm" in line
    stats = json.loads(gpuprof("stats", "counters", "--json", outcome.bundle).out)
    (loss,) = [loss for loss in stats["meta"]["losses"] if "counter_sample" in loss["name"]]
    assert int(loss["count"]) == counted and "--gpu-pm" in loss["fix"]


def test_a_buffer_that_is_full_by_an_error_begins_anew(rounds, tmp_path):
    outcome = rounds(SCRIPT + "fail cuptiPmSamplingDecodeData 8 3 1\n", PM, until=enough(tmp_path, 3000))
    (sampler,) = read_samplers(outcome.bundle)
    is_same(pm_recorded(sampler), pm_expected(tmp_path))
    assert sampler.losses[COUNTER_SAMPLE] >= 50 and pm_calls(tmp_path).count("cuptiPmSamplingStart") == 2
    (line,) = of_counters(outcome)
    assert "hardware buffer was full" in line


def test_what_is_no_share_has_no_row(rounds, tmp_path):
    script = f"pm on\npm_samples {SM} 0 50 10 nan 20 -1 500 30 100.5\npm_samples {READ} 0 1 2 3 4\n"
    outcome = rounds(script, PM, until=enough(tmp_path, 400))
    (sampler,) = read_samplers(outcome.bundle)
    found = pm_recorded(sampler)
    is_same(found, pm_expected(tmp_path))
    assert [value for value, _ in found[0, "sm_active"]][:4] == [10_000, 20_000, 30_000, 100_500]
    assert len(found[0, "dram_read"]) == len(found[0, "sm_active"]) + 3
    assert any("3 values were not percentages" in note for note in sampler.notes)


def test_what_the_chip_has_not_is_left_out_and_said_once(rounds, tmp_path):
    metrics = (SM, TENSOR_PLAIN, READ_OTHER, WRITE_OTHER, ISSUED)
    script = "pm on\n" + "".join(f"pm_samples {metric} 0 {i} {i + 1}\n" for i, metric in enumerate(metrics)) + f"pm_two_passes {ISSUED}\n"
    outcome = rounds(script, PM, until=enough(tmp_path, 400))
    (sampler,) = read_samplers(outcome.bundle)
    is_same(pm_recorded(sampler), pm_expected(tmp_path))
    assert {row["metric"] for row in told(tmp_path, "pm")} == set(metrics) - {ISSUED}
    (line,) = of_counters(outcome)
    assert "instructions_issued (it would need a second pass)" in line and "SIM100" in line and "dram" not in line
    assert any("instructions_issued" in note for note in sampler.notes)


def test_a_pass_takes_as_many_as_it_can(rounds, tmp_path):
    outcome = rounds(SCRIPT + "pm_one_pass 3\n", PM, until=enough(tmp_path, 400))
    (sampler,) = read_samplers(outcome.bundle)
    assert {name for _, name in pm_recorded(sampler)} == {"sm_active", "tensor_active", "dram_read"}
    (line,) = of_counters(outcome)
    assert "dram_write (it would need a second pass), instructions_issued (it would need a second pass)" in line


def test_without_a_trigger_by_time_the_system_clock_is_measured(rounds, tmp_path):
    outcome = rounds(SCRIPT + "pm_trigger sysclk\n", PM, until=enough(tmp_path, 2000))
    (sampler,) = read_samplers(outcome.bundle)
    found = pm_recorded(sampler)
    is_same(found, pm_expected(tmp_path))
    assert [(config["mode"], config["interval"]) for config in told(tmp_path, "pm_config")] == [(0, 1_000_000), (0, 2_000_000)]
    times = [when for _, when in found[0, "sm_active"]]
    assert abs(times[-1] - times[-11] - 10_000_000) < SLACK_NS
    assert any("no time trigger" in note for note in sampler.notes)


def test_a_clock_that_is_set_moves_no_sample(rounds, tmp_path):
    outcome = rounds(SCRIPT + "clock_step -3600000000000 700000000\n", PM, until=enough(tmp_path, 5000))
    (sampler,) = read_samplers(outcome.bundle)
    assert max(row["end"] for row in told(tmp_path, "pm")) - min(row["end"] for row in told(tmp_path, "pm")) > 900_000_000
    is_same(pm_recorded(sampler), pm_expected(tmp_path))
    assert sampler.lost == 0


@no_real_nvml
def test_without_nvml_it_samples_all_the_same(session, tmp_path):
    running = session([PROGRAMS / "rounds"], PM, env=environment(tmp_path, SCRIPT, nvml=False))
    assert running.line() == "ready"
    running.tell("3\n")
    assert running.line() == "done 3"
    running.wait_for(enough(tmp_path))
    outcome = running.finish()
    (sampler,) = read_samplers(outcome.bundle)
    is_same(pm_recorded(sampler), pm_expected(tmp_path))
    assert of_counters(outcome) == []
    text = gpuprof("stats", "counters", outcome.bundle).out.decode()
    assert "PM samples" in text and "read 0 times" not in text
    verify(outcome.bundle)


def test_killed_the_sampler_leaves_what_it_wrote(session, tmp_path):
    running = session([PROGRAMS / "rounds"], FAST, PM, env=environment(tmp_path, SCRIPT))
    assert running.line() == "ready"
    running.tell("3\n")
    assert running.line() == "done 3"
    running.wait_for(enough(tmp_path, 8000))  # 1.6 seconds of five metrics: the sampler writes each second
    children = pathlib.Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()
    (pid,) = [int(child) for child in children if pathlib.Path(f"/proc/{child}/comm").read_text() == "gpuprof-gpu\n"]
    os.kill(pid, signal.SIGKILL)
    running.tell("4\n")
    assert running.line() == "done 4"
    outcome = running.finish()
    assert outcome.status == 0 and "died of" in outcome.words
    (sampler,) = read_samplers(outcome.bundle)
    want, found = pm_expected(tmp_path), pm_recorded(sampler)
    assert set(found) == set(want)
    for key, rows in found.items():
        assert 500 < len(rows) <= len(want[key])
        assert len(want[key]) - len(rows) < 1500, "a second, and what it was about to write"
        assert [value for value, _ in rows] == [value for value, _ in want[key]][:len(rows)]


@pytest.mark.parametrize("function", ["cuptiProfilerInitialize", "cuptiPmSamplingStart", "cuptiPmSamplingDecodeData"])
def test_a_library_that_crashes_costs_the_program_nothing(record, tmp_path, function):
    env = environment(tmp_path, SCRIPT + f"pm_crash {function}\nkernel_ns 300000000")
    bare = run_bare([PROGRAMS / "vector_add"], env=environment(tmp_path, "kernel_ns 300000000"))
    outcome = record([PROGRAMS / "vector_add"], PM, env=env)
    assert (outcome.status, outcome.out) == (bare.status, bare.out)
    assert len([line for line in outcome.words.splitlines() if "died of" in line]) == 1, outcome.words
    for reading in ("info",), ("stats", "counters"), ("stats", "health"):
        told_later = gpuprof(*reading, outcome.bundle)
        assert told_later.status == 0 and told_later.out.count(b"died of") == 1, (reading, told_later.out)


@pytest.mark.parametrize("value", ["5us", "19us", "2s", "1", "fast", "0"])
def test_periods_that_are_none(tmp_path, value):
    outcome = gpuprof("run", f"--gpu-pm={value}", "-o", tmp_path / "b", "--", "touch", tmp_path / "ran")
    assert outcome.status != 0 and "--gpu-pm" in outcome.words and "was not started" in outcome.words
    assert ("20us to 1s" in outcome.words) == (value in ("5us", "19us", "2s"))
    assert not (tmp_path / "ran").exists()


def test_without_cuda_in_the_trace_it_says_that_nothing_is_sampled(record, tmp_path):
    outcome = record([PROGRAMS / "vector_add"], PM, "--trace=heap", env=environment(tmp_path, SCRIPT))
    assert outcome.status == 0 and "--gpu-pm samples nothing" in outcome.words
    assert read_samplers(outcome.bundle) == [] and pm_calls(tmp_path) == []


def test_the_variable_and_shortest_period(session, tmp_path):
    running = session([PROGRAMS / "rounds"], env={**environment(tmp_path, f"pm on; pm_samples {SM} 0 1 2 3 4 5"), "GPUPROF_GPU_PM": "20us"})
    assert running.line() == "ready"
    running.tell("3\n")
    assert running.line() == "done 3"
    running.wait_for(enough(tmp_path, 10000))
    outcome = running.finish()
    (sampler,) = read_samplers(outcome.bundle)
    is_same(pm_recorded(sampler), pm_expected(tmp_path))
    assert told(tmp_path, "pm_config")[0]["interval"] == 20_000
    verify(outcome.bundle)
    no_violation(tmp_path)


def test_doctor_tells_of_pm_sampling(tmp_path):
    def check(personality):
        env = environment_of(tmp_path / "truth", "", personality)
        done = gpuprof("doctor", "--json", env=env)
        return next(each for each in json.loads(done.out)["checks"] if each["name"] == "GPU PM sampling")

    good = check("13.0")
    assert "libcupti.so.13" in good["found"] and "130001" in good["found"]
    assert check("12.6")["level"] == good["level"]
    old = check("11.8")
    assert "cuptiPmSamplingGetCounterAvailability" in old["found"] and "CUDA 12.6 or newer" in old["found"]


def test_a_log_that_has_nothing_to_read_does_not_keep_it_away(session, tmp_path):
    """No NVML here: the log stays empty, and CUPTI is there once the program uses CUDA."""
    running = session([PROGRAMS / "rounds"], f"--gpu-log={tmp_path / 'log.csv'}", PM, env=environment_of(tmp_path / "truth.%p", SCRIPT))
    assert running.line() == "ready"
    running.tell("3\n")
    assert running.line() == "done 3"
    running.wait_for(enough(tmp_path))
    outcome = running.finish()
    assert outcome.status == 0
    (sampler,) = read_samplers(outcome.bundle)
    is_same(pm_recorded(sampler), pm_expected(tmp_path))


@pytest.mark.parametrize("function, words", [("cuptiPmSamplingEnable", "the command ended while CUDA and CUPTI were still being opened"),
                                             ("cuptiPmSamplingDisable", "keeps running until the driver has taken the counters back")])
def test_opening_and_giving_back_may_take_long(session, tmp_path, function, words):
    """Of many GPUs, or where the driver is busy: nothing hangs, and nobody waits for it."""
    running = session([PROGRAMS / "rounds"], PM, env=environment_of(tmp_path / "truth.%p", SCRIPT + f"pm_slow {function} {tmp_path}/go\n"))
    assert running.line() == "ready"
    running.tell("3\n")
    assert running.line() == "done 3"
    running.wait_for(lambda: count_told(tmp_path, "pm_call"))
    if function == "cuptiPmSamplingDisable":
        running.wait_for(enough(tmp_path))
    outcome = running.finish()
    assert function not in pm_calls(tmp_path), "the command did not wait for the function, which is still at work"
    (tmp_path / "go").touch()
    (line,) = of_counters(outcome)
    assert outcome.status == 0 and words in line and "hangs" not in line
    if function == "cuptiPmSamplingDisable":
        (sampler,) = read_samplers(outcome.bundle)
        is_same(pm_recorded(sampler), pm_expected(tmp_path))
        running.wait_for(lambda: pm_calls(tmp_path)[-1] == "cuptiProfilerDeInitialize")
