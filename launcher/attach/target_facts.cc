// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/target_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "analysis/analysis.h"
#include "launcher/base/read_file.h"
#include "launcher/record/elf_file.h"
#include "launcher/record/program.h"
#include "proto/contract.h"
#include "proto/secret_words.h"
#include "proto/watching_tools.h"

namespace gpuprof::launcher {
namespace {

std::string Folder(int32_t pid) { return "/proc/" + std::to_string(pid); }

std::string ReadAll(const std::string& path) { return ReadFile(path).value_or(""); }

std::string Link(const std::string& path) {
  char target[4096];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  return length <= 0 ? "" : std::string(target, static_cast<size_t>(length));
}

std::string StatusText(const std::string& status, const std::string& key) {
  size_t at = status.starts_with(key + ":") ? 0 : status.find("\n" + key + ":");
  if (at == std::string::npos) return "";
  at = status.find(':', at) + 1;
  const size_t end = status.find('\n', at);
  const size_t begin = status.find_first_not_of(" \t", at);
  return begin >= end ? "" : status.substr(begin, end - begin);
}

int64_t Number(const std::string& text, int64_t missing) {
  return text.empty() ? missing : std::strtoll(text.c_str(), nullptr, 10);
}

std::string LastWord(const std::string& text) {
  const size_t at = text.find_last_of(" \t");
  return at == std::string::npos ? text : text.substr(at + 1);
}

std::string UserName(uid_t user) {
  const passwd* owner = getpwuid(user);
  return owner == nullptr ? std::to_string(user) : owner->pw_name;
}

// Filters of system calls, of the process and of the first process of its pid namespace. More than
// those of its container are the program's own.
bool HasOwnFilters(int32_t pid, const std::string& status) {
  const int64_t mode = Number(StatusText(status, "Seccomp"), 0);
  const int64_t filters = Number(StatusText(status, "Seccomp_filters"), mode == 0 ? 0 : 1);
  if (filters <= 0) return false;
  const std::string space = Link(Folder(pid) + "/ns/pid");
  std::string above = status;
  for (int32_t at = pid; at > 0;) {
    if (Number(LastWord(StatusText(above, "NSpid")), 0) == 1) {
      const int64_t first_mode = Number(StatusText(above, "Seccomp"), 0);
      return filters > Number(StatusText(above, "Seccomp_filters"), first_mode == 0 ? 0 : 1);
    }
    at = static_cast<int32_t>(Number(StatusText(above, "PPid"), 0));
    if (at <= 0 || Link(Folder(at) + "/ns/pid") != space) return true;
    above = ReadAll(Folder(at) + "/status");
  }
  return true;
}

double AgeOf(int32_t pid) {
  // Field 22: ticks since the machine began. The name before may hold anything, ')' too.
  const std::string stat = ReadAll(Folder(pid) + "/stat");
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(end + 1));
  std::string field;
  for (int i = 3; i <= 22 && fields >> field; ++i) continue;
  timespec now;
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 -
         static_cast<double>(Number(field, 0)) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void LookAtMap(const std::string& map, TargetFacts* facts, bool* has_watcher) {
  const auto has = [&map](const char* part) { return map.find(part) != std::string::npos; };
  facts->has_recorder = has(proto::kInjectObject);
  facts->has_cuda = has("/libcuda.so");
  facts->has_torch = has("/libtorch_cpu.so");
  facts->has_python = has("/libpython3") || facts->program.starts_with("python");
  for (const char* runtime : proto::kSanitizerRuntimes) *has_watcher |= has(runtime);
}

// Sets the refusal, unless there is one.
void Refuse(TargetFacts* facts, const char* word, const std::string& reason) {
  if (!facts->refusal.empty()) return;
  facts->refusal = word;
  facts->reason = reason;
}

std::string RightsReason(const TargetFacts& facts) {
  if (facts.user != geteuid() && geteuid() != 0)
    return "it belongs to " + UserName(facts.user) + "; attach as that user or as root";
  const std::string scope = ReadAll("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope.empty() && scope[0] != '0' && geteuid() != 0) {
    return "this system lets processes trace their children alone (ptrace_scope is " +
           scope.substr(0, 1) + "); attach as root, or set kernel.yama.ptrace_scope=0";
  }
  if (geteuid() == 0)
    return "this process has no right to trace it (CAP_SYS_PTRACE); run gpuprof outside the "
           "container, or start the container with --cap-add=SYS_PTRACE";
  return "its program has more rights than its user, or forbids to be traced; attach as root";
}

bool MayTrace(int32_t pid) {
  // The kernel asks for the same right here as for ptrace.
  const int memory = open((Folder(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory >= 0) close(memory);
  return memory >= 0;
}

void LookAtProgram(int32_t pid, TargetFacts* facts) {
  ElfFile elf;
  if (!ReadElf(Folder(pid) + "/exe", &elf).empty() || !elf.is_elf) return;
  if (!elf.is_64_bit || elf.machine != OwnMachine())
    return Refuse(facts, "machine", "it is a program for another machine than gpuprof");
  if (elf.interpreter.empty()) {
    return Refuse(facts, "static",
                  "it is linked statically, so it can load nothing; link it dynamically");
  }
  const std::string loader = BaseName(elf.interpreter);
  for (const char* known : proto::kGlibcLoaders)
    if (loader.starts_with(known)) return;
  Refuse(facts, "musl",
         "its C library is not glibc (its loader is " + analysis::OneLine(loader) +
             "); run it on a system with glibc");
}

}  // namespace

int64_t StatusNumber(int32_t pid, const std::string& key) {
  return Number(StatusText(ReadAll(Folder(pid) + "/status"), key), -1);
}

bool SeesSameFile(int32_t pid, const std::string& path) {
  struct stat ours, theirs;
  return stat(path.c_str(), &ours) == 0 &&
         stat((Folder(pid) + "/root" + path).c_str(), &theirs) == 0 &&
         ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

TargetFacts LookAtTarget(int32_t pid) {
  TargetFacts facts;
  facts.pid = pid;
  const std::string status = ReadAll(Folder(pid) + "/status");
  if (status.empty()) {
    Refuse(&facts, "ended", "no process has this number; 'gpuprof ps --why' lists those that run");
    return facts;
  }
  const auto thread_of = static_cast<int32_t>(Number(StatusText(status, "Tgid"), pid));
  facts.inner_pid = static_cast<int32_t>(Number(LastWord(StatusText(status, "NSpid")), pid));
  facts.user = static_cast<uid_t>(Number(StatusText(status, "Uid"), 0));
  facts.program = BaseName(Link(Folder(pid) + "/exe"));
  if (facts.program.empty()) facts.program = StatusText(status, "Name");
  std::istringstream words(ReadAll(Folder(pid) + "/cmdline"));
  for (std::string word; std::getline(words, word, '\0');) facts.command.push_back(word);
  facts.age_s = AgeOf(pid);
  if (thread_of != pid) {
    Refuse(&facts, "ended",
           "this number is of a thread; name the process " + std::to_string(thread_of));
  }
  if (pid == getpid()) Refuse(&facts, "self", "it is gpuprof itself; name another process");
  if (StatusText(status, "VmSize").empty() && StatusText(status, "State")[0] != 'Z')
    Refuse(&facts, "kernel", "it is a thread of the kernel; name a program");
  const std::string state = StatusText(status, "State");
  if (state.starts_with("Z"))
    Refuse(&facts, "zombie", "it has ended, and its parent has not taken note yet");
  if (const int64_t tracer = Number(StatusText(status, "TracerPid"), 0); tracer != 0) {
    Refuse(&facts, "traced",
           analysis::OneLine(
               StatusText(ReadAll(Folder(static_cast<int32_t>(tracer)) + "/status"), "Name")) +
               " (process " + std::to_string(tracer) + ") traces it; end that first");
  }
  if (state.starts_with("T") || state.starts_with("t"))
    Refuse(&facts, "stopped",
           "it is stopped; continue it first (kill -CONT " + std::to_string(pid) + ")");
  if (facts.refusal.empty() && !MayTrace(pid)) Refuse(&facts, "rights", RightsReason(facts));
  if (!facts.refusal.empty()) return facts;
  LookAtProgram(pid, &facts);
  if (HasOwnFilters(pid, status)) {
    Refuse(&facts, "seccomp",
           "it filters its own system calls, and a call of gpuprof's could end it; start it with "
           "gpuprof run");
  }
  bool has_watcher = false;
  LookAtMap(ReadAll(Folder(pid) + "/maps"), &facts, &has_watcher);
  if (has_watcher) Refuse(&facts, "sanitizer", "a sanitizer watches its threads and its memory");
  facts.is_other_mount =
      Link(Folder(pid) + "/ns/mnt") != Link("/proc/self/ns/mnt") || !SeesSameFile(pid, "/proc");
  return facts;
}

std::string RestartLine(const TargetFacts& facts) {
  std::string line = "gpuprof run --";
  proto::SecretMask mask;
  bool is_program = true;
  for (const std::string& word : facts.command) {
    std::string shown;
    const auto put = [&shown](const char* part, size_t bytes) { shown.append(part, bytes); };
    is_program ? put(word.data(), word.size()) : mask.Next(word.data(), word.size(), put);
    is_program = false;
    line += " " + analysis::ShellWord(shown);
  }
  return line;
}

}  // namespace gpuprof::launcher
