// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See processors.h.

#include "launcher/base/processors.h"

#include <algorithm>
#include <charconv>

#include "launcher/base/read_file.h"

namespace gpuprof::launcher {
namespace {

constexpr int kMostNodes = 8;

bool ReadNumber(std::string_view* text, int* number) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc() || *number < 0 || *number >= CPU_SETSIZE) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

}  // namespace

std::string ParseProcessors(std::string_view text, cpu_set_t* set) {
  const std::string fault = "'" + std::string(text) + "' is not a list of processors: 0-3,8";
  CPU_ZERO(set);
  while (true) {
    int first = 0;
    if (!ReadNumber(&text, &first)) return fault;
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!ReadNumber(&text, &last) || last < first) return fault;
    }
    for (int i = first; i <= last; ++i) CPU_SET(i, set);
    if (text.empty()) return "";
    if (!text.starts_with(',')) return fault;
    text.remove_prefix(1);
  }
}

std::vector<std::string> ProcessorsOfNodes() {
  cpu_set_t own;
  if (sched_getaffinity(0, sizeof own, &own) != 0) return {};
  std::vector<std::string> nodes;
  for (int node = 0; node < kMostNodes; ++node) {
    std::string list =
        ReadFile("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist").value_or("");
    list.resize(std::min(list.find('\n'), list.size()));
    cpu_set_t set;
    if (!ParseProcessors(list, &set).empty()) continue;
    cpu_set_t both;
    CPU_AND(&both, &set, &own);
    if (CPU_EQUAL(&both, &set)) nodes.push_back(list);
  }
  return nodes.size() > 1 ? nodes : std::vector<std::string>();
}

HeldProcessors::HeldProcessors(const std::string& list) {
  cpu_set_t set;
  if (list.empty() || !ParseProcessors(list, &set).empty()) return;
  is_held_ = sched_getaffinity(0, sizeof before_, &before_) == 0 &&
             sched_setaffinity(0, sizeof set, &set) == 0;
}

HeldProcessors::~HeldProcessors() {
  if (is_held_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace gpuprof::launcher
