// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The inputs of `gpuprof mcp`: what lies below one folder. No link is followed below the folder,
// and nothing outside of it is opened. The last inputs stay open, so that a second question is
// fast. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/timeline/page_timeline.h"

namespace gpuprof::launcher {

// An input that stays open.
struct OpenedInput {
  std::string name;  // below the folder, "." for the folder itself
  analysis::InputPath path;
  std::shared_ptr<analysis::PageInput> results;
  std::unique_ptr<analysis::PageTimeline> timeline;
  uint64_t used_at = 0;
};

class McpInputs {
 public:
  static constexpr size_t kMostOpened = 3;

  // Takes the folder. Returns "", or cause and fix.
  std::string Begin(const std::string& root);

  // Finds an input by its name below the folder, or by its whole path. Returns "", or cause and
  // fix. Nothing is opened.
  std::string Find(const std::string& given, analysis::InputPath* path, std::string* name) const;
  // Does the same and keeps the input. The pointer is good until the next call.
  std::string Open(const std::string& given, OpenedInput** opened);

  // Returns the path of the folder, without links.
  const std::string& root() const { return root_.path; }
  // Returns the folder as the user named it.
  const std::string& given() const { return given_; }

 private:
  std::string Below(const std::string& given, std::string* name) const;

  analysis::InputPath root_;
  std::string given_;
  std::vector<std::unique_ptr<OpenedInput>> opened_;
  uint64_t uses_ = 0;
};

}  // namespace gpuprof::launcher
