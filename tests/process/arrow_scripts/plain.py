# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Uses the package with no other one installed: results and their meanings, errors, and what notebooks show."""

import sys
import warnings

import gpuprof

for name in ("pyarrow", "polars", "pandas"):
    sys.modules[name] = None
warnings.simplefilter("error")


def refused(kind, words, use):
    try:
        use()
    except kind as error:
        assert isinstance(error, gpuprof.Error) and all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"not refused: {words}")


with gpuprof.open(sys.argv[1]) as recording:
    assert gpuprof.__version__.count(".") == 2
    assert "kernels" in recording.tables and "stats.kernels" in recording.tables and "kernels" in dir(recording)
    kernels = recording.kernels
    assert len(kernels) > 100 and kernels.select("name").columns == ["name"] and kernels[["dur_ns", "name"]].columns == ["dur_ns", "name"]
    assert "dur_ns: int64  [ns]" in repr(kernels) and "<td>dur_ns</td>" in kernels._repr_html_()
    overview = recording.stats("overview")
    assert overview.run_ns > 0 and overview.to_dict()["run_ns"] == overview.run_ns and "run_ns" in dir(overview)
    assert "in ns" in type(overview).run_ns.__doc__ and "run_ns: " in overview.describe()
    finding = recording.findings[0]
    assert finding.severity in ("high", "medium", "low", "info") and finding.name and finding.gain.method
    assert len(recording.steps) == len(recording.stats("steps").to_dict()["steps"]) > 3
    assert all(step.duration_ns > 0 for step in recording.steps)
    assert len(recording.stats("kernels", by="family").kernels) != len(recording.stats("kernels").kernels)
    assert sum(row.count for row in recording.stats("kernels", steps=(3, 4)).kernels) < sum(row.count for row in recording.stats("kernels").kernels)
    page = recording._repr_html_()
    assert finding.id in page and "<script" not in page and "src=" not in page
    assert "<table>" in recording.steps._repr_html_() and "<details>" in overview._repr_html_()
    assert recording.faults == []
    refused(gpuprof.UsageError, ["no table 'kernel'", "kernels"], lambda: recording.table("kernel"))
    refused(gpuprof.UsageError, ["no column 'nam'", "dur_ns"], lambda: kernels.select(["nam"]))
    refused(gpuprof.UsageError, ["needs a column"], lambda: kernels.select([]))
    refused(gpuprof.UsageError, ["no pass 'kernel'", "kernels"], lambda: recording.stats("kernel"))
    refused(gpuprof.UsageError, ["no pass has the option", "under_range"], lambda: recording.stats("kernels", colour=3))
    refused(gpuprof.UsageError, ["steps cannot be"], lambda: recording.stats("kernels", steps=3))
    refused(gpuprof.UsageError, ["has no key", "family"], lambda: recording.stats("kernels", by="colour"))
    refused(gpuprof.UsageError, ["is not a file"], lambda: recording.sql("select 1", library="/nonexistent/libduckdb.so"))
    refused(gpuprof.MissingLibraryError, ["libduckdb.so"], lambda: recording.sql("select 1", library=__file__))
    refused(gpuprof.MissingLibraryError, ["pip install pyarrow"], kernels.to_arrow)
    refused(gpuprof.MissingLibraryError, ["pip install polars"], kernels.to_polars)
    for name in ("kernel", "_private"):
        try:
            getattr(recording, name)
        except AttributeError as error:
            assert name in str(error)
        else:
            raise AssertionError(name)
refused(gpuprof.RecordingError, ["nonexistent"], lambda: gpuprof.open("/nonexistent/run"))
