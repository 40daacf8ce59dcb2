// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See bundle.h.

#include "launcher/record/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

#include "launcher/base/read_file.h"
#include "launcher/base/version.h"
#include "proto/codec/process_alive.h"
#include "proto/codec/recover.h"
#include "proto/container.h"
#include "proto/contract.h"
#include "proto/schema.h"
#include "proto/secret_words.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

std::string Fix(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "name a directory you may write to with -o DIR";
    case EROFS:
      return "the file system is read-only; name another place with -o DIR";
    case ENOSPC:
    case EDQUOT:
      return "the disk or your quota is full; free some space or name another place with -o DIR";
    case ENOTDIR:
      return "a part of the path is a file; name another place with -o DIR";
    case ENAMETOOLONG:
      return "name a shorter path with -o DIR";
    default:
      return "name another place with -o DIR";
  }
}

std::string CannotWrite(const std::string& path, int error) {
  return "cannot write the bundle " + path + ": " + std::strerror(error) + "; " + Fix(error);
}

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.compare(0, 10, "model name") == 0 && colon != std::string::npos &&
        colon + 2 <= line.size())
      return line.substr(colon + 2);
  }
  return "";
}

// Returns the version in a line like "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05
// Tue ...": the first word of digits and dots.
std::string GpuDriver() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word) {
    const bool is_version = word.find_first_not_of("0123456789.") == std::string::npos &&
                            word.find('.') != std::string::npos;
    if (is_version) return word;
  }
  return "";
}

// The program's name is no secret; of the arguments the settings decide.
void AddCommand(const std::vector<std::string>& command, const Variables& settings,
                proto::Bundle* bundle) {
  const auto found = settings.find(proto::kEnvArguments);
  const std::string how = found == settings.end() ? proto::kArgumentsMasked : found->second;
  proto::SecretMask mask;
  for (const std::string& word : command) {
    if (bundle->command_size() == 0 || how == proto::kArgumentsAll) {
      bundle->add_command(word);
    } else if (how != proto::kArgumentsNone) {
      std::string* masked = bundle->add_command();
      mask.Next(word.data(), word.size(),
                [masked](const char* text, size_t bytes) { masked->append(text, bytes); });
    }
  }
}

void Finish(const ProcessFiles& process, int status, codec::LockWait* wait, FinishReport* report) {
  const codec::RecoverResult result = codec::Recover(process.stem, status, wait);
  if (!result.ok) {
    report->failures.push_back(process.stem + ": " + result.error);
  } else {
    ++report->finished;
  }
}

void SleepMs(long milliseconds) {
  const timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  nanosleep(&pause, nullptr);
}

}  // namespace

std::string AbsolutePath(const std::string& path) {
  std::string absolute = path;
  char here[PATH_MAX];
  if (path.empty() || path[0] != '/') {
    if (getcwd(here, sizeof here) == nullptr) return "";
    absolute = std::string(here) + "/" + path;
  }
  while (absolute.size() > 1 && absolute.back() == '/') absolute.pop_back();
  return absolute;
}

std::string BundleDirectory::Make(const std::string& path, TrustedFolder::Last last, int* error) {
  path_ = AbsolutePath(path);
  *error = 0;
  if (path_.empty()) {
    return std::string("the working directory cannot be named: ") + std::strerror(errno) +
           "; name the bundle with an absolute path: -o /DIR";
  }
  // The injected object keeps it in a fixed field.
  if (path_.size() >= 512) {
    return "the bundle's path has " + std::to_string(path_.size()) +
           " bytes, more than 511; name a shorter one with -o DIR";
  }
  *error = folder_.Make(path_, last);
  std::string fault;
  struct stat info;
  if (*error == ELOOP) {
    fault = path_ + " is a link; name the directory itself with -o DIR";
  } else if (*error == ENOTDIR && lstat(path_.c_str(), &info) == 0) {
    fault = path_ + " is not a directory; name a new or empty one with -o DIR";
  } else if (*error != 0) {
    fault = CannotWrite(path_, *error);
  } else {
    fault = folder_.Claim(path_);
  }
  if (!fault.empty()) folder_.RemoveMade();
  return fault;
}

