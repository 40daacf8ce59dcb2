// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A folder in the file system of a process that does not see ours: in a container, or behind
// chroot. It gets copies of gpuprof's objects and receives the trace, which is taken out
// afterwards.
//
// The process's user may change whatever lies there. So no link of that file system is followed out
// of its root, and only plain files are taken out.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "launcher/base/trusted_folder.h"

namespace gpuprof::launcher {

class Stage {
 public:
  Stage() = default;
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Makes the folder, for the user of the process. Returns empty, or cause and fix.
  std::string Make(int32_t pid, uid_t user, const std::string& inject, const std::string& tracer);
  bool is_made() const { return folder_ >= 0; }

  // Paths as the process sees them.
  const std::string& inject() const { return inject_; }
  const std::string& tracer() const { return tracer_; }
  const std::string& bundle() const { return bundle_; }
  // Moves the traces to `folder`, also after the process has ended. Returns empty, or what could
  // not be moved.
  std::string TakeOut(const TrustedFolder& folder);
  // Removes everything.
  void Remove();

 private:
  std::string MakeIn(int root, const std::string& place, uid_t user, const std::string& inject,
                     const std::string& tracer);

  int place_ = -1;  // the folder that the stage lies in
  int folder_ = -1;
  int traces_ = -1;
  std::string name_;
  std::string inject_, tracer_, bundle_;
};

}  // namespace gpuprof::launcher
