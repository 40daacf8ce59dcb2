# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""`gpuprof mcp`: asked by the protocol's own SDK in all of its modes, and by hand with bytes that no client sends."""

import json
import os
import shutil
import subprocess

import pytest

from cli_support import GPUPROF, ROOT, clean_env, gpuprof
from waiting import LIMIT_S

PYTHON = ROOT / ".deps" / "mcp" / "bin" / "python"
CLIENT = ROOT / "tests" / "process" / "mcp_client.py"
TRACES = ROOT / "tests" / "golden" / "traces"
MOST_BYTES = 100_000
NAMES = ["list_bundles", "overview", "findings", "table", "timeline", "stacks", "compare", "schema", "add_findings"]
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    shutil.copytree(TRACES / "v1", folder / "v1")
    shutil.copytree(TRACES / "h200" / "pytorch", folder / "torch")
    return folder


def by_sdk(mode, root, calls, *options):
    if not PYTHON.exists():
        pytest.skip("the SDK of the protocol is not installed; run scripts/setup")
    done = subprocess.run([PYTHON, CLIENT, mode, json.dumps(calls), GPUPROF, "mcp", "--root", root, *options], capture_output=True, text=True,
                          timeout=LIMIT_S, env=clean_env())
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def lines_of(root, *messages, options=()):
    """Sends lines, and returns the lines that come back."""
    text = b"".join((each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in messages)
    done = subprocess.run([GPUPROF, "mcp", "--root", root, *options], input=text, capture_output=True, timeout=LIMIT_S, env=clean_env())
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    assert all(len(line.encode()) <= MOST_BYTES or '"tools":[' in line for line in lines)
    return [json.loads(line) for line in lines]


def call(name, number=1, **arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def content_of(answer):
    result = answer["result"]
    content = result["structuredContent"]
    assert content["skipped"] is not None and {"shown", "total"} <= content["truncated"].keys()
    if not result["isError"]:
        assert json.loads(result["content"][0]["text"]) == content
    return content


def ask(root, name, options=(), **arguments):
    answer, = lines_of(root, call(name, **arguments), options=options)
    return content_of(answer)


def fault(root, name, **arguments):
    content = ask(root, name, **arguments)
    assert "error" in content, content
    return content["error"]["message"]


@pytest.mark.parametrize("mode, version", [("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")])
def test_the_sdk_in_each_mode(root, mode, version):
    """The helper checks each answer against the schema of its tool."""
    calls = [["list_bundles", {}], ["overview", {"input": "torch"}], ["findings", {"input": "torch"}], ["table", {"input": "torch", "pass": "kernels", "top": 3}],
             ["timeline", {"input": "torch"}], ["stacks", {"input": "v1/heap.gpt"}], ["compare", {"before": "torch", "after": "torch"}], ["schema", {}],
             ["schema", {"pass": "ops"}], ["table", {"input": "torch", "pass": "kernelz"}], ["overview", {"input": "nothing"}]]
    told = by_sdk(mode, root, calls)
    assert (told["version"] or told["handshake"] or version) == version
    assert sorted(told["tools"]) == sorted(NAMES)
    assert [each["is_error"] for each in told["answers"]] == [False] * 9 + [True] * 2
    for name, tool in told["tools"].items():
        assert tool["annotations"]["readOnlyHint"] == (name != "add_findings") and tool["outputSchema"]
    assert "Did you mean 'kernels'" in told["answers"][9]["text"]


def test_table_says_what_stats_says(root):
    rows = json.loads(gpuprof("stats", "kernels", "torch", "--json", cwd=root).stdout)["kernels"]
    columns = ["short_name", "count", "total_ns"]
    content = ask(root, "table", input="torch", **{"pass": "kernels"}, top=20, columns=columns)
    assert content["rows"] == [{key: row[key] for key in columns} for row in rows[:20]]
    assert content["truncated"] == {"shown": 20, "total": len(rows)}
    name = rows[0]["name"]
    chosen = ask(root, "table", input="torch", **{"pass": "kernels"}, columns=["name", "total_ns"], where=[{"column": "name", "value": name}])
    assert chosen["rows"] == [{"name": name, "total_ns": rows[0]["total_ns"]}]
    least = ask(root, "table", input="torch", **{"pass": "kernels"}, order_by="total_ns", ascending=True, top=1)["rows"]
    assert least[0]["total_ns"] == min(each["total_ns"] for each in rows)
    some = ask(root, "table", input="torch", **{"pass": "kernels"}, where=[{"column": "count", "relation": ">", "value": 10}])
    assert some["truncated"]["total"] == sum(each["count"] > 10 for each in rows)


def test_findings_have_a_check_that_runs(root):
    content = ask(root, "findings", input="torch")
    assert content["findings"]
    for finding in content["findings"]:
        done = subprocess.run(finding["check"]["command"].replace("gpuprof", GPUPROF, 1), shell=True, cwd=root, capture_output=True, env=clean_env())
        assert done.returncode == 0, finding["check"]
        assert "error" not in ask(root, finding["check"]["tool"], **finding["check"]["arguments"])


def test_every_rule_has_a_pass_that_checks_it(root):
    rules = json.loads(gpuprof("advise", "--rules", "--json", cwd=root).stdout)["rules"]
    source = (ROOT / "launcher" / "mcp" / "pass_facts.cc").read_text(encoding="utf-8")
    passes = {each["name"] for each in ask(root, "schema")["passes"]}
    families = {rule["id"][:2] for rule in rules if rule["id"][2:3] == "-"}
    assert all(f'{{"{family}", "' in source for family in families)
    import re
    named = re.findall(r'\{"[A-Z]{2}(?:-\d{3})?", "([a-z_]+)"', source)
    assert named and set(named) <= passes


def test_compare_is_diff(root):
    diff = json.loads(gpuprof("diff", "torch", "torch", "--json", cwd=root).stdout)
    content = ask(root, "compare", before="torch", after="torch")
    assert (content["verdict"], content["comparability"], content["steps"]) == (diff["verdict"], diff["comparability"], diff["steps"])


def test_a_table_of_a_million_rows(root, tmp_path):
    with open(tmp_path / "million.json", "w", encoding="utf-8") as out:
        out.write('{"schemaVersion":1,"traceEvents":[\n{"ph":"M","name":"process_name","pid":7,"tid":0,"ts":0,"args":{"name":"python"}}')
        for i in range(1_000_000):
            out.write(f',\n{{"ph":"X","cat":"cpu_op","name":"aten::op_{i:07d}","pid":7,"tid":7,"ts":{2 * i}.0,"dur":1.{i % 1000:03d}}}')
        out.write("]}\n")
    answers = lines_of(tmp_path, call("table", 1, input="million.json", **{"pass": "ops"}, top=200),
                       call("table", 2, input="million.json", **{"pass": "ops"}, where=[{"column": "name", "relation": "contains", "value": "op_00012"}]),
                       call("timeline", 3, input="million.json", top=200))
    first, second, third = map(content_of, answers)
    assert first["truncated"]["total"] == 1_000_000 and 0 < first["truncated"]["shown"] == len(first["rows"]) <= 200
    assert second["truncated"]["total"] == 100
    assert third["truncated"]["total"] >= 1_000_000


def test_a_question_that_is_cancelled_gets_no_answer(tmp_path):
    """The first question takes seconds, and all others have come meanwhile."""
    with open(tmp_path / "long.json", "w", encoding="utf-8") as out:
        out.write('{"schemaVersion":1,"traceEvents":[\n{"ph":"M","name":"process_name","pid":7,"tid":0,"ts":0,"args":{"name":"python"}}')
        for i in range(300_000):
            out.write(f',\n{{"ph":"X","cat":"cpu_op","name":"aten::op_{i}","pid":7,"tid":7,"ts":{2 * i}.0,"dur":1.0}}')
        out.write("]}\n")
    asked = [call("table", number, input="long.json", **{"pass": "ops"}, top=1) for number in (1, 2, 3)]
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "reason": "no need"}}
    ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
    answers = lines_of(tmp_path, *asked, cancelled, ping)
    # A ping does not wait behind a long question.
    assert sorted(str(answer["id"]) for answer in answers) == ["1", "3", "p"]
    assert [answer["id"] for answer in answers if answer["id"] != "p"] == [1, 3]
    assert all(content_of(answer)["truncated"]["total"] == 300_000 for answer in answers if answer["id"] != "p")


