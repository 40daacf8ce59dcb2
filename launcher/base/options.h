// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One verb's options: a thin face over one CLI11 application. Help, completions, gpuprof.toml and
// parsing all come from one table. Only options.cc pays for CLI11's headers. Declared by each verb,
// parsed by Dispatch (command.h).
//
// In a type name, words joined by '|' that hold a small letter or a digit are choices ("auto|tsc").
// Words in capitals alone are placeholders ("DIR", "N"). Completions rely on it.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::launcher {

struct SettingInfo;

// One option or positional as completions see it.
struct OptionView {
  std::vector<std::string> names;  // "--output", "-o"; empty: positional
  std::string type_name;           // empty: a flag
  std::string help;
  bool positional = false;
  bool repeated = false;
};

class Options {
 public:
  using Check = std::string (*)(std::string_view value);  // empty, or cause and fix

  Options(const std::string& name, const std::string& description, const std::string& usage,
          const std::string& footer);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  // Declares an option. `names` are as CLI11 takes them: "-o,--output". A value given twice: the
  // last counts.
  void Flag(const char* names, bool* value, const char* help);
  void Value(const char* names, std::string* value, const char* type_name, const char* help,
             Check check = nullptr);
  // A number that is kNotGiven from the start shows no default.
  static constexpr uint32_t kNotGiven = UINT32_MAX;
  void Number(const char* names, uint32_t* value, const char* type_name, const char* help,
              uint32_t most = UINT32_MAX);
  // Declares a recording setting. Its values are kept apart by where they came from: see
  // flag_settings() and file_settings().
  void Setting(const SettingInfo& info);
  void Positional(const char* type_name, std::string* value, const char* help,
                  bool required = true);
  void Positionals(const char* type_name, std::vector<std::string>* values, const char* help,
                   bool required = true);
  // Makes a command line of all words from the first word that is not an option, or behind `--`.
  void Command(std::vector<std::string>* command);
  // Makes one of the words behind `--` alone: the verb has other words in front.
  void CommandBehindMark(std::vector<std::string>* command);

  enum class Outcome { kGo, kHelp, kError };
  // Parses the words behind the verb. kHelp: `message` is the help text. kError: cause and fix.
  Outcome Parse(std::vector<std::string> words, std::string* message);
  // Applies values of gpuprof.toml to options that the command line did not give. Returns empty, or
  // the fault.
  std::string ApplyFile(const std::map<std::string, std::string>& values);

  // Returns whether --quiet was given, on the command line or in the file.
  bool IsQuiet();

  std::string HelpText() const;
  std::vector<OptionView> Views() const;
  const std::map<std::string, std::string>& flag_settings() const { return flag_settings_; }
  const std::map<std::string, std::string>& file_settings() const { return file_settings_; }

 private:
  struct Parser;
  struct Entry;
  Entry* Find(std::string_view long_name);
  std::string CheckValues();
  void SplitCommand(std::vector<std::string>* words);

  std::unique_ptr<Parser> parser_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::string>* command_ = nullptr;
  bool needs_mark_ = false;
  std::map<std::string, std::string> flag_settings_;
  std::map<std::string, std::string> file_settings_;
};

}  // namespace gpuprof::launcher
