// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Results for a page of a server. A result is computed when it is first asked for, and kept in a
// file without a name: memory stays small. A result of a pass is what `gpuprof stats PASS --by KEY
// --json` prints.
//
// One thread of this object computes, one result after the other. A large result is left to a
// process (large_results.h), for as long as somebody waits for it. Any thread may ask.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analysis/analysis.h"
#include "analysis/passes/page_need.h"
#include "launcher/reading/comparison.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

struct PageAnswer {
  std::shared_ptr<const codec::OwnedFile> file;  // null: `fault` says why
  uint64_t size = 0;
  std::string fault;
  bool is_passing = false;  // another time the answer may be better: it is not kept
};

// What became of a result.
struct PageComputed {
  PageAnswer answer;
  // Set: the result is large, and there is no answer yet.
  std::optional<analysis::PageNeed> need = {};
};

// What a page knows of a result before it is there.
struct PageWait {
  std::string words =
      {};                 // sentences for people while it is computed; empty: nothing is to be said
  bool is_large = false;  // it is not there, and a process would compute it
  bool has_large = false;  // the recording has large results
};

// Returns what is wrong with the name of a result (analysis::ReadResultName), or "".
std::string CheckResultName(const std::string& name);

class LargeResults;
// Returns the input for ComputeResult. Nothing is opened yet.
std::shared_ptr<analysis::PageInput> OpenForPages(const PlacedInput& input);
// Computes the result of this name, unless it is large.
PageComputed ComputeResult(analysis::PageInput* input, const std::string& name,
                           const LargeResults& large);
// Says what the result of this name would wait for.
PageWait LookAtResult(analysis::PageInput* input, const std::string& name,
                      const LargeResults& large);
// Keeps a text as a result.
PageAnswer KeepResult(const std::string& json);

class PageResults {
 public:
  // How results come about. `compute` is called on one thread. `compute_large` is called on a
  // thread that asks, and ends soon after `is_wanted` says no.
  struct Ways {
    std::function<PageComputed(const std::string& name)> compute;
    std::function<PageAnswer(const std::string& name, const analysis::PageNeed& need,
                             const std::function<bool()>& is_wanted)>
        compute_large = nullptr;
    // Says what a result takes that nobody has asked for. Called on any thread.
    std::function<PageWait(const std::string& name)> look_at = nullptr;
    // Returns what a large result waits for, in sentences.
    std::function<std::string(const std::string& name, const analysis::PageNeed& need)> words_of =
        nullptr;
  };
  explicit PageResults(Ways ways);
  ~PageResults();
  PageResults(const PageResults&) = delete;
  PageResults& operator=(const PageResults&) = delete;

  // Waits for the result of this name. Null: Stop was called, or who asked is gone. `is_gone` is
  // asked several times a second; null: who asks stays.
  std::shared_ptr<const PageAnswer> Get(const std::string& name,
                                        const std::function<bool()>& is_gone = nullptr);
  // Says what a result waits for, or would wait for.
  PageWait WaitOf(const std::string& name);
  // Ends all waits. Returns false if a pass is still at work: it cannot be interrupted.
  bool Stop();

 private:
  struct Entry {
    std::shared_ptr<const PageAnswer> answer;  // null: not yet
    std::optional<analysis::PageNeed> need;    // of a large result
    int waiting = 0;                           // those who ask
    bool is_led = false;                       // one of them has it computed
  };
  using Lock = std::unique_lock<std::mutex>;

  void Run();
  std::shared_ptr<Entry> Ask(const std::string& name);
  void Lead(const std::string& name, Entry* entry, const std::function<bool()>& is_gone,
            Lock* lock);
  void Keep(const std::string& name, Entry* entry, PageAnswer answer);
  void Forget(const std::string& name, const Entry* entry);
  void ForgetParts();

  const Ways ways_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Entry>> kept_;
  std::deque<std::string> wanted_;
  int waiting_for_large_ = 0;
  bool is_stopping_ = false, is_busy_ = false;
  std::thread thread_;
};

}  // namespace gpuprof::launcher