@pytest.mark.parametrize("given, words", [
    ("../outside", "'..'"), ("v1/../../outside", "'..'"), ("/etc", "outside of the folder"), ("link", "link"), ("link/heap.gpt", "link"),
    ("pipe", "neither a file nor a folder"), ("nothing", "list_bundles"), ("a\0b", "not a path"), ("x" * 5000, "not a path")])
def test_inputs_outside_of_the_folder(tmp_path, given, words):
    (tmp_path / "runs").mkdir()
    shutil.copytree(TRACES / "v1", tmp_path / "outside")
    os.symlink(tmp_path / "outside", tmp_path / "runs" / "link")
    os.mkfifo(tmp_path / "runs" / "pipe")
    for name in ("overview", "timeline", "add_findings"):
        more = {"findings": [{"title": "x"}]} if name == "add_findings" else {}
        assert words in fault(tmp_path / "runs", name, input=given, **more)
    assert not (tmp_path / "outside" / "findings.json").exists()


def test_the_whole_path_of_an_input_is_taken(root):
    assert ask(root, "table", input=f"{root}/torch", **{"pass": "kernels"})["rows"]


@pytest.mark.parametrize("line, code", [
    (b"{", -32700), (b"\xff\xfe", -32700), (b"[]", -32600), (b"7", -32600), (b'{"jsonrpc":"2.0","id":1}', -32600), (b"[" * 5000, -32700),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601), (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"format_disk"}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}', -32022),
    (b'{"x":"' + b"y" * (2 << 20) + b'"}', -32600)])
