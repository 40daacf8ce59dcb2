# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof baseline` and `gpuprof diff --baseline`: the figures are those of the recording, files are private, and bad ones are refused."""

import csv
import gzip
import io
import json
import os
import stat
import struct

import pytest

from conftest import ROOT, gpuprof

GENERATE = ROOT / "tests/golden/traces/h200/pytorch/generate"
IMAGES = ROOT / "tests/golden/traces/h200/pytorch/images"
STREAMS = ROOT / "tests/golden/kineto/h200_streams.json.gz"
OTHER = 61001


@pytest.fixture(name="folder")
def _folder(tmp_path):
    return tmp_path / "baselines"


def run(folder, verb, *words, status=0, **more):
    done = gpuprof(verb, *words, "--baseline-dir", folder, **more)
    assert done.status == status, (done.status, done.out.decode(), done.err.decode())
    return done.out.decode()


def said(folder, *words, status, **more):
    done = gpuprof(*words, "--baseline-dir", folder, **more)
    assert (done.status, done.out) == (status, b""), (done.status, done.out, done.err)
    return done.err.decode()


@pytest.mark.parametrize("before, after", [(GENERATE, GENERATE), (IMAGES, GENERATE), (STREAMS, IMAGES)], ids=["same", "other", "kineto"])
def test_a_baseline_gives_the_figures_of_its_recording(folder, before, after):
    run(folder, "baseline", "save", "main", before)
    saved = json.loads(run(folder, "diff", "--baseline", "main", after, "--json"))
    recorded = json.loads(run(folder, "diff", before, after, "--json"))
    assert saved.pop("baseline_name") == "main" and recorded.pop("baseline_name") == ""
    assert saved.pop("baseline_saved_realtime_ns") > 0 and recorded.pop("baseline_saved_realtime_ns") == 0
    assert saved == recorded and saved["kernels"] and saved["ops"]
    for form in ("text", "markdown"):
        lines = run(folder, "diff", "--baseline", "main", after, f"--format={form}")
        without = run(folder, "diff", before, after, f"--format={form}")
        assert f"Before: the baseline {'main' if form == 'text' else '`main`'}, saved " in lines
        assert [line for line in without.splitlines() if line.startswith("  ") or line.startswith("|")] == [
            line for line in lines.splitlines() if line.startswith("  ") or line.startswith("|")]


def test_no_path_is_markdown(folder, tmp_path):
    """The text is made to be put into a pull request, and a path is anybody's choice."""
    hostile = tmp_path / "![x](y) <img src=x> @all `a`` b|c\u202e"
    hostile.mkdir()
    recording = hostile / "t.json.gz"
    recording.write_bytes(STREAMS.read_bytes())
    run(folder, "baseline", "save", "main", recording)
    text = run(folder, "diff", "--baseline", "main", recording, "--format=markdown")
    shown = str(recording).replace("\u202e", "\\u202e")
    assert f" of ```{shown}```." in text and "\u202e" not in text


def test_csv_has_the_kernels_as_json_has_them(folder):
    run(folder, "baseline", "save", "main", IMAGES)
    for sides in ((IMAGES, GENERATE), ("--baseline", "main", GENERATE)):
        kernels = json.loads(run(folder, "diff", *sides, "--json"))["kernels"]
        table = run(folder, "diff", *sides, "--csv")
        assert table == run(folder, "diff", *sides, "--format=csv")
        head, *rows = csv.reader(io.StringIO(table, newline=""))
        assert head == list(kernels[0]) and len(rows) == len(kernels) > 20
        texts = [i for i, name in enumerate(head) if name in ("name", "short_name", "after_name", "family")]
        for row, kernel in zip(rows, kernels):
            values = list(kernel.values())
            assert [row[i] or None for i in texts] == [values[i] for i in texts]
            assert [None if cell == "" else float(cell) for i, cell in enumerate(row) if i not in texts] == \
                [value for i, value in enumerate(values) if i not in texts]
        assert any(cell == "" for row in rows for cell in row)  # a kernel of one side alone


def test_csv_and_json_exclude_each_other(folder):
    assert "--json and --csv exclude each other" in said(folder, "diff", IMAGES, GENERATE, "--json", "--csv", status=2)
    assert "choose from text, markdown, json, csv" in said(folder, "diff", IMAGES, GENERATE, "--format=table", status=2)


def test_a_baseline_is_small_and_private(folder):
    os.umask(0o000)
    try:
        run(folder, "baseline", "save", "main", GENERATE)
    finally:
        os.umask(0o022)
    (file,) = folder.iterdir()
    assert file.name == "main.baseline"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert file.stat().st_size < 64 * 1024 < sum(each.stat().st_size for each in GENERATE.iterdir())


