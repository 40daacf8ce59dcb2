// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bundle directory of one run. It is made and checked before the command starts. bundle.pb
// describes it at the start and at the end. The directory is held by its descriptor
// (trusted_folder.h). When the command has ended, the traces of its dead
// processes are finished. Called by run and recover.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/base/trusted_folder.h"
#include "launcher/record/child.h"
#include "proto/bundle.pb.h"

namespace gpuprof::launcher {

class BundleDirectory {
 public:
  // Takes or makes the directory; an existing one must be empty and this user's. Returns empty, or
  // cause and fix. `is_taken`: something is in the directory already.
  std::string Open(const std::string& path, bool* is_taken = nullptr);
  // Takes or makes the directory, whatever is in it.
  std::string OpenShared(const std::string& path);
  // Makes the directory. `is_taken`: the name is.
  std::string OpenOwn(const std::string& path, bool* is_taken);
  // Makes the directory. Six random letters follow if the name is taken. Returns empty, or
  // cause and fix.
  std::string OpenNew(const std::string& name);
  // Writes bundle.pb in one step (a reader sees the old or the new one). Empty, or cause and fix.
  std::string Describe(const proto::Bundle& bundle) const;
  // Removes bundle.pb and the directories that Open made, if nothing else is in them.
  void RemoveIfUnused();
  const std::string& path() const { return path_; }  // absolute
  const TrustedFolder& folder() const { return folder_; }

 private:
  std::string Make(const std::string& path, TrustedFolder::Last last, int* error);

  std::string path_;
  TrustedFolder folder_;
};

// Returns `path` as an absolute path, against the working directory. Empty: that directory cannot
// be named.
std::string AbsolutePath(const std::string& path);

// Returns ./gpuprof-<program>-<yyyymmdd-hhmmss>-<pid>.
std::string DefaultBundleName(const std::string& program, int64_t seconds, int32_t pid);
// Returns ./gpuprof-<program>-<job>, the same for all ranks of a job.
std::string JobBundleName(const std::string& program, const std::string& job);

// Returns six letters and digits that other users cannot predict.
std::string RandomLetters();

// Describes the bundle by the facts that are known when the command starts. The setting
// GPUPROF_ARGUMENTS decides how the command is recorded.
proto::Bundle DescribeStart(const std::vector<std::string>& command, const Variables& settings);

// One process of a bundle by its files.
struct ProcessFiles {
  std::string stem;  // "<bundle>/p<pid>-<start>"
  int32_t pid = 0;
  uint64_t start_id = 0;
  bool has_trace = false;
  bool has_ring = false;
  bool has_segments = false;
};
std::vector<ProcessFiles> ListProcesses(const std::string& bundle);
// Reads a file name: p<pid>-<start>.gpt or .ring, or a segment. False: any other name.
bool ParseProcessFile(const std::string& name, ProcessFiles* process);

// Returns the folders of ranks in the bundle of a job, sorted, without links.
std::vector<std::string> ListParts(const std::string& bundle);
bool IsPartName(const std::string& folder);

// Returns whether the process that reads hardware counters has begun its trace.
bool HasSamplerTrace(const std::string& bundle, int32_t pid);

struct FinishReport {
  std::vector<int32_t> alive;         // still running: they finish their traces themselves
  std::vector<std::string> failures;  // cause and fix
  uint32_t finished = 0;
};
// Finishes the traces of dead processes. Gives processes that are about to end up to `grace_ms`.
// `root` and its exit status are as waitpid reported them; root 0: unknown.
FinishReport FinishProcesses(const std::string& bundle, int32_t root, int root_status,
                             int grace_ms);

// Moves the processes' entries about programs without gpuprof to the description, and removes their
// file.
void TakeUnrecorded(const TrustedFolder& folder, proto::Bundle* bundle);

// Returns the sum of the sizes of the bundle's files.
uint64_t BundleBytes(const std::string& bundle);

}  // namespace gpuprof::launcher
