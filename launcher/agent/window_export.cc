// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See window_export.h.

#include "launcher/agent/window_export.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "analysis/analysis.h"
#include "launcher/agent/profiler_messages.h"
#include "launcher/base/read_file.h"
#include "launcher/base/temporary_folder.h"
#include "launcher/base/text.h"
#include "proto/codec/input_path.h"

extern "C" char** environ;

namespace gpuprof::launcher {
namespace {

using std::chrono::milliseconds;

constexpr int kNicer = 10;  // the programs of this machine come first
constexpr size_t kMostSaid = 8 << 10, kMostLines = 10;
constexpr milliseconds kLook(50);

std::string Clock(int64_t nanoseconds) {
  char text[48];
  std::snprintf(text, sizeof text, "@%lld.%09lld",
                static_cast<long long>(nanoseconds / 1'000'000'000),
                static_cast<long long>(nanoseconds % 1'000'000'000));
  return text;
}

// The folder of an export, and what is in it, go with this.
class ExportFolder {
 public:
  ~ExportFolder() {
    std::error_code error;
    if (!folder_.path().empty()) std::filesystem::remove_all(folder_.path(), error);
  }
  // Returns empty, or cause and fix.
  std::string Make(std::optional<uid_t> user) {
    if (const std::string fault = folder_.Make(); !fault.empty()) return fault;
    if (user && lchown(folder_.path().c_str(), *user, static_cast<gid_t>(-1)) != 0)
      return folder_.path() + " cannot be handed over: " + std::strerror(errno);
    return "";
  }
  const std::string& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

// Everything that the child needs, made before it is: between fork and exec nothing may be made.
struct Child {
  std::vector<std::string> words;
  std::vector<char*> arguments;
  bool changes_user = false;
  uid_t user = 0;
  gid_t group = 0;
  rlim_t most_bytes = 0;
  int null = -1, errors = -1;

  [[noreturn]] void Become() {
    const rlimit limit = {most_bytes, most_bytes};
    sigset_t none;
    sigemptyset(&none);
    // The system calls themselves: those of libc would have all threads follow, and there is one.
    const bool is_user = !changes_user || (syscall(SYS_setgroups, 0, nullptr) == 0 &&
                                           syscall(SYS_setresgid, group, group, group) == 0 &&
                                           syscall(SYS_setresuid, user, user, user) == 0);
    if (is_user && dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(errors, 2) == 2 &&
        chdir("/") == 0 && setrlimit(RLIMIT_FSIZE, &limit) == 0) {
      setpriority(PRIO_PROCESS, 0, kNicer);
      // It is of no use without the agent. The thread that makes it waits for it.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      signal(SIGXFSZ, SIG_IGN);
      signal(SIGPIPE, SIG_DFL);
      sigprocmask(SIG_SETMASK, &none, nullptr);
      execve("/proc/self/exe", arguments.data(), environ);
    }
    _exit(127);
  }
};

// Reads what the export says until it ends. Returns why it did not end by itself.
std::string Attend(int errors, const ExportOrder& order, const RpcCall& call, std::string* said) {
  for (;;) {
    pollfd wait = {errors, POLLIN, 0};
    const int ready = poll(&wait, 1, milliseconds(kLook).count());
    if (call.IsGone()) return "the client has gone";
    if (RpcCall::Clock::now() > order.end)
      return "the trace could not be made in the time that the client waits";
    if (ready <= 0) continue;
    char room[1024];
    const ssize_t got = read(errors, room, sizeof room);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return "";
    said->append(room,
                 static_cast<size_t>(std::min<ssize_t>(
                     got, static_cast<ssize_t>(kMostSaid - std::min(kMostSaid, said->size())))));
  }
}

std::vector<std::string> LinesOf(const std::string& said) {
  constexpr std::string_view kName = "gpuprof: ";
  std::vector<std::string> lines;
  for (size_t at = 0; at < said.size() && lines.size() < kMostLines;) {
    const size_t end = std::min(said.find('\n', at), said.size());
    std::string line = said.substr(at, end - at);
    at = end + 1;
    if (line.starts_with(kName)) line.erase(0, kName.size());
    // Where the files lay is of no interest: they have lost their names.
    if (!line.empty() && !line.starts_with("wrote ")) lines.push_back(line);
  }
  return lines;
}

// Opens the files of the run that the export wrote. It may have run as somebody else: no link is
// followed.
void Collect(const std::string& folder, ExportOutcome* outcome) {
  const std::string ending = std::string(".") + kXPlaneName;
  const std::string profile = "plugins/profile";
  const codec::InputPath root(folder);
  for (const std::string& run : ListFolder(folder + "/" + profile)) {
    for (const std::string& name : ListFolder(folder + "/" + profile + "/" + run)) {
      if (!name.ends_with(ending)) continue;
      struct stat status = {};
      codec::OwnedFile file(
          codec::OpenInput(root.Below(profile + "/" + run + "/" + name), &status));
      if (file.fd() < 0) continue;
      outcome->files.push_back({name.substr(0, name.size() - ending.size()),
                                std::make_shared<const codec::OwnedFile>(std::move(file)),
                                static_cast<uint64_t>(status.st_size)});
    }
  }
}

}  // namespace

ExportOutcome ExportWindow(const ExportOrder& order, const RpcCall& call) {
  ExportOutcome outcome;
  ExportFolder folder;
  int pipes[2];
  Child child;
  child.changes_user = order.user && geteuid() == 0 && *order.user != 0;
  outcome.fault = folder.Make(child.changes_user ? order.user : std::nullopt);
  if (!outcome.fault.empty()) return outcome;
  child.words = {"gpuprof", "export", "-f", "xspace", "-o", folder.path()};
  if (order.window) {
    child.words.insert(child.words.end(), {"--window", Clock(order.window->first) + "-" +
                                                           Clock(order.window->second)});
  }
  child.words.insert(child.words.end(), {"--", order.bundle});
  for (std::string& word : child.words) child.arguments.push_back(word.data());
  child.arguments.push_back(nullptr);
  if (child.changes_user) {
    child.user = *order.user;
    passwd entry, *found = nullptr;
    char room[4096];
    getpwuid_r(child.user, &entry, room, sizeof room, &found);
    child.group = found == nullptr ? static_cast<gid_t>(child.user) : entry.pw_gid;
  }
  child.most_bytes = order.most_bytes;
  const codec::OwnedFile null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.fd() < 0 || pipe2(pipes, O_CLOEXEC) != 0) {
    outcome.fault = std::string("an export cannot be started: ") + std::strerror(errno);
    return outcome;
  }
  const codec::OwnedFile reading(pipes[0]);
  codec::OwnedFile writing(pipes[1]);
  child.null = null.fd();
  child.errors = writing.fd();
  const pid_t pid = fork();
  if (pid == 0) child.Become();
  writing.Close();
  if (pid < 0) {
    outcome.fault = std::string("an export cannot be started: ") + std::strerror(errno);
    return outcome;
  }
  std::string said;
  outcome.fault = Attend(reading.fd(), order, call, &said);
  if (!outcome.fault.empty()) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  outcome.said = LinesOf(said);
  if (!outcome.fault.empty()) return outcome;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  // What could be read of a damaged bundle was written.
  if (code == kExitOk || code == kExitUnreadable) Collect(folder.path(), &outcome);
  if (!outcome.files.empty()) return outcome;
  outcome.fault = outcome.said.empty() ? "the export of the trace failed" : outcome.said.back();
  return outcome;
}

}  // namespace gpuprof::launcher
