// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof doctor`: runs every check and prints one line each, with cause and fix.

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "launcher/base/json_text.h"
#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/doctor/doctor_checks.h"

namespace gpuprof::launcher {
namespace {

const char* LevelName(Check::Level level) {
  switch (level) {
    case Check::Level::kOk:
      return "ok";
    case Check::Level::kInfo:
      return "info";
    case Check::Level::kWarn:
      return "warn";
    case Check::Level::kFail:
      return "fail";
  }
  return "fail";
}

class Doctor : public Verb {
 public:
  void Declare(Options* options) override { options->Flag("--json", &json_, "Print JSON"); }

  int Execute(const Options&) override {
    const Variables environment = CurrentEnvironment();
    std::vector<Setting> settings;
    std::vector<Check> checks;
    // Unknown names are a check of their own; a bad value is one more.
    Variables known = environment;
    std::erase_if(known,
                  [](const auto& variable) { return !UnknownVariables({variable}).empty(); });
    const std::string error = ResolveSettings({}, known, {}, &settings);
    if (!error.empty()) {
      checks.push_back({"settings", Check::Level::kFail, error, "correct or unset it"});
      ResolveSettings({}, {}, {}, &settings);
    }
    for (Check& check : RunChecks(settings, environment)) checks.push_back(std::move(check));
    bool failed = false;
    for (const Check& check : checks) failed = failed || check.level == Check::Level::kFail;
    PutOut(json_ ? Json(checks) : Text(checks));
    return failed ? kExitFindings : kExitOk;
  }

 private:
  static std::string Json(const std::vector<Check>& checks) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Check& check : checks) {
      list.push_back({{"name", check.name},
                      {"level", LevelName(check.level)},
                      {"found", check.found},
                      {"fix", check.fix}});
    }
    return JsonText(nlohmann::ordered_json{{"checks", std::move(list)}});
  }

  static std::string Text(const std::vector<Check>& checks) {
    std::string text;
    for (const Check& check : checks) {
      char head[64];
      std::snprintf(head, sizeof head, "%-4s  %-19s  ", LevelName(check.level), check.name.c_str());
      text += head + analysis::OneLine(check.found) + "\n";
      if (!check.fix.empty()) text += "      fix: " + analysis::OneLine(check.fix) + "\n";
    }
    return text;
  }

  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeDoctor() { return std::make_unique<Doctor>(); }

}  // namespace gpuprof::launcher
