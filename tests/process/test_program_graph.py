# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof stats graph_viewer`: the graph of a program that XLA compiled around one operation, with the times of its events."""

import collections
import json
import random
import re
import shutil
import subprocess

import pytest

import hlo_protos as hlo
from conftest import gpuprof
from test_program_memory import recorded, written  # noqa: F401  (recorded is a fixture)
from test_xprof_format import GOLDEN
from waiting import LIMIT_S
from xprof_spaces import PlaneBuilder
from xspace_files import field, read_planes

HERE = "train.py"


def operation(identifier, name, opcode, operands=(), **more):
    return hlo.instruction(identifier, name, opcode, hlo.shape(hlo.F32, (8, 128)), operands, **more)


def program():
    """x, w -> dot -> fusion (multiply, add) -> tuple; a constant that nobody reads; a send that waits for the dot."""
    fused = hlo.computation(2, "fused", [
        operation(11, "p.0", "parameter", more=[field(9, 0)]), operation(12, "p.1", "parameter", more=[field(9, 1)]),
        operation(13, "multiply.1", "multiply", [11, 12], op_name="jit(f)/mul"), operation(14, "add.1", "add", [13, 13], op_name="jit(f)/add")],
        14, fused=True)
    main = hlo.computation(1, "main", [
        operation(1, "x", "parameter", more=[field(9, 0)]), operation(2, "w", "parameter", more=[field(9, 1)]),
        operation(3, "dot.1", "dot", [1, 2], op_name="jit(f)/dot_general", frame=1),
        operation(4, "fusion.1", "fusion", [3, 1], called=[2], op_name="jit(f)/add", source=HERE, source_line=9, more=[field(11, "kLoop")]),
        operation(5, "unused", "constant"), operation(6, "send.1", "custom-call", [5], more=[field(28, "send"), hlo.packed(37, [3])]),
        operation(7, "out", "tuple", [4, 3, 4])], 7)
    return hlo.proto(hlo.module("jit_f", [fused, main], entry=("main", 1),
                                more=[hlo.frames(["model.py", HERE], [(1, 5, 1), (2, 30, 2)], [(1, 2), (2, 0)])]))


def timed(folder, name="timed"):
    device = PlaneBuilder("/device:GPU:0", 2)
    stats = {"hlo_module": "jit_f", "program_id": 4}
    device.line(1, "Stream #1(Compute)", [
        ("kernel_a", 1_000_000, 5_000_000, {**stats, "hlo_op": "dot.1"}), ("kernel_b", 7_000_000, 2_000_000, {**stats, "hlo_op": "fusion.1"}),
        ("kernel_a", 10_000_000, 6_000_000, {**stats, "hlo_op": "dot.1"}), ("kernel_c", 20_000_000, 1_000_000, {})])
    return written(folder, name, hlo.space([(4, "jit_f(4)", program())]) + device.bytes())


def graph(path, *options):
    done = gpuprof("stats", "graph_viewer", path, "--json", *options)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def edges(result):
    return {(row["from"], row["to"], row.get("operand"), row["control"]) for row in result["edges"]}


def distances(result):
    return {row["name"]: row["distance"] for row in result["nodes"]}


def test_producers_and_consumers(tmp_path):
    result = graph(timed(tmp_path), "--op", "fusion.1")
    assert (result["program"], result["op"], result["depth"]) == ("jit_f(4)", "fusion.1", 2)
    assert distances(result) == {"fusion.1": 0, "dot.1": -1, "x": -1, "w": -2, "out": 1}
    assert edges(result) == {("dot.1", "fusion.1", 0, False), ("x", "fusion.1", 1, False), ("x", "dot.1", 0, False), ("w", "dot.1", 1, False),
                             ("fusion.1", "out", 0, False), ("dot.1", "out", 1, False)}
    nodes = {row["name"]: row for row in result["nodes"]}
    fusion = nodes["fusion.1"]
    assert (fusion["opcode"], fusion["fusion_kind"], fusion["fused_opcodes"], fusion["fused_count"]) == ("fusion", "kLoop", "add, multiply", 2)
    assert (fusion["shape"], fusion["source"], fusion["total_ns"], fusion["count"]) == ("f32[8,128]{1,0}", "train.py:9", 2000, 1)
    assert (nodes["dot.1"]["source"], nodes["dot.1"]["source_stack"]) == ("model.py:5", "model.py:5 < train.py:30")
    assert (nodes["dot.1"]["total_ns"], nodes["dot.1"]["count"]) == (11000, 2) and nodes["w"].get("total_ns") is None
    assert nodes["x"]["parameter_number"] == 0 and nodes["out"]["root"] and nodes["w"]["found_by"] == "dot.1"
    assert nodes["dot.1"]["left_out_consumer_count"] == 1  # send.1 waits for it


