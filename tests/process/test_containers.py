# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Recording inside containers: bubblewrap and namespaces make each obstacle, and podman runs the image where it can."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import sys
import tarfile

import pytest

import docker_seccomp
from cli_support import build_dir, clean_env
from conftest import GPUPROF, needs, needs_root
from waiting import LIMIT_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Its output and status are the truth: recorded or not, they stay the same.
WORK = "for i in 1 2 3; do ls / > /dev/null; done; echo out; echo err >&2; exit 7"
PLACE = "/opt/gpuprof"


def works(*words):
    if shutil.which(words[0]) is None:
        return f"{words[0]} is not installed"
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{words[0]} does not work here: {done.stderr.strip()}"


NO_BWRAP = works("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true")
NO_NAMESPACE = works("unshare", "-rm", "true")
pytestmark = pytest.mark.skipif(bool(NO_BWRAP), reason=NO_BWRAP or "-")


@pytest.fixture(scope="module", name="volume")
def install():
    """A folder that `gpuprof install` has filled: what an init container leaves in a volume. Other users can enter it."""
    with tempfile.TemporaryDirectory() as above:
        folder = pathlib.Path(above) / "deep" / "er"
        done = subprocess.run([str(GPUPROF), "install", str(folder)], capture_output=True, text=True, check=False, env=clean_env())
        assert done.returncode == 0 and f"{folder}/bin/gpuprof" in done.stdout, done.stderr
        for place in (folder, folder.parent, folder.parent.parent):
            place.chmod(0o755)
        yield folder


class Box:
    """Runs commands in a container that sees this machine's files, and the volume."""

    def __init__(self, volume, *options, user=None, seccomp=None, env=None):
        self.options, self.user, self.seccomp, self.env = options, user, seccomp, env or {}
        self.volume = volume

    def run(self, *command):
        words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/opt", "--ro-bind", str(self.volume), PLACE,
                 "--unshare-all", "--die-with-parent", "--chdir", "/tmp", *map(str, self.options)]
        read = None
        if self.seccomp is not None:
            read, write = os.pipe()
            os.write(write, self.seccomp)
            os.close(write)
            words += ["--seccomp", str(read)]
        more = {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}
        env = clean_env()
        env.update({"HOME": "/nonexistent", **self.env})
        try:
            return subprocess.run([*words, "--", *map(str, command)], capture_output=True, text=True, check=False, env=env, timeout=LIMIT_S,
                                  pass_fds=() if read is None else (read,), **more)
        finally:
            if read is not None:
                os.close(read)

    def script(self, text):
        return self.run("sh", "-c", text.replace("GPUPROF", f"{PLACE}/bin/gpuprof").replace("WORK", WORK))

    def checks(self):
        """What doctor says, by the name of the check."""
        return {check["name"]: check for check in json.loads(self.script("GPUPROF doctor --json").stdout)["checks"]}


def records(box):
    """Records in the container and reads there what was recorded."""
    done = box.script("GPUPROF run --include dash,sh,bash,ls -o /tmp/b -- sh -c 'WORK'; echo status $?; GPUPROF info /tmp/b --json > /tmp/info || exit 9; cat /tmp/info")
    assert done.returncode == 0, done.stderr
    out, _, info = done.stdout.partition("status 7\n")
    assert out == "out\n" and "err\n" in done.stderr, done.stdout + done.stderr
    assert "preload" not in done.stderr
    processes = json.loads(info)["processes"]
    assert any(process["executable"].endswith("/ls") for process in processes), info
    return done


