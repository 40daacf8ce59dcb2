# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Compares the files of `gpuprof export -f arrow` with the tables themselves, as three libraries read them."""

import pathlib
import sys

import gpuprof
import pandas
import polars
import pyarrow.ipc

recording, folder = gpuprof.open(sys.argv[1]), pathlib.Path(sys.argv[2])
full = {name for name in recording.tables if "." not in name and len(recording.table(name)) != 0}
assert {path.stem for path in folder.iterdir()} == full and len(full) > 5
for name in full:
    path, right = folder / f"{name}.arrow", recording.table(name).to_arrow()
    found = pyarrow.ipc.open_file(str(path)).read_all()
    found.validate(full=True)
    assert found.schema.equals(right.schema, check_metadata=True), name
    assert found.equals(right), name
    assert polars.read_ipc(str(path)).height == right.num_rows
    assert len(pandas.read_feather(str(path))) == right.num_rows