std::string BundleDirectory::OpenShared(const std::string& path) {
  int error = 0;
  return Make(path, TrustedFolder::Last::kAny, &error);
}

std::string BundleDirectory::OpenOwn(const std::string& path, bool* is_taken) {
  int error = 0;
  const std::string fault = Make(path, TrustedFolder::Last::kNew, &error);
  *is_taken = error == EEXIST;
  return fault;
}

std::string BundleDirectory::Open(const std::string& path, bool* is_taken) {
  const std::string fault = OpenShared(path);
  if (!fault.empty()) return fault;
  if (!folder_.List().empty()) {
    if (is_taken != nullptr) *is_taken = true;
    return path_ +
           " is not empty, and a bundle is never written over another; name a new or empty "
           "directory with -o DIR, or remove this one";
  }
  return "";
}

std::string BundleDirectory::OpenNew(const std::string& name) {
  constexpr int kMostTries = 16;
  int error = 0;
  std::string fault = Make(name, TrustedFolder::Last::kNew, &error);
  for (int i = 0; i < kMostTries && error == EEXIST; ++i)
    fault = Make(name + "-" + RandomLetters(), TrustedFolder::Last::kNew, &error);
  return fault;
}

std::string BundleDirectory::Describe(const proto::Bundle& bundle) const {
  const int error = folder_.Replace(proto::kBundleFile, bundle.SerializeAsString());
  return error == 0 ? "" : CannotWrite(path_, error);
}

void BundleDirectory::RemoveIfUnused() {
  const std::vector<std::string> names = folder_.List();
  if (names.size() == 1 && names[0] == proto::kBundleFile) folder_.Remove(proto::kBundleFile);
  folder_.RemoveMade();
}

namespace {

std::string BundleNameOf(const std::string& program) {
  std::string name = program.substr(0, 64);
  for (char& c : name) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '+';
    if (!plain) c = '_';
  }
  return "gpuprof-" + name + "-";
}

}  // namespace

std::string JobBundleName(const std::string& program, const std::string& job) {
  return BundleNameOf(program) + job;
}

std::string DefaultBundleName(const std::string& program, int64_t seconds, int32_t pid) {
  const time_t time = seconds;
  tm local = {};
  localtime_r(&time, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  return BundleNameOf(program) + stamp + "-" + std::to_string(pid);
}

std::string RandomLetters() {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz234567";
  unsigned char bytes[6] = {};
  if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof bytes)) {
    const uint64_t now = proto::ReadClockNs(CLOCK_MONOTONIC);
    std::memcpy(bytes, &now, sizeof bytes);
  }
  std::string letters;
  for (const unsigned char byte : bytes) letters += kLetters[byte % 32];
  return letters;
}

proto::Bundle DescribeStart(const std::vector<std::string>& command, const Variables& settings) {
  proto::Bundle bundle;
  utsname system = {};
  uname(&system);
  char here[PATH_MAX];
  bundle.set_format_major(proto::kFormatMajor);
  bundle.set_format_minor(proto::kFormatMinor);
  bundle.set_writer_version(std::string("gpuprof ") + kVersion);
  AddCommand(command, settings, &bundle);
  bundle.set_working_directory(getcwd(here, sizeof here) != nullptr ? here : "");
  bundle.set_host(system.nodename);
  bundle.set_started_realtime_ns(proto::ReadClockNs(CLOCK_REALTIME));
  for (const auto& [name, value] : settings) bundle.add_setting(name + "=" + value);
  bundle.set_kernel(std::string(system.sysname) + " " + system.release);
  bundle.set_cpu_model(CpuModel());
  bundle.set_gpu_driver(GpuDriver());
  return bundle;
}

bool ParseProcessFile(const std::string& name, ProcessFiles* process) {
  const size_t dash = name.find('-');
  const size_t dot = name.find('.', dash == std::string::npos ? 0 : dash);
  if (name.empty() || name[0] != 'p' || dash == std::string::npos || dot == std::string::npos)
    return false;
  const char* text = name.data();
  const auto pid = std::from_chars(text + 1, text + dash, process->pid);
  const auto start = std::from_chars(text + dash + 1, text + dot, process->start_id, 16);
  if (pid.ec != std::errc() || pid.ptr != text + dash || start.ec != std::errc() ||
      start.ptr != text + dot)
    return false;
  const std::string suffix = name.substr(dot);
  process->has_trace = suffix == proto::kTraceSuffix;
  process->has_ring = suffix == proto::kRingSuffix;
  process->has_segments = suffix.ends_with(proto::kSegmentSuffix);
  process->stem = name.substr(0, dot);
  return process->pid > 0 && (process->has_trace || process->has_ring || process->has_segments);
}

