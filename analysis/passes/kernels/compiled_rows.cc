// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/kernels/compiled_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/derived/compiled_kernels.h"

namespace gpuprof::analysis {
namespace {

// Places that the text of a row has at most.
constexpr size_t kMostSources = 2;

using Id = std::tuple<std::string, int32_t, std::string>;  // host, pid, name
using ByName = std::map<Id, std::vector<results::CompiledKernel*>>;

void FillCompiledKernel(const CompiledKernel& from, results::CompiledKernel* to) {
  to->set_name(from.name);
  to->set_generated_file(from.file);
  if (from.line != 0) to->set_generated_line(from.line);
  for (const std::string& operation : from.operations) to->add_fused_operations(operation);
  for (const std::string& value : from.values) to->add_values(value);
  for (const ProgramLine& source : from.sources) {
    results::CompiledSource* place = to->add_sources();
    place->set_file(source.file);
    place->set_line(source.line);
    if (!source.function.empty()) place->set_function(source.function);
    if (!source.code.empty()) place->set_code(source.code);
  }
  if (!from.sources.empty()) to->set_source(SourceText(from.sources.front()));
}

// Kernels of several graphs may have one name: the row tells all their places.
void FillRow(const std::vector<results::CompiledKernel*>& compiled, results::Kernel* row) {
  std::vector<std::string> places;
  for (const results::CompiledKernel* each : compiled) {
    for (const results::CompiledSource& source : each->sources()) {
      std::string text = SourceText({source.file(), source.function(), "", source.line()});
      if (std::find(places.begin(), places.end(), text) == places.end())
        places.push_back(std::move(text));
    }
    for (const std::string& operation : each->fused_operations()) {
      const auto& known = row->fused_operations();
      if (std::find(known.begin(), known.end(), operation) == known.end())
        row->add_fused_operations(operation);
    }
  }
  std::string text;
  for (size_t i = 0; i < places.size() && i < kMostSources; ++i)
    text += (i == 0 ? "" : ", ") + places[i];
  if (places.size() > kMostSources)
    text += ", and " + std::to_string(places.size() - kMostSources) + " more";
  if (!text.empty()) row->set_source(text);
}

}  // namespace

void FillCompiled(PassContext& context, results::Kernels* kernels) {
  ByName by_name;
  kernels->clear_compiled_kernels();
  for (const size_t index : context.selected()) {
    // A kernel of the part may have been compiled before it.
    const Process& process = context.whole_process(index);
    for (const CompiledKernel& each : CompiledKernelsOf(process)) {
      results::CompiledKernel* row = kernels->add_compiled_kernels();
      FillCompiledKernel(each, row);
      SetProcess(process, row);
      by_name[{row->host(), row->pid(), row->name()}].push_back(row);
    }
  }
  if (by_name.empty()) return;
  const bool is_of_kernels = kernels->by() != "stream" && kernels->by() != "family";
  for (results::Kernel& row : *kernels->mutable_kernels()) {
    const auto found = by_name.find({row.host(), row.pid(), row.name()});
    if (!is_of_kernels || found == by_name.end()) continue;
    for (results::CompiledKernel* each : found->second)
      each->set_launch_count(each->launch_count() + row.count());
    FillRow(found->second, &row);
  }
  // Those that ran, then in the order in which they were compiled.
  std::stable_sort(kernels->mutable_compiled_kernels()->pointer_begin(),
                   kernels->mutable_compiled_kernels()->pointer_end(),
                   [](const results::CompiledKernel* x, const results::CompiledKernel* y) {
                     return x->launch_count() > y->launch_count();
                   });
}

}  // namespace gpuprof::analysis
