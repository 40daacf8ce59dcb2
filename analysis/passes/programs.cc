// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See programs.h.

#include "analysis/passes/programs.h"

#include <set>
#include <utility>

#include "analysis/base/result.h"
#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kNamedPrograms = 12;  // in an error
constexpr size_t kShownFrames = 32;    // of a stack
constexpr size_t kShownBytes = 2048;   // of a name

std::string NamesOf(const HloModules& modules) {
  std::string names;
  for (size_t i = 0; i < modules.size() && i < kNamedPrograms; ++i)
    names += (i == 0 ? "" : ", ") + TitleOf(*modules[i]);
  if (modules.size() > kNamedPrograms)
    names += " and " + std::to_string(modules.size() - kNamedPrograms) + " more";
  return names;
}

}  // namespace

HloModules ProgramsOf(PassContext& context) {
  HloModules found;
  std::set<std::pair<uint64_t, std::string_view>> seen;
  for (const size_t index : context.selected()) {
    for (const auto& module : context.process(index).hlo_modules)
      if (seen.emplace(module->program_id, module->name).second) found.push_back(module);
  }
  return found;
}

std::string TitleOf(const HloModule& module) {
  return module.name.empty() ? "program " + std::to_string(module.program_id)
                             : ShownText(module.name);
}

Error ChooseProgram(const HloModules& modules, std::string_view wanted, const HloModule** chosen) {
  HloModules found;
  auto best = hlo::NameMatch::kNone;
  for (const auto& module : modules) {
    const hlo::NameMatch match = hlo::MatchOf(TitleOf(*module), module->program_id, wanted);
    if (match == hlo::NameMatch::kNone || match < best) continue;
    if (match > best) found.clear();
    best = match;
    found.push_back(module);
  }
  if (found.size() == 1) {
    *chosen = found.front().get();
    return {};
  }
  const std::string program = "'" + Utf8Of(wanted) + "'";
  if (modules.empty())
    return UsageError("The recording carries no program of XLA; leave --program out.");
  if (found.empty())
    return UsageError("There is no program " + program + "; there are: " + NamesOf(modules) + ".");
  return UsageError("Several programs are called " + program +
                    "; give --program one of: " + NamesOf(found) + ".");
}

std::string ShownText(std::string_view text) {
  if (text.size() <= kShownBytes) return Utf8Of(text);
  return Utf8Of(text.substr(0, kShownBytes)) + "...";
}

std::string ShownShape(const hlo::Shape& shape) {
  return ShownText(hlo::TextOf(shape, kShownBytes + 1));
}

std::string TextOf(const hlo::SourceLine& line) {
  if (line.file.empty()) return "";
  return ShownText(line.file) + (line.line > 0 ? ":" + std::to_string(line.line) : "");
}

std::string StackText(const hlo::Program& program, const hlo::Instruction& instruction) {
  std::string text;
  size_t shown = 0;
  for (const hlo::SourceLine& line : hlo::StackOf(program, instruction)) {
    const std::string frame = TextOf(line);
    if (frame.empty()) continue;
    if (shown++ == kShownFrames || text.size() > kShownBytes) return text + " < ...";
    text += (text.empty() ? "" : " < ") + frame;
  }
  return text;
}

}  // namespace gpuprof::analysis
