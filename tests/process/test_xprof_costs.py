# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof stats roofline, op_profile, hlo_stats X --format=xprof`: what the real xprof 2.24.0 prints of the same XSpace."""

import json
import re

import pytest

from conftest import gpuprof
from hlo_spaces import gpu_space
from test_hlo_costs import costs_of, programs  # noqa: F401 (a fixture)
from test_xprof_format import GOLDEN, SHARED, copies, differences, needs_xprof, page, reference
from xprof_spaces import random_space

TOOLS = {"roofline": "roofline_model", "op_profile": "op_profile", "hlo_stats": "hlo_stats"}
TPU = "tpu_inference"
STORED = [path for path in (*sorted((GOLDEN / "cpu").glob("*.gz")), *sorted(GOLDEN.glob("*.gz")),
                            *(each for each in sorted(GOLDEN.glob("cases/*/input.xplane.pb")) if "riegeli" not in str(each)),
                            *sorted(SHARED.glob("*.pb"))) if TPU not in path.name]
SEEDS = [seed for seed in range(16) if random_space(seed)]


def name_of(path):
    return "-".join((*path.parts[-3:-1], path.name.split(".")[0]))


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Every input with XProf's pages of it, by name. One run of XProf makes them all."""
    folder = tmp_path_factory.mktemp("costs")
    inputs, runs = {}, []
    for path in STORED:
        inputs[name_of(path)] = path
        runs.append(copies([path], folder / "copies" / name_of(path)))
    for seed in SEEDS:
        path = folder / f"random{seed}.xplane.pb"
        path.write_bytes(random_space(seed))
        inputs[f"random-{seed}"] = path
        runs.append(copies([path], folder / "copies" / path.stem))
    return dict(zip(inputs, zip(inputs.values(), reference(runs, *TOOLS.values()))))


def assert_same(name, source, text):
    ours, remark = page(name, source)
    assert not remark
    found = list(differences(json.loads(ours), json.loads(text)))
    assert not found, f"{name} of {source}: {len(found)} fields differ\n" + "\n".join(found[:10])


@needs_xprof
@pytest.mark.parametrize("case", [*map(name_of, STORED), *(f"random-{seed}" for seed in SEEDS)])
@pytest.mark.parametrize("name", TOOLS)
def test_pages_are_those_of_xprof(name, case, cases):
    source, theirs = cases[case]
    assert_same(name, source, theirs[TOOLS[name]])


# What the texts of these leave out, XProf prints.
RARE = re.compile(r" (constant|topk)\(")


@needs_xprof
def test_pages_of_many_programs(programs, tmp_path):  # noqa: F811 (the fixture)
    """Operations of all kinds that XLA makes: every cost and category, and the texts of all but rare operations."""
    folder, theirs = programs
    names = sorted(theirs)
    costs = costs_of("xprof", folder, names)
    numbers = {name: number for number, name in enumerate(names, 1)}
    operations = [(numbers[name], instruction) for name in names for instruction in costs[name]["instructions"]
                  if not (instruction.startswith("function_") or any(part in name for part in ("sort", "top")))]
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(gpu_space({numbers[name]: (name, (folder / f"{name}.pb").read_bytes()) for name in names}, operations))
    (answers,) = reference([copies([path], tmp_path / "copy")], "hlo_stats", "roofline_model")
    tables = []
    for text in (page("hlo_stats", path)[0], answers["hlo_stats"]):
        table = json.loads(text)
        keys = [column["id"] for column in table["cols"]]
        rows = [dict(zip(keys, (cell["v"] for cell in row["c"]))) for row in table["rows"]]
        tables.append({(row["program_id"], row["hlo_op_name"]): row for row in rows})
    ours, others = tables
    assert ours.keys() == others.keys() and len(ours) > 1700
    texts, wrong, apart = 0, [], []
    for key, row in ours.items():
        other = others[key]
        for each in (row, other):  # equal times: any order
            for rank in ("rank", "cumulative_total_self_time_percent"):
                each.pop(rank)
        if row["hlo_op_expression"] != other["hlo_op_expression"]:
            wrong.append((row.pop("hlo_op_expression"), other.pop("hlo_op_expression")))
        texts += 1
        if row["category"] in ("call", "while", "conditional"):  # no kernels: XLA's sums by operand have no meaning
            for each in (row, other):
                each.pop("hbm_bw")
        apart += [(key, *differences(row, other))] if list(differences(row, other)) else []
    assert not apart, (len(apart), apart[:8])
    unexpected = [pair for pair in wrong if not RARE.search(pair[1])]
    assert not unexpected, (len(unexpected), unexpected[:8])
    assert texts - len(wrong) > 0.85 * texts


def test_work_of_a_tpu_is_refused():
    for path in (*GOLDEN.glob(f"{TPU}*"), *SHARED.glob(f"{TPU}*")):
        for name in TOOLS:
            done = gpuprof("stats", name, path, "--format=xprof")
            assert done.status == 3 and b"TPU" in done.err, done.err.decode()


def test_hlo_stats_is_a_page_of_xprof_alone():
    path = GOLDEN / "jax_te_fused_attn_mi300.xplane.pb.gz"
    assert gpuprof("stats", "hlo_stats", path, "--format=xprof").status == 0
    done = gpuprof("stats", "hlo_stats", path)
    assert done.status == 2, done.err.decode()
