# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Real DataLoaders of known cost: the wait of the steps, the stage at fault and the workers that would suffice."""

import json
import math
import pathlib
import sys

import pytest

from process_support import ROOMY, gpuprof

torch = pytest.importorskip("torch")
PROGRAM = pathlib.Path(__file__).resolve().parent / "input_program.py"
BATCHES, EPOCHS = 16, 2


@pytest.mark.parametrize("stage, workers, method", [
    ("sample", 0, ""), ("sample", 2, "fork"), ("collate", 2, "spawn"), pytest.param("generator", 2, "fork", marks=pytest.mark.long)])
def test_the_stage_of_a_loader(record, stage, workers, method):
    outcome = record([sys.executable, str(PROGRAM), stage, str(workers), method], ROOMY, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert (outcome.status, outcome.out) == (0, b"%d\n" % (EPOCHS * BATCHES)), outcome.err.decode()
    waited = float(outcome.own_err.decode().split()[-1])
    done = gpuprof("stats", "input_pipeline", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    page = json.loads(done.out)
    source, = page["sources"]
    assert (source["batch_count"], source["epoch_count"], source["step_count"]) == (EPOCHS * BATCHES, EPOCHS, EPOCHS * (BATCHES - 2))
    assert source["wait_ratio"] == pytest.approx(waited, abs=0.03)
    assert source["worker_count"] == workers
    assert page["input_bound"] is True
    assert page["stage"] == ("collate" if stage == "collate" else "sample"), page["stages"]
    # 60 ms are slept for each batch, and more passes on a busy machine.
    assert source["service_ns"] >= 50e6
    assert len({row["pid"] for row in page["workers"]}) == EPOCHS * workers, "each epoch has workers of its own"
    assert source["step_ns"] - source["wait_ns"] <= source["rest_ns"] <= source["step_ns"]
    needed = math.ceil(source["service_ns"] / source["rest_ns"])
    assert page["workers_suffice"] == needed or source["limited_by_processors"] and page["workers_suffice"] < needed
    parts = sum(row.get("waited_ratio", 0) for row in page["stages"])
    assert parts == pytest.approx(1, abs=0.01)
    text = gpuprof("stats", "input_pipeline", outcome.bundle).out.decode()
    assert "Steps are bound by input" in text and ("collate_fn" if stage == "collate" else "reading samples") in text
