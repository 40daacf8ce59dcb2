# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""No name in a trace and no name of a file reaches a terminal, a spreadsheet or a pull request as it is. Every verb and
every format is asked; the lists come from the command itself."""

import csv
import dataclasses
import gzip
import io
import json
import os
import pty
import re
import shutil
import subprocess
import unicodedata

import pytest

from conftest import GPUPROF, clean_environment, gpuprof, needs
from waiting import LIMIT_S

# Commands to a terminal, marks of direction, letters without a picture, separators, and what begins a formula.
HOSTILE = "\x1b[2J\x07\x7f\x9b2J\r\t\u202e\u2066\u200b\u2028\u2029\u00ad\u034f\u115f\u180e\u3164\ufe0f\ufeff\U000e0041\U000e0100"
NAME = "=cmd|'/c calc'!A0;=1;" + HOSTILE + "`|<b>[x](y)"
UNSEEN = {c for c in HOSTILE if c not in "[2J"}
# Verbs that read no trace, each with what it is asked here. A new verb must come to one of these lists.
OF_A_TRACE = ["stats", "advise", "try", "diff", "report", "baseline", "info", "verify", "dump", "query", "export", "import", "recover"]
OTHER_VERBS = ["run", "ctl", "attach", "detach", "ps", "agent", "capture", "serve", "mcp", "schema", "doctor", "env", "inject", "install", "completions", "help", "version"]


def hostile_trace():
    """A trace of torch.profiler with the name in every field that has a text."""
    def name(what):
        return f"{NAME}{what}"

    def span(category, what, start, length, tid=1, pid=1, **args):
        return {"ph": "X", "cat": category, "name": name(what), "pid": pid, "tid": tid, "ts": start, "dur": length, "args": args}

    events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": name("process")}},
              {"ph": "M", "name": "process_labels", "pid": 1, "args": {"labels": name("labels")}},
              {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": name("thread")}}]
    for step in range(8):
        at = 1000 * step
        events += [
            {**span("user_annotation", "", at, 900), "name": f"ProfilerStep#{step}"},
            span("user_annotation", "range", at + 1, 800),
            span("cpu_op", "op", at + 10, 300, **{"External id": step + 1, "Input Dims": [[name("shape")]], "Input type": [name("type")], "Sequence number": step}),
            span("cuda_runtime", "call", at + 20, 5, correlation=step + 1),
            {**span("cuda_runtime", "", at + 30, 5, correlation=100 + step), "name": "cudaLaunchKernel"},
            span("kernel", "kernel", at + 40, 100, pid=0, tid=7, device=0, stream=7, correlation=100 + step, grid=[1, 1, 1], block=[32, 1, 1], **{"Collective name": name("collective")}),
            span("gpu_memcpy", "copy", at + 200, 20, pid=0, tid=7, device=0, stream=7, correlation=step + 1, bytes=64),
            span("cuda_sync", "sync", at + 230, 20, pid=0, tid=7, device=0, stream=7, correlation=step + 1, cuda_sync_kind=name("kind")),
            span("python_function", "python", at + 5, 700, **{"Python id": step, "Python parent id": None}),
            span(name("category"), "plain", at + 5, 10, tid=name("thread by name")),
            span("overhead", "overhead", at + 3, 1),
            {"ph": "C", "name": name("counter"), "pid": 1, "tid": 1, "ts": at, "args": {name("series"): step}},
            {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": at, "args": {"Device Type": 1, "Device Id": 0, "Addr": 1, "Bytes": 64 if step % 2 == 0 else -64, "Total Allocated": 64, "Total Reserved": 64}},
            {"ph": "B", "cat": name("category"), "name": name("begin"), "pid": 1, "tid": 2, "ts": at},
            {"ph": "?", "name": name("phase"), "pid": 1, "tid": 2, "ts": at},
            span("cpu_op", "of a named process", at, 5, pid=name("process by name")),
        ]
    return {"schemaVersion": 1, "host_name": name("host"), "deviceProperties": [{"id": 0, "name": name("device"), "totalGlobalMem": 1 << 30}],
            "distributedInfo": {"rank": 0, "world_size": 2, "backend": name("backend")}, "traceEvents": events}


@pytest.fixture(name="trace", scope="module")
def _trace(tmp_path_factory):
    """The trace, in a folder and under a name that are hostile, too."""
    folder = tmp_path_factory.mktemp("hostile") / NAME.replace("/", "_")[:60]
    folder.mkdir()
    path = folder / (HOSTILE + ".json.gz")
    path.write_bytes(gzip.compress(json.dumps(hostile_trace()).encode()))
    return path


@pytest.fixture(name="bundle", scope="module")
def _bundle(trace):
    path = trace.parent / (HOSTILE + "bundle")
    done = gpuprof("import", trace, "-o", path)
    assert done.status == 0, done.err
    return path


def check(done, statuses=(0,), is_csv=False):
    assert done.status in statuses, (done.status, done.err[-2000:])
    for text in (done.out.decode(), done.err.decode()):
        text = text.replace("\r\n", "\n") if is_csv else text
        raw = {c for c in set(text) if c in UNSEEN or (unicodedata.category(c) == "Cc" and c != "\n")}
        assert not raw, (raw, [line for line in text.splitlines() if raw & set(line)][:3])
    return done


def help_of(verb):
    return gpuprof("help", verb).out.decode()


def passes():
    return re.search(r"^  (\w+(?:\|\w+)+)$", help_of("stats"), re.M)[1].split("|")


def keys():
    """The keys of each pass, from "Key of ops: name, type; of kernels: name"."""
    listed = re.search(r"Key of (.*)", help_of("stats"))[1]
    return {pair.split(": ")[0].removeprefix("of "): pair.split(": ")[1].split(", ") for pair in listed.split("; ")}


def test_every_verb_is_in_a_list():
    verbs = re.findall(r"^  (\w+) {2,}\S", gpuprof("help").out.decode().split("Verbs:\n")[1], re.M)
    assert sorted(verbs) == sorted(OF_A_TRACE + OTHER_VERBS)


@pytest.mark.parametrize("form", [[], ["--wide", "--limit=0"], ["--json"], ["--csv"]], ids=["text", "wide", "json", "csv"])
@pytest.mark.parametrize("of", ["trace", "bundle"])
def test_no_pass_shows_a_name_as_it_is(request, of, form):
    path = request.getfixturevalue(of)
    all_keys = keys()
    seen = set()
    for name in passes():
        for by in [None, *all_keys.get(name, [])]:
            done = gpuprof("stats", name, path, *form, *(["--by", by] if by else []))
            if form == ["--csv"] and done.status == 2:
                continue  # the pass has no table
            check(done, (0, 2, 3), is_csv=form == ["--csv"])
            seen |= set(re.findall(r"\\u202e", done.out.decode()))
            if form == ["--csv"]:
                for row in csv.reader(io.StringIO(done.out.decode())):
                    assert not [cell for cell in row for part in cell.split(";") if part.lstrip()[:1] in ("=", "@")], row
    assert seen, "the names are in no output: the test shows nothing"


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]], ids=["text", "json", "csv"])
def test_no_other_verb_shows_a_name_as_it_is(trace, bundle, tmp_path, form):
    is_csv = form == ["--csv"]
    baselines = ["--baseline-dir", tmp_path / ("baselines" + HOSTILE)]
    json_only = [] if is_csv else form
    for path in (trace, bundle):
        check(gpuprof("advise", path, *form), (0, 3), is_csv)
        check(gpuprof("advise", path, "--all", *form), (0, 3), is_csv)
        check(gpuprof("try", path, "--list", "--set", f"A={HOSTILE}", *form), (0, 3), is_csv)
        check(gpuprof("try", path, "--list", "--set", f"{HOSTILE}=1", *form), (2,))
        check(gpuprof("diff", path, path, *form), (0, 3), is_csv)
        check(gpuprof("info", path, *json_only), (0, 3))
        check(gpuprof("dump", path), (0, 3))
        check(gpuprof("verify", path, *json_only), (0, 3))
        for to in ("chrome", "xspace"):
            check(gpuprof("export", "--format", to, path, "-o", tmp_path / f"{HOSTILE}{path.name[-6:]}{to}{len(form)}{form}"), (0, 2, 3))
        check(gpuprof("export", path, "-o", "-"), (0, 2, 3))
        check(gpuprof("report", path, "-o", tmp_path / f"{HOSTILE}{path.name[-6:]}{form}.html"), (0, 3))
        check(gpuprof("import", path, "-o", tmp_path / f"{HOSTILE}{path.name[-6:]}{form}"), (0, 2, 3))
    check(gpuprof("diff", bundle, trace, "--format=markdown"))
    check(gpuprof("verify", bundle, bundle, *json_only), (0, 3))
    check(gpuprof("recover", bundle), (0, 3))
    check(gpuprof("baseline", "save", "main", trace, *baselines))
    check(gpuprof("baseline", "list", *json_only, *baselines))
    check(gpuprof("diff", "--baseline", "main", trace, "--format=markdown", *baselines))
    check(gpuprof("diff", "--baseline", "main", trace, *baselines))


@pytest.mark.parametrize("verb", OF_A_TRACE + ["serve", "run", "ctl", "env", "inject", "install", "completions", "help"])
def test_no_error_shows_a_name_as_it_is(tmp_path, verb):
    words = {"stats": ["overview"], "run": ["--"], "baseline": ["save", "x"], "inject": ["-f"]}.get(verb, [])
    broken = tmp_path / (HOSTILE + "t.json.gz")
    broken.write_bytes(b"\x1f\x8b broken")
    other = tmp_path / (HOSTILE + "t.zip")
    other.write_bytes(b"PK\x03\x04")
    for path in (tmp_path / ("absent" + HOSTILE), broken, other):
        options = ["-o", "-"] if verb == "env" else []
        check(gpuprof(verb, *words, *([] if verb == "env" else [path]), *options), range(0, 128))
        check(gpuprof(verb, *words, path, f"--{HOSTILE}"), range(0, 128))
    check(gpuprof(HOSTILE), range(0, 128))
    if verb == "stats":
        check(gpuprof("stats", HOSTILE, tmp_path), (2,))
        check(gpuprof("stats", "ops", "--by", HOSTILE, tmp_path), (2, 3))


def test_names_of_a_manifest_are_not_shown_as_they_are(tmp_path):
    """What libyaml lets through: names of workloads, containers and anchors come back in words for people."""
    name = json.dumps(NAME)
    workload = f"kind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers: [{{name: {name}, env: [{{name: GPUPROF_BUNDLE, value: x}}]}}]\n"
    for text in (workload, workload + "---\n" + workload, workload.replace("Pod", NAME.translate({ord(c): None for c in "\x1b\x07\x7f\x9b:\r\t"}), 1),
                 workload.replace("containers", "container"), workload.replace("containers: [", "containers: ![")):
        path = tmp_path / "m.yaml"
        path.write_text(text)
        done = gpuprof("inject", "-f", path)
        assert done.status in (0, 2)
        check(dataclasses.replace(done, out=b""), (0, 2))


def test_a_terminal_is_shown_no_word_of_a_shell_as_it_is(tmp_path):
    """What `env` prints is for a shell: as it is into a pipe, with the shell's own escapes on a terminal."""
    bundle = tmp_path / ("b" + HOSTILE.replace("\r", "").replace("\t", ""))
    piped = gpuprof("env", "-o", bundle)
    assert piped.status == 0 and str(bundle) in piped.out.decode()
    main, side = pty.openpty()
    done = subprocess.run([str(GPUPROF), "env", "-o", str(bundle)], stdout=side, stderr=subprocess.PIPE, env=clean_environment(), timeout=LIMIT_S, check=False)
    os.close(side)
    shown = b""
    try:
        while piece := os.read(main, 65536):
            shown += piece
    except OSError:
        pass  # the other end is closed
    os.close(main)
    assert done.returncode == 0
    text = shown.decode().replace("\r\n", "\n")
    assert not {c for c in text if c in UNSEEN or (unicodedata.category(c) == "Cc" and c != "\n")}
    line = next(line for line in text.splitlines() if "GPUPROF_BUNDLE=" in line)
    told = subprocess.run(["bash", "-c", line + '; printf %s "$GPUPROF_BUNDLE"'], capture_output=True, check=True).stdout
    assert told.decode() == str(bundle)


@needs("node")
def test_every_character_that_is_not_seen_is_told(tmp_path):
    """Another program's tables of Unicode say which these are."""
    wanted = subprocess.run([shutil.which("node"), "-e", r"""
        const found = [];
        for (let c = 0xa0; c < 0x110000; c++)
          if (/[\p{Default_Ignorable_Code_Point}\u2028\u2029]/u.test(String.fromCodePoint(c))) found.push(c);
        console.log(found.join(" "));"""], capture_output=True, check=True, text=True).stdout.split()
    wanted = {int(code) for code in wanted}
    codes = [code for code in range(0xa0, 0x110000) if not 0xd800 <= code < 0xe000 and (code < 0x20000 or code >= 0xe0000) and code < 0xe2000]
    events = []
    for at in range(0, len(codes), 64):
        text = "x".join(chr(code) for code in codes[at:at + 64])
        events.append({"ph": "X", "cat": "cpu_op", "name": f"x{text}x", "pid": 1, "tid": 1, "ts": at, "dur": 1})
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}))
    shown = set(check(gpuprof("dump", path)).out.decode())
    assert {code for code in codes if chr(code) not in shown} - {0xfff9, 0xfffa, 0xfffb} == {c for c in codes if c < 0xa0} | (wanted & set(codes))
