# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""NVTX without a GPU and without CUPTI: what is recorded is what the program says that it did, and a tool that was there before goes on."""

import collections
import json
import struct

import pytest

from conftest import PROGRAMS, gpuprof, run_bare, verify
from trace_file import FLAG_INCOMPLETE, read_bundle

pytestmark = pytest.mark.skipif(not (PROGRAMS / "nvtx_ranges").exists(), reason="the program was not built: no NVTX headers")

VICTIM = str(PROGRAMS / "nvtx_ranges")
TOOL = str(PROGRAMS / "nvtx_tool.so")
# Ticks are then nanoseconds of the clock that the program itself reads.
EXACT = ("--clock=monotonic", "--trace=nvtx,threads")
UNPAIRED_SPAN, SPAN = 9, 17


def payload_of(row):
    if row["payload_type"] == 0:
        return ""
    wide, low = struct.pack("<Q", row["payload"]), struct.pack("<I", row["payload"] & 0xFFFFFFFF)
    kind = row["payload_type"]
    (value,) = struct.unpack({1: "<Q", 2: "<q", 3: "<d", 4: "<I", 5: "<i", 6: "<f"}[kind], low if kind >= 4 else wide)
    return str(value)


def facts(row):
    return (row["tid"], row["kind"], row["domain"], row["name"], row["depth"], row["category"], row["color"], row["payload"], row["begin_tid"])


def truth_of(outcome):
    return [json.loads(line) for line in outcome.out.decode().splitlines() if line.startswith("{")]


# The resolution at which a trace keeps times of host events.
QUANTUM_NS = 64


def compare(rows, true):
    """Equal but for order, and each end within the moments between which the program made it."""
    rows = [dict(row, payload=payload_of(row)) for row in rows]
    assert collections.Counter(map(facts, rows)) == collections.Counter(map(facts, true))
    left = sorted(true, key=lambda row: row["end"][0])
    for row in sorted(rows, key=lambda row: row["end"]):
        match = next((t for t in left if facts(t) == facts(row) and t["begin"][0] - QUANTUM_NS <= row["begin"] <= t["begin"][1]
                      and t["end"][0] - QUANTUM_NS <= row["end"] <= t["end"][1]), None)
        assert match is not None, row
        left.remove(match)


