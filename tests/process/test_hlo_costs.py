# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What operations of XLA cost by their programs, beside XLA's own analysis (JAX) and XProf's (xprof 2.24.0).

The same programs also make XSpaces of a GPU, of which `stats roofline` and `kernels` must tell the costs."""

import json
import pathlib
import subprocess

import pytest

from conftest import BUILD, ROOT, clean_environment, gpuprof
from hlo_spaces import EACH_PS, gpu_space
from test_xprof_format import PYTHON as XPROF
from test_xprof_format import reference
from waiting import LIMIT_S

HERE = pathlib.Path(__file__).resolve().parent
TENSORFLOW = ROOT / ".deps" / "tensorflow" / "bin" / "python"
COSTS = BUILD / "tests" / "unit" / "analysis" / "hlo_costs"
GIBI = 2**30


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The folder of the programs, and what XLA's own analysis says of each."""
    if not TENSORFLOW.exists():
        pytest.skip("TensorFlow and JAX are not installed: scripts/setup --only test")
    folder = tmp_path_factory.mktemp("programs")
    subprocess.run([TENSORFLOW, HERE / "hlo_programs.py", folder], check=True, timeout=LIMIT_S, capture_output=True,
                   env=clean_environment({"PYTHONDONTWRITEBYTECODE": "1", "JAX_PLATFORMS": "cpu"}))
    return folder, json.loads((folder / "costs.json").read_text())


def costs_of(rules, folder, names):
    done = subprocess.run([COSTS, rules, *(folder / f"{name}.pb" for name in names)], check=True, capture_output=True, timeout=LIMIT_S)
    return dict(zip(names, map(json.loads, done.stdout.splitlines())))


def is_near(ours, theirs):
    return abs(ours - theirs) <= 1e-6 * max(abs(ours), abs(theirs))


def test_every_program_costs_what_xla_says(programs):
    """Sums of operations, transcendental operations and bytes. XLA knows nothing of custom calls: they are -1 in its sums."""
    folder, theirs = programs
    ours = costs_of("xla", folder, sorted(theirs))
    assert len(ours) > 100
    wrong = []
    for name, line in ours.items():
        for mine, other in (("flops", "flops"), ("transcendentals", "transcendentals"), ("bytes", "bytes accessed")):
            if not is_near(line["sum"][mine], theirs[name].get(other, 0)):
                wrong.append((name, mine, line["sum"][mine], theirs[name].get(other, 0)))
    assert not wrong, wrong[:10]


@pytest.mark.skipif(not XPROF.exists(), reason="xprof is not installed: scripts/setup --only test")
def test_every_instruction_costs_what_xprof_says(programs, tmp_path):
    folder, theirs = programs
    names = sorted(theirs)
    ours = costs_of("xprof", folder, names)
    numbers = {name: number for number, name in enumerate(names, 1)}
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(gpu_space({numbers[name]: (name, (folder / f"{name}.pb").read_bytes()) for name in names},
                               [(numbers[name], instruction) for name in names for instruction in ours[name]["instructions"]]))
    (answer,) = reference([[path]], "hlo_stats")
    table = json.loads(answer["hlo_stats"])
    place = {column["id"]: i for i, column in enumerate(table["cols"])}
    compared, wrong = 0, []
    for row in table["rows"]:
        cell = {key: row["c"][i]["v"] for key, i in place.items()}
        if cell["category"] == "IDLE":
            continue
        name = names[int(cell["program_id"]) - 1]
        cost = ours[name]["instructions"][cell["hlo_op_name"]]
        ns = cell["total_time"] * 1e3
        assert is_near(ns, EACH_PS / 1e3)
        flops, moved = cell["model_flop_rate"] * ns, cell["measured_memory_bw"] * GIBI / 1e9 * ns
        compared += 1
        expected = [max(cost[key] or 0, 0) for key in ("flops", "bytes")]
        if not (is_near(expected[0], flops) and is_near(expected[1], moved)):
            wrong.append((name, cell["hlo_op_expression"], expected, flops, moved))
    assert compared > 1800
    # XLA never looks at what a sort compares with, nor at what devices add up with. Everything else is the same.
    functions = [each for each in wrong if each[3] == each[4] == 0
                 and ("%function_" in each[1] or any(part in each[0] for part in ("sort", "top")))]
    assert len(functions) == len(wrong), [each for each in wrong if each not in functions][:10]
    assert 0 < len(functions) < 60


@pytest.fixture(scope="module")
def attention(programs, tmp_path_factory):
    """An XSpace of a GPU that ran all operations of two programs, three times each."""
    folder, _ = programs
    path = tmp_path_factory.mktemp("attention") / "host.xplane.pb"
    names = ("attention", "dot_bf16-raw")
    costs = costs_of("gpu", folder, names)
    entries = [(number, instruction) for number, name in enumerate(names, 7) for instruction in costs[name]["instructions"]]
    data = gpu_space({number: (name, (folder / f"{name}.pb").read_bytes()) for number, name in enumerate(names, 7)}, entries * 3)
    path.write_bytes(data)
    return path, {(number, instruction): costs[names[number - 7]]["instructions"][instruction] for number, instruction in entries}


def test_the_roofline_tells_costs_of_programs(attention):
    path, costs = attention
    done = gpuprof("stats", "roofline", path, "--json")
    assert done.status == 0, done.err.decode()
    rows = {(int(row["program"].rsplit("(", 1)[1][:-1]), row["name"]): row for row in json.loads(done.out)["operations"]}
    assert rows.keys() == costs.keys()
    for key, cost in costs.items():
        row = rows[key]
        assert row["count"] == 3
        if cost["flops"] is None:
            assert row["flop_count"] is None and row["flop_evidence"] == "none", row
        else:
            assert (row["flop_count"], row["flop_evidence"]) == (int(cost["flops"]) * 3, "hlo"), row
        if cost["bytes"]:
            assert (row["bytes"], row["bytes_evidence"]) == (int(cost["bytes"]) * 3, "hlo"), row
        else:
            assert row["bytes"] is None, row
    known = rows[8, next(name for _, name in costs if name.startswith("dot_general"))]
    assert known["flop_count"] == 3 * 2 * 64 * 128 * 16


def test_kernels_tell_costs_of_programs(attention):
    path, costs = attention
    done = gpuprof("stats", "kernels", path, "--json")
    assert done.status == 0, done.err.decode()
    rows = {row["name"]: row for row in json.loads(done.out)["kernels"]}
    checked = 0
    for (_, name), cost in costs.items():
        row = rows[f"k_{name}"]
        if cost["flops"]:
            assert (row["flop_count"], row["flop_evidence"]) == (int(cost["flops"]) * 3, "hlo"), row
            checked += 1
        if cost["bytes"]:
            assert row["bytes_estimate"] == int(cost["bytes"]) * 3
    assert checked > 5
