// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof completions`: scripts for three shells, written from the verb table and the options that
// each verb declares.

#include <cctype>

#include "launcher/command.h"
#include "launcher/text.h"
#include "launcher/values.h"

namespace gpuprof::launcher {
namespace {

struct VerbView {
  const VerbEntry* entry;
  std::vector<OptionView> options;
};

std::vector<VerbView> AllVerbs() {
  std::vector<VerbView> verbs;
  for (const VerbEntry& entry : VerbTable()) {
    const std::unique_ptr<Verb> verb = entry.make();
    verbs.push_back({&entry, DeclareVerb(entry, verb.get())->Views()});
  }
  return verbs;
}

// What a value can be: see options.h for the rule.
std::string Choices(const OptionView& option) {
  std::string words;
  for (const std::string& word : Split(option.type_name, '|')) {
    bool literal = false;
    for (const char c : word) {
      literal = literal || std::islower(static_cast<unsigned char>(c)) != 0 ||
                std::isdigit(static_cast<unsigned char>(c)) != 0;
    }
    // "delay:START+LENGTH" is completed up to what the user must fill in.
    const std::string text = word.substr(
        0, word.find(':') == std::string::npos ? std::string::npos : word.find(':') + 1);
    if (literal) words += (words.empty() ? "" : " ") + text;
  }
  if (option.type_name == "VERB") {
    for (const VerbEntry& entry : VerbTable())
      words += (words.empty() ? "" : " ") + std::string(entry.name);
  }
  return words;
}

bool TakesPath(const OptionView& option) {
  return option.type_name == "DIR" || option.type_name == "PATH" || option.type_name == "FILE" ||
         option.type_name == "BUNDLE" || option.type_name == "BASE" || option.type_name == "TRACE";
}
bool TakesPid(const OptionView& option) { return option.type_name == "PID"; }
constexpr char kPids[] = "gpuprof ps 2>/dev/null | awk 'NR > 1 {print $1}'";

std::string OptionNames(const std::vector<OptionView>& options) {
  std::string names;
  for (const OptionView& option : options) {
    for (const std::string& name : option.names) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

// The bash commands that fill COMPREPLY for a value of `option`.
std::string BashValue(const OptionView& option) {
  const std::string choices = Choices(option);
  if (!choices.empty()) return "COMPREPLY=($(compgen -W '" + choices + "' -- \"$cur\"))";
  if (TakesPid(option))
    return std::string("COMPREPLY=($(compgen -W \"$(") + kPids + ")\" -- \"$cur\"))";
  if (TakesPath(option)) return "COMPREPLY=($(compgen -f -- \"$cur\"))";
  return "COMPREPLY=()";
}

std::string BashVerb(const VerbView& verb) {
  std::string text = std::string("    ") + verb.entry->name + ")\n";
  text += "      case \"$prev\" in\n";
  for (const OptionView& option : verb.options) {
    if (option.positional || option.type_name.empty()) continue;
    text += "        " + Join("|", option.names.data(), option.names.data() + option.names.size()) +
            ") " + BashValue(option) + "; return ;;\n";
  }
  text += "      esac\n";
  text += "      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '" + OptionNames(verb.options) +
          "' -- \"$cur\")); return; fi\n";
  std::string last = "COMPREPLY=($(compgen -f -- \"$cur\"))";
  int position = 0;
  text += "      case $position in\n";
  for (const OptionView& option : verb.options) {
    if (!option.positional) continue;
    last = BashValue(option);
    text += "        " + std::to_string(position++) + ") " + last + " ;;\n";
  }
  return text + "        *) " +
         (position == 0 ? "COMPREPLY=($(compgen -c -f -- \"$cur\"))" : last) +
         " ;;\n      esac\n      ;;\n";
}

std::string Bash(const std::vector<VerbView>& verbs) {
  std::string names, cases;
  for (const VerbView& verb : verbs) {
    names += (names.empty() ? "" : " ") + std::string(verb.entry->name);
    cases += BashVerb(verb);
  }
  return "# bash completion of gpuprof; written by 'gpuprof completions bash'\n"
         "_gpuprof() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} position=0 i\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         names +
         " --help --version' -- \"$cur\"))\n"
         "    return\n"
         "  fi\n"
         "  for ((i = 2; i < COMP_CWORD; i++)); do\n"
         "    [[ ${COMP_WORDS[i]} == -* ]] || position=$((position + 1))\n"
         "  done\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "}\n"
         "complete -o filenames -F _gpuprof gpuprof\n";
}

// For single-quoted words of zsh's _arguments.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
    } else if (c == '[' || c == ']' || c == ':') {
      escaped += std::string("\\") + c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string ZshAction(const OptionView& option) {
  const std::string choices = Choices(option);
  if (!choices.empty()) return ":value:(" + ZshText(choices) + ")";
  if (TakesPath(option)) return ":path:_files";
  if (TakesPid(option)) return ":pid:_gpuprof_pids";
  return ":value:";
}

std::string Zsh(const std::vector<VerbView>& verbs) {
  std::string names, cases;
  for (const VerbView& verb : verbs) {
    names += "    '" + std::string(verb.entry->name) + ":" + ZshText(verb.entry->summary) + "'\n";
    cases += std::string("    ") + verb.entry->name + ")\n      _arguments -S";
    bool has_positional = false;
    for (const OptionView& option : verb.options) {
      if (option.positional) {
        cases +=
            std::string(" \\\n        '") + (option.repeated ? "*" : "") + ZshAction(option) + "'";
      }
      has_positional |= option.positional;
      for (const std::string& name : option.names) {
        const char* value = option.type_name.empty() ? "" : name[1] == '-' ? "=" : "+";
        cases += " \\\n        '" + name + value + "[" + ZshText(option.help) + "]" +
                 (option.type_name.empty() ? "" : ZshAction(option)) + "'";
      }
    }
    cases += has_positional ? "\n      ;;\n" : " \\\n        '*::command:_normal'\n      ;;\n";
  }
  return "#compdef gpuprof\n"
         "# zsh completion of gpuprof; written by 'gpuprof completions zsh'\n"
         "_gpuprof_pids() { local -a pids; pids=(${(f)\"$(" +
         std::string(kPids) +
         ")\"}); compadd -a pids }\n"
         "_gpuprof() {\n"
         "  local -a verbs\n"
         "  verbs=(\n" +
         names +
         "  )\n"
         "  if ((CURRENT == 2)); then _describe verb verbs; return; fi\n"
         "  local verb=$words[2]\n"
         "  shift words; ((CURRENT--))\n"
         "  case $verb in\n" +
         cases +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _gpuprof ]]; then _gpuprof \"$@\"; else compdef _gpuprof gpuprof; "
         "fi\n";
}

std::string FishText(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '\'' ? "\\'" : std::string(1, c);
  return escaped;
}

std::string FishValue(const OptionView& option) {
  const std::string choices = Choices(option);
  if (!choices.empty()) return " -x -a '" + choices + "'";
  if (TakesPid(option))
    return " -x -a '(gpuprof ps 2>/dev/null | string match -r \"^ *[0-9]+\" | string trim)'";
  return TakesPath(option) ? " -r -F" : " -x";
}

std::string Fish(const std::vector<VerbView>& verbs) {
  std::string text = "# fish completion of gpuprof; written by 'gpuprof completions fish'\n";
  for (const VerbView& verb : verbs) {
    const std::string name = verb.entry->name;
    const std::string seen = "complete -c gpuprof -n '__fish_seen_subcommand_from " + name + "'";
    text += "complete -c gpuprof -n __fish_use_subcommand -f -a " + name + " -d '" +
            FishText(verb.entry->summary) + "'\n";
    for (const OptionView& option : verb.options) {
      const bool flag = option.type_name.empty();
      if (option.positional) {
        text += seen + FishValue(option) + "\n";
        continue;
      }
      text += seen;
      for (const std::string& word : option.names)
        text += word[1] == '-' ? " -l " + word.substr(2) : " -s " + word.substr(1);
      text += (flag ? "" : FishValue(option)) + " -d '" + FishText(option.help) + "'\n";
    }
  }
  return text;
}

class Completions : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("bash|zsh|fish", &shell_, "The shell to write for");
  }

  int Execute(const Options&) override {
    const std::string error = ParseChoice(shell_, {"bash", "zsh", "fish"});
    if (!error.empty()) {
      Say(error);
      return kExitUsage;
    }
    const std::vector<VerbView> verbs = AllVerbs();
    PutBytes(shell_ == "bash" ? Bash(verbs) : shell_ == "zsh" ? Zsh(verbs) : Fish(verbs));
    return kExitOk;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Verb> MakeCompletions() { return std::make_unique<Completions>(); }

}  // namespace gpuprof::launcher
