// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// MakeXProfPage: from an input to the page that XProf would show of it. An XSpace is read as it is.
// Any other input becomes an XSpace in memory first, as `gpuprof export` writes it.

#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/result.h"
#include "analysis/hlo/memory.h"
#include "analysis/hlo/text.h"
#include "analysis/import/xspace_input.h"
#include "analysis/xprof/op_stats.h"
#include "analysis/xprof/op_stats_file.h"
#include "analysis/xprof/pages.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis {
namespace {

using xprof::OpStats;
using xprof::Space;

struct Page {
  PassInfo info;
  std::string (*make)(const OpStats& stats) = nullptr;
  std::string (*remark)(const OpStats& stats) = nullptr;
  Result<std::string> (*make_of_file)(Space* space) = nullptr;  // the page is of one file
  // The page is of one program.
  Result<std::string> (*make_of_program)(const hlo::Program& program, int64_t space) = nullptr;
};

const std::vector<Page>& Pages() {
  static const std::vector<Page> pages = {
      {{"overview", "XProf's overview_page"}, xprof::OverviewPage, xprof::RemarkOnOverview},
      {{"ops", "XProf's framework_op_stats"}, xprof::OpPage},
      {{"kernels", "XProf's kernel_stats"}, xprof::KernelPage},
      {{"input_pipeline", "XProf's input_pipeline_analyzer"}, xprof::InputPipelinePage},
      {{"roofline", "XProf's roofline_model"}, xprof::RooflinePage},
      {{"op_profile", "XProf's op_profile"}, xprof::OpProfilePage},
      {{"hlo_stats", "XProf's hlo_stats"}, xprof::HloPage},
      {{"memory_profile", "XProf's memory_profile"}, nullptr, nullptr, xprof::MemoryPage},
      {{"memory_viewer", "XProf's memory_viewer"}, nullptr, nullptr, nullptr, xprof::MemoryViewer},
  };
  return pages;
}

// What takes each file of an input.
using TakeHost = std::function<Error(Space* space)>;

Error GiveHost(Result<std::unique_ptr<Space>> space, const std::string& name,
               const TakeHost& take) {
  if (!space.ok()) return space.error();
  if (Error error = take(space->get())) return {error.kind, name + ": " + error.message};
  return {};
}

// Exports a trace of any other kind. The files of a run come in the order of their names.
Error GiveExported(const InputPath& path, const TakeHost& take) {
  std::shared_ptr<const Trace> trace;
  if (Error error = Open(path, {}, &trace)) return error;
  std::map<std::string, std::string> files;
  ExportReport report;
  const Error error = ExportXSpace(
      *trace, {},
      [](void* context, const std::string& file, std::string_view bytes) {
        (*static_cast<std::map<std::string, std::string>*>(context))[file] += bytes;
        return true;
      },
      &files, &report);
  if (error) return error;
  trace.reset();
  for (auto& [file, bytes] : files)
    if (Error failed = GiveHost(xprof::ReadSpace(std::move(bytes), path.path), path.path, take))
      return failed;
  return {};
}

Error GiveHosts(const InputPath& path, const TakeHost& take) {
  import::XSpaceRun run = import::FindXSpaceRun(path);
  if (run.files.empty()) run = import::FindXSpaceRunBelow(path);
  if (run.files.empty()) return GiveExported(path, take);
  for (const import::ForeignFile& file : run.files)
    if (Error error = GiveHost(xprof::ReadSpaceFile(file), file.Title(), take)) return error;
  return {};
}

// Reads statistics that XProf itself made.
Error ReadHosts(const std::vector<import::ForeignFile>& files, std::vector<OpStats>* hosts) {
  for (const import::ForeignFile& file : files) {
    Result<OpStats> stats = xprof::ReadOpStatsFile(file);
    if (!stats.ok()) return Unreadable(file.Title() + ": " + stats.error().message);
    hosts->push_back(std::move(*stats));
  }
  return {};
}

Error MakeOfHosts(const Page& page, const std::string& path, XProfPage* made) {
  std::vector<OpStats> hosts;
  const std::vector<import::ForeignFile> files = xprof::FindOpStats(path);
  const auto take = [&hosts](Space* space) -> Error {
    Result<OpStats> stats = xprof::StatsOfHost(space);
    if (!stats.ok()) return stats.error();
    hosts.push_back(std::move(*stats));
    return {};
  };
  if (Error error = files.empty() ? GiveHosts(path, take) : ReadHosts(files, &hosts)) return error;
  const OpStats stats = xprof::CombineHosts(std::move(hosts));
  made->json = page.make(stats);
  if (page.remark != nullptr) made->remark = page.remark(stats);
  return {};
}

Error MakeOfFile(const Page& page, const std::string& path, XProfPage* made) {
  bool is_made = false;
  if (!xprof::FindOpStats(path).empty()) {
    return Unreadable(path +
                      ": XProf's statistics have no memory events; name the HOST.xplane.pb of the "
                      "run");
  }
  return GiveHosts(path, [&](Space* space) -> Error {
    if (is_made)
      return UsageError("this page of XProf is of one host; name one of the run's files");
    Result<std::string> json = page.make_of_file(space);
    if (!json.ok()) return json.error();
    made->json = std::move(*json);
    is_made = true;
    return {};
  });
}

// The program that fits best, of all files of a run.
struct FoundProgram {
  std::string bytes, title;
  hlo::NameMatch match = hlo::NameMatch::kNone;
  int64_t peak_bytes = -1;
  bool is_only = true;  // no other one fits as well
};

// XProf calls a program by its own name and number.
void TakeProgram(const xprof::HloBytes& from, std::string_view wanted, FoundProgram* best) {
  const hlo::Program program(from.bytes);
  if (!program.is_whole) return;  // XProf refuses what it cannot read
  const std::string title = std::string(program.name) + "(" + std::to_string(from.program_id) + ")";
  if (title == best->title) return;  // of another file
  const hlo::NameMatch match = hlo::MatchOf(title, from.program_id, wanted);
  const int64_t peak = wanted.empty() ? hlo::MemoryOf(program).peak_bytes() : 0;
  if (!wanted.empty() && match == hlo::NameMatch::kNone) return;
  const bool is_better = wanted.empty() ? peak > best->peak_bytes : match > best->match;
  if (!is_better) {
    if (!wanted.empty() && match == best->match) best->is_only = false;
    return;
  }
  *best = {std::string(from.bytes), title, match, peak};
}

Error MakeOfProgram(const Page& page, const std::string& path, const PassOptions& options,
                    XProfPage* made) {
  FoundProgram best;
  const Error error = GiveHosts(path, [&](Space* space) -> Error {
    for (const xprof::HloBytes& program : space->programs)
      TakeProgram(program, options.program, &best);
    return {};
  });
  if (error) return error;
  const std::string list = "; 'gpuprof stats memory_viewer' lists the programs";
  if (best.title.empty())
    return UsageError(options.program.empty()
                          ? path + ": there is no program of XLA; record one with its HLO"
                          : "there is no program '" + options.program + "'" + list);
  if (!best.is_only)
    return UsageError("several programs are called '" + options.program + "'" + list);
  Result<std::string> json =
      page.make_of_program(hlo::Program(best.bytes), options.memory_space.value_or(0));
  if (!json.ok()) return {json.error().kind, best.title + ": " + json.error().message};
  made->json = std::move(*json);
  return {};
}

}  // namespace

const std::vector<PassInfo>& XProfPages() {
  static const std::vector<PassInfo> infos = [] {
    std::vector<PassInfo> found;
    for (const Page& page : Pages()) found.push_back(page.info);
    return found;
  }();
  return infos;
}

Error MakeXProfPage(std::string_view name, const std::string& path, const PassOptions& options,
                    XProfPage* made) {
  for (const Page& page : Pages()) {
    if (page.info.name != name) continue;
    try {
      const Error error = page.make != nullptr           ? MakeOfHosts(page, path, made)
                          : page.make_of_file != nullptr ? MakeOfFile(page, path, made)
                                                         : MakeOfProgram(page, path, options, made);
      if (error) return error;
    } catch (const std::bad_alloc&) {
      return Unreadable(path +
                        ": not enough memory to make the page; use a machine with more memory");
    }
    return {};
  }
  return UsageError("XProf has no page for the pass '" + std::string(name) + "'");
}

}  // namespace gpuprof::analysis
