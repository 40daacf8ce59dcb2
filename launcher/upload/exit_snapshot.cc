// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See exit_snapshot.h.

#include "launcher/upload/exit_snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/contract.h"
#include "proto/snapshot_request.h"

namespace gpuprof::launcher {
namespace {

bool IsTrace(const std::string& name) {
  const std::string suffix = proto::kTraceSuffix;
  return name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

}  // namespace

std::string MakeExitSnapshot(const TrustedFolder& bundle, int exit_status, std::string* error) {
  const std::string name =
      std::string(proto::kSnapshotPrefix) + proto::kFailedExitName + std::to_string(exit_status);
  if (mkdirat(bundle.fd(), name.c_str(), 0700) != 0) {
    *error = strerror(errno);
    return "";
  }
  const int folder =
      openat(bundle.fd(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  bool is_made = folder >= 0;
  const auto take = [&](const std::string& file) {
    is_made = is_made && linkat(bundle.fd(), file.c_str(), folder, file.c_str(), 0) == 0;
  };
  for (const std::string& file : bundle.List()) {
    if (IsTrace(file)) take(file);
  }
  take(proto::kBundleFile);  // the last one: the snapshot is complete
  if (!is_made) *error = strerror(errno);
  if (folder >= 0) close(folder);
  return is_made ? name : "";
}

}  // namespace gpuprof::launcher
