// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof inject`: changes manifests of Kubernetes so that pods are recorded. Reads and writes
// text; asks no cluster.

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "launcher/base/read_file.h"
#include "launcher/base/settings.h"
#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/base/version.h"
#include "launcher/command.h"
#include "launcher/kubernetes/pod_injection.h"
#include "launcher/record/objects.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

// A manifest that a cluster takes has at most 1.5 MiB, and a file may hold several.
constexpr size_t kMostBytes = size_t{32} << 20;

std::string Input(bool* is_whole) {
  std::string text;
  std::string piece(1 << 16, '\0');
  ssize_t got = 0;
  while (text.size() <= kMostBytes && ((got = read(STDIN_FILENO, piece.data(), piece.size())) > 0 ||
                                       (got < 0 && errno == EINTR))) {
    if (got > 0) text.append(piece, 0, static_cast<size_t>(got));
  }
  *is_whole = got >= 0;
  return text;
}

class Inject : public Verb {
 public:
  void Declare(Options* options) override {
    options->Value("-f,--filename", &file_, "FILE",
                   "The manifests, as YAML or JSON; -: standard input");
    options->Value("--image", &injection_.image, "IMAGE",
                   "The image of gpuprof (default: gpuprof:VERSION)");
    options->Value("--container", &containers_, "NAMES",
                   "Containers to record, comma separated (default: those that ask for a GPU of "
                   "NVIDIA, or else all)");
    options->Flag("--all", &injection_.is_for_all,
                  "Change every workload, except where its annotation gpuprof/inject is \"false\"");
    options->Value(
        "--claim", &injection_.claim, "NAME",
        "Keep bundles in the volume of this claim (default: an emptyDir, which goes with "
        "the pod)");
    options->Value("--size-limit", &injection_.size_limit, "SIZE",
                   "Limit of the emptyDir for bundles (default: 10Gi)");
    for (const SettingInfo& info : SettingTable()) {
      const std::string variable = info.variable;
      // The places are those of the pod.
      if (!info.flag.empty() && variable != proto::kEnvBundle) options->Setting(info);
    }
  }

  int Execute(const Options& options) override {
    std::vector<Setting> settings;
    const std::string error =
        ResolveSettings(options.flag_settings(), {}, options.file_settings(), &settings);
    if (!error.empty()) return Fail(error, kExitUsage);
    if (file_.empty()) return Fail("a manifest is missing: gpuprof inject -f pod.yaml", kExitUsage);
    bool is_whole = true;
    const std::optional<std::string> text = file_ == "-" ? Input(&is_whole) : ReadFile(file_);
    if (!text.has_value() || !is_whole)
      return Fail(file_ + " cannot be read: " + std::strerror(errno) + "; correct its name",
                  kExitUnreadable);
    if (text->size() > kMostBytes)
      return Fail(file_ + " has more than 32 MiB; split it", kExitUnreadable);
    if (injection_.image.empty()) injection_.image = "gpuprof:" + std::string(kVersion);
    if (injection_.size_limit.empty()) injection_.size_limit = "10Gi";
    if (!containers_.empty()) injection_.containers = Split(containers_, ',');
    injection_.variables = VariablesOfPod(settings);
    const Injection injection = InjectIntoManifest(*text, injection_);
    if (!injection.fault.empty()) return Fail(file_ + ": " + injection.fault, kExitUsage);
    for (const std::string& note : injection.notes) Say(note);
    if (isatty(STDOUT_FILENO) == 1) {
      PutOut(injection.text);  // with what a terminal would obey as escapes
    } else {
      PutBytes(injection.text);
    }
    return kExitOk;
  }

 private:
  static int Fail(const std::string& what, int status) {
    Say(what);
    return status;
  }

  static Variables VariablesOfPod(const std::vector<Setting>& settings) {
    Objects objects;
    const std::string folder = std::string(kObjectsMount) + "/lib/gpuprof/";
    objects.inject = folder + proto::kInjectObject;
    objects.tracer = folder + proto::kTracerObject;
    Variables variables = RecorderVariables(settings, "", objects);
    // What this shell has is not what the pod has.
    for (const char* name :
         {proto::kEnvBundle, proto::kEnvChainedInjection, proto::kEnvChainedNvtx})
      variables.erase(name);
    variables["LD_PRELOAD"] = objects.inject;
    return variables;
  }

  std::string file_, containers_;
  InjectionOptions injection_;
};

}  // namespace

std::unique_ptr<Verb> MakeInject() { return std::make_unique<Inject>(); }

}  // namespace gpuprof::launcher
