# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof inject`: manifests of Kubernetes stay as they are in all places but those that recording needs.

The truth comes from others: the schemas of Kubernetes (kubernetes-validate), a reader of YAML, and kubectl."""

import difflib
import json
import pathlib
import random
import re
import shutil
import subprocess

import pytest

from cli_support import clean_env
from conftest import GPUPROF, needs
from waiting import LIMIT_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".deps" / "kubernetes" / "bin"
needs_tools = pytest.mark.skipif(not (TOOLS / "kubernetes-validate").exists(), reason="kubernetes-validate is not installed")
OBJECT = "/gpuprof/lib/gpuprof/libgpuprof_inject.so"

CONTAINERS = """\
# before the containers
containers:
# the trainer
- name: main
  image: example.org/train:1   # pinned
  command: ["python", "train.py"]
  env:
  - {name: A, value: "1"}
  - name: LD_PRELOAD
    value: /usr/lib/libjemalloc.so   # allocator
  resources:
    limits: {nvidia.com/gpu: 1}
- image: busybox   # no GPU
  name: side
# behind the containers
"""


def indented(text, by):
    return "".join(" " * by + line + "\n" for line in text.splitlines())


def manifest(kind):
    """A manifest of each kind that makes pods, with comments in many places."""
    head = f"# {kind}\napiVersion: %s\nkind: {kind}\nmetadata:\n    name: work  # its name\n"
    labels = "metadata:\n  labels: {app: work}\n"
    pod = f"{labels}spec:\n" + indented("restartPolicy: Never\n" + CONTAINERS if "Job" in kind else CONTAINERS, 2)
    selector = "selector: {matchLabels: {app: work}}\n"
    if kind == "Pod":
        return head % "v1" + "spec:\n" + indented(CONTAINERS, 2)
    if kind == "CronJob":
        return head % "batch/v1" + "spec:\n  schedule: '0 3 * * *'\n  jobTemplate:\n    spec:\n      template:\n" + indented(pod, 8)
    if kind == "Job":
        return head % "batch/v1" + "spec:\n  backoffLimit: 0\n  template:\n" + indented(pod, 4)
    extra = "serviceName: work\n" if kind == "StatefulSet" else ""
    return head % "apps/v1" + "spec:\n" + indented(extra + selector, 2) + "  template:\n" + indented(pod, 4)


KINDS = ["Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"]
POD_OF = {"Pod": [], "CronJob": ["spec", "jobTemplate", "spec", "template"]}


def inject(text, *options):
    return subprocess.run([str(GPUPROF), "inject", "-f", "-", *options], input=text.encode(), capture_output=True, check=False, env=clean_env(), timeout=LIMIT_S)


def injected(text, *options):
    done = inject(text, *options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def refusal(text, *options):
    done = inject(text, *options)
    assert (done.returncode, done.stdout) == (2, b""), done.stdout.decode()
    return done.stderr.decode()


def documents(text):
    """What another reader of YAML understands."""
    read = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin.buffer.read()))))"
    done = subprocess.run([str(TOOLS / "python"), "-c", read], input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode() + text
    return json.loads(done.stdout)


def valid(text, tmp_path):
    path = tmp_path / "checked.yaml"
    path.write_text(text)
    done = subprocess.run([str(TOOLS / "kubernetes-validate"), "--strict", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr + text


def pod_of(document):
    for key in POD_OF.get(document["kind"], ["spec", "template"]):
        document = document[key]
    return document


def without_ours(document):
    """The object with everything of gpuprof's taken out again."""
    pod = pod_of(document)
    assert pod["metadata"]["annotations"].pop("gpuprof/injected")
    if not pod["metadata"]["annotations"]:
        del pod["metadata"]["annotations"]
    spec = pod["spec"]
    spec["initContainers"] = [c for c in spec["initContainers"] if c["name"] != "gpuprof-install"]
    spec["volumes"] = [v for v in spec["volumes"] if not v["name"].startswith("gpuprof")]
    for container in spec["containers"]:
        container["volumeMounts"] = [m for m in container.get("volumeMounts", []) if not m["mountPath"].startswith("/gpuprof")]
        kept = []
        for variable in container.get("env", []):
            if variable["name"] == "LD_PRELOAD" and variable["value"].startswith(OBJECT + ":"):
                kept.append({"name": "LD_PRELOAD", "value": variable["value"].removeprefix(OBJECT + ":")})
            elif not re.match(r"GPUPROF_|LD_PRELOAD|TRACED_POD_NAME|(CUDA|NVTX)_INJECTION64_PATH|INTEL_LIBITTNOTIFY64|NCCL_PROFILER_PLUGIN", variable["name"]):
                kept.append(variable)
        container["env"] = kept
        for key in ("volumeMounts", "env"):
            if not container[key]:
                del container[key]
    for key in ("initContainers", "volumes"):
        if not spec[key]:
            del spec[key]
    return document


