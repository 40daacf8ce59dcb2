# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Folded stacks: what a known program allocated, kept, mapped and waited for, line by line; sums that are those of the other passes;
and lines that the tools they are made for read."""

import collections
import csv
import io
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from call_stacks import frames_of
from conftest import GPUPROF, clean_environment, gpuprof, program
from waiting import AWAIT_RECORDER

# Debian packages it with a profiler for Perl, away from PATH.
FLAMEGRAPH = shutil.which("flamegraph.pl") or "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
LINE = re.compile(r"[^;\x00-\x1f\x7f]+(;[^;\x00-\x1f\x7f]+)+ [1-9][0-9]*")
# Allocates from many places, once the recorder is ready for stacks.
IMPORTS = AWAIT_RECORDER + "import json, email.message"


def folded(bundle, *options):
    """{frames: weight} of the text, every line of which must be a folded one."""
    done = gpuprof("stats", "stacks", bundle, *options)
    assert done.status == 0, done.err.decode()
    stacks = {}
    for line in done.out.decode().splitlines():
        assert LINE.fullmatch(line), line
        stack, weight = line.rsplit(" ", 1)
        assert stack not in stacks, f"told twice: {stack}"
        stacks[stack] = int(weight)
    assert list(stacks) == sorted(stacks, key=lambda stack: stack.encode().split(b";"))
    return stacks


def stats(bundle, *words):
    done = gpuprof("stats", *words, "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def by_leaf(stacks):
    sums = collections.Counter()
    for stack, weight in stacks.items():
        sums[stack.rsplit(";", 1)[1]] += weight
    return sums


def check_totals(bundle):
    heap, locks = stats(bundle, "heap"), stats(bundle, "locks")
    def of_heap(key):
        return sum(row[key] for row in heap["processes"])
    totals = {
        "heap_alloc": of_heap("allocated_bytes"), "heap_allocs": of_heap("count"), "heap_live": of_heap("end_bytes"),
        "heap_peak": of_heap("peak_bytes"), "mmap": sum(row["end_bytes"] for row in heap["mapped"]),
        "wait": locks["contended_ns"], "waits": locks["contended_count"], "wait_all": sum(row["total_ns"] for row in locks["kinds"]),
    }
    for by, total in totals.items():
        assert sum(folded(bundle, "--by", by).values()) == total, by
        assert stats(bundle, "stacks", "--by", by)["total"] == total, by
    return totals


def test_every_block_of_a_known_program(record):
    """Exact: what the threads' function made, and the eighth of it that they kept. Blocks from before the first stack have none."""
    outcome = record([program("heap_truth"), "2", "40000", "64", "500", "5000"], "--trace=heap=exact")
    true_bytes, true_blocks = map(int, outcome.out.split())
    kept = 2 * 5000 * (64 + 500)
    for by, truth in (("heap_alloc", true_bytes), ("heap_allocs", true_blocks), ("heap_live", kept)):
        sums = by_leaf(folded(outcome.bundle, "--by", by))
        assert 0 < sums["Work"] <= truth <= sums["Work"] + sums["[no stack]"], (by, sums)
    assert all(stack.startswith("heap_truth;") for stack in folded(outcome.bundle))
    check_totals(outcome.bundle)


def test_estimates_are_those_of_the_heap(record):
    outcome = record([program("heap_truth"), "4", "50000", "16", "100", "1000"], "--trace=heap=sampled:16384,locks,mmap")
    true_bytes = int(outcome.out.split()[0])
    result = stats(outcome.bundle, "stacks", "--by", "heap_alloc")
    assert result["estimated"] and result["total_low"] < result["total"] < result["total_high"]
    # Six standard deviations, of which the interval has two to either side, and what the loader and libc allocate.
    assert abs(result["total"] - true_bytes) < 1.5 * (result["total_high"] - result["total_low"]) + 200_000
    check_totals(outcome.bundle)


