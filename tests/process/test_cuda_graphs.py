# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Launches of CUDA graphs, by their nodes or as wholes: every launch is there in one form, whatever release CUPTI is of, and a node leads
to the graph that the program made."""

import collections
import json

import pytest

from conftest import gpuprof
from fake_gpu import DOUBLES, PERSONALITIES, Truth, environment_of, needs_doubles
from trace_file import read_bundle

pytestmark = needs_doubles

PROGRAMS = DOUBLES / "programs"
RELEASES = [None, *PERSONALITIES]  # None: 13.0
NODE, WHOLE = 0, 1
REFUSED = "cannot record launches of CUDA graphs as wholes"
LATE = "whole launches need a capture that begins with the program"


@pytest.fixture
def graphs(record, tmp_path):
    """graphs(launches, *options): the program graphs, what was recorded and what truly happened."""

    def run(launches, *options, personality=None, script=""):
        truth = tmp_path / "truth.json"
        outcome = record([PROGRAMS / "graphs", str(launches)], *options, env=environment_of(truth, script, personality))
        assert outcome.status == 0, outcome.err.decode()
        (trace,) = read_bundle(outcome.bundle)
        assert trace.lost == 0, trace.losses
        found = Truth(truth)
        assert found.of("violation") == []
        return trace, found, outcome

    return run


@pytest.fixture
def rounds(session, tmp_path):
    """The program graph_rounds, obeying: rounds(*options) gives its session with tell, switch (captures) and whole (the end of it)."""

    def start(*options, personality=None, script=""):
        truth = tmp_path / "truth.json"
        program = session([PROGRAMS / "graph_rounds"], *options, env=environment_of(truth, script, personality))
        assert program.line() == "done make"

        def obey(line):
            program.tell(f"{line}\n")
            assert program.line() == f"done {line}"

        def switch(verb):
            done = program.ctl(verb)
            assert done.status == 0, done.err.decode()

        def end():
            outcome = program.finish()
            assert outcome.status == 0, outcome.err.decode()
            found = Truth(truth)
            assert found.of("violation") == []
            (trace,) = read_bundle(outcome.bundle)
            assert trace.lost == 0, trace.losses
            return trace, found, outcome

        program.obey, program.switch, program.whole = obey, switch, end
        return program

    return start


def true_nodes(truth):
    """As TraceFile.node_rows."""
    return [(kind, row["stream"], row["graph"], row["node"], row["correlation"])
            for kind in ("kernel", "copy", "set") for row in truth.of(kind) if row["graph"] != 0]


def stats(bundle, *words):
    done = gpuprof("stats", "graphs", "--json", *words, bundle)
    assert done.status == 0, done.err.decode()
    return json.loads(done.out)


def check_wholes(trace, truth, launches):
    """The rows of whole launches are these, with their times; CUPTI's clock is CLOCK_REALTIME."""
    rows = trace.graph_rows()
    true = sorted(launches, key=lambda row: row["correlation"])
    assert [row[:3] for row in rows] == [(row["graph"], row["stream"], row["correlation"]) for row in true]
    for ours, theirs in zip(rows, true):
        # The double's own clock may be read a little beside ours.
        assert abs(ours[3] - theirs["start"] - truth.offset) < 50_000
        assert abs((ours[4] - ours[3]) - (theirs["end"] - theirs["start"])) < 1_000


def check_each_in_one_form(trace, truth):
    """Of every launch there are all its nodes or one row; the correlations of those recorded as wholes."""
    by_nodes, whole = {row[4] for row in trace.node_rows()}, {row[2] for row in trace.graph_rows()}
    assert not by_nodes & whole, "in both forms"
    launches = truth.of("graph_launch")
    assert by_nodes | whole == {row["correlation"] for row in launches}
    check_wholes(trace, truth, [row for row in launches if row["correlation"] in whole])
    count = collections.Counter
    assert count(trace.node_rows()) == count(row for row in true_nodes(truth) if row[4] in by_nodes)
    return whole