def only_adds(before, after, but=()):
    """Every line is still there, in its order, except for those that hold one of the words."""
    for line in difflib.ndiff(before.splitlines(), after.splitlines()):
        if line.startswith("- ") and not any(word in line for word in but):
            # The first key of an item may have moved behind what was added in front of it.
            rest = line[2:].replace("- ", "  ", 1)
            assert rest in after.splitlines(), f"{line} is gone"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [(), ("--claim", "traces", "--capture=off"), ("--container", "main,side")], ids=["plain", "claim", "two"])
def test_what_is_not_ours_stays(kind, options):
    before = manifest(kind)
    after = injected(before, *options)
    only_adds(before, after, but=["libjemalloc"])
    for comment in re.findall(r"#.*", before):
        assert comment in after
    # Once more changes nothing.
    assert injected(after, *options) == after


@needs_tools
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [(), ("--claim", "traces", "--capture=off"), ("--container", "main,side")], ids=["plain", "claim", "two"])
def test_the_result_is_valid_and_means_the_same(kind, options, tmp_path):
    before = manifest(kind)
    after = injected(before, *options)
    valid(before, tmp_path)
    valid(after, tmp_path)
    (old,), (new,) = documents(before), documents(after)
    pod = pod_of(new)
    names = {c["name"]: c for c in pod["spec"]["containers"]}
    variables = {v["name"]: v.get("value") for v in names["main"]["env"]}
    assert variables["LD_PRELOAD"] == f"{OBJECT}:/usr/lib/libjemalloc.so" and variables["A"] == "1"
    assert variables["GPUPROF_TRACER"] == "/gpuprof/lib/gpuprof/libgpuprof_tracer.so"
    assert ("env" in names["side"]) == ("main,side" in options)
    installer = pod["spec"]["initContainers"][0]
    assert installer["args"][:2] == ["install", "/gpuprof"] and installer["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    if "--claim" in options:
        assert variables["GPUPROF_BUNDLE"] == "/gpuprof-traces/$(TRACED_POD_NAME)-main" and variables["GPUPROF_CAPTURE"] == "off"
        assert installer["args"][2:] == ["--folders", "/gpuprof-traces/$(TRACED_POD_NAME)-main"]
        order = [v["name"] for v in names["main"]["env"]]
        assert order.index("TRACED_POD_NAME") < order.index("GPUPROF_BUNDLE"), "a variable must come before its use"
    if "main,side" in options:
        mounts = [next(m["name"] for m in c["volumeMounts"] if m["mountPath"] == "/gpuprof-traces") for c in names.values()]
        assert len(set(mounts)) == 2, "two containers may have the same process numbers"
    assert without_ours(new) == old


SHAPES = {
    "JSON": lambda text: json.dumps(documents(text)[0], indent=2),
    "JSON in one line": lambda text: json.dumps(documents(text)[0]),
    "a list": lambda text: "apiVersion: v1\nkind: List\nitems:\n- " + indented(text.partition("\n")[2], 2).lstrip(),
    "lines of Windows": lambda text: text.replace("\n", "\r\n"),
    "letters of several bytes": lambda text: "# Größe: 日本語 🚀\n" + text.replace("# its name", "# sein Name: Übung"),
    "a mark of the bytes' order": lambda text: "\ufeff" + text.replace("# its name", "# ü"),
    "several documents": lambda text: "---\n# a service\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n---\n" + text + "---\n",
    "empty places": lambda text: text.replace('command: ["python", "train.py"]', "volumeMounts: []").replace("name: side", "name: side\n%senv: []" % re.search(r" *(?=name: side)", text)[0]),
    "nulls": lambda text: text.replace("command: [\"python\", \"train.py\"]", "volumeMounts:"),
}


@needs_tools
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_each_way_of_writing_it(kind, shape, tmp_path):
    before = SHAPES[shape](manifest(kind))
    after = injected(before)
    assert injected(after) == after
    if "Windows" in shape:
        assert "\n" not in after.replace("\r\n", "")
    (tmp_path / "m").write_text(after)
    old, new = documents(before), documents(after)
    if shape == "a list":
        old, new = [old[0]["items"][0]], [new[0]["items"][0]]
    old = [document for document in old if document and document["kind"] == kind]
    new = [document for document in new if document and document["kind"] == kind]
    variables = {v["name"] for c in pod_of(new[0])["spec"]["containers"] for v in c.get("env", [])}
    assert {"LD_PRELOAD", "GPUPROF_BUNDLE"} <= variables
    cleaned = without_ours(new[0])
    for document in (cleaned, old[0]):  # an empty list and no list are the same
        for container in pod_of(document)["spec"]["containers"]:
            for key in ("env", "volumeMounts"):
                if not container.get(key, True):
                    del container[key]
    assert cleaned == old[0]


@needs("kubectl")
def test_kubectl_reads_the_result(tmp_path):
    path = tmp_path / "pod.yaml"
    path.write_text(injected(manifest("Deployment")))
    done = subprocess.run(["kubectl", "patch", "--local", "-f", str(path), "-p", "{}", "-o", "json"], capture_output=True, text=True, check=False,
                          env={**clean_env(), "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    pod = json.loads(done.stdout)["spec"]["template"]
    assert pod["spec"]["initContainers"][0]["name"] == "gpuprof-install"
    assert pod["metadata"]["annotations"]["gpuprof/injected"]


def test_several_workloads_are_changed_where_they_ask_for_it():
    wish = '  annotations: {gpuprof/inject: "%s"}\n'
    asks = manifest("Pod").replace("metadata:\n", "metadata:\n" + wish.replace("  ", "    ", 1) % "true")
    declines = manifest("Pod").replace("metadata:\n", "metadata:\n" + wish.replace("  ", "    ", 1) % "false").replace("name: work", "name: no")
    silent = manifest("Deployment")
    text = "---\n".join([asks, declines, silent])
    done = inject(text)
    assert done.returncode == 0 and done.stdout.decode().count("gpuprof/injected") == 1
    assert b"Pod/no: left as it is, as its annotation says" in done.stderr and b"Deployment/work: left as it is" in done.stderr
    assert injected(text, "--all").count("gpuprof/injected") == 2
    assert "no workload asks for it" in refusal("---\n".join([declines, silent])) and "--all" in refusal("---\n".join([declines, silent]))


REFUSED = {
    "not YAML": ("kind: [", "line "),
    "a template": ("kind: Pod\nmetadata: {{ .Values.x }}\n  a: b\n", "helm template"),
    "no workload": ("kind: Service\nmetadata: {name: s}\n", "no object makes pods"),
    "no containers": ("kind: Pod\nmetadata: {name: s}\nspec: {}\n", "has no containers"),
    "no spec": ("kind: Pod\nmetadata: {name: s}\n", "has no pod spec"),
    "no template": ("kind: Job\nmetadata: {name: s}\nspec: {}\n", "has no template"),
    "another shape": ("kind: Pod\nspec:\n  containers: x\n", "a sequence was expected"),
    "an alias": ("x: &c [{name: a}]\nkind: Pod\nspec:\n  containers: *c\n", "the alias *c"),
    "a shared anchor": ("kind: Pod\nspec: &s\n  containers: [{name: a}]\nother: *s\n", "the anchor &s"),
    "a merge key": ("x: &d {image: b}\nkind: Pod\nspec:\n  containers:\n  - <<: *d\n    name: a\n", "a merge key"),
    "a taken name": ("kind: Pod\nspec:\n  containers: [{name: a}]\n  volumes: [{name: gpuprof, emptyDir: {}}]\n", "volumes has gpuprof already"),
    "a taken place": ("kind: Pod\nspec:\n  containers: [{name: a, volumeMounts: [{name: x, mountPath: /gpuprof}]}]\n", "volumeMounts has /gpuprof already"),
    "a preload from elsewhere": ("kind: Pod\nspec:\n  containers: [{name: a, env: [{name: LD_PRELOAD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]\n", "valueFrom"),
    "a strange wish": ("kind: Pod\nmetadata: {annotations: {gpuprof/inject: perhaps}}\nspec:\n  containers: [{name: a}]\n", 'write "true" or "false"'),
    "too deep": ("kind: Pod\nspec: " + "[" * 500 + "]" * 500 + "\n", "levels"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_understood_is_refused_with_cause_and_fix(what):
    text, words = REFUSED[what]
    assert words in refusal(text)


def test_wrong_calls_are_refused(tmp_path):
    assert "has no container other; correct --container" in refusal(manifest("Pod"), "--container", "other")
    not_root = manifest("Pod").replace("spec:\n", "spec:\n  securityContext: {runAsNonRoot: true}\n")
    assert "runAsUser" in refusal(not_root, "--claim", "c")
    assert "runAsUser: 1000" not in injected(not_root)
    known = injected(not_root.replace("true}", "true, runAsUser: 1000}"), "--claim", "c")
    assert re.search(r"runAsUser: 1000\n", known)
    for words, status in ((["inject"], 2), (["inject", "-f", str(tmp_path / "none")], 3), (["inject", "-f", "-", "--trace", "nonsense"], 2)):
        done = subprocess.run([str(GPUPROF), *words], input=b"", capture_output=True, check=False, env=clean_env())
        assert (done.returncode, done.stdout) == (status, b""), done.stderr


@needs("bwrap")
def test_a_pod_with_these_variables_is_recorded(tmp_path):
    """The mounts and variables of the result, as a kubelet gives them: the volumes belong to root and anybody may write."""
    if not shutil.which("bwrap") or subprocess.run(["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("bwrap does not work here")
    text = injected(json.dumps({"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "main"}]}}), "--include=ls")
    pod = json.loads(text)
    installer, container = pod["spec"]["initContainers"][0], pod["spec"]["containers"][0]
    assert [v["name"] for v in pod["spec"]["volumes"]] == ["gpuprof", "gpuprof-traces"]
    folders = {}
    for name in ("gpuprof", "gpuprof-traces"):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        folders[name].chmod(0o777)
    assert installer["args"] == ["install", "/gpuprof"]
    done = subprocess.run([str(GPUPROF), "install", str(folders["gpuprof"])], capture_output=True, check=False, env=clean_env())
    assert done.returncode == 0, done.stderr
    words = ["bwrap", "--tmpfs", "/", "--unshare-all", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for folder in ("/usr", "/lib", "/lib64", "/bin", "/etc"):
        if pathlib.Path(folder).exists():
            words += ["--ro-bind", folder, folder]
    for mount in container["volumeMounts"]:
        words += ["--ro-bind" if mount.get("readOnly") else "--bind", str(folders[mount["name"]]), mount["mountPath"]]
    for variable in container["env"]:
        words += ["--setenv", variable["name"], variable["value"]]
    done = subprocess.run([*words, "--", "ls", "/gpuprof"], capture_output=True, text=True, check=False, env=clean_env())
    assert (done.returncode, done.stdout.split()) == (0, ["bin", "lib"]), done.stderr
    info = subprocess.run([str(GPUPROF), "info", str(folders["gpuprof-traces"]), "--json"], capture_output=True, text=True, check=False)
    assert [pathlib.PurePath(p["executable"]).name for p in json.loads(info.stdout)["processes"]] == ["ls"], info.stderr


@needs_tools
@pytest.mark.parametrize("path", sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml")), ids=lambda path: path.name)
def test_our_own_manifests_are_valid(path, tmp_path):
    valid(path.read_text(), tmp_path)


@needs_tools
def test_the_agent_has_the_least_rights():
    pod = next(d for d in documents((ROOT / "deploy/kubernetes/agent.yaml").read_text()) if d["kind"] == "DaemonSet")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    rights = container["securityContext"]
    assert rights["capabilities"] == {"drop": ["ALL"], "add": ["KILL", "SYS_PTRACE"]}
    assert rights["allowPrivilegeEscalation"] is False and rights["readOnlyRootFilesystem"] is True and "privileged" not in rights
    assert pod["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostIPC"} & set(pod) and not any("hostPath" in volume for volume in pod["volumes"])
    version = re.search(r"project\(gpuprof VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert container["image"] == f"gpuprof:{version}"


def test_damaged_manifests_are_refused_or_changed_and_end():
    """Pieces removed, doubled or exchanged: whatever is left of the text, it is not understood or stays YAML."""
    rng = random.Random(20)
    for _ in range(120):
        text = manifest(rng.choice(KINDS))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text))
            piece = rng.choice(["", text[at:at + rng.randint(1, 30)] * 2, rng.choice("{}[]&*!|>'\"%@`:-?,#\t\n\0é")])
            text = text[:at] + piece + text[at + rng.randint(0, 8):]
        done = inject(text)
        assert done.returncode in (0, 2), done.stderr
        assert bool(done.stdout) == (done.returncode == 0)
        if done.returncode == 0:
            again = inject(done.stdout.decode())
            assert (again.returncode, again.stdout) == (0, done.stdout), text