def test_a_tree_of_processes(record):
    script = "import os, json\nfor _ in range(2):\n    if os.fork() == 0:\n        x = [bytearray(100000) for _ in range(100)]\n        break\nelse:\n    os.wait(); os.wait()\n"
    outcome = record([sys.executable, "-c", script], "--trace=heap=exact,locks,mmap")
    totals = check_totals(outcome.bundle)
    assert totals["heap_alloc"] > 20_000_000
    roots = {stack.split(";")[0] for stack in folded(outcome.bundle, "--by", "heap_alloc")}
    # The children have their parent's command line, however little of their own they lived to note.
    assert len(roots) == 3 and all(re.search(r"^python\S* -c import os, json \(pid \d+\)$", root) for root in roots), roots


def test_known_waits(record):
    count = 25
    outcome = record([program("contended"), str(count)], "--trace=locks")
    waits = by_leaf(folded(outcome.bundle, "--by", "waits"))
    assert set(waits) <= {"Waiter", "[no stack]"} and sum(waits.values()) == 3 * count
    assert waits["Waiter"] > 0, "all but those before the tracer was loaded"
    assert sum(folded(outcome.bundle, "--by", "wait").values()) >= 3 * count * 1_990_000, "each waited for 2 ms at least"
    kinds = set(by_leaf(folded(outcome.bundle, "--by", "wait_all"))) - {"[no stack]"}
    assert {"[mutex]", "[rwlock_read]", "[rwlock_write]", "[semaphore]"} <= kinds
    check_totals(outcome.bundle)


def test_known_mappings(record):
    outcome = record([program("mappings")], "--trace=mmap")
    words = outcome.out.decode().splitlines()[-1].split()
    truth = {f"[{kind}]": int(size) for kind, size in zip(words[::2], words[1::2]) if int(size) > 0}
    assert by_leaf(folded(outcome.bundle, "--by", "mmap")) == truth


def test_frame_pointers(record):
    """Code that keeps them, as distributions' does: each function of the malloc family has the whole stack of its caller."""
    bundle = record([program("frame_pointers")], "--trace=heap=exact,mmap").bundle
    sizes = {"ByMalloc": 200001, "ByCalloc": 200002, "ByRealloc": 200003, "ByGrowing": 200004, "ByReallocarray": 200005, "ByAlignedAlloc": 200064,
             "ByMemalign": 200007, "ByValloc": 200008, "ByPosixMemalign": 200010}
    lines = {stack: size for stack, size in folded(bundle, "--by", "heap_alloc").items() if ";By" in stack}
    wanted = {place: size for place, size in sizes.items()}
    assert {stack.rsplit(";", 1)[1]: size for stack, size in lines.items() if not stack.endswith("ByPvalloc")} == wanted
    assert all(";main;By" in stack for stack in lines) and len(lines) == len(sizes) + 1, lines
    assert any(";main;ByMmap;" in stack for stack in folded(bundle, "--by", "mmap"))
    # And each frame's line is that of the call.
    source = (pathlib.Path(__file__).parents[1] / "programs" / "frame_pointers.c").read_text(encoding="utf-8").splitlines()
    result = stats(bundle, "heap")
    innermost = [frames_of(result, stack["call_stack"])[0] for stack in result["stacks"]]
    frames = [frame for frame in innermost if frame["name"] in sizes]
    assert {frame["name"] for frame in frames} == set(sizes)
    for frame in frames:
        assert frame["file"].endswith("/frame_pointers.c")
        assert str(sizes[frame["name"]]) in source[frame["line"] - 1], frame


def test_stacks_deeper_than_what_was_kept(record):
    bundle = record([sys.executable, "-c", IMPORTS], "--trace=heap=exact", "--stacks=6").bundle
    cut = {stack for stack in folded(bundle) if ";[truncated];" in stack}
    assert cut and all(stack.count(";") == 7 for stack in cut)
    assert all(stack.count(";") < 6 for stack in set(folded(bundle)) - cut)
    assert b"--stacks" in gpuprof("stats", "stacks", bundle, "--by", "heap_alloc").err


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stacks") / "bundle"
    subprocess.run([str(GPUPROF), "run", "-o", str(folder), "--quiet", "--trace=heap=exact,locks", "--", sys.executable, "-c", IMPORTS],
                   env=clean_environment(), check=True)
    return folder


