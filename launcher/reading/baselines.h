// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The folder of saved baselines: one file NAME.baseline each, for `gpuprof baseline` and
// `gpuprof diff --baseline`. The folder is the user's alone: gpuprof uses no folder of another user
// and follows no link to one. Files appear in one step and have mode 0600. One thread.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/base/trusted_folder.h"

namespace google::protobuf {
class Message;
}

namespace gpuprof::launcher {

inline constexpr char kBaselineFolderHelp[] =
    "Folder of the baselines (default: gpuprof/baselines in $XDG_DATA_HOME or ~/.local/share)";

// Returns empty, or what is wrong with a name. A name becomes a file's name.
std::string CheckBaselineName(std::string_view name);

class BaselineFolder {
 public:
  // Takes the option's value; empty: the default. Opens nothing yet.
  explicit BaselineFolder(const std::string& folder);

  // Opens the folder to read. A folder that does not exist holds no names, which is allowed. This
  // function and the next ones return empty, or cause and fix.
  std::string OpenToRead();
  // Makes the folder if it is missing, and opens it.
  std::string OpenToWrite();
  // Reads the content of a baseline's file.
  std::string Read(const std::string& name, std::string* bytes) const;
  // Writes a baseline's file. Replaces an existing baseline only if `may_replace`.
  std::string Save(const std::string& name, const std::string& bytes, bool may_replace) const;
  std::string Remove(const std::string& name) const;

  // Returns the names, sorted.
  std::vector<std::string> Names() const;
  // Returns why other users can still move or remove the folder; empty: they cannot.
  std::string Risk() const { return folder_.Risk(); }
  const std::string& path() const { return path_; }
  std::string FileOf(const std::string& name) const;

 private:
  std::string Unknown(const std::string& name) const;

  std::string path_;  // empty: there is no default
  bool is_open_ = false;
  TrustedFolder folder_;
};

// Reads a baseline of an open folder. Returns kExitOk, or says the cause and returns the exit
// status.
int ReadBaseline(const BaselineFolder& folder, const std::string& name,
                 std::unique_ptr<google::protobuf::Message>* baseline);

}  // namespace gpuprof::launcher
