# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The table of the rules of advice: `gpuprof advise --rules`, other thresholds, and docs/advice.md.

GPUPROF_UPDATE_GOLDEN=1 writes the tables of the page anew.
"""

import csv
import io
import json
import os
import re

import pytest

from conftest import ROOT, gpuprof

PAGE = ROOT / "docs/advice.md"
BEGIN = "<!-- rules: tests/process/test_advice_rules.py compares these tables with the program -->\n"
END = "<!-- end of rules -->\n"
GENERATE = ROOT / "tests/golden/traces/h200/pytorch/generate"

NEEDS = {"steps": "steps", "device_work": "work of a GPU", "calls": "CUDA calls", "operations": "operations", "heap": "heap",
         "locks": "waits", "files": "file reads", "threads": "processor time",
         "python": "Python functions", "pages": "managed memory",
         "shapes": "shapes", "device_memory": "GPU memory", "readings": "readings of NVML", "samples": "samples of stacks",
         "pauses": "pauses of Python"}


def run(*arguments, status=0, cwd=None):
    done = gpuprof(*arguments, cwd=cwd)
    assert done.status == status, (done.status, done.out.decode(), done.err.decode())
    return done


def rules(*options, cwd=None):
    return json.loads(run("advise", "--rules", "--json", *options, cwd=cwd).out)["rules"]


def value_of(name, *options, cwd=None):
    found = [each["value"] for rule in rules(*options, cwd=cwd) for each in rule["thresholds"] if each["name"] == name]
    assert len(found) == 1, name
    return found[0]


def shown(threshold):
    value, unit = threshold["default_value"], threshold["unit"]
    if unit == "ratio":
        return f"{round(value * 100, 6):g} %"
    if unit == "count":
        return f"{value:,.0f}"
    if unit == "factor":
        return f"{value:g} times"
    names = {"ns": ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")), "bytes": ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))}
    scale, name = next((scale, name) for scale, name in names[unit] if value >= scale)
    return f"{value / scale:g} {name}"


def tables():
    lines = ["| id | looks for | needs |\n", "|---|---|---|\n"]
    thresholds = ["| threshold | default | meaning |\n", "|---|--:|---|\n"]
    for rule in rules():
        if rule["id"] != "all":
            lines.append(f"| {rule['id']} | {rule['name']} | {', '.join(NEEDS[need] for need in rule['needs'])} |\n")
        for each in rule["thresholds"]:
            thresholds.append(f"| `{each['name']}` | {shown(each)} | {each['meaning']} |\n")
    return "".join(["\n", *lines, "\n", *thresholds, "\n"])


def test_the_page_has_the_table_of_the_program():
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    written, _, after = rest.partition(END)
    if os.environ.get("GPUPROF_UPDATE_GOLDEN") == "1":
        PAGE.write_text(before + BEGIN + tables() + END + after, encoding="utf-8")
        return
    assert written == tables()


def test_each_rule_of_the_guide_exists():
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- guide:")
    table, end, _ = rest.partition("<!-- end of guide -->")
    ids = {rule["id"] for rule in rules()}
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert end and len(rows) >= 20
    for row in rows:
        named = re.findall(r"\b[A-Z]{2}-\d{3}\b", row)
        assert named and set(named) <= ids, row


def test_what_is_not_covered_is_no_rule():
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("## What no rule looks for")
    table, _, _ = rest.partition("Some rules see only a part")
    named = re.findall(r"^\| ([A-Z]{2}-\d{3})", table, re.MULTILINE)
    assert named and not set(named) & {rule["id"] for rule in rules()}


def test_each_rule_has_one_row():
    table = rules()
    ids = [rule["id"] for rule in table]
    assert len(ids) == len(set(ids)) and ids[1:] == sorted(ids[1:])
    for rule in table:
        names = [each["name"] for each in rule["thresholds"]]
        assert len(names) == len(set(names)) and all(name.startswith(rule["id"] + ".") for name in names)
        assert rule["name"] and all(each["unit"] and each["meaning"] for each in rule["thresholds"])
    text = run("advise", "--rules", "--width", "100").out.decode()
    assert "LA-001: " in text and max(map(len, text.splitlines())) <= 100
    rows = list(csv.DictReader(io.StringIO(run("advise", "--rules", "--csv").out.decode())))
    assert [row["id"] for row in rows] == ids


def test_other_thresholds_change_what_is_found():
    ids = [finding["id"] for finding in json.loads(run("advise", GENERATE, "--json").out)["findings"]]
    assert "LA-001" in ids
    options = ("--threshold", "LA-001.min_share=100%")
    assert "LA-001" not in [finding["id"] for finding in json.loads(run("advise", GENERATE, "--json", *options).out)["findings"]]
    overview = json.loads(run("stats", "overview", GENERATE, "--json", *options).out)
    assert "LA-001" not in [finding["id"] for finding in overview["findings"]]


@pytest.mark.parametrize("text, value", [("LA-001.min_share=20%", 0.2), ("LA-001.min_share=0.25", 0.25), ("LA-002.max_op=7us", 7000),
                                         ("LA-002.max_op=1.5ms", 1.5e6), ("ME-006.min_bytes=1KiB", 1024), ("ST-002.min_spread=2.5", 2.5)])
def test_values_of_each_unit(text, value):
    assert value_of(text.split("=")[0], "--threshold", text) == pytest.approx(value)


@pytest.mark.parametrize("text, words", [("LA-001.min_shar=0.2", "Did you mean 'LA-001.min_share'?"), ("LA-001.min_share", "NAME=VALUE"),
                                         ("LA-001.min_share=200%", "at most 1"), ("LA-001.min_share=-1", "not a part"),
                                         ("LA-002.max_op=5", "10us"), ("ME-006.min_bytes=many", "not a size"), ("ST-002.min_spread=x", "not a number"),
                                         ("LA-001.min_share=", "not a part")])
def test_bad_thresholds_are_refused(text, words):
    assert words in run("advise", "--rules", "--threshold", text, status=2).err.decode()


def test_thresholds_of_the_file(tmp_path):
    file = tmp_path / "gpuprof.toml"
    file.write_text('[advice]\nLA-001.min_share = "30%"\n[stats]\nlimit = 3\n')
    file.chmod(0o644)
    assert value_of("LA-001.min_share", cwd=tmp_path) == pytest.approx(0.3)
    assert b"gpuprof.toml of the working directory sets LA-001.min_share" in run("advise", "--rules", cwd=tmp_path).err
    # The command line goes first.
    assert value_of("LA-001.min_share", "--threshold", "LA-001.min_share=0.4", cwd=tmp_path) == pytest.approx(0.4)
    file.write_text("[advice]\nLA-001.min_shar = 0.3\n")
    assert b"Did you mean 'LA-001.min_share'?" in run("advise", "--rules", cwd=tmp_path, status=2).err
    file.write_text("[advise.LA-001]\nmin_share = 0.3\n")
    assert run("advise", "--rules", cwd=tmp_path, status=2).err
    file.write_text("[advice]\nLA-001.min_share = 0.3\n")
    file.chmod(0o666)
    assert b"can be written by other users" in run("advise", "--rules", cwd=tmp_path, status=2).err


def test_rules_and_a_recording_exclude_each_other():
    run("advise", "--rules", GENERATE, status=2)
    run("advise", status=2)
    run("advise", "--rules", "--json", "--csv", status=2)
