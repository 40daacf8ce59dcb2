// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the texts of imported rows tell: shapes of products, and sizes of collectives' messages. See
// fact_source.h.

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/advice/facts/fact_source.h"
#include "analysis/derived/collective_message.h"
#include "analysis/derived/origin.h"
#include "analysis/model/windowed_inputs.h"

namespace gpuprof::analysis {
namespace {

using nlohmann::json;

// Operations that multiply matrices, and the places of their two matrices.
struct ProductOp {
  std::string_view name;
  size_t left, right;
  bool is_convolution = false;  // `right`: the weights
};
constexpr std::array kProductOps = {
    ProductOp{"aten::mm", 0, 1},
    ProductOp{"aten::addmm", 1, 2},
    ProductOp{"aten::bmm", 0, 1},
    ProductOp{"aten::baddbmm", 1, 2},
    ProductOp{"aten::_scaled_mm", 0, 1},
    ProductOp{"aten::cudnn_convolution", 0, 1, true},
    ProductOp{"aten::convolution", 0, 1, true},
    ProductOp{"aten::_convolution", 0, 1, true},
    ProductOp{"aten::convolution_backward", 1, 2, true},
};

const ProductOp* FindProductOp(std::string_view name) {
  const auto at = std::find_if(kProductOps.begin(), kProductOps.end(),
                               [&](const ProductOp& op) { return op.name == name; });
  return at == kProductOps.end() ? nullptr : &*at;
}

// Returns of how many elements a row should be a multiple: 16 bytes. 0: tensor cores have no such
// type.
int64_t MultipleOf(std::string_view type) {
  if (type == "c10::Half" || type == "c10::BFloat16") return 8;
  if (type == "signed char" || type == "unsigned char" ||
      type.find("Float8") != std::string_view::npos)
    return 16;
  return type == "float" ? 4 : 0;
}

std::vector<int64_t> NumbersOf(const json& detail, const char* key, size_t place) {
  std::vector<int64_t> numbers;
  const auto list = detail.find(key);
  if (list == detail.end() || !list->is_array() || place >= list->size()) return numbers;
  const json& entry = (*list)[place];
  if (!entry.is_array()) return numbers;
  for (const json& number : entry) {
    if (!number.is_number_integer()) return {};
    numbers.push_back(number.get<int64_t>());
  }
  return numbers;
}

// Returns the elements from one row of a matrix to the next in memory. 0: not known.
int64_t RowLength(const json& detail, size_t place) {
  const std::vector<int64_t> strides = NumbersOf(detail, "Input Strides", place);
  if (strides.size() < 2) return 0;
  const int64_t outer = strides[strides.size() - 2], inner = strides.back();
  return inner == 1 ? outer : outer == 1 ? inner : 0;
}

struct BadShape {
  std::string shape;  // "141x512 by 512x30522"
  int64_t multiple = 0;
};

std::string ShapeText(const std::vector<int64_t>& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

// Returns the shape of a product if a dimension keeps its rows from beginning at 16 bytes.
std::optional<BadShape> BadShapeOf(const ProductOp& op, const std::string& text) {
  const json detail = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!detail.is_object()) return std::nullopt;
  const auto types = detail.find("Input type");
  if (types == detail.end() || !types->is_array() || op.left >= types->size() ||
      !(*types)[op.left].is_string())
    return std::nullopt;
  const int64_t multiple = MultipleOf((*types)[op.left].get<std::string>());
  const std::vector<int64_t> left = NumbersOf(detail, "Input Dims", op.left);
  const std::vector<int64_t> right = NumbersOf(detail, "Input Dims", op.right);
  if (multiple == 0 || left.size() < 2 || right.size() < 2) return std::nullopt;
  bool is_bad = false;
  if (op.is_convolution) {
    // Few channels are those of a picture: libraries have kernels of their own for them.
    constexpr int64_t kPicture = 4;
    is_bad = right[0] % multiple != 0 || (right[1] > kPicture && right[1] % multiple != 0);
  } else {
    // A vector is no matter of tensor cores.
    if (left[left.size() - 2] == 1 || right.back() == 1) return std::nullopt;
    is_bad = right.back() % multiple != 0 || RowLength(detail, op.left) % multiple != 0 ||
             RowLength(detail, op.right) % multiple != 0;
  }
  if (!is_bad) return std::nullopt;
  return BadShape{ShapeText(left) + " by " + ShapeText(right), multiple};
}

// Returns the bytes of a collective's message. None: the detail does not tell them, or they are 0.
std::optional<uint64_t> MessageBytes(std::string_view text) {
  const auto message = ReadMessage(text);
  const auto bytes = message ? SizeOf(*message) : std::nullopt;
  return bytes == uint64_t{0} ? std::nullopt : bytes;
}

class DetailFinder {
 public:
  explicit DetailFinder(FactSource& source)
      : source_(source), origin_(source.context().origin(source.index())) {
    const auto& strings = source.process().strings;
    has_products_ = std::any_of(strings.begin(), strings.end(), [](const auto& each) {
      return FindProductOp(each.second) != nullptr;
    });
  }

