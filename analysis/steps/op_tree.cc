// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_tree.h.

#include "analysis/steps/op_tree.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "analysis/steps/function_runs.h"
#include "proto/step_names.h"

namespace gpuprof::analysis {
namespace {

// Rows come by END, children before parents; then walking backwards meets parents first.
bool InEndOrder(const OpTable& ops) {
  const Column<int64_t>::Reader ends(ops.end_ns);
  int64_t before = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < ops.rows(); ++i) {
    const int64_t end = ends[i];
    if (end < before) return false;
    if (i != 0 && end == before &&
        proto::OpDepthOf(ops.operation[i]) > proto::OpDepthOf(ops.operation[i - 1]) &&
        ops.duration_ns[i] > 0 && ops.duration_ns[i - 1] > 0) {
      return false;
    }
    before = end;
  }
  return true;
}

std::vector<uint32_t> BackwardOrder(const OpTable& ops) {
  std::vector<uint32_t> order(ops.rows());
  std::iota(order.begin(), order.end(), 0u);
  std::reverse(order.begin(), order.end());
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (ops.end_ns[a] != ops.end_ns[b]) return ops.end_ns[a] > ops.end_ns[b];
    return proto::OpDepthOf(ops.operation[a]) < proto::OpDepthOf(ops.operation[b]);
  });
  return order;
}

// Ids below are looked up in an array.
constexpr uint32_t kDenseIds = 1u << 20;

struct OpenSpan {
  uint32_t row;
  uint32_t depth;
  int64_t floor;  // where its earliest child so far begins; its own end at first
};

// Returns whether a span without a depth belongs into one that begins at `outer` and ends no
// earlier. Times that were rounded may begin a little before it.
bool LiesIn(int64_t start, int64_t end, int64_t outer) {
  return start >= outer || (end > outer && end - outer >= outer - start);
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

// Goes through rows by falling end. The open ones contain each other. One that began within a row
// that ended earlier crosses this row.
std::vector<bool> OpTree::FindCrossing(const OpTable& ops) const {
  struct Open {
    uint32_t row;
    int64_t start, end;
  };
  std::vector<bool> crossing(rows(), false);
  const Column<int64_t>::Reader ends(ops.end_ns), durations(ops.duration_ns);
  std::vector<Open> open;
  for (size_t i = 0; i < rows(); ++i) {
    const uint32_t row = in_order(i);
    const int64_t end = ends[row], start = end - std::max<int64_t>(durations[row], 0);
    while (!open.empty()) {
      const Open& top = open.back();
      const bool apart = top.start >= end;
      const bool crosses = !apart && top.start > start && end < top.end;
      if (!apart && !crosses) break;
      if (crosses && IsUserRange(ops, row)) crossing[row] = true;
      if (crosses && !IsUserRange(ops, top.row)) break;
      if (crosses) crossing[top.row] = true;
      open.pop_back();
    }
    if (!crossing[row]) open.push_back({row, start, end});
  }
  return crossing;
}

// Ranges that cross others have as their own only the time that nothing else covers.
void OpTree::PlaceCrossing(const OpTable& ops, const std::vector<bool>& crossing) {
  if (std::find(crossing.begin(), crossing.end(), true) == crossing.end()) return;
  const std::vector<Interval> busy = Busy();
  std::vector<uint32_t> ranges;
  for (uint32_t row = 0; row < rows(); ++row) {
    if (!crossing[row]) continue;
    end_[row] = ops.end_ns[row];
    start_[row] = end_[row] - std::max<int64_t>(ops.duration_ns[row], 0);
    ranges.push_back(row);
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [&](uint32_t a, uint32_t b) { return start_[a] < start_[b]; });
  int64_t floor = std::numeric_limits<int64_t>::min();
  for (const uint32_t row : ranges) {
    const Interval left = {std::max(start_[row], floor), end_[row]};
    if (left.end <= left.start) continue;
    self_[row] = left.length() - CoveredLength(busy, left);
    floor = left.end;
  }
}

OpTree::OpTree(const OpTable& ops) {
  const size_t rows = ops.rows();
  start_.resize(rows);
  end_.resize(rows);
  self_.assign(rows, 0);
  parent_.assign(rows, kNone);
  if (!InEndOrder(ops)) order_ = BackwardOrder(ops);
  const std::vector<bool> crossing = FindCrossing(ops);

  const Column<int64_t>::Reader ends(ops.end_ns), durations(ops.duration_ns);
  const Column<uint32_t>::Reader operations(ops.operation);
  std::vector<OpenSpan> open;
  int64_t root_floor = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < rows; ++i) {
    const uint32_t row = in_order(i);
    if (crossing[row]) continue;
    const uint32_t operation = operations[row];
    uint32_t depth = proto::OpDepthOf(operation);
    const bool by_time = proto::OpScopeOf(operation) == proto::OpScope::kTraceMe;
    int64_t end = ends[row];
    int64_t start = end - std::max<int64_t>(durations[row], 0);
    while (!open.empty()) {
      const OpenSpan& top = open.back();
      const int64_t top_start = start_[top.row];
      const bool is_inside = by_time ? LiesIn(start, end, top_start)
                                     : top.depth < depth && (top_start <= start || top_start < end);
      if (is_inside) break;
      open.pop_back();
    }
    if (by_time) depth = open.empty() ? 0 : open.back().depth + 1;
    int64_t& floor = open.empty() ? root_floor : open.back().floor;
    if (!open.empty()) start = std::max(start, start_[open.back().row]);
    end = std::min(end, floor);
    start = std::min(start, end);
    floor = start;
    start_[row] = start;
    end_[row] = end;
    self_[row] += end - start;
    if (!open.empty()) {
      parent_[row] = open.back().row;
      self_[open.back().row] -= end - start;
    }
    open.push_back({row, depth, end});
  }
  PlaceCrossing(ops, crossing);
}

