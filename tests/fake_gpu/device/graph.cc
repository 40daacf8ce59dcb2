// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/graph.h"

#include <algorithm>
#include <cstdlib>

#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/device.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/device/work.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu {
namespace {

// Graphs and executable graphs share their numbers, and a node's id says which graph it is of.
std::atomic<uint32_t> last_graph{0};

struct Copies {
  CUgraph graph = nullptr;
  std::map<CUgraphNode, CUgraphNode> nodes;
};

void TellOfNode(CUgraphNode node, ObjectEvent event) {
  TellSink({.event = event,
            .context = current_context,
            .graph = node->graph,
            .original_graph = node->original != nullptr ? node->original->graph : nullptr,
            .node = node,
            .original_node = node->original});
}

Copies CopyGraph(CUgraph from, bool told) {
  Copies copies;
  copies.graph = new CUgraph_st;
  copies.graph->id = last_graph.fetch_add(1) + 1;
  if (told) {
    TellSink({.event = ObjectEvent::kGraphCloned,
              .context = current_context,
              .graph = copies.graph,
              .original_graph = from});
  }
  for (CUgraphNode node : from->nodes) {
    if (!node->alive) continue;
    std::vector<CUgraphNode> dependencies;
    for (CUgraphNode needed : node->dependencies) dependencies.push_back(copies.nodes.at(needed));
    CUgraphNode copy = AddNode(copies.graph, node->work, std::move(dependencies), node);
    if (node->child != nullptr) copy->child = CopyGraph(node->child, told).graph;
    copies.nodes[node] = copy;
  }
  return copies;
}

struct Launched {
  CUgraphExec exec;
  CUstream stream;
  uint64_t end;
  bool whole = false;
  uint32_t count = 0;
};

uint64_t RunGraph(CUgraph graph, Launched* launched, uint64_t after) {
  std::map<CUgraphNode, uint64_t> ends;
  uint64_t last = after;
  for (CUgraphNode node : graph->nodes) {
    uint64_t start = after;
    for (CUgraphNode needed : node->dependencies) start = std::max(start, ends.at(needed));
    if (node->child != nullptr) {
      ends[node] = RunGraph(node->child, launched, start);
    } else {
      ends[node] = RunNode(*node, launched->stream, launched->exec, launched->whole, start);
      ++launched->count;
    }
    last = std::max(last, ends[node]);
  }
  return last;
}

// The driver adds two nodes of its own, which never run: seen on an H200.
void TellOfDriversNodes(CUgraph graph) {
  for (uint64_t i = 1; i <= 2; ++i) {
    auto* node = new CUgraphNode_st;
    node->graph = graph;
    node->id = uint64_t{graph->id} << 32 | (graph->nodes.size() + i);
    TellOfNode(node, ObjectEvent::kNodeCreated);
  }
}

}  // namespace

CUgraph CreateGraph() {
  auto* graph = new CUgraph_st;
  graph->id = last_graph.fetch_add(1) + 1;
  TellSink({.event = ObjectEvent::kGraphCreated, .context = current_context, .graph = graph});
  return graph;
}

void DestroyGraph(CUgraph graph) {
  TellSink(
      {.event = ObjectEvent::kGraphDestroyStarting, .context = current_context, .graph = graph});
  graph->alive.store(false);
}

CUgraphNode AddNode(CUgraph graph, const Work& work, std::vector<CUgraphNode> dependencies,
                    CUgraphNode original) {
  auto* node = new CUgraphNode_st;
  node->graph = graph;
  node->work = work;
  node->original = original;
  {
    const std::lock_guard lock(graph->mutex);
    graph->nodes.push_back(node);
    node->id = uint64_t{graph->id} << 32 | graph->nodes.size();
  }
  if (original == nullptr) {
    TellOfNode(node, ObjectEvent::kNodeCreateStarting);
    TellOfNode(node, ObjectEvent::kNodeCreated);
  } else {
    TellOfNode(node, ObjectEvent::kNodeCloned);
  }
  for (CUgraphNode needed : dependencies) {
    TellSink({.event = ObjectEvent::kDependencyCreated,
              .context = current_context,
              .graph = graph,
              .node = node,
              .dependency = needed});
  }
  node->dependencies = std::move(dependencies);
  return node;
}

CUgraph CloneGraph(CUgraph graph) { return CopyGraph(graph, true).graph; }

