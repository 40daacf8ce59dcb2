# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof stats PASS X --format=xprof` prints what the real xprof 2.24.0 prints of the same XSpace, field by field."""

import gzip
import json
import os
import random
import subprocess

import pytest

from conftest import GPUPROF, ROOT, gpuprof
from test_export_xspace import SOURCES
from xprof_spaces import STEPS_LINE, PlaneBuilder, random_space, space
from xspace_files import field
from waiting import LIMIT_S

PYTHON = ROOT / ".deps" / "xprof" / "bin" / "python"
needs_xprof = pytest.mark.skipif(not PYTHON.exists(), reason="xprof is not installed: scripts/setup --only test")
PAGES = {"overview": "overview_page", "ops": "framework_op_stats", "kernels": "kernel_stats",
         "input_pipeline": "input_pipeline_analyzer"}
GOLDEN = ROOT / "tests" / "golden" / "xspace"
SHARED = ROOT.parent / "shared" / "data" / "xspace"
FILES = [*sorted((GOLDEN / "cpu").glob("*.gz")), *sorted(GOLDEN.glob("jax*.gz")),
         *sorted(path for path in GOLDEN.glob("cases/*/input.xplane.pb") if "riegeli" not in str(path)),
         *sorted(SHARED.glob("jax*.pb"))]
SEEDS = range(60)


def page(name, source):
    """Returns the page's text, and the remark about it."""
    done = gpuprof("stats", name, source, "--format=xprof")
    assert done.status == 0, (name, str(source), done.err.decode())
    return done.out.decode(), done.err.decode()


def reference(runs, *tools):
    """The pages of XProf for each run, which is a list of files. XProf writes beside the files: it gets copies."""
    done = subprocess.run([str(PYTHON), str(ROOT / "tests" / "process" / "xprof_pages.py"),
                           json.dumps([[str(path) for path in paths] for paths in runs]), *tools],
                          capture_output=True, text=True, timeout=LIMIT_S, env={"PATH": os.environ["PATH"], "HOME": str(runs[0][0].parent)})
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def copies(paths, folder):
    folder.mkdir(parents=True)
    made = []
    for path in paths:
        made.append(folder / path.name.removesuffix(".gz"))
        data = path.read_bytes()
        made[-1].write_bytes(gzip.decompress(data) if path.suffix == ".gz" else data)
    return made


def differences(ours, theirs, path=""):
    """Yields the paths at which two documents differ, with both values. Numbers may differ by 1e-12 of their size."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            yield from differences(ours.get(key, "(missing)"), theirs.get(key, "(missing)"), f"{path}/{key}")
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield f"{path}: {len(ours)} entries here, {len(theirs)} in XProf"
        for i, (mine, other) in enumerate(zip(ours, theirs)):
            yield from differences(mine, other, f"{path}[{i}]")
    elif isinstance(ours, float) and isinstance(theirs, float):
        if ours != theirs and not abs(ours - theirs) <= 1e-12 * max(abs(ours), abs(theirs)):
            yield f"{path}: {ours!r} here, {theirs!r} in XProf"
    elif type(ours) is not type(theirs) or ours != theirs:
        yield f"{path}: {ours!r} here, {theirs!r} in XProf"


def assert_same(name, source, text):
    """Compares a page with XProf's text of it. What the page's remark names may differ, and nothing else."""
    ours_text, remark = page(name, source)
    ours, theirs = json.loads(ours_text), json.loads(text)
    if "table of latencies" in remark:
        assert name == "overview"
        ours[4] = theirs[4] = None
    found = list(differences(ours, theirs))
    assert not found, f"{name} of {source}: {len(found)} fields differ\n" + "\n".join(found[:10])
    if not remark:
        assert ours_text == text + "\n"


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Every input with XProf's pages of it, by name. One run of XProf makes them all."""
    folder = tmp_path_factory.mktemp("xprof")
    inputs, runs = {}, []

    def add(name, source, files):
        inputs[name] = source
        runs.append(copies(files, folder / "copies" / name))

    for path in FILES:
        add(case_of(path), path, [path])
    for source in SOURCES:
        logdir = folder / "exported" / case_of(source)
        done = gpuprof("export", source, "-f", "xspace", "-o", logdir)
        assert done.status == 0, done.err.decode()
        add(case_of(source), source, sorted(logdir.glob("plugins/profile/*/*.xplane.pb")))
    for seed in SEEDS:
        hosts = 2 if seed % 5 == 4 else 1
        run = folder / "random" / str(seed)
        run.mkdir(parents=True)
        for host in range(hosts):
            data = random_space(seed * 10 + host, None, f"host{host}" if seed % 3 else None, hosts == 1)
            if data:
                (run / f"host{host}.xplane.pb").write_bytes(data)
        if any(run.iterdir()):
            add(f"seed {seed}", run, sorted(run.iterdir()))
    for name, data in WORKED.items():
        run = folder / "worked" / name
        run.mkdir(parents=True)
        (run / "host.xplane.pb").write_bytes(data)
        add(name, run, [run / "host.xplane.pb"])
    return dict(zip(inputs, zip(inputs.values(), reference(runs))))


