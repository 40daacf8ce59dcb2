# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Files of other tools: what gpuprof reads it also reads compressed, in archives and in folders of ranks. What it does not
read it names, with what to do."""

import gzip
import io
import json
import lzma
import pathlib
import pickle
import shutil
import sqlite3
import struct
import subprocess
import tarfile
import bz2
import zipfile

import pytest

from conftest import ROOT, gpuprof, needs

KINETO = ROOT / "tests/golden/kineto/h200_streams.json.gz"
XSPACE = ROOT / "tests/golden/xspace/tpu_inference.xplane.pb.gz"
EVENTS = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(9)]}
TEXT = json.dumps(EVENTS).encode()


def ops(path):
    done = gpuprof("stats", "ops", "--json", path)
    assert done.status == 0, done.err.decode()
    return [(row["name"], row["count"]) for row in json.loads(done.out)["ops"]]


def refused(path, *verb):
    done = gpuprof(*(verb or ("info",)), path)
    assert (done.status, done.out) == (3, b""), (done.status, done.out)
    return done.err.decode()


def zipped(path, members, **how):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


# What is read


@needs("zstd")
def test_zstd_is_read(tmp_path):
    plain = tmp_path / "t.json"
    plain.write_bytes(TEXT)
    subprocess.run(["zstd", "-q", str(plain)], check=True)
    plain.unlink()
    assert ops(tmp_path / "t.json.zst") == [("aten::mm", 9)]
    assert ops(tmp_path) == [("aten::mm", 9)]
    cut = tmp_path / "cut.zst"
    cut.write_bytes((tmp_path / "t.json.zst").read_bytes()[:-6])
    done = gpuprof("stats", "ops", cut)
    assert done.status == 3 and "cut" in done.err.decode() and "inflated" in done.err.decode()


@needs("zstd")
@pytest.mark.parametrize("how", ["zstd", "zip"])
def test_a_compressed_xspace_is_read(tmp_path, how):
    whole = gzip.decompress(XSPACE.read_bytes())
    plain = tmp_path / "host.xplane.pb"
    plain.write_bytes(whole)
    wanted = gpuprof("stats", "overview", "--json", plain)
    assert wanted.status == 0
    if how == "zstd":
        subprocess.run(["zstd", "-q", str(plain)], check=True)
        path = tmp_path / "host.xplane.pb.zst"
    else:
        run = "log/plugins/profile/2026_01_02_03_04_05/"
        path = zipped(tmp_path / "log.zip", {run + "host.xplane.pb": whole, run + "host.trace.json": TEXT, "log/plugins/profile/2025_01_02_03_04_05/old.xplane.pb": b""})
    found = gpuprof("stats", "overview", "--json", path)
    assert found.status == 0, found.err.decode()
    wanted, found = json.loads(wanted.out), json.loads(found.out)
    assert found["steps"] == wanted["steps"] and found["processes"] and len(found["processes"]) == len(wanted["processes"])


@pytest.mark.parametrize("names", [["rank0.json", "rank1.json"], ["job/rank0/pt.trace.json", "job/rank1/pt.trace.json"], ["only"]])
def test_an_archive_of_traces_is_read(tmp_path, names):
    members = {name: TEXT for name in names}
    if len(names) > 1:
        members.update({"__MACOSX/._rank0.json": b"x", ".DS_Store": b"x", "job/settings.json": b"{}", "readme.txt": b"hello"})
    archive = zipped(tmp_path / "traces.zip", members)
    assert ops(archive) == [("aten::mm", 9 * len(names))]
    done = gpuprof("info", archive)
    assert all(name in done.out.decode() for name in names)


def test_compressed_members_and_stored_ones_are_read(tmp_path):
    archive = zipped(tmp_path / "t.zip", {"a.json.gz": gzip.compress(TEXT)}, compresslevel=0)
    assert ops(archive) == [("aten::mm", 9)]


def test_a_folder_of_rank_folders_is_read(tmp_path):
    for rank in range(2):
        folder = tmp_path / f"job/rank{rank}"
        folder.mkdir(parents=True)
        (folder / "pt.trace.json").write_bytes(TEXT)
        (folder / "settings.json").write_text("{}")
    assert ops(tmp_path / "job") == [("aten::mm", 18)]
    assert ops(tmp_path) == [("aten::mm", 18)]
    done = gpuprof("info", tmp_path / "job")
    assert "rank0/pt.trace.json" in done.out.decode() and "rank1/pt.trace.json" in done.out.decode()


def test_an_archive_is_imported_and_verified(tmp_path):
    archive = zipped(tmp_path / "t.zip", {"a.json": TEXT, "b.json": TEXT})
    done = gpuprof("import", archive, "-o", tmp_path / "bundle")
    assert done.status == 0, done.err.decode()
    assert ops(tmp_path / "bundle") == [("aten::mm", 18)]


# What is broken


def test_a_damaged_member_is_named_with_its_place(tmp_path):
    archive = zipped(tmp_path / "t.zip", {"a.json": TEXT, "b.json": KINETO.read_bytes()})
    whole = bytearray(archive.read_bytes())
    at = whole.index(b"a.json") + len("a.json") + 40
    whole[at] ^= 0xFF
    archive.write_bytes(bytes(whole))
    done = gpuprof("stats", "ops", archive)
    assert done.status == 3 and b"mm" in done.out
    assert "t.zip: a.json" in done.err.decode() and "damaged behind byte" in done.err.decode()


def test_a_cut_archive_is_told(tmp_path):
    archive = zipped(tmp_path / "t.zip", {"a.json": TEXT})
    archive.write_bytes(archive.read_bytes()[:-30])
    assert "the list of this zip archive is missing" in refused(archive)


def test_an_encrypted_member_is_told(tmp_path):
    archive = zipped(tmp_path / "t.zip", {"a.json": TEXT})
    whole = bytearray(archive.read_bytes())
    whole[6] |= 1
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(bytes(whole))
    assert "a.json: this member is encrypted" in refused(archive)


@pytest.mark.parametrize("bytes_left", [5, 15, 60])
def test_a_cut_gzip_is_told(tmp_path, bytes_left):
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(TEXT)[:bytes_left])
    done = gpuprof("stats", "ops", path)
    assert done.status == 3 and ("cannot be inflated" in done.err.decode() or "cut or damaged" in done.err.decode()), done.err


# What is not read


def tar_of(mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        member = tarfile.TarInfo("rank0.json")
        member.size = len(TEXT)
        archive.addfile(member, io.BytesIO(TEXT))
    return out.getvalue()


def sqlite(path):
    with sqlite3.connect(path) as database:
        database.execute("create table CUPTI_ACTIVITY_KIND_KERNEL (start int)")
    return path.read_bytes()


def tfevents():
    event = b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2"
    return struct.pack("<Q", len(event)) + bytes(4) + event + bytes(4)


def perfetto():
    packet = b"\x50\x01" + b"\x40\x80\x01"  # the sequence, and a time
    return b"".join(b"\x0a" + bytes([len(packet)]) + packet for _ in range(9))


FOREIGN = {
    "xz.json.xz": (lzma.compress(TEXT), "compressed by xz", "xz -d"),
    "bz.json.bz2": (bz2.compress(TEXT), "compressed by bzip2", "bzip2 -d"),
    "lz.json.lz4": (b"\x04\x22\x4d\x18" + bytes(20), "compressed by lz4", "lz4 -d"),
    "ranks.tar": (tar_of("w"), "a tar archive", "tar -xf"),
    "ranks.tgz": (tar_of("w:gz"), "a tar archive", "tar -xf"),
    "wide.json": (json.dumps(EVENTS).encode("utf-16"), "text in UTF-16", "iconv -f UTF-16"),
    "wide_le.json": (json.dumps(EVENTS).encode("utf-16-le"), "text in UTF-16", "iconv -f UTF-16LE"),
    "wide_be.json": (json.dumps(EVENTS).encode("utf-16-be"), "text in UTF-16", "iconv -f UTF-16BE"),
    "run.sqlite": (None, "an SQLite database without the tables of `nsys export`", "exports of Nsight Systems"),
    "7_results.db": (None, "a database of rocprofv3 (rocpd)", "rocprofv3 --output-format json"),
    "run.nsys-rep": (b"\x00\x01\x02" * 50, "a report of Nsight Systems", "nsys export --type sqlite"),
    "run.ncu-rep": (b"NVR\0" + bytes(90), "a report of Nsight Compute", "ncu-ui"),
    "thing.pickle": (pickle.dumps({"a": 1}, protocol=4), "pickle", "torch.cuda.memory._dump_snapshot"),
    "table.parquet": (b"PAR1" + bytes(90), "Parquet", "name a bundle"),
    "table.arrow": (b"ARROW1\0\0" + bytes(90), "Arrow", "name a bundle"),
    "table.h5": (b"\x89HDF\r\n\x1a\n" + bytes(90), "HDF5", "name a bundle"),
    "program": (pathlib.Path(shutil.which("true")).read_bytes(), "a program or a library", "gpuprof run"),
    "page.html": (b"\n<!DOCTYPE html><html></html>", "a page of HTML", "name a bundle"),
    "report.html": (b"<!doctype html><script id='gpuprof-manifest'>{}</script>", "a report of gpuprof", "open it in a browser"),
    "events.out.tfevents.1.host": (tfevents(), "tfevents", "plugins/profile"),
    "t.perfetto-trace": (perfetto(), "a trace of Perfetto", "traceconv json"),
    "unnamed": (perfetto(), "a trace of Perfetto", "traceconv json"),
    "perf.data": (b"PERFILE2" + bytes(90), "Linux perf", "perf report"),
    "scope.json": (b'{"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": []}', "speedscope", "export_chrome_trace"),
    "execution.json": (b'{"schema": "1.1.1-chakra.0.0.4", "nodes": []}', "an execution trace of PyTorch", "export_chrome_trace"),
    "v8.json": (b'{"nodes": [], "samples": [], "timeDeltas": []}', "V8", "gpuprof run"),
    "snapshot.json": (b'{"segments": [], "device_traces": []}', "a snapshot of PyTorch's memory", "torch.cuda.memory._dump_snapshot"),
    "empty.json": (b"", "the file is empty", "record again"),
    "empty.gpt": (b"", "the file is empty", "record again"),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("verb", [["info"], ["stats", "overview"]], ids=" ".join)
def test_other_files_are_named(tmp_path, name, verb):
    content, what, remedy = FOREIGN[name]
    path = tmp_path / name
    path.write_bytes(sqlite(tmp_path / name) if content is None else content)
    words = refused(path, *verb)
    assert words.startswith(f"gpuprof: {path}: ") and words.count("\n") == 1, words
    assert what in words and remedy in words, words


@pytest.mark.parametrize("name", ["xz.json.xz", "run.sqlite", "thing.pickle", "table.parquet"])
def test_other_files_are_named_behind_a_compression_and_in_an_archive(tmp_path, name):
    content, what, remedy = FOREIGN[name]
    content = sqlite(tmp_path / "run.sqlite") if content is None else content
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(content))
    words = refused(packed)
    assert what in words and remedy in words, words
    words = refused(zipped(tmp_path / "t.zip", {"inner": content}))
    assert "zip archive" in words and "inner" in words and what in words, words


def test_a_bundle_in_an_archive_is_told(tmp_path):
    words = refused(zipped(tmp_path / "t.zip", {"b/bundle.pb": b"x", "b/p1-1.gpt": b"x"}))
    assert "a bundle of gpuprof is in it; unpack it" in words
    assert "no file is in it" in refused(zipped(tmp_path / "empty.zip", {}))


def test_a_folder_of_bundles_names_them(tmp_path):
    for rank in range(5):
        (tmp_path / f"job/rank{rank}").mkdir(parents=True)
        (tmp_path / f"job/rank{rank}/bundle.pb").write_bytes(b"")
    words = refused(tmp_path / "job")
    assert "bundles are in it (rank0, rank1, rank2 and others); name one" in words, words


def test_a_folder_with_a_foreign_report_names_it(tmp_path):
    (tmp_path / "run.nsys-rep").write_bytes(b"\x01" * 99)
    assert "the folder has no trace. run.nsys-rep: this is a report of Nsight Systems" in refused(tmp_path)


def test_traces_of_other_programs_in_the_format_of_chrome_are_read(tmp_path):
    """Those of TensorBoard and of Perfetto's converter are events without the categories of torch.profiler."""
    events = [{"ph": "M", "pid": 3, "name": "process_name", "args": {"name": "/device:GPU:0"}},
              {"ph": "X", "pid": 3, "tid": 1, "ts": 1.5, "dur": 2, "name": "fusion"}, {}]
    path = tmp_path / "host.trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}).encode()))
    done = gpuprof("stats", "ranges", "--json", path)
    assert done.status == 0 and [row["name"] for row in json.loads(done.out)["ranges"]] == ["fusion"], done.err.decode()
