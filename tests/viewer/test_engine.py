# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine inside a report answers as the command does, to the last byte.

Every stored trace is asked for every pass by every key, of the whole recording and of parts that a seeded
generator chooses: steps, ranges, processes, devices, and several of these.
"""

import json
import random
import re
import shutil
import subprocess

import pytest

from conftest import MODULES, ROOT, build_dir, clean_env, gpuprof
from waiting import LIMIT_S

ENGINE = build_dir() / "viewer" / "engine.wasm.zst"
GOLDEN = ROOT / "tests" / "golden"
PARTS = 40  # of each trace

pytestmark = pytest.mark.skipif(not ENGINE.exists() or shutil.which("node") is None, reason="this build has no engine of reports")


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    script = tmp_path_factory.mktemp("engine") / "engine_driver.mjs"
    subprocess.run(
        [MODULES / ".bin" / "esbuild", ROOT / "tests" / "viewer" / "engine_driver.ts", "--bundle", "--platform=node", "--format=esm", f"--outfile={script}", "--log-level=warning"],
        check=True, env=clean_env() | {"NODE_PATH": str(MODULES)}, timeout=LIMIT_S)
    return script


def passes():
    """Each pass with the keys that it can be asked by; "" is its own choice."""
    shown = gpuprof("help", "stats", cwd=ROOT).stdout.decode()
    wanted = {name: [""] for name in re.search(r"^  (overview\|\S+)", shown, re.M)[1].split("|")}
    for name, keys in re.findall(r"[Oo]f (\w+): ([\w, ]+)", re.search(r"Key (of .*)", shown)[1]):
        wanted[name] += keys.split(", ")
    return wanted


def ask_engine(driver, bundle, names):
    page = bundle.parent / "page.html"
    done = gpuprof("report", bundle.name, "-o", page.name, "--max-size=1GiB", cwd=bundle.parent)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["node", driver, page], input="".join(f"{name}\n" for name in names), text=True, capture_output=True,
                          env=clean_env(), timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(names), done.stderr
    return dict(zip(names, answers))


def ask_command(bundle, name):
    """What `gpuprof stats` prints for the name of a result."""
    whole, _, part = name.partition("@")
    wanted, _, key = whole.partition(":")
    options = ["--by", key] if key else []
    for piece in filter(None, part.split(";")):
        what, _, value = piece.partition("=")
        if what in ("pid", "device"):
            options += [f"--{what}", value]
        elif what == "step":
            options += ["--steps", value]
        else:
            first, last = piece.split(",")
            options += ["--window", f"{first}ns-{last}ns"]
    return gpuprof("stats", wanted, bundle.name, "--json", *options, cwd=bundle.parent)


def parts_of(bundle, seed):
    """Parts of a bundle, by names, drawn from what its overview and steps tell."""
    overview = json.loads(ask_command(bundle, "overview").stdout)
    devices = sorted({each["device"] for each in json.loads(ask_command(bundle, "overlap").stdout)["devices"]})
    steps = [each["number"] for each in overview["step_points"]]
    pids = [each["pid"] for each in overview["processes"]]
    meta = overview["meta"]
    start, end = meta["window_start_ns"], max(meta["window_end_ns"], meta["window_start_ns"] + 1)
    dice = random.Random(seed)

    def window():
        first, last = sorted(dice.randint(start, end) for _ in range(2))
        return f"{max(first, 0)},{max(last, 0) + 1}"

    def part():
        pieces = []
        kind = dice.choice(["window", "step", "pid", "device", "all"])
        if kind in ("window", "all"):
            pieces.append(window())
        if kind == "step" and steps:
            pieces.append(f"step={dice.choice(steps)}")
        if kind in ("pid", "all") and pids:
            pieces.append(f"pid={dice.choice(pids)}")
        if kind in ("device", "all") and devices:
            pieces.append(f"device={dice.choice(devices)}")
        return ";".join(pieces) or window()

    return [part() for _ in range(PARTS)]


def check(driver, bundle, seed):
    dice = random.Random(seed)
    wanted = passes()
    names = [f"{name}:{key}" if key else name for name, keys in wanted.items() for key in keys]
    names += [f"{dice.choice(names)}@{part}" for part in parts_of(bundle, seed)]
    answers = ask_engine(driver, bundle, names)
    for name in names:
        told = ask_command(bundle, name)
        answer = answers[name]
        assert "broken" not in answer, (name, answer)
        if told.returncode == 2:  # for instance a step that is not there
            assert "refused" in answer, (name, told.stderr)
            assert answer["refused"] in told.stderr.decode(), name
        else:
            assert answer.get("text") == told.stdout.decode(), name


V1 = sorted((GOLDEN / "traces" / "v1").glob("*.gpt"))
FOREIGN = [*(GOLDEN / "kineto").glob("*.json.gz"), *(GOLDEN / "xspace").glob("*.pb.gz")]
RECORDED = [path for path in (GOLDEN / "traces" / "h200" / "pytorch").iterdir() if path.is_dir()]


@pytest.mark.parametrize("trace", V1, ids=lambda path: path.stem)
def test_a_stored_trace(driver, tmp_path, trace):
    bundle = tmp_path / trace.stem
    bundle.mkdir()
    shutil.copy(trace, bundle / "p1-1.gpt")
    check(driver, bundle, trace.stem)


@pytest.mark.parametrize("trace", RECORDED, ids=lambda path: path.name)
def test_a_recorded_bundle(driver, tmp_path, trace):
    bundle = tmp_path / trace.name
    shutil.copytree(trace, bundle)
    check(driver, bundle, trace.name)


@pytest.mark.parametrize("trace", FOREIGN, ids=lambda path: path.name.split(".")[0])
def test_a_trace_of_another_tool(driver, tmp_path, trace):
    bundle = tmp_path / "imported"
    done = gpuprof("import", trace, "-o", bundle, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    check(driver, bundle, trace.name)
