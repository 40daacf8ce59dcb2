# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A real package of C (zlib) configured and built by make and gcc: every file that comes out is that of the bare build, byte for byte.
By default the compilers are left alone. Once each of them is recorded. `make test` builds the library alone, all compilers recorded."""

import hashlib
import shutil

import pytest

from conftest import HEAP_EXACT, needs, run_bare, short_and_long
from real_programs import check_bundle, unpacked

# make's jobs end in any order, so the lines of its output are compared sorted.
LIBRARY = ("./configure --prefix=/nowhere && make -j2 libz.a", {"libz.a", "inflate.o"}, 15)
WHOLE = ("./configure --prefix=/nowhere && make -j2 && make -j2 test", {"libz.a", "inflate.o", "inflate.lo", "example"}, 30)
COMPILERS = "make,gcc,cc,x86_64-linux-gnu-gcc-*,cc1,as,ld,ld.bfd,x86_64-linux-gnu-*,collect2,ar,ranlib,sh,dash,expr,sed,cat"
RECORDED = (HEAP_EXACT, f"--include={COMPILERS}")

pytestmark = [needs("make"), needs("gcc")]


@pytest.fixture
def build(tmp_path):
    """build(run, script): a fresh tree, always at the same path, built by run(command, cwd=...); returns its outcome and the
    digest of each file in the tree."""
    source = unpacked("zlib")
    tree = tmp_path / "tree"

    def make(run, script):
        shutil.copytree(source, tree, symlinks=True)
        outcome = run(["sh", "-c", script], cwd=tree)
        files = {str(p.relative_to(tree)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(tree.rglob("*"))
                 if p.is_file() and p.name != "configure.log"}  # which says when it was written
        shutil.rmtree(tree)
        return outcome, files

    return make


@short_and_long("made,options", (LIBRARY, RECORDED), (WHOLE, RECORDED), (WHOLE, ()), (WHOLE, (HEAP_EXACT,)))
def test_gcc_builds_zlib(build, record, made, options):
    script, names, compilers = made
    bare, bare_files = build(run_bare, script)
    assert bare.status == 0, bare.err.decode()
    assert names <= {name.split("/")[-1] for name in bare_files}
    outcome, files = build(lambda command, **keywords: record(command, *options, **keywords), script)
    assert files == bare_files
    assert outcome.status == bare.status
    assert sorted(outcome.out.splitlines()) == sorted(bare.out.splitlines())
    assert sorted(outcome.own_err.splitlines()) == sorted(bare.err.splitlines())
    traces = check_bundle(outcome.bundle)
    compiled = [t for t in traces if t.program == "cc1"]
    if "--include" in str(options):
        assert len(compiled) >= compilers and all(len(t.allocations()) > 500 and t.exit_status in (0, 1) for t in compiled)
    else:
        assert not compiled