def test_depth(tmp_path):
    path = timed(tmp_path)
    assert distances(graph(path, "--op", "fusion.1", "--depth", "0")) == {"fusion.1": 0}
    assert distances(graph(path, "--op", "fusion.1", "--depth", "1")) == {"fusion.1": 0, "dot.1": -1, "x": -1, "out": 1}
    (node,) = graph(path, "--op", "fusion.1", "--depth", "0")["nodes"]
    assert (node["left_out_producer_count"], node["left_out_consumer_count"]) == (2, 1)


def test_the_order_alone(tmp_path):
    result = graph(timed(tmp_path), "--op", "send.1", "--depth", "1")
    assert edges(result) == {("unused", "send.1", 0, False), ("dot.1", "send.1", None, True)}
    assert result["nodes"][0]["custom_call_target"] == "send"


def test_parts_of_a_fusion(tmp_path):
    result = graph(timed(tmp_path), "--op", "multiply.1", "--depth", "3")
    assert distances(result) == {"multiply.1": 0, "p.0": -1, "dot.1": -2, "x": -2, "p.1": -1, "w": -3, "add.1": 1, "fusion.1": 2, "out": 3}
    fusions = {row["name"]: row.get("fusion") for row in result["nodes"]}
    assert {name for name, fusion in fusions.items() if fusion == "fusion.1"} == {"multiply.1", "p.0", "p.1", "add.1"}
    assert {("dot.1", "p.0", None, False), ("x", "p.1", None, False), ("add.1", "fusion.1", None, False)} <= edges(result)
    text = gpuprof("stats", "graph_viewer", tmp_path / "timed.xplane.pb", "--op", "multiply.1", "--width", "0").out.decode()
    assert text.startswith("multiply.1 of jit_f(4): multiply, f32[8,128]{1,0}, a part of fusion.1.\n")


def test_the_name_of_the_framework(tmp_path):
    path = timed(tmp_path)
    assert graph(path, "--op", "jit(f)/dot_general")["op"] == "dot.1"
    assert graph(path, "--op", "jit(f)/add")["op"] == "fusion.1"  # it runs, and its part does not


def test_text_is_a_tree(tmp_path):
    path = timed(tmp_path)
    text = gpuprof("stats", "graph_viewer", path, "--op", "fusion.1", "--width", "0").out.decode()
    assert text.startswith("fusion.1 of jit_f(4): fusion (kLoop: add, multiply), f32[8,128]{1,0}, 2.00 us in 1 event.\n")
    lines = [line[2:].split("  ")[0].rstrip() if not line.startswith("    ") else line[2:].rstrip() for line in text.splitlines()]
    branches = [re.match(r" *(?:<-|->) \S+", line).group() for line in lines if re.match(r" *(<-|->) ", line)]
    assert branches == ["  <- dot.1", "    <- w", "  <- x", "  -> out"]


def test_programs_and_operations_with_time(tmp_path):
    result = graph(timed(tmp_path))
    (row,) = result["programs"]
    assert (row["name"], row["instruction_count"], row["computation_count"], row["fusion_count"]) == ("jit_f(4)", 11, 2, 1)
    assert (row["timed_count"], row["total_ns"]) == (2, 13000)
    assert [(node["name"], node["total_ns"], round(node["total_ratio"], 3)) for node in result["nodes"]] == [("dot.1", 11000, 0.846), ("fusion.1", 2000, 0.154)]
    assert result["edges"] == [] and "op" not in {key for key, value in result.items() if value}
    csv = gpuprof("stats", "graph_viewer", tmp_path / "timed.xplane.pb", "--csv").out.decode().splitlines()
    assert len(csv) == 3


def test_errors(tmp_path):
    path = timed(tmp_path)
    for options, words in ((("--op", "dot"), "there are: dot.1"), (("--op", "nothing"), "No program has an operation 'nothing'"),
                           (("--op", "x", "--program", "other"), "There is no program 'other'"), (("--memory-space", "1"), "no option --memory-space")):
        done = gpuprof("stats", "graph_viewer", path, *options)
        assert done.status == 2 and words in done.err.decode(), done.err
    for options in (("--op", "x"), ("--depth", "1")):
        assert gpuprof("stats", "kernels", path, *options).status == 2
    assert gpuprof("stats", "kernels", path, "--format=dot").status == 2
    two = written(tmp_path, "two", hlo.space([(4, "jit_f(4)", program()), (5, "jit_f(5)", program())]))
    done = gpuprof("stats", "graph_viewer", two, "--op", "x")
    assert done.status == 2 and b"choose one with --program: jit_f(4), jit_f(5)" in done.err
    assert graph(two, "--op", "x", "--program", "5")["program"] == "jit_f(5)"


