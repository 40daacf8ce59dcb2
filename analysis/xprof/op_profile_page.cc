// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// OpProfilePage: XProf's op_profile, by program: with the idle time, and without.

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/xprof/figures.h"
#include "analysis/xprof/input_analysis.h"
#include "analysis/xprof/pages.h"

namespace gpuprof::analysis::xprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostChildren = 100;  // of a category, and below it
constexpr double kGibi = (1 << 30) / 1.0e9;

// Numbers without a fraction are whole numbers, as in the JSON of protobuf.
Json NumberOf(double value) {
  constexpr double kMostExact = 9007199254740992.0;
  if (value == std::floor(value) && std::abs(value) <= kMostExact)
    return static_cast<int64_t>(value);
  return value;
}

struct ProfileNode {
  std::string name;
  OpMetrics sums;
  bool has_sums = false;
  const OpMetrics* op = nullptr;  // whose details it has
  bool is_group = false;          // of operations that were compiled once
  bool shows_provenance = true;
  size_t child_count = 0;
  std::vector<ProfileNode*> children;
};

class ProfileTree {
 public:
  ProfileTree(const OpStats& stats, bool with_idle);
  Json Root() { return JsonOf(*Finalized(&root_)); }

 private:
  ProfileNode* Child(ProfileNode* parent, std::string name);
  void Add(const OpMetrics& op);
  void Prune(ProfileNode* node, int level);
  ProfileNode* Finalized(ProfileNode* node);
  Json JsonOf(const ProfileNode& node) const;
  Json MetricsOf(const OpMetrics& sums) const;
  // Adds what an operation has; `by_self`: the time of its own.
  static void Sum(const OpMetrics& op, bool by_self, ProfileNode* node);

  const OpStats& stats_;
  bool with_idle_;
  uint64_t total_ps_;
  std::deque<ProfileNode> nodes_;
  ProfileNode root_;
  std::map<uint64_t, ProfileNode*> programs_;
  std::map<std::pair<uint64_t, std::string>, ProfileNode*> categories_;
  std::map<std::pair<ProfileNode*, std::string>, ProfileNode*> shared_;
};

ProfileTree::ProfileTree(const OpStats& stats, bool with_idle)
    : stats_(stats),
      with_idle_(with_idle),
      total_ps_(with_idle ? stats.device_ops.total_time_ps : stats.device_ops.op_time_ps) {
  if (stats.device_ops.ops.empty()) return;
  root_.name = "by_program";
  for (const OpMetrics& op : stats.device_ops.ops)
    if (!op.name.starts_with("region") && (with_idle || !op.IsIdle())) Add(op);
  root_.has_sums = true;
  root_.sums.time_ps = total_ps_;
  Prune(&root_, 2);
}

ProfileNode* ProfileTree::Child(ProfileNode* parent, std::string name) {
  ProfileNode* node = &nodes_.emplace_back();
  node->name = std::move(name);
  parent->children.push_back(node);
  return node;
}

void ProfileTree::Sum(const OpMetrics& op, bool by_self, ProfileNode* node) {
  node->has_sums = true;
  node->sums.time_ps += by_self ? op.self_time_ps : op.time_ps;
  if (!by_self) node->sums.occurrences += op.occurrences;
  node->sums.AddCosts(op);
}

void ProfileTree::Add(const OpMetrics& op) {
  Sum(op, true, &root_);
  ProfileNode* parent = &root_;
  if (!op.IsIdle()) {
    ProfileNode*& program = programs_[op.program_id];
    if (program == nullptr) {
      const auto name = stats_.program_names.find(op.program_id);
      program = Child(&root_, name == stats_.program_names.end()
                                  ? "main"
                                  : name->second + "(" + std::to_string(op.program_id) + ")");
    }
    Sum(op, true, program);
    ProfileNode*& category = categories_[{op.program_id, op.category}];
    if (category == nullptr) category = Child(program, op.category);
    Sum(op, false, category);
    const std::string& name = op.shared_name.empty() ? op.name : op.shared_name;
    ProfileNode*& shared = shared_[{category, name}];
    if (shared == nullptr) shared = Child(category, name);
    Sum(op, false, shared);
    parent = shared;
  }
  ProfileNode* leaf = Child(parent, op.name);
  leaf->op = &op;
  Sum(op, false, leaf);
}

