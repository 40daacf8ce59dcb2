// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See local_capture.h.

#include "launcher/agent/local_capture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "analysis/analysis.h"
#include "launcher/agent/profiler_service.h"
#include "launcher/base/read_file.h"
#include "launcher/base/text.h"
#include "proto/codec/input_path.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

// What a recorder hands over of its own accord comes within this time.
constexpr std::chrono::milliseconds kHandedOver(1'200);
constexpr size_t kMostWords = 20;

int64_t RealtimeNs() { return static_cast<int64_t>(proto::ReadClockNs(CLOCK_REALTIME)); }

constexpr char kNoProcess[] =
    "no process of this machine carries gpuprof, or none that this client may capture; start the "
    "program with 'gpuprof run --capture=off -- COMMAND'";

// A folder that is exported.
struct Source {
  std::string folder;
  bool is_whole = false;  // a snapshot; otherwise the captured time alone
  uid_t user = 0;         // whose processes wrote it
  bool operator<(const Source& other) const {
    return std::tie(folder, user) < std::tie(other.folder, other.user);
  }
};

// Removes a snapshot that was made for us. The path is what a process has told: only traces of its
// own user are removed.
void RemoveSnapshot(const std::string& path, uid_t user) {
  const codec::OwnedFile folder(
      open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (folder.fd() < 0 || fstat(folder.fd(), &status) != 0 || status.st_uid != user ||
      path.substr(path.rfind('/') + 1).rfind("snapshot-", 0) != 0)
    return;
  for (const std::string& name : ListFolder(folder.fd())) {
    const bool is_ours = name.ends_with(".gpt") || name == "bundle.pb";
    if (is_ours && fstatat(folder.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode) && status.st_uid == user)
      unlinkat(folder.fd(), name.c_str(), 0);
  }
  rmdir(path.c_str());
}

void AddWords(const std::vector<std::string>& from, std::vector<std::string>* to) {
  for (const std::string& words : from) {
    if (to->size() == kMostWords) to->push_back("more is left out here");
    if (to->size() > kMostWords) return;
    to->push_back(AsSentence(words));
  }
}

// Names a trace behind the host's name, as clients do. The only one needs no name of its own.
std::string TraceName(const std::string& stem, bool is_only, std::set<std::string>* taken) {
  if (is_only) return kXPlaneName;
  std::string name;
  for (const char c : stem) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_';
    name += is_plain ? c : '_';
  }
  std::string unique = name;
  for (int number = 2; !taken->insert(unique).second; ++number)
    unique = name + "-" + std::to_string(number);
  return unique + "." + kXPlaneName;
}

// Exports all sources. What is faulty is told; the others come.
void Export(const std::set<Source>& sources, std::pair<int64_t, int64_t> window,
            RpcCall::Clock::time_point end, const RpcCall& call, CaptureResult* result) {
  std::vector<ExportedFile> files;
  for (const Source& source : sources) {
    ExportOrder order;
    order.bundle = source.folder;
    if (!source.is_whole) order.window = window;
    // For a client of one user, only what this user may read is sent.
    order.user = call.user();
    order.end = end;
    order.most_bytes = ProfilerService::kMostAnswerBytes;
    ExportOutcome outcome = ExportWindow(order, call);
    AddWords(outcome.said, &result->words.warnings);
    if (!outcome.fault.empty()) {
      AddWords({"of " + analysis::ShellWord(source.folder) + " nothing was sent: " +
                AsSentence(outcome.fault) + " What was recorded is there: gpuprof report " +
                analysis::ShellWord(source.folder)},
               &result->words.errors);
    }
    std::move(outcome.files.begin(), outcome.files.end(), std::back_inserter(files));
  }
  std::set<std::string> taken;
  for (ExportedFile& file : files) {
    result->traces.push_back(
        {TraceName(file.stem, files.size() == 1, &taken), std::move(file.file), file.bytes});
  }
}

}  // namespace

ProcessChoice LocalCapture::ChoiceOf(std::optional<uid_t> user) const {
  ProcessChoice choice = choice_;
  choice.user = user;
  return choice;
}

void LocalCapture::Start(CaptureGroup* group, bool only_recorders) {
  std::vector<int32_t> pids;
  for (const GroupMember& member : group->members()) {
    if (!member.was_recording && (member.is_recorder || !only_recorders))
      pids.push_back(member.pid);
  }
  guard_->Started(pids);
  group->Start(only_recorders);
  std::vector<int32_t> refused;
  for (const GroupMember& member : group->members())
    if (!member.is_started && !member.was_recording) refused.push_back(member.pid);
  guard_->Stopped(refused);
}

void LocalCapture::Stop(CaptureGroup* group) {
  group->Stop();
  std::vector<int32_t> pids;
  for (const GroupMember& member : group->members())
    if (member.is_started) pids.push_back(member.pid);
  guard_->Stopped(pids);
}

