# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Uses arrays when the recording is closed, drops streams unread and half read, and reads an empty table."""

import gc
import sys

import gpuprof
import pyarrow

recording = gpuprof.open(sys.argv[1])
right = recording.kernels.to_arrow().to_pydict()
kept = pyarrow.table(recording.kernels)
half = pyarrow.RecordBatchReader.from_stream(recording.ops)
first = half.read_next_batch()
later = pyarrow.RecordBatchReader.from_stream(recording.kernels)
rows = recording.sql("select name, dur_ns from kernels order by dur_ns, name") if len(sys.argv) > 2 else None
table = recording.kernels
for _ in range(50):
    recording.kernels.__arrow_c_stream__()
    recording.kernels.__arrow_c_schema__()
for _ in range(5):
    pyarrow.RecordBatchReader.from_stream(recording.ops).read_next_batch()
schema = pyarrow.schema(recording.kernels)
assert schema.names == recording.kernels.columns
empty = [name for name in recording.tables if "." not in name and len(recording.table(name)) == 0]
assert empty
for name in empty:
    nothing = recording.table(name).to_arrow()
    assert nothing.num_rows == 0 and nothing.column_names == recording.table(name).columns
    recording.table(name).to_polars()
    recording.table(name).to_pandas()
recording.close()
recording.close()
gc.collect()
assert kept.to_pydict() == right
assert later.read_all().to_pydict() == right
kept.validate(full=True)
first.validate(full=True)
half.close()
del half, first
for use in (lambda: table.to_arrow(), lambda: recording.stats("kernels"), lambda: recording.sql("select 1"), lambda: len(table)):
    try:
        use()
    except gpuprof.UsageError as error:
        assert "closed" in str(error) and "gpuprof.open" in str(error)
    else:
        raise AssertionError("a closed recording was read")
