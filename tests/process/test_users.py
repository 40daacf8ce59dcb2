# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Servers that root starts and that become another user are recorded to their end: the first process and its workers."""

import json

import pytest

from conftest import gpuprof, needs_root, program, verify

pytestmark = needs_root

@pytest.mark.parametrize("how", ["setuid", "setreuid", "setresuid", "seteuid"])
@pytest.mark.parametrize("trace", ["heap=exact", "heap=sampled:4096"])
def test_who_drops_rights_is_recorded(record, how, trace):
    outcome = record([program("drops_user"), how], f"--trace={trace}")
    assert (outcome.status, outcome.out) == (0, b"0 0\n"), outcome.err.decode()
    assert b"denied" not in outcome.err, outcome.err.decode()
    verify(outcome.bundle)
    done = gpuprof("stats", "heap", "--json", outcome.bundle)
    assert done.status == 0, done.err.decode()
    processes = json.loads(done.out)["processes"]
    assert len(processes) == 2 and not json.loads(done.out)["meta"].get("losses"), processes
    for process in processes:
        assert process["allocated_bytes"] > 0.5 * 4_321_000, process