void ProfileTree::Prune(ProfileNode* node, int level) {
  node->child_count = node->children.size();
  for (ProfileNode* child : node->children) Prune(child, level - 1);
  std::stable_sort(
      node->children.begin(), node->children.end(),
      [](const ProfileNode* x, const ProfileNode* y) { return x->sums.time_ps > y->sums.time_ps; });
  if (level <= 0 && node->children.size() > kMostChildren) node->children.resize(kMostChildren);
}

// A group of one operation is that operation. A group of several has the name of the first.
ProfileNode* ProfileTree::Finalized(ProfileNode* node) {
  const bool is_group = !node->children.empty() && node->op == nullptr &&
                        std::all_of(node->children.begin(), node->children.end(),
                                    [](const ProfileNode* child) { return child->op != nullptr; });
  if (!is_group) {
    for (ProfileNode*& child : node->children) child = Finalized(child);
    return node;
  }
  ProfileNode* first = node->children.front();
  if (node->children.size() == 1) return first;
  node->name = first->name + " and its duplicate(s)";
  node->op = first->op;
  node->is_group = true;
  node->shows_provenance =
      first->op->category != "megacore fusion" && !first->op->category.ends_with(" fusion");
  return node;
}

Json ProfileTree::MetricsOf(const OpMetrics& sums) const {
  const double ns = PicoToNano(sums.time_ps);
  const double used = Divide(Divide(sums.flops, ns), stats_.peaks.teraflops * 1E3);
  const double part = Divide(static_cast<double>(sums.time_ps), static_cast<double>(total_ps_));
  const double hbm = GigaToGibi(Divide(static_cast<double>(sums.read), ns)) +
                     GigaToGibi(Divide(static_cast<double>(sums.written), ns));
  const double hbm_used = std::min(Divide(hbm, GigaToGibi(stats_.peaks.memory_gigabytes)), 1.0);
  return {{"flops", NumberOf(std::min(used, 1.0) * part)},
          {"bandwidthUtils", {NumberOf(hbm_used), 0, 0}},
          {"rawTime", NumberOf(static_cast<double>(sums.time_ps))},
          {"rawFlops", NumberOf(sums.model_flops)},
          {"rawBytesAccessedArray", {NumberOf(hbm * kGibi * ns), 0, 0}},
          {"occurrences", sums.occurrences},
          {"avgTimePs", NumberOf(Divide(static_cast<double>(sums.time_ps), sums.occurrences))},
          {"bf16Flops", NumberOf(sums.flops)},
          {"uncappedFlops", NumberOf(used * part)},
          {"normalizedTimePs", 0}};
}

Json ProfileTree::JsonOf(const ProfileNode& node) const {
  Json made = {{"name", node.name}};
  if (node.has_sums) made["metrics"] = MetricsOf(node.sums);
  made["children"] = Json::array();
  for (const ProfileNode* child : node.children) made["children"].push_back(JsonOf(*child));
  if (node.op != nullptr) {
    const OpMetrics& op = *node.op;
    Json& xla = made["xla"];
    xla = {{"op", ""},
           {"expression", op.expression},
           {"provenance", node.shows_provenance ? op.provenance : ""},
           {"category", op.category}};
    if (node.is_group && node.shows_provenance) xla["layout"] = {{"dimensions", Json::array()}};
    xla["computationPrimitiveSize"] = 0;
    xla["fingerprint"] = "0";
    xla["programId"] = std::to_string(op.program_id);
    xla["sourceInfo"] = {{"fileName", op.source_file},
                         {"lineNumber", op.IsIdle() ? 0 : op.source_line},
                         {"stackFrame", op.stack}};
    xla["xprofKernelMetadata"] = "";
  }
  made["numChildren"] = node.child_count;
  return made;
}

}  // namespace

std::string OpProfilePage(const OpStats& stats) {
  const Json page = {{"byProgram", ProfileTree(stats, true).Root()},
                     {"deviceType", HardwareName(stats.hardware)},
                     {"byProgramExcludeIdle", ProfileTree(stats, false).Root()},
                     {"aggDvfsTimeScaleMultiplier", 0}};
  return page.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gpuprof::analysis::xprof
