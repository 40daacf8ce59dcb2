# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""The command's stable surface: verbs, help, completions, usage errors, exit codes of the verbs that need no recording."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from cli_support import GPUPROF, clean_env, compile_c, gpuprof
from waiting import LIMIT_S

VERBS = ["run", "ctl", "attach", "detach", "ps", "agent", "capture", "stats", "advise", "try", "diff", "report", "serve", "mcp", "baseline", "info", "verify", "query", "dump", "export", "import", "schema", "recover", "doctor", "env", "install", "inject", "completions", "help", "version"]
PASSES = ["overview", "advise", "steps", "ops", "heap", "kernels", "roofline", "op_profile", "serving", "ranges", "counters", "memcpy", "device_memory", "unified_memory", "api", "sync", "streams", "idle", "critical_path", "overlap", "pods", "communication", "stragglers", "flight_recorder", "graphs", "overhead", "locks", "files", "memory_profile", "memory_viewer", "graph_viewer", "input_pipeline", "tf_data", "python", "stacks", "threads", "health"]


def test_overview_names_every_verb(tmp_path):
    for args in (["help"], ["--help"], ["-h"]):
        result = gpuprof(*args, cwd=tmp_path)
        assert (result.returncode, result.stderr) == (0, "")
        assert re.findall(r"^  ([a-z]+)  +[A-Z]", result.stdout, re.M) == VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_every_verb(tmp_path, verb):
    by_flag = gpuprof(verb, "--help", cwd=tmp_path)
    by_verb = gpuprof("help", verb, cwd=tmp_path)
    assert by_flag.returncode == by_verb.returncode == 0
    assert by_flag.stdout == by_verb.stdout
    assert f"Usage: gpuprof {verb}" in by_flag.stdout
    assert by_flag.stderr == ""


def test_help_of_a_pass_is_the_help_of_its_verb(tmp_path):
    assert gpuprof("help", "stats", "heap", cwd=tmp_path).stdout == gpuprof("help", "stats", cwd=tmp_path).stdout


def test_version(tmp_path):
    for args in (["--version"], ["version"]):
        result = gpuprof(*args, cwd=tmp_path)
        assert result.returncode == 0
        assert re.fullmatch(r"gpuprof \d+\.\d+\.\d+\n", result.stdout)


