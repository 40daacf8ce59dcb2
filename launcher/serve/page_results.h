// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Results for a page of a server. A result is computed when it is first asked for, and kept in a
// file without a name: memory stays small. A result of a pass is what `gpuprof stats PASS --by KEY
// --json` prints.
//
// One thread of this object computes, one result after the other. Any thread may ask.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "analysis/analysis.h"
#include "launcher/reading/comparison.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

struct PageAnswer {
  std::shared_ptr<const codec::OwnedFile> file;  // null: `fault` says why
  uint64_t size = 0;
  std::string fault;
};

// Returns what is wrong with the name of a result (analysis::ReadResultName), or "".
std::string CheckResultName(const std::string& name);

// Returns the input for ComputeResult. Nothing is opened yet.
std::shared_ptr<analysis::PageInput> OpenForPages(const PlacedInput& input);
// Computes the result of this name.
PageAnswer ComputeResult(analysis::PageInput* input, const std::string& name);
// Keeps a text as a result.
PageAnswer KeepResult(const std::string& json);

class PageResults {
 public:
  // Computes the result of a name. Called on one thread.
  using Compute = std::function<PageAnswer(const std::string& name)>;
  explicit PageResults(Compute compute);
  ~PageResults();
  PageResults(const PageResults&) = delete;
  PageResults& operator=(const PageResults&) = delete;

  // Waits for the result of this name. Null: Stop was called.
  std::shared_ptr<const PageAnswer> Get(const std::string& name);
  // Ends all waits. Returns false if a pass is still at work: it cannot be interrupted.
  bool Stop();

 private:
  void Run();
  void ForgetParts();

  const Compute compute_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<const PageAnswer>> kept_;  // null: asked for
  std::deque<std::string> wanted_;
  bool is_stopping_ = false, is_busy_ = false;
  std::thread thread_;
};

}  // namespace gpuprof::launcher
