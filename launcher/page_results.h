// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Results of passes for a server, as `gpuprof stats PASS --by KEY --json` prints them. A result is
// computed when it is first asked for, and kept in a file without a name: memory stays small.
//
// One thread of this object computes, one result after the other. Any thread may ask.

#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "analysis/analysis.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

struct PageAnswer {
  std::shared_ptr<const codec::OwnedFile> file;  // null: `fault` says why
  uint64_t size = 0;
  std::string fault;
};

class PageResults {
 public:
  // Computes from `trace`. If it is null, each pass opens the input with its own tables, and lets
  // it go again.
  PageResults(std::string input, std::shared_ptr<const analysis::Trace> trace);
  ~PageResults();
  PageResults(const PageResults&) = delete;
  PageResults& operator=(const PageResults&) = delete;

  // Returns what is wrong with a name PASS or PASS:KEY, in a sentence, or "".
  static std::string CheckName(const std::string& name);
  // Waits for the result of this name, which CheckName found right. Null: Stop was called.
  std::shared_ptr<const PageAnswer> Get(const std::string& name);
  // Ends all waits. Returns false if a pass is still at work: it cannot be interrupted.
  bool Stop();

 private:
  void Run();
  PageAnswer Compute(const std::string& name);

  const std::string input_;
  const std::shared_ptr<const analysis::Trace> trace_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<const PageAnswer>> kept_;  // null: asked for
  std::deque<std::string> wanted_;
  bool is_stopping_ = false, is_busy_ = false;
  std::thread thread_;
};

}  // namespace gpuprof::launcher
