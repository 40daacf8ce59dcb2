# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Calls of Python functions and pauses of its garbage collector (--python), in every version of CPython that this
machine has. All numbers are exact."""

import collections
import dataclasses
import json
import re
import subprocess

import pytest

from conftest import gpuprof, program, run_bare
from test_python_samples import PYTHONS

SCRIPT = program("python_calls.py")
TRACE = "--python=trace:__main__.*"
ALL_OF_FIB_12 = 465  # calls of fib(12): 2 * 233 - 1


@dataclasses.dataclass
class Call:
    name: str
    line: int
    start: int
    end: int
    thread: int
    process: int
    depth: int
    is_incomplete: bool


def rows_of(bundle, table):
    rows = []
    for line in gpuprof("dump", bundle).out.decode().splitlines():
        head = re.match(rf"(\d+) (\d+) (\d+) \d+ {table} (.*)", line)
        if head:
            fields = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', head[4]))
            rows.append((int(head[1]), int(head[2]), int(head[3]), fields))
    return rows


def calls_of(bundle):
    calls = []
    for end, process, thread, fields in rows_of(bundle, "python"):
        file, line, name = re.fullmatch(r'"(.*)\((\d+)\): (.*)"', fields["name"]).groups()
        assert file == SCRIPT
        calls.append(Call(name.split(".")[-1], int(line), int(fields["start_ns"]), end, thread, process,
                          int(fields.get("depth", 0)), "incomplete" in fields.get("flags", "")))
    return calls


def counts_of(calls):
    return collections.Counter(call.name for call in calls)


def stats_of(bundle):
    return json.loads(gpuprof("stats", "python", "--json", bundle).out)


def notes_of(bundle):
    return gpuprof("stats", "health", bundle).out.decode()


def check_nesting(calls):
    """Each call lies in the one that is one less deep, on its thread."""
    by_thread = collections.defaultdict(list)
    for call in calls:
        by_thread[call.process, call.thread].append(call)
    for own in by_thread.values():
        open_calls = []
        for call in sorted(own, key=lambda each: (each.start, each.depth)):
            del open_calls[call.depth:]
            assert len(open_calls) == call.depth, call
            if open_calls:
                # Times are rounded where they are written and where they are read.
                assert open_calls[-1].start - 2 <= call.start and call.end <= open_calls[-1].end + 2, (open_calls[-1], call)
            open_calls.append(call)


def end_of(run):
    """Has a session's program end. Returns the exit status."""
    run.process.stdin.close()
    return run.process.wait()


@pytest.mark.parametrize("version", PYTHONS)
def test_recursion_and_nesting(same, version):
    outcome = same([PYTHONS[version], SCRIPT, "recursion"], TRACE)
    calls = calls_of(outcome.bundle)
    counts = counts_of(calls)
    assert counts["fib"] == ALL_OF_FIB_12
    assert (counts["outermost"], counts["middle"], counts["innermost"]) == (3, 3, 9)
    assert counts["main"] == counts["<module>"] == counts["recursion"] == 1
    check_nesting(calls)
    assert max(call.depth for call in calls if call.name == "fib") == 3 + 11
    assert not any(call.is_incomplete for call in calls)
    assert outcome.trace().lost == 0

    stats = stats_of(outcome.bundle)
    rows = {row["name"]: row for row in stats["calls"]}
    outer_fib = [call for call in calls if call.name == "fib" and call.depth == 3]
    assert len(outer_fib) == 1
    # A recursive function's time counts once.
    assert abs(rows["fib"]["total_ns"] - (outer_fib[0].end - outer_fib[0].start)) <= 10
    assert rows["fib"]["count"] == ALL_OF_FIB_12
    # Own times sum up to the outermost call's.
    assert abs(sum(row["self_ns"] for row in stats["calls"]) - rows["<module>"]["total_ns"]) <= len(calls)
    assert stats["call_count"] == len(calls)
    text = gpuprof("stats", "python", outcome.bundle).out.decode()
    assert f"{len(calls)} traced calls of" in text and re.search(r"fib +\S+ +465 ", text), text