KINDS = {
    "no rights": {"options": ("--cap-drop", "ALL")},
    "CAP_SYS_PTRACE": {"options": ("--cap-drop", "ALL", "--cap-add", "CAP_SYS_PTRACE")},
    "CAP_PERFMON": {"options": ("--cap-drop", "ALL", "--cap-add", "CAP_PERFMON")},
    "all rights": {"options": ("--cap-add", "ALL")},
    "another user": {"options": ("--unshare-user", "--uid", "1234", "--gid", "1234")},
    "64 MB of /dev/shm": {"options": ("--size", "67108864", "--tmpfs", "/dev/shm")},
    "no /dev/shm": {"options": ("--tmpfs", "/dev")},
    "a new session": {"options": ("--new-session",)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_container_records(volume, kind):
    options = KINDS[kind]["options"]
    if "--cap-add" in options and os.geteuid() != 0:
        pytest.skip("only root can give rights")
    records(Box(volume, *options))


@needs_root
def test_a_rootless_container_records(volume):
    """Its user has no rights outside, and is root inside."""
    box = Box(volume, "--uid", "0", "--gid", "0", user=65534)
    if works("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"):
        pytest.skip("users without rights make no namespaces here")
    records(box)
    assert "rootless" in box.checks()["container"]["found"]


@pytest.mark.skipif(not docker_seccomp.IS_HERE, reason="the numbers are those of x86-64")
@pytest.mark.parametrize("rights", ["none", "CAP_PERFMON"])
def test_dockers_system_call_filter_lets_everything_be_recorded(volume, rights):
    without = {docker_seccomp.PERF_EVENT_OPEN} if rights == "CAP_PERFMON" else ()
    box = Box(volume, "--cap-drop", "ALL", seccomp=docker_seccomp.profile(without=without))
    assert box.run("unshare", "-r", "true").returncode != 0, "the filter is not in force"
    records(box)
    checks = box.checks()
    assert "a seccomp filter is active" in checks["container"]["found"]
    assert "descriptors" not in checks


@pytest.mark.skipif(not docker_seccomp.IS_HERE, reason="the numbers are those of x86-64")
def test_an_older_filter_is_named_with_its_remedy(volume):
    box = Box(volume, seccomp=docker_seccomp.profile(also={docker_seccomp.CLOSE_RANGE}))
    records(box)
    check = box.checks()["descriptors"]
    assert check["level"] == "warn" and "--security-opt seccomp=unconfined" in check["fix"]
    box.env["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"
    assert "seccompProfile: {type: Unconfined}" in box.checks()["descriptors"]["fix"]


def test_a_read_only_root_needs_a_volume_for_the_bundle(volume):
    box = Box(volume, "--remount-ro", "/")
    done = box.script("cd /; GPUPROF run -- sh -c 'WORK'")
    assert done.returncode == 125 and done.stdout == ""
    assert "Read-only file system" in done.stderr and "-o DIR" in done.stderr and "was not started" in done.stderr
    records(box)
    fix = box.checks()["root file system"]["fix"]
    assert "docker run -v" in fix
    in_a_pod = Box(volume, "--remount-ro", "/", env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"}).checks()["root file system"]["fix"]
    assert in_a_pod.startswith("in the pod: volumes") and "docker" not in in_a_pod


def test_little_shared_memory_is_named_with_its_remedy(volume):
    box = Box(volume, "--size", "67108864", "--tmpfs", "/dev/shm", env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    check = box.checks()["/dev/shm"]
    assert "64.0 MiB" in check["found"] and "medium: Memory" in check["fix"]


LOADER = """
import torch
from torch.utils.data import DataLoader, Dataset
class Items(Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, i):
        return torch.full((1 << 18,), float(i))
if __name__ == "__main__":
    torch.set_num_threads(1)
    print(sum(float(batch.sum()) for batch in DataLoader(Items(), batch_size=4, num_workers=2)))
"""


def test_loader_workers_with_little_shared_memory_give_the_same_result(volume, tmp_path):
    """Batches of 4 MB go through 64 MB of /dev/shm, as in Docker without --shm-size."""
    python = ROOT / ".deps" / "venv" / "bin" / "python"
    if not python.exists() or subprocess.run([str(python), "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no PyTorch")
    script = tmp_path / "loader.py"
    script.write_text(LOADER)
    box = Box(volume, "--ro-bind", script, "/opt/loader.py", "--size", "67108864", "--tmpfs", "/dev/shm")
    bare = box.run(python, "/opt/loader.py")
    if bare.returncode != 0:
        pytest.skip(f"the workers do not run here even alone: {bare.stderr[-300:]}")
    done = box.script(f"GPUPROF run -o /tmp/b -- {python} /opt/loader.py && GPUPROF info /tmp/b --json > /tmp/info && grep -c '\"executable\"' /tmp/info >&2")
    assert (done.returncode, done.stdout) == (0, bare.stdout), done.stderr
    assert int(done.stderr.split()[-1]) >= 3, "the workers are recorded too"


@needs_root
def test_a_folder_that_root_made_for_a_bundle_takes_any_user(volume, tmp_path):
    """What the init container of `gpuprof inject --claim` does if the manifest says no user."""
    place = tmp_path / "traces" / "pod-main"
    done = subprocess.run([str(GPUPROF), "install", str(tmp_path / "copy"), "--folders", f"{place},{tmp_path}/traces/pod-side"], capture_output=True, text=True,
                          check=False, env=clean_env())
    assert done.returncode == 0, done.stderr
    assert (place.parent / "pod-side").stat().st_mode & 0o777 == 0o777
    for above in place.parents:
        if str(above).startswith("/tmp/"):
            above.chmod(0o755)
    env = {**clean_env(), "LD_PRELOAD": str(volume / "lib/gpuprof/libgpuprof_inject.so"), "GPUPROF_TRACER": str(volume / "lib/gpuprof/libgpuprof_tracer.so"),
           "GPUPROF_BUNDLE": str(place), "GPUPROF_INCLUDE": "ls"}
    recorded = subprocess.run(["ls", "/"], env=env, user=1234, group=1234, extra_groups=[], capture_output=True, text=True, check=False, cwd="/")
    assert recorded.returncode == 0 and recorded.stderr == "", recorded.stderr
    info = json.loads(subprocess.run([str(GPUPROF), "info", str(place), "--json"], capture_output=True, text=True, check=False).stdout)
    assert [pathlib.PurePath(process["executable"]).name for process in info["processes"]] == ["ls"]


@pytest.mark.skipif(bool(NO_NAMESPACE), reason=NO_NAMESPACE or "-")
@pytest.mark.parametrize("verb", ["run", "env", "install", "doctor"])
def test_objects_that_nobody_may_execute_are_named_before_the_start(volume, tmp_path, verb):
    """The command itself lies elsewhere: only the objects are on a file system without the right to execute."""
    place = tmp_path / "volume"
    place.mkdir()
    command = {"run": f"{GPUPROF} run -o {tmp_path}/b -- sh -c '{WORK}'", "env": f"{GPUPROF} env", "install": f"{GPUPROF} install {place}/x",
               "doctor": f"{GPUPROF} doctor"}[verb]
    objects = f"export GPUPROF_INJECT={place}/lib/gpuprof/libgpuprof_inject.so GPUPROF_TRACER={place}/lib/gpuprof/libgpuprof_tracer.so"
    script = f"mount -t tmpfs -o noexec none {place} && cp -r {volume}/lib {place}/ && {objects} && {command}"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, check=False, env=clean_env(), timeout=LIMIT_S)
    said = done.stdout + done.stderr
    assert done.returncode == {"run": 125, "env": 125, "install": 2, "doctor": 1}[verb], said
    assert "noexec" in said and "gpuprof install DIR" in said
    assert "cannot be preloaded" not in said and "out\n" not in said
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("size", [65536, 8 << 20])
def test_a_small_file_system_of_the_bundle_does_not_harm(volume, size):
    box = Box(volume, "--size", str(size), "--tmpfs", "/mnt")
    done = box.script("GPUPROF run --trace heap=exact -o /mnt/b -- sh -c 'WORK'")
    assert "out\n" in done.stdout or done.returncode == 125, done.stderr
    if done.returncode != 125:
        assert (done.stdout, done.returncode) == ("out\n", 7), done.stderr
    assert "err\n" in done.stderr or "was not started" in done.stderr


def test_installing_again_replaces_each_file_in_one_step(volume):
    before = {path: path.stat().st_ino for path in volume.rglob("*") if path.is_file()}
    assert len(before) == 3
    done = subprocess.run([str(GPUPROF), "install", str(volume)], capture_output=True, text=True, check=False, env=clean_env())
    assert done.returncode == 0, done.stderr
    after = {path: path.stat().st_ino for path in volume.rglob("*") if path.is_file()}
    assert set(after) == set(before), "a part of a copy is left"
    assert all(after[path] != before[path] for path in before), "a file was written over while programs may use it"


# ---------------------------------------------------------------------------------------------------
# The image


@pytest.fixture(scope="module", name="image")
def build_image(tmp_path_factory):
    out = tmp_path_factory.mktemp("image")
    done = subprocess.run([sys.executable, str(ROOT / "deploy" / "image" / "build"), "--build", str(build_dir()), "--out", str(out)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(out.glob("gpuprof-image-*.tar"))


@pytest.fixture(scope="module", name="unpacked")
def unpack(image, tmp_path_factory):
    """The files of the image, as a runtime unpacks them."""
    layout, files = tmp_path_factory.mktemp("layout"), tmp_path_factory.mktemp("files")
    files.chmod(0o755)
    subprocess.run(["tar", "-xf", str(image), "-C", str(layout)], check=True)
    index = json.loads((layout / "index.json").read_text())
    blob = lambda digest: layout / "blobs" / "sha256" / digest.partition(":")[2]  # noqa: E731
    manifest = json.loads(blob(index["manifests"][0]["digest"]).read_text())
    for layer in manifest["layers"]:
        assert blob(layer["digest"]).stat().st_size == layer["size"]
        subprocess.run(["tar", "-xf", str(blob(layer["digest"])), "-C", str(files)], check=True)
    return files, json.loads(blob(manifest["config"]["digest"]).read_text())["config"]


def test_the_image_holds_the_command_and_what_it_needs_alone(unpacked):
    files, config = unpacked
    assert not any((files / "bin").glob("*")) if (files / "bin").exists() else True
    assert config["User"] == "65534:65534"
    assert (files / "opt/gpuprof/share/doc/gpuprof/NOTICE").exists()
    (files / "proc").mkdir(exist_ok=True)  # a runtime makes it
    done = subprocess.run(["bwrap", "--ro-bind", str(files), "/", "--unshare-all", "--proc", "/proc", "--clearenv", "--uid", "65534", "--",
                           *config["Entrypoint"], "version"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("gpuprof "), done.stderr


def test_an_init_container_fills_a_volume_that_another_container_uses(unpacked, tmp_path):
    files, config = unpacked
    shared = tmp_path / "shared"
    shared.mkdir()
    for name in ("proc", "gpuprof"):
        (files / name).mkdir(exist_ok=True)
    done = subprocess.run(["bwrap", "--ro-bind", str(files), "/", "--unshare-all", "--proc", "/proc", "--bind", str(shared), "/gpuprof", "--clearenv", "--",
                           *config["Entrypoint"], "install", "/gpuprof"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    records(Box(shared))


def podman_words():
    """How podman runs a container here, or why it does not."""
    if shutil.which("podman") is None:
        return None, "podman is not installed"
    run = ["podman", "run", "--rm", "--network=none"]
    # Machines that are containers themselves may not raise limits, and have control groups that podman does not take.
    inside = ["unshare", "-m", "sh", "-c", 'umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; exec "$@"', "sh"]
    ways = [run, [*inside, *run, "--cgroups=disabled", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000"]]
    return ways, ""


@pytest.fixture(scope="module", name="podman")
def find_podman(image):
    ways, why = podman_words()
    if why or os.geteuid() != 0:
        pytest.skip(why or "rootless podman needs ids of its own")
    loaded = subprocess.run(["podman", "load", "-i", str(image)], capture_output=True, text=True, check=False)
    assert loaded.returncode == 0, loaded.stderr
    name = loaded.stdout.strip().rpartition(" ")[2]
    for way in ways:
        tried = subprocess.run([*way, name, "version"], capture_output=True, text=True, check=False)
        if tried.returncode == 0:
            yield way, name
            subprocess.run(["podman", "rmi", "-f", name], capture_output=True, check=False)
            return
    pytest.skip(f"podman runs no container here: {tried.stderr.strip()[-200:]}")


@needs("podman")
@pytest.mark.parametrize("options", [(), ("--read-only",), ("--cap-drop=ALL",), ("--cap-add=SYS_PTRACE",), ("--privileged",), ("--user=1234:1234",)], ids=str)
def test_podman_installs_from_the_image_and_records(podman, tmp_path, options):
    """The runtime's own profile, rights and file systems. The second container has a shell and the C library."""
    way, name = podman
    tmp_path.chmod(0o755)
    shared, traces, root = tmp_path / "shared", tmp_path / "traces", tmp_path / "root"
    for folder in (shared, traces, root):
        folder.mkdir()
    shared.chmod(0o777)
    traces.chmod(0o777)
    done = subprocess.run([*way, *options, "-v", f"{shared}:/gpuprof", name, "install", "/gpuprof"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for program in ("/bin/sh", "/bin/ls"):
        listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for word in [program, *[word for word in listing.split() if word.startswith("/")]]:
            target = root / word.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(os.path.realpath(word), target)
    for library in ("libm.so.6", "libdl.so.2", "libpthread.so.0"):
        place = next(pathlib.Path("/lib").glob(f"*-linux-gnu/{library}"))
        shutil.copy2(place.resolve(), root / "lib" / place.parent.name / library)
    for folder in ("tmp", "proc", "dev", "sys", "etc", "run", "gpuprof", "traces"):
        (root / folder).mkdir(exist_ok=True)
    words = [*way, *options, "-v", f"{shared}:/gpuprof:ro", "-v", f"{traces}:/traces", "--rootfs", f"{root}", "/gpuprof/bin/gpuprof", "run", "--include=dash,sh,bash,ls", "-o", "/traces/b", "--", "/bin/sh", "-c", WORK]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "out\n"), done.stderr
    assert "preload" not in done.stderr
    info = subprocess.run([str(GPUPROF), "info", str(traces / "b"), "--json"], capture_output=True, text=True, check=False)
    assert any(process["executable"].endswith("/ls") for process in json.loads(info.stdout)["processes"]), info.stderr


def test_the_image_is_the_same_each_time(image, tmp_path):
    again = subprocess.run([sys.executable, str(ROOT / "deploy" / "image" / "build"), "--build", str(build_dir()), "--out", str(tmp_path)],
                           capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert next(tmp_path.glob("gpuprof-image-*.tar")).read_bytes() == image.read_bytes()
    with tarfile.open(image) as archive:
        assert {"oci-layout", "index.json", "manifest.json"} <= set(archive.getnames())
