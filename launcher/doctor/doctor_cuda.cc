// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See doctor_cuda.h.

#include "launcher/doctor/doctor_cuda.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <utility>

#include "launcher/base/read_file.h"
#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/doctor/doctor_nvml.h"
#include "launcher/gpu/counters.h"
#include "launcher/gpu/cupti_abi.h"
#include "launcher/gpu/cupti_folders.h"
#include "launcher/record/bundle.h"
#include "proto/cupti_functions.h"
#include "proto/library_file.h"

namespace gpuprof::launcher {
namespace {

using Level = Check::Level;

// cuptiGetVersion of CUDA 11.8, the oldest whose records are known.
constexpr uint32_t kOldestCupti = 18;
constexpr int kCapSysAdmin = 21, kCapPerfmon = 38;

std::string ReadAll(const std::string& path) { return ReadFile(path).value_or(""); }

DriverSigns LookForDriver() {
  DriverSigns signs;
  const std::string version = ReadAll("/proc/driver/nvidia/version");
  signs.version = version.substr(0, version.find('\n'));
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("nvidia", 0) == 0) signs.devices.push_back(name);
  }
  signs.in_container = access("/.dockerenv", F_OK) == 0 ||
                       access("/run/.containerenv", F_OK) == 0 ||
                       getenv("KUBERNETES_SERVICE_HOST") != nullptr;
  return signs;
}

uint64_t Bounding() {
  const std::string status = ReadAll("/proc/self/status");
  const size_t at = status.find("CapBnd:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 7, nullptr, 16);
}

// What `work` writes, in a process of its own, as a broken library may do anything. The process
// stands in /: an empty part of LD_LIBRARY_PATH means its working directory. False: it did not end
// well, or not in time.
bool InChild(const std::function<std::string()>& work, std::string* text) {
  constexpr unsigned kLimitSeconds = 10;
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    // What libraries say as they are loaded is not ours to say.
    const int nowhere = open("/dev/null", O_WRONLY);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
    alarm(kLimitSeconds);
    if (chdir("/") != 0) _exit(1);
    const std::string result = work();
    const ssize_t written = write(ends[1], result.data(), result.size());
    _exit(!result.empty() && written == static_cast<ssize_t>(result.size()) ? 0 : 1);
  }
  close(ends[1]);
  char buffer[4096];
  for (ssize_t got; child > 0 && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text->append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

struct Probe {
  std::string path;
  uint32_t api_version = 0;  // what cuptiGetVersion says, or nothing
  std::string missing;       // the first needed function that is not there
  std::string missing_pm;    // the same of PM sampling
};

// "VERSION MISSING MISSING_PM PATH", MISSING "-" for none; empty where it cannot be loaded.
std::string AskLibrary(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return "";
  link_map* map = nullptr;
  dlinfo(handle, RTLD_DI_LINKMAP, &map);
  std::string missing = "-", missing_pm = "-";
  for (const char* needed : proto::kNeededCuptiFunctions) {
    if (missing == "-" && dlsym(handle, needed) == nullptr) missing = needed;
  }
  for (const char* needed : cupti::kFunctionNames) {
    if (missing_pm == "-" && dlsym(handle, needed) == nullptr) missing_pm = needed;
  }
  uint32_t version = 0;
  const auto get = reinterpret_cast<int (*)(uint32_t*)>(dlsym(handle, "cuptiGetVersion"));
  if (get != nullptr && get(&version) != 0) version = 0;
  return std::to_string(version) + " " + missing + " " + missing_pm + " " +
         (map != nullptr ? map->l_name : name);
}

bool ProbeLibrary(const std::string& name, Probe* probe) {
  std::string text;
  if (!InChild([&] { return AskLibrary(name); }, &text)) return false;
  std::istringstream words(text);
  words >> probe->api_version >> probe->missing >> probe->missing_pm;
  for (std::string* missing : {&probe->missing, &probe->missing_pm}) {
    if (*missing == "-") missing->clear();
  }
  words.ignore(1);
  std::getline(words, probe->path);
  return !probe->path.empty();
}

// The first that loads, of those where a library of the recorder's may be.
class CuptiSearch {
 public:
  Check Look(const Variables& environment) {
    EachCuptiFolder(
        environment, [this](const CuptiFolder& folder) { return In(folder.path); }, &searched_);
    return Found();
  }
  const Probe& probe() const { return probe_; }

 private:
  // `folder` ends in a slash; empty: by name alone.
  bool In(const std::string& folder) {
    for (const char* name : kCuptiNames) {
      const std::string path = folder + name;
      if (folder.empty() ? unsound_names_.count(name) != 0 : !IsSound(path, name)) continue;
      if (ProbeLibrary(path, &probe_)) return true;
    }
    return false;
  }

  bool IsSound(const std::string& path, const char* name) {
    if (access(path.c_str(), F_OK) != 0) return false;
    const char* fault = proto::FaultOfLibrary(path.c_str());
    if (fault == nullptr) return true;
    unsound_names_.insert(name);
    const std::string words = path + " " + fault;
    // One folder may have several names.
    if (std::find(passed_over_.begin(), passed_over_.end(), words) == passed_over_.end())
      passed_over_.push_back(words);
    return false;
  }

  Check Found() const {
    return CheckCuptiLibrary(probe_.path, probe_.api_version, searched_, probe_.missing,
                             passed_over_);
  }

  Probe probe_;
  std::vector<std::string> searched_, passed_over_;
  std::set<std::string> unsound_names_;
};

bool NamesOtherTool(const std::string& value) {
  return !value.empty() && value != "none" &&
         value.find("libgpuprof_inject.so") == std::string::npos;
}

// The entry's name, "-" where the tool has none of it; empty where it does not load.
std::string AskTool(const std::string& path, const char* entry) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return "";
  return dlsym(handle, entry) != nullptr ? entry : "-";
}

// By variable, what `gpuprof run` would find wrong with the tool that it names.
Variables InjectionFaults(const Variables& environment) {
  constexpr std::pair<const char*, const char*> kEntries[] = {
      {"CUDA_INJECTION64_PATH", "InitializeInjection"},
      {"NVTX_INJECTION64_PATH", "InitializeInjectionNvtx2"}};
  Variables faults;
  for (const auto& asked : kEntries) {
    const char* const variable = asked.first;
    const char* const entry = asked.second;
    const auto found = environment.find(variable);
    if (found == environment.end() || !NamesOtherTool(found->second)) continue;
    const bool is_path = found->second.find('/') != std::string::npos;
    const std::string path = is_path ? AbsolutePath(found->second) : found->second;
    const char* fault = is_path ? proto::FaultOfLibrary(path.c_str()) : nullptr;
    std::string text;
    if (is_path && access(path.c_str(), F_OK) != 0) {
      faults[variable] = "the file does not exist";
    } else if (fault != nullptr) {
      faults[variable] = std::string("it ") + fault;
    } else if (!InChild([&] { return AskTool(path, entry); }, &text)) {
      faults[variable] = "it does not load";
    } else if (text != entry) {
      faults[variable] = std::string("it has no ") + entry;
    }
  }
  return faults;
}

}  // namespace

