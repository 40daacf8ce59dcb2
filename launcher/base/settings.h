// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The recording settings: one table over proto/contract.h's environment, with the flag, the check
// and the help of each setting. Also finds a setting's value: in flags, then in the environment,
// then in gpuprof.toml. For the verbs run and env. Never prints.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::launcher {

struct SettingInfo {
  const char* variable;  // "GPUPROF_RING_MEMORY"
  std::string flag;      // "ring-memory": long option and key in gpuprof.toml; empty: no flag
  const char* fallback;
  const char* meaning;    // of the flag, for help
  const char* type_name;  // as the help shows it: words in small letters are choices
  std::string (*check)(std::string_view value);  // empty, or what is wrong and what to write
  std::string (*canonical)(
      std::string_view value);  // as the injected object's small parser takes it; null: as it is
};

const std::vector<SettingInfo>& SettingTable();

using Variables = std::map<std::string, std::string>;

struct Setting {
  enum class Source { kDefault, kFile, kEnvironment, kFlag };
  const SettingInfo* info = nullptr;
  std::string value;
  Source source = Source::kDefault;
};

// Resolves the settings from the values of flags, environment and file. `flags` and `file` go by
// flag name ("ring-memory"), as given on the command line and in gpuprof.toml. `environment` is the
// whole environment. Returns an empty string or the first fault, with its cause and fix.
std::string ResolveSettings(const Variables& flags, const Variables& environment,
                            const Variables& file, std::vector<Setting>* settings);

// Returns GPUPROF_* variables that no part of gpuprof reads, each as a sentence with the nearest
// known name.
std::vector<std::string> UnknownVariables(const Variables& environment);

// Returns the calling process's environment. The first of two entries of one name counts, as for
// getenv.
Variables CurrentEnvironment();

const Setting& FindSetting(const std::vector<Setting>& settings, std::string_view variable);

}  // namespace gpuprof::launcher
