// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See options.h. The only file that includes CLI11.

#include "launcher/base/options.h"

#include <CLI/CLI.hpp>

#include "launcher/base/nearest.h"
#include "launcher/base/settings.h"
#include "launcher/base/settings_file.h"
#include "launcher/base/text.h"
#include "launcher/base/values.h"

namespace gpuprof::launcher {
namespace {

constexpr char kSettingsFile[] = "gpuprof.toml";

// CLI11's layout with a usage line of our own: its own shows neither `--` nor the order of words.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {
    column_width(34);
    label("Positionals", "Arguments");
  }
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: " + usage_ + "\n";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_name().empty() || option->get_positional()) return "";
    return " " + option->get_type_name() +
           (option->get_default_str().empty() ? "" : " [" + option->get_default_str() + "]");
  }

 private:
  std::string usage_;
};

bool IsLong(const std::string& word) { return word.size() > 2 && word[0] == '-' && word[1] == '-'; }

}  // namespace

struct Options::Parser {
  Parser(const std::string& description, const std::string& name) : app(description, name) {}
  CLI::App app;
};

struct Options::Entry {
  CLI::Option* option = nullptr;
  std::string long_name;
  std::string text;              // what a value option was given
  std::string* value = nullptr;  // where it goes
  uint32_t* number = nullptr;
  uint32_t most = UINT32_MAX;  // of `number`
  bool* flag = nullptr;
  const SettingInfo* setting = nullptr;
  Check check = nullptr;
  bool required = false;
};

Options::Options(const std::string& name, const std::string& description, const std::string& usage,
                 const std::string& footer)
    : parser_(std::make_unique<Parser>(description, name)) {
  CLI::App& app = parser_->app;
  app.formatter(std::make_shared<HelpFormatter>(usage));
  app.footer(footer);
  app.set_help_flag("-h,--help", "Show this help and exit");
  app.allow_extras();
}

Options::~Options() = default;

Options::Entry* Options::Find(std::string_view long_name) {
  for (const auto& entry : entries_) {
    if (!entry->long_name.empty() && entry->long_name == long_name) return entry.get();
  }
  return nullptr;
}

void Options::Flag(const char* names, bool* value, const char* help) {
  auto entry = std::make_unique<Entry>();
  entry->option = parser_->app.add_flag(names)->description(help);
  entry->flag = value;
  entry->long_name = entry->option->get_lnames().front();
  entries_.push_back(std::move(entry));
}

void Options::Value(const char* names, std::string* value, const char* type_name, const char* help,
                    Check check) {
  auto entry = std::make_unique<Entry>();
  entry->option = parser_->app.add_option(names, entry->text, help);
  entry->option->type_name(type_name)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  entry->value = value;
  entry->check = check;
  entry->long_name = entry->option->get_lnames().front();
  if (!value->empty()) entry->option->default_str(*value);
  entries_.push_back(std::move(entry));
}

void Options::Number(const char* names, uint32_t* value, const char* type_name, const char* help,
                     uint32_t most) {
  auto entry = std::make_unique<Entry>();
  entry->option = parser_->app.add_option(names, entry->text, help);
  entry->option->type_name(type_name)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (*value != kNotGiven) entry->option->default_str(std::to_string(*value));
  entry->number = value;
  entry->most = most;
  entry->long_name = entry->option->get_lnames().front();
  entries_.push_back(std::move(entry));
}

void Options::Setting(const SettingInfo& info) {
  auto entry = std::make_unique<Entry>();
  const std::string names = (info.flag == "output" ? "-o,--" : "--") + info.flag;
  entry->option = parser_->app.add_option(names, entry->text, info.meaning);
  entry->option->type_name(info.type_name)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  entry->option->default_str(info.fallback);
  entry->setting = &info;
  entry->long_name = info.flag;
  entries_.push_back(std::move(entry));
}

void Options::Positional(const char* type_name, std::string* value, const char* help,
                         bool required) {
  auto entry = std::make_unique<Entry>();
  entry->option = parser_->app.add_option(type_name, *value, help);
  entry->option->type_name(type_name);
  entry->required = required;
  entries_.push_back(std::move(entry));
}

void Options::Positionals(const char* type_name, std::vector<std::string>* values, const char* help,
                          bool required) {
  auto entry = std::make_unique<Entry>();
  entry->option = parser_->app.add_option(type_name, *values, help);
  entry->option->type_name(type_name);
  entry->required = required;
  entries_.push_back(std::move(entry));
}

void Options::Command(std::vector<std::string>* command) { command_ = command; }

// The command must never meet CLI11, which would take its options for ours and its brackets for
// lists.
void Options::SplitCommand(std::vector<std::string>* words) {
  size_t at = 0;
  for (; at < words->size(); ++at) {
    const std::string& word = (*words)[at];
    if (word == "--") {
      command_->assign(words->begin() + static_cast<long>(at) + 1, words->end());
      break;
    }
    if (needs_mark_) continue;
    if (word.size() < 2 || word[0] != '-') {
      command_->assign(words->begin() + static_cast<long>(at), words->end());
      break;
    }
    const CLI::Option* option = parser_->app.get_option_no_throw(word);
    const bool separate_value = option != nullptr && !option->get_type_name().empty();
    if (separate_value) ++at;
  }
  words->resize(std::min(at, words->size()));
}

