# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Modules that XLA compiled: an imported bundle keeps their bytes, `info` lists them, and `export -f xspace` writes them back."""

import gzip
import json
import os

import pytest

from conftest import ROOT, gpuprof
from xspace_files import field, read_planes

XSPACES = ROOT / "tests" / "golden" / "xspace"
WITH_MODULES = [XSPACES / "jax_conv_mi300.xplane.pb.gz", XSPACES / "jax_te_fused_attn_mi300.xplane.pb.gz", XSPACES / "cpu" / "jax_steps.xplane.pb.gz"]


def modules(path):
    """Program and bytes, by name, as the plane of the file has them."""
    found = {}
    for plane in read_planes(path):
        if plane.name == "/host:metadata":
            for number, stats in plane.metadata_stats.items():
                if "Hlo Proto" in stats:
                    found[plane.names[number]] = (stats.get("program_id", number), bytes(stats["Hlo Proto"]))
    return found


def listed(path):
    (process,) = json.loads(gpuprof("info", "--json", path).out)["processes"]
    return {module["name"]: (module["program_id"], module["size_bytes"]) for module in process["hlo_modules"]}


@pytest.mark.parametrize("source", WITH_MODULES, ids=lambda path: path.name.split(".")[0])
def test_modules_come_back(tmp_path, source):
    original = modules(source)
    assert len(original) >= 3 and all(data for _, data in original.values())
    done = gpuprof("import", source, "-o", tmp_path / "bundle")
    assert done.status == 0, done.err.decode()
    assert gpuprof("verify", tmp_path / "bundle").status == 0
    sizes = {name: (program, len(data)) for name, (program, data) in original.items()}
    assert listed(source) == listed(tmp_path / "bundle") == sizes
    largest = max(original, key=lambda name: len(original[name][1]))
    assert largest in gpuprof("info", tmp_path / "bundle").out.decode()
    for path in (source, tmp_path / "bundle"):
        logdir = tmp_path / f"of_{path.name.split('.')[0]}"
        exported = gpuprof("export", path, "-f", "xspace", "-o", logdir)
        assert exported.status == 0, exported.err.decode()
        (file,) = logdir.rglob("*.xplane.pb")
        assert modules(file) == original


def metadata_plane(entries):
    """A plane with a module for each (id, name, bytes)."""
    plane = field(2, b"/host:metadata") + field(5, field(1, 1) + field(2, field(1, 1) + field(2, b"Hlo Proto")))
    for number, name, data in entries:
        metadata = field(1, number) + field(2, name) + field(5, field(1, 1) + field(6, data))
        plane += field(4, field(1, number) + field(2, metadata))
    return field(1, plane)


def test_long_modules_are_kept_in_parts(tmp_path):
    long = os.urandom(3_500_000)
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(gzip.decompress((XSPACES / "cpu" / "tensorflow_steps.xplane.pb.gz").read_bytes())
                     + metadata_plane([(7, b"long(7)", long), (8, b"empty(8)", b""), (9, b"long(7)", b"x")]))
    assert gpuprof("import", path, "-o", tmp_path / "bundle").status == 0
    exported = gpuprof("export", tmp_path / "bundle", "-f", "xspace", "-o", tmp_path / "logdir")
    assert exported.status == 0, exported.err.decode()
    (file,) = (tmp_path / "logdir").rglob("*.xplane.pb")
    kept = [(number, plane.names[number], bytes(stats["Hlo Proto"])) for plane in read_planes(file) if plane.name == "/host:metadata"
            for number, stats in plane.metadata_stats.items()]
    assert sorted(kept) == [(7, "long(7)", long), (8, "empty(8)", b""), (9, "long(7)", b"x")]


def test_entries_without_a_module_and_modules_that_are_too_long_are_counted(tmp_path):
    path = tmp_path / "host.xplane.pb"
    entry = field(4, field(1, 3) + field(2, field(1, 3) + field(2, b"SYMBOL_MAP")))
    path.write_bytes(gzip.decompress((XSPACES / "cpu" / "tensorflow_steps.xplane.pb.gz").read_bytes())
                     + metadata_plane([(7, b"huge(7)", bytes(65 << 20))])
                     + field(1, field(2, b"/host:metadata") + entry))
    done = gpuprof("info", "--json", path)
    assert done.status == 0, done.err.decode()
    notes = {note["kind"]: note["count"] for note in json.loads(done.out)["import_notes"]}
    assert notes["hlo_module"] == 2
    assert listed(path) == {}