def test_the_default_folder_is_that_of_the_users_data(tmp_path):
    env = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": ""}
    assert gpuprof("baseline", "save", "a", GENERATE, env=env).status == 0
    assert (tmp_path / "home/.local/share/gpuprof/baselines/a.baseline").is_file()
    env["XDG_DATA_HOME"] = str(tmp_path / "data")
    assert gpuprof("baseline", "save", "b", GENERATE, env=env).status == 0
    assert (tmp_path / "data/gpuprof/baselines/b.baseline").is_file()
    env["XDG_DATA_HOME"] = "data"  # relative values do not count
    done = gpuprof("baseline", "list", env=env)
    assert done.status == 0 and b" a " in done.out and b" b " not in done.out


def test_list_show_replace_remove(folder):
    assert "No baseline is in" in run(folder, "baseline", "list")
    assert not folder.exists()
    run(folder, "baseline", "save", "main", GENERATE)
    assert "--replace" in said(folder, "baseline", "save", "main", IMAGES, status=3)
    text = run(folder, "baseline", "show", "main")
    assert "NVIDIA H200" in text and "14, median" in text and "fmha_fwd" in text
    shown = json.loads(run(folder, "baseline", "show", "main", "--json"))
    assert shown["name"] == "main" and shown["step_count"] == 14 and shown["device_count"] == 1 and shown["frameworks"] == ["torch 2.11"]
    run(folder, "baseline", "save", "main", IMAGES, "--replace")
    run(folder, "baseline", "save", "v1.2", GENERATE)
    listed = json.loads(run(folder, "baseline", "list", "--json"))
    assert [(each["name"], each["step_count"], each["fault"]) for each in listed["baselines"]] == [("main", 7, ""), ("v1.2", 14, "")]
    assert "main" in run(folder, "baseline", "list")
    run(folder, "baseline", "remove", "main")
    assert [file.name for file in folder.iterdir()] == ["v1.2.baseline"]
    assert "there is no baseline 'main'" in said(folder, "baseline", "remove", "main", status=3)
    assert "Did you mean 'v1.2'?" in said(folder, "diff", "--baseline", "v1.3", GENERATE, status=3)


def test_versions_of_a_kineto_trace_count(folder, tmp_path):
    run(folder, "baseline", "save", "main", STREAMS)
    shown = json.loads(run(folder, "baseline", "show", "main", "--json"))
    with gzip.open(STREAMS) as file:
        document = json.load(file)
    driver = document["cuda_driver_version"]
    assert f"driver for CUDA {driver // 1000}.{driver % 1000 // 10}" in shown["versions"], shown["versions"]
    document["cuda_driver_version"] = driver + 10
    (tmp_path / "newer.json").write_text(json.dumps(document))
    result = json.loads(run(folder, "diff", "--baseline", "main", tmp_path / "newer.json", "--json"))
    same = json.loads(run(folder, "diff", "--baseline", "main", STREAMS, "--json"))["comparability"]
    assert set(result["comparability"]["reasons"]) - set(same["reasons"]) == {"other_versions"}
    assert abs(result["comparability"]["score_ratio"] / same["score_ratio"] - 0.9) < 1e-9


def test_a_regression_fails_a_check(folder, tmp_path):
    run(folder, "baseline", "save", "main", GENERATE)
    run(folder, "diff", "--baseline", "main", GENERATE, "--fail-on", "regression")
    run(folder, "baseline", "save", "fast", GENERATE)
    # Slower by the same factor everywhere: IMAGES' steps take ten times as long.
    run(folder, "diff", "--baseline", "fast", IMAGES, "--fail-on", "regression", status=1)
    (tmp_path / "gpuprof.toml").write_text("[diff]\nbaseline-dir = \"baselines\"\n")
    assert gpuprof("diff", "--baseline", "fast", IMAGES, "--fail-on", "regression", cwd=tmp_path).status == 1
    (tmp_path / "gpuprof.toml").write_text("[diff]\nbaseline-dir = \"/etc\"\n")
    done = gpuprof("diff", "--baseline", "fast", IMAGES, cwd=tmp_path)
    assert done.status == 2 and "is not below the working directory" in done.err.decode()


@pytest.mark.parametrize("name", ["../main", "a/b", "", ".hidden", "-x", "a b", "x" * 101, "\x1b[31m"])
def test_names_lead_nowhere_else(folder, name):
    words = said(folder, "baseline", "save", name, GENERATE, status=2)
    reason = {"": "gpuprof baseline save NAME BUNDLE", "-x": "unknown option '-x'"}.get(name, "is not a name for a baseline")
    assert reason in words, words
    assert not folder.exists() and "\x1b" not in words


@pytest.mark.parametrize("words", [["baseline"], ["baseline", "save"], ["baseline", "save", "a"], ["baseline", "list", "a"],
                                   ["baseline", "keep", "a"], ["diff", "--baseline", "a"], ["diff", "--baseline", "a", "b", "c"]])
def test_missing_and_superfluous_words(folder, words):
    assert said(folder, *words, status=2)


def framed(message):
    """A file of this message whose checksum holds."""
    checksum = 0xcbf29ce484222325
    for byte in message:
        checksum = (checksum ^ byte) * 0x100000001b3 % 2**64
    return struct.pack("<8sIIQQ", b"gpuprofB", 1, 0, len(message), checksum) + message