CaptureResult LocalCapture::Capture(std::chrono::milliseconds length,
                                    RpcCall::Clock::time_point export_end, const RpcCall& call) {
  CaptureResult result;
  CaptureGroup group;
  group.Find(ChoiceOf(call.user()));
  const int64_t start = RealtimeNs();
  Start(&group, false);
  const bool is_recording = std::any_of(
      group.members().begin(), group.members().end(),
      [](const GroupMember& member) { return member.is_started || member.was_recording; });
  if (!is_recording) {
    AddWords(group.refusals(), &result.words.errors);
    if (result.words.errors.empty()) result.words.errors.emplace_back(AsSentence(kNoProcess));
    return result;
  }
  call.WaitUntil(RpcCall::Clock::now() + length);
  Stop(&group);
  const int64_t end = RealtimeNs();
  std::set<Source> sources;
  uint64_t events = 0, lost = 0;
  bool has_others = false, has_recorders = false;
  for (const GroupMember& member : group.members()) {
    if (!member.is_started && !member.was_recording) continue;
    events += member.events_after - std::min(member.events_after, member.events_before);
    lost += member.lost_after - std::min(member.lost_after, member.lost_before);
    if (member.is_recorder) {
      has_recorders = true;
      continue;
    }
    has_others = has_others || member.was_recording;
    sources.insert({member.root + member.bundle, false, member.user});
  }
  if (has_recorders && !call.IsGone()) group.Snapshot(true);
  // The rings of those that record on are not emptied for us.
  if (has_others) call.WaitUntil(RpcCall::Clock::now() + kHandedOver);
  std::set<Source> snapshots;
  for (const GroupMember& member : group.members()) {
    if (!member.snapshot.empty())
      snapshots.insert({member.root + member.snapshot, false, member.user});
  }
  sources.insert(snapshots.begin(), snapshots.end());
  if (!call.IsGone()) Export(sources, {start, end}, export_end, call, &result);
  for (const Source& snapshot : snapshots) RemoveSnapshot(snapshot.folder, snapshot.user);
  AddWords(group.refusals(), &result.words.warnings);
  if (events == 0 && !has_recorders) {
    AddWords({"nothing was recorded in " + FormatSeconds(static_cast<double>(end - start) / 1e9) +
              ": the programs did nothing that gpuprof records"},
             &result.words.warnings);
  }
  if (lost != 0) {
    AddWords({FormatCount(lost) + " events were lost while this was recorded"},
             &result.words.warnings);
  }
  return result;
}

CaptureResult LocalCapture::Snapshot(RpcCall::Clock::time_point export_end, const RpcCall& call) {
  CaptureResult result;
  CaptureGroup group;
  group.Find(ChoiceOf(call.user()));
  group.Snapshot(true);
  std::set<Source> snapshots;
  for (const GroupMember& member : group.members()) {
    if (!member.snapshot.empty())
      snapshots.insert({member.root + member.snapshot, true, member.user});
  }
  if (!call.IsGone()) Export(snapshots, {}, export_end, call, &result);
  for (const Source& snapshot : snapshots) RemoveSnapshot(snapshot.folder, snapshot.user);
  AddWords(group.refusals(), snapshots.empty() ? &result.words.errors : &result.words.warnings);
  if (result.traces.empty() && result.words.errors.empty()) {
    result.words.errors.emplace_back(
        "No process of this machine is a flight recorder; start the program with 'gpuprof run "
        "--ring 64MiB -- COMMAND'.");
  }
  return result;
}

std::string LocalCapture::StartRecorders(const RpcCall& call) {
  const std::lock_guard lock(mutex_);
  CaptureGroup group;
  group.Find(ChoiceOf(call.user()));
  Start(&group, true);
  bool has_recorders = false;
  for (const GroupMember& member : group.members()) {
    const bool records = member.is_started || member.was_recording;
    has_recorders = has_recorders || (member.is_recorder && records);
    if (member.is_started) recorders_.members().push_back(member);
  }
  if (has_recorders) return "";
  return "no process of this machine is a flight recorder; start the program with 'gpuprof run "
         "--ring 64MiB -- COMMAND'";
}

std::string LocalCapture::StopRecorders(const RpcCall& call) {
  const std::lock_guard lock(mutex_);
  CaptureGroup stopped;
  auto& members = recorders_.members();
  for (const GroupMember& member : members) {
    if (!call.user() || member.user == *call.user()) stopped.members().push_back(member);
  }
  std::erase_if(members, [&](const GroupMember& member) {
    return !call.user() || member.user == *call.user();
  });
  Stop(&stopped);
  return "";
}

void LocalCapture::StopAll() {
  const std::lock_guard lock(mutex_);
  Stop(&recorders_);
  recorders_.members().clear();
}

std::string LocalCapture::Describe(std::optional<uid_t> user) {
  CaptureGroup group;
  group.Find(ChoiceOf(user));
  std::string text;
  for (const GroupMember& member : group.members()) {
    text += member.Name() + ": " + member.state + (member.is_recorder ? ", flight recorder" : "") +
            ", events " + std::to_string(member.events_before) + "\n";
  }
  for (const std::string& words : group.refusals()) text += words + "\n";
  return text.empty() ? AsSentence(kNoProcess) + "\n"
                      : Plural(group.members().size(), "process", "processes") +
                            " can be captured.\n" + text;
}

}  // namespace gpuprof::launcher
