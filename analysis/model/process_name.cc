// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/model/process_name.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

#include "analysis/base/display_width.h"
#include "proto/ranks.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kTitleColumns = 60;
constexpr size_t kCodeColumns = 40;

struct Interpreter {
  std::string_view name;     // versions may follow: python3.11
  std::string_view code;     // the options whose argument is code, as letters
  std::string_view operand;  // the options that have another argument, as letters
};

constexpr Interpreter kInterpreters[] = {
    {"python", "c", "XW"}, {"pypy", "c", "XW"}, {"perl", "eE", "I"},  {"ruby", "e", "I"},
    {"node", "ep", "r"},   {"php", "r", "d"},   {"julia", "eE", "L"}, {"Rscript", "e", ""},
    {"bash", "c", "o"},    {"sh", "c", "o"},    {"dash", "c", "o"}};

const Interpreter* InterpreterOf(std::string_view program) {
  for (const Interpreter& interpreter : kInterpreters) {
    if (program.substr(0, interpreter.name.size()) != interpreter.name) continue;
    const std::string_view version = program.substr(interpreter.name.size());
    if (version.find_first_not_of("0123456789.") == std::string_view::npos) return &interpreter;
  }
  return nullptr;
}

std::string BaseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The first line of code that says something.
std::string FirstLine(std::string_view code) {
  while (!code.empty()) {
    const std::string_view line = code.substr(0, code.find('\n'));
    const size_t at = line.find_first_not_of(" \t\r");
    if (at != std::string_view::npos) return CutTo(line.substr(at), kCodeColumns);
    code.remove_prefix(std::min(line.size() + 1, code.size()));
  }
  return "";
}

// What an interpreter runs says more than its own name.
std::string ScriptOf(const Interpreter& interpreter, const std::string& program,
                     const Process& process) {
  for (size_t i = 1; i < process.argv.size(); ++i) {
    const std::string& argument = process.argv[i];
    const bool has_next = i + 1 < process.argv.size();
    if (argument == "-m" && has_next && interpreter.code == "c") return process.argv[i + 1];
    if (argument.size() > 1 && argument[0] == '-' && argument[1] != '-') {
      const char last = argument.back();
      if (interpreter.code.find(last) != std::string_view::npos) {
        const std::string code = has_next ? FirstLine(process.argv[i + 1]) : "";
        return program + " " + argument + (code.empty() ? "" : " " + code);
      }
      if (argument.size() == 2 && interpreter.operand.find(last) != std::string_view::npos) ++i;
    } else if (!argument.empty() && argument[0] != '-') {
      return BaseName(argument);
    }
  }
  return program;
}

// One file under many names (busybox, redis-server, sh, cc) is known to its user by the name that
// it was started with. Titles that a program gives itself are cut at the first space.
std::string StartedAs(const Process& process) {
  if (process.argv.empty()) return "";
  std::string name = process.argv[0].substr(0, process.argv[0].find(' '));
  if (!name.empty() && name[0] == '-') name.erase(0, 1);  // a login shell
  name = BaseName(name);
  const auto odd = [](unsigned char c) {
    return std::isalnum(c) == 0 &&
           std::string_view("._+-").find(static_cast<char>(c)) == std::string_view::npos;
  };
  return std::any_of(name.begin(), name.end(), odd) ? "" : name;
}

// A title is written over the arguments. If the process did so before its trace began, the title is
// the first of the arguments, and the others are empty.
std::string TitleOf(const Process& process) {
  if (!process.title.empty() || process.argv.size() < 2) return process.title;
  const std::string& first = process.argv[0];
  const bool others_are_empty = std::all_of(process.argv.begin() + 1, process.argv.end(),
                                            [](const std::string& word) { return word.empty(); });
  if (!others_are_empty || first.find(' ') == std::string::npos) return "";
  return first.substr(0, first.find_last_not_of(' ') + 1);
}

std::string NameWithoutRank(const Process& process) {
  if (const std::string title = TitleOf(process); !title.empty())
    return CutTo(title, kTitleColumns);
  const std::string program =
      process.executable.empty() ? std::to_string(process.pid) : BaseName(process.executable);
  if (const Interpreter* interpreter = InterpreterOf(program))
    return ScriptOf(*interpreter, program, process);
  const std::string started_as = StartedAs(process);
  return started_as.empty() ? program : started_as;
}

}  // namespace

std::optional<Rank> RankOf(const Process& process) {
  const auto get = [&process](const char* name) -> const char* {
    const auto found = process.environment.find(name);
    return found == process.environment.end() ? nullptr : found->second.c_str();
  };
  const proto::RankSource* source = proto::FindRankSource(get);
  if (source == nullptr || source->rank == nullptr) return std::nullopt;
  Rank rank;
  proto::ReadRankNumber(get(source->rank), &rank.number);
  unsigned of = 0;
  if (source->size != nullptr && proto::ReadRankNumber(get(source->size), &of)) rank.of = of;
  return rank;
}

std::string ProcessName(const Process& process) {
  const std::optional<Rank> rank = RankOf(process);
  return NameWithoutRank(process) + (rank ? " rank " + std::to_string(rank->number) : "");
}

}  // namespace gpuprof::analysis