std::vector<Interval> OpTree::Busy() const {
  std::vector<Interval> roots;
  for (size_t i = rows(); i-- > 0;) {
    const uint32_t row = in_order(i);
    if (parent_[row] == kNone) roots.push_back({start_[row], end_[row]});
  }
  return UnionOf(std::move(roots));
}

NameKind KindOfName(std::string_view name) {
  if (StartsWith(name, "Optimizer.step#")) return NameKind::kOptimizerStep;
  if (StartsWith(name, "Optimizer.zero_grad#")) return NameKind::kZeroGrad;
  if (StartsWith(name, "enumerate(DataLoader)#")) return NameKind::kLoaderNext;
  // TensorFlow's operation for the next element of a dataset.
  if (name == "IteratorGetNext" || StartsWith(name, "IteratorGetNextOp::"))
    return NameKind::kLoaderNext;
  if (proto::ReadStepName({name.data(), static_cast<uint32_t>(name.size())}, {}, "").is_step)
    return NameKind::kAnnotation;
  // Autograd's engine opens this ordinary op around each of its nodes.
  if (StartsWith(name, "autograd::engine::evaluate_function")) return NameKind::kAutograd;
  return NameKind::kPlain;
}

ProcessOps::ProcessOps(const Process& process) : process_(&process), trees_(process.tracks.size()) {
  for (const auto& [id, text] : process.strings) {
    const NameKind kind = KindOfName(text);
    if (kind == NameKind::kPlain) continue;
    if (id < kDenseIds) {
      if (id >= kinds_.size()) kinds_.resize(id + 1, NameKind::kPlain);
      kinds_[id] = kind;
    } else {
      rare_[id] = kind;
    }
    kinds_seen_ |= 1u << static_cast<int>(kind);
  }
}

const OpTree& ProcessOps::tree(size_t track) {
  if (!trees_[track]) trees_[track] = std::make_unique<OpTree>(process_->tracks[track].op);
  return *trees_[track];
}