def case_of(path):
    parts = path.parts[-2:] if path.name == "input.xplane.pb" else path.parts[-1:]
    return ("shared " if SHARED in path.parents else "") + "-".join(parts).partition(".")[0]


each_page = pytest.mark.parametrize("name", PAGES)


@needs_xprof
@each_page
@pytest.mark.parametrize("case", [case_of(path) for path in [*FILES, *SOURCES]])
def test_pages_are_those_of_xprof(cases, case, name):
    source, theirs = cases[case]
    assert_same(name, source, theirs[PAGES[name]])


@needs_xprof
@each_page
def test_pages_of_random_spaces(cases, name):
    checked = [case for case in cases if case.startswith("seed ")]
    assert len(checked) > 50
    for case in checked:
        source, theirs = cases[case]
        assert_same(name, source, theirs[PAGES[name]])


@needs_xprof
def test_a_log_folder_and_a_run_are_one_input(tmp_path):
    run = tmp_path / "logdir" / "plugins" / "profile" / "2026_11_26_14_30_00"
    run.mkdir(parents=True)
    for host in range(3):
        (run / f"host{host}.xplane.pb").write_bytes(random_space(host, 2, f"host{host}", with_copies=False))
    (theirs,) = reference([copies(sorted(run.iterdir()), tmp_path / "copy")])
    for name in PAGES:
        assert_same(name, run, theirs[PAGES[name]])
        assert page(name, tmp_path / "logdir") == page(name, run)


# What XProf's own unit tests look at, as cases with figures that follow from the rules.

PS = 1_000_000  # a microsecond


def gpu_step():
    """A step of 100 us: an executor takes work from it and launches one product, which runs for 40 us."""
    host = PlaneBuilder("/host:CPU", 1)
    host.line(0, "main", [("TraceContext", 1 * PS, 100 * PS, {"graph_type": "train", "step_num": 123, "_r": 1}),
                          ("FunctionRun", 11 * PS, 90 * PS, {"id": 0, "_pt": 1, "_p": 0})])
    host.line(1, "executor", [("ExecutorState::Process", 21 * PS, 20 * PS, {"id": 0, "_ct": 1, "_c": 0}),
                              ("matmul", 31 * PS, 10 * PS, {"correlation_id": 100})])
    gpu = PlaneBuilder("/device:GPU:0", 2)
    gpu.line(0, "Stream #0", [("matmul", 51 * PS, 40 * PS, {"correlation_id": 100})])
    return space([gpu, host])


def cpu_step():
    """The same step without a device, and a step of tf.data that is none."""
    host = PlaneBuilder("/host:CPU", 1)
    host.line(0, "main", [("train", 1 * PS, 100 * PS, {"step_num": 123, "_r": 1}),
                          ("FunctionRun", 11 * PS, 90 * PS, {"id": 0, "_pt": 1, "_p": 0})])
    host.line(1, "executor", [("ExecutorState::Process", 21 * PS, 20 * PS, {"id": 0, "_ct": 1, "_c": 0}),
                              ("matmul", 31 * PS, 10 * PS, {"tf_op": "a/matmul:MatMul"}),
                              ("IteratorGetNext", 61 * PS, 5 * PS, {})])
    return space([host])


def nested_ops():
    """Operations of a thread: 60 us of which 25 are those of a child, and 40 us of idle time."""
    host = PlaneBuilder("/host:CPU", 1)
    host.line(0, "main", [("TfOp1:TfOp1", 1 * PS, 60 * PS, {}), ("TfOp2:TfOp2", 11 * PS, 25 * PS, {}),
                          ("not an operation", 20 * PS, 5 * PS, {}), ("TfOp3:TfOp3", 91 * PS, 10 * PS, {})])
    return space([host])


