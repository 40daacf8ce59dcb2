# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Extended payloads of NVTX, as NCCL has them: a range's values are those that the program put there, and what cannot be read is counted."""

import json

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


def is_enabled(outcome):
    return next(row["enabled"] for row in lines_of(outcome) if "enabled" in row)


def test_values_are_those_of_the_program(record):
    outcome = record([VICTIM, "mix"], *NVTX)
    assert outcome.status == 0, outcome.err.decode()
    trace, true = outcome.trace(), truth_of(outcome)
    assert len(true) == 8 and trace.losses == {}
    assert trace.ranges_with_values() == true
    assert is_enabled(outcome) == 1
    verify(outcome.bundle)
    dump = gpuprof("dump", outcome.bundle).out.decode()
    assert 'range_value kind=push_pop domain="NCCL" depth=0 name="Message size [bytes]" value=1048576' in dump
    assert 'name="Reduction operation" value="Max"' in dump


def test_stats_sum_them(record):
    outcome = record([VICTIM, "mix"], *NVTX)
    done = gpuprof("stats", "nvtx", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    values = {(v["range"], v["kind"], v["name"]): v for v in json.loads(done.out)["values"]}
    size = values["ncclAllReduce", "push_pop", "Message size [bytes]"]
    assert (size["domain"], size["count"], size["unit"]) == ("NCCL", 3, "bytes")
    assert (size["sum_value"], size["min_value"], size["max_value"]) == ((1 << 20) + 4096 + 16, 16, 1 << 20)
    operation = values["ncclAllReduce", "push_pop", "Reduction operation"]
    assert (operation["count"], operation["text_count"], operation["most_frequent_count"]) == (3, 2, 1)
    assert (operation["sum_value"], operation["max_value"]) == (9, 9)  # the one that has no name
    assert values["step", "start_end", "where"]["most_frequent"] == "0x1230"
    text = gpuprof("stats", "nvtx", outcome.bundle).out.decode()
    assert "Values of payloads" in text and "NCCL:ncclAllReduce" in text


def test_what_does_not_keep_to_the_rules(record):
    outcome = record([VICTIM, "wrong"], *NVTX)
    assert outcome.status == 0, outcome.err.decode()
    trace = outcome.trace()
    assert trace.ranges_with_values() == truth_of(outcome)
    # Two outside of their payload, one of an unknown schema, two without memory, a long array, and four too many.
    assert trace.losses == {RANGE_VALUE: 10}
    health = json.loads(gpuprof("stats", "nvtx", "--json", outcome.bundle).out)["meta"]["losses"]
    assert [(loss["name"], loss["count"]) for loss in health] == [("range_value", 10)]


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
    assert outcome.trace().ranges_with_values() == [(true["domain"], true["name"], true["values"])]


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
    assert bare.status == 0 and alone["schemas"] == 3 and alone["pushes"] == alone["pops"] == alone["starts"] == alone["ends"] == 1
    assert alone["foreign"] == 0 and is_enabled(bare) == 1
    outcome, beside = run_with_tool(record, tmp_path, TOOL, *options)
    assert outcome.status == 0 and outcome.own_err == bare.err
    assert beside == alone and outcome.out == bare.out
    if options is NVTX:
        trace = outcome.trace()
        assert trace.losses == {}
        assert trace.ranges_with_values() == truth_of(outcome)


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
        assert trace.ranges_with_values() == true[:5] + true[6:]


def test_a_tool_whose_extension_refuses(record, tmp_path):
    bare, _ = run_with_tool(run_bare, tmp_path, TOOL, NVTX_TOOL_REFUSES="1")
    assert is_enabled(bare) == 0
    outcome, beside = run_with_tool(record, tmp_path, TOOL, *NVTX, NVTX_TOOL_REFUSES="1")
    assert outcome.status == 0 and beside["initialised"] == 1 and beside["pushes"] == 0
    true = truth_of(outcome)
    assert outcome.trace().ranges_with_values() == true[:5] + true[6:]
