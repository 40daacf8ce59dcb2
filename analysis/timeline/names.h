// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The names of the timeline's events, each kept once for the whole trace. They are those that
// passes show: a kernel has its short name and its full one. Names are text from outside.
//
// One thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/timeline/span_class.h"

namespace gpuprof::analysis::timeline {

class NameTable {
 public:
  // Returns the number of a name. Long texts are cut: the page draws only so many letters. `full`:
  // the whole name, where it differs.
  uint32_t Add(std::string_view text, SpanClass cls, std::string_view full);
  uint32_t Add(std::string_view text, SpanClass cls) { return Add(text, cls, text); }

  size_t size() const { return names_.size(); }
  const std::string& text(uint32_t name) const { return names_[name].text; }
  // Returns the whole name. Empty: it is the text.
  const std::string& full(uint32_t name) const { return names_[name].full; }
  SpanClass cls(uint32_t name) const { return names_[name].cls; }

 private:
  struct Name {
    std::string text, full;
    SpanClass cls;
  };
  std::vector<Name> names_;
  std::unordered_map<std::string, uint32_t> known_;
};

// The readable names of a trace's kernels, and their short names, as the pass `kernels` has them.
class KernelNames {
 public:
  explicit KernelNames(const Trace& trace) : trace_(&trace) {}

  struct Name {
    std::string full, short_name;
    SpanClass cls = SpanClass::kOther;
  };
  Name Of(const Process& process, uint32_t signature);

 private:
  void FindShortNames();

  const Trace* trace_;
  bool has_short_names_ = false;
  std::map<std::string, std::string> short_names_;  // by full name
};

// Finds the names of one table's rows by the rows' keys. Made for one process, which must outlive
// it.
class KeyNames {
 public:
  KeyNames(const Process& process, proto::ChunkKind kind, NameTable* names, KernelNames* kernels)
      : process_(&process), kind_(kind), names_(names), kernels_(kernels) {}

  // Returns the number of a key's name.
  uint32_t Of(uint32_t key) {
    if (key < few_.size() && few_[key] != kUnknown) return few_[key];
    return Find(key);
  }

 private:
  static constexpr uint32_t kUnknown = 0xffffffff;

  uint32_t Find(uint32_t key);
  uint32_t Make(uint32_t key);
  std::string Text(uint32_t id, const char* none) const;

  const Process* process_;
  proto::ChunkKind kind_;
  NameTable* names_;
  KernelNames* kernels_;
  std::vector<uint32_t> few_;                    // by small keys
  std::unordered_map<uint32_t, uint32_t> many_;  // by others
};

}  // namespace gpuprof::analysis::timeline
