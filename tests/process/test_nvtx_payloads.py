# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Extended payloads of NVTX, as NCCL has them: a range's values are those that the program put there, and what cannot be read is counted."""

import json
import re
import struct

import pytest

from conftest import PROGRAMS, gpuprof, run_bare, verify

pytestmark = pytest.mark.skipif(not (PROGRAMS / "nvtx_payloads").exists(), reason="the program was not built: no headers of NVTX's payloads")

VICTIM = str(PROGRAMS / "nvtx_payloads")
OLD_TOOL = str(PROGRAMS / "nvtx_tool.so")
TOOL = str(PROGRAMS / "nvtx_extended.so")
NVTX = ("--trace=nvtx",)
UNPAIRED_SPAN, RANGE_VALUE = 9, 15


def lines_of(outcome):
    return [json.loads(line) for line in outcome.out.decode().splitlines() if line.startswith("{")]


def truth_of(outcome):
    return [(row["domain"], row["name"], row["values"]) for row in lines_of(outcome) if "values" in row]


def field(line, key):
    """The value of key=... in a line of `gpuprof dump`; None: it has none."""
    found = re.search(rf' {key}=("(?:[^"\\\\]|\\\\.)*"|\S+)', line)
    if found is None:
        return None
    return found[1] if found[1].startswith("0x") else json.loads(found[1]) if found[1][0] in '"-0123456789' else found[1]


def ranges_with_values(outcome):
    """(domain, name, {value's name: value}) of each range and mark, in the order in which they end; by `gpuprof dump`."""
    whose = lambda line: (line.split(" ", 1)[0], field(line, "kind"), field(line, "domain"), field(line, "depth"))
    found = []
    for line in gpuprof("dump", outcome.bundle).out.decode().splitlines():
        words = line.split(" ", 5)
        if words[4] == "range" and not field(line, "kind").startswith("name_"):
            found.append((field(line, "domain") or "", field(line, "name") or "", {}, whose(line)))
        elif words[4] == "range_value":
            ranges = [row for row in found if row[3] == whose(line)]
            assert len(ranges) == 1, line
            ranges[0][2][field(line, "name")] = field(line, "value")
    return [row[:3] for row in found]


def is_enabled(outcome):
    return next(row["enabled"] for row in lines_of(outcome) if "enabled" in row)


def test_values_are_those_of_the_program(record):
    outcome = record([VICTIM, "mix"], *NVTX)
    assert outcome.status == 0, outcome.err.decode()
    trace, true = outcome.trace(), truth_of(outcome)
    assert len(true) == 10 and trace.losses == {}
    assert ranges_with_values(outcome) == true
    assert is_enabled(outcome) == 1
    verify(outcome.bundle)
    assert all(row["depth"] == 0 for row in trace.payload_rows())
    dump = gpuprof("dump", outcome.bundle).out.decode()
    assert 'range_value kind=push_pop domain="NCCL" depth=0 name="Message size [bytes]" value=1048576' in dump
    assert 'name="Reduction operation" value="Max"' in dump


def test_the_trace_has_the_bytes_of_the_program(record):
    outcome = record([VICTIM, "mix"], *NVTX)
    rows = outcome.trace().payload_rows()
    reductions = [row for row in rows if row["size"] == 24 and row["domain"] == "NCCL" and row["kind"] == "push_pop"]
    assert [struct.unpack("<QQi", row["bytes"][:20]) for row in reductions] == [
        (0xFEEDFACECAFEBEEF, 1 << 20, 2), (0xFEEDFACECAFEBEEF, 4096, 0), (0xFEEDFACECAFEBEEF, 16, 9)]
    # A schema is in the trace once, as it was registered; an event may have several payloads.
    assert len({row["definition"] for row in reductions}) == 1
    assert b"NCCL communicator ID\0" in reductions[0]["definition"] and reductions[0]["definition"][:2] == b"\0\x01"
    assert [row["is_first"] for row in rows if row["kind"] == "mark"] == [1, 1, 0]
    assert [(row["definition"], row["bytes"]) for row in rows if row["is_end"]] == [(16, struct.pack("<I", 17))] * 2
    assert [list(row["texts"].values()) for row in rows if row["texts"]] == [["a registered string"]] * 2


