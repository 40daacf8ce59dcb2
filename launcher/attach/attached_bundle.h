// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bundle of a process that was attached to. It belongs to the process's user, who writes the
// trace. What this command writes goes through the folder's descriptor.

#pragma once

#include <string>
#include <vector>

#include "launcher/attach/stage.h"
#include "launcher/attach/target_facts.h"
#include "launcher/base/settings.h"
#include "launcher/record/bundle.h"

namespace gpuprof::launcher {

class AttachedBundle {
 public:
  // Makes the folder and describes it. `where` is the setting of -o. Returns empty, or cause and
  // fix.
  std::string Open(const TargetFacts& facts, const Setting& where, const Variables& settings,
                   const std::vector<std::string>& unseen);
  // Opens the folder of an earlier attach. Returns empty, or cause and fix.
  std::string OpenAgain(const std::string& path);
  const std::string& path() const { return path_; }
  // Moves the traces of a stage into the folder. Returns empty, or what could not be moved.
  std::string TakeFrom(Stage* stage) const { return stage->TakeOut(bundle_.folder()); }
  // Removes the folder, if it holds no trace.
  void RemoveIfUnused();
  // Finishes the traces, notes the end and says what was recorded, unless `quiet` and nothing was
  // lost.
  void Finish(const std::string& heading, bool quiet);

 private:
  std::string path_;
  BundleDirectory bundle_;
  TrustedFolder again_;
  proto::Bundle description_;
  bool is_new_ = false;
};

// Returns what a late arrival cannot see of this process, a sentence each.
std::vector<std::string> Unseen(const TargetFacts& facts);

// Returns XDG_RUNTIME_DIR as the process began with it; "" if it had none.
std::string RuntimeFolderOf(int32_t pid);

}  // namespace gpuprof::launcher