def test_messages_that_are_refused(root, line, code):
    """After each, the server answers the next one."""
    refused, pong = lines_of(root, line, {"jsonrpc": "2.0", "id": "next", "method": "ping"})
    assert refused["error"]["code"] == code and refused["error"]["message"].endswith((".", "?"))
    assert pong == {"jsonrpc": "2.0", "id": "next", "result": {}}


@pytest.mark.parametrize("name, arguments, words", [
    ("table", {"input": 7, "pass": "ops"}, "'input' is not a text"), ("table", {"input": "torch"}, "'pass' is missing"),
    ("table", {"input": "torch", "pass": "ops", "top": 201}, "from 1 to 200"), ("table", {"input": "torch", "pass": "ops", "tops": 1}, "Did you mean 'top'"),
    ("table", {"input": "torch", "pass": "ops", "columns": ["naem"]}, "Did you mean 'name'"), ("table", {"input": "torch", "pass": "ops", "list": "x"}, "no list 'x'"),
    ("table", {"input": "torch", "pass": "ops", "where": [{"column": "name", "relation": "~", "value": 1}]}, "not a relation"),
    ("table", {"input": "torch", "pass": "ops", "by": "colour"}, "Its keys are"), ("table", {"input": "torch", "pass": "ops", "window_ns": [5, 1]}, "not a range"),
    ("timeline", {"input": "torch", "kind": "colour"}, "It has:"), ("add_findings", {"input": "v1", "findings": [{"text": "x"}]}, "'title' is missing"),
    ("add_findings", {"input": "v1", "findings": [{"title": "x" * 300}]}, "at most 200"), ("overview", [], "not an object")])
