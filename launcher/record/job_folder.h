// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bundle of a job: a directory that all its ranks find by themselves, on one host or on many
// that share a file system. Each rank has a directory of its own in it, which is a whole bundle.
// No rank waits for another, and none writes where another one does.
//
// bundle.pb in the job's directory tells whose it is. The rank that comes first writes the file, in
// one step that only one of many can make. A directory that holds anything else is left alone. The
// job then records into another one, whose name every rank finds in the same way.
//
// One thread: making directories sets the umask for a moment.

#pragma once

#include <string>

#include "launcher/record/bundle.h"
#include "launcher/record/job.h"
#include "proto/bundle.pb.h"

namespace gpuprof::launcher {

class JobFolder {
 public:
  // Joins the job's bundle at `path`, and makes this rank's directory in it. If something else is
  // there, the job's id is appended to the path. `named`: the user chose the path, and it lacks the
  // job's id. `manifest` becomes bundle.pb if this rank is the first. Returns empty, or cause and
  // fix.
  std::string Join(const std::string& path, bool named, const Job& job,
                   const proto::Bundle& manifest, BundleDirectory* own);

  // Opens a bundle of this process alone at `path`. If something is there, the job's id is
  // appended.
  std::string OpenAlone(const std::string& path, const Job& job, BundleDirectory* own);

  // Returns where the job records: the joined bundle, or "" for a bundle of the process alone.
  const std::string& path() const { return path_; }
  // Returns why the job does not record where the user said; "": it does.
  const std::string& why_beside() const { return why_beside_; }
  // Returns whether the user hears of the job by this rank: rank 0. The process that
  // came first speaks if ranks have no numbers.
  bool Speaks(const Job& job) const;
  // Removes the job's directory if nothing is in it. Call it after own->RemoveIfUnused().
  void LeaveIfUnused();

 private:
  enum class Fit { kFits, kTaken, kGone, kFault };
  Fit TryJoin(const std::string& path, const Job& job, const proto::Bundle& manifest,
              BundleDirectory* own, std::string* why);
  Fit Mark(const Job& job, const std::string& marker, std::string* why);
  Fit MakeOwn(const Job& job, BundleDirectory* own, std::string* why);

  BundleDirectory shared_;
  std::string path_;
  std::string why_beside_;
  bool is_first_ = false;
};

}  // namespace gpuprof::launcher