void Options::CommandBehindMark(std::vector<std::string>* command) {
  Command(command);
  needs_mark_ = true;
}

std::string Options::CheckValues() {
  bool ended = false;
  for (const std::string& extra : parser_->app.remaining()) {
    // CLI11 takes what follows for words, and tells the mark itself as one too many.
    if (extra == "--" && !ended) {
      ended = true;
      continue;
    }
    if (extra.size() < 2 || extra[0] != '-') return "unexpected argument '" + extra + "'";
    std::vector<std::string> known;
    const std::string name = extra.substr(0, extra.find('='));
    for (const OptionView& view : Views()) {
      for (const std::string& candidate : view.names) {
        if (IsLong(candidate) == IsLong(name)) known.push_back(candidate);
      }
    }
    return "unknown option '" + name + "'." + (IsLong(name) ? DidYouMean(name, known) : "");
  }
  for (const auto& entry : entries_) {
    const bool given = entry->option->count() > 0;
    if (entry->required && !given) return entry->option->get_type_name() + " is missing";
    if (!given) continue;
    // The last one counts; of lists the others would be lost without a word.
    const std::string& type = entry->option->get_type_name();
    if (entry->option->count() > 1 && (type == "SOURCES" || type == "NAMES"))
      return "--" + entry->long_name + " is given twice; join the values with a comma";
    std::string error;
    uint64_t number = 0;
    if (entry->flag != nullptr) *entry->flag = entry->option->as<bool>();
    if (entry->setting != nullptr) flag_settings_[entry->long_name] = entry->text;
    if (entry->check != nullptr) error = entry->check(entry->text);
    if (entry->value != nullptr) *entry->value = entry->text;
    if (entry->number != nullptr) error = ParseCount(entry->text, entry->most, &number);
    if (!error.empty()) return "--" + entry->long_name + ": " + error;
    if (entry->number != nullptr) *entry->number = static_cast<uint32_t>(number);
  }
  return "";
}

Options::Outcome Options::Parse(std::vector<std::string> words, std::string* message) {
  if (command_ != nullptr) SplitCommand(&words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    parser_->app.parse(words);
  } catch (const CLI::CallForHelp&) {
    *message = HelpText();
    return Outcome::kHelp;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    *message = "the value of " + what.substr(0, what.find(':')) +
               " is missing, or the option takes no value";
    return Outcome::kError;
  } catch (const CLI::ParseError& error) {
    *message = error.what();
    return Outcome::kError;
  }
  *message = CheckValues();
  return message->empty() ? Outcome::kGo : Outcome::kError;
}

std::string Options::ApplyFile(const std::map<std::string, std::string>& values) {
  for (const auto& [key, value] : values) {
    Entry* entry = Find(key);
    const std::string place = std::string(kSettingsFile) + ": " + key;
    if (entry == nullptr) {
      std::vector<std::string> known;
      for (const auto& candidate : entries_) {
        if (!candidate->long_name.empty()) known.push_back(candidate->long_name);
      }
      return place + " is not an option of this verb; remove it, or see its --help." +
             DidYouMean(key, known);
    }
    std::string error = FaultOfFileValue(key, value);
    if (!error.empty()) return place + ": " + error;
    uint64_t number = 0;
    if (entry->setting != nullptr) {
      file_settings_[key] = value;
      continue;
    }
    if (entry->option->count() > 0) continue;
    if (entry->flag != nullptr) error = ParseChoice(value, {"true", "false"});
    if (entry->check != nullptr) error = entry->check(value);
    if (entry->number != nullptr) error = ParseCount(value, entry->most, &number);
    if (!error.empty()) return place + ": " + error;
    if (entry->flag != nullptr) *entry->flag = value == "true";
    if (entry->value != nullptr) *entry->value = value;
    if (entry->number != nullptr) *entry->number = static_cast<uint32_t>(number);
  }
  return "";
}

std::string Options::HelpText() const { return parser_->app.help(); }

std::vector<OptionView> Options::Views() const {
  std::vector<OptionView> views;
  for (const CLI::Option* option : static_cast<const CLI::App&>(parser_->app).get_options()) {
    OptionView view;
    for (const std::string& name : option->get_lnames()) view.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) view.names.push_back("-" + name);
    view.positional = view.names.empty();
    view.repeated = option->get_expected_max() > 1;
    view.type_name = option->get_type_name();
    view.help = option->get_description();
    views.push_back(std::move(view));
  }
  return views;
}

bool Options::IsQuiet() {
  const Entry* entry = Find("quiet");
  return entry != nullptr && *entry->flag;
}

}  // namespace gpuprof::launcher
