// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/attached_bundle.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include <optional>
#include <sstream>

#include "launcher/base/read_file.h"
#include "launcher/base/text.h"
#include "launcher/record/summary.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {

std::string AttachedBundle::Open(const TargetFacts& facts, const Setting& where,
                                 const Variables& settings,
                                 const std::vector<std::string>& unseen) {
  is_new_ = true;
  const bool is_named =
      where.source == Setting::Source::kFlag || where.source == Setting::Source::kFile;
  std::string error =
      is_named ? bundle_.Open(where.value)
               : bundle_.OpenNew(DefaultBundleName(facts.program, time(nullptr), facts.pid));
  if (!error.empty()) return error;
  path_ = bundle_.path();
  const uint64_t now = proto::ReadClockNs(CLOCK_REALTIME);
  description_ = DescribeStart(facts.command, settings);
  description_.set_root_pid(facts.pid);
  proto::Attachment* attachment = description_.mutable_attachment();
  attachment->set_pid(facts.pid);
  attachment->set_attached_realtime_ns(now);
  attachment->set_process_started_realtime_ns(now - static_cast<uint64_t>(facts.age_s * 1e9));
  for (const std::string& line : unseen) attachment->add_unseen(line);
  error = bundle_.Describe(description_);
  // The process writes the trace as its own user; the object asks that the folder be that user's.
  if (error.empty() && facts.user != geteuid() &&
      fchown(bundle_.folder().fd(), facts.user, static_cast<gid_t>(-1)) != 0) {
    error = "the folder " + path_ + " cannot be given to the process's user: " + strerror(errno);
  }
  if (!error.empty()) bundle_.RemoveIfUnused();
  return error;
}

std::string AttachedBundle::OpenAgain(const std::string& path) {
  path_ = path;
  const int error = again_.Open(path);
  if (error != 0) return path + " cannot be opened: " + strerror(error);
  const std::optional<std::string> bytes = ReadFile(path + "/" + proto::kBundleFile);
  if (!bytes) return path + " has no description";
  return description_.ParseFromString(*bytes) ? "" : path + " has a damaged description";
}

void AttachedBundle::RemoveIfUnused() {
  if (is_new_ && ListProcesses(path_).empty()) bundle_.RemoveIfUnused();
}

void AttachedBundle::Finish(const std::string& heading, bool quiet) {
  RunFacts facts;
  facts.bundle = path_;
  facts.heading = heading;
  facts.finish = FinishProcesses(path_, 0, 0, 0);
  const TrustedFolder& folder = is_new_ ? bundle_.folder() : again_;
  description_.set_ended_realtime_ns(proto::ReadClockNs(CLOCK_REALTIME));
  TakeUnrecorded(folder, &description_);
  std::string bytes;
  description_.SerializeToString(&bytes);
  if (const int error = folder.Replace(proto::kBundleFile, bytes); error != 0)
    Say("the description of " + path_ + " was not written: " + strerror(error));
  facts.survivors = facts.finish.alive;
  const Summary summary = Summarize(facts);
  if (quiet && summary.recorded && !summary.lost && facts.finish.failures.empty()) return;
  for (const std::string& line : summary.lines) Say(line);
}

std::vector<std::string> Unseen(const TargetFacts& facts) {
  std::vector<std::string> lines = {
      "what the process did before, and the memory that it had allocated",
      "programs that it starts; processes that it forks are seen"};
  if (facts.has_cuda) {
    lines.push_back(
        "of CUDA: streams and contexts made before have numbers and no settings; fields of graphs "
        "instantiated before; device memory allocated before");
  }
  if (facts.has_torch || facts.has_cuda)
    lines.push_back("NVTX ranges of libraries that have looked for a tool already");
  return lines;
}

std::string RuntimeFolderOf(int32_t pid) {
  std::istringstream entries(ReadFile("/proc/" + std::to_string(pid) + "/environ").value_or(""));
  const std::string name = "XDG_RUNTIME_DIR=";
  for (std::string entry; std::getline(entries, entry, '\0');)
    if (entry.starts_with(name)) return entry.substr(name.size());
  return "";
}

}  // namespace gpuprof::launcher
