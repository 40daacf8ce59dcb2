// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/obstacle.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/ring_file.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/text.h"
#include "inject/tool_thread.h"

namespace gpuprof::inject {
namespace {

using proto::ObstacleFacts;
using proto::ObstacleReport;

sockaddr_un g_address;
socklen_t g_address_bytes = 0;  // 0: no launcher listens
uint64_t g_token = 0;
int g_launcher = 0;
uint32_t g_first_user = proto::kUnknownUser;
std::atomic<uint32_t> g_asked{0};

// Reads 16 hexadecimal digits, and moves `*text` behind them.
bool ParseToken(const char** text, uint64_t* value) {
  *value = 0;
  for (int i = 0; i < 16; ++i, ++*text) {
    const char c = **text;
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) return false;
    *value = *value << 4 | static_cast<uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return true;
}

ObstacleFacts FactsOf(proto::Obstacle obstacle, int error) {
  ObstacleFacts facts;
  facts.obstacle = obstacle;
  facts.error = error;
  facts.user = static_cast<uint32_t>(raw::Call(SYS_geteuid));
  facts.has_changed_user = facts.user != g_first_user ? 1 : 0;
  facts.was_asked = g_asked.load() != 0 ? 1 : 0;
  struct stat status;
  if (raw::Call(SYS_newfstatat, AT_FDCWD, raw::Arg(g_settings.bundle), raw::Arg(&status), 0) == 0)
    facts.owner = status.st_uid;
  return facts;
}

// Returns whether the launcher gets it. Its queue may be full for a moment.
bool TellLauncher(const ObstacleFacts& facts) {
  constexpr int kTries = 20;
  constexpr timespec kMoment = {0, 1'000'000};
  if (g_address_bytes == 0) return false;
  ObstacleReport report;
  report.token = g_token;
  report.facts = facts;
  report.pid = g_process.pid;
  char path[256] = {};
  raw::Call(SYS_readlink, raw::Arg("/proc/self/exe"), raw::Arg(path), sizeof(path) - 1);
  Text(report.program, sizeof(report.program)).Add(BaseName(path));
  const long fd = raw::Call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  long sent = -EAGAIN;
  for (int i = 0; i < kTries && sent == -EAGAIN; ++i) {
    if (i != 0) raw::Call(SYS_nanosleep, raw::Arg(&kMoment), 0);
    sent = raw::Call(SYS_sendto, fd, raw::Arg(&report), sizeof(report), MSG_NOSIGNAL,
                     raw::Arg(&g_address), g_address_bytes);
  }
  raw::Call(SYS_close, fd);
  return sent == static_cast<long>(sizeof(report));
}

}  // namespace

int LauncherPid() noexcept { return g_launcher; }

void ReadLauncher() noexcept {
  g_first_user = static_cast<uint32_t>(getauxval(AT_EUID));
  const char* value = Variable(proto::kEnvLauncher);
  if (value == nullptr) return;
  const char* at = value;
  uint64_t name = 0, pid = 0;
  if (!ParseToken(&at, &name) || *at++ != '.' || !ParseToken(&at, &g_token) || *at++ != '.' ||
      !ParseNumber(&at, &pid) || *at != 0)
    return;
  g_launcher = static_cast<int>(pid);
  g_address.sun_family = AF_UNIX;
  Text text(g_address.sun_path + 1, sizeof(g_address.sun_path) - 1);
  text.Add(proto::kReportsAddress).Add(value, 16);
  g_address_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

void CannotRecord(proto::Obstacle obstacle, int error) noexcept {
  const ObstacleFacts facts = FactsOf(obstacle, error);
  char line[kMostSaid];
  Text text(line, sizeof(line));
  const bool is_whole = obstacle == proto::Obstacle::kFile || obstacle == proto::Obstacle::kThread;
  text.Add(is_whole ? "cannot record: " : proto::kCannotWrite);
  if (is_whole && obstacle == proto::Obstacle::kFile) text.Add(g_settings.bundle).Add(": ");
  proto::AddCause(facts, &text);
  if (!is_whole) NoteTrouble(line);
  text.Add(is_whole ? "; the program runs on unrecorded"
                    : "; the program runs on, and lost rows are counted");
  // What somebody can mend while the program runs is said at once. The trace's own note has it,
  // too.
  const bool is_for_end = is_whole || proto::IsAnotherUser(facts);
  const bool is_told = is_for_end && TellLauncher(facts);
  if (is_told || g_asked.load() != 0) {
    KeepSaid(line);
  } else if (t_thread.tool == kToolThreadWithoutFiles) {
    SayByControlThread(line);
  } else {
    Say(line);
  }
}

const char* WhyNotCaptured() noexcept {
  constexpr char kReason[] = "cannot record: ";
  const char* said = LastSaid();
  const bool is_reason = __builtin_strncmp(said, kReason, sizeof(kReason) - 1) == 0;
  return is_reason ? said : "this process cannot be captured; the program's stderr says why";
}

AnswersControl::AnswersControl() noexcept { g_asked.fetch_add(1); }
AnswersControl::~AnswersControl() noexcept { g_asked.fetch_sub(1); }

}  // namespace gpuprof::inject