def test_dot(tmp_path):
    done = gpuprof("stats", "graph_viewer", timed(tmp_path), "--op", "fusion.1", "--format=dot")
    assert done.status == 0
    text = done.out.decode()
    assert text.startswith("digraph program {\n") and text.endswith("}\n")
    assert '  "dot.1" -> "fusion.1";\n' in text and text.count("->") == 6
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=done.out, check=True, capture_output=True, timeout=LIMIT_S)


def test_times_of_programs_of_jax(recorded):  # noqa: F811
    """All events with the name of an instruction count, and no others."""
    path, told = recorded
    sums = collections.Counter()
    for plane in read_planes(path):
        for line in plane.lines:
            for event in line.events:
                if str(event.stats.get("hlo_module", "")).removeprefix("jit_") in ("chain", "loop", "training", "donated"):
                    sums[event.stats["hlo_op"]] += 1
    counts = collections.Counter()
    for name in told:
        for node in graph(path, "--program", name)["nodes"]:
            counts[node["name"]] += node["count"]
    assert counts == sums and len(sums) > 10
    listed = graph(path, "--program", "jit_chain")["nodes"]
    sort = next(node for node in listed if node["opcode"] == "sort")
    around = graph(path, "--program", "jit_chain", "--op", sort["name"], "--depth", "1")
    assert any(node["distance"] == -1 and node["opcode"] in ("fusion", "dot") for node in around["nodes"])
    assert around["nodes"][0]["total_ns"] == sort["total_ns"]


def test_a_bundle_says_the_same(tmp_path):
    for path, op in ((GOLDEN / "jax_te_fused_attn_mi300.xplane.pb.gz", "loop_reduce_fusion.1"), (GOLDEN / "tpu_inference.xplane.pb.gz", "broadcast_add_fusion.2")):
        bundle = tmp_path / op
        assert gpuprof("import", path, "-o", bundle).status == 0
        for options in ((), ("--op", op)):
            results = [graph(each, *options) for each in (path, bundle)]
            for result in results:
                del result["meta"]
            assert results[0] == results[1] and results[0]["nodes"][0]["total_ns"] > 0


def bad_program():
    """Operands in a circle, ids that are not there, computations that call each other, names of strangers."""
    main = hlo.computation(1, "main", [
        operation(1, "a", "add", [2, 2, 99]), operation(2, "b", "add", [3, 1]), operation(3, "c", "while", [2], called=[1, 2, 88]),
        operation(4, 'quote"\\\x1b[31m\n', "parameter", [1], more=[field(9, 1 << 62), hlo.packed(37, [4, 1])]),
        operation(5, b"\xff\xfe", "fusion", [4], called=[2])], 77)
    other = hlo.computation(2, "main", [operation(6, "p", "parameter", more=[field(9, -1)]), operation(1, "a", "call", [6], called=[2])], 6)
    return hlo.proto(hlo.module("jit_bad", [main, other, hlo.computation(3, "empty", [], 0)], entry=("none", 9)))


def test_hostile_programs(tmp_path):
    path = written(tmp_path, "bad", hlo.space([(1, "jit_bad(1)", bad_program())]))
    found = distances(graph(path, "--op", "a", "--depth", "4000000000"))
    assert found["a"] == 0 and found["b"] == -1 and found["c"] == -2 and found["\ufffd\ufffd"] == 2, found
    for op in ("a", "b", "c", "p", 'quote"\\\x1b[31m\n'):
        for extra in (("--json",), (), ("--csv",), ("--format=dot",)):
            done = gpuprof("stats", "graph_viewer", path, "--op", op, "--depth", "9", *extra)
            assert done.status == 0, done.err
            if extra != ("--json",):
                assert not set(done.out) & (set(range(32)) - {10, 13}), extra
    assert gpuprof("stats", "graph_viewer", path).status == 0


def test_damaged_bytes_never_crash(tmp_path):
    chance = random.Random(3)
    data = program()
    for turn in range(40):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 3, 20))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path = written(tmp_path, "host", hlo.space([(4, "jit_f(4)", bytes(broken))]))
        done = gpuprof("stats", "graph_viewer", path, *(("--op", "fusion.1", "--depth", "5") if turn % 2 else ("--json",)))
        assert done.status in (0, 2, 3), (done.status, done.err.decode())


def test_nodes_are_bounded(tmp_path):
    count = 20_000
    main = hlo.computation(1, "main", [*(operation(i, f"op.{i}", "add") for i in range(1, count)), operation(count, "all", "tuple", range(1, count))], count)
    path = written(tmp_path, "wide", hlo.space([(1, "jit_wide(1)", hlo.proto(hlo.module("jit_wide", [main])))]))
    result = graph(path, "--op", "all")
    assert len(result["nodes"]) == 501 and result["nodes"][0]["left_out_producer_count"] == count - 1 - 500
