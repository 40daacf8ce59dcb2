// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The job that this process is a rank of, as its launcher tells by the environment (proto/ranks.h).
// Also fills the patterns in the name of a bundle. Pure; never prints. For `gpuprof run`.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "launcher/base/settings.h"
#include "proto/bundle.pb.h"

namespace gpuprof::launcher {

struct Job {
  std::string launcher;  // "Slurm"
  std::string id;        // as the launcher tells it; empty: it does not
  uint32_t size = 0;     // how many ranks there are; 0: not known
  std::optional<uint32_t> rank;
  std::optional<uint32_t> local_rank;  // among the ranks of this host
  uint32_t restarts = 0;               // how often the job was begun anew
  bool is_unique = false;              // no other job has this id
  // Returns whether the ranks share a bundle. A single rank has nothing to share.
  bool is_shared() const { return size != 1; }
};

// Returns the job of this environment. None: no launcher
// set it, or nothing tells two jobs apart.
std::optional<Job> FindJob(const Variables& environment);

// Returns the job's id as a part of a file's name: "17.0", "3493003265".
std::string JobLabel(const Job& job);

// Returns whether a manifest is of this job. Two jobs with one id may differ in size.
bool IsOfJob(const proto::Bundle& bundle, const Job& job);

// Returns "rank 3 of 8", or "" if the launcher gives no numbers.
std::string RankWords(const Job& job);

struct BundleName {
  std::string path;
  // Has a part that no other process has (%r, %p).
  bool is_own = false;
};

// Fills the patterns of a name: %h (host), %r (rank), %j (the job's id), %p (the process) and %% (a
// percent sign). Returns an empty string, or what is wrong and what to write.
std::string FillPattern(std::string_view name, const std::optional<Job>& job, int32_t pid,
                        BundleName* filled);

// Returns this host's name up to its first dot, as a part of a file's name.
std::string HostLabel();

}  // namespace gpuprof::launcher
