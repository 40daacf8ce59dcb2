// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See objects.h.

#include "launcher/record/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "launcher/base/values.h"
#include "launcher/record/nccl_plugin.h"
#include "launcher/record/plain_path.h"
#include "launcher/record/program.h"
#include "proto/codec/open_regular.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

std::string Absolute(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) == nullptr ? "" : resolved;
}

std::string FirstReadable(const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    if (access(candidate.c_str(), R_OK) == 0) return Absolute(candidate);
  }
  return "";
}

std::string Locate(const char* object, const char* room, const char* variable,
                   const std::string& override_path, const std::string& folder,
                   std::string* error) {
  if (!override_path.empty()) {
    const std::string found = FirstReadable({override_path});
    if (found.empty()) {
      *error = std::string(variable) + " names '" + override_path +
               "', which cannot be read; correct or unset it";
    }
    return found;
  }
  const std::string found =
      FirstReadable({folder + "/" GPUPROF_OBJECTS_FOLDER "/" + object,
                     folder + "/../" + room + "/" + object, folder + "/" + object});
  if (found.empty()) {
    *error = std::string(object) + " was not found in " + folder +
             "/" GPUPROF_OBJECTS_FOLDER
             " or in the build tree; install gpuprof as a whole, or name the file in " +
             variable;
  }
  return found;
}

bool IsAsan(const std::string& entry) {
  const std::string name = BaseName(entry);
  return name.compare(0, 10, "libasan.so") == 0 || name.compare(0, 16, "libclang_rt.asan") == 0;
}

// Returns whether `error` tells that this process is short of something. It then says nothing about
// the file, and the loader of the command may fare better.
bool IsShortage(int error) {
  return error == ENOMEM || error == EAGAIN || error == EMFILE || error == ENFILE;
}

}  // namespace

std::string OwnPath() { return Absolute("/proc/self/exe"); }

std::string OwnFolder() {
  const std::string path = OwnPath();
  return path.substr(0, path.rfind('/'));
}

Objects FindObjectsFrom(const std::string& command_folder, const std::string& inject,
                        const std::string& tracer) {
  Objects objects;
  if (command_folder.empty() && (inject.empty() || tracer.empty())) {
    objects.error =
        "gpuprof cannot find its own folder, because /proc/self/exe cannot be read; mount /proc "
        "(mount -t proc proc /proc)";
    return objects;
  }
  objects.inject = Locate(proto::kInjectObject, "inject", proto::kEnvInject, inject, command_folder,
                          &objects.error);
  if (!objects.error.empty()) return objects;
  objects.tracer = Locate(proto::kTracerObject, "tracer", proto::kEnvTracer, tracer, command_folder,
                          &objects.error);
  if (objects.error.empty() && !IsPlain(objects.inject)) {
    const size_t slash = objects.inject.rfind('/');
    const std::string folder = PlainPathTo(objects.inject.substr(0, slash), &objects.error);
    objects.inject = folder + objects.inject.substr(slash);
  }
  return objects;
}

Objects FindObjects(const std::vector<Setting>& settings) {
  return FindObjectsFrom(OwnFolder(), FindSetting(settings, proto::kEnvInject).value,
                         FindSetting(settings, proto::kEnvTracer).value);
}

std::string WhyUnloadable(const Objects& objects) {
  for (const std::string& path : {objects.inject, objects.tracer}) {
    const codec::OwnedFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.fd() < 0) {
      if (IsShortage(errno)) continue;
      return path + " cannot be read: " + strerror(errno);
    }
    void* const mapped = mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.fd(), 0);
    if (mapped != MAP_FAILED) {
      munmap(mapped, 1);
      continue;
    }
    const int error = errno;
    if (IsShortage(error)) continue;
    struct statvfs system = {};
    if (fstatvfs(file.fd(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0)
      return path +
             " cannot be loaded: its file system is mounted noexec; copy gpuprof elsewhere "
             "(gpuprof install DIR), or mount without noexec";
    return path + " cannot be mapped as code: " + strerror(error) +
           "; a security policy of this system may refuse it (SELinux, AppArmor)";
  }
  return "";
}

