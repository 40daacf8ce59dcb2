// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See doctor_cuda.h.

#include "launcher/doctor_cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "launcher/doctor_nvml.h"
#include "launcher/read_file.h"
#include "launcher/text.h"

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

// Loads a library in a process of its own, as a broken one may do anything. Its path and what
// cuptiGetVersion says, or nothing.
struct Probe {
  std::string path;
  uint32_t api_version = 0;
};

void ProbeInChild(const std::string& name, int out) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) _exit(1);
  link_map* map = nullptr;
  dlinfo(handle, RTLD_DI_LINKMAP, &map);
  uint32_t version = 0;
  const auto get = reinterpret_cast<int (*)(uint32_t*)>(dlsym(handle, "cuptiGetVersion"));
  if (get != nullptr && get(&version) != 0) version = 0;
  const std::string text =
      std::to_string(version) + " " + (map != nullptr ? map->l_name : name) + "\n";
  _exit(write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

bool ProbeLibrary(const std::string& name, Probe* probe) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) ProbeInChild(name, ends[1]);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; child > 0 && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = -1;
  if (child <= 0 || waitpid(child, &status, 0) != child || status != 0) return false;
  std::istringstream words(text);
  words >> probe->api_version;
  words.ignore(1);
  std::getline(words, probe->path);
  return !probe->path.empty();
}

Check LookForCupti(const Variables& environment) {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto home = environment.find(variable);
    if (home != environment.end() && !home->second.empty()) folders.push_back(home->second);
  }
  folders.push_back("/usr/local/cuda");
  Probe probe;
  const auto found = [&](const std::string& folder) {
    for (const char* soname :
         {"libcupti.so.14", "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"})
      if (ProbeLibrary(folder + soname, &probe)) return true;
    return false;
  };
  // In the order in which the recorder looks, but for the folder of a program's own runtime.
  std::vector<std::string> searched = {"the loader's folders"};
  if (found("")) return CheckCuptiLibrary(probe.path, probe.api_version, searched);
  for (const std::string& folder : folders) {
    for (const char* inside : {"/lib64/", "/lib/", "/extras/CUPTI/lib64/"}) {
      if (found(folder + inside)) return CheckCuptiLibrary(probe.path, probe.api_version, searched);
    }
    searched.push_back(folder);
  }
  return CheckCuptiLibrary("", 0, searched);
}

}  // namespace

Check CheckDriver(const DriverSigns& signs) {
  const bool has_device = std::any_of(
      signs.devices.begin(), signs.devices.end(),
      [](const std::string& name) { return name.size() > 6 && name[6] >= '0' && name[6] <= '9'; });
  if (signs.version.empty() && !has_device) {
    return {"GPU driver", Level::kInfo,
            "no NVIDIA driver is loaded; the host side is recorded all the same", ""};
  }
  if (!has_device) {
    return {"GPU driver", Level::kWarn, signs.version + "; but no /dev/nvidia0 is here",
            signs.in_container ? "start the container with its GPUs: docker run --gpus all, or in "
                                 "Kubernetes a limit of nvidia.com/gpu"
                               : "run nvidia-smi once as root: it makes the device files"};
  }
  const std::string version = signs.version.empty() ? "device files only" : signs.version;
  return {"GPU driver", Level::kOk, version, ""};
}

Check CheckCounters(const std::string& parameters, uint64_t bounding, bool is_root) {
  const bool told = parameters.find("RmProfilingAdminOnly") != std::string::npos ||
                    parameters.find("RestrictProfilingToAdminUsers") != std::string::npos;
  if (!told) return {"GPU counters", Level::kInfo, "whether they are restricted is not told", ""};
  const bool restricted = parameters.find("RmProfilingAdminOnly: 1") != std::string::npos ||
                          parameters.find("RestrictProfilingToAdminUsers: 1") != std::string::npos;
  const uint64_t enough = uint64_t{1} << kCapSysAdmin | uint64_t{1} << kCapPerfmon;
  if (!restricted || (is_root && (bounding & enough) != 0))
    return {"GPU counters", Level::kOk, "permitted (kernels and copies need no permission)", ""};
  return {"GPU counters", Level::kInfo,
          "for administrators alone; kernels and copies are recorded all the same. To permit them: "
          "the driver's option NVreg_RestrictProfilingToAdminUsers=0, or a container with "
          "--cap-add=SYS_ADMIN (from driver 565 on, PERFMON)",
          ""};
}

Check CheckInjection(const Variables& environment) {
  std::string others;
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const auto found = environment.find(variable);
    if (found == environment.end() || found->second.empty() ||
        found->second.find("libgpuprof_inject.so") != std::string::npos)
      continue;
    others += (others.empty() ? "" : "; ") + std::string(variable) + "=" + found->second;
  }
  std::string collector;
  if (const auto found = environment.find("INTEL_LIBITTNOTIFY64");
      found != environment.end() && !found->second.empty() &&
      found->second.find("libgpuprof_inject.so") == std::string::npos)
    collector = "INTEL_LIBITTNOTIFY64=" + found->second +
                ": that collector keeps ITT's tasks, which are not recorded";
  if (others.empty() && !collector.empty()) return {"GPU injection", Level::kInfo, collector, ""};
  if (others.empty()) return {"GPU injection", Level::kOk, "no other tool has asked for it", ""};
  if (!collector.empty()) collector = ". " + collector;
  return {"GPU injection", Level::kInfo,
          others +
              "; it is called behind gpuprof's. Where it holds CUPTI, GPU activity is its own "
              "and the host side is recorded" +
              collector,
          ""};
}

Check CheckCuptiLibrary(const std::string& path, uint32_t api_version,
                        const std::vector<std::string>& searched) {
  if (path.empty()) {
    std::string where;
    for (const std::string& folder : searched) where += (where.empty() ? "" : ", ") + folder;
    return {"CUPTI", Level::kInfo,
            "none in " + where +
                "; a program's own, beside its libcudart or in its Python wheels, is found when it "
                "runs. Else: pip install nvidia-cuda-cupti, or the toolkit's package cuda-cupti",
            ""};
  }
  if (api_version != 0 && api_version < kOldestCupti) {
    return {
        "CUPTI", Level::kWarn, path + ", API version " + std::to_string(api_version),
        "gpuprof needs CUPTI of CUDA 11.8 (API version 18) or newer: update the toolkit, or set "
        "CUDA_HOME to a newer one"};
  }
  return {"CUPTI", Level::kOk,
          path + (api_version != 0 ? ", API version " + std::to_string(api_version) : ""), ""};
}

std::vector<Check> CudaChecks(const Variables& environment) {
  return {CheckDriver(LookForDriver()), LookForCupti(environment), CheckInjection(environment),
          NvmlCheck(),
          CheckCounters(ReadAll("/proc/driver/nvidia/params"), Bounding(), geteuid() == 0)};
}

}  // namespace gpuprof::launcher