def test_files_that_are_no_baselines_are_told_apart(folder):
    run(folder, "baseline", "save", "good", GENERATE)
    good = (folder / "good.baseline").read_bytes()
    assert struct.unpack_from("<8sI", good) == (b"gpuprofB", 1)
    contents = {
        "newer": (good[:8] + struct.pack("<I", 7) + good[12:], "was saved by a newer gpuprof: its version is 7, and this gpuprof reads 1"),
        "cut": (good[:-1], f"is cut or damaged: it has {len(good) - 1} bytes, and its header says more; save the baseline again."),
        "bit": (good[:-9] + bytes([good[-9] ^ 1]) + good[-8:], "is cut or damaged: its checksum is wrong; save the baseline again."),
        "longer": (good + b"x", "is cut or damaged: its checksum is wrong; save the baseline again."),
        "foreign": (framed(b"\x90\x01" + b"\xff" * 9 + b"\x01"), "holds figures that no recording has"),  # whole_ns: -1
        "noise": (framed(b"\xff" * 64), "holds figures that no recording has"),
        "short": (good[:20], "is not a baseline of gpuprof"),
        "empty": (b"", "is not a baseline of gpuprof"),
        "text": (b"hello, world; this is a text" * 10, "is not a baseline of gpuprof"),
    }
    for name, (content, words) in contents.items():
        (folder / f"{name}.baseline").write_bytes(content)
        message = said(folder, "diff", "--baseline", name, GENERATE, status=3)
        assert words in message and f"{name}.baseline" in message, message
    os.mkfifo(folder / "pipe.baseline")
    assert "not a regular file" in said(folder, "diff", "--baseline", "pipe", GENERATE, status=3)
    text = run(folder, "baseline", "list", status=3)
    for name in (*contents, "good"):
        assert name in text
    listed = json.loads(run(folder, "baseline", "list", "--json", status=3))
    assert {each["name"] for each in listed["baselines"] if not each["fault"]} == {"good"}


def test_control_characters_of_a_hostile_file_reach_no_terminal(folder):
    row = b"\x0a\x08\x1b[31mbad" + b"\x19" + struct.pack("<d", 1) + b"\x20\x80\x80\x40"
    (folder).mkdir(mode=0o700)
    message = b"\x12\x05\x1b[2Jx" + b"\x90\x01\x80\x80\x40" + b"\x9a\x01" + bytes([len(row)]) + row
    (folder / "main.baseline").write_bytes(framed(message))
    for form in ("text", "markdown", "json", "csv"):
        out = run(folder, "diff", "--baseline", "main", GENERATE, f"--format={form}")
        assert "\x1b" not in out and "bad" in out, form


def test_links_are_not_followed(folder, tmp_path):
    real = tmp_path / "real"
    run(real, "baseline", "save", "main", GENERATE)
    folder.symlink_to(real)
    for words in (["baseline", "save", "b", GENERATE], ["baseline", "list"], ["diff", "--baseline", "main", GENERATE]):
        assert "is a link" in said(folder, *words, status=3)
        assert "is a link" in said(str(folder) + "/", *words, status=3)
    (real / "link.baseline").symlink_to("main.baseline")
    assert said(real, "diff", "--baseline", "link", GENERATE, status=3)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (real / "b.baseline").symlink_to(victim)
    (real / "b.baseline.new").symlink_to(victim)
    run(real, "baseline", "save", "b", GENERATE, "--replace")
    assert victim.read_text() == "precious" and not (real / "b.baseline").is_symlink()


def test_baselines_of_another_user_are_refused(folder):
    if os.geteuid() != 0:
        pytest.skip("needs root to give a folder to another user")
    run(folder, "baseline", "save", "main", GENERATE)
    os.chown(folder, OTHER, OTHER)
    for words in (["baseline", "save", "b", GENERATE], ["baseline", "list"], ["baseline", "remove", "main"], ["diff", "--baseline", "main", GENERATE]):
        assert f"belongs to user {OTHER}, who could change the baselines" in said(folder, *words, status=3)
    assert [file.name for file in folder.iterdir()] == ["main.baseline"]


def test_others_lose_the_right_to_write(folder):
    folder.mkdir()
    folder.chmod(0o777)
    run(folder, "baseline", "save", "main", GENERATE)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_text_fits_a_hundred_columns(folder):
    run(folder, "baseline", "save", "main", IMAGES)
    for words in (["diff", IMAGES, GENERATE], ["diff", "--baseline", "main", GENERATE], ["baseline", "show", "main"], ["baseline", "list"]):
        for line in run(folder, *words, "--width", "100").splitlines():
            assert len(line) <= 100, line
    tables = [line for line in run(folder, "diff", IMAGES, GENERATE).splitlines() if line.startswith("  ")]
    assert max(map(len, tables)) <= 100
    assert max(map(len, run(folder, "diff", IMAGES, GENERATE, "--wide").splitlines())) > 100