def kernels():
    """One kernel three times in two shapes, with and without an operation, and one that uses tensor cores."""
    gpu = PlaneBuilder("/device:GPU:0", 1, {"device_vendor": "Nvidia"})
    details = "regs:32 static_shared:1024 dynamic_shared:1024 grid:2,1,1 block:32,1,1 occ_pct:50"
    gpu.line(0, "Stream #0", [("add", 1 * PS, 10 * PS, {"kernel_details": details, "correlation_id": 1}),
                              ("add", 20 * PS, 30 * PS, {"kernel_details": details, "correlation_id": 2}),
                              ("add", 60 * PS, 5 * PS, {"kernel_details": details.replace("2,1,1", "4,1,1")}),
                              ("volta_fp16_s884gemm", 70 * PS, 7 * PS, {"kernel_details": details, "tf_op": "m/MatMul:MatMul"}),
                              ("MemcpyH2D", 80 * PS, 9 * PS, {"memcpy_details": "size:100"})])
    return space([gpu])


def input_ops():
    """Each kind of input: a read on demand, one in advance, work before it, and the enqueueing."""
    host = PlaneBuilder("/host:CPU", 1)
    names = ("Iterator::Map::TFRecord", "Iterator::Prefetch::TFRecord", "Iterator::Batch", "InfeedEnqueueTuple:InfeedEnqueueTuple",
             "InfeedEnqueueTuple:InfeedEnqueueTuple")
    host.line(0, "main", [(name, 1 * PS + i * 100 * PS, (i + 1) * 10 * PS, {}) for i, name in enumerate(names)])
    return space([host])


def ungrouped_kernel():
    """Work between two steps belongs to the one before it."""
    host = PlaneBuilder("/host:CPU", 1)
    host.line(0, "main", [("train", 1 * PS, 10 * PS, {"step_num": 1, "_r": 1}), ("launch", 2 * PS, 1 * PS, {"correlation_id": 1}),
                          ("train", 20 * PS, 10 * PS, {"step_num": 2, "_r": 1}), ("launch", 21 * PS, 1 * PS, {"correlation_id": 2})])
    gpu = PlaneBuilder("/device:GPU:0", 2)
    gpu.line(0, "Stream #0", [("first", 4 * PS, 2 * PS, {"correlation_id": 1}), ("between", 12 * PS, 2 * PS, {"correlation_id": 9}),
                              ("second", 24 * PS, 2 * PS, {"correlation_id": 2})])
    return space([gpu, host])


