// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof env`: the variables that `gpuprof run` would set, for launches that it cannot make:
// containers, job scripts, services.

#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "analysis/analysis.h"
#include "launcher/base/json_text.h"
#include "launcher/base/settings.h"
#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/record/bundle.h"
#include "launcher/record/job.h"
#include "launcher/record/objects.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

class Env : public Verb {
 public:
  void Declare(Options* options) override {
    for (const SettingInfo& info : SettingTable()) {
      if (!info.flag.empty()) options->Setting(info);
    }
    options->Flag("--json", &json_, "Print JSON instead of shell commands");
  }

  int Execute(const Options& options) override {
    std::vector<Setting> settings;
    const std::string error = ResolveSettings(options.flag_settings(), CurrentEnvironment(),
                                              options.file_settings(), &settings);
    const Setting& bundle = FindSetting(settings, proto::kEnvBundle);
    if (!error.empty()) {
      Say(error);
      return kExitUsage;
    }
    // The lines run where the ranks are: neither host nor rank is known here.
    BundleName name;
    const std::string fault = FillPattern(bundle.value, std::nullopt, getpid(), &name);
    if (!fault.empty() || name.is_own || bundle.value.find("%h") != std::string::npos) {
      Say("-o " + bundle.value +
          ": patterns are filled by 'gpuprof run' alone; write a plain name, with %% for a percent "
          "sign");
      return kExitUsage;
    }
    Objects objects = FindObjects(settings);
    if (objects.error.empty()) objects.error = WhyUnloadable(objects);
    if (!objects.error.empty()) {
      Say(objects.error);
      return kExitOwnFailure;
    }
    const std::string directory =
        AbsolutePath(bundle.value.empty()
                         ? DefaultBundleName("env", time(nullptr), getpid()) + "-" + RandomLetters()
                         : name.path);
    Variables variables = RecorderVariables(settings, directory, objects);
    const char* preload = std::getenv("LD_PRELOAD");
    variables["LD_PRELOAD"] = ComposePreload(objects.inject, "", preload == nullptr ? "" : preload);
    if (json_) {
      PutOut(JsonText(variables));
    } else if (isatty(STDOUT_FILENO) == 1) {
      PutOut(Commands(directory, variables, analysis::ShellWord));
    } else {
      // Any shell may read the lines, and not every shell knows the escapes of a terminal.
      PutBytes(Commands(directory, variables, ShellQuote));
    }
    return kExitOk;
  }

 private:
  // The directory is made where the lines are run: that may be another machine. The recorder does
  // not write to a directory of another user.
  static std::string Commands(const std::string& directory, const Variables& variables,
                              std::string (*quote)(std::string_view)) {
    // The mode is that of a bundle, whatever the umask.
    const std::string quoted = quote(directory);
    std::string text = "mkdir -p -m 700 " + quoted + "\n[ -O " + quoted + " ] || echo " +
                       quote("gpuprof: " + directory +
                             " belongs to another user, who could change the bundle; name a new "
                             "directory with -o DIR") +
                       " >&2\n";
    for (const auto& [name, value] : variables)
      text += "export " + name + "=" + quote(value) + "\n";
    return text;
  }

  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeEnv() { return std::make_unique<Env>(); }

}  // namespace gpuprof::launcher
