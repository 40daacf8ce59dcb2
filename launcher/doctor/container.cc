// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See container.h.

#include "launcher/doctor/container.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "launcher/base/read_file.h"
#include "launcher/base/text.h"
#include "launcher/base/values.h"

namespace gpuprof::launcher {
namespace {

using Level = Check::Level;

// Docker's default, which is too little for the workers of most trainings.
constexpr uint64_t kLittleSharedMemory = uint64_t{64} << 20;

std::string FirstLine(const std::string& path) {
  const std::string text = ReadFile(path).value_or("");
  return text.substr(0, text.find('\n'));
}

std::string FieldOf(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name + ":\t");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 3;
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::vector<std::string> Signs() {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  std::vector<std::string> signs;
  if (access("/.dockerenv", F_OK) == 0) signs.emplace_back("Docker");
  if (access("/run/.containerenv", F_OK) == 0) signs.emplace_back("Podman");
  if (is_set("KUBERNETES_SERVICE_HOST")) signs.emplace_back("Kubernetes");
  if (is_set("SINGULARITY_NAME") || is_set("APPTAINER_NAME")) signs.emplace_back("Apptainer");
  return signs;
}

// Tries in a child what the recorder's threads do (inject/private_files.h).
bool MayLeaveFiles() {
  const pid_t child = fork();
  if (child == 0) {
    // Only an unshared table shows whether it is allowed: a child has one of its own already.
    const bool may = unshare(CLONE_FILES) == 0 || syscall(SYS_close_range, ~0u, ~0u, 2u) == 0;
    _exit(may ? 0 : 1);
  }
  int status = 0;
  return child < 0 || waitpid(child, &status, 0) != child || status == 0;
}

bool Has(const ContainerFacts& facts, int capability) {
  return (facts.capabilities >> capability & 1) != 0;
}

// Returns the words for those of Docker and Kubernetes that may be here.
std::string Remedy(const ContainerFacts& facts, const std::string& docker, const std::string& pod) {
  const bool is_pod =
      std::find(facts.signs.begin(), facts.signs.end(), "Kubernetes") != facts.signs.end();
  if (is_pod) return "in the pod: " + pod;
  return "docker run " + docker + (facts.signs.empty() ? ", or in a pod: " + pod : "");
}

Check CheckPlace(const ContainerFacts& facts) {
  const std::string where =
      facts.signs.empty() ? "none seen"
                          : Join(", ", facts.signs.data(), facts.signs.data() + facts.signs.size());
  const std::string filter =
      facts.seccomp == "2" ? "a seccomp filter is active" : "no seccomp filter";
  const bool limited = !facts.memory_limit.empty() && facts.memory_limit != "max";
  const std::string memory =
      limited ? "; memory limit of the control group " +
                    FormatBytes(std::strtoull(facts.memory_limit.c_str(), nullptr, 10))
              : "";
  return {"container", Level::kInfo,
          where + "; " + filter +
              (facts.is_user_namespace ? "; its users are others outside (rootless)" : "") + memory,
          ""};
}

}  // namespace

ContainerFacts ReadContainerFacts() {
  const std::string status = ReadFile("/proc/self/status").value_or("");
  ContainerFacts facts;
  facts.signs = Signs();
  facts.seccomp = FieldOf(status, "Seccomp");
  facts.capabilities = std::strtoull(FieldOf(status, "CapEff").c_str(), nullptr, 16);
  const std::vector<std::string> map = Split(FirstLine("/proc/self/uid_map"), ' ');
  facts.is_user_namespace = !map.empty() && map.back() != "4294967295";
  struct statvfs system = {};
  if (statvfs("/", &system) == 0) facts.can_write_root = (system.f_flag & ST_RDONLY) == 0;
  if (statvfs("/dev/shm", &system) == 0)
    facts.shared_memory_bytes = static_cast<uint64_t>(system.f_blocks) * system.f_frsize;
  facts.can_leave_files = MayLeaveFiles();
  facts.ptrace_scope = FirstLine("/proc/sys/kernel/yama/ptrace_scope");
  facts.memory_limit = FirstLine("/sys/fs/cgroup/memory.max");
  return facts;
}

std::vector<Check> ContainerChecks(const ContainerFacts& facts) {
  std::vector<Check> checks;
  const std::string yama = facts.ptrace_scope.empty()
                               ? "no Yama: processes of the same user may be traced"
                               : "kernel.yama.ptrace_scope is " + facts.ptrace_scope;
  checks.push_back({"ptrace", Level::kInfo,
                    yama +
                        (Has(facts, CAP_SYS_PTRACE) ? "; CAP_SYS_PTRACE is held"
                                                    : "; CAP_SYS_PTRACE is not held") +
                        " (recording does not need ptrace)",
                    ""});
  checks.push_back(CheckPlace(facts));
  if (!facts.can_write_root)
    checks.push_back({"root file system", Level::kInfo,
                      "read-only: a bundle needs a volume, and its path is given with -o DIR",
                      Remedy(facts, "-v \"$PWD/traces:/traces\"",
                             "volumes: [{name: traces, emptyDir: {}}], and volumeMounts: [{name: "
                             "traces, mountPath: /traces}]")});
  if (!facts.can_leave_files)
    checks.push_back(
        {"descriptors", Level::kWarn,
         "the system call filter forbids unshare and close_range: the program sees a few "
         "descriptors of the recorder",
         Remedy(facts, "--security-opt seccomp=unconfined (or a newer container runtime)",
                "securityContext: {seccompProfile: {type: Unconfined}}")});
  // The recorder does not use it; the program's loader workers do.
  if (!facts.signs.empty() && facts.shared_memory_bytes <= kLittleSharedMemory)
    checks.push_back({"/dev/shm", Level::kInfo,
                      facts.shared_memory_bytes == 0
                          ? "not mounted"
                          : FormatBytes(facts.shared_memory_bytes) +
                                ": workers of a DataLoader may need more (recording needs none)",
                      Remedy(facts, "--shm-size=8g",
                             "volumes: [{name: shm, emptyDir: {medium: Memory}}], and "
                             "volumeMounts: [{name: shm, mountPath: /dev/shm}]")});
  return checks;
}

}  // namespace gpuprof::launcher
