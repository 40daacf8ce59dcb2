# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof stats memory_viewer`: memory of programs that XLA compiled. With `--format=xprof` it prints what xprof 2.24.0 prints."""

import gzip
import json
import pathlib
import random
import subprocess

import pytest

import hlo_protos as hlo
from conftest import ROOT, clean_environment, gpuprof
from hlo_protos import ALLOC, FREE, SHARE
from test_hlo_modules import modules
from test_xprof_format import GOLDEN, PYTHON, SHARED, differences, needs_xprof
from waiting import LIMIT_S

HERE = pathlib.Path(__file__).resolve().parent
TENSORFLOW = ROOT / ".deps" / "tensorflow" / "bin" / "python"
STORED = [*sorted(GOLDEN.glob("*.gz")), GOLDEN / "cpu" / "jax_steps.xplane.pb.gz", *sorted(SHARED.glob("*.pb"))]
SEEDS = range(80)
MIB = 1 << 20


def one(name, *parts):
    return hlo.space([(1, f"{name}(1)", hlo.proto(*parts))])


def matrix(identifier, name, opcode="add", operands=(), dims=(512, 512), **more):
    return hlo.instruction(identifier, name, opcode, hlo.shape(hlo.F32, dims), operands, **more)


def simple():
    """A parameter, two temporary buffers, an output. The second temporary takes the memory of the first."""
    main = hlo.computation(1, "main", [
        matrix(1, "x", "parameter"), matrix(2, "first", operands=[1], op_name="jit(f)/first", source="train.py", source_line=7),
        matrix(3, "second", operands=[2]), matrix(4, "third", operands=[3]), matrix(5, "last", operands=[4])], 5)
    return one("jit_simple", hlo.module("jit_simple", [main], schedule=[(1, [1, 2, 3, 4, 5])]), hlo.buffers(
        *(hlo.buffer(i, MIB, i) for i in range(1, 6)),
        hlo.allocation(0, MIB, [(1, 0, MIB)], parameter=0), hlo.allocation(1, MIB, [(5, 0, MIB)], live_out=True),
        hlo.allocation(2, 2 * MIB, [(2, 0, MIB), (3, MIB, MIB), (4, 0, MIB)]),
        hlo.heap([(ALLOC, 2, "first", 0), (ALLOC, 3, "second", 0), (FREE, 2, "first", 0), (SHARE, 4, "third", 2), (FREE, 3, "second", 0),
                  (FREE, 4, "third", 0)], 2)))


def unsimulated():
    """XLA need not simulate an allocation with one buffer. Memory of threads is not simulated either."""
    main = hlo.computation(1, "main", [matrix(1, "x", "parameter"), matrix(2, "y", operands=[1]), matrix(3, "z", operands=[2])], 3)
    return one("jit_unsimulated", hlo.module("jit_unsimulated", [main]), hlo.buffers(
        *(hlo.buffer(i, MIB, i) for i in (1, 2, 3)), hlo.allocation(0, MIB, [(1, 0, MIB)], parameter=0),
        hlo.allocation(1, MIB, [(2, 0, MIB)]), hlo.allocation(2, MIB, [(3, 0, MIB)], thread_local=True)))


def two_heaps():
    """Two temporary allocations of one space live at different times: their peaks do not add up."""
    main = hlo.computation(1, "main", [matrix(i, f"op.{i}", operands=[i - 1] if i > 1 else ()) for i in range(1, 6)], 5)
    return one("jit_two", hlo.module("jit_two", [main], schedule=[(1, [1, 2, 3, 4, 5])]), hlo.buffers(
        *(hlo.buffer(i, MIB, i) for i in range(1, 6)),
        hlo.allocation(0, 2 * MIB, [(1, 0, MIB), (2, MIB, MIB)]), hlo.allocation(1, 2 * MIB, [(4, 0, MIB), (5, MIB, MIB)]),
        hlo.heap([(ALLOC, 1, "op.1", 0), (ALLOC, 2, "op.2", 0), (FREE, 1, "op.1", 0), (FREE, 2, "op.2", 0)], 0),
        hlo.heap([(ALLOC, 4, "op.4", 0), (ALLOC, 5, "op.5", 0), (FREE, 4, "op.4", 0), (FREE, 5, "op.5", 0)], 1)))