@pytest.mark.parametrize("release", RELEASES)
def test_by_nodes_every_node_is_there(graphs, release):
    trace, truth, outcome = graphs(20, "--graphs=node", personality=release)
    assert collections.Counter(trace.node_rows()) == collections.Counter(true_nodes(truth))
    assert len(trace.node_rows()) == 20 * 5 and trace.graph_rows() == []
    (graph,) = {row[2] for row in trace.node_rows()}
    source, executable, before = trace.graphs[graph]
    assert executable and not before and source in trace.graphs
    roots = {row[3]: trace.root_of(row[3]) for row in trace.node_rows()}
    assert len(set(roots.values())) == len(roots) == 5, "each node is of another one"
    assert {trace.graph_nodes[root][1] for root in roots.values()} == {source}
    assert trace.graph_modes == [(1, NODE, 0)]
    (row,) = stats(outcome.bundle)["graphs"]
    assert (row["count"], row["mode"], row["made"], row["source_graph"]) == (20, "nodes", "in_capture", source)
    assert (row["kernel_count_per_launch"], row["copy_count_per_launch"], row["set_count_per_launch"]) == (3, 1, 1)
    launches = truth.of("graph_launch")
    assert abs(row["total_ns"] - sum(launch["end"] - launch["start"] for launch in launches)) < 1_000 * len(launches)
    assert row["call_count"] == 20


@pytest.mark.parametrize("release", RELEASES)
def test_nodes_belong_to_what_captured_them(graphs, release):
    """The double's program has no operations: the stack of the capturing call names the owner, not that of the launch."""
    trace, truth, outcome = graphs(20, "--graphs=node", "--trace", "cuda,launches", personality=release)
    roots = {trace.root_of(node) for _, _, _, node, _ in trace.node_rows()}
    assert roots <= set(trace.node_making) and len(roots) == 5
    assert {thread for _, thread in trace.node_making.values()} == {trace.pid}
    done = gpuprof("stats", "kernels", "--by", "op", "--json", outcome.bundle)
    rows = json.loads(done.out)["kernels"]
    assert sorted(row["name"].partition("(")[0] for row in rows) == ["First", "Last", "Second"]
    for row in rows:
        assert (row["op"], row["op_evidence"], row["execution"]) == ("graph", "graph", "graph")
        assert row["launched_by"] == "main"


@pytest.mark.parametrize("release", RELEASES)
def test_time_of_nodes_by_who_made_them(graphs, release):
    """The double's program has no operations: the function that captured is known, and the executable graph's nodes lead to it."""
    trace, truth, outcome = graphs(20, "--graphs=node", "--trace", "cuda,launches", personality=release)
    (row,) = stats(outcome.bundle, "--by", "owner")["graphs"]
    assert (row["name"], row["owner_gap"], row["node_count"], row["count"]) == ("not known", "outside", 5, 100)
    assert row["launched_by"] == "main"
    assert row["source_graph"] == stats(outcome.bundle)["graphs"][0]["source_graph"]


@pytest.mark.parametrize("release", RELEASES)
def test_as_wholes_every_launch_is_one_row(graphs, release):
    trace, truth, outcome = graphs(20, "--graphs=whole", personality=release)
    assert trace.node_rows() == []
    check_wholes(trace, truth, truth.of("graph_launch"))
    assert [mode for _, mode, _ in trace.graph_modes] == [NODE, WHOLE]
    (row,) = stats(outcome.bundle)["graphs"]
    assert (row["count"], row["whole_count"], row["mode"], row["made"]) == (20, 20, "whole", "in_capture")
    assert row.get("kernel_count_per_launch") is None, "CUPTI does not tell what its nodes are"
    kernels = json.loads(gpuprof("stats", "kernels", "--json", outcome.bundle).out)
    assert (kernels["count"], kernels["whole_graph_count"]) == (0, 20)
    assert any("20 launches of CUDA graphs were recorded as a whole" in note for note in kernels["meta"]["notes"])
    streams = json.loads(gpuprof("stats", "streams", "--json", outcome.bundle).out)
    launches = truth.of("graph_launch")
    assert abs(streams["devices"][0]["busy_ns"] - sum(launch["end"] - launch["start"] for launch in launches)) < 1_000 * len(launches)


def test_with_several_subscribers_wholes_are_asked_for_from_the_first(graphs):
    """Then a kind alone changes nothing: it is an attribute, before any kind is enabled."""
    trace, truth, _ = graphs(20, "--graphs=whole", personality="13.3", script="driver_version 13030")
    assert trace.node_rows() == []
    check_wholes(trace, truth, truth.of("graph_launch"))


@pytest.mark.parametrize("release", RELEASES)
def test_a_later_capture_has_nodes(rounds, release):
    """CUPTI crashes in the launch of a graph that is older than the recording of whole launches."""
    program = rounds("--graphs=whole", personality=release)
    program.obey(3)
    program.switch("stop")
    program.obey("make")
    program.switch("start")
    program.obey(4)
    trace, truth, outcome = program.whole()
    launches = [row["correlation"] for row in truth.of("graph_launch")]
    assert {row[2] for row in trace.graph_rows()} == set(launches[:6])
    assert {row[4] for row in trace.node_rows()} == set(launches[6:])
    assert [(capture, mode) for capture, mode, _ in trace.graph_modes] == [(1, NODE), (1, WHOLE), (2, NODE)]
    assert outcome.words.count(LATE) == 1 and any(LATE in note for note in trace.notes)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("option", ["--graphs=node", "--graphs=whole"])
