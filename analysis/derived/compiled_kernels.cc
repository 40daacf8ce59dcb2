// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/compiled_kernels.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "proto/compiled_names.h"

namespace gpuprof::analysis {
namespace {

using Json = nlohmann::json;

// String ids of the names of values. 0: no value of the process has this name.
struct Names {
  uint32_t kernel = 0, file = 0, operations = 0, values = 0, source = 0, function = 0, code = 0;
};

Names FindNames(const Process& process) {
  Names names;
  const std::pair<std::string_view, uint32_t*> wanted[] = {
      {proto::kCompiledKernel, &names.kernel},
      {proto::kCompiledFile, &names.file},
      {proto::kCompiledOperations, &names.operations},
      {proto::kCompiledValues, &names.values},
      {proto::kCompiledSource, &names.source},
      {proto::kCompiledFunction, &names.function},
      {proto::kCompiledCode, &names.code}};
  for (const auto& [id, text] : process.strings) {
    for (const auto& [name, place] : wanted)
      if (text == name) *place = id;
  }
  return names;
}

std::string StringIn(const Process& process, uint32_t id) {
  const auto found = process.strings.find(id);
  return found == process.strings.end() ? std::string() : found->second;
}

// Splits "aten.gelu, aten.mul". The namespace that nearly all have says nothing.
std::vector<std::string> ListOf(std::string_view text) {
  constexpr std::string_view kSeparator = ", ", kAten = "aten.";
  std::vector<std::string> list;
  while (!text.empty()) {
    const size_t end = text.find(kSeparator);
    std::string_view each = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + kSeparator.size());
    if (each.starts_with(kAten)) each.remove_prefix(kAten.size());
    if (!each.empty()) list.emplace_back(each);
  }
  return list;
}

// Returns a text of an object. "": there is no such text, or it is no object.
std::string MemberOf(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

uint32_t LineOf(int64_t value) {
  return value > 0 && value <= UINT32_MAX ? static_cast<uint32_t>(value) : 0;
}

// Takes the rows of one track, which are in the order in which they were written.
void ReadTrack(const Process& process, const Names& names, const OpValueTable& values,
               std::vector<CompiledKernel>* out) {
  CompiledKernel* kernel = nullptr;
  for (size_t i = 0; i < values.rows(); ++i) {
    const uint32_t name = values.name[i];
    if (name == names.kernel) {
      kernel = &out->emplace_back();
      kernel->name = StringIn(process, values.text[i]);
      kernel->line = LineOf(values.value[i]);
      continue;
    }
    if (kernel == nullptr || name == 0) continue;
    if (name == names.file) kernel->file = StringIn(process, values.text[i]);
    if (name == names.operations) kernel->operations = ListOf(StringIn(process, values.text[i]));
    if (name == names.values) kernel->values = ListOf(StringIn(process, values.text[i]));
    if (name == names.source)
      kernel->sources.push_back(
          {StringIn(process, values.text[i]), "", "", LineOf(values.value[i])});
    if (kernel->sources.empty()) continue;
    if (name == names.function) kernel->sources.back().function = StringIn(process, values.text[i]);
    if (name == names.code) kernel->sources.back().code = StringIn(process, values.text[i]);
  }
}

// Traces of torch.profiler have an operation for each launch of Triton's. It has the kernel's name.
void ReadLaunches(const Process& process, const OpTable& ops, std::vector<CompiledKernel>* out) {
  std::set<uint32_t> known;  // details
  for (size_t i = 0; i < ops.detail.size() && i < ops.rows(); ++i) {
    if (ops.detail[i] == 0) continue;
    const auto name = process.strings.find(ops.name[i]);
    if (name == process.strings.end() || !name->second.starts_with("triton_")) continue;
    if (!known.insert(ops.detail[i]).second) continue;
    const Json detail = Json::parse(StringIn(process, ops.detail[i]), nullptr, false);
    std::string kernel_name = MemberOf(detail, "kernel_name");
    std::string file = MemberOf(detail, "kernel_file");
    if (file.empty()) continue;
    CompiledKernel& kernel = out->emplace_back();
    kernel.name = kernel_name.empty() ? name->second : std::move(kernel_name);
    kernel.file = std::move(file);
  }
}

// A flight recorder writes the same again.
void RemoveRepeated(std::vector<CompiledKernel>* kernels) {
  std::set<std::tuple<std::string, std::string, uint32_t>> known;
  std::erase_if(*kernels, [&](const CompiledKernel& each) {
    return !known.emplace(each.name, each.file, each.line).second;
  });
}

}  // namespace

std::vector<CompiledKernel> CompiledKernelsOf(const Process& process) {
  std::vector<CompiledKernel> kernels;
  const bool has_values =
      std::any_of(process.tracks.begin(), process.tracks.end(),
                  [](const Track& track) { return track.op_value.rows() != 0; });
  const Names names = has_values ? FindNames(process) : Names();
  for (const Track& track : process.tracks) {
    if (names.kernel != 0) ReadTrack(process, names, track.op_value, &kernels);
    ReadLaunches(process, track.op, &kernels);
  }
  RemoveRepeated(&kernels);
  return kernels;
}

std::string SourceText(const ProgramLine& source) {
  const size_t slash = source.file.rfind('/');
  std::string text = slash == std::string::npos ? source.file : source.file.substr(slash + 1);
  text += ":" + std::to_string(source.line);
  return source.function.empty() ? text : text + " in " + source.function;
}

}  // namespace gpuprof::analysis