def padded():
    """A parameter that is an output, too. Its buffer has padding, and so has a part of a nested tuple."""
    small = hlo.shape(hlo.F32, (256, 512))
    nested = hlo.shape(hlo.TUPLE, parts=[hlo.shape(hlo.F32, (3,)), hlo.shape(hlo.TUPLE, parts=[hlo.shape(hlo.F32, (7,)), small])])
    main = hlo.computation(1, "main", [hlo.instruction(1, "x", "parameter", small), hlo.instruction(2, "parts", "custom-call", nested, [1])], 2)
    return one("jit_padded", hlo.module("jit_padded", [main]), hlo.buffers(
        hlo.buffer(1, MIB, 1), hlo.buffer(2, MIB, 2, [1, 0]), hlo.buffer(3, MIB, 1, color=5),
        hlo.allocation(0, MIB, [(1, 0, MIB)], parameter=0, live_out=True), hlo.allocation(1, MIB, [(2, 0, MIB)], live_out=True),
        hlo.allocation(2, MIB, [(3, 0, MIB)], color=5, parameter=1)))


WORKED = {each.__name__: each() for each in (simple, unsimulated, two_heaps, padded)}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """An XSpace that JAX's own profiler records here, and what XLA says of the programs."""
    if not TENSORFLOW.exists():
        pytest.skip("JAX is not installed: scripts/setup --only test")
    folder = tmp_path_factory.mktemp("recorded")
    done = subprocess.run([TENSORFLOW, HERE / "jax_programs.py", folder], check=True, timeout=LIMIT_S, capture_output=True,
                          env=clean_environment({"PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}))
    (path,) = folder.glob("**/*.xplane.pb")
    return path, json.loads(done.stdout.splitlines()[-1])


def written(folder, name, data):
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.xplane.pb"
    path.write_bytes(data)
    return path


def own(path, *options):
    done = gpuprof("stats", "memory_viewer", path, "--json", *options)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def worked(folder, name, *options):
    return own(written(folder, name, WORKED[name]), *options)


def page(path, program, space=0):
    done = gpuprof("stats", "memory_viewer", path, "--format=xprof", "--program", program, "--memory-space", str(space))
    return done.status, json.loads(done.out) if done.out else done.err.decode()


def reference(folder, files):
    """XProf's pages of (path, [(program, space)]), each in the order of the list."""
    runs = []
    for number, (path, wanted) in enumerate(files):
        place = folder / str(number)
        place.mkdir()
        data = path.read_bytes()
        (place / "host.xplane.pb").write_bytes(gzip.decompress(data) if path.suffix == ".gz" else data)
        runs.append([str(place / "host.xplane.pb"), wanted])
    done = subprocess.run([PYTHON, HERE / "xprof_programs.py", json.dumps(runs)], capture_output=True, timeout=LIMIT_S,
                          env=clean_environment({"PYTHONDONTWRITEBYTECODE": "1"}))
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def assert_same(folder, files):
    """Returns how many pages of XProf were the same here."""
    pages = 0
    for (path, wanted), theirs in zip(files, reference(folder, files), strict=True):
        for (program, space), each in zip(wanted, theirs, strict=True):
            status, ours = page(path, program, space)
            assert status == 0 and each is not None, (path, program, space, ours)
            found = list(differences(ours, each))
            assert not found, f"{path} {program} in space {space}: {len(found)} fields differ\n" + "\n".join(found[:10])
            pages += 1
    return pages


@needs_xprof
def test_stored_files_have_xprofs_pages(tmp_path):
    files = [(path, [(name, space) for name in modules(path) for space in ((0, 1, 2, 5) if "tpu" in path.name else (0,))]) for path in STORED]
    assert sum(len(wanted) > 2 for _, wanted in files) >= 4
    assert assert_same(tmp_path, files) >= 30


@needs_xprof
def test_random_programs_have_xprofs_pages(tmp_path):
    programs = [(seed + 1, *hlo.random_program(seed)) for seed in SEEDS]
    path = written(tmp_path, "random", hlo.space([(number, f"{name}({number})", data) for number, name, data, _ in programs]))
    # One call of gpuprof is for one page: each program has one, in a space by chance.
    wanted = [(f"{name}({number})", spaces[number % len(spaces)]) for number, name, _, spaces in programs]
    assert assert_same(tmp_path, [(path, wanted)]) == len(SEEDS)


@needs_xprof
def test_programs_of_jax_have_xprofs_pages(recorded, tmp_path):
    path, _ = recorded
    names = list(modules(path))
    assert len(names) >= 6
    assert assert_same(tmp_path, [(path, [(name, 0) for name in names])]) == len(names)


@needs_xprof
def test_worked_programs_have_xprofs_pages(tmp_path):
    files = [(written(tmp_path, name, data), [(f"jit_{name.removesuffix('_heaps')}(1)", space) for space in (0, 5)]) for name, data in WORKED.items()]
    assert assert_same(tmp_path, files) == 2 * len(WORKED)


def test_xla_itself_says_the_same_of_programs_of_jax(recorded):
    path, told = recorded
    for name, memory in told.items():
        (space,) = own(path, "--program", name)["spaces"]
        assert space["parameter_bytes"] == memory["arguments"], name
        assert space["temporary_bytes"] == memory["temporary"], name
        assert space["aliased_bytes"] == memory["aliased"], name
        assert space["output_bytes"] == memory["outputs"] - memory["aliased"], name
    assert own(path, "--program", "jit_donated")["spaces"][0]["aliased_bytes"] == 256 * 256 * 4
    loop = own(path, "--program", "jit_chain")
    assert {"sort", "parameter"} <= {row["opcode"] for row in loop["buffers"]}
    assert any(row["source"].startswith(str(HERE / "jax_programs.py") + ":") for row in loop["buffers"])


def test_a_bundle_says_the_same(recorded, tmp_path):
    path, _ = recorded
    assert gpuprof("import", path, "-o", tmp_path / "bundle").status == 0
    without_meta = [{key: value for key, value in own(each).items() if key != "meta"} for each in (path, tmp_path / "bundle")]
    assert without_meta[0] == without_meta[1] and without_meta[0]["program"].startswith("jit_training(")
    name = without_meta[0]["program"]
    assert page(tmp_path / "bundle", name) == page(path, name)


def lives(result):
    return {row["name"]: (row.get("first_position"), row.get("last_position"), row.get("last_reader", "")) for row in result["buffers"]}


def test_a_worked_program(tmp_path):
    result = worked(tmp_path, "simple")
    (space,) = result["spaces"]
    assert (space["peak_bytes"], space["peak_instruction"], space["allocated_bytes"]) == (4 * MIB, "second", 4 * MIB)
    assert (space["parameter_bytes"], space["output_bytes"], space["temporary_bytes"]) == (MIB, MIB, 2 * MIB)
    assert [(row["instruction"], row["bytes"]) for row in result["timeline"]] == [("first", 3 * MIB), ("second", 4 * MIB), ("third", 4 * MIB)]
    assert lives(result) == {"x": (None, None, "first"), "last": (None, None, ""), "first": (0, 1, "second"), "second": (1, 2, "third"),
                             "third": (2, 2, "last")}
    rows = {row["name"]: row for row in result["buffers"]}
    assert {name: row.get("peak_bytes", 0) for name, row in rows.items()} == {"x": MIB, "last": MIB, "first": MIB, "second": MIB, "third": 0}
    assert (rows["first"]["source"], rows["first"]["op_name"], rows["first"]["shape"]) == ("train.py:7", "jit(f)/first", "f32[512,512]{1,0}")
    assert rows["third"]["shares_memory"] and rows["x"]["parameter_number"] == 0
    text = gpuprof("stats", "memory_viewer", tmp_path / "simple.xplane.pb", "--width", "0").out.decode()
    assert text.startswith("The peak of jit_simple(1) is 4.00 MiB, while second runs (moment 1 of 3).\n")


# What XProf has otherwise: docs/tensorflow-profiler.md lists these cases.

def test_memory_without_a_simulation_counts(tmp_path):
    result = worked(tmp_path, "unsimulated")
    (space,) = result["spaces"]
    assert (space["peak_bytes"], space["unsimulated_bytes"], space["thread_local_bytes"]) == (3 * MIB, MIB, MIB)
    _, theirs = page(tmp_path / "unsimulated.xplane.pb", "jit_unsimulated")
    assert (theirs["peakHeapMib"], theirs["totalBufferAllocationMib"]) == (1, 3)


def test_all_heaps_of_a_space_count(tmp_path):
    result = worked(tmp_path, "two_heaps")
    assert result["spaces"][0]["peak_bytes"] == 2 * MIB and result["spaces"][0]["moment_count"] == 4
    assert [row["instruction"] for row in result["timeline"]] == ["op.1", "op.2", "op.4", "op.5"]
    _, theirs = page(tmp_path / "two_heaps.xplane.pb", "jit_two")
    assert theirs["hloInstructionNames"] == ["op.1", "op.2", "op.1", "op.2", ""]


def test_the_last_reader_of_a_buffer(tmp_path):
    """XProf names the maker of a buffer when the buffer is freed."""
    _, theirs = page(written(tmp_path, "simple", WORKED["simple"]), "jit_simple")
    assert theirs["hloInstructionNames"] == ["first", "second", "first", "third", "second", "third", ""]
    assert lives(worked(tmp_path, "simple"))["second"][2] == "third"


def test_padding_of_fixed_buffers_and_nested_tuples(tmp_path):
    result = worked(tmp_path, "padded", "--memory-space", "0")
    space = result["spaces"][0]
    assert (space["peak_bytes"], space["peak_unpadded_bytes"]) == (2 * MIB, MIB // 2 + 28)
    _, theirs = page(tmp_path / "padded.xplane.pb", "jit_padded")
    assert theirs["peakUnpaddedHeapMib"] == 2
    shapes = {row["name"]: row["shape"] for row in result["buffers"]}
    assert shapes["parts{1,0}"] == "f32[7]{0}"
    assert [row["shapeString"] for row in theirs["maxHeap"]] == ["f32[256,512]{1,0}", "f32[3]{0}"]


def test_an_output_in_the_memory_of_a_parameter(tmp_path):
    space = worked(tmp_path, "padded")["spaces"][0]
    assert (space["parameter_bytes"], space["output_bytes"], space["aliased_bytes"], space["allocated_bytes"]) == (MIB, MIB, MIB, 2 * MIB)
    _, theirs = page(tmp_path / "padded.xplane.pb", "jit_padded")
    assert (theirs["entryComputationParametersMib"], theirs["maybeLiveOutMib"], theirs["totalBufferAllocationMib"]) == (1, 2, 2)


def test_other_memory_spaces_have_their_buffers(tmp_path):
    result = worked(tmp_path, "padded", "--memory-space", "5")
    assert [(row["name"], row["peak_bytes"]) for row in result["buffers"]] == [("x", MIB)]
    _, theirs = page(tmp_path / "padded.xplane.pb", "jit_padded", 5)
    assert theirs["peakHeapMib"] == 1 and "maxHeap" not in theirs


def test_the_memory_of_the_host_of_a_tpu():
    path = GOLDEN / "tpu_inference.xplane.pb.gz"
    _, theirs = page(path, "jit_f", 5)
    assert theirs["peakHeapMib"] == 15 * 1024 and "maxHeap" not in theirs
    result = own(path, "--program", "jit_f", "--memory-space", "5")
    assert result["spaces"][0]["peak_bytes"] == 15 << 30
    assert [row["name"] for row in result["buffers"] if row["peak_bytes"]] == ["param", "param.1", "param.2"]


# Names of programs, files without programs, and programs of strangers.

def test_programs_by_name_and_number(tmp_path):
    programs = [(7, "jit_a(7)", WORKED_PROTO), (18446744073709551613, "jit_a(18446744073709551613)", WORKED_PROTO), (9, "jit_b(9)", WORKED_PROTO)]
    path = written(tmp_path, "names", hlo.space(programs))
    for wanted, found in (("7", "jit_a(7)"), ("-3", "jit_a(18446744073709551613)"), ("jit_a(7)", "jit_a(7)"), ("jit_b", "jit_b(9)")):
        assert own(path, "--program", wanted)["program"] == found
    for wanted, words in (("jit_a", "Several programs"), ("jit_c", "there are: jit_a(7)")):
        done = gpuprof("stats", "memory_viewer", path, "--program", wanted)
        assert done.status == 2 and words in done.err.decode(), done.err
    assert gpuprof("stats", "kernels", path, "--program", "7").status == 2


WORKED_PROTO = hlo.proto(hlo.module("jit_f", [hlo.computation(1, "main", [matrix(1, "x", "parameter")], 1)]),
                         hlo.buffers(hlo.buffer(1, MIB, 1), hlo.allocation(0, MIB, [(1, 0, MIB)], parameter=0)))


def test_a_file_without_programs():
    path = GOLDEN / "cpu" / "tensorflow_steps.xplane.pb.gz"
    done = gpuprof("stats", "memory_viewer", path)
    assert done.status == 0 and b"carries no program of XLA" in done.out
    assert gpuprof("stats", "memory_viewer", path, "--format=xprof").status == 2


def test_hostile_programs(tmp_path):
    """Missing ids, circles, huge and negative numbers, names with control characters: figures stay bounded."""
    huge = (1 << 63) - 1
    main = hlo.computation(1, "main", [
        hlo.instruction(1, "\x1b[31mred\n\"x\"", "while", hlo.shape(hlo.F32, (huge, huge)), [2, 99], [1, 2, 77], frame=1, op_name="\x07"),
        hlo.instruction(2, b"\xff\xfe", "add", hlo.shape(hlo.F32, (-5,)), [1])], 9)
    other = hlo.computation(2, "other", [hlo.instruction(3, "calls", "call", hlo.shape(), [3], [1, 2])], 3)
    data = hlo.proto(
        hlo.module("jit_bad", [main, other], schedule=[(1, [2, 2, 1, 55]), (9, [1])], more=[hlo.frames(["a"], [(1, 5, 0)], [(1, 2), (1, 1)])]),
        hlo.buffers(hlo.buffer(1, huge, 1, [huge, -1]), hlo.buffer(2, huge, 2), hlo.buffer(3, -7, 44),
                    hlo.allocation(0, huge, [(1, 0, huge), (66, 0, 1)]), hlo.allocation(0, huge, [(2, huge, -1)], live_out=True),
                    hlo.allocation(1, -1, [(3, -9, 1)]),
                    hlo.heap([(SHARE, 1, "x", 1), (ALLOC, 1, "x", 0), (ALLOC, 1, "x", 0), (SHARE, 2, "y", 1), (SHARE, 1, "y", 2), (FREE, 3, "z", 0),
                              (FREE, 1, "x", 0), (FREE, 1, "x", 0), (FREE, 2, "x", 0), (FREE, 88, "x", 0), (9, 1, "x", 0)])))
    path = written(tmp_path, "bad", hlo.space([(1, "jit_bad(1)\x1b[2J", data)]))
    result = own(path)
    assert result["spaces"][0]["peak_bytes"] == huge and result["spaces"][0]["allocation_count"] == 3
    text = gpuprof("stats", "memory_viewer", path).out
    assert not set(text) & (set(range(32)) - {10}) and b"\x7f" not in text
    gpuprof("stats", "memory_viewer", path, "--csv")
    done = gpuprof("stats", "memory_viewer", path, "--format=xprof")
    assert done.status in (0, 2, 3), done.err


def test_damaged_bytes_never_crash(tmp_path):
    chance = random.Random(5)
    name, data, _ = hlo.random_program(7)
    for turn in range(40):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 3, 30))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path = written(tmp_path, "host", hlo.space([(1, f"{name}(1)", bytes(broken[: chance.randrange(len(broken))] if turn % 8 == 0 else broken))]))
        done = gpuprof("stats", "memory_viewer", path, "--format=xprof" if turn % 2 else "--json")
        assert done.status in (0, 2, 3), (done.status, done.err.decode())


def test_rows_are_bounded(tmp_path):
    count = 30_000
    main = hlo.computation(1, "main", [matrix(i, f"op.{i}", operands=[i - 1] if i > 1 else (), dims=(128, 128)) for i in range(1, count + 1)], count)
    size = 128 * 128 * 4
    events = [event for i in range(1, count + 1) for event in [(ALLOC, i, f"op.{i}", 0), *([(FREE, i - 1, f"op.{i - 1}", 0)] if i > 1 else [])]]
    data = hlo.proto(hlo.module("jit_long", [main]), hlo.buffers(
        *(hlo.buffer(i, size, i) for i in range(1, count + 1)),
        hlo.allocation(0, 2 * size, [(i, size * (i % 2), size) for i in range(1, count + 1)]), hlo.heap(events)))
    result = own(written(tmp_path, "long", hlo.space([(1, "jit_long(1)", data)])))
    assert len(result["buffers"]) == 10_001 and len(result["timeline"]) == 1000
    assert sum(row["count"] for row in result["buffers"]) == count
    assert result["spaces"][0]["peak_bytes"] == 2 * size and result["spaces"][0]["moment_count"] == count