Check CheckDriver(const DriverSigns& signs) {
  const bool has_device = std::any_of(
      signs.devices.begin(), signs.devices.end(),
      [](const std::string& name) { return name.size() > 6 && name[6] >= '0' && name[6] <= '9'; });
  if (signs.version.empty() && !has_device) {
    return {"GPU driver", Level::kInfo,
            "no NVIDIA driver is loaded; the host side is still recorded", ""};
  }
  if (!has_device) {
    return {"GPU driver", Level::kWarn, signs.version + ", but /dev/nvidia0 is missing",
            signs.in_container ? "start the container with its GPUs: docker run --gpus all, or in "
                                 "Kubernetes a limit of nvidia.com/gpu"
                               : "run nvidia-smi once as root; it creates the device files"};
  }
  const std::string version = signs.version.empty() ? "device files only" : signs.version;
  return {"GPU driver", Level::kOk, version, ""};
}

CounterRight RightToCounters(const std::string& parameters, uint64_t bounding, bool is_root) {
  const bool told = parameters.find("RmProfilingAdminOnly") != std::string::npos ||
                    parameters.find("RestrictProfilingToAdminUsers") != std::string::npos;
  if (!told) return CounterRight::kNotTold;
  const bool restricted = parameters.find("RmProfilingAdminOnly: 1") != std::string::npos ||
                          parameters.find("RestrictProfilingToAdminUsers: 1") != std::string::npos;
  const uint64_t enough = uint64_t{1} << kCapSysAdmin | uint64_t{1} << kCapPerfmon;
  return !restricted || (is_root && (bounding & enough) != 0) ? CounterRight::kGiven
                                                              : CounterRight::kRefused;
}

Check CheckCounters(const std::string& parameters, uint64_t bounding, bool is_root) {
  const CounterRight right = RightToCounters(parameters, bounding, is_root);
  if (right == CounterRight::kNotTold)
    return {"GPU counters", Level::kInfo, "whether they are restricted is not known", ""};
  if (right == CounterRight::kGiven)
    return {"GPU counters", Level::kOk, "permitted (kernels and copies need no permission)", ""};
  return {"GPU counters", Level::kInfo,
          "only for administrators; kernels and copies are still recorded. To permit counters for "
          "all users: "
          "the driver's option NVreg_RestrictProfilingToAdminUsers=0, or a container with "
          "--cap-add=SYS_ADMIN (from driver 565 on, PERFMON)",
          ""};
}