bool PreloadHasOurs(const std::string& preload) {
  std::string spaced = preload;
  std::replace(spaced.begin(), spaced.end(), ':', ' ');
  for (const std::string& entry : Split(spaced, ' ')) {
    if (BaseName(entry) == proto::kInjectObject) return true;
  }
  return false;
}

std::string ComposePreload(const std::string& inject, const std::string& sanitizer,
                           const std::string& existing) {
  std::string spaced = existing;
  std::replace(spaced.begin(), spaced.end(), ':', ' ');
  std::vector<std::string> first, rest;
  if (!sanitizer.empty()) first.push_back(sanitizer);
  for (const std::string& entry : Split(spaced, ' ')) {
    if (entry.empty() || BaseName(entry) == proto::kInjectObject) continue;
    if (!IsAsan(entry)) {
      rest.push_back(entry);
    } else if (first.empty()) {
      first.push_back(entry);
    }
  }
  first.push_back(inject);
  first.insert(first.end(), rest.begin(), rest.end());
  std::string joined;
  for (const std::string& entry : first) joined += (joined.empty() ? "" : ":") + entry;
  return joined;
}

namespace {

// The variable holds one path: what it names already is loaded by ours.
void AddInjection(bool is_wanted, const char* variable, const char* chained,
                  const std::string& inject, Variables* variables) {
  if (!is_wanted) return;
  const char* existing = getenv(variable);
  const std::string before = existing == nullptr ? "" : existing;
  if (chained != nullptr && !before.empty() && before != "none" &&
      BaseName(before) != proto::kInjectObject)
    (*variables)[chained] = before;
  (*variables)[variable] = inject;
}

}  // namespace

Variables RecorderVariables(const std::vector<Setting>& settings, const std::string& bundle,
                            const Objects& objects) {
  Variables variables;
  for (const Setting& setting : settings) {
    if (setting.source == Setting::Source::kDefault) continue;
    const SettingInfo& info = *setting.info;
    variables[info.variable] =
        info.canonical == nullptr ? setting.value : info.canonical(setting.value);
  }
  // A bare name in GPUPROF_INJECT or GPUPROF_TRACER would mean another file after a chdir.
  variables.erase(proto::kEnvInject);
  variables[proto::kEnvTracer] = objects.tracer;
  variables[proto::kEnvBundle] = bundle;
  Sources sources;
  if (!ParseSources(FindSetting(settings, proto::kEnvTrace).value, &sources).empty())
    sources.bits = 0;
  Capture capture;
  ParseCapture(FindSetting(settings, proto::kEnvCapture).value, &capture);
  const auto records = [&sources](uint32_t source) { return (sources.bits & source) != 0; };
  // The driver's calls begin captures, whatever is recorded in them.
  const bool watches_driver = capture.when == Capture::When::kProfilerCalls;
  AddInjection(records(proto::kSourceCuda) || watches_driver, "CUDA_INJECTION64_PATH",
               proto::kEnvChainedInjection, objects.inject, &variables);
  AddInjection(records(proto::kSourceNvtx), "NVTX_INJECTION64_PATH", proto::kEnvChainedNvtx,
               objects.inject, &variables);
  // A collector that somebody chose stays: two of them cannot share one program.
  if (const char* collector = getenv("INTEL_LIBITTNOTIFY64");
      collector == nullptr || *collector == 0 || BaseName(collector) == proto::kInjectObject)
    AddInjection(records(proto::kSourceItt), "INTEL_LIBITTNOTIFY64", nullptr, objects.inject,
                 &variables);
  const std::string plugin = ChosenNcclPlugin();
  if (records(proto::kSourceNccl) && (plugin.empty() || plugin == kNcclStaticPlugin))
    variables[kNcclPluginVariable] = kNcclStaticPlugin;
  return variables;
}

}  // namespace gpuprof::launcher
