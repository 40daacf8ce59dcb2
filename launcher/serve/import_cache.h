// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Keeps traces of other tools as bundles, so that `gpuprof serve` reads each of them once. The
// folder is the user's alone: gpuprof uses no folder of another user and follows no link to one.
// Without a folder of its own, a bundle lies in a temporary folder and goes with its last user.
//
// Any thread, after Open. Several commands may use one folder at the same time.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "launcher/base/temporary_folder.h"
#include "launcher/base/trusted_folder.h"
#include "launcher/reading/comparison.h"

namespace gpuprof::launcher {

// A trace of another tool as a bundle, which stays while this object lives.
struct ImportedTrace {
  ~ImportedTrace();
  // Removes the bundle if it is not kept.
  void Remove();

  PlacedInput bundle;
  // In the cache: held open and locked, so that no command removes it.
  TrustedFolder folder;
  const TrustedFolder* above = nullptr;
  std::string name;      // in the folder above
  bool is_kept = false;  // it stays when this object goes
  // Or outside the cache.
  TemporaryFolder temporary;
};

class ImportCache {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{4} << 30;

  // Takes the size of all bundles together.
  explicit ImportCache(uint64_t most_bytes = kMostBytes);

  // Makes and opens the folder gpuprof/imports in $XDG_CACHE_HOME or ~/.cache. Removes what
  // commands left that were killed. Call it before there are threads. Returns why nothing will be
  // kept, with the fix, or "".
  std::string Open();

  // Returns the bundle of this trace if it is kept. Null: it is not.
  std::shared_ptr<const ImportedTrace> Find(const analysis::InputPath& path,
                                            const analysis::ForeignInput& input);
  // Reads the trace and writes the bundle. Null: `error` says why. `bytes_read`: as in
  // analysis::OpenOptions.
  std::shared_ptr<const ImportedTrace> Make(const analysis::InputPath& path,
                                            const analysis::ForeignInput& input,
                                            std::atomic<uint64_t>* bytes_read,
                                            analysis::Error* error);
  // Removes what Make has begun, and what is in temporary folders. For the end of a process that
  // cannot wait for Make.
  void RemoveUnfinished();

 private:
  std::shared_ptr<ImportedTrace> OpenKept(const std::string& path, const std::string& key);
  std::shared_ptr<ImportedTrace> MakeKept(const std::string& path, const std::string& key,
                                          const analysis::Trace& trace);
  std::shared_ptr<ImportedTrace> MakeTemporary(const std::string& path,
                                               const analysis::Trace& trace,
                                               analysis::Error* error);
  std::shared_ptr<ImportedTrace> NewEntry();
  bool RemoveEntry(const std::string& name) const;
  void RemoveLeftovers() const;
  void MakeRoom(uint64_t bytes) const;
  void Remember(const std::shared_ptr<ImportedTrace>& made);

  const uint64_t most_bytes_;
  TrustedFolder folder_;
  bool is_open_ = false;
  std::mutex mutex_;
  std::vector<std::weak_ptr<ImportedTrace>> unkept_;  // while they are written, and later
};

}  // namespace gpuprof::launcher