def two_copies_of_one_byte_count():
    """A copy in XProf's own spelling beside one in XLA's, which XProf takes for 32-bit work."""
    host = PlaneBuilder("/host:CPU", 1)
    host.line(0, "main", [("train", 1 * PS, 100 * PS, {"step_num": 1, "_r": 1}),
                          *(("launch", (2 + i) * PS, PS // 2, {"correlation_id": i}) for i in range(3))])
    gpu = PlaneBuilder("/device:GPU:0", 2)
    gpu.line(0, "Stream #0", [(name, (10 + 20 * i) * PS, 10 * PS, {"correlation_id": i})
                              for i, name in enumerate(("MemcpyH2D", "MEMCPYHToD", "ncclAllReduce"))])
    return space([gpu, host])


# Kernels by name and whether XProf 2.24.0 sees tensor cores in it, for Nvidia.
TENSOR_CORES = {"volta_h884gemm": True, "volta_fp16_s884gemm": True, "volta_fp16_i884gemm": False, "turing_fp16_s1688gemm": True,
                "ampere_h16816gemm_64x64": True, "sm80_xmma_gemm_f16f16_f32": True, "volta_sgemm_128x64": False, "add": False}
# Operations and whether XProf takes them for ones that could use tensor cores.
ELIGIBLE = {"a/MatMul:MatMul": True, "a/BatchMatMulV2:BatchMatMulV2": True, "a/Conv2D:Conv2D": True, "a/add:AddV2": False,
            "a/Conv2DBackpropFilter:Conv2DBackpropFilter": True, "jit(f)/dot_general:": True, "jit(f)/add:": False}


def tensor_cores():
    """A kernel of each name, and one of each operation."""
    gpu = PlaneBuilder("/device:GPU:0", 1, {"device_vendor": "Nvidia"})
    details = {"kernel_details": "regs:32 grid:2,1,1 block:32,1,1 occ_pct:50"}
    gpu.line(0, "Stream #0", [(name, (1 + 10 * i) * PS, 5 * PS, details) for i, name in enumerate(TENSOR_CORES)] +
             [("plain", (101 + 10 * i) * PS, 5 * PS, {**details, "tf_op": op}) for i, op in enumerate(ELIGIBLE)])
    return space([gpu])


WORKED = {each.__name__: each() for each in (gpu_step, tensor_cores, cpu_step, nested_ops, kernels, input_ops, ungrouped_kernel,
                                             two_copies_of_one_byte_count)}


@needs_xprof
@each_page
@pytest.mark.parametrize("case", WORKED)
def test_worked_cases_are_those_of_xprof(cases, case, name):
    source, theirs = cases[case]
    assert_same(name, source, theirs[PAGES[name]])


def rows_of(name, data, tmp_path, table=None):
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(data)
    document = json.loads(page(name, path)[0])
    chosen = document if table is None else document[table]
    ids = [column["id"] for column in chosen["cols"]]
    return [dict(zip(ids, (cell["v"] for cell in row["c"]))) for row in chosen["rows"]], chosen.get("p", {})


def test_a_step_of_a_gpu(tmp_path):
    (step,), properties = rows_of("overview", gpu_step(), tmp_path, 1)
    # The mark of the host contains the work, but marks of the host do not count beside a device: its work is the step.
    assert step["stepTimeMs"] == step["deviceComputeTimeMs"] == 0.04
    assert step["otherTimeMs"] == 0
    assert step["hostComputeTimeMs"] == step["kernelLaunchTimeMs"] == 0
    _, shares = rows_of("overview", gpu_step(), tmp_path, 0)
    assert (shares["device_compute_16bit_percent"], shares["device_compute_32bit_percent"]) == ("0.0%", "100.0%")
    assert properties["hardware_type"] == "GPU"


def test_a_step_of_a_cpu(tmp_path):
    (step,), _ = rows_of("overview", cpu_step(), tmp_path, 1)
    assert step["stepnum"] == "train 123" and step["stepTimeMs"] == 0.1
    assert step["hostComputeTimeMs"] == 0.02 and step["otherTimeMs"] == 0.08


def test_time_of_nested_operations(tmp_path):
    rows, _ = rows_of("ops", nested_ops(), tmp_path, 0)
    assert [(row["operation"], row["total_time"], row["total_self_time"]) for row in rows] == [
        ("TfOp1", 60, 35), ("IDLE", 30, 30), ("TfOp2", 25, 25), ("TfOp3", 10, 10)]
    assert [row["rank"] for row in rows_of("ops", nested_ops(), tmp_path, 1)[0]] == [1, 2, 3]


def test_kernels_by_shape(tmp_path):
    rows, _ = rows_of("kernels", kernels(), tmp_path)
    assert [(row["kernel_name"], row["grid_dim"], row["occurrences"], row["total_duration_us"], row["avg_duration_us"],
             row["shmem_bytes"], row["is_kernel_using_tensor_core"], row["op_name"]) for row in rows] == [
        ("add", "2,1,1", 2, 40, 20, 2048, False, ""),
        ("volta_fp16_s884gemm", "2,1,1", 1, 7, 7, 2048, True, "m/MatMul"),
        ("add", "4,1,1", 1, 5, 5, 2048, False, "")]


def test_tensor_cores_by_name(tmp_path):
    rows, _ = rows_of("kernels", tensor_cores(), tmp_path)
    assert {row["kernel_name"]: row["is_kernel_using_tensor_core"] for row in rows if row["kernel_name"] != "plain"} == TENSOR_CORES
    assert {row["op_name"]: row["is_op_tensor_core_eligible"] for row in rows if row["kernel_name"] == "plain"} == {
        op.partition(":")[0]: is_eligible for op, is_eligible in ELIGIBLE.items()}


def test_steps_that_all_hosts_have(tmp_path):
    for name, numbers in (("a", (1, 2, 3)), ("b", (2, 3, 4))):
        host, gpu = PlaneBuilder("/host:CPU", 1), PlaneBuilder("/device:GPU:0", 2)
        host.line(0, "main", [event for i in numbers for event in (
            ("train", (10 * i) * PS, 9 * PS, {"step_num": i, "_r": 1}),
            ("launch", (10 * i + 1) * PS, PS, {"correlation_id": i}))])
        gpu.line(0, "Stream #0", [("kernel", (10 * i + 3) * PS, i * PS, {"correlation_id": i}) for i in numbers])
        (tmp_path / f"{name}.xplane.pb").write_bytes(space([gpu, host], name))
    rows = json.loads(page("overview", tmp_path)[0])[1]
    ids = [column["id"] for column in rows["cols"]]
    steps = [dict(zip(ids, (cell["v"] for cell in row["c"]))) for row in rows["rows"]]
    assert [step["deviceComputeTimeMs"] for step in steps] == [0.002, 0.003]


def test_kinds_of_input(tmp_path):
    rows, properties = rows_of("input_pipeline", input_ops(), tmp_path, 2)
    assert {row["opName"]: (row["category"], row["selfTimeInMs"]) for row in rows} == {
        "InfeedEnqueueTuple": ("Enqueue", 0.09), "Iterator::Batch": ("Preprocessing", 0.03),
        "Iterator::Prefetch::TFRecord": ("Advanced file read", 0.02), "Iterator::Map::TFRecord": ("Demanded file read", 0.01)}
    # 40 us of enqueueing in 100 us from one begin to the next: the rest is 90 * 0.6 / 0.4 us, parted as 1 : 2 : 3.
    assert [properties[key] for key in ("enqueue_us", "demanded_file_read_us", "advanced_file_read_us", "preprocessing_us")] == [
        "90.000", "22.500", "45.000", "67.500"]


def test_work_between_steps(tmp_path):
    rows, _ = rows_of("overview", ungrouped_kernel(), tmp_path, 1)
    assert [row["deviceComputeTimeMs"] for row in rows] == [0.004, 0.002]


def test_spellings_of_copies(tmp_path):
    (step,), _ = rows_of("overview", two_copies_of_one_byte_count(), tmp_path, 1)
    assert (step["deviceComputeTimeMs"], step["infeedTimeMs"], step["deviceCollectivesTimeMs"]) == (0.01, 0.01, 0.01)


# Inputs without a page.

def refused(source, *words, name="overview"):
    done = gpuprof("stats", name, source, "--format=xprof")
    assert done.status == 3 and done.out == b"", done.err.decode()
    for word in words:
        assert word in done.err.decode()
    return done.err.decode()


@each_page
def test_work_of_a_tpu_is_refused(name):
    refused(GOLDEN / "tpu_inference.xplane.pb.gz", "TPU", "not covered", name=name)


def test_a_bundle_with_a_tpu_is_refused(tmp_path):
    assert gpuprof("import", GOLDEN / "tpu_inference.xplane.pb.gz", "-o", tmp_path / "bundle").status == 0
    done = gpuprof("stats", "overview", tmp_path / "bundle", "--format=xprof")
    assert done.status in (2, 3) and b"TPU" in done.err


def test_riegeli_is_refused():
    refused(GOLDEN / "cases" / "riegeli-instead-of-protobuf" / "input.xplane.pb", "Riegeli")


def test_a_cut_file_is_refused(tmp_path):
    data = gzip.decompress((GOLDEN / "cpu" / "jax_steps.xplane.pb.gz").read_bytes())
    path = tmp_path / "host.xplane.pb"
    for part in (0.1, 0.5, 0.99):
        path.write_bytes(data[:int(len(data) * part)])
        refused(path, "cut or damaged", "stats")
    path.write_bytes(b"")
    refused(path, "empty")
    zipped = tmp_path / "zipped.xplane.pb.gz"
    zipped.write_bytes(gzip.compress(data)[:2000])
    refused(zipped, "cut or damaged")


def test_damaged_bytes_never_crash(tmp_path):
    """Any bytes give a page or a clear error."""
    chance = random.Random(4)
    data = random_space(3, 2)
    path = tmp_path / "host.xplane.pb"
    for _ in range(150):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 3, 30))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(bytes(broken))
        done = gpuprof("stats", chance.choice(list(PAGES)), path, "--format=xprof")
        assert done.status in (0, 3), (done.status, done.err.decode())
        assert done.status == 3 or json.loads(done.out)


def test_absurd_numbers_and_names(tmp_path):
    """Times, ids and counts at their limits, names that are not UTF-8 and names with control characters."""
    host = PlaneBuilder("/host:CPU", -(1 << 63), {"process_id": (1 << 63) - 1})
    limit = (1 << 63) - 1
    events = [("train", limit, limit, {"_r": -(1 << 63), "step_num": limit}), ("a:B", 0, -1, {"correlation_id": -1}),
              ("Iterator::\u001b[31m", -5, limit, {"_pt": limit, "_p": limit, "_ct": -1, "_c": -1}), ("x", 0, 0, {"tf_op": "\x7f\x9f:A"})]
    host.line(limit, "line", events, 0)
    gpu = PlaneBuilder("/device:GPU:99999999999", 1, {"core_count": -1, "clock_rate": limit, "device_vendor": "Nvidia"})
    gpu.line(STEPS_LINE, "Steps", [("0", 0, limit, {"group_id": limit})])
    gpu.line(1, "Stream", [("k", limit, limit, {"correlation_id": limit, "kernel_details": "grid:9999999999,1,1 regs:-5 occ_pct:1e999"})])
    path = tmp_path / "host.xplane.pb"
    bad_name = field(1, [field(2, b"/host:CPU"), field(4, [field(1, 1), field(2, [field(2, b"\xff\xfe:Op")])]),
                         field(3, [field(4, [field(1, 1), field(3, 5)])])])
    for data in (space([host, gpu], "\u001b]0;title\u0007"), bad_name, bad_name + bad_name):
        path.write_bytes(data)
        for name in PAGES:
            text, _ = page(name, path)
            json.loads(text)
            assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text.rstrip("\n"))


def test_deep_nesting_takes_no_stack_and_little_time(tmp_path):
    depth = 200_000
    host = PlaneBuilder("/host:CPU", 1)
    host.line(1, "deep", [("a:B", i, 2 * depth - 2 * i + 1, {"_r": 1} if i % 1000 == 0 else {}) for i in range(depth)])
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(space([host]))
    for name in PAGES:
        page(name, path)


def test_a_file_of_empty_events_stays_within_its_memory(tmp_path):
    """A byte of the file takes some thirty in memory: more than this program may take is refused, not taken."""
    path = tmp_path / "host.xplane.pb"
    line = field(3, b"\x22\x00" * 40_000_000)
    path.write_bytes(field(1, [field(2, "/host:CPU"), line]))
    script = f"ulimit -v 1500000; exec '{GPUPROF}' stats overview '{path}' --format=xprof"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 3 and "memory" in done.stderr


def test_everybody_gives_work_to_everybody(tmp_path):
    """Contexts of many producers and consumers: a crowd on both sides is no context, and others end."""
    host = PlaneBuilder("/host:CPU", 1)
    host.line(1, "a", [("p", 10 * i, 5, {"_pt": 1, "_p": 1, "_ct": 1, "_c": 1}) for i in range(30_000)])
    host.line(2, "b", [("q", 10 * i, 5, {"_ct": 2, "_c": 2}) for i in range(50_000)])
    host.line(3, "c", [("r", 10 * i, 5, {"_pt": 2, "_p": 2, "_r": 1}) for i in range(63)])
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(space([host]))
    page("overview", path)


# The command.

def test_options_that_a_page_does_not_take():
    source = GOLDEN / "cpu" / "jax_steps.xplane.pb.gz"
    for options in (["--csv"], ["--limit", "3"], ["--threshold", "LA-001.min_share=0.5"], ["--pid", "1"], ["--steps", "1-2"], ["--by", "op"]):
        done = gpuprof("stats", "overview", source, "--format=xprof", *options)
        assert done.status == 2 and b"whole page" in done.err, options
    done = gpuprof("stats", "threads", source, "--format=xprof")
    assert done.status == 2 and b"overview, ops, kernels, input_pipeline" in done.err
    done = gpuprof("stats", "overview", source, "--format=xpro")
    assert done.status == 2 and b"choose xprof" in done.err
    done = gpuprof("stats", "overview", source.parent / "missing", "--format=xprof")
    assert done.status == 3 and b"missing" in done.err