CUgraphExec Instantiate(CUgraph graph) {
  auto* exec = new CUgraphExec_st;
  exec->before_tool = !Wants(kWantAny);
  exec->traced = Wants(kWantWork) && TheSink()->RecordsWholeGraphs();
  TellSink({.event = ObjectEvent::kExecCreateStarting,
            .context = current_context,
            .graph = graph,
            .exec = exec});
  exec->graph = CopyGraph(graph, false).graph;
  exec->id = exec->graph->id;
  TellOfDriversNodes(exec->graph);
  TellSink({.event = ObjectEvent::kExecCreated,
            .context = current_context,
            .graph = graph,
            .exec = exec});
  return exec;
}

// Topologies are compared by the types of nodes in their order alone.
bool UpdateExec(CUgraphExec exec, CUgraph graph) {
  const std::vector<CUgraphNode>& own = exec->graph->nodes;
  std::vector<CUgraphNode> given;
  for (CUgraphNode node : graph->nodes) {
    if (node->alive) given.push_back(node);
  }
  if (own.size() != given.size()) return false;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i]->work.type != given[i]->work.type || own[i]->child != nullptr) return false;
  }
  for (size_t i = 0; i < own.size(); ++i) own[i]->work = given[i]->work;
  return true;
}

void DestroyExec(CUgraphExec exec) {
  TellSink({.event = ObjectEvent::kExecDestroyStarting, .context = current_context, .exec = exec});
  exec->alive.store(false);
}

CUresult Launch(CUgraphExec exec, CUstream stream) {
  if (!Known(stream) || exec == nullptr || !exec->alive.load()) return CUDA_ERROR_INVALID_HANDLE;
  // An executable graph does not overlap with itself.
  DelayStream(stream, exec->last_end.get());
  const Span span = Schedule(stream, Engine::kCompute, 0);
  Launched launched{exec, stream, span.start};
  launched.whole = Wants(kWantWork) && TheSink()->RecordsWholeGraphs();
  // CUPTI 13.0 on an H200 crashes here.
  if (launched.whole && !exec->traced) abort();
  launched.end = RunGraph(exec->graph, &launched, span.start);
  DelayStream(stream, launched.end);
  exec->last_end.Raise(launched.end);
  TruthLine(
      "{\"t\":\"graph_launch\",\"graph\":%u,\"nodes\":%u,\"stream\":%u,\"correlation\":%u,\"tid\":%"
      "u,"
      "\"start\":%lu,\"end\":%lu}",
      exec->id, launched.count, stream->id, CurrentCorrelation(), CurrentTid(), span.start,
      launched.end);
  if (Wants(kWantWork)) {
    TheSink()->GraphLaunched({.context = stream->context,
                              .stream = stream,
                              .start = span.start,
                              .end = launched.end,
                              .correlation = CurrentCorrelation(),
                              .graph = exec->id,
                              .reduced = exec->before_tool,
                              .whole = launched.whole});
  }
  return CUDA_SUCCESS;
}

CUresult BeginCapture(CUstream stream) {
  if (!Known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = std::make_shared<Capture>();
  stream->capture->graph = CreateGraph();
  stream->capture->origin = stream;
  stream->capture_last.clear();
  return CUDA_SUCCESS;
}

CUresult EndCapture(CUstream stream, CUgraph* graph) {
  if (!Known(stream) || stream->capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  // The streams that joined leave with the one that began it.
  {
    const std::lock_guard lock(stream->context->mutex);
    for (CUstream other : stream->context->streams) {
      if (other->capture == capture) other->capture = nullptr;
    }
  }
  stream->capture = nullptr;
  *graph = capture->broken ? nullptr : capture->graph;
  return capture->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult CaptureWork(const Work& work, CUstream stream) {
  Work node = work;
  node.copy.async = true;
  stream->capture_last = {AddNode(stream->capture->graph, node, stream->capture_last)};
  return CUDA_SUCCESS;
}

CUresult CaptureRecord(CUevent event, CUstream stream) {
  const std::lock_guard lock(event->lock);
  event->capture = stream->capture;
  event->capture_nodes = stream->capture_last;
  return CUDA_SUCCESS;
}

CUresult CaptureWait(CUstream stream, CUevent event) {
  const std::lock_guard lock(event->lock);
  if (event->capture == nullptr) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  if (stream->capture == nullptr) {
    stream->capture = event->capture;
    stream->capture_last.clear();
  }
  for (CUgraphNode node : event->capture_nodes) {
    if (std::count(stream->capture_last.begin(), stream->capture_last.end(), node) == 0) {
      stream->capture_last.push_back(node);
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace fake_gpu