NameKind ProcessOps::KindOfRareId(uint32_t id) const {
  if (rare_.empty()) return NameKind::kPlain;
  const auto found = rare_.find(id);
  return found == rare_.end() ? NameKind::kPlain : found->second;
}

namespace {

// What an op is in the training loop; kOther: says nothing.
Category OwnCategory(const ProcessOps& ops, uint32_t name, proto::OpScope scope) {
  switch (ops.name_kind(name)) {
    case NameKind::kOptimizerStep:
    case NameKind::kZeroGrad:
      return Category::kOptimizer;
    case NameKind::kLoaderNext:
      return Category::kInput;
    case NameKind::kAutograd:
      return Category::kBackward;
    case NameKind::kAnnotation:
      return Category::kOther;
    case NameKind::kPlain:
      break;
  }
  if (scope == proto::OpScope::kBackward) return Category::kBackward;
  if (scope == proto::OpScope::kUser) return Category::kOther;
  return Category::kForward;
}

struct Owner {
  Interval span;
  Category category;
};

// Flattens properly nested spans: the innermost wins.
std::vector<CategoryTimeline::Segment> Flatten(std::vector<Owner> owners) {
  std::stable_sort(owners.begin(), owners.end(), [](const Owner& a, const Owner& b) {
    return a.span.start != b.span.start ? a.span.start < b.span.start : a.span.end > b.span.end;
  });
  std::vector<CategoryTimeline::Segment> segments;
  std::vector<Owner> open;
  int64_t cursor = std::numeric_limits<int64_t>::min();
  auto advance = [&](int64_t until) {
    while (!open.empty() && cursor < until) {
      const int64_t end = std::min(open.back().span.end, until);
      if (end > cursor) segments.push_back({cursor, end, open.back().category});
      cursor = std::max(cursor, end);
      if (open.back().span.end <= until) open.pop_back();
    }
    cursor = std::max(cursor, until);
  };
  for (const Owner& owner : owners) {
    if (owner.span.end <= owner.span.start) continue;
    advance(owner.span.start);
    open.push_back(owner);
  }
  advance(std::numeric_limits<int64_t>::max());
  return segments;
}

}  // namespace

CategoryTimeline ProcessOps::Classify(size_t track) {
  const OpTree& spans = tree(track);
  const OpTable& table = process_->tracks[track].op;
  std::vector<Category> category(spans.rows(), Category::kOther);
  std::vector<Owner> owners;
  std::vector<size_t> elements;  // rows, sorted
  ElementsOf(*this, track, &elements);
  const auto is_element = [&](size_t row) {
    return std::binary_search(elements.begin(), elements.end(), row);
  };
  for (size_t i = 0; i < spans.rows(); ++i) {
    const uint32_t row = spans.in_order(i);
    const Category own = is_element(row) ? Category::kInput
                                         : OwnCategory(*this, table.name[row],
                                                       proto::OpScopeOf(table.operation[row]));
    const uint32_t parent = spans.parent(row);
    const Category outer = parent == OpTree::kNone ? Category::kOther : category[parent];
    // An ordinary op is forward work only where nothing else claims it.
    const bool claims =
        own != Category::kOther && (own != Category::kForward || outer == Category::kOther);
    category[row] = claims ? own : outer;
    if (claims && own != outer) owners.push_back({{spans.start(row), spans.end(row)}, own});
  }
  return CategoryTimeline(Flatten(std::move(owners)));
}

std::vector<Interval> ProcessOps::Backward(size_t track) {
  const OpTable& table = process_->tracks[track].op;
  const Column<uint32_t>::Reader operations(table.operation), names(table.name);
  std::vector<Interval> spans;
  for (size_t row = 0; row < table.rows(); ++row) {
    const proto::OpScope scope = proto::OpScopeOf(operations[row]);
    if (scope != proto::OpScope::kBackward && name_kind(names[row]) != NameKind::kAutograd)
      continue;
    spans.push_back({table.end_ns[row] - table.duration_ns[row], table.end_ns[row]});
  }
  return UnionOf(std::move(spans));
}

}  // namespace gpuprof::analysis
