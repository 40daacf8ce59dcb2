# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Statistics that XProf keeps next to XSpaces (ALL_HOSTS.op_stats_v2.pb) give the pages that the XSpaces give. What has no events is said."""

import gzip
import json
import random
import shutil

import pytest

from conftest import gpuprof
from test_xprof_format import FILES, GOLDEN, PAGES, copies, differences, needs_xprof, reference

EXIT_CUT = 3
STORED = GOLDEN / "ALL_HOSTS.op_stats_v2.pb"  # made by xprof 2.24.0 of SOURCE
SOURCE = GOLDEN / "cpu" / "tensorflow_steps.xplane.pb.gz"


def page(name, source):
    done = gpuprof("stats", name, source, "--format=xprof")
    assert done.status == 0, (name, str(source), done.err.decode())
    return json.loads(done.out)


@pytest.mark.parametrize("name", PAGES)
def test_a_stored_file_gives_the_pages_of_its_xspace(name):
    assert list(differences(page(name, STORED), page(name, SOURCE))) == []


@needs_xprof
def test_files_of_xprof_give_its_own_pages(tmp_path):
    folders = [tmp_path / str(number) for number in range(len(FILES))]
    runs = [copies([path], folder) for path, folder in zip(FILES, folders)]
    pages = reference(runs, *PAGES.values())
    compared, steps = 0, 0
    for path, folder, theirs in zip(FILES, folders, pages):
        stored = folder / "ALL_HOSTS.op_stats_v2.pb"
        if not stored.exists():
            continue
        for name, tool in PAGES.items():
            found = list(differences(page(name, stored), json.loads(theirs[tool])))
            assert not found, (path.name, name, found[:3])
            compared += 1
        steps += b"StepBreakdown" in stored.read_bytes()
    assert compared >= 40 and steps > 0, (compared, steps)


def test_a_folder_with_both_is_read_once(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(SOURCE, run / "host.xplane.pb.gz")
    before = {name: page(name, run) for name in PAGES}
    count = json.loads(gpuprof("info", "--json", run).out)["count"]
    # Another run's figures would be seen.
    shutil.copy(STORED, run / STORED.name)
    assert {name: page(name, run) for name in PAGES} == before
    assert json.loads(gpuprof("info", "--json", run).out)["count"] == count


def test_a_folder_of_statistics_alone(tmp_path):
    shutil.copy(STORED, tmp_path)
    alone = page("overview", tmp_path)
    # Those of all hosts have the others in them.
    shutil.copy(STORED, tmp_path / "host.op_stats_v2.pb")
    shutil.copy(STORED, tmp_path / "ALL_HOSTS.op_stats.pb")
    assert page("overview", tmp_path) == alone
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "ALL_HOSTS.op_stats_v2.pb.gz").write_bytes(gzip.compress(STORED.read_bytes()))
    assert page("overview", packed / "ALL_HOSTS.op_stats_v2.pb.gz") == alone


@pytest.mark.parametrize("verb", [["stats", "overview"], ["info"], ["dump"], ["import", "-o", "new"], ["stats", "kernels", "--json"]], ids=" ".join)
def test_what_needs_events_names_the_file_that_has_them(tmp_path, verb):
    shutil.copy(STORED, tmp_path)
    for path in (tmp_path / STORED.name, tmp_path):
        done = gpuprof(*verb, path, cwd=tmp_path) if verb[0] != "import" else gpuprof("import", path, "-o", tmp_path / "new")
        assert done.status == EXIT_CUT, done
        assert b"--format=xprof" in done.err and b"HOST.xplane.pb" in done.err, done.err
    done = gpuprof("stats", "memory_profile", STORED, "--format=xprof")
    assert done.status == EXIT_CUT and b"HOST.xplane.pb" in done.err


def test_damaged_files_are_refused_or_read(tmp_path):
    text = STORED.read_bytes()
    chance = random.Random(3)
    path = tmp_path / STORED.name
    read = 0
    for i in range(60):
        damaged = bytearray(text)
        for _ in range(chance.choice((1, 5, 50))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged[:chance.randrange(len(damaged))] if i % 4 == 0 else damaged)
        done = gpuprof("stats", random.Random(i).choice(sorted(PAGES)), path, "--format=xprof")
        assert done.status in (0, EXIT_CUT), done
        read += done.status == 0
        if done.status == 0:
            json.loads(done.out)
    assert 0 < read < 60
    for other in (b"", b"\x0a", b"x" * 1000, b"\x2a\x02\x80\x01"):
        path.write_bytes(other)
        assert gpuprof("stats", "ops", path, "--format=xprof").status in (0, EXIT_CUT)


def test_statistics_of_tpus_are_refused(tmp_path):
    path = tmp_path / STORED.name
    # RunEnvironment.hardware_type 3, of two bytes.
    path.write_bytes(b"\x2a\x03\x80\x01\x03")
    done = gpuprof("stats", "overview", path, "--format=xprof")
    assert done.status == EXIT_CUT and b"TPU" in done.err