Check CheckPmSampling(const std::string& path, uint32_t api_version, const std::string& missing,
                      CounterRight right) {
  const char* const name = "GPU PM sampling";
  if (path.empty())
    return {name, Level::kInfo, "no libcupti was found; --gpu-pm uses the program's own libcupti",
            ""};
  const std::string library =
      path + (api_version != 0 ? ", API version " + std::to_string(api_version) : "");
  if (!missing.empty())
    return {name, Level::kInfo,
            library + " has no " + missing +
                ": --gpu-pm needs CUPTI of CUDA 12.6 or newer; set CUDA_HOME to a newer toolkit",
            ""};
  if (right == CounterRight::kNotTold)
    return {name, Level::kInfo, library + "; whether counters are restricted is not known", ""};
  if (right == CounterRight::kRefused)
    return {name, Level::kInfo,
            library + ", but this user may not read the counters: " + kCountersFix, ""};
  return {name, Level::kOk, library + "; --gpu-pm=1ms works if no other tool uses the counters",
          ""};
}

Check CheckInjection(const Variables& environment, const Variables& faults) {
  std::string others, broken, unset;
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const auto found = environment.find(variable);
    if (found == environment.end() || !NamesOtherTool(found->second)) continue;
    const auto fault = faults.find(variable);
    std::string& to = fault == faults.end() ? others : broken;
    to += (to.empty() ? "" : "; ") + std::string(variable) + "=" + found->second;
    if (fault == faults.end()) continue;
    broken += ": " + fault->second;
    unset += (unset.empty() ? "" : " and ") + std::string(variable);
  }
  std::string collector;
  if (const auto found = environment.find("INTEL_LIBITTNOTIFY64");
      found != environment.end() && !found->second.empty() &&
      found->second.find("libgpuprof_inject.so") == std::string::npos)
    collector = "INTEL_LIBITTNOTIFY64=" + found->second +
                ": that collector receives ITT's tasks, so gpuprof does not record them";
  if (!others.empty())
    others += "; it is called after gpuprof. If it holds CUPTI, gpuprof records only the host side";
  if (!broken.empty()) broken += "; programs go on without it";
  std::string all;
  for (const std::string& part : {broken, others, collector})
    all += (all.empty() || part.empty() ? "" : ". ") + part;
  if (!broken.empty()) return {"GPU injection", Level::kWarn, all, "correct or unset " + unset};
  if (!all.empty()) return {"GPU injection", Level::kInfo, all, ""};
  return {"GPU injection", Level::kOk, "no other tool has asked for it", ""};
}

Check CheckCuptiLibrary(const std::string& path, uint32_t api_version,
                        const std::vector<std::string>& searched, const std::string& missing,
                        const std::vector<std::string>& passed_over) {
  std::string over, where;
  for (const std::string& file : passed_over) over += (over.empty() ? "" : "; ") + file;
  for (const std::string& folder : searched) where += (where.empty() ? "" : ", ") + folder;
  const std::string version =
      api_version != 0 ? ", API version " + std::to_string(api_version) : "";
  if (path.empty()) {
    const std::string none = "none in " + where +
                             "; a program's own libcupti, next to its libcudart or in its Python "
                             "wheels, is found when the program runs. Else: pip install "
                             "nvidia-cuda-cupti, or the toolkit's package cuda-cupti";
    if (over.empty()) return {"CUPTI", Level::kInfo, none, ""};
    return {"CUPTI", Level::kWarn, over + "; " + none, "reinstall that library"};
  }
  if (!missing.empty() || (api_version != 0 && api_version < kOldestCupti)) {
    const std::string lacks = missing.empty() ? "" : " has no " + missing;
    return {"CUPTI", Level::kWarn,
            path + lacks + version + (over.empty() ? "" : "; passed over: " + over),
            "gpuprof needs CUPTI of CUDA 11.8 (API version 18) or newer: update the toolkit, or "
            "set CUDA_HOME to a newer one"};
  }
  if (!over.empty()) {
    return {"CUPTI", Level::kWarn, path + version + "; passed over: " + over,
            "reinstall that library, or remove it"};
  }
  return {"CUPTI", Level::kOk, path + version, ""};
}

std::vector<Check> CudaChecks(const Variables& environment) {
  const std::string parameters = ReadAll("/proc/driver/nvidia/params");
  const uint64_t bounding = Bounding();
  const bool is_root = geteuid() == 0;
  CuptiSearch search;
  const Check cupti = search.Look(environment);
  const Probe& probe = search.probe();
  return {CheckDriver(LookForDriver()),
          cupti,
          CheckInjection(environment, InjectionFaults(environment)),
          NvmlCheck(),
          CheckCounters(parameters, bounding, is_root),
          CheckPmSampling(probe.path, probe.api_version, probe.missing_pm,
                          RightToCounters(parameters, bounding, is_root))};
}

}  // namespace gpuprof::launcher
