# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""JSON and CSV of a bundle with very many stacks: what they cost in memory next to text, and that each frame is there once."""

import csv
import io
import json
import os
import subprocess

import pytest

from call_stacks import frames_of
from conftest import GPUPROF, clean_environment, gpuprof, program

BITS = 15
PASSES = """
    overview advise steps ops kernels roofline op_profile serving memcpy device_memory unified_memory api sync streams idle critical_path overlap graphs overhead python ranges
    pods communication stragglers flight_recorder counters heap memory_profile memory_viewer graph_viewer locks files input_pipeline tf_data stacks threads health""".split()
FORMS = ([], ["--csv"], ["--json"])


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many") / "bundle"
    done = gpuprof("run", "-o", folder, "--trace=heap=exact", "--stacks=64", "--ring-memory=256MiB", "--", program("many_stacks"), BITS)
    assert done.status == 0 and done.out.startswith(b"%d stacks" % 2**BITS), done.err.decode()
    return folder


def peak_kib(path, *words):
    """The largest memory of a reading command, whose output goes to `path`."""
    with open(path, "wb") as out:
        process = subprocess.Popen([str(GPUPROF), "stats", *map(str, words)], stdout=out, stderr=subprocess.DEVNULL, env=clean_environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return usage.ru_maxrss


def test_the_list_of_passes_is_complete():
    names = gpuprof("stats", "nothing", "nowhere").err.decode().partition("choose from ")[2].partition(".")[0]
    assert sorted(names.split(", ")) == sorted(PASSES)


@pytest.mark.parametrize("name", PASSES)
def test_no_form_takes_twice_the_memory_of_text(bundle, tmp_path, name):
    text, table, document = (peak_kib(tmp_path / "out", name, bundle, *form) for form in FORMS)
    assert table <= 2 * text and document <= 2 * text, f"text {text} KiB, CSV {table} KiB, JSON {document} KiB"


def test_each_frame_and_each_stack_is_in_the_document_once(bundle):
    result = json.loads(gpuprof("stats", "heap", bundle, "--json").out)
    table = result["call_stacks"]
    assert len({frame["pc"] for frame in table["frames"]}) == len(table["frames"]) < 200
    assert len(table["frame"]) == len(table["caller"])
    assert all(caller < callee for callee, caller in enumerate(table["caller"]) if callee > 0)
    nodes = list(zip(table["frame"], table["caller"], strict=True))[1:]
    assert len(set(nodes)) == len(nodes)
    rows = [row for row in result["stacks"] if row["name"] == "Descend"]
    assert len({row["call_stack"] for row in rows}) == len(rows) == 2**BITS
    assert not any("frames" in row for row in result["stacks"])
    paths = set()
    for row in rows:
        names = [frame["name"] for frame in frames_of(result, row["call_stack"])]
        assert names[0] == "Descend" and "main" in names
        ways = [name for name in names[:names.index("main")] if name != "Descend"]
        assert len(ways) == 16
        paths.add(sum(2**i for i, name in enumerate(reversed(ways)) if name == "One"))
    assert paths == set(range(2**BITS))


def test_csv_spells_the_stacks_that_the_document_refers_to(bundle):
    rows = csv.DictReader(io.StringIO(gpuprof("stats", "heap", bundle, "--csv").out.decode(), newline=""))
    spelled = {int(row["stack_id"]): row["frames"] for row in rows}
    result = json.loads(gpuprof("stats", "heap", bundle, "--json").out)
    assert spelled == {row["stack_id"]: ";".join(f["name"] for f in frames_of(result, row["call_stack"])) for row in result["stacks"]}
