// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof completions`: scripts for three shells. They ask `gpuprof __complete WORDS...`, which
// answers from the verb table and from the options that each verb declares: one line for each word
// that fits, with a tab and help behind it. A line ":files" means names of files. ":command N"
// means a command that begins with the Nth word, counted from `gpuprof` as 0.

#include <signal.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>

#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/command.h"
#include "launcher/control/control_client.h"

namespace gpuprof::launcher {
namespace {

constexpr char kBash[] = R"(# bash completion of gpuprof; written by 'gpuprof completions bash'
_gpuprof() {
  local IFS=$'\n' cur=${COMP_WORDS[COMP_CWORD]} lines
  mapfile -t lines < <(gpuprof __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case ${lines[0]} in
    :files) COMPREPLY=($(compgen -f -- "$cur")) ;;
    :command*) COMPREPLY=($(compgen -c -f -- "$cur")) ;;
    *) COMPREPLY=("${lines[@]%%$'\t'*}") ;;
  esac
}
complete -o filenames -F _gpuprof gpuprof
)";

constexpr char kZsh[] = R"(#compdef gpuprof
# zsh completion of gpuprof; written by 'gpuprof completions zsh'
_gpuprof() {
  local -a lines
  lines=("${(@f)$(gpuprof __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $lines[1] in
    :files) _files ;;
    :command*)
      local at=$((${lines[1]#:command } + 1))
      words=("${(@)words[at,-1]}"); ((CURRENT -= at - 1)); _normal ;;
    ?*) lines=("${(@)lines//:/\\:}"); lines=("${(@)lines/$'\t'/:}"); _describe word lines ;;
  esac
}
if [[ $funcstack[1] == _gpuprof ]]; then _gpuprof "$@"; else compdef _gpuprof gpuprof; fi
)";

constexpr char kFish[] = R"(# fish completion of gpuprof; written by 'gpuprof completions fish'
function __gpuprof
  set -l words (commandline -opc)
  set -l lines (gpuprof __complete $words[2..] (commandline -ct) 2>/dev/null)
  switch "$lines[1]"
    case :files
      __fish_complete_path (commandline -ct)
    case ':command*'
      set -l at (math (string replace ':command ' '' $lines[1]) + 1)
      __fish_complete_subcommand --commandline $words[$at..] (commandline -ct)
    case '*'
      printf '%s\n' $lines
  end
end
complete -c gpuprof -f -a '(__gpuprof)'
)";

void Offer(const std::string& word, const std::string& help, const std::string& begun,
           std::string* lines) {
  if (word.starts_with(begun)) *lines += word + "\t" + help + "\n";
}

// Offers the values of an option: see options.h for the rule of its choices.
void OfferValues(const OptionView& option, const std::string& begun, std::string* lines) {
  const std::string& type = option.type_name;
  for (const std::string& word : Split(type, '|')) {
    const bool is_literal = std::any_of(word.begin(), word.end(),
                                        [](unsigned char c) { return islower(c) || isdigit(c); });
    // "delay:START+LENGTH" is completed up to what the user must fill in.
    const size_t colon = word.find(':');
    if (is_literal)
      Offer(colon == std::string::npos ? word : word.substr(0, colon + 1), "", begun, lines);
  }
  if (type == "VERB") {
    for (const VerbEntry& entry : VerbTable()) Offer(entry.name, entry.summary, begun, lines);
  }
  if (type == "PID") {
    std::set<int32_t> pids;
    for (const Endpoint& endpoint : FindEndpoints()) pids.insert(endpoint.pid);
    for (const int32_t pid : pids) {
      if (kill(pid, 0) == 0) Offer(std::to_string(pid), "", begun, lines);
    }
  }
  for (const char* path : {"DIR", "PATH", "FILE", "BUNDLE", "BASE", "TRACE"}) {
    if (type == path) *lines = ":files\n";
  }
}

bool HasName(const OptionView& option, const std::string& name) {
  return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
}

// Returns the option that takes the word behind `name` as its value, or null.
const OptionView* TakesNext(const std::vector<OptionView>& options, const std::string& name) {
  for (const OptionView& option : options)
    if (!option.type_name.empty() && HasName(option, name)) return &option;
  return nullptr;
}

// Offers what fits at the last of the words behind the verb, which is the word 1.
void OfferFor(const VerbEntry& entry, const std::vector<std::string>& words, std::string* lines) {
  const std::unique_ptr<Verb> verb = entry.make();
  const std::vector<OptionView> options = DeclareVerb(entry, verb.get())->Views();
  const bool takes_command = std::strstr(entry.arguments, "COMMAND") != nullptr;
  std::vector<const OptionView*> places;
  for (const OptionView& option : options)
    if (option.positional) places.push_back(&option);
  const auto offer_command = [&](size_t at) {
    if (takes_command) *lines = ":command " + std::to_string(at) + "\n";
  };
  size_t place = 0;
  const OptionView* taker = nullptr;  // of the next word
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const bool is_word = taker == nullptr && !words[i].starts_with("-");
    if (words[i] == "--" && takes_command) return offer_command(i + 3);
    if (is_word && places.empty()) return offer_command(i + 2);
    place += is_word ? 1 : 0;
    taker = taker == nullptr ? TakesNext(options, words[i]) : nullptr;
  }
  const std::string& begun = words.back();
  if (taker != nullptr) return OfferValues(*taker, begun, lines);
  if (begun.starts_with("-")) {
    for (const OptionView& option : options)
      for (const std::string& name : option.names) Offer(name, option.help, begun, lines);
  } else if (places.empty()) {
    offer_command(words.size() + 1);
  } else {
    OfferValues(*places[std::min(place, places.size() - 1)], begun, lines);
  }
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
    PutBytes(shell_ == "bash" ? kBash : shell_ == "zsh" ? kZsh : kFish);
    return kExitOk;
  }

 private:
  std::string shell_;
};

}  // namespace

int Complete(const std::vector<std::string>& words) {
  std::string lines;
  for (const VerbEntry& entry : VerbTable()) {
    if (words.size() == 1) Offer(entry.name, entry.summary, words[0], &lines);
    if (words.size() > 1 && words[0] == entry.name)
      OfferFor(entry, {words.begin() + 1, words.end()}, &lines);
  }
  if (words.size() == 1) {
    Offer("--help", "Show all verbs", words[0], &lines);
    Offer("--version", "Show the version", words[0], &lines);
  }
  PutBytes(lines);
  return kExitOk;
}

std::unique_ptr<Verb> MakeCompletions() { return std::make_unique<Completions>(); }

}  // namespace gpuprof::launcher
