// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Imports traces of other tools in the background, one after the other, for `gpuprof serve DIR`.
// Any thread may ask.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "launcher/serve/capture_list.h"
#include "launcher/serve/import_cache.h"

namespace gpuprof::launcher {

// How far the import of a capture is.
struct ImportState {
  enum class Kind { kNone, kImporting, kReady, kFailed } kind = Kind::kNone;
  std::shared_ptr<const ImportedTrace> trace;  // if ready
  std::optional<double> progress;              // if known, 0 to 1
  std::string fault;                           // if failed, in a sentence
};

class Imports {
 public:
  // Takes a cache that is open.
  explicit Imports(ImportCache* cache);
  ~Imports();
  Imports(const Imports&) = delete;
  Imports& operator=(const Imports&) = delete;

  // Returns the trace if it is kept, or has it imported.
  ImportState Ask(const ServedCapture& capture);
  // Does the same, and waits for the end of the import. Importing: Stop was called.
  ImportState Await(const ServedCapture& capture);
  // Looks how far an import is that Ask has begun.
  ImportState Look(const ServedCapture& capture);
  // Ends all waits. Returns false if a trace is being read: this cannot be interrupted.
  bool Stop();

 private:
  struct Job {
    ServedCapture capture;
    bool is_done = false;
    std::atomic<uint64_t> bytes_read = 0;
    std::shared_ptr<const ImportedTrace> trace;  // until the first who asks takes it
    std::weak_ptr<const ImportedTrace> taken;    // the same, while somebody uses it
    std::string fault;
  };

  void Run();
  static ImportState StateOf(const Job& job);
  std::shared_ptr<Job> Find(const ServedCapture& capture);

  ImportCache* const cache_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, std::shared_ptr<Job>> jobs_;     // by the id of the capture: the newest
  std::map<uint64_t, std::shared_ptr<Job>> waiting_;  // by their order
  uint64_t next_ = 0;
  bool is_stopping_ = false, is_busy_ = false;
  std::thread thread_;
};

}  // namespace gpuprof::launcher