@pytest.mark.parametrize("scenario", ["recursion", "generators", "exceptions", "coroutines", "everything"])
@pytest.mark.parametrize("version", PYTHONS)
def test_counts_equal_those_of_cprofile(record, version, scenario):
    truth = json.loads(run_bare([PYTHONS[version], SCRIPT, scenario, "--cprofile"]).out)
    outcome = record([PYTHONS[version], SCRIPT, scenario], TRACE)
    calls = calls_of(outcome.bundle)
    counts = collections.Counter(str(call.line) for call in calls)
    around = {str(call.line) for call in calls if call.name in ("<module>", "main", "note_pause")}
    classes = {str(call.line) for call in calls if call.name in ("Closing", "Knot")}
    assert {line: count for line, count in counts.items() if line not in around | classes} == \
        {line: count for line, count in truth.items() if line not in around}
    check_nesting(calls)
    assert outcome.trace().lost == 0


@pytest.mark.parametrize("version", PYTHONS)
def test_threads(same, version):
    outcome = same([PYTHONS[version], SCRIPT, "threads"], TRACE)
    calls = calls_of(outcome.bundle)
    check_nesting(calls)
    work = [call for call in calls if call.name == "work"]
    assert len(work) == 5 and len({call.thread for call in work}) == 5
    rounds = 10 + 11 + 12 + 13 + 7
    counts = counts_of(calls)
    assert (counts["outermost"], counts["middle"], counts["innermost"]) == (rounds, rounds, 3 * rounds)
    of_thread = collections.Counter(call.thread for call in calls if call.name == "outermost")
    assert sorted(of_thread.values()) == [7, 10, 11, 12, 13]


@pytest.mark.parametrize("version", PYTHONS)
def test_pauses_of_the_collector(record, version):
    outcome = record([PYTHONS[version], SCRIPT, "garbage"], "--python=gc")
    truth = json.loads(outcome.out)
    pauses = [[int(fields["generation"]), int(fields["collected"]), int(fields["uncollectable"])]
              for _, _, _, fields in rows_of(outcome.bundle, "gc_pause")]
    # CPython starts, and reads and compiles the script, before the program can count.
    early = len(pauses) - len(truth)
    assert pauses[early:] == truth and 0 <= early <= 8
    assert sum(collected for _, collected, _ in truth) >= 5000
    assert rows_of(outcome.bundle, "python") == []
    stats = stats_of(outcome.bundle)
    for row in stats["pauses"]:
        own = [pause for pause in pauses if pause[0] == row.get("generation", 0)]
        assert row["count"] == len(own) and row.get("collected_count", 0) == sum(pause[1] for pause in own)
        assert 0 < row["max_ns"] <= row["total_ns"]
    assert int(stats["pause_count"]) == len(pauses)


@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("flags", [["-I"], ["-E", "-S"], ["-I", "-S"]])
def test_isolated_interpreters(same, version, flags):
    outcome = same([PYTHONS[version], *flags, SCRIPT, "recursion"], TRACE)
    assert counts_of(calls_of(outcome.bundle))["fib"] == ALL_OF_FIB_12


@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("way", ["flag", "flags", "variable", "allocator"])
def test_interpreters_that_check_their_memory(same, version, way):
    """CPython aborts at its end if it is given memory that was taken before it checks."""
    flags, variables = {"flag": (["-X", "dev"], {}), "flags": (["-BuX", "dev"], {}), "variable": ([], {"PYTHONDEVMODE": "1"}),
                        "allocator": ([], {"PYTHONMALLOC": "debug"})}[way]
    outcome = same([PYTHONS[version], *flags, SCRIPT, "recursion"], TRACE, env=variables)
    assert outcome.status == 0
    assert counts_of(calls_of(outcome.bundle))["fib"] == ALL_OF_FIB_12


@pytest.mark.parametrize("version", PYTHONS)
def test_only_what_matches(record, version):
    command = [PYTHONS[version], SCRIPT, "recursion"]
    assert rows_of(record(command, "--python=trace:other.*,__main__").bundle, "python") == []
    assert set(counts_of(calls_of(record(command, "--python=trace:*.middle,*.outermost").bundle))) == {"middle", "outermost"}
    by_file = calls_of(record(command, "--python=trace:python_calls.py").bundle)
    assert counts_of(by_file)["fib"] == ALL_OF_FIB_12
    assert rows_of(record(command).bundle, "python") == []