  void Find(DeviceFacts* facts) {
    for (uint32_t n = 0; n < source_.nodes().size(); ++n) {
      const DependencyNode& node = source_.nodes()[n];
      const bool is_kernel = node.kind == DependencyNode::Kind::kWork &&
                             node.work == DeviceWorkKind::kKernel && source_.Counts(node);
      if (!is_kernel) continue;
      if (node.category == results::TIME_CATEGORY_COLLECTIVE) {
        AddMessage(n, facts);
      } else {
        AddProduct(n, facts);
      }
    }
    KernelGroup& misaligned = facts->in_steps.misaligned;
    misaligned.largest_launch =
        source_.LongestOf(by_shape_[misaligned.largest].nodes, misaligned.largest);
    Ask(messages_, 1 - source_.limits()("CO-004.gain"), &facts->small_messages);
    Ask(products_, 1 - source_.limits()("GP-008.gain"), &facts->in_steps.misaligned.pieces);
  }

 private:
  struct OfShape {
    int64_t total_ns = 0;
    std::vector<uint32_t> nodes;
  };

  const KernelTable& TableOf(const DependencyNode& node) const {
    return source_.process().tracks[node.track].kernel;
  }

  void AddMessage(uint32_t n, DeviceFacts* facts) {
    const DependencyNode& node = source_.nodes()[n];
    const KernelTable& table = TableOf(node);
    if (node.row >= table.detail.size() || table.detail[node.row] == 0) return;
    const auto bytes = MessageBytes(source_.process().String(table.detail[node.row]));
    if (!bytes) return;
    facts->messages_ns += node.span.length();
    if (static_cast<double>(*bytes) >= source_.limits()("CO-004.max_bytes")) return;
    messages_.push_back(n);
    facts->small_messages.Add(node.span.length(), *bytes,
                              [&] { return source_.InstanceOf(node, "a collective"); });
  }

  void AddProduct(uint32_t n, DeviceFacts* facts) {
    if (!has_products_) return;
    const DependencyNode& node = source_.nodes()[n];
    const KernelTable& table = TableOf(node);
    const auto op = origin_.Find(table.correlation[node.row], ExternalOf(table, node.row));
    if (!op) return;
    const OpTable& ops = source_.process().tracks[op->track].op;
    if (op->row >= ops.detail.size() || ops.detail[op->row] == 0) return;
    const std::optional<BadShape>& bad = ShapeOf(ops.name[op->row], ops.detail[op->row]);
    if (!bad) return;
    products_.push_back(n);
    KernelGroup& group = facts->in_steps.misaligned;
    group.pieces.Add(node.span.length(), 0, [&] { return source_.InstanceOf(node, ""); });
    OfShape& own = by_shape_[bad->shape];
    own.total_ns += node.span.length();
    own.nodes.push_back(n);
    if (own.total_ns < by_shape_[group.largest].total_ns) return;
    group.largest = bad->shape;
    group.figure = static_cast<double>(bad->multiple);
  }

  const std::optional<BadShape>& ShapeOf(uint32_t name, uint32_t detail) {
    const auto [at, is_new] = shapes_.try_emplace(uint64_t{name} << 32 | detail);
    if (!is_new) return at->second;
    if (const ProductOp* const op = FindProductOp(source_.process().String(name)))
      at->second = BadShapeOf(*op, source_.process().String(detail));
    return at->second;
  }

  void Ask(const std::vector<uint32_t>& nodes, double remains, Pieces* pieces) const {
    if (nodes.empty() || !source_.IsWorthAsking(pieces->total_ns)) return;
    FreeNodes free = source_.graph().NoneFree();
    for (const uint32_t n : nodes) free.own[n] = true;
    free.remains = remains;
    pieces->saved_per_step_ns = source_.graph().SavedPerStep(free);
  }

  FactSource& source_;
  Origin& origin_;
  bool has_products_ = false;  // the process has such operations: those of PyTorch
  std::unordered_map<uint64_t, std::optional<BadShape>> shapes_;  // by name and detail
  std::unordered_map<std::string, OfShape> by_shape_;
  std::vector<uint32_t> messages_, products_;
};

}  // namespace

void FillDetailFacts(FactSource& source, DeviceFacts* facts) {
  // gpuprof itself reads the shapes of some operations: too few to say what all cost.
  if (WindowedInputsName(source.process()) != 0) return;
  const std::vector<Track>& tracks = source.process().tracks;
  const bool has_details = std::any_of(tracks.begin(), tracks.end(), [](const Track& track) {
    return !track.op.detail.empty() || !track.kernel.detail.empty();
  });
  if (has_details) DetailFinder(source).Find(facts);
}

}  // namespace gpuprof::analysis