def test_stats_sum_them(record):
    outcome = record([VICTIM, "mix"], *NVTX)
    done = gpuprof("stats", "ranges", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    values = {(v["range"], v["kind"], v["name"]): v for v in json.loads(done.out)["values"]}
    size = values["ncclAllReduce", "push_pop", "Message size [bytes]"]
    assert (size["domain"], size["count"], size["unit"]) == ("NCCL", 3, "bytes")
    assert (size["sum_value"], size["min_value"], size["max_value"]) == ((1 << 20) + 4096 + 16, 16, 1 << 20)
    operation = values["ncclAllReduce", "push_pop", "Reduction operation"]
    assert (operation["count"], operation["text_count"], operation["most_frequent_count"]) == (3, 2, 1)
    assert (operation["sum_value"], operation["max_value"]) == (9, 9)  # the one that has no name
    assert values["step", "start_end", "where"]["most_frequent"] == "0x1230"
    text = gpuprof("stats", "ranges", outcome.bundle).out.decode()
    assert "Values of payloads" in text and "NCCL:ncclAllReduce" in text


def test_what_does_not_keep_to_the_rules(record):
    outcome = record([VICTIM, "wrong"], *NVTX)
    assert outcome.status == 0, outcome.err.decode()
    trace = outcome.trace()
    assert ranges_with_values(outcome) == truth_of(outcome)
    # One of an unknown schema and two without memory are not recorded; two are outside of their payload, as the reader finds.
    assert trace.losses == {RANGE_VALUE: 3}
    health = json.loads(gpuprof("stats", "ranges", "--json", outcome.bundle).out)["meta"]["losses"]
    assert [(loss["name"], loss["count"]) for loss in health] == [("range_value", 5)]


def test_schemas_from_before_the_capture(session):
    run = session([VICTIM, "late"], "--capture=off", *NVTX)
    assert run.line() == "ready"
    assert run.ctl("start").status == 0
    run.tell("\n")
    while (line := run.line()) != "done":
        true = json.loads(line)
    assert run.ctl("stop").status == 0
    run.tell("\n")
    outcome = run.finish()
    verify(outcome.bundle)
    assert ranges_with_values(outcome) == [(true["domain"], true["name"], true["values"])]


@pytest.mark.parametrize("mode", ["mix", "wrong"])
@pytest.mark.parametrize("options", [("--capture=off",), ("--trace=threads",), NVTX])
def test_the_program_is_unharmed(record, mode, options):
    bare = run_bare([VICTIM, mode])
    outcome = record([VICTIM, mode], *options, check=False)
    assert outcome.status == bare.status == 0 and outcome.own_err == bare.err
    assert truth_of(outcome) == truth_of(bare)
    if mode == "mix":
        # Where a capture may come, the domain is said to be on.
        assert is_enabled(bare) == 0
        assert is_enabled(outcome) == (0 if "--trace=threads" in options else 1)


# --- Another tool.


def run_with_tool(run, tmp_path, tool, *arguments, **more):
    out = tmp_path / "tool.json"
    out.unlink(missing_ok=True)
    outcome = run([VICTIM, "mix"], *arguments, env={"NVTX_INJECTION64_PATH": tool, "NVTX_TOOL_OUT": str(out), **more})
    return outcome, json.loads(out.read_text()) if out.exists() else None


@pytest.mark.parametrize("options", [NVTX, ("--capture=off",), ("--trace=heap",)])
def test_a_tool_gets_all_its_calls(record, tmp_path, options):
    bare, alone = run_with_tool(run_bare, tmp_path, TOOL)
    assert bare.status == 0 and alone["schemas"] == 5 and alone["pushes"] == alone["pops"] == alone["starts"] == alone["ends"] == 1
    assert alone["foreign"] == 0 and is_enabled(bare) == 1
    outcome, beside = run_with_tool(record, tmp_path, TOOL, *options)
    assert outcome.status == 0 and outcome.own_err == bare.err
    assert beside == alone and outcome.out == bare.out
    if options is NVTX:
        trace = outcome.trace()
        assert trace.losses == {}
        assert ranges_with_values(outcome) == truth_of(outcome)


@pytest.mark.parametrize("options", [NVTX, ("--trace=heap",)])
def test_a_tool_that_knows_no_extensions(record, tmp_path, options):
    bare, alone = run_with_tool(run_bare, tmp_path, OLD_TOOL)
    outcome, beside = run_with_tool(record, tmp_path, OLD_TOOL, *options)
    assert outcome.status == 0 and outcome.own_err == bare.err  # nothing is said about what it lacks
    assert beside == alone and outcome.out == bare.out and is_enabled(bare) == 1
    if options is NVTX:
        # The tool has no number for the range that nvtxRangeStartPayload begins: its end is counted.
        trace = outcome.trace()
        assert trace.losses == {UNPAIRED_SPAN: 1}
        true = truth_of(outcome)
        assert ranges_with_values(outcome) == true[:5] + true[6:]


def test_a_tool_whose_extension_refuses(record, tmp_path):
    bare, _ = run_with_tool(run_bare, tmp_path, TOOL, NVTX_TOOL_REFUSES="1")
    assert is_enabled(bare) == 0
    outcome, beside = run_with_tool(record, tmp_path, TOOL, *NVTX, NVTX_TOOL_REFUSES="1")
    assert outcome.status == 0 and beside["initialised"] == 1 and beside["pushes"] == 0
    true = truth_of(outcome)
    assert ranges_with_values(outcome) == true[:5] + true[6:]


# --- A library that asks once, before there is a capture.


def test_a_domain_is_there_before_any_capture(session):
    """As TSL does for JAX: without a domain at its first use it makes no range for the rest of its life."""
    run = session([str(PROGRAMS / "nvtx_tsl")], "--capture=off", "--trace=nvtx")
    assert run.line() == "domain 1, strings 1"
    run.tell("1\n")  # nobody records these
    assert run.line() == "done"
    assert run.ctl("start").status == 0
    run.tell("2\n")
    assert run.line() == "done"
    assert run.ctl("stop").status == 0
    outcome = run.finish()
    assert outcome.status == 0, outcome.err.decode()
    verify(outcome.bundle)
    ranges = ranges_with_values(outcome)
    module = "XlaModule:#hlo_module=jit_train_step,program_id=11#"
    assert [(domain, name) for domain, name, _ in ranges[1:]] == [("TSL", "dot.1"), ("TSL", module)], ranges
    domain, longest, _ = ranges[0]
    assert domain == "TSL" and longest.startswith("x" * 1000), longest[-80:]
    assert ranges[2][2] == {"hlo_module": module, "program_id": 11}, ranges