std::vector<ProcessFiles> ListProcesses(const std::string& bundle) {
  std::vector<ProcessFiles> processes;
  for (const std::string& name : ListFolder(bundle)) {  // sorted: a process's files stand together
    ProcessFiles process;
    if (!ParseProcessFile(name, &process)) continue;
    process.stem = bundle + "/" + process.stem;
    if (!processes.empty() && processes.back().stem == process.stem) {
      processes.back().has_trace |= process.has_trace;
      processes.back().has_ring |= process.has_ring;
      processes.back().has_segments |= process.has_segments;
    } else {
      processes.push_back(process);
    }
  }
  return processes;
}

bool IsPartName(const std::string& folder) {
  return folder.starts_with(proto::kRankPrefix) || folder.starts_with(proto::kWorkerPrefix);
}

std::vector<std::string> ListParts(const std::string& bundle) {
  std::vector<std::string> parts;
  for (const std::string& name : ListFolder(bundle)) {
    struct stat info;
    if (IsPartName(name) && lstat((bundle + "/" + name).c_str(), &info) == 0 &&
        S_ISDIR(info.st_mode))
      parts.push_back(name);
  }
  return parts;
}

bool HasSamplerTrace(const std::string& bundle, int32_t pid) {
  const std::string begin = proto::kSamplerPrefix + std::to_string(pid) + "-";
  for (const std::string& name : ListFolder(bundle)) {
    if (name.compare(0, begin.size(), begin) == 0) return true;
  }
  return false;
}

FinishReport FinishProcesses(const std::string& bundle, int32_t root, int root_status,
                             int grace_ms) {
  FinishReport report;
  codec::LockWait wait;
  constexpr int kStepMs = 10;
  // The last image of the command (it may have called exec) is the one that ended with its status.
  uint64_t root_start = 0;
  for (const ProcessFiles& process : ListProcesses(bundle)) {
    if (root > 0 && process.pid == root) root_start = std::max(root_start, process.start_id);
  }
  for (int waited = 0;; waited += kStepMs) {
    report.alive.clear();
    for (const ProcessFiles& process : ListProcesses(bundle)) {
      if (!process.has_ring && !process.has_segments) continue;
      const bool is_root = process.pid == root;
      int32_t number_here = process.pid;
      if (!is_root && codec::FindRingUse(process.pid, process.start_id, true, &number_here) !=
                          codec::RingUse::kGone) {
        report.alive.push_back(number_here);
      } else {
        Finish(process, is_root && process.start_id == root_start ? root_status : -1, &wait,
               &report);
      }
    }
    if (report.alive.empty() || waited >= grace_ms || !report.failures.empty()) return report;
    SleepMs(kStepMs);
  }
}

void TakeUnrecorded(const TrustedFolder& folder, proto::Bundle* bundle) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int file = openat(folder.fd(), proto::kUnrecordedFile, kFlags);
  if (file < 0) return;
  // The recorder stops at a mebibyte.
  std::string bytes((size_t{2} << 20), 0);
  const ssize_t size = read(file, bytes.data(), bytes.size());
  close(file);
  proto::Bundle more;
  if (size > 0) more.ParsePartialFromArray(bytes.data(), static_cast<int>(size));
  bundle->mutable_unrecorded_program()->MergeFrom(more.unrecorded_program());
  folder.Remove(proto::kUnrecordedFile);
}

uint64_t BundleBytes(const std::string& bundle) {
  uint64_t bytes = 0;
  for (const std::string& name : ListFolder(bundle)) {
    struct stat info;
    if (stat((bundle + "/" + name).c_str(), &info) == 0 && S_ISREG(info.st_mode))
      bytes += static_cast<uint64_t>(info.st_size);
  }
  return bytes;
}

}  // namespace gpuprof::launcher
