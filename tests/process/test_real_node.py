# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Node.js, with worker threads, child processes, files, cryptography, timers, a server and signals: its output is that of
the bare run, byte for byte, and its exit status."""

from conftest import needs, program, run_bare
from real_programs import both, check_bundle


def _command(folder):
    folder.mkdir()
    return ["node", program("node_mixture.js"), str(folder)]


@needs("node")
@both
def test_node_mixture(record, tmp_path, options):
    bare = run_bare(_command(tmp_path / "bare"))
    assert bare.status == 11, bare.err.decode()
    outcome = record(_command(tmp_path / "recorded"), *options)
    assert (outcome.status, outcome.out, outcome.own_err) == (bare.status, bare.out, bare.err)
    traces = check_bundle(outcome.bundle)
    nodes = [t for t in traces if t.program.startswith("node")]
    assert {t.exit_status for t in nodes} >= {11, 7, 5}, [(t.pid, t.exit_status) for t in nodes]
    # Of the main process: six workers, the pool of libuv and those of V8.
    assert max(sum(not x.tool for x in t.threads.values()) for t in nodes) > 10
