# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A trace of torch.profiler that is read, exported and read again is the same trace: for every pass, and for HolisticTraceAnalysis."""

import json

import pytest

from chrome_json import ChromeJson, check, text_of
from conftest import ROOT, gpuprof
from test_cli_surface import PASSES
from test_export import export
from test_export_hta import PYTHON, hta

GOLDEN = sorted((ROOT / "tests" / "golden" / "kineto").glob("*.json.gz"))
OTHERS = ROOT.parent / "shared" / "data" / "kineto"
CASES = [ROOT / "tests" / "golden" / "import" / name / "input.json"
         for name in ("collectives-on-kernels", "counters-of-devices-and-processes", "forward-and-backward")]
FILES = [*(pytest.param(path, id=path.name.partition(".")[0]) for path in [*GOLDEN, *sorted(OTHERS.glob("*.json.gz"))]),
         *(pytest.param(path, id=path.parent.name) for path in CASES)]
COLLECTIVE = {"Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype", "In split size", "Out split size",
              "Process Group Name", "Process Group Description", "Process Group Ranks", "Rank", "Src Rank", "Dst Rank", "Seq"}


OF_THE_FILE = {"file_bytes", "bytes_per_event"}


def figures_of(name, path):
    """What a pass says, without the file's own name and size."""
    done = gpuprof("stats", name, "--json", path)
    assert done.status == 0, (name, done.err.decode())
    figures = json.loads(done.out)
    for each in figures["meta"]["inputs"]:
        del each["size_bytes"]
    # What the importer had to mend is mended in the export.
    figures["meta"]["notes"] = [note for note in figures["meta"].get("notes", []) if not note.startswith("Kineto JSON:")]
    return without(figures, {str(path): "FILE", path.name: "FILE"})


def without(value, names):
    if isinstance(value, dict):
        return {key: without(each, names) for key, each in value.items() if key not in OF_THE_FILE}
    if isinstance(value, list):
        return [without(each, names) for each in value]
    if isinstance(value, str):
        for name, stand_in in names.items():
            value = value.replace(name, stand_in)
    return value


@pytest.mark.parametrize("path", FILES)
def test_passes_tell_the_same(tmp_path, path):
    exported = tmp_path / "trace.json.gz"
    export(path, exported)
    check(exported, is_imported=True)
    for name in PASSES:
        assert figures_of(name, exported) == figures_of(name, path), name


@pytest.mark.parametrize("path", FILES)
def test_a_second_export_is_the_first(tmp_path, path):
    export(path, tmp_path / "one.json")
    export(tmp_path / "one.json", tmp_path / "two.json")
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "two.json"))
    # Streams may come in another order.
    events = [sorted(json.dumps(event) for event in each.pop("traceEvents")) for each in (one, two)]
    assert events[0] == events[1]
    assert one | {"traceName": ""} == two | {"traceName": ""}


def collectives_of(path):
    kernels = ((event, event["args"]) for event in ChromeJson(path).of("kernel"))
    return sorted((event["name"], args["stream"], args.get("correlation"), sorted((key, str(args[key])) for key in COLLECTIVE & set(args)))
                  for event, args in kernels)


@pytest.mark.parametrize("path", FILES)
def test_kernels_keep_what_they_tell_about_collectives(tmp_path, path):
    export(path, tmp_path / "trace.json")
    assert collectives_of(tmp_path / "trace.json") == collectives_of(path)


def backward_arrows_of(path):
    found = ChromeJson(path)
    ends = {}
    for phase in "sf":
        for arrow in found.arrows(phase, "fwdbwd"):
            ends.setdefault(arrow["id"], []).append((arrow["tid"], found.base + found.ns(arrow, "ts")))
    return sorted(ends.values())


@pytest.mark.parametrize("path", FILES)
def test_arrows_to_the_backward_pass_are_the_originals(tmp_path, path):
    originals = backward_arrows_of(path)
    if not originals:
        pytest.skip("the profiler wrote no such arrow")
    export(path, tmp_path / "trace.json")
    assert backward_arrows_of(tmp_path / "trace.json") == originals


def with_signed_streams(path, copy):
    """A file of an old Kineto has 4294967295 where later files have -1: no stream. The other reader takes the first for a stream."""
    text = text_of(path)
    if '"stream": 4294967295' not in text:
        return path
    copy.write_text(text.replace('"stream": 4294967295', '"stream": -1'))
    return copy


@pytest.mark.skipif(not PYTHON.exists(), reason="HolisticTraceAnalysis is not installed: scripts/setup --only test")
@pytest.mark.parametrize("path", FILES)
def test_another_reader_finds_the_same(tmp_path, path):
    exported = tmp_path / "trace.json.gz"
    export(path, exported)
    ours, original = hta(exported), hta(with_signed_streams(path, tmp_path / "original.json"))
    assert ours["warnings"] == original["warnings"]
    assert ours["types"] == original["types"]
    # CUPTI knows no kind of memory that is called Host: a trace that names the side alone has the kind Unknown here.
    true = {name.replace("(Host -> ", "(Unknown -> ").replace(" -> Host)", " -> Unknown)"): total for name, total in original["kernels"].items()}
    assert ours["kernels"].keys() == true.keys()
    for name, total in ours["kernels"].items():
        assert total == pytest.approx(true[name], rel=1e-6, abs=0.002), name
    assert ours["launches"] == original["launches"]
    for key, value in ours["times"].items():
        assert value == pytest.approx(original["times"][key], rel=1e-4, abs=1), key