def test_graphs_older_than_the_capture_are_marked(rounds, option, release):
    """They have records of their nodes whatever is asked for, and nothing is known of their making."""
    program = rounds("--capture=off", option, personality=release)
    program.obey(1)
    program.switch("start")
    program.obey(4)
    program.obey("make")
    program.obey(5)
    program.switch("stop")
    program.obey(1)
    trace, truth, outcome = program.whole()
    launches = truth.of("graph_launch")
    assert len(launches) == 22
    old, new = {row["graph"] for row in launches[:10]}, {row["graph"] for row in launches[10:]}
    made = {graph: before for graph, (_, executable, before) in trace.graphs.items() if executable}
    assert made == {**{graph: True for graph in old}, **{graph: False for graph in new}}
    captured = {row["correlation"] for row in launches[2:20]}
    by_nodes, whole = {row[4] for row in trace.node_rows()}, {row[2] for row in trace.graph_rows()}
    assert by_nodes | whole == captured and not by_nodes & whole
    assert not whole
    rows = {row["graph"]: (row["made"], row["count"]) for row in stats(outcome.bundle)["graphs"]}
    assert rows == {**{graph: ("before_capture", 4) for graph in old}, **{graph: ("in_capture", 5) for graph in new}}
    owners = stats(outcome.bundle, "--by", "owner")["graphs"]
    assert {row["owner_gap"] for row in owners} == {"before_capture", "outside"}
    counts = collections.Counter(trace.node_rows())
    assert sum(row["count"] for row in owners) == sum(counts.values())


def test_clones_and_child_graphs_lead_to_what_the_program_made(rounds):
    program = rounds("--graphs=node")
    program.obey(2)
    program.obey("make")
    program.obey(3)
    trace, truth, outcome = program.whole()
    assert collections.Counter(trace.node_rows()) == collections.Counter(true_nodes(truth))
    names = {row["node"]: row["name"] for row in truth.of("kernel")}
    by_name = collections.defaultdict(set)
    for _, _, graph, node, _ in trace.node_rows():
        root = trace.root_of(node)
        assert root is not None and root != node
        assert trace.graph_nodes[node][1] == graph, "a child's node is the executable graph's"
        assert not trace.graphs[trace.graph_nodes[root][1]][1], "of a graph that cannot be launched"
        if node in names:
            by_name[names[node]].add(root)
    # Made twice; the plain graph has two nodes of one kernel.
    assert sorted(len(roots) for roots in by_name.values()) == [2, 2, 4]
    rows = stats(outcome.bundle, "--by", "node")["graphs"]
    assert len(rows) == 2 * 6 and sum(row["count"] for row in rows) == len(true_nodes(truth))
    assert all(row["source_graph"] != row["graph"] for row in rows)


def test_an_update_changes_what_nodes_do_and_not_what_they_are(rounds):
    program = rounds("--graphs=node")
    program.obey(2)
    program.obey("update")
    program.obey(3)
    trace, truth, outcome = program.whole()
    assert collections.Counter(row[:8] for row in trace.kernel_rows()) == collections.Counter(row[:8] for row in truth.kernels())
    assert {row[2] for row in trace.kernel_rows() if "Plain" in row[0]} == {(1, 1, 1), (2, 1, 1)}
    assert {(row["count"], row["made"]) for row in stats(outcome.bundle)["graphs"]} == {(5, "in_capture")}


def test_a_library_that_refuses_leaves_it_at_nodes(graphs):
    trace, truth, outcome = graphs(20, "--graphs=whole", script="fail cuptiActivityEnable:51 21")
    assert collections.Counter(trace.node_rows()) == collections.Counter(true_nodes(truth)) and trace.graph_rows() == []
    assert trace.graph_modes == [(1, NODE, 0)]
    assert outcome.words.count(REFUSED) == 1
    assert any(REFUSED in note for note in trace.notes)


def test_the_text_names_graphs_and_their_first_launch(graphs):
    _, _, outcome = graphs(7, "--graphs=node")
    text = gpuprof("stats", "graphs", outcome.bundle).out.decode()
    assert text.startswith("7 launches of 1 graph, "), text
    nodes = gpuprof("stats", "graphs", "--by", "node", outcome.bundle).out.decode()
    assert "Last" in nodes and "Memset" in nodes and "HtoD" in nodes
