# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Programs that cannot or should not be recorded, places that cannot be written, and ordinary programs: each behaves as without us, and
gpuprof says once what it could not do."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

import pytest

from conftest import GPUPROF, HEAP_EXACT, clean_environment, gpuprof, needs, needs_root, program, run_bare, verify
from trace_file import WRITE_ERROR
from waiting import LIMIT_S

LIBRARIES = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]


def _library(*names):
    for folder in LIBRARIES:
        for name in names:
            if (pathlib.Path(folder) / name).exists():
                return f"{folder}/{name}"
    return None


JEMALLOC = _library("libjemalloc.so.2")
TCMALLOC = _library("libtcmalloc_minimal.so.4")
has_jemalloc = pytest.mark.skipif(JEMALLOC is None, reason="jemalloc is not installed")
has_tcmalloc = pytest.mark.skipif(TCMALLOC is None, reason="tcmalloc is not installed")

ORDINARY = {
    "cat": ["cat", "/etc/passwd"],
    "sort": ["sort", "-r", "/etc/passwd"],
    "ls": ["ls", "-la", "/usr/share"],
    "tar": ["sh", "-c", "tar -cf - -C /etc passwd group | tar -tf -"],
    "shell pipe": ["bash", "-c", "seq 1000 | awk '{s += $1} END {print s}'; echo err >&2; exit 9"],
    "not found in the shell": ["sh", "-c", "no_such_program_at_all"],
    "python": [sys.executable, "-c", "import sys, hashlib; print(hashlib.sha256(b'x' * 10**6).hexdigest()); sys.exit(4)"],
    "python isolated": [sys.executable, "-I", "-c", "import sys; print(sys.flags.isolated, sys.path[0][:1])"],
    "python traceback": [sys.executable, "-c", "def f(): raise KeyError('k')\nf()"],
    "python threads": [sys.executable, "-c", "import concurrent.futures as c\n"
                       "with c.ThreadPoolExecutor(8) as p: print(sum(p.map(lambda n: len(bytes(n)), range(3000))))"],
    "perl": ["perl", "-e", "print join(',', map { $_ * 2 } 1..100), \"\\n\"; exit 3"],
    "git": ["git", "--version"],
    "openssl": ["openssl", "version"],
}


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.parametrize("options", [(), (HEAP_EXACT, "--include=cat,sort,ls,tar,sh,bash,seq,awk,mawk,gawk,git")])
def test_ordinary_programs(same, name, options):
    command = ORDINARY[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    same(command, *options)


def test_environment_is_untouched_but_for_ours(record):
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    import json
    extra = {"LD_LIBRARY_PATH": "/opt/nowhere", "A": "b=c", "EMPTY": ""}
    bare = json.loads(run_bare([sys.executable, "-c", code], env=extra).out)
    seen = json.loads(record([sys.executable, "-c", code], env=extra).out)
    changed = {k for k in {**bare, **seen} if bare.get(k) != seen.get(k)}
    assert all(k in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64", "NCCL_PROFILER_PLUGIN") or k.startswith("GPUPROF_") for k in changed), changed
    assert "libgpuprof_inject.so" in seen["LD_PRELOAD"]


def test_preload_of_the_user_is_kept(record):
    code = "import os; print(os.environ['LD_PRELOAD'])"
    out = record([sys.executable, "-c", code], env={"LD_PRELOAD": "/lib/x86_64-linux-gnu/libm.so.6"}).out.decode()
    assert "libm.so.6" in out and "libgpuprof_inject.so" in out


def test_no_descriptor_or_file_is_left_to_the_program(record, tmp_path):
    """A child of the program inherits no descriptor of ours, and the working directory stays clean."""
    here = tmp_path / "here"
    here.mkdir()
    code = "import subprocess; print(subprocess.run(['/bin/ls', '/proc/self/fd'], capture_output=True, close_fds=False).stdout)"
    bare = run_bare([sys.executable, "-c", code], cwd=here)
    assert record([sys.executable, "-c", code], cwd=here).out == bare.out
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("options", [(HEAP_EXACT,), ("--ring=1MiB", HEAP_EXACT), ("--capture=off",), ()])
def test_the_programs_own_descriptors(same, options):
    """It sees none of ours, and the numbers it counts on are free."""
    outcome = same([program("own_descriptors")], *options)
    assert outcome.out == b"others 0, seen 0 1 2 3\n"


def _under(mode, *command):
    return [program("sandboxed"), mode, *command]


def test_the_programs_own_descriptors_on_an_old_kernel(same):
    outcome = same(_under("old", program("own_descriptors")), HEAP_EXACT)
    assert outcome.out == b"others 0, seen 0 1 2 3\n"


@pytest.mark.parametrize("options", [(HEAP_EXACT,), ("--ring=1MiB", HEAP_EXACT), ()])
@pytest.mark.parametrize("command", [("closes_all",), ("fork_storm", "40", "alloc"), ("exec_chain", "9"), ("deadlock", "exit")])
def test_where_the_table_of_descriptors_must_be_shared(record, command, options):
    """Container runtimes may forbid both ways out of it: then ours are in the program's, and it is unharmed all the same."""
    outcome = record(_under("shared", program(command[0]), *command[1:]), *options)
    bare = run_bare([program(command[0]), *command[1:]])
    assert outcome.status == bare.status, outcome.err.decode()
    if command[0] != "deadlock":
        assert outcome.out == bare.out
    verify(outcome.bundle)
    assert outcome.traces() and sum(trace.lost for trace in outcome.traces()) == 0


def test_static_program(same):
    outcome = same([program("plain_static"), "one"])
    assert outcome.status == 5
    assert outcome.traces() == []
    assert "static" in outcome.words


def test_static_program_below_a_recorded_one(same):
    code = f"import subprocess, sys; sys.exit(subprocess.run([{program('plain_static')!r}]).returncode)"
    outcome = same([sys.executable, "-c", code])
    assert outcome.status == 5
    outcome.trace()  # Python's


@needs_root
@pytest.mark.parametrize("root_owned", [True, False])
def test_setuid_program(tmp_path, root_owned):
    """A set-uid copy run by an ordinary user: the loader drops the preload, and the program runs with its owner's rights as ever."""
    place = pathlib.Path("/var/tmp") / f"gpuprof-setuid-{os.getpid()}-{int(root_owned)}"
    place.mkdir(mode=0o755)
    try:
        copy = place / "plain"
        shutil.copy(program("plain"), copy)
        os.chown(copy, 0 if root_owned else 12345, 0)
        copy.chmod(0o4755)
        objects = place / "objects"
        objects.mkdir()
        for room, name in (("launcher", "gpuprof"), ("inject", "libgpuprof_inject.so"), ("tracer", "libgpuprof_tracer.so")):
            (objects / room).mkdir()
            shutil.copy(GPUPROF.parent.parent / room / name, objects / room / name)
        os.chown(place, 65534, 65534)
        user = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": place, "capture_output": True,
                "env": {"PATH": os.environ["PATH"], "HOME": str(place)}}
        bare = subprocess.run([str(copy), "x"], **user)
        assert f"user {0 if root_owned else 12345} of 65534" in bare.stdout.decode()
        done = subprocess.run([str(objects / "launcher" / "gpuprof"), "run", "-o", str(place / "bundle"), "--", str(copy), "x"], **user)
        assert (done.returncode, done.stdout) == (bare.returncode, bare.stdout)
        own = [line for line in done.stderr.splitlines(keepends=True) if not line.startswith((b"gpuprof: ", b"ERROR: ld.so"))]
        assert b"".join(own) == bare.stderr
        assert b"set-user-ID" in done.stderr or b"setuid" in done.stderr, done.stderr
        assert not list(place.glob("bundle/p*"))
    finally:
        shutil.rmtree(place)


def test_address_sanitizer(same):
    outcome = same([program("plain_asan"), "x"])
    assert outcome.status == 5 and b"runtime does not come first" not in outcome.err


def test_thread_sanitizer(same):
    """Its runtime allocates before its own functions work, and would take what our threads do for races: left alone, and said."""
    for mode in (HEAP_EXACT, "--capture=off"):
        outcome = same([program("plain_tsan"), "x"], mode)
        assert outcome.status == 5 and "it is built with a sanitizer" in outcome.words
        assert not list(outcome.bundle.glob("p*"))


def test_address_sanitizer_still_finds_the_bug(record):
    bare = run_bare([program("asan_bug")])
    outcome = record([program("asan_bug")])
    assert outcome.status == bare.status != 0
    assert b"heap-buffer-overflow" in bare.err and b"heap-buffer-overflow" in outcome.err


@pytest.mark.parametrize("allocator,library", [
    pytest.param("jemalloc", JEMALLOC, marks=has_jemalloc), pytest.param("tcmalloc_minimal", TCMALLOC, marks=has_tcmalloc)])
@pytest.mark.parametrize("mode", [HEAP_EXACT, "--trace=heap=sampled:4096,locks,threads"])
def test_foreign_allocators(same, allocator, library, mode):
    for command, env in (([program(f"plain_{allocator}"), "linked"], {}), ([program("plain"), "preloaded"], {"LD_PRELOAD": library}),
                         ([program("small_stacks")], {"LD_PRELOAD": library}),
                         ([sys.executable, "-c", "import json; print(len(json.dumps([1] * 100000)))"], {"LD_PRELOAD": library})):
        outcome = same(command, mode, env=env)
        trace = outcome.trace()
        if mode == HEAP_EXACT and "plain" in command[0]:
            assert len(trace.allocations({27027})) == 100
            assert trace.matched_frees({27027}) == 100


@needs_root
def test_read_only_bundle_directory(tmp_path):
    """The bundle directory turns unwritable between the launcher and the program: as an ordinary user, since root may write anywhere."""
    place = pathlib.Path("/var/tmp") / f"gpuprof-readonly-{os.getpid()}"
    place.mkdir(mode=0o755)
    try:
        (place / "bundle").mkdir(mode=0o555)
        shutil.copy(program("plain"), place / "plain")
        for room, name in (("inject", "libgpuprof_inject.so"), ("tracer", "libgpuprof_tracer.so")):
            shutil.copy(GPUPROF.parent.parent / room / name, place / name)
        user = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": place, "capture_output": True}
        bare = subprocess.run([str(place / "plain"), "x"], **user)
        preload = {"LD_PRELOAD": str(place / "libgpuprof_inject.so"), "GPUPROF_BUNDLE": str(place / "bundle")}
        for trace in ("heap=exact,threads", "heap,locks,threads,ops,tensors"):
            done = subprocess.run([str(place / "plain"), "x"], env={**os.environ, **preload, "GPUPROF_TRACE": trace}, **user)
            assert (done.returncode, done.stdout) == (bare.returncode, bare.stdout)
            said = [line for line in done.stderr.splitlines() if line.startswith(b"gpuprof: ")]
            own = b"".join(x for x in done.stderr.splitlines(keepends=True) if not x.startswith(b"gpuprof: "))
            assert own == bare.stderr
            assert len(said) <= 1, said
            if trace.startswith("heap=exact"):
                assert len(said) == 1 and b"cannot record" in said[0], "the reason is said once"
            assert list((place / "bundle").iterdir()) == []
    finally:
        shutil.rmtree(place)


def test_launcher_says_why_it_cannot_write(tmp_path):
    """A file where the bundle should be."""
    (tmp_path / "file").write_text("")
    done = gpuprof("run", "-o", tmp_path / "file" / "bundle", "--", "echo", "hello")
    assert done.status == 125 and done.out == b"" and b"-o DIR" in done.err


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system with room for so many KiB."""
    mounted = []

    def make(kib):
        place = tmp_path / f"disk{kib}"
        place.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k,mode=0777", "tmpfs", str(place)], capture_output=True)
        if done.returncode != 0:
            pytest.skip("no file system can be mounted here: " + done.stderr.decode().strip())
        mounted.append(place)
        return place

    yield make
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


@needs_root
@pytest.mark.parametrize("kib", [16, 64, 256, 1200, 2500])
@pytest.mark.parametrize("command", [("toggled", "3"), ("heap_family",), ("small_stacks",)])
def test_full_disk(tiny_disk, kib, command):
    """At whatever point the disk is full, the program goes on, and what is in the file can be read."""
    place = tiny_disk(kib)
    words = [program(command[0]), *command[1:]]
    bare = run_bare(words, stdin=b"\n")
    done = subprocess.run([str(GPUPROF), "run", "-o", str(place / "bundle"), HEAP_EXACT, "--", *words], capture_output=True,
                          env=clean_environment(), timeout=LIMIT_S, input=b"\n")
    assert done.returncode == bare.status, done.stderr.decode()
    if command[0] != "toggled":  # that one prints its vitals
        assert done.stdout == bare.out
    said = [line for line in done.stderr.decode().splitlines() if line.startswith("gpuprof: ")]
    assert len(said) == len(set(said)), "each thing is said once"
    files = list((place / "bundle").glob("*.gpt"))
    if files:
        checked = gpuprof("verify", place / "bundle")
        assert checked.status in (0, 3), checked.err.decode()
    else:
        assert any("cannot record" in line or "No space" in line or "full" in line for line in said), said


@pytest.fixture
def count_events(tmp_path):
    """count_events(place, *options): what the run said of 800,003 events, and how many were recorded and how many lost. What found no
    room there is recovered elsewhere, where the run says that it must be, or `always`."""

    def count(place, *options, always=False):
        command = (program("heap_counter"), "400000", "exit")
        bundle = place / "bundle"
        done = gpuprof("run", "-o", bundle, *options, "--trace=heap=exact,threads", "--", *command)
        assert done.status == 0, done.err.decode()
        if always or b"run `gpuprof recover`" in done.err:
            bundle = shutil.copytree(bundle, tmp_path / "elsewhere")
            recovered = gpuprof("recover", bundle)
            assert recovered.status == 0, recovered.err.decode()
        facts = json.loads(gpuprof("info", "--json", bundle).out)
        return done.err.decode(), facts["count"], facts["lost_count"]

    return count


@needs_root
@pytest.mark.parametrize("kib", [100, 250, 500])
def test_what_a_full_disk_did_not_take_is_counted(count_events, tiny_disk, tmp_path, kib):
    """Where the trace cannot tell of it any more, as not even that finds room, the ring file does: to whoever recovers it elsewhere."""
    _, whole, dropped = count_events(tmp_path)
    said, recorded, lost = count_events(tiny_disk(kib))
    assert whole + dropped >= 800_000 and recorded < 600_000
    assert recorded + lost == whole + dropped, (whole, dropped, recorded, lost)
    assert "lost: nothing" not in said, said


@needs_root
@pytest.mark.parametrize("kib", [44, 48, 176, 180, 250, 500])
def test_what_a_full_disk_did_not_take_of_a_flight_recorder_is_counted(count_events, tiny_disk, tmp_path, kib):
    """Whether the first segment finds no room (44), a later one (about 180), or a block. Recovery has room elsewhere."""
    _, whole, dropped = count_events(tmp_path)
    said, recorded, lost = count_events(tiny_disk(kib), "--ring", "1MiB", always=True)
    assert whole + dropped >= 800_000 and recorded < 600_000
    assert recorded + lost == whole + dropped, (whole, dropped, recorded, lost)
    assert "lost: nothing" not in said, said
    if kib == 44:
        assert "the trace cannot be written: no space left on the disk" in said, said


@needs_root
def test_what_rings_without_a_file_dropped_is_counted_where_the_disk_is_full(count_events, tiny_disk, tmp_path):
    """Their headers go with the process, and the trace has no room for its last word. All was taken out of them, so nothing is unknown."""
    _, whole, dropped = count_events(tmp_path)
    _, recorded, lost = count_events(tiny_disk(184), "--ring", "1MiB", "--ring-memory", "1MiB", "--on-full", "drop", always=True)
    health = json.loads(gpuprof("info", "--json", tmp_path / "elsewhere").out)["processes"][0]
    assert "ring_full" in [loss["name"] for loss in health["losses"]], health
    assert health["rings_outside"] == 0 and recorded + lost == whole + dropped, (whole, dropped, recorded, lost, health)


def test_file_may_grow_again(session):
    """What could not be written is counted; stacks that later rows refer to are in the file all the same."""
    run = session([program("toggled"), "2"], HEAP_EXACT)
    assert run.line() == "ready"
    run.wait_for(lambda: any(path.stat().st_size > 20000 for path in run.bundle.glob("*.gpt")))
    size = next(run.bundle.glob("*.gpt")).stat().st_size
    resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    run.tell("\n")  # allocations with stacks that were not there before
    run.wait_for(lambda: run.state()["lost"] > 1000)
    resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    run.tell("\n")  # the same stacks again
    taken = run.state()["events"]
    run.wait_for(lambda: run.state()["events"] > taken + 5000)
    outcome = run.finish()
    assert outcome.status == 0
    assert outcome.err.count(b"cannot be written: file size limit reached") == 1, outcome.err.decode()
    trace = outcome.trace()
    assert trace.losses[WRITE_ERROR] > 0, "rows were lost"
    assert len(trace.allocations({25025})) > 1000, "and later ones were not"
    verify(run.bundle)


def test_shells_and_compilers_leave_no_trace(record, tmp_path):
    source = tmp_path / "hello.c"
    source.write_text("#include <stdio.h>\n#include <stdlib.h>\nint main(void) { free(malloc(99)); puts(\"hello\"); return 0; }\n")
    script = f"cd {tmp_path}; gcc -O1 -o hello hello.c && for i in 1 2; do ./hello | cat; done; make --version | head -1 >/dev/null; ls >/dev/null"
    outcome = record(["bash", "-c", script], HEAP_EXACT)
    assert (outcome.status, outcome.out) == (0, b"hello\nhello\n")
    assert [t.program for t in outcome.traces()] == ["hello", "hello"]
    assert sorted(p.suffix for p in outcome.bundle.iterdir()) == [".gpt", ".gpt", ".pb"]


def test_include_and_exclude(record, tmp_path):
    python = os.path.basename(os.path.realpath(sys.executable))
    command = ["bash", "-c", f"cat /etc/hostname; {sys.executable} -c 'print(1)'; {program('plain')}"]
    names = lambda outcome: {t.program for t in outcome.traces()}
    assert names(record(command, HEAP_EXACT)) == {"plain", python}
    assert names(record(command, HEAP_EXACT, "--include=bash,cat")) == {"bash", "cat", "plain", python}
    assert names(record(command, HEAP_EXACT, "--exclude=plain")) == {python}
    assert names(record(command, HEAP_EXACT, "--include=cat", f"--exclude=plain,{python}")) == {"cat"}


def test_capture_off_leaves_nothing(record):
    outcome = record([program("plain")], "--capture=off")
    assert outcome.status == 5 and outcome.traces() == []


def test_quiet(same):
    outcome = same([program("plain")], "--quiet")
    assert outcome.words == ""


def test_summary_is_five_lines_on_stderr(same):
    outcome = same([program("plain")], HEAP_EXACT)
    assert len(outcome.words.splitlines()) == 5
    assert "gpuprof stats overview" in outcome.words.splitlines()[-1]


def test_run_within_a_run(record, tmp_path):
    inner = tmp_path / "inner"
    outcome = record([GPUPROF, "run", "-o", inner, HEAP_EXACT, "--", program("plain")], HEAP_EXACT)
    assert outcome.status == 5
    verify(inner)
    assert [t.program for t in outcome.traces()] == [], "the inner run's program is the inner run's"
    assert len(list(inner.glob("*.gpt"))) == 1


def test_tracer_that_cannot_be_loaded(tmp_path):
    """The program runs on; what was recorded before is kept, and the trace says why there is no more."""
    bundle = tmp_path / "bundle"
    command = [program("moved_environment")]
    done = gpuprof("run", "-o", bundle, HEAP_EXACT, "--", "env", "GPUPROF_TRACER=/nowhere/tracer.so", *command)
    bare = run_bare(command)
    assert (done.status, done.out) == (bare.status, bare.out)
    assert b"cannot record: /nowhere/tracer.so" in done.err
    health = gpuprof("stats", "health", bundle).out.decode()
    assert "recording ended before the process did: cannot record: /nowhere/tracer.so" in health, health
    assert "install it next to libgpuprof_inject.so" in health, health


def test_a_tracer_that_is_there_and_does_not_load_is_not_said_to_be_missing(tmp_path):
    """As where memory is short or locked: the loader's own words are the cause."""
    (tmp_path / "tracer.so").write_text("no object")
    command = [program("moved_environment")]
    done = gpuprof("run", "-o", tmp_path / "bundle", HEAP_EXACT, "--", "env", f"GPUPROF_TRACER={tmp_path}/tracer.so", *command)
    assert done.status == run_bare(command).status
    assert f"cannot record: {tmp_path}/tracer.so".encode() in done.err
    assert b"install it next to" not in done.err


@needs_root
@pytest.mark.parametrize("umask", [0o277, 0o777])
def test_a_strict_umask_keeps_nobody_from_recording(umask):
    """As an ordinary user, whom permissions bind; the program has several threads, for each of which the file is opened."""
    place = pathlib.Path("/var/tmp") / f"gpuprof-umask-{os.getpid()}-{umask:o}"
    place.mkdir()
    try:
        objects = place / "objects"
        for room, name in (("launcher", "gpuprof"), ("inject", "libgpuprof_inject.so"), ("tracer", "libgpuprof_tracer.so")):
            (objects / room).mkdir(parents=True)
            shutil.copy(GPUPROF.parent.parent / room / name, objects / room / name)
        shutil.copy(program("many_threads"), place)
        os.chown(place, 65534, 65534)
        user = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": place, "capture_output": True,
                "env": {"PATH": os.environ["PATH"], "HOME": str(place)}}
        tool = str(objects / "launcher" / "gpuprof")
        done = subprocess.run([tool, "run", "-o", "new/bundle", "--trace=heap=exact,threads", "--", "./many_threads", "20"],
                              umask=umask, **user)
        assert done.returncode == 0 and b"recorded: " in done.stderr, done.stderr
        assert b"lost: nothing" in done.stderr, done.stderr
        assert subprocess.run([tool, "verify", "new/bundle"], **user).returncode == 0
        assert all(path.stat().st_mode & 0o77 == 0 for path in (place / "new").rglob("*"))
    finally:
        subprocess.run(["rm", "-rf", place], check=True)