def test_the_choice_is_said_beside_the_lines(bundle, record):
    done = gpuprof("stats", "stacks", bundle)
    assert done.out == gpuprof("stats", "stacks", bundle, "--by", "heap_alloc").out
    assert len(done.err.splitlines()) == 1 and b"heap_alloc" in done.err
    waits = gpuprof("stats", "stacks", record([program("contended"), "3"], "--trace=locks").bundle)
    assert b"(wait)" in waits.err
    nothing = gpuprof("stats", "stacks", bundle, "--by", "mmap")
    assert (nothing.status, nothing.out) == (0, b"") and b"nothing to fold by mmap" in nothing.err


def test_a_wrong_key_names_the_right_ones(bundle):
    done = gpuprof("stats", "stacks", bundle, "--by", "bytes")
    assert (done.status, done.out) == (2, b"")
    assert b"'bytes'" in done.err and b"heap_alloc, heap_allocs, heap_live, heap_peak, kernel, mmap, native, python, samples, wait, wait_all, waits" in done.err


def test_a_limit_keeps_the_heaviest_and_says_so(bundle):
    every = folded(bundle)
    assert len(every) > 20, "complete unless told otherwise"
    few = folded(bundle, "--limit", "5")
    assert sorted(few.values()) == sorted(every.values())[-5:]
    rest = sum(every.values()) - sum(few.values())
    assert f"{len(every) - 5:,} stacks of {rest:,} bytes".encode() in gpuprof("stats", "stacks", bundle, "--limit", "5").err


def test_json_and_csv_hold_the_same(bundle):
    text = folded(bundle)
    result = stats(bundle, "stacks")
    assert (result["by"], result["unit"], result["estimated"]) == ("heap_alloc", "bytes", False)
    spelled = {";".join(frame["name"] for frame in reversed(frames_of(result, row["call_stack"]))): row["value"] for row in result["stacks"]}
    assert spelled == text
    rows = list(csv.DictReader(io.StringIO(gpuprof("stats", "stacks", "--csv", bundle).out.decode())))
    assert {row["frames"]: int(row["value"]) for row in rows} == text


def test_a_terminal_gets_the_same_lines(bundle):
    main, side = pty.openpty()
    process = subprocess.Popen([str(GPUPROF), "stats", "stacks", str(bundle)], stdout=side, stderr=subprocess.DEVNULL, env=clean_environment())
    os.close(side)
    seen = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # as Linux tells that the other side was closed
            break
        if not part:
            break
        seen += part
    os.close(main)
    assert process.wait() == 0
    assert seen.replace(b"\r\n", b"\n") == gpuprof("stats", "stacks", bundle).out


@pytest.mark.skipif(not pathlib.Path(FLAMEGRAPH).exists(), reason="no flamegraph.pl: run scripts/setup --only test")
@pytest.mark.parametrize("by", ["heap_alloc", "heap_allocs", "heap_live"])
def test_flamegraph_draws_them(bundle, by):
    lines = gpuprof("stats", "stacks", bundle, "--by", by).out
    drawn = subprocess.run(["perl", FLAMEGRAPH, "--countname=bytes", "--minwidth=0"], input=lines, capture_output=True, check=True)
    assert drawn.stderr == b"", "it names lines that it ignored"
    titles = [element.text for element in xml.etree.ElementTree.fromstring(drawn.stdout).iter("{http://www.w3.org/2000/svg}title")]
    total = sum(folded(bundle, "--by", by).values())
    assert f"all ({total:,} bytes, 100%)" in titles
    # It draws "<module>" as "(module)".
    functions = {frame.translate({ord("<"): "(", ord(">"): ")"}) for stack in folded(bundle, "--by", by) for frame in stack.split(";")}
    assert functions == {title.rsplit(" (", 1)[0] for title in titles} - {"all"}
