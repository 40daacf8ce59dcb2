# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Real traces that were read by hand: the verdict and the first advice are the reading's, and nothing that the reading warns of is
advised. The traces are too large to be stored here. GPUPROF_TRACES names the folder that has them; traces that it lacks are skipped."""

import json
import os
import pathlib

import pytest

from conftest import gpuprof

FOLDER = pathlib.Path(os.environ.get("GPUPROF_TRACES", "/nonexistent"))
LAUNCH_BOUND = {"LA-001", "LA-003", "LA-006", "LA-002"}
OCCUPANCY = {"GP-003", "GP-004", "GP-005"}
COPIES = {"CP-001", "CP-002", "CP-003", "CP-004", "CP-006"}
LOADING = {"IN-001", "IN-002", "IN-003", "IN-004", "IN-005", "IN-006", "IN-007", "IN-008"}

# Trace: verdict, first advice (None: there is none), what must not be advised.
READINGS = {
    "h100_qwen1.5_0.5b": ("compute", "LA-008", LAUNCH_BOUND | {"CP-008", "SY-001"} | OCCUPANCY | COPIES),
    "h100_bert_small": ("host", "LA-001", OCCUPANCY | COPIES | {"GP-006", "GP-017", "LA-008"}),
    "b200_eager": ("host", "LA-001", COPIES | {"CO-001", "GP-017", "GP-008"}),
    "ns_resolution_rank0": ("compute", "GP-006", LAUNCH_BOUND | COPIES | {"SY-001", "CO-001", "CO-004", "CO-007"}),
    "alexnet": ("first_use", "ST-008", LAUNCH_BOUND | LOADING | COPIES | {"GP-001"}),
    "sampled_rank0": ("unknown", "CO-001", LAUNCH_BOUND | {"GP-001", "GP-002", "CO-002"}),
    "sampled_rank1": ("unknown", "CO-001", LAUNCH_BOUND | {"GP-001", "GP-002", "CO-002"}),
    "vllm_decode_graph": ("compute", None, LAUNCH_BOUND | {"GP-001", "GP-002", "SY-001"} | COPIES),
    "h100_vit_nsfw": ("host", "LA-001", OCCUPANCY | LOADING | {"GP-006", "SY-001"}),
    "h100_timesformer": ("host", "GP-002", LAUNCH_BOUND | COPIES | OCCUPANCY | {"GP-006"}),
    "hta_diff_control": ("compute", "CO-001", {"CP-001", "CO-004"} | OCCUPANCY),
    "hta_diff_test": ("compute", "CP-003", LAUNCH_BOUND | {"ST-002", "SY-001", "CP-002"}),
    "hta_nccl": ("host", "LA-001", OCCUPANCY | LOADING),
    "hta_negative_queue": ("unknown", "CO-001", LAUNCH_BOUND | {"GP-001", "GP-002"}),
    "sglang_prefilldecode": ("compute", "GP-017", LAUNCH_BOUND | COPIES | OCCUPANCY | {"GP-001", "GP-002", "CO-001"}),
}


@pytest.mark.parametrize("name", READINGS)
def test_advice_is_that_of_the_reading(name):
    path = FOLDER / f"{name}.json.gz"
    if not path.exists():
        pytest.skip(f"GPUPROF_TRACES has no {path.name}")
    verdict, first, never = READINGS[name]
    done = gpuprof("advise", "--json", "--all", path)
    assert done.status == 0, done.err.decode()
    advice = json.loads(done.out)
    ids = [finding["id"] for finding in advice["findings"]]
    assert advice["verdict"]["bound"] == verdict
    assert (ids[0] if ids else None) == first, ids
    assert not never & set(ids), "the reading warns of this"
    if verdict == "unknown":
        assert all(finding["confidence"]["level"] != "high" for finding in advice["findings"]), "work is missing"


def test_all_readings_or_none():
    """A folder with some of the traces has all: a name that is wrong here would be skipped for ever."""
    there = [name for name in READINGS if (FOLDER / f"{name}.json.gz").exists()]
    assert there == [] or there == list(READINGS)
