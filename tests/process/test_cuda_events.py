# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of CUDA events on a simulated GPU: which stream a wait was for, in each release of CUPTI."""

import collections
import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

RELEASES = [*((release, "") for release in PERSONALITIES), ("13.3", DRIVER_OF_SEVERAL)]
# Before, recordings have no number of their own.
WITHOUT_NUMBERS = ("11.8", "12.6")


def run(record, tmp_path, release, script, *arguments, program="events"):
    truth = tmp_path / "truth.json"
    outcome = record([DOUBLES / "programs" / program, *arguments], env=environment_of(truth, script, release))
    assert outcome.status == 0, outcome.err.decode()
    (trace,) = read_bundle(outcome.bundle)
    found = Truth(truth)
    assert found.of("violation") == [] and trace.lost == 0, trace.losses
    return trace, found, outcome


def awaited(truth, wait):
    """The recording that a wait was for: the last one of its event before it; None where there was none."""
    before = [row for row in truth.of("event_record") if row["event"] == wait["event"] and row["correlation"] < wait["correlation"]]
    return before[-1] if before else None


@pytest.mark.parametrize("release, script", RELEASES)
def test_recordings_are_those_that_were_made(record, tmp_path, release, script):
    trace, truth, outcome = run(record, tmp_path, release, script, "again")
    numbered = release not in WITHOUT_NUMBERS
    table = trace.cuda_events
    ours = [(int(c), int(e), int(r), *trace.streams[int(track)][1:]) for c, e, r, track in
            zip(table["correlation"], table["event"], table["record"], table["track"])]
    true = [(row["correlation"], row["event"], row["sync_id"] if numbered else 0, row["context"], row["stream"])
            for row in truth.of("event_record")]
    assert len(true) == 6 and sorted(ours) == sorted(true)
    begun = {correlation: (name, start) for name, _, correlation, _, start, _ in trace.call_rows()}
    for correlation, time in zip(table["correlation"], table["time"]):
        name, start = begun[int(correlation)]
        assert name.startswith("cudaEventRecord") and int(time) == start
    if numbered:
        by_call = {row["correlation"]: awaited(truth, row) for row in truth.of("sync") if row["event"] != 0}
        recorded = {int(c): int(r) for c, r in zip(trace.syncs["correlation"], trace.syncs["event_record"]) if int(c) in by_call}
        assert recorded == {correlation: row["sync_id"] if row else 0 for correlation, row in by_call.items()}
    assert gpuprof("dump", outcome.bundle).out.decode().count(" cuda_event event=") == len(true)


@pytest.mark.parametrize("release, script", RELEASES)
def test_a_wait_names_the_stream_it_is_for(record, tmp_path, release, script):
    """The first consumer waits for the first producer; when it is done, the other producers are too."""
    _, truth, outcome = run(record, tmp_path, release, f"{script}; kernel_ns 100000000", "again")
    waits = [row for row in truth.of("sync") if row["type"] == "wait"]
    true = collections.Counter((row["stream"], (awaited(truth, row) or {}).get("stream")) for row in waits)
    assert sorted(true.values()) == [1, 2, 3] and len({source for _, source in true}) == 3
    result = json.loads(gpuprof("stats", "streams", "--json", outcome.bundle).out)
    rows = {(row["stream"], row.get("for_stream")): row for row in result["waits"]}
    assert {key: int(row["count"]) for key, row in rows.items()} == dict(true)
    producers = truth.of("kernel")[0]["stream"]
    (first,) = (row for key, row in rows.items() if key[1] == producers)
    assert int(first["blocking_count"]) == 1 and first["name"].startswith("Producer")
    assert 0 < int(first["held_up_ns"]) == int(first["held_up_max_ns"]) <= 100_000_000
    for key, row in rows.items():
        assert key[1] == producers or int(row.get("held_up_ns", 0)) == 0
    text = gpuprof("stats", "streams", outcome.bundle).out.decode()
    assert "unknown" in text and "Producer" in text


@pytest.mark.parametrize("release, script", RELEASES)
def test_the_host_waits_for_the_stream_of_the_event(record, tmp_path, release, script):
    _, truth, outcome = run(record, tmp_path, release, f"{script}; kernel_ns 20000000", "again")
    (wait,) = (row for row in truth.of("sync") if row["type"] == "event")
    result = json.loads(gpuprof("stats", "sync", "--by", "stream", "--json", outcome.bundle).out)
    rows = {row["name"]: row for row in result["syncs"]}
    assert set(rows) == {f"stream {awaited(truth, wait)['stream']}", "all streams"}
    assert rows["all streams"].get("stream") is None


def test_what_the_driver_records_has_its_call_too(record, tmp_path):
    """A program of the driver's own calls: theirs are recorded, as no runtime's is around them."""
    trace, truth, _ = run(record, tmp_path, "13.0", "", program="driver_api")
    recorded = truth.of("event_record")
    assert len(recorded) > 0
    assert sorted(map(int, trace.cuda_events["correlation"])) == sorted(row["correlation"] for row in recorded)