def test_calls_that_are_refused(root, name, arguments, words):
    answer, = lines_of(root, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
    assert answer["result"]["isError"] and words in content_of(answer)["error"]["message"]


def test_messages_of_all_ages(root):
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {}}}
    newer = {**asked, "params": {"protocolVersion": "2031-01-01"}}
    modern = {"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {"_meta": {VERSION_KEY: "2026-07-28"}}}
    old, new, found, tools, batch = lines_of(root, asked, {"jsonrpc": "2.0", "method": "notifications/initialized"}, newer,
                                             {"jsonrpc": "2.0", "id": 2, "method": "server/discover"}, modern, [{"jsonrpc": "2.0", "id": 4, "method": "ping"}])
    assert (old["result"]["protocolVersion"], new["result"]["protocolVersion"]) == ("2024-11-05", "2025-11-25")
    assert found["result"]["supportedVersions"][0] == "2026-07-28" and found["result"]["resultType"] == "complete"
    assert tools["result"]["resultType"] == "complete" and tools["result"]["ttlMs"] >= 0
    assert batch == [{"jsonrpc": "2.0", "id": 4, "result": {}}]


def test_control_needs_its_option(root):
    answer, = lines_of(root, call("ps"))
    assert "--allow-control" in answer["error"]["message"]
    assert ask(root, "ps", options=["--allow-control"])["processes"] == []
    answer, = lines_of(root, call("start", pid=1), options=["--allow-control"])
    assert answer["result"]["isError"] and "gpuprof ps" in content_of(answer)["error"]["message"]


@pytest.mark.parametrize("line, words", [
    ("allow-control = true", "gpuprof.toml: allow-control: this file may not let an assistant control processes; remove the line, and give --allow-control"),
    ('root = "/"', "gpuprof.toml: root: '/' is not below the working directory; give --root"),
    ('root = "link"', "gpuprof.toml: root: 'link' is not below the working directory; give --root"),
    ('root = "../x"', "gpuprof.toml: root: '../x' is not below the working directory; give --root")])
def test_a_file_of_the_folder_grants_nothing(tmp_path, line, words):
    """An assistant starts the server in a folder that may be somebody else's work."""
    (tmp_path / "link").symlink_to("/")
    (tmp_path / "gpuprof.toml").write_text(f"[mcp]\n{line}\n")
    (tmp_path / "gpuprof.toml").chmod(0o644)
    done = gpuprof("mcp", cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, "") and words in done.stderr, done.stderr
    (tmp_path / "gpuprof.toml").write_text('[mcp]\nroot = "runs"\n')
    (tmp_path / "runs").mkdir()
    assert gpuprof("mcp", cwd=tmp_path, stdin=subprocess.DEVNULL).returncode == 0


def test_secrets_are_masked(tmp_path):
    events = [{"ph": "X", "cat": "cpu_op", "name": "call https://me:hunter2@host/x API_KEY=hunter2", "pid": 1, "tid": 1, "ts": 0, "dur": 5}]
    (tmp_path / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    for name, more in (("table", {"pass": "ops"}), ("timeline", {}), ("overview", {})):
        assert "hunter2" not in json.dumps(ask(tmp_path, name, input="trace.json", **more))


def test_findings_are_kept_and_shown(root, tmp_path):
    shutil.copytree(root / "v1", tmp_path / "v1")
    title = "Copies </script><script>alert(1)</script> wait"
    for number in (1, 2):
        content = ask(tmp_path, "add_findings", input="v1", author="an assistant", findings=[{"title": title, "severity": "high", "evidence": ["12 ms"]}])
        assert (content["added"], content["kept"]) == (1, number)
    kept = json.loads((tmp_path / "v1" / "findings.json").read_text())
    assert kept["findings"][0]["title"] == title and kept["findings"][0]["author"] == "an assistant"
    assert ask(tmp_path, "add_findings", input="v1", findings=[], replace=True)["kept"] == 0
    (tmp_path / "v1" / "findings.json").write_text("[1]")
    assert "Move it away" in fault(tmp_path, "add_findings", input="v1", findings=[{"title": "x"}])
    assert "gpuprof import" in fault(root, "add_findings", input="torch", findings=[{"title": "x"}])


def test_a_bundle_with_findings_is_read_as_before(root, tmp_path):
    shutil.copytree(root / "v1", tmp_path / "v1")
    before = gpuprof("stats", "health", "v1", "--json", cwd=tmp_path).stdout
    ask(tmp_path, "add_findings", input="v1", findings=[{"title": "x"}])
    assert gpuprof("stats", "health", "v1", "--json", cwd=tmp_path).stdout == before


def test_a_fourth_input_closes_the_first(root):
    calls = [call("table", i, input=f"v1/{name}.gpt", **{"pass": "health"}) for i, name in enumerate(["heap", "locks", "ops", "gpu", "heap"])]
    first, *_, last = map(content_of, lines_of(root, *calls))
    assert first["rows"] == last["rows"]


def test_a_root_that_is_not_there(tmp_path):
    done = gpuprof("mcp", "--root", "nothing", cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "--root nothing" in done.stderr and done.stdout == ""