def stats(bundle, *options):
    done = gpuprof("stats", "ranges", "--json", *options, bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def test_everything_that_the_program_did(record):
    outcome = record([VICTIM, "mix"], *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    true, trace = truth_of(outcome), outcome.trace()
    assert len(true) > 30 and trace.lost == 0, trace.losses
    compare(trace.range_rows(), true)
    # Two threads, and the order within each is that in which ranges ended.
    for tid in {row["tid"] for row in true}:
        ends = [row["end"] for row in trace.range_rows() if row["tid"] == tid]
        assert ends == sorted(ends)


def test_a_library_that_begins_before_us(record):
    outcome = record([str(PROGRAMS / "nvtx_early")], *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    rows = [(row["domain"], row["name"]) for row in outcome.trace().range_rows()]
    assert rows == [("library", "constructor"), ("library", "function"), ("", "main")]


def test_a_capture_of_a_range_in_a_library_that_begins_before_us(record):
    """There is nobody yet who could be waited for."""
    outcome = record([str(PROGRAMS / "nvtx_early")], "--capture=nvtx:constructor@library", *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    assert b"in time" not in outcome.err
    names = [row["name"] for row in outcome.trace().range_rows()]
    assert names[:1] == ["constructor"], names


def test_a_capture_that_the_loaders_lock_keeps_from_beginning(record):
    """The range in the library's constructor waits in vain, once; the program goes on, and its other ranges are captured."""
    outcome = record([str(PROGRAMS / "nvtx_loading")], "--capture=nvtx:part", *EXACT)
    assert (outcome.status, outcome.out) == (0, b"done\n"), outcome.err.decode()
    assert outcome.err.count(b"a capture could not begin or end in time") == 1
    # Those behind it are captured as any.
    marks = [row["name"] for row in outcome.trace().range_rows() if row["kind"] == "mark"]
    assert marks.count("within") >= 2, marks
    verify(outcome.bundle)


def test_captures_of_a_range_have_what_is_in_it(record):
    outcome = record([str(PROGRAMS / "nvtx_ranges"), "marked"], "--capture=nvtx:part", *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    rows = [(row["capture"], row["name"]) for row in outcome.trace().range_rows()]
    assert rows == [(n, name) for n in (1, 2, 3) for name in ("within", "part")]


def test_children_of_a_capture_end_with_it(record):
    """Those that are forked in a range are in its capture, and no longer than it."""
    outcome = record([str(PROGRAMS / "nvtx_ranges"), "marked_family"], "--capture=nvtx:part", *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    names = sorted(row["name"] for trace in outcome.traces() for row in trace.range_rows() if row["name"] != "until then")
    assert names == ["early", "early", "part"], names


def test_children_that_are_there_already_follow(record):
    """And their children, in each capture of the parent's."""
    outcome = record([str(PROGRAMS / "nvtx_ranges"), "marked_workers"], "--capture=nvtx:part", *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    traces = outcome.traces()
    parent = next(trace for trace in traces if trace.ppid not in {t.pid for t in traces})
    assert len(traces) == 3
    for trace in traces:
        rows = {(row["capture"], row["name"]) for row in trace.range_rows()}
        assert rows == {(n, "part" if trace is parent else "within") for n in (1, 2)}, rows
    verify(outcome.bundle)


def test_ranges_that_are_closed_elsewhere_or_never(record):
    """Nobody hangs, and the capture of a range ends with it, whoever else has one open."""
    outcome = record([str(PROGRAMS / "nvtx_ranges"), "marked_badly"], "--capture=nvtx:part", *EXACT)
    assert outcome.status == 0, outcome.err.decode()
    assert b"in time" not in outcome.err
    root = next(trace for trace in outcome.traces() if trace.ppid not in {t.pid for t in outcome.traces()})
    names = [(row["capture"], row["name"]) for row in root.range_rows()]
    assert (1, "part") in names and (2, "within") in names and "between" not in [name for _, name in names], names
    verify(outcome.bundle)


def test_stats_sum_what_the_program_did(record):
    outcome = record([VICTIM, "mix"], *EXACT)
    true = truth_of(outcome)
    result = stats(outcome.bundle)
    ranges = [row for row in true if row["kind"] in ("push_pop", "start_end", "mark")]
    counts = collections.Counter((row["name"], row["domain"], row["kind"]) for row in ranges)
    assert {(r["name"], r["domain"], r["kind"]): int(r["count"]) for r in result["ranges"]} == counts
    outer = next(r for r in result["ranges"] if r["name"] == "outer")
    mine = [row for row in true if row["name"] == "outer"]
    assert sum(r["end"][0] - r["begin"][1] for r in mine) <= int(outer["total_ns"]) + 2 * QUANTUM_NS
    assert int(outer["total_ns"]) <= sum(r["end"][1] - r["begin"][0] for r in mine) + 2 * QUANTUM_NS
    assert int(outer["self_ns"]) < int(outer["total_ns"])
    crossing = next(r for r in result["ranges"] if r["name"] == "crossing")
    assert int(crossing["crossing_count"]) == 1
    named = {(row["kind"].removeprefix("name_"), row["name"]) for row in true if row["kind"].startswith("name_")}
    assert {(n["kind"], n["name"]) for n in result["names"]} == named
    # A device too, where the program was built with CUDA's headers.
    assert {("thread", "a longer name than the kernel's"), ("category", "three"), ("category", "seven")} <= named
    by_domain = stats(outcome.bundle, "--by", "domain")
    assert {r["name"] for r in by_domain["ranges"]} == {"", "library", "other:domain"}
    text = gpuprof("stats", "ranges", outcome.bundle).out.decode()
    assert "library:registered" in text and "outer" in text
    dump = gpuprof("dump", outcome.bundle).out.decode()
    assert 'kind=push_pop domain="library" name="registered"' in dump and "payload=0.25" in dump


def test_what_does_not_pair_is_counted(record):
    outcome = record([VICTIM, "unbalanced"], *EXACT)
    assert outcome.status == 0
    trace = outcome.trace()
    # Two pops of nothing, one in an empty domain, the end of a range that never began, and one that had ended.
    assert trace.losses == {UNPAIRED_SPAN: 5}
    rows = trace.range_rows()
    compare([r for r in rows if r["name"] == "balanced"], truth_of(outcome))
    still_open = {(r["name"], r["domain"], r["depth"]) for r in rows if r["flags"] & FLAG_INCOMPLETE}
    assert still_open == {("open at the end", "", 0), ("open too", "library", 0), ("never ended", "", 0)}
    twice, never = [r for r in rows if r["kind"] == "start_end"]
    assert (twice["name"], never["name"]) == ("twice", "never ended")
    assert never["end"] - never["begin"] >= 50_000, "up to the end of the process"


def test_parent_and_child_have_their_own(record):
    outcome = record([VICTIM, "fork"], *EXACT)
    assert outcome.status == 0
    true = truth_of(outcome)
    traces = {trace.pid: trace for trace in outcome.traces()}
    assert len(traces) == 2 and {row["pid"] for row in true} == set(traces)
    for pid, trace in traces.items():
        rows = [r for r in trace.range_rows() if r["kind"] == "push_pop"]
        compare(rows, [row for row in true if row["pid"] == pid])
    child = next(t for t in traces.values() if t.ppid in traces)
    # The parent's two were not begun here.
    assert child.losses == {UNPAIRED_SPAN: 2}
    assert traces[child.ppid].lost == 0


@pytest.mark.parametrize("options", [EXACT, ("--capture=off",)])
def test_without_the_preload_nvtx_loads_us(record, options):
    """An environment that has lost LD_PRELOAD alone."""
    outcome = record(["env", "-u", "LD_PRELOAD", str(VICTIM), "unbalanced"], *options)
    assert outcome.status == 0, outcome.err.decode()
    if options == EXACT:
        (trace,) = [trace for trace in outcome.traces() if trace.program == "nvtx_ranges"]
        compare([row for row in trace.range_rows() if row["name"] == "balanced"], truth_of(outcome))


def test_open_ranges_of_the_killed(record):
    outcome = record([VICTIM, "killed"], *EXACT)
    assert outcome.status == -9
    assert gpuprof("recover", outcome.bundle).status == 0
    rows = outcome.trace().range_rows()
    assert [(r["name"], r["depth"], bool(r["flags"] & FLAG_INCOMPLETE)) for r in rows] == [("inner", 1, True), ("outer", 0, True)]
    inner, outer = rows
    assert outer["begin"] <= inner["begin"] <= inner["end"] == outer["end"]


@pytest.mark.parametrize("ring", [(), ("--ring=4MiB",)])
def test_what_was_open_when_a_capture_ended_is_told_once(session, ring):
    """Neither a later snapshot nor the process's death tells it again."""
    run = session([VICTIM, "open_range"], "--capture=off", *EXACT, *ring)

    def ask(line):
        run.tell(line + "\n")
        assert run.line() == f"done {line}"

    assert run.line() == "ready"
    assert run.ctl("start").status == 0
    ask("push")
    assert run.ctl("stop").status == 0
    ask("mark")
    assert run.ctl("snapshot").status == 0
    run.tell("kill\n")
    outcome = run.finish()
    assert gpuprof("recover", outcome.bundle).status == 0
    (snapshot,) = outcome.bundle.glob("snapshot-*")
    for bundle in (snapshot, outcome.bundle):
        (trace,) = read_bundle(bundle)
        rows = [(row["name"], bool(row["flags"] & FLAG_INCOMPLETE)) for row in trace.range_rows()]
        assert rows == [("open", True)], bundle


def test_too_deep_is_counted_and_comes_back(record):
    trace = record([VICTIM, "deep"], *EXACT).trace()
    rows = trace.range_rows()
    names = collections.Counter(r["name"] for r in rows)
    assert names["after"] == 1 and next(r for r in rows if r["name"] == "after")["depth"] == 0
    assert trace.losses == {SPAN: 200 - names["deep"]}
    assert sorted(r["depth"] for r in rows if r["name"] == "deep") == list(range(names["deep"]))


def test_a_capture_that_begins_later(session):
    run = session([VICTIM, "late"], "--capture=off", *EXACT)
    assert run.line() == "ready"
    assert run.ctl("start").status == 0
    run.tell("\n")
    assert run.line() == "done"
    assert run.ctl("stop").status == 0
    run.tell("\n")
    outcome = run.finish()
    verify(outcome.bundle)
    trace = outcome.trace()
    rows = trace.range_rows()
    # Names and registered strings from before are known; ranges begun before are not, and no range is made of their ends.
    assert {(r["kind"], r["domain"], r["name"], r["category"]) for r in rows} == {("name_category", "", "nine", 0),
                                                                                 ("push_pop", "library", "registered before", 9)}
    assert trace.losses == {UNPAIRED_SPAN: 2}


def test_ranges_across_captures(session):
    run = session([VICTIM, "toggled"], "--capture=off", *EXACT)
    assert run.line() == "pass 0"  # begun before any capture
    assert run.ctl("start").status == 0
    run.tell("\n")
    assert run.line() == "pass 1"
    assert run.ctl("stop").status == 0  # open when the capture ends
    assert run.ctl("start").status == 0
    run.tell("\n")
    assert run.line() == "pass 2"
    run.tell("\n")
    outcome = run.finish()
    verify(outcome.bundle)
    trace = outcome.trace()
    rows = [(r["name"], r["capture"], r["depth"], bool(r["flags"] & FLAG_INCOMPLETE)) for r in trace.range_rows()]
    # The last capture ends with the process, and has what was started in it; of the first that is one lost more.
    assert sorted(rows) == [("never ended", 2, 0, True), ("pass 1", 1, 0, True), ("pass 2", 2, 0, False)]
    assert trace.losses == {UNPAIRED_SPAN: 2, SPAN: 1}


@pytest.mark.parametrize("options", [("--capture=off",), ("--trace=threads",), ("--trace=nvtx",), ("--trace=heap=exact,locks,mmap,nvtx",)])
def test_the_program_is_unharmed(record, options):
    bare = run_bare([VICTIM, "mix"])
    outcome = record([VICTIM, "mix"], *options, check=False)
    assert outcome.status == bare.status == 0 and outcome.own_err == bare.err
    moments = ("pid", "tid", "begin_tid", "begin", "end")
    essence = lambda done: sorted(json.dumps({k: v for k, v in row.items() if k not in moments and row["kind"] != "name_thread"})
                                  for row in truth_of(done))
    assert essence(outcome) == essence(bare)
    if "--capture=off" in options:
        assert sum(len(trace.ranges["time"]) for trace in read_bundle(outcome.bundle)) == 0


def test_threads_at_once_lose_nothing(record):
    rounds = 2000
    trace = record([VICTIM, "storm", rounds], "--trace=nvtx").trace()
    rows = trace.range_rows()
    assert len(rows) + trace.lost == 12 * rounds
    recorded = collections.Counter(r["name"] for r in rows)
    if trace.lost == 0:
        assert recorded == {**{f"name {i}": 4 * rounds // 100 for i in range(100)}, "inner": 4 * rounds, "process": 4 * rounds}
    assert all(r["depth"] == (1 if r["name"] == "inner" else 0) for r in rows)


# --- Another tool.


def run_with_tool(run, tmp_path, *arguments, **more):
    out = tmp_path / "tool.json"
    out.unlink(missing_ok=True)
    outcome = run([VICTIM, "mix"], *arguments, env={"NVTX_INJECTION64_PATH": TOOL, "NVTX_TOOL_OUT": str(out), **more})
    return outcome, json.loads(out.read_text()) if out.exists() else None


@pytest.mark.parametrize("options", [EXACT, ("--capture=off",), ("--trace=heap",)])
def test_a_tool_gets_all_its_calls(record, tmp_path, options):
    bare, alone = run_with_tool(run_bare, tmp_path)
    assert bare.status == 0 and alone["pushes"] > 5 and alone["foreign"] == 0
    outcome, beside = run_with_tool(record, tmp_path, *options)
    assert outcome.status == 0 and outcome.own_err == bare.err
    assert beside == alone
    if options is EXACT:
        trace = outcome.trace()
        assert trace.lost == 0, trace.losses
        compare(trace.range_rows(), truth_of(outcome))


def test_a_tool_that_refuses_leaves_us_alone(record, tmp_path):
    outcome, beside = run_with_tool(record, tmp_path, *EXACT, NVTX_TOOL_REFUSES="1")
    assert outcome.status == 0
    assert beside["initialised"] == 1 and beside["pushes"] == 0
    compare(outcome.trace().range_rows(), truth_of(outcome))


def test_a_tool_that_is_not_there(record):
    outcome = record([VICTIM, "mix"], *EXACT, env={"NVTX_INJECTION64_PATH": "/nowhere/tool.so"})
    assert outcome.status == 0
    assert "NVTX_INJECTION64_PATH named /nowhere/tool.so" in outcome.words
    compare(outcome.trace().range_rows(), truth_of(outcome))
