// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See process_order.h.

#include "analysis/read/process_order.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/read/bundle_parts.h"
#include "proto/ranks.h"

namespace gpuprof::analysis {
namespace {

using Files = std::vector<std::unique_ptr<TraceFile>>;
constexpr size_t kNone = static_cast<size_t>(-1);

// For each file the index of the one it came from: the same process before exec, else its parent;
// kNone where there is none.
std::vector<size_t> Predecessors(const Files& files) {
  // Ranks of one host may be in containers that use the same numbers. None is another's parent.
  using Key = std::tuple<std::string, std::string, int32_t>;
  std::map<Key, std::vector<size_t>> by_pid;  // indices ascending by start
  const auto key_of = [&files](int32_t pid, size_t i) {
    return Key(PartOf(files[i]->name()), files[i]->process().host, pid);
  };
  for (size_t i = 0; i < files.size(); ++i) by_pid[key_of(files[i]->process().pid, i)].push_back(i);
  // The latest user of `pid` that began no later than file `i`.
  const auto latest_before = [&](int32_t pid, size_t i) {
    const auto found = by_pid.find(key_of(pid, i));
    size_t best = kNone;
    if (found == by_pid.end()) return best;
    for (const size_t candidate : found->second) {
      if (candidate != i && files[candidate]->process().start_id <= files[i]->process().start_id)
        best = candidate;
    }
    return best;
  };
  std::vector<size_t> predecessors(files.size(), kNone);
  for (size_t i = 0; i < files.size(); ++i) {
    const Process& process = files[i]->process();
    const size_t same = latest_before(process.pid, i);
    // A reused process id is no predecessor: that one ended otherwise than by exec.
    const bool went_on = same != kNone && files[same]->process().exit_way ==
                                              static_cast<uint32_t>(proto::ExitWay::kExec);
    predecessors[i] = went_on ? same : latest_before(process.ppid, i);
  }
  return predecessors;
}

// Gives a process of a rank its launcher's variables, unless it noted some itself.
void FillRank(const proto::Bundle& run, Process* process) {
  if (!run.has_rank() || !run.has_job()) return;
  auto& variables = process->environment;
  const auto get = [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  if (proto::FindRankSource(get) != nullptr) return;
  for (const proto::RankSource& source : proto::kRankSources) {
    if (source.rank == nullptr || run.job().launcher() != source.launcher) continue;
    variables[source.rank] = std::to_string(run.rank());
    if (source.size != nullptr && run.job().size() != 0)
      variables[source.size] = std::to_string(run.job().size());
    // The step of a job of Slurm.
    if (source.needs != nullptr)
      variables[source.needs] = run.job().id().substr(run.job().id().rfind('.') + 1);
  }
}

}  // namespace

void OrderProcesses(Files* files) {
  std::stable_sort(files->begin(), files->end(),
                   [](const std::unique_ptr<TraceFile>& x, const std::unique_ptr<TraceFile>& y) {
                     const Process& p = x->process();
                     const Process& q = y->process();
                     return std::tie(p.start_id, p.pid, p.file) <
                            std::tie(q.start_id, q.pid, q.file);
                   });
  // Starts are in microseconds, so parent and child may share one.
  const std::vector<size_t> predecessors = Predecessors(*files);
  std::vector<char> placed(files->size(), 0);
  Files ordered;
  std::vector<size_t> chain;
  for (size_t i = 0; i < files->size(); ++i) {
    chain.clear();
    for (size_t at = i; at != kNone && placed[at] == 0; at = predecessors[at]) {
      placed[at] = 1;  // also ends a cycle, which only damaged files can make
      chain.push_back(at);
    }
    for (auto at = chain.rbegin(); at != chain.rend(); ++at)
      ordered.push_back(std::move((*files)[*at]));
  }
  *files = std::move(ordered);
}

void FillFromManifest(const Files& files, const proto::Bundle& manifest) {
  for (const std::unique_ptr<TraceFile>& file : files) {
    Process& process = file->process();
    const proto::Bundle& run = ManifestOf(manifest, file->name());
    if (process.host.empty()) process.host = run.host();
    if (process.argv.empty() && process.pid == run.root_pid())
      process.argv.assign(run.command().begin(), run.command().end());
    FillRank(run, &process);
  }
}

void InheritFromParents(const Files& files) {
  const std::vector<size_t> predecessors = Predecessors(files);
  for (size_t i = 0; i < files.size(); ++i) {
    Process& process = files[i]->process();
    if (!process.is_forked || predecessors[i] == kNone) continue;
    const Process& parent = files[predecessors[i]]->process();
    // Fork keeps the image. Another one is of the parent before its exec, or after.
    if (parent.executable != process.executable) continue;
    if (process.modules.empty()) files[i]->TakeModulesOf(*files[predecessors[i]]);
    if (process.argv.empty()) process.argv = parent.argv;
  }
}

std::vector<int64_t> RealtimeOffsets(const Files& files) {
  const std::vector<size_t> predecessors = Predecessors(files);
  std::vector<int64_t> offsets(files.size(), 0);
  for (size_t i = 0; i < files.size(); ++i) {
    const ClockMap& clock = files[i]->clock();
    offsets[i] = clock.realtime_offset();
    const size_t from = predecessors[i];
    if (from == kNone || from >= i || clock.fit() == ClockMap::Fit::kGuess) continue;
    if (files[from]->clock().fit() != ClockMap::Fit::kGuess) offsets[i] = offsets[from];
  }
  return offsets;
}

std::vector<int64_t> SamplerOffsets(const Files& samplers, const Files& files,
                                    const std::vector<int64_t>& offsets) {
  std::vector<int64_t> found;
  for (const std::unique_ptr<TraceFile>& sampler : samplers) {
    int64_t offset = sampler->clock().realtime_offset();
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i]->process().host != sampler->process().host) continue;
      if (files[i]->clock().fit() == ClockMap::Fit::kGuess) continue;
      offset = offsets[i];
      break;
    }
    found.push_back(offset);
  }
  return found;
}

}  // namespace gpuprof::analysis