@pytest.mark.parametrize("version", PYTHONS)
def test_captures_that_begin_late(session, version):
    run = session([PYTHONS[version], SCRIPT, "listen"], "--capture=off", TRACE + ",gc")

    def tell(text):
        run.tell(text + "\n")
        return json.loads(run.line())

    before = tell("call 2")
    for calls in (7, 3):
        assert run.ctl("start").status == 0
        tell(f"call {calls}")
        tell("collect")
        tell("thread 2")
        assert run.ctl("stop").status == 0
        assert tell("call 5") == before
    assert end_of(run) == 0
    calls = calls_of(run.bundle)
    counts = counts_of(calls)
    assert counts["innermost"] == 7 + 3 + 2 * 6 and counts["work"] == 2
    pauses = rows_of(run.bundle, "gc_pause")
    assert sum(int(fields["generation"]) == 2 for _, _, _, fields in pauses) == 2
    # The loop itself was running before, and is said to be missing only where it ended within a capture.
    assert counts["listen"] == 0


@pytest.mark.parametrize("version", PYTHONS)
def test_the_child_of_a_fork(session, version):
    run = session([PYTHONS[version], SCRIPT, "listen"], TRACE)
    run.tell("fork 5\n")
    run.line()
    assert end_of(run) == 0
    calls = calls_of(run.bundle)
    by_process = collections.defaultdict(list)
    for call in calls:
        by_process[call.process].append(call)
    assert len(by_process) == 2
    counts = {process: counts_of(own) for process, own in by_process.items()}
    assert sorted(each["middle"] for each in counts.values()) == [0, 5]
    assert sorted(each["innermost"] for each in counts.values()) == [0, 10]


@pytest.mark.parametrize("version", PYTHONS)
def test_a_profile_function_of_the_program_stays(session, version):
    run = session([PYTHONS[version], SCRIPT, "listen"], "--capture=off", TRACE)
    run.tell("profile\n")
    with_own = json.loads(run.line())
    assert with_own[0]
    assert run.ctl("start").status == 0
    run.tell("call 4\n")
    assert json.loads(run.line())[0]
    assert run.ctl("stop").status == 0
    run.tell("call 1\n")
    assert json.loads(run.line()) == with_own
    assert end_of(run) == 0
    if tuple(map(int, version.split("."))) >= (3, 12):
        assert counts_of(calls_of(run.bundle))["innermost"] == 4
    else:
        assert calls_of(run.bundle) == []
        assert "1 thread has a profile function of the program" in notes_of(run.bundle)


@pytest.mark.parametrize("version", [version for version in PYTHONS if version in ("3.12", "3.13", "3.14")])
def test_taken_ids_of_monitoring(session, version):
    run = session([PYTHONS[version], SCRIPT, "listen"], "--capture=off", TRACE)
    run.tell("ids\n")
    taken = json.loads(run.line())
    assert run.ctl("start").status == 0
    run.tell("call 4\n")
    assert json.loads(run.line()) == taken
    assert run.ctl("stop").status == 0
    assert end_of(run) == 0
    assert calls_of(run.bundle) == []
    assert "other tools have the ids 3 and 4 of sys.monitoring" in notes_of(run.bundle)


def test_a_killed_process_has_its_open_calls(session):
    python = PYTHONS[max(PYTHONS, key=lambda version: tuple(map(int, version.split("."))))]
    run = session([python, SCRIPT, "listen"], TRACE)
    run.tell("call 3\n")
    run.line()
    run.end()
    gpuprof("recover", run.bundle)
    calls = calls_of(run.bundle)
    assert counts_of(calls)["innermost"] == 3
    assert {call.name for call in calls if call.is_incomplete} == {"listen", "main", "<module>"}


@pytest.mark.parametrize("value, words", [
    ("foo", "'foo' is neither trace:GLOBS nor gc"),
    ("trace:", "a pattern is empty"),
    ("trace:a,,b", "a pattern is empty"),
    ("gc,x.*", "'x.*' is neither trace:GLOBS nor gc"),
    ("trace:" + "x" * 600, "longer than 510 letters"),
])
def test_bad_values(tmp_path, value, words):
    done = gpuprof("run", "-o", tmp_path / "b", f"--python={value}", "--", "/bin/true")
    assert done.status == 2 and words in done.err.decode() and done.out == b""
    assert not (tmp_path / "b").exists()
