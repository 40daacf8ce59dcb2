# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Streams are shown by the names that the program gave their handles through NVTX, each by its own, also where handles come again."""

import collections
import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, DRIVER_OF_SEVERAL, PERSONALITIES, Truth, environment_of, needs_doubles, with_switch
from trace_file import read_bundle

pytestmark = needs_doubles

PROGRAM = str(DOUBLES / "programs" / "stream_names")
NAMES = ["copies", "compute \u00e4", "one", "two", ""]  # in the order in which the streams are made
STREAM_HANDLES_AGAIN = "stream_handles again"


def created(truth):
    """Numbers of the streams that the program made, in order: a context's first is its null stream."""
    return [row["id"] for row in truth.of("stream") if row["op"] == "create"][1:]


def rows(table, name, *arguments):
    done = gpuprof("stats", name, "--json", *arguments)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)[table]


def names_of(bundle):
    return {row["stream"]: row["name"] for row in rows("streams", "streams", bundle)}


@pytest.fixture
def named(record, tmp_path):
    def run(*statements, personality=None):
        truth = tmp_path / "truth.json"
        outcome = record([PROGRAM], env=environment_of(truth, "; ".join(statements), personality))
        assert outcome.status == 0, outcome.err.decode()
        found = Truth(truth)
        assert found.of("violation") == []
        return outcome, found

    return run


@pytest.mark.parametrize("personality", [None, *PERSONALITIES])
def test_streams_have_their_names(named, personality):
    outcome, truth = named(STREAM_HANDLES_AGAIN, DRIVER_OF_SEVERAL, personality=personality)
    assert outcome.out == b"3 with one handle\n"
    expected = dict(zip(created(truth), NAMES))
    assert len(expected) == len(NAMES)
    (trace,) = read_bundle(outcome.bundle)
    assert trace.lost == 0, trace.losses
    assert {trace.streams[track][2] for track in trace.handles} == set(expected)
    assert len({handle for handle, _ in trace.handles.values()}) == 3
    assert names_of(outcome.bundle) == expected
    by_stream = {row["stream"]: row["name"] for row in rows("kernels", "kernels", "--by", "stream", outcome.bundle)}
    assert by_stream == {stream: f"stream {stream} ({name})" if name else f"stream {stream}" for stream, name in expected.items()}
    text = gpuprof("stats", "streams", outcome.bundle).out.decode()
    assert "copies" in text and "compute \u00e4" in text
    dump = gpuprof("dump", outcome.bundle).out.decode()
    assert f'stream={created(truth)[0]} stream_name="copies"' in dump


def test_handles_of_their_own(named):
    outcome, truth = named()
    assert outcome.out == b"1 with one handle\n"
    assert names_of(outcome.bundle) == dict(zip(created(truth), NAMES))


def test_where_the_library_does_not_tell(named):
    outcome, truth = named("fail cuptiGetStreamIdEx 1")
    assert names_of(outcome.bundle) == {stream: "" for stream in created(truth)}


@pytest.mark.parametrize("script, answer", [(STREAM_HANDLES_AGAIN, "same"), ("", "another")])
def test_a_name_from_before_the_capture_is_not_a_later_streams(session, tmp_path, script, answer):
    truth = tmp_path / "truth.json"
    program = with_switch(session([PROGRAM, "late"], "--capture=off", env=environment_of(truth, script)), truth)
    assert program.line() == "ready"
    program.switch("start")
    program.tell("\n")
    assert program.line() == answer
    program.switch("stop")
    program.tell("\n")
    _, found, outcome = program.whole()
    assert names_of(outcome.bundle) == dict(zip(created(found)[1:], ["", "named"]))
    told = {row["name"] for row in rows("names", "ranges", outcome.bundle)}
    assert told == {"gone", "named"}


def test_many_at_once(record, tmp_path):
    """Faster than they can be followed on a busy machine: then it is said."""
    count = 12_000
    outcome = record([PROGRAM, "many", str(count)], env=environment_of(tmp_path / "truth.json"))
    assert outcome.status == 0, outcome.err.decode()
    (trace,) = read_bundle(outcome.bundle)
    names = collections.Counter(names_of(outcome.bundle).values())
    unknown = names.pop("", 0)
    assert set(names) <= {f"stream of {i}" for i in range(count)} and set(names.values()) == {1}
    assert len(names) + unknown == count
    assert (unknown > 0) == any("more CUDA streams were made at once" in note for note in trace.notes), (unknown, trace.notes)
