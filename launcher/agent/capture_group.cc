// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See capture_group.h.

#include "launcher/agent/capture_group.h"

#include <sys/stat.h>

#include <cstdlib>

#include "launcher/base/read_file.h"
#include "proto/contract.h"
#include "proto/control.h"

namespace gpuprof::launcher {
namespace {

constexpr int kStatusTimeoutMs = 2'000;
// A dormant process that does not wake takes ten seconds by itself.
constexpr int kStartTimeoutMs = 20'000;

uint64_t NumberOf(const Answer& answer, const char* key) {
  return std::strtoull(answer.Get(key).c_str(), nullptr, 10);
}

// Returns whether the process was started as a flight recorder.
bool IsRecorder(int32_t pid) {
  const std::string all = '\0' + ReadFile("/proc/" + std::to_string(pid) + "/environ").value_or("");
  const std::string entry = '\0' + std::string(proto::kEnvRing) + "=";
  const size_t at = all.find(entry);
  return at != std::string::npos && at + entry.size() < all.size() && all[at + entry.size()] != 0;
}

bool IsSameFile(const std::string& one, const std::string& other) {
  struct stat first, second;
  return stat(one.c_str(), &first) == 0 && stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Returns what stands before the paths of a process, so that they lead to its files from here. A
// container has a root of its own, or mounts of its own.
std::string RootOf(int32_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid), root = proc + "/root";
  const bool is_ours =
      IsSameFile("/", root + "/") && IsSameFile("/proc/self/ns/mnt", proc + "/ns/mnt");
  return is_ours ? "" : root;
}

void Note(const Answer& answer, bool is_before, GroupMember* member) {
  if (answer.values.empty()) return;
  (is_before ? member->events_before : member->events_after) = NumberOf(answer, proto::kKeyEvents);
  (is_before ? member->lost_before : member->lost_after) = NumberOf(answer, proto::kKeyLost);
  member->state = answer.Get(proto::kKeyState);
}

}  // namespace

std::string GroupMember::Name() const {
  return "process " + std::to_string(pid) + " (" + program + ")";
}

void CaptureGroup::Find(const ProcessChoice& choice) {
  members_.clear();
  std::vector<std::vector<Endpoint>> asked;
  for (const Endpoint& endpoint : FindEndpoints()) {
    if (!choice.pids.empty() && choice.pids.count(endpoint.pid) == 0) continue;
    if (choice.user && endpoint.uid != *choice.user) continue;
    if (asked.empty() || asked.back().front().pid != endpoint.pid) asked.emplace_back();
    asked.back().push_back(endpoint);
  }
  const std::vector<Answer> answers = AskTogether(asked, proto::kVerbStatus, kStatusTimeoutMs);
  for (size_t i = 0; i < asked.size(); ++i) {
    const Answer& answer = answers[i];
    GroupMember member;
    member.pid = asked[i].front().pid;
    member.program = answer.Get(proto::kKeyProgram);
    member.bundle = answer.Get(proto::kKeyBundle);
    if (answer.kind == Answer::Kind::kNobody || answer.kind == Answer::Kind::kForeign) continue;
    if (answer.kind != Answer::Kind::kOk) {
      refusals_.push_back(member.Name() + " " + answer.error);
      continue;
    }
    if (!choice.bundle.empty() && member.bundle != choice.bundle) continue;
    // The kernel knows whose a process is.
    struct stat status;
    if (stat(("/proc/" + std::to_string(member.pid)).c_str(), &status) != 0) continue;
    member.user = status.st_uid;
    if (choice.user && member.user != *choice.user) continue;
    member.is_recorder = IsRecorder(member.pid);
    member.root = RootOf(member.pid);
    Note(answer, true, &member);
    member.was_recording = member.state == "capturing";
    members_.push_back(std::move(member));
  }
}

std::vector<Answer> CaptureGroup::AskAll(const std::vector<GroupMember*>& members,
                                         const std::string& action, int timeout_ms) {
  std::vector<std::vector<Endpoint>> asked;
  const std::vector<Endpoint> endpoints = FindEndpoints();
  asked.reserve(members.size());
  for (const GroupMember* member : members) asked.push_back(NamesOf(endpoints, member->pid));
  return AskTogether(asked, RequestOf(action), timeout_ms);
}

void CaptureGroup::Start(bool only_recorders) {
  std::vector<GroupMember*> asked;
  for (GroupMember& member : members_) {
    if (!member.was_recording && (member.is_recorder || !only_recorders)) asked.push_back(&member);
  }
  const std::vector<Answer> answers = AskAll(asked, proto::kVerbStart, kStartTimeoutMs);
  for (size_t i = 0; i < asked.size(); ++i) {
    asked[i]->is_started = answers[i].kind == Answer::Kind::kOk;
    if (asked[i]->is_started) {
      Note(answers[i], true, asked[i]);
    } else {
      refusals_.push_back(asked[i]->Name() + " " + answers[i].error);
    }
  }
}

void CaptureGroup::Stop() {
  std::vector<GroupMember*> started, others;
  for (GroupMember& member : members_) {
    if (member.is_started) started.push_back(&member);
    if (member.was_recording) others.push_back(&member);
  }
  std::vector<Answer> answers = AskAll(started, proto::kVerbStop, kChangeTimeoutMs);
  for (size_t i = 0; i < started.size(); ++i) {
    Note(answers[i], false, started[i]);
    // A process that ended has finished its trace by itself.
    const bool has_ended =
        answers[i].kind == Answer::Kind::kNobody || answers[i].kind == Answer::Kind::kForeign;
    if (has_ended) started[i]->state = "ended";
    if (!has_ended && answers[i].kind != Answer::Kind::kOk)
      refusals_.push_back(started[i]->Name() + " was not stopped: " + answers[i].error);
  }
  answers = AskAll(others, proto::kVerbStatus, kStatusTimeoutMs);
  for (size_t i = 0; i < others.size(); ++i) Note(answers[i], false, others[i]);
}

void CaptureGroup::Snapshot(bool only_recorders) {
  std::vector<GroupMember*> asked;
  for (GroupMember& member : members_) {
    if (member.is_recorder || !only_recorders) asked.push_back(&member);
  }
  const std::vector<Answer> answers = AskAll(asked, proto::kVerbSnapshot, kChangeTimeoutMs);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (answers[i].kind == Answer::Kind::kOk) {
      asked[i]->snapshot = answers[i].Get(proto::kKeySnapshot);
    } else {
      refusals_.push_back(asked[i]->Name() + " " + answers[i].error);
    }
  }
}

}  // namespace gpuprof::launcher
