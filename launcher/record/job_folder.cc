// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See job_folder.h.

#include "launcher/record/job_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "launcher/base/read_file.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

constexpr int kMostBeside = 100;
constexpr int kMostForeign = 3;
constexpr int kMostOfOneRank = 1000;
// A file server shows a new file late, or shows it before its content.
constexpr int kLooks = 200;
constexpr int kPauseMs = 10;

// What another rank of the job may have made before its bundle.pb is there.
bool IsOfRanks(const std::string& name) {
  return IsPartName(name) || name.starts_with(std::string(proto::kBundleFile) + ".");
}

enum class Marker { kMissing, kUnclear, kOurs, kOther };

Marker LookAtMarker(const TrustedFolder& folder, const Job& job) {
  const int fd =
      openat(folder.fd(), proto::kBundleFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return errno == ENOENT ? Marker::kMissing : Marker::kOther;
  struct stat info;
  const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size < (64 << 20);
  std::string bytes(is_file ? static_cast<size_t>(info.st_size) : 0, 0);
  const ssize_t size = read(fd, bytes.data(), bytes.size());
  close(fd);
  if (!is_file) return Marker::kOther;
  proto::Bundle bundle;
  if (size <= 0 || !bundle.ParseFromArray(bytes.data(), static_cast<int>(size)) ||
      bundle.format_major() == 0)
    return Marker::kUnclear;
  return IsOfJob(bundle, job) ? Marker::kOurs : Marker::kOther;
}

void Pause() {
  const timespec pause = {0, kPauseMs * 1'000'000};
  nanosleep(&pause, nullptr);
}

// Returns the name of this rank's directory.
std::string OwnName(const Job& job) {
  std::string name = job.rank ? proto::kRankPrefix + std::to_string(*job.rank)
                              : proto::kWorkerPrefix + HostLabel() + "-" + std::to_string(getpid());
  if (job.restarts != 0) name += ".restart-" + std::to_string(job.restarts);
  return name;
}

}  // namespace

// Makes the directory this job's, or finds that it is.
JobFolder::Fit JobFolder::Mark(const Job& job, const std::string& marker, std::string* why) {
  const TrustedFolder& folder = shared_.folder();
  for (int look = 0; look < kLooks; ++look) {
    switch (LookAtMarker(folder, job)) {
      case Marker::kOurs:
        return Fit::kFits;
      case Marker::kOther:
        *why = shared_.path() + " holds another recording";
        return Fit::kTaken;
      case Marker::kUnclear:
        Pause();
        continue;
      case Marker::kMissing:
        break;
    }
    const std::vector<std::string> names = folder.List();
    if (!std::all_of(names.begin(), names.end(), IsOfRanks)) {
      // Another rank may have been faster since the look.
      if (LookAtMarker(folder, job) == Marker::kOurs) return Fit::kFits;
      *why = shared_.path() + " is not empty";
      return Fit::kTaken;
    }
    const int error = folder.CreateWhole(proto::kBundleFile, marker);
    is_first_ = error == 0;
    if (error == 0) return Fit::kFits;
    if (error == EEXIST) {
      if (look != 0) Pause();
      continue;
    }
    if (error == ENOENT) {  // the last rank of those that recorded nothing has removed it
      *why = shared_.path() + " was removed meanwhile";
      return Fit::kGone;
    }
    *why = "cannot write the bundle " + shared_.path() + ": " + strerror(error) +
           "; name another place with -o DIR";
    return Fit::kFault;
  }
  *why = shared_.path() + " holds a bundle.pb that cannot be read";
  return Fit::kTaken;
}

// A job whose id is no other's may run several commands as one rank, one after another. Otherwise
// what has this rank's name is of an earlier job.
JobFolder::Fit JobFolder::MakeOwn(const Job& job, BundleDirectory* own, std::string* why) {
  const std::string name = shared_.path() + "/" + OwnName(job);
  for (int number = 1; number <= kMostOfOneRank; ++number) {
    bool is_taken = false;
    *why = own->OpenOwn(number == 1 ? name : name + "." + std::to_string(number), &is_taken);
    if (why->empty()) return Fit::kFits;
    if (!is_taken) return Fit::kFault;
    if (job.is_unique || job.restarts != 0) continue;
    *why = shared_.path() + " holds the recording of an earlier job";
    return Fit::kTaken;
  }
  return Fit::kFault;
}

JobFolder::Fit JobFolder::TryJoin(const std::string& path, const Job& job,
                                  const proto::Bundle& manifest, BundleDirectory* own,
                                  std::string* why) {
  *why = shared_.OpenShared(path);
  if (!why->empty()) return Fit::kFault;
  const std::string marker = manifest.SerializeAsString();
  Fit fit = Mark(job, marker, why);
  if (fit == Fit::kFits) fit = MakeOwn(job, own, why);
  // A rank that recorded nothing may have taken the file away as the last one there.
  if (fit == Fit::kFits && LookAtMarker(shared_.folder(), job) == Marker::kMissing)
    fit = Mark(job, marker, why);
  if (fit == Fit::kGone) own->RemoveIfUnused();
  if (fit == Fit::kFault) shared_.RemoveIfUnused();
  return fit;
}

std::string JobFolder::Join(const std::string& path, bool named, const Job& job,
                            const proto::Bundle& manifest, BundleDirectory* own) {
  const std::string base = AbsolutePath(path);
  std::string why, beside;
  for (int number = 0; number < kMostBeside; ++number) {
    std::string place = base;
    if (number != 0 && named) place += "-" + JobLabel(job);
    if (number > (named ? 1 : 0)) place += "-" + std::to_string(named ? number : number + 1);
    Fit fit = Fit::kGone;
    for (int look = 0; fit == Fit::kGone && look < kLooks; ++look)
      fit = TryJoin(place, job, manifest, own, &why);
    // A name that can be predicted may be another user's by now.
    if (fit == Fit::kFault && !named && number < kMostForeign) continue;
    if (fit == Fit::kFault || fit == Fit::kGone) return why;
    if (fit == Fit::kFits) {
      path_ = shared_.path();
      if (named) why_beside_ = beside;
      return "";
    }
    if (number == 0) beside = why;
  }
  return beside;
}

std::string JobFolder::OpenAlone(const std::string& path, const Job& job, BundleDirectory* own) {
  const std::string base = AbsolutePath(path);
  std::string why, first;
  for (int number = 0; number < kMostBeside; ++number) {
    bool is_taken = false;
    std::string place = base;
    if (number != 0) place += "-" + JobLabel(job);
    if (number > 1) place += "-" + std::to_string(number);
    why = own->Open(place, &is_taken);
    if (why.empty() && number != 0) why_beside_ = base + " is not empty";
    if (why.empty() || !is_taken) return why;
    if (number == 0) first = why;
  }
  return first;
}

bool JobFolder::Speaks(const Job& job) const {
  if (path_.empty()) return true;
  return job.rank ? *job.rank == 0 : is_first_;
}

void JobFolder::LeaveIfUnused() {
  if (path_.empty()) return;
  shared_.RemoveIfUnused();
  // Another rank may have made it.
  if (shared_.folder().IsAt(path_)) rmdir(path_.c_str());
}

}  // namespace gpuprof::launcher
