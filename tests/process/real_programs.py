# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What the tests of real programs share: where they are, the two ways of recording them, and what every bundle of theirs
must say of itself."""

import json
import re

import pytest

from conftest import HEAP_EXACT, ROOT, gpuprof, verify
from trace_file import read_bundle

DEPS = ROOT / ".deps"
OPTIONS = {"default": (), "exact": (HEAP_EXACT,)}
both = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())

# What no report may hold: figures that are none, that wrapped around, or that are negative where nothing can be.
_NONSENSE = re.compile(r"\bnan\b|\binf\b|\b1844674407\d+|[ (]-\d[\d.]* (ns|us|ms|s|B|KiB|MiB|GiB)\b")


def unpacked(name):
    """The folder of a source package that scripts/setup keeps; skips where there is none."""
    folder = DEPS / "sources" / f"{name}-source"
    if not folder.is_dir():
        pytest.skip(f"no source of {name}: run scripts/setup --only test")
    return folder


def _json(bundle, what):
    done = gpuprof("stats", what, "--json", bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def check_bundle(bundle):
    """The bundle is whole, every report can be read, and what was lost is declared: to the record, and the same in each
    report. Returns the traces."""
    verify(bundle)
    traces = read_bundle(bundle)
    lost = sum(trace.lost for trace in traces)
    for what in ("overview", "health"):
        meta = _json(bundle, what)["meta"]
        assert sum(loss["count"] for loss in meta["losses"]) == lost == meta.get("lost_count", lost), (what, meta["losses"])
    # Stacks are counted in rounds of sixteen a thread; a forked child's count is its own.
    for row, trace in zip(_json(bundle, "health")["processes"], traces):
        assert row["stack_count"] <= row["count"] + row["lost_count"] + 16 * (len(trace.threads) + 16), row
    for what in ("overview", "health", "threads", "heap", "locks"):
        done = gpuprof("stats", what, bundle)
        text = done.out.decode()
        assert done.status == 0 and text, (what, done.err.decode())
        assert not _NONSENSE.search(text), (what, text)
        assert not lost or "ost: " in text or "lost   " in text, (what, text)
    allocated = _json(bundle, "overview")["memory"]["allocated_bytes"]
    folded = gpuprof("stats", "stacks", "--by", "heap_alloc", bundle)
    assert sum(int(line.rsplit(b" ", 1)[1]) for line in folded.out.splitlines()) == allocated
    assert not lost or b"lost: " in folded.err
    return traces
