// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See obstacle_inbox.h.

#include "launcher/record/obstacle_inbox.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/analysis.h"
#include "launcher/base/text.h"

namespace gpuprof::launcher {
namespace {

using proto::ObstacleFacts;
using proto::ObstacleReport;

constexpr uint32_t kMostReports = 4096;
constexpr size_t kMostNames = 4;

// What proto::AddCause writes into.
class Words {
 public:
  Words& Add(const char* text) {
    text_ += text;
    return *this;
  }
  Words& Number(int64_t value) {
    text_ += std::to_string(value);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

auto KeyOf(const ObstacleFacts& facts) {
  return std::tuple(facts.obstacle, facts.error, facts.user, facts.owner, facts.has_changed_user,
                    facts.was_asked);
}

std::string NameOf(const ObstacleReport& report) {
  return analysis::OneLine(
      std::string(report.program, strnlen(report.program, sizeof report.program)));
}

}  // namespace

struct ObstacleInbox::Shared {
  std::atomic<uint32_t> count;
  ObstacleReport reports[kMostReports];
};

ObstacleInbox::~ObstacleInbox() {
  if (fd_ >= 0) close(fd_);
  if (shared_ != nullptr) munmap(shared_, sizeof(Shared));
}

std::string ObstacleInbox::Open() {
  uint64_t name = 0;
  if (getrandom(&name, sizeof name, GRND_NONBLOCK) != sizeof name ||
      getrandom(&token_, sizeof token_, GRND_NONBLOCK) != sizeof token_)
    return "";
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return "";
  shared_ = static_cast<Shared*>(memory);
  char value[64];
  snprintf(value, sizeof value, "%016llx.%016llx.%d", static_cast<unsigned long long>(name),
           static_cast<unsigned long long>(token_), static_cast<int>(getpid()));
  const std::string text = proto::kReportsAddress + std::string(value, 16);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, text.data(), text.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0 || bind(fd_, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) return "";
  return value;
}

void ObstacleInbox::Take() {
  ObstacleReport report;
  for (;;) {
    const ssize_t bytes = recv(fd_, &report, sizeof report, MSG_DONTWAIT | MSG_TRUNC);
    if (bytes < 0) return;
    if (bytes != sizeof report || report.token != token_) continue;
    const uint32_t at = shared_->count.fetch_add(1);
    if (at < kMostReports) shared_->reports[at] = report;
  }
}

std::vector<ObstacleReport> ObstacleInbox::Reports() const {
  if (shared_ == nullptr) return {};
  const uint32_t count = std::min(shared_->count.load(), kMostReports);
  return {shared_->reports, shared_->reports + count};
}

std::vector<std::string> ObstacleLines(const std::vector<ObstacleReport>& reports) {
  using Key = decltype(KeyOf(ObstacleFacts{}));
  struct Group {
    ObstacleFacts facts;
    std::set<int32_t> pids;
    std::vector<std::string> names;
  };
  std::vector<std::pair<Key, Group>> groups;
  for (const ObstacleReport& report : reports) {
    const Key key = KeyOf(report.facts);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == key; });
    if (group == groups.end()) group = groups.insert(group, {key, {report.facts, {}, {}}});
    group->second.pids.insert(report.pid);
    const std::string name = NameOf(report);
    std::vector<std::string>& names = group->second.names;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::vector<std::string> lines;
  for (const auto& [key, group] : groups) {
    std::string names;
    for (size_t i = 0; i < std::min(group.names.size(), kMostNames); ++i)
      names += (i == 0 ? "" : ", ") + group.names[i];
    if (group.names.size() > kMostNames) names += ", ...";
    const bool has_begun = group.facts.obstacle == proto::Obstacle::kWrite ||
                           group.facts.obstacle == proto::Obstacle::kGone;
    Words cause;
    proto::AddCause(group.facts, &cause);
    const std::string who = Plural(group.pids.size(), "process", "processes") + " (" + names + ")";
    lines.push_back(has_begun ? "the trace of " + who + " cannot be written: " + cause.text()
                              : "cannot record " + who + ": " + cause.text());
  }
  return lines;
}

}  // namespace gpuprof::launcher