@pytest.mark.parametrize("args, words", [
    ([], "a verb is missing"),
    (["stat"], "Did you mean 'stats'?"),
    (["--versoin"], "unknown option '--versoin'"),
    (["help", "rnu"], "Did you mean 'run'?"),
    (["stats"], "is missing"),
    (["stats", "ovreview", "x"], "Did you mean 'overview'?"),
    (["stats", "overview", "x", "stray"], "unexpected argument 'stray'"),
    (["stats", "overview", "x", "--jsn"], "Did you mean '--json'?"),
    (["stats", "overview", "x", "--json", "--csv"], "exclude each other"),
    (["stats", "steps", "x", "--step-marker", "["], "not a regular expression"),
    (["stats", "ops", "x", "--limit", "many"], "whole number"),
    (["info"], "BUNDLE is missing"),
    (["import"], "TRACE is missing"),
    (["import", "a.json"], "gpuprof import a.json -o run1"),
    (["ps", "stray"], "unexpected argument 'stray'"),
    (["ctl"], "is missing"),
    (["ctl", "strat", "1"], "Did you mean 'start'?"),
    (["ctl", "status", "me"], "not a process number"),
    (["completions", "tcsh"], "bash, zsh, fish"),
    (["version", "x"], "unexpected argument"),
])
def test_usage_errors(tmp_path, args, words):
    result = gpuprof(*args, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr


@pytest.mark.parametrize("verb", [["stats", "overview"], ["info"], ["dump"], ["recover"]])
def test_unreadable_inputs(tmp_path, verb):
    (tmp_path / "noise.gpt").write_bytes(os.urandom(5000))
    for name in ("missing", "noise.gpt"):
        result = gpuprof(*verb, name, cwd=tmp_path)
        assert result.returncode == 3, name
        assert result.stderr.startswith("gpuprof: ") and name in result.stderr
        assert result.stdout == ""


def test_verify_of_unreadable_inputs(tmp_path):
    (tmp_path / "noise.gpt").write_bytes(os.urandom(5000))
    for name in ("missing", "noise.gpt"):
        result = gpuprof("verify", name, cwd=tmp_path)
        assert result.returncode == 3
        assert name in result.stdout + result.stderr


def test_messages_name_a_file_once(tmp_path):
    folder = tmp_path / "b"
    folder.mkdir()
    os.mkfifo(folder / "p12-1.gpt")
    for words in (["stats", "heap"], ["info"], ["dump"], ["verify"]):
        result = gpuprof(*words, "b", cwd=tmp_path)
        said = result.stdout + result.stderr
        assert result.returncode == 3 and "not a regular file" in said, words
        assert said.count("p12-1.gpt") == 1, said


def test_verify_of_several_bundles(tmp_path):
    program = compile_c(tmp_path / "program", "#include <stdlib.h>\nint main(void) { return malloc(10) == 0; }\n")
    for name in ("b1", "b2"):
        assert gpuprof("run", "-o", name, "--trace=heap=exact", "--", program, cwd=tmp_path).returncode == 0
    result = gpuprof("verify", "b1", "b2", cwd=tmp_path)
    assert result.returncode == 0 and re.fullmatch(r"b1:\nok: .*\nb2:\nok: .*\n", result.stdout), result.stdout
    result = gpuprof("verify", "--json", "b1", "missing", "b2", cwd=tmp_path)
    assert result.returncode == 3
    assert [(report["path"], report["ok"]) for report in json.loads(result.stdout)] == [("b1", True), ("missing", False), ("b2", True)]

    # The trace of the command's own process was removed.
    (trace,) = (tmp_path / "b2").glob("p*.gpt")
    trace.unlink()
    result = gpuprof("verify", "b2", cwd=tmp_path)
    assert f"note: {trace.name.split('-')[0]}-*.gpt is missing: the command's own process" in result.stdout


def test_a_reader_that_leaves_is_no_error(tmp_path):
    script = f"'{GPUPROF}' completions bash | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    for prefix in ("", "trap '' PIPE; "):
        result = subprocess.run(["bash", "-c", prefix + script], cwd=tmp_path, env=clean_env(), text=True, capture_output=True)
        assert result.stderr == ""
        assert result.stdout.strip() in ("0", "141")


def test_a_full_stdout_is_an_error(tmp_path):
    with open("/dev/full", "w") as full:
        result = subprocess.run([GPUPROF, "help"], cwd=tmp_path, env=clean_env(), text=True, stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 3
    assert "No space left" in result.stderr


def completed(tmp_path, *words):
    """What `gpuprof __complete` offers: the words, without their help."""
    result = gpuprof("__complete", *words, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    return [line.partition("\t")[0] for line in result.stdout.splitlines()]


def test_every_verb_and_option_is_completed(tmp_path):
    assert completed(tmp_path, "") == [*VERBS, "--help", "--version"]
    for verb in VERBS:
        options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", gpuprof(verb, "--help", cwd=tmp_path).stdout, re.M))
        assert options <= set(completed(tmp_path, verb, "--")), verb
    assert "--capture\t" in gpuprof("__complete", "run", "--cap", cwd=tmp_path).stdout, "help stands behind the word"
    assert completed(tmp_path, "nonsense", "") == completed(tmp_path) == []


# Words, what is offered, and the files that are there.
COMPLETIONS = [
    (["st"], {"stats"}),
    (["stats", ""], set(PASSES)),
    (["stats", "he"], {"heap", "health"}),
    (["stats", "--by", "heap_a"], {"heap_alloc", "heap_allocs"}),
    (["run", "--ca"], {"--capture"}),
    (["run", "--capture", ""], {"now", "off", "delay:", "steps:", "nvtx:", "cuda-profiler"}),
    (["run", "--clock", "m"], {"monotonic"}),
    (["ctl", "st"], {"start", "stop", "status"}),
    (["help", "rec"], {"recover"}),
    (["import", "tra"], {"trace.json"}),
    (["run", "--clock", "tsc", "./trace.j"], {"./trace.json"}),
    (["run", "--clock", "tsc", "./tool", "trace.j"], {"trace.json"}),
    (["try", "b", "--", "./tool", "trace.j"], {"trace.json"}),
    (["completions", ""], {"bash", "zsh", "fish"}),
]
# Words of a command are completed by the shell itself: bash knows all commands, zsh and fish know the command's own words.
ZSH = r"""
_describe() { print -rl -- "${(@P)2}" | sed 's/\\:/@@/g; s/:.*//; s/@@/:/g' }
_files() { print -rl -- ${words[CURRENT]}*(N) }
_normal() { [[ $CURRENT == ${#words} ]] && print -rl -- ${words[CURRENT]}*(N) }
words=(gpuprof WORDS); CURRENT=${#words}
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("words, expected", COMPLETIONS)
def test_shells_complete(tmp_path, shell, words, expected):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    for name in ("trace.json", "tool"):
        (tmp_path / name).touch(mode=0o755)
    quoted = " ".join(f"'{word}'" for word in words)
    script = gpuprof("completions", shell, cwd=tmp_path).stdout
    if shell == "bash":
        script += f"\nCOMP_WORDS=(gpuprof {quoted}); COMP_CWORD={len(words)}; _gpuprof; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    elif shell == "zsh":
        script = "compdef() { :; }\n" + script + ZSH.replace("WORDS", quoted) + "_gpuprof\n"
    else:
        script += f"\ncomplete -C 'gpuprof {' '.join(words)}' | string replace -r '\\t.*' ''\n"
    env = clean_env()
    env["PATH"] = f"{pathlib.Path(GPUPROF).parent}:{env['PATH']}"
    env["HOME"] = str(tmp_path / "home")
    result = subprocess.run([shell], input=script, text=True, capture_output=True, cwd=tmp_path, env=env)
    assert set(result.stdout.split()) == expected, result.stderr


def test_ctl_names_cause_and_fix(tmp_path):
    missing = gpuprof("ctl", "status", "4194300", cwd=tmp_path)
    assert missing.returncode == 3
    assert "does not exist" in missing.stderr and "gpuprof ps" in missing.stderr
    without = gpuprof("ctl", "start", str(os.getpid()), cwd=tmp_path)
    assert without.returncode == 3
    assert "runs without gpuprof" in without.stderr and "gpuprof run" in without.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be a user who has no process")
@pytest.mark.parametrize("action", ["start", "snapshot", "status"])
def test_ctl_of_all_says_when_there_is_none(action):
    """As a user of its own: `all` is not to mean processes of other tests."""
    result = gpuprof("ctl", action, "all", cwd="/", user=54321, group=54321, extra_groups=[])
    assert (result.returncode, result.stdout) == (3, "")
    assert "no process of yours carries gpuprof" in result.stderr


def test_ctl_help_names_every_action(tmp_path):
    usage = next(line for line in gpuprof("ctl", "--help", cwd=tmp_path).stdout.splitlines() if line.startswith("Usage"))
    assert all(action in usage for action in ("start", "stop", "toggle", "snapshot", "status"))


def test_doctor(tmp_path):
    result = gpuprof("doctor", "--json", cwd=tmp_path)
    checks = json.loads(result.stdout)["checks"]
    assert result.returncode == 0, checks
    assert {"system", "inject object", "tracer object", "clock", "signal"} <= {check["name"] for check in checks}
    assert all(set(check) == {"name", "level", "found", "fix"} for check in checks)
    assert all(check["fix"] for check in checks if check["level"] in ("warn", "fail"))
    text = gpuprof("doctor", cwd=tmp_path)
    assert len([line for line in text.stdout.splitlines() if not line.startswith("      fix:")]) == len(checks)


def test_doctor_finds_faults(tmp_path):
    (tmp_path / "broken.so").write_text("not an object")
    result = gpuprof("doctor", cwd=tmp_path, env=clean_env(GPUPROF_STAKS="1", GPUPROF_INJECT=str(tmp_path / "broken.so")))
    assert result.returncode == 1
    assert re.search(r"^fail +inject object +.*does not load", result.stdout, re.M)
    assert "Did you mean 'GPUPROF_STACKS'?" in result.stdout


def test_env_can_be_evaluated(tmp_path):
    result = gpuprof("env", "-o", "it's here", "--stacks=5", cwd=tmp_path, env=clean_env(LD_PRELOAD="libm.so.6"))
    assert result.returncode == 0
    script = result.stdout + 'printf "%s\\n" "$GPUPROF_BUNDLE" "$GPUPROF_STACKS" "$LD_PRELOAD"; unset LD_PRELOAD; test -d "$GPUPROF_BUNDLE"'
    seen = subprocess.run(["bash", "-c", script], text=True, capture_output=True, cwd=tmp_path)
    bundle, stacks, preload = seen.stdout.splitlines()
    assert seen.returncode == 0
    assert (bundle, stacks) == (str(tmp_path / "it's here"), "5")
    assert preload.endswith("/libgpuprof_inject.so:libm.so.6")
    as_json = json.loads(gpuprof("env", "--json", "-o", "/b", cwd=tmp_path).stdout)
    assert as_json["GPUPROF_BUNDLE"] == "/b" and "LD_PRELOAD" in as_json


def test_ps_json_is_valid_when_empty_or_not(tmp_path):
    result = gpuprof("ps", "--json", cwd=tmp_path)
    assert result.returncode == 0
    assert isinstance(json.loads(result.stdout)["processes"], list)


def test_env_names_a_directory_of_its_own(tmp_path):
    result = gpuprof("env", "--json", cwd=tmp_path)
    assert result.returncode == 0
    assert json.loads(result.stdout)["GPUPROF_BUNDLE"].startswith(str(tmp_path / "gpuprof-env-"))


def test_stats_with_one_word_says_which_is_missing(tmp_path):
    bundle = gpuprof("stats", str(tmp_path), cwd=tmp_path)
    assert bundle.returncode == 2 and f"gpuprof stats overview {tmp_path}" in bundle.stderr
    chosen = gpuprof("stats", "heap", cwd=tmp_path)
    assert chosen.returncode == 2 and "BUNDLE is missing" in chosen.stderr


def test_a_command_that_recorded_nothing_is_described(tmp_path):
    gpuprof("run", "--capture=off", "-o", "b", "--", "sh", "-c", "kill -9 $$", cwd=tmp_path)
    text = gpuprof("stats", "overview", "b", cwd=tmp_path).stdout
    assert "kill -9" in text and "exit status 137 (signal 9, Killed)" in text
    assert "Nothing was recorded" in text


def test_ctl_of_gpuprof_itself_says_so(tmp_path):
    command = subprocess.Popen([GPUPROF, "run", "--quiet", "-o", "b", "--", "sleep", "20"], cwd=tmp_path, env=clean_env())
    try:
        result = gpuprof("ctl", "status", str(command.pid), cwd=tmp_path)
        assert result.returncode != 0 and "is gpuprof itself" in result.stderr
    finally:
        command.terminate()
        command.wait(timeout=LIMIT_S)
